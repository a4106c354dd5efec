/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/text/plan_text.h"

#include "exporter/text/object_name.h"
#include "exporter/text/plan_clusters_text.h"
#include "exporter/text/plan_failures.h"
#include "exporter/text/plan_upgrade_text.h"
#include "metrics/base/json_writer.h"
#include "metrics/base/shown.h"
#include "metrics/explain/explanation.h"
#include "metrics/expose/decision_text.h"
#include "metrics/expose/report_parts.h"
#include "metrics/model/binding.h"
#include "metrics/model/kind.h"
#include "metrics/model/store.h"
#include "metrics/rules/override/override_changes.h"

enum {
    INDENT = 2,
    TEMPLATE_INDENT = 4,
    DETAIL_INDENT = 6,
    TEXT_MAX_BYTES = 1 << 20,
    NAMES_SHOWN = 3,   /* Names of a longer list, if not all are printed. */
    NAME_COLUMNS = 48, /* Maximum width of a name in a sentence, if the width is limited. */
};

/* ---- deletions ---- */

void plan_explain_missing(const struct store *store, const char *typed, struct error *err)
{
    struct error ignored;

    if (object_find(store, ~(unsigned)PLAN_DELETABLE_CLASSES, typed, &ignored))
        fail(err, "plan does not simulate the deletion of '%s'", shown(typed).text);
}

bool plan_delete_typed(struct plan *p, const struct store *store, const char *typed,
                       struct error *err)
{
    const struct entry *entry = object_find(store, PLAN_DELETABLE_CLASSES, typed, err);
    const char *name;

    if (entry)
        plan_delete(p, (struct entry *)(uintptr_t)entry);
    if (!entry)
        plan_explain_missing(store, typed, err);
    /* Sources need not read Namespaces, only the objects in them. */
    return entry || (object_name_is_namespace(typed, &name) && plan_delete_namespace(p, name));
}

/* ---- one change ---- */

static const char *const when_titles[PLAN_WHEN_COUNT] = {
    [PLAN_AT_ONCE] = "At once",
    [PLAN_AT_NEXT_CHANGE] = ("At the next change of the template, or when Karmada's controllers "
                             "restart"),
    [PLAN_NEVER] = "Same result as before",
};

static const char *when_title(const struct plan_result *r, enum plan_when when)
{
    if (r->upgrade.planned && when == PLAN_AT_NEXT_CHANGE)
        return "At the next scheduling of the template, or at its next change";
    return r->lost->count > 0 && when == PLAN_NEVER ? "Not changed by Karmada" : when_titles[when];
}

/* Returns the outcome that the change has in the end. */
static const struct outcome *final_outcome(const struct plan_template *t)
{
    return t->when == PLAN_AT_NEXT_CHANGE ? &t->next : &t->after;
}

/* Appends the state and its reason; the outcome if the state alone reads like success. */
static void add_state(struct strbuf *out, const struct outcome *o)
{
    const char *reason = o->exists ? reason_name(o->state, o->reason) : NULL;

    if (failed_outcome_text(o)) {
        strbuf_addf(out, "%s (%s)", prediction_names[o->predicted.outcome], o->predicted.reason);
        return;
    }
    strbuf_addf(out, "%s%s%s", o->exists ? state_names[o->state] : "none", reason ? " " : "",
                reason ? reason : "");
}

static void add_policy(struct strbuf *out, const struct outcome *o)
{
    if (o->policy)
        object_name_add(out, o->policy);
    else
        strbuf_adds(out, "none");
}

/* Appends the names of the clusters: all, or the first NAMES_SHOWN and the number of the others. */
static void add_cluster_names(struct strbuf *out, const struct outcome *o, bool all)
{
    if (outcome_by_release(o)) {
        strbuf_addf(out, "undetermined (release: %s)", outcome_by_release(o));
        return;
    }
    if (o->undetermined != UNDETERMINED_REASON_COUNT && o->exists) {
        strbuf_addf(out, "%s (%s)",
                    o->undetermined == UNDETERMINED_QUOTA_ORDER ? "undetermined"
                                                                : "selected by the scheduler",
                    undetermined_reason_names[o->undetermined]);
        return;
    }
    for (uint32_t i = 0; i < o->cluster_count && (all || i < NAMES_SHOWN); i++)
        strbuf_addf(out, "%s%s%s", i ? ", " : "", o->clusters[i].name,
                    o->clusters[i].item.suspended ? " (suspended)" : "");
    if (o->cluster_count == 0 && o->exists && o->binding &&
        o->predicted.outcome != PREDICTION_PLACED)
        strbuf_addf(out, "%s (%s)", prediction_names[o->predicted.outcome], o->predicted.reason);
    else if (o->cluster_count == 0)
        strbuf_adds(out, "none");
    else if (!all && o->cluster_count > NAMES_SHOWN)
        strbuf_addf(out, " and %" PRIu32 " more", o->cluster_count - NAMES_SHOWN);
}

