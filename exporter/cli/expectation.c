/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/cli/expectation.h"

#include "exporter/cli/test_suite.h"
#include "exporter/text/check_result.h"
#include "exporter/text/object_name.h"
#include "exporter/text/plan_text.h"
#include "metrics/base/number.h"
#include "metrics/expose/decision_text.h"
#include "metrics/expose/problem_text.h"
#include "metrics/expose/verdict_text.h"

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

/* ---- bindings before a change ---- */

struct present_bindings {
    struct map by_entry; /* struct present_binding by entry. */
};

struct present_binding {
    const struct entry *entry;
    const void *object;
};

static bool is_of_entry(const void *item, const void *key)
{
    return ((const struct present_binding *)item)->entry == key;
}

struct present_bindings *present_bindings_new(const struct store *store)
{
    CLEANUP(listing_release) struct listing all = listing_make_unordered(store, CLASS_BINDING);
    struct present_bindings *bindings = xcalloc(1, sizeof(*bindings));

    bindings->by_entry = MAP_INIT(is_of_entry);
    for (size_t i = 0; i < all.count; i++) {
        struct present_binding *b = xcalloc(1, sizeof(*b));

        *b = (struct present_binding){all.entries[i], entry_binding(all.entries[i])};
        map_add(&bindings->by_entry, map_hash_address(b->entry), b);
    }
    return bindings;
}

void present_bindings_free(struct present_bindings *bindings)
{
    struct present_binding *b;

    if (!bindings)
        return;
    for (size_t at = 0; (b = map_next(&bindings->by_entry, &at)) != NULL;)
        free(b);
    map_release(&bindings->by_entry);
    free(bindings);
}

static bool binding_is_unchanged(const struct present_bindings *bindings, const struct entry *entry)
{
    const struct present_binding *b = map_get(&bindings->by_entry, map_hash_address(entry), entry);

    return b && b->object == entry_binding(entry);
}

/* ---- facts ---- */

/* Facts about a template at one time. */
struct propagation_facts {
    const struct outcome *outcome;
    struct outcome own_outcome;   /* Owned; empty if `outcome` is part of a plan. */
    struct projection projection; /* Owned. */
    const struct target_cluster *clusters;
    uint32_t cluster_count;
    struct predicted predicted;
    const char *undetermined; /* Reason for people; NULL: the clusters are known. */
    enum plan_when when;
    const struct outcome *next; /* After the template's next change; NULL without a plan. */
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
    if (outcome_by_release(o))
        f->undetermined = outcome_by_release(o);
    else if (o->undetermined != UNDETERMINED_REASON_COUNT)
        f->undetermined = undetermined_text(o->undetermined);
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
    if (f->projection.by_release)
        f->undetermined = f->projection.by_release;
    else if (!f->projection.determined && f->predicted.outcome == PREDICTION_UNDETERMINED)
        f->undetermined = f->predicted.reason;
}

static struct store *store_of(const struct observation *o)
{
    return o->evaluation->store;
}

/* Reads the facts of a template as they are, or after the change. */
static void read_facts(const struct observation *o, const struct entry *template,
                       struct propagation_facts *f)
{
    const struct plan_template *row = find_row(o->plan, template);
    const struct template_decision *d = template_decision(template);

    *f = (struct propagation_facts){.when = row ? row->when : PLAN_NEVER};
    if (!row)
        outcome_read(store_of(o), template, &f->own_outcome);
    set_outcome(f, row ? &row->after : &f->own_outcome);
    if (row)
        f->next = row->when == PLAN_AT_NEXT_CHANGE ? &row->next : &row->after;
    else if (o->plan)
        f->next = f->outcome;
    if (!o->plan && d && !entry_binding(d->binding))
        predict_clusters(f, o->evaluation->engine, template);
}

static void facts_release(struct propagation_facts *f, struct store *store)
{
    projection_release(store_string_pool(store), &f->projection);
    outcome_release(&f->own_outcome, store);
}

/* ---- comparison ---- */

