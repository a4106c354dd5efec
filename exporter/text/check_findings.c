/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/text/check_findings.h"

#include "exporter/text/object_name.h"
#include "exporter/text/suppression_text.h"
#include "metrics/expose/problem_text.h"
#include "metrics/rules/prediction.h"
#include "metrics/rules/replica_projection.h"

enum {
    SENTENCE_MAX_BYTES = 256 * 1024,
    RELATIONS_MAX = 20, /* Of one finding, for other objects and for hidden problems each. */
};

/* Arguments that the functions of this file share. */
struct check_context {
    struct findings *findings;
    const struct check_result *result;
    const struct fail_on *fail_on;
    const char *environment;
    struct location_source locations;
};

static bool has_baseline(const struct check_result *r)
{
    return r->suppressions && r->suppressions->baseline;
}

static enum finding_level level_of(const struct check_context *c, const struct problem *p)
{
    const struct problems *ps = engine_problems(c->result->evaluation->engine);

    if (check_result_fails(c->result, p, c->fail_on))
        return FINDING_ERROR;
    return problem_severity(ps, problem_id(p)) == SEVERITY_INFO ? FINDING_NOTE : FINDING_WARNING;
}

/* ---- manifests ---- */

/* Returns the reason of data_incomplete for a problem of manifests that blocks the evaluation. */
static enum problem_reason reason_of_manifest(enum problem_kind kind)
{
    return kind == PROBLEM_REJECTED ? PROBLEM_REASON_DATA_INCOMPLETE_REJECTED
                                    : PROBLEM_REASON_DATA_INCOMPLETE_BROKEN_FILE;
}

/* Returns true if the problem is about a manifest: add_manifest_problems() adds it with its line.
 */
static bool is_about_manifest(const struct check_result *r, const struct problem *p)
{
    const struct evaluation *e = r->evaluation;

    return !e->session &&
           (p->reason == PROBLEM_REASON_DATA_INCOMPLETE_BROKEN_FILE ||
            p->reason == PROBLEM_REASON_DATA_INCOMPLETE_REJECTED) &&
           strcmp(problem_name(p), asset_source_path(e->assets)) != 0;
}

/* Adds a finding about a manifest; `finding` has the members that depend on the problem. */
static void add_manifest_finding(const struct check_context *c, const struct manifest_problem *p,
                                 const char *sentence, struct finding *finding)
{
    CLEANUP(strbuf_release) struct strbuf message = STRBUF_INIT(SENTENCE_MAX_BYTES);
    const char *path = findings_relative_path(c->findings, p->path);

    strbuf_addf(&message, "%s%s: %s.", path, sentence, p->text);
    finding->object = (struct identity){"", "Source", "", path};
    finding->subject = path;
    finding->message = message.data;
    finding->place = (struct location){path, p->line, p->column};
    finding->environment = c->environment;
    findings_add(c->findings, finding);
}

static void add_unread_input(const struct check_context *c, const struct manifest_problem *p)
{
    CLEANUP(strbuf_release) struct strbuf rule = STRBUF_INIT(SENTENCE_MAX_BYTES);
    bool known = check_result_is_known_unread(c->result, p);

    problem_reason_name_add(&rule, reason_of_manifest(p->kind));
    add_manifest_finding(
        c, p, " cannot be read completely",
        &(struct finding){.rule = rule.data,
                          .level = known ? FINDING_WARNING : FINDING_ERROR,
                          .severity = SEVERITY_WARNING,
                          .unread = true,
                          .action = "Correct the file, or exclude it from the check.",
                          .suppression = known ? FINDING_IN_BASELINE : FINDING_COUNTS,
                          .baseline = has_baseline(c->result)});
}

static void add_manifest_problems(const struct check_context *c)
{
    const struct manifests *m = c->result->evaluation->manifests;

    for (size_t i = 0; i < manifests_problem_count(m); i++) {
        struct manifest_problem p = manifests_problem(m, i);

        if (problem_kind_blocks_evaluation(p.kind))
            add_unread_input(c, &p);
        else if (p.kind == PROBLEM_REPEATED_KEY)
            add_manifest_finding(
                c, &p, "",
                &(struct finding){.rule = "repeated_key",
                                  .level = FINDING_WARNING,
                                  .severity = SEVERITY_COUNT,
                                  .action = "Remove all values of the key but one."});
    }
}

/* ---- problems ---- */

