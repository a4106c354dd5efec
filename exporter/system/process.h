/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"
#include "metrics/base/error.h"

/* Values of the standard process_* metrics. Negative if the kernel does not report the value. */
struct process_metrics {
    double cpu_seconds;
    double start_seconds; /* Since the epoch. */
    double resident_bytes;
    double virtual_bytes;
    double virtual_max_bytes; /* INFINITY for no limit. */
    double open_fds;
    double max_fds; /* INFINITY for no limit. */
};

/* Reads the current values. */
void process_metrics_read(struct process_metrics *out);

/* Returns the resident memory of the process in bytes; 0 if it cannot be read. */
uint64_t process_resident_bytes(void);

/*
 * Makes cJSON call memory_exhausted() after a failed allocation. By default, cJSON returns NULL,
 * which callers could mistake for a JSON syntax error. To be called before any thread starts.
 */
void memory_set_json_hooks(void);

/*
 * Returns the memory limit in bytes of the control groups (v2 and v1) of this process: the lowest
 * limit from the group of the process up to the root; 0 if there is no limit.
 */
uint64_t memory_limit(void);

/*
 * Fixes the size from which malloc(3) uses mmap(2) at 1 MiB, so that free(3) returns large blocks
 * to the kernel. By default, glibc raises this threshold whenever such a block is freed.
 */
void memory_return_large_blocks(void);

/* Used only by process.c and tests. */

/* Values of /proc/PID/stat. A second has sysconf(_SC_CLK_TCK) ticks. */
struct process_stat {
    uint64_t user_ticks;
    uint64_t system_ticks;
    uint64_t start_ticks; /* Since the boot of the host. */
    uint64_t virtual_bytes;
    uint64_t resident_pages;
};

/* Parses a line of /proc/PID/stat. Returns false if the line is invalid. */
bool process_parse_stat(const char *text, struct process_stat *out) MUST_USE;

/*
 * Returns the lowest memory limit of `groups`, the text of /proc/self/cgroup, where `root` replaces
 * /sys/fs/cgroup. 0 for no limit. Groups without readable files have no limit: in a container, the
 * own group is mounted as root, and paths of `groups` may not exist.
 */
uint64_t memory_limit_of_groups(const char *root, const char *groups);
