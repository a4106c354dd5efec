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
#include "exporter/text/findings_format.h"
#include "exporter/text/object_name.h"
#include "exporter/text/plan_text.h"
#include "exporter/version.h"
#include "metrics/base/shown.h"

enum {
    SLOWEST_BYTES_PER_SECOND = 100,
    HEADERS_MAX_BYTES = 256 * 1024,
    BODY_MAX_BYTES = 256 * 1024 * 1024, /* Maximum size of a response of an exporter. */
    PATH_MAX_BYTES = 32 * 1024,
    LINE_MAX_BYTES = 1024 * 1024,
    ERROR_MAX_BYTES = 64 * 1024, /* The text of a larger error response is not printed. */
};

/* A running exporter, as --server and the flags --server.* describe it. */
struct remote {
    const struct options *options; /* Borrowed. */
    const struct strbuf *content;  /* JSON to POST; NULL for GET. Borrowed. */
    struct server_url url;         /* Messages show `url.base`, which has no user. */
    struct tls_files tls;
    char *password;      /* Owned; NULL without --server.user. */
    size_t header_bytes; /* Bytes of headers received in the present response. */
    char error[CURL_ERROR_SIZE];
};

/* ---- flags of the command line ---- */

/* Rejects arguments and flags that a command with --server must not have. */
static bool check_flags_with_server(const struct invocation *invocation, struct error *err)
{
    const struct options *o = &invocation->options;

    if (findings_format_is(o->output))
        return fail(err,
                    "--output %s names files, and the exporter of --server reads an API server: "
                    "omit --server, or use --output table, wide, json or yaml",
                    option_defs[OPTION_OF_output].choices[o->output]);
    if (o->arguments.count > 0)
        return fail(err, "--server uses the objects of the running exporter: omit '%s'",
                    shown(o->arguments.items[0]).text);
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const struct option_def *def = &option_defs[i];
        /* The running exporter has a value of its own for such options. */
        bool is_setting = def->commands & COMMAND_SERVE && !def->flag_only;
        /*
         * `explain` sends --namespace as the namespace of the OBJECT, `check` as a filter, `plan`
         * as the namespace of objects without one.
         */
        bool is_sent = i == OPTION_OF_namespace;

        if (o->on_command_line[i] && is_setting && !is_sent)
            return fail(err, "--server uses the --%s of the running exporter: omit the flag",
                        def->name);
    }
    return true;
}

/* Rejects flags --server.* if --server is missing. */
static bool check_flags_without_server(const struct options *o, struct error *err)
{
    static const char prefix[] = "server.";

    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const char *name = option_defs[i].name;

        if (o->on_command_line[i] && strncmp(name, prefix, sizeof(prefix) - 1) == 0)
            return fail(err, "--%s needs --server", name);
    }
    return true;
}

/* ---- URL and credentials ---- */

static bool is_set(const char *option)
{
    return *option != '\0';
}

static bool check_tls_and_user(const struct options *o, const struct server_url *url,
                               struct error *err)
{
    bool certificate = is_set(o->server_cert_file) || is_set(o->server_key_file);

    if (is_set(o->server_cert_file) != is_set(o->server_key_file))
        return fail(err, "--server.cert-file and --server.key-file must be set together");
    if (is_set(o->server_user) != is_set(o->server_password_file))
        return fail(err, "--server.user and --server.password-file must be set together");
    if (strchr(o->server_user, ':'))
        return fail(err, "--server.user: a user name must not contain ':'");
    if (!url->tls && (certificate || is_set(o->server_ca_file)))
        return fail(err, "--server.ca-file, --server.cert-file and --server.key-file need "
                         "https://, and --server begins with http://");
    if (!url->tls && is_set(o->server_user) && !host_is_loopback(url->address))
        return fail(
            err,
            "--server.user: a password needs https://, or a loopback address such as 127.0.0.1");
    return true;
}

