/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/files/manifest_tree.h"

#include <sys/inotify.h>
#include <unistd.h>

void manifest_tree_init(struct manifest_tree *t, const char *const *paths, size_t count)
{
    *t = (struct manifest_tree){.path_count = count};
    watches_init(&t->watches);
    t->paths = xcalloc(count > 0 ? count : 1, sizeof(*t->paths));
    for (size_t i = 0; i < count; i++) {
        size_t len = strlen(paths[i]);

        while (len > 1 && paths[i][len - 1] == '/')
            len--;
        t->paths[i].path = xmemdup0(paths[i], len);
    }
}

void manifest_tree_release(struct manifest_tree *t)
{
    for (size_t i = 0; i < t->count; i++)
        manifest_file_free(t->files[i]);
    free(t->files);
    for (size_t i = 0; i < t->path_count; i++) {
        free(t->paths[i].path);
        problems_release(&t->paths[i].problems);
    }
    free(t->paths);
    watches_release(&t->watches);
    *t = (struct manifest_tree){0};
}

int manifest_tree_watch(struct manifest_tree *t, struct error *err)
{
    return watches_start(&t->watches, err) ? t->watches.fd : -1;
}

static int compare(const void *a, const void *b)
{
    return manifest_file_compare(*(struct manifest_file *const *)a,
                                 *(struct manifest_file *const *)b);
}

void tree_sort(struct manifest_tree *t)
{
    if (t->sorted == t->count)
        return;
    qsort(t->files, t->count, sizeof(struct manifest_file *), compare);
    t->sorted = t->count;
    t->cursor = 0;
}

