/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/text/check_result.h"

#include "metrics/base/number.h"
#include "metrics/expose/problem_parties.h"
#include "metrics/rules/prediction.h"
#include "metrics/rules/replica_projection.h"

enum { WORD_MAX = 96 };

const struct normal_condition_text normal_condition_texts[NORMAL_CONDITION_COUNT] = {
    [NORMAL_KIND_NOT_SELECTED] = {"No policy selects objects of this kind, and no template with "
                                  "propagateDeps requires the template.",
                                  "Create a policy that selects the template, if Karmada is to "
                                  "propagate it."},
    [NORMAL_NO_MATCH] = {"No policy selects the template, and no template with propagateDeps "
                         "requires it.",
                         "Create a policy that selects the template, if Karmada is to propagate "
                         "it."},
    [NORMAL_WAITING] = {"A policy selects the template, and no client has applied the template "
                        "yet.",
                        "Apply the template to Karmada's API server."},
};

/* ---- counts of problems ---- */

static const char none[] = "none"; /* Value of the header if all counts are 0. */
static const char hidden_prefix[] = "hidden:";
static const char normal_prefix[] = "normal:";

void problem_reason_name_add(struct strbuf *out, enum problem_reason reason)
{
    const struct problem_reason_row *row = &problem_reasons[reason];

    strbuf_addf(out, "%s%s%s", problem_names[row->problem], *row->name ? "/" : "", row->name);
}

static void append_count(struct strbuf *out, size_t start, const char *prefix, const char *word,
                         size_t count)
{
    if (count > 0)
        strbuf_addf(out, "%s%s%s=%zu", out->len > start ? ", " : "", prefix, word, count);
}

static void append_counts_of_reasons(struct strbuf *out, size_t start, const char *prefix,
                                     const size_t counts[PROBLEM_REASON_COUNT])
{
    for (unsigned i = 0; i < PROBLEM_REASON_COUNT; i++) {
        CLEANUP(strbuf_release) struct strbuf word = STRBUF_INIT(WORD_MAX);

        problem_reason_name_add(&word, i);
        append_count(out, start, prefix, word.data, counts[i]);
    }
}

void problem_counts_write(const struct problem_counts *c, struct strbuf *out)
{
    size_t start = out->len;

    for (unsigned i = 0; i < SEVERITY_COUNT; i++)
        append_count(out, start, "", severity_names[i], c->severities[i]);
    append_counts_of_reasons(out, start, "", c->open);
    append_counts_of_reasons(out, start, hidden_prefix, c->hidden);
    for (unsigned i = 0; i < NORMAL_CONDITION_COUNT; i++)
        append_count(out, start, normal_prefix, normal_condition_names[i], c->normal[i]);
    append_count(out, start, "", "unread", c->unread);
    append_count(out, start, "", "missing", c->missing);
    if (out->len == start)
        strbuf_adds(out, none);
}

/* Returns the count of a problem by its name with the reason; NULL if the name is unknown. */
static size_t *find_reason_count(size_t counts[PROBLEM_REASON_COUNT], const char *word)
{
    CLEANUP(free_cleanup) char *name = xmemdup0(word, strcspn(word, "/"));
    const char *reason = word[strlen(name)] == '/' ? word + strlen(name) + 1 : "";
    enum problem_id problem = problem_find(name);
    unsigned found =
        problem < PROBLEM_COUNT ? problem_find_reason(problem, reason) : PROBLEM_REASON_COUNT;

    return found < PROBLEM_REASON_COUNT ? &counts[found] : NULL;
}

/* Returns the count with this name in the header; NULL if the name is unknown. */
static size_t *find_count(struct problem_counts *c, const char *word)
{
    if (strncmp(word, hidden_prefix, strlen(hidden_prefix)) == 0)
        return find_reason_count(c->hidden, word + strlen(hidden_prefix));
    for (unsigned i = 0; i < NORMAL_CONDITION_COUNT; i++) {
        if (strncmp(word, normal_prefix, strlen(normal_prefix)) == 0 &&
            strcmp(word + strlen(normal_prefix), normal_condition_names[i]) == 0)
            return &c->normal[i];
    }
    for (unsigned i = 0; i < SEVERITY_COUNT; i++) {
        if (strcmp(word, severity_names[i]) == 0)
            return &c->severities[i];
    }
    if (strcmp(word, "unread") == 0)
        return &c->unread;
    return strcmp(word, "missing") == 0 ? &c->missing : find_reason_count(c->open, word);
}

