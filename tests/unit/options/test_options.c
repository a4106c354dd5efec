/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/options/options.h"

#include <unistd.h>

#include "exporter/options/suggest.h"
#include "exporter/system/log.h"
#include "tests/unit/suite.h"

enum { ARGUMENTS_MAX = 8, MINUTE_MS = 60 * 1000 };

static int count_of(const char *const *argv)
{
    int count = 0;

    while (argv[count])
        count++;
    return count;
}

/* A command line that is refused, and what is said about it. */
static struct error_case {
    const char *name;
    const char *argv[ARGUMENTS_MAX];
    const char *text;
} error_cases[] = {
    {"an unknown flag suggests the nearest",
     {"--web.listen-adress", "x"},
     "unknown flag '--web.listen-adress'; did you mean '--web.listen-address'?"},
    {"letters that are swapped are one slip",
     {"--manfiests", "x"},
     "unknown flag '--manfiests'; did you mean '--manifests'?"},
    {"a flag that resembles none suggests none", {"--kubernetes"}, "unknown flag '--kubernetes'"},
    {"the value is no part of the unknown name",
     {"--manifest=a"},
     "unknown flag '--manifest'; did you mean '--manifests'?"},
    {"an unknown letter", {"-x"}, "unknown flag '-x'"},
    {"a value that is missing", {"--manifests"}, "--manifests needs a value: --manifests PATH"},
    {"a flag is no value",
     {"--manifests", "--help"},
     "--manifests needs a value: --manifests PATH"},
    {"only flags take no-",
     {"--no-manifests"},
     "unknown flag '--no-manifests'; did you mean '--manifests'?"},
    {"a flag with a strange value", {"--help=maybe"}, "--help: 'maybe' is neither true nor false"},
    {"a duration without a unit",
     {"--rules.grace", "60"},
     "--rules.grace: '60' is not a duration such as 60s, 5m or 1h30m"},
    {"a choice that is none",
     {"--rules.takeover=dynamic"},
     "--rules.takeover: 'dynamic' is not one of preemption or static"},
    {"choices are told with case",
     {"--log.level=INFO"},
     "--log.level: 'INFO' is not one of debug, info, warn or error"},
    {"a member of a set that is none",
     {"--fail-on", "conflict,unknown"},
     "--fail-on: 'unknown' is not one of conflict, predicted, pending, stale, overdue, orphaned, "
     "unbound, unmatched, outdated, evicting, unscheduled, placed_nowhere, undispatched, "
     "unapplied, "
     "undelivered, unhealthy, unreachable, risk, invalid, broken, connector, duplicate, move, "
     "lost, "
     "wait, "
     "overflow, undetermined or unsettled"},
    {"a set that ends in a comma",
     {"--fail-on", "conflict,"},
     "--fail-on: nothing follows the last comma"},
    {"a number that is none",
     {"--metrics.detail-limit", "-1"},
     "--metrics.detail-limit: '-1' is not a whole number"},
    {"a number that is too large",
     {"--metrics.detail-limit", "18446744073709551616"},
     "--metrics.detail-limit: '18446744073709551616' is not a whole number"},
    {"a name that is empty", {"--namespaces", "a,,b"}, "--namespaces: a name is empty"},
    {"no names at all", {"--namespaces="}, "--namespaces: a name is empty"},
    {"a configuration file that is missing",
     {"--config.file", "/nonexistent/x.yaml"},
     "--config.file: cannot open '/nonexistent/x.yaml': No such file or directory"},
};

TEST_ROWS(refuses, error_cases, name)
{
    const struct error_case *c = *state;
    CLEANUP(options_release) struct options o;
    struct error err = {""};

    assert_false(config_load(&o, count_of(c->argv), c->argv, &err));
    assert_string_equal(err.text, c->text);
}

TEST(defaults_are_those_of_the_contract)
{
    CLEANUP(options_release) struct options o;
    struct error err;
    unsigned failing = 1U << FINDING_CONFLICT | 1U << FINDING_PENDING | 1U << FINDING_OVERDUE |
                       1U << FINDING_INVALID;

    assert_true(config_load(&o, 0, NULL, &err));
    assert_int_equal(o.manifests.count, 0);
    assert_int_equal(o.listen_addresses.count, 1);
    assert_string_equal(o.listen_addresses.items[0], ":19180");
    assert_string_equal(o.telemetry_path, "/metrics");
    assert_string_equal(o.skipped_namespaces, "kube-.*");
    assert_string_equal(o.skipped_apis, "");
    assert_int_equal(o.grace_ms, MINUTE_MS);
    assert_int_equal(o.stale_age_ms, (int64_t)7 * 24 * 60 * MINUTE_MS);
    assert_int_equal(o.pending_age_ms, 60 * MINUTE_MS);
    assert_int_equal(o.unbound_age_ms, 10 * MINUTE_MS);
    assert_int_equal(o.detail_limit, 1000);
    assert_int_equal(o.takeover, 0);
    assert_int_equal(o.output, OUTPUT_TABLE);
    assert_int_equal(o.log_level, LOG_LEVEL_INFO);
    assert_int_equal(o.log_format, LOG_FORMAT_LOGFMT);
    assert_int_equal(o.fail_on, failing);
    assert_null(o.command);
    assert_false(o.help || o.version);
}

