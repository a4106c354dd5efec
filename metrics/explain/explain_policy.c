/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/explain/explain_policy.h"
#include "metrics/explain/explain_sections.h"
#include "metrics/explain/explain_verdicts.h"

#include "metrics/base/timestamp.h"
#include "metrics/explain/explanation.h"
#include "metrics/expose/decision_text.h"
#include "metrics/expose/policy_names.h"
#include "metrics/expose/report_items.h"
#include "metrics/expose/report_parts.h"
#include "metrics/model/store.h"
#include "metrics/rules/policy_rank.h"
#include "metrics/rules/selector.h"

enum { NEAR_MISSES_MAX = 10 };

/* ---- selectors ---- */

/* Appends a labelSelector, or its error, to `out`. Returns the text; NULL if `labels` is NULL. */
static const char *label_selector_text(const struct label_selector *labels, struct strbuf *out)
{
    if (!labels)
        return NULL;
    if (labels->invalid)
        strbuf_addf(out, "invalid: %s", labels->invalid);
    for (size_t i = 0; !labels->invalid && i < labels->count; i++) {
        strbuf_adds(out, i ? ", " : "");
        label_requirement_add_text(&labels->items[i], out);
    }
    return out->data;
}

/*
 * Writes a rule of a policy as JSON object `key` with index, apiVersion, kind, namespace, name and
 * labelSelector. Appends the members that are set, except the index, to `text`.
 */
static void explain_rule(struct explain_context *x, const char *key, uint32_t index,
                         const struct resource_selector *rule, struct strbuf *text)
{
    CLEANUP(strbuf_release) struct strbuf labels = STRBUF_INIT(EXPLAIN_VALUE_MAX_BYTES);
    const struct {
        const char *key;
        const char *value;
    } members[] = {
        {"apiVersion", rule->api_version},
        {"kind", rule->kind},
        {"namespace", rule->ns},
        {"name", rule->name},
        {"labelSelector", label_selector_text(rule->labels, &labels)},
    };

    json_writer_open(&x->out->facts, key, '{');
    json_writer_int(&x->out->facts, "index", index);
    for (size_t i = 0; i < ARRAY_LEN(members); i++) {
        json_writer_text(&x->out->facts, members[i].key, members[i].value);
        if (members[i].value)
            strbuf_addf(text, "%s%s %s", text->len > 0 ? ", " : "", members[i].key,
                        *members[i].value ? members[i].value : "{}");
    }
    json_writer_close(&x->out->facts, '}');
}

/* ---- candidates ---- */

static void explain_exclusion(struct explain_context *x, const struct candidate *c,
                              const struct entry *template)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(EXPLAIN_VALUE_MAX_BYTES);
    const struct policy *policy = entry_policy(c->policy);
    uint32_t index = policy_find_exclusion(policy, template);

    if (index == policy->exclusion_count)
        return;
    explain_rule(x, "rule", index, &policy->exclusions[index], &text);
    explain_detail(x, "ruled out: excludedResources[%" PRIu32 "] matches: %s", index, text.data);
}

/* Adds the result of candidate `i`: it wins, loses (with the criterion), or is ruled out. */
static void explain_candidate_result(struct explain_context *x, const struct template_decision *d,
                                     uint32_t i)
{
    const struct candidate c = decision_candidate(d, i);
    enum rank_step step = RANK_NAME;
    struct json_writer *w = &x->out->facts;
    bool wins = i == 0 && candidate_eligible(&c);
    const struct candidate first = decision_candidate(d, 0);

    json_writer_text(w, "outcome",
                     c.excluded   ? "excluded"
                     : c.deleting ? "deleting"
                     : c.refused  ? "refused"
                     : wins       ? "wins"
                                  : "loses");
    if (c.excluded || wins || c.deleting || c.refused)
        json_writer_text(w, "lostBy", NULL);
    if (c.deleting)
        explain_detail(x, "not eligible: the policy is being deleted");
    else if (c.refused)
        explain_detail(x, "not eligible: the API server refuses the policy");
    else if (wins)
        explain_detail(x, "ranks first");
    else if (!c.excluded && candidate_compare(&first, &c, &step) < 0) {
        json_writer_text(w, "lostBy", rank_step_name(step));
        explain_detail(x, "loses: %s", rank_step_text(step));
    }
}

