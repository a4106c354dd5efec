/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/generated_world.h"

enum { OBJECT_MAX = 1 << 16 };

void world_init(struct world *w, int64_t now_ms)
{
    struct error err;

    w->store = store_new(1);
    w->engine = engine_new(w->store, &rules_options_default, 1, &err);
    w->registry = registry_new(w->engine, &registry_options_default, 1);
    w->text = STRBUF_INIT(OBJECT_MAX);
    w->now_ms = now_ms;
    engine_observe(w->engine, (struct engine_observer){.decided = registry_update_entry,
                                                       .context = w->registry});
}

void world_release(struct world *w)
{
    registry_free(w->registry);
    engine_free(w->engine);
    store_free(w->store);
    strbuf_release(&w->text);
}

void world_put(struct world *w)
{
    struct error err;
    cJSON *json = json_parse(w->text.data, w->text.len, NULL, &err);

    if (!json || store_put(w->store, json, (struct origin){1, 1}, &err) == STORE_REJECTED)
        abort();
    cJSON_Delete(json);
    strbuf_reset(&w->text);
}

void world_put_policies(struct world *w, const struct generated *g, const char *member_cluster)
{
    for (unsigned i = 0; i < g->policies; i++) {
        generate_policy(&w->text, g, i, member_cluster);
        world_put(w);
    }
}

void world_put_bound_templates(struct world *w, const struct generated *g)
{
    for (unsigned i = 0; i < g->templates; i++) {
        generate_template(&w->text, g, i);
        world_put(w);
        generate_binding(&w->text, g, i);
        world_put(w);
    }
}

void world_run(struct world *w)
{
    while (!engine_run(w->engine, w->now_ms, SIZE_MAX))
        ;
}
