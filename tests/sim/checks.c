/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/checks.h"

#include "metrics/model/binding.h"
#include "metrics/model/cluster.h"
#include "metrics/model/object.h"
#include "metrics/model/policy.h"
#include "metrics/model/template.h"
#include "tests/sim/grace.h"

enum {
    FRESH_MS = 5 * 1000,
    READY_MS = 20 * 1000,
    SELECTED_MS = 5 * 1000, /* After a selector named a kind, its objects are there. */
    REQUESTS_A_SECOND = 12,
    DIFFERENCE_MAX = 300,
};

/* ---- what the store has, and should have ---- */

static struct entry *find(const struct store *store, unsigned slot)
{
    const struct sim_kind_row *row = &sim_kinds[slot_kind(slot)];
    char name[48];

    return store_find(store, &(struct identity){row->api_version, row->kind, slot_ns(slot),
                                                slot_name(slot, name)});
}

static bool label_is(const struct labels *labels, uint32_t value)
{
    char text[16];

    snprintf(text, sizeof(text), "%u", value);
    for (uint32_t i = 0; i < labels->count; i++) {
        if (strcmp(labels->items[i].key, "v") == 0)
            return strcmp(labels->items[i].value, text) == 0;
    }
    return false;
}

/* Does the store's object have the value? Of some kinds no value is kept. */
static bool has_value(const struct entry *entry, unsigned slot, uint32_t value)
{
    char region[16];

    switch ((int)entry_class(entry)) {
    case CLASS_POLICY:
        return entry_policy(entry)->priority == (int32_t)value;
    case CLASS_BINDING:
        return entry_binding(entry)->replicas == (int32_t)value;
    case CLASS_TEMPLATE:
        return slot_kind(slot) >= SIM_TEMPLATE && label_is(&entry_template(entry)->labels, value);
    case CLASS_CLUSTER:
        snprintf(region, sizeof(region), "r%u", value);
        return strcmp(entry_cluster(entry)->region, region) == 0;
    default:
        return true;
    }
}

static bool is_selected(const struct run *r, unsigned kind)
{
    for (unsigned slot = 0; slot < (SIM_CLUSTER_POLICY + 1) * SIM_PLACES; slot++) {
        if (r->api.etcd.cells[slot].exists &&
            value_selects(r->api.etcd.cells[slot].value, (enum sim_kind)kind,
                          r->plan->template_kinds))
            return true;
    }
    return false;
}

static bool is_bound(const struct run *r, unsigned slot)
{
    for (unsigned other = SIM_BINDING * SIM_PLACES; other < SIM_OVERRIDE * SIM_PLACES; other++) {
        if (r->api.etcd.cells[other].exists && slot_bound(other) == slot)
            return true;
    }
    return false;
}

static bool is_kept(const struct run *r, unsigned slot)
{
    unsigned kind = slot_kind(slot);

    return r->api.etcd.cells[slot].exists &&
           (kind < SIM_TEMPLATE || is_selected(r, kind) || is_bound(r, slot));
}

/* True if the store has of this place what it should have; else what differs. */
static bool is_right(const struct run *r, unsigned slot, char difference[DIFFERENCE_MAX])
{
    const struct cell *cell = &r->api.etcd.cells[slot];
    const struct entry *entry = find(r->world.store, slot);
    bool there = entry && entry_exists(entry), kept = is_kept(r, slot);
    char name[48];

    if (there == kept && (!there || has_value(entry, slot, cell->value)))
        return true;
    snprintf(difference, DIFFERENCE_MAX, "%s %s/%s, written at %.3f s with value %u, is %s",
             sim_kinds[slot_kind(slot)].resource, slot_ns(slot), slot_name(slot, name),
             (double)cell->written_ms / 1000, cell->value,
             !there  ? "not there"
             : !kept ? "still there"
                     : "an old one");
    return false;
}

/* ---- freshness ---- */

static void note_selected(struct run *r)
{
    for (unsigned kind = SIM_TEMPLATE; kind < SIM_KIND_COUNT; kind++) {
        bool certain = !grace_is_sick(r, SIM_POLICY) && !grace_is_sick(r, SIM_CLUSTER_POLICY) &&
                       !grace_is_sick(r, SIM_DISCOVERY);

        if (!certain || !is_selected(r, kind))
            r->selected_ms[kind] = INT64_MAX;
        else if (r->selected_ms[kind] == INT64_MAX)
            r->selected_ms[kind] = r->now_ms;
    }
}

/* True if the kind's objects should be in the store as they were a short while ago. */
static bool is_due(const struct run *r, unsigned kind)
{
    if (!plan_has_kind(r->plan, kind) || r->api.unserved[kind] || grace_is_sick(r, kind) ||
        r->now_ms < PLAN_START_MS + FRESH_MS)
        return false;
    return kind < SIM_TEMPLATE || r->selected_ms[kind] <= r->now_ms - SELECTED_MS;
}

