/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/run.h"

#include "tests/sim/checks.h"
#include "tests/sim/expected.h"
#include "tests/sim/grace.h"

enum {
    CALM_MS = 16 * 60 * 1000, /* Longer than any recovery without an audit (grace.c). */
    CALM_AFTER_MS = 90 * 1000,
    CALM_EVERY_MS = 10 * 1000,
    PAGE_EVERY_MS = 7 * 1000,
    OVERSIZE_BYTES = 9 << 20,
    STEPS_MAX = 1000 * 1000,
};

static const int64_t clock_start_ms = INT64_C(1767225600000); /* 2026-01-01T00:00:00Z */

int64_t run_clock_ms(const struct run *r)
{
    return clock_start_ms + r->now_ms;
}

void run_fail(struct run *r, const char *invariant, const char *fmt, ...)
{
    va_list args;

    if (r->verdict->invariant)
        return;
    r->verdict->invariant = invariant;
    r->verdict->at_ms = r->now_ms;
    va_start(args, fmt);
    vsnprintf(r->verdict->text, sizeof(r->verdict->text), fmt, args);
    va_end(args);
}

/* ---- writes and faults ---- */

static void apply_write(struct run *r, const struct write *w)
{
    if (!plan_has_kind(r->plan, slot_kind(w->slot)) || r->api.unserved[slot_kind(w->slot)])
        return;
    if (w->removes)
        etcd_remove(&r->api.etcd, w->slot, r->now_ms);
    else
        etcd_put(&r->api.etcd, w->slot, w->value, 0, r->now_ms);
}

static void set_served(struct run *r, const struct fault *f, bool served)
{
    for (unsigned kind = 0; kind < SIM_KIND_COUNT; kind++) {
        if (!(f->targets >> kind & 1))
            continue;
        for (unsigned place = 0; !served && place < SIM_PLACES; place++)
            etcd_remove(&r->api.etcd, kind * SIM_PLACES + place, r->now_ms);
        r->api.unserved[kind] = !served;
    }
}

/* Writes one object of each served kind of the fault, with `padding` bytes of filler. */
static void put_padded(struct run *r, const struct fault *f, uint32_t padding)
{
    for (unsigned kind = 0; kind < SIM_KIND_COUNT; kind++) {
        if ((f->targets >> kind & 1) && plan_has_kind(r->plan, kind) && !r->api.unserved[kind])
            etcd_put(&r->api.etcd, kind * SIM_PLACES + f->param % SIM_PLACES, f->param % SIM_VALUES,
                     padding, r->now_ms);
    }
}

/* Returns true if the store has the object and version of any change after the first `count`. */
static bool stores_change_since(const struct run *r, size_t count)
{
    for (size_t i = count; i < r->api.etcd.count; i++) {
        if (expected_knows(r, &r->api.etcd.log[i]))
            return true;
    }
    return false;
}

/*
 * Undoes up to half of the log. The watch caches have the restored state at once. Notes a restore
 * that only an audit may detect.
 */
static void restore_etcd(struct run *r, const struct fault *f)
{
    size_t back = r->api.etcd.count ? f->param % (r->api.etcd.count / 2 + 1) : 0;

    if (r->source && back > 0 && !stores_change_since(r, r->api.etcd.count - back)) {
        r->silent_ms = r->now_ms;
        r->verdict->silent++;
    }
    etcd_restore(&r->api.etcd, r->api.etcd.count - back, r->now_ms);
    for (unsigned i = 0; i < r->plan->servers; i++)
        r->api.servers[i].applied = r->api.etcd.count;
}

static void begin_fault(struct run *r, const struct fault *f)
{
    if (f->type == FAULT_UNSERVED)
        set_served(r, f, false);
    else if (f->type == FAULT_OVERSIZE)
        put_padded(r, f, OVERSIZE_BYTES);
    else if (f->type == FAULT_LAG)
        r->api.servers[f->param % r->plan->servers].lag_ms = 1000 + f->param / 8 % 60000;
    else if (f->type == FAULT_COMPACT)
        etcd_compact(&r->api.etcd, r->api.etcd.count - r->api.etcd.count * (f->param % 4) / 16);
    else if (f->type == FAULT_RESTORE)
        restore_etcd(r, f);
    wire_strike(&r->wire, f);
}

static void end_fault(struct run *r, const struct fault *f)
{
    if (f->type == FAULT_UNSERVED)
        set_served(r, f, true);
    else if (f->type == FAULT_OVERSIZE)
        put_padded(r, f, 0);
    else if (f->type == FAULT_LAG)
        r->api.servers[f->param % r->plan->servers].lag_ms = 0;
    wire_wake(&r->wire);
}

static int64_t fault_end_ms(const struct run *r, const struct fault *f)
{
    return f->until_ms < r->plan->storm_ms ? f->until_ms : r->plan->storm_ms;
}

static void apply_plan(struct run *r)
{
    const struct plan *p = r->plan;
    size_t before = r->api.etcd.count;

    for (size_t i = 0; i < p->fault_count; i++) {
        const struct fault *f = &p->faults[i];

        if (p->dropped[PLAN_WRITES_MAX + i] || f->from_ms >= p->storm_ms)
            continue;
        if (!r->begun[i] && r->now_ms >= f->from_ms) {
            r->begun[i] = true;
            begin_fault(r, f);
        }
        if (r->begun[i] && !r->ended[i] && r->now_ms >= fault_end_ms(r, f)) {
            r->ended[i] = true;
            end_fault(r, f);
        }
    }
    for (; r->next_write < p->write_count && p->writes[r->next_write].at_ms <= r->now_ms &&
           p->writes[r->next_write].at_ms < p->storm_ms;
         r->next_write++) {
        if (!p->dropped[r->next_write])
            apply_write(r, &p->writes[r->next_write]);
    }
    if (r->api.etcd.count != before)
        wire_wake(&r->wire);
}

