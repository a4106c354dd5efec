/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/explain/explain_overrides.h"

#include "metrics/expose/decision_text.h"
#include "metrics/expose/report_parts.h"
#include "metrics/model/template.h"
#include "metrics/rules/override/override_changes.h"
#include "metrics/rules/prediction.h"

enum { LINE_MAX_BYTES = 1 << 16, CHANGES_SHOWN = 20, TEMPLATES_MAX = 100, TEMPLATES_SHOWN = 20 };

/* ---- facts of one cluster ---- */

static void write_rule(struct json_writer *w, const struct entry *policy,
                       const struct override_rule *rule)
{
    report_put_policy(w, "policy", policy_name_of(policy));
    if (entry_override(policy)->deprecated)
        json_writer_text(w, "rule", NULL);
    else
        json_writer_int(w, "rule", override_rule_index(policy, rule));
}

static void write_applied(struct json_writer *w, const struct applied_override *applied)
{
    json_writer_open(w, NULL, '{');
    write_rule(w, applied->policy, applied->rule);
    json_writer_open(w, "paths", '[');
    for (size_t i = 0; i < applied->changes.count; i++)
        json_writer_text(w, NULL, applied->changes.items[i].path);
    json_writer_close(w, ']');
    json_writer_close(w, '}');
}

/* Writes the rules that apply, without their effect. */
static void write_steps(struct json_writer *w, const struct override_steps *steps)
{
    for (size_t i = 0; i < steps->count; i++) {
        json_writer_open(w, NULL, '{');
        write_rule(w, steps->items[i].by->policy, steps->items[i].rule);
        json_writer_close(w, '}');
    }
}

static void write_error(struct json_writer *w, const struct override_effect *effect, bool hidden)
{
    if (!effect->failed_policy) {
        json_writer_text(w, "error", NULL);
        return;
    }
    json_writer_open(w, "error", '{');
    write_rule(w, effect->failed_policy, effect->failed_rule);
    json_writer_text(w, "message", override_failure_text(effect, hidden));
    json_writer_bool(w, "panic", effect->panicked);
    json_writer_close(w, '}');
}

/* The template and its effects, while they are explained. */
struct explained_overrides {
    struct explain_context *x;
    const struct template_overrides *overrides;
    bool hidden;   /* override_values_are_hidden() */
    bool complete; /* All override policies, and the labels of the template, have been read. */
};

/* Returns why the effect on a cluster is unknown; NULL if it is known. */
static const char *unknown_reason(const struct target_override *t)
{
    if (t->missing)
        return "no Cluster has this name, so Karmada updates nothing there";
    if (t->steps.unsure || t->effect.unsure)
        return "unknown, because a targetCluster selects by more than names, and the Clusters have "
               "not been read";
    if (t->steps.release_decides || t->effect.release_decides)
        return "unknown, because a targetCluster selects by zones, and the releases that Karmada "
               "may have match zones differently. Set --karmada.version";
    return NULL;
}

static void write_target(const struct explained_overrides *o, const struct target_override *t)
{
    struct json_writer *w = &o->x->out->facts;
    bool known = !unknown_reason(t);

    json_writer_text(w, "cluster", t->cluster);
    json_writer_bool(w, "predicted", o->overrides->predicted);
    json_writer_bool(w, "known", known && o->overrides->evaluated);
    json_writer_open(w, "applied", '[');
    for (size_t i = 0; known && i < t->effect.applied_count; i++)
        write_applied(w, &t->effect.applied[i]);
    if (known && !o->overrides->evaluated)
        write_steps(w, &t->steps);
    json_writer_close(w, ']');
    if (!known || !o->overrides->evaluated) {
        json_writer_text(w, "changes", NULL);
        json_writer_text(w, "error", NULL);
        return;
    }
    override_changes_write(w, &t->effect.changes, o->hidden);
    write_error(w, &t->effect, o->hidden);
}

/* ---- text of one cluster ---- */

static const char *selects_by(const struct override_selection *selection,
                              const struct entry *policy)
{
    for (size_t i = 0; i < selection->count; i++) {
        if (selection->items[i].policy == policy)
            return entry_override(policy)->selector_count > 0
                       ? selector_score_text(selection->items[i].score)
                       : NULL;
    }
    return "its changed fields";
}

