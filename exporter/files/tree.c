/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/files/tree.h"

void tree_init(struct tree *t, const char *const *paths, size_t count)
{
    *t = (struct tree){.path_count = count};
    watches_init(&t->watches);
    t->paths = xcalloc(count > 0 ? count : 1, sizeof(*t->paths));
    for (size_t i = 0; i < count; i++) {
        size_t len = strlen(paths[i]);

        while (len > 1 && paths[i][len - 1] == '/')
            len--;
        t->paths[i].path = xmemdup0(paths[i], len);
    }
}

void tree_release(struct tree *t)
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
    *t = (struct tree){0};
}

int tree_watch(struct tree *t, struct error *err)
{
    return watches_start(&t->watches, err) ? t->watches.fd : -1;
}

static int compare(const void *a, const void *b)
{
    return manifest_file_compare(*(struct manifest_file *const *)a,
                                 *(struct manifest_file *const *)b);
}

void tree_sort(struct tree *t)
{
    if (t->sorted == t->count)
        return;
    qsort(t->files, t->count, sizeof(struct manifest_file *), compare);
    t->sorted = t->count;
    t->cursor = 0;
}

/* Only among the files in order: a walk finds no path twice. */
struct manifest_file *tree_find(struct tree *t, uint32_t path_index, const char *path)
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

static struct manifest_file *add(struct tree *t, const struct found *found)
{
    struct manifest_file *file = manifest_file_new(found->path, found->path_index);

    file->is_path = found->is_path;
    /* Standard input has no name to open again, even if it is a file. */
    file->once =
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

void tree_found(struct tree *t, const struct found *found)
{
    struct manifest_file *file = tree_find(t, found->path_index, found->path);
    bool force = found->force || !file || file->gone;
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
    if (file->once && file->pass > 0)
        return;

    const struct signature *old = &file->signature;
    bool same = old->device == signature.device && old->inode == signature.inode &&
                old->size == signature.size && is_same_time(old->modified, signature.modified) &&
                is_same_time(old->changed, signature.changed);

    if (force || !same)
        tree_mark(t, file);
    file->signature = signature;
}

void tree_mark(struct tree *t, struct manifest_file *file)
{
    if (file->changed)
        return;
    file->changed = true;
    t->changed++;
}

void tree_lose(struct tree *t, struct manifest_file *file)
{
    if (file->gone)
        return;
    file->gone = true;
    t->gone++;
}

struct manifest_file *tree_next_changed(struct tree *t)
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

struct manifest_file *tree_next_gone(struct tree *t)
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