/* Parses one count, such as "warning=2". Returns false if it is malformed, 0 or repeated. */
static bool read_count(const char *text, size_t len, struct problem_counts *out)
{
    char word[WORD_MAX + sizeof(hidden_prefix)];
    size_t word_len = strcspn(text, "=, ");
    size_t *count;
    uint64_t number;

    if (len >= sizeof(word) || word_len == 0 || word_len >= len || text[word_len] != '=')
        return false;
    snprintf(word, sizeof(word), "%.*s", (int)len, text);
    word[word_len] = '\0';
    if (!parse_uint(word + word_len + 1, SIZE_MAX, &number) || number == 0)
        return false;
    count = find_count(out, word);
    if (count && *count > 0)
        return false;
    if (count)
        *count = number;
    return true;
}

bool problem_counts_read(const char *text, struct problem_counts *out)
{
    struct problem_counts counts = {.unread = 0};
    bool more = strcmp(text, none) != 0;

    while (more) {
        size_t len = strcspn(text, ",");

        more = text[len] == ',';
        if (!read_count(text, len, &counts))
            return false;
        text += len + more;
        text += strspn(text, " ");
    }
    *out = counts;
    return true;
}

bool problem_counts_fail(const struct problem_counts *c, const struct fail_on *fail_on)
{
    for (unsigned i = 0; i < SEVERITY_COUNT; i++) {
        if ((fail_on->severities >> i & 1) && c->severities[i] > 0)
            return true;
    }
    for (unsigned i = 0; i < PROBLEM_REASON_COUNT; i++) {
        if (fail_on_names_reason(fail_on, i) && (c->open[i] > 0 || c->hidden[i] > 0))
            return true;
    }
    for (unsigned i = 0; i < NORMAL_CONDITION_COUNT; i++) {
        if ((fail_on->conditions >> i & 1) && c->normal[i] > 0)
            return true;
    }
    return false;
}

/* ---- filter ---- */

bool problem_filter_parse(const char *text, const char *ns, struct problem_filter *out,
                          struct error *err)
{
    struct fail_on names;
    size_t len = strcspn(text, "/");
    CLEANUP(free_cleanup) char *problem = xmemdup0(text, len);

    *out = PROBLEM_FILTER_ALL;
    out->ns = ns;
    if (*text == '\0')
        return true;
    /* The parser of --fail-on suggests near names. */
    if (!fail_on_parse(text, &names, err))
        return false;
    out->problem = problem_find(problem);
    if (out->problem == PROBLEM_COUNT)
        return fail(err, "'%s' is not one problem: write PROBLEM or PROBLEM/REASON", text);
    out->reason = text[len] == '/' ? text + len + 1 : NULL;
    return true;
}

/* ---- collection ---- */

static size_t count_missing_kinds(const struct kube_session *session)
{
    const struct kube_source *source = session ? kube_session_source(session) : NULL;
    size_t count = 0;

    for (size_t i = 0; source && i < kube_source_missing_kind_count(source); i++)
        count += missing_kind_is_failure(kube_source_missing_kind(source, i));
    return count;
}

static int compare_causes(const void *a, const void *b)
{
    const struct hidden_problem *x = a, *y = b;
    uintptr_t cause = (uintptr_t)x->problem->cause, other = (uintptr_t)y->problem->cause;

    if (cause != other)
        return cause < other ? -1 : 1;
    return (x->position > y->position) - (x->position < y->position);
}

static bool is_selected(const struct check_result *r, const struct problem *p)
{
    return problem_or_cause_matches(engine_problems(r->evaluation->engine), p, &r->filter);
}

/* ---- suppression ---- */