TEST(every_way_to_write_a_flag)
{
    const char *argv[] = {"--manifests", "a",    "check",     "--manifests=b",
                          "-o",          "json", "--no-help", "-",
                          "-h",          "--",   "--help",    "check"};
    CLEANUP(options_release) struct options o;
    struct error err;

    assert_true(config_load(&o, (int)ARRAY_LEN(argv), argv, &err));
    assert_string_equal(o.command, "check");
    assert_int_equal(o.manifests.count, 2);
    assert_string_equal(o.manifests.items[0], "a");
    assert_string_equal(o.manifests.items[1], "b");
    assert_int_equal(o.output, OUTPUT_JSON);
    assert_true(o.help);
    assert_int_equal(o.arguments.count, 3);
    assert_string_equal(o.arguments.items[0], "-");
    assert_string_equal(o.arguments.items[1], "--help");
    assert_string_equal(o.arguments.items[2], "check");
}

TEST(names_come_with_commas_and_again)
{
    const char *argv[] = {"--namespaces", "a,b", "--namespaces=c"};
    CLEANUP(options_release) struct options o;
    struct error err;

    assert_true(config_load(&o, (int)ARRAY_LEN(argv), argv, &err));
    assert_int_equal(o.namespaces.count, 3);
    assert_string_equal(o.namespaces.items[0], "a");
    assert_string_equal(o.namespaces.items[1], "b");
    assert_string_equal(o.namespaces.items[2], "c");
}

TEST(a_letter_may_touch_its_value)
{
    static const char *lines[][2] = {{"-ojson", NULL}, {"-o=json", NULL}};

    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        CLEANUP(options_release) struct options o;
        struct error err;

        assert_true(config_load(&o, 1, lines[i], &err));
        assert_int_equal(o.output, OUTPUT_JSON);
    }
}

TEST(a_list_replaces_its_default)
{
    const char *argv[] = {"--web.listen-address", ":1", "--web.listen-address", ":2"};
    CLEANUP(options_release) struct options o;
    struct error err;

    assert_true(config_load(&o, (int)ARRAY_LEN(argv), argv, &err));
    assert_int_equal(o.listen_addresses.count, 2);
    assert_string_equal(o.listen_addresses.items[0], ":1");
}

TEST(an_empty_set_is_empty)
{
    const char *argv[] = {"--fail-on="};
    CLEANUP(options_release) struct options o;
    struct error err;

    assert_true(config_load(&o, 1, argv, &err));
    assert_int_equal(o.fail_on, 0);
}

TEST(a_flag_of_another_verb_is_refused)
{
    const char *argv[] = {"serve", "--fail-on", "conflict"};
    CLEANUP(options_release) struct options o;
    struct error err;

    assert_true(config_load(&o, (int)ARRAY_LEN(argv), argv, &err));
    assert_false(options_accepted(&o, "serve", COMMAND_SERVE, &err));
    assert_string_equal(err.text, "'serve' takes no --fail-on");
    assert_true(options_accepted(&o, "check", COMMAND_CHECK, &err));
}

static struct duration_case {
    const char *name;
    const char *text;
    int64_t ms; /* -1: refused. */
} duration_cases[] = {
    {"duration 0", "0", 0},
    {"duration 0s", "0s", 0},
    {"duration 250ms", "250ms", 250},
    {"duration 60s", "60s", MINUTE_MS},
    {"duration 5m", "5m", 5 * MINUTE_MS},
    {"duration 1h30m", "1h30m", 90 * MINUTE_MS},
    {"duration 2d", "2d", INT64_C(2) * 24 * 60 * MINUTE_MS},
    {"duration 1w", "1w", INT64_C(7) * 24 * 60 * MINUTE_MS},
    {"duration of nothing", "", -1},
    {"duration without unit", "5", -1},
    {"duration without number", "s", -1},
    {"duration with a sign", "-5s", -1},
    {"duration with a fraction", "1.5h", -1},
    {"duration with blanks", "5 s", -1},
    {"duration of unknown unit", "5y", -1},
    {"duration with a run of units", "5sm", -1},
    {"duration beyond int64", "99999999999999999999s", -1},
    {"duration that wraps when multiplied", "20000000000w", -1},
    {"duration that wraps when added", "15250284452w15250284452w", -1},
};

