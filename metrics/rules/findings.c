/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/findings.h"

#include "metrics/rules/connector_conflicts.h"
#include "metrics/rules/delivery.h"
#include "metrics/rules/policy_versions.h"

#define FINDING_WORD(id, word) word,
const char *const finding_names[FINDING_CLASSES] = {FINDINGS(FINDING_WORD)};

const struct problem_class problem_class[PROBLEM_CLASSES] = {
    {FINDING_RISK, "At risk", "TEMPLATE", entry_risks, risk_texts, "whoever runs the platform"},
    {FINDING_INVALID, "Invalid policies", "POLICY", entry_policy_problems, policy_problem_texts,
     "whoever owns the policy"},
    {FINDING_BROKEN, "Broken", "OBJECT", entry_defects, defect_texts, "whoever runs the platform"},
    {FINDING_CONNECTOR, "Config Connector", "OBJECT", connector_conflicts, connector_conflict_texts,
     "whoever owns the cloud resource"},
};

/* ---- lists that an object belongs to ---- */

#define LIST(id) (1U << FINDING_##id)
static_assert(FINDING_LISTS <= 32, "a bit for each");

/* Counts a dependency's fields in conflict (fields[0]) and in predicted conflict (fields[1]). */
static void count_conflict_fields(const struct entry *entry, size_t fields[2])
{
    const struct dependency_decision *d = dependency_decision(entry);

    fields[0] = fields[1] = 0;
    for (unsigned i = 0; d && d->attached && i < DEPENDENCY_FIELD_COUNT; i++) {
        fields[0] += d->fields[i].conflict;
        fields[1] += d->fields[i].predicted;
    }
}

static unsigned lists_of_template(const struct template_decision *d)
{
    unsigned lists = d->stages.delivery.stage < STAGE_HEALTHY ? LIST(NOT_HEALTHY) : 0;

    if (d->state == STATE_PENDING && d->reason != PENDING_KIND_NOT_SELECTED)
        lists |= LIST(PENDING);
    if (d->state == STATE_STALE)
        lists |= LIST(STALE);
    if (d->state == STATE_ORPHANED)
        lists |= LIST(ORPHANED);
    return lists;
}

/* Returns true while templates run another version of the policy than the present one. */
static bool is_rolling_out(const struct entry *entry)
{
    const struct policy_decision *d = policy_decision(entry);

    return d && d->history && policy_history_count_outdated_templates(d->history) > 0;
}

static unsigned lists_of_entry(const struct entry *entry)
{
    size_t fields[2];
    unsigned lists = 0;

    if (!entry->decision)
        return 0;
    count_conflict_fields(entry, fields);
    lists |= (fields[0] > 0 ? LIST(CONFLICT) : 0) | (fields[1] > 0 ? LIST(PREDICTED) : 0);
    lists |= (entry_defects(entry) ? LIST(BROKEN) : 0) | (entry_risks(entry) ? LIST(RISK) : 0);
    lists |= (connector_conflicts(entry) ? LIST(CONNECTOR) : 0);
    lists |= (entry_policy_problems(entry) ? LIST(INVALID) : 0);
    lists |= is_rolling_out(entry) ? LIST(ROLLOUT) : 0;
    return template_decision(entry) ? lists | lists_of_template(template_decision(entry)) : lists;
}

/* ---- entries of the lists ---- */

static void drop_last_entry(struct findings *f, struct finding_list *list)
{
    store_unpin(f->walk.store, list->entries[--list->count]);
}

/*
 * Adds an entry to a list. A list with a limit is sorted; if full, it drops the last entry, perhaps
 * the new one.
 */
