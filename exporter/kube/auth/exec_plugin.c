/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/auth/exec_plugin.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exporter/system/descriptors.h"
#include "exporter/system/encoding.h"
#include "exporter/system/file.h"
#include "exporter/system/secret.h"
#include "metrics/base/json.h"
#include "metrics/base/shown.h"
#include "metrics/base/timestamp.h"

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

/* Kill it and all of its group. It has still to end. */
static void child_kill(const struct child *c)
{
    /* It has not been waited for, so the number cannot be another group's yet. */
    if (c->pid > 0)
        kill(-c->pid, SIGKILL);
}

/* Collect the exit status. True if the child has ended or is already gone. */
static bool reap(struct child *c, int flags, struct child_status *out)
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
    return reap(c, WNOHANG, out);
}

void child_release(struct child *c)
{
    struct child_status end;

    if (c->pid > 0) {
        child_kill(c);
        reap(c, 0, &end);
    }
    close_fd(&c->end);
    close_fd(&c->out);
    close_fd(&c->err);
}

void exec_credential_release(struct exec_credential *credential)
{
    secret_free(credential->token);
    secret_free(credential->certificate);
    secret_free(credential->key);
    *credential = (struct exec_credential){.token = NULL};
}

/* ,"<key>":"<text>" */
static void write_text(struct strbuf *out, const char *key, const char *text)
{
    if (!text)
        return;
    strbuf_addf(out, ",\"%s\":", key);
    json_quote(out, text);
}

static void write_cluster(const struct rest_config *config, const char *ca, struct strbuf *out)
{
    strbuf_adds(out, "\"cluster\":{\"server\":");
    json_quote(out, config->server);
    write_text(out, "tls-server-name", config->tls_server_name);
    if (config->insecure)
        strbuf_adds(out, ",\"insecure-skip-tls-verify\":true");
    if (ca) {
        strbuf_adds(out, ",\"certificate-authority-data\":\"");
        base64_encode(ca, strlen(ca), out);
        strbuf_addc(out, '"');
    }
    /* What is in the environment the plugin finds there. */
    write_text(out, "proxy-url", config->proxy_is_from_environment ? NULL : config->proxy_url);
    if (config->disable_compression)
        strbuf_adds(out, ",\"disable-compression\":true");
    if (config->exec_config)
        strbuf_addf(out, ",\"config\":%s", config->exec_config);
    strbuf_adds(out, "},");
}

void exec_info_append(const struct rest_config *config, const char *ca, struct strbuf *out)
{
    strbuf_adds(out, "{\"kind\":\"ExecCredential\",\"apiVersion\":");
    json_quote(out, config->exec->api_version);
    strbuf_adds(out, ",\"spec\":{");
    if (config->exec->provide_cluster_info)
        write_cluster(config, ca, out);
    strbuf_adds(out, "\"interactive\":false}}");
}

/* NULL if it is missing, null or empty. */
static bool get_text(const cJSON *status, const char *key, const char **out, struct error *err)
{
    const cJSON *item = json_get(status, key);

    if (item && !cJSON_IsNull(item) && !cJSON_IsString(item))
        return fail(err, "its status.%s is not a text", key);
    const char *text = json_str(status, key, "");
    *out = *text ? text : NULL;
    return true;
}

static bool check(const char *token, const char *certificate, const char *key, struct error *err)
{
    if (!token && !certificate && !key)
        return fail(err, "its status has neither a token nor a client certificate");
    if (!certificate != !key)
        return fail(err, "its status has %s without %s",
                    certificate ? "clientCertificateData" : "clientKeyData",
                    certificate ? "clientKeyData" : "clientCertificateData");
    if (token && !secret_fits_header(token))
        return fail(err, "its status.token holds control characters or is longer than %d bytes",
                    SECRET_HEADER_MAX);
    if (certificate && !pem_check_certificates(certificate, err))
        return fail_in(err, "its status.clientCertificateData");
    if (key && !pem_check_key(key, err))
        return fail_in(err, "its status.clientKeyData");
    return true;
}

