/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/options/options.h"

#include "tests/sim/rng.h"
#include "tests/unit/suite.h"

enum { ARGUMENTS_MAX = 4, MINUTE_MS = 60 * 1000, SEEDS = 2000, ITEMS_MAX = 4, TEXT_MAX = 1000 };
#define YEARS_MS (INT64_C(3650) * 24 * 3600 * 1000)

static int count_of(const char *const *argv)
{
    int count = 0;

    while (count < ARGUMENTS_MAX && argv[count])
        count++;
    return count;
}

static void assert_settings_equal(const struct problem_settings *a,
                                  const struct problem_settings *b)
{
    assert_memory_equal(a->severity, b->severity, sizeof(a->severity));
    assert_memory_equal(a->patience_ms, b->patience_ms, sizeof(a->patience_ms));
    assert_int_equal(a->resolve_delay_ms, b->resolve_delay_ms);
}

TEST(without_flags_the_settings_are_those_of_the_table)
{
    CLEANUP(options_release) struct options o;
    struct problem_settings table;
    struct error err;

    problem_settings_reset(&table);
    assert_true(config_load(&o, 0, NULL, &err));
    assert_settings_equal(&o.problems, &table);
    assert_int_equal(o.problem_limit, 20);
    assert_string_equal(o.lease_namespace, "karmada-system");
}

static struct flag_case {
    const char *name;
    const char *argv[ARGUMENTS_MAX];
    const char *error; /* NULL if the command line is valid. */
} flag_cases[] = {
    {"each severity",
     {"--problems.severity=orphaned=critical,excluded=warning,not_delivered=info,unhealthy=off"},
     NULL},
    {"a repeated flag",
     {"--problems.severity=orphaned=critical", "--problems.severity=excluded=off"},
     NULL},
    {"patiences from 0 to ten years",
     {"--problems.patience=orphaned=0,excluded=0s,unhealthy=1h30m,policy_tie=3650d"},
     NULL},
    {"a resolve delay of ten years", {"--problems.resolve-delay=3650d"}, NULL},
    {"an unknown problem with a near name",
     {"--problems.severity=orphand=off"},
     "--problems.severity: unknown problem 'orphand'; did you mean 'orphaned'?"},
    {"an unknown problem in another list",
     {"--problems.patience=not_propagatd=5m"},
     "--problems.patience: unknown problem 'not_propagatd'; did you mean 'not_propagated'?"},
    {"an unknown problem without a near name",
     {"--problems.severity=x=off"},
     "--problems.severity: unknown problem 'x'"},
    {"a problem in upper case",
     {"--problems.severity=ORPHANED=off"},
     "--problems.severity: unknown problem 'ORPHANED'"},
    {"a class of earlier releases",
     {"--problems.severity=pending=off"},
     "--problems.severity: unknown problem 'pending'"},
    {"no problem", {"--problems.severity==off"}, "--problems.severity: unknown problem ''"},
    {"a severity with a near name",
     {"--problems.severity=orphaned=criticl"},
     "--problems.severity: orphaned: unknown severity 'criticl'; did you mean 'critical'?"},
    {"a severity without a near name",
     {"--problems.severity=orphaned=none"},
     "--problems.severity: orphaned: 'none' is not one of critical, warning, info or off"},
    {"no severity",
     {"--problems.severity=orphaned="},
     "--problems.severity: orphaned: '' is not one of critical, warning, info or off"},
    {"a problem alone",
     {"--problems.severity=orphaned"},
     "--problems.severity: 'orphaned' is not PROBLEM=SEVERITY"},
    {"an empty value", {"--problems.severity="}, "--problems.severity: '' is not PROBLEM=SEVERITY"},
    {"an empty list of patiences",
     {"--problems.patience="},
     "--problems.patience: '' is not PROBLEM=DURATION"},
    {"an empty item",
     {"--problems.patience=orphaned=1d,,excluded=1d"},
     "--problems.patience: '' is not PROBLEM=DURATION"},
    {"a comma at the end",
     {"--problems.patience=orphaned=1d,"},
     "--problems.patience: '' is not PROBLEM=DURATION"},
    {"a blank after a comma",
     {"--problems.patience=orphaned=1d, excluded=1d"},
     "--problems.patience: unknown problem ' excluded'; did you mean 'excluded'?"},
    {"a problem twice in one value",
     {"--problems.severity=orphaned=off,orphaned=info"},
     "--problems.severity: 'orphaned' is given twice"},
    {"a problem twice in two values",
     {"--problems.patience=orphaned=1d", "--problems.patience=orphaned=1d"},
     "--problems.patience: 'orphaned' is given twice"},
    {"two equals signs",
     {"--problems.patience=orphaned=1d=2d"},
     "--problems.patience: orphaned: '1d=2d' is not a duration such as 60s, 5m or 1h30m"},
    {"a patience without a unit",
     {"--problems.patience=orphaned=60"},
     "--problems.patience: orphaned: '60' is not a duration such as 60s, 5m or 1h30m"},
    {"a negative patience",
     {"--problems.patience=orphaned=-1s"},
     "--problems.patience: orphaned: '-1s' is not a duration such as 60s, 5m or 1h30m"},
    {"no patience",
     {"--problems.patience=orphaned="},
     "--problems.patience: orphaned: '' is not a duration such as 60s, 5m or 1h30m"},
    {"a patience of eleven years",
     {"--problems.patience=orphaned=4015d"},
     "--problems.patience: orphaned: '4015d' is longer than 3650d, ten years"},
    {"a patience of ten years and a millisecond",
     {"--problems.patience=orphaned=3650d1ms"},
     "--problems.patience: orphaned: '3650d1ms' is longer than 3650d, ten years"},
    {"a patience beyond 64 bits",
     {"--problems.patience=orphaned=99999999999999999999s"},
     "--problems.patience: orphaned: '99999999999999999999s' is not a duration such as 60s, 5m or "
     "1h30m"},
    {"a resolve delay of eleven years",
     {"--problems.resolve-delay=4015d"},
     "--problems.resolve-delay: at most 3650d, ten years"},
    {"an unknown flag of problems",
     {"--problems.severities=orphaned=off"},
     "unknown flag '--problems.severities'; did you mean '--problems.severity'?"},
};

