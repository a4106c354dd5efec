/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/files/follow.h"

#include <sys/inotify.h>
#include <unistd.h>

#include "exporter/files/walk.h"

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
    path->look = true;
    if (is_mine && watch->reason == WATCH_PARENT &&
        (event->mask & (IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE)) != 0)
        path->force = true;
}

/*
 * Handles a change of a file. With a file reader a known file is read again at once, and a walk of
 * the PATH finds the others.
 */
static void on_file(struct tree *t, struct tree_path *path, const char *at, uint32_t mask,
                    bool force)
{
    struct manifest_file *file;

    if (!t->apart) {
        walk_look_at(t, path, at, force);
        return;
    }
    file = tree_find(t, (uint32_t)(path - t->paths), at);
    if (file && !file->is_path && !file->gone && force && (mask & IN_CREATE) == 0) {
        tree_mark(t, file);
        return;
    }
    path->look = true;
    path->force = path->force || (file && file->is_path && force);
}

static void on_folder(struct tree *t, struct tree_path *path, const struct file_watch *watch,
                      const struct inotify_event *event, const char *name)
{
    CLEANUP(free_cleanup) char *at = scan_join(watch->path, name);
    struct stat about;

    if (name[0] == '.' && name[1] != '.')
        return;
    if (*name == '\0' || (event->mask & IN_ISDIR) != 0 || name[0] == '.') {
        path->look = true;
    } else if (scan_is_manifest(name)) {
        on_file(t, path, at, event->mask,
                (event->mask & (IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE)) != 0);
    } else if ((event->mask & (IN_CREATE | IN_MOVED_TO)) != 0) {
        /* Of the other names only a link to a folder matters. */
        path->look = path->look || t->apart || (lstat(at, &about) == 0 && S_ISLNK(about.st_mode));
    } else if ((event->mask & (IN_DELETE | IN_MOVED_FROM)) != 0) {
        path->look = path->look || watches_has_folder(&t->watches, at);
    }
}

static void on_watch(struct tree *t, const struct file_watch *watch,
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
static bool read_events(struct tree *t, bool *any)
{
    _Alignas(struct inotify_event) char buffer[BUFFER_BYTES];
    ssize_t len = read(t->watches.fd, buffer, sizeof(buffer));

    for (ssize_t at = 0; at < len;) {
        const struct inotify_event *event = (const void *)(buffer + at);
        const struct file_watch *watch = watches_of(&t->watches, event->wd);

        /* Events were lost: read everything again. */
        for (size_t i = 0; i < t->path_count && (event->mask & IN_Q_OVERFLOW) != 0; i++)
            t->paths[i].look = t->paths[i].force = true;
        for (; watch; watch = watch->other)
            on_watch(t, watch, event, event->len > 0 ? event->name : "");
        if ((event->mask & IN_IGNORED) != 0)
            watches_forget(&t->watches, event->wd);
        at += (ssize_t)(sizeof(*event) + event->len);
    }
    *any = *any || len > 0;
    return len > 0;
}

bool follow_pump(struct tree *t)
{
    bool any = false;

    for (unsigned i = 0; i < READS_MAX && t->watches.fd >= 0 && read_events(t, &any); i++)
        continue;
    for (size_t i = 0; i < t->path_count && !t->apart; i++) {
        struct tree_path *path = &t->paths[i];
        bool force = path->force;

        if (!path->look)
            continue;
        path->look = false;
        path->force = false;
        walk_path(t, path, force);
    }
    return any;
}
