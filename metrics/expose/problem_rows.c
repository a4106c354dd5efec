/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/problem_rows.h"

#include "metrics/expose/decision_text.h"
#include "metrics/expose/problem_fields.h"
#include "metrics/expose/problem_text.h"
#include "metrics/expose/report_parts.h"
#include "metrics/model/store.h"

enum { SENTENCE_MAX_BYTES = 256 * 1024 };

/* Inputs of a row. */
struct row_context {
    const struct engine *engine;
    const struct problem *problem;
    const struct location_source *locations;
};

/* ---- places ---- */

enum { PATH_MAX_BYTES = 4096 };

/* Stores the place of the field of an object of the problem that causes it. */
static bool find_place(const struct engine *e, const struct problem *p, const struct entry *object,
                       const struct location_source *locations, struct location *out)
{
    CLEANUP(strbuf_release) struct strbuf field = STRBUF_INIT(PATH_MAX_BYTES);

    if (!locations->find || !object)
        return false;
    problem_add_field(e, p, object, &field);
    return locations->find(locations->context, object, strbuf_ok(&field) ? field.data : "", out);
}

static void put_place(struct json_writer *w, const char *key, const struct location *at)
{
    json_writer_open(w, key, '{');
    json_writer_text(w, "file", at->file);
    json_writer_int(w, "line", (int64_t)at->line);
    json_writer_int(w, "column", (int64_t)at->column);
    json_writer_close(w, '}');
}

bool location_write(struct json_writer *w, const char *key, const struct location_source *locations,
                    const struct entry *entry, const char *field)
{
    struct location at;
    bool found =
        locations && locations->find && locations->find(locations->context, entry, field, &at);

    if (found)
        put_place(w, key, &at);
    return found;
}

void policy_write(struct json_writer *w, const char *key, struct policy_name name,
                  const struct location_source *locations, const struct entry *policy,
                  const char *field)
{
    if (!name.kind) {
        json_writer_text(w, key, NULL);
        return;
    }
    json_writer_open(w, key, '{');
    json_writer_text(w, "kind", name.kind);
    json_writer_text(w, "namespace", name.ns);
    json_writer_text(w, "name", name.name);
    if (policy)
        (void)location_write(w, "location", locations, policy, field);
    json_writer_close(w, '}');
}

bool problem_find_location(const struct engine *e, const struct problem *p,
                           const struct location_source *locations, struct location *out)
{
    if (problem_id(p) == PROBLEM_DATA_INCOMPLETE)
        return locations->find_fault &&
               locations->find_fault(locations->context, problem_name(p), out);
    return find_place(e, p, problem_subject_entry(e, p), locations, out);
}

/* Receiver of related objects with their places. */
struct related_receiver {
    const struct engine *engine;
    const struct problem *problem;
    const struct location_source *locations;
    related_location_fn *each;
    void *context;
};

static void pass_related_place(void *context, const struct entry *related)
{
    const struct related_receiver *r = context;
    struct location at;
    bool found = find_place(r->engine, r->problem, related, r->locations, &at);

    r->each(r->context, related, found ? &at : NULL);
}

/* Limits the time for an object that files declare very often. */
enum { EARLIER_MAX = 100 };

static void pass_earlier_places(const struct related_receiver *r)
{
    const struct entry *subject = problem_subject_entry(r->engine, r->problem);
    const struct location_source *l = r->locations;
    struct location at;

    if (problem_id(r->problem) != PROBLEM_DUPLICATE_OBJECT || !subject || !l->find_earlier)
        return;
    for (size_t i = 0; i < EARLIER_MAX && l->find_earlier(l->context, subject, i, &at); i++)
        r->each(r->context, subject, &at);
}

void problem_each_related_location(const struct engine *e, const struct problem *p,
                                   const struct location_source *locations,
                                   related_location_fn *each, void *context)
{
    struct related_receiver r = {e, p, locations, each, context};

    problem_each_related(e, p, pass_related_place, &r);
    pass_earlier_places(&r);
}

