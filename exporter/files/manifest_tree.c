/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/files/manifest_tree.h"

#include <sys/inotify.h>
#include <unistd.h>

#include "exporter/files/package_definition.h"

void manifest_tree_init(struct manifest_tree *t, const char *const *paths, size_t count)
{
    *t = (struct manifest_tree){.path_count = count};
    file_watches_init(&t->watches);
    t->paths = xcalloc(count > 0 ? count : 1, sizeof(*t->paths));
    for (size_t i = 0; i < count; i++) {
        size_t len = strlen(paths[i]);

        while (len > 1 && paths[i][len - 1] == '/')
            len--;
        t->paths[i].path = xmemdup0(paths[i], len);
    }
}

void manifest_tree_set_filter(struct manifest_tree *t, struct path_filter filter)
{
    path_filter_release(&t->filter);
    free(t->used_patterns);
    t->used_patterns = NULL;
    t->filter = filter;
    if (filter.exclude.count + filter.include.count > 0)
        t->used_patterns = xcalloc(filter.exclude.count + filter.include.count, sizeof(bool));
}

void manifest_tree_release(struct manifest_tree *t)
{
    for (size_t i = 0; i < t->count; i++)
        manifest_file_free(t->files[i]);
    free(t->files);
    for (size_t i = 0; i < t->path_count; i++) {
        free(t->paths[i].path);
        document_problems_release(&t->paths[i].problems);
    }
    free(t->paths);
    path_filter_release(&t->filter);
    free(t->used_patterns);
    file_watches_release(&t->watches);
    *t = (struct manifest_tree){0};
}

int manifest_tree_watch(struct manifest_tree *t, struct error *err)
{
    return file_watches_open(&t->watches, err) ? t->watches.fd : -1;
}

static int compare_files(const void *a, const void *b)
{
    return manifest_file_compare(*(struct manifest_file *const *)a,
                                 *(struct manifest_file *const *)b);
}

void manifest_tree_sort(struct manifest_tree *t)
{
    if (t->sorted == t->count)
        return;
    qsort(t->files, t->count, sizeof(struct manifest_file *), compare_files);
    t->sorted = t->count;
    t->cursor = 0;
}

/* ---- files ---- */

