/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/base/timestamp.h"

#include "tests/unit/suite.h"

static struct parse_case {
    const char *text;
    int64_t ms;
} parse_cases[] = {
    {"1970-01-01T00:00:00Z", 0},
    {"1970-01-01T00:00:01Z", 1000},
    {"1969-12-31T23:59:59Z", -1000},
    {"1969-12-31T23:59:59.5Z", -500},
    {"2000-02-29T12:00:00Z", INT64_C(951825600000)},
    {"2026-01-31T23:59:59Z", INT64_C(1769903999000)},
    {"2038-01-19T03:14:08Z", INT64_C(2147483648000)},
    {"0000-01-01T00:00:00Z", INT64_C(-62167219200000)},
    {"0000-02-29T00:00:00Z", INT64_C(-62162121600000)},
    {"9999-12-31T23:59:59.999Z", INT64_C(253402300799999)},
    {"2026-01-01T00:00:00.1Z", INT64_C(1767225600100)},
    {"2026-01-01T00:00:00.0019999Z", INT64_C(1767225600001)},
    {"2026-01-01T00:00:00.123456789012345678901Z", INT64_C(1767225600123)},
    {"2026-01-01T02:00:00+02:00", INT64_C(1767225600000)},
    {"2025-12-31T18:29:00-05:31", INT64_C(1767225600000)},
    {"2026-01-01T00:00:00-00:00", INT64_C(1767225600000)},
    {"2026-01-01T23:59:00+23:59", INT64_C(1767225600000)},
};

TEST_ROWS(valid_timestamp_is_parsed, parse_cases, text)
{
    const struct parse_case *c = *state;
    int64_t ms;

    assert_true(parse_timestamp(c->text, &ms));
    assert_true(ms == c->ms);
}

static struct refused_case {
    char text[40];
} refused[] = {
    {""},
    {"2026"},
    {"2026-01-01"},
    {"2026-01-01T00:00:00"},
    {"2026-01-01 00:00:00Z"},
    {"2026-01-01t00:00:00Z"},
    {"2026-01-01T00:00:00z"},
    {" 2026-01-01T00:00:00Z"},
    {"2026-01-01T00:00:00Z "},
    {"2026-01-01T00:00:00ZZ"},
    {"26-01-01T00:00:00Z"},
    {"12026-01-01T00:00:00Z"},
    {"-026-01-01T00:00:00Z"},
    {"2026-00-01T00:00:00Z"},
    {"2026-13-01T00:00:00Z"},
    {"2026-01-00T00:00:00Z"},
    {"2026-01-32T00:00:00Z"},
    {"2026-04-31T00:00:00Z"},
    {"2026-02-29T00:00:00Z"},
    {"1900-02-29T00:00:00Z"},
    {"2026-1-01T00:00:00Z"},
    {"2026-01-01T24:00:00Z"},
    {"2026-01-01T00:60:00Z"},
    {"2026-01-01T00:00:60Z"},
    {"2026-01-01T0:00:00Z"},
    {"2026-01-01T00:00Z"},
    {"2026-01-01T00:00:00.Z"},
    {"2026-01-01T00:00:00,5Z"},
    {"2026-01-01T00:00:00.5"},
    {"2026-01-01T00:00:00+0000"},
    {"2026-01-01T00:00:00+00"},
    {"2026-01-01T00:00:00+24:00"},
    {"2026-01-01T00:00:00+00:60"},
    {"2026-01-01T00:00:00+00:00Z"},
    {"2026/01/01T00:00:00Z"},
};

TEST_ROWS(invalid_timestamp_is_rejected, refused, text)
{
    const struct refused_case *c = *state;
    int64_t ms = 42;

    assert_false(parse_timestamp(c->text, &ms));
    assert_true(ms == 42);
}

static struct format_case {
    int64_t ms;
    const char *text;
} format_cases[] = {
    {0, "1970-01-01T00:00:00Z"},
    {999, "1970-01-01T00:00:00Z"},
    {-1, "1969-12-31T23:59:59Z"},
    {INT64_C(951825600000), "2000-02-29T12:00:00Z"},
    {INT64_C(1769903999999), "2026-01-31T23:59:59Z"},
    {INT64_C(-62167219200000), "0000-01-01T00:00:00Z"},
    {INT64_C(253402300799999), "9999-12-31T23:59:59Z"},
    {INT64_MAX, "292278994-08-17T07:12:55Z"},
    {INT64_MIN, "-292275055-05-16T16:47:04Z"},
};

TEST_ROWS(time_is_formatted, format_cases, text)
{
    const struct format_case *c = *state;
    char text[32];

    format_timestamp(c->ms, text);
    assert_string_equal(text, c->text);
}

TEST(seconds_outside_32_bits_are_0)
{
    assert_int_equal(timestamp_seconds(INT64_MIN), 0);
    assert_int_equal(timestamp_seconds(-1000), 0);
    assert_int_equal(timestamp_seconds(999), 0);
    assert_int_equal(timestamp_seconds(INT64_C(1769903999999)), 1769903999);
    assert_int_equal(timestamp_seconds(UINT32_MAX * INT64_C(1000) + 999), UINT32_MAX);
    assert_int_equal(timestamp_seconds((UINT32_MAX + INT64_C(1)) * 1000), 0);
    assert_int_equal(timestamp_seconds(INT64_MAX), 0);
}

/* One time on each day of the years 0 to 9999. */
TEST(formatted_time_parses_to_the_same_time)
{
    int64_t day_ms = INT64_C(86400000);
    unsigned second = 0;

    for (int64_t ms = INT64_C(-62167219200000); ms < INT64_C(253402300800000); ms += day_ms) {
        int64_t sent = ms + second * INT64_C(1000);
        char text[32];
        int64_t back;

        second = (second + 7919) % 86400;
        format_timestamp(sent, text);
        assert_true(parse_timestamp(text, &back));
        assert_true(back == sent);
    }
}

/* The C library is the reference: it normalizes a day that the month does not have. */
TEST(dates_are_as_in_the_c_library)
{
    static const int days[] = {1, 28, 29, 30, 31};

    for (int year = 0; year <= 9999; year++) {
        for (int month = 0; month < 12; month++) {
            for (size_t i = 0; i < ARRAY_LEN(days); i++) {
                struct tm civil = {.tm_year = year - 1900, .tm_mon = month, .tm_mday = days[i]};
                int64_t expected_s = timegm(&civil);
                char text[64];
                int64_t ms = 0;

                snprintf(text, sizeof(text), "%04d-%02d-%02dT00:00:00Z", year, month + 1, days[i]);
                assert_int_equal(parse_timestamp(text, &ms), civil.tm_mday == days[i]);
                if (civil.tm_mday == days[i])
                    assert_int_equal(ms, expected_s * 1000);
            }
        }
    }
}
