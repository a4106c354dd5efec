/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/connections.h"

#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "metrics/base/strbuf.h"
#include "tests/unit/suite.h"

/* A limit of 10 allows 8 open connections and 2 that are shut down but not removed. */
enum { LIMIT = 10, BUDGET = 8, MANY = 16 };

/* Connections as pairs of sockets: `far` reads the end of the stream after `near` is shut down. */
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
    *state = make_fixture(LIMIT);
    return 0;
}

/* Adds a connection that enters the state `phase` at `now_ms`. Returns its index. */
static size_t add_connection(struct fixture *f, enum connection_state phase, int64_t now_ms)
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

static void add_connections(struct fixture *f, size_t count, enum connection_state phase,
                            int64_t now_ms)
{
    for (size_t i = 0; i < count; i++)
        add_connection(f, phase, now_ms + (int64_t)i);
}

static void remove_connection(struct fixture *f, size_t at)
{
    connections_remove(f->connections, f->list[at]);
    f->list[at] = NULL;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    for (size_t i = 0; i < f->count; i++) {
        if (f->list[i])
            remove_connection(f, i);
        close(f->near[i]);
        close(f->far[i]);
    }
    connections_free(f->connections);
    free(f);
    return 0;
}

static bool is_shut_down(const struct fixture *f, size_t at)
{
    struct pollfd end = {.fd = f->far[at], .events = POLLIN};

    return poll(&end, 1, 0) == 1;
}

/* Asserts that exactly these connections were shut down. `wanted`: indices and blanks. */
static void assert_shut_down(const struct fixture *f, const char *wanted)
{
    CLEANUP(strbuf_release) struct strbuf got = STRBUF_INIT(1000);

    for (size_t i = 0; i < f->count; i++) {
        if (is_shut_down(f, i))
            strbuf_addf(&got, "%s%zu", got.len > 0 ? " " : "", i);
    }
    assert_string_equal(got.data, wanted);
}

static uint64_t count_refused(const struct fixture *f, enum connection_refusal reason)
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
    {"a response has a minute", CONNECTION_ANSWERING, 60000, REFUSED_ANSWER_TIMEOUT, 1},
    {"an idle connection has twenty seconds, and is not counted", CONNECTION_IDLE, 20000,
     REFUSED_EVICTED_IDLE, 0},
};

TEST_ROWS(connection_is_ended_at_its_deadline, deadline_cases, name)
{
    const struct deadline_case *c = *state;
    struct fixture *f = make_fixture(LIMIT);
    void *fixture = f;

    add_connection(f, CONNECTION_RECEIVING, 0);
    connections_set_state(f->connections, f->list[0], c->phase, 1000);
    assert_true(connections_sweep(f->connections, 1000 + c->deadline_ms - 1));
    assert_false(is_shut_down(f, 0));
    assert_int_equal(count_refused(f, c->reason), 0);
    /* The only connection is shut down, though not removed yet. */
    assert_false(connections_sweep(f->connections, 1000 + c->deadline_ms));
    assert_true(is_shut_down(f, 0));
    assert_int_equal(connections_count(f->connections), 1);
    assert_int_equal(count_refused(f, c->reason), c->counted);
    /* A later change of state does not reopen the connection, nor count it again. */
    connections_set_state(f->connections, f->list[0], CONNECTION_IDLE, 2000 + c->deadline_ms);
    assert_false(connections_sweep(f->connections, 2000 + c->deadline_ms));
    assert_int_equal(count_refused(f, c->reason), c->counted);
    tear_down(&fixture);
}

TEST_WITH(sweep_ends_all_overdue_connections, set_up, tear_down)
{
    struct fixture *f = *state;

    add_connections(f, 3, CONNECTION_RECEIVING, 0);
    add_connections(f, 3, CONNECTION_IDLE, 0);
    add_connections(f, 2, CONNECTION_RECEIVING, 4000);
    assert_true(connections_sweep(f->connections, 5001));
    assert_shut_down(f, "0 1");
    assert_true(connections_sweep(f->connections, 8000));
    assert_shut_down(f, "0 1 2");
    assert_false(connections_sweep(f->connections, 20002));
    assert_shut_down(f, "0 1 2 3 4 5 6 7");
}

