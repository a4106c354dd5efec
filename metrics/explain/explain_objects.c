/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/explain/explain_objects.h"

#include "metrics/explain/explain_overrides.h"
#include "metrics/explain/explain_quota.h"
#include "metrics/explain/explain_sections.h"
#include "metrics/explain/explain_verdicts.h"

#include "metrics/base/timestamp.h"
#include "metrics/expose/policy_names.h"
#include "metrics/expose/report_items.h"
#include "metrics/model/binding.h"
#include "metrics/model/cluster.h"
#include "metrics/model/override_policy.h"
#include "metrics/model/work.h"
#include "metrics/rules/object_index.h"
#include "metrics/rules/placement_match.h"
#include "metrics/rules/replica_projection.h"
#include "metrics/rules/rule.h"
#include "metrics/rules/selector.h"

enum { NAMES_SHOWN = 10 };

/* Appends an object to a list of at most NAMES_SHOWN names; `count` counts all objects. */
static void add_name(struct strbuf *out, size_t *count, const struct entry *entry)
{
    if ((*count)++ >= NAMES_SHOWN)
        return;
    strbuf_adds(out, out->len > 0 ? ", " : "");
    entry_add_name(out, entry);
}

/* Adds a detail with the names of a list, and how many it leaves out. */
static void explain_names(struct explain_context *x, const struct strbuf *names, size_t count)
{
    if (count > NAMES_SHOWN)
        explain_detail(x, "%s and %zu more", names->data, count - NAMES_SHOWN);
    else if (count > 0)
        explain_detail(x, "%s", names->data);
}

static void put_objects(struct explain_context *x, const char *key,
                        const struct entry *const *entries, size_t count)
{
    json_writer_open(&x->out->facts, key, '[');
    for (size_t i = 0; i < count; i++) {
        json_writer_open(&x->out->facts, NULL, '{');
        report_put_object(&x->out->facts, entries[i]);
        json_writer_close(&x->out->facts, '}');
    }
    json_writer_close(&x->out->facts, ']');
}

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

/* ---- override policies ---- */

static void explain_selected_templates(struct explain_context *x, const struct entry *policy)
{
    CLEANUP(listing_release)
    struct listing all = listing_make(engine_store(x->engine), CLASS_TEMPLATE);
    CLEANUP(strbuf_release) struct strbuf names = STRBUF_INIT(EXPLAIN_VALUE_MAX_BYTES);
    size_t count = 0, shown = 0;

    explain_open_section(x, "selection", "Templates that the override policy selects");
    for (size_t i = 0; i < all.count; i++) {
        if (entry_exists(all.entries[i]) && override_selects(policy, all.entries[i]))
            all.entries[count++] = all.entries[i];
    }
    for (size_t i = 0; i < count; i++)
        add_name(&names, &shown, all.entries[i]);
    put_objects(x, "templates", all.entries, count);
    if (entry_override(policy)->selector_count == 0)
        explain_paragraph(
            x, "The override policy has no resourceSelectors and selects all templates%s.",
            *entry_ns(policy) ? " of its namespace" : "");
    explain_paragraph(
        x, "The override policy selects %zu template%s that %s in the data of the exporter%s",
        count, plural(count), count == 1 ? "is" : "are", count > 0 ? ":" : ".");
    explain_names(x, &names, count);
    explanation_close(x->out, '}');
}

