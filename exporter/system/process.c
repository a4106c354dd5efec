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
    /* Field numbers of /proc/PID/stat as in proc(5), from 1. The program name is field 2. */
    FIELD_AFTER_NAME = 3,
    FIELD_USER = 14,
    FIELD_SYSTEM = 15,
    FIELD_START = 22,
    FIELD_VIRTUAL = 23,
    FIELD_RESIDENT = 24,
};

/* Parses the decimal number at the start of `text`. */
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
    const char *at = strrchr(text, ')'); /* The name may contain ')' and spaces. */
    struct process_stat stat;
    struct {
        int field;
        uint64_t *number;
    } fields[] = {
        {FIELD_USER, &stat.user_ticks},         {FIELD_SYSTEM, &stat.system_ticks},
        {FIELD_START, &stat.start_ticks},       {FIELD_VIRTUAL, &stat.virtual_bytes},
        {FIELD_RESIDENT, &stat.resident_pages},
    };
    int field = FIELD_AFTER_NAME - 1;

    if (!at)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        for (; field < fields[i].field; field++) {
            at = strchr(at, ' ');
            if (!at)
                return false;
            at++;
        }
        if (!parse_number(at, fields[i].number))
            return false;
    }
    *out = stat;
    return true;
}

/* Reads the boot time of the host, in seconds since the epoch. */
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
    return count - 1; /* Excludes the descriptor of the folder itself. */
}

static double read_resource_limit(enum __rlimit_resource resource)
{
    struct rlimit limit;

    if (getrlimit(resource, &limit) < 0)
        return -1;
    return limit.rlim_cur == RLIM_INFINITY ? INFINITY : (double)limit.rlim_cur;
}

static void read_proc_stat(struct process_metrics *out)
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
        .virtual_max_bytes = read_resource_limit(RLIMIT_AS),
        .open_fds = count_fds(),
        .max_fds = read_resource_limit(RLIMIT_NOFILE),
    };
    read_proc_stat(out);
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

/* ---- memory limit of the control groups ---- */

enum { GROUPS_MAX = 64 * 1024, NUMBER_MAX = 64, NAME_MAX_BYTES = 4096 };

/* From this number on, a limit counts as no limit: cgroup v1 uses a number near INT64_MAX. */
#define CGROUP_V1_NO_LIMIT ((uint64_t)1 << 60)

/* Returns the limit in the file; 0 if the file cannot be read, or contains no limit. */
static uint64_t read_memory_limit(const char *path)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(NUMBER_MAX);
    struct error err;
    uint64_t limit;

    if (!file_read_proc(path, &text, &err))
        return 0;
    text.data[strcspn(text.data, "\n")] = '\0';
    return parse_uint(text.data, UINT64_MAX, &limit) && limit < CGROUP_V1_NO_LIMIT ? limit : 0;
}

static uint64_t min_limit(uint64_t a, uint64_t b)
{
    return a == 0 || (b != 0 && b < a) ? b : a;
}

/* Returns the lowest limit of the control group at `path` and of its parents; 0 for no limit. */
static uint64_t lowest_group_limit(const char *root, const char *file, const char *path, size_t len)
{
    CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(NAME_MAX_BYTES);
    uint64_t limit = 0;

    while (true) {
        while (len > 0 && path[len - 1] == '/')
            len--;
        strbuf_reset(&name);
        strbuf_addf(&name, "%s%.*s/%s", root, (int)len, path, file);
        if (strbuf_ok(&name))
            limit = min_limit(limit, read_memory_limit(name.data));
        if (len == 0)
            return limit;
        while (len > 0 && path[len - 1] != '/')
            len--;
    }
}

/* Returns true if the comma-separated list contains the word. */
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

/* Returns the limit, or 0, for a line "number:controllers:path"; cgroup v2 has no controllers. */
static uint64_t limit_of_group_line(const char *root, const char *line, size_t len)
{
    const char *list = memchr(line, ':', len);
    const char *path = list ? memchr(list + 1, ':', (size_t)(line + len - list - 1)) : NULL;
    CLEANUP(strbuf_release) struct strbuf v1_root = STRBUF_INIT(NAME_MAX_BYTES);

    if (!path)
        return 0;
    size_t list_len = (size_t)(path - list - 1);
    size_t path_len = (size_t)(line + len - path - 1);

    if (list_len == 0)
        return lowest_group_limit(root, "memory.max", path + 1, path_len);
    strbuf_addf(&v1_root, "%s/memory", root);
    return has_word(list + 1, list_len, "memory")
               ? lowest_group_limit(v1_root.data, "memory.limit_in_bytes", path + 1, path_len)
               : 0;
}

uint64_t memory_limit_of_groups(const char *root, const char *groups)
{
    uint64_t limit = 0;

    for (const char *line = groups; *line != '\0';) {
        size_t len = strcspn(line, "\n");

        limit = min_limit(limit, limit_of_group_line(root, line, len));
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

/* ---- allocators ---- */

enum { LARGE_BLOCK_BYTES = 1024 * 1024 };

void memory_set_json_hooks(void)
{
    cJSON_Hooks hooks = {.malloc_fn = xmalloc, .free_fn = free};

    cJSON_InitHooks(&hooks);
}

void memory_return_large_blocks(void)
{
    mallopt(M_MMAP_THRESHOLD, LARGE_BLOCK_BYTES);
}
