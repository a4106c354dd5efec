/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/base/json.h"
#include "metrics/base/json_filter.h"
#include "metrics/model/kind.h"
#include "tests/fuzz/must.h"
#include "tests/unit/world.h"

/*
 * The parser with filters accepts the same texts as the syntax check. Without a filter, it makes
 * the tree of cJSON. With the filter of the kind, objects lead to the same decisions as whole ones.
 */

enum { VALUES_MAX = 100000 };

static bool is_object(const char *text)
{
    return *json_skip_space(text) == '{';
}

static bool has_long_number(const char *text, size_t len)
{
    struct error err;
    cJSON *tree = json_parse(text, len, NULL, &err);

    cJSON_Delete(tree);
    return !tree;
}

static void compare_trees(const cJSON *kept, const char *text, size_t len)
{
    struct error err;
    CLEANUP(json_cleanup) cJSON *whole = json_parse(text, len, NULL, &err);
    CLEANUP(free_cleanup) char *one = cJSON_PrintUnformatted(kept);
    CLEANUP(free_cleanup) char *other = cJSON_PrintUnformatted(whole);

    MUST(whole && strcmp(one, other) == 0);
}

static void put(struct world *w, const cJSON *object, struct strbuf *out)
{
    struct error why = {""};

    strbuf_addf(out, "%d ", (int)store_put(w->store, object, (struct origin){1, 1}, &why));
    strbuf_adds(out, why.text);
    world_run(w, 0);
    world_dump(w, out);
}

static void compare_decisions(const cJSON *whole, const char *text, size_t len)
{
    CLEANUP(json_memory_release) struct json_memory memory = {0};
    CLEANUP(strbuf_release) struct strbuf one = STRBUF_INIT(SIZE_MAX);
    CLEANUP(strbuf_release) struct strbuf other = STRBUF_INIT(SIZE_MAX);
    const struct kind_def *def =
        kind_of(json_str(whole, "apiVersion", ""), json_str(whole, "kind", ""));
    const cJSON *kept = json_filter_parse(def->fields, text, len, VALUES_MAX, &memory);
    struct world worlds[2];

    MUST(kept);
    for (size_t i = 0; i < ARRAY_LEN(worlds); i++) {
        world_init(&worlds[i], &rules_options_default, 1);
        put(&worlds[i], i == 0 ? whole : kept, i == 0 ? &one : &other);
        world_release(&worlds[i]);
    }
    MUST(strcmp(one.data, other.data) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct json_filter none = {.others = JSON_FILTER_DROP};
    CLEANUP(json_memory_release) struct json_memory memory = {0};
    CLEANUP(free_cleanup) char *text = xmemdup0((const char *)data, size);
    bool valid = is_object(text) && !json_find_fault(text, size).reason;
    const cJSON *tree = json_filter_parse(NULL, text, size, VALUES_MAX, &memory);

    MUST((json_filter_parse(&none, text, size, VALUES_MAX, &memory) != NULL) == valid);
    if (!tree) {
        MUST(!valid || size > VALUES_MAX || has_long_number(text, size));
        return 0;
    }
    MUST(valid);
    compare_trees(tree, text, size);
    compare_decisions(tree, text, size);
    return 0;
}
