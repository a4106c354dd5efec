/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/api_lists.h"

#include <poll.h>

#include "exporter/evaluation.h"
#include "exporter/version.h"
#include "exporter/web/page_index.h"
#include "metrics/base/json.h"
#include "tests/unit/folder.h"
#include "tests/unit/golden.h"
#include "tests/unit/http_client.h"
#include "tests/unit/local_server.h"
#include "tests/unit/suite.h"

/*
 * A server answers with pages and lists about the objects of ASSORTED. The test replaces the event
 * loop. Other tests check the decisions; these tests check that each response is complete, in its
 * format, and about the object that the request names.
 */

#define ASSORTED "tests/fixtures/golden/assorted.json"

enum {
    NOW_S = 1767312000,
    TIMEOUT_MS = 20000,
    LIST_MAX_BYTES = 1 << 20,
    PATH_MAX_BYTES = 2048,
    PAGES_MAX = 1000, /* Pages that link to each other. */
    DEPTH_MAX = 32,
    HISTORY_ENTRIES = 1000,
};

struct site {
    char *folder;
    struct evaluation *evaluation;
    struct health health;
    struct page_store *page_store;
    struct server *server;
    struct api *api;
};

/* Writes the objects of ASSORTED, a JSON array, as a manifest. */
static void write_manifest(const char *folder)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(LIST_MAX_BYTES);
    char chunk[4096];
    FILE *file = fopen(ASSORTED, "re");
    size_t n;

    assert_non_null(file);
    strbuf_adds(&text, "{\"apiVersion\": \"v1\", \"kind\": \"List\", \"items\": ");
    while ((n = fread(chunk, 1, sizeof(chunk), file)) > 0)
        strbuf_add(&text, chunk, n);
    strbuf_adds(&text, "}");
    fclose(file);
    folder_write(folder, "assorted.json", text.data);
}

/* Judges problems, two of which do not depend on the objects of ASSORTED. */
static void judge(struct evaluation *e)
{
    static const struct external_subject pods = {"", "Source", "", "pods"};
    static const struct external_subject secrets = {"", "Source", "", "secrets"};
    struct problems *ps;

    evaluation_judge_problems(e, false, NULL);
    ps = engine_problems(e->engine);
    problems_report(ps, &pods, PROBLEM_REASON_DATA_INCOMPLETE_LATE, 0);
    problems_report(ps, &secrets, PROBLEM_REASON_DATA_INCOMPLETE_FORBIDDEN, 0);
    assert_true(evaluation_run(e, INT64_C(1000) * NOW_S, SIZE_MAX));
}

static struct evaluation *evaluate(const char *folder)
{
    static const struct log log = {.level = LOG_LEVEL_ERROR};
    static const char *const environment[] = {NULL};
    const char *const arguments[] = {"serve", "--manifests", folder};
    struct options options;
    struct error err;

    options_init(&options);
    assert_true(options_parse(&options, ARRAY_LEN(arguments), arguments, &err));
    struct evaluation *e = evaluation_new(
        &(struct evaluation_settings){
            .options = &options, .environment = environment, .log = &log, .seed = 1},
        &err);

    if (!e)
        fail_msg("%s", err.text);
    while (evaluation_load(e, &err) == LOADING_BUSY)
        evaluation_wait(e, NULL, NULL, 0, -1);
    (void)evaluation_run(e, INT64_C(1000) * NOW_S, 0); /* Sets the start of the history. */
    engine_keep_transitions(e->engine, HISTORY_ENTRIES);
    assert_true(evaluation_run(e, INT64_C(1000) * NOW_S, SIZE_MAX));
    judge(e);
    return e;
}

static int set_up(void **state)
{
    struct site *s = xcalloc(1, sizeof(*s));
    struct error err;

    s->folder = folder_make();
    write_manifest(s->folder);
    s->evaluation = evaluate(s->folder);
    s->page_store = page_store_new();
    s->server = local_server(s->page_store, &err);
    assert_non_null(s->server);
    s->api = api_new(server_request_queue(s->server), NULL, 1);
    s->health = (struct health){
        .evaluation = s->evaluation,
        .telemetry_path = "/metrics",
        .external_url = "https://exporter.example",
        .config_loaded = true,
        .now_ms = INT64_C(1000) * NOW_S,
        .started_ms = INT64_C(1000) * (NOW_S - 60),
    };
    *state = s;
    return 0;
}

