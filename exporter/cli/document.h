/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/options/options.h"
#include "exporter/text/text_table.h"

/* True for the formats that programs read, whatever the verb. */
bool document_is_requested(enum output_format format);

/*
 * Convert the text, which is one JSON document, to `format`: to YAML, with texts quoted where
 * a reader could mistake them for a number, a boolean or null, and dangerous characters escaped.
 * Any other format changes nothing.
 */
void document_convert(struct strbuf *text, enum output_format format);