/* Reads the URL, the TLS files and the password that the options name. */
static bool read_options(struct remote *r, struct error *err)
{
    const struct options *o = r->options;
    const struct rest_config files = {
        .ca.file = is_set(o->server_ca_file) ? o->server_ca_file : NULL,
        .certificate.file = is_set(o->server_cert_file) ? o->server_cert_file : NULL,
        .key.file = is_set(o->server_key_file) ? o->server_key_file : NULL,
    };

    if (!strstr(o->server, "://"))
        return fail(err, "--server: write https:// or http:// before the address");
    if (!server_url_parse(o->server, NULL, &r->url, err))
        return fail_in(err, "--server");
    if (!check_tls_and_user(o, &r->url, err) || !tls_files_load(&r->tls, &files, 0, err))
        return false;
    if (is_set(o->server_user))
        r->password = secret_line_read(o->server_password_file, err);
    return !is_set(o->server_user) || r->password || fail_in(err, "--server.password-file");
}

static void remote_release(struct remote *r)
{
    secret_free(r->password);
    tls_files_release(&r->tls);
    server_url_release(&r->url);
}

/* ---- HTTP request ---- */

struct remote_response {
    unsigned status;    /* HTTP status code. */
    char *content_type; /* "" without the header. */
    char *problems;     /* Value of PROBLEM_COUNTS_HEADER; NULL without the header. */
    char *results;      /* Value of PLAN_RESULTS_HEADER; NULL without the header. */
    char *location;     /* Target of a redirect, without query; NULL without a valid one. */
    struct strbuf body;
};

/* Header callback of curl: aborts the transfer, by returning 0, if the headers are too long. */
static size_t count_header_bytes(char *bytes, size_t size, size_t count, void *context)
{
    struct remote *r = context;

    (void)bytes;
    r->header_bytes += size * count;
    return r->header_bytes <= HEADERS_MAX_BYTES ? size * count : 0;
}

/* Copies status and headers of the response that curl has received. */
static void read_status_and_headers(CURL *easy, struct remote_response *out)
{
    struct curl_header *problems;
    struct server_url target;
    struct error ignored;
    char *text = NULL;
    long status = 0;

    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    out->status = (unsigned)status;
    curl_easy_getinfo(easy, CURLINFO_CONTENT_TYPE, &text);
    out->content_type = xstrdup(text ? text : "");
    if (curl_easy_header(easy, PROBLEM_COUNTS_HEADER, 0, CURLH_HEADER, -1, &problems) == CURLHE_OK)
        out->problems = xstrdup(problems->value);
    if (curl_easy_header(easy, PLAN_RESULTS_HEADER, 0, CURLH_HEADER, -1, &problems) == CURLHE_OK)
        out->results = xstrdup(problems->value);
    text = NULL;
    curl_easy_getinfo(easy, CURLINFO_REDIRECT_URL, &text);
    if (!text || !server_url_parse(text, NULL, &target, &ignored))
        return;
    out->location = xstrdup(target.base);
    server_url_release(&target);
}

static void remote_response_release(struct remote_response *a)
{
    free(a->content_type);
    free(a->problems);
    free(a->results);
    free(a->location);
    strbuf_release(&a->body);
    *a = (struct remote_response){.body = STRBUF_INIT(0)};
}

/*
 * Sends GET, or POST with content, with a path and query. Returns false and sets `err` if there is
 * no complete response. The caller releases `out` in both cases.
 */
static MUST_USE bool remote_send(struct remote *r, const char *path, struct remote_response *out,
                                 struct error *err)
{
    int64_t timeout_ms = r->options->server_timeout_ms;
    long timeout_s = (long)((timeout_ms + 999) / 1000); /* 0 disables the limit in curl. */
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
    struct curl_slist *headers = NULL;
    CURLcode code;

