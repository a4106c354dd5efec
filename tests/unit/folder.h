/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/*
 * A folder of its own for one test, and what people and programs do to files in
 * it. Names are relative to the folder. Every function fails the test if it
 * cannot do what it says.
 */
char *folder_make(void) MUST_USE;
/* With all that is in it; frees the path. */
void folder_remove(char *folder);

/* "<folder>/<name>", the caller's. */
char *folder_path(const char *folder, const char *name) MUST_USE;

/* Open, truncate, write, close: as a careless program does. */
void folder_write(const char *folder, const char *name, const char *text);
/* Write beside it and rename: as an editor does. */
void folder_replace(const char *folder, const char *name, const char *text);
void folder_rename(const char *folder, const char *from, const char *to);
void folder_unlink(const char *folder, const char *name);
void folder_mkdir(const char *folder, const char *name);
/* With all that is in it. */
void folder_rmdir(const char *folder, const char *name);
/* `name` becomes a link that says `target`. */
void folder_link(const char *folder, const char *target, const char *name);
/* As Kubernetes does for a mounted ConfigMap: a new link is renamed over the old one. */
void folder_swap(const char *folder, const char *target, const char *name);