TEST_WITH(connections_within_the_budget_are_not_evicted, set_up, tear_down)
{
    struct fixture *f = *state;

    for (size_t i = 0; i < BUDGET; i++) {
        assert_true(connections_make_room(f->connections, 1000));
        add_connection(f, CONNECTION_RECEIVING, 1000);
    }
    assert_shut_down(f, "");
}

TEST_WITH(oldest_silent_connection_is_evicted_first, set_up, tear_down)
{
    struct fixture *f = *state;

    add_connections(f, BUDGET, CONNECTION_RECEIVING, 1000);
    assert_true(connections_make_room(f->connections, 1010));
    assert_shut_down(f, "0");
    assert_int_equal(count_refused(f, REFUSED_EVICTED_WAITING), 1);
    add_connection(f, CONNECTION_RECEIVING, 1010);
    assert_true(connections_make_room(f->connections, 1010));
    assert_shut_down(f, "0 1");
    add_connection(f, CONNECTION_RECEIVING, 1010);
    /* Two places are for connections that are shut down: one of them must be removed first. */
    assert_false(connections_make_room(f->connections, 1010));
    assert_shut_down(f, "0 1");
    remove_connection(f, 0);
    assert_true(connections_make_room(f->connections, 1012));
    assert_shut_down(f, "0 1 2");
    assert_int_equal(count_refused(f, REFUSED_EVICTED_WAITING), 3);
}

/* The client waits for the server, which has not read these bytes yet. */
TEST_WITH(connection_with_unread_bytes_is_not_evicted, set_up, tear_down)
{
    struct fixture *f = *state;

    add_connections(f, BUDGET / 2, CONNECTION_RECEIVING, 1000);
    add_connections(f, BUDGET / 2, CONNECTION_IDLE, 1000);
    assert_int_equal(write(f->far[4], "G", 1), 1);
    assert_true(connections_make_room(f->connections, 1010));
    assert_shut_down(f, "5");
    remove_connection(f, 5);
    add_connection(f, CONNECTION_RECEIVING, 1011);
    for (size_t i = 0; i < f->count; i++)
        assert_int_equal(i == 5 || write(f->far[i], "G", 1) == 1, 1);
    assert_false(connections_make_room(f->connections, 4000));
    assert_shut_down(f, "5");
}

/* Shares of 8 places: 4 for connections without a request, 2 for responses, 2 for idle ones. */
static struct share_case {
    const char *name;
    size_t waiting, answering, idle;
    bool stalled; /* True if clients do not read the responses. */
    int64_t age_ms;
    const char *evicted; /* Indices of the evicted connections. */
    enum connection_refusal reason;
} share_cases[] = {
    {"an idle connection beyond its share is evicted", 4, 0, 4, false, 1000, "4",
     REFUSED_EVICTED_IDLE},
    {"a silent connection beyond its share is evicted", 6, 0, 2, false, 1000, "0",
     REFUSED_EVICTED_WAITING},
    {"a slow reader beyond its share is evicted", 2, 5, 1, true, 250, "2", REFUSED_EVICTED_SLOW},
    {"a response that stalls for 249 ms stays", 1, 4, 3, true, 249, "5", REFUSED_EVICTED_IDLE},
    {"a response that the server delays stays", 1, 4, 3, false, 1999, "5", REFUSED_EVICTED_IDLE},
    {"connections within their share stay", 2, 5, 1, false, 1999, "", REFUSED_EVICTED_IDLE},
    {"a response that takes two seconds is evicted", 2, 5, 1, false, 2000, "2",
     REFUSED_EVICTED_SLOW},
    {"responses that take less than two seconds stay", 0, 8, 0, false, 1999, "",
     REFUSED_EVICTED_SLOW},
    {"one of eight slow readers is evicted", 0, 8, 0, true, 250, "0", REFUSED_EVICTED_SLOW},
};

TEST_ROWS(eviction_follows_the_shares_of_states, share_cases, name)
{
    const struct share_case *c = *state;
    struct fixture *f = make_fixture(LIMIT);
    void *fixture = f;

    for (size_t i = 0; i < c->waiting; i++)
        add_connection(f, CONNECTION_RECEIVING, 1000);
    for (size_t i = 0; i < c->answering; i++) {
        size_t at = add_connection(f, CONNECTION_ANSWERING, 1000);

        assert_true(!c->stalled || write(f->near[at], "200", 3) == 3);
    }
    for (size_t i = 0; i < c->idle; i++)
        add_connection(f, CONNECTION_IDLE, 1000);
    bool room = connections_make_room(f->connections, 1000 + c->age_ms);
    uint64_t count = count_refused(f, c->reason);
    char taken[4];

    for (size_t i = 0; c->stalled && i < c->answering; i++)
        assert_int_equal(read(f->far[c->waiting + i], taken, sizeof(taken)), 3);
    assert_shut_down(f, c->evicted);
    assert_int_equal(room, *c->evicted != '\0');
    assert_int_equal(count, *c->evicted != '\0');
    tear_down(&fixture);
}

