/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/files/manifest_source.h"

#include <fcntl.h>
#include <unistd.h>

#include "tests/unit/suite.h"

enum { NOW_MS = 5000, PAUSE_MS = 1000, WAIT_MS = 100 };

static void read_byte(struct read_job *job, void *input)
{
    const int *fd = input;
    char byte;

    (void)job;
    (void)!read(*fd, &byte, 1);
}

TEST(a_job_that_hangs_has_no_deadline_after_its_pause)
{
    const char *const paths[] = {"/nowhere"};
    struct error err;
    struct file_reader *reader = file_reader_new(&err);
    struct path_walk path_walk = {.reader = reader};
    struct manifest_tree manifest_tree;
    int ends[2];

    assert_non_null(reader);
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    manifest_tree_init(&manifest_tree, paths, 1);
    path_walk_keep_job(&path_walk, &manifest_tree.paths[0],
                       read_job_start(reader, "", read_byte, ends, NULL), NOW_MS);
    assert_int_equal(path_walk_due(&path_walk, &manifest_tree), NOW_MS + PAUSE_MS);
    assert_false(path_walk_step(&path_walk, &manifest_tree, NOW_MS));
    assert_int_equal(path_walk_due(&path_walk, &manifest_tree), NOW_MS + PAUSE_MS);
    assert_false(path_walk_step(&path_walk, &manifest_tree, NOW_MS + PAUSE_MS));
    assert_int_equal(path_walk_due(&path_walk, &manifest_tree), INT64_MAX);
    assert_int_equal(path_walk.hanging_count, 1);

    /* When the job returns, a walk of the PATH becomes pending. */
    assert_int_equal(write(ends[1], "x", 1), 1);
    while (path_walk.hanging_count > 0) {
        file_reader_wait(reader, WAIT_MS);
        (void)path_walk_step(&path_walk, &manifest_tree, NOW_MS + PAUSE_MS);
    }
    assert_true(path_walk_is_pending(&path_walk, &manifest_tree));
    path_walk_release(&path_walk);
    manifest_tree_release(&manifest_tree);
    assert_true(file_reader_free(reader));
    close(ends[0]);
    close(ends[1]);
}

/* All threads of the reader hang: without a pause the loop would retry the PATH on each turn. */
TEST(a_path_without_a_free_thread_is_retried_after_a_pause)
{
    const char *const paths[] = {"/held", "/nowhere"};
    struct error err;
    struct file_reader *reader = file_reader_new(&err);
    struct path_walk path_walk = {.reader = reader};
    struct manifest_tree manifest_tree;
    int64_t now_ms = NOW_MS;
    int ends[2];

    assert_non_null(reader);
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    manifest_tree_init(&manifest_tree, paths, ARRAY_LEN(paths));
    for (size_t i = 0; i < HANGING_MAX; i++) {
        struct read_job *job = read_job_start(reader, "", read_byte, ends, NULL);
        struct read_result result;

        while (read_job_next(job, now_ms, &result) == JOB_WAITS) {
            now_ms += WAIT_MS;
            usleep(100);
        }
        path_walk_keep_job(&path_walk, &manifest_tree.paths[0], job, now_ms);
    }
    assert_int_equal(file_reader_abandoned(reader), ABANDONED_MAX);
    manifest_tree.paths[1].needs_walk = true;
    assert_true(path_walk_step(&path_walk, &manifest_tree, now_ms));
    assert_true(path_walk_step(&path_walk, &manifest_tree, now_ms));
    assert_false(path_walk_step(&path_walk, &manifest_tree, now_ms));
    assert_int_equal(path_walk_due(&path_walk, &manifest_tree), now_ms + PAUSE_MS);
    assert_true(path_walk_step(&path_walk, &manifest_tree, now_ms + PAUSE_MS));

    close(ends[1]);
    path_walk_release(&path_walk);
    manifest_tree_release(&manifest_tree);
    while (file_reader_abandoned(reader) > 0)
        usleep(1000);
    assert_true(file_reader_free(reader));
    close(ends[0]);
}
