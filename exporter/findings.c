/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/findings.h"

#include "metrics/rules/connector.h"
#include "metrics/rules/risk.h"

#define FINDING_WORD(id, word, one, many) word,
#define CONSEQUENCE_WORD(id, word)        word,
const char *const fail_on_names[CONSEQUENCE_END + 1] = {FINDINGS(FINDING_WORD)
                                                            CONSEQUENCES(CONSEQUENCE_WORD) NULL};

const char *finding_noun(enum finding_class class, size_t count)
{
#define FINDING_NOUNS(id, word, one, many) {one, many},
    static const char *const nouns[FINDING_CLASSES][2] = {FINDINGS(FINDING_NOUNS)};

    return nouns[class][count != 1];
}

const struct finding_wrongs finding_wrongs[FINDING_WRONGS] = {
    {FINDING_RISK, "At risk", "TEMPLATE", entry_risks, risk_texts},
    {FINDING_INVALID, "Invalid policies", "POLICY", entry_policy_problems, policy_problem_texts},
    {FINDING_BROKEN, "Broken", "OBJECT", entry_defects, defect_texts},
    {FINDING_CONNECTOR, "Config Connector", "OBJECT", connector_conflicts,
     connector_conflict_texts},
};

static void keep(struct listing *list, const struct entry *entry)
{
    /* The room doubles each time it is full, which is whenever the count is a power of two. */
    if ((list->count & (list->count - 1)) == 0)
        list->entries = xreallocarray(list->entries, list->count ? list->count * 2 : 1,
                                      sizeof(const struct entry *));
    list->entries[list->count++] = entry;
}

static void add_dependency(struct findings *f, const struct entry *entry)
{
    const struct dependency_decision *d = dependency_decision(entry);
    bool conflict = false;
    bool predicted = false;

    if (!d || !d->attached)
        return;
    for (unsigned i = 0; i < DEPENDENCY_FIELD_COUNT; i++) {
        conflict |= d->fields[i].conflict;
        predicted |= d->fields[i].predicted;
    }
    if (conflict)
        keep(&f->lists[FINDING_CONFLICT], entry);
    if (predicted)
        keep(&f->lists[FINDING_PREDICTED], entry);
}

static void add_template(struct findings *f, const struct entry *entry)
{
    const struct template_decision *d = template_decision(entry);

    if (!d)
        return;
    f->templates++;
    f->states[d->state]++;
    if (d->state == STATE_PENDING && d->reason == PENDING_KIND_NOT_SELECTED)
        f->not_selected++;
    else if (d->state == STATE_PENDING)
        keep(&f->lists[FINDING_PENDING], entry);
    else if (d->state == STATE_STALE)
        keep(&f->lists[FINDING_STALE], entry);
    else if (d->state == STATE_ORPHANED)
        keep(&f->lists[FINDING_ORPHANED], entry);
    if (d->state == STATE_STALE && d->phase == PHASE_OVERDUE)
        keep(&f->lists[FINDING_OVERDUE], entry);
    f->stages[d->way.at.stage]++;
    if (d->way.delivery.stage != STAGE_NONE)
        f->deliveries[d->way.delivery.stage]++;
    if (d->way.delivery.stage < STAGE_HEALTHY)
        keep(&f->held, entry);
    add_dependency(f, entry);
}

static void add_entry(struct findings *f, const struct entry *entry, enum object_class class)
{
    if (entry_defects(entry))
        keep(&f->lists[FINDING_BROKEN], entry);
    if (entry_risks(entry))
        keep(&f->lists[FINDING_RISK], entry);
    if (connector_conflicts(entry))
        keep(&f->lists[FINDING_CONNECTOR], entry);
    if (class == CLASS_TEMPLATE) {
        add_template(f, entry);
    } else if (class == CLASS_BINDING) {
        f->bindings++;
        add_dependency(f, entry);
    } else if (class == CLASS_POLICY) {
        const struct policy_decision *d = policy_decision(entry);

        f->policies++;
        if (d && d->problems)
            keep(&f->lists[FINDING_INVALID], entry);
    }
}

static int by_identity(const void *a, const void *b)
{
    return entry_compare(*(const struct entry *const *)a, *(const struct entry *const *)b);
}

static void sort(struct listing *list)
{
    if (list->count > 1)
        qsort(list->entries, list->count, sizeof(const struct entry *), by_identity);
}

void findings_gather(const struct engine *engine, struct findings *out)
{
    const struct store *store = engine_store(engine);

    *out = (struct findings){0};
    for (const struct type *type = store_types(store); type; type = type->next) {
        for (const struct partition *partition = type->partitions; partition;
             partition = partition->next_of_type) {
            for (size_t i = 0; i < partition->count; i++) {
                if (entry_exists(partition->entries[i]))
                    add_entry(out, partition->entries[i], type->def->class);
            }
        }
    }
    sort(&out->held);
    for (unsigned i = 0; i < FINDING_CLASSES; i++)
        sort(&out->lists[i]);
}

void findings_release(struct findings *f)
{
    listing_release(&f->held);
    for (unsigned i = 0; i < FINDING_CLASSES; i++)
        listing_release(&f->lists[i]);
}

size_t findings_count(const struct findings *f, enum finding_class class)
{
    static const enum stage deliveries[FINDING_CLASSES] = {
        [FINDING_EVICTING] = STAGE_EVICTING,
        [FINDING_UNSCHEDULED] = STAGE_UNSCHEDULED,
        [FINDING_PLACED_NOWHERE] = STAGE_PLACED_NOWHERE,
        [FINDING_UNDISPATCHED] = STAGE_UNDISPATCHED,
        [FINDING_UNAPPLIED] = STAGE_UNAPPLIED,
        [FINDING_UNDELIVERED] = STAGE_UNDELIVERED,
        [FINDING_UNHEALTHY] = STAGE_UNHEALTHY,
        [FINDING_UNREACHABLE] = STAGE_UNREACHABLE,
    };
    const struct listing *list = &f->lists[class];
    size_t count = 0;

    if (class == FINDING_UNBOUND)
        return f->states[STATE_UNBOUND];
    if (class == FINDING_UNMATCHED)
        return f->stages[STAGE_UNMATCHED] - f->states[STATE_IGNORED];
    if (class == FINDING_OUTDATED)
        return f->stages[STAGE_OUTDATED];
    if (deliveries[class])
        return f->deliveries[deliveries[class]];
    if (class != FINDING_CONFLICT && class != FINDING_PREDICTED)
        return list->count;
    for (size_t i = 0; i < list->count; i++) {
        const struct dependency_decision *d = dependency_decision(list->entries[i]);

        for (unsigned k = 0; k < DEPENDENCY_FIELD_COUNT; k++)
            count += class == FINDING_CONFLICT ? d->fields[k].conflict : d->fields[k].predicted;
    }
    return count;
}
