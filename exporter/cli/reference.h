/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/cli/verb.h"

/* Append the reference of all options as Markdown: exporter/docs/configuration.md. */
void reference_markdown(const struct verb *const *verbs, struct strbuf *out);
