/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/system/process.h"

#include <dirent.h>
#include <math.h>
#include <sys/resource.h>
#include <unistd.h>

#include "exporter/system/file.h"
#include "metrics/base/number.h"
#include "metrics/base/strbuf.h"

enum {
    STAT_MAX = 4096,
    PROC_STAT_MAX = 1024 * 1024, /* /proc/stat has a number for each interrupt. */
    /* Counted from 1, as in proc(5). The name is the second. */
    FIELD_AFTER_NAME = 3,
    FIELD_USER = 14,
    FIELD_SYSTEM = 15,
    FIELD_START = 22,
    FIELD_VIRTUAL = 23,
    FIELD_RESIDENT = 24,
};

/* The number at the start of `text`. */
static bool parse_number(const char *text, uint64_t *out)
{
    char digits[24] = "";
    size_t len = strspn(text, "0123456789");

    if (len >= sizeof(digits))
        return false;
    memcpy(digits, text, len);
    return parse_uint(digits, UINT64_MAX, out);
}

bool process_parse_stat(const char *text, struct process_stat *out)
{
    const char *at = strrchr(text, ')');
    struct process_stat stat;
    struct {
        int field;
        uint64_t *number;
    } wanted[] = {
        {FIELD_USER, &stat.user_ticks},         {FIELD_SYSTEM, &stat.system_ticks},
        {FIELD_START, &stat.start_ticks},       {FIELD_VIRTUAL, &stat.virtual_bytes},
        {FIELD_RESIDENT, &stat.resident_pages},
    };
    int field = FIELD_AFTER_NAME - 1;

    if (!at)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
        for (; field < wanted[i].field; field++) {
            at = strchr(at, ' ');
            if (!at)
                return false;
            at++;
        }
        if (!parse_number(at, wanted[i].number))
            return false;
    }
    *out = stat;
    return true;
}

/* When the host booted, in seconds since the epoch. */
static bool read_boot_time(double *out)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(PROC_STAT_MAX);
    struct error err;
    uint64_t seconds;
    const char *at;

    if (!file_read_proc("/proc/stat", &text, &err))
        return false;
    at = strstr(text.data, "\nbtime ");
    if (!at || !parse_number(at + strlen("\nbtime "), &seconds))
        return false;
    *out = (double)seconds;
    return true;
}

static double count_fds(void)
{
    DIR *folder = opendir("/proc/self/fd");
    double count = 0;

    if (!folder)
        return -1;
    for (const struct dirent *entry; (entry = readdir(folder));)
        count += entry->d_name[0] != '.';
    closedir(folder);
    return count - 1; /* Without the one that read the folder. */
}

static double read_limit(enum __rlimit_resource resource)
{
    struct rlimit limit;

    if (getrlimit(resource, &limit) < 0)
        return -1;
    return limit.rlim_cur == RLIM_INFINITY ? INFINITY : (double)limit.rlim_cur;
}

static void read_stat(struct process_facts *out)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(STAT_MAX);
    double ticks = (double)sysconf(_SC_CLK_TCK);
    struct process_stat stat;
    struct error err;
    double boot;

    if (!file_read_proc("/proc/self/stat", &text, &err) || !process_parse_stat(text.data, &stat))
        return;
    out->cpu_seconds = (double)(stat.user_ticks + stat.system_ticks) / ticks;
    out->virtual_bytes = (double)stat.virtual_bytes;
    out->resident_bytes = (double)stat.resident_pages * (double)sysconf(_SC_PAGESIZE);
    if (read_boot_time(&boot))
        out->start_seconds = boot + (double)stat.start_ticks / ticks;
}

void process_read(struct process_facts *out)
{
    *out = (struct process_facts){
        .cpu_seconds = -1,
        .start_seconds = -1,
        .resident_bytes = -1,
        .virtual_bytes = -1,
        .virtual_max_bytes = read_limit(RLIMIT_AS),
        .open_fds = count_fds(),
        .max_fds = read_limit(RLIMIT_NOFILE),
    };
    read_stat(out);
}

uint64_t process_resident_bytes(void)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(STAT_MAX);
    struct process_stat stat;
    struct error err;

    if (!file_read_proc("/proc/self/stat", &text, &err) || !process_parse_stat(text.data, &stat))
        return 0;
    return stat.resident_pages * (uint64_t)sysconf(_SC_PAGESIZE);
}
