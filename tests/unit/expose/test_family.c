/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/family.h"

#include "tests/unit/suite.h"

static bool ends_in(const char *text, const char *end)
{
    size_t len = strlen(text);
    size_t end_len = strlen(end);

    return len >= end_len && strcmp(text + len - end_len, end) == 0;
}

static void check_name_and_help(const struct family_def *f)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz_0123456789";

    assert_int_equal(strspn(f->name, letters), strlen(f->name));
    assert_true(strncmp(f->name, "karmada_", 8) == 0 || strncmp(f->name, "process_", 8) == 0);
    assert_ptr_equal(family_find(f->name), f);
    if (!f->help || (!f->bound && family_free_label_count(f) > 0))
        fail_msg("%s: its row lacks the help or the bound", f->name);
    /* The help text needs no escapes in either format. */
    assert_null(strpbrk(f->help, "\\\"\n"));
    assert_true(ends_in(f->help, "."));
    assert_int_equal(ends_in(f->name, "_total"), f->type == FAMILY_COUNTER);
    assert_false(ends_in(f->name, "_count") || ends_in(f->name, "_sum"));
    for (const char *const *unit = (const char *const[]){"seconds", "bytes", NULL}; *unit; unit++) {
        bool has = strstr(f->name, *unit) != NULL;

        if (has != (f->unit && strcmp(f->unit, *unit) == 0))
            fail_msg("%s: the unit is not what the name says", f->name);
    }
}

static void check_labels(const struct family_def *f)
{
    unsigned free_labels = family_free_label_count(f);

    assert_null(f->labels[FAMILY_LABELS_MAX].name);
    for (unsigned i = 0; f->labels[i].name; i++) {
        assert_int_equal(f->labels[i].values != NULL, i >= free_labels);
        assert_int_equal(f->labels[i].value_count > 0, i >= free_labels);
        assert_string_not_equal(f->labels[i].name, "cluster");
        for (size_t k = 0; k < f->labels[i].value_count; k++)
            assert_non_null(f->labels[i].values[k]);
        for (unsigned k = 0; k < i; k++)
            assert_string_not_equal(f->labels[i].name, f->labels[k].name);
    }
}

static void check_numbers(const struct family_def *f)
{
    bool set = f->aggregation == AGGREGATE_NONE || f->aggregation == AGGREGATE_PROBLEMS;
    bool observed = !set && !f->of;

    assert_int_equal(f->collect != NULL, observed);
    assert_int_equal(f->classes != 0, observed);
    /* All label values are set as text, so these families have no enumerated labels. */
    assert_true(!set || family_series_per_set(f) == 1);
    assert_true(f->aggregation != AGGREGATE_PROBLEMS || family_remembers(f));
    assert_int_equal(f->type == FAMILY_HISTOGRAM, f->bucket_count > 0);
    assert_true(f->type != FAMILY_HISTOGRAM || f->aggregation == AGGREGATE_NONE ||
                f->aggregation == AGGREGATE_FIRST || f->aggregation == AGGREGATE_WAIT);
    assert_int_equal(f->aggregation == AGGREGATE_WAIT, f->ended != NULL);
    /*
     * A sparse family does not show series that are 0, so an absent series must mean 0, which is
     * true only of sums.
     */
    assert_true(!f->sparse || f->aggregation == AGGREGATE_SUM);
    assert_true(f->aggregation != AGGREGATE_FIRST ||
                (f->type == FAMILY_HISTOGRAM && !f->labels[0].name && !f->opt_in));
    assert_true(f->aggregation != AGGREGATE_MIN || strcmp(f->unit, "seconds") == 0);
    assert_true(f->aggregation != AGGREGATE_INCREASE || f->type == FAMILY_COUNTER);
    for (size_t i = 1; i < f->bucket_count; i++)
        assert_true(f->buckets[i - 1] < f->buckets[i]);
    /* A whole number would be "1.0" in OpenMetrics, but "1" in the text format: two series. */
    for (size_t i = 0; i < f->bucket_count; i++)
        assert_true(f->buckets[i] != (double)(int64_t)f->buckets[i]);
}

static void check_zeros(const struct family_def *f)
{
    if (f->aggregation != AGGREGATE_ZEROS)
        return;

    const struct family_def *of = family_find(f->of);

    assert_non_null(of);
    assert_true(of->aggregation == AGGREGATE_SUM && !of->opt_in && !f->opt_in);
    assert_true(f->counted_index < family_series_per_set(of));
    assert_string_equal(f->labels[0].name, of->labels[0].name);
    assert_null(of->labels[0].values);
    assert_non_null(f->labels[0].values);
    assert_null(f->labels[1].name);
}

static void check_present(const struct family_def *f)
{
    if (f->aggregation != AGGREGATE_PRESENT)
        return;

    const struct family_def *of = family_find(f->of);

    assert_non_null(of);
    assert_true(of->aggregation == AGGREGATE_SUM && !of->opt_in && !f->opt_in);
    assert_int_equal(family_free_label_count(f), 0);
    assert_int_equal(family_series_per_set(f), family_series_per_set(of));
    for (unsigned i = 0; f->labels[i].name; i++)
        assert_ptr_equal(f->labels[i].values, of->labels[family_free_label_count(of) + i].values);
}

/*
 * Checks a family with a limit. Series over the limit are added up without their first labels, so
 * the family must be a sum.
 */
static void check_limit(const struct family_def *f)
{
    static const char *const bounds[LIMIT_KIND_COUNT] = {
        [LIMIT_BY_POLICY] = "policy limit",
        [LIMIT_BY_NAMESPACE] = "detail limit",
    };
    static const char *const names[LIMIT_KIND_COUNT][4] = {
        [LIMIT_BY_POLICY] = {"policy_kind", "policy_namespace", "policy"},
        [LIMIT_BY_NAMESPACE] = {"namespace"},
    };

    assert_int_equal(f->limit_kind == LIMIT_BY_POLICY,
                     f->labels[0].name && !f->labels[0].values &&
                         strcmp(f->labels[0].name, names[LIMIT_BY_POLICY][0]) == 0);
    assert_true(f->limit_kind || (!f->no_rest && !f->weigh));
    if (!f->limit_kind)
        return;
    for (size_t i = 0; names[f->limit_kind][i]; i++)
        assert_string_equal(f->labels[i].name, names[f->limit_kind][i]);
    assert_null(names[f->limit_kind][family_limit_label_count(f->limit_kind)]);
    assert_int_equal(f->aggregation, AGGREGATE_SUM);
    assert_true(!f->detail && !f->opt_in && (f->sparse || f->no_rest));
    assert_non_null(strstr(f->bound, bounds[f->limit_kind]));
}

static void family_is_valid(void **state)
{
    const struct family_def *f = *state;

    check_name_and_help(f);
    check_labels(f);
    check_numbers(f);
    check_zeros(f);
    check_present(f);
    check_limit(f);
}

MADE_TESTS(make_one_test_per_family)
{
    for (size_t i = 0; i < family_count(); i++)
        ADD_TEST(family_is_valid, family_at(i)->name, family_at(i));
}

TEST(unknown_family_is_not_found)
{
    assert_null(family_find("karmada_nothing"));
}
