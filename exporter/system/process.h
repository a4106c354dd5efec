/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"
#include "metrics/base/error.h"

/*
 * What the kernel reports about this process, for the process_* metrics that all
 * exporters have. What it does not report is negative.
 */
struct process_metrics {
    double cpu_seconds;
    double start_seconds; /* Since the epoch. */
    double resident_bytes;
    double virtual_bytes;
    double virtual_max_bytes; /* Infinite where there is no limit. */
    double open_fds;
    double max_fds; /* Infinite where there is no limit. */
};

void process_metrics_read(struct process_metrics *out);

/* What of it is resident, alone; 0 if the kernel does not say. */
uint64_t process_resident_bytes(void);

/* The numbers of /proc/self/stat, in its units. */
struct process_stat {
    uint64_t user_ticks;
    uint64_t system_ticks;
    uint64_t start_ticks; /* Since the host booted. */
    uint64_t virtual_bytes;
    uint64_t resident_pages;
};

/* False if the text is not a line of /proc/PID/stat. The name in it may hold anything. */
bool process_parse_stat(const char *text, struct process_stat *out) MUST_USE;

/*
 * Has cJSON report exhausted memory (base.h) instead of returning NULL, which its callers would
 * take for a text that is no JSON, or would not see. Call it before any thread runs.
 */
void memory_set_json_hooks(void);

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
uint64_t memory_limit_of_groups(const char *root, const char *groups);

/*
 * Have the C library give large blocks back to the kernel as soon as they are freed. Otherwise it
 * keeps, from the first one on, what pages and lists have needed at most.
 */
void memory_return_large_blocks(void);