/* Receiver of the other parties of a problem. */
struct related_parties {
    struct findings *findings;
    struct finding *finding;
    size_t count;
};

static void add_related_party(void *context, const struct entry *related, const struct location *at)
{
    struct related_parties *r = context;
    CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(SENTENCE_MAX_BYTES);

    if (r->count++ >= RELATIONS_MAX)
        return;
    object_name_add(&name, related);
    finding_add_relation(r->findings, r->finding, at, name.data);
}

/* Adds the number of relations that are left out. */
static void add_omitted(struct findings *f, struct finding *finding, size_t count, const char *what)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(SENTENCE_MAX_BYTES);

    if (count <= RELATIONS_MAX)
        return;
    strbuf_addf(&text, "%zu more %s", count - RELATIONS_MAX, what);
    finding_add_relation(f, finding, NULL, text.data);
}

static void add_related(const struct check_context *c, const struct problem *p,
                        struct finding *finding)
{
    struct related_parties r = {.findings = c->findings, .finding = finding};

    problem_each_object_location(c->result->evaluation->engine, p, &c->locations, add_related_party,
                                 &r);
    add_omitted(c->findings, finding, r.count, "objects");
}

/* Adds the problems that `cause` hides as its relations. */
static void add_hidden(const struct check_context *c, const struct problem *cause,
                       struct finding *finding)
{
    const struct check_result *r = c->result;
    size_t first = check_result_find_hidden(r, cause), i = first;

    for (; i < r->hidden_count && r->hidden[i].problem->cause == cause; i++) {
        CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(SENTENCE_MAX_BYTES);
        const struct problem *p = r->hidden[i].problem;
        struct location at;
        bool found = problem_find_location(r->evaluation->engine, p, &c->locations, &at);

        if (i - first >= RELATIONS_MAX)
            continue;
        strbuf_adds(&text, "hides ");
        problem_reason_name_add(&text, p->reason);
        strbuf_adds(&text, " of ");
        problem_add_subject(p, &text);
        finding_add_relation(c->findings, finding, found ? &at : NULL, text.data);
    }
    add_omitted(c->findings, finding, i - first, "hidden problems");
}

/* Sets why the problem does not count; no change if it counts. */
static void set_suppression(const struct check_result *r, const struct problem *p,
                            struct finding *out)
{
    const struct suppressed_problem *s = check_result_suppression(r, p);

    out->baseline = has_baseline(r);
    if (!s)
        return;
    out->suppression = !s->exception          ? FINDING_IN_BASELINE
                       : s->exception->object ? FINDING_EXCEPTED_BY_FILE
                                              : FINDING_EXCEPTED_BY_ANNOTATION;
    out->justification = s->exception ? s->exception->reason : NULL;
}

/*
 * Returns the place of a problem; that of a problem of a file, and of a lease, is the file. If no
 * file has the subject, as a Cluster that does not exist, the place is the first PATH, because
 * GitHub refuses a document with a result that has no file.
 */
static struct location find_place(const struct check_context *c, const struct problem *p)
{
    const struct evaluation *e = c->result->evaluation;
    const struct text_list *paths = &e->options.manifests;
    struct location at = {NULL, 0, 0};

    if (p->reason == PROBLEM_REASON_DATA_INCOMPLETE_BROKEN_FILE ||
        p->reason == PROBLEM_REASON_DATA_INCOMPLETE_REJECTED ||
        p->reason == PROBLEM_REASON_DATA_INCOMPLETE_SNAPSHOT_OLD)
        at.file = problem_name(p);
    else if (e->assets && strcmp(problem_subject_kind(p), LEASE_KIND) == 0)
        at.file = asset_source_path(e->assets);
    else if (!problem_find_location(e->engine, p, &c->locations, &at))
        at = (struct location){paths->count > 0 ? paths->items[0] : NULL, 0, 0};
    return at;
}

