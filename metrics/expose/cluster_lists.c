/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/cluster_lists.h"

#include <strings.h>

#include "metrics/base/map.h"
#include "metrics/expose/policy_names.h"
#include "metrics/expose/problem_rows.h"
#include "metrics/model/binding.h"
#include "metrics/model/cluster.h"
#include "metrics/model/template.h"
#include "metrics/rules/delivery.h"
#include "metrics/rules/delivery_index.h"
#include "metrics/rules/replica_projection.h"
#include "metrics/rules/rule.h"

/* Rows by the address of an interned name. */
struct named_rows {
    struct map by_name;
    const struct engine *engine;
    void **items; /* In the order in which they were added. Owned. */
    size_t count;
    size_t capacity;
};

static void keep_row(struct named_rows *rows, const char *name, void *row)
{
    if (rows->count == rows->capacity) {
        rows->capacity = rows->capacity ? 2 * rows->capacity : 16;
        rows->items = xreallocarray(rows->items, rows->capacity, sizeof(*rows->items));
    }
    rows->items[rows->count++] = row;
    map_add(&rows->by_name, map_hash_address(name), row);
}

/* Copies the rows into one array in an order, and frees `rows`. */
static void *take_rows(struct named_rows *rows, size_t row_size,
                       int (*compare)(const void *, const void *), size_t *count)
{
    char *all = xcalloc(rows->count + 1, row_size);

    for (size_t i = 0; i < rows->count; i++) {
        memcpy(all + i * row_size, rows->items[i], row_size);
        free(rows->items[i]);
    }
    if (rows->count > 1)
        qsort(all, rows->count, row_size, compare);
    *count = rows->count;
    map_release(&rows->by_name);
    free(rows->items);
    return all;
}

/* Defines the function of a column that returns a value of `row`. */
#define VALUE(type, name, expression)                                                              \
    static struct list_value name(const void *at)                                                  \
    {                                                                                              \
        const struct type *row = at;                                                               \
                                                                                                   \
        return expression;                                                                         \
    }

/* ---- member clusters ---- */

static const char *const cluster_statuses[] = {"ready", "not_ready", "missing"};
enum cluster_status { CLUSTER_READY, CLUSTER_NOT_READY, CLUSTER_MISSING, CLUSTER_UNKNOWN };

struct cluster_row {
    const char *name;            /* Interned. */
    const struct entry *entry;   /* Existing or not; NULL if not in the store. */
    const struct entry *counted; /* Last template in `templates` and `healthy`. */
    const struct entry *drifted; /* Last template in `drift`. */
    struct worst_problem worst;
    struct replica_load placed;
    struct replica_load movements[MOVEMENT_COUNT];
    int64_t forbidden;  /* Leaving or undetermined replicas that the affinity forbids. */
    uint32_t templates; /* Number of templates that are to be on the cluster. */
    uint32_t healthy;   /* Number of these templates that are healthy there. */
    uint32_t drift; /* Number of templates with a drifting placement, now or then on the cluster. */
    uint32_t problems;
    uint8_t status; /* enum cluster_status */
};

static bool is_row_of_cluster(const void *item, const void *key)
{
    return ((const struct cluster_row *)item)->name == key;
}

static int by_cluster_name(const void *a, const void *b)
{
    return strcmp(((const struct cluster_row *)a)->name, ((const struct cluster_row *)b)->name);
}

static enum cluster_status status_of_cluster(const struct engine *engine, const struct entry *entry)
{
    const struct cluster *cluster = entry ? entry_cluster(entry) : NULL;

    if (cluster)
        return cluster->ready ? CLUSTER_READY : CLUSTER_NOT_READY;
    return members_are_known(&engine_context_const(engine)->members) ? CLUSTER_MISSING
                                                                     : CLUSTER_UNKNOWN;
}

/* Returns the row of a member cluster with an interned name. */
static struct cluster_row *find_or_add_cluster(struct named_rows *rows, const char *name)
{
    const struct kind_def *def = kind_of_clusters();
    const struct problems *ps = engine_problems(rows->engine);
    struct cluster_row *row = map_get(&rows->by_name, map_hash_address(name), name);
    const struct problem *p;