/* Appends the name and place of a rule, such as "OverridePolicy a/o, overrideRules[0]". */
static void add_rule_name(const struct explained_overrides *o, struct strbuf *out,
                          const struct entry *policy, const struct override_rule *rule)
{
    strbuf_adds(out, explain_name(o->x, policy));
    if (entry_override(policy)->deprecated)
        strbuf_adds(out, ", spec.overriders");
    else
        strbuf_addf(out, ", overrideRules[%" PRIu32 "]", override_rule_index(policy, rule));
}

static void explain_rule(const struct explained_overrides *o, size_t number,
                         const struct entry *policy, const struct override_rule *rule,
                         const struct override_changes *changes)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(LINE_MAX_BYTES);
    const char *by = selects_by(&o->overrides->selection, policy);
    bool effective = !rule->empty && (!changes || changes->count > 0);

    strbuf_addf(&text, "%zu. ", number);
    add_rule_name(o, &text, policy, rule);
    strbuf_addf(&text, ", selects %s%s%s", by ? "by " : "everything", by ? by : "",
                effective ? "" : ", and changes nothing");
    explain_detail(o->x, "%s", text.data);
    for (size_t i = 0; changes && i < changes->count && i < CHANGES_SHOWN; i++) {
        strbuf_reset(&text);
        override_change_add_text(&text, &changes->items[i], o->hidden);
        explain_detail(o->x, "%s", text.data);
    }
    if (changes && changes->count > CHANGES_SHOWN)
        explain_detail(o->x, "and %zu more changes: see --output json",
                       changes->count - CHANGES_SHOWN);
}

static void explain_failure(const struct explained_overrides *o,
                            const struct override_effect *effect)
{
    CLEANUP(strbuf_release) struct strbuf rule = STRBUF_INIT(LINE_MAX_BYTES);

    add_rule_name(o, &rule, effect->failed_policy, effect->failed_rule);
    explain_paragraph(o->x, "%s fails: %s.", rule.data, override_failure_text(effect, o->hidden));
    if (effect->panicked)
        explain_paragraph(o->x, "Karmada's controller panics at this rule: it also stops the "
                                "delivery to the clusters after this one.");
    else
        explain_paragraph(o->x, "Karmada then applies no further rule, and neither creates nor "
                                "updates the Work for the cluster.");
}

/* Returns true if one JSON pointer is the other, or is above it. */
static bool paths_overlap(const char *a, const char *b)
{
    size_t len = strlen(a) < strlen(b) ? strlen(a) : strlen(b);

    return strncmp(a, b, len) == 0 && (a[len] == '\0' || a[len] == '/') &&
           (b[len] == '\0' || b[len] == '/');
}

/* Returns the rule that changes the path and is not of the policy, before `end`, or NULL. */
static const struct applied_override *find_writer(const struct override_effect *effect,
                                                  size_t start, size_t end, const char *path,
                                                  const struct entry *policy)
{
    for (size_t i = end; i > start; i--) {
        const struct applied_override *applied = &effect->applied[i - 1];

        for (size_t k = 0; applied->policy != policy && k < applied->changes.count; k++) {
            if (paths_overlap(applied->changes.items[k].path, path))
                return applied;
        }
    }
    return NULL;
}

/* Adds a line for each path that several policies write: the last one wins. */
static void explain_overwritten(const struct explained_overrides *o,
                                const struct override_effect *effect)
{
    for (size_t i = 0; i < effect->applied_count; i++) {
        const struct applied_override *last = &effect->applied[i];

        for (size_t k = 0; k < last->changes.count; k++) {
            const char *path = last->changes.items[k].path;
            const struct applied_override *earlier = find_writer(effect, 0, i, path, last->policy);

            if (earlier && !find_writer(effect, i + 1, effect->applied_count, path, NULL))
                explain_paragraph(o->x,
                                  "Several override policies write %s: %s is applied after %s, "
                                  "and wins.",
                                  path, explain_name(o->x, last->policy),
                                  explain_name(o->x, earlier->policy));
        }
    }
}

