/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/files/manifest_scan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "exporter/files/package_definition.h"
#include "exporter/system/file.h"
#include "metrics/base/strbuf.h"

/* ---- inotify watches ---- */

enum {
    STRUCTURE = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO,
    CONTENT = IN_CLOSE_WRITE | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR,
};

static const uint32_t masks[] = {
    [INOTIFY_FOLDER] = STRUCTURE | CONTENT,
    [INOTIFY_PARENT] = STRUCTURE | CONTENT,
    /* Only changes of names, because files in folders such as / and /tmp change often. */
    [INOTIFY_ABOVE] = STRUCTURE | IN_ONLYDIR,
    [INOTIFY_TARGET] = IN_CLOSE_WRITE | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF,
};

static bool is_watch(const void *item, const void *key)
{
    return ((const struct file_watch *)item)->descriptor == *(const int *)key;
}

static uint64_t hash_descriptor(int descriptor)
{
    return map_hash(&descriptor, sizeof(descriptor), 0);
}

void file_watches_init(struct file_watches *w)
{
    *w = (struct file_watches){.fd = -1, .by_descriptor = MAP_INIT(is_watch)};
}

static void free_watch(struct file_watch *watch)
{
    free(watch->path);
    free(watch);
}

static void free_watches(struct file_watch *watch)
{
    while (watch) {
        struct file_watch *next = watch->next_reason;

        free_watch(watch);
        watch = next;
    }
}

void file_watches_release(struct file_watches *w)
{
    void *watch;

    for (size_t at = 0; (watch = map_next(&w->by_descriptor, &at));)
        free_watches(watch);
    map_release(&w->by_descriptor);
    if (w->fd >= 0)
        close(w->fd);
    w->fd = -1;
}

bool file_watches_open(struct file_watches *w, struct error *err)
{
    if (w->fd >= 0)
        return true;
    w->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (w->fd >= 0)
        return true;
    return fail(err, "cannot watch files for changes: %s%s", strerror(errno),
                errno == EMFILE ? " (raise fs.inotify.max_user_instances)" : "");
}

/*
 * Adds a watch of `path` to the inotify descriptor `fd`. `out` receives the watch descriptor; -1 if
 * `fd` is -1 or `path` cannot be watched. Returns false with the reason only at a limit of watches
 * or memory. Blocks on a mount that does not answer.
 */
static MUST_USE bool add_kernel_watch(int fd, const char *path, enum watch_reason reason, int *out,
                                      struct error *err)
{
    *out = -1;
    if (fd < 0)
        return true;
    /* All reasons share the watch of an inode, so the new events are added to its mask. */
    *out = inotify_add_watch(fd, path, masks[reason] | IN_MASK_ADD);
    if (*out < 0 && (errno == ENOSPC || errno == ENOMEM))
        return fail(err, "cannot watch '%s' for changes: raise fs.inotify.max_user_watches", path);
    return true;
}

void file_watches_add(struct file_watches *w, const char *path, const struct file_watch *wanted)
{
    int descriptor = wanted->descriptor;
    struct file_watch *first = map_get(&w->by_descriptor, hash_descriptor(descriptor), &descriptor);
    for (struct file_watch *at = first; at; at = at->next_reason) {
        if (at->reason == wanted->reason && at->path_index == wanted->path_index &&
            at->name_at == wanted->name_at && strcmp(at->path, path) == 0) {
            at->scan_number = wanted->scan_number;
            return;
        }
    }
    struct file_watch *watch = xcalloc(1, sizeof(*watch));

    *watch = *wanted;
    watch->path = xstrdup(path);
    watch->next_reason = first ? first->next_reason : NULL;
    if (first)
        first->next_reason = watch;
    else
        map_add(&w->by_descriptor, hash_descriptor(descriptor), watch);
}

