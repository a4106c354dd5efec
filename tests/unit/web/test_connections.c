/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/connections.h"

#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "metrics/base/strbuf.h"
#include "tests/unit/suite.h"

/* Ten places, of which two are for those who leave. */
enum { PLACES = 10, BUDGET = 8, MANY = 16 };

/* Connections as pairs of sockets: `far` sees the end when `near` was shut down. */
struct fixture {
    struct connections *connections;
    struct connection *list[MANY];
    int near[MANY], far[MANY];
    size_t count;
};

static struct fixture *make_fixture(unsigned limit)
{
    struct fixture *f = xcalloc(1, sizeof(*f));

    f->connections = connections_new(limit);
    return f;
}

static int set_up(void **state)
{
    *state = make_fixture(PLACES);
    return 0;
}

/* One that was accepted and begun with at this time. Answers its index. */
static size_t add(struct fixture *f, enum connection_state phase, int64_t now_ms)
{
    size_t at = f->count++;
    int pair[2];

    assert_in_range(at, 0, MANY - 1);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    f->near[at] = pair[0];
    f->far[at] = pair[1];
    connections_reserve(f->connections);
    f->list[at] = connections_add(f->connections, f->near[at], now_ms);
    if (phase != CONNECTION_RECEIVING)
        connections_set_state(f->connections, f->list[at], phase, now_ms);
    return at;
}

static void add_some(struct fixture *f, size_t count, enum connection_state phase, int64_t now_ms)
{
    for (size_t i = 0; i < count; i++)
        add(f, phase, now_ms + (int64_t)i);
}

static void leave(struct fixture *f, size_t at)
{
    connections_remove(f->connections, f->list[at]);
    f->list[at] = NULL;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    for (size_t i = 0; i < f->count; i++) {
        if (f->list[i])
            leave(f, i);
        close(f->near[i]);
        close(f->far[i]);
    }
    connections_free(f->connections);
    free(f);
    return 0;
}

static bool ended(const struct fixture *f, size_t at)
{
    struct pollfd end = {.fd = f->far[at], .events = POLLIN};

    return poll(&end, 1, 0) == 1;
}

/* Exactly these were ended, as a text of their indices. */
static void assert_ended(const struct fixture *f, const char *wanted)
{
    CLEANUP(strbuf_release) struct strbuf got = STRBUF_INIT(1000);

    for (size_t i = 0; i < f->count; i++) {
        if (ended(f, i))
            strbuf_addf(&got, "%s%zu", got.len > 0 ? " " : "", i);
    }
    assert_string_equal(got.data, wanted);
}

static uint64_t refused(const struct fixture *f, enum connection_refusal reason)
{
    return connections_refused(f->connections, reason);
}

static struct deadline_case {
    const char *name;
    enum connection_state phase;
    int64_t deadline_ms;
    enum connection_refusal reason;
    unsigned counted;
} deadline_cases[] = {
    {"headers have five seconds", CONNECTION_RECEIVING, 5000, REFUSED_HEADERS_TIMEOUT, 1},
    {"an answer has a minute", CONNECTION_ANSWERING, 60000, REFUSED_ANSWER_TIMEOUT, 1},
    {"an idle connection has twenty seconds, and no fault", CONNECTION_IDLE, 20000,
     REFUSED_EVICTED_IDLE, 0},
};

