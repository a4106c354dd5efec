/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/report_way.h"

#include "metrics/base/timestamp.h"
#include "metrics/model/object.h"
#include "metrics/rules/decision.h"
#include "metrics/rules/delivery.h"

static void put_standing(struct writer *w, const char *stage, const char *reason,
                         struct standing at)
{
    bool known = at.stage != STAGE_NONE;

    writer_text(w, stage, known ? stage_names[at.stage] : NULL);
    writer_text(w, reason, at.reason != WHY_NONE ? stage_reason_names[at.reason] : NULL);
}

static void put_since(struct writer *w, const char *key, uint32_t since_s)
{
    char text[32];

    format_timestamp((int64_t)since_s * 1000, text);
    writer_text(w, key, since_s > 0 ? text : NULL);
}

/* A target and where it is. */
struct place {
    const char *cluster;
    struct standing at;
};

static int by_cluster(const void *a, const void *b)
{
    return strcmp(((const struct place *)a)->cluster, ((const struct place *)b)->cluster);
}

static void put_targets(struct writer *w, const struct binding *b, const struct standing *targets,
                        uint32_t count)
{
    CLEANUP(free_cleanup)
    struct place *places = xreallocarray(NULL, count + (size_t)1, sizeof(*places));

    for (uint32_t i = 0; i < count; i++)
        places[i] = (struct place){b->clusters[i].name, targets[i]};
    qsort(places, count, sizeof(*places), by_cluster);
    writer_open(w, "targets", '[');
    for (uint32_t i = 0; i < count; i++) {
        const char *message = binding_status_message(&b->status, places[i].cluster);

        writer_open(w, NULL, '{');
        writer_text(w, "cluster", places[i].cluster);
        put_standing(w, "stage", "reason", places[i].at);
        if (*message)
            writer_text(w, "message", message);
        writer_close(w, '}');
    }
    writer_close(w, ']');
}

void report_put_way(struct writer *w, const struct entry *template)
{
    struct template_decision *d = template->decision;
    const struct binding *b = entry_binding(d->binding);

    put_standing(w, "stage", "stageReason", d->way.at);
    put_since(w, "stageSince", d->way.since_s);
    put_standing(w, "delivery", "deliveryReason", d->way.delivery);

    bool delivers = d->way.delivery.stage != STAGE_NONE;
    const char *message = delivers ? delivery_message(b, d->way.delivery, decision_targets(d)) : "";

    writer_text(w, "message", *message ? message : NULL);
    put_targets(w, b, decision_targets(d), d->target_count);
}
