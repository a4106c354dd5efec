/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/auth/credentials.h"

#include <strings.h>

#include "exporter/kube/auth/exec_plugin.h"
#include "exporter/kube/auth/tls_files.h"
#include "exporter/system/secret.h"
#include "exporter/system/url.h"

enum {
    TOKEN_FILE_MAX_BYTES = 2 * SECRET_HEADER_MAX, /* The token and white space around it. */
    TOKEN_PERIOD_MS = 60 * 1000,
    /* Largest header: an escaped name, three bytes for each of its bytes, and a value. */
    HEADER_MAX_BYTES = 5 * SECRET_HEADER_MAX,
    /*
     * Minimum time between closures of connections because of a new token. If a plugin returns
     * tokens that live for seconds, long lists must still be able to end in between.
     */
    RECONNECT_GAP_MS = 30 * 1000,
};
_Static_assert((int)CREDENTIALS_FDS >= (int)EXEC_FDS, "room for the descriptors of a plugin");

/* ---- bearer token ---- */

/*
 * Bearer token from the kubeconfig or from a file. The file is read every TOKEN_PERIOD_MS, because
 * its token is replaced before it expires, and after status 401. Each read opens the path again,
 * because Kubernetes replaces symbolic links in the path.
 */
struct token_file {
    const char *path; /* NULL if the token never changes. Borrowed. */
    char *token;      /* NULL if the configuration sets no token. */
    int64_t read_ms;
    int64_t due_ms;       /* Time of the next read; INT64_MAX without a file. */
    uint64_t version;     /* Increases when a new token replaces an old one. */
    struct error problem; /* Reason why the last read failed; "" if it succeeded. */
};

static char *read_token(const char *path, struct error *err)
{
    static const char white[] = " \t\r\n\v\f";
    CLEANUP(secret_cleanup)
    char *text = secret_path_exists(path, err)
                     ? secret_file_read(path, TOKEN_FILE_MAX_BYTES, NULL, err)
                     : NULL;

    if (!text) {
        fail_in(err, "the token");
        return NULL;
    }

    char *start = text + strspn(text, white);
    size_t len = strlen(start);
    while (len > 0 && strchr(white, start[len - 1]))
        start[--len] = '\0';
    if (len == 0) {
        fail(err, "the token in '%s' is empty", path);
        return NULL;
    }
    if (!secret_fits_header(start)) {
        fail(err, "the token in '%s' holds control characters or is longer than %d bytes", path,
             SECRET_HEADER_MAX);
        return NULL;
    }
    return xstrdup(start);
}

/* Reads the file and schedules the next read. A failure leaves the token unchanged. */
static void reread_token(struct token_file *t, int64_t now_ms)
{
    char *fresh = read_token(t->path, &t->problem);

    secret_wipe_stack();
    t->read_ms = now_ms;
    t->due_ms = now_ms + TOKEN_PERIOD_MS;
    if (!fresh)
        return;
    t->version += t->token && strcmp(t->token, fresh) != 0;
    secret_free(t->token);
    t->token = fresh;
    t->problem.text[0] = '\0';
}

/*
 * Returns false with an error if config->token_file is set but holds no usable token, and the
 * kubeconfig has no token either.
 */
static MUST_USE bool token_file_load(struct token_file *out, const struct rest_config *config,
                                     int64_t now_ms, struct error *err)
{
    *out = (struct token_file){
        .path = config->token_file,
        .token = config->token ? xstrdup(config->token) : NULL,
        .due_ms = INT64_MAX,
    };
    if (!out->path)
        return true;
    reread_token(out, now_ms);
    if (out->token)
        return true;
    *err = out->problem;
    return false;
}

/* Schedules a read after status 401, TOKEN_READ_GAP_MS after the last read or later. */
static void token_file_note_unauthorized(struct token_file *t)
{
    int64_t soon_ms = t->read_ms + TOKEN_READ_GAP_MS;

    if (t->path && soon_ms < t->due_ms)
        t->due_ms = soon_ms;
}