TEST_ROWS(deadline, deadline_cases, name)
{
    const struct deadline_case *c = *state;
    struct fixture *f = make_fixture(PLACES);
    void *fixture = f;

    add(f, CONNECTION_RECEIVING, 0);
    connections_set_state(f->connections, f->list[0], c->phase, 1000);
    assert_true(connections_sweep(f->connections, 1000 + c->deadline_ms - 1));
    assert_false(ended(f, 0));
    assert_int_equal(refused(f, c->reason), 0);
    /* Nobody is left to look at, though the library has not noticed yet. */
    assert_false(connections_sweep(f->connections, 1000 + c->deadline_ms));
    assert_true(ended(f, 0));
    assert_int_equal(connections_count(f->connections), 1);
    assert_int_equal(refused(f, c->reason), c->counted);
    /* What the library does with it meanwhile does not bring it back. */
    connections_set_state(f->connections, f->list[0], CONNECTION_IDLE, 2000 + c->deadline_ms);
    assert_false(connections_sweep(f->connections, 2000 + c->deadline_ms));
    assert_int_equal(refused(f, c->reason), c->counted);
    tear_down(&fixture);
}

TEST_WITH(all_that_are_due_are_ended_at_once, set_up, tear_down)
{
    struct fixture *f = *state;

    add_some(f, 3, CONNECTION_RECEIVING, 0);
    add_some(f, 3, CONNECTION_IDLE, 0);
    add_some(f, 2, CONNECTION_RECEIVING, 4000);
    assert_true(connections_sweep(f->connections, 5001));
    assert_ended(f, "0 1");
    assert_true(connections_sweep(f->connections, 8000));
    assert_ended(f, "0 1 2");
    assert_false(connections_sweep(f->connections, 20002));
    assert_ended(f, "0 1 2 3 4 5 6 7");
}

TEST_WITH(within_the_budget_nobody_goes, set_up, tear_down)
{
    struct fixture *f = *state;

    for (size_t i = 0; i < BUDGET; i++) {
        assert_true(connections_make_room(f->connections, 1000));
        add(f, CONNECTION_RECEIVING, 1000);
    }
    assert_ended(f, "");
}

TEST_WITH(the_oldest_that_says_nothing_goes_first, set_up, tear_down)
{
    struct fixture *f = *state;

    add_some(f, BUDGET, CONNECTION_RECEIVING, 1000);
    assert_true(connections_make_room(f->connections, 1010));
    assert_ended(f, "0");
    assert_int_equal(refused(f, REFUSED_EVICTED_WAITING), 1);
    add(f, CONNECTION_RECEIVING, 1010);
    assert_true(connections_make_room(f->connections, 1010));
    assert_ended(f, "0 1");
    add(f, CONNECTION_RECEIVING, 1010);
    /* Their places are free when they have left, not before. */
    assert_false(connections_make_room(f->connections, 1010));
    assert_ended(f, "0 1");
    leave(f, 0);
    assert_true(connections_make_room(f->connections, 1012));
    assert_ended(f, "0 1 2");
    assert_int_equal(refused(f, REFUSED_EVICTED_WAITING), 3);
}

/* Its request is on the way to the library: it is we who are late. */
TEST_WITH(what_was_sent_and_not_read_keeps_its_sender, set_up, tear_down)
{
    struct fixture *f = *state;

    add_some(f, BUDGET / 2, CONNECTION_RECEIVING, 1000);
    add_some(f, BUDGET / 2, CONNECTION_IDLE, 1000);
    assert_int_equal(write(f->far[4], "G", 1), 1);
    assert_true(connections_make_room(f->connections, 1010));
    assert_ended(f, "5");
    leave(f, 5);
    add(f, CONNECTION_RECEIVING, 1011);
    for (size_t i = 0; i < f->count; i++)
        assert_int_equal(i == 5 || write(f->far[i], "G", 1) == 1, 1);
    assert_false(connections_make_room(f->connections, 4000));
    assert_ended(f, "5");
}

