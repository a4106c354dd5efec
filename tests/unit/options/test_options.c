/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/options/options.h"

#include <unistd.h>

#include "exporter/system/log.h"
#include "metrics/base/suggest.h"
#include "tests/unit/suite.h"

enum { ARGUMENTS_MAX = 8, MINUTE_MS = 60 * 1000 };

static int count_of(const char *const *argv)
{
    int count = 0;

    while (argv[count])
        count++;
    return count;
}

static struct error_case {
    const char *name;
    const char *argv[ARGUMENTS_MAX];
    const char *text;
} error_cases[] = {
    {"an unknown flag suggests the most similar one",
     {"--web.listen-adress", "x"},
     "unknown flag '--web.listen-adress'; did you mean '--web.listen-address'?"},
    {"two swapped letters are one edit",
     {"--manfiests", "x"},
     "unknown flag '--manfiests'; did you mean '--manifests'?"},
    {"a flag without a similar one has no suggestion",
     {"--kubernetes"},
     "unknown flag '--kubernetes'"},
    {"the value is not part of the unknown name",
     {"--manifest=a"},
     "unknown flag '--manifest'; did you mean '--manifests'?"},
    {"an unknown letter", {"-x"}, "unknown flag '-x'"},
    {"a missing value", {"--manifests"}, "--manifests needs a value: --manifests PATH"},
    {"a flag in place of a value",
     {"--manifests", "--help"},
     "--manifests needs a value: --manifests PATH"},
    {"no- before an option with a value",
     {"--no-manifests"},
     "unknown flag '--no-manifests'; did you mean '--manifests'?"},
    {"a flag with an invalid value", {"--help=maybe"}, "--help: 'maybe' is neither true nor false"},
    {"a duration without a unit",
     {"--rules.grace", "60"},
     "--rules.grace: '60' is not a duration such as 60s, 5m or 1h30m"},
    {"an unknown choice",
     {"--rules.takeover=dynamic"},
     "--rules.takeover: 'dynamic' is not one of preemption or static"},
    {"a choice in upper case",
     {"--log.level=INFO"},
     "--log.level: 'INFO' is not one of debug, info, warn or error"},
    {"an unknown member of a set",
     {"--fail-on", "warning,conflict"},
     "--fail-on: there is no problem 'conflict': dependency_conflict replaces it"},
    {"a set that ends in a comma",
     {"--fail-on", "warning,"},
     "--fail-on: nothing follows the last comma"},
    {"a negative number",
     {"--metrics.detail-limit", "-1"},
     "--metrics.detail-limit: '-1' is not a whole number"},
    {"a number that is too large",
     {"--metrics.detail-limit", "18446744073709551616"},
     "--metrics.detail-limit: '18446744073709551616' is not a whole number"},
    {"an empty name", {"--namespaces", "a,,b"}, "--namespaces: a name is empty"},
    {"no names at all", {"--namespaces="}, "--namespaces: a name is empty"},
    {"a missing configuration file",
     {"--config.file", "/nonexistent/x.yaml"},
     "--config.file: cannot open '/nonexistent/x.yaml': No such file or directory"},
};

TEST_ROWS(refused_command_lines_have_an_exact_error, error_cases, name)
{
    const struct error_case *c = *state;
    CLEANUP(options_release) struct options o;
    struct error err = {""};

    assert_false(config_load(&o, count_of(c->argv), c->argv, &err));
    assert_string_equal(err.text, c->text);
}

TEST(default_values_are_fixed)
{
    CLEANUP(options_release) struct options o;
    struct error err;
    struct fail_on failing;

    assert_true(config_load(&o, 0, NULL, &err));
    assert_true(fail_on_parse("warning,policy_tie", &failing, &err));
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
    assert_true(fail_on_equal(&o.fail_on, &failing));
    assert_null(o.command);
    assert_false(o.help || o.version);
}

TEST(all_notations_of_a_flag_are_accepted)
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

TEST(names_are_separated_by_commas_or_repeated_flags)
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

TEST(a_short_flag_may_be_followed_by_its_value)
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

TEST(an_empty_value_is_an_empty_set)
{
    const char *argv[] = {"--fail-on="};
    CLEANUP(options_release) struct options o;
    struct error err;

    assert_true(config_load(&o, 1, argv, &err));
    assert_true(fail_on_is_empty(&o.fail_on));
}

