/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/manifests/walk.h"

#include <dirent.h>
#include <errno.h>
#include <unistd.h>

#include "exporter/system/file.h"
#include "metrics/base/strbuf.h"

struct folder_id {
    dev_t device;
    ino_t inode;
};

struct walk {
    struct tree *tree;
    struct tree_path *path;
    uint32_t path_index;
    bool force;
    struct map seen; /* The folders that were walked already. */
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

static void release_walk(struct walk *w)
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

char *walk_join(const char *folder, const char *name)
{
    size_t size = strlen(folder) + strlen(name) + 2;
    char *path = xmalloc(size);
    bool slash = folder[strlen(folder) - 1] != '/';

    snprintf(path, size, "%s%s%s", folder, slash ? "/" : "", name);
    return path;
}

bool walk_is_manifest(const char *name)
{
    const char *dot = strrchr(name, '.');

    return name[0] != '.' && dot &&
           (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0 || strcmp(dot, ".json") == 0);
}

static void report(struct tree_path *path, const char *text)
{
    problems_add(&path->problems, PROBLEM_UNREADABLE, (struct json_position){0, 0}, text);
}

static void watch(const struct walk *w, enum watch_reason reason, const char *path, size_t name_at)
{
    struct watch wanted = {
        .reason = reason,
        .path_index = w->path_index,
        .scan = w->path->scan,
        .name_at = name_at,
    };
    struct error err;

    if (!watches_add(&w->tree->watches, path, &wanted, &err))
        report(w->path, err.text);
}

/* Every folder on the way to the PATH: a rename may replace any of them. */
static void watch_above(const struct walk *w)
{
    const char *path = w->path->path;
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
static bool enter(struct walk *w, DIR *folder)
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

/* A folder that cannot be opened keeps the files that were found in it before. */
static void keep_below(const struct walk *w, const char *folder)
{
    CLEANUP(free_cleanup) char *prefix = walk_join(folder, "");
    size_t len = strlen(prefix);

    for (size_t i = 0; i < w->tree->count; i++) {
        struct manifest_file *file = w->tree->files[i];

        if (file->path_index == w->path_index && strncmp(file->path, prefix, len) == 0)
            file->scan = w->path->scan;
    }
}

static void find_file(const struct walk *w, const char *path, const struct stat *about)
{
    struct stat link;

    if (lstat(path, &link) == 0 && S_ISLNK(link.st_mode))
        watch(w, WATCH_TARGET, path, 0);
    tree_found(w->tree, &(struct found){w->path_index, path, about, false, w->force});
}

/* Calls itself for the folders inside. */
static void walk_folder(struct walk *w, const char *path)
{
    CLEANUP(release_names) struct names names = {0};

    CLEANUP(close_folder) DIR *folder = opendir(path);
    if (!folder && errno != ENOENT && errno != ENOTDIR) {
        struct error text;

        fail(&text, "cannot open '%s': %s", path, file_open_failure(path));
        report(w->path, text.text);
        w->path->missing = w->path->missing || strcmp(path, w->path->path) == 0;
        keep_below(w, path);
    }
    if (folder && file_is_kernels(dirfd(folder))) {
        struct error text;

        fail(&text, "cannot read '%s': the kernel makes it up (/proc, /sys)", path);
        report(w->path, text.text);
        w->path->missing = w->path->missing || strcmp(path, w->path->path) == 0;
        return;
    }
    if (!folder || !enter(w, folder))
        return;
    /* Before it is read, so that no change in between is missed. */
    watch(w, WATCH_FOLDER, path, 0);
    read_names(folder, &names);
    for (size_t i = 0; i < names.count; i++) {
        CLEANUP(free_cleanup) char *inside = walk_join(path, names.items[i]);
        struct stat about;

        /* Removed meanwhile, or a link that leads nowhere. */
        if (stat(inside, &about) < 0)
            continue;
        if (S_ISDIR(about.st_mode))
            walk_folder(w, inside);
        else if (walk_is_manifest(names.items[i]))
            find_file(w, inside, &about);
    }
}

static void report_missing(const struct walk *w, const char *why)
{
    report(w->path, why);
    w->path->missing = true;
}

/*
 * True if a PATH that is a file can be opened. A pipe may be one where it is read once, as
 * standard input is; who follows what changes reads files.
 */
static bool is_readable(const struct walk *w, const struct stat *about, struct error *err)
{
    bool follows = w->tree->watches.fd >= 0;
    const char *path = w->path->path;

    if (!follows && S_ISFIFO(about->st_mode))
        return access(path, R_OK) == 0 || fail(err, "cannot open '%s': %s", path, strerror(errno));
    CLEANUP(file_close) int fd = file_open(path, NULL, err);

    return fd >= 0;
}

/* Look at the PATH itself. */
static void find_path(struct walk *w)
{
    const char *path = w->path->path;
    struct error err;
    struct stat about;

    if (strcmp(path, "-") == 0) {
        if (fstat(STDIN_FILENO, &about) < 0) {
            fail(&err, "cannot open '-': %s", strerror(errno));
            report_missing(w, err.text);
        } else {
            tree_found(w->tree, &(struct found){w->path_index, path, &about, true, w->force});
        }
        return;
    }
    watch_above(w);
    if (stat(path, &about) < 0) {
        fail(&err, "cannot open '%s': %s", path, strerror(errno));
        report_missing(w, err.text);
    } else if (S_ISDIR(about.st_mode)) {
        walk_folder(w, path);
    } else if (!is_readable(w, &about, &err)) {
        report_missing(w, err.text);
    } else {
        watch(w, WATCH_TARGET, path, 0);
        tree_found(w->tree, &(struct found){w->path_index, path, &about, true, w->force});
    }
}

void walk_path(struct tree *t, struct tree_path *path, bool force)
{
    CLEANUP(release_walk)
    struct walk w = {
        .tree = t,
        .path = path,
        .path_index = (uint32_t)(path - t->paths),
        .force = force,
        .seen = MAP_INIT(is_folder),
    };

    tree_sort(t);
    problems_release(&path->problems);
    path->missing = false;
    path->scan++;
    find_path(&w);
    for (size_t i = 0; i < t->count && !path->missing; i++) {
        struct manifest_file *file = t->files[i];

        if (file->path_index == w.path_index && file->scan != path->scan)
            tree_lose(t, file);
    }
    watches_sweep(&t->watches, w.path_index, path->scan);
    tree_sort(t);
}

bool walk_all(struct tree *t, struct error *err)
{
    for (size_t i = 0; i < t->path_count; i++) {
        struct tree_path *path = &t->paths[i];

        walk_path(t, path, true);
        if (path->missing)
            return fail(err, "%s", path->problems.items[0].text);
    }
    return true;
}

void walk_look_at(struct tree *t, struct tree_path *path, const char *at, bool force)
{
    const struct walk w = {
        .tree = t, .path = path, .path_index = (uint32_t)(path - t->paths), .force = force};
    struct manifest_file *file = tree_find(t, w.path_index, at);
    struct stat about;

    if (stat(at, &about) < 0) {
        if (file && !file->is_path)
            tree_lose(t, file);
        path->look = path->look || (file && file->is_path);
    } else if (S_ISDIR(about.st_mode)) {
        path->look = true;
    } else if (file && file->is_path) {
        path->look = true;
        path->force = path->force || force;
    } else if (file || about.st_size > 0 || !S_ISREG(about.st_mode)) {
        /* A new file that is empty is about to be written, which is another event. */
        find_file(&w, at, &about);
        tree_sort(t);
    }
}
