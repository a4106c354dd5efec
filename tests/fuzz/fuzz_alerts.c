/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/serve/alerting/alert_batch.h"
#include "tests/fuzz/must.h"

/*
 * Alerts adopted from any answer of an Alertmanager are sent in the next batch, and can be adopted
 * from that batch again.
 */

static size_t count_firing(const struct alerts *a)
{
    size_t count = 0;

    for (const struct alert *alert = a->first; alert; alert = alert->next)
        count += alert->state == ALERT_FIRING;
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(free_cleanup) char *answer = xmemdup0((const char *)data, size);
    const struct label_list more = {NULL, 0};
    const struct alert_moment now = {0};
    struct alert_rules rules;
    struct alerts first, second;
    struct error err;

    MUST(alert_rules_load(&rules, &err));
    struct series_store *store = series_store_new(&more, 1);
    const struct alert_batch_settings settings = {store, "", 0};

    alerts_init(&first, 1);
    alerts_init(&second, 2);
    int count = alert_batch_adopt(&first, &rules, &more, answer, &now);

    MUST(count < 0 ? !first.first : count >= (int)count_firing(&first));
    struct alert_batch *batch = alert_batch_new(&first, &settings);

    for (size_t i = 0; i < batch->count; i++)
        MUST(alert_batch_adopt(&second, &rules, &more, batch->requests[i].json, &now) ==
             (int)batch->requests[i].alerts);
    MUST(batch->alerts == count_firing(&first));
    MUST(count_firing(&first) == count_firing(&second));
    alert_batch_drop(batch);
    alerts_release(&first);
    alerts_release(&second);
    series_store_free(store);
    alert_rules_release(&rules);
    return 0;
}
