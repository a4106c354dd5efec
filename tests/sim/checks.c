/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/checks.h"

#include "tests/sim/expected.h"
#include "tests/sim/grace.h"

enum {
    FRESH_MS = 5 * 1000,
    READY_MS = 20 * 1000,
    SELECTED_MS = 10 * 1000, /* After a selector named a kind, its objects are there. */
    REQUESTS_A_SECOND = 12,
};

/* ---- freshness ---- */

/* Templates are read while a policy selects their kind, and was there for a while. */
static bool is_selected(const struct run *r, unsigned kind)
{
    if (grace_is_sick(r, SIM_POLICY) || grace_is_sick(r, SIM_CLUSTER_POLICY) ||
        grace_is_sick(r, SIM_DISCOVERY))
        return false;
    for (unsigned slot = 0; slot < (SIM_CLUSTER_POLICY + 1) * SIM_PLACES; slot++) {
        const struct cell *cell = &r->api.etcd.cells[slot];

        if (cell->exists && cell->padding == 0 && cell->written_ms <= r->now_ms - SELECTED_MS &&
            value_selects(cell->value, (enum sim_kind)kind, r->plan->template_kinds))
            return true;
    }
    return false;
}

/* True if the kind's objects should be in the store as they were a short while ago. */
static bool is_due(const struct run *r, unsigned kind)
{
    return plan_has_kind(r->plan, kind) && !r->api.unserved[kind] && !grace_is_sick(r, kind) &&
           r->now_ms >= PLAN_START_MS + FRESH_MS && (kind < SIM_TEMPLATE || is_selected(r, kind));
}

static void check_freshness(struct run *r)
{
    char difference[EXPECTED_DIFFERENCE_MAX];

    for (unsigned slot = 0; slot < SIM_SLOTS; slot++) {
        const struct cell *cell = &r->api.etcd.cells[slot];

        if (is_due(r, slot_kind(slot)) && cell->written_ms <= r->now_ms - FRESH_MS &&
            cell->padding == 0 && !expected_is(r, slot, difference)) {
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
        /* Of Events there are two watches, for a reason each. */
        unsigned limit = target == SIM_EVENT ? 2 * REQUESTS_A_SECOND : REQUESTS_A_SECOND;

        r->requests[target] = r->wire.requests[target];
        if (more > r->verdict->busiest)
            r->verdict->busiest = (unsigned)more;
        if (more > limit && target != SIM_DISCOVERY)
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
    char difference[EXPECTED_DIFFERENCE_MAX];

    for (unsigned slot = 0; slot < SIM_SLOTS; slot++) {
        if (plan_has_kind(r->plan, slot_kind(slot)) && !expected_is(r, slot, difference)) {
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
    if (r->now_ms < r->plan->storm_ms)
        check_freshness(r);
    else
        note_convergence(r);
}

/* Rows that are shown rest on kinds that have been read, and on nothing else. */
void check_rows(struct run *r)
{
    char ignored[EXPECTED_DIFFERENCE_MAX];

    if (!kube_source_ready(r->source))
        return;
    for (unsigned slot = 0; slot < SIM_SLOTS; slot++) {
        unsigned kind = slot_kind(slot);

        if (plan_has_kind(r->plan, kind) && !expected_is_missing(r, kind) &&
            (!expected_is(r, slot, ignored) || r->api.etcd.cells[slot].padding > 0))
            return; /* A change is under way, or cannot be read. */
    }
    expected_page(r, "no row rests on what was never read");
}

void check_end(struct run *r)
{
    CLEANUP(free_cleanup) char *page = NULL;

    world_run(&r->world, run_clock_ms(r));
    page = page_of(r->registry);
    wire_hash_page(&r->wire, page);
    expected_page(r, "the page is a fresh one's");
}