    if (row)
        return row;
    row = xcalloc(1, sizeof(*row));
    row->name = name;
    row->entry = store_find(engine_store(rows->engine),
                            &(struct identity){def->api_version, def->name, "", name});
    row->status = (uint8_t)status_of_cluster(rows->engine, row->entry);
    row->worst = NO_PROBLEM;
    p = ps && row->entry ? problems_of(ps, row->entry) : NULL;
    for (; p; p = problems_next_of(p))
        row->problems += worst_problem_add(&row->worst, ps, p);
    keep_row(rows, name, row);
    return row;
}

static void add_targets(struct named_rows *rows, const struct entry *template)
{
    struct template_decision *d = entry_decision(template);
    const struct stage_and_reason *targets = decision_targets(d);
    const struct binding *b = decision_binding(d) ? entry_binding(decision_binding(d)) : NULL;

    for (uint32_t i = 0; b && i < d->target_count; i++) {
        struct cluster_row *row = find_or_add_cluster(rows, b->clusters[i].name);

        if (i < b->cluster_count)
            replica_load_add(&row->placed, b->requests, b->request_count, b->clusters[i].replicas);
        if (row->counted == template)
            continue;
        row->counted = template;
        row->templates++;
        row->healthy += targets[i].stage == STAGE_HEALTHY;
    }
}

static void add_movements(struct named_rows *rows, const struct entry *template)
{
    const struct capacity *c = decision_capacity(template_decision(template));
    struct movement_walk walk = {0};
    struct cluster_movement m;

    while (capacity_next_movement(c, &walk, &m)) {
        struct cluster_row *row = find_or_add_cluster(rows, m.cluster);

        for (unsigned i = 0; i < MOVEMENT_COUNT; i++)
            replica_load_add(&row->movements[i], c->requests, c->request_count, m.replicas[i]);
        row->drift += row->drifted != template;
        row->drifted = template;
    }
    for (uint32_t i = 0; c && c->moves && i < c->assigned_count; i++) {
        if (c->assigned[i].forbidden)
            find_or_add_cluster(rows, c->assigned[i].name)->forbidden += c->assigned[i].replicas;
    }
}

static void *gather_clusters(const struct engine *engine, size_t *count)
{
    const struct store *store = engine_store(engine);
    struct named_rows rows = {.by_name = MAP_INIT(is_row_of_cluster), .engine = engine};
    struct listing clusters = listing_make_unordered(store, CLASS_CLUSTER);
    struct listing templates = listing_make_unordered(store, CLASS_TEMPLATE);

    for (size_t i = 0; i < templates.count; i++) {
        if (!template_decision(templates.entries[i]))
            continue;
        add_targets(&rows, templates.entries[i]);
        add_movements(&rows, templates.entries[i]);
    }
    for (size_t i = 0; i < clusters.count; i++) {
        const char *name = intern_find(store_string_pool(store), clusters.entries[i]->name);

        /* No template names a cluster that has no name in the pool. */
        find_or_add_cluster(&rows, name ? name : clusters.entries[i]->name);
    }
    listing_release(&templates);
    listing_release(&clusters);
    return take_rows(&rows, sizeof(struct cluster_row), by_cluster_name, count);
}

static struct list_value free_amount(const struct cluster_row *row, const char *resource)
{
    const struct cluster *cluster = row->entry ? entry_cluster(row->entry) : NULL;
    double amount = cluster ? cluster_free_amount(cluster, resource) * 1000 : 0;
    int64_t number;

    if (amount > -0x1p63 && amount < 0x1p63)
        number = (int64_t)amount;
    else
        number = amount < 0 ? INT64_MIN : INT64_MAX;
    return list_number_if(cluster && cluster->resource_count > 0, number);
}

#define LOAD(movement) row->movements[MOVEMENT_##movement]

VALUE(cluster_row, cluster_severity, list_word(severity_names, SEVERITY_COUNT, row->worst.severity))
VALUE(cluster_row, cluster_problem, list_word(problem_names, PROBLEM_COUNT, row->worst.problem))
VALUE(cluster_row, cluster_problem_since,
      list_number_if(row->worst.since_ms > 0, row->worst.since_ms))
VALUE(cluster_row, cluster_problems, list_number(row->problems))
VALUE(cluster_row, cluster_name, list_text(row->name))
VALUE(cluster_row, cluster_status,
      list_word(cluster_statuses, ARRAY_LEN(cluster_statuses), row->status))