static int64_t next_plan_ms(const struct run *r)
{
    const struct plan *p = r->plan;
    int64_t due = INT64_MAX;

    if (r->next_write < p->write_count && p->writes[r->next_write].at_ms < p->storm_ms)
        due = p->writes[r->next_write].at_ms;
    for (size_t i = 0; i < p->fault_count; i++) {
        const struct fault *f = &p->faults[i];
        int64_t next = !r->begun[i] ? f->from_ms : fault_end_ms(r, f);

        if (!p->dropped[PLAN_WRITES_MAX + i] && f->from_ms < p->storm_ms && !r->ended[i] &&
            next < due)
            due = next;
    }
    return due;
}

/* ---- turns ---- */

static void start_exporter(struct run *r)
{
    r->source = kube_source_new(&(struct kube_source_settings){
        .store = r->world.store,
        .engine = r->world.engine,
        .filter = &r->filter,
        .log = &r->log,
        .transport = wire_transport(&r->wire),
        .streaming_lists = r->plan->streaming_lists,
        .audit_interval_ms = RUN_AUDIT_INTERVAL_MS,
        .seed = r->plan->seed,
        .now_ms = r->now_ms,
        .clock_ms = run_clock_ms(r),
    });
}

static void take_turn(struct run *r)
{
    apply_plan(r);
    if (!r->source && r->now_ms >= PLAN_START_MS)
        start_exporter(r);
    wire_turn(&r->wire, r->now_ms);
    if (!r->source)
        return;
    kube_source_turn(r->source, r->now_ms, run_clock_ms(r));
    engine_run(r->world.engine, run_clock_ms(r), 1 + rng_below(&r->rng, 64));
    /* Long after the storm little changes: check less often. */
    bool calm = r->now_ms > r->plan->storm_ms + CALM_AFTER_MS;
    if (r->now_ms >= r->page_ms) {
        free(page_of(r->registry));
        if (!calm && rng_chance(&r->rng, 30))
            check_rows(r);
        r->page_ms = r->now_ms + (calm ? CALM_AFTER_MS : PAGE_EVERY_MS);
    }
    if (r->now_ms >= r->audit_ms) {
        check_audit(r);
        r->audit_ms = r->now_ms + (calm ? CALM_EVERY_MS : CHECK_EVERY_MS);
    }
}

static int64_t next_turn_ms(const struct run *r)
{
    int64_t due = r->audit_ms;

    if (wire_due(&r->wire) < due)
        due = wire_due(&r->wire);
    if (next_plan_ms(r) < due)
        due = next_plan_ms(r);
    if (r->source && kube_source_due(r->source) < due)
        due = kube_source_due(r->source);
    if (!r->source && PLAN_START_MS < due)
        due = PLAN_START_MS;
    return due > r->now_ms ? due : r->now_ms + 1;
}

static int64_t run_end_ms(const struct run *r)
{
    int64_t calm_ms = grace_of_calm(r) > CALM_MS ? grace_of_calm(r) : CALM_MS;

    return r->plan->storm_ms + calm_ms + CALM_EVERY_MS;
}

static void release_run(struct run *r)
{
    kube_source_free(r->source);
    if (r->wire.transfers)
        run_fail(r, "no transfer outlives the source", "a transfer is still open");
    wire_release(&r->wire);
    api_release(&r->api);
    registry_free(r->registry);
    world_release(&r->world);
}

void run_play(const struct plan *plan, bool noisy, struct verdict *out)
{
    struct run *r = xcalloc(1, sizeof(*r));

    *out = (struct verdict){.ready_ms = -1};
    *r = (struct run){
        .plan = plan,
        .log = {.level = noisy ? LOG_LEVEL_DEBUG : LOG_LEVEL_ERROR, .stream = stderr},
        .filter = {.total_shards = 1},
        .rng = rng_of(plan->seed, 4000),
        .audit_ms = PLAN_START_MS,
        .page_ms = PLAN_START_MS,
        .differed_ms = plan->storm_ms,
        .verdict = out,
    };
    grace_init(r);
    api_init(&r->api, plan);
    wire_init(&r->wire, &r->api, plan);
    r->wire.noisy = noisy;
    world_init(&r->world, &rules_options_default, (uint32_t)plan->seed);
    r->registry = page_registry(&r->world, &registry_options_default);
    for (; r->now_ms < run_end_ms(r) && !out->invariant; r->now_ms = next_turn_ms(r)) {
        take_turn(r);
        if (++out->steps > STEPS_MAX)
            run_fail(r, "the number of steps is bounded", "more than %d steps", STEPS_MAX);
    }
    check_end(r);
    out->hash = r->wire.hash;
    out->strikes = r->wire.strikes;
    out->requests = r->wire.next_id;
    out->virtual_ms = r->now_ms;
    out->converged_ms = r->differed_ms - plan->storm_ms;
    release_run(r);
    free(r);
}
