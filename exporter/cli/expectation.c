/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/cli/expectation.h"

#include "exporter/text/check_result.h"
#include "exporter/text/object_name.h"
#include "exporter/text/plan_text.h"
#include "metrics/base/number.h"
#include "metrics/expose/problem_text.h"

enum { TEXT_MAX_BYTES = 16 * 1024 * 1024 };

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

/* ---- fields of all objects ---- */

/* Returns the namespace of names without one; NULL for any namespace. */
static const char *typed_namespace(const struct evaluation *e)
{
    return e->options.on_command_line[OPTION_OF_namespace] ? e->options.namespace : NULL;
}

/*
 * Returns true if the object exists. `missing` has the reason if it is not found: a name that fits
 * several objects is no proof that the object is missing.
 */
static bool compare_existence(const struct comparison *x, const cJSON *wanted, const char *missing)
{
    const struct evaluation *e = x->observation->evaluation;
    bool exists = x->object && entry_exists(x->object);

    if (!x->object && object_count(e->store, PLAN_DELETABLE_CLASSES, x->name, typed_namespace(e)))
        comparison_fail(x, wanted, wanted->valuestring, "an ambiguous name", missing);
    else if (exists != (strcmp(wanted->valuestring, "true") == 0))
        comparison_fail(x, wanted, wanted->valuestring, exists ? "true" : "false", NULL);
    return exists;
}

/* Appends "PROBLEM/REASON" of each instance, with its subject if the comparison has no object. */
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
    struct identity subject = problem_identity(p);
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
        comparison_add_policy_cause(x, &why);
    comparison_fail(x, wanted, expected.data, got.data, why.data);
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
    return d && decision_binding(d) && !binding_is_unchanged(o->bindings, decision_binding(d));
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

const struct entry *expectation_find_object(const struct evaluation *e, const cJSON *expectation,
                                            struct error *err)
{
    return object_find_in_namespace(e->store, PLAN_DELETABLE_CLASSES,
                                    json_str(expectation, "object", ""), typed_namespace(e), err);
}

/* ---- objects ---- */

static void compare_fields(const struct comparison *x, const cJSON *node)
{
    const cJSON *wanted;

    cJSON_ArrayForEach (wanted, node) {
        if (template_field_exists(wanted->string))
            template_field_compare(x, wanted);
        else if (strcmp(wanted->string, "problems") == 0)
            compare_problems(x, wanted);
    }
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
    return !template_field_exists(name) || template_decision(x->object) ||
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
    struct propagation_facts *facts;

    if (!check_fields(x, node, path, err))
        return false;
    if (!template_decision(x->object)) {
        compare_fields(x, node);
        return true;
    }
    x->facts = facts = propagation_facts_new(x->observation, x->object);
    compare_fields(x, node);
    propagation_facts_free(facts, x->observation->evaluation->store);
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

/* Compares the outcome of an object that does not exist, as one that the API server refuses. */
static void compare_outcome_of_missing(const struct comparison *x, const cJSON *node)
{
    const cJSON *wanted;

    cJSON_ArrayForEach (wanted, node) {
        if (!is_outcome(wanted->string))
            continue;
        if (x->changed)
            template_field_compare(x, wanted);
        else
            comparison_fail(x, wanted, wanted->valuestring, "none",
                            "No object of the change has this name and another effect than its "
                            "whole one.");
    }
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
    if (existence && !compare_existence(&x, existence, missing.text)) {
        compare_outcome_of_missing(&x, node);
        return true;
    }
    if (x.changed && expects_outcome_only(node)) {
        compare_fields(&x, node);
        return true;
    }
    if (!x.object || !entry_exists(x.object)) {
        comparison_fail(&x, object, "exists", x.object ? "deleted by the change" : missing.text,
                        NULL);
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
        object_name_add_identity(&name, &object->id);
        x.name = name.data;
        comparison_fail(&x, change, "applied", "refused", object->text);
    }
    x.name = NULL;
    if (o->plan && !o->plan->settled)
        comparison_fail(&x, change, "a stable state", "Karmada's controllers do not come to rest",
                        NULL);
}

/* Returns true if an object of the case has the field. */
static bool has_expected_field(const cJSON *test_case, const char *name)
{
    const cJSON *node;

    cJSON_ArrayForEach (node, json_array(test_case, "expect")) {
        if (json_get(node, name))
            return true;
    }
    return false;
}

bool expectations_need_problems(const cJSON *test_case)
{
    return json_get(test_case, "problems") || has_expected_field(test_case, "problems");
}

bool expectations_need_simulation(const cJSON *test_case)
{
    return has_expected_field(test_case, "next");
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