static void explain_candidate(struct explain_context *x, const struct entry *template, uint32_t i)
{
    const struct template_decision *d = template_decision(template);
    const struct candidate c = decision_candidate(d, i);
    const struct policy *policy = entry_policy(c.policy);
    struct json_writer *w = &x->out->facts;

    explanation_open(x->out, NULL, '{');
    report_put_policy(w, "policy", policy_name_of(c.policy));
    json_writer_text(w, "selectsBy", selector_score_text(c.score));
    json_writer_int(w, "priority", policy->priority);
    explain_paragraph(x, "%u. %s selects the template by %s, priority %" PRId32, i + 1,
                      explain_name(x, c.policy), selector_score_text(c.score), policy->priority);
    if (c.excluded)
        explain_exclusion(x, &c, template);
    explain_candidate_result(x, d, i);
    explanation_close(x->out, '}');
}

/* ---- near misses ---- */

/*
 * Returns the selector of a policy that matches the template, or else passes the most checks of
 * selector_miss(); NULL if no selector has the kind. Sets *miss to the failed check or
 * MISS_NOTHING, and *index to the index of the selector.
 */
static const struct resource_selector *nearest_selector(const struct policy *policy,
                                                        const struct entry *template,
                                                        enum selector_miss *miss, uint32_t *index)
{
    const struct resource_selector *best = NULL;

    *miss = MISS_KIND;
    for (uint32_t i = 0; i < policy->selector_count; i++) {
        enum selector_miss m = selector_miss(&policy->selectors[i], template);

        if (m <= *miss && m != MISS_NOTHING)
            continue;
        best = &policy->selectors[i];
        *miss = m;
        *index = i;
        if (m == MISS_NOTHING)
            break;
    }
    return best;
}

/* A PropagationPolicy selects templates in its own namespace only. */
static bool can_select_namespace(const struct entry *policy, const struct entry *template)
{
    return entry_is_cluster_scoped(policy) || strcmp(entry_ns(policy), entry_ns(template)) == 0;
}

/* Adds the version of the template's kind that Karmada watches, if the selector names another. */
static void explain_watched_version(struct explain_context *x,
                                    const struct resource_selector *selector,
                                    const struct entry *template)
{
    CLEANUP(strbuf_release) struct strbuf preferred = STRBUF_INIT(EXPLAIN_VALUE_MAX_BYTES);
    struct api_version_source source = engine_api_version_source(x->engine);
    const struct type *type = entry_type(template);

    if (!selector->api_version || !api_group_equals(selector->api_version, type->api_version))
        return;
    if (!api_version_add_preferred(&source, type->api_version, type->kind, &preferred))
        explain_detail(x, "The preferred version of the kind is unknown: no "
                          "CustomResourceDefinition of it has been read. Karmada watches the "
                          "preferred version only.");
    else if (strcmp(preferred.data, selector->api_version) != 0)
        explain_detail(x,
                       "Karmada watches %s only. Action (%s): Set apiVersion of the "
                       "resourceSelector to %s.",
                       preferred.data, actor_title(ACTOR_POLICY_OWNER), preferred.data);
}

/*
 * Adds a policy that almost selects the template, with the part that does not match. Returns false,
 * and adds nothing, if the policy is no such near miss.
 */
static bool explain_near_miss(struct explain_context *x, const struct entry *policy,
                              const struct entry *template)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(EXPLAIN_VALUE_MAX_BYTES);
    enum selector_miss miss;
    uint32_t index = 0;
    const struct resource_selector *selector =
        nearest_selector(entry_policy(policy), template, &miss, &index);
    bool other_namespace = !can_select_namespace(policy, template);
    const char *word = other_namespace ? "policyNamespace" : selector_miss_text(miss);

    /* A near miss fails either by its namespace or by its selector, not by both. */
    if (!selector || other_namespace != (miss == MISS_NOTHING))
        return false;
    explanation_open(x->out, NULL, '{');
    report_put_policy(&x->out->facts, "policy", policy_name_of(policy));
    explain_rule(x, "selector", index, selector, &text);
    json_writer_text(&x->out->facts, "misses", word);
    explain_paragraph(x, "%s selects %s", explain_name(x, policy), text.data);
    if (other_namespace)
        explain_detail(x,
                       "does not match: a PropagationPolicy selects templates of its own "
                       "namespace only (%s)",
                       word);
    else
        explain_detail(x, "does not match: the %s of resourceSelectors[%" PRIu32 "]", word, index);
    if (miss == MISS_API_VERSION && !other_namespace)
        explain_watched_version(x, selector, template);
    explanation_close(x->out, '}');
    return true;
}