/* Of eight places silent newcomers may have four, and answers and idle ones two each. */
static struct share_case {
    const char *name;
    size_t waiting, answering, idle;
    bool stalled; /* Nobody takes the answers. */
    int64_t age_ms;
    const char *goes;
    enum connection_refusal reason;
} share_cases[] = {
    {"idle ones beyond their share go", 4, 0, 4, false, 1000, "4", REFUSED_EVICTED_IDLE},
    {"silent ones beyond their share go", 6, 0, 2, false, 1000, "0", REFUSED_EVICTED_WAITING},
    {"slow readers beyond their share go", 2, 5, 1, true, 250, "2", REFUSED_EVICTED_SLOW},
    {"a young answer does not go for idle ones", 1, 4, 3, true, 249, "5", REFUSED_EVICTED_IDLE},
    {"an answer that we are late with does not go", 1, 4, 3, false, 1999, "5",
     REFUSED_EVICTED_IDLE},
    {"who is within the share does not go instead", 2, 5, 1, false, 1999, "", REFUSED_EVICTED_IDLE},
    {"an answer that takes too long goes", 2, 5, 1, false, 2000, "2", REFUSED_EVICTED_SLOW},
    {"nobody goes where all are answered quickly", 0, 8, 0, false, 1999, "", REFUSED_EVICTED_SLOW},
    {"a slow reader goes where all are answered", 0, 8, 0, true, 250, "0", REFUSED_EVICTED_SLOW},
};

TEST_ROWS(share, share_cases, name)
{
    const struct share_case *c = *state;
    struct fixture *f = make_fixture(PLACES);
    void *fixture = f;

    for (size_t i = 0; i < c->waiting; i++)
        add(f, CONNECTION_RECEIVING, 1000);
    for (size_t i = 0; i < c->answering; i++) {
        size_t at = add(f, CONNECTION_ANSWERING, 1000);

        assert_true(!c->stalled || write(f->near[at], "200", 3) == 3);
    }
    for (size_t i = 0; i < c->idle; i++)
        add(f, CONNECTION_IDLE, 1000);
    bool room = connections_make_room(f->connections, 1000 + c->age_ms);
    uint64_t count = refused(f, c->reason);
    char taken[4];

    for (size_t i = 0; c->stalled && i < c->answering; i++)
        assert_int_equal(read(f->far[c->waiting + i], taken, sizeof(taken)), 3);
    assert_ended(f, c->goes);
    assert_int_equal(room, *c->goes != '\0');
    assert_int_equal(count, *c->goes != '\0');
    tear_down(&fixture);
}

/* Two ends of a TCP connection on the loopback network; the far one has this address there. */
static void connect_tcp(int pair[2], int receive_bytes, uint32_t from)
{
    struct sockaddr_in source = {.sin_family = AF_INET, .sin_addr = {.s_addr = htonl(from)}};
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    socklen_t len = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    pair[1] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(pair[1], SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof(receive_bytes));
    assert_int_equal(bind(listener, (const struct sockaddr *)&address, len), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &len), 0);
    assert_int_equal(bind(pair[1], (const struct sockaddr *)&source, len), 0);
    assert_int_equal(connect(pair[1], (const struct sockaddr *)&address, len), 0);
    pair[0] = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    assert_true(pair[0] >= 0);
    close(listener);
}

static size_t add_from(struct fixture *f, uint32_t from, enum connection_state phase,
                       int64_t now_ms)
{
    size_t at = f->count++;
    int pair[2];

    connect_tcp(pair, 4096, from);
    f->near[at] = pair[0];
    f->far[at] = pair[1];
    connections_reserve(f->connections);
    f->list[at] = connections_add(f->connections, pair[0], now_ms);
    connections_set_state(f->connections, f->list[at], phase, now_ms);
    return at;
}

/* Older ones of another address stay, until that has as many itself. */
TEST_WITH(who_has_most_connections_gives_them_up, set_up, tear_down)
{
    struct fixture *f = *state;

    for (unsigned i = 0; i < BUDGET; i++)
        add_from(f, INADDR_LOOPBACK + (i > 2), CONNECTION_IDLE, 1000 + i);
    assert_true(connections_make_room(f->connections, 2000));
    assert_ended(f, "3");
    leave(f, 3);
    add_from(f, INADDR_LOOPBACK + 2, CONNECTION_IDLE, 2001);
    assert_true(connections_make_room(f->connections, 2002));
    assert_ended(f, "3 4");
    leave(f, 4);
    add_from(f, INADDR_LOOPBACK + 2, CONNECTION_IDLE, 2003);
    assert_true(connections_make_room(f->connections, 2004));
    assert_ended(f, "0 3 4");
}

