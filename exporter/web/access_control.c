/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/access_control.h"

#include <gnutls/crypto.h>
#include <pthread.h>
#include <stdatomic.h>
#include <strings.h>

#include "exporter/system/encoding.h"
#include "exporter/system/platform.h"
#include "exporter/system/secret.h"
#include "exporter/web/connections.h"
#include "exporter/web/passwords.h"
#include "exporter/web/request.h"
#include "exporter/web/web_config.h"

enum {
    PEM_MAX = 1024 * 1024,
    PATH_BYTES = 4096,
    CREDENTIALS_MAX = 1024,
};

/* ---- reading the configuration ---- */

/* Puts the folder of `file` before a relative path, as the exporter toolkit does. */
static void resolve_path(const char *file, char **path)
{
    const char *slash = strrchr(file, '/');
    struct strbuf joined = STRBUF_INIT(2 * PATH_BYTES);
    size_t len;

    if (!*path || **path == '/' || !slash)
        return;
    strbuf_add(&joined, file, (size_t)(slash + 1 - file));
    strbuf_adds(&joined, *path);
    free(*path);
    *path = strbuf_take(&joined, &len);
}

/* Appends the contents of a file to `out`, and adds them to the digest unless that is NULL. */
static bool read_secret(const char *path, gnutls_hash_hd_t digest, struct strbuf *out,
                        struct error *err)
{
    if (!file_read(path, out, err))
        return false;
    if (digest)
        gnutls_hash(digest, out->data, out->len);
    return true;
}

static bool parse_file(const char *path, struct web_config *out, gnutls_hash_hd_t digest,
                       struct error *err)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_SECRET(WEB_CONFIG_MAX);

    if (!read_secret(path, digest, &text, err) ||
        !web_config_parse(path, text.data, text.len, out, err))
        return false;
    resolve_path(path, &out->cert_file);
    resolve_path(path, &out->key_file);
    resolve_path(path, &out->client_ca_file);
    return true;
}

/*
 * Returns true if the key file exists, or if `path` is NULL. The error does not contain a wrong
 * path, which may be the key itself.
 */
static bool has_key_file(const char *path, struct error *err)
{
    return !path || secret_path_exists(path, err) || fail_in(err, "key_file");
}

/* Sets `text` to the contents of the file. If `file` is NULL, returns true and sets nothing. */
static bool read_pem(const char *file, char **text, gnutls_hash_hd_t digest, struct error *err)
{
    CLEANUP(strbuf_release) struct strbuf bytes = STRBUF_SECRET(PEM_MAX);

    if (!file)
        return true;
    if (!read_secret(file, digest, &bytes, err))
        return false;
    *text = xmemdup0(bytes.data, bytes.len);
    return true;
}

static bool read_config(const char *path, struct web_config *c, gnutls_hash_hd_t digest,
                        struct error *err)
{
    if (!parse_file(path, c, digest, err))
        return false;
    return (read_pem(c->cert_file, &c->cert, digest, err) && has_key_file(c->key_file, err) &&
            read_pem(c->key_file, &c->key, digest, err) &&
            read_pem(c->client_ca_file, &c->client_ca, digest, err)) ||
           fail_in(err, "%s", path);
}

struct active_web_config *active_web_config_read(const char *path, struct error *err)
{
    struct active_web_config *a = xcalloc(1, sizeof(*a));
    gnutls_hash_hd_t digest;

    if (gnutls_hash_init(&digest, GNUTLS_DIG_SHA256) < 0)
        memory_exhausted(sizeof(*a));
    bool done = read_config(path, &a->config, digest, err);

    gnutls_hash_deinit(digest, a->digest);
    a->holders = 1;
    if (done)
        return a;
    active_web_config_free(a);
    return NULL;
}

static MUST_USE bool active_web_config_init_tls(struct active_web_config *a, const char *path,
                                                struct error *err)
{
    if (!a->config.tls)
        return true;
    a->tls = server_tls_new(&a->config, err);
    return a->tls || fail_in(err, "%s: tls_server_config", path);
}

void active_web_config_free(struct active_web_config *a)
{
    if (!a)
        return;
    server_tls_free(a->tls);
    web_config_release(&a->config);
    free(a);
}