/* ---- credentials ---- */

struct credentials {
    const struct rest_config *config;
    struct server_url url;
    struct curl_slist *connect_to; /* Value of CURLOPT_CONNECT_TO, which curl borrows; or NULL. */
    char *proxy;                   /* Value of CURLOPT_PROXY; "" for a direct connection. */
    char *ca_name;
    struct tls_files tls;
    struct token_file token;
    struct exec_authenticator authenticator; /* Only if uses_plugin. */
    bool uses_plugin;
    bool files_held;
    uint64_t token_version; /* Sum of token versions; follows them once in RECONNECT_GAP_MS. */
    int64_t reconnect_ms;   /* Earliest time for the next change of token_version. */
};

static bool load_credentials(struct credentials *c, const char *const *environment, int64_t now_ms,
                             struct error *err)
{
    static const char socks[] = "socks5://";
    const struct rest_config *config = c->config;
    const char *proxy = config->proxy_url ? config->proxy_url : "";
    bool by_name = strncasecmp(proxy, socks, sizeof(socks) - 1) == 0;

    if (!server_url_parse(config->server, config->tls_server_name, &c->url, err))
        return fail_in(err, "the server");
    if (c->url.connect_to) {
        c->connect_to = curl_slist_append(NULL, c->url.connect_to);
        if (!c->connect_to)
            memory_exhausted(0);
    }
    /* The SOCKS proxy resolves the host name, as with kubectl; curl does so for socks5h only. */
    c->proxy =
        secret_concat(by_name ? "socks5h://" : "", by_name ? proxy + sizeof(socks) - 1 : proxy, "");
    if (config->ca.file && !config->ca.data) {
        if (asprintf(&c->ca_name, "the CA in '%s'", config->ca.file) < 0)
            memory_exhausted(0);
    } else {
        c->ca_name = xstrdup(config->ca.data ? "the CA in the kubeconfig"
                                             : "any CA that this system trusts");
    }
    if (!tls_files_load(&c->tls, config, now_ms, err) ||
        !token_file_load(&c->token, config, now_ms, err))
        return false;
    c->token_version = c->token.version;
    c->reconnect_ms = now_ms;
    c->uses_plugin = config->exec && c->url.tls;
    if (c->uses_plugin)
        exec_authenticator_init(&c->authenticator, config, environment);
    return true;
}

struct credentials *credentials_new(const struct rest_config *config,
                                    const char *const *environment, int64_t now_ms,
                                    struct error *err)
{
    struct credentials *c = xcalloc(1, sizeof(*c));

    c->config = config;
    if (load_credentials(c, environment, now_ms, err))
        return c;
    fail_in(err, "%.200s", config->origin);
    credentials_free(c);
    return NULL;
}

void credentials_free(struct credentials *c)
{
    if (!c)
        return;
    if (c->uses_plugin)
        exec_authenticator_release(&c->authenticator);
    secret_free(c->token.token);
    tls_files_release(&c->tls);
    secret_free(c->proxy);
    free(c->ca_name);
    curl_slist_free_all(c->connect_to);
    server_url_release(&c->url);
    free(c);
}

void credentials_advance(struct credentials *c, int64_t now_ms, int64_t wall_ms)
{
    if (!c->files_held) {
        tls_files_advance(&c->tls, now_ms);
        if (now_ms >= c->token.due_ms)
            reread_token(&c->token, now_ms);
    }
    if (c->uses_plugin)
        exec_authenticator_advance(&c->authenticator, tls_files_ca(&c->tls), now_ms, wall_ms);

    uint64_t version = c->token.version + c->authenticator.token_version;
    if (version != c->token_version && now_ms >= c->reconnect_ms) {
        c->token_version = version;
        c->reconnect_ms = now_ms + RECONNECT_GAP_MS;
    }
}

void credentials_hold_files(struct credentials *c, bool held)
{
    c->files_held = held;
}

