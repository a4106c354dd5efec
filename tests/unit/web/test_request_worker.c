/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/request_queue.h"

#include <poll.h>

#include "tests/unit/suite.h"

enum { TIMEOUT_MS = 20000, TASKS = 1000 };

static void increment(void *context)
{
    unsigned *count = context;

    ++*count;
}

/* `count` needs no lock: the test reads it only when the worker is done. */
TEST(worker_runs_each_task_once)
{
    struct error err;
    struct request_worker *c = request_worker_new(&err);
    struct pollfd wanted = {.events = POLLIN};
    unsigned count = 0;

    assert_non_null(c);
    wanted.fd = request_worker_fd(c);
    assert_false(request_worker_collect(c));
    for (unsigned i = 1; i <= TASKS; i++) {
        request_worker_begin(c, increment, &count);
        assert_int_equal(poll(&wanted, 1, TIMEOUT_MS), 1);
        assert_true(request_worker_collect(c));
        assert_false(request_worker_collect(c));
        assert_int_equal(count, i);
    }
    request_worker_free(c);
}

TEST(free_waits_for_the_running_task)
{
    for (unsigned i = 0; i < TASKS / 10; i++) {
        struct error err;
        struct request_worker *c = request_worker_new(&err);
        unsigned count = 0;

        assert_non_null(c);
        request_worker_begin(c, increment, &count);
        request_worker_free(c);
        assert_int_equal(count, 1);
    }
}