/* Adds one rule: the known member clusters that its targetCluster selects. */
static void explain_rule(struct explain_context *x, const struct override *o, uint32_t at)
{
    const struct override_rule *rule = &o->rules[at];
    CLEANUP(listing_release)
    struct listing clusters = listing_make(engine_store(x->engine), CLASS_CLUSTER);
    CLEANUP(strbuf_release) struct strbuf names = STRBUF_INIT(EXPLAIN_VALUE_MAX_BYTES);
    const char *effect = rule->empty ? ", without overriders, so the rule changes nothing" : "";
    char place[40] = "spec.overriders";

    if (!o->deprecated)
        snprintf(place, sizeof(place), "overrideRules[%" PRIu32 "]", at);
    explanation_open(x->out, NULL, '{');
    json_writer_bool(&x->out->facts, "allClusters", !rule->target);
    json_writer_bool(&x->out->facts, "empty", rule->empty);
    json_writer_open(&x->out->facts, "clusters", '[');
    for (size_t i = 0; i < clusters.count; i++) {
        const struct entry *cluster = clusters.entries[i];

        if (!entry_cluster(cluster) ||
            (rule->target &&
             !affinity_matches_cluster(rule->target, cluster->name, entry_cluster(cluster),
                                       engine_context_const(x->engine)->release.newest)))
            continue;
        json_writer_text(&x->out->facts, NULL, cluster->name);
        strbuf_addf(&names, "%s%s", names.len > 0 ? ", " : "", cluster->name);
    }
    json_writer_close(&x->out->facts, ']');
    if (!rule->target)
        explain_paragraph(x, "%s: all member clusters%s.", place, effect);
    else if (names.len > 0)
        explain_paragraph(x, "%s: %s%s.", place, names.data, effect);
    else
        explain_paragraph(x, "%s: the rule matches no Cluster that has been read%s.", place,
                          effect);
    explanation_close(x->out, '}');
}

static void explain_rules(struct explain_context *x, const struct entry *policy)
{
    const struct override *o = entry_override(policy);

    explain_open_section(x, "rules", "Member clusters by rule");
    explanation_open(x->out, "items", '[');
    for (uint32_t i = 0; i < o->rule_count; i++)
        explain_rule(x, o, i);
    explanation_close(x->out, ']');
    if (o->rule_count == 0)
        explain_paragraph(x, "The override policy has no rules and changes nothing.");
    explanation_close(x->out, '}');
}

static bool is_dependent_override(const struct store *store, const struct entry *policy,
                                  const struct entry *override)
{
    for (uint32_t i = 0; i < entry_policy(policy)->override_count; i++) {
        struct identity id = dependent_override_identity(policy, i);

        if (store_find(store, &id) == override)
            return true;
    }
    return false;
}

static void explain_dependent_policies(struct explain_context *x, const struct entry *override)
{
    CLEANUP(listing_release)
    struct listing all = listing_make(engine_store(x->engine), CLASS_POLICY);
    CLEANUP(strbuf_release) struct strbuf names = STRBUF_INIT(EXPLAIN_VALUE_MAX_BYTES);
    size_t count = 0, shown = 0;

    for (size_t i = 0; i < all.count; i++) {
        if (entry_policy(all.entries[i]) &&
            is_dependent_override(engine_store(x->engine), all.entries[i], override))
            all.entries[count++] = all.entries[i];
    }
    for (size_t i = 0; i < count; i++)
        add_name(&names, &shown, all.entries[i]);
    explain_open_section(x, "dependentPolicies", "Policies that depend on the override policy");
    put_objects(x, "policies", all.entries, count);
    explain_paragraph(x, "%zu polic%s in dependentOverrides%s", count,
                      count == 1 ? "y names it" : "ies name it", count > 0 ? ":" : ".");
    explain_names(x, &names, count);
    explanation_close(x->out, '}');
}

static bool work_lists_override(const struct work *w, const struct entry *override)
{
    bool cluster_wide = entry_is_cluster_scoped(override);
    const char *list = cluster_wide ? w->cluster_overrides : w->overrides;
    char name[OBJECT_NAME_MAX + 1];

    if (!cluster_wide && (!w->binding_ns || strcmp(w->binding_ns, entry_ns(override)) != 0))
        return false;
    while (list && work_take_next_override(&list, name)) {
        if (strcmp(name, override->name) == 0)
            return true;
    }
    return false;
}

