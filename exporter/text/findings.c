/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/text/findings.h"

#include <unistd.h>

#include "exporter/text/check_result.h"
#include "metrics/base/map.h"
#include "metrics/expose/problem_alerts.h"
#include "metrics/expose/problem_text.h"
#include "metrics/rules/prediction.h"

enum {
    FOLDER_MAX_BYTES = 4096,
    KEY_MAX_BYTES = 1024 * 1024,
    SENTENCE_MAX_BYTES = 64 * 1024,
    SUMMARY_MAX_BYTES = 64 * 1024,
    DETAILS_MAX_BYTES = 32 * 1024,
    TEXT_MAX_BYTES = 64 * 1024 * 1024,
};

/* Seed of fingerprints. Another value makes every finding new for GitHub and GitLab. */
static const uint64_t fingerprint_seed = 40;

const char *const finding_level_names[FINDING_LEVEL_COUNT] = {
    [FINDING_ERROR] = "error",
    [FINDING_WARNING] = "warning",
    [FINDING_NOTE] = "note",
};

/* ---- list ---- */

void findings_init(struct findings *f, const char *command)
{
    char folder[FOLDER_MAX_BYTES];

    *f = (struct findings){.command = command,
                           .summary = STRBUF_INIT(SUMMARY_MAX_BYTES),
                           .details = STRBUF_INIT(DETAILS_MAX_BYTES),
                           .text = STRBUF_INIT(TEXT_MAX_BYTES)};
    f->folder = xstrdup(getcwd(folder, sizeof(folder)) ? folder : "");
}

void findings_release(struct findings *f)
{
    for (size_t i = 0; i < f->count; i++)
        free(f->items[i].relations);
    for (size_t i = 0; i < f->text_count; i++)
        free(f->texts[i]);
    free(f->items);
    free(f->texts);
    free(f->folder);
    strbuf_release(&f->summary);
    strbuf_release(&f->details);
    strbuf_release(&f->text);
    free(f->environments);
    *f = (struct findings){.command = f->command};
}

/* Returns the capacity of an array that doubles when it is full; 0 if it need not grow. */
static size_t grown_capacity(size_t count)
{
    if ((count & (count - 1)) != 0)
        return 0;
    return count > 0 ? count * 2 : 1;
}

static const char *keep_text(struct findings *f, const char *text)
{
    size_t capacity = grown_capacity(f->text_count);

    if (!text || *text == '\0')
        return "";
    if (capacity > 0)
        f->texts = xreallocarray(f->texts, capacity, sizeof(char *));
    f->texts[f->text_count] = xstrdup(text);
    return f->texts[f->text_count++];
}

const char *findings_relative_path(const struct findings *f, const char *path)
{
    size_t len = strlen(f->folder);

    if (len > 1 && strncmp(path, f->folder, len) == 0 && path[len] == '/')
        path += len + 1;
    while (strncmp(path, "./", 2) == 0)
        path += 2 + strspn(path + 2, "/");
    return path;
}

static struct location keep_place(struct findings *f, const struct location *at)
{
    struct location kept = *at;

    if (kept.file)
        kept.file = keep_text(f, findings_relative_path(f, kept.file));
    return kept;
}

static struct identity keep_identity(struct findings *f, const struct identity *id)
{
    return (struct identity){keep_text(f, id->api_version), keep_text(f, id->kind),
                             keep_text(f, id->ns), keep_text(f, id->name)};
}

/* Returns a hash of rule, subject and environment. The version of the object's API is no part. */
static uint64_t fingerprint_of(const struct finding *finding)
{
    CLEANUP(strbuf_release) struct strbuf key = STRBUF_INIT(KEY_MAX_BYTES);
    const char *version = strrchr(finding->object.api_version, '/');
    int group = version ? (int)(version - finding->object.api_version) : 0;

    strbuf_addf(&key, "%s\n%.*s\n%s\n%s\n%s\n%s", finding->rule, group, finding->object.api_version,
                finding->object.kind, finding->object.ns, finding->object.name,
                finding->environment);
    return map_hash(key.data, key.len, fingerprint_seed);
}