static void check_freshness(struct run *r)
{
    char difference[DIFFERENCE_MAX];


    for (unsigned slot = 0; slot < SIM_SLOTS; slot++) {
        const struct cell *cell = &r->api.etcd.cells[slot];

        if (is_due(r, slot_kind(slot)) && cell->written_ms <= r->now_ms - FRESH_MS &&
            cell->padding == 0 && !is_right(r, slot, difference)) {
            run_fail(r, "what is well is fresh", "%s", difference);
            return;
        }
    }
}

/* ---- the others ---- */

static void check_requests(struct run *r)
{
    for (unsigned target = 0; target < SIM_TARGET_COUNT; target++) {
        uint64_t more = r->wire.requests[target] - r->requests[target];

        r->requests[target] = r->wire.requests[target];
        if (more > r->verdict->busiest)
            r->verdict->busiest = (unsigned)more;
        if (more > REQUESTS_A_SECOND && target != SIM_DISCOVERY)
            run_fail(r, "retries are bounded", "%" PRIu64 " requests for %s in a second", more,
                     sim_kinds[target].resource);
    }
    if (r->wire.watches_max > 1)
        run_fail(r, "one watch a kind", "%u at a time", r->wire.watches_max);
}

static void check_ready(struct run *r)
{
    static const unsigned basis[] = {SIM_POLICY, SIM_CLUSTER_POLICY, SIM_BINDING,
                                     SIM_CLUSTER_BINDING};
    bool well = true;

    if (kube_source_ready(r->source)) {
        if (r->verdict->ready_ms < 0)
            r->verdict->ready_ms = r->now_ms - PLAN_START_MS;
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(basis); i++)
        well = well && !grace_was_struck(r, basis[i]);
    if (well && r->now_ms > PLAN_START_MS + READY_MS + CHECK_EVERY_MS)
        run_fail(r, "it is ready in time", "policies and bindings were well");
}

/* After the storm: is everything as it should be, and since when? */
static void note_convergence(struct run *r)
{
    char difference[DIFFERENCE_MAX];

    for (unsigned slot = 0; slot < SIM_SLOTS; slot++) {
        if (plan_has_kind(r->plan, slot_kind(slot)) && !is_right(r, slot, difference)) {
            r->differed_ms = r->now_ms;
            if (r->now_ms > r->plan->storm_ms + grace_of_calm(r))
                run_fail(r, "calm comes to an end", "%s", difference);
            return;
        }
    }
}

void check_audit(struct run *r)
{
    if (r->now_ms < PLAN_START_MS)
        return;
    check_ready(r);
    check_requests(r);
    note_selected(r);
    if (r->now_ms < r->plan->storm_ms)
        check_freshness(r);
    else
        note_convergence(r);
}

/* ---- the page ---- */

static enum version_answer judge(const void *context, const char *api_version, const char *kind)
{
    const struct run *r = context;

    for (unsigned i = 0; i < SIM_KIND_COUNT; i++) {
        if (plan_has_kind(r->plan, i) && !r->api.unserved[i] &&
            strcmp(sim_kinds[i].api_version, api_version) == 0 &&
            strcmp(sim_kinds[i].kind, kind) == 0)
            return VERSION_WATCHED;
    }
    return VERSION_UNKNOWN;
}

static void put(const struct run *r, struct world *world, unsigned slot)
{
    CLEANUP(strbuf_release) struct strbuf json = STRBUF_INIT(1 << 16);

    object_write(slot, &r->api.etcd.cells[slot], r->plan->template_kinds, false, &json);
    world_put_text(world, json.data);
}

static char *fresh_page(const struct run *r)
{
    struct world fresh;

    world_init(&fresh, &rules_options_default, 99);
    struct registry *registry = page_registry(&fresh, &registry_options_default);
    engine_judge_versions(fresh.engine, (struct version_judge){judge, r});
    for (unsigned slot = SIM_SLOTS; slot-- > 0;) {
        if (plan_has_kind(r->plan, slot_kind(slot)) && is_kept(r, slot))
            put(r, &fresh, slot);
    }
    world_inherit(&fresh, &r->world);
    world_run(&fresh, run_clock_ms(r));
    char *page = page_of(registry);
    registry_free(registry);
    world_release(&fresh);
    return page;
}

void check_end(struct run *r)
{
    world_run(&r->world, run_clock_ms(r));

    CLEANUP(free_cleanup) char *page = page_of(r->registry);
    const char *is = page, *should;

    wire_hash_page(&r->wire, page);
    if (r->verdict->invariant)
        return;

    CLEANUP(free_cleanup) char *fresh = fresh_page(r);
    should = fresh;
    page_drop_history(page);
    page_drop_history(fresh);
    if (strcmp(page, fresh) == 0)
        return;
    while (*is == *should)
        is++, should++;
    while (is > page && is[-1] != '\n')
        is--, should--;
    run_fail(r, "the page is a fresh one's", "%.*s, should be %.*s", (int)strcspn(is, "\n"), is,
             (int)strcspn(should, "\n"), should);
}
