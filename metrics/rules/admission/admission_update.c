/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/admission/admission.h"

#include "metrics/base/shown.h"
#include "metrics/model/binding.h"
#include "metrics/model/override_policy.h"
#include "metrics/model/policy.h"
#include "metrics/model/store.h"
#include "metrics/model/template.h"

/*
 * Deletions and updates of stored objects that Karmada's webhooks deny, in all releases.
 */

/* ---- deletions ---- */

bool admission_protects(const struct entry *entry)
{
    const struct template *t = entry_template_or_setting(entry);
    const struct policy *p = entry_policy(entry);
    const struct override *o = entry_override(entry);
    const struct binding *b = entry_binding(entry);

    /* Karmada's own API server of Clusters calls no webhooks. */
    return (t && t->protected) || (p && p->protected) || (o && o->protected) || (b && b->protected);
}

/*
 * ---- updates of policies (Karmada: ValidatingAdmission.Handle in pkg/webhook/propagationpolicy
 * and pkg/webhook/clusterpropagationpolicy) ----
 */

/* Appends the beginning of a reason, behind the reasons before. */
static void begin_reason(struct strbuf *out, const char *field)
{
    strbuf_addf(out, "%s%s", out->len > 0 ? "; " : "", field);
}

static void check_scheduler(const struct policy *stored, const cJSON *sent, struct strbuf *out)
{
    const char *before = stored->propagation->scheduler_name;
    const char *after = json_str(json_get(sent, "spec"), "schedulerName", "");

    /* The default of the schema. */
    if (!*after)
        after = DEFAULT_SCHEDULER;
    if (strcmp(before, after) == 0)
        return;
    begin_reason(out, "spec.schedulerName");
    strbuf_addf(out,
                " must stay \"%s\", as in the stored policy, not \"%s\"; to change it, delete the "
                "policy and create it again",
                shown(before).text, shown(after).text);
}

/*
 * The webhook sets the label only when a policy is created. A label that the object lacks is kept,
 * because manifests do not have it.
 */
static void check_permanent_id(const struct policy *stored, bool cluster_scoped, const cJSON *sent,
                               struct strbuf *out)
{
    const char *key = permanent_id_key(cluster_scoped);
    const cJSON *labels = json_get(json_get(sent, "metadata"), "labels");
    const cJSON *label = cJSON_GetObjectItemCaseSensitive(labels, key);
    const char *after = cJSON_GetStringValue(label);
    const char *before = stored->id ? stored->id : "";

    if (!label || (after && strcmp(before, after) == 0))
        return;
    begin_reason(out, "metadata.labels");
    if (*before)
        strbuf_addf(out, " must keep \"%s\" in %s, as in the stored policy", shown(before).text,
                    key);
    else
        strbuf_addf(out, " must not have %s, which only Karmada sets", key);
    strbuf_adds(out, "; remove the label from the object");
}

void admission_add_update_text(const struct entry *entry, struct release_range range,
                               const cJSON *sent, struct strbuf *out)
{
    const struct policy *stored = entry_policy(entry);
    const struct admission *a = stored ? stored->admission : NULL;

    if (!stored || (a && !a->stored && admission_refuses(a, range) == RELEASE_ANSWER_YES))
        return;
    check_scheduler(stored, sent, out);
    check_permanent_id(stored, entry_is_cluster_scoped(entry), sent, out);
}