TEST_ROWS(duration, duration_cases, name)
{
    const struct duration_case *c = *state;
    int64_t ms = -1;

    assert_int_equal(parse_duration(c->text, &ms), c->ms >= 0);
    assert_int_equal(ms, c->ms);
}

/* A configuration file, and what is said about it; NULL if it is fine. */
static struct config_case {
    const char *name;
    const char *yaml;
    const char *text;
} config_cases[] = {
    {"an empty file", "", NULL},
    {"a file of comments", "# nothing\n", NULL},
    {"one of each", "manifests: [a, b]\nrules.grace: 5m\nfail-on: [conflict, invalid]\n", NULL},
    {"a single text for a list", "manifests: a\n", NULL},
    {"a key that is unknown", "log.level: info\nrules.graze: 5m\n",
     "x.yaml:2:1: there is no 'rules.graze'; did you mean 'rules.grace'?"},
    {"a key that is there twice", "log.level: info\nlog.level: warn\n",
     "x.yaml:2:1: not valid YAML: a key appears twice in one mapping"},
    {"a key of the command line", "help: true\n",
     "x.yaml:1:1: 'help' is for the command line only"},
    {"a file that names a file", "config.file: y\n",
     "x.yaml:1:1: 'config.file' is for the command line only"},
    {"a value of the wrong form", "rules.grace: soon\n",
     "x.yaml:1:1: 'rules.grace': 'soon' is not a duration such as 60s, 5m or 1h30m"},
    {"a list for a single value", "rules.grace: [5m]\n",
     "x.yaml:1:1: 'rules.grace' takes a single value"},
    {"a mapping for a value", "rules.grace: {a: b}\n",
     "x.yaml:1:1: 'rules.grace' takes a single value"},
    {"an empty list", "manifests: []\n",
     "x.yaml:1:1: 'manifests' is an empty list; leave the key out instead"},
    {"a list of lists", "manifests: [[a]]\n", "x.yaml:1:1: 'manifests' takes a list of texts"},
    {"a mapping for a key", "? {a: b}\n: c\n",
     "x.yaml:1:3: not valid YAML: a key must be a text, a number or a boolean"},
    {"a NUL in a value", "manifests: \"a\\0b\"\n",
     "x.yaml:1:12: not valid YAML: a NUL character in a text"},
    {"a list at the top", "- a\n", "x.yaml:1:1: expected 'option: value' lines"},
    {"two documents", "log.level: info\n---\nlog.level: warn\n",
     "x.yaml:2:1: not valid YAML: more than one document"},
    {"an empty document behind", "log.level: info\n---\n",
     "x.yaml:2:1: not valid YAML: more than one document"},
    {"a key that is there twice with quotes", "log.level: info\n'log.level': info\n",
     "x.yaml:2:1: not valid YAML: a key appears twice in one mapping"},
    {"an error in a value on the next line", "log.level: info\nrules.grace:\n  soon\n",
     "x.yaml:2:1: 'rules.grace': 'soon' is not a duration such as 60s, 5m or 1h30m"},
    {"an error in an item", "manifests:\n  - a\n  - [b]\n",
     "x.yaml:1:1: 'manifests' takes a list of texts"},
    {"a word for a number", "rules.versions: yes\n",
     "x.yaml:1:1: 'rules.versions': 'yes' is not a whole number"},
    {"a number in quotes", "rules.versions: '12'\n", NULL},
    {"null for a value", "rules.grace: ~\n",
     "x.yaml:1:1: 'rules.grace': '~' is not a duration such as 60s, 5m or 1h30m"},
    {"no value", "rules.grace:\n",
     "x.yaml:1:1: 'rules.grace': '' is not a duration such as 60s, 5m or 1h30m"},
    {"null for the file", "~\n", NULL},
    {"null for a key", "~: a\n", "x.yaml:1:1: there is no '~'"},
    {"a number for a key", "010: a\n", "x.yaml:1:1: there is no '010'"},
    {"a merge", "<<: {log.level: info}\n", NULL},
    {"an alias of nothing", "log.level: *a\n",
     "x.yaml:1:12: not valid YAML: there is no anchor of this name before this alias"},
    {"a tag that does not fit", "log.level: !!int info\n", NULL},
    {"no YAML", "a: [\n",
     "x.yaml:2:1: not valid YAML: while parsing a flow node: did not find expected node content"},
};

TEST_ROWS(config, config_cases, name)
{
    const struct config_case *c = *state;
    CLEANUP(options_release) struct options o;
    struct error err = {""};

    options_init(&o);
    assert_int_equal(config_apply("x.yaml", c->yaml, strlen(c->yaml), &o, &err), !c->text);
    assert_string_equal(err.text, c->text ? c->text : "");
}

