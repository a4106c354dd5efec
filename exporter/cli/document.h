/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/options/options.h"
#include "exporter/text/text_table.h"

/* Returns true for the formats for programs: JSON and YAML. */
bool document_is_requested(enum output_format format);

/*
 * Replaces valid JSON by the same document as YAML if `format` is OUTPUT_YAML, else keeps the text.
 * Strings that a YAML reader could take for a number, a boolean or null are quoted. Characters that
 * are unsafe for a terminal are escaped.
 */
void document_convert(struct strbuf *text, enum output_format format);