    if (r->content) {
        headers = curl_slist_append(NULL, "Content-Type: application/json");
        if (!headers)
            memory_exhausted(0);
        curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, r->content->data);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->content->len);
    }
    /* A write to a closed connection must fail with EPIPE and not end the process. */
    signal(SIGPIPE, SIG_IGN);
    *out = (struct remote_response){.body = STRBUF_INIT(BODY_MAX_BYTES)};
    r->header_bytes = 0;
    r->error[0] = '\0';
    curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, (long)SLOWEST_BYTES_PER_SECOND);
    curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, timeout_s);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, r->error);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, count_header_bytes);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, r);
    code = curl_easy_perform(easy);
    if (code == CURLE_OK)
        read_status_and_headers(easy, out);
    else if (code == CURLE_WRITE_ERROR)
        fail(err, "the response has more than %d MiB, or more than %d KiB of headers",
             BODY_MAX_BYTES >> 20, HEADERS_MAX_BYTES >> 10);
    else
        fail(err, "%s", *r->error ? r->error : curl_easy_strerror(code));
    curl_easy_cleanup(easy);
    curl_slist_free_all(headers);
    return code == CURLE_OK;
}

/* ---- response ---- */

/*
 * Appends ": " and the member "error" of the response. Without that member, as in a response of
 * another server, appends the status and the first line of a plain text.
 */
static void add_error_of_response(struct strbuf *out, const struct remote_response *a)
{
    struct error ignored;
    const char *body = a->body.len <= ERROR_MAX_BYTES ? a->body.data : "";
    CLEANUP(json_cleanup) cJSON *tree = json_parse(body, strlen(body), NULL, &ignored);
    const char *message = json_str(tree, "error", NULL);
    bool plain = strncasecmp(a->content_type, "text/plain", strlen("text/plain")) == 0;

    if (message)
        strbuf_addf(out, ": %s", message);
    else
        strbuf_addf(out, ": status %u", a->status);
    if (!message && plain && *body != '\0')
        strbuf_addf(out, ", %.*s", (int)strcspn(body, "\n"), body);
}

/* Appends the flags that could help after 401 or 403, or the target of a redirect. */
static void add_advice(struct strbuf *out, const struct remote_response *a, const struct options *o)
{
    if (a->status == 401 && *o->server_user != '\0')
        strbuf_addf(out, " (--server.user is '%s', --server.password-file '%s')", o->server_user,
                    o->server_password_file);
    else if (a->status == 401 || a->status == 403)
        strbuf_adds(out, " (authenticate with --server.user and --server.password-file, or with "
                         "--server.cert-file and --server.key-file)");
    else if (a->status >= 300 && a->status < 400)
        strbuf_addf(out, " (the response is a redirect%s%s, and redirects are not followed)",
                    a->location ? ", to " : "", a->location ? a->location : "");
}

/* Prints an error about a response with a status other than 200. Returns the exit status. */
static enum exit_status print_response_error(const struct invocation *invocation,
                                             const struct remote *r,
                                             const struct remote_response *a)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(LINE_MAX_BYTES);

    strbuf_addf(&text, "the exporter at %s responded", r->url.base);
    add_error_of_response(&text, a);
    /* An exporter without --web.enable-plan refuses all users. */
    if (!(a->status == 403 && r->content))
        add_advice(&text, a, &invocation->options);
    invocation_print_error(invocation, text.data);
    return a->status == 400 || a->status == 404 || a->status == 413 ? STATUS_USAGE
                                                                    : STATUS_UNREACHABLE;
}

/* Checks that the response is JSON (`document`) or plain text (otherwise); if not, sets `err`. */
static bool check_content(const struct remote_response *a, bool document, struct error *err)
{
    const char *type = document ? "application/json" : "text/plain";

    if (strncasecmp(a->content_type, type, strlen(type)) != 0)
        return fail(err,
                    "the response has the content type '%.80s' instead of %s: the server is no "
                    "exporter, or an older version",
                    a->content_type, type);
    if (!document && memchr(a->body.data, '\0', a->body.len))
        return fail(err, "the response is not text");

    struct json_fault fault = {NULL, 0};
    if (document)
        fault = json_find_fault(a->body.data, a->body.len);
    return !fault.reason || fail(err, "the response is not JSON: %s", fault.reason);
}