static void explain_near_misses(struct explain_context *x, const struct entry *template)
{
    CLEANUP(listing_release)
    struct listing policies = listing_make(engine_store(x->engine), CLASS_POLICY);
    size_t count = 0;

    explanation_open(x->out, "nearMisses", '[');
    for (size_t i = 0; i < policies.count && count < NEAR_MISSES_MAX; i++)
        count += explain_near_miss(x, policies.entries[i], template);
    explanation_close(x->out, ']');
}

void explain_selection(struct explain_context *x, const struct entry *template)
{
    const struct template_decision *d = template_decision(template);

    explain_open_section(x, "selection", "Policies that may select the template, in order of rank");
    explanation_open(x->out, "candidates", '[');
    for (uint32_t i = 0; i < d->candidate_count; i++)
        explain_candidate(x, template, i);
    explanation_close(x->out, ']');
    if (d->candidate_count == 0)
        explain_paragraph(x, "No policy selects the template.");
    if (!decision_winner(d))
        explain_near_misses(x, template);
    explanation_close(x->out, '}');
}

/* ---- settings ---- */

enum { LISTED_MAX = 50 };

static void explain_rules(struct explain_context *x, const char *key, const char *verb,
                          const struct resource_selector *rules, uint32_t count)
{
    explanation_open(x->out, key, '[');
    for (uint32_t i = 0; i < count && i < LISTED_MAX; i++) {
        CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(EXPLAIN_VALUE_MAX_BYTES);

        explain_rule(x, NULL, i, &rules[i], &text);
        explain_paragraph(x, "%s[%" PRIu32 "] %s: %s", key, i, verb,
                          text.len ? text.data : "nothing");
    }
    explanation_close(x->out, ']');
    if (count > LISTED_MAX)
        explain_paragraph(x, "… and %" PRIu32 " more of %s.", count - LISTED_MAX, key);
}

static bool selects(const struct resource_selector *rule, const struct entry *template)
{
    return selector_score(rule, template) != SCORE_NONE;
}

/*
 * Rules of a policy in one field, such as resourceSelectors, with the function that matches them.
 */
struct rules {
    const char *name;
    const struct resource_selector *items;
    uint32_t count;
    bool (*matches)(const struct resource_selector *rule, const struct entry *template);
};

/*
 * Adds those of the first LISTED_MAX rules that match no element of `templates`: such a rule may
 * contain a typing error.
 */
static void explain_unused_rules(struct explain_context *x, const char *key, struct rules rules,
                                 const struct listing *templates)
{
    json_writer_open(&x->out->facts, key, '[');
    for (uint32_t i = 0; i < rules.count && i < LISTED_MAX; i++) {
        size_t at = 0;

        while (at < templates->count && !rules.matches(&rules.items[i], templates->entries[at]))
            at++;
        if (at < templates->count)
            continue;
        json_writer_int(&x->out->facts, NULL, i);
        explain_paragraph(x, "%s[%" PRIu32 "] matches no existing template.", rules.name, i);
    }
    json_writer_close(&x->out->facts, ']');
}

/*
 * Adds the section "says": the settings of a policy, and its rules that match no template in
 * `templates`, the result of list_templates_of_policy().
 */
