/* SPDX-License-Identifier: Apache-2.0 */
/* Runs test_asset_source.c with a file reader: a thread reads the file. */
#define WITH_READER true
#include <fcntl.h>

#include "tests/unit/files/test_asset_source.c"

static void read_byte(struct read_job *job, void *input)
{
    const int *fd = input;
    char byte;

    (void)job;
    (void)!read(*fd, &byte, 1);
}

/* The limit of hanging jobs for one PATH is reached, so the reader refuses to read the export. */
TEST_WITH(a_refused_read_is_tried_again, set_up, tear_down)
{
    struct fixture *b = *state;
    struct read_job *jobs[ABANDONED_MAX_PER_PATH];
    struct read_result result;
    int ends[2];

    folder_write(b->folder, "assets", ASSET("t", LEASED));
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    for (size_t i = 0; i < ARRAY_LEN(jobs); i++) {
        jobs[i] = read_job_start(b->reader, b->path, read_byte, ends, NULL);
        while (read_job_next(jobs[i], b->now_ms, &result) != JOB_HANGS)
            b->now_ms += SLICE_MS;
    }

    for (int round = 0; round < 3; round++) {
        b->now_ms += CHECK_MS;
        asset_source_pump(b->source, b->now_ms, SLICE_MS);
        assert_true(is_settled(b));
        assert_false(asset_source_ready(b->source));
        assert_true(asset_source_hangs(b->source));
        assert_non_null(strstr(asset_source_problem(b->source), b->path));
    }

    assert_int_equal(write(ends[1], "yyy", ABANDONED_MAX_PER_PATH), ABANDONED_MAX_PER_PATH);
    while (file_reader_abandoned(b->reader) > 0)
        file_reader_wait(b->reader, 1);
    for (size_t i = 0; i < ARRAY_LEN(jobs); i++)
        read_job_free(jobs[i]);
    read_all(b);
    assert_true(asset_source_ready(b->source));
    assert_false(asset_source_hangs(b->source));
    assert_int_equal(lease_count(b), 1);
    close(ends[0]);
    close(ends[1]);
}
