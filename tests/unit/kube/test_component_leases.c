/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/component_leases.h"

#include "tests/unit/suite.h"

enum { BODY_MAX = 1024, PATH_MAX_LEN = 256, RESULTS_MAX = 64, OPEN_MAX = 8, LOG_MAX = 16 * 1024 };
#define NOON_MS INT64_C(1769860800000)

/* Open request of the lab. */
struct transfer {
    struct transfer *next;
    char path[PATH_MAX_LEN];
    enum transport_method method;
    struct transport_handler handler;
};

/* Copy of a result that the observer got. */
struct result {
    struct component_lease lease;
    char holder[64];
    char error[128];
};

struct lab {
    struct component_leases leases;
    struct transfer *open;
    unsigned requests;
    struct result results[RESULTS_MAX];
    size_t result_count;
    struct log log;
    char *log_text;
    size_t log_len;
    int64_t now_ms;
};

static struct transfer *start(void *context, const struct transport_request *request)
{
    struct lab *lab = context;
    struct transfer *t = xcalloc(1, sizeof(*t));

    snprintf(t->path, sizeof(t->path), "%s", request->path);
    t->method = request->method;
    t->handler = request->handler;
    t->next = lab->open;
    lab->open = t;
    lab->requests++;
    return t;
}

static void remove_transfer(struct lab *lab, struct transfer *transfer)
{
    struct transfer **at = &lab->open;

    while (*at != transfer)
        at = &(*at)->next;
    *at = transfer->next;
    free(transfer);
}

static void cancel(void *context, struct transfer *transfer)
{
    remove_transfer(context, transfer);
}

static void receive(void *context, const struct component_lease *lease)
{
    struct lab *lab = context;
    struct result *r = &lab->results[lab->result_count++];

    assert_true(lab->result_count <= RESULTS_MAX);
    r->lease = *lease;
    snprintf(r->holder, sizeof(r->holder), "%s", lease->holder);
    snprintf(r->error, sizeof(r->error), "%s", lease->error);
}

static void lab_init(struct lab *lab)
{
    *lab = (struct lab){.now_ms = 1000};
    lab->log = (struct log){.level = LOG_LEVEL_INFO,
                            .format = LOG_FORMAT_LOGFMT,
                            .stream = open_memstream(&lab->log_text, &lab->log_len)};
    component_leases_init(&lab->leases,
                          &(struct component_leases_settings){
                              .ns = "karmada-system",
                              .transport = {.start = start, .cancel = cancel, .context = lab},
                              .log = &lab->log,
                              .observer = {receive, lab},
                          });
}

static void lab_release(struct lab *lab)
{
    component_leases_release(&lab->leases);
    assert_null(lab->open);
    fclose(lab->log.stream);
    free(lab->log_text);
}

static struct transfer *find_request(struct lab *lab, enum control_component component)
{
    struct transfer *t = lab->open;

    while (t && !strstr(t->path, component_names[component]))
        t = t->next;
    return t;
}

/* Ends the open request about a component with a response; status 0: without one. */
static void answer(struct lab *lab, enum control_component component, unsigned status,
                   const char *body)
{
    struct transfer *t = find_request(lab, component);
    struct transport_handler handler;

    assert_non_null(t);
    handler = t->handler;
    remove_transfer(lab, t);
    if (status != 0)
        assert_true(handler.data(handler.context, status, body, strlen(body)));
    handler.done(handler.context,
                 &(struct transport_result){.complete = status != 0,
                                            .http_status = status,
                                            .error = status != 0 ? "" : "connection refused"});
}

static void pass(struct lab *lab, int64_t ms)
{
    lab->now_ms += ms;
    component_leases_turn(&lab->leases, lab->now_ms);
}

/* Answers for the controller manager after a turn, then makes the turn that reads the answer. */
static const struct result *read_manager(struct lab *lab, unsigned status, const char *body)
{
    pass(lab, lab->requests == 0 ? 0 : COMPONENT_LEASE_INTERVAL_MS);
    answer(lab, CONTROL_CONTROLLERS, status, body);
    pass(lab, 0);
    assert_true(lab->result_count > 0);
    return &lab->results[lab->result_count - 1];
}

