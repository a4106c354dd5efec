/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/options/options.h"

#include "exporter/system/file.h"
#include "exporter/yaml/yaml.h"
#include "metrics/base/shown.h"
#include "metrics/base/strbuf.h"
#include "metrics/base/suggest.h"
#include "metrics/rules/control_plane.h"

enum { FORMATS_MAX_BYTES = 512 };

#define CHOICES(...) ((const char *const[]){__VA_ARGS__, NULL})
#define OPTION(option_type, field, ...)                                                            \
    {.type = OPTION_##option_type, .offset = offsetof(struct options, field), __VA_ARGS__},

const struct option_def option_defs[OPTION_COUNT] = {
#include "exporter/options/option_table.h"
};

static void *field_of(struct options *o, const struct option_def *def)
{
    return (char *)o + def->offset;
}

void options_init(struct options *o)
{
    struct error err;

    *o = (struct options){0};
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const struct option_def *def = &option_defs[i];

        if (def->fallback &&
            !option_value_set(field_of(o, def), def->type, def->choices, def->fallback, &err))
            abort(); /* A default in option_table.h is invalid. */
    }
    problem_settings_reset(&o->problems);
}

void options_release(struct options *o)
{
    for (size_t i = 0; i < OPTION_COUNT; i++)
        option_value_release(field_of(o, &option_defs[i]), option_defs[i].type);
    free(o->command);
    text_list_release(&o->arguments);
    *o = (struct options){0};
}

/* Sets one option from text. If `is_first` is true, the old values of a list are removed. */
static MUST_USE bool set_option(struct options *o, const struct option_def *def, const char *text,
                                bool is_first, struct error *err)
{
    if (is_first && option_type_is_list(def->type))
        option_value_release(field_of(o, def), def->type);
    return option_value_set(field_of(o, def), def->type, def->choices, text, err);
}

bool option_equal(const struct options *a, const struct options *b, const struct option_def *def)
{
    return option_value_equal((const char *)a + def->offset, (const char *)b + def->offset,
                              def->type);
}

/* Callback of suggest_name(): returns the name at the index *context and increments it, or NULL. */
static const char *next_option_name(void *context)
{
    size_t *at = context;

    return *at < OPTION_COUNT ? option_defs[(*at)++].name : NULL;
}

static const struct option_def *find_def(const char *name, size_t len)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if (strlen(option_defs[i].name) == len && strncmp(option_defs[i].name, name, len) == 0)
            return &option_defs[i];
    }
    return NULL;
}

const struct option_def *option_find(const char *name, struct error *err)
{
    const struct option_def *def = find_def(name, strlen(name));
    size_t at = 0;

    if (def)
        return def;
    const char *nearest = suggest_name(name, next_option_name, &at);

    if (nearest)
        fail(err, "unknown option '%s'; did you mean '%s'?", shown(name).text, nearest);
    else
        fail(err, "unknown option '%s'", shown(name).text);
    return NULL;
}

/* ---- command line ---- */

struct argument_cursor {
    const char *const *argv;
    int argc;
    int at; /* Index of the next argument to parse. */
};

static bool set_from_flag(struct options *o, const struct option_def *def, const char *text,
                          struct error *err)
{
    bool *seen = &o->on_command_line[def - option_defs];

    if (!set_option(o, def, text, !*seen, err))
        return fail_in(err, "--%s", def->name);
    *seen = true;
    return true;
}

/* Sets an option to `after_equals`; if NULL, to "true" for OPTION_FLAG, else the next argument. */
static bool parse_flag_value(struct options *o, const struct option_def *def,
                             const char *after_equals, struct argument_cursor *c, struct error *err)
{
    if (after_equals)
        return set_from_flag(o, def, after_equals, err);
    if (def->type == OPTION_FLAG)
        return set_from_flag(o, def, "true", err);
    if (c->at >= c->argc || strncmp(c->argv[c->at], "--", 2) == 0)
        return fail(err, "--%s needs a value: --%s %s", def->name, def->name, def->value);
    return set_from_flag(o, def, c->argv[c->at++], err);
}

static bool parse_long_flag(struct options *o, const char *name, struct argument_cursor *c,
                            struct error *err)
{
    size_t len = strcspn(name, "=");
    const char *after_equals = name[len] == '=' ? name + len + 1 : NULL;
    const struct option_def *def = find_def(name, len);

    if (def)
        return parse_flag_value(o, def, after_equals, c, err);
    if (strncmp(name, "no-", 3) == 0 && !after_equals) {
        def = find_def(name + 3, len - 3);
        if (def && def->type == OPTION_FLAG)
            return set_from_flag(o, def, "false", err);
    }
    CLEANUP(free_cleanup) char *unknown = xmemdup0(name, len);
    size_t at = 0;
    const char *nearest = suggest_name(unknown, next_option_name, &at);

    if (nearest)
        return fail(err, "unknown flag '--%s'; did you mean '--%s'?", shown(unknown).text, nearest);
    return fail(err, "unknown flag '--%s'", shown(unknown).text);
}

