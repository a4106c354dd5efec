/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/text/findings_format.h"

#include <strings.h>

#include "exporter/version.h"
#include "metrics/base/json_writer.h"

/* Findings as SARIF 2.1.0, for GitHub code scanning and others: a run for each environment. */

enum {
    TEXT_MAX_BYTES = 1024 * 1024,
    LINES_DEPTH = 5, /* Each result and each rule begins a line. */
};

static const char schema_url[] =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/* Rules of a run, in the order of their first result. Names are borrowed. */
struct sarif_rules {
    const char **names; /* Owned. */
    size_t count;
};

/* A run: the findings of one environment. */
struct sarif_run {
    const struct findings *findings;
    const struct findings_end *end;
    const char *environment; /* "" without one. */
    struct sarif_rules rules;
    size_t omitted; /* Findings beyond SARIF_RESULTS_MAX. */
};

/* ---- selection ---- */

static bool is_in_run(const struct sarif_run *run, const struct finding *finding)
{
    return !finding->passed && strcmp(finding->environment, run->environment) == 0;
}

/* Returns the index of a rule; the number of rules without it. */
static size_t find_rule(const struct sarif_rules *rules, const char *name)
{
    size_t i = 0;

    while (i < rules->count && strcmp(rules->names[i], name) != 0)
        i++;
    return i;
}

/* Collects the rules of the results, and counts the findings that are left out. */
static void prepare_run(struct sarif_run *run)
{
    const struct findings *f = run->findings;
    size_t results = 0;

    run->rules.names = xcalloc(f->count + 1, sizeof(char *));
    for (size_t i = 0; i < f->count; i++) {
        if (!is_in_run(run, &f->items[i]))
            continue;
        if (results++ >= SARIF_RESULTS_MAX)
            run->omitted++;
        else if (find_rule(&run->rules, f->items[i].rule) == run->rules.count)
            run->rules.names[run->rules.count++] = f->items[i].rule;
    }
}

/* ---- texts ---- */