TEST(a_flag_of_another_command_is_refused)
{
    const char *argv[] = {"serve", "--fail-on", "warning"};
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
    int64_t ms; /* -1 if the text is refused. */
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

TEST_ROWS(durations_are_parsed, duration_cases, name)
{
    const struct duration_case *c = *state;
    int64_t ms = -1;

    assert_int_equal(parse_duration(c->text, &ms), c->ms >= 0);
    assert_int_equal(ms, c->ms);
}

static struct config_case {
    const char *name;
    const char *yaml;
    const char *text; /* Error message; NULL if the file is valid. */
} config_cases[] = {
    {"an empty file", "", NULL},
    {"a file of comments", "# nothing\n", NULL},
    {"a list, a duration and a set",
     "manifests: [a, b]\nrules.grace: 5m\nfail-on: [warning, policy_tie]\n", NULL},
    {"a single text for a list", "manifests: a\n", NULL},
    {"an unknown key", "log.level: info\nrules.graze: 5m\n",
     "x.yaml:2:1: unknown option 'rules.graze'; did you mean 'rules.grace'?"},
    {"a duplicate key", "log.level: info\nlog.level: warn\n",
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
    {"a list of lists", "manifests: [[a]]\n", "x.yaml:1:1: 'manifests' takes a list of strings"},
    {"a mapping for a key", "? {a: b}\n: c\n",
     "x.yaml:1:3: not valid YAML: a key must be a string, a number or a boolean"},
    {"a NUL in a value", "manifests: \"a\\0b\"\n",
     "x.yaml:1:12: not valid YAML: a NUL character in a text"},
    {"a list instead of a mapping", "- a\n", "x.yaml:1:1: expected 'option: value' lines"},
    {"two documents", "log.level: info\n---\nlog.level: warn\n",
     "x.yaml:2:1: not valid YAML: more than one document"},
    {"an empty second document", "log.level: info\n---\n",
     "x.yaml:2:1: not valid YAML: more than one document"},
    {"a duplicate key in quotes", "log.level: info\n'log.level': info\n",
     "x.yaml:2:1: not valid YAML: a key appears twice in one mapping"},
    {"an error in a value on the next line", "log.level: info\nrules.grace:\n  soon\n",
     "x.yaml:2:1: 'rules.grace': 'soon' is not a duration such as 60s, 5m or 1h30m"},
    {"an error in an item", "manifests:\n  - a\n  - [b]\n",
     "x.yaml:1:1: 'manifests' takes a list of strings"},
    {"a word for a number", "rules.versions: yes\n",
     "x.yaml:1:1: 'rules.versions': 'yes' is not a whole number"},
    {"a number in quotes", "rules.versions: '12'\n", NULL},
    {"null for a value", "rules.grace: ~\n",
     "x.yaml:1:1: 'rules.grace': '~' is not a duration such as 60s, 5m or 1h30m"},
    {"no value", "rules.grace:\n",
     "x.yaml:1:1: 'rules.grace': '' is not a duration such as 60s, 5m or 1h30m"},
    {"null for the file", "~\n", NULL},
    {"null for a key", "~: a\n", "x.yaml:1:1: unknown option '~'"},
    {"a number for a key", "010: a\n", "x.yaml:1:1: unknown option '010'"},
    {"a merge", "<<: {log.level: info}\n", NULL},
    {"an alias without an anchor", "log.level: *a\n",
     "x.yaml:1:12: not valid YAML: there is no anchor of this name before this alias"},
    {"a tag of another type", "log.level: !!int info\n", NULL},
    {"invalid YAML", "a: [\n",
     "x.yaml:2:1: not valid YAML: while parsing a flow node: did not find expected node content"},
};

TEST_ROWS(configuration_files_are_checked, config_cases, name)
{
    const struct config_case *c = *state;
    CLEANUP(options_release) struct options o;
    struct error err = {""};

    options_init(&o);
    assert_int_equal(config_apply("x.yaml", c->yaml, strlen(c->yaml), &o, &err), !c->text);
    assert_string_equal(err.text, c->text ? c->text : "");
}

/* Values are the texts in the file, for every YAML type. */
TEST(configuration_values_keep_their_text)
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

TEST(flags_override_the_configuration_file)
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
    {"distance of equal words", "check", "check", 0},
    {"distance of an empty word", "", "check", 5},
    {"distance of an added letter", "checks", "check", 1},
    {"distance of a missing letter", "chek", "check", 1},
    {"distance of a replaced letter", "chexk", "check", 1},
    {"distance of two swapped letters", "chcek", "check", 1},
    {"distance of different words", "serve", "check", 5},
};

TEST_ROWS(edit_distance_is_symmetric, distance_cases, name)
{
    const struct distance_case *c = *state;

    assert_int_equal(edit_distance(c->a, c->b), c->distance);
    assert_int_equal(edit_distance(c->b, c->a), c->distance);
}

TEST(a_long_word_has_the_maximal_distance)
{
    char word[200];

    memset(word, 'a', sizeof(word) - 1);
    word[sizeof(word) - 1] = '\0';
    assert_int_equal(edit_distance(word, "check"), SIZE_MAX);
}

/* The index of a choice in the table is the value of the enumerator with that name. */
TEST(choices_have_the_values_of_their_enumerators)
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

TEST(rows_of_the_option_table_are_complete)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const struct option_def *def = &option_defs[i];
        bool choosing =
            def->type == OPTION_CHOICE || def->type == OPTION_SET || def->type == OPTION_FAIL_ON;

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
