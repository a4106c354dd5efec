/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/source.h"

/*
 * Append, as HTML, what people should know of how the API server is followed: kinds that cannot be
 * read, that have not been read yet and are late, that are polled, and that are not served.
 */
void source_section_write(const struct kube_source *source, struct strbuf *out);
