/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/policy_lists.h"

#include <strings.h>

#include "metrics/base/map.h"
#include "metrics/expose/problem_parties.h"
#include "metrics/expose/problem_rows.h"
#include "metrics/expose/report.h"
#include "metrics/expose/report_items.h"
#include "metrics/expose/report_parts.h"
#include "metrics/model/template.h"

/* ---- policies ---- */

/* Numbers of templates of a policy. Counting them is slow, and a page shows few policies. */
struct policy_usage {
    bool known; /* The other members are set. */
    struct policy_counts counts;
    size_t versions; /* Number of versions that templates run. */
};

struct policy_row {
    const struct entry *policy;
    struct policy_usage *usage; /* In the memory of the rows; see usage_of(). */
    struct worst_problem worst;
    uint32_t problems; /* Number of open problems about the policy and its templates. */
};

static bool is_row_of_policy(const void *item, const void *key)
{
    return ((const struct policy_row *)item)->policy == key;
}

/* Adds each open problem to the row of the policy that it is about. */
static void add_problems_by_policy(const struct problems *ps, const struct map *rows)
{
    struct problem_walk walk = {0};
    const struct problem *p;

    while ((p = problems_next(ps, &walk)) != NULL) {
        const struct entry *policy = problem_policy(p);
        struct policy_row *row = policy ? map_get(rows, map_hash_address(policy), policy) : NULL;

        if (row && worst_problem_add(&row->worst, ps, p))
            row->problems++;
    }
}

static void *gather_policies(const struct engine *engine, size_t *count)
{
    struct listing all = listing_make(engine_store(engine), CLASS_POLICY);
    /* One block of memory, which the caller frees: the rows, then their usages. */
    struct policy_row *rows =
        xcalloc(all.count + 1, sizeof(struct policy_row) + sizeof(struct policy_usage));
    struct policy_usage *usages = (struct policy_usage *)&rows[all.count + 1];
    struct map by_policy = MAP_INIT(is_row_of_policy);

    for (size_t i = 0; i < all.count; i++) {
        rows[i] =
            (struct policy_row){.policy = all.entries[i], .usage = &usages[i], .worst = NO_PROBLEM};
        map_add(&by_policy, map_hash_address(rows[i].policy), &rows[i]);
    }
    if (engine_problems(engine))
        add_problems_by_policy(engine_problems(engine), &by_policy);
    *count = all.count;
    map_release(&by_policy);
    listing_release(&all);
    return rows;
}

/* Returns the usage of the policy of a row; the first call counts it. */
static const struct policy_usage *usage_of(const struct policy_row *row)
{
    const struct policy_decision *d = policy_decision(row->policy);

    if (!row->usage->known)
        *row->usage = (struct policy_usage){
            .known = true,
            .counts = policy_counts_of(row->policy),
            .versions = d && d->history ? policy_history_count_used_versions(d->history) : 0,
        };
    return row->usage;
}

/* Returns the number of target clusters; unknown without Cluster objects. */
static struct list_value cluster_count_of(const struct entry *policy)
{
    const struct policy_decision *d = policy_decision(policy);

    return list_number_if(d && d->resolved->has_clusters, d ? d->resolved->cluster_count : 0);
}

static void put_policy(struct json_writer *w, const struct engine *engine, const void *row)
{
    (void)engine;
    report_put_policy_members(w, ((const struct policy_row *)row)->policy);
}

/* Defines the function of a column that returns a value of `row`. */
#define VALUE(type, name, expression)                                                              \
    static struct list_value name(const void *at)                                                  \
    {                                                                                              \
        const struct type *row = at;                                                               \
                                                                                                   \
        return expression;                                                                         \
    }

VALUE(policy_row, policy_severity, list_word(severity_names, SEVERITY_COUNT, row->worst.severity))
VALUE(policy_row, policy_problem, list_word(problem_names, PROBLEM_COUNT, row->worst.problem))
VALUE(policy_row, policy_problem_since,
      list_number_if(row->worst.since_ms > 0, row->worst.since_ms))
