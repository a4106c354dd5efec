/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/system/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exporter/system/descriptors.h"
#include "exporter/system/file.h"

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/*
 * A pipe whose ends the child does not inherit. They are above the standard descriptors, which
 * may be closed here: the child's own are put there.
 */
static bool make_pipe(int *read_end, int *write_end, struct error *err)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) < 0)
        return fail(err, "cannot make a pipe: %s", strerror(errno));
    *read_end = fcntl(ends[0], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    *write_end = fcntl(ends[1], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    close(ends[0]);
    close(ends[1]);
    if (*read_end < 0 || *write_end < 0 || fcntl(*read_end, F_SETFL, O_NONBLOCK) < 0)
        return fail(err, "cannot make a pipe: %s", strerror(errno));
    return true;
}

/* 0 or the errno of the first that fails. */
static int set_actions(posix_spawn_file_actions_t *actions, int out, int err)
{
    int code = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);

    if (code == 0)
        code = posix_spawn_file_actions_adddup2(actions, out, STDOUT_FILENO);
    if (code == 0)
        code = posix_spawn_file_actions_adddup2(actions, err, STDERR_FILENO);
    if (code == 0)
        code = posix_spawn_file_actions_addclosefrom_np(actions, STDERR_FILENO + 1);
    return code;
}

/* A process group, to kill as a whole, and no signal that our loop blocks. */
static int set_attributes(posix_spawnattr_t *attributes)
{
    sigset_t none, all;
    int code;

    sigemptyset(&none);
    sigfillset(&all);
    code = posix_spawnattr_setpgroup(attributes, 0);
    if (code == 0)
        code = posix_spawnattr_setsigmask(attributes, &none);
    if (code == 0)
        code = posix_spawnattr_setsigdefault(attributes, &all);
    if (code == 0)
        code = posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                                        POSIX_SPAWN_SETSIGDEF);
    return code;
}

struct program {
    const char *name;
    char *const *arguments;
    char *const *environment;
};

static bool spawn(struct child *c, const struct program *program, int out, int err_fd,
                  struct error *err)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int code;

    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    code = set_actions(&actions, out, err_fd);
    if (code == 0)
        code = set_attributes(&attributes);
    if (code == 0)
        code = posix_spawnp(&c->pid, program->name, &actions, &attributes, program->arguments,
                            program->environment);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (code == 0) {
        descriptors_lower_for(c->pid);
        return true;
    }
    c->pid = 0;
    /* Nothing else keeps us from making a process: what cannot be run is another code. */
    if (code == EPERM && prctl(PR_GET_SECCOMP, 0, 0, 0, 0) > 0)
        return fail(err, "--hardening lets us run no program; restart to run it");
    return fail(err, "%s", strerror(code));
}

static bool start(struct child *c, const struct program *program, struct error *err)
{
    CLEANUP(file_close) int out = -1;
    CLEANUP(file_close) int err_fd = -1;

    if (!make_pipe(&c->out, &out, err) || !make_pipe(&c->err, &err_fd, err) ||
        !spawn(c, program, out, err_fd, err))
        return false;
    c->end = pidfd_open(c->pid, 0);
    if (c->end < 0)
        return fail(err, "cannot watch the process: %s", strerror(errno));
    return true;
}

bool child_start(struct child *c, const char *program, char *const *arguments,
                 char *const *environment, struct error *err)
{
    struct child fresh = CHILD_NONE;

    if (!start(&fresh, &(struct program){program, arguments, environment}, err)) {
        child_release(&fresh);
        return false;
    }
    *c = fresh;
    return true;
}

void child_kill(const struct child *c)
{
    /* It has not been waited for, so the number cannot be another group's yet. */
    if (c->pid > 0)
        kill(-c->pid, SIGKILL);
}

/* Collect the exit status. True if the child has ended or is already gone. */
static bool reap(struct child *c, int flags, struct child_end *out)
{
    siginfo_t info = {.si_pid = 0};
    int waited;

    do {
        waited = waitid(P_PID, (id_t)c->pid, &info, WEXITED | flags);
    } while (waited < 0 && errno == EINTR);
    if (waited == 0 && info.si_pid == 0)
        return false;
    *out = (struct child_end){
        .exited = waited == 0 && info.si_code == CLD_EXITED,
        .code = waited == 0 ? info.si_status : 0,
    };
    c->pid = 0;
    return true;
}

bool child_ended(struct child *c, struct child_end *out)
{
    return reap(c, WNOHANG, out);
}

void child_release(struct child *c)
{
    struct child_end end;

    if (c->pid > 0) {
        child_kill(c);
        reap(c, 0, &end);
    }
    close_fd(&c->end);
    close_fd(&c->out);
    close_fd(&c->err);
}
