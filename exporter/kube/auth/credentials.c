/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/auth/credentials.h"

#include <strings.h>

#include "exporter/kube/auth/exec_plugin.h"
#include "exporter/kube/auth/tls_files.h"
#include "exporter/system/secret.h"
#include "exporter/system/url.h"

static const char white[] = " \t\r\n\v\f";

/* The file may be larger than the token in it by some white space. */
enum { FILE_MAX_BYTES = 2 * SECRET_HEADER_MAX };

static char *read(const char *path, struct error *err)
{
    CLEANUP(secret_cleanup)
    char *text =
        secret_path_exists(path, err) ? secret_file_read(path, FILE_MAX_BYTES, NULL, err) : NULL;

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

static void read_again(struct token_file *t, int64_t now_ms)
{
    char *fresh = read(t->path, &t->problem);

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
    read_again(out, now_ms);
    if (out->token)
        return true;
    *err = out->problem;
    return false;
}

/* A file that cannot be read fails only where there is no token in `config` either. */
static void token_file_release(struct token_file *t)
{
    secret_free(t->token);
    *t = (struct token_file){.path = NULL};
}

/* Read it, if that is due; a failure leaves the token as it was. */
static void token_file_advance(struct token_file *t, int64_t now_ms)
{
    if (now_ms >= t->due_ms)
        read_again(t, now_ms);
}

/* The server refused the token: read the file again soon. */
static void token_file_refused(struct token_file *t)
{
    int64_t soon_ms = t->read_ms + TOKEN_READ_GAP_MS;

    if (t->path && soon_ms < t->due_ms)
        t->due_ms = soon_ms;
}

enum {
    /* A name of which every byte has to be escaped, and a value as long as one may be. */
    HEADER_MAX_BYTES = 5 * SECRET_HEADER_MAX,
    /*
     * Connections are replaced for another token at most so often: lists have to end in between
     * also where a plugin's tokens live for seconds.
     */
    REPLACE_MS = 30 * 1000,
};
_Static_assert((int)CREDENTIALS_FDS >= (int)EXEC_FDS, "there is room for what a plugin polls for");

struct credentials {
    const struct rest_config *config;
    struct server_url url;
    struct curl_slist *connect_to; /* curl borrows it for as long as a request lives. */
    char *proxy;                   /* As curl wants it. */
    char *authority;
    struct tls_files tls;
    struct token_file token;
    struct exec_authenticator login;
    bool uses_plugin;
    bool files_held;
    uint64_t token_version; /* That connections are made with. */
    int64_t replace_ms;     /* They are not replaced for another before this. */
};

static bool load(struct credentials *c, const char *const *environment, int64_t now_ms,
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
    /* As kubectl does: a SOCKS proxy is given the name of the host, and looks it up. */
    c->proxy =
        secret_concat(by_name ? "socks5h://" : "", by_name ? proxy + sizeof(socks) - 1 : proxy, "");
    if (config->ca.file && !config->ca.data) {
        if (asprintf(&c->authority, "the CA in '%s'", config->ca.file) < 0)
            memory_exhausted(0);
    } else {
        c->authority = xstrdup(config->ca.data ? "the CA in the kubeconfig"
                                               : "any CA that this system trusts");
    }
    if (!tls_files_load(&c->tls, config, now_ms, err) ||
        !token_file_load(&c->token, config, now_ms, err))
        return false;
    c->token_version = c->token.version;
    c->replace_ms = now_ms;
    c->uses_plugin = config->exec && c->url.tls;
    if (c->uses_plugin)
        exec_authenticator_init(&c->login, config, environment);
    return true;
}

struct credentials *credentials_new(const struct rest_config *config,
                                    const char *const *environment, int64_t now_ms,
                                    struct error *err)
{
    struct credentials *c = xcalloc(1, sizeof(*c));

    c->config = config;
    if (load(c, environment, now_ms, err))
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
        exec_authenticator_release(&c->login);
    token_file_release(&c->token);
    tls_files_release(&c->tls);
    secret_free(c->proxy);
    free(c->authority);
    curl_slist_free_all(c->connect_to);
    server_url_release(&c->url);
    free(c);
}

void credentials_advance(struct credentials *c, int64_t now_ms, int64_t wall_ms)
{
    if (!c->files_held) {
        tls_files_advance(&c->tls, now_ms);
        token_file_advance(&c->token, now_ms);
    }
    if (c->uses_plugin)
        exec_authenticator_advance(&c->login, tls_files_ca(&c->tls), now_ms, wall_ms);

    uint64_t version = c->token.version + c->login.token_version;
    if (version != c->token_version && now_ms >= c->replace_ms) {
        c->token_version = version;
        c->replace_ms = now_ms + REPLACE_MS;
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

    return c->uses_plugin ? earlier_of(due_ms, exec_authenticator_due(&c->login)) : due_ms;
}

size_t credentials_fds(const struct credentials *c, struct pollfd out[static CREDENTIALS_FDS])
{
    return c->uses_plugin ? exec_plugin_fds(c->login.plugin, out) : 0;
}

bool credentials_ready(const struct credentials *c)
{
    return !c->uses_plugin || exec_authenticator_credential(&c->login);
}

const char *credentials_problem(const struct credentials *c)
{
    const char *const problems[] = {c->tls.trust.problem.text, c->tls.pair.problem.text,
                                    c->token.problem.text, c->login.problem.text};

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
    return c->authority;
}

/* curl keeps a copy: a request may outlive what it began with. */
static CURLcode set_blob(CURL *easy, CURLoption option, const char *pem)
{
    struct curl_blob blob = {.flags = CURL_BLOB_COPY};
    CURLcode code;

    if (!pem)
        return CURLE_OK;

    char *copy = xstrdup(pem); /* The blob's pointer is not one to constant bytes. */
    blob.data = copy;
    blob.len = strlen(copy);
    code = curl_easy_setopt(easy, option, &blob);
    secret_free(copy);
    return code;
}

static CURLcode set_trust(const struct credentials *c, CURL *easy)
{
    bool secure = !c->config->insecure;
    CURLcode code = curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, secure ? 1L : 0L);

    if (code == CURLE_OK)
        code = curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, secure ? 2L : 0L);
    if (code != CURLE_OK || !tls_files_ca(&c->tls))
        return code;
    /* Or curl would go on trusting the system's authorities beside the cluster's own. */
    code = curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
    return code == CURLE_OK ? set_blob(easy, CURLOPT_CAINFO_BLOB, tls_files_ca(&c->tls)) : code;
}