static void explain_settings(struct explain_context *x, const struct entry *policy,
                             const struct listing *templates)
{
    const struct policy *p = entry_policy(policy);
    struct json_writer *w = &x->out->facts;
    bool overwrite = p->propagation->conflict_resolution == CONFLICT_RESOLUTION_OVERWRITE;
    bool preserve = p->propagation->preserve == OPTIONAL_TRUE;

    explain_open_section(x, "says", "Settings");
    explain_rules(x, "resourceSelectors", "selects", p->selectors, p->selector_count);
    explain_rules(x, "excludedResources", "excludes", p->exclusions, p->exclusion_count);
    /* A template may be missing from the store before all of its kind are read. */
    if (policy_decision(policy) && !policy_decision(policy)->kinds_incomplete) {
        const struct rules selectors = {"resourceSelectors", p->selectors, p->selector_count,
                                        selects};
        const struct rules exclusions = {"excludedResources", p->exclusions, p->exclusion_count,
                                         exclusion_matches};

        explain_unused_rules(x, "unusedSelectors", selectors, templates);
        explain_unused_rules(x, "unusedExclusions", exclusions, templates);
    }
    json_writer_int(w, "priority", p->priority);
    json_writer_text(w, "activation", p->lazy ? "Lazy" : "Immediate");
    json_writer_text(w, "preemption", p->preempts ? "Always" : "Never");
    json_writer_bool(w, "propagateDeps", p->propagation->propagate_deps);
    json_writer_text(w, "conflictResolution", overwrite ? "Overwrite" : "Abort");
    json_writer_bool(w, "preserveResourcesOnDeletion", preserve);
    json_writer_raw_json(w, "placement", p->propagation->placement);
    json_writer_bool(w, "deleting", p->deleting);
    explain_paragraph(x,
                      "priority %" PRId32 ", activation %s, preemption %s, propagateDeps %s, "
                      "conflictResolution %s, preserveResourcesOnDeletion %s",
                      p->priority, p->lazy ? "Lazy" : "Immediate", p->preempts ? "Always" : "Never",
                      p->propagation->propagate_deps ? "true" : "false",
                      overwrite ? "Overwrite" : "Abort", preserve ? "true" : "false");
    explain_paragraph(x, "placement:");
    explain_json(x, p->propagation->placement);
    if (p->deleting)
        explain_paragraph(x, "The policy is being deleted and selects no template.");
    explanation_close(x->out, '}');
}

/* ---- versions ---- */

/* Maximal numbers of listed items (further items are only counted), and the length of a time. */
enum {
    VERSIONS_MAX = 50,
    DIFFERENCE_LINES_MAX = 40, /* Lines for one version. */
    MINUTE_LEN = sizeof("2026-01-31T23:59") - 1,
};

/* Context of put_version_difference() and add_difference_lines(). */
struct changes {
    struct explain_context *x;
    const char *field;
    unsigned lines;
};

static void put_version_difference(void *context, const struct difference *d)
{
    const struct changes *changes = context;
    struct json_writer *w = &changes->x->out->facts;

    json_writer_open(w, NULL, '{');
    json_writer_text(w, "field", changes->field);
    json_writer_text(w, "path", d->path);
    json_writer_raw_json(w, "version", d->before);
    json_writer_raw_json(w, "now", d->after);
    json_writer_close(w, '}');
}

static void add_difference_lines(void *context, const struct difference_line *line)
{
    struct changes *changes = context;
    bool bare = *line->path == '\0' || *line->path == '[';

    if (changes->lines++ < DIFFERENCE_LINES_MAX)
        explain_detail(changes->x, "%c %s%s%s: %s", line->sign, changes->field, bare ? "" : ".",
                       line->path, line->value);
}

/* Adds the differences between a version, unless unknown, and the current version of its policy. */
static void explain_version_differences(struct explain_context *x, const struct policy_version *v)
{
    const struct policy_version *now = policy_history_current_version(v->history);
    struct changes changes = {.x = x};

    explanation_open(x->out, "differences", '[');
    for (unsigned i = 0; v != now && !policy_version_is_unknown(v) && i < DRIFT_FIELD_COUNT; i++) {
        CLEANUP(strbuf_release) struct strbuf old_text = STRBUF_INIT(EXPLAIN_VALUE_MAX_BYTES);
        CLEANUP(strbuf_release) struct strbuf new_text = STRBUF_INIT(EXPLAIN_VALUE_MAX_BYTES);
        const char *before = explain_field_json(&v->values, i, &old_text);
        const char *after = explain_field_json(&now->values, i, &new_text);

        /* A version recovered from a binding has the number of a PriorityClass, not its name. */
        if (i == FIELD_SCHEDULE_PRIORITY && v->recovered && before && after)
            continue;
        changes.field = drift_field_names[i];
        differences_each(before, after, put_version_difference, &changes);
        difference_lines_each(before, after, add_difference_lines, &changes);
    }
    explanation_close(x->out, ']');
    if (changes.lines > DIFFERENCE_LINES_MAX)
        explain_detail(x, "… and %u more lines", changes.lines - DIFFERENCE_LINES_MAX);
}