VALUE(policy_row, policy_problems, list_number(row->problems))
VALUE(policy_row, policy_entry, list_entry(row->policy, true))
VALUE(policy_row, policy_kind, list_text(entry_kind(row->policy)))
VALUE(policy_row, policy_namespace, list_text(entry_ns(row->policy)))
VALUE(policy_row, policy_name, list_text(row->policy->name))
VALUE(policy_row, policy_selected, list_number(usage_of(row)->counts.selected))
VALUE(policy_row, policy_won, list_number(usage_of(row)->counts.won))
VALUE(policy_row, policy_claimed, list_number(usage_of(row)->counts.claimed))
VALUE(policy_row, policy_stale, list_number(usage_of(row)->counts.stale))
VALUE(policy_row, policy_versions, list_number((int64_t)usage_of(row)->versions))
VALUE(policy_row, policy_clusters, cluster_count_of(row->policy))

static const char *const policy_kinds[] = {"PropagationPolicy", "ClusterPropagationPolicy"};

static const struct list_column policy_list_columns[] = {
    LIST_PROBLEM_COLUMNS(policy_severity, policy_problem, policy_problem_since),
    {.name = "policy",
     .heading = "Policy",
     .style = "object",
     .kind = LIST_OBJECT,
     .flags = LIST_PAGE_ONLY,
     .value = policy_entry},
    {.name = "kind",
     .parameter = "kind",
     .words = policy_kinds,
     .word_count = ARRAY_LEN(policy_kinds),
     .flags = LIST_IN_REPORT | LIST_ANY_WORD | LIST_ANY_CASE,
     .value = policy_kind},
    {.name = "namespace",
     .heading = "Namespace",
     .parameter = "namespace",
     .kind = LIST_NAMESPACE,
     .flags = LIST_IN_REPORT,
     .value = policy_namespace},
    {.name = "name", .flags = LIST_IN_REPORT, .value = policy_name},
    {.name = "search",
     .parameter = "search",
     .flags = LIST_FILTER_ONLY | LIST_CONTAINS,
     .value = policy_name},
    LIST_NUMBER_COLUMN("selected", "Selected", policy_selected, LIST_IN_REPORT),
    LIST_NUMBER_COLUMN("won", "Won", policy_won, LIST_IN_REPORT),
    LIST_NUMBER_COLUMN("claimed", "Claimed", policy_claimed, LIST_IN_REPORT),
    LIST_NUMBER_COLUMN("stale", "Stale", policy_stale, LIST_IN_REPORT),
    LIST_NUMBER_COLUMN("clusters", "Clusters", policy_clusters, LIST_IN_REPORT),
    LIST_NUMBER_COLUMN("versionsInUse", "Versions in use", policy_versions, LIST_JSON_LAST),
    LIST_NUMBER_COLUMN("problems", "Open problems", policy_problems, LIST_JSON_LAST),
    {.name = NULL},
};

const struct list policy_list = {
    .kind = "PolicyList",
    .columns = policy_list_columns,
    .row_size = sizeof(struct policy_row),
    .counted = {"severity"},
    .gather = gather_policies,
    .put_report = put_policy,
};

/* ---- conflicts ---- */

enum { WANTED_MAX = 64 };

static const char *const origins[] = {"observed", "derived", "predicted"};
enum { ORIGIN_OBSERVED, ORIGIN_DERIVED, ORIGIN_PREDICTED };

struct conflict_row {
    const struct entry *dependency;
    const char *owner; /* NULL if unknown. */
    struct worst_problem worst;
    int64_t since_ms; /* Time of the object, else of the problem; 0 if unknown. */
    enum dependency_field field;
    unsigned origin;         /* Index into `origins`. */
    uint32_t wants[2];       /* Numbers of referrers that request false and true. */
    char wanted[WANTED_MAX]; /* The same as text: "Overwrite 12, Abort 3". */
};

struct conflict_rows {
    const struct engine *engine;
    struct conflict_row *items;
    size_t count;
    size_t capacity;
};

static void count_referrer(void *context, const struct dependency_referrer *referrer)
{
    struct conflict_row *row = context;
    bool current = row->origin == ORIGIN_PREDICTED;
    const struct dependency_values *values = current ? &referrer->current : &referrer->observed;

    if ((referrer->template || referrer->binding) &&
        (current ? referrer->counts_current : referrer->counts_observed))
        row->wants[values->wants[row->field]]++;
}

