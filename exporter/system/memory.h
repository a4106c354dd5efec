/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/*
 * Has cJSON report exhausted memory (base.h) instead of returning NULL, which its callers would
 * take for a text that is no JSON, or would not see. Call it before any thread runs.
 */
void memory_begin(void);

/*
 * The limit of memory that the kernel holds this process to by its control groups, in bytes;
 * 0 if there is none. Version 2 and version 1; the tightest from its own group to the root.
 */
uint64_t memory_limit(void);

/*
 * The same, where `groups` is the text of /proc/self/cgroup and `root` the folder that is
 * /sys/fs/cgroup. Groups whose files cannot be read set no limit: a container sees its own
 * group as the root, whatever its path says.
 */
uint64_t memory_limit_of(const char *root, const char *groups);

/*
 * Have the C library give large blocks back to the kernel as soon as they are freed. Otherwise it
 * keeps, from the first one on, what pages and lists have needed at most.
 */
void memory_return_large(void);
