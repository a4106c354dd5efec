/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/http/connection_pool.h"

#include "tests/unit/suite.h"

enum { FIRST = 80 };

TEST(three_equal_connections_in_a_row_set_the_limit)
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

TEST(drained_connections_set_no_limit)
{
    static const unsigned rooms[] = {3, 1, 1, 3, 3, 2, 2, 3, 0, 0, 0};
    struct stream_capacity c;

    stream_capacity_init(&c, FIRST);
    for (size_t i = 0; i < ARRAY_LEN(rooms); i++)
        stream_capacity_note_full(&c, rooms[i]);
    assert_int_equal(c.streams, FIRST);
}

TEST(limit_is_not_below_the_streams_of_a_connection)
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
    /* The limit can also rise, for example after a change of the server's configuration. */
    for (unsigned i = 0; i < 3; i++)
        stream_capacity_note_full(&c, 20);
    assert_int_equal(c.streams, 20);
}