static void explain_works(struct explain_context *x, const struct entry *override)
{
    CLEANUP(listing_release)
    struct listing all = listing_make(engine_store(x->engine), CLASS_WORK);
    CLEANUP(strbuf_release) struct strbuf names = STRBUF_INIT(EXPLAIN_VALUE_MAX_BYTES);
    size_t count = 0, shown = 0, known = 0;

    for (size_t i = 0; i < all.count; i++) {
        const struct work *w = entry_work(all.entries[i]);

        known += w != NULL;
        if (w && work_lists_override(w, override))
            all.entries[count++] = all.entries[i];
    }
    for (size_t i = 0; i < count; i++)
        add_name(&names, &shown, all.entries[i]);
    explain_open_section(x, "works", "Works with the override policy applied");
    json_writer_bool(&x->out->facts, "known", known > 0);
    put_objects(x, "items", all.entries, count);
    if (known == 0)
        explain_paragraph(x, "Unknown: no Works have been read (--karmada.works).");
    else
        explain_paragraph(x, "%zu Work%s name%s it%s", count, plural(count), count == 1 ? "s" : "",
                          count > 0 ? ":" : ".");
    explain_names(x, &names, count);
    explanation_close(x->out, '}');
}

void explain_override(struct explain_context *x, const struct entry *override)
{
    explain_admission(x, override);
    explain_selected_templates(x, override);
    explain_rules(x, override);
    explain_override_effects(x, override);
    explain_dependent_policies(x, override);
    explain_works(x, override);
}

/* ---- member clusters ---- */

/* Templates and replicas of a member cluster. */
struct cluster_load {
    size_t templates;
    int64_t replicas;
    size_t stages[STAGE_COUNT];
    size_t moving[MOVEMENT_COUNT]; /* Templates with replicas of this movement. */
    int64_t moved[MOVEMENT_COUNT];
};

static void add_template_load(const struct explain_context *x, const struct entry *template,
                              const char *cluster, struct cluster_load *out)
{
    const struct template_decision *d = template_decision(template);
    const struct binding *b = entry_binding(decision_binding(d));
    struct movement_walk walk = {0};
    struct cluster_movement move;

    if (d->target_count > 0) {
        CLEANUP(free_cleanup)
        struct target_cluster_stage *targets = list_target_stages(x->engine, template);

        for (uint32_t i = 0; i < d->target_count; i++) {
            if (strcmp(targets[i].cluster, cluster) != 0)
                continue;
            out->templates++;
            out->stages[targets[i].at.stage]++;
        }
    }
    for (uint32_t i = 0; b && i < b->cluster_count; i++)
        out->replicas += strcmp(b->clusters[i].name, cluster) == 0 ? b->clusters[i].replicas : 0;
    while (capacity_next_movement(decision_capacity(d), &walk, &move)) {
        for (unsigned i = 0; strcmp(move.cluster, cluster) == 0 && i < MOVEMENT_COUNT; i++) {
            out->moving[i] += move.replicas[i] > 0;
            out->moved[i] += move.replicas[i];
        }
    }
}

static void explain_condition(struct explain_context *x, const struct cluster *c)
{
    struct json_writer *w = &x->out->facts;
    char since[32] = "";

    explain_open_section(x, "condition", "Condition");
    json_writer_bool(w, "ready", c->ready);
    report_put_time(w, "readySince", c->ready_since_ms);
    json_writer_bool(w, "deleting", c->deleting);
    if (c->ready_since_ms > 0)
        format_timestamp(c->ready_since_ms, since);
    explain_paragraph(x, "%s%s%s.", c->ready ? "Ready" : "Not Ready", *since ? " since " : "",
                      since);
    if (c->deleting)
        explain_paragraph(x, "The Cluster is being deleted.");
    json_writer_open(w, "taints", '[');
    for (uint32_t i = 0; i < c->taint_count; i++) {
        const struct taint *t = &c->taints[i];

        json_writer_open(w, NULL, '{');
        json_writer_text(w, "key", t->key);
        json_writer_text(w, "value", t->value);
        json_writer_text(w, "effect", t->effect);
        json_writer_close(w, '}');
        explain_paragraph(x, "Taint %s%s%s:%s.", t->key, *t->value ? "=" : "", t->value, t->effect);
    }
    json_writer_close(w, ']');
    explanation_close(x->out, '}');
}

