/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/files/asset_source.h"
#include "metrics/base/json.h"
#include "metrics/rules/connector_conflicts.h"
#include "metrics/rules/decision.h"
#include "metrics/rules/engine.h"

/*
 * Any asset is converted to a lease that the engine can evaluate, or to no object. A lease that the
 * engine returns for a resource exists, and has a decision and a verdict.
 */

static const char topic[] =
    "{\"apiVersion\":\"pubsub.cnrm.cloud.google.com/v1beta1\",\"kind\":\"PubSubTopic\","
    "\"metadata\":{\"name\":\"t\",\"namespace\":\"p\"}}";
static const int64_t now_ms = 1767225600000;

static void put_object(struct store *store, const cJSON *object)
{
    struct error err = {""};

    if (store_put(store, object, (struct origin){1, 1}, &err) == STORE_REJECTED && !err.text[0])
        abort();
}

static void check_lease(struct store *store, struct engine *engine)
{
    const struct entry *entry = store_find(
        store, &(struct identity){"pubsub.cnrm.cloud.google.com/v1beta1", "PubSubTopic", "p", "t"});

    while (!engine_run(engine, now_ms, 16))
        continue;

    const struct entry *lease = engine_lease_of(engine, entry);
    if (lease && (!entry_exists(lease) || !lease_decision(lease) ||
                  engine_lease_verdict(engine, entry, lease) > VERDICT_REFUSED))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(free_cleanup) char *text = xmemdup0((const char *)data, size);
    struct error err;
    CLEANUP(json_cleanup) cJSON *asset = json_parse(text, size, NULL, &err);
    CLEANUP(json_cleanup) cJSON *object = asset ? asset_convert(asset, now_ms) : NULL;
    CLEANUP(json_cleanup) cJSON *resource = json_parse(topic, strlen(topic), NULL, &err);
    struct store *store = store_new(1);
    struct engine *engine = engine_new(store, &rules_options_default, 1, &err);

    if (!engine || !resource)
        abort();
    put_object(store, resource);
    if (object)
        put_object(store, object);
    check_lease(store, engine);
    engine_free(engine);
    store_free(store);
    return 0;
}