/* Frees reasons of the PATH with another scan number. Returns the list of all other reasons. */
static struct file_watch *remove_stale_reasons(struct file_watch *watch, uint32_t path_index,
                                               uint32_t scan_number)
{
    struct file_watch *kept = NULL;

    while (watch) {
        struct file_watch *next = watch->next_reason;

        if (watch->path_index == path_index && watch->scan_number != scan_number) {
            free_watch(watch);
        } else {
            watch->next_reason = kept;
            kept = watch;
        }
        watch = next;
    }
    return kept;
}

void file_watches_remove_stale(struct file_watches *w, uint32_t path_index, uint32_t scan_number)
{
    struct map old = w->by_descriptor;
    struct file_watch *watch;

    /* A new map, because a map must not change during an iteration. */
    w->by_descriptor = MAP_INIT(is_watch);
    for (size_t at = 0; (watch = map_next(&old, &at));) {
        int descriptor = watch->descriptor;
        struct file_watch *kept = remove_stale_reasons(watch, path_index, scan_number);

        if (kept)
            map_add(&w->by_descriptor, hash_descriptor(descriptor), kept);
        else
            inotify_rm_watch(w->fd, descriptor);
    }
    map_release(&old);
}

const struct file_watch *file_watches_find(const struct file_watches *w, int descriptor)
{
    return map_get(&w->by_descriptor, hash_descriptor(descriptor), &descriptor);
}

void file_watches_remove(struct file_watches *w, int descriptor)
{
    free_watches(map_take(&w->by_descriptor, hash_descriptor(descriptor), &descriptor));
}

bool file_watches_has_folder(const struct file_watches *w, const char *path)
{
    const struct file_watch *watch;

    for (size_t at = 0; (watch = map_next(&w->by_descriptor, &at));) {
        for (; watch; watch = watch->next_reason) {
            if (watch->reason == INOTIFY_FOLDER && strcmp(watch->path, path) == 0)
                return true;
        }
    }
    return false;
}

/* ---- scan of a PATH ---- */

struct folder_id {
    dev_t device;
    ino_t inode;
};

struct scan {
    const char *path;
    const struct path_filter *filter;
    bool *used; /* Patterns of the filter that have matched. */
    int inotify_fd;
    scan_result_fn *receive;
    scan_progress_fn *progress; /* NULL: the scan never ends early. */
    void *context;
    struct map seen; /* Folders already entered, as struct folder_id. */
};

struct names {
    char **items;
    size_t count;
    size_t capacity;
};

static bool is_folder_id(const void *item, const void *key)
{
    const struct folder_id *a = item;
    const struct folder_id *b = key;

    return a->device == b->device && a->inode == b->inode;
}

static void release_scan(struct scan *scan)
{
    void *item;

    for (size_t at = 0; (item = map_next(&scan->seen, &at));)
        free(item);
    map_release(&scan->seen);
    free(scan->used);
}

static void release_names(struct names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->items[i]);
    free(names->items);
}

static void close_folder(DIR **folder)
{
    if (*folder)
        closedir(*folder);
}

char *scan_join_path(const char *folder, const char *name)
{
    size_t size = strlen(folder) + strlen(name) + 2;
    char *path = xmalloc(size);
    bool slash = folder[strlen(folder) - 1] != '/';

    snprintf(path, size, "%s%s%s", folder, slash ? "/" : "", name);
    return path;
}

bool scan_is_manifest_name(const char *name)
{
    const char *dot = strrchr(name, '.');

    if (!dot)
        return package_is_definition_name(name);
    return name[0] != '.' &&
           (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0 || strcmp(dot, ".json") == 0);
}

static void report_text(const struct scan *scan, enum scan_result_kind kind, const char *text)
{
    scan->receive(scan->context, &(struct scan_result){.kind = kind, .text = text});
}

/* Returns true if the file is in a folder templates, at any depth, that is beside a Chart.yaml. */
static bool is_chart_template(const char *path)
{
    static const char folder[] = "/templates/";
    static const char chart[] = "/Chart.yaml";
    const char *at = path;

    while ((at = strstr(at, folder))) {
        CLEANUP(strbuf_release) struct strbuf beside = STRBUF_INIT(SIZE_MAX);
        struct stat about;

        strbuf_add(&beside, path, (size_t)(at - path));
        strbuf_adds(&beside, chart);
        if (stat(beside.data, &about) == 0)
            return true;
        at += sizeof(folder) - 2;
    }
    return false;
}