/*
 * Changes *status to the exit status for the problems that the header counts. Prints an error if
 * the exporter could not read everything. Returns false and sets `err` without a valid header.
 */
static bool apply_problem_counts(const struct invocation *invocation, const struct remote *r,
                                 const struct remote_response *a, enum exit_status *status,
                                 struct error *err)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(LINE_MAX_BYTES);
    struct problem_counts counts;

    if (!a->problems || !problem_counts_read(a->problems, &counts))
        return fail(err,
                    "the response has no header %s: the server is no exporter, or an older version",
                    PROBLEM_COUNTS_HEADER);
    if (problem_counts_fail(&counts, &invocation->options.fail_on))
        *status = STATUS_FOUND;
    if (counts.unread > 0)
        *status = STATUS_USAGE;
    if (counts.missing > 0)
        *status = STATUS_UNREACHABLE;
    if (counts.unread == 0 && counts.missing == 0)
        return true;
    strbuf_addf(&text, "the exporter at %s could not read all of its data: see its page /exporter",
                r->url.base);
    invocation_print_error(invocation, text.data);
    return true;
}

/*
 * Changes *status to STATUS_FOUND if the plan has a result of --fail-on. Returns false and sets
 * `err` without a valid header.
 */
static bool apply_plan_results(const struct invocation *invocation, const struct remote_response *a,
                               enum exit_status *status, struct error *err)
{
    const struct options *o = &invocation->options;
    unsigned results;

    if (!plan_results_read(a->results, &results))
        return fail(err,
                    "the response has no header %s: the server is no exporter, or an older version",
                    PLAN_RESULTS_HEADER);
    if (o->on_command_line[OPTION_OF_fail_on] && results & fail_on_plan_failures(&o->fail_on))
        *status = STATUS_FOUND;
    return true;
}

/* ---- commands ---- */

static void add_format_to_query(struct strbuf *path, const struct invocation *invocation,
                                const struct output *o)
{
    char width[16];

    if (document_is_requested(invocation->options.output)) {
        url_add_parameter(path, "format", "json");
        return;
    }
    snprintf(width, sizeof(width), "%u", o->width);
    url_add_parameter(path, "format",
                      invocation->options.details                 ? "details"
                      : invocation->options.output == OUTPUT_WIDE ? "wide"
                                                                  : "text");
    url_add_parameter(path, "width", width);
}

/* Sends the request and prints the response or an error. Returns the exit status. */
static enum exit_status run_request(const struct invocation *invocation, struct remote *r,
                                    struct strbuf *path, struct output *o)
{
    const struct options *options = &invocation->options;
    bool document = document_is_requested(options->output);
    enum exit_status status = STATUS_OK;
    struct remote_response a;
    struct error err;
    bool done;

    add_format_to_query(path, invocation, o);
    done = remote_send(r, path->data, &a, &err);
    if (done && a.status != 200) {
        status = print_response_error(invocation, r, &a);
        remote_response_release(&a);
        return status;
    }
    done = done && check_content(&a, document, &err) &&
           (invocation->command->bit != COMMAND_CHECK ||
            apply_problem_counts(invocation, r, &a, &status, &err)) &&
           (invocation->command->bit != COMMAND_PLAN ||
            apply_plan_results(invocation, &a, &status, &err));
    if (done && document)
        json_escape(&o->text, a.body.data);
    else if (done)
        output_escape_lines(&o->text, a.body.data);
    remote_response_release(&a);
    if (!done) {
        fail_in(&err, "the exporter at %s", r->url.base);
        invocation_print_error(invocation, err.text);
        return STATUS_UNREACHABLE;
    }
    document_convert(&o->text, options->output);
    return invocation_print_output(invocation, o, status);
}

/*
 * Runs the command on the exporter of --server. Returns and sets *status as remote_run_check()
 * does. `path` contains the API path and the query parameters of the command.
 */