static void add_to_list(struct findings *f, struct finding_list *list, struct entry *entry)
{
    bool is_limited = f->shown < SIZE_MAX;
    size_t place = is_limited ? entry_sort_index(list->entries, list->count, entry) : list->count;

    list->found++;
    if (place == f->shown || (place < list->count && list->entries[place] == entry))
        return;
    if (list->count == f->shown)
        drop_last_entry(f, list);
    /* The array is full if the count is a power of two; its size doubles then. */
    if ((list->count & (list->count - 1)) == 0)
        list->entries =
            xreallocarray(list->entries, list->count ? list->count * 2 : 1, sizeof(struct entry *));
    memmove(&list->entries[place + 1], &list->entries[place],
            (list->count - place) * sizeof(struct entry *));
    list->entries[place] = entry;
    list->count++;
    store_pin(entry);
}

static int compare_entries(const void *a, const void *b)
{
    return entry_compare(*(const struct entry *const *)a, *(const struct entry *const *)b);
}

/* Removes the entries that no longer belong to the list, and sorts a list without limit. */
static void finish_list(struct findings *f, unsigned which)
{
    struct finding_list *list = &f->lists[which];
    size_t kept = 0;

    for (size_t i = 0; i < list->count; i++) {
        if (lists_of_entry(list->entries[i]) & 1U << which)
            list->entries[kept++] = list->entries[i];
        else
            store_unpin(f->walk.store, list->entries[i]);
    }
    list->count = kept;
    if (kept > 1 && f->shown == SIZE_MAX)
        qsort(list->entries, kept, sizeof(struct entry *), compare_entries);
}

/* ---- visit of all objects ---- */

static void add_entry_to_lists(struct findings *f, struct entry *entry)
{
    const struct template_decision *d = template_decision(entry);
    unsigned lists = lists_of_entry(entry);
    size_t fields[2];

    f->bindings += entry_class(entry) == CLASS_BINDING;
    f->policies += entry_class(entry) == CLASS_POLICY;
    if (d) {
        f->templates++;
        f->states[d->state]++;
        f->not_selected += d->state == STATE_PENDING && d->reason == PENDING_KIND_NOT_SELECTED;
    }
    if (lists & (LIST(CONFLICT) | LIST(PREDICTED))) {
        count_conflict_fields(entry, fields);
        f->conflict_fields[0] += fields[0];
        f->conflict_fields[1] += fields[1];
    }
    for (unsigned i = 0; lists >> i != 0; i++) {
        if (lists & 1U << i)
            add_to_list(f, &f->lists[i], entry);
    }
}

void findings_begin(struct findings *f, struct store *store, size_t shown)
{
    *f =
        (struct findings){.walk = store_walk_begin(store, (1U << CLASS_COUNT) - 1), .shown = shown};
}

bool findings_step(struct findings *f, size_t budget)
{
    for (; budget > 0; budget--) {
        struct entry *entry = store_walk_next(&f->walk);

        if (!entry) {
            for (unsigned i = 0; i < FINDING_LISTS; i++)
                finish_list(f, i);
            return true;
        }
        if (entry_exists(entry) && (!f->ns || strcmp(f->ns, entry_ns(entry)) == 0))
            add_entry_to_lists(f, entry);
    }
    return false;
}

void findings_gather(struct store *store, struct findings *out)
{
    findings_begin(out, store, SIZE_MAX);
    findings_step(out, SIZE_MAX);
}

void findings_gather_in(struct store *store, const char *ns, size_t shown, struct findings *out)
{
    findings_begin(out, store, shown);
    out->ns = ns;
    findings_step(out, SIZE_MAX);
}

void findings_release(struct findings *f)
{
    store_walk_stop(&f->walk);
    for (unsigned i = 0; i < FINDING_LISTS; i++) {
        while (f->lists[i].count > 0)
            drop_last_entry(f, &f->lists[i]);
        free(f->lists[i].entries);
    }
    *f = (struct findings){0};
}

size_t findings_count(const struct findings *f, enum finding_class class)
{
    if (class == FINDING_CONFLICT || class == FINDING_PREDICTED)
        return f->conflict_fields[class == FINDING_PREDICTED];
    return f->lists[class].found;
}
