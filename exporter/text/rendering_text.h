/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/files/manifest_source.h"
#include "exporter/text/text_table.h"

/*
 * Prints how many kustomizations and charts were rendered, with which programs; nothing if there are
 * none. Then prints, as a section, those that were not rendered, each with the reason.
 */
void rendering_text_print(const struct manifests *m, struct output *o);