void findings_add_environment(struct findings *f, const char *name)
{
    size_t capacity = grown_capacity(f->environment_count);

    for (size_t i = 0; i < f->environment_count; i++) {
        if (strcmp(f->environments[i], name) == 0)
            return;
    }
    if (capacity > 0)
        f->environments = xreallocarray(f->environments, capacity, sizeof(char *));
    f->environments[f->environment_count++] = keep_text(f, name);
}

struct finding *findings_add(struct findings *f, const struct finding *finding)
{
    size_t capacity = grown_capacity(f->count);
    struct finding *kept;

    if (capacity > 0)
        f->items = xreallocarray(f->items, capacity, sizeof(*f->items));
    kept = &f->items[f->count++];
    f->compared |= finding->baseline;
    *kept = *finding;
    kept->rule = keep_text(f, finding->rule);
    kept->object = keep_identity(f, &finding->object);
    kept->subject = keep_text(f, finding->subject);
    kept->message = keep_text(f, finding->message);
    kept->action = keep_text(f, finding->action);
    kept->owner = keep_text(f, finding->owner);
    kept->environment = keep_text(f, finding->environment);
    if (*kept->environment)
        findings_add_environment(f, kept->environment);
    kept->justification = keep_text(f, finding->justification);
    kept->place = keep_place(f, &finding->place);
    kept->relations = NULL;
    kept->relation_count = 0;
    kept->fingerprint = fingerprint_of(kept);
    return kept;
}

void finding_add_relation(struct findings *f, struct finding *finding, const struct location *at,
                          const char *text)
{
    size_t capacity = grown_capacity(finding->relation_count);

    if (capacity > 0)
        finding->relations =
            xreallocarray(finding->relations, capacity, sizeof(*finding->relations));
    finding->relations[finding->relation_count++] = (struct finding_relation){
        keep_place(f, at ? at : &(struct location){NULL, 0, 0}), keep_text(f, text)};
}

bool finding_is_defect(const struct finding *finding)
{
    return !finding->passed && finding->suppression == FINDING_COUNTS;
}

size_t findings_count(const struct findings *f, enum finding_level level)
{
    size_t count = 0;

    for (size_t i = 0; i < f->count; i++)
        count += finding_is_defect(&f->items[i]) && f->items[i].level == level;
    return count;
}

/* ---- order and fingerprints ---- */

/* Returns the position in the output: defects by level, then suppressed and passed findings. */
static unsigned rank_of(const struct finding *finding)
{
    if (finding->passed)
        return FINDING_LEVEL_COUNT + 1;
    return finding_is_defect(finding) ? finding->level : FINDING_LEVEL_COUNT;
}

/* Sorts by rank, and keeps the order of findings with equal rank. */
static void sort_by_rank(struct findings *f)
{
    struct finding *sorted = xcalloc(f->count + 1, sizeof(*sorted));
    size_t count = 0;

    for (unsigned rank = 0; rank <= FINDING_LEVEL_COUNT + 1; rank++) {
        for (size_t i = 0; i < f->count; i++) {
            if (rank_of(&f->items[i]) == rank)
                sorted[count++] = f->items[i];
        }
    }
    free(f->items);
    f->items = sorted;
}

/* A fingerprint and the finding that has it. */
struct fingerprint_use {
    uint64_t fingerprint;
    size_t index;
};

