/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CPU time to load and evaluate a large List from a file and to write its page, relative to
 * splitting and parsing the same bytes. Both measurements alternate, so that a slow moment of the
 * machine affects both.
 */
#include <cjson/cJSON.h>

#include "exporter/files/manifest_source.h"
#include "metrics/base/json_frame.h"
#include "metrics/expose/exposition.h"
#include "tests/bench/generate.h"
#include "tests/bench/measure.h"

enum { ROUNDS = 5, CHUNK = 64 * 1024, PAGE_MAX = 1 << 28 };

static const struct generated world = {.templates = 100000, .policies = 1000, .namespaces = 100};

static bool count_parsable(void *context, const char *json, size_t len, size_t offset)
{
    cJSON *tree = cJSON_ParseWithLength(json, len);

    (void)offset;
    *(size_t *)context += tree != NULL;
    cJSON_Delete(tree);
    return true;
}

/* Returns the CPU time of the minimum work: to read, split and parse the file. */
static double measure_split_and_parse(const char *path)
{
    CLEANUP(free_cleanup) char *chunk = xmalloc(CHUNK);
    FILE *file = fopen(path, "re");
    size_t objects = 0;
    struct json_frame frame;
    struct error err;
    size_t len;

    if (!file)
        abort();
    double start = measure_cpu_s();
    json_frame_init(&frame, JSON_FRAME_LIST, 1 << 20, count_parsable, &objects);
    while ((len = fread(chunk, 1, CHUNK, file)) > 0) {
        if (!json_frame_feed(&frame, chunk, len, &err))
            abort();
    }
    double spent = measure_cpu_s() - start;
    json_frame_release(&frame);
    fclose(file);
    if (objects != world.templates + world.policies)
        abort();
    return spent;
}

/* Returns the CPU time from the file to the page. */
static double measure_load_and_page(const char *path)
{
    CLEANUP(strbuf_release) struct strbuf page = STRBUF_INIT(PAGE_MAX);
    double start = measure_cpu_s();
    struct error err;

    struct store *store = store_new(1);
    struct engine *engine = engine_new(store, &rules_options_default, 1, &err);
    struct registry *registry = registry_new(engine, &registry_options_default, 1);
    engine_observe(engine,
                   (struct engine_observer){.decided = registry_update_entry, .context = registry});
    struct manifests *manifests =
        manifests_new(store, &path, 1, "default", &manifest_limits_default);
    if (!manifests_load(manifests, &err) || manifests_problem_count(manifests) > 0)
        abort();
    while (!engine_run(engine, 0, SIZE_MAX))
        ;
    registry_prepare(registry);
    exposition_write(registry, (struct exposition){.synced = true}, &page);
    double spent = measure_cpu_s() - start;

    if (store_object_count(store, CLASS_TEMPLATE) != world.templates)
        abort();
    strbuf_release(&page);
    manifests_free(manifests);
    registry_free(registry);
    engine_free(engine);
    store_free(store);
    return spent;
}

int main(void)
{
    CLEANUP(generate_cleanup) char *directory = generate_directory();
    size_t bytes = generate_list(&world, directory, "list.json");
    double ratios[ROUNDS];
    char path[4096];

    snprintf(path, sizeof(path), "%s/list.json", directory);
    printf("  %u Deployments and %u policies, %.0f MB of JSON\n", world.templates, world.policies,
           (double)bytes / 1e6);
    for (size_t i = 0; i < ROUNDS; i++) {
        double floor = measure_split_and_parse(path);
        double ours = measure_load_and_page(path);

        ratios[i] = ours / floor;
        printf("  round %zu: cut and parse %.2f s, load and evaluate %.2f s\n", i + 1, floor, ours);
    }
    measure_row("load, evaluate and render / cut and parse", ratios, ROUNDS, "x", 0.8);
    return 0;
}