VALUE(cluster_row, cluster_templates, list_number(row->templates))
VALUE(cluster_row, cluster_healthy, list_number(row->healthy))
VALUE(cluster_row, cluster_drift, list_number(row->drift))
VALUE(cluster_row, placed_replicas, list_number(row->placed.replicas))
VALUE(cluster_row, placed_cores, list_number(row->placed.cores))
VALUE(cluster_row, placed_bytes, list_number(row->placed.bytes))
VALUE(cluster_row, leaving_replicas, list_number(LOAD(LEAVING).replicas))
VALUE(cluster_row, leaving_cores, list_number(LOAD(LEAVING).cores))
VALUE(cluster_row, leaving_bytes, list_number(LOAD(LEAVING).bytes))
VALUE(cluster_row, arriving_replicas, list_number(LOAD(ARRIVING).replicas))
VALUE(cluster_row, arriving_cores, list_number(LOAD(ARRIVING).cores))
VALUE(cluster_row, arriving_bytes, list_number(LOAD(ARRIVING).bytes))
VALUE(cluster_row, undetermined_replicas, list_number(LOAD(UNDETERMINED).replicas))
VALUE(cluster_row, undetermined_cores, list_number(LOAD(UNDETERMINED).cores))
VALUE(cluster_row, undetermined_bytes, list_number(LOAD(UNDETERMINED).bytes))
VALUE(cluster_row, forbidden_replicas, list_number(row->forbidden))
VALUE(cluster_row, free_cores, free_amount(row, "cpu"))
VALUE(cluster_row, free_bytes, free_amount(row, "memory"))

static struct list_value free_pods(const void *at)
{
    struct list_value v = free_amount(at, "pods");

    v.number /= 1000;
    return v;
}

/* Column with an amount, which joins the cell before it. */
#define JOINED_COLUMN(column, text, of_kind, function)                                             \
    {                                                                                              \
        .name = (column), .before = (text), .kind = (of_kind), .value = (function)                 \
    }

/* Column with an amount in a cell of its own. */
#define AMOUNT_COLUMN(column, title, of_kind, function)                                            \
    {                                                                                              \
        .name = (column), .heading = (title), .style = "number", .kind = (of_kind),                \
        .value = (function)                                                                        \
    }

static const struct list_column cluster_list_columns[] = {
    LIST_PROBLEM_COLUMNS(cluster_severity, cluster_problem, cluster_problem_since),
    {.name = "cluster",
     .heading = "Member cluster",
     .style = "object",
     .kind = LIST_CLUSTER,
     .value = cluster_name},
    {.name = "search",
     .parameter = "search",
     .flags = LIST_FILTER_ONLY | LIST_CONTAINS,
     .value = cluster_name},
    {.name = "status",
     .heading = "Status",
     .style = "word",
     .parameter = "status",
     .kind = LIST_WORD,
     .words = cluster_statuses,
     .word_count = ARRAY_LEN(cluster_statuses),
     .value = cluster_status},
    LIST_NUMBER_COLUMN("templates", "Templates", cluster_templates, 0),
    LIST_NUMBER_COLUMN("healthy", "Healthy", cluster_healthy, 0),
    LIST_NUMBER_COLUMN("drift", "Drift", cluster_drift, 0),
    LIST_NUMBER_COLUMN("replicas", "Replicas", placed_replicas, 0),
    AMOUNT_COLUMN("cpu", "CPU", LIST_CORES, placed_cores),
    AMOUNT_COLUMN("memory", "Memory", LIST_BYTES, placed_bytes),
    LIST_NUMBER_COLUMN("leavingReplicas", "Leaving", leaving_replicas, 0),
    JOINED_COLUMN("leavingCpu", " · CPU ", LIST_CORES, leaving_cores),
    JOINED_COLUMN("leavingMemory", " · ", LIST_BYTES, leaving_bytes),
    LIST_NUMBER_COLUMN("arrivingReplicas", "Arriving", arriving_replicas, 0),
    JOINED_COLUMN("arrivingCpu", " · CPU ", LIST_CORES, arriving_cores),
    JOINED_COLUMN("arrivingMemory", " · ", LIST_BYTES, arriving_bytes),
    LIST_NUMBER_COLUMN("undeterminedReplicas", "Undetermined", undetermined_replicas, 0),
    {.name = "undeterminedCpu", .kind = LIST_CORES, .value = undetermined_cores},
    {.name = "undeterminedMemory", .kind = LIST_BYTES, .value = undetermined_bytes},
    {.name = "forbiddenReplicas", .kind = LIST_NUMBER, .value = forbidden_replicas},
    AMOUNT_COLUMN("freeCpu", "Free CPU", LIST_CORES, free_cores),
    AMOUNT_COLUMN("freeMemory", "Free memory", LIST_BYTES, free_bytes),
    {.name = "freePods", .kind = LIST_NUMBER, .value = free_pods},
    {.name = "problems", .kind = LIST_NUMBER, .flags = LIST_JSON_LAST, .value = cluster_problems},
    {.name = NULL},
};