void active_web_config_visit_files(const char *path, void (*visit)(void *context, const char *path),
                                   void *context)
{
    struct web_config config = {.tls = false};
    struct error ignored;

    visit(context, path);
    if (*path == '\0' || !parse_file(path, &config, NULL, &ignored))
        return;
    visit(context, config.cert_file ? config.cert_file : "");
    visit(context, config.key_file ? config.key_file : "");
    visit(context, config.client_ca_file ? config.client_ca_file : "");
    web_config_release(&config);
}

#define ACCESS_NAME(id, word) word,
const char *const access_control_refusal_names[ACCESS_REFUSALS] = {ACCESS_REFUSALS(ACCESS_NAME)};

struct access_control {
    char *path;
    bool probes_without_auth;
    struct passwords *passwords;
    pthread_mutex_t lock; /* Guards the next three, and the references of all configurations. */
    struct active_web_config *current;
    /* Requests with cached credentials; all requests if no users are configured. */
    struct rate_limit cached_rate;
    struct rate_limit other_rate; /* Other requests except VERDICT_ANONYMOUS. */
    _Atomic uint64_t refused[ACCESS_REFUSALS];
};

/* ---- references to the configuration in force ---- */

/*
 * Returns a reference to the configuration in force. `readers`: 1 for a call, during which the
 * secrets must stay; 0 for a connection, which does not need them.
 */
static struct active_web_config *acquire_config(struct access_control *g, unsigned readers)
{
    pthread_mutex_lock(&g->lock);
    struct active_web_config *a = g->current;
    a->holders++;
    a->readers += readers;
    pthread_mutex_unlock(&g->lock);
    return a;
}

/*
 * Drops a reference; the last one frees the configuration. Wipes the users and the key of a
 * replaced configuration once no reader is left.
 */
static void release_config(struct access_control *g, struct active_web_config *a, unsigned readers)
{
    pthread_mutex_lock(&g->lock);
    bool last = --a->holders == 0;
    a->readers -= readers;
    if (a != g->current && a->readers == 0)
        web_config_wipe_secrets(&a->config);
    pthread_mutex_unlock(&g->lock);
    if (last)
        active_web_config_free(a);
}

static void set_rates(struct access_control *g)
{
    g->cached_rate = (struct rate_limit){.interval_ns = g->current->config.rate_interval_ns,
                                         .burst = g->current->config.rate_burst};
    g->other_rate = g->cached_rate;
}

struct access_control *access_control_new(const struct access_control_options *options,
                                          struct error *err)
{
    struct access_control *g = xcalloc(1, sizeof(*g));

    g->path = xstrdup(options->path);
    g->probes_without_auth = options->probes_without_auth;
    pthread_mutex_init(&g->lock, NULL);
    g->current = active_web_config_read(g->path, err);
    if (g->current && active_web_config_init_tls(g->current, g->path, err)) {
        set_rates(g);
        g->passwords = passwords_new(err);
    }
    secret_wipe_stack();
    if (g->passwords)
        return g;
    access_control_free(g);
    return NULL;
}

void access_control_free(struct access_control *g)
{
    if (!g)
        return;
    passwords_free(g->passwords);
    if (g->current)
        release_config(g, g->current, 0);
    pthread_mutex_destroy(&g->lock);
    free(g->path);
    free(g);
}

void access_control_stop_checks(struct access_control *g)
{
    if (g)
        passwords_close(g->passwords);
}

/* Checks that `fresh` may replace `old`, and creates the TLS settings of `fresh`. */
static bool prepare_replacement(struct active_web_config *fresh,
                                const struct active_web_config *old, const char *path,
                                struct error *err)
{
    if (!web_config_check_reload(&old->config, &fresh->config, err))
        return fail_in(err, "%s", path);
    return active_web_config_init_tls(fresh, path, err);
}

static bool reload_config(struct access_control *g, bool *changed, struct error *err)
{
    struct active_web_config *fresh = active_web_config_read(g->path, err), *old = g->current;
    bool same, fine;

    *changed = false;
    if (!fresh)
        return false;
    same = memcmp(fresh->digest, old->digest, sizeof(old->digest)) == 0;
    fine = same || prepare_replacement(fresh, old, g->path, err);
    if (same || !fine) {
        active_web_config_free(fresh);
        return fine;
    }
    *changed = true;
    pthread_mutex_lock(&g->lock);
    g->current = fresh;
    set_rates(g);
    pthread_mutex_unlock(&g->lock);
    release_config(g, old, 0);
    return true;
}

bool access_control_reload(struct access_control *g, bool *changed, struct error *err)
{
    bool fine = reload_config(g, changed, err);

    secret_wipe_stack();
    return fine;
}

