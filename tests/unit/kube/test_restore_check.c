/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/restore_detection.h"

#include "tests/unit/manual.h"
#include "tests/unit/suite.h"

static struct refusal {
    const char *title;
    unsigned http_status; /* 0: no answer. */
    bool again;           /* Ask the same again after a while, else go on without it. */
} refusals[] = {
    {"no answer may pass", 0, true},
    {"neither may too many requests", 429, true},
    {"nor an error of the server", 500, true},
    {"nor that it does not understand the plainest request", 400, true},
    {"one that is forbidden does not", 403, false},
};

TEST_ROWS(a_refusal, refusals, title)
{
    const struct refusal *r = *state;
    struct transfer transfer = {.path = ""};
    struct transport transport = manual_transport(&transfer);
    struct last_change last_change = {.ns = "a", .name = "x", .version = "5"};
    struct restore_check c = {0};

    restore_check_begin(&c,
                        &(struct restore_check_spec){.api_version = "v1",
                                                     .kind = "ConfigMap",
                                                     .resource = "configmaps",
                                                     .last_change = &last_change,
                                                     .position = "9"},
                        1000);
    assert_int_equal(restore_check_turn(&c, transport, 1000), RESTORE_CHECK_OPEN);
    assert_string_equal(transfer.path, "/api/v1/namespaces/a/configmaps/x");
    transfer.path[0] = '\0';
    transfer.handler.done(transfer.handler.context,
                          &(struct transport_result){.complete = r->http_status != 0,
                                                     .http_status = r->http_status,
                                                     .error = "no"});
    assert_int_equal(restore_check_turn(&c, transport, 2000), RESTORE_CHECK_OPEN);
    assert_int_equal(restore_check_due(&c) > 2000 && restore_check_due(&c) < 5000, r->again);
    assert_int_equal(restore_check_turn(&c, transport, 5000), RESTORE_CHECK_OPEN);
    assert_string_equal(transfer.path, r->again ? "/api/v1/namespaces/a/configmaps/x"
                                                : "/api/v1/configmaps?limit=1");
    restore_check_release(&c);
}
