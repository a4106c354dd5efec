/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/expected.h"

#include "metrics/model/binding.h"
#include "metrics/model/cluster.h"
#include "metrics/model/policy.h"
#include "metrics/model/store.h"
#include "metrics/model/template.h"
#include "tests/sim/transfer.h"

/* ---- store ---- */

static struct entry *find_entry(const struct store *store, unsigned slot)
{
    const struct sim_kind_row *row = &sim_kinds[slot_kind(slot)];
    char name[48];

    return store_find(store, &(struct identity){row->api_version, row->kind, slot_ns(slot),
                                                slot_name(slot, name)});
}

static bool has_value_label(const struct labels *labels, uint32_t value)
{
    char text[16];

    snprintf(text, sizeof(text), "%u", value);
    for (uint32_t i = 0; i < labels->count; i++) {
        const struct label label = labels_at(labels, i);

        if (strcmp(label.key, "v") == 0)
            return strcmp(label.value, text) == 0;
    }
    return false;
}

/* Returns true if the stored object has the value, or is of a class that stores no value. */
static bool has_value(const struct entry *entry, unsigned slot, uint32_t value)
{
    char region[16];
    struct labels labels;

    switch ((int)entry_class(entry)) {
    case CLASS_POLICY:
        return entry_policy(entry)->priority == (int32_t)value;
    case CLASS_BINDING:
        return entry_binding(entry)->replicas == (int32_t)value;
    case CLASS_TEMPLATE:
        labels = template_labels(entry_template(entry));
        return slot_kind(slot) >= SIM_TEMPLATE && has_value_label(&labels, value);
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

bool expected_is(const struct run *r, unsigned slot, char difference[EXPECTED_DIFFERENCE_MAX])
{
    const struct cell *cell = &r->api.etcd.cells[slot];
    const struct entry *entry = find_entry(r->world.store, slot);
    bool there = entry && entry_exists(entry), kept = is_kept(r, slot);
    char name[48];

    if (there == kept && (!there || has_value(entry, slot, cell->value)))
        return true;
    snprintf(difference, EXPECTED_DIFFERENCE_MAX,
             "%s %s/%s, written at %.3f s with value %u, is %s",
             sim_kinds[slot_kind(slot)].resource, slot_ns(slot), slot_name(slot, name),
             (double)cell->written_ms / 1000, cell->value,
             !there  ? "not there"
             : !kept ? "still there"
                     : "an old one");
    return false;
}

bool expected_knows(const struct run *r, const struct change *c)
{
    const struct entry *entry = find_entry(r->world.store, c->slot);
    char version[24];

    snprintf(version, sizeof(version), "%" PRIu64, c->version);
    return entry && entry_exists(entry) && entry->version == short_version_of_text(version);
}

bool expected_has_endless(const struct run *r, unsigned kind)
{
    const struct sim_kind_row *row = &sim_kinds[kind];
    const struct entry *entry = store_find(
        r->world.store, &(struct identity){row->api_version, row->kind, "", ENDLESS_NAME});

    return entry && entry_exists(entry);
}

bool expected_is_missing(const struct run *r, unsigned kind)
{
    for (size_t i = 0; i < kube_source_missing_kind_count(r->source); i++) {
        const struct missing_kind *missing = kube_source_missing_kind(r->source, i);

        if (strcmp(missing->kind, sim_kinds[kind].kind) == 0 &&
            strcmp(missing->api_version, sim_kinds[kind].api_version) == 0)
            return true;
    }
    return false;
}

/* ---- page ---- */

static enum api_version_answer find_api_version(const void *context, const char *api_version,
                                                const char *kind)
{
    const struct run *r = context;

    for (unsigned i = 0; i < SIM_KIND_COUNT; i++) {
        if (plan_has_kind(r->plan, i) && !r->api.unserved[i] &&
            strcmp(sim_kinds[i].api_version, api_version) == 0 &&
            strcmp(sim_kinds[i].kind, kind) == 0)
            return API_VERSION_WATCHED;
    }
    return API_VERSION_UNKNOWN;
}

static void put_object(const struct run *r, struct world *world, unsigned slot)
{
    CLEANUP(strbuf_release) struct strbuf json = STRBUF_INIT(1 << 16);

    object_write(slot, &r->api.etcd.cells[slot], r->plan->template_kinds, false, &json);
    world_put_text(world, json.data);
}

/* Returns the page of a fresh exporter with the servers' objects of all kinds that were read. */
static char *build_fresh_page(const struct run *r)
{
    struct world fresh;

    world_init(&fresh, &rules_options_default, 99);
    struct registry *registry = page_registry(&fresh, &registry_options_default);
    engine_set_api_version_source(
        fresh.engine, (struct api_version_source){.judge = find_api_version, .context = r});
    for (unsigned slot = SIM_SLOTS; slot-- > 0;) {
        unsigned kind = slot_kind(slot);

        if (expected_is_missing(r, kind))
            engine_set_incomplete(fresh.engine, sim_kinds[kind].api_version, sim_kinds[kind].kind,
                                  true);
        else if (plan_has_kind(r->plan, kind) && is_kept(r, slot))
            put_object(r, &fresh, slot);
    }
    world_inherit(&fresh, &r->world);
    world_run(&fresh, run_clock_ms(r));
    char *page = page_of(registry);
    registry_free(registry);
    world_release(&fresh);
    return page;
}

void expected_page(struct run *r, const char *invariant)
{
    if (r->verdict->invariant)
        return;
    world_run(&r->world, run_clock_ms(r));
    r->verdict->pages++;
    r->verdict->partial += kube_source_missing_kind_count(r->source) > 0;

    CLEANUP(free_cleanup) char *page = page_of(r->registry);
    CLEANUP(free_cleanup) char *fresh = build_fresh_page(r);
    const char *is = page, *should = fresh;

    page_drop_history(page);
    page_drop_history(fresh);
    if (strcmp(page, fresh) == 0)
        return;
    while (*is == *should)
        is++, should++;
    while (is > page && is[-1] != '\n')
        is--, should--;
    run_fail(r, invariant, "%.*s, should be %.*s", (int)strcspn(is, "\n"), is,
             (int)strcspn(should, "\n"), should);
}