/* Adds the lines about the target, for all clusters in `clusters`. */
static void explain_target(const struct explained_overrides *o, const struct target_override *t,
                           const char *clusters)
{
    const struct override_effect *effect = &t->effect;
    const char *reason = unknown_reason(t);
    const char *predicted = o->overrides->predicted ? " (predicted)" : "";
    size_t count = o->overrides->evaluated ? effect->applied_count : t->steps.count;

    if (reason) {
        explain_paragraph(o->x, "On %s%s: %s.", clusters, predicted, reason);
        return;
    }
    explain_paragraph(o->x, "On %s%s:%s", clusters, predicted,
                      count > 0 || effect->failed_policy ? "" : " no override policy.");
    for (size_t i = 0; i < count; i++) {
        if (o->overrides->evaluated)
            explain_rule(o, i + 1, effect->applied[i].policy, effect->applied[i].rule,
                         &effect->applied[i].changes);
        else
            explain_rule(o, i + 1, t->steps.items[i].by->policy, t->steps.items[i].rule, NULL);
    }
    explain_overwritten(o, effect);
    if (effect->failed_policy)
        explain_failure(o, effect);
    if (!o->overrides->evaluated && t->steps.others_may_act)
        explain_paragraph(o->x, "A ClusterOverridePolicy changes labels, name or namespace, and "
                                "Karmada selects OverridePolicies after that: further override "
                                "policies may apply.");
}

/* Returns true if both targets have one text. */
static bool has_equal_text(const struct target_override *a, const struct target_override *b)
{
    return a->missing == b->missing && override_steps_equal(&a->steps, &b->steps) &&
           override_effects_equal(&a->effect, &b->effect);
}

/* ---- selected policies without effect ---- */

/* Adds a line for each selected policy without a rule for any target. */
static void explain_idle_policies(const struct explained_overrides *o)
{
    const struct template_overrides *all = o->overrides;

    for (size_t i = 0; i < all->selection.count; i++) {
        const struct overriding *by = &all->selection.items[i];
        bool acts = false;

        for (size_t k = 0; k < all->count; k++) {
            acts |= all->items[k].missing || all->items[k].steps.unsure;
            for (size_t n = 0; n < all->items[k].steps.count; n++)
                acts |= all->items[k].steps.items[n].by == by;
        }
        if (!acts)
            explain_paragraph(o->x,
                              "%s selects the template, but no rule of it matches a cluster of the "
                              "template.",
                              explain_name(o->x, by->policy));
    }
}

/* ---- section of a template ---- */

/* Adds lines about data that has not been read. */
static void explain_gaps(const struct explained_overrides *o, bool unread, bool incomplete)
{
    if (unread)
        explain_paragraph(o->x, "The labels of the template cannot be read: override policies that "
                                "select it by labels are left out.");
    if (incomplete)
        explain_paragraph(o->x, "Not all override policies have been read: there may be further "
                                "ones.");
    if (!o->overrides->evaluated && o->overrides->count > 0)
        explain_paragraph(o->x, "Only the metadata of the template have been read, so the changes "
                                "are unknown. If two rules write the same path, the later one "
                                "wins.");
}

/* Names the override policies of a template with unknown member clusters. */
static void explain_waiting_policies(const struct explained_overrides *o,
                                     const struct entry *template)
{
    CLEANUP(strbuf_release) struct strbuf names = STRBUF_INIT(EXPLAIN_VALUE_MAX_BYTES);
    const struct override_selection *selection = &o->overrides->selection;

    if (!o->overrides->predicted || !template_waits_for_placement(template))
        return;
    for (size_t i = 0; i < selection->count; i++)
        strbuf_addf(&names, "%s%s", i > 0 ? ", " : "",
                    explain_name(o->x, selection->items[i].policy));
    explanation_open(o->x->out, "overrides", '[');
    explanation_add_line(o->x->out, EXPLAIN_HEADING, "Override policies");
    explain_paragraph(o->x,
                      "Override policies that select the template, in the order in which Karmada "
                      "applies them: %s. Their effect is unknown, because the member clusters of "
                      "the template are.",
                      names.data);
    explanation_close(o->x->out, ']');
}

/* Adds the target at `at`, with the text for all later equal targets unless one had it already. */
static void explain_target_at(const struct explained_overrides *o, size_t at)
{
    CLEANUP(strbuf_release) struct strbuf clusters = STRBUF_INIT(EXPLAIN_VALUE_MAX_BYTES);
    const struct target_override *items = o->overrides->items;

    for (size_t i = 0; i < at; i++) {
        if (has_equal_text(&items[i], &items[at]))
            return;
    }
    for (size_t i = at; i < o->overrides->count; i++) {
        if (has_equal_text(&items[at], &items[i]))
            strbuf_addf(&clusters, "%s%s", i > at ? ", " : "", items[i].cluster);
    }
    explain_target(o, &items[at], clusters.data);
}

