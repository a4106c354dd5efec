/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/files/walk.h"

struct walk {
    struct tree *tree;
    struct tree_path *path;
    uint32_t path_index;
    bool force;
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
                   &(struct found){w->path_index, s->text, &s->about, s->is_path, w->force});
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

void walk_begin(struct tree *t, struct tree_path *path)
{
    tree_sort(t);
    problems_release(&path->problems);
    path->missing = false;
    path->scan++;
}

void walk_receive(struct tree *t, struct tree_path *path, bool force,
                  const struct read_result *result)
{
    struct walk w = {t, path, (uint32_t)(path - t->paths), force};

    scan_receive(result, see, &w);
}

void walk_end(struct tree *t, struct tree_path *path)
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

void walk_fail(struct tree *t, struct tree_path *path, const char *why)
{
    report(path, why);
    tree_sort(t);
}

void walk_path(struct tree *t, struct tree_path *path, bool force)
{
    struct walk w = {t, path, (uint32_t)(path - t->paths), force};

    walk_begin(t, path);
    scan_path(path->path, t->watches.fd, see, NULL, &w);
    walk_end(t, path);
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
    struct walk w = {t, path, (uint32_t)(path - t->paths), force};
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
        scan_file(at, &about, t->watches.fd, see, &w);
        tree_sort(t);
    }
}
