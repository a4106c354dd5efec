/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/files/manifest_source.h"
#include "exporter/text/text_table.h"

/*
 * Appends sentences such as "Skipped 43 documents that are no Kubernetes objects: 40 Helm
 * templates, 3 kustomizations. Excluded by patterns: 2 files and 1 folder" without the last full
 * stop; nothing if all documents are read.
 */
void skipped_files_add(const struct manifests *m, struct strbuf *out);

/*
 * Appends the reason why manifests are empty, and ": ": `fact`, and the files that are skipped, or
 * that there is no file at all.
 */
void skipped_files_add_empty(const struct manifests *m, const char *fact, struct strbuf *out);

/* Prints the sentence. */
void skipped_files_print(const struct manifests *m, struct output *o);
