/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/explain/field_text.h"

#include "metrics/base/json.h"

/* NULL if it is not set. */
static const char *field_text(const struct propagation *p, enum drift_field field)
{
    switch (field) {
    case FIELD_PLACEMENT:
        return p->placement;
    case FIELD_CONFLICT_RESOLUTION:
        return p->conflict_resolution == CONFLICT_RESOLUTION_OVERWRITE ? "Overwrite" : "Abort";
    case FIELD_PRESERVE:
        return p->preserve == OPTIONAL_TRUE ? "true" : "false";
    case FIELD_PROPAGATE_DEPS:
        return p->propagate_deps ? "true" : "false";
    case FIELD_FAILOVER:
        return p->failover;
    case FIELD_SUSPENSION:
        return p->suspension;
    case FIELD_SCHEDULER_NAME:
        return p->scheduler_name;
    case FIELD_SCHEDULE_PRIORITY:
        return p->schedule_priority;
    case DRIFT_FIELD_COUNT:
        break;
    }
    abort();
}

const char *explain_field_value(const struct propagation *p, enum drift_field field)
{
    const char *text = field_text(p, field);

    return text ? text : EXPLAIN_NOT_SET;
}

const char *explain_field_json(const struct propagation *p, enum drift_field field,
                               struct strbuf *out)
{
    const char *text = field_text(p, field);

    if (!text || (field != FIELD_CONFLICT_RESOLUTION && field != FIELD_SCHEDULER_NAME))
        return text;
    json_quote(out, text);
    return out->data;
}