static bool suppressed_is_of_problem(const void *item, const void *key)
{
    const struct suppressed_problem *s = item;

    return s->problem == key;
}

const struct suppressed_problem *check_result_suppression(const struct check_result *r,
                                                          const struct problem *p)
{
    return r->suppressed_count > 0 ? map_get(&r->suppressed_by_problem, map_hash_address(p), p)
                                   : NULL;
}

static bool is_problem(const void *item, const void *key)
{
    return item == key;
}

/* Returns the exception for an instance or, without one, for a condition of a template. */
static const struct exception *find_exception(const struct check_result *r, const struct problem *p,
                                              const struct entry *subject,
                                              enum normal_condition condition, bool *expired)
{
    const struct suppressions *s = r->suppressions;
    struct exception_query query = {
        .reason = p ? p->reason : PROBLEM_REASON_COUNT,
        .condition = condition,
        .subject = p ? problem_identity(p) : entry_identity(subject),
        .now_ms = s->now_ms,
    };

    if (!subject ||
        !manifests_find_place(r->evaluation->manifests, subject, &query.path, &query.where))
        query.path = NULL;
    return exceptions_find(s->exceptions, &query, expired);
}

/* Decision about an instance. */
struct disposition {
    const struct problem *problem;
    const struct exception *exception; /* Covers the instance, or did so until it expired. */
    bool counts;
    bool known; /* The baseline has it, and no exception covers it. */
    bool expired;
};

static bool disposition_is_of_problem(const void *item, const void *key)
{
    const struct disposition *d = item;

    return d->problem == key;
}

static bool is_suppressed(const struct disposition *d)
{
    return d->known || (d->exception && !d->expired);
}

/* Decides about an instance. `cause` is the decision about the one that hides it, or NULL. */
static struct disposition decide(const struct check_result *r, const struct problem *p,
                                 const struct disposition *cause)
{
    const struct suppressions *s = r->suppressions;
    struct disposition d = {.problem = p, .counts = problem_counts(p)};

    if (!s)
        return d;
    if (s->exceptions)
        d.exception = find_exception(r, p, problem_subject_entry(r->evaluation->engine, p),
                                     NORMAL_CONDITION_COUNT, &d.expired);
    if (!d.exception && cause && is_suppressed(cause))
        d.exception = cause->exception;
    if (s->baseline)
        d.known = baseline_has(s->baseline, s->environment,
                               &(struct baseline_item){.reason = p->reason,
                                                       .subject = problem_identity(p)}) &&
                  !d.exception;
    /* A new problem must not stay hidden behind one that the baseline has. */
    d.counts = d.counts || (cause && is_suppressed(cause));
    return d;
}

static void add_suppressed(struct check_result *r, const struct disposition *d)
{
    struct suppressed_problem *s = &r->suppressed[r->suppressed_count++];

    *s = (struct suppressed_problem){d->problem, d->known ? NULL : d->exception};
    map_add(&r->suppressed_by_problem, map_hash_address(d->problem), s);
    r->numbers.known += d->known;
    r->numbers.excepted += !d->known;
}

static void add_expired(struct check_result *r, const struct expired_problem *expired)
{
    if ((r->expired_count & (r->expired_count - 1)) == 0)
        r->expired = xreallocarray(r->expired, r->expired_count ? r->expired_count * 2 : 1,
                                   sizeof(*r->expired));
    r->expired[r->expired_count++] = *expired;
}

/* Adds an instance to the list of its decision; `position` is in the order of the contract. */
static void add_decided(struct check_result *r, const struct disposition *d, size_t position)
{
    const struct problems *ps = engine_problems(r->evaluation->engine);
    const struct problem *p = d->problem;

    if (p->status == PROBLEM_PENDING) {
        r->pending_count++;
    } else if (is_suppressed(d)) {
        add_suppressed(r, d);
    } else if (d->counts) {
        r->shown[r->shown_count++] = p;
        r->counts.open[p->reason]++;
        r->counts.severities[problem_severity(ps, problem_id(p))]++;
        if (d->expired) {
            add_expired(r, &(struct expired_problem){.problem = p, .exception = d->exception});
            map_add(&r->expired_by_problem, map_hash_address(p), (void *)(uintptr_t)p);
        }
    } else {
        r->counts.hidden[p->reason]++;
        r->hidden[r->hidden_count++] = (struct hidden_problem){p, position};
    }
}

