/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/cli/template_expectation.h"

#include "exporter/cli/test_suite.h"
#include "exporter/text/object_name.h"
#include "metrics/base/json_patch.h"
#include "metrics/base/number.h"
#include "metrics/expose/decision_text.h"
#include "metrics/expose/verdict_text.h"
#include "metrics/rules/override/template_overrides.h"

enum { TEXT_MAX_BYTES = 16 * 1024 * 1024 };

void failed_expectations_release(struct failed_expectations *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->items[i].object);
        free(list->items[i].field);
        free(list->items[i].expected);
        free(list->items[i].got);
        free(list->items[i].why);
    }
    free(list->items);
    *list = (struct failed_expectations){0};
}

void comparison_fail(const struct comparison *x, const cJSON *wanted, const char *expected,
                     const char *got, const char *why)
{
    struct failed_expectations *out = x->out;
    CLEANUP(strbuf_release) struct strbuf field = STRBUF_INIT(TEXT_MAX_BYTES);
    size_t len;

    strbuf_addf(&field, "%s%s", x->prefix, wanted->string);
    out->items = xreallocarray(out->items, out->count + 1, sizeof(*out->items));
    out->items[out->count++] = (struct failed_expectation){
        .where = yaml_written_position(wanted),
        .object = x->name ? xstrdup(x->name) : NULL,
        .field = strbuf_take(&field, &len),
        .expected = xstrdup(expected),
        .got = xstrdup(got),
        .why = why && *why ? xstrdup(why) : NULL,
    };
}

/* ---- facts ---- */

struct propagation_facts {
    const struct outcome *outcome;
    struct outcome own_outcome;   /* Owned; empty if `outcome` is part of a plan. */
    struct projection projection; /* Owned. */
    const struct target_cluster *clusters;
    uint32_t cluster_count;
    struct predicted predicted;
    const char *undetermined; /* Word for the reason; NULL: the clusters are known. */
    const char *by_release;   /* Results of different releases, if these are the reason. */
    enum plan_when when;
    const struct plan_template *row; /* In the plan; NULL if the change has no effect on it. */
};

/* Returns the row of a template in a plan; NULL if the change has no effect on it. */
static const struct plan_template *find_row(const struct plan_result *plan,
                                            const struct entry *template)
{
    for (size_t i = 0; plan && i < plan->template_count; i++) {
        if (plan->templates[i].template == template)
            return &plan->templates[i];
    }
    return NULL;
}

static void set_outcome(struct propagation_facts *f, const struct outcome *o)
{
    f->outcome = o;
    f->clusters = o->clusters;
    f->cluster_count = o->cluster_count;
    f->predicted = o->predicted;
    f->by_release = outcome_by_release(o);
    if (o->undetermined != UNDETERMINED_REASON_COUNT)
        f->undetermined = undetermined_reason_names[o->undetermined];
}

/* Replaces the clusters of a template that has no binding yet by the predicted ones. */
static void predict_clusters(struct propagation_facts *f, const struct engine *e,
                             const struct entry *template)
{
    f->predicted = predict_template(e, template, &f->projection);
    if (f->outcome->state == STATE_STALE)
        return;
    f->clusters = f->projection.clusters;
    f->cluster_count = f->projection.determined ? f->projection.count : 0;
    f->by_release = f->projection.by_release;
    if (!f->projection.determined && f->predicted.outcome == PREDICTION_UNDETERMINED)
        f->undetermined = f->predicted.reason;
}

static struct store *store_of(const struct observation *o)
{
    return o->evaluation->store;
}

struct propagation_facts *propagation_facts_new(const struct observation *o,
                                                const struct entry *template)
{
    struct propagation_facts *f = xcalloc(1, sizeof(*f));
    const struct plan_template *row = find_row(o->plan, template);
    const struct template_decision *d = template_decision(template);

    f->when = row ? row->when : PLAN_NEVER;
    if (!row)
        outcome_read(store_of(o), template, &f->own_outcome);
    set_outcome(f, row ? &row->after : &f->own_outcome);
    f->row = row;
    if (!o->plan && d && !entry_binding(decision_binding(d)))
        predict_clusters(f, o->evaluation->engine, template);
    return f;
}

