/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/problems/work_queue.h"

#include "tests/unit/suite.h"

enum { SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE };

static const int64_t START_MS = INT64_C(1) << 48;

/* A queue and its clock. */
struct bench {
    struct work_queue queue;
    struct due_clock due;
};

static void bench_init(struct bench *b)
{
    *b = (struct bench){.due = {START_MS, INT64_MAX}};
    work_queue_init(&b->queue, START_MS);
}

/* Lets time pass and updates the backlog. */
static void pass(struct bench *b, int64_t ms)
{
    b->due = (struct due_clock){b->due.now_ms + ms, INT64_MAX};
    work_queue_update(&b->queue, &b->due);
}

/* Adds `count` pieces of work that became due so many milliseconds after the start. */
static void add(struct bench *b, int64_t after_ms, enum work_fate fate, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        work_queue_add(&b->queue, START_MS + after_ms, fate, b->due.now_ms);
}

TEST(work_belongs_to_the_backlog_after_more_than_five_minutes)
{
    struct bench b;

    bench_init(&b);
    add(&b, 0, WORK_WAITS, 3);
    pass(&b, 5 * MINUTE);
    assert_int_equal(b.queue.backlog, 0);
    assert_true(b.due.next_ms == START_MS + 5 * MINUTE + 1);
    pass(&b, 1);
    assert_int_equal(b.queue.backlog, 3);
    assert_true(b.queue.oldest_ms == START_MS);
    assert_true(b.queue.backlog_since_ms == b.due.now_ms);
    work_queue_release(&b.queue);
}

TEST(work_is_passed_over_by_half_of_the_later_work)
{
    struct bench b;

    bench_init(&b);
    add(&b, 0, WORK_WAITS, 4);
    /* Exactly 5 minutes later is not more than 5 minutes later. */
    add(&b, 5 * MINUTE, WORK_PROCESSED, 100);
    pass(&b, 30 * MINUTE);
    assert_int_equal(b.queue.backlog, 4);
    add(&b, 6 * MINUTE, WORK_PROCESSED, 1);
    pass(&b, 0);
    assert_int_equal(b.queue.backlog, 0);
    /* One of two is half; one of three is less. Refused work counts like work that waits. */
    add(&b, 6 * MINUTE, WORK_REFUSED, 1);
    pass(&b, 0);
    assert_int_equal(b.queue.backlog, 0);
    add(&b, 6 * MINUTE, WORK_WAITS, 1);
    pass(&b, 0);
    assert_int_equal(b.queue.backlog, 5);
    work_queue_move(&b.queue, START_MS + 6 * MINUTE, WORK_WAITS, WORK_PROCESSED);
    pass(&b, 0);
    assert_int_equal(b.queue.backlog, 0);
    work_queue_release(&b.queue);
}

TEST(a_queue_stands_still_after_ten_minutes_without_progress)
{
    struct bench b;

    bench_init(&b);
    pass(&b, HOUR);
    add(&b, HOUR, WORK_WAITS, 2);
    pass(&b, 10 * MINUTE - 1);
    assert_false(work_queue_stands_still(&b.queue, &b.due));
    assert_true(b.due.next_ms == START_MS + HOUR + 10 * MINUTE);
    pass(&b, 1);
    assert_true(work_queue_stands_still(&b.queue, &b.due));
    work_queue_count_processed(&b.queue, 1, b.due.now_ms);
    assert_false(work_queue_stands_still(&b.queue, &b.due));
    pass(&b, 10 * MINUTE);
    assert_true(work_queue_stands_still(&b.queue, &b.due));
    work_queue_note_refused(&b.queue, b.due.now_ms - MINUTE);
    assert_false(work_queue_stands_still(&b.queue, &b.due));
    pass(&b, 9 * MINUTE);
    assert_true(work_queue_stands_still(&b.queue, &b.due));
    work_queue_restart(&b.queue, b.due.now_ms);
    assert_false(work_queue_stands_still(&b.queue, &b.due));
    work_queue_release(&b.queue);
}

/* A backlog, and work that Karmada processes once a minute. */
struct rate {
    const char *title;
    unsigned backlog;
    unsigned each_minute;
    bool is_too_slow;
};

static const struct rate rates[] = {
    {"nothing of one", 1, 0, true},
    {"one a minute, of 100", 100, 1, false},
    {"one a minute, of 4,000", 4000, 1, true},
    {"five a minute, of 500", 500, 5, false},
    {"five a minute, of 4,000", 4000, 5, true},
    {"six a minute, of 30,000", 30000, 6, false},
    {"a hundred a minute, of 30,000", 30000, 100, false},
};

TEST_ROWS(a_queue_is_too_slow_by_its_rate, rates, title)
{
    const struct rate *row = *state;
    struct bench b;

    bench_init(&b);
    add(&b, 0, WORK_WAITS, row->backlog);
    pass(&b, 5 * MINUTE + 1);
    for (unsigned minute = 0; minute < 30; minute++) {
        assert_false(work_queue_is_too_slow(&b.queue, &b.due));
        work_queue_count_processed(&b.queue, row->each_minute, b.due.now_ms);
        pass(&b, MINUTE);
    }
    assert_int_equal(work_queue_is_too_slow(&b.queue, &b.due), row->is_too_slow);
    work_queue_release(&b.queue);
}

TEST(what_was_processed_long_ago_is_no_rate)
{
    struct bench b;

    bench_init(&b);
    add(&b, 0, WORK_WAITS, 10);
    pass(&b, 6 * MINUTE);
    work_queue_count_processed(&b.queue, 1000, b.due.now_ms);
    pass(&b, 30 * MINUTE);
    assert_false(work_queue_is_too_slow(&b.queue, &b.due));
    pass(&b, MINUTE);
    assert_true(work_queue_is_too_slow(&b.queue, &b.due));
    work_queue_release(&b.queue);
}