/* Decides about the selected instances: causes first, because hidden ones depend on theirs. */
static void decide_all(const struct check_result *r, const struct problem *const *list,
                       size_t count, struct disposition *out)
{
    struct map decided = MAP_INIT(disposition_is_of_problem);

    for (unsigned hidden = 0; hidden < 2; hidden++) {
        for (size_t i = 0; i < count; i++) {
            const struct problem *cause = hidden ? list[i]->cause : NULL;

            if ((list[i]->status == PROBLEM_HIDDEN) != (hidden == 1) || !is_selected(r, list[i]))
                continue;
            out[i] = decide(r, list[i],
                            cause ? map_get(&decided, map_hash_address(cause), cause) : NULL);
            if (!hidden)
                map_add(&decided, map_hash_address(list[i]), &out[i]);
        }
    }
    map_release(&decided);
}

static void collect_problems(struct check_result *r)
{
    const struct problems *ps = engine_problems(r->evaluation->engine);
    struct disposition *decisions;
    const struct problem **list;
    size_t count;

    if (!ps)
        return;
    list = problems_list(ps, (1U << PROBLEM_STATUS_COUNT) - 1, &count);
    decisions = xcalloc(count + 1, sizeof(*decisions));
    r->shown = xcalloc(count + 1, sizeof(struct problem *));
    r->hidden = xcalloc(count + 1, sizeof(*r->hidden));
    r->suppressed = xcalloc(count + 1, sizeof(*r->suppressed));
    decide_all(r, list, count, decisions);
    for (size_t i = 0; i < count; i++) {
        if (decisions[i].problem)
            add_decided(r, &decisions[i], i);
    }
    if (r->hidden_count > 1)
        qsort(r->hidden, r->hidden_count, sizeof(*r->hidden), compare_causes);
    free(decisions);
    free(list);
}

bool check_result_is_named(const struct check_result *r, const struct problem *p,
                           const struct fail_on *fail_on)
{
    const struct problems *ps = engine_problems(r->evaluation->engine);

    if (check_result_suppression(r, p))
        return false;
    return fail_on_names_reason(fail_on, p->reason) ||
           ((problem_counts(p) || check_result_suppression(r, p->cause)) &&
            fail_on->severities >> problem_severity(ps, problem_id(p)) & 1);
}

bool check_result_fails(const struct check_result *r, const struct problem *p,
                        const struct fail_on *fail_on)
{
    return check_result_is_named(r, p, fail_on) ||
           (!fail_on_is_empty(fail_on) &&
            map_get(&r->expired_by_problem, map_hash_address(p), p) != NULL);
}

bool check_result_has_failure(const struct check_result *r, const struct fail_on *fail_on)
{
    return problem_counts_fail(&r->counts, fail_on) ||
           (r->expired_count > 0 && !fail_on_is_empty(fail_on));
}

bool check_result_is_known_unread(const struct check_result *r, const struct manifest_problem *p)
{
    const struct suppressions *s = r->suppressions;

    return problem_kind_blocks_evaluation(p->kind) && s && s->baseline &&
           baseline_has_unread(s->baseline, s->environment, p->path, p->text);
}

bool check_result_is_unread(const struct check_result *r, const struct manifest_problem *p)
{
    return problem_kind_blocks_evaluation(p->kind) && !check_result_is_known_unread(r, p);
}

/* Returns true if the template has an instance of not_propagated, in any status. */
static bool has_propagation_problem(const struct problems *ps, const struct entry *template)
{
    const struct problem *p = ps ? problems_of(ps, template) : NULL;

    while (p && problem_id(p) != PROBLEM_NOT_PROPAGATED)
        p = problems_next_of(p);
    return p != NULL;
}