/* Only among the files in order: a walk finds no path twice. */
/* The file at a path, or NULL. */
static struct manifest_file *tree_find(struct manifest_tree *t, uint32_t path_index,
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

static struct manifest_file *add(struct manifest_tree *t, const struct found *found)
{
    struct manifest_file *file = manifest_file_new(found->path, found->path_index);

    file->is_path = found->is_path;
    /* Standard input has no name to open again, even if it is a file. */
    file->read_once =
        found->is_path && (!S_ISREG(found->about->st_mode) || strcmp(found->path, "-") == 0);
    file->source = ++t->last_source;
    if (t->count == t->capacity) {
        t->capacity += t->capacity / 2 + 16;
        t->files = xreallocarray(t->files, t->capacity, sizeof(struct manifest_file *));
    }
    t->files[t->count++] = file;
    return file;
}

static bool is_same_time(struct timespec a, struct timespec b)
{
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static void tree_found(struct manifest_tree *t, const struct found *found)
{
    struct manifest_file *file = tree_find(t, found->path_index, found->path);
    bool force_reread = found->force_reread || !file || file->gone;
    struct signature signature = {
        .device = found->about->st_dev,
        .inode = found->about->st_ino,
        .size = found->about->st_size,
        .modified = found->about->st_mtim,
        .changed = found->about->st_ctim,
    };

    if (!file)
        file = add(t, found);
    if (file->gone) {
        file->gone = false;
        t->gone--;
    }
    file->scan = t->paths[found->path_index].scan;
    if (file->read_once && file->pass > 0)
        return;

    const struct signature *old = &file->signature;
    bool same = old->device == signature.device && old->inode == signature.inode &&
                old->size == signature.size && is_same_time(old->modified, signature.modified) &&
                is_same_time(old->changed, signature.changed);

    if (force_reread || !same)
        tree_mark(t, file);
    file->signature = signature;
}

void tree_mark(struct manifest_tree *t, struct manifest_file *file)
{
    if (file->changed)
        return;
    file->changed = true;
    t->changed++;
}

void tree_lose(struct manifest_tree *t, struct manifest_file *file)
{
    if (file->gone)
        return;
    file->gone = true;
    t->gone++;
}

struct manifest_file *manifest_tree_take_changed(struct manifest_tree *t)
{
    tree_sort(t);
    while (t->changed > 0) {
        if (t->cursor >= t->count)
            t->cursor = 0;

        struct manifest_file *file = t->files[t->cursor++];
        if (file->changed) {
            file->changed = false;
            t->changed--;
            return file;
        }
    }
    return NULL;
}

struct manifest_file *manifest_tree_take_gone(struct manifest_tree *t)
{
    tree_sort(t);
    for (size_t i = 0; i < t->count && t->gone > 0; i++) {
        struct manifest_file *file = t->files[i];

        if (!file->gone)
            continue;
        t->gone--;
        t->changed -= file->changed ? 1 : 0;
        t->count--;
        t->sorted--;
        memmove(t->files + i, t->files + i + 1, (t->count - i) * sizeof(struct manifest_file *));
        return file;
    }
    return NULL;
}

struct walk {
    struct manifest_tree *tree;
    struct tree_path *path;
    uint32_t path_index;
    bool force_reread;
};

static void report(struct tree_path *path, const char *text)
{
    problems_add(&path->problems, PROBLEM_UNREADABLE, (struct json_position){0, 0}, text);
}

/* What was found in this folder before stays. */
static void keep_below(const struct walk *w, const char *folder)
{
    CLEANUP(free_cleanup) char *prefix = scan_join(folder, "");
    size_t len = strlen(prefix);

    for (size_t i = 0; i < w->tree->count; i++) {
        struct manifest_file *file = w->tree->files[i];

        if (file->path_index == w->path_index && strncmp(file->path, prefix, len) == 0)
            file->scan = w->path->scan;
    }
}

static void see(void *context, const struct sighting *s)
{
    const struct walk *w = context;
    struct file_watch wanted = s->watch;

    switch (s->kind) {
    case SIGHTING_FILE:
        tree_found(w->tree,
                   &(struct found){w->path_index, s->text, &s->about, s->is_path, w->force_reread});
        return;
    case SIGHTING_KEPT:
        keep_below(w, s->text);
        return;
    case SIGHTING_WATCH:
        wanted.path_index = w->path_index;
        wanted.scan = w->path->scan;
        watches_note(&w->tree->watches, s->text, &wanted);
        return;
    case SIGHTING_MISSING:
        w->path->missing = true;
        report(w->path, s->text);
        return;
    case SIGHTING_PROBLEM:
        report(w->path, s->text);
        return;
    }
    abort();
}

void walk_begin(struct manifest_tree *t, struct tree_path *path)
{
    tree_sort(t);
    problems_release(&path->problems);
    path->missing = false;
    path->scan++;
}

void walk_receive(struct manifest_tree *t, struct tree_path *path, bool force_reread,
                  const struct read_result *result)
{
    struct walk w = {t, path, (uint32_t)(path - t->paths), force_reread};

    scan_receive(result, see, &w);
}

void walk_end(struct manifest_tree *t, struct tree_path *path)
{
    uint32_t path_index = (uint32_t)(path - t->paths);

    for (size_t i = 0; i < t->count && !path->missing; i++) {
        struct manifest_file *file = t->files[i];

        if (file->path_index == path_index && file->scan != path->scan)
            tree_lose(t, file);
    }
    watches_sweep(&t->watches, path_index, path->scan);
    tree_sort(t);
}

void walk_fail(struct manifest_tree *t, struct tree_path *path, const char *why)
{
    report(path, why);
    tree_sort(t);
}

/*
 * Find the files that a PATH stands for now. Those that are new or changed are
 * marked to be read, all of them with `force_reread`; those not found again are marked
 * as gone.
 */
static void walk_path(struct manifest_tree *t, struct tree_path *path, bool force_reread)
{
    struct walk w = {t, path, (uint32_t)(path - t->paths), force_reread};

    walk_begin(t, path);
    scan_path(path->path, t->watches.fd, see, NULL, &w);
    walk_end(t, path);
}

bool manifest_tree_walk_all(struct manifest_tree *t, struct error *err)
{
    for (size_t i = 0; i < t->path_count; i++) {
        struct tree_path *path = &t->paths[i];

        walk_path(t, path, true);
        if (path->missing)
            return fail(err, "%s", path->problems.items[0].text);
    }
    return true;
}

/* Look again at one path inside a folder, or at the target of a link there. */
static void walk_look_at(struct manifest_tree *t, struct tree_path *path, const char *at,
                         bool force_reread)
{
    struct walk w = {t, path, (uint32_t)(path - t->paths), force_reread};
    struct manifest_file *file = tree_find(t, w.path_index, at);
    struct stat about;

    if (stat(at, &about) < 0) {
        if (file && !file->is_path)
            tree_lose(t, file);
        path->needs_walk = path->needs_walk || (file && file->is_path);
    } else if (S_ISDIR(about.st_mode)) {
        path->needs_walk = true;
    } else if (file && file->is_path) {
        path->needs_walk = true;
        path->force_reread = path->force_reread || force_reread;
    } else if (file || about.st_size > 0 || !S_ISREG(about.st_mode)) {
        /* A new file that is empty is about to be written, which is another event. */
        scan_file(at, &about, t->watches.fd, see, &w);
        tree_sort(t);
    }
}

/* Half of inotify's default queue, so that a flood of events leaves time for other work. */
enum { BUFFER_BYTES = 64 * 1024, READS_MAX = 8 };

/* An event beside or above a PATH: it matters if it names the PATH. */
static void on_neighbour(struct tree_path *path, const struct file_watch *watch,
                         const struct inotify_event *event, const char *name)
{
    const char *rest = path->path + watch->name_at;
    size_t len = strlen(name);
    bool is_mine = strncmp(rest, name, len) == 0 && (rest[len] == '/' || rest[len] == '\0');

    /* A link through "..data" leads elsewhere without an event of its own. */
    if (*name && !is_mine && strncmp(name, "..", 2) != 0)
        return;
    path->needs_walk = true;
    if (is_mine && watch->reason == WATCH_PARENT &&
        (event->mask & (IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE)) != 0)
        path->force_reread = true;
}

/*
 * Handles a change of a file. With a file reader a known file is read again at once, and a walk of
 * the PATH finds the others.
 */
static void on_file(struct manifest_tree *t, struct tree_path *path, const char *at, uint32_t mask,
                    bool force_reread)
{
    struct manifest_file *file;

    if (!t->apart) {
        walk_look_at(t, path, at, force_reread);
        return;
    }
    file = tree_find(t, (uint32_t)(path - t->paths), at);
    if (file && !file->is_path && !file->gone && force_reread && (mask & IN_CREATE) == 0) {
        tree_mark(t, file);
        return;
    }
    path->needs_walk = true;
    path->force_reread = path->force_reread || (file && file->is_path && force_reread);
}

static void on_folder(struct manifest_tree *t, struct tree_path *path,
                      const struct file_watch *watch, const struct inotify_event *event,
                      const char *name)
{
    CLEANUP(free_cleanup) char *at = scan_join(watch->path, name);
    struct stat about;

    if (name[0] == '.' && name[1] != '.')
        return;
    if (*name == '\0' || (event->mask & IN_ISDIR) != 0 || name[0] == '.') {
        path->needs_walk = true;
    } else if (scan_is_manifest(name)) {
        on_file(t, path, at, event->mask,
                (event->mask & (IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE)) != 0);
    } else if ((event->mask & (IN_CREATE | IN_MOVED_TO)) != 0) {
        /* Of the other names only a link to a folder matters. */
        path->needs_walk =
            path->needs_walk || t->apart || (lstat(at, &about) == 0 && S_ISLNK(about.st_mode));
    } else if ((event->mask & (IN_DELETE | IN_MOVED_FROM)) != 0) {
        path->needs_walk = path->needs_walk || watches_has_folder(&t->watches, at);
    }
}

static void on_watch(struct manifest_tree *t, const struct file_watch *watch,
                     const struct inotify_event *event, const char *name)
{
    struct tree_path *path = &t->paths[watch->path_index];

    switch (watch->reason) {
    case WATCH_FOLDER:
        on_folder(t, path, watch, event, name);
        return;
    case WATCH_PARENT:
    case WATCH_ABOVE:
        on_neighbour(path, watch, event, name);
        return;
    case WATCH_TARGET:
        /* A folder that is walked may share the inode: events with a name are about its files. */
        if (*name == '\0')
            on_file(t, path, watch->path, event->mask, (event->mask & IN_CLOSE_WRITE) != 0);
        return;
    }
    abort();
}

/* True if there may be more. */
static bool read_events(struct manifest_tree *t, bool *any)
{
    _Alignas(struct inotify_event) char buffer[BUFFER_BYTES];
    ssize_t len = read(t->watches.fd, buffer, sizeof(buffer));

    for (ssize_t at = 0; at < len;) {
        const struct inotify_event *event = (const void *)(buffer + at);
        const struct file_watch *watch = watches_of(&t->watches, event->wd);

        /* Events were lost: read everything again. */
        for (size_t i = 0; i < t->path_count && (event->mask & IN_Q_OVERFLOW) != 0; i++)
            t->paths[i].needs_walk = t->paths[i].force_reread = true;
        for (; watch; watch = watch->other)
            on_watch(t, watch, event, event->len > 0 ? event->name : "");
        if ((event->mask & IN_IGNORED) != 0)
            watches_forget(&t->watches, event->wd);
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
    for (size_t i = 0; i < t->path_count && !t->apart; i++) {
        struct tree_path *path = &t->paths[i];
        bool force_reread = path->force_reread;

        if (!path->needs_walk)
            continue;
        path->needs_walk = false;
        path->force_reread = false;
        walk_path(t, path, force_reread);
    }
    return any;
}