/* ---- ranges ---- */

/* Work of the oracle. */
struct piece {
    int64_t due_ms;
    enum work_fate fate;
};

static uint64_t oracle_backlog(const struct piece *pieces, size_t count, int64_t now_ms)
{
    uint64_t backlog = 0;

    for (size_t i = 0; i < count; i++) {
        uint64_t processed = 0, all = 0;

        if (pieces[i].fate != WORK_WAITS || now_ms - pieces[i].due_ms <= 5 * MINUTE)
            continue;
        for (size_t k = 0; k < count; k++) {
            if (pieces[k].due_ms > pieces[i].due_ms + 5 * MINUTE) {
                all++;
                processed += pieces[k].fate == WORK_PROCESSED;
            }
        }
        backlog += processed == 0 || 2 * processed < all;
    }
    return backlog;
}

/* Property: with due times a quarter of a minute apart, the ranges lose no order. */
TEST(the_backlog_is_that_of_a_visit_of_each_piece)
{
    uint32_t random = 7;

    for (unsigned round = 0; round < 200; round++) {
        struct piece pieces[60];
        struct bench b;

        bench_init(&b);
        b.due.now_ms += 2 * HOUR;
        for (size_t i = 0; i < ARRAY_LEN(pieces); i++) {
            random = random * 1664525 + 1013904223;
            pieces[i] = (struct piece){START_MS + (random >> 8) % 400 * 15 * SECOND,
                                       (random >> 20) % WORK_FATE_COUNT};
            work_queue_add(&b.queue, pieces[i].due_ms, pieces[i].fate, b.due.now_ms);
        }
        for (size_t i = 0; i < ARRAY_LEN(pieces); i += 3) {
            work_queue_move(&b.queue, pieces[i].due_ms, pieces[i].fate, WORK_PROCESSED);
            pieces[i].fate = WORK_PROCESSED;
        }
        pass(&b, 0);
        assert_int_equal(b.queue.backlog, oracle_backlog(pieces, ARRAY_LEN(pieces), b.due.now_ms));
        work_queue_release(&b.queue);
    }
}

static uint64_t count_work(const struct work_queue *q)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < q->range_count; i++) {
        for (unsigned fate = 0; fate < WORK_FATE_COUNT; fate++)
            count += q->ranges[i].counts[fate];
        assert_true(q->ranges[i].first_ms <= q->ranges[i].last_ms);
        assert_true(i == 0 || q->ranges[i - 1].last_ms < q->ranges[i].first_ms);
    }
    return count;
}

/* Writes of years, in no order, and work that never ends, each 20 seconds for a month. */
TEST(memory_is_bounded_and_no_work_is_lost)
{
    enum { WRITES = 50000, DAYS = 30 };
    uint32_t random = 1;
    struct bench b;
    uint64_t waiting = 0;

    bench_init(&b);
    for (unsigned i = 0; i < WRITES; i++) {
        random = random * 1664525 + 1013904223;
        add(&b, -(int64_t)(random % 1000000) * MINUTE, WORK_PROCESSED, 1);
    }
    for (int64_t ms = 0; ms < (int64_t)DAYS * 24 * HOUR; ms += 20 * SECOND) {
        b.due.now_ms = START_MS + ms;
        add(&b, ms, WORK_WAITS, 1);
        waiting++;
    }
    assert_true(b.queue.range_capacity <= DUE_RANGES_MAX);
    assert_int_equal(count_work(&b.queue), WRITES + waiting);
    pass(&b, HOUR);
    assert_int_equal(b.queue.backlog, waiting);
    for (int64_t ms = 0; ms < (int64_t)DAYS * 24 * HOUR; ms += 20 * SECOND)
        work_queue_remove(&b.queue, START_MS + ms, WORK_WAITS);
    assert_int_equal(count_work(&b.queue), WRITES);
    pass(&b, HOUR);
    assert_int_equal(b.queue.backlog, 0);
    work_queue_release(&b.queue);
}

/* Work that was passed over once stays passed over, although a month of other work followed. */
TEST(old_work_stays_passed_over)
{
    struct bench b;

    bench_init(&b);
    add(&b, 0, WORK_WAITS, 1);
    for (int64_t ms = 0; ms < (int64_t)30 * 24 * HOUR; ms += 30 * MINUTE) {
        b.due.now_ms = START_MS + ms;
        add(&b, ms, WORK_PROCESSED, 1);
    }
    pass(&b, (int64_t)300 * 24 * HOUR);
    assert_int_equal(b.queue.backlog, 0);
    work_queue_release(&b.queue);
}

TEST(a_queue_inherits_the_past_without_the_work)
{
    struct bench b, fresh;

    bench_init(&b);
    bench_init(&fresh);
    add(&b, 0, WORK_WAITS, 5);
    add(&b, 0, WORK_REFUSED, 2);
    add(&b, 10 * MINUTE, WORK_PROCESSED, 1);
    b.due.now_ms += 10 * MINUTE;
    work_queue_count_processed(&b.queue, 1, b.due.now_ms);
    work_queue_inherit(&fresh.queue, &b.queue);
    fresh.due = b.due;
    assert_int_equal(count_work(&fresh.queue), 1);
    add(&fresh, 0, WORK_WAITS, 1);
    pass(&fresh, 0);
    assert_int_equal(fresh.queue.backlog, 0);
    assert_true(fresh.queue.progressed_ms == b.queue.progressed_ms);
    work_queue_release(&fresh.queue);
    work_queue_release(&b.queue);
}
