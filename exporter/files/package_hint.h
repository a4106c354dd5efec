/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/files/package_set.h"
#include "metrics/base/error.h"

/* Returns the folder of a package in the PATHs as the user names it, owned by the caller. */
char *package_shown_folder(const struct package *p) MUST_USE;

/*
 * Sets the text for a root that is not rendered: the reason, the effect, and the command that the
 * user can run. `server`: the reader is `serve`.
 */
void package_describe_obstacle(const struct package *p, bool server, struct error *out);

/* Sets the text for OBSTACLE_MISSING: the reference that leads nowhere, and where it is. */
void package_describe_missing(const struct package *p, struct error *out);
