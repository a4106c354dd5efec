/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/request_queue.h"

#include <poll.h>

#include "tests/unit/suite.h"

enum { PATIENCE_MS = 20000, PIECES = 1000 };

static void add_one(void *context)
{
    unsigned *count = context;

    ++*count;
}

/* What is lent needs no lock: it is given and comes back. */
TEST(each_piece_of_work_is_done_once)
{
    struct error err;
    struct request_worker *c = request_worker_new(&err);
    struct pollfd wanted = {.events = POLLIN};
    unsigned count = 0;

    assert_non_null(c);
    wanted.fd = request_worker_fd(c);
    assert_false(request_worker_collect(c));
    for (unsigned i = 1; i <= PIECES; i++) {
        request_worker_begin(c, add_one, &count);
        assert_int_equal(poll(&wanted, 1, PATIENCE_MS), 1);
        assert_true(request_worker_collect(c));
        assert_false(request_worker_collect(c));
        assert_int_equal(count, i);
    }
    request_worker_free(c);
}

TEST(its_end_waits_for_the_work)
{
    for (unsigned i = 0; i < PIECES / 10; i++) {
        struct error err;
        struct request_worker *c = request_worker_new(&err);
        unsigned count = 0;

        assert_non_null(c);
        request_worker_begin(c, add_one, &count);
        request_worker_free(c);
        assert_int_equal(count, 1);
    }
}