/* Connects pair[1] to pair[0] by TCP on the loopback network, from the address `from`. */
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

static size_t add_connection_from(struct fixture *f, uint32_t from, enum connection_state phase,
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

/* If two addresses have equally many connections, the oldest connection is evicted. */
TEST_WITH(address_with_most_connections_is_evicted_first, set_up, tear_down)
{
    struct fixture *f = *state;

    for (unsigned i = 0; i < BUDGET; i++)
        add_connection_from(f, INADDR_LOOPBACK + (i > 2), CONNECTION_IDLE, 1000 + i);
    assert_true(connections_make_room(f->connections, 2000));
    assert_shut_down(f, "3");
    remove_connection(f, 3);
    add_connection_from(f, INADDR_LOOPBACK + 2, CONNECTION_IDLE, 2001);
    assert_true(connections_make_room(f->connections, 2002));
    assert_shut_down(f, "3 4");
    remove_connection(f, 4);
    add_connection_from(f, INADDR_LOOPBACK + 2, CONNECTION_IDLE, 2003);
    assert_true(connections_make_room(f->connections, 2004));
    assert_shut_down(f, "0 3 4");
}

/* Such a connection is, for example, in a TLS handshake: all bytes received so far were read. */
TEST_WITH(connection_that_has_sent_bytes_is_kept_for_500_ms, set_up, tear_down)
{
    struct fixture *f = *state;
    char taken[5];

    for (unsigned i = 0; i < BUDGET; i++)
        add_connection_from(f, INADDR_LOOPBACK, CONNECTION_RECEIVING, 1000);
    assert_int_equal(write(f->far[0], "hello", sizeof(taken)), sizeof(taken));
    assert_int_equal(read(f->near[0], taken, sizeof(taken)), sizeof(taken));
    assert_true(connections_make_room(f->connections, 1499));
    assert_shut_down(f, "1");
    remove_connection(f, 1);
    add_connection_from(f, INADDR_LOOPBACK, CONNECTION_RECEIVING, 1499);
    assert_true(connections_make_room(f->connections, 1500));
    assert_shut_down(f, "0 1");
}

/* With a full receive window, 20 ms are enough; with unacknowledged bytes only, 250 ms. */
TEST(reader_with_a_full_window_is_evicted_after_20_ms)
{
    struct fixture *f = make_fixture(1);
    void *fixture = f;
    char page[65536] = {0};
    size_t at = add_connection_from(f, INADDR_LOOPBACK, CONNECTION_ANSWERING, 1000);
    const int *pair = &f->near[at];

    assert_false(connections_make_room(f->connections, 1100));
    while (write(pair[0], page, sizeof(page)) > 0)
        ;
    usleep(100 * 1000);
    assert_false(connections_make_room(f->connections, 1019));
    assert_true(connections_make_room(f->connections, 1020));
    assert_int_equal(count_refused(f, REFUSED_EVICTED_SLOW), 1);
    tear_down(&fixture);
}

/*
 * Each call ends at most one response more than a quarter of all responses. Connection 2 has no
 * unsent bytes and stays.
 */
TEST_WITH(end_slow_ends_a_part_of_the_slow_readers, set_up, tear_down)
{
    struct fixture *f = *state;

    add_connections(f, 2, CONNECTION_IDLE, 1000);
    add_connections(f, 6, CONNECTION_ANSWERING, 1000);
    for (size_t i = 3; i < 8; i++)
        assert_int_equal(write(f->near[i], "200", 3), 3);
    connections_evict_slow(f->connections, 3000);
    assert_int_equal(count_refused(f, REFUSED_EVICTED_SLOW), 0);
    connections_evict_slow(f->connections, 3001);
    assert_int_equal(count_refused(f, REFUSED_EVICTED_SLOW), 1);
    connections_evict_slow(f->connections, 9000);
    assert_int_equal(count_refused(f, REFUSED_EVICTED_SLOW), 3);
    for (size_t i = 3; i < 8; i++) {
        char taken[4];

        assert_int_equal(read(f->far[i], taken, sizeof(taken)), 3);
    }
    assert_shut_down(f, "3 4 5");
}

/* Such a connection is, for example, that of a scraper, which reuses it for each scrape. */
TEST_WITH(connection_used_last_is_evicted_last, set_up, tear_down)
{
    struct fixture *f = *state;

    add_connections(f, BUDGET, CONNECTION_IDLE, 1000);
    connections_set_state(f->connections, f->list[0], CONNECTION_ANSWERING, 1100);
    connections_set_state(f->connections, f->list[0], CONNECTION_IDLE, 1101);
    assert_true(connections_make_room(f->connections, 1200));
    assert_shut_down(f, "1");
}

TEST_WITH(arriving_connections_count_against_the_budget, set_up, tear_down)
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

TEST_WITH(missing_descriptors_evict_the_longest_idle_connection, set_up, tear_down)
{
    struct fixture *f = *state;

    connections_reduce(f->connections, 1000);
    assert_int_equal(count_refused(f, REFUSED_DESCRIPTORS), 0);
    add_connection(f, CONNECTION_RECEIVING, 1001);
    add_connection(f, CONNECTION_IDLE, 1000);
    /* connections_reduce() evicts no connection in the first 100 ms of its state. */
    connections_reduce(f->connections, 1099);
    assert_shut_down(f, "");
    connections_reduce(f->connections, 1100);
    assert_shut_down(f, "1");
    assert_int_equal(count_refused(f, REFUSED_DESCRIPTORS), 1);
    assert_int_equal(count_refused(f, REFUSED_EVICTED_IDLE), 0);
    connections_reduce(f->connections, 2000);
    assert_shut_down(f, "1");
    remove_connection(f, 1);
    connections_reduce(f->connections, 2000);
    assert_shut_down(f, "0 1");
}

/* 12 connections exhaust the descriptors, so the limit is 11: 9 open and 2 shut down. */
TEST(missing_descriptors_lower_the_limit_for_a_time)
{
    struct fixture *f = make_fixture(15);
    void *fixture = f;

    add_connections(f, 12, CONNECTION_RECEIVING, 1000);
    connections_reduce(f->connections, 2000);
    assert_shut_down(f, "0 1 2");
    /* The limit does not fall again before the three connections are removed. */
    connections_reduce(f->connections, 2001);
    assert_shut_down(f, "0 1 2");
    for (size_t i = 0; i < 3; i++)
        remove_connection(f, i);
    assert_true(connections_make_room(f->connections, 2002));
    assert_shut_down(f, "0 1 2 3");
    remove_connection(f, 3);
    add_connection(f, CONNECTION_RECEIVING, 2003);
    connections_sweep(f->connections, 2500);
    connections_sweep(f->connections, 2501);
    /* The limit rose to 12, for 9 open connections, at 2501 ms, and rises to 13, for 10, now. */
    connections_sweep(f->connections, 3001);
    assert_true(connections_make_room(f->connections, 3001));
    assert_shut_down(f, "0 1 2 3");
    tear_down(&fixture);
}

/* Reservations fill the limit, so that connections_reduce() lowers it by an eighth. */
TEST(limit_rises_again_to_its_original_value_only)
{
    enum { TABLE = 1000, OPEN_MAX = 750, RAISES = 100 };
    struct connections *p = connections_new(TABLE);
    unsigned count;

    for (count = 0; count < TABLE; count++)
        connections_reserve(p);
    connections_reduce(p, 1000);
    for (; count > 0; count--)
        connections_cancel_reservation(p);
    for (int64_t i = 1; i <= RAISES; i++)
        connections_sweep(p, 1000 + i * 500);
    for (; connections_make_room(p, 1000 + RAISES * 500); count++)
        connections_reserve(p);
    assert_int_equal(count, OPEN_MAX);
    connections_free(p);
}

TEST(limit_of_zero_or_one_admits_one_connection)
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

/* Adds, uses and removes connections while other threads evict idle ones. */
static void *use_connections(void *context)
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

TEST(concurrent_use_leaves_no_connections)
{
    struct connections *p = connections_new(THREADS / 2);
    pthread_t threads[THREADS];

    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, use_connections, p), 0);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(connections_count(p), 0);
    connections_free(p);
}