int64_t credentials_files_due(const struct credentials *c)
{
    return earlier_of(c->tls.due_ms, c->token.due_ms);
}

int64_t credentials_due(const struct credentials *c)
{
    int64_t due_ms = c->files_held ? INT64_MAX : credentials_files_due(c);

    return c->uses_plugin ? earlier_of(due_ms, exec_authenticator_due(&c->authenticator)) : due_ms;
}

size_t credentials_fds(const struct credentials *c, struct pollfd out[static CREDENTIALS_FDS])
{
    return c->uses_plugin ? exec_plugin_fds(c->authenticator.plugin, out) : 0;
}

bool credentials_ready(const struct credentials *c)
{
    return !c->uses_plugin || exec_authenticator_credential(&c->authenticator);
}

const char *credentials_problem(const struct credentials *c)
{
    const char *const problems[] = {c->tls.ca.problem.text, c->tls.pair.problem.text,
                                    c->token.problem.text, c->authenticator.problem.text};

    for (size_t i = 0; i < ARRAY_LEN(problems); i++) {
        if (*problems[i])
            return problems[i];
    }
    return "";
}

const char *credentials_url(const struct credentials *c)
{
    return c->url.base;
}

const char *credentials_ca_name(const struct credentials *c)
{
    return c->ca_name;
}

/* Lets curl copy the PEM, because the request may outlive the PEM. Does nothing if it is NULL. */
static CURLcode set_pem(CURL *easy, CURLoption option, const char *pem)
{
    struct curl_blob blob = {.flags = CURL_BLOB_COPY};

    if (!pem)
        return CURLE_OK;

    char *copy = xstrdup(pem); /* blob.data is not const. */
    blob.data = copy;
    blob.len = strlen(copy);
    CURLcode code = curl_easy_setopt(easy, option, &blob);
    secret_free(copy);
    return code;
}

static CURLcode set_server_trust(const struct credentials *c, CURL *easy)
{
    bool secure = !c->config->insecure;
    CURLcode code = curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, secure ? 1L : 0L);

    if (code == CURLE_OK)
        code = curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, secure ? 2L : 0L);
    if (code != CURLE_OK || !tls_files_ca(&c->tls))
        return code;
    /* CURLOPT_CAINFO_BLOB alone leaves the CAs of the system trusted. */
    code = curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
    return code == CURLE_OK ? set_pem(easy, CURLOPT_CAINFO_BLOB, tls_files_ca(&c->tls)) : code;
}

/* Returns true for CURLE_OK, otherwise false with an error that begins with `what`. */
static bool check_curl_code(CURLcode code, const char *what, struct error *err)
{
    return code == CURLE_OK ? true : fail(err, "%s: %s", what, curl_easy_strerror(code));
}

static void add_header_line(struct curl_slist **headers, const struct strbuf *line)
{
    struct curl_slist *longer = strbuf_ok(line) ? curl_slist_append(*headers, line->data) : NULL;

    if (!longer)
        memory_exhausted(0);
    *headers = longer;
}

static void add_header(struct curl_slist **headers, const char *name, const char *value)
{
    CLEANUP(strbuf_release) struct strbuf line = STRBUF_SECRET(HEADER_MAX_BYTES);

    strbuf_addf(&line, "%s: %s", name, value);
    add_header_line(headers, &line);
}

/* Appends a part of a header name. Escapes '%' and all bytes that HTTP forbids in a name as %XX. */
static void add_escaped_name(struct strbuf *out, const char *name)
{
    static const char allowed[] = "!#$&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

    for (; *name; name++) {
        if (strchr(allowed, *name))
            strbuf_addc(out, *name);
        else
            strbuf_addf(out, "%%%02X", (unsigned char)*name);
    }
}

