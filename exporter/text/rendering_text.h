/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/files/manifest_source.h"
#include "exporter/text/text_table.h"

/* Prints how many kustomizations and charts were rendered, with which programs; nothing for 0. */
void rendering_text_print_programs(const struct manifests *m, struct output *o);

/* Prints, as a section, the kustomizations and charts that were not rendered, with the reasons. */
void rendering_text_print_reasons(const struct manifests *m, struct output *o);
