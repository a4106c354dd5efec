/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/reflector/recheck.h"

#include "tests/unit/suite.h"

/* A server that is asked one thing at a time, and answers when the test says so. */
struct transfer {
    struct transport_handler handler;
    char path[256];
};

static struct transfer *start(void *context, const struct transport_request *request)
{
    struct transfer *transfer = context;

    transfer->handler = request->handler;
    snprintf(transfer->path, sizeof(transfer->path), "%s", request->path);
    return transfer;
}

static void cancel(void *context, struct transfer *transfer)
{
    (void)context;
    (void)transfer;
}

static struct refusal {
    const char *title;
    unsigned http_status; /* 0: no answer. */
    bool again;           /* Ask the same again after a while, else go on without it. */
} refusals[] = {
    {"no answer may pass", 0, true},
    {"neither may too many requests", 429, true},
    {"nor an error of the server", 500, true},
    {"a request that is not understood does not", 400, false},
    {"nor one that is forbidden", 403, false},
};

TEST_ROWS(a_refusal, refusals, title)
{
    const struct refusal *r = *state;
    struct transfer transfer = {.path = ""};
    struct transport transport = {.start = start, .cancel = cancel, .context = &transfer};
    struct newest newest = {.ns = "a", .name = "x", .version = "5"};
    struct recheck c = {0};

    recheck_begin(&c,
                  &(struct recheck_spec){.api_version = "v1",
                                         .kind = "ConfigMap",
                                         .resource = "configmaps",
                                         .newest = &newest,
                                         .position = "9"},
                  1000);
    assert_int_equal(recheck_turn(&c, transport, 1000), RECHECK_OPEN);
    assert_string_equal(transfer.path, "/api/v1/namespaces/a/configmaps/x");
    transfer.path[0] = '\0';
    transfer.handler.done(transfer.handler.context,
                          &(struct transport_result){.complete = r->http_status != 0,
                                                     .http_status = r->http_status,
                                                     .error = "no"});
    assert_int_equal(recheck_turn(&c, transport, 2000), RECHECK_OPEN);
    assert_int_equal(recheck_due(&c) > 2000 && recheck_due(&c) < 5000, r->again);
    assert_int_equal(recheck_turn(&c, transport, 5000), RECHECK_OPEN);
    assert_string_equal(transfer.path, r->again ? "/api/v1/namespaces/a/configmaps/x"
                                                : "/api/v1/configmaps?limit=1");
    recheck_release(&c);
}
