/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/manifests/follow.h"

#include <sys/inotify.h>
#include <unistd.h>

#include "exporter/manifests/walk.h"

/* Half of inotify's default queue: a flood does not keep the loop from its other work. */
enum { BUFFER_BYTES = 64 * 1024, READS_MAX = 8 };

static bool is_name_before_slash(const char *path, const char *name)
{
    size_t len = strlen(name);

    return strncmp(path, name, len) == 0 && (path[len] == '/' || path[len] == '\0');
}

/* Something happened beside or above a PATH. */
static void on_neighbour(struct tree_path *path, const struct watch *watch,
                         const struct inotify_event *event, const char *name)
{
    bool is_mine = is_name_before_slash(path->path + watch->name_at, name);

    /* A link through "..data" changes what it leads to without an event of its own. */
    if (*name && !is_mine && strncmp(name, "..", 2) != 0)
        return;
    path->look = true;
    if (is_mine && watch->reason == WATCH_PARENT &&
        (event->mask & (IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE)) != 0)
        path->force = true;
}

/* A name in a folder that none of our files has: only a link to a folder matters. */
static void on_other_name(struct tree *t, struct tree_path *path, const struct watch *watch,
                          const struct inotify_event *event, const char *name)
{
    CLEANUP(free_cleanup) char *at = walk_join(watch->path, name);
    struct stat about;

    if ((event->mask & (IN_CREATE | IN_MOVED_TO)) != 0)
        path->look = path->look || (lstat(at, &about) == 0 && S_ISLNK(about.st_mode));
    if ((event->mask & (IN_DELETE | IN_MOVED_FROM)) != 0)
        path->look = path->look || watches_has_folder(&t->watches, at);
}

static void on_folder(struct tree *t, struct tree_path *path, const struct watch *watch,
                      const struct inotify_event *event, const char *name)
{
    if (name[0] == '.' && name[1] != '.')
        return;
    if (*name == '\0' || (event->mask & IN_ISDIR) != 0 || name[0] == '.') {
        path->look = true;
    } else if (walk_is_manifest(name)) {
        CLEANUP(free_cleanup) char *at = walk_join(watch->path, name);

        walk_look_at(t, path, at, (event->mask & (IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE)) != 0);
    } else {
        on_other_name(t, path, watch, event, name);
    }
}

static void on_watch(struct tree *t, const struct watch *watch, const struct inotify_event *event,
                     const char *name)
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
        /* A folder's reason may share the inode: its names are not ours. */
        if (*name == '\0')
            walk_look_at(t, path, watch->path, (event->mask & IN_CLOSE_WRITE) != 0);
        return;
    }
    abort();
}

static void on_event(struct tree *t, const struct inotify_event *event)
{
    const char *name = event->len > 0 ? event->name : "";

    if ((event->mask & IN_Q_OVERFLOW) != 0) {
        /* Nobody knows what was lost: read everything. */
        for (size_t i = 0; i < t->path_count; i++)
            t->paths[i].look = t->paths[i].force = true;
    }
    const struct watch *watch = watches_of(&t->watches, event->wd);
    for (; watch; watch = watch->other)
        on_watch(t, watch, event, name);
    if ((event->mask & IN_IGNORED) != 0)
        watches_forget(&t->watches, event->wd);
}

/* True if there may be more. */
static bool read_events(struct tree *t, bool *any)
{
    _Alignas(struct inotify_event) char buffer[BUFFER_BYTES];
    ssize_t len = read(t->watches.fd, buffer, sizeof(buffer));

    for (ssize_t at = 0; at < len;) {
        const struct inotify_event *event = (const void *)(buffer + at);

        on_event(t, event);
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
    for (size_t i = 0; i < t->path_count; i++) {
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