void problem_each_object_location(const struct engine *e, const struct problem *p,
                                  const struct location_source *locations,
                                  related_location_fn *each, void *context)
{
    struct related_receiver r = {e, p, locations, each, context};

    problem_each_object(e, p, pass_related_place, &r);
    pass_earlier_places(&r);
}

/* ---- members ---- */

static void put_if_true(struct json_writer *w, const char *key, bool value)
{
    if (value)
        json_writer_bool(w, key, true);
}

static void put_subject(struct json_writer *w, const char *key, const struct problem *p)
{
    json_writer_open(w, key, '{');
    report_put_identity(w, problem_identity(p));
    json_writer_close(w, '}');
}

/* Appends the problem that hides the instance; null if none does. */
static void put_cause_of_hidden(struct json_writer *w, const char *key, const struct problem *p)
{
    if (p->status != PROBLEM_HIDDEN || !p->cause) {
        json_writer_text(w, key, NULL);
        return;
    }
    json_writer_open(w, key, '{');
    json_writer_text(w, "problem", problem_names[problem_id(p->cause)]);
    put_subject(w, "subject", p->cause);
    json_writer_close(w, '}');
}

static void put_cluster(void *context, const char *cluster)
{
    json_writer_text(context, NULL, cluster);
}

static void put_clusters(struct json_writer *w, const char *key, const struct row_context *c)
{
    json_writer_open(w, key, '[');
    problem_each_cluster(c->engine, c->problem, put_cluster, w);
    json_writer_close(w, ']');
}

static void put_policy(struct json_writer *w, const char *key, const struct row_context *c)
{
    CLEANUP(strbuf_release) struct strbuf field = STRBUF_INIT(PATH_MAX_BYTES);
    const struct entry *policy = problem_policy(c->problem);

    if (problem_blames_policy(c->problem))
        problem_add_field(c->engine, c->problem, policy, &field);
    policy_write(w, key, policy_name_of(policy),
                 problem_blames_policy(c->problem) ? c->locations : NULL, policy, field.data);
}

/* Appends the place of the problem; no member if the subject does not come from a file. */
static void put_location(struct json_writer *w, const char *key, const struct row_context *c)
{
    struct location at;

    if (problem_find_location(c->engine, c->problem, c->locations, &at))
        put_place(w, key, &at);
}

static void put_related_object(void *context, const struct entry *related,
                               const struct location *at)
{
    struct json_writer *w = context;

    json_writer_open(w, NULL, '{');
    report_put_identity(w, entry_identity(related));
    if (at)
        put_place(w, "location", at);
    json_writer_close(w, '}');
}

static void put_related(struct json_writer *w, const char *key, const struct row_context *c)
{
    json_writer_open(w, key, '[');
    problem_each_related_location(c->engine, c->problem, c->locations, put_related_object, w);
    json_writer_close(w, ']');
}

typedef void add_sentence_fn(const struct engine *e, const struct problem *p, struct strbuf *out);

static void put_sentence(struct json_writer *w, const char *key, const struct row_context *c,
                         add_sentence_fn *add)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(SENTENCE_MAX_BYTES);

    add(c->engine, c->problem, &text);
    json_writer_text(w, key, text.data);
}

static const char *severity_name(const struct problems *ps, const struct problem *p)
{
    enum problem_severity severity = problem_severity(ps, problem_id(p));

    return severity < SEVERITY_COUNT ? severity_names[severity] : NULL;
}

/* Returns the word of a reason; NULL for a problem with a single unnamed reason. */
static const char *reason_word(enum problem_reason reason)
{
    const char *name = problem_reasons[reason].name;

    return *name ? name : NULL;
}

/* ---- columns ---- */

/*
 * Columns of a row. JSON, NDJSON and CSV come from this table, so a new column is one row here. A
 * VALUE has the JSON member, which is also the CSV title, the function that appends the member, and
 * the arguments of that function: expressions of the instance `p`, its row `c` and all problems
 * `ps`. An OBJECT, POLICY, CAUSE and PLACE are objects, and CSV has a column for each member.
 */