static bool check(CURLcode code, const char *what, struct error *err)
{
    return code == CURLE_OK ? true : fail(err, "%s: %s", what, curl_easy_strerror(code));
}

static void add_line(struct curl_slist **headers, const struct strbuf *line)
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
    add_line(headers, &line);
}

/* Any text as a part of a header's name: what may not be in one is escaped, and '%' too. */
static void add_escaped(struct strbuf *out, const char *name)
{
    static const char fine[] = "!#$&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz"
                               "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

    for (; *name; name++) {
        if (strchr(fine, *name))
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
        add_escaped(&line, as->extra[i].name);
        strbuf_addf(&line, ": %s", as->extra[i].value);
        add_line(headers, &line);
    }
}

static bool add_identity(const struct credentials *c, CURL *easy, struct curl_slist **headers,
                         struct error *err)
{
    const char *certificate = tls_files_certificate(&c->tls);
    const char *key = tls_files_key(&c->tls);
    const char *token = c->token.token;

    if (c->uses_plugin) {
        const struct exec_credential *given = exec_authenticator_credential(&c->login);

        if (!given && *c->login.problem.text)
            return fail(err, "%s", c->login.problem.text);
        if (!given)
            return fail(err, "the exec plugin '%s' has not answered yet",
                        shown_path(c->config->exec->command).text);
        certificate = given->certificate;
        key = given->key;
        token = given->token;
    }
    if (!check(set_blob(easy, CURLOPT_SSLCERT_BLOB, certificate), "the client certificate", err) ||
        !check(set_blob(easy, CURLOPT_SSLKEY_BLOB, key), "the client key", err))
        return false;
    if (token) {
        CLEANUP(strbuf_release) struct strbuf line = STRBUF_SECRET(HEADER_MAX_BYTES);

        strbuf_addf(&line, "Authorization: Bearer %s", token);
        add_line(headers, &line);
    }
    add_impersonation(headers, &c->config->as);
    return true;
}

bool credentials_apply(struct credentials *c, CURL *easy, struct curl_slist **headers,
                       struct error *err)
{
    CURLcode code = curl_easy_setopt(easy, CURLOPT_CONNECT_TO, c->connect_to);

    /* Set even where they are empty, or curl looks into the environment. */
    if (code == CURLE_OK)
        code = curl_easy_setopt(easy, CURLOPT_PROXY, c->proxy);
    if (code == CURLE_OK)
        code = curl_easy_setopt(easy, CURLOPT_NOPROXY, "");
    /* What is in our headers is for the server, not for the proxy. */
    if (code == CURLE_OK)
        code = curl_easy_setopt(easy, CURLOPT_HEADEROPT, (long)CURLHEADER_SEPARATE);
    if (!check(code, "the route to the server", err) || !check(set_trust(c, easy), "the CA", err))
        return false;
    if (c->url.host)
        add_header(headers, "Host", c->url.host);
    /* As kubectl does: without TLS anybody on the way could read the credentials. */
    return c->url.tls ? add_identity(c, easy, headers, err) : true;
}

void credentials_note_unauthorized(struct credentials *c)
{
    token_file_refused(&c->token);
    if (c->uses_plugin)
        exec_authenticator_note_unauthorized(&c->login);
}

uint64_t credentials_version(const struct credentials *c)
{
    return c->tls.version + c->login.version + c->token_version;
}

static bool apply(void *context, CURL *easy, struct curl_slist **headers, struct error *err)
{
    return credentials_apply(context, easy, headers, err);
}

static void refused(void *context)
{
    credentials_note_unauthorized(context);
}

static uint64_t version(void *context)
{
    return credentials_version(context);
}

struct kube_client_credentials credentials_identity(struct credentials *c)
{
    return (struct kube_client_credentials){
        .apply = apply, .refused = refused, .version = version, .context = c};
}
