/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/cli/output.h"
#include "exporter/options/options.h"

/* True for the formats that programs read, whatever the verb. */
bool document_wanted(enum output_format format);

/*
 * Bring the text, which is one JSON document, into the format that is wanted: JSON
 * is left as it is, YAML says the same with texts quoted where a reader could take them
 * for anything else.
 */
void document_finish(struct strbuf *text, enum output_format format);
