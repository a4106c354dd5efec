/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/measure.h"

#include <malloc.h>
#include <unistd.h>

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

double measure_resident_mib(void)
{
    FILE *statm = fopen("/proc/self/statm", "re");
    long pages = 0;

    if (!statm || fscanf(statm, "%*d %ld", &pages) != 1)
        abort();
    fclose(statm);
    return (double)pages * (double)sysconf(_SC_PAGESIZE) / 1048576;
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

/* Appends the row to the file that ROWS names, as tests/bench/rows.py does. */
static void record(const char *title, const double *values, size_t count, const char *unit,
                   double limit)
{
    const char *path = getenv("ROWS");
    FILE *rows = path ? fopen(path, "ae") : NULL;

    if (!rows)
        return;
    fprintf(rows, "{\"title\":\"%s\",\"unit\":\"%s\",\"limit\":%g,\"runs\":[", title, unit, limit);
    for (size_t i = 0; i < count; i++)
        fprintf(rows, "%s%.6g", i ? "," : "", values[i]);
    fputs("]}\n", rows);
    if (fclose(rows) != 0)
        abort();
}

void measure_row(const char *title, double *values, size_t count, const char *unit, double limit)
{
    double median = measure_median(values, count);
    char spread[64] = "";

    if (count > 1)
        snprintf(spread, sizeof(spread), " (%.2f-%.2f, %zu runs)", values[0], values[count - 1],
                 count);
    printf("  %-66s %9.2f %-4s limit %-7g %s%s\n", title, median, unit, limit,
           median <= limit ? "ok" : "MISSED", spread);
    fflush(stdout);
    record(title, values, count, unit, limit);
}

void measure_print(const char *title, double value, const char *unit, double limit)
{
    measure_row(title, &value, 1, unit, limit);
}
