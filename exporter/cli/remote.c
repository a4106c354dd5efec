/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/cli/remote.h"

#include <curl/curl.h>
#include <signal.h>
#include <strings.h>

#include "exporter/cli/document.h"
#include "exporter/kube/auth/proxy.h"
#include "exporter/kube/auth/tls_files.h"
#include "exporter/system/http_request.h"
#include "exporter/system/url.h"
#include "exporter/text/check_result.h"
#include "exporter/text/object_name.h"
#include "exporter/version.h"
#include "metrics/base/shown.h"

enum {
    SLOWEST_BYTES_PER_SECOND = 100,
    HEADERS_MAX_BYTES = 256 * 1024,
    BODY_MAX_BYTES = 256 * 1024 * 1024, /* As much as an exporter answers. */
};

struct remote {
    const struct options *options;
    struct server_url url;
    struct tls_files tls;
    char *password; /* NULL without a user. */
    size_t header_bytes;
    char error[CURL_ERROR_SIZE];
};

/* ---- what the options say ---- */

static bool has(const char *option)
{
    return *option != '\0';
}

static bool check_flags(const struct options *o, const struct server_url *url, struct error *err)
{
    bool certificate = has(o->server_cert_file) || has(o->server_key_file);

    if (has(o->server_cert_file) != has(o->server_key_file))
        return fail(err, "--server.cert-file and --server.key-file are given together or not");
    if (has(o->server_user) != has(o->server_password_file))
        return fail(err, "--server.user and --server.password-file are given together or not");
    if (strchr(o->server_user, ':'))
        return fail(err, "--server.user: a user's name has no ':'");
    if (!url->tls && (certificate || has(o->server_ca_file)))
        return fail(err, "certificates are of https://, and --server begins with http://");
    if (!url->tls && has(o->server_user) && !host_is_loopback(url->address))
        return fail(err, "--server.user: a password goes over https:// alone, or to this machine");
    return true;
}

static bool read_options(struct remote *r, struct error *err)
{
    const struct options *o = r->options;
    /* It only lends them. */
    const struct rest_config files = {
        .ca.file = has(o->server_ca_file) ? o->server_ca_file : NULL,
        .certificate.file = has(o->server_cert_file) ? o->server_cert_file : NULL,
        .key.file = has(o->server_key_file) ? o->server_key_file : NULL,
    };

    if (!strstr(o->server, "://"))
        return fail(err, "--server: write https:// or http:// before the address");
    if (!server_url_parse(o->server, NULL, &r->url, err))
        return fail_in(err, "--server");
    if (!check_flags(o, &r->url, err) || !tls_files_load(&r->tls, &files, 0, err))
        return false;
    if (has(o->server_user))
        r->password = secret_line_read(o->server_password_file, err);
    return !has(o->server_user) || r->password || fail_in(err, "--server.password-file");
}

/* NULL if what the options say of it cannot be used. They are borrowed. */
static MUST_USE struct remote *remote_new(const struct options *o, struct error *err)
{
    struct remote *r = xcalloc(1, sizeof(*r));

    r->options = o;
    if (read_options(r, err))
        return r;
    remote_free(r);
    return NULL;
}

void remote_free(struct remote *r)
{
    if (!r)
        return;
    secret_free(r->password);
    tls_files_release(&r->tls);
    server_url_release(&r->url);
    free(r);
}

/* Where it is, for people: without a user. */
static const char *remote_url(const struct remote *r)
{
    return r->url.base;
}

/* ---- what it is asked ---- */

/* Any result but the number of bytes ends the transfer. */
static size_t receive_header(char *bytes, size_t size, size_t count, void *context)
{
    struct remote *r = context;

    (void)bytes;
    r->header_bytes += size * count;
    return r->header_bytes <= HEADERS_MAX_BYTES ? size * count : 0;
}