TEST_ROWS(flags_of_problems_are_checked, flag_cases, name)
{
    const struct flag_case *c = *state;
    CLEANUP(options_release) struct options o;
    struct error err = {""};

    assert_int_equal(config_load(&o, count_of(c->argv), c->argv, &err), !c->error);
    assert_string_equal(err.text, c->error ? c->error : "");
}

TEST(settings_have_the_values_of_the_flags_and_else_those_of_the_table)
{
    const char *argv[] = {"--problems.severity=orphaned=critical,not_delivered=off",
                          "--problems.severity", "excluded=warning", "--problems.resolve-delay=0",
                          "--problems.patience=orphaned=0,policy_tie=3650d,unhealthy=1h30m"};
    CLEANUP(options_release) struct options o;
    struct problem_settings expected;
    struct error err;

    problem_settings_reset(&expected);
    expected.severity[PROBLEM_ORPHANED] = SEVERITY_CRITICAL;
    expected.severity[PROBLEM_NOT_DELIVERED] = SEVERITY_OFF;
    expected.severity[PROBLEM_EXCLUDED] = SEVERITY_WARNING;
    expected.patience_ms[PROBLEM_ORPHANED] = 0;
    expected.patience_ms[PROBLEM_POLICY_TIE] = YEARS_MS;
    expected.patience_ms[PROBLEM_UNHEALTHY] = 90 * MINUTE_MS;
    expected.resolve_delay_ms = 0;
    assert_true(config_load(&o, (int)ARRAY_LEN(argv), argv, &err));
    assert_settings_equal(&o.problems, &expected);
}