const char *access_control_certificate(const struct access_control *g)
{
    return g && g->current->tls ? g->current->config.cert : NULL;
}

const char *access_control_key(const struct access_control *g)
{
    return g && g->current->tls ? g->current->config.key : NULL;
}

struct active_web_config *access_control_acquire_config(struct access_control *g,
                                                        gnutls_session_t session)
{
    struct active_web_config *a;

    if (!g)
        return NULL;
    a = acquire_config(g, 0);
    if (session)
        server_tls_apply(a->tls, session);
    return a;
}

void access_control_release_config(struct access_control *g,
                                   struct active_web_config *active_web_config)
{
    if (g)
        release_config(g, active_web_config, 0);
}

void access_control_set_headers(struct access_control *g, struct MHD_Response *response)
{
    struct active_web_config *a;

    if (!g)
        return;
    a = acquire_config(g, 1);
    for (size_t i = 0; i < WEB_HEADERS; i++) {
        const char *name = web_header_names[i], *value = a->config.headers[i], *own;

        if (!value)
            continue;
        own = MHD_get_response_header(response, name);
        if (own && MHD_del_response_header(response, name, own) != MHD_YES)
            abort();
        if (MHD_add_response_header(response, name, value) != MHD_YES)
            memory_exhausted(0);
    }
    release_config(g, a, 1);
}

/* ---- checks of requests ---- */

/*
 * Reads "user\0password" from the header Authorization. Returns false if the header is missing or
 * too long for request_header_values(), or if its scheme is not Basic. Malformed credentials become
 * an empty user with an empty password.
 */
static bool read_credentials(struct MHD_Connection *connection, struct strbuf *out)
{
    static const char scheme[] = "Basic ";
    CLEANUP(strbuf_release)
    struct strbuf header = request_header_values(connection, MHD_HTTP_HEADER_AUTHORIZATION);
    bool given = strncasecmp(header.data, scheme, strlen(scheme)) == 0;
    char *colon;

    /* libmicrohttpd does not remove blanks after the value of a header. */
    while (header.len > 0 && strchr(" \t", header.data[header.len - 1]))
        header.data[--header.len] = '\0';
    strbuf_reserve(out, CREDENTIALS_MAX);
    /* A NUL would cut the user or the password short. */
    if (given && (!base64_decode(&header.data[strlen(scheme)], out) || !strbuf_ok(out) ||
                  memchr(out->data, '\0', out->len) || !strchr(out->data, ':'))) {
        strbuf_reset(out);
        strbuf_addc(out, ':');
    }
    colon = strchr(out->data, ':');
    if (given)
        *colon = '\0';
    return given;
}

static uint64_t connection_network(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);

    return client_network(info ? info->client_addr : NULL);
}

/* `credentials` is the result of read_credentials(). The attempt borrows texts of it and of `c`. */
static struct login_attempt make_attempt(const struct access_control *g, const struct web_config *c,
                                         const char *credentials)
{
    struct login_attempt attempt = {
        .user = credentials,
        .password = credentials + strlen(credentials) + 1,
        .hash = c->users[passwords_substitute_index(g->passwords, credentials, c->user_count)].hash,
    };

    for (unsigned i = 0; i < c->user_count; i++) {
        if (strcmp(c->users[i].name, attempt.user) == 0) {
            attempt.hash = c->users[i].hash;
            attempt.exists = true;
        }
    }
    return attempt;
}

static void count_refusal(struct access_control *g, enum access_control_refusal reason)
{
    atomic_fetch_add_explicit(&g->refused[reason], 1, memory_order_relaxed);
}

/* Returns true if the rate allows the request; otherwise counts a refusal. */
static bool take_rate_token(struct access_control *g, struct rate_limit *rate_limit)
{
    int64_t now_ns = (int64_t)(platform_steady_seconds() * 1e9);

    pthread_mutex_lock(&g->lock);
    bool allowed = rate_limit_allow(rate_limit, now_ns);
    pthread_mutex_unlock(&g->lock);
    if (!allowed)
        count_refusal(g, ACCESS_RATE);
    return allowed;
}

/* Suspended request during the check of its password. */
struct pending_request {
    struct access_control *access_control;
    struct MHD_Connection *connection;
    _Atomic(enum verdict) *verdict;
};

