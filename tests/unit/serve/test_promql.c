/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/suite.h"

#include <math.h>

#include "exporter/serve/alerting/alert_rules.h"
#include "exporter/serve/alerting/alert_text.h"
#include "metrics/expose/family.h"

enum { MINUTE_MS = 60 * 1000, TEXT_MAX = 4096 };

static const struct label_list none = {NULL, 0};

/* Creates a store for the families a, b and h_bucket, and adds a page for each minute from 0. */
static struct series_store *make_store(const char *const *pages, size_t count)
{
    struct series_store *s = series_store_new(&none, 1);

    series_store_want(s, "a", 60 * MINUTE_MS);
    series_store_want(s, "b", 60 * MINUTE_MS);
    series_store_want(s, "h_bucket", 60 * MINUTE_MS);
    for (size_t i = 0; i < count; i++)
        series_store_page(s, pages[i], (int64_t)i * MINUTE_MS);
    return s;
}

/* Returns the samples of the expression at `now_ms`, as "{name=value,...}number ...". */
static char *evaluate(const struct series_store *s, const char *text, int64_t now_ms)
{
    struct strbuf out = STRBUF_INIT(TEXT_MAX);
    struct error err;
    struct promql *p = promql_parse(text, &err);

    if (!p)
        fail_msg("%s: %s", text, err.text);
    struct vector v = promql_eval(p, s, now_ms);

    for (size_t i = 0; i < v.count; i++) {
        strbuf_addf(&out, "%s{", i > 0 ? " " : "");
        for (size_t n = 0; n < v.items[i].labels.count; n++)
            strbuf_addf(&out, "%s%s=%s", n > 0 ? "," : "", v.items[i].labels.items[n].name,
                        v.items[i].labels.items[n].value);
        strbuf_addf(&out, "}%.6g", v.items[i].value);
    }
    vector_release(&v);
    promql_free(p);
    return strbuf_take(&out, NULL);
}

static const char *const pages[] = {
    "# HELP a\na{x=\"1\"} 1\na{x=\"2\"} 5\nb 10\nnot wanted 3\n"
    "h_bucket{le=\"1\"} 2\nh_bucket{le=\"2\"} 6\nh_bucket{le=\"+Inf\"} 8\n",
    "a{x=\"1\"} 3\na{x=\"2\",y=\"q\\\"\\\\n\\n}\"} 7\nb 10\n"
    "h_bucket{le=\"1\"} 2\nh_bucket{le=\"2\"} 6\nh_bucket{le=\"+Inf\"} 8\n",
    "a{x=\"1\"} 1\na{x=\"2\",y=\"q\\\"\\\\n\\n}\"} 7\nb 20\n"
    "h_bucket{le=\"1\"} 2\nh_bucket{le=\"2\"} 6\nh_bucket{le=\"+Inf\"} 8\n",
};

/* Expressions, and their results in Prometheus 2 for the same pages. */
static const struct {
    const char *text;
    const char *wanted;
} cases[] = {
    {"b", "{}20"},
    {"a{x=\"2\"}", "{x=2,y=q\"\\n\n}}7"},
    {"a{x!=\"2\"} > 0", "{x=1}1"},
    {"a{x=~\"1|3\"} > 1", ""},
    {"last_over_time(a{y=\"\"}[5m])", "{x=1}1 {x=2}5"},
    {"max_over_time(a{x=\"1\"}[5m])", "{x=1}3"},
    {"min_over_time(a{x=\"1\"}[90s])", "{x=1}1"},
    {"changes(a[5m])", "{x=1}2 {x=2}0 {x=2,y=q\"\\n\n}}0"},
    {"b offset 1m", "{}10"},
    {"sum by (z) (a)", "{}8"},
    {"count by (x) (a)", "{x=1}1 {x=2}1"},
    {"max by (x) (last_over_time(a[5m]))", "{x=1}1 {x=2}7"},
    {"1 + 2 * 3 - 4 / 2", "{}5"},
    {"(1 + 2) * 3", "{}9"},
    {"b - on () sum by (z) (a) > 10", "{}12"},
    {"b / 0", "{}inf"},
    {"sum by (x) (a) > on () group_left () b", ""},
    {"sum by (x) (a) < on () group_left () b", "{x=1}1 {x=2}7"},
    {"b and on () a > 6", "{}20"},
    {"b unless on () a > 6", ""},
    {"a{x=\"9\"} or b", "{}20"},
    {"time() - b", "{}100"},
    {"clamp_min(a{x=\"1\"} - 5, 0)", "{x=1}0"},
    {"label_replace(b, \"w\", \"v\", \"\", \"\")", "{w=v}20"},
    {"absent_over_time(a{x=\"9\", y!=\"z\"}[5m])", "{x=9}1"},
    {"absent_over_time(b[5m])", ""},
    {"topk(1, a)", "{x=2,y=q\"\\n\n}}7"},
    /* Rank 4 of 8 is halfway between the counts 2 and 6, so between the bounds 1 and 2. */
    {"histogram_quantile(0.5, h_bucket)", "{}1.5"},
    {"histogram_quantile(0.99, h_bucket)", "{}2"},
    /* The counter b rises from 10 at 0 to 20 at 2m. The window includes the sample at its start. */
    {"increase(b[2m])", "{}10"},
    {"rate(b[2m])", "{}0.0833333"},
    /* The increase is extrapolated by half an interval to before the first sample. */
    {"increase(b[10m])", "{}12.5"},
    /* Samples 1, 3, and 1 after a reset: increases of 2 and 1. */
    {"increase(a{x=\"1\"}[2m])", "{x=1}3"},
};

