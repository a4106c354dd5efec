/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/auth/exec_plugin.h"

#include <errno.h>
#include <unistd.h>

#include "exporter/system/encoding.h"
#include "exporter/system/secret.h"
#include "metrics/base/json.h"
#include "metrics/base/shown.h"
#include "metrics/base/timestamp.h"

enum {
    COMPLAINT_MAX_BYTES = 4 * 1024, /* Bytes of standard error that are kept. */
    CHUNK_BYTES = 16 * 1024,
    CHUNKS_MAX = 80, /* Reads by one drain_pipe(): more than the output limit and a full pipe. */
    INHERITED_MAX = 100 * 1000, /* Variables of the environment. */
    /* Exit codes of shells, and of programs that imitate them, if a command cannot run. */
    EXIT_CANNOT_RUN = 126,
    EXIT_NOT_FOUND = 127,
    /* Shorter values are not hidden in error texts, because ordinary words would match them. */
    VALUE_MIN_BYTES = 4,
    ARGUMENT_MIN_BYTES = 8,
    TOKEN_MIN_BYTES = 16,
    /* Renewal at nine tenths of the lifetime, or EXEC_RENEW_LEAD_MS before expiry, if later. */
    LEAD_PARTS = 10,
};
static const char info_name[] = "KUBERNETES_EXEC_INFO";

/* ---- input and output of an exec plugin ---- */

void exec_credential_release(struct exec_credential *credential)
{
    secret_free(credential->token);
    secret_free(credential->certificate);
    secret_free(credential->key);
    *credential = (struct exec_credential){.token = NULL};
}

/* Appends ,"<key>":"<text>" unless the text is NULL. */
static void append_text_member(struct strbuf *out, const char *key, const char *text)
{
    if (!text)
        return;
    strbuf_addf(out, ",\"%s\":", key);
    json_quote(out, text);
}

static void append_cluster(const struct rest_config *config, const char *ca, struct strbuf *out)
{
    strbuf_adds(out, "\"cluster\":{\"server\":");
    json_quote(out, config->server);
    append_text_member(out, "tls-server-name", config->tls_server_name);
    if (config->insecure)
        strbuf_adds(out, ",\"insecure-skip-tls-verify\":true");
    if (ca) {
        strbuf_adds(out, ",\"certificate-authority-data\":\"");
        base64_encode(ca, strlen(ca), out);
        strbuf_addc(out, '"');
    }
    /* The plugin inherits the environment, also its proxy. */
    append_text_member(out, "proxy-url",
                       config->proxy_is_from_environment ? NULL : config->proxy_url);
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
        append_cluster(config, ca, out);
    strbuf_adds(out, "\"interactive\":false}}");
}

/* Stores a borrowed text, NULL if missing, null or empty. Returns false for another type. */
static bool get_status_text(const cJSON *status, const char *key, const char **out,
                            struct error *err)
{
    const cJSON *item = json_get(status, key);

    if (item && !cJSON_IsNull(item) && !cJSON_IsString(item))
        return fail(err, "its status.%s is not a string", key);
    const char *text = json_str(status, key, "");
    *out = *text ? text : NULL;
    return true;
}

static bool check_credential(const char *token, const char *certificate, const char *key,
                             struct error *err)
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
        return fail(err, "no status");
    if (!get_status_text(status, "token", &token, err) ||
        !get_status_text(status, "clientCertificateData", &certificate, err) ||
        !get_status_text(status, "clientKeyData", &key, err) ||
        !get_status_text(status, "expirationTimestamp", &expiry, err))
        return false;
    if (expiry && !parse_timestamp(expiry, &expires_ms))
        return fail(err, "its status.expirationTimestamp is not a time in RFC 3339");
    if (!check_credential(token, certificate, key, err))
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

    CLEANUP(secret_json_cleanup) cJSON *tree = json_parse(json, len, NULL, &why);
    if (!tree)
        return fail(err, "its output is not JSON");
    if (strcmp(json_str(tree, "kind", ""), "ExecCredential") != 0)
        return fail(err, "its output is not an ExecCredential");
    if (strcmp(json_str(tree, "apiVersion", ""), api_version) != 0)
        return fail(err, "its output does not have the apiVersion '%s' of the kubeconfig",
                    api_version);
    return read_status(json_get(tree, "status"), out, err);
}

/* ---- runs of an exec plugin ---- */

/* Reason why the exporter killed the plugin. */
enum killed { KILLED_NOT, KILLED_TIMEOUT, KILLED_OUTPUT };

