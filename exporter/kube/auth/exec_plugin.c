/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/auth/exec_plugin.h"

#include <errno.h>
#include <unistd.h>

#include "exporter/system/child.h"
#include "exporter/system/secret.h"
#include "metrics/base/shown.h"

enum {
    COMPLAINT_MAX_BYTES = 4 * 1024, /* Of standard error; the rest is read and dropped. */
    CHUNK_BYTES = 16 * 1024,
    CHUNKS_A_TURN = 64, /* More than the ceiling of the output and what a pipe holds. */
    INHERITED_MAX = 100 * 1000,
    /* How a shell, and programs that imitate it, exit if there is nothing to run. */
    EXIT_CANNOT_RUN = 126,
    EXIT_NOT_FOUND = 127,
    VALUE_MIN_BYTES = 4, /* Shorter ones are no secrets. */
    ARGUMENT_MIN_BYTES = 8,
};
static const char info_name[] = "KUBERNETES_EXEC_INFO";

enum killed { KILLED_NOT, KILLED_SLOW, KILLED_LONG };

struct exec_plugin {
    const struct kube_exec *exec;
    const char *const *environment;
    struct child child;
    struct strbuf output;
    struct strbuf complaint;
    int64_t deadline_ms;
    bool running;
    bool cut; /* The complaint's beginning is lost. */
    enum killed killed;
};

struct exec_plugin *exec_plugin_new(const struct kube_exec *exec, const char *const *environment)
{
    struct exec_plugin *p = xcalloc(1, sizeof(*p));

    p->exec = exec;
    p->environment = environment;
    p->child = CHILD_NONE;
    p->output = STRBUF_SECRET(EXEC_OUTPUT_MAX_BYTES);
    p->complaint = STRBUF_SECRET(COMPLAINT_MAX_BYTES);
    return p;
}

static void reset(struct exec_plugin *p)
{
    child_release(&p->child);
    strbuf_release(&p->output);
    strbuf_release(&p->complaint);
    p->running = false;
    p->cut = false;
    p->killed = KILLED_NOT;
}

void exec_plugin_free(struct exec_plugin *p)
{
    if (!p)
        return;
    reset(p);
    free(p);
}

static bool names(const char *variable, const char *name)
{
    size_t len = strlen(name);

    return strncmp(variable, name, len) == 0 && variable[len] == '=';
}

/* True if the kubeconfig sets this variable, or we do. */
static bool is_overruled(const struct kube_exec *exec, const char *variable)
{
    if (names(variable, info_name))
        return true;
    for (size_t i = 0; i < exec->env_count; i++) {
        if (names(variable, exec->env[i].name))
            return true;
    }
    return false;
}

static void free_texts(char ***texts)
{
    for (char **text = *texts; text && *text; text++)
        secret_free(*text);
    free(*texts);
}

static char **make_environment(const struct exec_plugin *p, const char *info)
{
    const struct kube_exec *exec = p->exec;
    size_t inherited = 0;
    size_t count = 0;

    while (p->environment[inherited] && inherited < INHERITED_MAX)
        inherited++;

    char **all = xcalloc(inherited + exec->env_count + 2, sizeof(*all));
    for (size_t i = 0; i < inherited; i++) {
        if (!is_overruled(exec, p->environment[i]))
            all[count++] = xstrdup(p->environment[i]);
    }
    for (size_t i = 0; i < exec->env_count; i++) {
        if (strcmp(exec->env[i].name, info_name) != 0)
            all[count++] = secret_concat(exec->env[i].name, "=", exec->env[i].value);
    }
    all[count] = secret_concat(info_name, "=", info);
    return all;
}

static void add_hint(const struct kube_exec *exec, struct error *err)
{
    struct error what = *err;

    if (exec->install_hint)
        fail(err, "%.300s; its installHint: %s", what.text, shown(exec->install_hint).text);
}

bool exec_plugin_start(struct exec_plugin *p, const char *info, int64_t now_ms, struct error *err)
{
    CLEANUP(free_texts) char **arguments = xcalloc(p->exec->arg_count + 2, sizeof(*arguments));
    CLEANUP(free_texts) char **environment = make_environment(p, info);

    arguments[0] = xstrdup(p->exec->command);
    for (size_t i = 0; i < p->exec->arg_count; i++)
        arguments[i + 1] = xstrdup(p->exec->args[i]);
    reset(p);
    if (!child_start(&p->child, p->exec->command, arguments, environment, err)) {
        fail_in(err, "cannot run it");
        add_hint(p->exec, err);
        return false;
    }
    strbuf_reserve(&p->output, EXEC_OUTPUT_MAX_BYTES);
    p->running = true;
    p->deadline_ms = now_ms + EXEC_TIME_MAX_MS;
    return true;
}

/* Read what has arrived, but not for ever; close `fd` at its end. */
static void drain(int *fd, struct strbuf *out)
{
    for (unsigned i = 0; i < CHUNKS_A_TURN + CHUNKS_A_TURN / 4 && *fd >= 0; i++) {
        char chunk[CHUNK_BYTES];
        ssize_t n = read(*fd, chunk, sizeof(chunk));

        if (n > 0) {
            strbuf_add(out, chunk, (size_t)n);
            explicit_bzero(chunk, (size_t)n);
        } else if (n < 0 && errno == EAGAIN) {
            return;
        } else if (n == 0 || errno != EINTR) {
            close(*fd);
            *fd = -1;
        }
    }
}