/* Values are texts as they are written, of any type to YAML. */
TEST(values_of_a_configuration_file)
{
    static const char yaml[] =
        "manifests: [010, 1e3, yes, ~, null, '', \"x\", !!int y, &a .inf, *a]\n"
        "context: 0x10\n"
        "log.format: &f json\n"
        "karmada.version: *f\n";
    static const char *const wanted[] = {"010", "1e3", "yes", "~",    "null",
                                         "",    "x",   "y",   ".inf", ".inf"};
    CLEANUP(options_release) struct options o;
    struct error err = {""};

    options_init(&o);
    if (!config_apply("x.yaml", yaml, strlen(yaml), &o, &err))
        fail_msg("%s", err.text);
    assert_int_equal(o.manifests.count, ARRAY_LEN(wanted));
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++)
        assert_string_equal(o.manifests.items[i], wanted[i]);
    assert_string_equal(o.context, "0x10");
    assert_string_equal(o.karmada_version, "json");
}

TEST(flags_go_before_the_file)
{
    char path[] = "/tmp/test_options.XXXXXX";
    const char *argv[] = {"--config.file", path, "--manifests", "flag", "--log.level=warn"};
    static const char yaml[] = "manifests: [file, file2]\nlog.level: debug\nrules.grace: 5m\n"
                               "web.listen-address: ['127.0.0.1:1']\n";
    CLEANUP(options_release) struct options o;
    struct error err = {""};
    int fd = mkstemp(path);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, yaml, strlen(yaml)), strlen(yaml));
    close(fd);
    bool loaded = config_load(&o, (int)ARRAY_LEN(argv), argv, &err);

    unlink(path);
    assert_string_equal(err.text, "");
    assert_true(loaded);
    assert_int_equal(o.manifests.count, 1);
    assert_string_equal(o.manifests.items[0], "flag");
    assert_int_equal(o.log_level, LOG_LEVEL_WARN);
    assert_int_equal(o.grace_ms, 5 * MINUTE_MS);
    assert_int_equal(o.listen_addresses.count, 1);
    assert_string_equal(o.listen_addresses.items[0], "127.0.0.1:1");
    assert_string_equal(o.config_file, path);
}

static struct distance_case {
    const char *name;
    const char *a;
    const char *b;
    size_t distance;
} distance_cases[] = {
    {"distance of the same", "check", "check", 0},
    {"distance of nothing to something", "", "check", 5},
    {"distance of one letter more", "checks", "check", 1},
    {"distance of one letter less", "chek", "check", 1},
    {"distance of one other letter", "chexk", "check", 1},
    {"distance of two swapped", "chcek", "check", 1},
    {"distance of all", "serve", "check", 5},
};

TEST_ROWS(distance, distance_cases, name)
{
    const struct distance_case *c = *state;

    assert_int_equal(edit_distance(c->a, c->b), c->distance);
    assert_int_equal(edit_distance(c->b, c->a), c->distance);
}

TEST(a_long_word_is_far_from_all)
{
    char word[200];

    memset(word, 'a', sizeof(word) - 1);
    word[sizeof(word) - 1] = '\0';
    assert_int_equal(edit_distance(word, "check"), SIZE_MAX);
}

/* The choices of the table stand for the enumerators of others: held against each other here. */
TEST(choices_are_the_enumerators)
{
    struct error err;
    const struct option_def *levels = option_find("log.level", &err);
    const struct option_def *formats = option_find("log.format", &err);

    for (unsigned i = 0; levels->choices[i]; i++) {
        enum log_level level;

        assert_true(log_level_parse(levels->choices[i], &level, &err));
        assert_int_equal(level, i);
    }
    for (unsigned i = 0; formats->choices[i]; i++) {
        enum log_format format;

        assert_true(log_format_parse(formats->choices[i], &format, &err));
        assert_int_equal(format, i);
    }
}

TEST(rows_are_whole)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const struct option_def *def = &option_defs[i];
        bool choosing = def->type == OPTION_CHOICE || def->type == OPTION_SET;

        assert_int_equal(def->value == NULL, def->type == OPTION_FLAG);
        assert_int_equal(def->choices != NULL, choosing);
        assert_true(def->fallback || def->type == OPTION_FLAG || option_type_is_list(def->type));
        assert_true(def->commands != 0 && strlen(def->help) > 0);
        for (size_t j = 0; def->type == OPTION_CHOICE && def->choices[j]; j++)
            assert_non_null(strstr(def->help, def->choices[j]));
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(def->name, option_defs[j].name);
    }
}