void propagation_facts_free(struct propagation_facts *f, struct store *store)
{
    projection_release(store_string_pool(store), &f->projection);
    outcome_release(&f->own_outcome, store);
    free(f);
}

/* ---- causes ---- */

void comparison_add_policy_cause(const struct comparison *x, struct strbuf *out)
{
    const struct template_decision *d = template_decision(x->object);
    const struct engine *e = x->observation->evaluation->engine;

    if (!d)
        return;
    if (!decision_governing(d) || d->state == STATE_STALE || d->state == STATE_IGNORED) {
        strbuf_adds(out, state_text(d));
        return;
    }
    object_name_add(out, decision_governing(d));
    strbuf_addf(out, " governs the template: %s", governing_text(d, engine_takeover(e)));
}

static const struct entry *find_cluster(const struct comparison *x, const char *name)
{
    const struct kind_def *def = kind_of_clusters();

    return store_find(store_of(x->observation),
                      &(struct identity){def->api_version, def->name, "", name});
}

/* Appends the verdict about a cluster. Returns false if there is no verdict. */
static bool add_verdict(const struct comparison *x, const char *cluster, struct strbuf *out)
{
    const struct entry *entry = find_cluster(x, cluster);
    struct cluster_verdict v;

    if (!entry_cluster(entry)) {
        strbuf_addf(out, "%s: there is no Cluster of this name", cluster);
        return true;
    }
    if (!template_verdict_of_cluster(x->observation->evaluation->engine, x->object, entry, true,
                                     &v))
        return false;
    strbuf_addf(out, "%s: %s, ", cluster, verdict_word(v.kind));
    verdict_add_reason(&v, out);
    cluster_verdict_release(&v);
    return true;
}

/* ---- fields of templates ---- */

static void compare_state(const struct comparison *x, const cJSON *wanted)
{
    const char *got = state_names[x->facts->outcome->state];

    if (strcmp(wanted->valuestring, got) != 0)
        comparison_fail(x, wanted, wanted->valuestring, got,
                        state_text(template_decision(x->object)));
}

static void compare_reason(const struct comparison *x, const cJSON *wanted)
{
    const struct outcome *o = x->facts->outcome;
    const char *got = reason_name(o->state, o->reason);

    if (!got || strcmp(wanted->valuestring, got) != 0)
        comparison_fail(x, wanted, wanted->valuestring, got ? got : "none",
                        state_text(template_decision(x->object)));
}

