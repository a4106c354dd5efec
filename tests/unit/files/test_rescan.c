/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/files/rescan.h"

#include <fcntl.h>
#include <unistd.h>

#include "tests/unit/suite.h"

enum { NOW_MS = 5000, PAUSE_MS = 1000, WAIT_MS = 100 };

static void wait_for_byte(struct job_output *out, const char *input, size_t len, int fd)
{
    char byte;

    (void)out;
    (void)input;
    (void)len;
    (void)!read(fd, &byte, 1);
}

TEST(a_job_that_hangs_has_no_deadline_after_its_pause)
{
    const char *const paths[] = {"/nowhere"};
    struct error err;
    struct workers *w = workers_start(NULL, &err);
    struct rescan rescan = {.workers = w};
    struct tree tree;
    int ends[2];

    assert_non_null(w);
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    tree_init(&tree, paths, 1);
    rescan_hold(&rescan, &tree.paths[0], job_start(w, wait_for_byte, "", 0, ends[0]), NOW_MS);
    assert_int_equal(rescan_due(&rescan, &tree), NOW_MS + PAUSE_MS);
    assert_false(rescan_step(&rescan, &tree, NOW_MS));
    assert_int_equal(rescan_due(&rescan, &tree), NOW_MS + PAUSE_MS);
    assert_false(rescan_step(&rescan, &tree, NOW_MS + PAUSE_MS));
    assert_int_equal(rescan_due(&rescan, &tree), INT64_MAX);
    assert_int_equal(rescan.held_count, 1);

    /* The descriptor reports that the job goes on: the PATH is walked again. */
    assert_int_equal(write(ends[1], "x", 1), 1);
    while (rescan.held_count > 0) {
        workers_wait(w, WAIT_MS);
        workers_turn(w);
        (void)rescan_step(&rescan, &tree, NOW_MS + PAUSE_MS);
    }
    assert_true(rescan_wanted(&rescan, &tree));
    rescan_release(&rescan);
    tree_release(&tree);
    workers_free(w);
    close(ends[0]);
    close(ends[1]);
}