/* Returns true if both outcomes have the same clusters, with the same or other replicas. */
static bool has_same_clusters(const struct outcome *a, const struct outcome *b)
{
    bool same = a->cluster_count == b->cluster_count && a->undetermined == b->undetermined;

    for (uint32_t i = 0; same && i < a->cluster_count; i++)
        same = outcome_find_cluster(b, a->clusters[i].name) != NULL;
    return same;
}

/* Begins the next part of a list in `out`, which began at `start`. */
static void begin_part(struct strbuf *out, size_t start)
{
    if (out->len > start)
        strbuf_adds(out, "; ");
}

/* Appends text such as "member1 -> member2"; nothing if clusters and replicas are equal. */
static void add_cluster_change(struct strbuf *out, size_t start, const struct outcome *from,
                               const struct outcome *to, bool all)
{
    if (outcome_clusters_equal(from, to))
        return;
    begin_part(out, start);
    if (!has_same_clusters(from, to)) {
        add_cluster_names(out, from, all);
        strbuf_adds(out, " -> ");
        add_cluster_names(out, to, all);
        return;
    }
    strbuf_adds(out, "replicas change in ");
    add_cluster_names(out, to, all);
}

/* Returns true if the clusters change at once, although other parts of the change wait. */
static bool changes_clusters_before(const struct plan_template *t)
{
    return t->when == PLAN_AT_NEXT_CHANGE && !outcome_clusters_equal(&t->before, &t->after);
}

/* Appends the cluster changes: a change at once first, because copies may stop by it. */
static void add_cluster_changes(struct strbuf *out, size_t start, const struct plan_template *t,
                                bool all)
{
    if (!changes_clusters_before(t)) {
        add_cluster_change(out, start, &t->before, final_outcome(t), all);
        return;
    }
    strbuf_adds(out, "at once ");
    add_cluster_change(out, out->len, &t->before, &t->after, all);
    if (outcome_clusters_equal(&t->after, &t->next))
        return;
    strbuf_adds(out, "; then ");
    if (has_same_clusters(&t->after, &t->next))
        add_cluster_change(out, out->len, &t->after, &t->next, all);
    else
        add_cluster_names(out, &t->next, all);
}

/* Returns true if `to` is no success, and add_cluster_change() does not say so. */
static bool is_failure_untold(const struct outcome *from, const struct outcome *to)
{
    return failed_outcome_text(to) && (to->cluster_count > 0 || outcome_clusters_equal(from, to));
}

/* Returns true if `to` is no success, and `from` is one, or fails for another reason. */
static bool fails_for_another_reason(const struct outcome *from, const struct outcome *to)
{
    return failed_outcome_text(to) && (from->predicted.outcome != to->predicted.outcome ||
                                       strcmp(from->predicted.reason, to->predicted.reason) != 0);
}

/* Appends text such as "current -> orphaned", "new" or "deleted"; nothing for the same state. */
static void add_state_change(struct strbuf *out, size_t start, const struct outcome *from,
                             const struct outcome *to)
{
    if (from->exists == to->exists && from->state == to->state && from->reason == to->reason)
        return;
    begin_part(out, start);
    if (from->exists && to->exists) {
        add_state(out, from);
        strbuf_adds(out, " -> ");
        add_state(out, to);
        return;
    }
    strbuf_adds(out, to->exists ? "new" : "deleted");
    if (to->exists && (to->state != STATE_CURRENT || is_failure_untold(from, to))) {
        strbuf_adds(out, ", ");
        add_state(out, to);
    }
}

/* Appends text such as "changes failover, suspension"; nothing without a changed field. */
static void add_field_names(struct strbuf *out, size_t start, const struct outcome *from,
                            const struct outcome *to, bool placement)
{
    unsigned fields = outcome_differing_fields(from, to);
    const char *between = "changes ";

    if (!placement)
        fields &= ~(1U << FIELD_PLACEMENT);
    if (fields)
        begin_part(out, start);
    for (unsigned i = 0; i < DRIFT_FIELD_COUNT; i++) {
        if (!(fields & 1U << i))
            continue;
        strbuf_addf(out, "%s%s", between, drift_field_names[i]);
        between = ", ";
    }
}

/* Returns the policy that a group of templates has in common; NULL without one. */
static const struct entry *policy_of_change(const struct plan_template *t)
{
    return t->before.policy ? t->before.policy : final_outcome(t)->policy;
}

/* Returns true if the change deletes the template, and its copies stay in the member clusters. */
static bool leaves_copies_only(const struct plan_template *t)
{
    return t->preserved && !t->after.exists;
}