/* As in a handshake of TLS, of which all that came was read and more is to come. */
TEST_WITH(who_has_begun_is_passed_over_for_half_a_second, set_up, tear_down)
{
    struct fixture *f = *state;
    char taken[5];

    for (unsigned i = 0; i < BUDGET; i++)
        add_from(f, INADDR_LOOPBACK, CONNECTION_RECEIVING, 1000);
    assert_int_equal(write(f->far[0], "hello", sizeof(taken)), sizeof(taken));
    assert_int_equal(read(f->near[0], taken, sizeof(taken)), sizeof(taken));
    assert_true(connections_make_room(f->connections, 1499));
    assert_ended(f, "1");
    leave(f, 1);
    add_from(f, INADDR_LOOPBACK, CONNECTION_RECEIVING, 1499);
    assert_true(connections_make_room(f->connections, 1500));
    assert_ended(f, "0 1");
}

/* Long before it would be old: a client that has no room for more. */
TEST(a_full_window_tells_a_slow_reader)
{
    struct fixture *f = make_fixture(1);
    void *fixture = f;
    char page[65536] = {0};
    size_t at = add_from(f, INADDR_LOOPBACK, CONNECTION_ANSWERING, 1000);
    const int *pair = &f->near[at];

    assert_false(connections_make_room(f->connections, 1100));
    while (write(pair[0], page, sizeof(page)) > 0)
        ;
    usleep(100 * 1000);
    assert_false(connections_make_room(f->connections, 1019));
    assert_true(connections_make_room(f->connections, 1020));
    assert_int_equal(refused(f, REFUSED_EVICTED_SLOW), 1);
    tear_down(&fixture);
}

/* Memory is short: of those who read for two seconds a quarter and one, who waits for us is passed.
 */
TEST_WITH(slow_readers_give_back_what_they_hold, set_up, tear_down)
{
    struct fixture *f = *state;

    add_some(f, 2, CONNECTION_IDLE, 1000);
    add_some(f, 6, CONNECTION_ANSWERING, 1000);
    for (size_t i = 3; i < 8; i++)
        assert_int_equal(write(f->near[i], "200", 3), 3);
    connections_evict_slow(f->connections, 3000);
    assert_int_equal(refused(f, REFUSED_EVICTED_SLOW), 0);
    connections_evict_slow(f->connections, 3001);
    assert_int_equal(refused(f, REFUSED_EVICTED_SLOW), 1);
    connections_evict_slow(f->connections, 9000);
    assert_int_equal(refused(f, REFUSED_EVICTED_SLOW), 3);
    for (size_t i = 3; i < 8; i++) {
        char taken[4];

        assert_int_equal(read(f->far[i], taken, sizeof(taken)), 3);
    }
    assert_ended(f, "3 4 5");
}

/* A scraper that keeps its connection and uses it is the last of the idle ones. */
TEST_WITH(who_asked_last_is_idle_last, set_up, tear_down)
{
    struct fixture *f = *state;

    add_some(f, BUDGET, CONNECTION_IDLE, 1000);
    connections_set_state(f->connections, f->list[0], CONNECTION_ANSWERING, 1100);
    connections_set_state(f->connections, f->list[0], CONNECTION_IDLE, 1101);
    assert_true(connections_make_room(f->connections, 1200));
    assert_ended(f, "1");
}

