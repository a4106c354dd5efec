/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/http/connection_pool.h"

#include "tests/unit/suite.h"

enum { FIRST = 80 };

TEST(three_in_a_row_tell_the_limit)
{
    struct stream_capacity c;

    stream_capacity_init(&c, FIRST);
    stream_capacity_note_full(&c, 10);
    stream_capacity_note_full(&c, 10);
    assert_int_equal(c.streams, FIRST);
    stream_capacity_note_full(&c, 10);
    assert_int_equal(c.streams, 10);
    stream_capacity_init(&c, FIRST);
    assert_int_equal(c.streams, FIRST);
    stream_capacity_note_full(&c, 10);
    assert_int_equal(c.streams, FIRST);
}

TEST(connections_that_are_drained_tell_nothing)
{
    static const unsigned rooms[] = {3, 1, 1, 3, 3, 2, 2, 3, 0, 0, 0};
    struct stream_capacity c;

    stream_capacity_init(&c, FIRST);
    for (size_t i = 0; i < ARRAY_LEN(rooms); i++)
        stream_capacity_note_full(&c, rooms[i]);
    assert_int_equal(c.streams, FIRST);
}

TEST(no_limit_is_below_what_was_had)
{
    struct stream_capacity c;

    stream_capacity_init(&c, FIRST);
    stream_capacity_note_open(&c, 12);
    stream_capacity_note_open(&c, 5);
    for (unsigned i = 0; i < 5; i++)
        stream_capacity_note_full(&c, 11);
    assert_int_equal(c.streams, FIRST);
    for (unsigned i = 0; i < 3; i++)
        stream_capacity_note_full(&c, 12);
    assert_int_equal(c.streams, 12);
    /* The server was configured anew, and connections have come and gone one by one. */
    for (unsigned i = 0; i < 3; i++)
        stream_capacity_note_full(&c, 20);
    assert_int_equal(c.streams, 20);
}