static void report_file(const struct scan *scan, const char *path, const struct stat *about,
                        bool is_path)
{
    scan->receive(scan->context,
                  &(struct scan_result){.kind = SCAN_FILE,
                                        .text = path,
                                        .about = *about,
                                        .is_path = is_path,
                                        .is_chart_template = !is_path && is_chart_template(path)});
}

static void add_watch(const struct scan *scan, enum watch_reason reason, const char *path,
                      size_t name_at)
{
    struct scan_result s = {
        .kind = SCAN_WATCH, .text = path, .watch = {.reason = reason, .name_at = name_at}};
    struct error err;

    if (!add_kernel_watch(scan->inotify_fd, path, reason, &s.watch.descriptor, &err))
        report_text(scan, SCAN_PROBLEM, err.text);
    else if (s.watch.descriptor >= 0)
        scan->receive(scan->context, &s);
}

/* Watches the folders above the PATH, up to "/" or ".": a rename may replace each of them. */
static void watch_ancestors(const struct scan *scan)
{
    const char *path = scan->path;
    size_t end = strlen(path);
    enum watch_reason reason = INOTIFY_PARENT;

    while (end > 0) {
        size_t name_at = end;

        while (name_at > 0 && path[name_at - 1] != '/')
            name_at--;

        size_t above = name_at;
        while (above > 1 && path[above - 1] == '/')
            above--;

        CLEANUP(free_cleanup) char *folder = above > 0 ? xmemdup0(path, above) : xstrdup(".");
        add_watch(scan, reason, folder, name_at);
        reason = INOTIFY_ABOVE;
        end = above == 1 && path[0] == '/' ? 0 : above;
    }
}