TEST_ROWS(expression_has_the_result_of_prometheus, cases, text)
{
    typeof(&cases[0]) c = *state;
    struct series_store *s = make_store(pages, ARRAY_LEN(pages));
    char *got = evaluate(s, c->text, 2 * MINUTE_MS);

    assert_string_equal(got, c->wanted);
    free(got);
    series_store_free(s);
}

static const struct {
    const char *text;
} bad[] = {
    {""},
    {"a >"},
    {"a{"},
    {"a{x=1}"},
    {"a[5]"},
    {"a b"},
    {"(a"},
    {"a)"},
    {"sum without (x) (a)"},
    {"a == bool 1"},
    {"increase(a)"},
    {"sum by (x) (a[5m])"},
    {"a{x=~\"(\"}"},
    {"label_replace(a, \"w\", \"v\", \"x\", \"(.*)\")"},
    {"histogram_quantile(0.5)"},
    {"quantile(0.5, a)"},
    {"\"text"},
    {"((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((a"
     "))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))"},
};

TEST_ROWS(invalid_or_unsupported_expression_is_refused, bad, text)
{
    typeof(&bad[0]) c = *state;
    struct error err = {""};

    assert_null(promql_parse(c->text, &err));
    assert_true(err.text[0] != '\0');
}

TEST(ended_series_has_samples_only_in_a_range)
{
    static const char *const short_lived[] = {"a 1\n", "b 1\n"};
    struct series_store *s = make_store(short_lived, 2);
    char *now = evaluate(s, "a", MINUTE_MS);
    char *lately = evaluate(s, "last_over_time(a[5m])", MINUTE_MS);
    char *later = evaluate(s, "last_over_time(a[5m])", 6 * MINUTE_MS);
    size_t count;

    assert_string_equal(now, "");
    assert_string_equal(lately, "{}1");
    assert_string_equal(later, "");
    series_store_page(s, "b 1\n", 120 * MINUTE_MS);
    series_store_get(s, "a", &count);
    assert_int_equal(count, 0);
    free(now);
    free(lately);
    free(later);
    series_store_free(s);
}

TEST(clock_that_is_set_back_drops_later_samples)
{
    struct series_store *s = make_store(pages, 3);
    char *got;

    series_store_page(s, "b 30\n", MINUTE_MS);
    got = evaluate(s, "b", MINUTE_MS);
    assert_string_equal(got, "{}30");
    free(got);
    got = evaluate(s, "max_over_time(b[10m])", 2 * MINUTE_MS);
    assert_string_equal(got, "{}30");
    free(got);
    series_store_free(s);
}

TEST(invalid_lines_are_ignored)
{
    static const char *const broken[] = {
        "a{x=\"1 5\na{x=\"1\"}5\na{x=\"1\"} \na\n\n a 3\n{x=\"1\"} 3\na{x=\"2\"} 4\na{=} 9\nb"};
    struct series_store *s = make_store(broken, 1);
    char *got = evaluate(s, "a{x!=\"\"}", 0);

    assert_string_equal(got, "{x=2}4");
    free(got);
    series_store_free(s);
}

/* ---- texts of alerts ---- */