#define PROBLEM_COLUMNS(VALUE, OBJECT, POLICY, CAUSE, PLACE)                                       \
    VALUE("problem", json_writer_text, problem_names[problem_id(p)])                               \
    VALUE("severity", json_writer_text, severity_name(ps, p))                                      \
    VALUE("reason", json_writer_text, reason_word(p->reason))                                      \
    VALUE("status", json_writer_text, problem_status_names[p->status])                             \
    VALUE("open", json_writer_bool, problem_counts(p))                                             \
    VALUE("since", report_put_time, problem_since_ms(ps, p))                                       \
    VALUE("sinceSeen", put_if_true, p->since_seen &&problem_since_ms(ps, p) > 0)                   \
    OBJECT("subject", put_subject, p)                                                              \
    POLICY("policy", put_policy, c)                                                                \
    VALUE("clusters", put_clusters, c)                                                             \
    VALUE("related", put_related, c)                                                               \
    CAUSE("causedBy", put_cause_of_hidden, p)                                                      \
    VALUE("owner", json_writer_text, problem_owner(p))                                             \
    VALUE("actor", json_writer_text, actor_names[problem_actor(p)])                                \
    VALUE("cause", put_sentence, c, problem_add_cause)                                             \
    VALUE("action", put_sentence, c, problem_add_action)                                           \
    VALUE("endsWhen", put_sentence, c, problem_add_end)                                            \
    VALUE("doc", json_writer_text, problem_doc(problem_id(p)))                                     \
    PLACE("location", put_location, c)

#define CSV_IDENTITY(member)                                                                       \
    member ".apiVersion", member ".kind", member ".namespace", member ".name",
#define CSV_VALUE(member, ...)  member,
#define CSV_OBJECT(member, ...) CSV_IDENTITY(member)
#define CSV_POLICY(member, ...) member ".kind", member ".namespace", member ".name",
#define CSV_CAUSE(member, ...)  member ".problem", CSV_IDENTITY(member ".subject")
#define CSV_PLACE(member, ...)  member ".file", member ".line", member ".column",
const char *const problem_columns[] = {
    PROBLEM_COLUMNS(CSV_VALUE, CSV_OBJECT, CSV_POLICY, CSV_CAUSE, CSV_PLACE) NULL};

/* Appends why the instance does not count; no member if it counts. */
static void put_suppression(struct json_writer *w, const char *key, const struct problem *p,
                            const struct suppression_source *suppressions)
{
    struct suppression s;

    if (!suppressions || !suppressions->find || !suppressions->find(suppressions->context, p, &s))
        return;
    json_writer_open(w, key, '{');
    json_writer_text(w, "by", s.by);
    if (s.reason) {
        json_writer_text(w, "reason", s.reason);
        json_writer_text(w, "until", s.until);
        put_place(w, "location", &s.at);
    }
    json_writer_close(w, '}');
}

#define JSON_MEMBER(member, put, ...) put(w, member, __VA_ARGS__);
static void write_row(struct json_writer *w, const struct row_context *c,
                      const struct suppression_source *suppressions)
{
    const struct problem *p = c->problem;
    const struct problems *ps = engine_problems(c->engine);

    json_writer_open(w, NULL, '{');
    PROBLEM_COLUMNS(JSON_MEMBER, JSON_MEMBER, JSON_MEMBER, JSON_MEMBER, JSON_MEMBER)
    put_suppression(w, "suppressed", p, suppressions);
    json_writer_close(w, '}');
}

void problem_write(struct json_writer *w, const struct engine *e, const struct problem *p,
                   const struct location_source *locations)
{
    write_row(w, &(struct row_context){e, p, locations}, NULL);
}

void problems_write(struct json_writer *w, const char *key, const struct engine *e,
                    const struct location_source *locations, const struct problem_filter *filter,
                    const struct suppression_source *suppressions)
{
    const struct problems *ps = engine_problems(e);
    CLEANUP(free_cleanup) const struct problem **list = NULL;
    size_t count = 0;

    if (ps)
        list = problems_list(ps, (1U << PROBLEM_STATUS_COUNT) - 1, &count);
    json_writer_open(w, key, '[');
    for (size_t i = 0; i < count; i++) {
        if (!filter || problem_or_cause_matches(ps, list[i], filter))
            write_row(w, &(struct row_context){e, list[i], locations}, suppressions);
    }
    json_writer_close(w, ']');
}