/* Returns the condition of a template that is no problem; NORMAL_CONDITION_COUNT without one. */
static enum normal_condition find_normal_condition(const struct check_result *r,
                                                   const struct entry *template)
{
    const struct template_decision *d = template_decision(template);

    if (has_propagation_problem(engine_problems(r->evaluation->engine), template))
        return NORMAL_CONDITION_COUNT;
    if (d->state == STATE_PENDING && d->reason == PENDING_KIND_NOT_SELECTED)
        return NORMAL_KIND_NOT_SELECTED;
    if (d->state == STATE_PENDING && d->reason == PENDING_NO_MATCH)
        return NORMAL_NO_MATCH;
    if (d->state == STATE_UNBOUND && d->stages.at.reason == WHY_WAITING)
        return NORMAL_WAITING;
    return NORMAL_CONDITION_COUNT;
}

/* Returns true if the filter selects templates with this condition, which is no problem. */
static bool condition_is_selected(const struct check_result *r, enum normal_condition condition,
                                  const struct entry *template)
{
    const struct problem_filter *f = &r->filter;
    const char *reason = strchr(normal_condition_names[condition], '/') + 1;

    return (f->problem == PROBLEM_COUNT || f->problem == PROBLEM_NOT_PROPAGATED) &&
           (!f->reason || strcmp(f->reason, reason) == 0) &&
           (!f->ns || strcmp(f->ns, entry_ns(template)) == 0);
}

/*
 * Returns true if a policy is meant for a template that Karmada ignores: the policy names the
 * template, or belongs to its namespace, or names the kind in a version that is not watched.
 * Policies for all namespaces usually also select templates in namespaces that Karmada ignores.
 */
static bool is_ignored_against_policy(const struct template_decision *d)
{
    if (d->state != STATE_IGNORED)
        return false;
    for (uint32_t i = 0; i < d->candidate_count; i++) {
        const struct candidate c = decision_candidate(d, i);

        if (candidate_eligible(&c) && (c.score == SCORE_NAME || *entry_ns(c.policy)))
            return true;
    }
    return d->reason == IGNORED_UNWATCHED_VERSION;
}

/* Adds a template that waits for its first placement, if Karmada will not place it. */
static void collect_prediction(struct check_result *r, struct entry *template)
{
    struct projection projection;
    struct predicted predicted;

    if (r->filter.ns && strcmp(r->filter.ns, entry_ns(template)) != 0)
        return;
    if (is_ignored_against_policy(template_decision(template)))
        entry_list_add(&r->not_placed, template);
    if (!template_waits_for_placement(template))
        return;
    predicted = predict_template(r->evaluation->engine, template, &projection);
    projection_release(store_string_pool(r->evaluation->store), &projection);
    if (predicted.outcome == PREDICTION_NOWHERE || predicted.outcome == PREDICTION_REFUSED)
        entry_list_add(&r->not_placed, template);
}

/* Returns true, and counts the condition, if --fail-on names it and it is suppressed. */
static bool condition_is_suppressed(struct check_result *r, enum normal_condition condition,
                                    const struct entry *template)
{
    const struct suppressions *s = r->suppressions;
    const struct exception *exception = NULL;
    bool expired = false, known;

    if (!s || !(r->evaluation->options.fail_on.conditions >> condition & 1))
        return false;
    if (s->exceptions)
        exception = find_exception(r, NULL, template, condition, &expired);
    if (expired)
        add_expired(r, &(struct expired_problem){
                           .template = template, .condition = condition, .exception = exception});
    known = !exception && s->baseline &&
            baseline_has(s->baseline, s->environment,
                         &(struct baseline_item){.reason = PROBLEM_REASON_COUNT,
                                                 .condition = condition,
                                                 .subject = entry_identity(template)});
    r->numbers.known += known;
    r->numbers.excepted += exception && !expired;
    return known || (exception && !expired);
}