/* Keep the newest of its standard error: a full buffer starts over. */
static void drain_complaint(struct exec_plugin *p)
{
    struct strbuf fresh = STRBUF_SECRET(CHUNK_BYTES * (CHUNKS_A_TURN * 2));

    drain(&p->child.err, &fresh);
    size_t len = fresh.len < COMPLAINT_MAX_BYTES ? fresh.len : COMPLAINT_MAX_BYTES;
    if (len > COMPLAINT_MAX_BYTES - p->complaint.len) {
        strbuf_reset(&p->complaint);
        p->cut = true;
    }
    p->cut = p->cut || len < fresh.len;
    strbuf_add(&p->complaint, fresh.data + (fresh.len - len), len);
    strbuf_release(&fresh);
}

static void stop(struct exec_plugin *p, enum killed why)
{
    if (p->killed)
        return;
    p->killed = why;
    child_kill(&p->child);
}

/* A plugin may print the values of its env, which may be secret. */
static bool shows_a_secret(const struct kube_exec *exec, const char *text)
{
    for (size_t i = 0; i < exec->env_count; i++) {
        const char *value = exec->env[i].value;

        if (strlen(value) >= VALUE_MIN_BYTES && strstr(text, value))
            return true;
    }
    return false;
}

/* A plugin may print its arguments, too: they are masked, since many are ordinary words. */
static void mask_arguments(const struct kube_exec *exec, char *text)
{
    for (size_t i = 0; i < exec->arg_count; i++) {
        const char *equals = strchr(exec->args[i], '=');
        const char *value = equals ? equals + 1 : exec->args[i];
        size_t len = strlen(value);

        if (len < ARGUMENT_MIN_BYTES)
            continue;
        for (char *at = strstr(text, value); at; at = strstr(at + len, value))
            memset(at, '*', len);
    }
}

/* Its last line, which most likely says why it failed. */
static void add_complaint(struct exec_plugin *p, struct error *err)
{
    const char *text = p->complaint.data;
    size_t end = strlen(text);
    struct error what = *err;

    mask_arguments(p->exec, p->complaint.data);
    while (end > 0 && strchr("\r\n \t", text[end - 1]))
        end--;
    size_t start = end;
    while (start > 0 && text[start - 1] != '\n')
        start--;
    /* Half a line may hold half a secret, which would not be recognised. */
    if (start == end || (start == 0 && p->cut) || shows_a_secret(p->exec, text))
        return;
    fail(err, "%.80s; its standard error ends in '%s'", what.text,
         shown_part(text + start, end - start).text);
}

static bool judge(struct exec_plugin *p, const struct child_end *end, struct error *err)
{
    switch (p->killed) {
    case KILLED_SLOW:
        fail(err, "it was killed after %d seconds", EXEC_TIME_MAX_MS / 1000);
        add_complaint(p, err);
        return false;
    case KILLED_LONG:
        return fail(err, "it was killed: it printed more than %d bytes", EXEC_OUTPUT_MAX_BYTES);
    case KILLED_NOT:
        break;
    }
    if (end->exited && end->code == 0)
        return true;
    fail(err, end->exited ? "it failed with exit code %d" : "it was ended by signal %d", end->code);
    add_complaint(p, err);
    if (end->exited && (end->code == EXIT_CANNOT_RUN || end->code == EXIT_NOT_FOUND))
        add_hint(p->exec, err);
    return false;
}

enum exec_state exec_plugin_turn(struct exec_plugin *p, int64_t now_ms, struct strbuf *out,
                                 struct error *err)
{
    struct child_end end;

    if (!p->running)
        return EXEC_IDLE;

    /* In this order: all output from before its end has arrived once the end has. */
    bool ended = child_ended(&p->child, &end);
    drain(&p->child.out, &p->output);
    drain_complaint(p);
    if (!strbuf_ok(&p->output))
        stop(p, KILLED_LONG);
    else if (now_ms >= p->deadline_ms && !ended)
        stop(p, KILLED_SLOW);
    if (!ended)
        return EXEC_RUNNING;

    bool well = judge(p, &end, err);
    if (well) {
        *out = p->output;
        p->output = STRBUF_SECRET(EXEC_OUTPUT_MAX_BYTES);
    }
    reset(p);
    return well ? EXEC_ENDED : EXEC_FAILED;
}

int64_t exec_plugin_due(const struct exec_plugin *p)
{
    /* Once it is killed only its end is awaited, which a descriptor reports. */
    return p->running && !p->killed ? p->deadline_ms : INT64_MAX;
}

size_t exec_plugin_fds(const struct exec_plugin *p, struct pollfd out[static EXEC_FDS])
{
    const int fds[EXEC_FDS] = {p->child.end, p->child.out, p->child.err};
    size_t count = 0;

    for (size_t i = 0; i < EXEC_FDS; i++) {
        if (p->running && fds[i] >= 0)
            out[count++] = (struct pollfd){.fd = fds[i], .events = POLLIN};
    }
    return count;
}