static int tear_down(void **state)
{
    struct site *s = *state;

    server_stop(s->server);
    api_free(s->api);
    page_store_free(s->page_store);
    evaluation_free(s->evaluation);
    folder_remove(s->folder);
    free(s);
    return 0;
}

/* Returns the body of the answer to a GET request, which must have the status. */
static char *get(const struct site *s, const char *path, unsigned status)
{
    CLEANUP(strbuf_release) struct strbuf answer = STRBUF_INIT(HTTP_ANSWER_MAX);
    struct pollfd fds[] = {
        {.fd = http_connect(server_address(s->server, 0)), .events = POLLIN},
        {.fd = request_queue_fd(server_request_queue(s->server)), .events = POLLIN},
    };
    char request[PATH_MAX_BYTES + 64], chunk[16384];
    ssize_t n;

    snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
             path);
    assert_true(http_send(fds[0].fd, request, strlen(request)));
    while ((n = recv(fds[0].fd, chunk, sizeof(chunk), MSG_DONTWAIT)) != 0) {
        if (n > 0) {
            strbuf_add(&answer, chunk, (size_t)n);
            continue;
        }
        api_turn(s->api, &s->health, s->evaluation, true);
        assert_true(poll(fds, ARRAY_LEN(fds), TIMEOUT_MS) > 0);
    }
    close(fds[0].fd);
    snprintf(request, sizeof(request), "HTTP/1.1 %u ", status);
    if (strncmp(answer.data, request, strlen(request)) != 0)
        fail_msg("%s is not answered with %u: %s", path, status, answer.data);
    return xstrdup(http_body(&answer));
}

/* ---- HTML ---- */

static bool is_void(const char *tag, size_t len)
{
    static const char *const names[] = {"meta", "link", "br", "input", "img", "hr"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (strlen(names[i]) == len && memcmp(names[i], tag, len) == 0)
            return true;
    }
    return false;
}

/* Fails unless each element of the page is closed, after the elements inside of it. */
static void check_html(const char *path, const char *page)
{
    const char *open[DEPTH_MAX], *at = page;
    size_t depth = 0;

    assert_memory_equal(page, "<!DOCTYPE html>", 15);
    while ((at = strchr(at + 1, '<')) != NULL) {
        bool closes = at[1] == '/';
        const char *tag = at + 1 + closes;
        size_t len = strspn(tag, "abcdefghijklmnopqrstuvwxyz0123456789");

        if (len == 0)
            fail_msg("%s has a '<' that begins no tag: %.200s", path, at);
        if (!closes && !is_void(tag, len)) {
            assert_in_range(depth, 0, DEPTH_MAX - 1);
            open[depth++] = tag;
        } else if (closes && (depth == 0 || memcmp(open[--depth], tag, len) != 0)) {
            fail_msg("%s closes what is not open: %.200s", path, at);
        }
    }
    if (depth > 0)
        fail_msg("%s leaves an element open: %.200s", path, open[depth - 1]);
}

/* Paths that pages link to, each once, in the order in which the links are found. */
struct crawl {
    char *paths[PAGES_MAX];
    size_t count;
};

/* Adds a path, in which each `&` was escaped for HTML. */
static void add_path(struct crawl *c, const char *escaped, size_t len)
{
    CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT(PATH_MAX_BYTES);

    strbuf_adds(&path, "/");
    for (size_t i = strncmp(escaped, "./", 2) == 0 ? 2 : 0; i < len; i++) {
        strbuf_addc(&path, escaped[i]);
        if (escaped[i] == '&' && strncmp(&escaped[i], "&amp;", 5) == 0)
            i += 4;
    }
    assert_true(strbuf_ok(&path));
    for (size_t i = 0; i < c->count; i++) {
        if (strcmp(c->paths[i], path.data) == 0)
            return;
    }
    assert_true(c->count < PAGES_MAX);
    c->paths[c->count++] = xstrdup(path.data);
}

