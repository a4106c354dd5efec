/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/explain/explain_overrides.h"

#include "metrics/expose/decision_text.h"
#include "metrics/model/binding.h"
#include "metrics/model/store.h"
#include "metrics/model/template.h"
#include "metrics/rules/overrides.h"

/* ---- where it goes ---- */

struct target {
    const char *cluster;
    struct override_steps steps;
    bool missing; /* There are Clusters, and none of this name. */
    bool explained;
};

struct override_targets {
    struct target *items;
    size_t count;
};

static void override_targets_release(struct override_targets *targets)
{
    for (size_t i = 0; i < targets->count; i++)
        override_steps_release(&targets->items[i].steps);
    free(targets->items);
}

static int by_name(const void *a, const void *b)
{
    const struct target *left = a;
    const struct target *right = b;

    return strcmp(left->cluster, right->cluster);
}

/* The targets of the binding, by name. */
static struct override_targets list_targets(const struct binding *b)
{
    struct override_targets targets = {.count = binding_target_count(b)};

    targets.items = xcalloc(targets.count + 1, sizeof(*targets.items));
    for (size_t i = 0; i < targets.count; i++)
        targets.items[i].cluster = b->clusters[i].name;
    qsort(targets.items, targets.count, sizeof(*targets.items), by_name);
    return targets;
}

static void find_steps(const struct engine *e, const struct override_selection *selection,
                       struct override_targets *targets)
{
    const struct store *store = engine_store(e);
    const struct kind_def *def = kind_cluster();
    bool known = store_count(store, CLASS_CLUSTER) > 0 &&
                 !(engine_incomplete_classes(e) & 1u << CLASS_CLUSTER);

    for (size_t i = 0; i < targets->count; i++) {
        struct target *t = &targets->items[i];
        const struct entry *entry =
            store_find(store, &(struct identity){def->api_version, def->name, "", t->cluster});
        const struct cluster *cluster = entry_cluster(entry);

        t->missing = known && !cluster;
        t->steps = override_steps_make(selection, t->cluster, cluster);
    }
}

/* ---- what acts there ---- */

static void explain_step(struct explaining *x, const struct override_step *step, size_t at)
{
    const struct override *override = entry_override(step->by->policy);
    const char *name = explain_name(x, step->by->policy);
    const char *score =
        override->selector_count > 0 ? explain_score_words(step->by->score) : "everything";
    const char *by = override->selector_count > 0 ? "by " : "";
    const char *effect = step->rule->empty ? ", and changes nothing" : "";
    uint32_t index = override_step_index(step);
    struct writer *w = &x->out->facts;

    explanation_open(x->out, NULL, '{');
    report_put_policy(w, "policy", policy_name_of(step->by->policy));
    if (override->deprecated)
        writer_text(w, "rule", NULL);
    else
        writer_int(w, "rule", index);
    writer_text(w, "selectsBy", score);
    writer_bool(w, "empty", step->rule->empty);
    if (override->deprecated)
        explain_detail(x, "%zu. %s, spec.overriders, selects %s%s%s", at, name, by, score, effect);
    else
        explain_detail(x, "%zu. %s, overrideRules[%" PRIu32 "], selects %s%s%s", at, name, index,
                       by, score, effect);
    explanation_close(x->out, '}');
}

static void explain_steps(struct explaining *x, const struct target *t, const char *clusters)
{
    const struct override_steps *steps = &t->steps;
    bool known = !t->missing && !steps->unsure;

    writer_bool(&x->out->facts, "known", known);
    if (t->missing)
        explain_say(x, "On %s: there is no such Cluster, so that Karmada renews nothing there.",
                    clusters);
    else if (steps->unsure)
        explain_say(x,
                    "On %s: not known, as a targetCluster asks for more than names, and the "
                    "Clusters have not been read.",
                    clusters);
    else
        explain_say(x, "On %s:%s", clusters, steps->count > 0 ? "" : " none of them.");
    explanation_open(x->out, "rules", '[');
    for (size_t i = 0; known && i < steps->count; i++)
        explain_step(x, &steps->items[i], i + 1);
    explanation_close(x->out, ']');
    writer_bool(&x->out->facts, "othersMayAct", known && steps->others_may_act);
    if (known && steps->others_may_act)
        explain_say(x, "A ClusterOverridePolicy among them can change labels, name or namespace, "
                       "by which Karmada selects OverridePolicies after that: others than these "
                       "may act.");
}

/* The target and all further ones on which the same acts, as one. */
static void explain_alike(struct explaining *x, struct override_targets *targets, size_t first)
{
    CLEANUP(strbuf_release) struct strbuf clusters = STRBUF_INIT(EXPLAIN_VALUE_MAX_BYTES);
    const struct target *like = &targets->items[first];

    explanation_open(x->out, NULL, '{');
    writer_open(&x->out->facts, "clusters", '[');
    for (size_t i = first; i < targets->count; i++) {
        struct target *t = &targets->items[i];

        if (t->explained || t->missing != like->missing ||
            !override_steps_equal(&t->steps, &like->steps))
            continue;
        t->explained = true;
        writer_text(&x->out->facts, NULL, t->cluster);
        strbuf_addf(&clusters, "%s%s", i > first ? ", " : "", t->cluster);
    }
    writer_close(&x->out->facts, ']');
    explain_steps(x, like, clusters.data);
    explanation_close(x->out, '}');
}

/* ---- the section ---- */

void explain_overrides_of(struct explaining *x, const struct entry *template)
{
    const struct store *store = engine_store(x->engine);
    const struct binding *b = entry_binding(template_decision(template)->binding);
    bool unread = entry_template(template)->unread && store_count(store, CLASS_OVERRIDE) > 0;
    bool incomplete = engine_incomplete_classes(x->engine) & 1u << CLASS_OVERRIDE;

    if (!b)
        return;

    CLEANUP(override_targets_release) struct override_targets targets = list_targets(b);
    CLEANUP(override_selection_release)
    struct override_selection selection = override_selection_make(store, template);

    if (targets.count == 0 || (selection.count == 0 && !unread && !incomplete))
        return;
    find_steps(x->engine, &selection, &targets);
    explain_section(x, "overrides", "Overrides, in the order in which they are applied");
    writer_bool(&x->out->facts, "complete", !unread && !incomplete);
    if (unread)
        explain_say(x, "Its labels may not be read here: what selects it by them is left out.");
    if (incomplete)
        explain_say(x, "Not all override policies have been read: there may be further ones.");
    if (selection.count > 0)
        explain_say(x, "Of two that write the same path the later one wins.");
    explanation_open(x->out, "targets", '[');
    for (size_t i = 0; selection.count > 0 && i < targets.count; i++) {
        if (!targets.items[i].explained)
            explain_alike(x, &targets, i);
    }
    explanation_close(x->out, ']');
    explanation_close(x->out, '}');
}