static struct config_case {
    const char *name;
    const char *yaml;
    const char *error; /* NULL if the file is valid. */
} config_cases[] = {
    {"a list", "problems.severity: [orphaned=off, excluded=warning]\n", NULL},
    {"one text", "problems.patience: orphaned=2d,excluded=0\n", NULL},
    {"an unknown problem", "log.level: info\nproblems.severity:\n  - orphand=off\n",
     "x.yaml:2:1: 'problems.severity': unknown problem 'orphand'; did you mean 'orphaned'?"},
    {"a problem twice", "problems.patience: [orphaned=1d, orphaned=2d]\n",
     "x.yaml:1:1: 'problems.patience': 'orphaned' is given twice"},
    {"a mapping", "problems.patience: {orphaned: 1d}\n",
     "x.yaml:1:1: 'problems.patience' takes a string or a list of strings"},
};

TEST_ROWS(files_set_problems, config_cases, name)
{
    const struct config_case *c = *state;
    CLEANUP(options_release) struct options o;
    struct error err = {""};

    options_init(&o);
    assert_int_equal(config_apply("x.yaml", c->yaml, strlen(c->yaml), &o, &err), !c->error);
    assert_string_equal(err.text, c->error ? c->error : "");
}

TEST(severities_have_the_names_of_the_table)
{
    for (unsigned i = 0; i < SEVERITY_COUNT; i++) {
        CLEANUP(options_release) struct options o;
        char flag[64];
        const char *argv[] = {flag};
        struct error err;

        snprintf(flag, sizeof(flag), "--problems.severity=orphaned=%s", severity_names[i]);
        assert_true(config_load(&o, 1, argv, &err));
        assert_int_equal(o.problems.severity[PROBLEM_ORPHANED], i);
    }
}

/* ---- random texts ---- */

/* Appends one of the texts, or one time in twenty a text that is valid nowhere. */
static void add_piece(struct rng *rng, const char *const *texts, size_t count, struct strbuf *out)
{
    static const char *const invalid[] = {"",   "=", ",", "\xff", "'", "\n", "99999999999999d",
                                          "-1s"};
    const char *piece = rng_chance(rng, 5) ? invalid[rng_below(rng, ARRAY_LEN(invalid))]
                                           : texts[rng_below(rng, (uint32_t)count)];

    strbuf_adds(out, piece);
}

static void add_item(struct rng *rng, bool severity, struct strbuf *out)
{
    static const char *const equals[] = {"="};
    static const char *const severities[] = {"critical", "warning", "info", "off"};
    static const char *const patiences[] = {"0", "5m", "1w", "1h30m", "3650d", "3651d"};

    if (out->len > 0)
        strbuf_addc(out, ',');
    add_piece(rng, problem_names, PROBLEM_COUNT, out);
    add_piece(rng, equals, ARRAY_LEN(equals), out);
    if (severity)
        add_piece(rng, severities, ARRAY_LEN(severities), out);
    else
        add_piece(rng, patiences, ARRAY_LEN(patiences), out);
}

TEST(random_values_give_settings_within_the_limits_or_an_error)
{
    unsigned valid = 0;

    for (uint32_t seed = 0; seed < SEEDS; seed++) {
        struct rng rng = rng_of(seed, 0);
        CLEANUP(strbuf_release) struct strbuf items = STRBUF_INIT(TEXT_MAX);
        CLEANUP(strbuf_release) struct strbuf flag = STRBUF_INIT(TEXT_MAX);
        const char *argv[1];
        CLEANUP(options_release) struct options o;
        struct error err = {""};
        bool severity = rng_chance(&rng, 50);

        for (unsigned i = rng_below(&rng, ITEMS_MAX + 1); i > 0; i--)
            add_item(&rng, severity, &items);
        strbuf_addf(&flag, "--problems.%s=%s", severity ? "severity" : "patience",
                    items.len > 0 ? items.data : "");
        argv[0] = flag.data;
        if (!config_load(&o, 1, argv, &err)) {
            assert_true(*err.text != '\0' && !strchr(err.text, '\n'));
            continue;
        }
        valid++;
        for (unsigned i = 0; i < PROBLEM_COUNT; i++) {
            assert_true(o.problems.severity[i] <= SEVERITY_OFF);
            assert_true(o.problems.patience_ms[i] >= 0 && o.problems.patience_ms[i] <= YEARS_MS);
        }
    }
    assert_true(valid > 0 && valid < SEEDS);
}