/*
 * Returns true for one of the many combinations of filters and orders of a list: an order with a
 * filter, or three filters.
 */
static bool is_combination(const char *link, size_t len)
{
    CLEANUP(free_cleanup) char *text = xmemdup0(link, len);
    const char *second = strstr(text, "&amp;");

    return second && !strstr(text, "name=") &&
           (strstr(text, "sort=") || strstr(second + 1, "&amp;"));
}

/* Adds the links to pages that have endpoints. */
static void add_links(struct crawl *c, const char *page)
{
    for (const char *at = page; (at = strstr(at, "<a href=\"")) != NULL;) {
        at += strlen("<a href=\"");
        for (size_t i = 0; i < ENDPOINT_COUNT; i++) {
            /* Links to the first page begin with "./". */
            const char *name = *(endpoints[i].path + 1) ? endpoints[i].path + 1 : "./";
            size_t len = strlen(name), end = strcspn(at, "\"");

            /* The filters of the first page can be combined: follow one at a time. */
            if (i == ENDPOINT_INDEX_PAGE && memchr(at, '&', end))
                continue;
            if (endpoints[i].page && strncmp(at, name, len) == 0 && strchr("?\"", at[len]) &&
                !is_combination(at, end))
                add_path(c, at, end);
        }
    }
}

static size_t count_paths(const struct crawl *c, const char *start)
{
    size_t count = 0;

    for (size_t i = 0; i < c->count; i++)
        count += strncmp(c->paths[i], start, strlen(start)) == 0;
    return count;
}

TEST_WITH(linked_pages_exist_and_are_well_formed, set_up, tear_down)
{
    const struct site *s = *state;
    struct crawl crawl = {.count = 0};

    add_path(&crawl, "", 0);
    for (unsigned i = 0; i < PAGE_COUNT; i++) {
        CLEANUP(strbuf_release) struct strbuf page = STRBUF_INIT(LIST_MAX_BYTES);

        if (!page_defs[i].content_type || strcmp(page_defs[i].content_type, RESPONSE_HTML) != 0)
            continue;
        page_defs[i].write(&s->health, &page);
        check_html(page_defs[i].handler, page.data);
        add_links(&crawl, page.data);
    }
    for (size_t i = 0; i < crawl.count; i++) {
        CLEANUP(free_cleanup) char *page = get(s, crawl.paths[i], 200);

        check_html(crawl.paths[i], page);
        add_links(&crawl, page);
    }
    assert_true(count_paths(&crawl, "/?") > 10);
    assert_true(count_paths(&crawl, "/template?") > 10);
    assert_true(count_paths(&crawl, "/policy?") > 5);
    assert_true(count_paths(&crawl, "/conflict?") > 0);
    assert_true(count_paths(&crawl, "/namespace?") > 1);
    assert_true(count_paths(&crawl, "/runbook?") > 5);
    for (size_t i = 0; i < crawl.count; i++)
        free(crawl.paths[i]);
}

/* Appends the element <main>, without the explanation: golden/explain has explanations. */
static void add_main(struct strbuf *out, const char *path, const char *page)
{
    const char *start = strstr(page, "<main"), *end = strstr(page, "<div class=\"told\">");

    end = end ? end : strstr(page, "</main>");
    assert_non_null(start);
    assert_non_null(end);
    strbuf_addf(out, "<!-- %s -->\n", path);
    strbuf_add(out, start, (size_t)(end - start));
}

/* The page of templates is left out: its ages are relative to the present, not to NOW_S. */
TEST_WITH(pages_equal_the_golden_file, set_up, tear_down)
{
    static const char *const paths[] = {
        "/",
        "/?severity=info&namespace=shop",
        "/?status=hidden",
        "/?status=resolved",
        "/?problem=not_scheduled&search=shop%2F&sort=-namespace&refresh=1m",
        "/runbook?problem=lease_at_risk",
        "/namespace?namespace=shop",
        "/policies",
        "/conflicts",
        "/clusters",
        "/namespaces",
        "/conflict?kind=ConfigMap&namespace=shop&name=shared",
        "/template?kind=ConfigMap&namespace=shop&name=shared",
        "/template?kind=Deployment&namespace=shop&name=moved",
        "/policy?kind=PropagationPolicy&namespace=shop&name=first",
        "/policy?kind=PropagationPolicy&namespace=way&name=ways",
    };
    CLEANUP(strbuf_release) struct strbuf all = STRBUF_INIT(LIST_MAX_BYTES);
    const struct site *s = *state;

    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        CLEANUP(free_cleanup) char *page = get(s, paths[i], 200);

        add_main(&all, paths[i], page);
    }
    golden_check("pages.html", all.data);
}