static int compare_uses(const void *a, const void *b)
{
    const struct fingerprint_use *x = a, *y = b;

    if (x->fingerprint != y->fingerprint)
        return x->fingerprint < y->fingerprint ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* Numbers the findings with equal fingerprints, because GitLab drops all but one of them. */
static void make_fingerprints_differ(struct findings *f)
{
    CLEANUP(free_cleanup)
    struct fingerprint_use *uses = xcalloc(f->count + 1, sizeof(*uses));
    uint64_t number = 0;

    for (size_t i = 0; i < f->count; i++)
        uses[i] = (struct fingerprint_use){f->items[i].fingerprint, i};
    if (f->count > 1)
        qsort(uses, f->count, sizeof(*uses), compare_uses);
    for (size_t i = 1; i < f->count; i++) {
        number = uses[i].fingerprint == uses[i - 1].fingerprint ? number + 1 : 0;
        if (number > 0)
            f->items[uses[i].index].fingerprint =
                map_hash(&number, sizeof(number), uses[i].fingerprint);
    }
}

void findings_finish(struct findings *f)
{
    sort_by_rank(f);
    make_fingerprints_differ(f);
}

/* ---- rules ---- */

/* Rules that are no problem of the problem table. */
static const struct other_rule {
    const char *name;
    const char *title;
    const char *description;
    const char *help;
    enum finding_level level;
} other_rules[] = {
    {"not_placed/nowhere", "template without a cluster",
     "Karmada will find no member cluster for the template.",
     "Correct the placement of the policy, or add a member cluster that fits.", FINDING_WARNING},
    {"not_placed/refused", "template is refused",
     "Karmada, its webhook or its scheduler will refuse the template.",
     "Correct the policy or the template.", FINDING_WARNING},
    {"not_placed/ignored", "template is ignored",
     "A policy selects the template, and Karmada ignores the template.",
     "Move the template to a namespace or version that Karmada watches.", FINDING_WARNING},
    {"exception/expired", "exception that has expired",
     "The exception of a problem has expired, and the problem still exists.",
     "Solve the problem, or agree on a later date.", FINDING_ERROR},
    {"exception/unused", "exception without a problem", "The exception covers no problem.",
     "Remove the exception, or correct its object.", FINDING_NOTE},
    {"plan/dependency_conflict", "the change causes a dependency conflict",
     "After the change, referrers of the dependency request different values.",
     "Set the field to the same value in the policies of all referrers.", FINDING_WARNING},
    {"plan/policy_not_in_force", "the change leaves a template stale",
     "After the change, the template does not follow its policy.", "", FINDING_WARNING},
    {"plan/not_propagated", "the change ends the propagation",
     "After the change, no policy propagates the template.",
     "Add the template to the resourceSelectors of a policy.", FINDING_WARNING},
    {"plan/orphaned", "the change leaves an orphan",
     "After the change, copies of the template stay without a policy.", "", FINDING_WARNING},
    {"plan/override_failed", "the change makes an override fail",
     "After the change, an override policy fails for the template.", "Correct the override policy.",
     FINDING_WARNING},
    {"plan/move", "the change moves replicas",
     "The change moves the template or its replicas to other member clusters.", "", FINDING_NOTE},
    {"plan/lost", "the change loses a template",
     "After the change, no policy governs the template, or no copy is left.", "", FINDING_WARNING},
    {"plan/wait", "the change waits",
     "The template gets the change only with its user's next change.", "", FINDING_NOTE},
    {"plan/overflow", "the change exceeds the free capacity",
     "The change gives the member cluster more than its free capacity.", "", FINDING_WARNING},
    {"plan/undetermined", "the clusters cannot be predicted",
     "The member clusters of the template after the change cannot be computed.", "",
     FINDING_WARNING},
    {"plan/unsettled", "Karmada does not come to rest",
     "The controllers of Karmada do not reach a stable state after the change.", "",
     FINDING_WARNING},
    {"plan/nowhere", "the change removes all copies",
     "After the change, Karmada finds no member cluster for the template.", "", FINDING_WARNING},
    {"plan/refused", "the change is refused",
     "The API server, a webhook or the scheduler refuses the object of the change.",
     "Correct the object.", FINDING_WARNING},
    {"plan/ignored", "the change is ignored", "Karmada ignores the object of the change.", "",
     FINDING_WARNING},
    {"plan/not_simulated", "the change is not simulated",
     "A part of the change is not simulated, so its effect is unknown.", "", FINDING_WARNING},
    {"repeated_key", "key that a mapping has twice",
     "The last value of the key counts, as in kubectl; the file shows another value, too.",
     "Remove all values of the key but one.", FINDING_WARNING},
    {"expectation", "expectation about propagation", "An expectation of a test does not hold.", "",
     FINDING_ERROR},
};

/* Returns the reason with this name, PROBLEM/REASON or PROBLEM; PROBLEM_REASON_COUNT without. */
static enum problem_reason find_reason(const char *rule)
{
    CLEANUP(free_cleanup) char *problem = xmemdup0(rule, strcspn(rule, "/"));
    const char *reason = rule[strlen(problem)] == '/' ? rule + strlen(problem) + 1 : "";
    enum problem_id id = problem_find(problem);

    return id < PROBLEM_COUNT ? problem_find_reason(id, reason) : PROBLEM_REASON_COUNT;
}

static void describe_problem(enum problem_reason reason, struct finding_rule *out)
{
    static const enum finding_level levels[SEVERITY_COUNT] = {
        [SEVERITY_CRITICAL] = FINDING_ERROR,
        [SEVERITY_WARNING] = FINDING_WARNING,
        [SEVERITY_INFO] = FINDING_NOTE,
    };
    const struct problem_reason_row *row = &problem_reasons[reason];
    const struct problem_row *problem = &problem_table[row->problem];

    strbuf_adds(&out->title, problem->title);
    if (*row->name)
        strbuf_addf(&out->title, " (%s)", row->name);
    problem_reason_add_cause(reason, &out->description);
    problem_reason_add_action(reason, &out->help);
    strbuf_addc(&out->help, ' ');
    problem_reason_add_end(reason, &out->help);
    problem_add_runbook_url(row->problem, &out->help_url);
    out->level = levels[problem->severity];
    out->severity = severity_names[problem->severity];
}

static bool describe_condition(const char *rule, struct finding_rule *out)
{
    enum normal_condition condition = 0;

    while (condition < NORMAL_CONDITION_COUNT &&
           strcmp(rule, normal_condition_names[condition]) != 0)
        condition++;
    if (condition == NORMAL_CONDITION_COUNT)
        return false;
    strbuf_addf(&out->title, "%s, no problem", strchr(rule, '/') + 1);
    strbuf_adds(&out->description, normal_condition_texts[condition].cause);
    strbuf_adds(&out->help, normal_condition_texts[condition].action);
    return true;
}

void finding_rule_describe(const char *rule, struct finding_rule *out)
{
    enum problem_reason reason = find_reason(rule);

    *out = (struct finding_rule){.title = STRBUF_INIT(SENTENCE_MAX_BYTES),
                                 .description = STRBUF_INIT(SENTENCE_MAX_BYTES),
                                 .help = STRBUF_INIT(SENTENCE_MAX_BYTES),
                                 .help_url = STRBUF_INIT(SENTENCE_MAX_BYTES),
                                 .level = FINDING_WARNING};
    if (reason < PROBLEM_REASON_COUNT)
        describe_problem(reason, out);
    else if (!describe_condition(rule, out))
        for (size_t i = 0; i < ARRAY_LEN(other_rules); i++) {
            if (strcmp(rule, other_rules[i].name) != 0)
                continue;
            strbuf_adds(&out->title, other_rules[i].title);
            strbuf_adds(&out->description, other_rules[i].description);
            strbuf_adds(&out->help, other_rules[i].help);
            out->level = other_rules[i].level;
        }
    if (out->title.len == 0)
        strbuf_adds(&out->title, rule);
    if (out->description.len == 0)
        strbuf_adds(&out->description, rule);
}

void finding_rule_release(struct finding_rule *rule)
{
    strbuf_release(&rule->title);
    strbuf_release(&rule->description);
    strbuf_release(&rule->help);
    strbuf_release(&rule->help_url);
}
