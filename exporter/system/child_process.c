/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/system/child_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exporter/system/descriptors.h"
#include "exporter/system/file.h"
#include "exporter/system/platform.h"
#include "metrics/base/shown.h"

enum {
    CHUNK_BYTES = 64 * 1024,
    COMPLAINT_MAX_BYTES = 4 * 1024, /* Bytes of standard error that are kept by default. */
};

void child_close(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/*
 * Makes a pipe with a non-blocking read end. Moves both ends above the standard descriptors, even
 * if those are closed, because set_spawn_actions() duplicates the write end to a standard
 * descriptor.
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

struct program {
    const char *name;
    const char *folder; /* Working folder; NULL: that of the exporter. */
    char *const *arguments;
    char *const *environment;
};

/* Sets descriptors and working folder of the child. Returns 0 or the error number. */
static int set_spawn_actions(posix_spawn_file_actions_t *actions, const struct program *program,
                             int out, int err)
{
    int code = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);

    if (code == 0 && program->folder)
        code = posix_spawn_file_actions_addchdir_np(actions, program->folder);
    if (code == 0)
        code = posix_spawn_file_actions_adddup2(actions, out, STDOUT_FILENO);
    if (code == 0)
        code = posix_spawn_file_actions_adddup2(actions, err, STDERR_FILENO);
    if (code == 0)
        code = posix_spawn_file_actions_addclosefrom_np(actions, STDERR_FILENO + 1);
    return code;
}

/* Sets a process group, an empty signal mask and default signal actions. Returns 0 or an error. */
static int set_spawn_attributes(posix_spawnattr_t *attributes)
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

static bool spawn_program(struct child *c, const struct program *program, int out, int err_fd,
                          struct error *err)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int code;

    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    code = set_spawn_actions(&actions, program, out, err_fd);
    if (code == 0)
        code = set_spawn_attributes(&attributes);
    if (code == 0)
        code = posix_spawnp(&c->pid, program->name, &actions, &attributes, program->arguments,
                            program->environment);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (code == 0) {
        descriptors_lower_limit(c->pid);
        return true;
    }
    c->pid = 0;
    /* The seccomp filter rejects a new process with EPERM. */
    if (code == EPERM && prctl(PR_GET_SECCOMP, 0, 0, 0, 0) > 0)
        return fail(err, "--hardening forbids running programs; restart to run it");
    return fail(err, "%s", strerror(code));
}

static bool start_program(struct child *c, const struct program *program, struct error *err)
{
    struct child fresh = CHILD_NONE;
    CLEANUP(file_close) int out = -1;
    CLEANUP(file_close) int err_fd = -1;

    if (make_pipe(&fresh.out, &out, err) && make_pipe(&fresh.err, &err_fd, err) &&
        spawn_program(&fresh, program, out, err_fd, err)) {
        fresh.end = pidfd_open(fresh.pid, 0);
        if (fresh.end >= 0) {
            *c = fresh;
            return true;
        }
        fail(err, "cannot watch the process: %s", strerror(errno));
    }
    child_release(&fresh);
    return false;
}

bool child_start(struct child *c, const char *program, char *const *arguments,
                 char *const *environment, struct error *err)
{
    return start_program(c, &(struct program){program, NULL, arguments, environment}, err);
}

void child_kill(const struct child *c)
{
    /* The system does not reuse the number of a child that has not been waited for. */
    if (c->pid > 0)
        kill(-c->pid, SIGKILL);
}

/* Waits for the end of the child, and stores its status. Returns false if WNOHANG ends the wait. */
static bool wait_for_child(struct child *c, int flags, struct child_status *out)
{
    siginfo_t info = {.si_pid = 0};
    int waited;

    do {
        waited = waitid(P_PID, (id_t)c->pid, &info, WEXITED | flags);
    } while (waited < 0 && errno == EINTR);
    if (waited == 0 && info.si_pid == 0)
        return false;
    *out = (struct child_status){
        .exited = waited == 0 && info.si_code == CLD_EXITED,
        .code = waited == 0 ? info.si_status : 0,
    };
    c->pid = 0;
    return true;
}