TEST_WITH(each_problem_has_a_runbook, set_up, tear_down)
{
    for (unsigned i = 0; i < PROBLEM_COUNT; i++) {
        CLEANUP(free_cleanup) char *page = NULL;
        char path[PATH_MAX_BYTES];

        snprintf(path, sizeof(path), "/runbook?problem=%s", problem_names[i]);
        page = get(*state, path, 200);
        check_html(path, page);
        snprintf(path, sizeof(path), "Runbook about <b>%s</b>", problem_table[i].title);
        assert_non_null(strstr(page, path));
        assert_non_null(strstr(page, "<h2 id=\"meaning\">Meaning</h2>"));
    }
}

TEST_WITH(first_page_exists_before_the_first_read, set_up, tear_down)
{
    struct site s = *(const struct site *)*state;

    s.evaluation = NULL;
    s.health.evaluation = NULL;
    CLEANUP(free_cleanup) char *first = get(&s, "/", 200);
    CLEANUP(free_cleanup) char *policies = get(&s, "/policies", 503);

    assert_non_null(strstr(first, "<p>Everything is being read for the first time.</p>"));
    assert_null(strstr(first, "No open problems"));
    assert_non_null(strstr(policies, "the first evaluation is not complete"));
}

TEST_WITH(exporter_page_has_the_state_of_the_process, set_up, tear_down)
{
    static const char *const facts[] = {
        "<dt>Version</dt>\n<dd>" EXPORTER_VERSION " (revision ",
        "<dt>Started</dt>\n<dd><time datetime=\"2026-01-01T23:59:00Z\">2026-01-01T23:59:00Z</time> "
        "(1 min ago)</dd>",
        "<dt>Configuration</dt>\n<dd>the last load succeeded</dd>",
        "<dt>Evaluation</dt>\n<dd>complete;",
        "<dt>History</dt>\n<dd>17 of 1000 entries</dd>",
        "<dt>History since</dt>\n<dd><time datetime=\"2026-01-02T00:00:00Z\">",
        "<dt>Manifests</dt>\n<dd>1 file, 0 with problems</dd>",
        "<a href=\"metrics\">Metrics</a>",
    };
    CLEANUP(strbuf_release) struct strbuf page = STRBUF_INIT(LIST_MAX_BYTES);
    const struct site *s = *state;

    exporter_page_write(&s->health, &page);
    for (size_t i = 0; i < ARRAY_LEN(facts); i++) {
        if (!strstr(page.data, facts[i]))
            fail_msg("the page lacks %s: %s", facts[i], page.data);
    }
}

#define SHARED    "/conflict?kind=ConfigMap&namespace=shop&name=shared"
#define NOT_THERE "no template requires this object as a dependency"
#define KEPT      "kind=Deployment&group=apps&namespace=shop&name=kept"

