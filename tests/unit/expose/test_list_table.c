/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/list_table.h"

#include "metrics/base/csv.h"
#include "metrics/expose/cluster_lists.h"
#include "metrics/expose/list_rows.h"
#include "metrics/expose/policy_lists.h"
#include "tests/unit/suite.h"

enum { TEXT_MAX = 1 << 16 };

struct fruit {
    const char *name;
    int64_t weight; /* Negative: unknown. */
    unsigned color;
};

static const char *const colors[] = {"red", "green", "blue"};

static struct list_value name_of(const void *row)
{
    return list_text(((const struct fruit *)row)->name);
}

static struct list_value weight_of(const void *row)
{
    int64_t weight = ((const struct fruit *)row)->weight;

    return list_number_if(weight >= 0, weight);
}

static struct list_value color_of(const void *row)
{
    return list_word(colors, ARRAY_LEN(colors), ((const struct fruit *)row)->color);
}

static struct list_value milli_of(const void *row)
{
    return list_number(((const struct fruit *)row)->weight * 500);
}

static bool name_contains(const void *row, const char *wanted)
{
    return strstr(name_of(row).text, wanted);
}

static const struct list_column columns[] = {
    {.name = "color",
     .heading = "Color",
     .kind = LIST_WORD,
     .words = colors,
     .word_count = ARRAY_LEN(colors),
     .flags = LIST_JSON_LAST,
     .then = "weight",
     .value = color_of},
    {.name = "name", .heading = "Name", .value = name_of},
    {.name = "part", .flags = LIST_FILTER_ONLY, .value = name_of, .matches = name_contains},
    {.name = "weight", .kind = LIST_NUMBER, .value = weight_of},
    {.name = "cores", .kind = LIST_CORES, .value = milli_of},
    {.name = "seen", .kind = LIST_BOOL, .flags = LIST_OMIT_NULL, .value = weight_of},
    {.name = "shown", .heading = "Shown", .flags = LIST_PAGE_ONLY, .value = name_of},
    {.name = NULL},
};

static const struct list fruits = {
    .kind = "FruitList", .columns = columns, .row_size = sizeof(struct fruit)};

static const struct fruit rows[] = {
    {"plum", 3, 2}, {"apple", 5, 0}, {"cherry", -1, 0}, {"lime", 3, 1}, {"fig", 1, 3},
};

static struct order_case {
    const char *title;
    const char *column; /* NULL: no order. */
    bool reverse;
    const char *names;
} order_cases[] = {
    {"order of the rows", NULL, false, "plum apple cherry lime fig"},
    {"text", "name", false, "apple cherry fig lime plum"},
    {"text in reverse", "name", true, "plum lime fig cherry apple"},
    {"number, unknown last, equal ones as before", "weight", false, "fig plum lime apple cherry"},
    {"number in reverse, unknown last", "weight", true, "apple plum lime fig cherry"},
    {"word by rank, then by the next column", "color", false, "apple cherry lime plum fig"},
};

static void check_names(const struct list_selection *s, const char *wanted)
{
    CLEANUP(strbuf_release) struct strbuf names = STRBUF_INIT(TEXT_MAX);

    for (size_t i = 0; i < s->count; i++)
        strbuf_addf(&names, "%s%s", i > 0 ? " " : "", name_of(s->rows[i]).text);
    assert_string_equal(names.len ? names.data : "", wanted);
}

TEST_ROWS(rows_are_ordered_by, order_cases, title)
{
    const struct order_case *c = *state;
    CLEANUP(list_selection_release)
    struct list_selection s = list_all(&fruits, rows, ARRAY_LEN(rows));
    struct list_filter filter = {.count = 0};

    list_select(&s, &filter, (struct list_order){list_find_column(&fruits, c->column), c->reverse});
    check_names(&s, c->names);
}

enum { MANY = 700, NAME_LEN = 12 };

/* Rows in one of three arrangements, with equal values. */
static void fill_fruits(struct fruit *out, char (*names)[NAME_LEN], unsigned arrangement)
{
    uint32_t random = 7;

    for (unsigned i = 0; i < MANY; i++) {
        random = random * 1664525 + 1013904223;
        unsigned value = arrangement == 0 ? random >> 16 : arrangement == 1 ? i / 3 : MANY - i;

        snprintf(names[i], NAME_LEN, "%05u", value % 1000);
        out[i] = (struct fruit){names[i], value % 50 ? (int64_t)value % 50 : -1, value % 4};
    }
}

static struct part_case {
    const char *title;
    size_t first, end;
} part_cases[] = {
    {"no row", 0, 0},
    {"first row", 0, 1},
    {"first rows", 0, 100},
    {"rows in the middle", 300, 400},
    {"last rows", 650, MANY},
    {"one row in the middle", 333, 334},
    {"last row", MANY - 1, MANY},
    {"all rows", 0, MANY},
};

