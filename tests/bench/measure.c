/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/measure.h"

#include <malloc.h>

static double read_clock_s(clockid_t clock)
{
    struct timespec now;

    if (clock_gettime(clock, &now) != 0)
        abort();
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

double measure_cpu_s(void)
{
    return read_clock_s(CLOCK_PROCESS_CPUTIME_ID);
}

double measure_wall_s(void)
{
    return read_clock_s(CLOCK_MONOTONIC);
}

size_t measure_heap_bytes(void)
{
    struct mallinfo2 info = mallinfo2();

    return info.uordblks + info.hblkhd;
}

static int compare_values(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;

    return (left > right) - (left < right);
}

double measure_median(double *values, size_t count)
{
    qsort(values, count, sizeof(*values), compare_values);
    return values[count / 2];
}

void measure_print(const char *title, double value, const char *unit, double limit)
{
    printf("  %-58s %8.2f %-6s limit %-7g %s\n", title, value, unit, limit,
           value <= limit ? "ok" : "MISSED");
    fflush(stdout);
}
