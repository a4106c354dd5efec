/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/priority.h"

#include "metrics/model/store.h"
#include "metrics/model/template.h"

/* As a template, and as a setting where it is none; only the latter has a value in a cluster. */
static const char *const versions[] = {PRIORITY_CLASS_API_VERSION, "policy.karmada.io/v1alpha1"};

static size_t count_classes(const struct store *store)
{
    size_t count = 0;

    for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
        const struct type *type = store_find_type(store, versions[i], PRIORITY_CLASS_KIND);

        count += type ? type->objects : 0;
    }
    return count;
}

static struct priority resolve(struct store *store, const char *name, struct entry_list *reads)
{
    struct priority priority = {.state = PRIORITY_MISSING};

    for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
        struct entry *entry =
            store_refer(store, &(struct identity){versions[i], PRIORITY_CLASS_KIND, "", name});
        const struct template *t = entry_template_or_setting(entry);

        entry_list_add(reads, entry);
        if (t && priority.state != PRIORITY_VALUE)
            priority = (struct priority){t->has_priority ? PRIORITY_VALUE : PRIORITY_UNKNOWN,
                                         t->priority, t->created_ms};
    }
    return priority;
}

struct priority priority_of(struct store *store, gate_set gates, const struct policy *policy,
                            struct entry_list *reads)
{
    struct priority priority = {.state = PRIORITY_NONE};

    if (!policy->propagation.schedule_priority)
        return priority;
    if (policy->priority_class)
        priority = resolve(store, policy->priority_class, reads);
    if (!policy->priority_class || policy->priority_refused)
        priority.state = PRIORITY_MISSING;
    if (!gate_is_on(gates, GATE_PRIORITY_BASED_SCHEDULING) || count_classes(store) == 0)
        priority.state = PRIORITY_UNKNOWN;
    return priority;
}

bool priority_classes_incomplete(const struct incomplete *i)
{
    bool incomplete = false;

    for (size_t at = 0; at < ARRAY_LEN(versions); at++)
        incomplete = incomplete || incomplete_has(i, versions[at], PRIORITY_CLASS_KIND);
    return incomplete;
}

void priority_changed(const struct store *store, struct graph *graph, const struct entry *entry,
                      const void *old)
{
    if (strcmp(entry_kind(entry), PRIORITY_CLASS_KIND) != 0)
        return;
    graph_mark_readers(graph, entry);
    if (count_classes(store) == (entry_exists(entry) ? 1 : 0) && !old != !entry_exists(entry))
        graph_mark_class(graph, CLASS_POLICY);
}

bool priority_is(const char *text, int32_t value)
{
    char expected[40];

    snprintf(expected, sizeof(expected), "{\"priority\":%" PRId32 "}", value);
    return text ? strcmp(text, expected) == 0 : value == 0;
}