/* Appends that copies stay in clusters that the template leaves. */
static void add_preserved_copies(struct strbuf *out, size_t start, const struct plan_template *t)
{
    const char *between = "preserveResourcesOnDeletion: copies stay unmanaged in ";

    if (t->preserved)
        begin_part(out, start);

    for (uint32_t i = 0; t->preserved && i < t->before.cluster_count; i++) {
        const char *name = t->before.clusters[i].name;

        if (outcome_find_cluster(&t->after, name))
            continue;
        strbuf_addf(out, "%s%s", between, name);
        between = ", ";
    }
}

/* Appends the quota that refuses the template, and the amounts. */
static void add_quota_excess(struct strbuf *out, size_t start, const struct outcome *o)
{
    if (!o->binding || !binding_rare(o->binding)->quota_excess ||
        o->predicted.outcome != PREDICTION_REFUSED)
        return;
    begin_part(out, start);
    quota_excess_add_text(binding_rare(o->binding)->quota_excess, out);
}

void plan_add_change(struct strbuf *out, const struct plan_template *t, bool all)
{
    const struct outcome *from = &t->before, *to = final_outcome(t);
    size_t start = out->len;

    if (leaves_copies_only(t)) {
        strbuf_adds(out, "deleted");
        add_preserved_copies(out, start, t);
        return;
    }
    add_cluster_changes(out, start, t, all);
    add_preserved_copies(out, start, t);
    if (outcome_waits_for_scheduling(to)) {
        begin_part(out, start);
        strbuf_adds(out, "the scheduler waits (suspended)");
    }
    if (to->exists && predicted_by_other_scheduler(to->predicted)) {
        begin_part(out, start);
        strbuf_adds(out, "undetermined (other_scheduler)");
    }
    add_state_change(out, start, from, to);
    if (from->exists && from->state == to->state && outcome_clusters_equal(from, to) &&
        fails_for_another_reason(from, to)) {
        begin_part(out, start);
        add_state(out, to);
    }
    add_quota_excess(out, start, to);
    if (from->policy && to->exists && to->policy != from->policy) {
        begin_part(out, start);
        strbuf_adds(out, "policy -> ");
        add_policy(out, to);
    }
    if (outcome_clusters_equal(from, to) && outcome_referrers_move(from, to)) {
        begin_part(out, start);
        strbuf_adds(out, "a referrer moves");
    }
    add_field_names(out, start, from, to, outcome_clusters_equal(from, to));
    if (t->when == PLAN_AT_NEXT_CHANGE && from->exists &&
        (t->after.state != from->state || t->after.reason != from->reason)) {
        begin_part(out, start);
        strbuf_adds(out, "until then ");
        add_state(out, &t->after);
    }
    if (t->loss.clusters > 0 && plan_loss_sentence(t)) {
        begin_part(out, start);
        strbuf_adds(out, plan_loss_sentence(t));
    }
    if (t->causes || t->by_restart) {
        begin_part(out, start);
        plan_add_causes(t, out);
    }
    if (out->len == start)
        strbuf_adds(out, "no difference");
}

/* ---- groups of equal changes ---- */

struct group_item {
    const struct plan_template *row;
    char *text; /* Owned: policy and change with all names. */
};

struct change_group {
    const struct group_item *items; /* Borrowed; `count` of them. */
    size_t count;
};

struct change_groups {
    struct group_item *items;
    size_t item_count;
    struct change_group *groups;
    size_t count;
};

static int compare_items(const void *a, const void *b)
{
    const struct group_item *x = a, *y = b;
    int order = (int)x->row->when - (int)y->row->when;

    order = order ? order : strcmp(x->text, y->text);
    return order ? order : (x->row > y->row) - (x->row < y->row);
}

/* Order of the groups: time, then the number of templates, then the first template. */
static int compare_groups(const void *a, const void *b)
{
    const struct change_group *x = a, *y = b;
    const struct plan_template *s = x->items->row, *t = y->items->row;
    int order = (int)s->when - (int)t->when;

    order = order ? order : (x->count < y->count) - (x->count > y->count);
    return order ? order : (s > t) - (s < t);
}

static void make_groups(const struct plan_result *r, struct change_groups *out)
{
    *out = (struct change_groups){.items = xcalloc(r->template_count + 1, sizeof(*out->items)),
                                  .item_count = r->template_count,
                                  .groups = xcalloc(r->template_count + 1, sizeof(*out->groups))};
    for (size_t i = 0; i < r->template_count; i++) {
        struct strbuf text = STRBUF_INIT(TEXT_MAX_BYTES);
        const struct entry *policy = policy_of_change(&r->templates[i]);
        size_t len;

        if (policy)
            object_name_add(&text, policy);
        strbuf_adds(&text, ": ");
        plan_add_change(&text, &r->templates[i], true);
        out->items[i] = (struct group_item){&r->templates[i], strbuf_take(&text, &len)};
    }
    if (r->template_count > 1)
        qsort(out->items, out->item_count, sizeof(*out->items), compare_items);
    for (size_t i = 0; i < out->item_count; i++) {
        const struct group_item *item = &out->items[i];

        if (i == 0 || item->row->when != item[-1].row->when ||
            strcmp(item->text, item[-1].text) != 0)
            out->groups[out->count++] = (struct change_group){item, 0};
        out->groups[out->count - 1].count++;
    }
    if (out->count > 1)
        qsort(out->groups, out->count, sizeof(*out->groups), compare_groups);
}