/* ---- filter ---- */

/* Returns true if there is a condition `wanted` (not NULL) that the value does not meet. */
static bool fails_condition(const char *wanted, const char *value)
{
    return wanted && (!value || strcmp(wanted, value) != 0);
}

/* Returns true if the subject is named `name`, which is NAME or NAMESPACE/NAME. */
static bool subject_has_name(const struct problem *p, const char *name)
{
    size_t len = strlen(problem_ns(p));

    if (strcmp(problem_name(p), name) == 0)
        return true;
    return strncmp(problem_ns(p), name, len) == 0 && name[len] == '/' &&
           strcmp(problem_name(p), name + len + 1) == 0;
}

/* Returns true if NAMESPACE/NAME, or NAME without a namespace, contains the text in any case. */
static bool name_contains(const char *ns, const char *name, const char *text)
{
    size_t ns_len = strlen(ns), len = ns_len + strlen(name) + 2;
    CLEANUP(free_cleanup) char *path = NULL;

    if (strcasestr(name, text) || strcasestr(ns, text))
        return true;
    if (ns_len == 0 || !strchr(text, '/'))
        return false;
    path = xreallocarray(NULL, len, 1);
    snprintf(path, len, "%s/%s", ns, name);
    return strcasestr(path, text) != NULL;
}

/* Returns true if the filter's problem hides the instance, or the filter names no such problem. */
static bool cause_matches(const struct problem *p, const struct problem_filter *filter)
{
    const struct problem *cause = p->status == PROBLEM_HIDDEN ? p->cause : NULL;

    if (filter->cause == PROBLEM_COUNT)
        return true;
    return cause && problem_id(cause) == filter->cause &&
           (!filter->cause_subject || subject_has_name(cause, filter->cause_subject));
}

bool problem_matches(const struct problems *ps, const struct problem *p,
                     const struct problem_filter *filter)
{
    if (filter->problem != PROBLEM_COUNT && filter->problem != problem_id(p))
        return false;
    if (filter->severity != SEVERITY_COUNT &&
        filter->severity != problem_severity(ps, problem_id(p)))
        return false;
    if (fails_condition(filter->reason, reason_word(p->reason)) ||
        fails_condition(filter->ns, problem_ns(p)) ||
        fails_condition(filter->owner, problem_owner(p)))
        return false;
    if (filter->policy && !policy_has_name(problem_policy(p), filter->policy))
        return false;
    if (filter->search && !name_contains(problem_ns(p), problem_name(p), filter->search))
        return false;
    return cause_matches(p, filter);
}

bool problem_or_cause_matches(const struct problems *ps, const struct problem *p,
                              const struct problem_filter *filter)
{
    return problem_matches(ps, p, filter) ||
           (p->status == PROBLEM_HIDDEN && p->cause && problem_matches(ps, p->cause, filter));
}

/* ---- resolved instances ---- */

static void put_resolved_subject(struct json_writer *w, const char *key,
                                 const struct resolved_problem *r)
{
    json_writer_open(w, key, '{');
    report_put_identity(w, (struct identity){r->api_version, r->kind, r->ns, r->name});
    json_writer_close(w, '}');
}

static struct policy_name policy_of_resolved(const struct resolved_problem *r)
{
    return (struct policy_name){r->names.policy_kind, r->names.policy_ns, r->names.policy_name};
}

static enum problem_id resolved_id(const struct resolved_problem *r)
{
    return problem_reasons[r->reason].problem;
}

