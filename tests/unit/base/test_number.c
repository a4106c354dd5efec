/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/base/number.h"

#include <math.h>
#include <zlib.h>

#include "metrics/base/json.h"
#include "tests/unit/suite.h"

enum { VECTORS_MAX = 1000, LINE_MAX_BYTES = 1024 };

/* Quantities, with the results of the parser of Kubernetes. */
static const char vectors_path[] = "tests/fixtures/vectors/quantity.jsonl.gz";

static struct int64_case {
    const char *text;
    bool valid;
    int64_t value;
} int64_cases[] = {
    {"0", true, 0},
    {"-0", true, 0},
    {"007", true, 7},
    {"-42", true, -42},
    {"9223372036854775807", true, INT64_MAX},
    {"-9223372036854775808", true, INT64_MIN},
    {"9223372036854775808", false, 0},
    {"-9223372036854775809", false, 0},
    {"18446744073709551616", false, 0},
    {"99999999999999999999999", false, 0},
    {"", false, 0},
    {"-", false, 0},
    {"--1", false, 0},
    {"+1", false, 0},
    {" 1", false, 0},
    {"1 ", false, 0},
    {"1.0", false, 0},
    {"0x10", false, 0},
    {"1e3", false, 0},
};

TEST_ROWS(int64_is_parsed, int64_cases, text)
{
    const struct int64_case *c = *state;
    int64_t value = 4242;

    assert_int_equal(parse_int64(c->text, &value), c->valid);
    assert_true(value == (c->valid ? c->value : 4242));
}

static struct order_case {
    const char *text;
    const char *other;
    enum number_order order;
} order_cases[] = {
    {"9", "10", NUMBER_LESS},
    {"10", "9", NUMBER_GREATER},
    {"10", "11", NUMBER_LESS},
    {"7", "7", NUMBER_EQUAL},
    {"007", "7", NUMBER_EQUAL},
    {"0", "000", NUMBER_EQUAL},
    {"0", "1", NUMBER_LESS},
    {"99999999999999999999999999999999", "100000000000000000000000000000000", NUMBER_LESS},
    {"18446744073709551616", "18446744073709551615", NUMBER_GREATER},
    {"abc", "abc", NUMBER_EQUAL},
    {"", "", NUMBER_EQUAL},
    {"abc", "abd", NUMBER_UNORDERED},
    {"", "1", NUMBER_UNORDERED},
    {"1", "1a", NUMBER_UNORDERED},
    {"-1", "1", NUMBER_UNORDERED},
    {"1.0", "2", NUMBER_UNORDERED},
};

TEST_ROWS(numbers_are_compared, order_cases, text)
{
    const struct order_case *c = *state;

    assert_int_equal(number_compare(c->text, c->other), c->order);
}

static struct uint_case {
    const char *text;
    uint64_t max;
    bool valid;
    uint64_t value;
} uint_cases[] = {
    {"0", 0, true, 0},
    {"1", 0, false, 0},
    {"9", 5, false, 0},
    {"65535", 65535, true, 65535},
    {"65536", 65535, false, 0},
    {"100000", 65535, false, 0},
    {"0000000000000000000000001", 1, true, 1},
    {"18446744073709551615", UINT64_MAX, true, UINT64_MAX},
    {"18446744073709551616", UINT64_MAX, false, 0},
    {"-1", UINT64_MAX, false, 0},
    {"-0", UINT64_MAX, false, 0},
    {"+1", UINT64_MAX, false, 0},
    {"", UINT64_MAX, false, 0},
    {"1a", UINT64_MAX, false, 0},
    {"1\n", UINT64_MAX, false, 0},
};

TEST_ROWS(uint_is_parsed, uint_cases, text)
{
    const struct uint_case *c = *state;
    uint64_t value = 4242;

    assert_int_equal(parse_uint(c->text, c->max, &value), c->valid);
    assert_true(value == (c->valid ? c->value : 4242));
}

struct quantity_case {
    const char *text;
    bool valid;
    double value;
};

/* Quantities that are not in the vectors. The results are those of the parser of Kubernetes. */
static struct quantity_case quantity_cases[] = {
    {"+", true, 0},
    {"-", true, 0},
    {".", true, 0},
    {"-.", true, 0},
    {"+-1", false, 0},
    {"1..0", false, 0},
    {"Ti", true, 0},
    {"Pi", false, 0},
    {"Ei", false, 0},
    {"0Ei", true, 0},
    {".Pi", false, 0},
    {"n", true, 0},
    {"e-9", true, 0},
    {"e-10", false, 0},
    {"0e-10", true, 0},
    {"0e999999", true, 0},
    {"1e-999999", true, 1e-9},
    {"-1e-12", true, -1e-9},
    {"0.0000000001Ki", true, 0.000000103},
    {"999999999.9n", true, 1},
    {"0.00000000000000000000000000000000000000000000000000000000000000000000000001Ki", true, 1e-9},
    {"123456789012345678901234567890", true, 123456789012345678901234567890.0},
    {"7Ei", true, 8070450532247928832.0},
    {"8Ei", true, 0x1p63},
    {"-9Ei", true, -0x1p63},
    {"1e", false, 0},
    {"1e+", false, 0},
    {"1e+-3", false, 0},
    {"1e++3", false, 0},
    {"1e007", true, 1e7},
    {"1e4294967299", true, 1000},
    {"1e9223372036854775808", false, 0},
    {"1e400", true, INFINITY},
    {"1i", false, 0},
    {"1KiKi", false, 0},
    {"1Ki3", false, 0},
};

TEST_ROWS(quantity_is_parsed, quantity_cases, text)
{
    const struct quantity_case *c = *state;
    double value = 4242;

    assert_int_equal(parse_quantity(c->text, &value), c->valid);
    if (!c->valid)
        assert_true(value == 4242);
    else
        assert_true(value == c->value || fabs(value - c->value) <= 1e-9 * fabs(c->value));
}

TEST(quantity_is_the_nearest_double)
{
    uint64_t random = 7;

    for (int round = 0; round < 20000; round++) {
        char text[64];
        double value;

        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        snprintf(text, sizeof(text), "%" PRIu64 "e%d", random >> (random % 61),
                 (int)(random >> 40 & 31) - 9);
        assert_true(parse_quantity(text, &value));
        assert_true(value == strtod(text, NULL));
    }
}

/* Rows of quantity_is_parsed(), which must exist while the tests run. */
static struct {
    struct quantity_case rows[VECTORS_MAX];
    size_t count;
} vectors;

static void close_gzip(gzFile *file)
{
    if (*file)
        gzclose(*file);
}

MADE_TESTS(load_vectors)
{
    CLEANUP(close_gzip) gzFile file = gzopen(vectors_path, "rb");
    char line[LINE_MAX_BYTES];
    struct error err;

    while (file && vectors.count < VECTORS_MAX && gzgets(file, line, sizeof(line))) {
        CLEANUP(json_cleanup) cJSON *tree = json_parse(line, strlen(line), NULL, &err);
        const cJSON *value = json_get(tree, "value");
        struct quantity_case *row = &vectors.rows[vectors.count];

        if (!tree)
            return;
        *row = (struct quantity_case){
            .text = xstrdup(json_str(tree, "quantity", "?")),
            .valid = json_bool(tree, "valid", false),
            .value = cJSON_IsNumber(value) ? value->valuedouble : 0,
        };
        vectors.count++;
        ADD_TEST(quantity_is_parsed, row->text, row);
    }
}

TEST(all_vectors_are_tested)
{
    assert_int_equal(vectors.count, 398);
}