static bool parse_short_flag(struct options *o, const char *letters, struct argument_cursor *c,
                             struct error *err)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const struct option_def *def = &option_defs[i];

        if (def->letter == '\0' || def->letter != letters[0])
            continue;
        if (letters[1] == '\0')
            return parse_flag_value(o, def, NULL, c, err);
        if (def->type != OPTION_FLAG)
            return parse_flag_value(o, def, letters + 1 + (letters[1] == '='), c, err);
    }
    /* The message omits the text after the letter, which may be a secret. */
    return fail(err, "unknown flag '-%s'", shown_part(letters, 1).text);
}

bool options_parse(struct options *o, int argc, const char *const *argv, struct error *err)
{
    struct argument_cursor c = {.argv = argv, .argc = argc};
    bool ended = false;

    while (c.at < c.argc) {
        const char *text = c.argv[c.at++];

        if (!ended && strcmp(text, "--") == 0) {
            ended = true;
        } else if (!ended && strncmp(text, "--", 2) == 0) {
            if (!parse_long_flag(o, text + 2, &c, err))
                return false;
        } else if (!ended && text[0] == '-' && text[1] != '\0') {
            if (!parse_short_flag(o, text + 1, &c, err))
                return false;
        } else if (!ended && !o->command) {
            o->command = xstrdup(text);
        } else {
            text_list_add(&o->arguments, text);
        }
    }
    return true;
}

/* Returns the formats of --output that a command prints: bits by enum output_format. */
static uint64_t accepted_formats(unsigned bit)
{
    uint64_t formats =
        UINT64_C(1) << OUTPUT_TABLE | UINT64_C(1) << OUTPUT_JSON | UINT64_C(1) << OUTPUT_YAML;

    if (bit & (COMMAND_METRICS | COMMAND_HELP | COMMAND_PRINTS_FINDINGS))
        formats |= UINT64_C(1) << OUTPUT_MARKDOWN;
    if (bit & COMMAND_PRINTS_WIDE)
        formats |= UINT64_C(1) << OUTPUT_WIDE;
    if (bit & COMMAND_PRINTS_FINDINGS)
        formats |= UINT64_C(1) << OUTPUT_SARIF | UINT64_C(1) << OUTPUT_JUNIT |
                   UINT64_C(1) << OUTPUT_GITHUB | UINT64_C(1) << OUTPUT_GITLAB;
    return formats;
}

uint64_t option_accepted_choices(const struct option_def *def, unsigned bit)
{
    if (def == &option_defs[OPTION_OF_fail_on])
        return bit & COMMAND_PLAN ? fail_on_names_of_plan() : fail_on_names_of_check();
    if (def == &option_defs[OPTION_OF_output])
        return accepted_formats(bit);
    return UINT64_MAX;
}

/* Rejects names in --fail-on that the command never reports: they could not make it fail. */
static bool check_fail_on(const struct options *o, unsigned bit, struct error *err)
{
    /* The default is for `check`: for other commands, only a given flag is checked. */
    if (bit == COMMAND_CHECK && !fail_on_accepted_by_check(&o->fail_on, err))
        return fail_in(err, "--fail-on");
    if (bit == COMMAND_PLAN && o->on_command_line[OPTION_OF_fail_on] &&
        !fail_on_accepted_by_plan(&o->fail_on, err))
        return fail_in(err, "--fail-on");
    return true;
}

/* Rejects a format of --output that the command does not print. */
static bool check_output(const struct options *o, const char *command, unsigned bit,
                         struct error *err)
{
    const struct option_def *output = &option_defs[OPTION_OF_output];
    uint64_t accepted = option_accepted_choices(output, bit);
    CLEANUP(strbuf_release) struct strbuf names = STRBUF_INIT(FORMATS_MAX_BYTES);

    if (!(output->commands & bit) || accepted >> o->output & 1)
        return true;
    for (size_t i = 0; output->choices[i]; i++) {
        if (accepted >> i & 1)
            strbuf_addf(&names, "%s%s", names.len > 0 ? ", " : "", output->choices[i]);
    }
    return fail(err, "'%s' prints no %s; its formats are %s", command, output->choices[o->output],
                names.data);
}

bool options_accepted(const struct options *o, const char *command, unsigned bit, struct error *err)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if (o->on_command_line[i] && !(option_defs[i].commands & bit))
            return fail(err, "'%s' takes no --%s", command, option_defs[i].name);
    }
    if (!check_fail_on(o, bit, err))
        return false;
    return check_output(o, command, bit, err);
}

/* ---- configuration file ---- */

/* Returns true if a YAML list stands for one value with commas. */
static bool takes_joined_list(const struct option_def *def)
{
    return def->type == OPTION_SET || def->type == OPTION_FAIL_ON;
}

/* Sets an option from a YAML list. An OPTION_SET or OPTION_FAIL_ON gets the items as one value,
 * with commas. */