/* Appends a path as a URI reference. */
static void add_uri(struct strbuf *out, const char *path)
{
    static const char kept[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                               "-._~/";

    if (*path == '/')
        strbuf_adds(out, "file://");
    for (; *path != '\0'; path++) {
        if (strchr(kept, *path))
            strbuf_addc(out, *path);
        else
            strbuf_addf(out, "%%%02X", (unsigned)(unsigned char)*path);
    }
}

/* Writes {"text": …} as a member. A blank breaks "](", which would be a link in a message. */
static void put_message(struct json_writer *w, const char *key, const char *text)
{
    CLEANUP(strbuf_release) struct strbuf safe = STRBUF_INIT(2 * TEXT_MAX_BYTES);
    const char *link;

    for (; (link = strstr(text, "](")); text = link + 1) {
        strbuf_add(&safe, text, (size_t)(link + 1 - text));
        strbuf_addc(&safe, ' ');
    }
    strbuf_adds(&safe, text);
    json_writer_open(w, key, '{');
    json_writer_text(w, "text", safe.data);
    json_writer_close(w, '}');
}

/* ---- rules ---- */

/* Appends "NotPropagatedNoMatch" for "not_propagated/no_match". */
static void add_pascal_case(struct strbuf *out, const char *rule)
{
    bool begins = true;

    for (; *rule != '\0'; rule++) {
        if (*rule == '_' || *rule == '/') {
            begins = true;
            continue;
        }
        strbuf_addc(out,
                    (char)(begins && *rule >= 'a' && *rule <= 'z' ? *rule - 'a' + 'A' : *rule));
        begins = false;
    }
}

static void put_tags(struct json_writer *w, const struct finding_rule *rule)
{
    json_writer_open(w, "properties", '{');
    json_writer_open(w, "tags", '[');
    json_writer_text(w, NULL, "karmada");
    if (rule->severity)
        json_writer_text(w, NULL, rule->severity);
    json_writer_close(w, ']');
    json_writer_close(w, '}');
}

static void put_rule(struct json_writer *w, const char *name)
{
    CLEANUP(strbuf_release) struct strbuf title = STRBUF_INIT(TEXT_MAX_BYTES);
    CLEANUP(finding_rule_release) struct finding_rule rule;

    finding_rule_describe(name, &rule);
    add_pascal_case(&title, name);
    json_writer_open(w, NULL, '{');
    json_writer_text(w, "id", name);
    /* SARIF does not allow a name that equals the id in any case. */
    if (strcasecmp(title.data, name) != 0)
        json_writer_text(w, "name", title.data);
    put_message(w, "shortDescription", rule.title.data);
    put_message(w, "fullDescription", rule.description.data);
    put_message(w, "help", rule.help.len > 0 ? rule.help.data : rule.description.data);
    if (rule.help_url.len > 0)
        json_writer_text(w, "helpUri", rule.help_url.data);
    json_writer_open(w, "defaultConfiguration", '{');
    json_writer_text(w, "level", finding_level_names[rule.level]);
    json_writer_close(w, '}');
    put_tags(w, &rule);
    json_writer_close(w, '}');
}

static void put_tool(struct json_writer *w, const struct sarif_run *run)
{
    json_writer_open(w, "tool", '{');
    json_writer_open(w, "driver", '{');
    json_writer_text(w, "name", EXPORTER_NAME);
    json_writer_text(w, "version", EXPORTER_VERSION);
    json_writer_text(w, "semanticVersion", EXPORTER_VERSION);
    json_writer_open(w, "rules", '[');
    for (size_t i = 0; i < run->rules.count; i++)
        put_rule(w, run->rules.names[i]);
    json_writer_close(w, ']');
    json_writer_close(w, '}');
    json_writer_close(w, '}');
}

/* ---- places ---- */

static void put_physical_location(struct json_writer *w, const struct location *at)
{
    CLEANUP(strbuf_release) struct strbuf uri = STRBUF_INIT(TEXT_MAX_BYTES);

    add_uri(&uri, at->file);
    json_writer_open(w, "physicalLocation", '{');
    json_writer_open(w, "artifactLocation", '{');
    json_writer_text(w, "uri", uri.data);
    if (*at->file != '/')
        json_writer_text(w, "uriBaseId", "%SRCROOT%");
    json_writer_close(w, '}');
    /* GitHub needs a region. */
    json_writer_open(w, "region", '{');
    json_writer_int(w, "startLine", at->line > 0 ? (int64_t)at->line : 1);
    if (at->line > 0 && at->column > 0)
        json_writer_int(w, "startColumn", (int64_t)at->column);
    json_writer_close(w, '}');
    json_writer_close(w, '}');
}

static void put_locations(struct json_writer *w, const struct finding *finding)
{
    json_writer_open(w, "locations", '[');
    json_writer_open(w, NULL, '{');
    if (finding->place.file)
        put_physical_location(w, &finding->place);
    if (*finding->subject) {
        json_writer_open(w, "logicalLocations", '[');
        json_writer_open(w, NULL, '{');
        json_writer_text(w, "fullyQualifiedName", finding->subject);
        json_writer_text(w, "kind", "resource");
        json_writer_close(w, '}');
        json_writer_close(w, ']');
    }
    json_writer_close(w, '}');
    json_writer_close(w, ']');
}

static void put_related_locations(struct json_writer *w, const struct finding *finding)
{
    bool open = false;

    for (size_t i = 0; i < finding->relation_count; i++) {
        const struct finding_relation *relation = &finding->relations[i];

        if (!relation->at.file)
            continue;
        if (!open)
            json_writer_open(w, "relatedLocations", '[');
        open = true;
        json_writer_open(w, NULL, '{');
        json_writer_int(w, "id", (int64_t)i + 1);
        put_physical_location(w, &relation->at);
        put_message(w, "message", relation->text);
        json_writer_close(w, '}');
    }
    if (open)
        json_writer_close(w, ']');
}

/* ---- results ---- */

/* Writes message, action, and the relations that have no place of their own. */
static void put_result_message(struct json_writer *w, const struct finding *finding)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX_BYTES);
    const char *between = " Related: ";

    finding_add_text(finding, &text);
    for (size_t i = 0; i < finding->relation_count; i++) {
        if (finding->relations[i].at.file)
            continue;
        strbuf_addf(&text, "%s%s", between, finding->relations[i].text);
        between = ", ";
    }
    if (*between == ',')
        strbuf_addc(&text, '.');
    put_message(w, "message", text.data);
}

static void put_fingerprints(struct json_writer *w, const struct finding *finding)
{
    char text[20];

    /* GitHub compares primaryLocationLineHash only; other readers take any member. */
    json_writer_open(w, "partialFingerprints", '{');
    snprintf(text, sizeof(text), "%016" PRIx64, finding->fingerprint);
    json_writer_text(w, "subject/v1", text);
    snprintf(text, sizeof(text), "%016" PRIx64 ":1", finding->fingerprint);
    json_writer_text(w, "primaryLocationLineHash", text);
    json_writer_close(w, '}');
}

static void put_suppression(struct json_writer *w, const struct sarif_run *run,
                            const struct finding *finding)
{
    if (run->findings->compared)
        json_writer_text(w, "baselineState",
                         finding->suppression == FINDING_IN_BASELINE ? "unchanged" : "new");
    if (finding->suppression == FINDING_COUNTS)
        return;
    json_writer_open(w, "suppressions", '[');
    json_writer_open(w, NULL, '{');
    json_writer_text(w, "kind",
                     finding->suppression == FINDING_EXCEPTED_BY_ANNOTATION ? "inSource"
                                                                            : "external");
    json_writer_text(w, "justification",
                     *finding->justification ? finding->justification : "in the baseline");
    json_writer_close(w, '}');
    json_writer_close(w, ']');
}

