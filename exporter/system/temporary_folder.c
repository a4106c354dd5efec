/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/system/temporary_folder.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "exporter/system/file.h"
#include "exporter/system/signals.h"
#include "metrics/base/shown.h"
#include "metrics/base/strbuf.h"

enum {
    FOLDERS_MAX = 4, /* One for an archive, and one for a rendering inside it. */
    OPEN_FOLDERS_MAX = 32,
    REMOVALS_MAX = 100, /* A child process may still create files. */
    REMOVAL_PAUSE_MS = 20,
};

/* All folders, and the thread that removes them on a signal. */
struct cleaner {
    pthread_mutex_t lock; /* Protects `paths`. */
    char *paths[FOLDERS_MAX];
    size_t count;
    struct signals signals;
    int end; /* eventfd(2) that ends the thread. */
    pthread_t thread;
};

/* Returns the cleaner of the process, because signals belong to the process. */
static struct cleaner *process_cleaner(void)
{
    static struct cleaner cleaner = {.lock = PTHREAD_MUTEX_INITIALIZER, .end = -1};

    return &cleaner;
}

static int remove_entry(const char *path, const struct stat *about, int type, struct FTW *ftw)
{
    (void)about;
    (void)type;
    (void)ftw;
    /* Go on after an error: the removal of the folder above then fails, too. */
    remove(path);
    return 0;
}

static void remove_tree(const char *path)
{
    for (unsigned i = 0; i < REMOVALS_MAX; i++) {
        nftw(path, remove_entry, OPEN_FOLDERS_MAX, FTW_DEPTH | FTW_PHYS);
        if (access(path, F_OK) != 0)
            return;
        poll(NULL, 0, REMOVAL_PAUSE_MS);
    }
}

/* Ends the process as the signal does by default. */
static void end_by_signal(int number)
{
    sigset_t set;

    signal(number, SIG_DFL);
    sigemptyset(&set);
    sigaddset(&set, number);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    raise(number);
}

/* Returns true if the process ignored the signal from its start, as nohup(1) arranges. */
static bool is_ignored(int number)
{
    struct sigaction action;

    return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

static void *wait_for_signals(void *context)
{
    struct cleaner *c = context;
    struct pollfd fds[] = {{.fd = c->signals.fd, .events = POLLIN},
                           {.fd = c->end, .events = POLLIN}};

    for (;;) {
        int number;

        if (poll(fds, ARRAY_LEN(fds), -1) < 0 && errno != EINTR)
            return NULL;
        if (fds[1].revents)
            return NULL;
        number = signals_next(&c->signals);
        if (number == 0 || is_ignored(number))
            continue;
        pthread_mutex_lock(&c->lock);
        for (size_t i = 0; i < c->count; i++)
            remove_tree(c->paths[i]);
        end_by_signal(number);
    }
}

static bool start_cleaner(struct cleaner *c, struct error *err)
{
    c->end = eventfd(0, EFD_CLOEXEC);
    if (c->end < 0)
        return fail(err, "eventfd: %s", strerror(errno));
    if (signals_open(&c->signals, err)) {
        if (pthread_create(&c->thread, NULL, wait_for_signals, c) == 0)
            return true;
        fail(err, "cannot start a thread");
    }
    signals_close(&c->signals);
    file_close(&c->end);
    return false;
}

static void stop_cleaner(struct cleaner *c)
{
    eventfd_write(c->end, 1);
    pthread_join(c->thread, NULL);
    signals_close(&c->signals);
    file_close(&c->end);
}

/* Returns the path of a new folder; NULL with the reason on errors. */
static char *make_folder(struct error *err)
{
    const char *wanted = getenv("TMPDIR");
    CLEANUP(free_cleanup) char *parent = realpath(wanted && *wanted ? wanted : "/tmp", NULL);
    CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT(PATH_MAX);

    strbuf_addf(&path, "%s/karmada-policy-exporter-XXXXXX", parent ? parent : wanted);
    if (parent && strbuf_ok(&path) && mkdtemp(path.data))
        return strbuf_take(&path, NULL);
    fail(err, "cannot make a temporary folder in %s: %s: set TMPDIR",
         shown_path(wanted ? wanted : "/tmp").text,
         strbuf_ok(&path) ? strerror(errno) : strerror(ENAMETOOLONG));
    return NULL;
}

char *temporary_folder_make(struct error *err)
{
    struct cleaner *c = process_cleaner();
    char *path;

    assert(c->count < FOLDERS_MAX);
    /* Before the folder exists, so that no signal ends the process between the two. */
    if (c->count == 0 && !start_cleaner(c, err))
        return NULL;
    pthread_mutex_lock(&c->lock);
    path = make_folder(err);
    if (path)
        c->paths[c->count++] = path;
    pthread_mutex_unlock(&c->lock);
    if (c->count == 0)
        stop_cleaner(c);
    return path;
}

void temporary_folder_remove(char *path)
{
    struct cleaner *c = process_cleaner();
    size_t at = 0;

    if (!path)
        return;
    pthread_mutex_lock(&c->lock);
    remove_tree(path);
    while (c->paths[at] != path)
        at++;
    c->paths[at] = c->paths[--c->count];
    pthread_mutex_unlock(&c->lock);
    free(path);
    if (c->count == 0)
        stop_cleaner(c);
}