static void compare_policy(const struct comparison *x, const cJSON *wanted)
{
    const struct entry *policy = x->facts->outcome->policy, *found = NULL;
    CLEANUP(strbuf_release) struct strbuf got = STRBUF_INIT(TEXT_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf why = STRBUF_INIT(TEXT_MAX_BYTES);
    struct error err = {""};

    if (!cJSON_IsNull(wanted))
        found =
            object_find(store_of(x->observation), 1U << CLASS_POLICY, wanted->valuestring, &err);
    if (found == policy && *err.text == '\0')
        return;
    if (policy)
        object_name_add(&got, policy);
    else
        strbuf_adds(&got, "none");
    if (*err.text == '\0')
        comparison_add_policy_cause(x, &why);
    comparison_fail(x, wanted, cJSON_IsNull(wanted) ? "none" : wanted->valuestring, got.data,
                    *err.text ? err.text : why.data);
}

static const struct target_cluster *find_target(const struct propagation_facts *f, const char *name)
{
    for (uint32_t i = 0; i < f->cluster_count; i++) {
        if (strcmp(f->clusters[i].name, name) == 0)
            return &f->clusters[i];
    }
    return NULL;
}

/* Returns the name of the cluster that an element of `clusters` expects. */
static const char *wanted_cluster(const cJSON *one)
{
    return one->string ? one->string : one->valuestring;
}

static bool target_fits(const cJSON *one, const struct target_cluster *target)
{
    uint64_t replicas;

    if (!one->string || cJSON_IsNull(one))
        return true;
    return parse_uint(one->valuestring, INT32_MAX, &replicas) &&
           (int64_t)replicas == target->replicas;
}

static void add_clusters(const struct propagation_facts *f, bool replicas, struct strbuf *out)
{
    for (uint32_t i = 0; i < f->cluster_count; i++) {
        strbuf_addf(out, "%s%s", i > 0 ? ", " : "", f->clusters[i].name);
        if (replicas)
            strbuf_addf(out, ": %" PRId32, f->clusters[i].replicas);
    }
    if (f->cluster_count == 0)
        strbuf_adds(out, "none");
}

/* Appends why the clusters are undetermined. */
static void add_undetermined_cause(const struct propagation_facts *f, struct strbuf *out)
{
    if (f->by_release) {
        strbuf_addf(out, "The clusters depend on the release of Karmada: %s.", f->by_release);
        return;
    }
    strbuf_addf(out, "The clusters are undetermined (%s)", f->undetermined);
    for (unsigned i = 0; i < UNDETERMINED_REASON_COUNT; i++) {
        if (strcmp(undetermined_reason_names[i], f->undetermined) == 0)
            strbuf_addf(out, ": %s", undetermined_text(i));
    }
    strbuf_addc(out, '.');
}

/* Appends the reason for the outcome of a template that is not placed as expected. */
static void add_outcome_cause(const struct comparison *x, const char *cluster, struct strbuf *out)
{
    const struct template_decision *d = template_decision(x->object);
    const char *sentence = predicted_text(x->facts->predicted);

    if (x->facts->undetermined)
        add_undetermined_cause(x->facts, out);
    else if (d && (d->state == STATE_PENDING || d->state == STATE_STALE ||
                   d->state == STATE_ORPHANED || d->state == STATE_IGNORED))
        comparison_add_policy_cause(x, out);
    else if (!cluster || !add_verdict(x, cluster, out)) {
        if (sentence)
            strbuf_adds(out, sentence);
        else
            comparison_add_policy_cause(x, out);
    }
}

static void fail_clusters(const struct comparison *x, const cJSON *wanted, const char *cluster)
{
    CLEANUP(strbuf_release) struct strbuf expected = STRBUF_INIT(TEXT_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf got = STRBUF_INIT(TEXT_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf why = STRBUF_INIT(TEXT_MAX_BYTES);
    const cJSON *one;

    cJSON_ArrayForEach (one, wanted) {
        bool replicas = one->string && !cJSON_IsNull(one);

        strbuf_addf(&expected, "%s%s%s%s", one == wanted->child ? "" : ", ", wanted_cluster(one),
                    replicas ? ": " : "", replicas ? one->valuestring : "");
    }
    if (!wanted->child)
        strbuf_adds(&expected, "none");
    if (x->facts->undetermined)
        strbuf_adds(&got, "undetermined");
    else
        add_clusters(x->facts, cJSON_IsObject(wanted), &got);
    add_outcome_cause(x, cluster, &why);
    comparison_fail(x, wanted, expected.data, got.data, why.data);
}

static void compare_clusters(const struct comparison *x, const cJSON *wanted)
{
    const struct propagation_facts *f = x->facts;
    const char *differing = NULL; /* First cluster of the list that differs. */
    uint32_t count = 0;
    const cJSON *one;

    cJSON_ArrayForEach (one, wanted) {
        const struct target_cluster *target = find_target(f, wanted_cluster(one));

        count++;
        if (!differing && (!target || !target_fits(one, target)))
            differing = wanted_cluster(one);
    }
    for (uint32_t i = 0; !differing && count != f->cluster_count && i < f->cluster_count; i++) {
        bool found = false;

        cJSON_ArrayForEach (one, wanted)
            found = found || strcmp(wanted_cluster(one), f->clusters[i].name) == 0;
        differing = found ? NULL : f->clusters[i].name;
    }
    if (f->undetermined || differing)
        fail_clusters(x, wanted, differing);
}

static void compare_replicas(const struct comparison *x, const cJSON *wanted)
{
    CLEANUP(strbuf_release) struct strbuf got = STRBUF_INIT(TEXT_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf why = STRBUF_INIT(TEXT_MAX_BYTES);
    const struct propagation_facts *f = x->facts;
    uint64_t expected;
    int64_t sum = 0;

    for (uint32_t i = 0; i < f->cluster_count; i++)
        sum += f->clusters[i].replicas;
    if (!f->undetermined && parse_uint(wanted->valuestring, INT32_MAX, &expected) &&
        (int64_t)expected == sum)
        return;
    if (f->undetermined)
        strbuf_adds(&got, "undetermined");
    else
        strbuf_addf(&got, "%" PRId64, sum);
    add_outcome_cause(x, NULL, &why);
    comparison_fail(x, wanted, wanted->valuestring, got.data, why.data);
}

/* Compares the outcome or its reason. */
static void compare_word_of_outcome(const struct comparison *x, const cJSON *wanted,
                                    const char *got)
{
    CLEANUP(strbuf_release) struct strbuf why = STRBUF_INIT(TEXT_MAX_BYTES);

    if (strcmp(wanted->valuestring, got) == 0)
        return;
    if (x->changed)
        strbuf_adds(&why, x->changed->text);
    else
        add_outcome_cause(x, NULL, &why);
    comparison_fail(x, wanted, wanted->valuestring, *got ? got : "none", why.data);
}

static void compare_outcome(const struct comparison *x, const cJSON *wanted)
{
    enum prediction outcome = x->changed ? x->changed->outcome : x->facts->predicted.outcome;

    compare_word_of_outcome(x, wanted, prediction_names[outcome]);
}

static void compare_outcome_reason(const struct comparison *x, const cJSON *wanted)
{
    compare_word_of_outcome(x, wanted,
                            x->changed ? x->changed->reason : x->facts->predicted.reason);
}

static void compare_when(const struct comparison *x, const cJSON *wanted)
{
    CLEANUP(strbuf_release) struct strbuf why = STRBUF_INIT(TEXT_MAX_BYTES);
    const char *got = plan_when_names[x->facts->when];

    if (strcmp(wanted->valuestring, got) == 0)
        return;
    comparison_add_policy_cause(x, &why);
    comparison_fail(x, wanted, wanted->valuestring, got, why.data);
}

/* ---- referrers ---- */

/* Adds a template that requires the dependency. */
static void add_referrer(void *context, const struct dependency_referrer *referrer)
{
    if (referrer->template && (referrer->counts_observed || referrer->counts_current))
        entry_list_add(context, referrer->template);
}

static void compare_required_by(const struct comparison *x, const cJSON *wanted)
{
    const struct template_decision *d = template_decision(x->object);
    const struct engine *e = x->observation->evaluation->engine;
    CLEANUP(entry_list_release) struct entry_list found = {0}, named = {0};
    CLEANUP(strbuf_release) struct strbuf expected = STRBUF_INIT(TEXT_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf got = STRBUF_INIT(TEXT_MAX_BYTES);
    struct error err = {""};
    const cJSON *one;
    size_t count = 0;
    bool equal = true;

    engine_dependency_referrers(
        e, d && entry_binding(decision_binding(d)) ? decision_binding(d) : x->object, add_referrer,
        &found);
    for (one = test_first_text(wanted); one; one = test_next_text(one)) {
        const struct entry *entry =
            object_find(store_of(x->observation), 1U << CLASS_TEMPLATE, one->valuestring, &err);

        equal = equal && entry && entry_list_has(&found, entry) && !entry_list_has(&named, entry);
        if (entry)
            entry_list_add(&named, (struct entry *)(uintptr_t)entry);
        strbuf_addf(&expected, "%s%s", count++ > 0 ? ", " : "", one->valuestring);
    }
    if (equal && count == found.count)
        return;
    for (size_t i = 0; i < found.count; i++) {
        strbuf_adds(&got, i > 0 ? ", " : "");
        object_name_add(&got, found.items[i]);
    }
    comparison_fail(x, wanted, count ? expected.data : "none", found.count ? got.data : "none",
                    err.text);
}

/* ---- verdicts ---- */

/* Compares one cluster without a copy; `verdict` NULL is any verdict. */
static void compare_not_on_cluster(const struct comparison *x, const cJSON *wanted,
                                   const char *cluster, const char *verdict)
{
    CLEANUP(strbuf_release) struct strbuf expected = STRBUF_INIT(TEXT_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf got = STRBUF_INIT(TEXT_MAX_BYTES);
    const struct entry *entry = find_cluster(x, cluster);
    struct cluster_verdict v = {.kind = CLUSTER_VERDICT_COUNT};
    bool judged =
        entry_cluster(entry) &&
        template_verdict_of_cluster(x->observation->evaluation->engine, x->object, entry, true, &v);
    bool fits =
        entry_cluster(entry) && (verdict ? judged && strcmp(verdict_word(v.kind), verdict) == 0
                                         : !find_target(x->facts, cluster));

    if (!fits) {
        strbuf_addf(&expected, "%s: %s", cluster, verdict ? verdict : "no copy");
        if (!add_verdict(x, cluster, &got))
            strbuf_addf(&got, "%s: no verdict", cluster);
        comparison_fail(x, wanted, expected.data, got.data, NULL);
    }
    cluster_verdict_release(&v);
}

static void compare_not_on(const struct comparison *x, const cJSON *wanted)
{
    const cJSON *one;

    if (cJSON_IsObject(wanted)) {
        cJSON_ArrayForEach (one, wanted)
            compare_not_on_cluster(x, wanted, one->string, one->valuestring);
        return;
    }
    for (one = test_first_text(wanted); one; one = test_next_text(one))
        compare_not_on_cluster(x, wanted, one->valuestring, NULL);
}

/* ---- copies in member clusters ---- */

/* Returns the value at a JSON pointer; NULL if the tree lacks it. */
static const cJSON *find_value(const cJSON *tree, const char *pointer)
{
    int64_t index;
    char *key;

    while (tree && (key = json_pointer_next(&pointer)) != NULL) {
        if (!cJSON_IsArray(tree))
            tree = cJSON_GetObjectItemCaseSensitive(tree, key);
        else
            tree = json_parse_index(key, &index) && index >= 0 && index <= INT32_MAX
                       ? cJSON_GetArrayItem(tree, (int)index)
                       : NULL;
        free(key);
    }
    return tree;
}

/* Appends a value: texts as they are, other values as JSON; "null" for NULL. */
static void add_value(const cJSON *value, struct strbuf *out)
{
    char *json = !value || cJSON_IsString(value) ? NULL : cJSON_PrintUnformatted(value);

    strbuf_adds(out, json ? json : value ? value->valuestring : "null");
    free(json);
}

/* Compares values of the copy in one member cluster by their JSON pointers. */
static void compare_copy(const struct comparison *x, const cJSON *cluster, const cJSON *copy)
{
    CLEANUP(strbuf_release) struct strbuf prefix = STRBUF_INIT(TEXT_MAX_BYTES);
    struct comparison y = *x;
    const cJSON *wanted;

    strbuf_addf(&prefix, "%scopies.%s", x->prefix, cluster->string);
    y.prefix = prefix.data;
    cJSON_ArrayForEach (wanted, cluster) {
        CLEANUP(strbuf_release) struct strbuf got = STRBUF_INIT(TEXT_MAX_BYTES);
        const char *text = cJSON_IsNull(wanted) ? "null" : wanted->valuestring;

        add_value(find_value(copy, wanted->string), &got);
        if (strcmp(got.data, text) != 0)
            comparison_fail(
                &y, wanted, text,
                override_values_are_hidden(x->object) ? "another value (hidden)" : got.data, NULL);
    }
}

/* Returns the copy for a target that no override policy changes. */
static cJSON *make_plain_copy(const struct comparison *x, const struct target_cluster *target)
{
    const char *text = template_document(entry_template(x->object));
    struct error ignored;
    cJSON *copy = text ? json_parse(text, strlen(text), NULL, &ignored) : NULL;

    if (copy)
        template_set_replicas(copy, target->replicas);
    return copy;
}

static const struct target_override *find_override(const struct template_overrides *o,
                                                   const char *cluster)
{
    for (size_t i = 0; i < o->count; i++) {
        if (strcmp(o->items[i].cluster, cluster) == 0)
            return &o->items[i];
    }
    return NULL;
}

/* Adds a failure because the copy in a member cluster is not known. */
static void fail_copy(const struct comparison *x, const cJSON *cluster, const char *got,
                      const char *why)
{
    struct comparison y = *x;

    y.prefix = "copies.";
    comparison_fail(&y, cluster, "a copy", got, why);
}

static void compare_copy_in(const struct comparison *x, const cJSON *cluster,
                            const struct template_overrides *overrides)
{
    const struct target_cluster *target = find_target(x->facts, cluster->string);
    const struct target_override *o = find_override(overrides, cluster->string);
    CLEANUP(strbuf_release) struct strbuf why = STRBUF_INIT(TEXT_MAX_BYTES);

    if (x->facts->undetermined || !target) {
        add_outcome_cause(x, cluster->string, &why);
        fail_copy(x, cluster, x->facts->undetermined ? "undetermined" : "none", why.data);
    } else if (!o) {
        CLEANUP(json_cleanup) cJSON *copy = make_plain_copy(x, target);

        compare_copy(x, cluster, copy);
    } else if (o->effect.failed_policy) {
        object_name_add(&why, o->effect.failed_policy);
        strbuf_addf(&why, " fails: %s",
                    override_failure_text(&o->effect, override_values_are_hidden(x->object)));
        fail_copy(x, cluster, "none", why.data);
    } else if (o->effect.unsure || o->effect.release_decides || o->missing) {
        fail_copy(x, cluster, "undetermined",
                  "The Cluster, or the release of Karmada, is not known.");
    } else {
        compare_copy(x, cluster, o->effect.result);
    }
}

static void compare_copies(const struct comparison *x, const cJSON *wanted)
{
    const struct engine *e = x->observation->evaluation->engine;
    CLEANUP(template_overrides_release)
    struct template_overrides overrides =
        template_overrides_make(engine_context_const(e), x->object, false);
    const cJSON *cluster;

    cJSON_ArrayForEach (cluster, wanted)
        compare_copy_in(x, cluster, &overrides);
}

/* ---- fields ---- */

static void compare_next(const struct comparison *x, const cJSON *wanted);

/* Fields of templates. test_suite.c has the same names. */
static const struct {
    const char *name;
    void (*compare)(const struct comparison *x, const cJSON *wanted);
} fields[] = {
    {"state", compare_state},
    {"reason", compare_reason},
    {"policy", compare_policy},
    {"clusters", compare_clusters},
    {"replicas", compare_replicas},
    {"outcome", compare_outcome},
    {"outcomeReason", compare_outcome_reason},
    {"requiredBy", compare_required_by},
    {"notOn", compare_not_on},
    {"copies", compare_copies},
    {"when", compare_when},
    {"next", compare_next},
};

/* Returns the index of a field of templates; ARRAY_LEN(fields) for other names. */
static size_t find_field(const char *name)
{
    size_t i = 0;

    while (i < ARRAY_LEN(fields) && strcmp(fields[i].name, name) != 0)
        i++;
    return i;
}

bool template_field_exists(const char *name)
{
    return find_field(name) < ARRAY_LEN(fields);
}

void template_field_compare(const struct comparison *x, const cJSON *wanted)
{
    fields[find_field(wanted->string)].compare(x, wanted);
}

static void compare_next(const struct comparison *x, const cJSON *wanted)
{
    const struct plan_template *row = x->facts->row;
    struct propagation_facts next = {.when = PLAN_NEVER};
    struct comparison y = *x;
    const cJSON *one;

    if (!row || row->when != PLAN_AT_NEXT_CHANGE)
        plan_predict_next_change(x->observation->simulation, (struct entry *)(uintptr_t)x->object,
                                 &next.own_outcome);
    set_outcome(&next, row && row->when == PLAN_AT_NEXT_CHANGE ? &row->next : &next.own_outcome);
    y.facts = &next;
    y.prefix = "next.";
    cJSON_ArrayForEach (one, wanted)
        template_field_compare(&y, one);
    outcome_release(&next.own_outcome, store_of(x->observation));
}