static struct answer_case {
    const char *name;
    const char *path;
    unsigned status;
    const char *text;
} answer_cases[] = {
    {"dependency without group", SHARED, 200, "<h1>Dependency ConfigMap shop/shared</h1>"},
    {"dependency of the core group", SHARED "&group=", 200,
     "<h1>Dependency ConfigMap shop/shared</h1>"},
    {"dependency of another group", SHARED "&group=apps", 404, NOT_THERE},
    {"group that only begins alike", SHARED "&group=v", 404, NOT_THERE},
    {"unknown namespace", "/namespace?namespace=none", 404,
     "no template, policy, binding or quota has this namespace"},
    {"numbers of a namespace", "/namespace?namespace=way", 200,
     "Templates by state <span class=\"faint\">5</span>"},
    {"number of one policy", "/namespace?namespace=way", 200,
     "Policies <span class=\"faint\">1</span>"},
    {"member cluster", "/cluster?name=member1", 200, "<dt>Placed templates</dt>\n<dd>3</dd>"},
    {"unknown member cluster", "/cluster?name=none", 404, "no Cluster has this name"},
    {"template in a list, with an empty field of the form", "/templates?kind=&search=held", 200,
     "><a href=\"policy?kind=PropagationPolicy&amp;namespace=way&amp;name=ways\">"
     "pp/ways</a>, version 1, behind 1</td>"},
    {"limit of a page", "/templates?limit=2", 400, "no parameter &#39;limit&#39;"},
    {"first row of a page", "/templates", 200,
     "<tbody>\n<tr class=\"critical\">\n<td data-label=\"Problem\" class=\"problem\">"},
    {"default order of a page", "/policies", 200, "aria-sort=\"ascending\""},
    {"JSON of a page in its order", "/templates?state=stale", 200,
     "<a href=\"api/v1/templates?state=stale&amp;sort=severity&amp;format=json\">JSON</a>"},
    {"JSON of a page in another order", "/clusters?sort=-cluster", 200,
     "<a href=\"api/v1/clusters?sort=-cluster&amp;format=json\">JSON</a>"},
    {"chosen count", "/templates?state=stale", 200,
     "<a href=\"templates?\" aria-current=\"true\"><b>"},
    {"reverse order", "/api/v1/templates?sort=-name&limit=1", 200, "\"name\":\"ways\""},
    {"unknown column", "/api/v1/templates?sort=stat", 400,
     "there is no column 'stat'; do you mean "
     "'state'?"},
    {"condition on a number", "/api/v1/policies?where=selected%3E1,stale%3D0&search=none", 200,
     "\"items\":[]"},
    {"condition on an age", "/api/v1/templates?where=since%3C1s,state!%3Dstale", 200,
     "\"items\":["},
    {"invalid condition", "/api/v1/policies?where=selected", 400, "'where' takes conditions"},
    {"condition on an unknown column", "/api/v1/policies?where=selektd%3E1", 400,
     "there is no column 'selektd'; do you mean 'selected'?"},
    {"condition with an invalid number", "/api/v1/policies?where=stale%3Ex", 400,
     "'stale' takes a number, such as 12, 1.5 or 4Gi"},
    {"condition with an invalid age", "/api/v1/templates?where=since%3Ex", 400,
     "'since' takes an age, such as 30m, 2h or 7d"},
    {"condition with the order of texts", "/api/v1/policies?where=name%3Ex", 400,
     "the column 'name' has no numbers: use '=' or '!='"},
    {"condition with an unknown word", "/api/v1/templates?where=state%3Dstael", 400,
     "do you mean 'stale'?"},
    {"templates with a problem", "/api/v1/templates?severity=critical", 200,
     "\"severity\":\"critical\",\"problem\":\"last_copy_at_risk\""},
    {"unknown parameter of a page", "/templates?name=x", 400, "no parameter &#39;name&#39;"},
    {"page of an empty list", "/templates?search=none", 200, "<p>No row matches the filters.</p>"},
    {"unknown parameter", "/api/v1/templates?stat=x", 400,
     "{\"error\":\"there is no parameter 'stat'; do you mean 'state'?\"}\n"},
    {"parameter of another endpoint", "/api/v1/leases?width=1", 400, "no parameter 'width'\"}\n"},
    {"unknown state", "/api/v1/templates?state=stael", 400, "do you mean 'stale'?\"}\n"},
    {"unknown reason", "/api/v1/templates?reason=none", 400, "there is no reason 'none'\"}\n"},
    {"invalid version", "/api/v1/templates?version=x", 400, "'version' takes the number"},
    {"unknown list format", "/api/v1/templates?format=xml", 400, "'format' takes json, ndjson"},
    {"invalid limit", "/api/v1/policies?limit=x", 400, "'limit' takes the number"},
    {"dropped list", "/api/v1/policies?continue=0-0-0-0", 410, "has expired"},
    {"invalid token", "/api/v1/policies?continue=x", 400, "'continue' is not a value"},
    {"policies of another kind", "/api/v1/policies?kind=Deployment", 200, "\"items\":[]"},
    {"policies of another namespace", "/api/v1/policies?search=first&namespace=way", 200,
     "\"items\":[]"},
    {"policies by a part of the name", "/api/v1/policies?search=WAY", 200, "\"name\":\"ways\""},
    {"problems, worst first", "/api/v1/problems?limit=1", 200,
     "\"kind\":\"ProblemList\",\"asOf\":"},
    {"problem of one kind", "/api/v1/problems?problem=data_incomplete", 200,
     "\"items\":[\n{\"problem\":\"data_incomplete\",\"severity\":\"warning\",\"reason\":"
     "\"late\",\"status\":\"open\","},
    {"problems of other statuses", "/api/v1/problems?problem=data_incomplete&status=hidden,pending",
     200, "\"items\":[]"},
    {"problems in a list of statuses",
     "/api/v1/"
     "problems?problem=data_incomplete&status=hidden,open&severity=warning&reason=forbidden",
     200, "\"name\":\"secrets\""},
    {"problems that no problem hides", "/api/v1/problems?cause=scheduler_stuck/karmada-scheduler",
     200, "\"items\":[]"},
    {"unknown problem", "/api/v1/problems?problem=scheduler_stuk", 400,
     "{\"error\":\"there is no problem 'scheduler_stuk'; do you mean 'scheduler_stuck'?\"}\n"},
    {"unknown severity", "/api/v1/problems?severity=warnin", 400, "do you mean 'warning'?\"}\n"},
    {"unknown status", "/api/v1/problems?status=open,hiden", 400,
     "there is no status 'hiden'; do you mean 'hidden'?\"}\n"},
    {"empty status", "/api/v1/problems?status=open,", 400, "there is no status ''"},
    {"unknown reason of a problem", "/api/v1/problems?reason=no_mach", 400,
     "do you mean 'no_match'?\"}\n"},
    {"reason of another problem", "/api/v1/problems?problem=scheduler_stuck&reason=no_match", 400,
     "{\"error\":\"scheduler_stuck has no reason 'no_match'\"}\n"},
    {"reason of a problem without one", "/api/v1/problems?problem=orphaned&reason=stuck", 400,
     "{\"error\":\"orphaned has no reason 'stuck'\"}\n"},
    {"similar reason of a problem", "/api/v1/problems?problem=scheduler_stuck&reason=no_progres",
     400, "scheduler_stuck has no reason 'no_progres'; do you mean 'no_progress'?\"}\n"},
    {"unknown cause", "/api/v1/problems?cause=scheduler_stuk/x", 400,
     "do you mean 'scheduler_stuck'?\"}\n"},
    {"parameter of other lists", "/api/v1/problems?stage=healthy", 400, "no parameter 'stage'"},
    {"problems by a part of the name", "/api/v1/problems?search=PODS", 200, "\"name\":\"pods\""},
    {"problems by a part of no name", "/api/v1/problems?search=none", 200, "\"items\":[]"},
    {"problems sorted by age", "/api/v1/problems?sort=-since&problem=data_incomplete", 200,
     "\"items\":[\n{\"problem\":\"data_incomplete\""},
    {"problems in an unknown order", "/api/v1/problems?sort=-sinse", 400,
     "{\"error\":\"problems cannot be sorted by 'sinse'; do you mean 'since'?\"}\n"},
    {"refresh of a list of the API", "/api/v1/problems?refresh=30s", 400, "no parameter 'refresh'"},
    {"invalid refresh", "/?refresh=1s", 400, "takes an interval from 5s to 1h"},
    {"runbook", "/runbook?problem=lease_at_risk", 200,
     "<tr><td><code>expired</code></td><td>The lease has expired, so that any namespace can take "
     "it.</td><td>platform team</td></tr>"},
    {"runbook of no problem", "/runbook?problem=lease", 404, "there is no problem of this name"},
    {"runbook without a problem", "/runbook", 400, "the parameter &#39;problem&#39; is missing"},
    {"explanation as JSON", "/api/v1/explain?" KEPT, 200, "\n \"kind\":\"Explanation\",\n"},
    {"explanation as text", "/api/v1/explain?format=text&" KEPT, 200,
     "\n\nProblems\n  warning: not scheduled (waiting), open since "},
    {"explanation in another format", "/api/v1/explain?format=csv&" KEPT, 400, "'format' takes"},
    {"explanation of an invalid width", "/api/v1/explain?width=x&" KEPT, 400, "'width' takes"},
    {"explanation with history", "/api/v1/explain?history=true&" KEPT, 200, "\"history\""},
    {"explanation with invalid history", "/api/v1/explain?history=x&" KEPT, 400, "'history' takes"},
    {"report as JSON", "/api/v1/report", 200, "\"summary\":{"},
    {"report as text", "/api/v1/report?format=text", 200,
     "\ncritical  last_copy_at_risk/cluster_not_ready "},
    {"address of the API", "/api/v1/openapi.json", 200, "\"url\":\"https://exporter.example\""},
};