static struct finding *add_problem(const struct check_context *c, const struct problem *p)
{
    CLEANUP(strbuf_release) struct strbuf rule = STRBUF_INIT(SENTENCE_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf subject = STRBUF_INIT(SENTENCE_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf message = STRBUF_INIT(SENTENCE_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf action = STRBUF_INIT(SENTENCE_MAX_BYTES);
    const struct engine *engine = c->result->evaluation->engine;
    struct finding finding = {
        .level = level_of(c, p),
        .severity = problem_severity(engine_problems(engine), problem_id(p)),
        .object = problem_identity(p),
        .owner = problem_owner(p),
        .environment = c->environment,
    };

    set_suppression(c->result, p, &finding);
    problem_reason_name_add(&rule, p->reason);
    problem_add_subject(p, &subject);
    problem_add_cause(engine, p, &message);
    problem_add_action(engine, p, &action);
    finding.place = find_place(c, p);
    finding.rule = rule.data;
    finding.subject = subject.data;
    finding.message = message.data;
    finding.action = action.data;
    return findings_add(c->findings, &finding);
}

static void add_problems(const struct check_context *c)
{
    const struct check_result *r = c->result;

    for (size_t i = 0; i < r->shown_count; i++) {
        struct finding *finding;

        if (is_about_manifest(r, r->shown[i]))
            continue;
        finding = add_problem(c, r->shown[i]);
        add_related(c, r->shown[i], finding);
        add_hidden(c, r->shown[i], finding);
    }
    for (size_t i = 0; i < r->hidden_count; i++) {
        if (check_result_fails(r, r->hidden[i].problem, c->fail_on))
            add_related(c, r->hidden[i].problem, add_problem(c, r->hidden[i].problem));
    }
    for (size_t i = 0; i < r->suppressed_count; i++) {
        if (!is_about_manifest(r, r->suppressed[i].problem))
            add_problem(c, r->suppressed[i].problem);
    }
}

/* ---- templates ---- */

/* Adds a finding about a template; `message` and so on are in `finding`. */
static void add_template(const struct check_context *c, const struct entry *template,
                         struct finding *finding, const char *sentence)
{
    CLEANUP(strbuf_release) struct strbuf subject = STRBUF_INIT(SENTENCE_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf message = STRBUF_INIT(SENTENCE_MAX_BYTES);

    object_name_add(&subject, template);
    strbuf_addf(&message, "%s: %s", subject.data, sentence);
    finding->severity = SEVERITY_COUNT;
    finding->object = entry_identity(template);
    finding->subject = subject.data;
    finding->message = message.data;
    finding->environment = c->environment;
    finding->baseline = has_baseline(c->result);
    if (!c->locations.find(c->locations.context, template, "metadata.name", &finding->place))
        finding->place = (struct location){NULL, 0, 0};
    findings_add(c->findings, finding);
}

static void add_conditions(const struct check_context *c)
{
    for (unsigned k = 0; k < NORMAL_CONDITION_COUNT; k++) {
        const struct entry_list *list = &c->result->normal[k];

        for (size_t i = 0; i < list->count && c->fail_on->conditions >> k & 1; i++)
            add_template(c, list->items[i],
                         &(struct finding){.rule = normal_condition_names[k],
                                           .level = FINDING_ERROR,
                                           .action = normal_condition_texts[k].action},
                         normal_condition_texts[k].cause);
    }
}

static void add_not_placed(const struct check_context *c)
{
    const struct evaluation *e = c->result->evaluation;

    for (size_t i = 0; i < c->result->not_placed.count; i++) {
        CLEANUP(strbuf_release) struct strbuf rule = STRBUF_INIT(SENTENCE_MAX_BYTES);
        CLEANUP(strbuf_release) struct strbuf sentence = STRBUF_INIT(SENTENCE_MAX_BYTES);
        struct projection projection;
        struct predicted predicted =
            predict_template(e->engine, c->result->not_placed.items[i], &projection);

        projection_release(store_string_pool(e->store), &projection);
        strbuf_addf(&rule, "not_placed/%s", prediction_names[predicted.outcome]);
        strbuf_addf(&sentence, "Karmada will not place the template: %s (%s).",
                    prediction_names[predicted.outcome], predicted.reason);
        add_template(c, c->result->not_placed.items[i],
                     &(struct finding){.rule = rule.data, .level = FINDING_WARNING}, sentence.data);
    }
}

void findings_add_check(struct findings *f, const struct check_result *r,
                        const struct fail_on *fail_on, const char *environment)
{
    const struct check_context c = {f, r, fail_on, environment,
                                    evaluation_locations(r->evaluation)};

    if (environment)
        findings_add_environment(f, environment);
    add_manifest_problems(&c);
    add_problems(&c);
    add_conditions(&c);
    add_not_placed(&c);
    findings_add_expired(f, r, !fail_on_is_empty(fail_on), environment);
}