static void put_result(struct json_writer *w, const struct sarif_run *run,
                       const struct finding *finding)
{
    json_writer_open(w, NULL, '{');
    json_writer_text(w, "ruleId", finding->rule);
    json_writer_int(w, "ruleIndex", (int64_t)find_rule(&run->rules, finding->rule));
    json_writer_text(w, "level", finding_level_names[finding->level]);
    put_result_message(w, finding);
    put_locations(w, finding);
    put_related_locations(w, finding);
    put_fingerprints(w, finding);
    put_suppression(w, run, finding);
    json_writer_close(w, '}');
}

static void put_results(struct json_writer *w, const struct sarif_run *run)
{
    const struct findings *f = run->findings;
    size_t written = 0;

    json_writer_open(w, "results", '[');
    for (size_t i = 0; i < f->count && written < SARIF_RESULTS_MAX; i++) {
        if (!is_in_run(run, &f->items[i]))
            continue;
        put_result(w, run, &f->items[i]);
        written++;
    }
    json_writer_close(w, ']');
}

/* ---- invocation ---- */

static void put_notification(struct json_writer *w, const char *level, const char *text,
                             const struct finding *finding)
{
    json_writer_open(w, NULL, '{');
    json_writer_text(w, "level", level);
    put_message(w, "message", text);
    if (finding)
        put_locations(w, finding);
    json_writer_close(w, '}');
}

/* Writes the inputs that could not be read, which make the result incomplete. */
static void put_unread_inputs(struct json_writer *w, const struct sarif_run *run)
{
    const struct findings *f = run->findings;
    bool named = false;

    json_writer_open(w, "toolConfigurationNotifications", '[');
    for (size_t i = 0; i < f->count; i++) {
        if (!is_in_run(run, &f->items[i]) || !f->items[i].unread)
            continue;
        put_notification(w, "error", f->items[i].message, &f->items[i]);
        named = true;
    }
    if (!named && !run->end->complete)
        put_notification(w, "error", "Not all inputs could be read.", NULL);
    json_writer_close(w, ']');
}

static void put_invocation(struct json_writer *w, const struct sarif_run *run)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX_BYTES);

    json_writer_open(w, "invocations", '[');
    json_writer_open(w, NULL, '{');
    json_writer_bool(w, "executionSuccessful", run->end->complete);
    json_writer_int(w, "exitCode", run->end->exit_status);
    put_unread_inputs(w, run);
    if (run->omitted > 0) {
        strbuf_addf(&text, "%zu more findings are left out, because a run holds %d results.",
                    run->omitted, SARIF_RESULTS_MAX);
        json_writer_open(w, "toolExecutionNotifications", '[');
        put_notification(w, "warning", text.data, NULL);
        json_writer_close(w, ']');
    }
    json_writer_close(w, '}');
    json_writer_close(w, ']');
}

/* Writes the name of the run: GitHub replaces the alerts of the last run with the same name. */
static void put_automation(struct json_writer *w, const struct sarif_run *run)
{
    CLEANUP(strbuf_release) struct strbuf id = STRBUF_INIT(TEXT_MAX_BYTES);

    strbuf_addf(&id, EXPORTER_NAME "/%s/", run->findings->command);
    if (*run->environment)
        strbuf_addf(&id, "%s/", run->environment);
    json_writer_open(w, "automationDetails", '{');
    json_writer_text(w, "id", id.data);
    json_writer_close(w, '}');
}

static void put_run(struct json_writer *w, const struct findings *f, const struct findings_end *end,
                    const char *environment)
{
    struct sarif_run run = {.findings = f, .end = end, .environment = environment};

    prepare_run(&run);
    json_writer_open(w, NULL, '{');
    put_tool(w, &run);
    put_automation(w, &run);
    put_invocation(w, &run);
    json_writer_open(w, "originalUriBaseIds", '{');
    json_writer_open(w, "%SRCROOT%", '{');
    put_message(w, "description", "The folder in which the command ran.");
    json_writer_close(w, '}');
    json_writer_close(w, '}');
    json_writer_text(w, "columnKind", "unicodeCodePoints");
    put_results(w, &run);
    json_writer_close(w, '}');
    free(run.rules.names);
}

void findings_write_sarif(const struct findings *f, const struct findings_end *end,
                          struct strbuf *out)
{
    struct json_writer w = {.out = out, .lines = LINES_DEPTH};

    json_writer_open(&w, NULL, '{');
    json_writer_text(&w, "$schema", schema_url);
    json_writer_text(&w, "version", "2.1.0");
    json_writer_open(&w, "runs", '[');
    if (findings_have_common_part(f))
        put_run(&w, f, end, "");
    for (size_t i = 0; i < f->environment_count; i++)
        put_run(&w, f, end, f->environments[i]);
    json_writer_close(&w, ']');
    json_writer_close(&w, '}');
    strbuf_addc(out, '\n');
}