void explain_template_overrides(struct explain_context *x, const struct entry *template)
{
    const struct rule_context *c = engine_context_const(x->engine);
    bool unread =
        entry_template(template)->unread && store_object_count(c->store, CLASS_OVERRIDE) > 0;
    bool incomplete = engine_incomplete_classes(x->engine) & 1U << CLASS_OVERRIDE;
    CLEANUP(template_overrides_release)
    struct template_overrides overrides = template_overrides_make(c, template, false);
    const struct explained_overrides o = {
        .x = x,
        .overrides = &overrides,
        .hidden = override_values_are_hidden(template),
        .complete = !unread && !incomplete,
    };

    bool has_targets = template_decision(template)->target_count > 0 &&
                       decision_binding(template_decision(template));

    if (overrides.count == 0 && overrides.selection.count > 0)
        explain_waiting_policies(&o, template);
    if (overrides.count == 0 && (o.complete || !has_targets))
        return;
    json_writer_bool(&x->out->facts, "overridesComplete", o.complete);
    explanation_open(x->out, "overrides", '[');
    explanation_add_line(x->out, EXPLAIN_HEADING,
                         "Override policies, in the order in which Karmada applies them");
    explain_gaps(&o, unread, incomplete);
    for (size_t i = 0; i < overrides.count; i++) {
        explanation_open(x->out, NULL, '{');
        write_target(&o, &overrides.items[i]);
        explain_target_at(&o, i);
        explanation_close(x->out, '}');
    }
    explain_idle_policies(&o);
    explanation_close(x->out, ']');
}

/* ---- section of an override policy ---- */

/* Totals over the templates that an override policy selects. */
struct effect_totals {
    size_t templates; /* Templates with a line. */
    size_t unknown;   /* Templates of which the whole object is not known. */
    size_t copies;    /* Targets of which the effect is known. */
    size_t changed;   /* Targets that a rule changes. */
    size_t failed;    /* Targets for which a rule fails. */
};

/* Appends the lines about the rules of the policy on one target; empty without an effect. */
static void add_effect_lines(const struct explained_overrides *o, const struct target_override *t,
                             const struct entry *policy, struct strbuf *out)
{
    for (size_t i = 0; i < t->effect.applied_count; i++) {
        const struct applied_override *applied = &t->effect.applied[i];

        for (size_t k = 0; applied->policy == policy && k < applied->changes.count; k++) {
            if (k == CHANGES_SHOWN) {
                strbuf_addf(out, "and %zu more\n", applied->changes.count - k);
                break;
            }
            override_change_add_text(out, &applied->changes.items[k], o->hidden);
            strbuf_addc(out, '\n');
        }
    }
    if (t->effect.failed_policy == policy)
        strbuf_addf(out, "fails: %s\n", override_failure_text(&t->effect, o->hidden));
    else if (t->effect.failed_policy)
        strbuf_addf(out, "%s fails for the cluster\n", explain_name(o->x, t->effect.failed_policy));
}

static void write_effect(const struct explained_overrides *o, const struct entry *template,
                         const struct target_override *t, const struct entry *policy)
{
    struct json_writer *w = &o->x->out->facts;

    json_writer_open(w, NULL, '{');
    report_put_object(w, template);
    json_writer_text(w, "cluster", t->cluster);
    json_writer_bool(w, "predicted", o->overrides->predicted);
    json_writer_open(w, "applied", '[');
    for (size_t i = 0; i < t->effect.applied_count; i++) {
        const struct applied_override *applied = &t->effect.applied[i];

        if (applied->policy != policy)
            continue;
        json_writer_open(w, NULL, '{');
        write_rule(w, policy, applied->rule);
        override_changes_write(w, &applied->changes, o->hidden);
        json_writer_close(w, '}');
    }
    json_writer_close(w, ']');
    write_error(w, &t->effect, o->hidden);
    json_writer_close(w, '}');
}

/* Adds the lines in `text` as details, after a heading with the template and its clusters. */
static void explain_effect(const struct explained_overrides *o, const struct entry *template,
                           const char *clusters, char *text)
{
    char *line, *rest = text;

    explain_paragraph(o->x, "%s on %s%s:%s", explain_name(o->x, template), clusters,
                      o->overrides->predicted ? " (predicted)" : "", *text ? "" : " no change.");
    while ((line = strsep(&rest, "\n")) && *line)
        explain_detail(o->x, "%s", line);
}