/* Sets the worst problem of the dependency about the field, or about no field. */
static void find_conflict_problem(struct conflict_row *row, const struct problems *ps)
{
    const struct problem *p = ps ? problems_of(ps, row->dependency) : NULL;

    for (; p; p = problems_next_of(p)) {
        enum dependency_field field = problem_dependency_field(p);

        if (field == row->field || field == DEPENDENCY_FIELD_COUNT)
            worst_problem_add(&row->worst, ps, p);
    }
}

static const char *owner_of_dependency(const struct engine *engine, const struct entry *dependency)
{
    struct identity id = resource_identity_of(dependency);
    const struct entry *entry = entry_class(dependency) == CLASS_TEMPLATE
                                    ? dependency
                                    : store_find(engine_store(engine), &id);
    const struct template *t = entry ? entry_template(entry) : NULL;

    return t ? template_owner(t) : NULL;
}

static void add_conflict(struct conflict_rows *rows, const struct entry *dependency,
                         enum dependency_field field)
{
    const struct dependency_decision *d = dependency_decision(dependency);
    struct conflict_row *row;

    if (rows->count == rows->capacity) {
        rows->capacity = rows->capacity ? 2 * rows->capacity : 16;
        rows->items = xreallocarray(rows->items, rows->capacity, sizeof(*rows->items));
    }
    row = &rows->items[rows->count++];
    *row = (struct conflict_row){
        .dependency = dependency,
        .owner = owner_of_dependency(rows->engine, dependency),
        .worst = NO_PROBLEM,
        .since_ms = d->fields[field].conflict ? d->since_ms : 0,
        .field = field,
        .origin = !d->fields[field].conflict ? ORIGIN_PREDICTED
                  : d->derived               ? ORIGIN_DERIVED
                                             : ORIGIN_OBSERVED,
    };
    find_conflict_problem(row, engine_problems(rows->engine));
    row->since_ms = row->since_ms ? row->since_ms : row->worst.since_ms;
    engine_dependency_referrers(rows->engine, dependency, count_referrer, row);
    snprintf(row->wanted, sizeof(row->wanted), "%s %" PRIu32 ", %s %" PRIu32,
             dependency_value_name(field, true), row->wants[true],
             dependency_value_name(field, false), row->wants[false]);
}

/* Adds the conflicts about the attached dependencies of a class, in no order. */
static void add_conflicts(struct conflict_rows *rows, enum object_class class)
{
    struct listing all = listing_make_unordered(engine_store(rows->engine), class);

    for (size_t k = 0; k < all.count; k++) {
        const struct dependency_decision *d = dependency_decision(all.entries[k]);

        for (unsigned i = 0; d && d->attached && i < DEPENDENCY_FIELD_COUNT; i++) {
            if (d->fields[i].conflict || d->fields[i].predicted)
                add_conflict(rows, all.entries[k], i);
        }
    }
    listing_release(&all);
}

static int by_dependency(const void *left, const void *right)
{
    const struct conflict_row *a = left, *b = right;
    int order = dependency_compare(a->dependency, b->dependency);

    return order ? order : (int)a->field - (int)b->field;
}

static void *gather_conflicts(const struct engine *engine, size_t *count)
{
    struct conflict_rows rows = {.engine = engine};

    add_conflicts(&rows, CLASS_TEMPLATE);
    add_conflicts(&rows, CLASS_BINDING);
    if (rows.count > 1)
        qsort(rows.items, rows.count, sizeof(*rows.items), by_dependency);
    *count = rows.count;
    return rows.items;
}

static void put_conflict(struct json_writer *w, const struct engine *engine, const void *at)
{
    const struct conflict_row *row = at;

    report_put_conflict_members(w, engine, row->dependency, row->field, NULL);
}

static const struct field_resolution *resolution_of(const struct conflict_row *row)
{
    return &dependency_decision(row->dependency)->fields[row->field];
}

static const char *resolved_name(const struct conflict_row *row)
{
    const struct field_resolution *f = resolution_of(row);

    return row->origin == ORIGIN_PREDICTED
               ? dependency_resolved_name(row->field, f->predicted_outcome, f->predicted_resolved)
               : dependency_resolved_name(row->field, f->outcome, f->resolved);
}

/* Returns the value in the binding; unknown where the report has null. */
static struct list_value stored_value(const struct conflict_row *row)
{
    return dependency_value_is_stored(row->dependency)
               ? list_text(dependency_value_name(row->field, resolution_of(row)->stored))
               : (struct list_value){0};
}

VALUE(conflict_row, conflict_severity,
      list_word(severity_names, SEVERITY_COUNT, row->worst.severity))