/* What curl knows of an answer that is here. */
static void note_answer(CURL *easy, struct remote_answer *out)
{
    struct curl_header *findings;
    struct server_url elsewhere;
    struct error ignored;
    char *text = NULL;
    long status = 0;

    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    out->status = (unsigned)status;
    curl_easy_getinfo(easy, CURLINFO_CONTENT_TYPE, &text);
    out->content_type = xstrdup(text ? text : "");
    if (curl_easy_header(easy, FINDING_COUNTS_HEADER, 0, CURLH_HEADER, -1, &findings) == CURLHE_OK)
        out->findings = xstrdup(findings->value);
    text = NULL;
    curl_easy_getinfo(easy, CURLINFO_REDIRECT_URL, &text);
    if (!text || !server_url_parse(text, NULL, &elsewhere, &ignored))
        return;
    out->location = xstrdup(elsewhere.base);
    server_url_release(&elsewhere);
}

static void remote_answer_release(struct remote_answer *a)
{
    free(a->content_type);
    free(a->findings);
    free(a->location);
    strbuf_release(&a->body);
    *a = (struct remote_answer){.body = STRBUF_INIT(0)};
}

/*
 * Ask for a path with its query. False if no answer came, or not all of it. `out` is to be
 * released in either case.
 */
static MUST_USE bool remote_get(struct remote *r, const char *path, struct remote_answer *out,
                                struct error *err)
{
    int64_t timeout_ms = r->options->server_timeout_ms;
    long timeout_s = (long)((timeout_ms + 999) / 1000); /* 0: never. */
    CURL *easy = http_request_new(&(struct http_request){
        .server = &r->url,
        .path = path,
        .user_agent = EXPORTER_NAME "/" EXPORTER_VERSION,
        .ca = tls_files_ca(&r->tls),
        .certificate = tls_files_certificate(&r->tls),
        .key = tls_files_key(&r->tls),
        .user = r->password ? r->options->server_user : NULL,
        .password = r->password,
        .body = &out->body,
    });
    CURLcode code;

    /* Writing to a server that closed its connection must not end the process. */
    signal(SIGPIPE, SIG_IGN);
    *out = (struct remote_answer){.body = STRBUF_INIT(BODY_MAX_BYTES)};
    r->header_bytes = 0;
    r->error[0] = '\0';
    curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, (long)SLOWEST_BYTES_PER_SECOND);
    curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, timeout_s);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, r->error);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, receive_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, r);
    code = curl_easy_perform(easy);
    if (code == CURLE_OK)
        note_answer(easy, out);
    else if (code == CURLE_WRITE_ERROR)
        fail(err, "it answers with more than %d MiB, or with %d KiB of headers",
             BODY_MAX_BYTES >> 20, HEADERS_MAX_BYTES >> 10);
    else
        fail(err, "%s", *r->error ? r->error : curl_easy_strerror(code));
    curl_easy_cleanup(easy);
    return code == CURLE_OK;
}

enum { PATH_MAX_BYTES = 32 * 1024, LINE_MAX_BYTES = 1024 * 1024, ERROR_MAX_BYTES = 64 * 1024 };

/* ---- the command line ---- */

/* False if the command line asks an exporter and says what that has to know by itself. */
static bool fits_server(const struct invocation *invocation, struct error *err)
{
    const struct options *o = &invocation->options;

    if (o->arguments.count > 0)
        return fail(err, "--server asks an exporter for what it looks at: leave '%s' out",
                    shown(o->arguments.items[0]).text);
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const struct option_def *def = &option_defs[i];
        bool looks = def->commands & COMMAND_SERVE && !def->flag_only;
        bool names = i == OPTION_OF_namespace && invocation->command->bit == COMMAND_EXPLAIN;

        if (o->on_command_line[i] && looks && !names)
            return fail(err, "--server asks an exporter that has a --%s of its own: leave it out",
                        def->name);
    }
    return true;
}