TEST_ROWS(answer_has_status_and_text, answer_cases, name)
{
    const struct answer_case *c = *state;
    void *own;

    assert_int_equal(set_up(&own), 0);
    CLEANUP(free_cleanup) char *body = get(own, c->path, c->status);

    if (*body == '<')
        check_html(c->path, body);
    if (!strstr(body, c->text))
        fail_msg("%s lacks %s: %s", c->path, c->text, body);
    assert_int_equal(tear_down(&own), 0);
}

/* ---- lists ---- */

/* Returns a list or a page of it as JSON; `query` is "" or begins with '?'. */
static cJSON *get_json(const struct site *s, const char *path, const char *query)
{
    char target[PATH_MAX_BYTES];
    struct error err = {""};

    snprintf(target, sizeof(target), "%s%s", path, query);
    CLEANUP(free_cleanup) char *body = get(s, target, 200);
    cJSON *json = json_parse(body, strlen(body), NULL, &err);

    if (!json)
        fail_msg("%s: %s: %s", target, err.text, body);
    return json;
}

/* Returns the lines of a list in another format, without those within the quotes of CSV. */
static size_t count_lines(const struct site *s, const char *path, const char *format)
{
    char target[PATH_MAX_BYTES];
    bool quoted = false;
    size_t count = 0;

    snprintf(target, sizeof(target), "%s?format=%s", path, format);
    CLEANUP(free_cleanup) char *body = get(s, target, 200);

    for (const char *at = body; *at; at++) {
        quoted ^= *at == '"';
        count += *at == '\n' && !quoted;
    }
    return count;
}

