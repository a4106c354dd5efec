/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/error.h"

/*
 * Folder for files of one command. Until its removal, a thread removes it if SIGINT, SIGTERM or
 * SIGHUP ends the process; other threads do not receive these signals. Until then $TMPDIR is the
 * folder, so that files of child processes and further temporary folders are in it. Remove folders
 * in the reverse order. Not for `serve`, which handles the signals.
 */
struct temporary_folder;

/* Makes a folder in $TMPDIR, or in /tmp, that only the user can read. NULL with the reason on
 * errors. */
struct temporary_folder *temporary_folder_make(struct error *err) MUST_USE;

/* Returns the path, absolute and without symbolic links; borrowed. */
const char *temporary_folder_path(const struct temporary_folder *f);

/* Removes the folder with its content and frees `f`. Accepts NULL. */
void temporary_folder_remove(struct temporary_folder *f);
