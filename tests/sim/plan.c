/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/plan.h"

#include "tests/sim/rng.h"

const char *const fault_names[FAULT_COUNT] = {
    [FAULT_HANG] = "hang",           [FAULT_SILENT] = "silent",
    [FAULT_DRIP] = "drip",           [FAULT_CUT] = "cut",
    [FAULT_RESET] = "reset",         [FAULT_REFUSE] = "refuse",
    [FAULT_EVENT] = "error event",   [FAULT_REPLAY] = "replay",
    [FAULT_ENDLESS] = "endless",     [FAULT_GARBAGE] = "garbage",
    [FAULT_DEAF] = "deaf",           [FAULT_FORBIDDEN] = "forbidden",
    [FAULT_UNSERVED] = "unserved",   [FAULT_STALE] = "stale",
    [FAULT_OVERSIZE] = "oversize",   [FAULT_LOSS] = "loss",
    [FAULT_GOAWAY] = "goaway",       [FAULT_UNREACHABLE] = "unreachable",
    [FAULT_BLACKHOLE] = "blackhole", [FAULT_LAG] = "lag",
    [FAULT_COMPACT] = "compact",     [FAULT_RESTORE] = "restore",
    [FAULT_PAGES] = "pages",
};

enum {
    STREAM_WORLD,
    STREAM_WRITES = 1000,
    STREAM_FAULTS = 2000,
    STORM_MIN_MS = 20 * 1000,
    STORM_MAX_MS = 150 * 1000,
    INITIAL_WRITES_MIN = 30,
};

/* Every decision depends on these kinds, so draw_targets() mostly spares them. */
enum {
    BASIS = 1 << SIM_POLICY | 1 << SIM_CLUSTER_POLICY | 1 << SIM_BINDING | 1 << SIM_CLUSTER_BINDING
};

static void draw_world(struct plan *p)
{
    struct rng r = rng_of(p->seed, STREAM_WORLD);

    p->template_kinds = 3 + rng_below(&r, SIM_TEMPLATE_KINDS - 2);
    p->storm_ms = PLAN_START_MS + rng_between(&r, STORM_MIN_MS, STORM_MAX_MS);
    p->servers = 1 + rng_below(&r, PLAN_SERVERS_MAX);
    p->streaming_lists = rng_chance(&r, 60);
    p->paginates = rng_chance(&r, 40);
    p->kind_versions = rng_chance(&r, 50);
    p->reordering = rng_chance(&r, 50);
    p->write_count = 60 + rng_below(&r, PLAN_WRITES_MAX - 60);
    p->fault_count = rng_below(&r, 10) == 0 ? 0 : 1 + rng_below(&r, 10);

    unsigned refused = rng_below(&r, 3), silent = rng_below(&r, 3);
    for (unsigned kind = 0; kind < SIM_KIND_COUNT; kind++) {
        /* All, some or no kinds refuse: aggregated API servers differ from kube-apiserver. */
        p->initial[kind] = refused == 0 || (refused == 1 && rng_chance(&r, 20)) ? INITIAL_REFUSED
                           : rng_chance(&r, 8) ? INITIAL_WITHOUT_END
                                               : INITIAL_SENT;
        p->bookmarks[kind] = silent > 0 || rng_chance(&r, 70);
    }
}

static struct write draw_write(const struct plan *p, size_t number)
{
    struct rng r = rng_of(p->seed, STREAM_WRITES + number);
    /* Most objects are templates. */
    unsigned kind = rng_chance(&r, 45) ? rng_below(&r, SIM_TEMPLATE)
                                       : SIM_TEMPLATE + rng_below(&r, p->template_kinds);
    bool initial = number < INITIAL_WRITES_MIN || rng_chance(&r, 20);

    return (struct write){
        .at_ms = initial ? 0 : rng_between(&r, 0, p->storm_ms - 1),
        .slot = kind * SIM_PLACES + rng_below(&r, SIM_PLACES),
        .value = rng_below(&r, SIM_VALUES),
        .removes = rng_chance(&r, initial ? 0 : 30),
    };
}

static uint32_t draw_targets(struct rng *r)
{
    uint32_t targets = 0, all = (1U << SIM_KIND_COUNT) - 1;
    unsigned percent = rng_chance(r, 50) ? 15 : 60;

    if (rng_chance(r, 5))
        return all;
    for (unsigned kind = 0; kind < SIM_TARGET_COUNT; kind++)
        targets |= (uint32_t)rng_chance(r, percent) << kind;
    if (rng_chance(r, 60))
        targets &= ~(uint32_t)(BASIS | 1 << SIM_DISCOVERY);
    return targets;
}

static struct fault draw_fault(const struct plan *p, size_t number)
{
    static const uint32_t crds = 1 << SIM_FOO | 1 << SIM_ZONE | 1 << SIM_BAR;
    struct rng r = rng_of(p->seed, STREAM_FAULTS + number);
    /* Three of four faults are of some kinds, the others of all. */
    struct fault f = {
        .type = rng_chance(&r, 75)
                    ? (enum fault_type)rng_below(&r, FAULT_KIND_COUNT)
                    : (enum fault_type)(FAULT_KIND_COUNT +
                                        rng_below(&r, FAULT_COUNT - FAULT_KIND_COUNT)),
        .targets = draw_targets(&r),
        .percent = rng_chance(&r, 60) ? 100 : 10 + rng_below(&r, 80),
    };
    bool from_start = rng_chance(&r, 40);