/* Appends a time in UTC, without seconds. */
static void add_time_to_minute(struct strbuf *out, int64_t time_ms)
{
    char text[32];

    format_timestamp(time_ms, text);
    text[sizeof("2026-01-31") - 1] = ' ';
    strbuf_addf(out, "%.*sZ", MINUTE_LEN, text);
}

static void add_version_row(struct explain_context *x, const struct version_use *use)
{
    CLEANUP(strbuf_release) struct strbuf since = STRBUF_INIT(64);
    const struct policy_version *v = use->version;
    char number[16], generation[24];

    snprintf(number, sizeof(number), "%" PRIu32, v->number);
    snprintf(generation, sizeof(generation), "%" PRId64, v->generation);
    if (v->since_ms)
        add_time_to_minute(&since, v->since_ms);
    else
        strbuf_adds(&since, v->recovered ? "recovered" : "-");
    explain_row(x, "%7s  %10s  %-17s  %9" PRIu32 "  %8" PRId64 "  %5.4g  %10.0f",
                v->number ? number : "unknown", v->generation ? generation : "-", since.data,
                use->templates, use->replicas, use->cores, use->memory / (1 << 20));
}

/* Adds whether a version is current or unknown, its author, evidence, clusters and hash. */
static void explain_version_origin(struct explain_context *x, const struct version_use *use)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(EXPLAIN_VALUE_MAX_BYTES);
    const struct policy_version *v = use->version;
    char hash[POLICY_VERSION_HASH_SIZE];

    if (policy_version_is_unknown(v))
        strbuf_adds(
            &text,
            "; not a version of the policy: another client changed the values in the bindings");
    else if (v == policy_history_current_version(v->history))
        strbuf_adds(&text, "; the present version");
    if (v->by)
        strbuf_addf(&text, "; written by %s", v->by);
    if (v->since_seen)
        strbuf_adds(&text, "; SINCE is the time of the first observation");
    if (v->recovered)
        strbuf_adds(&text, "; known only from values in bindings");
    if (v->recovered && v->evidence_ms) {
        strbuf_adds(&text, ", the last one written at ");
        add_time_to_minute(&text, v->evidence_ms);
    }
    if (v->recovered && policy_version_count_later(v) < 0)
        strbuf_adds(&text, "; the order among the older versions is unknown");
    for (size_t i = 0; i < use->cluster_count; i++)
        strbuf_addf(&text, "%s%s", i ? ", " : "; on ", use->clusters[i]);
    if (!policy_version_is_unknown(v)) {
        policy_version_hash(v, hash);
        strbuf_addf(&text, "; hash %s", hash);
    }
    explain_detail(x, "%s", text.data + 2);
}

/* Adds the section "versions": the versions of a policy with their templates and differences. */
static void explain_versions(struct explain_context *x, const struct entry *policy)
{
    CLEANUP(version_uses_release) struct version_uses uses = version_uses_of(policy);

    if (uses.count == 0)
        return;
    explain_open_section(x, "versions", "Versions, newest first");
    explain_row(x,
                "VERSION  GENERATION  SINCE              TEMPLATES  REPLICAS    CPU  MEMORY MiB");
    explanation_open(x->out, "items", '[');
    for (size_t i = 0; i < uses.count && i < VERSIONS_MAX; i++) {
        explanation_open(x->out, NULL, '{');
        report_put_version_use(&x->out->facts, &uses.items[i]);
        add_version_row(x, &uses.items[i]);
        explain_version_origin(x, &uses.items[i]);
        explain_version_differences(x, uses.items[i].version);
        explanation_close(x->out, '}');
    }
    explanation_close(x->out, ']');
    if (uses.count > VERSIONS_MAX)
        explain_paragraph(x, "… and %zu more.", uses.count - VERSIONS_MAX);
    explanation_close(x->out, '}');
}