/* Adds the effects on one template, clusters with equal lines once. */
static void explain_effects_on(const struct explained_overrides *o, const struct entry *template,
                               const struct entry *policy, struct effect_totals *totals)
{
    const struct template_overrides *all = o->overrides;
    struct strbuf *texts = xcalloc(all->count + 1, sizeof(*texts));
    bool shown = totals->templates < TEMPLATES_SHOWN;

    totals->templates += all->count > 0;
    for (size_t i = 0; i < all->count; i++) {
        texts[i] = STRBUF_INIT(EXPLAIN_VALUE_MAX_BYTES);
        add_effect_lines(o, &all->items[i], policy, &texts[i]);
        write_effect(o, template, &all->items[i], policy);
        totals->copies++;
        totals->changed += texts[i].len > 0 && !all->items[i].effect.failed_policy;
        totals->failed += all->items[i].effect.failed_policy == policy;
    }
    for (size_t i = 0; shown && i < all->count; i++) {
        CLEANUP(strbuf_release) struct strbuf clusters = STRBUF_INIT(LINE_MAX_BYTES);
        bool earlier = false;

        for (size_t k = 0; k < i; k++)
            earlier |= strcmp(texts[k].data, texts[i].data) == 0;
        for (size_t k = i; !earlier && k < all->count; k++) {
            if (strcmp(texts[k].data, texts[i].data) == 0)
                strbuf_addf(&clusters, "%s%s", k > i ? ", " : "", all->items[k].cluster);
        }
        if (!earlier) {
            CLEANUP(free_cleanup) char *text = xstrdup(texts[i].data);

            explain_effect(o, template, clusters.data, text);
        }
    }
    for (size_t i = 0; i < all->count; i++)
        strbuf_release(&texts[i]);
    free(texts);
}

static void explain_totals(struct explain_context *x, const struct effect_totals *totals,
                           size_t left_out)
{
    if (totals->copies + totals->unknown == 0)
        explain_paragraph(x,
                          "The member clusters of the templates are unknown, or there are none.");
    if (totals->templates > TEMPLATES_SHOWN)
        explain_paragraph(x, "And %zu more templates: see --output json.",
                          totals->templates - TEMPLATES_SHOWN);
    if (left_out > 0)
        explain_paragraph(x, "%zu further templates are not evaluated.", left_out);
    if (totals->unknown > 0)
        explain_paragraph(x,
                          "Of %zu templates only the metadata have been read: the effect on them "
                          "is unknown.",
                          totals->unknown);
    if (totals->copies > 0 && totals->changed + totals->failed == 0 && totals->unknown == 0)
        explain_paragraph(x, "The override policy has no effect: no rule of it changes a copy of a "
                             "template.");
}

void explain_override_effects(struct explain_context *x, const struct entry *policy)
{
    const struct rule_context *c = engine_context_const(x->engine);
    CLEANUP(listing_release) struct listing all = listing_make(c->store, CLASS_TEMPLATE);
    struct effect_totals totals = {0};
    size_t count = 0;

    for (size_t i = 0; i < all.count; i++) {
        if (entry_exists(all.entries[i]) && template_decision(all.entries[i]) &&
            override_selects(policy, all.entries[i]))
            all.entries[count++] = all.entries[i];
    }
    if (count == 0)
        return;
    explain_open_section(x, "effects", "Effect on the copies of the templates");
    explanation_open(x->out, "items", '[');
    for (size_t i = 0; i < count && i < TEMPLATES_MAX; i++) {
        CLEANUP(template_overrides_release)
        struct template_overrides overrides = template_overrides_make(c, all.entries[i], false);
        const struct explained_overrides o = {
            .x = x,
            .overrides = &overrides,
            .hidden = override_values_are_hidden(all.entries[i]),
            .complete = true,
        };

        totals.unknown += !overrides.evaluated;
        if (overrides.evaluated)
            explain_effects_on(&o, all.entries[i], policy, &totals);
    }
    explanation_close(x->out, ']');
    explain_totals(x, &totals, count > TEMPLATES_MAX ? count - TEMPLATES_MAX : 0);
    explanation_close(x->out, '}');
}
