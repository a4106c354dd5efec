/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/files/manifest_reader.h"

#include "tests/unit/suite.h"

enum { TOTAL = 3 * COMPRESSED_BLOCK + 12345 };

/* Returns the test byte at a position. A sequence of them compresses a little. */
static char byte_at(size_t at)
{
    return (char)((at * 7919 + at / 1000) % 61);
}

static void add_bytes(struct compressed_queue *q, size_t from, size_t to)
{
    char piece[1000];

    while (from < to) {
        size_t len = to - from < sizeof(piece) ? to - from : sizeof(piece);

        for (size_t i = 0; i < len; i++)
            piece[i] = byte_at(from + i);
        assert_true(compressed_queue_add(q, piece, len));
        from += len;
    }
}

static void assert_reads(struct compressed_queue *q, size_t from, size_t to)
{
    char piece[777];

    while (from < to) {
        size_t len = to - from < sizeof(piece) ? to - from : sizeof(piece);

        assert_int_equal(compressed_queue_read(q, piece, len), len);
        for (size_t i = 0; i < len; i++)
            assert_int_equal(piece[i], byte_at(from + i));
        from += len;
    }
}

TEST(bytes_are_read_in_the_order_of_appending)
{
    static const size_t sizes[] = {
        0, 1, 999, COMPRESSED_BLOCK - 1, COMPRESSED_BLOCK, COMPRESSED_BLOCK + 1, TOTAL};
    CLEANUP(compressed_queue_release) struct compressed_queue q;
    char rest[10];

    compressed_queue_init(&q, TOTAL);
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        add_bytes(&q, 0, sizes[i]);
        assert_reads(&q, 0, sizes[i]);
        assert_int_equal(compressed_queue_read(&q, rest, sizeof(rest)), 0);
        assert_int_equal(q.len, 0);
        compressed_queue_release(&q);
    }
}

TEST(a_read_at_the_end_returns_the_remaining_bytes)
{
    CLEANUP(compressed_queue_release) struct compressed_queue q;
    char bytes[10];

    compressed_queue_init(&q, 100);
    assert_true(compressed_queue_add(&q, "abc", 3));
    assert_int_equal(compressed_queue_read(&q, bytes, sizeof(bytes)), 3);
    assert_memory_equal(bytes, "abc", 3);
}

TEST(the_maximum_applies_to_compressed_bytes)
{
    CLEANUP(compressed_queue_release) struct compressed_queue q;
    CLEANUP(free_cleanup) char *zeros = xcalloc(1, COMPRESSED_BLOCK);
    uint32_t random = 1;
    bool fits = true;

    compressed_queue_init(&q, 2 * COMPRESSED_BLOCK);
    for (int i = 0; i < 100; i++)
        assert_true(compressed_queue_add(&q, zeros, COMPRESSED_BLOCK));
    assert_true(q.len < COMPRESSED_BLOCK);
    for (int i = 0; i < 3 && fits; i++) {
        for (size_t j = 0; j < COMPRESSED_BLOCK; j++) {
            random = random * 1664525 + 1013904223;
            zeros[j] = (char)(random >> 24);
        }
        fits = compressed_queue_add(&q, zeros, COMPRESSED_BLOCK);
    }
    assert_false(fits);
}