/* Callback of passwords_check(). */
static void finish_check(void *context, enum password_answer answer)
{
    static const enum verdict verdicts[] = {
        [PASSWORD_RIGHT] = VERDICT_ADMITTED,
        [PASSWORD_WRONG] = VERDICT_UNAUTHORIZED,
        [PASSWORD_UNCHECKED] = VERDICT_TOO_MANY,
    };
    struct pending_request *pending = context;
    struct MHD_Connection *connection = pending->connection;

    if (answer != PASSWORD_RIGHT)
        count_refusal(pending->access_control,
                      answer == PASSWORD_WRONG ? ACCESS_WRONG : ACCESS_QUEUE);
    atomic_store(pending->verdict, verdicts[answer]);
    free(pending);
    /* Last, because another thread may then end the request at once. */
    MHD_resume_connection(connection);
}

/*
 * Suspends the connection and queues the check of the password. If passwords_check() refuses it,
 * stores VERDICT_TOO_MANY and resumes the connection. Returns VERDICT_PENDING in both cases.
 */
static enum verdict start_check(struct access_control *g, struct MHD_Connection *connection,
                                const struct login_attempt *attempt, _Atomic(enum verdict) *verdict)
{
    struct pending_request *pending = xcalloc(1, sizeof(*pending));

    *pending = (struct pending_request){g, connection, verdict};
    /* Before passwords_check(): the password thread may finish the check at once. */
    atomic_store(verdict, VERDICT_PENDING);
    MHD_suspend_connection(connection);
    if (passwords_check(g->passwords, attempt, finish_check, pending))
        return VERDICT_PENDING;
    count_refusal(g, ACCESS_QUEUE);
    atomic_store(verdict, VERDICT_TOO_MANY);
    MHD_resume_connection(connection);
    free(pending);
    return VERDICT_PENDING;
}

static enum verdict check_credentials(struct access_control *g, struct MHD_Connection *connection,
                                      const struct web_config *config,
                                      _Atomic(enum verdict) *verdict)
{
    CLEANUP(strbuf_release) struct strbuf credentials = STRBUF_SECRET(CREDENTIALS_MAX);
    bool given = read_credentials(connection, &credentials);
    struct login_attempt attempt =
        given ? make_attempt(g, config, credentials.data) : (struct login_attempt){0};
    bool cached = given && passwords_is_cached(g->passwords, &attempt);

    attempt.network = connection_network(connection);
    enum verdict answer = VERDICT_TOO_MANY;

    if (take_rate_token(g, cached ? &g->cached_rate : &g->other_rate)) {
        if (!given)
            count_refusal(g, ACCESS_MISSING);
        answer = cached   ? VERDICT_ADMITTED
                 : !given ? VERDICT_UNAUTHORIZED
                          : start_check(g, connection, &attempt, verdict);
    }
    return answer;
}

/* Calls check_credentials() and wipes the password that its callees leave on the stack. */
static enum verdict check_and_wipe(struct access_control *g, struct MHD_Connection *connection,
                                   const struct web_config *config, _Atomic(enum verdict) *verdict)
{
    enum verdict answer = check_credentials(g, connection, config, verdict);

    secret_wipe_stack();
    return answer;
}

enum verdict access_control_admit(struct access_control *g, struct MHD_Connection *connection,
                                  bool probe, _Atomic(enum verdict) *verdict)
{
    enum verdict answer = atomic_load(verdict);
    struct active_web_config *a;

    if (!g)
        return VERDICT_ADMITTED;
    if (answer != VERDICT_NONE)
        return answer;
    a = acquire_config(g, 1);
    if (a->config.user_count == 0)
        answer = take_rate_token(g, &g->cached_rate) ? VERDICT_ADMITTED : VERDICT_TOO_MANY;
    else if (g->probes_without_auth && probe)
        answer = VERDICT_ANONYMOUS;
    else
        answer = check_and_wipe(g, connection, &a->config, verdict);
    release_config(g, a, 1);
    if (answer != VERDICT_PENDING)
        atomic_store(verdict, answer);
    return answer;
}

uint64_t access_control_refused(const struct access_control *g, enum access_control_refusal reason)
{
    return atomic_load_explicit(&g->refused[reason], memory_order_relaxed);
}

int64_t access_control_not_after(struct access_control *g)
{
    struct active_web_config *a = acquire_config(g, 1);
    int64_t not_after = a->tls ? server_tls_not_after(a->tls) : 0;

    release_config(g, a, 1);
    return not_after;
}
