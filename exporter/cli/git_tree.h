/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/options/option_value.h"

/*
 * Files of a commit, branch or tag of a Git repository, in a temporary folder that is also removed
 * if SIGINT, SIGTERM or SIGHUP ends the process.
 */
struct git_tree;

/*
 * Extracts the tree of `ref` with `git archive`. The PATHs must be in one repository; those that do
 * not exist are ignored. The caller frees the tree. Returns NULL with the reason on errors.
 */
struct git_tree *git_tree_extract(const char *ref, const struct text_list *paths,
                                  struct error *err) MUST_USE;
/* Removes the files. Accepts NULL. */
void git_tree_free(struct git_tree *t);

/*
 * Returns the path of the extracted file or folder for a PATH in the repository, owned by the
 * caller; NULL if the PATH does not exist, or not in the tree.
 */
char *git_tree_find(const struct git_tree *t, const char *path) MUST_USE;

/* Returns the path of a submodule in the tree, of which there are no files; NULL without one. */
const char *git_tree_submodule(const struct git_tree *t);