static bool run_if_server(const struct invocation *invocation, struct strbuf *path,
                          const struct strbuf *content, enum exit_status *status)
{
    const struct options *options = &invocation->options;
    CLEANUP(output_release) struct output o;
    bool has_server = options->on_command_line[OPTION_OF_server];
    struct remote r = {.options = options, .content = content};
    struct error err;
    bool valid;

    invocation_begin_output(invocation, options->output, &o);
    valid = has_server ? check_flags_with_server(invocation, &err)
                       : check_flags_without_server(options, &err);
    if (valid && !has_server)
        return false;
    valid = valid && read_options(&r, &err);
    *status =
        valid ? run_request(invocation, &r, path, &o) : invocation_reject(invocation, err.text);
    remote_release(&r);
    return true;
}

bool remote_run_check(const struct invocation *invocation, enum exit_status *status)
{
    CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT(PATH_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf fail_on = STRBUF_INIT(PATH_MAX_BYTES);

    const struct options *o = &invocation->options;

    fail_on_write(&o->fail_on, &fail_on);
    strbuf_adds(&path, "/api/v1/report?");
    url_add_parameter(&path, "fail-on", fail_on.data);
    if (*o->only_problem != '\0') {
        CLEANUP(free_cleanup)
        char *problem = xmemdup0(o->only_problem, strcspn(o->only_problem, "/"));

        url_add_parameter(&path, "problem", problem);
        if (strlen(problem) < strlen(o->only_problem))
            url_add_parameter(&path, "reason", o->only_problem + strlen(problem) + 1);
    }
    if (o->on_command_line[OPTION_OF_namespace])
        url_add_parameter(&path, "namespace", o->namespace);
    return run_if_server(invocation, &path, NULL, status);
}

/* Adds a parameter with the texts of a list, separated by commas; nothing for an empty list. */
static void add_list_to_query(struct strbuf *path, const char *parameter,
                              const struct text_list *list)
{
    CLEANUP(strbuf_release) struct strbuf value = STRBUF_INIT(PATH_MAX_BYTES);

    for (size_t i = 0; i < list->count; i++)
        strbuf_addf(&value, "%s%s", i ? "," : "", list->items[i]);
    if (value.len > 0)
        url_add_parameter(path, parameter, value.data);
}

bool remote_run_plan(const struct invocation *invocation, const struct strbuf *change,
                     enum exit_status *status)
{
    CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT(PATH_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf fail_on = STRBUF_INIT(PATH_MAX_BYTES);
    const struct options *o = &invocation->options;

    strbuf_adds(&path, "/api/v1/plan?");
    add_list_to_query(&path, "delete", &o->deletions);
    add_list_to_query(&path, "lose", &o->lost_clusters);
    if (o->on_command_line[OPTION_OF_to_karmada])
        url_add_parameter(&path, "to-karmada", o->to_karmada);
    fail_on_write(&o->fail_on, &fail_on);
    if (o->on_command_line[OPTION_OF_fail_on] && fail_on.len > 0)
        url_add_parameter(&path, "fail-on", fail_on.data);
    if (o->on_command_line[OPTION_OF_namespace])
        url_add_parameter(&path, "namespace", o->namespace);
    return run_if_server(invocation, &path, change, status);
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
        url_add_parameter(&path, "kind", name.kind);
        url_add_parameter(&path, "name", name.name);
        if (name.version) {
            CLEANUP(strbuf_release) struct strbuf group = STRBUF_INIT(PATH_MAX_BYTES);

            strbuf_addf(&group, "%s.%s", name.version, name.group);
            url_add_parameter(&path, "group", group.data);
        } else if (name.group) {
            url_add_parameter(&path, "group", name.group);
        }
        if (name.ns)
            url_add_parameter(&path, "namespace", name.ns);
        if (o->on_command_line[OPTION_OF_namespace])
            url_add_parameter(&path, "default-namespace", o->namespace);
        url_add_parameter(&path, "history", o->history ? "true" : "false");
    } else if (o->on_command_line[OPTION_OF_server]) {
        invocation_print_error(invocation, err.text);
        *status = STATUS_USAGE;
        return true;
    }
    return run_if_server(invocation, &path, NULL, status);
}