struct exec_plugin {
    const struct rest_config_exec *exec;
    const char *const *environment;
    struct child child;
    struct strbuf output;
    struct strbuf complaint; /* Latest part of standard error. */
    int64_t deadline_ms;
    bool running;
    bool cut; /* Standard error had bytes before those in `complaint`. */
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

static void release_run(struct exec_plugin *p)
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
    release_run(p);
    free(p);
}

static bool is_assignment_of(const char *variable, const char *name)
{
    size_t len = strlen(name);

    return strncmp(variable, name, len) == 0 && variable[len] == '=';
}

/* Returns true if the kubeconfig or the exporter sets the variable. */
static bool is_overridden(const struct rest_config_exec *exec, const char *variable)
{
    if (is_assignment_of(variable, info_name))
        return true;
    for (size_t i = 0; i < exec->env_count; i++) {
        if (is_assignment_of(variable, exec->env[i].name))
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
        if (!is_overridden(exec, p->environment[i]))
            all[count++] = xstrdup(p->environment[i]);
    }
    for (size_t i = 0; i < exec->env_count; i++) {
        if (strcmp(exec->env[i].name, info_name) != 0)
            all[count++] = secret_concat(exec->env[i].name, "=", exec->env[i].value);
    }
    all[count] = secret_concat(info_name, "=", info);
    return all;
}

static void append_install_hint(const struct rest_config_exec *exec, struct error *err)
{
    struct error reason = *err;

    if (exec->install_hint)
        fail(err, "%.300s; its installHint: %s", reason.text, shown(exec->install_hint).text);
}

bool exec_plugin_start(struct exec_plugin *p, const char *info, int64_t now_ms, struct error *err)
{
    CLEANUP(free_texts) char **arguments = xcalloc(p->exec->arg_count + 2, sizeof(*arguments));
    CLEANUP(free_texts) char **environment = make_environment(p, info);

    arguments[0] = xstrdup(p->exec->command);
    for (size_t i = 0; i < p->exec->arg_count; i++)
        arguments[i + 1] = xstrdup(p->exec->args[i]);
    release_run(p);
    if (!child_start(&p->child, p->exec->command, arguments, environment, err)) {
        fail_in(err, "cannot run it");
        append_install_hint(p->exec, err);
        return false;
    }
    strbuf_reserve(&p->output, EXEC_OUTPUT_MAX_BYTES);
    p->running = true;
    p->deadline_ms = now_ms + EXEC_TIME_MAX_MS;
    return true;
}

/* Reads available bytes, at most CHUNKS_MAX chunks. Closes `fd` at its end or after an error. */
static void drain_pipe(int *fd, struct strbuf *out)
{
    for (unsigned i = 0; i < CHUNKS_MAX && *fd >= 0; i++) {
        char chunk[CHUNK_BYTES];
        ssize_t n = read(*fd, chunk, sizeof(chunk));

        if (n > 0) {
            strbuf_add(out, chunk, (size_t)n);
            explicit_bzero(chunk, (size_t)n);
        } else if (n < 0 && errno == EAGAIN) {
            return;
        } else if (n == 0 || errno != EINTR) {
            child_close(fd);
        }
    }
}

/* Keeps the latest part of standard error. Drops the kept part if new bytes do not fit. */
static void drain_complaint(struct exec_plugin *p)
{
    struct strbuf fresh = STRBUF_SECRET(CHUNK_BYTES * (CHUNKS_MAX + 1));

    drain_pipe(&p->child.err, &fresh);
    size_t len = fresh.len < COMPLAINT_MAX_BYTES ? fresh.len : COMPLAINT_MAX_BYTES;
    if (len > COMPLAINT_MAX_BYTES - p->complaint.len) {
        strbuf_reset(&p->complaint);
        p->cut = true;
    }
    p->cut = p->cut || len < fresh.len;
    strbuf_add(&p->complaint, fresh.data + (fresh.len - len), len);
    strbuf_release(&fresh);
}

static void kill_plugin(struct exec_plugin *p, enum killed why)
{
    if (p->killed)
        return;
    p->killed = why;
    child_kill(&p->child);
}

/* Returns true if the text contains a value of the env of the kubeconfig, which may be secret. */
static bool contains_env_value(const struct rest_config_exec *exec, const char *text)
{
    for (size_t i = 0; i < exec->env_count; i++) {
        const char *value = exec->env[i].value;

        if (strlen(value) >= VALUE_MIN_BYTES && strstr(text, value))
            return true;
    }
    return false;
}

