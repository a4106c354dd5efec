/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/planned.h"

#include "tests/unit/suite.h"

void planned_apply(struct plan *p, const char *text)
{
    cJSON *json = cJSON_Parse(text);
    struct error err;

    assert_non_null(json);
    assert_true(plan_apply(p, json, &err));
    cJSON_Delete(json);
}

const struct plan_template *planned_row(const struct plan_result *r, const char *name)
{
    for (size_t i = 0; i < r->template_count; i++) {
        if (strcmp(r->templates[i].template->name, name) == 0)
            return &r->templates[i];
    }
    return NULL;
}

const char *planned_outcome(const struct outcome *o, char text[256])
{
    const char *reason = o->exists ? reason_name(o->state, o->reason) : NULL;
    int len;

    if (!o->exists)
        return "none";
    len = snprintf(text, 256, "%s%s%s %s", state_names[o->state], reason ? " " : "",
                   reason ? reason : "", o->policy ? o->policy->name : "-");
    if (o->undetermined != UNDETERMINED_REASON_COUNT)
        len += snprintf(text + len, 256 - (size_t)len, " %s",
                        undetermined_reason_names[o->undetermined]);
    for (uint32_t i = 0; i < o->cluster_count; i++)
        len += snprintf(text + len, 256 - (size_t)len, " %s:%d", o->clusters[i].name,
                        (int)o->clusters[i].replicas);
    return text;
}
