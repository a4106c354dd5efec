/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/manifests/tree.h"

/* "<folder>/<name>", the caller's. */
char *walk_join(const char *folder, const char *name) MUST_USE;

/* True for the names that are read inside a folder. */
bool walk_is_manifest(const char *name);

/*
 * Find the files that a PATH stands for now. Those that are new or changed are
 * marked to be read, all of them with `force`; those not found again are marked
 * as gone.
 */
void walk_path(struct tree *t, struct tree_path *path, bool force);

/* Walk all PATHs and mark all files to be read. Fails if a PATH cannot be opened. */
bool walk_all(struct tree *t, struct error *err) MUST_USE;

/* Look again at one path inside a folder, or at the target of a link there. */
void walk_look_at(struct tree *t, struct tree_path *path, const char *at, bool force);