/*
 * Overwrites long arguments, and long values of arguments "name=value", with asterisks. The other
 * text is kept, because many arguments are ordinary words.
 */
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

/*
 * Overwrites with asterisks what may be a token: runs of TOKEN_MIN_BYTES or more characters of JWTs
 * and base64 without slash, with a digit and a letter.
 */
static void mask_tokens(char *text)
{
#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define DIGITS  "0123456789"

    while (*text) {
        size_t len = strspn(text, LETTERS DIGITS "+-._=~");

        if (len >= TOKEN_MIN_BYTES && strcspn(text, LETTERS) < len && strcspn(text, DIGITS) < len)
            memset(text, '*', len);
        text += len > 0 ? len : 1;
    }
}

/* Appends the last line of standard error, often the cause, unless known secrets may be in it. */
static void append_complaint(struct exec_plugin *p, struct error *err)
{
    const char *text = p->complaint.data;
    size_t end = strlen(text);
    struct error reason = *err;

    mask_arguments(p->exec, p->complaint.data);
    mask_tokens(p->complaint.data);
    while (end > 0 && strchr("\r\n \t", text[end - 1]))
        end--;
    size_t start = end;
    while (start > 0 && text[start - 1] != '\n')
        start--;
    /* A cut line may contain a part of a secret, which no comparison finds. */
    if (start == end || (start == 0 && p->cut) || contains_env_value(p->exec, text))
        return;
    fail(err, "%.80s; its standard error ends in '%s'", reason.text,
         shown_part(text + start, end - start).text);
}

/* Returns true for exit code 0 of a plugin that was not killed; otherwise false with an error. */
static bool check_exit(struct exec_plugin *p, const struct child_status *end, struct error *err)
{
    switch (p->killed) {
    case KILLED_TIMEOUT:
        fail(err, "killed after %d seconds", EXEC_TIME_MAX_MS / 1000);
        append_complaint(p, err);
        return false;
    case KILLED_OUTPUT:
        return fail(err, "killed: it printed more than %d bytes", EXEC_OUTPUT_MAX_BYTES);
    case KILLED_NOT:
        break;
    }
    if (end->exited && end->code == 0)
        return true;
    fail(err, end->exited ? "failed with exit code %d" : "ended by signal %d", end->code);
    append_complaint(p, err);
    if (end->exited && (end->code == EXIT_CANNOT_RUN || end->code == EXIT_NOT_FOUND))
        append_install_hint(p->exec, err);
    return false;
}

enum exec_state exec_plugin_poll(struct exec_plugin *p, int64_t now_ms, struct strbuf *out,
                                 struct error *err)
{
    struct child_status end;

    if (!p->running)
        return EXEC_IDLE;

    /* Wait before the reads: after the end of the child, all of its output is in the pipes. */
    bool ended = child_try_wait(&p->child, &end);
    drain_pipe(&p->child.out, &p->output);
    drain_complaint(p);
    if (!strbuf_ok(&p->output))
        kill_plugin(p, KILLED_OUTPUT);
    else if (now_ms >= p->deadline_ms && !ended)
        kill_plugin(p, KILLED_TIMEOUT);
    if (!ended)
        return EXEC_RUNNING;

    bool succeeded = check_exit(p, &end, err);
    if (succeeded) {
        *out = p->output;
        p->output = STRBUF_SECRET(EXEC_OUTPUT_MAX_BYTES);
    }
    release_run(p);
    return succeeded ? EXEC_ENDED : EXEC_FAILED;
}

int64_t exec_plugin_due(const struct exec_plugin *p)
{
    /* The pidfd reports the end of a killed plugin. */
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

/* ---- renewal of the credential ---- */

void exec_authenticator_init(struct exec_authenticator *a, const struct rest_config *config,
                             const char *const *environment)
{
    *a = (struct exec_authenticator){
        .config = config,
        .plugin = exec_plugin_new(config->exec, environment),
        .run_wanted = true,
        .renew_ms = INT64_MAX,
        .next_run_ms = INT64_MIN,
    };
}

void exec_authenticator_release(struct exec_authenticator *a)
{
    exec_plugin_free(a->plugin);
    exec_credential_release(&a->credential);
    *a = (struct exec_authenticator){.plugin = NULL};
}

/* Adds the command to the problem of a failed run, and schedules the next run. */
static void schedule_retry(struct exec_authenticator *a)
{
    unsigned shifts = a->failures < 4 ? a->failures : 4;
    int64_t pause_ms = (int64_t)EXEC_RETRY_MIN_MS << shifts;

    fail_in(&a->problem, "the exec plugin '%s'", shown_path(a->config->exec->command).text);
    a->failures++;
    a->run_wanted = true;
    a->next_run_ms = a->now_ms + (pause_ms < EXEC_RETRY_MAX_MS ? pause_ms : EXEC_RETRY_MAX_MS);
}

static bool is_other_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) != 0 : a != b;
}