const struct list cluster_list = {
    .kind = "ClusterList",
    .columns = cluster_list_columns,
    .row_size = sizeof(struct cluster_row),
    .counted = {"severity", "status"},
    .gather = gather_clusters,
};

/* ---- namespaces ---- */

struct namespace_row {
    const char *name;  /* Interned. */
    const char *owner; /* Owner of all templates that have one; NULL if they differ. */
    struct worst_problem worst;
    int64_t stale_replicas; /* Replicas that the bindings of stale templates assign. */
    uint32_t templates;
    uint32_t states[STATE_COUNT];
    uint32_t policies;
    uint32_t problems[SEVERITY_COUNT];
    bool owners_differ;
};

static bool is_row_of_namespace(const void *item, const void *key)
{
    return ((const struct namespace_row *)item)->name == key;
}

static int by_namespace_name(const void *a, const void *b)
{
    return strcmp(((const struct namespace_row *)a)->name, ((const struct namespace_row *)b)->name);
}

/* Returns the row of a namespace; NULL for objects without a namespace. */
static struct namespace_row *find_or_add_namespace(struct named_rows *rows, const char *ns)
{
    struct namespace_row *row;

    if (*ns == '\0')
        return NULL;
    row = map_get(&rows->by_name, map_hash_address(ns), ns);
    if (row)
        return row;
    row = xcalloc(1, sizeof(*row));
    row->name = ns;
    row->worst = NO_PROBLEM;
    keep_row(rows, ns, row);
    return row;
}

static void add_owner(struct namespace_row *row, const char *owner)
{
    if (!owner || row->owners_differ)
        return;
    row->owners_differ = row->owner && strcmp(row->owner, owner) != 0;
    row->owner = row->owners_differ ? NULL : owner;
}

static void add_template(struct named_rows *rows, const struct entry *template)
{
    struct namespace_row *row = find_or_add_namespace(rows, entry_ns(template));
    const struct template_decision *d = template_decision(template);
    const struct binding *b;

    if (!row || !d)
        return;
    row->templates++;
    row->states[d->state]++;
    add_owner(row, template_owner(entry_template(template)));
    b = d->state == STATE_STALE && decision_binding(d) ? entry_binding(decision_binding(d)) : NULL;
    for (uint32_t i = 0; b && i < b->cluster_count; i++)
        row->stale_replicas += b->clusters[i].replicas;
}

static void add_problems_by_namespace(struct named_rows *rows)
{
    const struct problems *ps = engine_problems(rows->engine);
    struct problem_walk walk = {0};
    const struct problem *p;

    while (ps && (p = problems_next(ps, &walk)) != NULL) {
        enum problem_severity severity = problem_severity(ps, problem_id(p));
        struct namespace_row *row;

        if (!problem_counts(p) || severity >= SEVERITY_COUNT)
            continue;
        row = find_or_add_namespace(rows, problem_ns(p));
        if (!row)
            continue;
        worst_problem_add(&row->worst, ps, p);
        row->problems[severity]++;
    }
}