bool child_try_wait(struct child *c, struct child_status *out)
{
    return wait_for_child(c, WNOHANG, out);
}

void child_release(struct child *c)
{
    struct child_status end;

    if (c->pid > 0) {
        child_kill(c);
        wait_for_child(c, 0, &end);
    }
    child_close(&c->end);
    child_close(&c->out);
    child_close(&c->err);
}

/* ---- one run of a program ---- */

/* Reads bytes that a pipe has now. Closes it at its end. */
static void read_pipe(int *fd, struct strbuf *out)
{
    char chunk[CHUNK_BYTES];
    ssize_t n = read(*fd, chunk, sizeof(chunk));

    if (n > 0)
        strbuf_add(out, chunk, (size_t)n);
    else if (n == 0 || (errno != EAGAIN && errno != EINTR))
        child_close(fd);
}

/* Reads standard error, of which the last bytes are kept. */
static void read_complaint(int *fd, struct strbuf *complaint)
{
    struct strbuf piece = STRBUF_INIT(CHUNK_BYTES);

    read_pipe(fd, &piece);
    if (complaint->len + piece.len > complaint->max)
        strbuf_reset(complaint);
    if (piece.len > complaint->max)
        strbuf_add(complaint, piece.data + piece.len - complaint->max, complaint->max);
    else
        strbuf_add(complaint, piece.data, piece.len);
    strbuf_release(&piece);
}

/*
 * Reads the output of a child to its end, and waits for the end of the child. Returns false if
 * `until_ms` passes before, or `out` is full.
 */
static bool read_output(struct child *c, struct strbuf *out, struct strbuf *complaint,
                        int64_t until_ms)
{
    while (c->out >= 0 || c->err >= 0 || c->end >= 0) {
        struct pollfd fds[] = {{.fd = c->out, .events = POLLIN},
                               {.fd = c->err, .events = POLLIN},
                               {.fd = c->end, .events = POLLIN}};
        int64_t left_ms = until_ms - platform_steady_ms();

        if (left_ms <= 0 || !strbuf_ok(out))
            return false;
        if (poll(fds, ARRAY_LEN(fds), (int)left_ms) <= 0)
            continue;
        if (fds[0].revents)
            read_pipe(&c->out, out);
        if (fds[1].revents)
            read_complaint(&c->err, complaint);
        if (fds[2].revents)
            child_close(&c->end);
    }
    return strbuf_ok(out);
}

/* Appends the last line of standard error, often the cause, to the error. Returns false. */
static bool fail_with_complaint(struct error *err, const char *text)
{
    struct error reason = *err;
    size_t end = strlen(text), start;

    while (end > 0 && strchr("\r\n \t", text[end - 1]))
        end--;
    for (start = end; start > 0 && text[start - 1] != '\n';)
        start--;
    if (start < end)
        fail(err, "%.80s: %s", reason.text, shown_part(text + start, end - start).text);
    return false;
}

bool child_run(const struct child_command *command, struct strbuf *out, struct error *err)
{
    /* posix_spawnp() does not change the texts, although its declaration permits that. */
    const struct program program = {command->program, command->folder,
                                    (char *const *)(uintptr_t)command->arguments, environ};
    CLEANUP(strbuf_release) struct strbuf own = STRBUF_INIT(COMPLAINT_MAX_BYTES);
    struct strbuf *complaint = command->messages ? command->messages : &own;
    CLEANUP(child_release) struct child c = CHILD_NONE;
    int64_t until_ms = platform_steady_ms() + (int64_t)command->time_max_seconds * 1000;
    struct child_status end = {.exited = false};

    if (!start_program(&c, &program, err))
        return false;
    if (!read_output(&c, out, complaint, until_ms))
        return strbuf_ok(out)
                   ? fail(err, "it has not ended after %u seconds", command->time_max_seconds)
                   : fail(err, "it prints more than %zu bytes", out->max);
    wait_for_child(&c, 0, &end);
    if (end.exited && end.code == 0)
        return true;
    fail(err, end.exited ? "exit code %d" : "ended by signal %d", end.code);
    return fail_with_complaint(err, complaint->data);
}