static void add_impersonation(struct curl_slist **headers,
                              const struct rest_config_impersonation *as)
{
    if (!as->user)
        return;
    add_header(headers, "Impersonate-User", as->user);
    if (as->uid)
        add_header(headers, "Impersonate-Uid", as->uid);
    for (size_t i = 0; i < as->group_count; i++)
        add_header(headers, "Impersonate-Group", as->groups[i]);
    for (size_t i = 0; i < as->extra_count; i++) {
        CLEANUP(strbuf_release) struct strbuf line = STRBUF_SECRET(HEADER_MAX_BYTES);

        strbuf_adds(&line, "Impersonate-Extra-");
        add_escaped_name(&line, as->extra[i].name);
        strbuf_addf(&line, ": %s", as->extra[i].value);
        add_header_line(headers, &line);
    }
}

static bool add_client_identity(const struct credentials *c, CURL *easy,
                                struct curl_slist **headers, struct error *err)
{
    const char *certificate = tls_files_certificate(&c->tls);
    const char *key = tls_files_key(&c->tls);
    const char *token = c->token.token;

    if (c->uses_plugin) {
        const struct exec_credential *given = exec_authenticator_credential(&c->authenticator);

        if (!given && *c->authenticator.problem.text)
            return fail(err, "%s", c->authenticator.problem.text);
        if (!given)
            return fail(err, "the exec plugin '%s' has not responded yet",
                        shown_path(c->config->exec->command).text);
        certificate = given->certificate;
        key = given->key;
        token = given->token;
    }
    if (!check_curl_code(set_pem(easy, CURLOPT_SSLCERT_BLOB, certificate), "the client certificate",
                         err) ||
        !check_curl_code(set_pem(easy, CURLOPT_SSLKEY_BLOB, key), "the client key", err))
        return false;
    if (token) {
        CLEANUP(strbuf_release) struct strbuf line = STRBUF_SECRET(HEADER_MAX_BYTES);

        strbuf_addf(&line, "Authorization: Bearer %s", token);
        add_header_line(headers, &line);
    }
    add_impersonation(headers, &c->config->as);
    return true;
}

bool credentials_apply(struct credentials *c, CURL *easy, struct curl_slist **headers,
                       struct error *err)
{
    CURLcode code = curl_easy_setopt(easy, CURLOPT_CONNECT_TO, c->connect_to);

    /* Without a value, curl reads the proxy from environment variables. */
    if (code == CURLE_OK)
        code = curl_easy_setopt(easy, CURLOPT_PROXY, c->proxy);
    if (code == CURLE_OK)
        code = curl_easy_setopt(easy, CURLOPT_NOPROXY, "");
    /* The proxy must not receive the headers, which contain the token. */
    if (code == CURLE_OK)
        code = curl_easy_setopt(easy, CURLOPT_HEADEROPT, (long)CURLHEADER_SEPARATE);
    if (!check_curl_code(code, "the route to the server", err) ||
        !check_curl_code(set_server_trust(c, easy), "the CA", err))
        return false;
    if (c->url.host)
        add_header(headers, "Host", c->url.host);
    /* Without TLS the network could read the credentials. kubectl does not send them either. */
    return c->url.tls ? add_client_identity(c, easy, headers, err) : true;
}

void credentials_note_unauthorized(struct credentials *c)
{
    token_file_note_unauthorized(&c->token);
    if (c->uses_plugin)
        exec_authenticator_note_unauthorized(&c->authenticator);
}

uint64_t credentials_version(const struct credentials *c)
{
    return c->tls.version + c->authenticator.version + c->token_version;
}

static bool apply_to_request(void *context, CURL *easy, struct curl_slist **headers,
                             struct error *err)
{
    return credentials_apply(context, easy, headers, err);
}

static void note_unauthorized(void *context)
{
    credentials_note_unauthorized(context);
}

static uint64_t version_of(void *context)
{
    return credentials_version(context);
}

struct kube_client_credentials credentials_identity(struct credentials *c)
{
    return (struct kube_client_credentials){
        .apply = apply_to_request,
        .refused = note_unauthorized,
        .version = version_of,
        .context = c,
    };
}
