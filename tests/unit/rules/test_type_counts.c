/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/selector_index.h"

#include "tests/unit/suite.h"

enum { KINDS = 40 };

/* Returns the text of kind number `i`. The order of the addresses differs from the order of use. */
static const char *kind_at(const char texts[KINDS][8], unsigned i)
{
    return texts[i * 17 % KINDS];
}

static void assert_order(const struct type_counts *c, const char *const *kinds, size_t count)
{
    const char *api_version, *kind;
    size_t at = 0;

    for (size_t i = 0; i < count; i++) {
        assert_true(type_counts_next(c, &at, &api_version, &kind));
        assert_ptr_equal(kind, kinds[i]);
    }
    assert_false(type_counts_next(c, &at, &api_version, &kind));
}

TEST(types_are_listed_in_the_order_of_their_first_use)
{
    static const char api_version[] = "v1";
    char texts[KINDS][8] = {{0}};
    const char *kinds[KINDS];
    struct type_counts c;

    type_counts_init(&c, 1);
    for (unsigned i = 0; i < KINDS; i++) {
        kinds[i] = kind_at((const char(*)[8])texts, i);
        type_counts_add(&c, api_version, kinds[i]);
        if (i > 0)
            type_counts_add(&c, api_version, kinds[i / 2]);
    }
    assert_order(&c, kinds, KINDS);
    assert_int_equal(type_counts_get(&c, api_version, kinds[KINDS - 1]), 1);

    uint64_t version = c.version;
    type_counts_remove(&c, api_version, kinds[0]);
    assert_order(&c, kinds, KINDS);
    assert_int_equal(c.version, version);
    type_counts_remove(&c, api_version, kinds[0]);
    assert_order(&c, kinds + 1, KINDS - 1);
    assert_int_not_equal(c.version, version);
    type_counts_release(&c);
}