TEST_WITH(who_is_on_the_way_counts, set_up, tear_down)
{
    struct fixture *f = *state;

    for (unsigned i = 0; i < BUDGET; i++) {
        assert_true(connections_make_room(f->connections, 1000));
        connections_reserve(f->connections);
    }
    assert_int_equal(connections_count(f->connections), BUDGET);
    assert_false(connections_make_room(f->connections, 1000));
    connections_cancel_reservation(f->connections);
    assert_true(connections_make_room(f->connections, 1000));
    for (unsigned i = 1; i < BUDGET; i++)
        connections_cancel_reservation(f->connections);
    assert_int_equal(connections_count(f->connections), 0);
}

TEST_WITH(where_descriptors_are_missing_the_idlest_goes, set_up, tear_down)
{
    struct fixture *f = *state;

    connections_reduce(f->connections, 1000);
    assert_int_equal(refused(f, REFUSED_DESCRIPTORS), 0);
    add(f, CONNECTION_RECEIVING, 1001);
    add(f, CONNECTION_IDLE, 1000);
    /* Who has just come may be the one who asks. */
    connections_reduce(f->connections, 1099);
    assert_ended(f, "");
    connections_reduce(f->connections, 1100);
    assert_ended(f, "1");
    assert_int_equal(refused(f, REFUSED_DESCRIPTORS), 1);
    assert_int_equal(refused(f, REFUSED_EVICTED_IDLE), 0);
    connections_reduce(f->connections, 2000);
    assert_ended(f, "1");
    leave(f, 1);
    connections_reduce(f->connections, 2000);
    assert_ended(f, "0 1");
}

/* Twelve were too many: eleven are the limit, of which two places are for those who leave. */
TEST(missing_descriptors_lower_the_limit_for_a_while)
{
    struct fixture *f = make_fixture(15);
    void *fixture = f;

    add_some(f, 12, CONNECTION_RECEIVING, 1000);
    connections_reduce(f->connections, 2000);
    assert_ended(f, "0 1 2");
    /* Not again while these have yet to leave. */
    connections_reduce(f->connections, 2001);
    assert_ended(f, "0 1 2");
    for (size_t i = 0; i < 3; i++)
        leave(f, i);
    assert_true(connections_make_room(f->connections, 2002));
    assert_ended(f, "0 1 2 3");
    leave(f, 3);
    add(f, CONNECTION_RECEIVING, 2003);
    connections_sweep(f->connections, 2500);
    connections_sweep(f->connections, 2501);
    /* Twelve again, nine of whom may stay, and ten of thirteen half a second later. */
    connections_sweep(f->connections, 3001);
    assert_true(connections_make_room(f->connections, 3001));
    assert_ended(f, "0 1 2 3");
    tear_down(&fixture);
}

TEST(a_limit_of_one_or_none_lets_one_in)
{
    for (unsigned limit = 0; limit < 2; limit++) {
        struct connections *p = connections_new(limit);

        assert_true(connections_make_room(p, 0));
        connections_reserve(p);
        assert_false(connections_make_room(p, 0));
        connections_free(p);
    }
}

enum { THREADS = 4, ROUNDS = 300 };

/* Connections that come, ask and go, while the others end whoever is idle. */
static void *come_and_go(void *context)
{
    struct connections *p = context;

    for (int64_t i = 0; i < ROUNDS; i++) {
        int pair[2];

        if (!connections_make_room(p, i * 100))
            continue;
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
            abort();
        connections_reserve(p);
        struct connection *connection = connections_add(p, pair[0], i * 100);

        connections_set_state(p, connection, CONNECTION_ANSWERING, i * 100);
        connections_set_state(p, connection, CONNECTION_IDLE, i * 100);
        connections_sweep(p, i * 1000);
        connections_remove(p, connection);
        close(pair[0]);
        close(pair[1]);
    }
    return NULL;
}

TEST(threads_do_not_disturb_each_other)
{
    struct connections *p = connections_new(THREADS / 2);
    pthread_t threads[THREADS];

    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, come_and_go, p), 0);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(connections_count(p), 0);
    connections_free(p);
}
