/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/system/memory.h"

#include <malloc.h>

#include <cjson/cJSON.h>

#include "exporter/system/file.h"
#include "metrics/base/number.h"
#include "metrics/base/strbuf.h"

enum { GROUPS_MAX = 64 * 1024, NUMBER_MAX = 64, NAME_MAX_BYTES = 4096, LARGE_BYTES = 1 << 20 };

/* Version 1 writes no limit as the largest multiple of a page. */
#define NO_LIMIT ((uint64_t)1 << 60)

void memory_begin(void)
{
    cJSON_Hooks hooks = {.malloc_fn = xmalloc, .free_fn = free};

    cJSON_InitHooks(&hooks);
}

/* The number in the file, or 0: there is no such file, or it says "max". */
static uint64_t read_limit(const char *path)
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
            limit = tighter(limit, read_limit(name.data));
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

uint64_t memory_limit_of(const char *root, const char *groups)
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
               ? memory_limit_of("/sys/fs/cgroup", groups.data)
               : 0;
}

void memory_return_large(void)
{
    mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
}