static bool read_status(const cJSON *status, struct exec_credential *out, struct error *err)
{
    const char *token, *certificate, *key, *expiry;
    int64_t expires_ms = INT64_MAX;

    if (!cJSON_IsObject(status))
        return fail(err, "it has no status");
    if (!get_text(status, "token", &token, err) ||
        !get_text(status, "clientCertificateData", &certificate, err) ||
        !get_text(status, "clientKeyData", &key, err) ||
        !get_text(status, "expirationTimestamp", &expiry, err))
        return false;
    if (expiry && !parse_timestamp(expiry, &expires_ms))
        return fail(err, "its status.expirationTimestamp is not a time in RFC 3339");
    if (!check(token, certificate, key, err))
        return false;
    *out = (struct exec_credential){
        .token = token ? xstrdup(token) : NULL,
        .certificate = certificate ? xstrdup(certificate) : NULL,
        .key = key ? xstrdup(key) : NULL,
        .expires_ms = expires_ms,
    };
    return true;
}

bool exec_credential_parse(const char *json, size_t len, const char *api_version,
                           struct exec_credential *out, struct error *err)
{
    struct error why;

    CLEANUP(secret_tree_cleanup) cJSON *tree = json_parse(json, len, NULL, &why);
    if (!tree)
        return fail(err, "its output is not JSON");
    if (strcmp(json_str(tree, "kind", ""), "ExecCredential") != 0)
        return fail(err, "its output is not an ExecCredential");
    if (strcmp(json_str(tree, "apiVersion", ""), api_version) != 0)
        return fail(err, "its answer is not of the apiVersion '%s' that the kubeconfig asks for",
                    api_version);
    return read_status(json_get(tree, "status"), out, err);
}

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
    const struct rest_config_exec *exec;
    const char *const *environment;
    struct child child;
    struct strbuf output;
    struct strbuf complaint;
    int64_t deadline_ms;
    bool running;
    bool cut; /* The complaint's beginning is lost. */
    enum killed killed;
};

struct exec_plugin *exec_plugin_new(const struct rest_config_exec *exec,
                                    const char *const *environment)
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
static bool is_overruled(const struct rest_config_exec *exec, const char *variable)
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
    const struct rest_config_exec *exec = p->exec;
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

static void add_hint(const struct rest_config_exec *exec, struct error *err)
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
static bool shows_a_secret(const struct rest_config_exec *exec, const char *text)
{
    for (size_t i = 0; i < exec->env_count; i++) {
        const char *value = exec->env[i].value;

        if (strlen(value) >= VALUE_MIN_BYTES && strstr(text, value))
            return true;
    }
    return false;
}

/* A plugin may print its arguments, too: they are masked, since many are ordinary words. */
static void mask_arguments(const struct rest_config_exec *exec, char *text)
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

static bool judge(struct exec_plugin *p, const struct child_status *end, struct error *err)
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

enum exec_state exec_plugin_poll(struct exec_plugin *p, int64_t now_ms, struct strbuf *out,
                                 struct error *err)
{
    struct child_status end;

    if (!p->running)
        return EXEC_IDLE;

    /* In this order: all output from before its end has arrived once the end has. */
    bool ended = child_try_wait(&p->child, &end);
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

/* A long-lived credential is renewed a minute before its end, a short one at nine tenths. */
enum { LEAD_PARTS = 10 };

void exec_authenticator_init(struct exec_authenticator *login, const struct rest_config *config,
                             const char *const *environment)
{
    *login = (struct exec_authenticator){
        .config = config,
        .plugin = exec_plugin_new(config->exec, environment),
        .wanted = true,
        .renew_ms = INT64_MAX,
        .pause_ms = INT64_MIN,
    };
}

void exec_authenticator_release(struct exec_authenticator *login)
{
    exec_plugin_free(login->plugin);
    exec_credential_release(&login->credential);
    *login = (struct exec_authenticator){.plugin = NULL};
}

static void note_failure(struct exec_authenticator *login)
{
    unsigned shifts = login->failures < 4 ? login->failures : 4;
    int64_t pause_ms = (int64_t)EXEC_RETRY_MIN_MS << shifts;

    fail_in(&login->problem, "the exec plugin '%s'", shown_path(login->config->exec->command).text);
    login->failures++;
    login->wanted = true;
    login->pause_ms = login->now_ms + (pause_ms < EXEC_RETRY_MAX_MS ? pause_ms : EXEC_RETRY_MAX_MS);
}

static bool is_other_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) != 0 : a != b;
}