static const struct {
    const char *text;
    double value;
    const char *wanted; /* NULL if the text is refused. */
} texts[] = {
    {"plain", 1, "plain"},
    {"{{ $labels.x }} and {{ $labels.none }}", 1, "1 and "},
    {"{{ if eq (printf \"%.0f\" $value) \"1\" }}one{{ else }}{{ printf \"%.0f\" $value }}{{ end }}",
     1, "one"},
    {"{{ if eq (printf \"%.0f\" $value) \"1\" }}one{{ else }}{{ printf \"%.0f\" $value }}{{ end }}",
     7, "7"},
    {"{{ if eq $value 1.0 }}it{{ else }}them{{ end }}", 1, "it"},
    {"{{ if eq $labels.x \"0\" \"1\" }}yes{{ else if eq $labels.x \"2\" }}2{{ else }}no{{ end }}",
     0, "yes"},
    {"{{ if eq $labels.x \"0\" }}yes{{ else if eq $labels.x \"1\" }}{{ with $labels.x }}<{{ . "
     "}}>{{ end }}{{ end }}",
     0, "<1>"},
    {"{{ with $labels.none }}{{ . }}{{ else }}nothing{{ end }}", 0, "nothing"},
    {"{{ $value | humanizeDuration }}", 0, "0s"},
    {"{{ $value | humanizeDuration }}", 0.5, "500ms"},
    {"{{ $value | humanizeDuration }}", 59.25, "59.25s"},
    {"{{ $value | humanizeDuration }}", 3725, "1h 2m 5s"},
    {"{{ $value | humanizeDuration }}", -90061, "-1d 1h 1m 1s"},
    {"{{ $value | humanizePercentage }}", 0.12345, "12.35%"},
    {"a {{- range $i, $row := printf \"topk(5, a{x!=%q})\" $labels.x | query | sortByLabel \"x\" "
     "-}} "
     "{{ if $i }},{{ end }}{{ $row.Labels.x }}={{ $row.Value }} {{- end }}.",
     0, "a2=7."},
    {"{{ end }}", 0, NULL},
    {"{{ if $value }}", 0, NULL},
    {"{{ template \"x\" }}", 0, NULL},
    {"{{ $value | upper }}", 0, NULL},
    {"{{ printf \"%d\" $value }}", 0, NULL},
};

TEST_ROWS(text_is_expanded_or_refused, texts, text)
{
    typeof(&texts[0]) c = *state;
    struct series_store *s = make_store(pages, ARRAY_LEN(pages));
    struct label_pair pair = {"x", "1"};
    const struct label_list labels = {&pair, 1};
    const struct alert_text about = {&labels, c->value, s, 2 * MINUTE_MS};
    struct strbuf out = STRBUF_INIT(TEXT_MAX);
    struct error err;
    bool filled = alert_text_write(&about, c->text, &out, &err);

    assert_int_equal(filled, c->wanted != NULL);
    if (c->wanted)
        assert_string_equal(out.data, c->wanted);
    strbuf_release(&out);
    series_store_free(s);
}

/* ---- table of rules ---- */

static void assert_family_exists(void *context, const struct promql *selector)
{
    const char *histogram = "karmada_policy_exporter_event_lag_seconds_bucket";
    const struct alert_rules *rules = context;
    bool known = family_find(selector->text) || strcmp(selector->text, histogram) == 0 ||
                 strcmp(selector->text, "up") == 0;

    for (size_t i = 0; i < rules->count; i++)
        known |= !rules->items[i].severity && strcmp(rules->items[i].name, selector->text) == 0;
    if (!known)
        fail_msg("there is no family %s", selector->text);
}

TEST(every_rule_has_known_families_and_valid_texts)
{
    struct alert_rules rules;
    struct error err;
    size_t count = 0;

    assert_true(alert_rules_load(&rules, &err));
    struct series_store *s = series_store_new(&none, 1);

    alert_rules_want(&rules, s);
    for (size_t i = 0; i < rules.count; i++) {
        const struct alert_rule *rule = &rules.items[i];
        const struct alert_text about = {&none, 2, s, 0};
        const char *const rule_texts[] = {rule->summary, rule->description, rule->runbook_url,
                                          rule->dashboard_url, rule->page};

        promql_each_selector(rule->expression, assert_family_exists, &rules);
        for (size_t n = 0; rule->severity && n < ARRAY_LEN(rule_texts); n++) {
            struct strbuf out = STRBUF_INIT(TEXT_MAX);

            if (!alert_text_write(&about, rule_texts[n], &out, &err))
                fail_msg("%s: %s", rule->name, err.text);
            /* A description may depend on a label, and is empty without labels. */
            assert_true(out.len > 0 || rule_texts[n] == rule->description);
            strbuf_release(&out);
        }
        count += rule->severity != NULL;
        assert_true(rule->interval_ms >= MINUTE_MS);
        assert_true(!rule->severity || rule->for_ms >= MINUTE_MS);
    }
    assert_true(count >= 30);
    series_store_free(s);
    alert_rules_release(&rules);
}
