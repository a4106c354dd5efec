/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/report_way.h"

#include "metrics/expose/report_parts.h"
#include "metrics/model/store.h"
#include "metrics/rules/decision.h"
#include "metrics/rules/delivery.h"

static void put_standing(struct writer *w, const char *stage, const char *reason,
                         struct standing at)
{
    bool known = at.stage != STAGE_NONE;

    writer_text(w, stage, known ? stage_names[at.stage] : NULL);
    writer_text(w, reason, at.reason != WHY_NONE ? stage_reason_names[at.reason] : NULL);
}

struct target_place *target_places(const struct engine *engine, const struct entry *template)
{
    struct template_decision *d = template->decision;
    struct target_place *places = xreallocarray(NULL, d->target_count + (size_t)1, sizeof(*places));

    for (uint32_t i = 0; i < d->target_count; i++)
        places[i] = (struct target_place){entry_binding(d->binding)->clusters[i].name,
                                          decision_targets(d)[i],
                                          engine_target_message(engine, template, i)};
    return places;
}

static int by_cluster(const void *a, const void *b)
{
    return strcmp(((const struct target_place *)a)->cluster,
                  ((const struct target_place *)b)->cluster);
}

static void put_targets(struct writer *w, const struct engine *engine, const struct entry *template)
{
    const struct template_decision *d = template_decision(template);
    CLEANUP(free_cleanup) struct target_place *places = target_places(engine, template);

    qsort(places, d->target_count, sizeof(*places), by_cluster);
    writer_open(w, "targets", '[');
    for (uint32_t i = 0; i < d->target_count; i++) {
        writer_open(w, NULL, '{');
        writer_text(w, "cluster", places[i].cluster);
        put_standing(w, "stage", "reason", places[i].at);
        if (*places[i].message)
            writer_text(w, "message", places[i].message);
        writer_close(w, '}');
    }
    writer_close(w, ']');
}

void report_put_way(struct writer *w, const struct engine *engine, const struct entry *template)
{
    const struct template_decision *d = template_decision(template);

    put_standing(w, "stage", "stageReason", d->way.at);
    report_put_time(w, "stageSince", (int64_t)d->way.since_s * 1000);
    put_standing(w, "delivery", "deliveryReason", d->way.delivery);

    bool delivers = d->way.delivery.stage != STAGE_NONE;
    const char *message = delivers ? engine_delivery_message(engine, template) : "";

    writer_text(w, "message", *message ? message : NULL);
    put_targets(w, engine, template);
}
