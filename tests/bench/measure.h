/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/* Both return seconds: the CPU time of the process, and the time of a monotonic clock. */
double measure_cpu_s(void);
double measure_wall_s(void);

/* Returns the bytes that the program has allocated with malloc() and not freed. */
size_t measure_heap_bytes(void);

/* Sorts the values and returns the median. */
double measure_median(double *values, size_t count);

/* Prints a result and its limit: "  <title>   <value> <unit>   limit <limit>   ok|MISSED". */
void measure_print(const char *title, double value, const char *unit, double limit);
