/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/reflector_request.h"

#include "tests/unit/suite.h"

TEST(places_are_reserved_for_required_resources)
{
    struct stream_limit limit = {.limit = 3};
    struct stream_slot required[2], others[2];

    for (unsigned i = 0; i < 2; i++) {
        stream_slot_init(&required[i], &limit, true);
        stream_slot_init(&others[i], &limit, false);
    }
    assert_true(stream_slot_enter(&others[0]));
    assert_true(stream_slot_enter(&others[0]));
    assert_false(stream_slot_enter(&others[1]));
    assert_true(stream_slot_enter(&required[0]));
    assert_false(stream_slot_enter(&others[1]));
    assert_true(stream_slot_enter(&required[1]));
    assert_false(stream_slot_enter(&others[1]));
    stream_slot_leave(&others[0]);
    stream_slot_leave(&others[0]);
    assert_true(stream_slot_enter(&others[1]));
    stream_slot_leave(&required[0]);
    assert_false(stream_slot_enter(&others[0]));
    stream_slot_release(&required[0]);
    assert_true(stream_slot_enter(&others[0]));
}
