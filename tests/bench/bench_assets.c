/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CPU time to read and evaluate an export of cloud assets, as a multiple of the time at 200 MB a
 * second and of the time to parse each line; and the memory of the leases (every tenth asset),
 * scaled to 100,000. ASSETS sets the number of assets: 100000 by default, 1000000 for the full
 * measurement.
 */
#include <cjson/cJSON.h>

#include "exporter/files/asset_source.h"
#include "metrics/base/number.h"
#include "metrics/rules/engine.h"
#include "tests/bench/generate.h"
#include "tests/bench/measure.h"

enum { ROUNDS = 5, CHUNK = 256 * 1024, LEASE_EVERY = 10, FILLER = 1200, LINE_ROOM = 4096 };

/* Writes assets of about 1.5 kB each, every tenth with a lease. Returns the size of the file. */
static size_t write_assets(const char *path, uint64_t count)
{
    CLEANUP(free_cleanup) char *filler = xcalloc(1, FILLER + 1);
    FILE *file = fopen(path, "we");
    size_t bytes = 0;

    if (!file)
        abort();
    memset(filler, 'x', FILLER);
    for (uint64_t i = 0; i < count; i++) {
        char labels[160] = "";

        if (i % LEASE_EVERY == 0)
            snprintf(labels, sizeof(labels),
                     "\"managed-by-cnrm\":\"true\",\"cnrm-lease-holder-id\":\"id%" PRIu64
                     "\",\"cnrm-lease-expiration\":\"1767225600\"",
                     i % 100);
        int len = fprintf(file,
                          "{\"name\":\"//pubsub.googleapis.com/projects/project-%" PRIu64
                          "/topics/topic-%" PRIu64 "\",\"asset_type\":"
                          "\"pubsub.googleapis.com/Topic\",\"resource\":{\"version\":\"v1\","
                          "\"data\":{\"labels\":{%s},\"description\":\"%s\",\"numbers\":[1,2,3]}},"
                          "\"ancestors\":[\"projects/1\",\"organizations/2\"]}\n",
                          i % 1000, i, labels, filler);

        if (len < 0)
            abort();
        bytes += (size_t)len;
    }
    if (fclose(file) != 0)
        abort();
    return bytes;
}

static double measure_counting(const char *path)
{
    CLEANUP(free_cleanup) char *chunk = xmalloc(CHUNK);
    FILE *file = fopen(path, "re");
    double start = measure_cpu_s();
    size_t lines = 0, len;

    while (file && (len = fread(chunk, 1, CHUNK, file)) > 0) {
        for (const char *at = chunk; (at = memchr(at, '\n', len - (size_t)(at - chunk))); at++)
            lines++;
    }
    if (!file || lines == 0)
        abort();
    fclose(file);
    return measure_cpu_s() - start;
}

static double measure_parsing(const char *path)
{
    CLEANUP(free_cleanup) char *line = xmalloc(LINE_ROOM);
    FILE *file = fopen(path, "re");
    double start = measure_cpu_s();

    while (file && fgets(line, LINE_ROOM, file)) {
        cJSON *tree = cJSON_Parse(line);

        if (!tree)
            abort();
        cJSON_Delete(tree);
    }
    if (!file)
        abort();
    fclose(file);
    return measure_cpu_s() - start;
}

/* Returns the CPU time to read and evaluate the file; sets `held` to the heap bytes it leaves. */
static double measure_reading(const char *path, uint64_t count, size_t *held)
{
    static const struct log silent = {.level = LOG_LEVEL_NONE};
    size_t before = measure_heap_bytes();
    double start = measure_cpu_s();
    struct error err;
    struct store *store = store_new(1);
    struct engine *engine = engine_new(store, &rules_options_default, 1, &err);
    struct asset_source *source = asset_source_new(store, path, NULL, &silent);

    do
        asset_source_pump(source, 0, 1000);
    while (asset_source_busy(source));
    while (!engine_run(engine, 0, SIZE_MAX))
        ;
    double spent = measure_cpu_s() - start;
    if (store_object_count(store, CLASS_LEASE) != (count + LEASE_EVERY - 1) / LEASE_EVERY)
        abort();
    *held = measure_heap_bytes() - before;
    asset_source_free(source);
    engine_free(engine);
    store_free(store);
    return spent;
}

int main(void)
{
    CLEANUP(generate_cleanup) char *directory = generate_directory();
    const char *asked = getenv("ASSETS");
    uint64_t count = 100000;
    double rates[ROUNDS], ratios[ROUNDS];
    char path[4096];
    size_t held = 0;

    if (asked && !parse_uint(asked, 10000000, &count))
        abort();
    snprintf(path, sizeof(path), "%s/assets", directory);
    size_t bytes = write_assets(path, count);
    printf("  %" PRIu64 " assets, %.0f MB, every tenth with a lease\n", count, (double)bytes / 1e6);
    for (size_t i = 0; i < ROUNDS; i++) {
        double lines = measure_counting(path);
        double parsed = measure_parsing(path);
        double ours = measure_reading(path, count, &held);

        rates[i] = ours / ((double)bytes / 200e6);
        ratios[i] = ours / parsed;
        printf("  round %zu: count lines %.2f s, parse lines %.2f s, read %.2f s\n", i + 1, lines,
               parsed, ours);
    }
    measure_row("time / time at 200 MB a second", rates, ROUNDS, "x", 1);
    measure_row("read / parse every line", ratios, ROUNDS, "x", 1);
    measure_print("100,000 leases", (double)held / (double)(count / LEASE_EVERY) * 100000 / 1048576,
                  "MiB", 100);
    return 0;
}