static void explain_load(struct explain_context *x, const char *cluster)
{
    CLEANUP(listing_release)
    struct listing all = listing_make(engine_store(x->engine), CLASS_TEMPLATE);
    struct cluster_load load = {.templates = 0};
    struct json_writer *w = &x->out->facts;

    for (size_t i = 0; i < all.count; i++) {
        if (template_decision(all.entries[i]))
            add_template_load(x, all.entries[i], cluster, &load);
    }
    explain_open_section(x, "templates", "Templates that are placed on the member cluster");
    json_writer_int(w, "placed", (int64_t)load.templates);
    json_writer_int(w, "healthy", (int64_t)load.stages[STAGE_HEALTHY]);
    json_writer_int(w, "replicas", load.replicas);
    explain_paragraph(x, "%zu template%s with %" PRId64 " replica%s, %zu of them healthy.",
                      load.templates, plural(load.templates), load.replicas,
                      load.replicas == 1 ? "" : "s", load.stages[STAGE_HEALTHY]);
    json_writer_open(w, "stages", '{');
    for (unsigned i = 0; i < STAGE_COUNT; i++) {
        if (load.stages[i] == 0)
            continue;
        json_writer_int(w, stage_names[i], (int64_t)load.stages[i]);
        if (i != STAGE_HEALTHY)
            explain_detail(x, "%s: %zu", stage_names[i], load.stages[i]);
    }
    json_writer_close(w, '}');
    json_writer_open(w, "movements", '{');
    for (unsigned i = 0; i < MOVEMENT_COUNT; i++) {
        json_writer_int(w, movement_names[i], load.moved[i]);
        if (load.moved[i] > 0 && i != MOVEMENT_STAYING)
            explain_paragraph(x, "%s: %" PRId64 " replica%s of %zu template%s.",
                              i == MOVEMENT_LEAVING    ? "Leaving"
                              : i == MOVEMENT_ARRIVING ? "Arriving"
                                                       : "Undetermined",
                              load.moved[i], load.moved[i] == 1 ? "" : "s", load.moving[i],
                              plural(load.moving[i]));
    }
    json_writer_close(w, '}');
    explanation_close(x->out, '}');
}

static void explain_resources(struct explain_context *x, const struct cluster *c)
{
    struct json_writer *w = &x->out->facts;

    explain_open_section(x, "capacity", "Capacity");
    json_writer_open(w, "resources", '[');
    for (uint32_t i = 0; i < c->resource_count; i++) {
        const struct cluster_resource *r = &c->resources[i];
        double free_amount = r->allocatable - r->allocated - r->allocating;

        json_writer_open(w, NULL, '{');
        json_writer_text(w, "resource", r->resource);
        json_writer_number(w, "allocatable", r->allocatable);
        json_writer_number(w, "free", free_amount);
        json_writer_close(w, '}');
        if (strcmp(r->resource, "memory") == 0)
            explain_paragraph(x, "memory: %.0f MiB of %.0f MiB are free.", free_amount / (1 << 20),
                              r->allocatable / (1 << 20));
        else
            explain_paragraph(x, "%s: %.10g of %.10g are free.", r->resource, free_amount,
                              r->allocatable);
    }
    json_writer_close(w, ']');
    if (c->resource_count == 0)
        explain_paragraph(x, "Unknown: the Cluster reports no resources.");
    explanation_close(x->out, '}');
}

void explain_cluster(struct explain_context *x, const struct entry *cluster)
{
    explain_condition(x, entry_cluster(cluster));
    explain_load(x, cluster->name);
    explain_cluster_verdicts(x, cluster);
    explain_resources(x, entry_cluster(cluster));
}

/* ---- namespaces ---- */

static int by_address(const void *a, const void *b)
{
    const uintptr_t x = (uintptr_t) * (const struct entry *const *)a;
    const uintptr_t y = (uintptr_t) * (const struct entry *const *)b;

    return (x > y) - (x < y);
}