/* Fails unless pages with two elements have, one after the other, the items of the whole list. */
static void check_paging(const struct site *s, const char *path, const cJSON *items)
{
    char query[PATH_MAX_BYTES] = "?limit=2";
    const cJSON *next = items->child;

    for (bool last = false; !last;) {
        CLEANUP(json_cleanup) cJSON *page = get_json(s, path, query);
        const char *token = json_str(json_get(page, "metadata"), "continue", NULL);
        const cJSON *item;

        assert_in_range(cJSON_GetArraySize(json_array(page, "items")), token ? 2 : 0, 2);
        cJSON_ArrayForEach (item, json_array(page, "items")) {
            assert_true(next && cJSON_Compare(item, next, true));
            next = next->next;
        }
        last = !token;
        if (token)
            snprintf(query, sizeof(query), "?limit=2&continue=%s", token);
    }
    assert_null(next);
}

TEST_WITH(lists_have_the_same_elements_in_all_formats_and_pages, set_up, tear_down)
{
    const struct site *s = *state;

    for (size_t i = 0; i < ENDPOINT_COUNT; i++) {
        const char *path = endpoints[i].path;

        if (endpoints[i].page || endpoints[i].needs < NEEDS_LINES)
            continue;
        CLEANUP(json_cleanup) cJSON *list = get_json(s, path, "");
        const cJSON *items = json_array(list, "items");
        size_t count = (size_t)cJSON_GetArraySize(items);

        assert_non_null(items);
        assert_true(count > 1 || i == ENDPOINT_CONFLICTS || i == ENDPOINT_LEASES);
        assert_int_equal(count_lines(s, path, "ndjson"), count);
        assert_int_equal(count_lines(s, path, "csv"), count + 1);
        check_paging(s, path, items);
    }
}