/* When to renew, on the wall clock. */
static int64_t renewal_ms(int64_t expires_ms, int64_t wall_ms)
{
    int64_t lead_ms = (expires_ms - wall_ms) / LEAD_PARTS;

    if (expires_ms == INT64_MAX)
        return INT64_MAX;
    return expires_ms - (lead_ms < EXEC_RENEW_LEAD_MS ? lead_ms : EXEC_RENEW_LEAD_MS);
}

static void read_answer(struct exec_authenticator *login, const struct strbuf *output)
{
    struct exec_credential fresh;

    if (!exec_credential_parse(output->data, output->len, login->config->exec->api_version, &fresh,
                               &login->problem)) {
        note_failure(login);
        return;
    }
    if (fresh.expires_ms <= login->wall_ms) {
        exec_credential_release(&fresh);
        fail(&login->problem, "its credential has expired already: compare the clocks");
        note_failure(login);
        return;
    }
    login->version += is_other_text(login->credential.certificate, fresh.certificate) ||
                      is_other_text(login->credential.key, fresh.key);
    login->token_version += login->given && is_other_text(login->credential.token, fresh.token);
    exec_credential_release(&login->credential);
    login->credential = fresh;
    login->given = true;
    login->renew_ms = renewal_ms(fresh.expires_ms, login->wall_ms);
    login->wanted = false;
    login->failures = 0;
    login->pause_ms = login->now_ms + EXEC_RUN_GAP_MS;
    login->problem.text[0] = '\0';
}

static void exec_authenticator_start(struct exec_authenticator *login, const char *ca)
{
    CLEANUP(strbuf_release) struct strbuf request = STRBUF_SECRET(EXEC_INFO_MAX_BYTES);

    exec_info_append(login->config, ca, &request);
    if (!strbuf_ok(&request))
        fail(&login->problem, "its input is longer than %d bytes", EXEC_INFO_MAX_BYTES);
    else if (exec_plugin_start(login->plugin, request.data, login->now_ms, &login->problem))
        return;
    note_failure(login);
}

void exec_authenticator_advance(struct exec_authenticator *login, const char *ca, int64_t now_ms,
                                int64_t wall_ms)
{
    CLEANUP(strbuf_release) struct strbuf output = STRBUF_SECRET(0);

    login->now_ms = now_ms;
    login->wall_ms = wall_ms;
    switch (exec_plugin_poll(login->plugin, now_ms, &output, &login->problem)) {
    case EXEC_RUNNING:
        return;
    case EXEC_ENDED:
        read_answer(login, &output);
        secret_wipe_stack();
        break;
    case EXEC_FAILED:
        note_failure(login);
        break;
    case EXEC_IDLE:
        break;
    }
    if (now_ms >= login->pause_ms && (login->wanted || wall_ms >= login->renew_ms))
        exec_authenticator_start(login, ca);
}

void exec_authenticator_note_unauthorized(struct exec_authenticator *login)
{
    login->wanted = true;
}

const struct exec_credential *exec_authenticator_credential(const struct exec_authenticator *login)
{
    return login->given && login->wall_ms < login->credential.expires_ms ? &login->credential
                                                                         : NULL;
}

int64_t exec_authenticator_due(const struct exec_authenticator *login)
{
    int64_t running_ms = exec_plugin_due(login->plugin);
    struct pollfd fds[EXEC_FDS];

    /* While it runs, its descriptors and its deadline count. */
    if (running_ms != INT64_MAX || exec_plugin_fds(login->plugin, fds) > 0)
        return running_ms;
    if (login->wanted || login->renew_ms <= login->wall_ms)
        return login->pause_ms > login->now_ms ? login->pause_ms : login->now_ms;
    if (login->renew_ms == INT64_MAX)
        return INT64_MAX;

    int64_t due_ms = login->now_ms + (login->renew_ms - login->wall_ms);
    return due_ms > login->pause_ms ? due_ms : login->pause_ms;
}
