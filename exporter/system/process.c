/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/system/process.h"

#include <cjson/cJSON.h>
#include <dirent.h>
#include <malloc.h>
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

static void read_stat(struct process_metrics *out)
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

void process_metrics_read(struct process_metrics *out)
{
    *out = (struct process_metrics){
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

enum { GROUPS_MAX = 64 * 1024, NUMBER_MAX = 64, NAME_MAX_BYTES = 4096, LARGE_BYTES = 1 << 20 };

/* Version 1 writes no limit as the largest multiple of a page. */
#define NO_LIMIT ((uint64_t)1 << 60)

void memory_set_json_hooks(void)
{
    cJSON_Hooks hooks = {.malloc_fn = xmalloc, .free_fn = free};

    cJSON_InitHooks(&hooks);
}

/* The number in the file, or 0: there is no such file, or it says "max". */
static uint64_t memory_read_limit(const char *path)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(NUMBER_MAX);
    struct error err;
    uint64_t limit;

    if (!file_read_proc(path, &text, &err))
        return 0;
    text.data[strcspn(text.data, "\n")] = '\0';
    return parse_uint(text.data, UINT64_MAX, &limit) && limit < NO_LIMIT ? limit : 0;
}

static uint64_t tighter(uint64_t a, uint64_t b)
{
    return a == 0 || (b != 0 && b < a) ? b : a;
}

/* The tightest of the group at this path and of those above it. */
static uint64_t walk_up(const char *root, const char *file, const char *path, size_t len)
{
    CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(NAME_MAX_BYTES);
    uint64_t limit = 0;

    while (true) {
        while (len > 0 && path[len - 1] == '/')
            len--;
        strbuf_reset(&name);
        strbuf_addf(&name, "%s%.*s/%s", root, (int)len, path, file);
        if (strbuf_ok(&name))
            limit = tighter(limit, memory_read_limit(name.data));
        if (len == 0)
            return limit;
        while (len > 0 && path[len - 1] != '/')
            len--;
    }
}

/* Is the word among those that commas part? */
static bool has_word(const char *list, size_t len, const char *word)
{
    size_t size = strlen(word);

    for (size_t at = 0; at + size <= len; at++) {
        if (strncmp(list + at, word, size) == 0 && (at == 0 || list[at - 1] == ',') &&
            (at + size == len || list[at + size] == ','))
            return true;
    }
    return false;
}

/* A line is "number:controllers:path"; without controllers it is version 2's. */
static uint64_t limit_of_line(const char *root, const char *line, size_t len)
{
    const char *list = memchr(line, ':', len);
    const char *path = list ? memchr(list + 1, ':', (size_t)(line + len - list - 1)) : NULL;
    CLEANUP(strbuf_release) struct strbuf version1 = STRBUF_INIT(NAME_MAX_BYTES);

    if (!path)
        return 0;
    size_t list_len = (size_t)(path - list - 1);
    size_t path_len = (size_t)(line + len - path - 1);

    if (list_len == 0)
        return walk_up(root, "memory.max", path + 1, path_len);
    strbuf_addf(&version1, "%s/memory", root);
    return has_word(list + 1, list_len, "memory")
               ? walk_up(version1.data, "memory.limit_in_bytes", path + 1, path_len)
               : 0;
}

uint64_t memory_limit_of_groups(const char *root, const char *groups)
{
    uint64_t limit = 0;

    for (const char *line = groups; *line != '\0';) {
        size_t len = strcspn(line, "\n");

        limit = tighter(limit, limit_of_line(root, line, len));
        line += len + (line[len] == '\n');
    }
    return limit;
}

uint64_t memory_limit(void)
{
    CLEANUP(strbuf_release) struct strbuf groups = STRBUF_INIT(GROUPS_MAX);
    struct error err;

    return file_read_proc("/proc/self/cgroup", &groups, &err)
               ? memory_limit_of_groups("/sys/fs/cgroup", groups.data)
               : 0;
}

void memory_return_large_blocks(void)
{
    mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
}
