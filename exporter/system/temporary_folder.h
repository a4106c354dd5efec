/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/error.h"

/*
 * Folders for files of one command. While there are such folders, a thread removes all of them if
 * SIGINT, SIGTERM or SIGHUP ends the process; other threads do not receive these signals. Only the
 * main thread makes and removes folders, and not in `serve`, which handles the signals itself.
 */

/*
 * Makes a folder in $TMPDIR, or in /tmp, that only the user can read. Returns its path, absolute
 * and without symbolic links; NULL with the reason on errors.
 */
char *temporary_folder_make(struct error *err) MUST_USE;

/* Removes the folder with its content, and frees the path. Accepts NULL. */
void temporary_folder_remove(char *path);