struct manifest_file *manifest_tree_find_file(const struct manifest_tree *t, uint32_t path_index,
                                              const char *path)
{
    size_t from = 0;
    size_t to = t->sorted;

    while (from < to) {
        size_t middle = from + (to - from) / 2;
        struct manifest_file *file = t->files[middle];
        int order = file->path_index != path_index ? (file->path_index < path_index ? -1 : 1)
                                                   : strcmp(file->path, path);

        if (order == 0)
            return file;
        if (order < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return NULL;
}

/* Walk of a PATH, as the context of apply_scan_result(). */
struct walk_context {
    struct manifest_tree *tree;
    struct manifest_path *path;
    uint32_t path_index;
    bool force_reread;
};

static const char *file_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static struct manifest_file *add_file(const struct walk_context *w, const struct scan_result *s)
{
    struct manifest_file *file = manifest_file_new(s->text, w->path_index);
    struct manifest_tree *t = w->tree;

    file->is_path = s->is_path;
    file->is_definition = package_is_definition_name(file_base_name(s->text));
    /* Standard input has no path to open again, even if it is a file. */
    file->read_once = s->is_path && (!S_ISREG(s->about.st_mode) || strcmp(s->text, "-") == 0);
    file->source = ++t->last_source;
    if (t->count == t->capacity) {
        t->capacity += t->capacity / 2 + 16;
        t->files = xreallocarray(t->files, t->capacity, sizeof(struct manifest_file *));
    }
    t->files[t->count++] = file;
    return file;
}

/*
 * Adds a file, or updates its state. Marks the file as changed if it is new, was gone or has
 * changed, or with force_reread; but never a file that was read and can be read only once.
 */
static void record_file(const struct walk_context *w, const struct scan_result *s)
{
    struct manifest_tree *t = w->tree;
    struct manifest_file *file = manifest_tree_find_file(t, w->path_index, s->text);
    bool force_reread = w->force_reread || !file || file->gone;
    struct file_signature signature = file_signature_of(&s->about);

    if (!file)
        file = add_file(w, s);
    if (file->gone) {
        file->gone = false;
        t->gone--;
    }
    file->scan_number = w->path->scan_number;
    if (file->read_once && file->pass > 0)
        return;

    if (force_reread || !file_signature_equal(&file->signature, &signature) ||
        file->is_chart_template != s->is_chart_template)
        manifest_tree_mark_changed(t, file);
    file->signature = signature;
    file->is_chart_template = s->is_chart_template;
}

void manifest_tree_mark_changed(struct manifest_tree *t, struct manifest_file *file)
{
    if (file->changed)
        return;
    file->changed = true;
    t->changed++;
    t->changed_definitions += file->is_definition;
}

void manifest_tree_mark_gone(struct manifest_tree *t, struct manifest_file *file)
{
    if (file->gone)
        return;
    file->gone = true;
    t->gone++;
}

static void clear_changed(struct manifest_tree *t, struct manifest_file *file)
{
    if (!file->changed)
        return;
    file->changed = false;
    t->changed--;
    t->changed_definitions -= file->is_definition;
}

struct manifest_file *manifest_tree_take_changed(struct manifest_tree *t)
{
    manifest_tree_sort(t);
    while (t->changed > 0) {
        if (t->cursor >= t->count)
            t->cursor = 0;

        struct manifest_file *file = t->files[t->cursor++];
        if (file->changed && (file->is_definition || t->changed_definitions == 0)) {
            clear_changed(t, file);
            return file;
        }
    }
    return NULL;
}

struct manifest_file *manifest_tree_take_gone(struct manifest_tree *t)
{
    manifest_tree_sort(t);
    for (size_t i = 0; i < t->count && t->gone > 0; i++) {
        struct manifest_file *file = t->files[i];

        if (!file->gone)
            continue;
        t->gone--;
        clear_changed(t, file);
        t->count--;
        t->sorted--;
        memmove(t->files + i, t->files + i + 1, (t->count - i) * sizeof(struct manifest_file *));
        return file;
    }
    return NULL;
}

/* ---- walks ---- */

static void report_problem(struct manifest_path *path, const char *text)
{
    document_problems_add(&path->problems, PROBLEM_UNREADABLE, (struct json_position){0, 0}, text,
                          NULL);
}

/* Keeps the files found below a folder by earlier walks. */
static void keep_files_below(const struct walk_context *w, const char *folder)
{
    CLEANUP(free_cleanup) char *prefix = scan_join_path(folder, "");
    size_t len = strlen(prefix);

    for (size_t i = 0; i < w->tree->count; i++) {
        struct manifest_file *file = w->tree->files[i];

        if (file->path_index == w->path_index && strncmp(file->path, prefix, len) == 0)
            file->scan_number = w->path->scan_number;
    }
}

static void apply_scan_result(void *context, const struct scan_result *s)
{
    const struct walk_context *w = context;
    struct file_watch wanted = s->watch;

    switch (s->kind) {
    case SCAN_FILE:
        record_file(w, s);
        return;
    case SCAN_EXCLUDED:
        w->path->excluded_folders += s->is_folder;
        w->path->excluded_files += !s->is_folder;
        return;
    case SCAN_IGNORE_FILE:
        w->path->has_rules = true;
        return;
    case SCAN_PATTERN_USED:
        w->tree->used_patterns[s->pattern] = true;
        return;
    case SCAN_UNREADABLE_FOLDER:
        keep_files_below(w, s->text);
        return;
    case SCAN_WATCH:
        wanted.path_index = w->path_index;
        wanted.scan_number = w->path->scan_number;
        file_watches_add(&w->tree->watches, s->text, &wanted);
        return;
    case SCAN_PATH_MISSING:
        w->path->missing = true;
        report_problem(w->path, s->text);
        return;
    case SCAN_PROBLEM:
        report_problem(w->path, s->text);
        return;
    }
    abort();
}

void manifest_tree_begin_walk(struct manifest_tree *t, struct manifest_path *path)
{
    manifest_tree_sort(t);
    document_problems_release(&path->problems);
    path->missing = false;
    path->has_rules = false;
    path->excluded_files = path->excluded_folders = 0;
    path->scan_number++;
}

void manifest_tree_receive_result(struct manifest_tree *t, struct manifest_path *path,
                                  bool force_reread, const struct read_result *result)
{
    struct walk_context w = {t, path, (uint32_t)(path - t->paths), force_reread};

    scan_decode_result(result, apply_scan_result, &w);
}

void manifest_tree_end_walk(struct manifest_tree *t, struct manifest_path *path)
{
    uint32_t path_index = (uint32_t)(path - t->paths);

    for (size_t i = 0; i < t->count && !path->missing; i++) {
        struct manifest_file *file = t->files[i];

        if (file->path_index == path_index && file->scan_number != path->scan_number)
            manifest_tree_mark_gone(t, file);
    }
    file_watches_remove_stale(&t->watches, path_index, path->scan_number);
    manifest_tree_sort(t);
}

void manifest_tree_fail_walk(struct manifest_tree *t, struct manifest_path *path, const char *why)
{
    report_problem(path, why);
    manifest_tree_sort(t);
}

/* Walks a PATH in the caller's thread. */
static void walk_path(struct manifest_tree *t, struct manifest_path *path, bool force_reread)
{
    struct walk_context w = {t, path, (uint32_t)(path - t->paths), force_reread};

    manifest_tree_begin_walk(t, path);
    scan_path(path->path, &t->filter, t->watches.fd, apply_scan_result, NULL, &w);
    manifest_tree_end_walk(t, path);
}

bool manifest_tree_walk_all(struct manifest_tree *t, struct error *err)
{
    for (size_t i = 0; i < t->path_count; i++) {
        struct manifest_path *path = &t->paths[i];

        walk_path(t, path, true);
        if (path->missing)
            return fail(err, "%s", path->problems.items[0].text);
    }
    return true;
}

/*
 * Handles a change of the path `at` without a file reader: updates one file, or marks the PATH to
 * be walked.
 */
static void update_file_at(struct manifest_tree *t, struct manifest_path *path, const char *at,
                           bool force_reread)
{
    struct walk_context w = {t, path, (uint32_t)(path - t->paths), force_reread};
    struct manifest_file *file = manifest_tree_find_file(t, w.path_index, at);
    struct stat about;

    if (stat(at, &about) < 0) {
        if (file && !file->is_path)
            manifest_tree_mark_gone(t, file);
        path->needs_walk = path->needs_walk || (file && file->is_path);
    } else if (S_ISDIR(about.st_mode) || (!file && (path->has_rules || t->used_patterns))) {
        /* Only a walk applies the patterns of files. */
        path->needs_walk = true;
    } else if (file && file->is_path) {
        path->needs_walk = true;
        path->force_reread = path->force_reread || force_reread;
    } else if (file || about.st_size > 0 || !S_ISREG(about.st_mode)) {
        /* Not for a new empty file: the write that follows is another event. */
        scan_file(at, &about, t->watches.fd, apply_scan_result, &w);
        manifest_tree_sort(t);
    }
}

/* ---- inotify events ---- */

/* Limits of one manifest_tree_pump_events(), so that many events do not block other work. */
enum { BUFFER_BYTES = 64 * 1024, READS_MAX = 8 };

/* Handles an event in a folder above a PATH: an event that may matter marks it to be walked. */
static void handle_ancestor_event(struct manifest_path *path, const struct file_watch *watch,
                                  const struct inotify_event *event, const char *name)
{
    const char *rest = path->path + watch->name_at;
    size_t len = strlen(name);
    bool names_path = strncmp(rest, name, len) == 0 && (rest[len] == '/' || rest[len] == '\0');

    /* Skips other names, but not those such as "..data": the PATH may be a link through it. */
    if (*name && !names_path && strncmp(name, "..", 2) != 0)
        return;
    path->needs_walk = true;
    if (names_path && watch->reason == INOTIFY_PARENT &&
        (event->mask & (IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE)) != 0)
        path->force_reread = true;
}

/*
 * Handles a change of the file `at`. Without a file reader, calls update_file_at(). With one, marks
 * a known file in a folder as changed if it was written or moved there; else marks the PATH to be
 * walked.
 */
static void handle_file_event(struct manifest_tree *t, struct manifest_path *path, const char *at,
                              uint32_t mask, bool force_reread)
{
    struct manifest_file *file;

    if (!t->uses_reader) {
        update_file_at(t, path, at, force_reread);
        return;
    }
    file = manifest_tree_find_file(t, (uint32_t)(path - t->paths), at);
    if (file && !file->is_path && !file->gone && force_reread && (mask & IN_CREATE) == 0) {
        manifest_tree_mark_changed(t, file);
        return;
    }
    path->needs_walk = true;
    path->force_reread = path->force_reread || (file && file->is_path && force_reread);
}

static void handle_folder_event(struct manifest_tree *t, struct manifest_path *path,
                                const struct file_watch *watch, const struct inotify_event *event,
                                const char *name)
{
    CLEANUP(free_cleanup) char *at = scan_join_path(watch->path, name);
    struct stat about;

    bool is_ignore_file = strcmp(name, ignore_file_name) == 0;

    if (name[0] == '.' && name[1] != '.' && !is_ignore_file)
        return;
    if (*name == '\0' || (event->mask & IN_ISDIR) != 0 || name[0] == '.') {
        path->needs_walk = true;
    } else if (scan_is_manifest_name(name)) {
        handle_file_event(t, path, at, event->mask,
                          (event->mask & (IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE)) != 0);
    } else if ((event->mask & (IN_CREATE | IN_MOVED_TO)) != 0) {
        /* It may be a link to a folder. With a file reader only a walk looks: lstat() may hang. */
        path->needs_walk = path->needs_walk || t->uses_reader ||
                           (lstat(at, &about) == 0 && S_ISLNK(about.st_mode));
    } else if ((event->mask & (IN_DELETE | IN_MOVED_FROM)) != 0) {
        path->needs_walk = path->needs_walk || file_watches_has_folder(&t->watches, at);
    }
}

static void handle_event(struct manifest_tree *t, const struct file_watch *watch,
                         const struct inotify_event *event, const char *name)
{
    struct manifest_path *path = &t->paths[watch->path_index];

    switch (watch->reason) {
    case INOTIFY_FOLDER:
        handle_folder_event(t, path, watch, event, name);
        return;
    case INOTIFY_PARENT:
    case INOTIFY_ABOVE:
        handle_ancestor_event(path, watch, event, name);
        return;
    case INOTIFY_TARGET:
        /* Events with a name concern files of a folder that has the same descriptor. */
        if (*name == '\0')
            handle_file_event(t, path, watch->path, event->mask,
                              (event->mask & IN_CLOSE_WRITE) != 0);
        return;
    }
    abort();
}

/* Handles the events of one read(2). Returns true, and sets `any`, if there were events. */
static bool read_events(struct manifest_tree *t, bool *any)
{
    _Alignas(struct inotify_event) char buffer[BUFFER_BYTES];
    ssize_t len = read(t->watches.fd, buffer, sizeof(buffer));

    for (ssize_t at = 0; at < len;) {
        const struct inotify_event *event = (const void *)(buffer + at);
        const struct file_watch *watch = file_watches_find(&t->watches, event->wd);

        /* After a queue overflow events are lost. */
        for (size_t i = 0; i < t->path_count && (event->mask & IN_Q_OVERFLOW) != 0; i++)
            t->paths[i].needs_walk = t->paths[i].force_reread = true;
        for (; watch; watch = watch->next_reason)
            handle_event(t, watch, event, event->len > 0 ? event->name : "");
        if ((event->mask & IN_IGNORED) != 0)
            file_watches_remove(&t->watches, event->wd);
        at += (ssize_t)(sizeof(*event) + event->len);
    }
    *any = *any || len > 0;
    return len > 0;
}

bool manifest_tree_pump_events(struct manifest_tree *t)
{
    bool any = false;

    for (unsigned i = 0; i < READS_MAX && t->watches.fd >= 0 && read_events(t, &any); i++)
        continue;
    for (size_t i = 0; i < t->path_count && !t->uses_reader; i++) {
        struct manifest_path *path = &t->paths[i];
        bool force_reread = path->force_reread;

        if (!path->needs_walk)
            continue;
        path->needs_walk = false;
        path->force_reread = false;
        walk_path(t, path, force_reread);
    }
    return any;
}
