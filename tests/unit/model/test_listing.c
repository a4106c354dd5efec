/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/store.h"

#include "tests/unit/random_object.h"
#include "tests/unit/suite.h"

enum { OBJECTS = 300 };

TEST(listing_is_sorted_and_has_each_object_once)
{
    static const enum object_class classes[] = {CLASS_TEMPLATE, CLASS_POLICY, CLASS_BINDING};
    struct world w;

    world_init(&w, &rules_options_default, 3);
    for (size_t i = 0; i < OBJECTS; i++) {
        cJSON *object = random_object(&w);

        world_put(&w, object);
        cJSON_Delete(object);
        if (i % 5 == 0)
            store_remove(w.store, world_pick(&w));
    }
    world_run(&w, 0);
    for (size_t i = 0; i < ARRAY_LEN(classes); i++) {
        CLEANUP(listing_release) struct listing listing = listing_make(w.store, classes[i]);

        assert_true(listing.count > 1);
        assert_int_equal(listing.count, store_object_count(w.store, classes[i]));
        for (size_t k = 0; k < listing.count; k++) {
            assert_non_null(entry_object(listing.entries[k]));
            assert_int_equal(entry_class(listing.entries[k]), classes[i]);
            assert_true(k == 0 || entry_compare(listing.entries[k - 1], listing.entries[k]) < 0);
        }
    }
    world_release(&w);
}

TEST(listing_of_an_empty_store_is_empty)
{
    struct world w;

    world_init(&w, &rules_options_default, 3);
    CLEANUP(listing_release) struct listing listing = listing_make(w.store, CLASS_TEMPLATE);
    assert_int_equal(listing.count, 0);
    world_release(&w);
}