static void *gather_namespaces(const struct engine *engine, size_t *count)
{
    struct named_rows rows = {.by_name = MAP_INIT(is_row_of_namespace), .engine = engine};
    struct listing templates = listing_make_unordered(engine_store(engine), CLASS_TEMPLATE);
    struct listing policies = listing_make_unordered(engine_store(engine), CLASS_POLICY);

    for (size_t i = 0; i < templates.count; i++)
        add_template(&rows, templates.entries[i]);
    for (size_t i = 0; i < policies.count; i++) {
        struct namespace_row *row = find_or_add_namespace(&rows, entry_ns(policies.entries[i]));

        if (row)
            row->policies++;
    }
    add_problems_by_namespace(&rows);
    listing_release(&templates);
    listing_release(&policies);
    return take_rows(&rows, sizeof(struct namespace_row), by_namespace_name, count);
}

VALUE(namespace_row, namespace_severity,
      list_word(severity_names, SEVERITY_COUNT, row->worst.severity))
VALUE(namespace_row, namespace_problem, list_word(problem_names, PROBLEM_COUNT, row->worst.problem))
VALUE(namespace_row, namespace_problem_since,
      list_number_if(row->worst.since_ms > 0, row->worst.since_ms))
VALUE(namespace_row, namespace_name, list_text(row->name))
VALUE(namespace_row, namespace_owner, list_text(row->owner))
VALUE(namespace_row, namespace_templates, list_number(row->templates))
VALUE(namespace_row, namespace_current, list_number(row->states[STATE_CURRENT]))
VALUE(namespace_row, namespace_stale, list_number(row->states[STATE_STALE]))
VALUE(namespace_row, namespace_orphaned, list_number(row->states[STATE_ORPHANED]))
VALUE(namespace_row, namespace_pending, list_number(row->states[STATE_PENDING]))
VALUE(namespace_row, namespace_unbound, list_number(row->states[STATE_UNBOUND]))
VALUE(namespace_row, namespace_attached, list_number(row->states[STATE_ATTACHED]))
VALUE(namespace_row, namespace_ignored, list_number(row->states[STATE_IGNORED]))
VALUE(namespace_row, namespace_stale_replicas, list_number(row->stale_replicas))
VALUE(namespace_row, namespace_policies, list_number(row->policies))
VALUE(namespace_row, namespace_critical, list_number(row->problems[SEVERITY_CRITICAL]))
VALUE(namespace_row, namespace_warning, list_number(row->problems[SEVERITY_WARNING]))
VALUE(namespace_row, namespace_info, list_number(row->problems[SEVERITY_INFO]))

static const struct list_column namespace_list_columns[] = {
    LIST_PROBLEM_COLUMNS(namespace_severity, namespace_problem, namespace_problem_since),
    {.name = "namespace",
     .heading = "Namespace",
     .style = "object",
     .parameter = "namespace",
     .kind = LIST_NAMESPACE,
     .value = namespace_name},
    {.name = "search",
     .parameter = "search",
     .flags = LIST_FILTER_ONLY | LIST_CONTAINS,
     .value = namespace_name},
    LIST_NUMBER_COLUMN("critical", "Critical", namespace_critical, 0),
    LIST_NUMBER_COLUMN("warning", "Warning", namespace_warning, 0),
    LIST_NUMBER_COLUMN("info", "Info", namespace_info, 0),
    LIST_NUMBER_COLUMN("templates", "Templates", namespace_templates, 0),
    LIST_NUMBER_COLUMN("current", "Current", namespace_current, 0),
    LIST_NUMBER_COLUMN("stale", "Stale", namespace_stale, 0),
    LIST_NUMBER_COLUMN("orphaned", "Orphaned", namespace_orphaned, 0),
    LIST_NUMBER_COLUMN("pending", "Pending", namespace_pending, 0),
    LIST_NUMBER_COLUMN("unbound", "Unbound", namespace_unbound, 0),
    LIST_NUMBER_COLUMN("attached", "Attached", namespace_attached, 0),
    LIST_NUMBER_COLUMN("ignored", NULL, namespace_ignored, 0),
    LIST_NUMBER_COLUMN("staleReplicas", "Stale replicas", namespace_stale_replicas, 0),
    LIST_NUMBER_COLUMN("policies", "Policies", namespace_policies, 0),
    {.name = "owner",
     .heading = "Owner",
     .style = "owner",
     .parameter = "owner",
     .value = namespace_owner},
    {.name = NULL},
};

const struct list namespace_list = {
    .kind = "NamespaceList",
    .columns = namespace_list_columns,
    .row_size = sizeof(struct namespace_row),
    .counted = {"severity"},
    .gather = gather_namespaces,
};
