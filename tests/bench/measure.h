/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/* Both return seconds: the CPU time of the process, and the time of a monotonic clock. */
double measure_cpu_s(void);
double measure_wall_s(void);

/* Returns the bytes that the program has allocated with malloc() and not freed. */
size_t measure_heap_bytes(void);

/* Returns the resident memory of the process, in MiB. */
double measure_resident_mib(void);

/* Sorts the values and returns the median. */
double measure_median(double *values, size_t count);

/*
 * Sorts the values of the runs, prints their median, the limit and the spread, and appends the row
 * to the file that the environment variable ROWS names. tests/bench/rows.py has the same form.
 */
void measure_row(const char *title, double *values, size_t count, const char *unit, double limit);
/* The same for one value. */
void measure_print(const char *title, double value, const char *unit, double limit);