struct comparison {
    const struct observation *observation;
    const struct entry *object;
    const char *name;   /* Name of the object for people; NULL: the whole case. */
    const char *prefix; /* "next." for the facts after the next change, else "". */
    const struct propagation_facts *facts; /* NULL for objects that are no templates. */
    const struct change_object *changed;   /* The object in the change; NULL: simulated as it is. */
    struct failed_expectations *out;
};

/* Adds a failure. `why` may be NULL or "". */
static void add_failure(const struct comparison *x, const cJSON *wanted, const char *expected,
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

/* ---- causes ---- */

/* Appends the sentence about the policy that governs the template, or about its state. */
static void add_policy_cause(const struct comparison *x, struct strbuf *out)
{
    const struct template_decision *d = template_decision(x->object);
    const struct engine *e = x->observation->evaluation->engine;

    if (!d)
        return;
    if (!d->governing || d->state == STATE_STALE || d->state == STATE_IGNORED) {
        strbuf_adds(out, state_text(d));
        return;
    }
    object_name_add(out, d->governing);
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

/* ---- fields of all objects ---- */

static bool compare_existence(const struct comparison *x, const cJSON *wanted)
{
    bool exists = x->object && entry_exists(x->object);

    if (exists != (strcmp(wanted->valuestring, "true") == 0))
        add_failure(x, wanted, wanted->valuestring, exists ? "true" : "false", NULL);
    return exists;
}

/* Appends "PROBLEM/REASON" of each instance, and the cause of the first one to `why`. */
static void describe_problems(const struct comparison *x, const struct problem *const *list,
                              size_t count, struct strbuf *out)
{
    for (size_t i = 0; i < count; i++) {
        strbuf_adds(out, i > 0 ? ", " : "");
        problem_reason_name_add(out, list[i]->reason);
        if (x->object)
            continue;
        strbuf_adds(out, " of ");
        problem_add_subject(list[i], out);
    }
    if (count == 0)
        strbuf_adds(out, "none");
}

/* Returns true if the instance is about the object that was typed. */
static bool is_about(const struct problem *p, const char *typed)
{
    const struct entry *template = problem_template(p);
    struct identity subject = {problem_api_version(p), problem_subject_kind(p), problem_ns(p),
                               problem_name(p)};
    struct identity of_template;

    if (object_name_fits(typed, &subject))
        return true;
    if (!template)
        return false;
    of_template = entry_identity(template);
    return object_name_fits(typed, &of_template);
}

/* Returns true if an element of `problems` in the test file stands for the instance. */
static bool stands_for(const cJSON *wanted, const struct problem *p)
{
    const char *object = json_str(wanted, "object", NULL);
    struct problem_filter filter;
    struct error ignored;

    if (!problem_filter_parse(json_str(wanted, "problem", wanted->valuestring), NULL, &filter,
                              &ignored))
        abort(); /* test_suite_read() has checked it. */
    return filter.problem == problem_id(p) &&
           (!filter.reason || strcmp(filter.reason, problem_reasons[p->reason].name) == 0) &&
           (!object || is_about(p, object));
}

static bool stands_for_any(const cJSON *wanted, const struct problem *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (stands_for(wanted, list[i]))
            return true;
    }
    return false;
}

static bool is_wanted(const cJSON *wanted, const struct problem *p)
{
    const cJSON *one;

    cJSON_ArrayForEach (one, wanted) {
        if (stands_for(one, p))
            return true;
    }
    return false;
}

static void add_wanted_problems(const cJSON *wanted, struct strbuf *out)
{
    const cJSON *one;

    cJSON_ArrayForEach (one, wanted) {
        const char *object = json_str(one, "object", NULL);

        strbuf_addf(out, "%s%s%s%s", one == wanted->child ? "" : ", ",
                    json_str(one, "problem", one->valuestring), object ? " of " : "",
                    object ? object : "");
    }
    if (!wanted->child)
        strbuf_adds(out, "none");
}

/* Compares the instances with the elements of `problems`: each must have its counterpart. */
static void compare_problem_list(const struct comparison *x, const cJSON *wanted,
                                 const struct problem *const *list, size_t count)
{
    CLEANUP(strbuf_release) struct strbuf expected = STRBUF_INIT(TEXT_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf got = STRBUF_INIT(TEXT_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf why = STRBUF_INIT(TEXT_MAX_BYTES);
    const struct problem *unwanted = NULL;
    const cJSON *one;
    bool equal = true;

    for (size_t i = count; i-- > 0;)
        unwanted = is_wanted(wanted, list[i]) ? unwanted : list[i];
    cJSON_ArrayForEach (one, wanted)
        equal = equal && stands_for_any(one, list, count);
    if (equal && !unwanted)
        return;
    add_wanted_problems(wanted, &expected);
    describe_problems(x, list, count, &got);
    if (unwanted)
        problem_add_cause(x->observation->evaluation->engine, unwanted, &why);
    else if (x->object)
        add_policy_cause(x, &why);
    add_failure(x, wanted, expected.data, got.data, why.data);
}

/*
 * Returns true for a problem of delivery after a change of the binding: a plan assumes that member
 * clusters accept what is scheduled to them, and simulates no status.
 */
static bool is_assumed_away(const struct observation *o, const struct problem *p)
{
    const struct entry *template = problem_template(p);
    const struct template_decision *d = template ? template_decision(template) : NULL;

    if (!o->plan || (problem_id(p) != PROBLEM_NOT_DELIVERED && problem_id(p) != PROBLEM_UNHEALTHY))
        return false;
    return d && d->binding && !binding_is_unchanged(o->bindings, d->binding);
}

/* Compares the problems of the object and of its binding; of all objects without an object. */
static void compare_problems(const struct comparison *x, const cJSON *wanted)
{
    const struct problems *ps = engine_problems(x->observation->evaluation->engine);
    size_t count, kept = 0;
    const struct problem **list =
        problems_list(ps, 1U << PROBLEM_OPEN | 1U << PROBLEM_RESOLVING, &count);

    for (size_t i = 0; i < count; i++) {
        bool concerns =
            !x->object || list[i]->subject == x->object || problem_template(list[i]) == x->object;

        if (concerns && !is_assumed_away(x->observation, list[i]))
            list[kept++] = list[i];
    }
    compare_problem_list(x, wanted, list, kept);
    free(list);
}

/* ---- fields of templates ---- */

static void compare_state(const struct comparison *x, const cJSON *wanted)
{
    const char *got = state_names[x->facts->outcome->state];

    if (strcmp(wanted->valuestring, got) != 0)
        add_failure(x, wanted, wanted->valuestring, got, state_text(template_decision(x->object)));
}

static void compare_reason(const struct comparison *x, const cJSON *wanted)
{
    const struct outcome *o = x->facts->outcome;
    const char *got = reason_name(o->state, o->reason);

    if (!got || strcmp(wanted->valuestring, got) != 0)
        add_failure(x, wanted, wanted->valuestring, got ? got : "none",
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
        add_policy_cause(x, &why);
    add_failure(x, wanted, cJSON_IsNull(wanted) ? "none" : wanted->valuestring, got.data,
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

/* Appends the reason for the outcome of a template that is not placed as expected. */
static void add_outcome_cause(const struct comparison *x, const char *cluster, struct strbuf *out)
{
    const struct template_decision *d = template_decision(x->object);
    const char *sentence = predicted_text(x->facts->predicted);

    if (x->facts->undetermined)
        strbuf_addf(out, "Only Karmada's scheduler can tell: %s", x->facts->undetermined);
    else if (d && (d->state == STATE_PENDING || d->state == STATE_STALE ||
                   d->state == STATE_ORPHANED || d->state == STATE_IGNORED))
        add_policy_cause(x, out);
    else if (!cluster || !add_verdict(x, cluster, out)) {
        if (sentence)
            strbuf_adds(out, sentence);
        else
            add_policy_cause(x, out);
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
    add_failure(x, wanted, expected.data, got.data, why.data);
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
    add_failure(x, wanted, wanted->valuestring, got.data, why.data);
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
    add_failure(x, wanted, wanted->valuestring, *got ? got : "none", why.data);
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
    add_policy_cause(x, &why);
    add_failure(x, wanted, wanted->valuestring, got, why.data);
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
    CLEANUP(entry_list_release) struct entry_list found = {0};
    CLEANUP(strbuf_release) struct strbuf expected = STRBUF_INIT(TEXT_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf got = STRBUF_INIT(TEXT_MAX_BYTES);
    struct error err = {""};
    const cJSON *one;
    size_t count = 0;
    bool equal = true;

    engine_dependency_referrers(e, d && entry_binding(d->binding) ? d->binding : x->object,
                                add_referrer, &found);
    for (one = test_first_text(wanted); one; one = test_next_text(one)) {
        const struct entry *entry =
            object_find(store_of(x->observation), 1U << CLASS_TEMPLATE, one->valuestring, &err);

        equal = equal && entry && entry_list_has(&found, entry);
        strbuf_addf(&expected, "%s%s", count++ > 0 ? ", " : "", one->valuestring);
    }
    if (equal && count == found.count)
        return;
    for (size_t i = 0; i < found.count; i++) {
        strbuf_adds(&got, i > 0 ? ", " : "");
        object_name_add(&got, found.items[i]);
    }
    add_failure(x, wanted, count ? expected.data : "none", found.count ? got.data : "none",
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
        add_failure(x, wanted, expected.data, got.data, NULL);
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

/* ---- expectations ---- */

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

static void compare_fields(const struct comparison *x, const cJSON *node)
{
    const cJSON *wanted;

    cJSON_ArrayForEach (wanted, node) {
        size_t field = find_field(wanted->string);

        if (field < ARRAY_LEN(fields))
            fields[field].compare(x, wanted);
        else if (strcmp(wanted->string, "problems") == 0)
            compare_problems(x, wanted);
    }
}

static void compare_next(const struct comparison *x, const cJSON *wanted)
{
    struct propagation_facts next = {.when = PLAN_NEVER};
    struct comparison y = *x;

    set_outcome(&next, x->facts->next);
    y.facts = &next;
    y.prefix = "next.";
    compare_fields(&y, wanted);
}

const struct entry *expectation_find_object(const struct evaluation *e, const cJSON *expectation,
                                            struct error *err)
{
    const struct options *o = &e->options;
    const char *ns = o->on_command_line[OPTION_OF_namespace] ? o->namespace : NULL;

    return object_find_in_namespace(e->store, PLAN_DELETABLE_CLASSES,
                                    json_str(expectation, "object", ""), ns, err);
}

static bool is_outcome(const char *name)
{
    return strcmp(name, "outcome") == 0 || strcmp(name, "outcomeReason") == 0;
}

/*
 * Returns true if the object has the field. Fields of templates need a template, or for the outcome
 * an object of the change.
 */
static bool has_field(const struct comparison *x, const char *name)
{
    return find_field(name) == ARRAY_LEN(fields) || template_decision(x->object) ||
           (x->changed && is_outcome(name));
}

static bool check_fields(const struct comparison *x, const cJSON *node, const char *path,
                         struct error *err)
{
    const cJSON *wanted;

    cJSON_ArrayForEach (wanted, node) {
        if (has_field(x, wanted->string))
            continue;
        fail(err, "'%s' is a field of templates, and %s is none", wanted->string, x->name);
        return yaml_fail(path, wanted, err);
    }
    return true;
}

/* Compares the fields of an existing object. */
static bool compare_object(struct comparison *x, const cJSON *node, const char *path,
                           struct error *err)
{
    struct propagation_facts facts;

    if (!check_fields(x, node, path, err))
        return false;
    if (!template_decision(x->object)) {
        compare_fields(x, node);
        return true;
    }
    read_facts(x->observation, x->object, &facts);
    x->facts = &facts;
    compare_fields(x, node);
    facts_release(&facts, store_of(x->observation));
    return true;
}

/* Returns the object of the change that does not have its whole effect; NULL without one. */
static const struct change_object *find_changed(const struct plan_result *plan, const char *typed)
{
    for (size_t i = 0; plan && i < plan->object_count; i++) {
        if (object_name_fits(typed, &plan->objects[i].id))
            return &plan->objects[i];
    }
    return NULL;
}

/* Returns true if each field of the expectation is the outcome of an object of the change. */
static bool expects_outcome_only(const cJSON *node)
{
    const cJSON *wanted;
    bool only = true;

    cJSON_ArrayForEach (wanted, node)
        only = only && (is_outcome(wanted->string) || strcmp(wanted->string, "object") == 0);
    return only;
}

static bool compare_expectation(const struct observation *o, size_t index, const cJSON *node,
                                const char *path, struct failed_expectations *out,
                                struct error *err)
{
    CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(TEXT_MAX_BYTES);
    const cJSON *existence = json_get(node, "exists"), *object = json_get(node, "object");
    struct error missing = {""};
    struct comparison x = {
        .observation = o,
        .object = expectation_find_object(o->evaluation, node, &missing),
        .changed = find_changed(o->plan, object->valuestring),
        .prefix = "",
        .out = out,
    };

    if (!x.object)
        x.object = o->objects[index];
    if (x.object)
        object_name_add(&name, x.object);
    x.name = x.object ? name.data : object->valuestring;
    if (existence && !compare_existence(&x, existence))
        return true;
    if (x.changed && expects_outcome_only(node)) {
        compare_fields(&x, node);
        return true;
    }
    if (!x.object || !entry_exists(x.object)) {
        add_failure(&x, object, "exists", x.object ? "deleted by the change" : missing.text, NULL);
        return true;
    }
    return compare_object(&x, node, path, err);
}

bool expectations_name_change(const cJSON *test_case, const struct change_object *object)
{
    const cJSON *node;

    cJSON_ArrayForEach (node, json_array(test_case, "expect")) {
        if (json_get(node, "outcome") &&
            object_name_fits(json_str(node, "object", ""), &object->id))
            return true;
    }
    return false;
}

/* Adds a failure for each object of the change that the API server refuses unexpectedly. */
static void compare_change(const struct observation *o, const cJSON *test_case,
                           struct failed_expectations *out)
{
    const cJSON *change = json_get(test_case, "change");
    struct comparison x = {.observation = o, .prefix = "", .out = out};

    for (size_t i = 0; o->plan && i < o->plan->object_count; i++) {
        const struct change_object *object = &o->plan->objects[i];
        CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(TEXT_MAX_BYTES);

        if (object->outcome != PREDICTION_REFUSED || expectations_name_change(test_case, object))
            continue;
        strbuf_addf(&name, "%s %s%s%s", object->id.kind, object->id.ns, *object->id.ns ? "/" : "",
                    object->id.name);
        x.name = name.data;
        add_failure(&x, change, "applied", "refused", object->text);
    }
    x.name = NULL;
    if (o->plan && !o->plan->settled)
        add_failure(&x, change, "a stable state", "Karmada's controllers do not come to rest",
                    NULL);
}

bool expectations_need_problems(const cJSON *test_case)
{
    const cJSON *node;

    cJSON_ArrayForEach (node, json_array(test_case, "expect")) {
        if (json_get(node, "problems"))
            return true;
    }
    return json_get(test_case, "problems");
}

bool expectations_compare(const struct observation *o, const cJSON *test_case, const char *path,
                          struct failed_expectations *out, struct error *err)
{
    const cJSON *node, *problems = json_get(test_case, "problems");
    size_t index = 0;

    compare_change(o, test_case, out);
    cJSON_ArrayForEach (node, json_array(test_case, "expect")) {
        if (!compare_expectation(o, index++, node, path, out, err))
            return false;
    }
    if (problems)
        compare_problems(&(struct comparison){.observation = o, .prefix = "", .out = out},
                         problems);
    return true;
}
