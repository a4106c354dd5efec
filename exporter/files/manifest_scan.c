/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/files/manifest_scan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "exporter/system/file.h"
#include "metrics/base/strbuf.h"

enum {
    STRUCTURE = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO,
    CONTENT = IN_CLOSE_WRITE | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR,
};

static const uint32_t masks[] = {
    [WATCH_FOLDER] = STRUCTURE | CONTENT,
    [WATCH_PARENT] = STRUCTURE | CONTENT,
    /* Folders such as / and /tmp are busy: only names matter there. */
    [WATCH_ABOVE] = STRUCTURE | IN_ONLYDIR,
    [WATCH_TARGET] = IN_CLOSE_WRITE | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF,
};

static bool is_watch(const void *item, const void *key)
{
    return ((const struct file_watch *)item)->descriptor == *(const int *)key;
}

static uint64_t hash(int descriptor)
{
    return map_hash(&descriptor, sizeof(descriptor), 0);
}

void watches_init(struct watches *w)
{
    *w = (struct watches){.fd = -1, .by_descriptor = MAP_INIT(is_watch)};
}

static void free_watch(struct file_watch *watch)
{
    free(watch->path);
    free(watch);
}

static void free_all(struct file_watch *watch)
{
    while (watch) {
        struct file_watch *next = watch->other;

        free_watch(watch);
        watch = next;
    }
}

void watches_release(struct watches *w)
{
    void *watch;

    for (size_t at = 0; (watch = map_next(&w->by_descriptor, &at));)
        free_all(watch);
    map_release(&w->by_descriptor);
    if (w->fd >= 0)
        close(w->fd);
    w->fd = -1;
}

bool watches_start(struct watches *w, struct error *err)
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
 * Have the kernel watch `path` for this reason; the descriptor of its watch, -1 as well if nothing
 * is watched or the path does not exist. `fd` is inotify's. It looks at the disk, and may hang.
 */
static MUST_USE bool watches_attach(int fd, const char *path, enum watch_reason reason, int *out,
                                    struct error *err)
{
    *out = -1;
    if (fd < 0)
        return true;
    /* An inode has one watch: a second reason adds to it. */
    *out = inotify_add_watch(fd, path, masks[reason] | IN_MASK_ADD);
    if (*out < 0 && (errno == ENOSPC || errno == ENOMEM))
        return fail(err, "cannot watch '%s' for changes: raise fs.inotify.max_user_watches", path);
    return true;
}

void watches_note(struct watches *w, const char *path, const struct file_watch *wanted)
{
    int descriptor = wanted->descriptor;
    struct file_watch *first = map_get(&w->by_descriptor, hash(descriptor), &descriptor);
    for (struct file_watch *at = first; at; at = at->other) {
        if (at->reason == wanted->reason && at->path_index == wanted->path_index &&
            at->name_at == wanted->name_at && strcmp(at->path, path) == 0) {
            at->scan = wanted->scan;
            return;
        }
    }
    struct file_watch *watch = xcalloc(1, sizeof(*watch));

    *watch = *wanted;
    watch->path = xstrdup(path);
    watch->other = first ? first->other : NULL;
    if (first)
        first->other = watch;
    else
        map_add(&w->by_descriptor, hash(descriptor), watch);
}

/* Free the reasons that no scan since `scan` asked for; the others. */
static struct file_watch *sweep(struct file_watch *watch, uint32_t path_index, uint32_t scan)
{
    struct file_watch *kept = NULL;

    while (watch) {
        struct file_watch *next = watch->other;

        if (watch->path_index == path_index && watch->scan != scan) {
            free_watch(watch);
        } else {
            watch->other = kept;
            kept = watch;
        }
        watch = next;
    }
    return kept;
}

void watches_sweep(struct watches *w, uint32_t path_index, uint32_t scan)
{
    struct map old = w->by_descriptor;
    struct file_watch *watch;

    /* Into a fresh map, because a map may not change during a walk over it. */
    w->by_descriptor = MAP_INIT(is_watch);
    for (size_t at = 0; (watch = map_next(&old, &at));) {
        int descriptor = watch->descriptor;
        struct file_watch *kept = sweep(watch, path_index, scan);

        if (kept)
            map_add(&w->by_descriptor, hash(descriptor), kept);
        else
            inotify_rm_watch(w->fd, descriptor);
    }
    map_release(&old);
}

const struct file_watch *watches_of(const struct watches *w, int descriptor)
{
    return map_get(&w->by_descriptor, hash(descriptor), &descriptor);
}

void watches_forget(struct watches *w, int descriptor)
{
    free_all(map_take(&w->by_descriptor, hash(descriptor), &descriptor));
}

bool watches_has_folder(const struct watches *w, const char *path)
{
    const struct file_watch *watch;

    for (size_t at = 0; (watch = map_next(&w->by_descriptor, &at));) {
        for (; watch; watch = watch->other) {
            if (watch->reason == WATCH_FOLDER && strcmp(watch->path, path) == 0)
                return true;
        }
    }
    return false;
}

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
