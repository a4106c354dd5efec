/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/files/scan.h"
#include "exporter/files/tree.h"

/*
 * Find the files that a PATH stands for now. Those that are new or changed are
 * marked to be read, all of them with `force`; those not found again are marked
 * as gone.
 */
void walk_path(struct tree *t, struct tree_path *path, bool force);

/*
 * The same with a job of the file reader (scan_start): begin, receive each result of the job, and
 * end; or fail with the reason if the job hangs: then no file is removed.
 */
void walk_begin(struct tree *t, struct tree_path *path);
void walk_receive(struct tree *t, struct tree_path *path, bool force,
                  const struct read_result *result);
void walk_end(struct tree *t, struct tree_path *path);
void walk_fail(struct tree *t, struct tree_path *path, const char *why);

/* Walk all PATHs and mark all files to be read. Fails if a PATH cannot be opened. */
bool walk_all(struct tree *t, struct error *err) MUST_USE;

/* Look again at one path inside a folder, or at the target of a link there. */
void walk_look_at(struct tree *t, struct tree_path *path, const char *at, bool force);