/* Records the folder. Returns false if the scan has entered it before, or if fstat() fails. */
static bool enter_folder(struct scan *scan, DIR *folder)
{
    struct stat about;

    if (fstat(dirfd(folder), &about) < 0)
        return false;

    struct folder_id id;
    memset(&id, 0, sizeof(id));
    id.device = about.st_dev;
    id.inode = about.st_ino;
    uint64_t hash = map_hash(&id, sizeof(id), 0);

    if (map_get(&scan->seen, hash, &id))
        return false;
    struct folder_id *seen = xmalloc(sizeof(*seen));
    *seen = id;
    map_add(&scan->seen, hash, seen);
    return true;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void read_names(DIR *folder, struct names *out)
{
    const struct dirent *entry;

    while ((entry = readdir(folder))) {
        if (entry->d_name[0] == '.')
            continue;
        if (out->count == out->capacity) {
            out->capacity = out->capacity * 2 + 16;
            out->items = xreallocarray(out->items, out->capacity, sizeof(char *));
        }
        out->items[out->count++] = xstrdup(entry->d_name);
    }
    if (out->count > 0)
        qsort(out->items, out->count, sizeof(char *), compare_names);
}

static void scan_file_in_folder(const struct scan *scan, const char *path, const struct stat *about)
{
    struct stat link;

    if (lstat(path, &link) == 0 && S_ISLNK(link.st_mode))
        add_watch(scan, INOTIFY_TARGET, path, 0);
    report_file(scan, path, about, false);
}

static void release_rules(struct ignore_rules *rules)
{
    path_patterns_release(&rules->patterns);
}

/* Returns true if the filter excludes a path in the PATH. Reports patterns that match at first. */
static bool filter_excludes(const struct scan *scan, const char *path, bool is_folder)
{
    const struct path_filter *f = scan->filter;
    size_t count = f->exclude.count + f->include.count;
    CLEANUP(free_cleanup) bool *used = NULL;
    bool excluded;

    if (count == 0)
        return false;
    used = xcalloc(count, sizeof(*used));
    path += strlen(scan->path);
    excluded = path_filter_excludes(f, path + (*path == '/'), is_folder, used);
    for (size_t i = 0; i < count; i++) {
        if (used[i] && !scan->used[i])
            scan->receive(scan->context, &(struct scan_result){
                                             .kind = SCAN_PATTERN_USED, .text = "", .pattern = i});
        scan->used[i] = scan->used[i] || used[i];
    }
    return excluded;
}

/* Returns true for a file or folder that a pattern excludes, and reports it. */
static bool is_excluded(const struct scan *scan, const struct ignore_rules *rules, const char *path,
                        bool is_folder)
{
    if (!filter_excludes(scan, path, is_folder) && !ignore_rules_exclude(rules, path, is_folder))
        return false;
    scan->receive(scan->context, &(struct scan_result){
                                     .kind = SCAN_EXCLUDED, .text = path, .is_folder = is_folder});
    return true;
}

/* Reads the ignore file of a folder, if it has one, and reports that it exists or why not. */
static void read_rules(const struct scan *scan, const char *folder, struct ignore_rules *rules)
{
    struct error err;

    if (!ignore_rules_read(rules, folder, &err))
        report_text(scan, SCAN_PROBLEM, err.text);
    else if (rules->patterns.count > 0)
        report_text(scan, SCAN_IGNORE_FILE, folder);
}

/* Scans a folder and, recursively, the folders in it. `above` are rules of the folder above. */
static void scan_folder(struct scan *scan, const char *path, const struct ignore_rules *above)
{
    CLEANUP(release_names) struct names names = {0};
    CLEANUP(release_rules) struct ignore_rules rules = {.above = above};
    bool is_path = strcmp(path, scan->path) == 0;
    struct error text;

    CLEANUP(close_folder) DIR *folder = opendir(path);
    if (!folder && errno != ENOENT && errno != ENOTDIR) {
        fail(&text, "cannot open '%s': %s", path, file_open_failure(path));
        report_text(scan, is_path ? SCAN_PATH_MISSING : SCAN_PROBLEM, text.text);
        report_text(scan, SCAN_UNREADABLE_FOLDER, path);
    }
    if (folder && file_is_kernel_generated(dirfd(folder))) {
        fail(&text, "cannot read '%s': a file of a virtual file system (/proc, /sys)", path);
        report_text(scan, is_path ? SCAN_PATH_MISSING : SCAN_PROBLEM, text.text);
        return;
    }
    if (!folder || !enter_folder(scan, folder))
        return;
    /* The watch comes before the names are read, so that no change in between is missed. */
    add_watch(scan, INOTIFY_FOLDER, path, 0);
    read_rules(scan, path, &rules);
    read_names(folder, &names);
    for (size_t i = 0; i < names.count; i++) {
        CLEANUP(free_cleanup) char *inside = scan_join_path(path, names.items[i]);
        struct stat about;

        if (scan->progress && !scan->progress(scan->context))
            return;
        /* Skips, for example, a broken link and a file that was removed in the meantime. */
        if (stat(inside, &about) < 0)
            continue;
        bool is_folder = S_ISDIR(about.st_mode);

        if ((!is_folder && !scan_is_manifest_name(names.items[i])) ||
            is_excluded(scan, &rules, inside, is_folder))
            continue;
        if (is_folder)
            scan_folder(scan, inside, &rules);
        else
            scan_file_in_folder(scan, inside, &about);
    }
}

/*
 * Returns true if the PATH, which is no folder, can be read; otherwise false with the reason.
 * Accepts a named pipe only without watches, because a pipe cannot be read again.
 */
static bool is_readable(const struct scan *scan, const struct stat *about, struct error *err)
{
    bool watches = scan->inotify_fd >= 0;
    const char *path = scan->path;

    if (!watches && S_ISFIFO(about->st_mode))
        return access(path, R_OK) == 0 || fail(err, "cannot open '%s': %s", path, strerror(errno));
    CLEANUP(file_close) int fd = file_open(path, NULL, err);

    return fd >= 0;
}

static void scan_given_path(struct scan *scan)
{
    const char *path = scan->path;
    struct error err;
    struct stat about;

    if (strcmp(path, "-") == 0) {
        if (fstat(STDIN_FILENO, &about) == 0) {
            report_file(scan, path, &about, true);
            return;
        }
        fail(&err, "cannot open '-': %s", strerror(errno));
        report_text(scan, SCAN_PATH_MISSING, err.text);
        return;
    }
    watch_ancestors(scan);
    if (stat(path, &about) < 0) {
        fail(&err, "cannot open '%s': %s", shown_path(path).text, strerror(errno));
        report_text(scan, SCAN_PATH_MISSING, err.text);
    } else if (S_ISDIR(about.st_mode)) {
        scan_folder(scan, path, NULL);
    } else if (!is_readable(scan, &about, &err)) {
        report_text(scan, SCAN_PATH_MISSING, err.text);
    } else {
        add_watch(scan, INOTIFY_TARGET, path, 0);
        report_file(scan, path, &about, true);
    }
}

void scan_path(const char *path, const struct path_filter *filter, int inotify_fd,
               scan_result_fn *receive, scan_progress_fn *progress, void *context)
{
    CLEANUP(release_scan)
    struct scan scan = {
        .path = path,
        .filter = filter,
        .used = xcalloc(filter->exclude.count + filter->include.count + 1, sizeof(bool)),
        .inotify_fd = inotify_fd,
        .receive = receive,
        .progress = progress,
        .context = context,
        .seen = MAP_INIT(is_folder_id),
    };

    scan_given_path(&scan);
}

void scan_file(const char *path, const struct stat *about, int inotify_fd, scan_result_fn *receive,
               void *context)
{
    const struct scan scan = {
        .path = "", .inotify_fd = inotify_fd, .receive = receive, .context = context};

    scan_file_in_folder(&scan, path, about);
}

/* ---- scan by a job of the file reader ---- */

enum { RESULT_MAX_BYTES = 128 * 1024 };

struct scan_input {
    char *path;
    struct path_filter filter;
    int inotify_fd; /* Owned duplicate, because the job may outlive the tree. */
};

static void free_scan_input(void *input)
{
    struct scan_input *in = input;

    file_close(&in->inotify_fd);
    path_filter_release(&in->filter);
    free(in->path);
    free(in);
}

static void emit_result(void *context, const struct scan_result *s)
{
    CLEANUP(strbuf_release) struct strbuf bytes = STRBUF_INIT(RESULT_MAX_BYTES);

    strbuf_add(&bytes, (const char *)s, sizeof(*s));
    strbuf_add(&bytes, s->text, strlen(s->text) + 1);
    /* Ignores that the results may be no longer wanted: report_progress() then ends the scan. */
    if (strbuf_ok(&bytes))
        (void)!read_job_emit(context, 0, bytes.data, bytes.len);
}

static bool report_progress(void *context)
{
    return read_job_progress(context);
}

static void run_scan_job(struct read_job *job, void *input)
{
    const struct scan_input *in = input;

    scan_path(in->path, &in->filter, in->inotify_fd, emit_result, report_progress, job);
}

struct read_job *scan_start_job(struct file_reader *r, const char *path,
                                const struct path_filter *filter, int inotify_fd)
{
    int fd = inotify_fd < 0 ? -1 : fcntl(inotify_fd, F_DUPFD_CLOEXEC, 0);

    if (inotify_fd >= 0 && fd < 0)
        return NULL;

    struct scan_input *input = xcalloc(1, sizeof(*input));

    input->path = xstrdup(path);
    input->filter = path_filter_copy(filter);
    input->inotify_fd = fd;
    return read_job_start(r, path, run_scan_job, input, free_scan_input);
}

void scan_decode_result(const struct read_result *result, scan_result_fn *receive, void *context)
{
    struct scan_result s;

    memcpy(&s, result->bytes, sizeof(s));
    s.text = result->bytes + sizeof(s);
    receive(context, &s);
}