void explain_template_version(struct explain_context *x, const struct entry *template)
{
    const struct template_decision *d = template_decision(template);
    const struct policy_version *v = decision_version(d);
    int behind = v ? policy_version_count_later(v) : 0;
    int64_t superseded_ms = v ? policy_version_superseded_ms(v) : 0;
    char since[32];

    report_put_version(&x->out->facts, v);
    if (!v)
        return;
    if (policy_version_is_unknown(v)) {
        explain_paragraph(x,
                          "The template runs values of no known version of %s: another "
                          "writer changed its binding.",
                          explain_name(x, decision_claimed(d)));
        return;
    }
    if (behind == 0)
        explain_paragraph(x, "The template runs version %" PRIu32 " of %s, the present version.",
                          v->number, explain_name(x, decision_claimed(d)));
    else if (behind < 0)
        explain_paragraph(x,
                          "The template runs version %" PRIu32
                          " of %s, an older version; the order of the older versions is "
                          "unknown.",
                          v->number, explain_name(x, decision_claimed(d)));
    else
        explain_paragraph(
            x, "The template runs version %" PRIu32 " of %s, %d behind the present version.",
            v->number, explain_name(x, decision_claimed(d)), behind);
    if (superseded_ms) {
        format_timestamp(superseded_ms, since);
        explain_paragraph(x, "A newer version exists since %s.", since);
    }
}

/* ---- defects ---- */

/* Adds the override policies of dependentOverrides: all must exist before the policy is applied. */
static void explain_dependent_overrides(struct explain_context *x, const struct entry *entry)
{
    const struct policy *p = entry_policy(entry);
    const struct kind_def *def = kind_of_overrides(entry_is_cluster_scoped(entry));

    explanation_open(x->out, "dependentOverrides", '[');
    for (uint32_t i = 0; i < p->override_count; i++) {
        const struct entry *override = store_find(
            engine_store(x->engine),
            &(struct identity){def->api_version, def->name, entry_ns(entry), p->overrides[i]});
        bool exists = override && entry_exists(override);

        explanation_open(x->out, NULL, '{');
        json_writer_text(&x->out->facts, "kind", def->name);
        json_writer_text(&x->out->facts, "name", p->overrides[i]);
        json_writer_bool(&x->out->facts, "exists", exists);
        explain_paragraph(
            x, "dependentOverrides names the %s %s, which %s.", def->name, p->overrides[i],
            exists ? "exists"
                   : "does not exist: Karmada does not apply the policy until it exists");
        explanation_close(x->out, '}');
    }
    explanation_close(x->out, ']');
}

/* Adds the schedulePriority, if set, and the number of its PriorityClass, if known. */
static void explain_priority(struct explain_context *x, const struct entry *entry)
{
    static const char *const states[] = {
        [PRIORITY_NONE] = "none",
        [PRIORITY_UNKNOWN] = "unknown",
        [PRIORITY_MISSING] = "missing",
        [PRIORITY_VALUE] = "found",
    };
    const char *names = entry_policy(entry)->propagation->schedule_priority;
    const struct policy_decision *d = policy_decision(entry);
    struct json_writer *w = &x->out->facts;

    if (!d || !names)
        return;
    json_writer_open(w, "schedulePriority", '{');
    json_writer_raw_json(w, "names", names);
    json_writer_text(w, "class", states[d->priority.state]);
    if (d->priority.state == PRIORITY_VALUE)
        json_writer_int(w, "value", d->priority.value);
    json_writer_close(w, '}');
    if (d->priority.state == PRIORITY_MISSING)
        explain_paragraph(x, "Karmada cannot resolve schedulePriority %s, and creates no binding.",
                          names);
    else if (d->priority.state == PRIORITY_VALUE)
        explain_paragraph(x, "schedulePriority %s is %" PRId32 ".", names, d->priority.value);
    else
        explain_paragraph(x, "The value of schedulePriority %s is unknown.", names);
}

static void explain_problems(struct explain_context *x, const struct entry *entry)
{
    unsigned problems = entry_policy_problems(entry);
    const struct policy *p = entry_policy(entry);

    if (problems == 0 && p->override_count == 0 && !p->propagation->schedule_priority)
        return;
    explain_open_section(x, "problems", "Defects of the policy");
    explanation_open(x->out, "items", '[');
    report_policy_problems(&x->out->facts, entry);
    explanation_close(x->out, ']');
    for (unsigned i = 0; i < POLICY_PROBLEM_COUNT; i++) {
        if (problems & 1u << i)
            explain_paragraph(x, "%s: %s.", policy_problem_names[i], policy_problem_texts[i]);
    }
    explain_dependent_overrides(x, entry);
    explain_priority(x, entry);
    explanation_close(x->out, '}');
}

