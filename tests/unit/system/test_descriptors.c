/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/system/descriptors.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exporter/system/platform.h"

#include "tests/unit/suite.h"

/* Limits with the least shares of web connections, API connections, and files and listeners. */
static struct limit_case {
    const char *name;
    uint64_t limit;
    unsigned web_least, api_least, others_least;
    int web_min_fd;
} limit_cases[] = {
    {"a limit of 64", 64, 8, 16, 24, 0},
    {"a limit of 256", 256, 60, 120, 64, 0},
    {"a limit of 1024", 1024, 300, 600, 64, 0},
    {"a limit of 2047", 2047, 600, 900, 64, 0},
    {"a limit of 2048", 2048, 1024, 900, 64, FD_SETSIZE},
    {"a limit of 20000", 20000, 2048, 900, 64, FD_SETSIZE},
    {"a limit of a billion", 1073741816, 2048, 900, 64, FD_SETSIZE},
    {"no limit", UINT64_MAX, 2048, 900, 64, FD_SETSIZE},
};

TEST_ROWS(each_limit_is_divided_into_shares, limit_cases, name)
{
    const struct limit_case *c = *state;
    struct descriptor_shares s = descriptor_shares_of_limit(c->limit);

    assert_in_range(s.web, c->web_least, 2048);
    assert_in_range(s.api, c->api_least, FD_SETSIZE);
    assert_true((uint64_t)s.web + s.api + c->others_least <= c->limit);
    assert_int_equal(s.web_min_fd, c->web_min_fd);
    /* With web_min_fd, web connections fit between it and the limit, all other shares below it. */
    if (s.web_min_fd > 0) {
        assert_true((uint64_t)s.web_min_fd + s.web <= c->limit);
        assert_true(s.api + c->others_least <= (unsigned)s.web_min_fd);
    }
}

TEST(a_limit_of_0_leaves_descriptors_for_the_web)
{
    assert_true(descriptor_shares_of_limit(0).web > 0);
    assert_int_equal(descriptor_shares_of_limit(0).api, 0);
}

/* A child process changes the limit, because a limit applies to the whole process. */
TEST(the_soft_limit_is_raised_to_the_hard_limit)
{
    pid_t pid = fork();
    int status = 0;

    if (pid == 0) {
        struct rlimit low = {.rlim_cur = 300, .rlim_max = 700}, now;
        bool ok = setrlimit(RLIMIT_NOFILE, &low) == 0;

        ok = ok && descriptor_shares_current().web == descriptor_shares_of_limit(300).web;
        descriptors_raise_limit();
        ok = ok && getrlimit(RLIMIT_NOFILE, &now) == 0 && now.rlim_cur == 700;
        ok = ok && descriptor_shares_current().web == descriptor_shares_of_limit(700).web;
        _exit(ok ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

TEST(the_soft_limit_of_another_process_is_lowered)
{
    struct rlimit before, after;
    int hold[2];

    assert_int_equal(pipe2(hold, O_CLOEXEC), 0);
    pid_t pid = fork();

    if (pid == 0) {
        char byte;

        descriptors_raise_limit();
        close(hold[1]);
        _exit(read(hold[0], &byte, 1) == 0 ? 0 : 1);
    }
    do
        assert_int_equal(prlimit(pid, RLIMIT_NOFILE, NULL, &before), 0);
    while (before.rlim_cur != before.rlim_max);
    descriptors_lower_limit(pid);
    assert_int_equal(prlimit(pid, RLIMIT_NOFILE, NULL, &after), 0);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    close(hold[0]);
    close(hold[1]);
    assert_int_equal(after.rlim_cur, before.rlim_max < 1024 ? before.rlim_max : 1024);
    assert_int_equal(after.rlim_max, before.rlim_max);
}

/* poll(2) fails for more descriptors than the limit. The loop must then neither spin nor stop. */
TEST(a_failed_poll_reports_all_descriptors_after_a_pause)
{
    struct rlimit before, low;
    struct pollfd wanted[] = {
        {.fd = STDIN_FILENO, .events = POLLIN},
        {.fd = -1, .events = POLLIN},
        {.fd = STDOUT_FILENO, .events = POLLOUT},
    };

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    low = (struct rlimit){.rlim_cur = 2, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    int64_t start_ms = platform_steady_ms();
    int ready = descriptors_poll(wanted, 3, -1);
    int64_t paused_ms = platform_steady_ms() - start_ms;

    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(ready, 3);
    assert_true(paused_ms >= 10);
    assert_int_equal(wanted[0].revents, POLLIN);
    assert_int_equal(wanted[1].revents, 0);
    assert_int_equal(wanted[2].revents, POLLOUT);
    assert_int_equal(descriptors_poll(wanted + 1, 1, 0), 0);
}
