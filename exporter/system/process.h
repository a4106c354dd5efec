/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/error.h"

/*
 * What the kernel reports about this process, for the process_* metrics that all
 * exporters have. What it does not report is negative.
 */
struct process_facts {
    double cpu_seconds;
    double start_seconds; /* Since the epoch. */
    double resident_bytes;
    double virtual_bytes;
    double virtual_max_bytes; /* Infinite where there is no limit. */
    double open_fds;
    double max_fds; /* Infinite where there is no limit. */
};

void process_read(struct process_facts *out);

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