/* ---- templates ---- */

static int by_identity(const void *a, const void *b)
{
    return entry_compare(*(const struct entry *const *)a, *(const struct entry *const *)b);
}

/*
 * Returns the existing templates with a decision that depends on the policy, in the order of
 * entry_compare().
 */
static struct listing list_templates_of_policy(const struct entry *policy)
{
    struct listing out = {0};

    out.entries = xreallocarray(NULL, entry_reader_count(policy) + 1, sizeof(const struct entry *));
    for (uint32_t i = 0; i < entry_reader_count(policy); i++) {
        if (template_decision(entry_reader(policy, i)) && entry_exists(entry_reader(policy, i)))
            out.entries[out.count++] = entry_reader(policy, i);
    }
    qsort(out.entries, out.count, sizeof(const struct entry *), by_identity);
    return out;
}

/*
 * Returns true if the policy is not in force on a template. Either the template is stale and counts
 * for the policy (policy_of_stale_template), or the policy governs an unbound or pending template.
 */
static bool is_policy_unapplied(const struct template_decision *d, const struct entry *policy)
{
    if (d->state == STATE_STALE)
        return policy_of_stale_template(d) == policy;
    return decision_governing(d) == policy &&
           (d->state == STATE_UNBOUND || d->state == STATE_PENDING);
}

static void explain_unapplied_template(struct explain_context *x, const struct entry *template)
{
    const struct template_decision *d = template_decision(template);
    const char *reason = reason_name(d->state, d->reason);
    const char *phase = d->state == STATE_STALE ? phase_names[d->phase] : NULL;
    struct json_writer *w = &x->out->facts;

    explanation_open(x->out, NULL, '{');
    report_put_object(w, template);
    json_writer_text(w, "state", state_names[d->state]);
    json_writer_text(w, "reason", reason);
    json_writer_text(w, "phase", phase);
    explain_detail(x, "%s: %s%s%s%s%s", explain_name(x, template), state_names[d->state],
                   reason ? ", " : "", reason ? reason : "", phase ? ", " : "", phase ? phase : "");
    explanation_close(x->out, '}');
}

static void explain_templates(struct explain_context *x, const struct entry *policy,
                              const struct listing *templates)
{
    struct policy_counts counts = policy_counts_of(policy);
    size_t unapplied = 0;

    for (size_t i = 0; i < templates->count; i++) {
        const struct template_decision *d = template_decision(templates->entries[i]);

        unapplied += is_policy_unapplied(d, policy);
    }
    explain_open_section(x, "templates", "Templates");
    report_put_counts(&x->out->facts, &counts);
    json_writer_int(&x->out->facts, "notInForceOn", (int64_t)unapplied);
    explain_paragraph(x,
                      "Selected: %" PRIu32 ", ranked first: %" PRIu32 ", claimed: %" PRIu32
                      ", stale: %" PRIu32 ".",
                      counts.selected, counts.won, counts.claimed, counts.stale);
    if (unapplied > 0)
        explain_paragraph(x, "The policy is not in force on %zu of its templates:", unapplied);
    else if (counts.selected + counts.claimed > 0)
        explain_paragraph(x, "The policy is in force on all of its templates.");
    explanation_open(x->out, "notInForce", '[');
    for (size_t i = 0, listed = 0; i < templates->count && listed < LISTED_MAX; i++) {
        if (!is_policy_unapplied(template_decision(templates->entries[i]), policy))
            continue;
        explain_unapplied_template(x, templates->entries[i]);
        listed++;
    }
    explanation_close(x->out, ']');
    if (unapplied > LISTED_MAX)
        explain_detail(x, "… and %zu more", unapplied - LISTED_MAX);
    explanation_close(x->out, '}');
}

/* ---- delivery of the templates of a policy ---- */

/* Returns the delivery stage of a template that the policy governs; STAGE_NONE for others. */
static struct stage_and_reason delivery_under_policy(const struct entry *template,
                                                     const struct entry *policy)
{
    const struct template_decision *d = template_decision(template);

    return decision_governing(d) == policy ? d->stages.delivery
                                           : (struct stage_and_reason){STAGE_NONE, WHY_NONE};
}