/* A policy, and the number of templates that it governs. */
struct governing_policy {
    const struct entry *policy;
    size_t templates;
};

static int most_templates_first(const void *a, const void *b)
{
    const struct governing_policy *x = a, *y = b;

    if (x->templates != y->templates)
        return x->templates > y->templates ? -1 : 1;
    return entry_compare(x->policy, y->policy);
}

/* Adds the policies in `governing`, sorted by the number of their templates. Changes the array. */
static void explain_governing_policies(struct explain_context *x, const struct entry **governing,
                                       size_t count)
{
    CLEANUP(free_cleanup)
    struct governing_policy *policies = xcalloc(count + 1, sizeof(*policies));
    size_t policy_count = 0;

    if (count > 1)
        qsort(governing, count, sizeof(const struct entry *), by_address);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || governing[i] != governing[i - 1])
            policies[policy_count++].policy = governing[i];
        policies[policy_count - 1].templates++;
    }
    if (policy_count > 1)
        qsort(policies, policy_count, sizeof(*policies), most_templates_first);
    explain_open_section(x, "policies", "Policies that govern these templates");
    explanation_open(x->out, "items", '[');
    for (size_t i = 0; i < policy_count; i++) {
        explanation_open(x->out, NULL, '{');
        report_put_policy(&x->out->facts, "policy", policy_name_of(policies[i].policy));
        json_writer_int(&x->out->facts, "templates", (int64_t)policies[i].templates);
        if (i < NAMES_SHOWN)
            explain_paragraph(x, "%s: %zu template%s.", explain_name(x, policies[i].policy),
                              policies[i].templates, plural(policies[i].templates));
        explanation_close(x->out, '}');
    }
    explanation_close(x->out, ']');
    if (policy_count > NAMES_SHOWN)
        explain_paragraph(x, "And %zu more policies.", policy_count - NAMES_SHOWN);
    else if (policy_count == 0)
        explain_paragraph(x, "No policy governs a template of this namespace.");
    explanation_close(x->out, '}');
}

static size_t policies_in_namespace(const struct explain_context *x, const char *ns)
{
    CLEANUP(listing_release)
    struct listing all = listing_make(engine_store(x->engine), CLASS_POLICY);
    size_t count = 0;

    for (size_t i = 0; i < all.count; i++)
        count += entry_exists(all.entries[i]) && strcmp(entry_ns(all.entries[i]), ns) == 0;
    return count;
}

bool explain_namespace_contents(struct explain_context *x, const char *ns)
{
    CLEANUP(listing_release)
    struct listing all = listing_make(engine_store(x->engine), CLASS_TEMPLATE);
    CLEANUP(free_cleanup)
    const struct entry **governing = xcalloc(all.count + 1, sizeof(struct entry *));
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(EXPLAIN_VALUE_MAX_BYTES);
    size_t states[STATE_COUNT] = {0}, total = 0, governed = 0;

    for (size_t i = 0; i < all.count; i++) {
        const struct template_decision *d = template_decision(all.entries[i]);

        if (!d || strcmp(entry_ns(all.entries[i]), ns) != 0)
            continue;
        total++;
        states[d->state]++;
        if (decision_governing(d))
            governing[governed++] = decision_governing(d);
    }
    explain_open_section(x, "templates", "Templates");
    json_writer_int(&x->out->facts, "count", (int64_t)total);
    json_writer_open(&x->out->facts, "states", '{');
    for (unsigned i = 0; i < STATE_COUNT; i++) {
        json_writer_int(&x->out->facts, state_names[i], (int64_t)states[i]);
        if (states[i] > 0)
            strbuf_addf(&text, "%s%zu %s", text.len > 0 ? ", " : ": ", states[i], state_names[i]);
    }
    json_writer_close(&x->out->facts, '}');
    explain_paragraph(x, "%zu template%s%s.", total, plural(total), text.data);
    explanation_close(x->out, '}');
    explain_governing_policies(x, governing, governed);
    return explain_namespace_quotas(x, ns) + total + policies_in_namespace(x, ns) > 0;
}
