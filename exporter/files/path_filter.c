/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/files/path_filter.h"

#include <errno.h>
#include <fnmatch.h>
#include <unistd.h>

#include "exporter/system/file.h"
#include "metrics/base/shown.h"
#include "metrics/base/strbuf.h"

const char ignore_file_name[] = ".karmadapolicyignore";

/* ---- patterns ---- */

static void release_pattern(struct path_pattern *pattern)
{
    for (size_t i = 0; i < pattern->name_count; i++)
        free(pattern->names[i]);
    free(pattern->names);
}

void path_patterns_release(struct path_patterns *p)
{
    for (size_t i = 0; i < p->count; i++)
        release_pattern(&p->items[i]);
    free(p->items);
    *p = (struct path_patterns){0};
}

static void add_name(struct path_pattern *pattern, const char *name, size_t len)
{
    pattern->names = xreallocarray(pattern->names, pattern->name_count + 1, sizeof(char *));
    pattern->names[pattern->name_count++] = xmemdup0(name, len);
}

static void append_pattern(struct path_patterns *p, struct path_pattern pattern)
{
    if (p->count == p->capacity) {
        p->capacity = p->capacity * 2 + 4;
        p->items = xreallocarray(p->items, p->capacity, sizeof(*p->items));
    }
    p->items[p->count++] = pattern;
}

/* Returns the length without spaces at the end, except one after a backslash. */
static size_t trimmed_length(const char *line, size_t len)
{
    while (len > 0 && (line[len - 1] == ' ' || line[len - 1] == '\t' || line[len - 1] == '\r') &&
           !(len > 1 && line[len - 2] == '\\'))
        len--;
    return len;
}

bool path_patterns_add(struct path_patterns *p, const char *line, size_t len)
{
    struct path_pattern pattern = {.negated = false};
    const char *end;

    len = trimmed_length(line, len);
    if (len == 0 || line[0] == '#')
        return false;
    pattern.negated = line[0] == '!';
    end = line + len;
    line += pattern.negated;
    pattern.folder_only = end > line && end[-1] == '/';
    while (end > line && end[-1] == '/')
        end--;
    pattern.any_depth = !memchr(line, '/', (size_t)(end - line));
    while (line < end) {
        const char *slash = memchr(line, '/', (size_t)(end - line));
        const char *stop = slash ? slash : end;

        if (stop > line)
            add_name(&pattern, line, (size_t)(stop - line));
        line = slash ? slash + 1 : end;
    }
    if (pattern.name_count > 0)
        append_pattern(p, pattern);
    return pattern.name_count > 0;
}

/* Returns true if the pattern of a name matches the first name of a path. */
static bool matches_name(const char *name, const char *path)
{
    CLEANUP(free_cleanup) char *first = xmemdup0(path, strcspn(path, "/"));

    return fnmatch(name, first, 0) == 0;
}

/* Returns the path after its first name. */
static const char *skip_name(const char *path)
{
    path += strcspn(path, "/");
    return path + (*path == '/');
}

/*
 * Compares names one by one. After a mismatch, the latest "**" takes one more name of the path: no
 * earlier "**" has to, so the time is at most the product of both lengths.
 */
static bool matches_names(const struct path_pattern *pattern, const char *path)
{
    size_t at = 0, after_stars = SIZE_MAX;
    const char *rest = path; /* Part of the path after the names that the latest "**" took. */

    for (;;) {
        bool ended = at == pattern->name_count;

        if (ended && *path == '\0')
            return true;
        if (!ended && strcmp(pattern->names[at], "**") == 0) {
            after_stars = ++at;
            rest = path;
            if (at == pattern->name_count)
                return *path != '\0';
        } else if (!ended && *path != '\0' && matches_name(pattern->names[at], path)) {
            at++;
            path = skip_name(path);
        } else {
            if (after_stars == SIZE_MAX || *rest == '\0')
                return false;
            at = after_stars;
            path = rest = skip_name(rest);
        }
    }
}

bool path_pattern_matches(const struct path_pattern *pattern, const char *path, bool is_folder)
{
    const char *slash = strrchr(path, '/');

    if (pattern->folder_only && !is_folder)
        return false;
    return matches_names(pattern, pattern->any_depth && slash ? slash + 1 : path);
}

/* ---- ignore files ---- */

static bool add_lines(struct ignore_rules *rules, const char *path, const char *text, size_t len,
                      struct error *err)
{
    static const char mark[] = "\xef\xbb\xbf";
    const char *end = text + len;