static void explain_deliveries(struct explain_context *x, const struct entry *policy,
                               const struct listing *templates)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(EXPLAIN_VALUE_MAX_BYTES);
    size_t stages[STAGE_NONE + 1] = {0};
    size_t listed = 0;

    for (size_t i = 0; i < templates->count; i++)
        stages[delivery_under_policy(templates->entries[i], policy).stage]++;
    if (stages[STAGE_NONE] == templates->count)
        return;
    explain_open_section(x, "way", "Templates by stage");
    for (unsigned i = 0; i < STAGE_COUNT; i++) {
        if (stages[i] == 0)
            continue;
        json_writer_int(&x->out->facts, stage_names[i], (int64_t)stages[i]);
        strbuf_addf(&text, "%s%s %zu", text.len ? ", " : "", stage_names[i], stages[i]);
    }
    explain_paragraph(x, "Templates with a binding: %zu (%s).",
                      templates->count - stages[STAGE_NONE], text.data);
    for (size_t i = 0; i < templates->count && listed < LISTED_MAX; i++) {
        struct stage_and_reason at = delivery_under_policy(templates->entries[i], policy);

        if (at.stage == STAGE_HEALTHY || at.stage == STAGE_NONE)
            continue;
        explain_detail(x, "%s: %s, %s", explain_name(x, templates->entries[i]),
                       stage_names[at.stage], stage_reason_names[at.reason]);
        listed++;
    }
    explanation_close(x->out, '}');
}

/* ---- overlapping policies ---- */

enum { OVERLAPS_MAX = 10 }; /* Maximum of listed overlaps; the others are only counted. */

static void explain_overlap(struct explain_context *x, const struct policy_overlap *overlap)
{
    const char *name = explain_name(x, overlap->policy);
    const char *plural = overlap->templates == 1 ? "" : "s";
    struct json_writer *w = &x->out->facts;

    explanation_open(x->out, NULL, '{');
    report_put_policy(w, "policy", policy_name_of(overlap->policy));
    json_writer_text(w, "by", overlap->claims ? "claim" : rank_step_name(overlap->step));
    json_writer_bool(w, "tie", policy_overlap_is_tie(overlap));
    json_writer_bool(w, "first", overlap->first);
    json_writer_int(w, "templates", (int64_t)overlap->templates);
    if (overlap->claims)
        explain_paragraph(x,
                          "%s keeps %zu template%s by its claim, although this policy ranks first.",
                          name, overlap->templates, plural);
    else if (policy_overlap_is_tie(overlap))
        explain_paragraph(x,
                          "Tie with %s on %zu template%s: only the name decides, and %s "
                          "ranks first.",
                          name, overlap->templates, plural,
                          overlap->first ? "this policy" : "the other policy");
    else if (overlap->first)
        explain_paragraph(x, "%s ranks after this policy on %zu template%s: %s.", name,
                          overlap->templates, plural, rank_step_text(overlap->step));
    else
        explain_paragraph(x, "This policy ranks after %s on %zu template%s: %s.", name,
                          overlap->templates, plural, rank_step_text(overlap->step));
    explanation_close(x->out, '}');
}

static void explain_overlaps(struct explain_context *x, const struct entry *policy)
{
    CLEANUP(policy_overlaps_release) struct policy_overlaps overlaps = policy_overlaps_of(policy);
    size_t shown = overlaps.count < OVERLAPS_MAX ? overlaps.count : OVERLAPS_MAX;

    if (overlaps.count == 0)
        return;
    explain_open_section(x, "overlaps", "Overlapping policies");
    explanation_open(x->out, "rivals", '[');
    for (size_t i = 0; i < shown; i++)
        explain_overlap(x, &overlaps.items[i]);
    explanation_close(x->out, ']');
    json_writer_int(&x->out->facts, "more", (int64_t)(overlaps.count - shown));
    if (overlaps.count > shown)
        explain_paragraph(x, "… and %zu more.", overlaps.count - shown);
    explanation_close(x->out, '}');
}

void explain_policy(struct explain_context *x, const struct entry *policy)
{
    CLEANUP(listing_release) struct listing templates = list_templates_of_policy(policy);

    explain_settings(x, policy, &templates);
    explain_problems(x, policy);
    explain_admission(x, policy);
    explain_templates(x, policy, &templates);
    explain_versions(x, policy);
    explain_deliveries(x, policy, &templates);
    explain_overlaps(x, policy);
    explain_policy_verdicts(x, policy);
}