VALUE(conflict_row, conflict_problem, list_word(problem_names, PROBLEM_COUNT, row->worst.problem))
VALUE(conflict_row, conflict_problem_since,
      list_number_if(row->worst.since_ms > 0, row->worst.since_ms))
VALUE(conflict_row, conflict_dependency, list_entry(row->dependency, true))
VALUE(conflict_row, conflict_kind, list_text(resource_identity_of(row->dependency).kind))
VALUE(conflict_row, conflict_namespace, list_text(resource_identity_of(row->dependency).ns))
VALUE(conflict_row, conflict_name, list_text(resource_identity_of(row->dependency).name))
VALUE(conflict_row, conflict_field,
      list_word(dependency_field_names, DEPENDENCY_FIELD_COUNT, row->field))
VALUE(conflict_row, conflict_resolved, list_text(resolved_name(row)))
VALUE(conflict_row, conflict_stored, stored_value(row))
VALUE(conflict_row, conflict_wanted, list_text(row->wanted))
VALUE(conflict_row, conflict_since, list_number_if(row->since_ms > 0, row->since_ms))
VALUE(conflict_row, conflict_origin, list_word(origins, ARRAY_LEN(origins), row->origin))
VALUE(conflict_row, conflict_owner, list_text(row->owner))

static const char *const binding_parts[] = {"namespace", "name", NULL};

static const struct list_column conflict_list_columns[] = {
    LIST_PROBLEM_COLUMNS(conflict_severity, conflict_problem, conflict_problem_since),
    {.name = "resource",
     .heading = "Dependency",
     .style = "object",
     .kind = LIST_DEPENDENCY,
     .flags = LIST_IN_REPORT,
     .value = conflict_dependency,
     .parts = list_identity_parts},
    {.name = "kind",
     .parameter = "kind",
     .flags = LIST_FILTER_ONLY | LIST_ANY_CASE,
     .value = conflict_kind},
    {.name = "namespace",
     .heading = "Namespace",
     .parameter = "namespace",
     .kind = LIST_NAMESPACE,
     .flags = LIST_PAGE_ONLY,
     .value = conflict_namespace},
    {.name = "search",
     .parameter = "search",
     .flags = LIST_FILTER_ONLY | LIST_CONTAINS,
     .value = conflict_name},
    {.name = "binding", .flags = LIST_IN_REPORT, .value = conflict_name, .parts = binding_parts},
    {.name = "field",
     .heading = "Field",
     .style = "word",
     .parameter = "field",
     .kind = LIST_WORD,
     .words = dependency_field_names,
     .word_count = DEPENDENCY_FIELD_COUNT,
     .flags = LIST_IN_REPORT,
     .value = conflict_field},
    {.name = "resolved",
     .heading = "Resolved value",
     .style = "word",
     .flags = LIST_IN_REPORT,
     .value = conflict_resolved},
    {.name = "stored",
     .heading = "Stored value",
     .style = "word",
     .flags = LIST_IN_REPORT,
     .value = conflict_stored},
    {.name = "wanted",
     .heading = "Requested values",
     .style = "word",
     .flags = LIST_JSON_LAST,
     .value = conflict_wanted},
    {.name = "origin",
     .heading = "Origin",
     .style = "word",
     .parameter = "origin",
     .kind = LIST_WORD,
     .words = origins,
     .word_count = ARRAY_LEN(origins),
     .flags = LIST_IN_REPORT,
     .value = conflict_origin},
    {.name = "message", .flags = LIST_IN_REPORT, .value = conflict_wanted},
    {.name = "wants", .flags = LIST_IN_REPORT, .value = conflict_wanted},
    {.name = "since",
     .heading = "Since",
     .style = "word",
     .kind = LIST_TIME,
     .flags = LIST_JSON_LAST,
     .value = conflict_since},
    {.name = "owner",
     .heading = "Owner",
     .style = "owner",
     .parameter = "owner",
     .flags = LIST_JSON_LAST,
     .value = conflict_owner},
    {.name = NULL},
};

const struct list conflict_list = {
    .kind = "ConflictList",
    .columns = conflict_list_columns,
    .row_size = sizeof(struct conflict_row),
    .counted = {"severity", "field", "origin"},
    .gather = gather_conflicts,
    .put_report = put_conflict,
};