    if (len >= sizeof(mark) - 1 && memcmp(text, mark, sizeof(mark) - 1) == 0)
        text += sizeof(mark) - 1;
    while (text < end) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *stop = newline ? newline : end;

        if (rules->patterns.count == IGNORE_PATTERNS_MAX)
            return fail(err, "'%s' has more than %d patterns", path, IGNORE_PATTERNS_MAX);
        path_patterns_add(&rules->patterns, text, (size_t)(stop - text));
        text = newline ? newline + 1 : end;
    }
    return true;
}

bool ignore_rules_read(struct ignore_rules *rules, const char *folder, struct error *err)
{
    CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT(SIZE_MAX);
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(IGNORE_FILE_MAX);

    strbuf_addf(&path, "%s%s", folder, folder[strlen(folder) - 1] == '/' ? "" : "/");
    rules->folder_len = path.len;
    strbuf_adds(&path, ignore_file_name);
    if (access(path.data, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR))
        return true;
    return file_read(path.data, &text, err) &&
           add_lines(rules, path.data, text.data, text.len, err);
}

bool ignore_rules_exclude(const struct ignore_rules *rules, const char *path, bool is_folder)
{
    for (; rules; rules = rules->above) {
        for (size_t i = rules->patterns.count; i-- > 0;) {
            const struct path_pattern *pattern = &rules->patterns.items[i];

            if (path_pattern_matches(pattern, path + rules->folder_len, is_folder))
                return !pattern->negated;
        }
    }
    return false;
}

/* ---- patterns of the command line ---- */

static MUST_USE bool parse_patterns(struct path_patterns *p, const char *option,
                                    const struct text_list *list, struct error *err)
{
    for (size_t i = 0; i < list->count; i++) {
        const char *text = list->items[i];

        if (*text == '!' || !path_patterns_add(p, text, strlen(text)))
            return fail(err,
                        "%s '%s' is no pattern: write a GLOB such as 'charts/' or '*.tmp.yaml'",
                        option, shown(text).text);
    }
    return true;
}

bool path_filter_make(struct path_filter *out, const struct text_list *exclude,
                      const struct text_list *include, struct error *err)
{
    *out = (struct path_filter){.exclude = {.count = 0}};
    if (parse_patterns(&out->exclude, "--exclude", exclude, err) &&
        parse_patterns(&out->include, "--include", include, err))
        return true;
    path_filter_release(out);
    return false;
}

static struct path_patterns copy_patterns(const struct path_patterns *p)
{
    struct path_patterns copy = {.count = 0};

    for (size_t i = 0; i < p->count; i++) {
        struct path_pattern pattern = p->items[i];

        pattern.names = NULL;
        pattern.name_count = 0;
        for (size_t k = 0; k < p->items[i].name_count; k++)
            add_name(&pattern, p->items[i].names[k], strlen(p->items[i].names[k]));
        append_pattern(&copy, pattern);
    }
    return copy;
}

struct path_filter path_filter_copy(const struct path_filter *f)
{
    return (struct path_filter){copy_patterns(&f->exclude), copy_patterns(&f->include)};
}

void path_filter_release(struct path_filter *f)
{
    path_patterns_release(&f->exclude);
    path_patterns_release(&f->include);
}

/* Returns true if a pattern matches the path, and marks all those that do. */
static bool any_matches(const struct path_patterns *p, const char *path, bool is_folder, bool *used)
{
    bool found = false;

    for (size_t i = 0; i < p->count; i++) {
        bool matches = path_pattern_matches(&p->items[i], path, is_folder);

        used[i] = used[i] || matches;
        found = found || matches;
    }
    return found;
}

/* Returns true if a pattern of `include` matches a file or a folder that contains it. */
static bool is_included(const struct path_filter *f, const char *path, bool *used)
{
    bool found = any_matches(&f->include, path, false, used);

    for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        CLEANUP(free_cleanup) char *folder = xmemdup0(path, (size_t)(slash - path));

        found = any_matches(&f->include, folder, true, used) || found;
    }
    return found;
}

bool path_filter_excludes(const struct path_filter *f, const char *path, bool is_folder, bool *used)
{
    return any_matches(&f->exclude, path, is_folder, used) ||
           (!is_folder && f->include.count > 0 && !is_included(f, path, used + f->exclude.count));
}
