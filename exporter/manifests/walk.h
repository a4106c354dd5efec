/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/manifests/tree.h"

/* "<folder>/<name>", the caller's. */
char *walk_join(const char *folder, const char *name) MUST_USE;

/* True for the names that are read inside a folder. */
bool walk_is_manifest(const char *name);

/*
 * Find what a PATH stands for now: its files are marked as tree.h says, all of
 * them with `force`, and what was not found again is lost.
 */
void walk_path(struct tree *t, struct tree_path *path, bool force);

/* Walk all PATHs, everything is to be read. False if a PATH cannot be opened. */
bool walk_all(struct tree *t, struct error *err) MUST_USE;

/* Look again at one path inside a folder, or at what a link there leads to. */
void walk_look_at(struct tree *t, struct tree_path *path, const char *at, bool force);
