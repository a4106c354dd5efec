/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/files/watches.h"

#include <errno.h>
#include <sys/inotify.h>
#include <unistd.h>

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

bool watches_attach(int fd, const char *path, enum watch_reason reason, int *out, struct error *err)
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
