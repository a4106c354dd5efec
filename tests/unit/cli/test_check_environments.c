/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/cli/check_environments.h"

#include "tests/unit/suite.h"

TEST(without_a_value_there_is_one_environment_without_a_name)
{
    const struct text_list none = {NULL, 0};
    struct environments e;
    struct error err;

    assert_true(environments_parse(&none, &e, &err));
    assert_int_equal(e.count, 1);
    assert_string_equal(e.items[0].name, "");
    assert_int_equal(e.items[0].paths.count, 0);
    environments_release(&e);
}

TEST(values_keep_their_order_and_paths)
{
    struct text_list values = {NULL, 0};
    struct environments e;
    struct error err;

    text_list_add(&values, "prod=a,b/c=d");
    text_list_add(&values, "a-1=x");
    assert_true(environments_parse(&values, &e, &err));
    assert_int_equal(e.count, 2);
    assert_string_equal(e.items[0].name, "prod");
    assert_int_equal(e.items[0].paths.count, 2);
    assert_string_equal(e.items[0].paths.items[0], "a");
    assert_string_equal(e.items[0].paths.items[1], "b/c=d");
    assert_string_equal(e.items[1].name, "a-1");
    environments_release(&e);
    text_list_release(&values);
}

static const struct wrong_case {
    const char *value;
    const char *error;
} wrong_cases[] = {
    {"prod", "write NAME=PATH[,PATH]"},
    {"", "write NAME=PATH[,PATH]"},
    {"=a", "'' is no name"},
    {"Prod=a", "'Prod' is no name"},
    {"a b=a", "'a b' is no name"},
    {"-a=x", "'-a' is no name"},
    {"a-=x", "'a-' is no name"},
    {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa=x", "is no name"},
    {"prod=", "a PATH is empty"},
    {"prod=a,,b", "a PATH is empty"},
    {"prod=,a", "a PATH is empty"},
    {"first=y", "'first' is set twice"},
};

TEST_ROWS(a_wrong_value_is_refused, wrong_cases, value)
{
    const struct wrong_case *c = *state;
    struct text_list values = {NULL, 0};
    struct environments e;
    struct error err;

    text_list_add(&values, "first=x");
    text_list_add(&values, c->value);
    assert_false(environments_parse(&values, &e, &err));
    if (!strstr(err.text, c->error))
        fail_msg("%s", err.text);
    environments_release(&e);
    text_list_release(&values);
}

TEST(the_number_of_environments_is_limited)
{
    struct text_list values = {NULL, 0};
    struct environments e;
    struct error err;
    char value[32];

    for (unsigned i = 0; i < ENVIRONMENTS_MAX; i++) {
        snprintf(value, sizeof(value), "e%u=x", i);
        text_list_add(&values, value);
    }
    assert_true(environments_parse(&values, &e, &err));
    assert_int_equal(e.count, ENVIRONMENTS_MAX);
    environments_release(&e);
    text_list_add(&values, "more=x");
    assert_false(environments_parse(&values, &e, &err));
    assert_string_equal(err.text, "more than 64 environments");
    environments_release(&e);
    text_list_release(&values);
}