    f.from_ms = from_start ? 0 : rng_between(&r, 0, p->storm_ms - 1000);
    f.until_ms = rng_between(&r, f.from_ms + 500, p->storm_ms);
    f.param = rng_below(&r, 1 << 30);
    if (f.type >= FAULT_KIND_COUNT)
        f.targets = UINT32_MAX;
    if (f.type == FAULT_UNSERVED)
        f.targets &= crds;
    if (f.type == FAULT_STALE)
        f.targets = crds | 1 << SIM_DISCOVERY;
    if (f.type == FAULT_OVERSIZE && !rng_chance(&r, 15))
        f.type = FAULT_GARBAGE; /* Each object takes 9 MiB: keep them rare. */
    if (f.type == FAULT_RESTORE || f.type == FAULT_LOSS || f.type == FAULT_GOAWAY ||
        f.type == FAULT_COMPACT)
        f.until_ms = f.from_ms;
    return f;
}

static int compare_write_times(const void *a, const void *b)
{
    const struct write *x = a, *y = b;

    return (x->at_ms > y->at_ms) - (x->at_ms < y->at_ms);
}

void plan_init(struct plan *p, uint64_t seed)
{
    *p = (struct plan){.seed = seed};
    draw_world(p);
    for (size_t i = 0; i < p->write_count; i++)
        p->writes[i] = draw_write(p, i);
    qsort(p->writes, p->write_count, sizeof(p->writes[0]), compare_write_times);
    for (size_t i = 0; i < p->fault_count; i++)
        p->faults[i] = draw_fault(p, i);
}

const struct fault *plan_fault(const struct plan *p, enum fault_type type, unsigned target,
                               int64_t now_ms)
{
    for (size_t i = 0; i < p->fault_count; i++) {
        const struct fault *f = &p->faults[i];

        if (f->type == type && (f->targets >> target & 1) && now_ms >= f->from_ms &&
            now_ms < f->until_ms && now_ms < p->storm_ms && !p->dropped[PLAN_WRITES_MAX + i])
            return f;
    }
    return NULL;
}

/* ---- options and description ---- */

bool plan_keep(struct plan *p, const char *text)
{
    memset(p->dropped, true, sizeof(p->dropped));
    while (*text) {
        int used = 0;
        unsigned from, to;

        if (sscanf(text, "%u-%u%n", &from, &to, &used) != 2) {
            if (sscanf(text, "%u%n", &from, &used) != 1)
                return false;
            to = from;
        }
        if (from > to || to >= ARRAY_LEN(p->dropped))
            return false;
        for (unsigned i = from; i <= to; i++)
            p->dropped[i] = false;
        text += used;
        text += *text == ',';
    }
    return true;
}

static void write_kept(const struct plan *p, struct strbuf *out)
{
    const char *separator = "";

    strbuf_adds(out, " --keep=");
    for (size_t from = 0, to; from < ARRAY_LEN(p->dropped); from = to + 1) {
        to = from;
        if (p->dropped[from])
            continue;
        while (to + 1 < ARRAY_LEN(p->dropped) && !p->dropped[to + 1])
            to++;
        strbuf_addf(out, to > from ? "%s%zu-%zu" : "%s%zu", separator, from, to);
        separator = ",";
    }
}

void plan_write_options(const struct plan *p, struct strbuf *out)
{
    struct plan whole;
    bool dropped = false;

    plan_init(&whole, p->seed);
    strbuf_addf(out, "--seed=%" PRIu64, p->seed);
    if (p->template_kinds != whole.template_kinds)
        strbuf_addf(out, " --kinds=%u", p->template_kinds);
    if (p->storm_ms != whole.storm_ms)
        strbuf_addf(out, " --storm-ms=%" PRId64, p->storm_ms);
    for (size_t i = 0; i < ARRAY_LEN(p->dropped); i++)
        dropped = dropped || p->dropped[i];
    if (dropped)
        write_kept(p, out);
}

static void describe_fault(const struct plan *p, const struct fault *f, struct strbuf *out)
{
    strbuf_addf(out, "  %9.3f-%.3f s %s, %u %%, param %u:", (double)f->from_ms / 1000,
                (double)f->until_ms / 1000, fault_names[f->type], f->percent, f->param);
    for (unsigned kind = 0; kind < SIM_KIND_COUNT && f->type < FAULT_KIND_COUNT; kind++) {
        if ((f->targets >> kind & 1) && plan_has_kind(p, kind))
            strbuf_addf(out, " %s", sim_kinds[kind].resource);
    }
    if (f->type < FAULT_KIND_COUNT && (f->targets >> SIM_DISCOVERY & 1))
        strbuf_adds(out, " discovery");
    strbuf_adds(out, "\n");
}

void plan_describe(const struct plan *p, struct strbuf *out)
{
    char name[48];

    strbuf_addf(out,
                "  %u kinds of templates, %u servers, storm until %.3f s; streaming lists %d, "
                "pages %d, versions of kinds %d, reordering %d\n",
                p->template_kinds, p->servers, (double)p->storm_ms / 1000, p->streaming_lists,
                p->paginates, p->kind_versions, p->reordering);
    for (size_t i = 0; i < p->write_count; i++) {
        const struct write *w = &p->writes[i];

        if (!p->dropped[i] && plan_has_kind(p, slot_kind(w->slot)))
            strbuf_addf(out, "  %9.3f s %s %s %s/%s %u\n", (double)w->at_ms / 1000,
                        w->removes ? "remove" : "put", sim_kinds[slot_kind(w->slot)].resource,
                        slot_ns(w->slot), slot_name(w->slot, name), w->value);
    }
    for (size_t i = 0; i < p->fault_count; i++) {
        if (!p->dropped[PLAN_WRITES_MAX + i])
            describe_fault(p, &p->faults[i], out);
    }
}
