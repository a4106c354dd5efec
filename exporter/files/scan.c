/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/files/scan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "exporter/system/file.h"
#include "metrics/base/strbuf.h"

struct folder_id {
    dev_t device;
    ino_t inode;
};

struct scan {
    const char *path;
    int watches_fd;
    sighting_fn *see;
    scan_progress_fn *progress; /* NULL: the scan never ends early. */
    void *context;
    struct map seen; /* The folders that were looked into already. */
};

struct names {
    char **items;
    size_t count;
    size_t capacity;
};

static bool is_folder(const void *item, const void *key)
{
    const struct folder_id *a = item;
    const struct folder_id *b = key;

    return a->device == b->device && a->inode == b->inode;
}

static void release_scan(struct scan *w)
{
    void *item;

    for (size_t at = 0; (item = map_next(&w->seen, &at));)
        free(item);
    map_release(&w->seen);
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

char *scan_join(const char *folder, const char *name)
{
    size_t size = strlen(folder) + strlen(name) + 2;
    char *path = xmalloc(size);
    bool slash = folder[strlen(folder) - 1] != '/';

    snprintf(path, size, "%s%s%s", folder, slash ? "/" : "", name);
    return path;
}

bool scan_is_manifest(const char *name)
{
    const char *dot = strrchr(name, '.');

    return name[0] != '.' && dot &&
           (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0 || strcmp(dot, ".json") == 0);
}

static void tell(const struct scan *w, enum sighting_kind kind, const char *text)
{
    w->see(w->context, &(struct sighting){.kind = kind, .text = text});
}

static void tell_file(const struct scan *w, const char *path, const struct stat *about,
                      bool is_path)
{
    w->see(w->context,
           &(struct sighting){
               .kind = SIGHTING_FILE, .text = path, .about = *about, .is_path = is_path});
}

static void watch(const struct scan *w, enum watch_reason reason, const char *path, size_t name_at)
{
    struct sighting s = {
        .kind = SIGHTING_WATCH, .text = path, .watch = {.reason = reason, .name_at = name_at}};
    struct error err;

    if (!watches_attach(w->watches_fd, path, reason, &s.watch.descriptor, &err))
        tell(w, SIGHTING_PROBLEM, err.text);
    else if (s.watch.descriptor >= 0)
        w->see(w->context, &s);
}

/* Every folder on the way to the PATH: a rename may replace any of them. */
static void watch_above(const struct scan *w)
{
    const char *path = w->path;
    size_t end = strlen(path);
    enum watch_reason reason = WATCH_PARENT;

    while (end > 0) {
        size_t name_at = end;

        while (name_at > 0 && path[name_at - 1] != '/')
            name_at--;

        size_t above = name_at;
        while (above > 1 && path[above - 1] == '/')
            above--;

        CLEANUP(free_cleanup) char *folder = above > 0 ? xmemdup0(path, above) : xstrdup(".");
        watch(w, reason, folder, name_at);
        reason = WATCH_ABOVE;
        end = above == 1 && path[0] == '/' ? 0 : above;
    }
}

/* True the first time that the walk reaches this folder. */
static bool enter(struct scan *w, DIR *folder)
{
    struct stat about;

    if (fstat(dirfd(folder), &about) < 0)
        return false;

    struct folder_id id;
    memset(&id, 0, sizeof(id));
    id.device = about.st_dev;
    id.inode = about.st_ino;
    uint64_t hash = map_hash(&id, sizeof(id), 0);

    if (map_get(&w->seen, hash, &id))
        return false;
    struct folder_id *seen = xmalloc(sizeof(*seen));
    *seen = id;
    map_add(&w->seen, hash, seen);
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

static void see_file(const struct scan *w, const char *path, const struct stat *about)
{
    struct stat link;

    if (lstat(path, &link) == 0 && S_ISLNK(link.st_mode))
        watch(w, WATCH_TARGET, path, 0);
    tell_file(w, path, about, false);
}

/* Calls itself for the folders inside. */
static void scan_folder(struct scan *w, const char *path)
{
    CLEANUP(release_names) struct names names = {0};
    bool is_path = strcmp(path, w->path) == 0;

    CLEANUP(close_folder) DIR *folder = opendir(path);
    if (!folder && errno != ENOENT && errno != ENOTDIR) {
        struct error text;

        fail(&text, "cannot open '%s': %s", path, file_open_failure(path));
        tell(w, is_path ? SIGHTING_MISSING : SIGHTING_PROBLEM, text.text);
        tell(w, SIGHTING_KEPT, path);
    }
    if (folder && file_is_kernels(dirfd(folder))) {
        struct error text;

        fail(&text, "cannot read '%s': the kernel makes it up (/proc, /sys)", path);
        tell(w, is_path ? SIGHTING_MISSING : SIGHTING_PROBLEM, text.text);
        return;
    }
    if (!folder || !enter(w, folder))
        return;
    /* Before it is read, so that no change in between is missed. */
    watch(w, WATCH_FOLDER, path, 0);
    read_names(folder, &names);
    for (size_t i = 0; i < names.count; i++) {
        CLEANUP(free_cleanup) char *inside = scan_join(path, names.items[i]);
        struct stat about;

        if (w->progress && !w->progress(w->context))
            return;
        /* Removed meanwhile, or a link that leads nowhere. */
        if (stat(inside, &about) < 0)
            continue;
        if (S_ISDIR(about.st_mode))
            scan_folder(w, inside);
        else if (scan_is_manifest(names.items[i]))
            see_file(w, inside, &about);
    }
}

/*
 * True if a PATH that is a file can be opened. A pipe may be one where it is read once, as
 * standard input is; who follows what changes reads files.
 */
static bool is_readable(const struct scan *w, const struct stat *about, struct error *err)
{
    bool follows = w->watches_fd >= 0;
    const char *path = w->path;

    if (!follows && S_ISFIFO(about->st_mode))
        return access(path, R_OK) == 0 || fail(err, "cannot open '%s': %s", path, strerror(errno));
    CLEANUP(file_close) int fd = file_open(path, NULL, err);

    return fd >= 0;
}

/* Look at the PATH itself. */
static void see_path(struct scan *w)
{
    const char *path = w->path;
    struct error err;
    struct stat about;

    if (strcmp(path, "-") == 0) {
        if (fstat(STDIN_FILENO, &about) == 0) {
            tell_file(w, path, &about, true);
            return;
        }
        fail(&err, "cannot open '-': %s", strerror(errno));
        tell(w, SIGHTING_MISSING, err.text);
        return;
    }
    watch_above(w);
    if (stat(path, &about) < 0) {
        fail(&err, "cannot open '%s': %s", shown_path(path).text, strerror(errno));
        tell(w, SIGHTING_MISSING, err.text);
    } else if (S_ISDIR(about.st_mode)) {
        scan_folder(w, path);
    } else if (!is_readable(w, &about, &err)) {
        tell(w, SIGHTING_MISSING, err.text);
    } else {
        watch(w, WATCH_TARGET, path, 0);
        tell_file(w, path, &about, true);
    }
}

void scan_path(const char *path, int watches_fd, sighting_fn *see, scan_progress_fn *progress,
               void *context)
{
    CLEANUP(release_scan)
    struct scan w = {
        .path = path,
        .watches_fd = watches_fd,
        .see = see,
        .progress = progress,
        .context = context,
        .seen = MAP_INIT(is_folder),
    };

    see_path(&w);
}

void scan_file(const char *path, const struct stat *about, int watches_fd, sighting_fn *see,
               void *context)
{
    const struct scan w = {.path = "", .watches_fd = watches_fd, .see = see, .context = context};

    see_file(&w, path, about);
}

/* ---- as a job of the file reader ---- */

enum { SIGHTING_MAX_BYTES = 128 * 1024 };

/* Input of the job. */
struct scan_input {
    char *path;
    int watches_fd; /* A duplicate: the job may outlive its evaluation. */
};

static void free_input(void *input)
{
    struct scan_input *scan = input;

    file_close(&scan->watches_fd);
    free(scan->path);
    free(scan);
}

static void emit(void *context, const struct sighting *s)
{
    CLEANUP(strbuf_release) struct strbuf bytes = STRBUF_INIT(SIGHTING_MAX_BYTES);

    strbuf_add(&bytes, (const char *)s, sizeof(*s));
    strbuf_add(&bytes, s->text, strlen(s->text) + 1);
    /* The scan ends at its next progress if the results are no longer wanted. */
    if (strbuf_ok(&bytes))
        (void)!read_job_emit(context, 0, bytes.data, bytes.len);
}

static bool is_wanted(void *context)
{
    return read_job_progress(context);
}

static void run_scan(struct read_job *job, void *input)
{
    const struct scan_input *scan = input;

    scan_path(scan->path, scan->watches_fd, emit, is_wanted, job);
}

struct read_job *scan_start(struct file_reader *r, const char *path, int watches_fd)
{
    int fd = watches_fd < 0 ? -1 : fcntl(watches_fd, F_DUPFD_CLOEXEC, 0);

    if (watches_fd >= 0 && fd < 0)
        return NULL;

    struct scan_input *input = xcalloc(1, sizeof(*input));

    input->path = xstrdup(path);
    input->watches_fd = fd;
    return read_job_start(r, path, run_scan, input, free_input);
}

void scan_receive(const struct read_result *result, sighting_fn *see, void *context)
{
    struct sighting s;

    memcpy(&s, result->bytes, sizeof(s));
    s.text = result->bytes + sizeof(s);
    see(context, &s);
}
