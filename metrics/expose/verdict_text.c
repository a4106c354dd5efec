/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/verdict_text.h"

#include "metrics/expose/report_parts.h"

/* ---- text ---- */

const char *verdict_word(enum cluster_verdict_kind kind)
{
    return kind < CLUSTER_VERDICT_COUNT ? cluster_verdict_names[kind] : "allowed";
}

bool verdict_is_placed(const struct cluster_verdict *v)
{
    return v->kind == CLUSTER_VERDICT_TARGET || v->kind == CLUSTER_VERDICT_REQUIRED;
}

bool verdict_is_allowed(const struct cluster_verdict *v)
{
    bool allowed = v->kind >= (enum cluster_verdict_kind)FILTER_COUNT;

    for (uint32_t i = 0; i < v->other_count; i++)
        allowed |= v->others[i].kind >= (enum cluster_verdict_kind)FILTER_COUNT;
    return allowed;
}

/* Returns the last part of a path, such as "clusterNames". */
static const char *last_part(const char *field)
{
    const char *dot = field ? strrchr(field, '.') : NULL;

    return dot ? dot + 1 : field ? field : "";
}

static void add_affinity(const struct verdict_reason *r, struct strbuf *out)
{
    const char *field = last_part(r->field), *value = r->value ? r->value : "";

    strbuf_adds(out, r->field ? r->field : "");
    if (strcmp(field, "exclude") == 0)
        strbuf_addf(out, " lists %s", value);
    else if (strcmp(field, "clusterNames") == 0)
        strbuf_addf(out, " lists only %s", value);
    else if (strcmp(field, "labelSelector") == 0 || strcmp(field, "fieldSelector") == 0)
        strbuf_addf(out, " needs %s", value);
    else
        strbuf_addf(out, " (%s) allows it, but is not in use", value);
    if (r->actual && *r->actual)
        strbuf_addf(out, " (cluster: %s)", r->actual);
}

/* Appends why the result is undetermined; `word` is an undetermined_reason_names or a limit. */
static void add_undetermined(const char *word, struct strbuf *out)
{
    static const struct {
        const char *word, *text;
    } texts[] = {
        {"aggregated", "the free capacity of the clusters decides"},
        {"dynamic_weight", "the free capacity of the clusters decides"},
        {"spread_constraints", "the spread constraints choose by free capacity"},
        {"lot", "Karmada draws lots"},
        {"uid", "the uid decides, and the object does not exist yet"},
        {"release", "the releases that Karmada may have differ"},
        {"replicas", "the replicas of the template are unknown"},
        {"suspended", "scheduling is suspended"},
        {"other_scheduler", "another scheduler decides"},
        {"workload_affinity", "workloadAffinity may exclude the cluster"},
    };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        if (word && strcmp(texts[i].word, word) == 0) {
            strbuf_adds(out, texts[i].text);
            if (!strstr(texts[i].text, word))
                strbuf_addf(out, " (%s)", word);
            return;
        }
    }
    strbuf_addf(out, "not computed: %s", word ? word : "unknown");
}

static void add_kind_reason(const struct verdict_reason *r, struct strbuf *out)
{
    const char *field = r->field ? r->field : "", *value = r->value ? r->value : "";

    switch (r->kind) {
    case CLUSTER_VERDICT_CLUSTER_DELETING:
        strbuf_addf(out, "the Cluster is being deleted (%s)", field);
        break;
    case CLUSTER_VERDICT_AFFINITY:
        add_affinity(r, out);
        break;
    case CLUSTER_VERDICT_API_NOT_SERVED:
        strbuf_addf(out, "%s lacks %s", field, value);
        break;
    case CLUSTER_VERDICT_TAINT:
        strbuf_addf(out, "%s %s is not tolerated", field, value);
        break;
    case CLUSTER_VERDICT_EVICTING:
        strbuf_addf(out, "%s has a task%s%s", field, *value ? " of " : "", value);
        break;
    case CLUSTER_VERDICT_SPREAD_PROPERTY:
        strbuf_addf(out, "%s is %s (cluster: no %s)", field, value, value);
        break;
    case CLUSTER_VERDICT_WORKLOAD_AFFINITY:
        strbuf_addf(out, "the other workloads of %s exclude it (%s)", field, value);
        break;
    case CLUSTER_VERDICT_UNDETERMINED:
        add_undetermined(r->value, out);
        break;
    case CLUSTER_VERDICT_SPREAD_CONSTRAINT:
        strbuf_addf(out, "%s (%s) %s", field, value,
                    r->actual ? "is not met: " : "selects other clusters");
        strbuf_adds(out, r->actual ? r->actual : "");
        break;
    case CLUSTER_VERDICT_WEIGHT_ZERO:
        strbuf_addf(out, "no entry of %s matches the cluster", field);
        break;
    case CLUSTER_VERDICT_REPLICAS_EXHAUSTED:
        if (strcmp(value, "0") == 0)
            strbuf_addf(out, "the template has 0 %s", field);
        else
            strbuf_addf(out, "other clusters have all %s (%s)", field, value);
        break;
    case CLUSTER_VERDICT_TARGET:
    case CLUSTER_VERDICT_REQUIRED:
    case CLUSTER_VERDICT_COUNT:
        break;
    }
}

