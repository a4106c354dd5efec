/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CPU time to load and evaluate lists of an API server and to write the page, relative to splitting
 * and parsing the same bytes. Both measurements alternate.
 */
#include "exporter/kube/object_stream.h"
#include "metrics/expose/exposition.h"
#include "metrics/model/kind.h"
#include "tests/bench/generate.h"
#include "tests/bench/generated_world.h"
#include "tests/bench/measure.h"

enum { ROUNDS = 5, CHUNK = 64 * 1024, LIST_MAX = 1 << 30, PAGE_MAX = 1 << 28 };

static const struct generated world = {
    .templates = 30000, .policies = 1000, .namespaces = 100, .bindings = true};

static void add_policy(struct strbuf *out, const struct generated *g, unsigned at)
{
    generate_policy(out, g, at, "member1");
}

static struct list {
    const char *api_version;
    const char *kind;
    unsigned count;
    void (*add)(struct strbuf *out, const struct generated *g, unsigned at);
    struct strbuf text;
} lists[] = {
    {"policy.karmada.io/v1alpha1", "PropagationPolicy", 1000, add_policy, {0}},
    {"apps/v1", "Deployment", 30000, generate_template, {0}},
    {"work.karmada.io/v1alpha2", "ResourceBinding", 30000, generate_binding, {0}},
};

static void make_list(struct list *list)
{
    list->text = STRBUF_INIT(LIST_MAX);
    strbuf_addf(&list->text,
                "{\"kind\":\"%sList\",\"apiVersion\":\"%s\",\"metadata\":{"
                "\"resourceVersion\":\"1\"},\"items\":[",
                list->kind, list->api_version);
    for (unsigned i = 0; i < list->count; i++) {
        if (i > 0)
            strbuf_addc(&list->text, ',');
        list->add(&list->text, &world, i);
    }
    strbuf_adds(&list->text, "]}");
}

static bool parse_object(void *context, const char *json, size_t len, size_t offset)
{
    (void)context;
    (void)offset;
    cJSON_Delete(cJSON_ParseWithLength(json, len));
    return true;
}

static double measure_split_and_parse(void)
{
    double start = measure_cpu_s();

    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        const struct strbuf *text = &lists[i].text;
        struct json_frame frame;
        struct error err;

        json_frame_init(&frame, JSON_FRAME_LIST, 1 << 20, parse_object, NULL);
        for (size_t at = 0; at < text->len; at += CHUNK) {
            size_t left = text->len - at;

            if (!json_frame_feed(&frame, text->data + at, left < CHUNK ? left : CHUNK, &err))
                abort();
        }
        json_frame_release(&frame);
    }
    return measure_cpu_s() - start;
}

static bool store_object(void *context, const struct watch_event *event)
{
    struct error err;

    if (event->kind != EVENT_OBJECT ||
        store_put(context, event->object, (struct origin){1, 1}, &err) == STORE_REJECTED)
        abort();
    return true;
}

static double measure_load_and_page(void)
{
    CLEANUP(strbuf_release) struct strbuf page = STRBUF_INIT(PAGE_MAX);
    double start = measure_cpu_s();
    struct world w;
    struct error err;

    world_init(&w, 0);
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        const struct list *list = &lists[i];
        struct object_stream stream;

        object_stream_init(&stream, JSON_FRAME_LIST, list->api_version, list->kind, store_object,
                           w.store);
        stream.fields = kind_of(list->api_version, list->kind)->fields;
        for (size_t at = 0; at < list->text.len; at += CHUNK) {
            size_t left = list->text.len - at;

            if (!object_stream_feed(&stream, list->text.data + at, left < CHUNK ? left : CHUNK,
                                    &err))
                abort();
        }
        object_stream_release(&stream);
    }
    world_run(&w);
    registry_prepare(w.registry);
    exposition_write(w.registry, (struct exposition){.synced = true}, &page);
    double spent = measure_cpu_s() - start;

    world_release(&w);
    return spent;
}

int main(void)
{
    double ratios[ROUNDS];
    size_t bytes = 0;

    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        make_list(&lists[i]);
        bytes += lists[i].text.len;
    }
    printf("  %u Deployments and bindings, %u policies, %.0f MB of JSON\n", world.templates,
           world.policies, (double)bytes / 1e6);
    for (size_t i = 0; i < ROUNDS; i++) {
        double floor = measure_split_and_parse();
        double ours = measure_load_and_page();

        ratios[i] = ours / floor;
        printf("  round %zu: cut and parse %.2f s, load and evaluate %.2f s\n", i + 1, floor, ours);
    }
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        strbuf_release(&lists[i].text);
    measure_row("load, evaluate and render lists / cut and parse", ratios, ROUNDS, "x", 0.8);
    return 0;
}