/* Columns as PROBLEM_COLUMNS, from the resolved instance `r`. */
#define RESOLVED_COLUMNS(VALUE, OBJECT, POLICY)                                                    \
    VALUE("problem", json_writer_text, problem_names[resolved_id(r)])                              \
    VALUE("severity", json_writer_text, severity_names[r->severity])                               \
    VALUE("reason", json_writer_text, reason_word(r->reason))                                      \
    VALUE("status", json_writer_text, "resolved")                                                  \
    VALUE("open", json_writer_bool, false)                                                         \
    VALUE("since", report_put_time, r->since_ms)                                                   \
    VALUE("sinceSeen", put_if_true, r->since_seen)                                                 \
    VALUE("opened", report_put_time, r->opened_ms)                                                 \
    VALUE("resolved", report_put_time, r->resolved_ms)                                             \
    VALUE("deleted", json_writer_bool, r->deleted)                                                 \
    OBJECT("subject", put_resolved_subject, r)                                                     \
    POLICY("policy", report_put_policy, policy_of_resolved(r))                                     \
    VALUE("owner", json_writer_text, r->names.owner)                                               \
    VALUE("doc", json_writer_text, problem_doc(resolved_id(r)))

const char *const resolved_problem_columns[] = {RESOLVED_COLUMNS(CSV_VALUE, CSV_OBJECT, CSV_POLICY)
                                                    NULL};

void resolved_problem_write(struct json_writer *w, const struct resolved_problem *r)
{
    json_writer_open(w, NULL, '{');
    RESOLVED_COLUMNS(JSON_MEMBER, JSON_MEMBER, JSON_MEMBER)
    json_writer_close(w, '}');
}

bool resolved_problem_matches(const struct resolved_problem *r, const struct problem_filter *filter)
{
    return (filter->problem == PROBLEM_COUNT || filter->problem == resolved_id(r)) &&
           (filter->severity == SEVERITY_COUNT || filter->severity == r->severity) &&
           !fails_condition(filter->reason, reason_word(r->reason)) &&
           !fails_condition(filter->ns, r->ns) && !fails_condition(filter->owner, r->names.owner) &&
           (!filter->policy || policy_is_named(policy_of_resolved(r), filter->policy)) &&
           (!filter->search || name_contains(r->ns, r->name, filter->search)) &&
           filter->cause == PROBLEM_COUNT;
}

/* ---- the worst problem of an object ---- */

static int64_t since_rank(int64_t since_ms)
{
    return since_ms > 0 ? since_ms : INT64_MAX;
}

static bool is_worse(const struct worst_problem *a, const struct worst_problem *b)
{
    if (a->severity != b->severity)
        return a->severity < b->severity;
    if (a->since_ms != b->since_ms)
        return since_rank(a->since_ms) < since_rank(b->since_ms);
    return a->problem < b->problem;
}

bool worst_problem_add(struct worst_problem *worst, const struct problems *ps,
                       const struct problem *p)
{
    struct worst_problem fresh;

    if (!problem_counts(p))
        return false;
    fresh = (struct worst_problem){.since_ms = problem_since_ms(ps, p),
                                   .problem = (uint8_t)problem_id(p),
                                   .severity = (uint8_t)problem_severity(ps, problem_id(p)),
                                   .actor = (uint8_t)problem_actor(p)};
    if (is_worse(&fresh, worst))
        *worst = fresh;
    return true;
}

static void add_problems_of(struct worst_problem *worst, const struct problems *ps,
                            const struct entry *entry)
{
    const struct problem *p = ps && entry ? problems_of(ps, entry) : NULL;

    for (; p; p = problems_next_of(p))
        worst_problem_add(worst, ps, p);
}

struct worst_problem worst_problem_of(const struct problems *ps, const struct entry *entry)
{
    struct worst_problem worst = NO_PROBLEM;

    add_problems_of(&worst, ps, entry);
    return worst;
}

struct worst_problem worst_problem_of_template(const struct problems *ps,
                                               const struct entry *template)
{
    struct worst_problem worst = worst_problem_of(ps, template);

    add_problems_of(&worst, ps, decision_binding(template_decision(template)));
    return worst;
}

enum actor template_actor(const struct engine *e, const struct entry *template)
{
    struct worst_problem worst = worst_problem_of_template(engine_problems(e), template);

    if (worst.actor != ACTOR_NONE)
        return (enum actor)worst.actor;
    return responsible_actor(template_decision(template), engine_takeover(e));
}