/* Appends the verdicts in the affinity groups that are not in use. */
static void add_other_groups(const struct cluster_verdict *v, struct strbuf *out)
{
    for (uint32_t i = 0; i < v->other_count; i++)
        strbuf_addf(out, "%s%s: %s",
                    i > 0          ? ", "
                    : out->len > 0 ? "; other groups: "
                                   : "other groups: ",
                    v->others[i].group, verdict_word(v->others[i].kind));
}

static void add_next(const struct cluster_verdict *v, struct strbuf *out)
{
    if (v->next == CLUSTER_VERDICT_COUNT)
        return;
    strbuf_adds(out, out->len > 0 ? "; " : "");
    if (v->next == CLUSTER_VERDICT_TARGET) {
        strbuf_adds(out, "the next scheduling adds it (target)");
    } else if (v->next == CLUSTER_VERDICT_UNDETERMINED) {
        strbuf_adds(out, "the next scheduling may remove it (undetermined): ");
        add_kind_reason(&v->reason, out);
    } else {
        strbuf_addf(out, "the next scheduling removes it (%s): ", verdict_word(v->next));
        add_kind_reason(&v->reason, out);
    }
}

void verdict_add_reason(const struct cluster_verdict *v, struct strbuf *out)
{
    struct strbuf text = STRBUF_INIT(out->max);

    if (v->kind == CLUSTER_VERDICT_REQUIRED) {
        strbuf_adds(&text, "by ");
        if (v->referrer)
            entry_add_name(&text, v->referrer);
        else
            strbuf_adds(&text, "another template");
        strbuf_adds(&text, v->predicted ? " (predicted)" : "");
    } else if (v->referrer) {
        strbuf_adds(&text, "of ");
        entry_add_name(&text, v->referrer);
        strbuf_adds(&text, ": ");
    }
    if (v->kind == CLUSTER_VERDICT_TARGET) {
        strbuf_adds(&text, v->predicted ? "predicted" : "");
        if (v->replicas > 0)
            strbuf_addf(&text, "%s%" PRId32 " replica%s", v->predicted ? ", " : "", v->replicas,
                        v->replicas == 1 ? "" : "s");
    } else {
        add_kind_reason(&v->reason, &text);
    }
    add_next(v, &text);
    add_other_groups(v, &text);
    strbuf_add(out, text.data, text.len);
    strbuf_release(&text);
}

void verdicts_add_summary(const struct cluster_verdicts *v, struct strbuf *out)
{
    size_t counts[CLUSTER_VERDICT_COUNT + 1] = {0}, placed = 0, predicted = 0;
    bool first = true;

    for (size_t i = 0; i < v->count; i++) {
        counts[v->items[i].kind]++;
        placed += verdict_is_placed(&v->items[i]);
        predicted += verdict_is_placed(&v->items[i]) && v->items[i].predicted;
    }
    if (placed == 0)
        strbuf_adds(out, "Placed in no member cluster");
    else
        strbuf_addf(out, "%s in %zu of %zu member cluster%s",
                    predicted == placed ? "Predicted" : "Placed", placed, v->count,
                    v->count == 1 ? "" : "s");
    for (unsigned i = 0; i < CLUSTER_VERDICT_COUNT; i++) {
        if (counts[i] == 0 || i == CLUSTER_VERDICT_TARGET || i == CLUSTER_VERDICT_REQUIRED)
            continue;
        strbuf_addf(out, "%s%s %zu", first ? "; not placed: " : ", ", cluster_verdict_names[i],
                    counts[i]);
        first = false;
    }
    strbuf_adds(out, ".");
}

/* ---- JSON ---- */

static const char *name_or_null(enum cluster_verdict_kind kind)
{
    return kind < CLUSTER_VERDICT_COUNT ? cluster_verdict_names[kind] : NULL;
}

static void put_reason(struct json_writer *w, const struct verdict_reason *r)
{
    json_writer_text(w, "field", r->field);
    json_writer_text(w, "value", r->value);
    json_writer_text(w, "actual", r->actual && *r->actual ? r->actual : NULL);
}

void verdict_put_members(struct json_writer *w, const struct cluster_verdict *v)
{
    json_writer_text(w, "cluster", v->cluster->name);
    json_writer_text(w, "verdict", name_or_null(v->kind));
    put_reason(w, &v->reason);
    json_writer_text(w, "next", name_or_null(v->next));
    json_writer_bool(w, "predicted", v->predicted);
    if (v->kind == CLUSTER_VERDICT_TARGET)
        json_writer_int(w, "replicas", v->replicas);
    if (v->referrer) {
        json_writer_open(w, "referrer", '{');
        report_put_object(w, v->referrer);
        json_writer_close(w, '}');
    }
    if (v->other_count == 0)
        return;
    json_writer_open(w, "otherGroups", '[');
    for (uint32_t i = 0; i < v->other_count; i++) {
        json_writer_open(w, NULL, '{');
        json_writer_text(w, "group", v->others[i].group);
        json_writer_text(w, "verdict", name_or_null(v->others[i].kind));
        json_writer_close(w, '}');
    }
    json_writer_close(w, ']');
}
