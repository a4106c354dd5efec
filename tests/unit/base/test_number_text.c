/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/base/number.h"

#include <math.h>

#include "tests/unit/suite.h"

struct number_case {
    enum { INT, DOUBLE, SECONDS } type;
    int64_t whole;
    double number;
    const char *expect; /* Expected text; also the title of the test. */
};

static struct number_case cases[] = {
    {INT, 0, 0, "0"},
    {INT, 1000000, 0, "1000000"},
    {INT, -42, 0, "-42"},
    {INT, INT64_MAX, 0, "9223372036854775807"},
    {INT, INT64_MIN, 0, "-9223372036854775808"},
    {DOUBLE, 0, 1e6, "1000000"},
    {DOUBLE, 0, 1767225600, "1767225600"},
    {DOUBLE, 0, -3, "-3"},
    {DOUBLE, 0, 9007199254740992, "9007199254740992"},
    {DOUBLE, 0, 1e300, "1e+300"},
    {DOUBLE, 0, 0.1, "0.1"},
    {DOUBLE, 0, 1767225600.123, "1767225600.123"},
    {DOUBLE, 0, 1.0 / 3, "0.3333333333333333"},
    {DOUBLE, 0, 0.1 + 0.2, "0.30000000000000004"},
    {DOUBLE, 0, (double)NAN, "NaN"},
    {DOUBLE, 0, (double)INFINITY, "+Inf"},
    {DOUBLE, 0, -(double)INFINITY, "-Inf"},
    {SECONDS, 1500, 0, "1.5"},
    {SECONDS, 1767225600000, 0, "1767225600"},
    {SECONDS, 1767225600007, 0, "1767225600.007"},
    {SECONDS, 120, 0, "0.12"},
    {SECONDS, -1, 0, "-0.001"},
};

TEST_ROWS(number_is_formatted_as, cases, expect)
{
    const struct number_case *c = *state;
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(64);

    if (c->type == INT)
        strbuf_add_int(&out, c->whole);
    else if (c->type == DOUBLE)
        strbuf_add_double(&out, c->number);
    else
        strbuf_add_seconds(&out, c->whole);
    assert_string_equal(out.data, c->expect);
}
