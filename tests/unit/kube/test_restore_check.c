/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/restore_detection.h"

#include "tests/unit/manual.h"
#include "tests/unit/suite.h"

static struct refusal {
    const char *title;
    unsigned http_status; /* 0: no response. */
    bool again; /* The check repeats the read after a wait; false: the check goes on without it. */
} refusals[] = {
    {"no response", 0, true}, {"429", 429, true},  {"500", 500, true},
    {"400", 400, true},       {"403", 403, false},
};

TEST_ROWS(failed_read_is_repeated_unless_forbidden, refusals, title)
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