/* Returns the time of the renewal since the epoch; INT64_MAX without expiry. */
static int64_t renewal_ms(int64_t expires_ms, int64_t wall_ms)
{
    int64_t lead_ms = (expires_ms - wall_ms) / LEAD_PARTS;

    if (expires_ms == INT64_MAX)
        return INT64_MAX;
    return expires_ms - (lead_ms < EXEC_RENEW_LEAD_MS ? lead_ms : EXEC_RENEW_LEAD_MS);
}

static void store_credential(struct exec_authenticator *a, const struct strbuf *output)
{
    struct exec_credential fresh;

    if (!exec_credential_parse(output->data, output->len, a->config->exec->api_version, &fresh,
                               &a->problem)) {
        schedule_retry(a);
        return;
    }
    if (fresh.expires_ms <= a->wall_ms) {
        exec_credential_release(&fresh);
        fail(&a->problem, "its credential has expired already: compare the clocks");
        schedule_retry(a);
        return;
    }
    a->version += is_other_text(a->credential.certificate, fresh.certificate) ||
                  is_other_text(a->credential.key, fresh.key);
    a->token_version += a->has_credential && is_other_text(a->credential.token, fresh.token);
    exec_credential_release(&a->credential);
    a->credential = fresh;
    a->has_credential = true;
    a->renew_ms = renewal_ms(fresh.expires_ms, a->wall_ms);
    a->run_wanted = false;
    a->failures = 0;
    a->next_run_ms = a->now_ms + EXEC_RUN_GAP_MS;
    a->problem.text[0] = '\0';
}

static void start_run(struct exec_authenticator *a, const char *ca)
{
    CLEANUP(strbuf_release) struct strbuf request = STRBUF_SECRET(EXEC_INFO_MAX_BYTES);

    exec_info_append(a->config, ca, &request);
    if (!strbuf_ok(&request))
        fail(&a->problem, "its input is longer than %d bytes", EXEC_INFO_MAX_BYTES);
    else if (exec_plugin_start(a->plugin, request.data, a->now_ms, &a->problem))
        return;
    schedule_retry(a);
}

void exec_authenticator_advance(struct exec_authenticator *a, const char *ca, int64_t now_ms,
                                int64_t wall_ms)
{
    CLEANUP(strbuf_release) struct strbuf output = STRBUF_SECRET(0);

    a->now_ms = now_ms;
    a->wall_ms = wall_ms;
    switch (exec_plugin_poll(a->plugin, now_ms, &output, &a->problem)) {
    case EXEC_RUNNING:
        return;
    case EXEC_ENDED:
        store_credential(a, &output);
        secret_wipe_stack();
        break;
    case EXEC_FAILED:
        schedule_retry(a);
        break;
    case EXEC_IDLE:
        break;
    }
    if (now_ms >= a->next_run_ms && (a->run_wanted || wall_ms >= a->renew_ms))
        start_run(a, ca);
}

void exec_authenticator_note_unauthorized(struct exec_authenticator *a)
{
    a->run_wanted = true;
}

const struct exec_credential *exec_authenticator_credential(const struct exec_authenticator *a)
{
    return a->has_credential && a->wall_ms < a->credential.expires_ms ? &a->credential : NULL;
}

int64_t exec_authenticator_due(const struct exec_authenticator *a)
{
    int64_t running_ms = exec_plugin_due(a->plugin);
    struct pollfd fds[EXEC_FDS];

    /* During a run only its deadline and its descriptors require a call. */
    if (running_ms != INT64_MAX || exec_plugin_fds(a->plugin, fds) > 0)
        return running_ms;
    if (a->run_wanted || a->renew_ms <= a->wall_ms)
        return a->next_run_ms > a->now_ms ? a->next_run_ms : a->now_ms;
    if (a->renew_ms == INT64_MAX)
        return INT64_MAX;

    int64_t due_ms = a->now_ms + (a->renew_ms - a->wall_ms);
    return due_ms > a->next_run_ms ? due_ms : a->next_run_ms;
}
