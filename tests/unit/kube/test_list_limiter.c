/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/reflector_request.h"

#include "tests/unit/suite.h"

enum { TICKETS = 200 };

struct queue {
    struct list_limiter limiter;
    struct list_ticket tickets[TICKETS];
};

static struct queue *queue_new(int64_t now_ms)
{
    struct queue *q = xcalloc(1, sizeof(*q));

    list_limiter_init(&q->limiter, now_ms);
    return q;
}

/* Tries to start the lists `first` to `last` that are not open. Returns how many start. */
static unsigned start_lists(struct queue *q, unsigned first, unsigned last, enum list_class class,
                            int64_t now_ms)
{
    unsigned started = 0;

    for (unsigned i = first; i <= last; i++) {
        if (q->tickets[i].state != TICKET_OPEN)
            started += list_limiter_enter(&q->limiter, &q->tickets[i], class, now_ms);
    }
    return started;
}

TEST(at_most_four_lists_are_new_at_once)
{
    struct queue *q = queue_new(1000);

    assert_int_equal(start_lists(q, 0, 5, LIST_FIRST, 1000), 4);
    assert_int_equal(list_limiter_due(&q->limiter, &q->tickets[4]), 1500);
    assert_int_equal(list_limiter_due(&q->limiter, &q->tickets[5]), INT64_MAX);
    assert_int_equal(start_lists(q, 4, 5, LIST_FIRST, 1499), 0);
    list_limiter_leave(&q->limiter, &q->tickets[0]);
    assert_int_equal(start_lists(q, 4, 5, LIST_FIRST, 1499), 1);
    /* Half a second after its start, an open list no longer counts as new. */
    assert_int_equal(start_lists(q, 5, 7, LIST_FIRST, 1500), 3);
    free(q);
}

TEST(burst_of_forty_lists_then_twenty_a_second)
{
    struct queue *q = queue_new(0);
    struct list_ticket *t = &q->tickets[0];
    unsigned entered = 0;

    while (list_limiter_enter(&q->limiter, t, LIST_FIRST, 0)) {
        list_limiter_leave(&q->limiter, t);
        entered++;
    }
    assert_int_equal(entered, 40);
    assert_int_equal(list_limiter_due(&q->limiter, t), 50);
    assert_false(list_limiter_enter(&q->limiter, t, LIST_FIRST, 49));
    assert_int_equal(list_limiter_due(&q->limiter, t), 50);
    for (int64_t now_ms = 50; now_ms < 10050; now_ms++) {
        if (list_limiter_enter(&q->limiter, t, LIST_FIRST, now_ms)) {
            list_limiter_leave(&q->limiter, t);
            entered++;
        }
    }
    assert_int_equal(entered, 40 + 200);
    free(q);
}

TEST(pause_allows_another_burst_of_forty_lists)
{
    struct queue *q = queue_new(0);
    unsigned entered = 0;

    while (list_limiter_enter(&q->limiter, &q->tickets[0], LIST_FIRST, 3600 * 1000)) {
        list_limiter_leave(&q->limiter, &q->tickets[0]);
        entered++;
    }
    assert_int_equal(entered, 40);
    free(q);
}

TEST(lists_of_a_class_start_in_the_order_of_arrival)
{
    struct queue *q = queue_new(0);

    assert_int_equal(start_lists(q, 0, 3, LIST_FIRST, 0), 4);
    assert_int_equal(start_lists(q, 9, 9, LIST_FIRST, 10), 0);
    assert_int_equal(start_lists(q, 4, 8, LIST_FIRST, 11), 0);
    list_limiter_leave(&q->limiter, &q->tickets[0]);
    assert_int_equal(start_lists(q, 4, 8, LIST_FIRST, 20), 0);
    assert_int_equal(start_lists(q, 9, 9, LIST_FIRST, 20), 1);
    /* A ticket that leaves the queue does not delay the tickets behind it. */
    list_limiter_leave(&q->limiter, &q->tickets[4]);
    list_limiter_leave(&q->limiter, &q->tickets[1]);
    assert_int_equal(start_lists(q, 5, 8, LIST_FIRST, 20), 1);
    assert_int_equal(q->tickets[5].state, TICKET_OPEN);
    free(q);
}

TEST(required_lists_and_relists_have_reserved_places)
{
    struct queue *q = queue_new(0);

    assert_int_equal(start_lists(q, 0, 9, LIST_FIRST, 0), 4);
    assert_int_equal(start_lists(q, 10, 10, LIST_REQUIRED, 100), 1);
    assert_int_equal(start_lists(q, 11, 11, LIST_RELIST, 100), 1);
    assert_int_equal(start_lists(q, 12, 13, LIST_RELIST, 100), 0);
    /* Relists start before first lists, unless these have waited 3 s longer. */
    assert_int_equal(start_lists(q, 4, 9, LIST_FIRST, 500), 0);
    assert_int_equal(start_lists(q, 12, 13, LIST_RELIST, 500), 2);
    assert_int_equal(start_lists(q, 4, 9, LIST_FIRST, 500), 0);
    assert_int_equal(start_lists(q, 14, 15, LIST_RELIST, 3100), 0);
    assert_int_equal(start_lists(q, 4, 9, LIST_FIRST, 3100), 4);
    free(q);
}

