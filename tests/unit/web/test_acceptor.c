/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/connections.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include "exporter/system/platform.h"
#include "exporter/web/server.h"
#include "tests/unit/http_client.h"
#include "tests/unit/suite.h"

enum { TAKEN_MAX = 64, PATIENCE_MS = 20000, FROM = 500 };

/* An acceptor whose connections are taken over by nobody. */
struct fixture {
    struct connections *connections;
    struct acceptor *acceptor;
    int listener;
    char name[LISTENER_NAME_MAX];
    pthread_mutex_t lock; /* Guards the two below. */
    int taken[TAKEN_MAX];
    size_t count;
    int clients[TAKEN_MAX];
    size_t client_count;
};

static bool take(void *context, int fd, const struct sockaddr *address, socklen_t len)
{
    struct fixture *f = context;

    pthread_mutex_lock(&f->lock);
    bool taken =
        address->sa_family == AF_INET && len == sizeof(struct sockaddr_in) && f->count < TAKEN_MAX;

    if (taken)
        f->taken[f->count++] = fd;
    pthread_mutex_unlock(&f->lock);
    return taken;
}

static struct fixture *make_fixture(unsigned limit, int first_fd)
{
    struct fixture *f = xcalloc(1, sizeof(*f));
    struct address address;
    struct error err;

    pthread_mutex_init(&f->lock, NULL);
    assert_true(address_parse("127.0.0.1:0", &address, &err));
    assert_true(listener_open(&address, &f->listener, &err));
    listener_name(f->listener, f->name);
    f->connections = connections_new(limit);
    f->acceptor = acceptor_start(&(struct acceptor_settings){.listeners = &f->listener,
                                                             .listener_count = 1,
                                                             .connections = f->connections,
                                                             .first_fd = first_fd,
                                                             .add_connection = take,
                                                             .context = f},
                                 &err);
    assert_non_null(f->acceptor);
    return f;
}

static void free_fixture(struct fixture *f)
{
    acceptor_stop(f->acceptor);
    for (size_t i = 0; i < f->count; i++)
        close(f->taken[i]);
    for (size_t i = 0; i < f->client_count; i++)
        close(f->clients[i]);
    close(f->listener);
    connections_free(f->connections);
    pthread_mutex_destroy(&f->lock);
    free(f);
}

static void connect_some(struct fixture *f, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        f->clients[f->client_count] = http_connect(f->name);
        assert_true(f->clients[f->client_count++] >= 0);
    }
}

static size_t taken(struct fixture *f)
{
    pthread_mutex_lock(&f->lock);
    size_t count = f->count;
    pthread_mutex_unlock(&f->lock);
    return count;
}

static void wait_until_taken(struct fixture *f, size_t count)
{
    int64_t end_ms = platform_steady_ms() + PATIENCE_MS;

    while (taken(f) < count && platform_steady_ms() < end_ms)
        usleep(1000);
    assert_int_equal(taken(f), count);
}

TEST(connections_are_handed_over)
{
    struct fixture *f = make_fixture(TAKEN_MAX, 0);

    connect_some(f, 5);
    wait_until_taken(f, 5);
    assert_int_equal(connections_count(f->connections), 5);
    for (size_t i = 0; i < 5; i++) {
        assert_true(fcntl(f->taken[i], F_GETFL) & O_NONBLOCK);
        assert_true(fcntl(f->taken[i], F_GETFD) & FD_CLOEXEC);
    }
    free_fixture(f);
}

TEST(they_leave_low_numbers_to_others)
{
    struct fixture *f = make_fixture(TAKEN_MAX, FROM);

    connect_some(f, 3);
    wait_until_taken(f, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_true(f->taken[i] >= FROM);
        assert_true(fcntl(f->taken[i], F_GETFL) & O_NONBLOCK);
        assert_true(fcntl(f->taken[i], F_GETFD) & FD_CLOEXEC);
    }
    free_fixture(f);
}

TEST(what_is_not_taken_over_does_not_count)
{
    struct fixture *f = make_fixture(TAKEN_MAX, 0);

    f->count = TAKEN_MAX;
    for (size_t i = 0; i < TAKEN_MAX; i++)
        f->taken[i] = -1;
    connect_some(f, 1);
    int64_t end_ms = platform_steady_ms() + PATIENCE_MS;

    /* It was there, or will be: either way it is not in the end. */
    usleep(50 * 1000);
    while (connections_count(f->connections) > 0 && platform_steady_ms() < end_ms)
        usleep(1000);
    assert_int_equal(connections_count(f->connections), 0);
    free_fixture(f);
}

/* Nobody can be ended for the third: it waits a moment, and is refused. */
TEST(without_room_it_is_refused)
{
    struct fixture *f = make_fixture(3, 0);
    char byte;

    connect_some(f, 3);
    assert_int_equal(recv(f->clients[2], &byte, 1, 0), 0);
    assert_int_equal(connections_refused(f->connections, REFUSED_BUDGET), 1);
    assert_int_equal(taken(f), 2);
    free_fixture(f);
}

static int64_t used_ms(void)
{
    struct timespec used;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (int64_t)used.tv_sec * 1000 + used.tv_nsec / 1000000;
}

/* The limit such that no descriptor is left but the one that the acceptor spares. */
TEST(without_descriptors_one_is_served_and_the_others_wait)
{
    struct fixture *f = make_fixture(TAKEN_MAX, 0);
    struct rlimit before, none;
    int clients[3];

    connect_some(f, 1);
    wait_until_taken(f, 1);
    for (size_t i = 0; i < ARRAY_LEN(clients); i++)
        clients[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = (struct rlimit){.rlim_cur = (rlim_t)clients[2] + 1, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);

    struct sockaddr_storage address;
    socklen_t len = sizeof(address);

    getsockname(f->listener, (struct sockaddr *)&address, &len);
    for (size_t i = 0; i < ARRAY_LEN(clients); i++) {
        assert_int_equal(connect(clients[i], (const struct sockaddr *)&address, len), 0);
        f->clients[f->client_count++] = clients[i];
    }
    wait_until_taken(f, 2);
    int64_t used_before_ms = used_ms();

    usleep(500 * 1000);
    int64_t spent_ms = used_ms() - used_before_ms;
    size_t served = taken(f);

    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    wait_until_taken(f, 4);
    assert_int_equal(served, 2);
    assert_in_range(spent_ms, 0, 250);
    free_fixture(f);
}

TEST(it_ends_with_a_connection_in_hand)
{
    struct fixture *f = make_fixture(2, 0);

    connect_some(f, 2);
    wait_until_taken(f, 1);
    free_fixture(f);
}
