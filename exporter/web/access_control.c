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
};

/* As the toolkit does: what is not absolute is beside the file. */
static void join(const char *file, char **path)
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

/* Read a file whose bytes go into the digest, too, unless that is NULL. */
static bool read_secret(const char *path, gnutls_hash_hd_t digest, struct strbuf *out,
                        struct error *err)
{
    if (!file_read(path, out, err))
        return false;
    if (digest)
        gnutls_hash(digest, out->data, out->len);
    return true;
}

static bool parse(const char *path, struct web_config *out, gnutls_hash_hd_t digest,
                  struct error *err)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_SECRET(WEB_CONFIG_MAX);

    if (!read_secret(path, digest, &text, err) ||
        !web_config_parse(path, text.data, text.len, out, err))
        return false;
    join(path, &out->cert_file);
    join(path, &out->key_file);
    join(path, &out->client_ca_file);
    return true;
}

/* Returns true if the file of the private key is there. Errors do not show a path that leads
 * nowhere. */
static bool has_key_file(const char *path, struct error *err)
{
    return !path || secret_path_exists(path, err) || fail_in(err, "key_file");
}

/* Read what a file has that is named in place of a text. */
static bool read_part(const char *file, char **text, gnutls_hash_hd_t digest, struct error *err)
{
    CLEANUP(strbuf_release) struct strbuf bytes = STRBUF_SECRET(PEM_MAX);

    if (!file)
        return true;
    if (!read_secret(file, digest, &bytes, err))
        return false;
    *text = xmemdup0(bytes.data, bytes.len);
    return true;
}

static bool read_all(const char *path, struct web_config *c, gnutls_hash_hd_t digest,
                     struct error *err)
{
    if (!parse(path, c, digest, err))
        return false;
    return (read_part(c->cert_file, &c->cert, digest, err) && has_key_file(c->key_file, err) &&
            read_part(c->key_file, &c->key, digest, err) &&
            read_part(c->client_ca_file, &c->client_ca, digest, err)) ||
           fail_in(err, "%s", path);
}

struct active_web_config *active_web_config_read(const char *path, struct error *err)
{
    struct active_web_config *a = xcalloc(1, sizeof(*a));
    gnutls_hash_hd_t digest;

    if (gnutls_hash_init(&digest, GNUTLS_DIG_SHA256) < 0)
        memory_exhausted(sizeof(*a));
    bool done = read_all(path, &a->config, digest, err);

    gnutls_hash_deinit(digest, a->digest);
    a->holders = 1;
    if (done)
        return a;
    active_web_config_free(a);
    return NULL;
}

/* Make what TLS needs of what was read. False with the reason. */
static MUST_USE bool active_web_config_forge(struct active_web_config *a, const char *path,
                                             struct error *err)
{
    if (!a->config.tls)
        return true;
    a->tls = server_tls_new(&a->config, err);
    return a->tls || fail_in(err, "%s: tls_server_config", path);
}

/*
 * Wipes the users and the private key of a configuration that has been replaced. Connections that
 * began with the configuration need only the rest.
 */
static void active_web_config_forget(struct active_web_config *a)
{
    web_config_wipe_secrets(&a->config);
}

void active_web_config_free(struct active_web_config *a)
{
    if (!a)
        return;
    server_tls_free(a->tls);
    web_config_release(&a->config);
    free(a);
}

void active_web_config_visit_files(const char *path, void (*each)(void *context, const char *path),
                                   void *context)
{
    struct web_config config = {.tls = false};
    struct error ignored;

    each(context, path);
    if (*path == '\0' || !parse(path, &config, NULL, &ignored))
        return;
    each(context, config.cert_file ? config.cert_file : "");
    each(context, config.key_file ? config.key_file : "");
    each(context, config.client_ca_file ? config.client_ca_file : "");
    web_config_release(&config);
}

enum { CREDENTIALS_MAX = 1024 };

#define ACCESS_NAME(id, word) word,
const char *const access_control_refusal_names[ACCESS_REFUSALS] = {ACCESS_REFUSALS(ACCESS_NAME)};

struct access_control {
    char *path;
    bool probes_without_auth;
    struct passwords *passwords;
    pthread_mutex_t lock; /* Guards the next three, and the holders of all armours. */
    struct active_web_config *now;
    struct rate_limit known; /* For those whose credentials were right before. */
    struct rate_limit rest;
    _Atomic uint64_t refused[ACCESS_REFUSALS];
};

/* ---- the configuration in force ---- */

/* `readers`: 1 to read the users, 0 to use the rest for as long as a connection lives. */
static struct active_web_config *take(struct access_control *g, unsigned readers)
{
    pthread_mutex_lock(&g->lock);
    struct active_web_config *a = g->now;
    a->holders++;
    a->readers += readers;
    pthread_mutex_unlock(&g->lock);
    return a;
}