TEST_ROWS(a_part_has_the_rows_of_the_whole_order, part_cases, title)
{
    static const char *const names[] = {"color", "name", "weight"};
    const struct part_case *c = *state;
    struct fruit many[MANY];
    char texts[MANY][NAME_LEN];
    struct list_filter filter = {.count = 0};

    for (unsigned i = 0; i < 3 * ARRAY_LEN(names) * 2; i++) {
        struct list_order order = {list_find_column(&fruits, names[i / 6]), i % 2};
        CLEANUP(list_selection_release) struct list_selection whole = {0};
        CLEANUP(list_selection_release) struct list_selection part = {0};

        fill_fruits(many, texts, i / 2 % 3);
        whole = list_all(&fruits, many, MANY);
        part = list_all(&fruits, many, MANY);
        list_select(&whole, &filter, order);
        list_order_part(&part, order, c->first, c->end);
        assert_int_equal(part.count, MANY);
        assert_memory_equal(&part.rows[c->first], &whole.rows[c->first],
                            (c->end - c->first) * sizeof(*part.rows));
    }
}

static struct filter_case {
    const char *title;
    const char *column;
    struct list_condition condition; /* `column` is set by the test. */
    const char *names;
} filter_cases[] = {
    {"text", "name", {.text = "plum"}, "plum"},
    {"another text", "name", {.text = "pear"}, ""},
    {"different text",
     "name",
     {.comparison = LIST_DIFFERENT, .text = "plum"},
     "apple cherry lime fig"},
    {"word", "color", {.text = "red"}, "apple cherry"},
    {"different word, also an unknown one",
     "color",
     {.comparison = LIST_DIFFERENT, .text = "red"},
     "plum lime fig"},
    {"part of a text", "part", {.text = "l"}, "plum apple lime"},
    {"equal number", "weight", {.number = 3, .numeric = true}, "plum lime"},
    {"more", "weight", {.comparison = LIST_MORE, .number = 3, .numeric = true}, "apple"},
    {"less", "weight", {.comparison = LIST_LESS, .number = 3, .numeric = true}, "fig"},
};

TEST_ROWS(rows_match_a_condition_on, filter_cases, title)
{
    const struct filter_case *c = *state;
    CLEANUP(list_selection_release)
    struct list_selection s = list_all(&fruits, rows, ARRAY_LEN(rows));
    struct list_filter filter = {.count = 0};
    struct list_condition condition = c->condition;

    condition.column = list_find_column(&fruits, c->column);
    assert_true(list_filter_add(&filter, condition));
    list_select(&s, &filter, (struct list_order){NULL, false});
    check_names(&s, c->names);
}

TEST(counts_ignore_the_conditions_on_their_own_column)
{
    CLEANUP(list_selection_release)
    struct list_selection s = list_all(&fruits, rows, ARRAY_LEN(rows));
    const struct list_column *color = list_find_column(&fruits, "color");
    struct list_filter filter = {.count = 0};
    size_t counts[ARRAY_LEN(colors)] = {0};

    assert_true(
        list_filter_add(&filter, (struct list_condition){color, LIST_EQUAL, "green", 0, 0}));
    assert_true(
        list_filter_add(&filter, (struct list_condition){list_find_column(&fruits, "weight"),
                                                         LIST_MORE, NULL, 2, true}));
    list_count_words(&s, &filter, color, counts);
    assert_int_equal(counts[0], 1);
    assert_int_equal(counts[1], 1);
    assert_int_equal(counts[2], 1);
}

TEST(json_and_csv_come_from_the_same_columns)
{
    CLEANUP(strbuf_release) struct strbuf json = STRBUF_INIT(TEXT_MAX), csv = STRBUF_INIT(TEXT_MAX);
    struct json_writer w = {.out = &json};
    char **titles = list_csv_columns(&fruits);

    list_write_row(&w, &fruits, NULL, &rows[0]);
    assert_string_equal(json.data, "{\"name\":\"plum\",\"weight\":3,\"cores\":1.5,\"seen\":true,"
                                   "\"color\":\"blue\"}");
    csv_add_headings(&csv, (const char *const *)titles);
    assert_true(csv_add_row(&csv, (const char *const *)titles, json.data, json.len));
    assert_string_equal(csv.data, "name,weight,cores,seen,color\r\nplum,3,1.5,true,blue\r\n");
    strbuf_reset(&json);
    w = (struct json_writer){.out = &json};
    list_write_row(&w, &fruits, NULL, &rows[2]);
    assert_string_equal(json.data, "{\"name\":\"cherry\",\"weight\":null,\"cores\":-0.5,"
                                   "\"color\":\"red\"}");
    list_free_csv_columns(titles);
}

/* Each list has one column of a name, and the columns that it names. */
TEST(lists_are_consistent)
{
    static const struct list *const lists[] = {&template_list, &policy_list, &conflict_list,
                                               &cluster_list, &namespace_list};

    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        for (const struct list_column *c = lists[i]->columns; c->name; c++) {
            assert_ptr_equal(list_find_column(lists[i], c->name), c);
            assert_non_null(c->value);
            assert_false(c->heading && c->before);
            if (c->then)
                assert_true(list_find_column(lists[i], c->then) > c);
        }
        for (size_t k = 0; k < ARRAY_LEN(lists[i]->counted) && lists[i]->counted[k]; k++)
            assert_non_null(list_find_column(lists[i], lists[i]->counted[k])->words);
        /* Pages begin with the worst problem. */
        assert_string_equal(lists[i]->columns[0].name, "severity");
    }
}
