/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/evaluation.h"

static struct rules_options rules_of(const struct options *o)
{
    return (struct rules_options){
        .takeover = (enum takeover)o->takeover,
        .grace_ms = o->grace_ms,
        .skipped_namespaces = o->skipped_namespaces,
        .skipped_apis = o->skipped_apis,
    };
}

static bool open_manifests(struct evaluation *e, bool follow, struct error *err)
{
    e->manifests = manifests_new(e->store, (const char *const *)e->options.manifests.items,
                                 e->options.manifests.count, &manifest_limits_default);
    if (!follow)
        return true;
    e->changes_fd = manifests_watch(e->manifests, err);
    return e->changes_fd >= 0;
}

struct evaluation *evaluation_new(struct options *options, bool follow, uint64_t seed,
                                  struct error *err)
{
    struct evaluation *e = xcalloc(1, sizeof(*e));
    struct rules_options rules;

    e->options = *options;
    *options = (struct options){0};
    e->changes_fd = -1;
    rules = rules_of(&e->options);
    e->store = store_new(seed);
    e->engine = engine_new(e->store, &rules, seed, err);
    if (!e->engine || !open_manifests(e, follow, err)) {
        evaluation_free(e);
        return NULL;
    }
    e->series = series_new(e->engine,
                           &(struct series_options){.detail_limit = e->options.detail_limit,
                                                    .opt_in = e->options.opt_in},
                           seed);
    engine_observe(e->engine, (struct engine_observer){series_decided, e->series});
    return e;
}

void evaluation_free(struct evaluation *e)
{
    if (!e)
        return;
    manifests_free(e->manifests);
    series_free(e->series);
    engine_free(e->engine);
    store_free(e->store);
    options_release(&e->options);
    free(e);
}

bool evaluation_load(struct evaluation *e, struct error *err)
{
    e->settled = false;
    return manifests_load(e->manifests, err);
}

bool evaluation_settle(struct evaluation *e, int64_t now_ms, size_t budget)
{
    e->settled = engine_settle(e->engine, now_ms, budget);
    return e->settled;
}

bool evaluation_pump(struct evaluation *e, unsigned slice_ms)
{
    bool changed = manifests_pump(e->manifests, slice_ms);

    if (changed)
        e->settled = false;
    return changed;
}