static void change_groups_release(struct change_groups *g)
{
    for (size_t i = 0; i < g->item_count; i++)
        free(g->items[i].text);
    free(g->items);
    free(g->groups);
}

/* Prints a line that is not wrapped: its middle is left out if it is too long. */
static void print_short_line(struct output *o, size_t indent, enum output_style style,
                             const char *text)
{
    CLEANUP(strbuf_release) struct strbuf safe = STRBUF_INIT(4 * TEXT_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(4 * TEXT_MAX_BYTES);

    output_escape(&safe, text);
    output_shorten(&line, safe.data, o->width > indent ? o->width - indent : 0);
    strbuf_addf(&o->text, "%*s", (int)indent, "");
    output_add_styled(o, style, line.data);
    strbuf_addc(&o->text, '\n');
}

/* Prints one line with the names that fit, at least one, such as "Deployment shop/a and 2 more". */
static void print_first_names(const struct change_group *g, struct output *o)
{
    CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(TEXT_MAX_BYTES);
    size_t taken = TEMPLATE_INDENT + (size_t)snprintf(NULL, 0, " and %zu more", g->count);
    size_t room = o->width > taken ? o->width - taken : 0;
    size_t shown = 0;

    for (; shown < g->count && shown < NAMES_SHOWN; shown++) {
        CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(TEXT_MAX_BYTES);

        object_name_add(&name, g->items[shown].row->template);
        if (shown > 0 && room > 0 && line.len + 2 + name.len > room)
            break;
        strbuf_adds(&line, shown ? ", " : "");
        output_shorten(&line, name.data, shown ? 0 : room);
    }
    if (g->count > shown)
        strbuf_addf(&line, " and %zu more", g->count - shown);
    print_short_line(o, TEMPLATE_INDENT, STYLE_FAINT, line.data);
}

/* Prints text such as "214 templates of pp/shop/first: member1 -> member2". */
static void print_group(const struct change_group *g, struct output *o)
{
    CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(TEXT_MAX_BYTES);
    const struct plan_template *first = g->items->row;
    const struct entry *policy = policy_of_change(first);

    if (g->count > 1)
        strbuf_addf(&line, "%zu templates", g->count);
    else
        object_name_add(&line, first->template);
    if (policy) {
        strbuf_adds(&line, " of ");
        object_name_add(&line, policy);
    }
    strbuf_adds(&line, ": ");
    plan_add_change(&line, first, false);
    output_add_line(o, INDENT, line.data);
    if (g->count > 1)
        print_first_names(g, o);
}

static void print_groups(const struct plan_result *r, struct output *o)
{
    struct change_groups g;

    make_groups(r, &g);
    for (size_t i = 0; i < g.count; i++) {
        enum plan_when when = g.groups[i].items->row->when;

        if (i == 0 || when != g.groups[i - 1].items->row->when) {
            strbuf_addc(&o->text, '\n');
            output_add_section(o, when_title(r, when), r->when[when]);
        }
        print_group(&g.groups[i], o);
    }
    change_groups_release(&g);
    if (r->template_count > 0) {
        strbuf_addc(&o->text, '\n');
        output_add_line(o, 0, "--details prints each template with its differences.");
    }
}

/* ---- details: each template with its differences ---- */

/* Prints a line of a difference, such as "+ cluster member1: 2"; "-" if `added` is false. */
static void print_difference_line(struct output *o, bool added, const char *text)
{
    CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(TEXT_MAX_BYTES);

    strbuf_addf(&line, "%c %s", added ? '+' : '-', text);
    print_short_line(o, DETAIL_INDENT, added ? STYLE_GOOD : STYLE_BAD, line.data);
}

/* Prints the clusters of `a` that are missing in `b` or have another number of replicas there. */
static void print_differing_clusters(struct output *o, const struct outcome *a,
                                     const struct outcome *b, bool added)
{
    for (uint32_t i = 0; i < a->cluster_count; i++) {
        const struct target_cluster *at = &a->clusters[i];
        const struct target_cluster *other = outcome_find_cluster(b, at->name);
        CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(TEXT_MAX_BYTES);

        if (other && other->replicas == at->replicas)
            continue;
        strbuf_addf(&line, "cluster %s", at->name);
        if (at->replicas > 0)
            strbuf_addf(&line, ": %" PRId32, at->replicas);
        strbuf_adds(&line, at->item.suspended ? " (suspended)" : "");
        print_difference_line(o, added, line.data);
    }
}

typedef void add_property_fn(struct strbuf *out, const struct outcome *o);

static void print_differing_property(struct output *o, const char *title, add_property_fn *add,
                                     const struct outcome *a, const struct outcome *b)
{
    CLEANUP(strbuf_release) struct strbuf from = STRBUF_INIT(TEXT_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf to = STRBUF_INIT(TEXT_MAX_BYTES);

    strbuf_addf(&from, "%s: ", title);
    strbuf_addf(&to, "%s: ", title);
    add(&from, a);
    add(&to, b);
    if (strcmp(from.data, to.data) == 0)
        return;
    print_difference_line(o, false, from.data);
    print_difference_line(o, true, to.data);
}

struct field_printer {
    struct output *out;
    const char *field;
};

/* Prints a line such as "+ placement.clusterAffinity.clusterNames: member2". */
static void print_field_line(void *context, const struct difference_line *l)
{
    const struct field_printer *p = context;
    CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(TEXT_MAX_BYTES);

    strbuf_addf(&line, "%s%s%s: %s", p->field, *l->path == '\0' || *l->path == '[' ? "" : ".",
                l->path, l->value);
    print_difference_line(p->out, l->sign == '+', line.data);
}

static void print_differing_fields(struct output *o, const struct outcome *a,
                                   const struct outcome *b)
{
    unsigned fields = outcome_differing_fields(a, b);

    for (unsigned i = 0; i < DRIFT_FIELD_COUNT; i++) {
        CLEANUP(strbuf_release) struct strbuf from = STRBUF_INIT(TEXT_MAX_BYTES);
        CLEANUP(strbuf_release) struct strbuf to = STRBUF_INIT(TEXT_MAX_BYTES);
        struct field_printer printer = {o, drift_field_names[i]};

        if (fields & 1U << i)
            difference_lines_each(explain_field_json(a->binding->propagation, i, &from),
                                  explain_field_json(b->binding->propagation, i, &to),
                                  print_field_line, &printer);
    }
}

/* Appends a referrer and its clusters, such as "required by rb/default/web-deployment: member1". */
static void add_referrer(struct strbuf *out, const struct outcome_referrer *r)
{
    const struct outcome clusters = {.clusters = r->clusters,
                                     .cluster_count = r->cluster_count,
                                     .undetermined = r->undetermined,
                                     .exists = true};

    strbuf_addf(out, "required by rb/%s/%s: ", r->ns, r->name);
    add_cluster_names(out, &clusters, true);
}

/* Prints the referrers of `a` that are missing in `b` or have other clusters there. */
static void print_differing_referrers(struct output *o, const struct outcome *a,
                                      const struct outcome *b, bool added)
{
    for (uint32_t i = 0; i < a->referrer_count; i++) {
        CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(TEXT_MAX_BYTES);
        bool equal = false;

        add_referrer(&line, &a->referrers[i]);
        for (uint32_t k = 0; k < b->referrer_count && !equal; k++) {
            CLEANUP(strbuf_release) struct strbuf other = STRBUF_INIT(TEXT_MAX_BYTES);

            add_referrer(&other, &b->referrers[k]);
            equal = strcmp(line.data, other.data) == 0;
        }
        if (!equal)
            print_difference_line(o, added, line.data);
    }
}

static void print_difference(struct output *o, const struct outcome *a, const struct outcome *b)
{
    print_differing_property(o, "state", add_state, a, b);
    print_differing_property(o, "policy", add_policy, a, b);
    print_differing_fields(o, a, b);
    if (b->undetermined != UNDETERMINED_REASON_COUNT && b->exists) {
        CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(TEXT_MAX_BYTES);

        if (outcome_by_release(b))
            strbuf_addf(&line, "The clusters depend on the release of Karmada: %s.",
                        outcome_by_release(b));
        else if (b->undetermined == UNDETERMINED_QUOTA_ORDER)
            strbuf_addf(&line, "Undetermined (quota_order): %s.",
                        undetermined_text(b->undetermined));
        else
            strbuf_addf(&line, "Only the scheduler can select the clusters (%s).",
                        undetermined_reason_names[b->undetermined]);
        output_add_line(o, DETAIL_INDENT, line.data);
        return;
    }
    print_differing_clusters(o, a, b, false);
    print_differing_clusters(o, b, a, true);
    print_differing_referrers(o, a, b, false);
    print_differing_referrers(o, b, a, true);
}

static void print_preserved_template(struct output *o, const struct plan_template *row)
{
    CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(TEXT_MAX_BYTES);

    plan_add_change(&line, row, true);
    output_add_line(o, DETAIL_INDENT, line.data);
}

/* Prints the sentences about copies that stay, and about a scheduler that waits. */
static void print_remarks(struct output *o, const struct plan_template *row)
{
    CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(TEXT_MAX_BYTES);

    add_preserved_copies(&line, 0, row);
    if (line.len > 0)
        output_add_line(o, DETAIL_INDENT, line.data);
    if (row->loss.clusters > 0 && plan_loss_sentence(row))
        output_add_line(o, DETAIL_INDENT, plan_loss_sentence(row));
    strbuf_reset(&line);
    add_quota_excess(&line, 0, final_outcome(row));
    if (line.len > 0) {
        strbuf_addc(&line, '.');
        output_add_line(o, DETAIL_INDENT, line.data);
    }
    if (row->causes || row->by_restart) {
        CLEANUP(strbuf_release) struct strbuf causes = STRBUF_INIT(TEXT_MAX_BYTES);

        plan_add_causes(row, &causes);
        output_add_line(o, DETAIL_INDENT, causes.data);
    }
    if (outcome_waits_for_scheduling(final_outcome(row)))
        output_add_line(o, DETAIL_INDENT,
                        "Scheduling is suspended: changes of placement and replicas wait.");
}

static void print_template(struct output *o, const struct plan_template *row)
{
    CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(TEXT_MAX_BYTES);

    object_name_add(&name, row->template);
    print_short_line(o, INDENT, STYLE_PLAIN, name.data);
    if (leaves_copies_only(row)) {
        print_preserved_template(o, row);
        return;
    }
    print_difference(o, &row->before, &row->after);
    print_remarks(o, row);
    if (row->when == PLAN_AT_NEXT_CHANGE) {
        output_add_line(o, TEMPLATE_INDENT,
                        row->at_next_scheduling ? "At its next scheduling:"
                                                : "Then, at its next change:");
        print_difference(o, &row->after, &row->next);
    }
}

static void print_details(const struct plan_result *r, struct output *o)
{
    for (unsigned when = 0; when < PLAN_WHEN_COUNT; when++) {
        if (r->when[when] == 0)
            continue;
        strbuf_addc(&o->text, '\n');
        output_add_section(o, when_title(r, when), r->when[when]);
        for (size_t i = 0; i < r->template_count; i++) {
            if (r->templates[i].when == when)
                print_template(o, &r->templates[i]);
        }
    }
}

/* ---- table with one row for each template ---- */

static void add_clusters(struct strbuf *out, const struct outcome *o)
{
    if (o->undetermined != UNDETERMINED_REASON_COUNT || o->cluster_count == 0) {
        add_cluster_names(out, o, true);
        return;
    }
    for (uint32_t i = 0; i < o->cluster_count; i++) {
        strbuf_addf(out, "%s%s", i ? "," : "", o->clusters[i].name);
        if (o->clusters[i].replicas > 0)
            strbuf_addf(out, ":%" PRId32, o->clusters[i].replicas);
        strbuf_adds(out, o->clusters[i].item.suspended ? "(suspended)" : "");
    }
}

static void add_change_cell(struct table *t, add_property_fn *add, const struct plan_template *row)
{
    CLEANUP(strbuf_release) struct strbuf from = STRBUF_INIT(TEXT_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf to = STRBUF_INIT(TEXT_MAX_BYTES);

    add(&from, &row->before);
    add(&to, final_outcome(row));
    if (add == add_clusters && changes_clusters_before(row)) {
        strbuf_adds(&from, " -> ");
        add(&from, &row->after);
    }
    if (strcmp(from.data, to.data) == 0)
        table_add(t, STYLE_PLAIN, from.data);
    else
        table_addf(t, STYLE_CAUTION, "%s -> %s", from.data, to.data);
}

static void print_wide(const struct plan_result *r, struct output *o)
{
    static const char *const headings[] = {"WHEN",  "TEMPLATE", "POLICY",
                                           "STATE", "CLUSTERS", "FIELDS"};
    CLEANUP(table_release) struct table t = table_make(headings, ARRAY_LEN(headings), 0);

    if (r->template_count == 0)
        return;
    for (size_t i = 0; i < r->template_count; i++) {
        const struct plan_template *row = &r->templates[i];
        CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(TEXT_MAX_BYTES);
        CLEANUP(strbuf_release) struct strbuf fields = STRBUF_INIT(TEXT_MAX_BYTES);

        table_add(&t, STYLE_PLAIN, plan_when_names[row->when]);
        entry_add_name(&name, row->template);
        table_add(&t, STYLE_PLAIN, name.data);
        add_change_cell(&t, add_policy, row);
        add_change_cell(&t, add_state, row);
        if (leaves_copies_only(row))
            table_add(&t, STYLE_CAUTION, "copies stay");
        else
            add_change_cell(&t, add_clusters, row);
        add_field_names(&fields, 0, &row->before, final_outcome(row), true);
        table_add(&t, STYLE_PLAIN, fields.len > 0 ? strchr(fields.data, ' ') + 1 : "-");
    }
    strbuf_addc(&o->text, '\n');
    table_print(&t, o);
}

/* ---- conflicts and member clusters ---- */

static void print_conflicts(const struct plan_result *r, struct output *o)
{
    static const char *const headings[] = {"DEPENDENCY", "CHANGE", "FIELD"};
    CLEANUP(table_release)
    struct table t = table_make(headings, ARRAY_LEN(headings), INDENT);

    if (r->conflict_count == 0)
        return;
    t.shortened = 1U << 0;
    strbuf_addc(&o->text, '\n');
    output_add_section(o, "Conflicts", r->conflict_count);
    for (size_t i = 0; i < r->conflict_count; i++) {
        const struct plan_conflict *row = &r->conflicts[i];
        struct identity id = resource_identity_of(row->dependency);

        table_add_object(&t, id.kind, id.ns, id.name);
        table_add(&t, row->appears ? STYLE_BAD : STYLE_GOOD, row->appears ? "appears" : "vanishes");
        table_add(&t, STYLE_PLAIN, dependency_field_names[row->field]);
    }
    table_print(&t, o);
}

/* Outcomes of objects of the change in text. */
static const char *const outcome_words[PREDICTION_COUNT] = {
    [PREDICTION_PLACED] = "placed",
    [PREDICTION_NOWHERE] = "nowhere",
    [PREDICTION_REFUSED] = "refused",
    [PREDICTION_IGNORED] = "ignored",
    [PREDICTION_UNDETERMINED] = "undetermined",
    [PREDICTION_NOT_SIMULATED] = "not simulated",
    [PREDICTION_STORED] = "stored",
};

/* Prints the objects of the change that do not have their whole effect, with their reasons. */
static void print_change_objects(const struct plan_result *r, struct output *o)
{
    if (r->object_count == 0)
        return;
    strbuf_addc(&o->text, '\n');
    output_add_section(o, "Objects and sources without their whole effect in this plan",
                       r->object_count);
    for (size_t i = 0; i < r->object_count; i++) {
        const struct change_object *object = &r->objects[i];
        CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(TEXT_MAX_BYTES);

        strbuf_addf(&line, "%s %s%s%s: %s. %s", object->id.kind, object->id.ns,
                    *object->id.ns ? "/" : "", object->id.name, outcome_words[object->outcome],
                    object->text);
        output_add_line(o, INDENT, line.data);
    }
}

/* ---- copies that override policies change ---- */

/* Prints a failure that the change makes appear or vanish. */
static void print_override_failure(const struct plan_override *o, struct output *out)
{
    CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(TEXT_MAX_BYTES);

    if (o->failure_after)
        strbuf_addf(&line, "%s: %s", o->failure_before ? "fails" : "will fail", o->failure_after);
    else if (o->failure_before)
        strbuf_addf(&line, "does not fail any more: %s", o->failure_before);
    if (line.len > 0)
        output_add_line(out, 2 * INDENT, line.data);
}

/* Returns true if both rows print equal lines below the names of their clusters. */
static bool overrides_print_equal(const struct plan_override *a, const struct plan_override *b)
{
    bool hidden = override_values_are_hidden(a->template);
    CLEANUP(strbuf_release) struct strbuf left = STRBUF_INIT(TEXT_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf right = STRBUF_INIT(TEXT_MAX_BYTES);

    if (a->template != b->template || a->changes.count != b->changes.count)
        return false;
    for (size_t i = 0; i < a->changes.count; i++) {
        override_change_add_text(&left, &a->changes.items[i], hidden);
        override_change_add_text(&right, &b->changes.items[i], hidden);
    }
    strbuf_addf(&left, "%s/%s", a->failure_before ? a->failure_before : "",
                a->failure_after ? a->failure_after : "");
    strbuf_addf(&right, "%s/%s", b->failure_before ? b->failure_before : "",
                b->failure_after ? b->failure_after : "");
    return strcmp(left.data, right.data) == 0;
}

/* Prints the copies that change, equal neighbours of one template once. */
static void print_overrides(const struct plan_result *r, struct output *o)
{
    if (r->override_count == 0)
        return;
    strbuf_addc(&o->text, '\n');
    output_add_section(o, "Copies that override policies change", r->override_count);
    for (size_t i = 0, next; i < r->override_count; i = next) {
        const struct plan_override *row = &r->overrides[i];
        CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(TEXT_MAX_BYTES);

        entry_add_name(&line, row->template);
        strbuf_addf(&line, " on %s", row->cluster);
        for (next = i + 1;
             next < r->override_count && overrides_print_equal(row, &r->overrides[next]); next++)
            strbuf_addf(&line, ", %s", r->overrides[next].cluster);
        output_add_line(o, INDENT, line.data);
        for (size_t k = 0; k < row->changes.count; k++) {
            strbuf_reset(&line);
            override_change_add_text(&line, &row->changes.items[k],
                                     override_values_are_hidden(row->template));
            output_add_line(o, 2 * INDENT, line.data);
        }
        print_override_failure(row, o);
    }
}

/* ---- summary ---- */

/* Appends the number with the text `one` or `many` to a list, unless the number is 0. */
static void add_count(struct strbuf *out, size_t start, size_t count, const char *one,
                      const char *many)
{
    if (count > 0)
        strbuf_addf(out, "%s%zu %s", out->len > start ? ", " : "", count, count == 1 ? one : many);
}

/* Appends the summary of a plan without affected templates and conflicts. */
static void add_no_difference(struct strbuf *out, const struct plan_result *r)
{
    if (r->override_count > 0)
        strbuf_adds(out, "No template gets another state or other clusters.");
    else if (r->object_count > 0)
        strbuf_adds(out, "The plan shows no effect on templates; see the objects below.");
    else if (r->assumptions & (1U << ASSUMED_EVICTION_OFF | 1U << ASSUMED_QUOTA))
        strbuf_adds(out, "No template changes, under the assumption below.");
    else
        strbuf_adds(out, "The change makes no difference.");
}

static size_t count_changed_twice(const struct plan_result *r)
{
    size_t count = 0;

    for (size_t i = 0; i < r->template_count; i++)
        count += changes_clusters_before(&r->templates[i]);
    return count;
}

void plan_print_summary(const struct plan_result *r, struct output *o)
{
    CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(TEXT_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf more = STRBUF_INIT(TEXT_MAX_BYTES);

    if (r->template_count > 0)
        strbuf_addf(&line, "The change affects %zu template%s: ", r->template_count,
                    r->template_count == 1 ? "" : "s");
    size_t start = line.len, twice = count_changed_twice(r);

    add_count(&line, start, r->when[PLAN_AT_ONCE], "changes at once", "change at once");
    add_count(&line, start, twice, "changes clusters at once and again later",
              "change clusters at once and again later");
    if (r->upgrade.planned)
        add_count(&line, start, r->when[PLAN_AT_NEXT_CHANGE] - twice,
                  "changes at its next scheduling", "change at their next scheduling");
    else
        add_count(&line, start, r->when[PLAN_AT_NEXT_CHANGE] - twice, "waits for its next change",
                  "wait for their next change");
    if (r->lost->count > 0)
        add_count(&line, start, r->when[PLAN_NEVER], "stays assigned as it is",
                  "stay assigned as they are");
    else
        add_count(&line, start, r->when[PLAN_NEVER], "has the same result as before",
                  "have the same result as before");
    if (line.len > 0)
        strbuf_addc(&line, '.');
    else if (r->conflict_count == 0)
        add_no_difference(&line, r);
    if (line.len > 0)
        output_add_line(o, 0, line.data);
    plan_print_replica_changes(r, o);
    add_count(&more, 0, r->override_count, "copy changes by override policies",
              "copies change by override policies");
    add_count(&more, 0, r->conflicts_appear, "conflict appears", "conflicts appear");
    add_count(&more, 0, r->conflicts_vanish, "conflict vanishes", "conflicts vanish");
    add_count(&more, 0, r->undetermined, "template has an undetermined result",
              "templates have an undetermined result");
    if (more.len > 0) {
        strbuf_addc(&more, '.');
        output_add_line(o, 0, more.data);
    }
    if (!r->settled)
        output_add_line(
            o, 0, "The simulation did not reach a stable state: the result below is intermediate.");
}

enum plan_layout plan_layout_of(const struct options *o)
{
    return o->details                 ? PLAN_LAYOUT_DETAILS
           : o->output == OUTPUT_WIDE ? PLAN_LAYOUT_WIDE
                                      : PLAN_LAYOUT_GROUPS;
}

static void print_release(const struct plan_result *r, const char *before, struct output *o)
{
    CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(TEXT_MAX_BYTES);

    release_range_describe(r->release, &line);
    strbuf_addc(&line, '.');
    strbuf_adds(&o->text, before);
    output_add_line(o, 0, line.data);
}

void plan_print(const struct plan_result *r, enum plan_layout layout, unsigned failures,
                struct output *o)
{
    const char *before = "\n";

    plan_print_summary(r, o);
    plan_print_upgrade(r, o);
    plan_print_losses(r, o);
    switch (layout) {
    case PLAN_LAYOUT_GROUPS:
        print_groups(r, o);
        break;
    case PLAN_LAYOUT_DETAILS:
        print_details(r, o);
        break;
    case PLAN_LAYOUT_WIDE:
        print_wide(r, o);
        break;
    }
    print_conflicts(r, o);
    plan_print_clusters(r, o);
    print_overrides(r, o);
    print_change_objects(r, o);
    for (unsigned i = 0; i < ASSUMPTION_COUNT; i++) {
        CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(TEXT_MAX_BYTES);

        if (!(r->assumptions & 1U << i))
            continue;
        strbuf_addf(&line, "Assumed: %s", assumption_texts[i]);
        strbuf_adds(&o->text, before);
        output_add_line(o, 0, line.data);
        before = "";
    }
    print_release(r, before, o);
    plan_print_failing_objects(r, failures, o);
}
