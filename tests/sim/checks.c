/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/checks.h"

#include "tests/sim/expected.h"
#include "tests/sim/grace.h"

enum {
    FRESH_MS = 5 * 1000,
    READY_MS = 20 * 1000,
    SELECTED_MS = 10 * 1000, /* Time until the store has the objects of a newly selected kind. */
    REQUESTS_A_SECOND = 12,
};

/* ---- freshness ---- */

/*
 * Returns true if a policy of ordinary size that was written at least SELECTED_MS ago selects the
 * kind. Returns false while policies or discovery suffer from faults.
 */
static bool is_selected_for_long(const struct run *r, unsigned kind)
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

/* Returns true if the store must have the kind's objects as they were FRESH_MS ago. */
static bool must_be_fresh(const struct run *r, unsigned kind)
{
    return plan_has_kind(r->plan, kind) && !r->api.unserved[kind] && !grace_is_sick(r, kind) &&
           r->now_ms >= PLAN_START_MS + FRESH_MS &&
           (kind < SIM_TEMPLATE || is_selected_for_long(r, kind));
}

static void check_freshness(struct run *r)
{
    char difference[EXPECTED_DIFFERENCE_MAX];

    for (unsigned slot = 0; slot < SIM_SLOTS; slot++) {
        const struct cell *cell = &r->api.etcd.cells[slot];

        if (must_be_fresh(r, slot_kind(slot)) && cell->written_ms <= r->now_ms - FRESH_MS &&
            cell->padding == 0 && !expected_is(r, slot, difference)) {
            run_fail(r, "kinds without faults are fresh", "%s", difference);
            return;
        }
    }
}

/* ---- requests, readiness, convergence, rows ---- */

static void check_requests(struct run *r)
{
    for (unsigned target = 0; target < SIM_TARGET_COUNT; target++) {
        uint64_t more = r->wire.requests[target] - r->requests[target];
        /* The exporter has two watches of Events, with one reason each. */
        unsigned limit = target == SIM_EVENT ? 2 * REQUESTS_A_SECOND : REQUESTS_A_SECOND;

        r->requests[target] = r->wire.requests[target];
        if (more > r->verdict->busiest)
            r->verdict->busiest = (unsigned)more;
        if (more > limit && target != SIM_DISCOVERY)
            run_fail(r, "retries are bounded", "%" PRIu64 " requests for %s in a second", more,
                     sim_kinds[target].resource);
    }
    if (r->wire.watches_max > 1)
        run_fail(r, "one watch per kind", "%u at a time", r->wire.watches_max);
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
        run_fail(r, "the source is ready in time", "policies and bindings had no faults");
}

/* If the store differs from the servers, notes the time, and fails if the grace is over. */
static void note_convergence(struct run *r)
{
    char difference[EXPECTED_DIFFERENCE_MAX];

    for (unsigned slot = 0; slot < SIM_SLOTS; slot++) {
        if (plan_has_kind(r->plan, slot_kind(slot)) && !expected_is(r, slot, difference)) {
            r->differed_ms = r->now_ms;
            if (r->now_ms > r->plan->storm_ms + grace_of_calm(r))
                run_fail(r, "the store converges after the storm", "%s", difference);
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

void check_rows(struct run *r)
{
    char ignored[EXPECTED_DIFFERENCE_MAX];

    if (!kube_source_ready(r->source))
        return;
    for (unsigned slot = 0; slot < SIM_SLOTS; slot++) {
        unsigned kind = slot_kind(slot);

        if (plan_has_kind(r->plan, kind) && !expected_is_missing(r, kind) &&
            (!expected_is(r, slot, ignored) || r->api.etcd.cells[slot].padding > 0))
            return; /* The store lacks a change, or the object is too large to be read. */
    }
    for (unsigned kind = 0; kind < SIM_KIND_COUNT; kind++) {
        if (plan_has_kind(r->plan, kind) && !expected_is_missing(r, kind) &&
            expected_has_endless(r, kind))
            return;
    }
    expected_page(r, "no row depends on an unread kind");
}

void check_end(struct run *r)
{
    CLEANUP(free_cleanup) char *page = NULL;

    world_run(&r->world, run_clock_ms(r));
    page = page_of(r->registry);
    wire_hash_page(&r->wire, page);
    expected_page(r, "the last page equals a fresh one");
}