static void collect_object(struct check_result *r, struct entry *entry)
{
    const struct template_decision *d = template_decision(entry);
    enum normal_condition condition;

    r->objects++;
    r->bindings += entry_class(entry) == CLASS_BINDING;
    r->policies += entry_class(entry) == CLASS_POLICY;
    if (!d)
        return;
    r->templates++;
    r->states[d->state]++;
    r->not_selected += d->state == STATE_PENDING && d->reason == PENDING_KIND_NOT_SELECTED;
    collect_prediction(r, entry);
    condition = find_normal_condition(r, entry);
    if (condition == NORMAL_CONDITION_COUNT || !condition_is_selected(r, condition, entry) ||
        condition_is_suppressed(r, condition, entry))
        return;
    r->counts.normal[condition]++;
    entry_list_add(&r->normal[condition], entry);
}

static int compare_entries(const void *a, const void *b)
{
    return entry_compare(*(const struct entry *const *)a, *(const struct entry *const *)b);
}

static void collect_objects(struct check_result *r)
{
    struct store_walk walk = store_walk_begin(r->evaluation->store, (1U << CLASS_COUNT) - 1);
    struct entry *entry;

    while ((entry = store_walk_next(&walk))) {
        if (entry_exists(entry))
            collect_object(r, entry);
    }
    store_walk_stop(&walk);
    if (r->not_placed.count > 1)
        qsort(r->not_placed.items, r->not_placed.count, sizeof(struct entry *), compare_entries);
    for (unsigned i = 0; i < NORMAL_CONDITION_COUNT; i++) {
        if (r->normal[i].count > 1)
            qsort(r->normal[i].items, r->normal[i].count, sizeof(struct entry *), compare_entries);
    }
}

static void count_manifest_problems(struct check_result *r)
{
    const struct manifests *m = r->evaluation->manifests;

    for (size_t i = 0; i < manifests_problem_count(m); i++) {
        struct manifest_problem p = manifests_problem(m, i);

        r->unread += check_result_is_unread(r, &p);
        r->numbers.unread += check_result_is_known_unread(r, &p);
    }
}

/* Notes which exceptions that cover no problem are for objects that exist. */
static void note_objects(const struct check_result *r)
{
    struct store_walk walk = store_walk_begin(r->evaluation->store, (1U << CLASS_COUNT) - 1);
    const struct entry *entry;

    while ((entry = store_walk_next(&walk))) {
        struct identity id = entry_identity(entry);

        if (entry_exists(entry))
            exceptions_note_object(r->suppressions->exceptions, &id);
    }
    store_walk_stop(&walk);
}

void check_result_make(struct check_result *r, const struct evaluation *e,
                       const struct problem_filter *filter, const struct suppressions *suppressions)
{
    *r = (struct check_result){
        .evaluation = e,
        .filter = filter ? *filter : PROBLEM_FILTER_ALL,
        .suppressions = suppressions,
        .suppressed_by_problem = MAP_INIT(suppressed_is_of_problem),
        .expired_by_problem = MAP_INIT(is_problem),
    };
    count_manifest_problems(r);
    r->counts.unread = r->unread + (*asset_source_problem(e->assets) != '\0');
    r->counts.missing = count_missing_kinds(e->session);
    r->complete = r->counts.unread == 0 && r->counts.missing == 0;
    collect_problems(r);
    collect_objects(r);
    if (suppressions && suppressions->exceptions)
        note_objects(r);
    if (suppressions && suppressions->baseline)
        r->numbers.gone =
            baseline_count_gone(suppressions->baseline, suppressions->environment, &r->filter);
}

void check_result_release(struct check_result *r)
{
    free(r->shown);
    free(r->hidden);
    free(r->suppressed);
    free(r->expired);
    map_release(&r->suppressed_by_problem);
    map_release(&r->expired_by_problem);
    entry_list_release(&r->not_placed);
    for (unsigned i = 0; i < NORMAL_CONDITION_COUNT; i++)
        entry_list_release(&r->normal[i]);
    *r = (struct check_result){.evaluation = NULL};
}

size_t check_result_find_hidden(const struct check_result *r, const struct problem *cause)
{
    size_t low = 0, high = r->hidden_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if ((uintptr_t)r->hidden[middle].problem->cause < (uintptr_t)cause)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
