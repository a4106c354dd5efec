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
    OPEN_FOLDERS_MAX = 32,
    REMOVALS_MAX = 100, /* A child process may still create files. */
    REMOVAL_PAUSE_MS = 20,
};

struct temporary_folder {
    char *path;
    char *parent; /* Value of $TMPDIR before; NULL if it was not set. */
    struct signals signals;
    bool nested; /* Inside of an older folder, of which the thread ends the process. */
    int end;     /* eventfd(2) that ends the thread. */
    pthread_t thread;
};

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

/* Returns a signal that waits for the threads of the folders, without consuming it; 0: none. */
static int find_pending_signal(void)
{
    static const int numbers[] = {SIGTERM, SIGINT, SIGHUP};
    sigset_t pending;

    sigpending(&pending);
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        if (sigismember(&pending, numbers[i]) == 1)
            return numbers[i];
    }
    return 0;
}

static void *wait_for_signals(void *context)
{
    struct temporary_folder *f = context;
    struct pollfd fds[] = {{.fd = f->signals.fd, .events = POLLIN},
                           {.fd = f->end, .events = POLLIN}};

    for (;;) {
        int number;

        if (poll(fds, ARRAY_LEN(fds), -1) < 0 && errno != EINTR)
            return NULL;
        if (fds[1].revents)
            return NULL;
        number = find_pending_signal();
        if (number == 0)
            continue;
        if (is_ignored(number)) {
            (void)signals_next(&f->signals);
            continue;
        }
        remove_tree(f->path);
        if (!f->nested)
            end_by_signal(number);
        return NULL;
    }
}

static bool make_folder(struct temporary_folder *f, struct error *err)
{
    const char *wanted = f->parent && *f->parent ? f->parent : "/tmp";
    CLEANUP(free_cleanup) char *parent = realpath(wanted, NULL);
    CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT(PATH_MAX);

    strbuf_addf(&path, "%s/karmada-policy-exporter-XXXXXX", parent ? parent : wanted);
    if (!parent || !strbuf_ok(&path) || !mkdtemp(path.data))
        return fail(err, "cannot make a temporary folder in %s: %s: set TMPDIR",
                    shown_path(wanted).text,
                    strbuf_ok(&path) ? strerror(errno) : strerror(ENAMETOOLONG));
    f->path = strbuf_take(&path, NULL);
    return true;
}

static void restore_parent(const struct temporary_folder *f)
{
    if (f->parent)
        setenv("TMPDIR", f->parent, true);
    else
        unsetenv("TMPDIR");
}

static bool start_thread(struct temporary_folder *f, struct error *err)
{
    return pthread_create(&f->thread, NULL, wait_for_signals, f) == 0 ||
           fail(err, "cannot start a thread");
}

struct temporary_folder *temporary_folder_make(struct error *err)
{
    struct temporary_folder *f = xcalloc(1, sizeof(*f));
    const char *parent = getenv("TMPDIR");

    f->parent = parent ? xstrdup(parent) : NULL;
    f->end = eventfd(0, EFD_CLOEXEC);
    if (f->end < 0)
        fail(err, "eventfd: %s", strerror(errno));
    /* Before the folder exists, so that no signal ends the process between the two. */
    else if (signals_open(&f->signals, err)) {
        f->nested = sigismember(&f->signals.before, SIGTERM) == 1;
        if (make_folder(f, err) && start_thread(f, err)) {
            setenv("TMPDIR", f->path, true);
            return f;
        }
        if (f->path)
            remove_tree(f->path);
        signals_close(&f->signals);
    }
    file_close(&f->end);
    free(f->parent);
    free(f->path);
    free(f);
    return NULL;
}

const char *temporary_folder_path(const struct temporary_folder *f)
{
    return f->path;
}

void temporary_folder_remove(struct temporary_folder *f)
{
    if (!f)
        return;
    /* The thread first, so that only one thread removes files. */
    eventfd_write(f->end, 1);
    pthread_join(f->thread, NULL);
    remove_tree(f->path);
    restore_parent(f);
    signals_close(&f->signals);
    file_close(&f->end);
    free(f->parent);
    free(f->path);
    free(f);
}