static bool set_option_from_list(struct options *o, const struct option_def *def, const cJSON *list,
                                 struct error *err)
{
    CLEANUP(strbuf_release) struct strbuf joined = STRBUF_INIT(YAML_CONFIG_MAX);
    bool is_joined = takes_joined_list(def);
    const cJSON *item;

    if (!list->child && !is_joined)
        return fail(err, "'%s' is an empty list; leave the key out instead", def->name);
    cJSON_ArrayForEach (item, list) {
        const char *text = item->valuestring;

        if (!text)
            return fail(err, "'%s' takes a list of strings", def->name);
        if (is_joined)
            strbuf_addf(&joined, "%s%s", joined.len > 0 ? "," : "", text);
        else if (!set_option(o, def, text, item == list->child, err))
            return fail_in(err, "'%s'", def->name);
    }
    return !is_joined || set_option(o, def, joined.data, true, err) ||
           fail_in(err, "'%s'", def->name);
}

static bool set_option_from_member(struct options *o, const cJSON *member, struct error *err)
{
    const struct option_def *def = option_find(member->string, err);
    bool takes_list;

    if (!def)
        return false;
    if (def->flag_only)
        return fail(err, "'%s' is for the command line only", def->name);
    takes_list = option_type_is_list(def->type) || takes_joined_list(def);
    if (cJSON_IsArray(member) && takes_list)
        return set_option_from_list(o, def, member, err);
    if (!member->valuestring)
        return fail(err,
                    takes_list ? "'%s' takes a string or a list of strings"
                               : "'%s' takes a single value",
                    def->name);
    return set_option(o, def, member->valuestring, true, err) || fail_in(err, "'%s'", def->name);
}

bool config_apply(const char *path, const char *text, size_t len, struct options *o,
                  struct error *err)
{
    CLEANUP(json_cleanup) cJSON *root = NULL;
    const cJSON *member;

    if (!yaml_read_config(path, text, len, &root, err))
        return false;
    if (root && !cJSON_IsObject(root))
        return fail(err, "expected 'option: value' lines") || yaml_fail(path, root, err);
    cJSON_ArrayForEach (member, root) {
        if (!set_option_from_member(o, member, err))
            return yaml_fail(path, member, err);
    }
    return true;
}

/* Sets all options, but not `problems`. */
static bool load_options(struct options *o, int argc, const char *const *argv, struct error *err)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(YAML_CONFIG_MAX);

    options_init(o);
    if (!options_parse(o, argc, argv, err))
        return false;
    if (*o->config_file == '\0')
        return true;

    CLEANUP(free_cleanup) char *path = xstrdup(o->config_file);

    /* The flags are parsed again, after the file, because they override it. */
    options_release(o);
    options_init(o);
    if (!file_read(path, &text, err) || !config_apply(path, text.data, text.len, o, err))
        return fail_in(err, "--config.file");
    return options_parse(o, argc, argv, err);
}

static bool fill_problem_settings(struct options *o, struct error *err)
{
    if (o->resolve_delay_ms > PROBLEM_DURATION_MAX_MS)
        return fail(err, "--problems.resolve-delay: at most 3650d, ten years");
    problem_settings_reset(&o->problems);
    option_apply_problem_items(&o->problem_severities, OPTION_SEVERITIES, &o->problems);
    option_apply_problem_items(&o->problem_patiences, OPTION_PATIENCES, &o->problems);
    o->problems.resolve_delay_ms = o->resolve_delay_ms;
    return true;
}

bool config_load(struct options *o, int argc, const char *const *argv, struct error *err)
{
    return load_options(o, argc, argv, err) && fill_problem_settings(o, err);
}

/*
 * Returns the known gate with the smallest edit distance. A name that contains `gate` counts as
 * distance 1: Karmada's code calls PropagationPolicyPreemption also PolicyPreemption.
 */
static const char *find_nearest_gate(const char *gate)
{
    const char *nearest = gate_name(0);
    size_t closest = SIZE_MAX;

    for (unsigned i = 0; i < GATE_COUNT; i++) {
        size_t distance = strcasestr(gate_name(i), gate) ? 1 : edit_distance(gate, gate_name(i));

        if (distance < closest) {
            closest = distance;
            nearest = gate_name(i);
        }
    }
    return nearest;
}

/* Returns true if the unknown gate at `name`, a position in `gates`, also occurs before `name`. */
static bool is_repeated_gate(const char *gates, const char *name, size_t len)
{
    size_t other_len;
    const char *other;

    while ((other = gates_next_unknown(&gates, &other_len)) != name) {
        if (other_len == len && strncmp(other, name, len) == 0)
            return true;
    }
    return false;
}

void unknown_gates_each(const char *gates, unknown_gate_fn *report, void *context)
{
    const char *at = gates;
    const char *name;
    size_t len;

    while ((name = gates_next_unknown(&at, &len)) != NULL) {
        struct shown gate = shown_part(name, len);

        if (!is_repeated_gate(gates, name, len))
            report(context, gate.text, find_nearest_gate(gate.text));
    }
}
