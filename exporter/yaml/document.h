/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <yaml.h>

#include "metrics/base/error.h"

/*
 * A YAML text of one document as libyaml's nodes, which know their lines: for files that people
 * write by hand, and whose mistakes are reported with their place.
 */

/*
 * Read the only document of a text. Its root is NULL where the text is empty. The caller gives it
 * to yaml_document_delete(). On failure there is nothing to delete, and the error begins with the
 * path and the place.
 */
bool document_read(const char *path, const char *text, size_t len, yaml_document_t *out,
                   struct error *err) MUST_USE;

/* Wipes and deletes a document with texts that may be secret. */
void document_wipe(yaml_document_t *document);

/* The text of a scalar; NULL for anything else, and for one with a NUL, which would hide what
 * follows it. */
const char *document_text(const yaml_node_t *node);

/* Put the path and the node's line and column before the reason. Returns false. */
bool document_fail(const char *path, const yaml_node_t *node, struct error *err);