/* False if nobody is to be asked, and a flag says how. */
static bool fits_none(const struct options *o, struct error *err)
{
    static const char prefix[] = "server.";

    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const char *name = option_defs[i].name;

        if (o->on_command_line[i] && strncmp(name, prefix, sizeof(prefix) - 1) == 0)
            return fail(err, "--%s is about the exporter that --server names: name one", name);
    }
    return true;
}

/* ---- what it answers ---- */

/* ": " and its own words for what is wrong; where another server has answered, the status too. */
static void add_words(struct strbuf *out, const struct remote_answer *a)
{
    struct error ignored;
    /* No error of an exporter is long. */
    const char *body = a->body.len <= ERROR_MAX_BYTES ? a->body.data : "";
    CLEANUP(json_cleanup) cJSON *tree = json_parse(body, strlen(body), NULL, &ignored);
    const char *words = json_str(tree, "error", NULL);
    bool plain = strncasecmp(a->content_type, "text/plain", strlen("text/plain")) == 0;

    if (words)
        strbuf_addf(out, ": %s", words);
    else
        strbuf_addf(out, ": status %u", a->status);
    if (!words && plain && *body != '\0')
        strbuf_addf(out, ", %.*s", (int)strcspn(body, "\n"), body);
}

static void add_advice(struct strbuf *out, const struct remote_answer *a, const struct options *o)
{
    if (a->status == 401 && *o->server_user != '\0')
        strbuf_addf(out, " (--server.user is '%s', --server.password-file '%s')", o->server_user,
                    o->server_password_file);
    else if (a->status == 401 || a->status == 403)
        strbuf_adds(out, " (--server.user with --server.password-file, or --server.cert-file with "
                         "--server.key-file, say who asks)");
    else if (a->status >= 300 && a->status < 400)
        strbuf_addf(out, " (it sends elsewhere%s%s, and redirects are not followed)",
                    a->location ? ", to " : "", a->location ? a->location : "");
}

/* The exit status for an answer that is none to the question, having complained of it. */
static enum exit_status complain_of(const struct invocation *invocation, const struct remote *r,
                                    const struct remote_answer *a)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(LINE_MAX_BYTES);

    strbuf_addf(&text, "the exporter at %s says", remote_url(r));
    add_words(&text, a);
    add_advice(&text, a, &invocation->options);
    invocation_print_error(invocation, text.data);
    return a->status == 400 || a->status == 404 ? STATUS_USAGE : STATUS_UNREACHABLE;
}

/* Is it an answer in the form that was asked for? */
static bool check_form(const struct remote_answer *a, bool document, struct error *err)
{
    const char *type = document ? "application/json" : "text/plain";

    if (strncasecmp(a->content_type, type, strlen(type)) != 0)
        return fail(err, "it answers with '%.80s' for %s: it is no exporter, or an older one",
                    a->content_type, type);
    if (!document && memchr(a->body.data, '\0', a->body.len))
        return fail(err, "it answers with what is no text");

    struct json_fault fault = {NULL, 0};
    if (document)
        fault = json_find_fault(a->body.data, a->body.len);
    return !fault.reason || fail(err, "it answers with what is no JSON: %s", fault.reason);
}

/* What the findings make of the exit status. */
static bool judge(const struct invocation *invocation, const struct remote *r,
                  const struct remote_answer *a, enum exit_status *status, struct error *err)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(LINE_MAX_BYTES);
    struct finding_counts counts;

    if (!a->findings || !finding_counts_read(a->findings, &counts))
        return fail(err, "it does not count what it finds (%s): it is no exporter, or an older one",
                    FINDING_COUNTS_HEADER);
    if (finding_counts_any(&counts, invocation->options.fail_on))
        *status = STATUS_FOUND;
    if (counts.unread > 0)
        *status = STATUS_USAGE;
    if (counts.missing > 0)
        *status = STATUS_UNREACHABLE;
    if (counts.unread == 0 && counts.missing == 0)
        return true;
    strbuf_addf(&text, "the exporter at %s could not read everything: its page /exporter says what",
                remote_url(r));
    invocation_print_error(invocation, text.data);
    return true;
}