TEST(stalled_lists_start_last_and_leave_one_place_free)
{
    struct queue *q = queue_new(0);

    assert_int_equal(start_lists(q, 0, 9, LIST_STALLED, 0), 3);
    assert_int_equal(start_lists(q, 10, 10, LIST_FIRST, 0), 1);
    assert_int_equal(start_lists(q, 11, 14, LIST_FIRST, 400), 0);
    assert_int_equal(start_lists(q, 3, 9, LIST_STALLED, 600), 0);
    assert_int_equal(start_lists(q, 11, 14, LIST_FIRST, 600), 4);
    assert_int_equal(start_lists(q, 3, 9, LIST_STALLED, 1200), 3);
    free(q);
}

/* A stalled list has a handicap of 10 s, a first list one of 3 s. */
TEST(stalled_list_starts_after_its_handicap)
{
    struct queue *q = queue_new(0);

    assert_int_equal(start_lists(q, 0, 5, LIST_REQUIRED, 0), 6);
    assert_int_equal(start_lists(q, 6, 6, LIST_STALLED, 0), 0);
    assert_int_equal(start_lists(q, 10, 15, LIST_REQUIRED, 7100), 6);
    assert_int_equal(start_lists(q, 7, 7, LIST_FIRST, 7100), 0);
    assert_int_equal(start_lists(q, 7, 7, LIST_FIRST, 7900), 0);
    assert_int_equal(start_lists(q, 6, 6, LIST_STALLED, 7900), 1);
    assert_int_equal(start_lists(q, 7, 7, LIST_FIRST, 7900), 1);
    free(q);
}

/* The last of 30 lists starts within 5 s although no list ends. */
TEST(hanging_lists_do_not_delay_others_for_long)
{
    struct queue *q = queue_new(0);
    int64_t now_ms = 0;
    const struct list_ticket *last = &q->tickets[29];

    for (; last->state != TICKET_OPEN; now_ms += 10) {
        assert_true(now_ms < 5000);
        start_lists(q, 0, 29, LIST_FIRST, now_ms);
    }
    /* A relist and a required list start although these 30 lists are still open. */
    assert_int_equal(start_lists(q, 30, 30, LIST_RELIST, now_ms + 60000), 1);
    assert_int_equal(start_lists(q, 31, 31, LIST_REQUIRED, now_ms + 60000), 1);
    free(q);
}

TEST(full_class_shortens_the_stall_timeout)
{
    struct queue *q = queue_new(0);
    int64_t now_ms = 0;

    while (q->limiter.open[LIST_FIRST].count < 32)
        start_lists(q, 0, 31, LIST_FIRST, now_ms += 100);
    assert_int_equal(list_limiter_stall_timeout(&q->limiter, &q->tickets[0], 0), INT64_MAX);
    assert_int_equal(start_lists(q, 32, 32, LIST_FIRST, now_ms += 60000), 0);
    assert_int_equal(list_limiter_due(&q->limiter, &q->tickets[32]), INT64_MAX);
    assert_int_equal(list_limiter_stall_timeout(&q->limiter, &q->tickets[0], 0), 10000);
    /* Earlier stalls of the same kind raise the timeout, in case the server is only slow. */
    assert_int_equal(list_limiter_stall_timeout(&q->limiter, &q->tickets[0], 1), 20000);
    assert_int_equal(list_limiter_stall_timeout(&q->limiter, &q->tickets[0], 9), 40000);
    list_limiter_leave(&q->limiter, &q->tickets[0]);
    assert_int_equal(list_limiter_stall_timeout(&q->limiter, &q->tickets[1], 0), INT64_MAX);
    assert_int_equal(start_lists(q, 32, 32, LIST_FIRST, now_ms), 1);
    free(q);
}

TEST(audit_list_waits_for_all_other_lists)
{
    struct queue *q = queue_new(0);

    assert_int_equal(start_lists(q, 0, 0, LIST_FIRST, 0), 1);
    assert_int_equal(start_lists(q, 1, 1, LIST_AUDIT, 0), 0);
    assert_int_equal(list_limiter_due(&q->limiter, &q->tickets[1]), 500);
    assert_int_equal(start_lists(q, 2, 7, LIST_FIRST, 400), 3);
    assert_int_equal(list_limiter_due(&q->limiter, &q->tickets[1]), INT64_MAX);
    assert_int_equal(start_lists(q, 1, 1, LIST_AUDIT, 100 * 1000), 0);
    for (unsigned i = 2; i < 8; i++)
        list_limiter_leave(&q->limiter, &q->tickets[i]);
    assert_int_equal(start_lists(q, 1, 1, LIST_AUDIT, 100 * 1000), 1);
    assert_int_equal(start_lists(q, 8, 8, LIST_AUDIT, 200 * 1000), 0);
    free(q);
}
