/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/* What all benchmarks measure and print with. */

/* Seconds of this process's CPU time, and of the wall clock. */
double measure_cpu_s(void);
double measure_wall_s(void);

/* Bytes that the program holds from malloc. */
size_t measure_heap_bytes(void);

/* The middle one of `count` values, which are sorted for that. */
double measure_median(double *values, size_t count);

/* One result against its limit: "  <what>   <value> <unit>   limit <limit>   ok|MISSED". */
void measure_print(const char *what, double value, const char *unit, double limit);
