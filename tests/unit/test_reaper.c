/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/reaper.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/unit/suite.h"

enum { PEERS = 8 };

/* Connections as pairs of sockets: `far` sees the end when `near` was shut down. */
struct fixture {
    struct reaper *reaper;
    struct reaper_peer *peers[PEERS];
    int near[PEERS], far[PEERS];
};

static struct fixture *make_fixture(void)
{
    struct fixture *f = xcalloc(1, sizeof(*f));

    f->reaper = reaper_new(PEERS);
    for (size_t i = 0; i < PEERS; i++) {
        int pair[2];

        if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
            abort();
        f->near[i] = pair[0];
        f->far[i] = pair[1];
    }
    return f;
}

static int connect_all(void **state)
{
    *state = make_fixture();
    return 0;
}

static void add(struct fixture *f, size_t count, int64_t now_ms)
{
    for (size_t i = 0; i < count; i++)
        f->peers[i] = reaper_add(f->reaper, f->near[i], now_ms + (int64_t)i);
}

static int close_all(void **state)
{
    struct fixture *f = *state;

    for (size_t i = 0; i < PEERS; i++) {
        if (f->peers[i])
            reaper_remove(f->reaper, f->peers[i]);
        close(f->near[i]);
        close(f->far[i]);
    }
    reaper_free(f->reaper);
    free(f);
    return 0;
}

static bool ended(const struct fixture *f, size_t at)
{
    struct pollfd end = {.fd = f->far[at], .events = POLLIN};

    return poll(&end, 1, 0) == 1;
}

static struct deadline_case {
    const char *name;
    enum reaper_phase phase;
    int64_t deadline_ms;
} deadline_cases[] = {
    {"headers have five seconds", REAPER_HEADERS, 5000},
    {"an answer has a minute", REAPER_ANSWER, 60000},
    {"an idle connection has twenty seconds", REAPER_IDLE, 20000},
};

TEST_ROWS(deadline, deadline_cases, name)
{
    const struct deadline_case *c = *state;
    struct fixture *f = make_fixture();
    void *fixture = f;

    add(f, 1, 0);
    reaper_enter(f->reaper, f->peers[0], c->phase, 1000);
    assert_int_equal(reaper_sweep(f->reaper, 1000 + c->deadline_ms - 1), 0);
    assert_false(ended(f, 0));
    assert_int_equal(reaper_sweep(f->reaper, 1000 + c->deadline_ms), 1);
    assert_true(ended(f, 0));
    /* Until the library has noticed it stays listed, and is not ended again. */
    assert_int_equal(reaper_sweep(f->reaper, 1000 + 2 * c->deadline_ms), 0);
    close_all(&fixture);
}

TEST_WITH(scarce_places_go_from_the_oldest_that_waits, connect_all, close_all)
{
    struct fixture *f = *state;

    add(f, 6, 0);
    assert_int_equal(reaper_sweep(f->reaper, 100), 0);
    f->peers[6] = reaper_add(f->reaper, f->near[6], 50);
    f->peers[7] = reaper_add(f->reaper, f->near[7], 60);
    reaper_enter(f->reaper, f->peers[0], REAPER_ANSWER, 90);
    reaper_enter(f->reaper, f->peers[2], REAPER_IDLE, 90);
    /* Three quarters of eight are six: two have to go, and not the one being answered. */
    assert_int_equal(reaper_sweep(f->reaper, 100), 2);
    for (size_t i = 0; i < PEERS; i++)
        assert_int_equal(ended(f, i), i == 1 || i == 2);
    assert_int_equal(reaper_sweep(f->reaper, 200), 0);
}

TEST_WITH(what_is_due_makes_room_first, connect_all, close_all)
{
    struct fixture *f = *state;

    add(f, 6, 10000);
    f->peers[6] = reaper_add(f->reaper, f->near[6], 0);
    f->peers[7] = reaper_add(f->reaper, f->near[7], 0);
    assert_int_equal(reaper_sweep(f->reaper, 10100), 2);
    for (size_t i = 0; i < PEERS; i++)
        assert_int_equal(ended(f, i), i >= 6);
}

TEST_WITH(answers_are_never_cut_for_room, connect_all, close_all)
{
    struct fixture *f = *state;

    add(f, PEERS, 0);
    for (size_t i = 0; i < PEERS; i++)
        reaper_enter(f->reaper, f->peers[i], REAPER_ANSWER, 0);
    assert_int_equal(reaper_sweep(f->reaper, 1), 0);
}

/* Began long ago, so that no time has to pass in the test. */
TEST_WITH(the_thread_sweeps, connect_all, close_all)
{
    struct fixture *f = *state;
    struct pollfd end = {.fd = f->far[1], .events = POLLIN};
    struct error err;

    assert_true(reaper_start(f->reaper, &err));
    add(f, 1, reaper_now_ms());
    f->peers[1] = reaper_add(f->reaper, f->near[1], reaper_now_ms() - 100000);
    assert_int_equal(poll(&end, 1, 20000), 1);
}
