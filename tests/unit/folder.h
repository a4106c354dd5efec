/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/*
 * Temporary folder for one test, and operations on its files. Names are relative to the folder.
 * Each function fails the test on an error. folder_make() returns the path of a new folder.
 */
char *folder_make(void) MUST_USE;
/* Removes the folder, including its contents, and frees the path. */
void folder_remove(char *folder);

/* Returns "<folder>/<name>". The caller frees it. */
char *folder_path(const char *folder, const char *name) MUST_USE;

/* Writes the file in place: opens, truncates, writes and closes it. */
void folder_write(const char *folder, const char *name, const char *text);
/* Writes a temporary file and renames it over the file, like an editor. */
void folder_replace(const char *folder, const char *name, const char *text);
void folder_rename(const char *folder, const char *from, const char *to);
void folder_unlink(const char *folder, const char *name);
void folder_mkdir(const char *folder, const char *name);
/* Removes a subfolder, including its contents. */
void folder_rmdir(const char *folder, const char *name);
/* Creates `name` as a symbolic link to `target`. */
void folder_link(const char *folder, const char *target, const char *name);
/* Renames a new link over the link `name`, as Kubernetes does for a mounted ConfigMap. */
void folder_swap(const char *folder, const char *target, const char *name);