static struct sort_case {
    const char *name;
    const char *query;
    const char *member; /* NULL: `since` of the problem, else a member of its subject. */
    bool reverse;
} sort_cases[] = {
    {"namespace", "?sort=namespace", "namespace", false},
    {"namespace in reverse", "?sort=-namespace", "namespace", true},
    {"since", "?sort=since", NULL, false},
    {"since in reverse", "?sort=-since", NULL, true},
};

TEST_ROWS(problems_are_sorted_by_a_parameter, sort_cases, name)
{
    const struct sort_case *c = *state;
    const char *last = NULL;
    const cJSON *item;
    size_t count = 0;
    void *own;

    assert_int_equal(set_up(&own), 0);
    CLEANUP(json_cleanup) cJSON *list = get_json(own, "/api/v1/problems", c->query);

    cJSON_ArrayForEach (item, json_array(list, "items")) {
        const char *value = c->member ? json_str(json_get(item, "subject"), c->member, "")
                                      : json_str(item, "since", c->reverse ? "" : "~");

        assert_true(!last || (c->reverse ? strcmp(last, value) >= 0 : strcmp(last, value) <= 0));
        last = value;
        count++;
    }
    assert_true(count > 10);
    assert_int_equal(tear_down(&own), 0);
}

/* The end of a token is a byte offset in the lines of the list, in hexadecimal. */
static struct position_case {
    const char *name;
    const char *position;
    unsigned status;
} position_cases[] = {
    {"start of the list", "0", 200},
    {"within a line", "1", 400},
    {"beyond the list", "ffffff", 400},
};

TEST_ROWS(token_must_have_the_start_of_a_line, position_cases, name)
{
    const struct position_case *c = *state;
    char path[PATH_MAX_BYTES];
    void *own;

    assert_int_equal(set_up(&own), 0);
    CLEANUP(json_cleanup) cJSON *page = get_json(own, "/api/v1/policies", "?limit=2");
    const char *token = json_str(json_get(page, "metadata"), "continue", "-");
    int kept = (int)(strrchr(token, '-') - token);

    snprintf(path, sizeof(path), "/api/v1/policies?limit=2&continue=%.*s-%s", kept, token,
             c->position);
    free(get(own, path, c->status));
    assert_int_equal(tear_down(&own), 0);
}

/* ---- openapi.json ---- */

TEST_WITH(openapi_describes_the_responses_of_each_endpoint, set_up, tear_down)
{
    CLEANUP(json_cleanup) cJSON *document = get_json(*state, "/api/v1/openapi.json", "");
    const cJSON *paths = json_get(document, "paths");

    for (size_t i = 0; i < ENDPOINT_COUNT; i++) {
        const struct endpoint *e = &endpoints[i];
        const cJSON *path = json_get(paths, e->path);
        const cJSON *call = json_get(path, e->needs == NEEDS_PLAN ? "post" : "get");
        const cJSON *responses = json_get(call, "responses");

        assert_int_equal(path != NULL, !e->page);
        if (!path)
            continue;
        const cJSON *content = json_get(json_get(responses, "200"), "content");

        assert_non_null(json_get(content, "application/json"));
        assert_int_equal(json_get(content, "text/plain") != NULL,
                         (e->known & PARAMETER_BIT(FORM)) != 0);
        assert_non_null(json_get(responses, "400"));
        assert_non_null(json_get(responses, "503"));
        assert_int_equal(json_get(content, "text/csv; charset=utf-8; header=present") != NULL,
                         (e->known & PARAMETER_BIT(FORMAT)) != 0);
        assert_int_equal(json_get(responses, "404") != NULL,
                         e->required != 0 || (e->known & PARAMETER_BIT(DELETE)) != 0);
        assert_int_equal(json_get(responses, "410") != NULL,
                         (e->known & PARAMETER_BIT(CONTINUE)) != 0);
        assert_int_equal(json_get(responses, "413") != NULL, e->needs == NEEDS_PLAN);
    }
}