/* ---- the question ---- */

static void add_form(struct strbuf *path, const struct invocation *invocation,
                     const struct output *o)
{
    char width[16];

    if (document_is_requested(invocation->options.output)) {
        url_add(path, "format", "json");
        return;
    }
    snprintf(width, sizeof(width), "%u", o->width);
    url_add(path, "format", "text");
    url_add(path, "width", width);
}

static enum exit_status get(const struct invocation *invocation, struct remote *r,
                            struct strbuf *path, struct output *o)
{
    const struct options *options = &invocation->options;
    bool document = document_is_requested(options->output);
    enum exit_status status = STATUS_OK;
    struct remote_answer a;
    struct error err;
    bool done;

    add_form(path, invocation, o);
    done = remote_get(r, path->data, &a, &err);
    if (done && a.status != 200) {
        status = complain_of(invocation, r, &a);
        remote_answer_release(&a);
        return status;
    }
    done = done && check_form(&a, document, &err) &&
           (invocation->command->bit != COMMAND_CHECK || judge(invocation, r, &a, &status, &err));
    if (done && document)
        json_escape(&o->text, a.body.data);
    else if (done)
        output_escape_lines(&o->text, a.body.data);
    remote_answer_release(&a);
    if (!done) {
        fail_in(&err, "the exporter at %s", remote_url(r));
        invocation_print_error(invocation, err.text);
        return STATUS_UNREACHABLE;
    }
    document_convert(&o->text, options->output);
    return invocation_print_output(invocation, o, status);
}

/* As remote_run_check(). `path` ends with the query so far. */
static bool ask(const struct invocation *invocation, struct strbuf *path, enum exit_status *status)
{
    const struct options *options = &invocation->options;
    CLEANUP(output_release) struct output o;
    bool wanted = options->on_command_line[OPTION_OF_server];
    bool fits;
    struct remote *r;
    struct error err;

    output_init(&o, invocation->out);
    fits = wanted ? fits_server(invocation, &err) : fits_none(options, &err);
    if (fits && !wanted)
        return false;
    r = fits ? remote_new(options, &err) : NULL;
    *status = r ? get(invocation, r, path, &o) : invocation_reject(invocation, err.text);
    remote_free(r);
    return true;
}

bool remote_run_check(const struct invocation *invocation, enum exit_status *status)
{
    CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT(PATH_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf classes = STRBUF_INIT(PATH_MAX_BYTES);

    for (unsigned i = 0; i < FINDING_CLASSES; i++) {
        if (invocation->options.fail_on >> i & 1)
            strbuf_addf(&classes, "%s%s", classes.len > 0 ? "," : "", fail_on_names[i]);
    }
    strbuf_adds(&path, "/api/v1/report?");
    url_add(&path, "fail-on", classes.data);
    return ask(invocation, &path, status);
}

bool remote_run_explain(const struct invocation *invocation, const char *typed,
                        enum exit_status *status)
{
    CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT(PATH_MAX_BYTES);
    CLEANUP(object_name_release) struct object_name name = {0};
    const struct options *o = &invocation->options;
    struct error err;

    if (object_name_parse(typed, &name, &err)) {
        strbuf_adds(&path, "/api/v1/explain?");
        url_add(&path, "kind", name.kind);
        url_add(&path, "name", name.name);
        if (name.group)
            url_add(&path, "group", name.group);
        if (name.ns)
            url_add(&path, "namespace", name.ns);
        if (o->on_command_line[OPTION_OF_namespace])
            url_add(&path, "default-namespace", o->namespace);
        url_add(&path, "history", o->history ? "true" : "false");
    } else if (o->on_command_line[OPTION_OF_server]) {
        invocation_print_error(invocation, err.text);
        *status = STATUS_USAGE;
        return true;
    }
    return ask(invocation, &path, status);
}