/* Returns the number of log lines about the controller manager with this text. */
static unsigned count_in_log(struct lab *lab, const char *text)
{
    CLEANUP(free_cleanup) char *copy = NULL;
    unsigned count = 0;
    char *rest, *line;

    fflush(lab->log.stream);
    copy = xstrdup(lab->log_text);
    for (line = strtok_r(copy, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        count += strstr(line, "lease=karmada-controller-manager") && strstr(line, text);
    return count;
}

#define LEASE(spec)                                                                                \
    "{\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"Lease\",\"metadata\":{\"name\":"        \
    "\"karmada-controller-manager\",\"namespace\":\"karmada-system\"},\"spec\":" spec "}"
#define HELD                                                                                       \
    LEASE("{\"holderIdentity\":\"pod_1\",\"renewTime\":\"2026-01-31T12:00:01.250000Z\","           \
          "\"acquireTime\":\"2026-01-31T11:59:00.500000Z\"}")
#define STATUS(code, message) "{\"kind\":\"Status\",\"code\":" code ",\"message\":\"" message "\"}"

TEST(both_leases_are_read_every_30_seconds)
{
    struct lab lab;

    lab_init(&lab);
    assert_true(component_leases_due(&lab.leases) <= lab.now_ms);
    pass(&lab, 0);
    assert_int_equal(lab.requests, 2);
    assert_int_equal(lab.open->method, TRANSPORT_READ);
    assert_string_equal(find_request(&lab, CONTROL_SCHEDULER)->path,
                        "/apis/coordination.k8s.io/v1/namespaces/karmada-system/leases/"
                        "karmada-scheduler");
    answer(&lab, CONTROL_CONTROLLERS, 200, HELD);
    answer(&lab, CONTROL_SCHEDULER, 404, STATUS("404", "not found"));
    pass(&lab, 100);
    assert_int_equal(lab.result_count, 2);
    assert_int_equal(component_leases_due(&lab.leases), 1000 + 30 * 1000);
    pass(&lab, 29 * 1000);
    assert_int_equal(lab.requests, 2);
    pass(&lab, 900);
    assert_int_equal(lab.requests, 4);
    lab_release(&lab);
}

static struct response_case {
    const char *name;
    unsigned status;
    const char *body;
    struct component_lease expected; /* `holder` and `error` as texts; component 0. */
} responses[] = {
    {"a Lease that is held",
     200,
     HELD,
     {.readable = true,
      .exists = true,
      .holder = "pod_1",
      .renew_ms = NOON_MS + 1250,
      .acquire_ms = NOON_MS - 59500,
      .error = ""}},
    {"a Lease without a holder",
     200,
     LEASE("{\"holderIdentity\":\"\"}"),
     {.readable = true, .exists = true, .holder = "", .error = ""}},
    {"a Lease without a spec",
     200,
     LEASE("null"),
     {.readable = true, .exists = true, .holder = "", .error = ""}},
    {"members of other types",
     200,
     LEASE("{\"holderIdentity\":7,\"renewTime\":7,\"acquireTime\":7}"),
     {.readable = true, .exists = true, .holder = "", .error = ""}},
    {"a time that is none",
     200,
     LEASE("{\"holderIdentity\":\"p\",\"renewTime\":\"noon\",\"acquireTime\":\"noon\"}"),
     {.readable = true, .exists = true, .holder = "p", .error = ""}},
    {"no Lease",
     404,
     STATUS("404", "not found"),
     {.readable = true, .exists = false, .holder = "", .error = ""}},
    {"a 404 of a proxy", 404, "nothing here", {.holder = "", .error = NULL}},
    {"a Lease that may not be read",
     403,
     STATUS("403", "cannot get resource"),
     {.holder = "", .error = "cannot get resource"}},
    {"credentials that are not accepted",
     401,
     STATUS("401", "Unauthorized"),
     {.holder = "", .error = "Unauthorized"}},
    {"an error of the server",
     500,
     STATUS("500", "etcd is gone"),
     {.holder = "", .error = "etcd is gone"}},
    {"no response", 0, "", {.holder = "", .error = "connection refused"}},
    {"another object",
     200,
     "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"x\"}}",
     {.holder = "", .error = NULL}},
    {"a body that is cut", 200, "{\"apiVersion\":\"coordination", {.holder = "", .error = NULL}},
};

TEST_ROWS(each_response_has_a_result, responses, name)
{
    const struct response_case *c = *state;
    struct lab lab;
    const struct result *r;

    lab_init(&lab);
    r = read_manager(&lab, c->status, c->body);
    assert_int_equal(r->lease.component, CONTROL_CONTROLLERS);
    assert_int_equal(r->lease.readable, c->expected.readable);
    assert_int_equal(r->lease.exists, c->expected.exists);
    assert_int_equal(r->lease.renew_ms, c->expected.renew_ms);
    assert_int_equal(r->lease.acquire_ms, c->expected.acquire_ms);
    assert_string_equal(r->holder, c->expected.holder);
    if (c->expected.error)
        assert_string_equal(r->error, c->expected.error);
    else
        assert_true(*r->error != '\0');
    lab_release(&lab);
}

TEST(a_renewed_lease_has_its_new_holder_and_time)
{
    struct lab lab;
    const struct result *r;

    lab_init(&lab);
    read_manager(&lab, 200, HELD);
    r = read_manager(&lab, 200,
                     LEASE("{\"holderIdentity\":\"pod_2\",\"renewTime\":"
                           "\"2026-01-31T12:00:31.000000Z\"}"));
    assert_string_equal(r->holder, "pod_2");
    assert_int_equal(r->lease.renew_ms, NOON_MS + 31 * 1000);
    r = read_manager(&lab, 404, STATUS("404", "not found"));
    assert_string_equal(r->holder, "");
    assert_int_equal(r->lease.renew_ms, 0);
    assert_int_equal(r->lease.acquire_ms, 0);
    lab_release(&lab);
}

TEST(a_request_without_response_ends_and_is_repeated)
{
    struct lab lab;

    lab_init(&lab);
    pass(&lab, 0);
    while (lab.result_count < 2)
        pass(&lab, 1000);
    assert_true(lab.now_ms < 1000 + COMPONENT_LEASE_INTERVAL_MS);
    assert_false(lab.results[0].lease.readable || lab.results[1].lease.readable);
    assert_int_equal(lab.requests, 2);
    pass(&lab, COMPONENT_LEASE_INTERVAL_MS);
    assert_int_equal(lab.requests, 4);
    lab_release(&lab);
}

TEST(the_log_has_one_line_for_each_change)
{
    static const char absent[] = "no Lease shows whether", refused[] = "cannot read the Lease",
                      readable[] = "can be read";
    struct lab lab;

    lab_init(&lab);
    for (unsigned i = 0; i < 3; i++)
        read_manager(&lab, 403, STATUS("403", "cannot get resource"));
    assert_int_equal(count_in_log(&lab, refused), 1);
    for (unsigned i = 0; i < 3; i++)
        read_manager(&lab, 404, STATUS("404", "not found"));
    assert_int_equal(count_in_log(&lab, absent), 1);
    for (unsigned i = 0; i < 3; i++)
        read_manager(&lab, 200, HELD);
    assert_int_equal(count_in_log(&lab, readable), 1);
    assert_int_equal(count_in_log(&lab, ""), 3);
    lab_release(&lab);
}

TEST(a_single_failure_is_not_logged)
{
    static const char refused[] = "cannot read the Lease";
    struct lab lab;

    lab_init(&lab);
    read_manager(&lab, 200, HELD);
    read_manager(&lab, 500, STATUS("500", "etcd is gone"));
    read_manager(&lab, 200, HELD);
    assert_int_equal(count_in_log(&lab, ""), 0);
    for (unsigned i = 0; i < 3; i++)
        read_manager(&lab, 0, "");
    assert_int_equal(count_in_log(&lab, refused), 1);
    read_manager(&lab, 200, HELD);
    assert_int_equal(count_in_log(&lab, ""), 2);
    lab_release(&lab);
}

TEST(a_lease_that_can_be_read_at_once_is_not_logged)
{
    struct lab lab;

    lab_init(&lab);
    read_manager(&lab, 200, HELD);
    assert_int_equal(count_in_log(&lab, ""), 0);
    lab_release(&lab);
}

TEST(the_last_result_is_kept)
{
    struct lab lab;
    struct component_lease lease;

    lab_init(&lab);
    assert_false(component_leases_last(&lab.leases, CONTROL_CONTROLLERS, &lease));
    read_manager(&lab, 200, HELD);
    assert_true(component_leases_last(&lab.leases, CONTROL_CONTROLLERS, &lease));
    assert_string_equal(lease.holder, "pod_1");
    assert_false(component_leases_last(&lab.leases, CONTROL_SCHEDULER, &lease));
    lab_release(&lab);
}
