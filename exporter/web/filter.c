/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/filter.h"

#include <strings.h>

#include "exporter/options/suggest.h"
#include "metrics/base/number.h"
#include "metrics/expose/decision_text.h"
#include "metrics/expose/policy_names.h"
#include "metrics/model/store.h"
#include "metrics/rules/connector_conflicts.h"

/* The words that a parameter takes, while the nearest one is looked for. */
struct words {
    const char *const *names;
    size_t count;
    size_t at;
};

static const char *next_word(void *context)
{
    struct words *w = context;

    return w->at < w->count ? w->names[w->at++] : NULL;
}

/* The place of a word among the names; `value` NULL: nobody asks, and the place is kept. */
static bool read_word(const char *what, const char *value, const char *const *names, size_t count,
                      int *place, struct error *err)
{
    struct words words = {names, count, 0};
    const char *nearest;

    for (size_t i = 0; value && i < count; i++) {
        if (strcmp(names[i], value) == 0) {
            *place = (int)i;
            return true;
        }
    }
    if (!value)
        return true;
    nearest = nearest_name(value, next_word, &words);
    return fail(err, "there is no %s '%.64s'%s%s%s", what, value, nearest ? "; do you mean '" : "",
                nearest ? nearest : "", nearest ? "'?" : "");
}

bool filter_rows(const struct query *q, struct row_filter *out, struct error *err)
{
    const char *version = q->values[PARAMETER_VERSION];
    uint64_t number;
    int ignored;

    *out = ROW_FILTER_ALL;
    out->ns = q->values[PARAMETER_NAMESPACE];
    out->kind = q->values[PARAMETER_KIND];
    out->group = q->values[PARAMETER_GROUP];
    out->name = q->values[PARAMETER_NAME];
    out->policy = q->values[PARAMETER_POLICY];
    out->owner = q->values[PARAMETER_OWNER];
    out->search = q->values[PARAMETER_SEARCH];
    out->reason = q->values[PARAMETER_REASON];
    out->stage = q->values[PARAMETER_STAGE];
    out->actor = q->values[PARAMETER_ACTOR];
    if (!read_word("state", q->values[PARAMETER_STATE], state_names, STATE_COUNT, &out->state,
                   err) ||
        !read_word("stage", out->stage, stage_names, STAGE_COUNT, &ignored, err) ||
        !read_word("actor", out->actor, actor_names, ACTOR_COUNT, &ignored, err))
        return false;
    if (out->reason && !reason_exists(out->reason))
        return fail(err, "there is no reason '%.64s'", out->reason);
    if (version && !parse_uint(version, UINT32_MAX, &number))
        return fail(err, "'version' takes the number of a policy's version");
    if (version)
        out->version = (int64_t)number;
    return true;
}

/* What of an entry a list is chosen by. */
static struct identity identity_in(enum report_list list, const struct entry *entry)
{
    const char *holder;

    if (list == REPORT_CONFLICTS)
        return resource_identity_of(entry);
    if (list == REPORT_POLICIES)
        return (struct identity){
            .kind = entry_kind(entry), .ns = entry_ns(entry), .name = entry->name};
    holder = lease_decision(entry)->holder_ns;
    return (struct identity){.kind = "", .ns = holder ? holder : "", .name = entry->name};
}

bool filter_wants(const struct query *q, enum report_list list, const struct entry *entry)
{
    const char *ns = q->values[PARAMETER_NAMESPACE], *kind = q->values[PARAMETER_KIND];
    const char *search = q->values[PARAMETER_SEARCH];
    struct identity id = identity_in(list, entry);

    return (!ns || strcmp(ns, id.ns) == 0) && (!kind || strcasecmp(kind, id.kind) == 0) &&
           (!search || strcasestr(id.name, search));
}