/* Under the lock, so that no other thread frees it meanwhile. */
static void give_back(struct access_control *g, struct active_web_config *a, unsigned readers)
{
    pthread_mutex_lock(&g->lock);
    bool last = --a->holders == 0;
    a->readers -= readers;
    if (a != g->now && a->readers == 0)
        active_web_config_forget(a);
    pthread_mutex_unlock(&g->lock);
    if (last)
        active_web_config_free(a);
}

static struct active_web_config *hold(struct access_control *g)
{
    return take(g, 1);
}

static void drop(struct access_control *g, struct active_web_config *a)
{
    give_back(g, a, 1);
}

static void set_rates(struct access_control *g)
{
    g->known = (struct rate_limit){.interval_ns = g->now->config.rate_interval_ns,
                                   .burst = g->now->config.rate_burst};
    g->rest = g->known;
}

struct access_control *access_control_new(const struct access_control_options *options,
                                          struct error *err)
{
    struct access_control *g = xcalloc(1, sizeof(*g));

    g->path = xstrdup(options->path);
    g->probes_without_auth = options->probes_without_auth;
    pthread_mutex_init(&g->lock, NULL);
    g->now = active_web_config_read(g->path, err);
    if (g->now && active_web_config_forge(g->now, g->path, err)) {
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
    if (g->now)
        give_back(g, g->now, 0);
    pthread_mutex_destroy(&g->lock);
    free(g->path);
    free(g);
}

void access_control_stop_checks(struct access_control *g)
{
    if (g)
        passwords_close(g->passwords);
}

/* Make a configuration that was read ready for use in the place of another one. */
static bool succeed(struct active_web_config *fresh, const struct active_web_config *old,
                    const char *path, struct error *err)
{
    if (!web_config_check_reload(&old->config, &fresh->config, err))
        return fail_in(err, "%s", path);
    return active_web_config_forge(fresh, path, err);
}

static bool reload(struct access_control *g, bool *changed, struct error *err)
{
    struct active_web_config *fresh = active_web_config_read(g->path, err), *old = g->now;
    bool same, fine;

    *changed = false;
    if (!fresh)
        return false;
    same = memcmp(fresh->digest, old->digest, sizeof(old->digest)) == 0;
    fine = same || succeed(fresh, old, g->path, err);
    if (same || !fine) {
        active_web_config_free(fresh);
        return fine;
    }
    *changed = true;
    pthread_mutex_lock(&g->lock);
    g->now = fresh;
    set_rates(g);
    pthread_mutex_unlock(&g->lock);
    give_back(g, old, 0);
    return true;
}

bool access_control_reload(struct access_control *g, bool *changed, struct error *err)
{
    bool fine = reload(g, changed, err);

    secret_wipe_stack();
    return fine;
}

const char *access_control_certificate(const struct access_control *g)
{
    return g && g->now->tls ? g->now->config.cert : NULL;
}

const char *access_control_key(const struct access_control *g)
{
    return g && g->now->tls ? g->now->config.key : NULL;
}

struct active_web_config *access_control_acquire_config(struct access_control *g,
                                                        gnutls_session_t session)
{
    struct active_web_config *a;

    if (!g)
        return NULL;
    a = take(g, 0);
    if (session)
        server_tls_apply(a->tls, session);
    return a;
}

void access_control_release_config(struct access_control *g,
                                   struct active_web_config *active_web_config)
{
    if (g)
        give_back(g, active_web_config, 0);
}

void access_control_set_headers(struct access_control *g, struct MHD_Response *response)
{
    struct active_web_config *a;

    if (!g)
        return;
    a = hold(g);
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
    drop(g, a);
}

/* ---- who asks ---- */

/*
 * "user\0password" of the header Authorization. False if there is none; a text that is no user's
 * where it is not valid.
 */
static bool read_credentials(struct MHD_Connection *connection, struct strbuf *out)
{
    static const char scheme[] = "Basic ";
    CLEANUP(strbuf_release)
    struct strbuf header = request_header(connection, MHD_HTTP_HEADER_AUTHORIZATION);
    bool given = strncasecmp(header.data, scheme, strlen(scheme)) == 0;
    char *colon;

    /* The library leaves blanks that are no part of a header's value at its end. */
    while (header.len > 0 && strchr(" \t", header.data[header.len - 1]))
        header.data[--header.len] = '\0';
    strbuf_reserve(out, CREDENTIALS_MAX);
    /* A NUL would hide what is behind it. */
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

static uint64_t origin_of_client(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);

    return client_network(info ? info->client_addr : NULL);
}

static struct login_attempt claim_of(const struct access_control *g, const struct web_config *c,
                                     const char *credentials)
{
    struct login_attempt claim = {
        .user = credentials,
        .password = credentials + strlen(credentials) + 1,
        .hash = c->users[passwords_substitute(g->passwords, credentials, c->user_count)].hash,
    };

    for (unsigned i = 0; i < c->user_count; i++) {
        if (strcmp(c->users[i].name, claim.user) == 0) {
            claim.hash = c->users[i].hash;
            claim.exists = true;
        }
    }
    return claim;
}

static void count(struct access_control *g, enum access_control_refusal why)
{
    atomic_fetch_add_explicit(&g->refused[why], 1, memory_order_relaxed);
}

static bool take_token(struct access_control *g, struct rate_limit *rate_limit)
{
    int64_t now_ns = (int64_t)(platform_steady_seconds() * 1e9);

    pthread_mutex_lock(&g->lock);
    bool allowed = rate_limit_allow(rate_limit, now_ns);
    pthread_mutex_unlock(&g->lock);
    if (!allowed)
        count(g, ACCESS_RATE);
    return allowed;
}

/* A request whose password is being checked. */
struct applicant {
    struct access_control *access_control;
    struct MHD_Connection *connection;
    _Atomic(enum verdict) *verdict;
};

static void decide(void *context, enum password_answer answer)
{
    static const enum verdict verdicts[] = {
        [PASSWORD_RIGHT] = VERDICT_ADMITTED,
        [PASSWORD_WRONG] = VERDICT_UNAUTHORIZED,
        [PASSWORD_UNCHECKED] = VERDICT_TOO_MANY,
    };
    struct applicant *a = context;
    struct MHD_Connection *connection = a->connection;

    if (answer != PASSWORD_RIGHT)
        count(a->access_control, answer == PASSWORD_WRONG ? ACCESS_WRONG : ACCESS_QUEUE);
    atomic_store(a->verdict, verdicts[answer]);
    free(a);
    /* The last thing: its thread may end the request at once. */
    MHD_resume_connection(connection);
}

static enum verdict have_checked(struct access_control *g, struct MHD_Connection *connection,
                                 const struct login_attempt *claim, _Atomic(enum verdict) *verdict)
{
    struct applicant *a = xcalloc(1, sizeof(*a));

    *a = (struct applicant){g, connection, verdict};
    /* Before the thread can see it: it may decide at once. */
    atomic_store(verdict, VERDICT_PENDING);
    MHD_suspend_connection(connection);
    if (passwords_check(g->passwords, claim, decide, a))
        return VERDICT_PENDING;
    count(g, ACCESS_QUEUE);
    atomic_store(verdict, VERDICT_TOO_MANY);
    MHD_resume_connection(connection);
    free(a);
    return VERDICT_PENDING;
}

static enum verdict check_credentials(struct access_control *g, struct MHD_Connection *connection,
                                      const struct web_config *config,
                                      _Atomic(enum verdict) *verdict)
{
    CLEANUP(strbuf_release) struct strbuf credentials = STRBUF_SECRET(CREDENTIALS_MAX);
    bool given = read_credentials(connection, &credentials);
    struct login_attempt claim =
        given ? claim_of(g, config, credentials.data) : (struct login_attempt){0};
    bool known = given && passwords_is_cached(g->passwords, &claim);

    claim.origin = origin_of_client(connection);
    enum verdict answer = VERDICT_TOO_MANY;

    if (take_token(g, known ? &g->known : &g->rest)) {
        if (!given)
            count(g, ACCESS_MISSING);
        answer = known    ? VERDICT_ADMITTED
                 : !given ? VERDICT_UNAUTHORIZED
                          : have_checked(g, connection, &claim, verdict);
    }
    return answer;
}

/* Wipes the stack: functions that have returned leave a password there. */
static enum verdict judge(struct access_control *g, struct MHD_Connection *connection,
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
    a = hold(g);
    if (a->config.user_count == 0)
        answer = take_token(g, &g->known) ? VERDICT_ADMITTED : VERDICT_TOO_MANY;
    else if (g->probes_without_auth && probe)
        answer = VERDICT_ANONYMOUS;
    else
        answer = judge(g, connection, &a->config, verdict);
    drop(g, a);
    if (answer != VERDICT_PENDING)
        atomic_store(verdict, answer);
    return answer;
}

uint64_t access_control_refused(const struct access_control *g, enum access_control_refusal why)
{
    return atomic_load_explicit(&g->refused[why], memory_order_relaxed);
}

int64_t access_control_not_after(struct access_control *g)
{
    struct active_web_config *a = hold(g);
    int64_t not_after = a->tls ? server_tls_not_after(a->tls) : 0;

    drop(g, a);
    return not_after;
}
