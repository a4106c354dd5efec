/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/comparison.h"

#include "metrics/model/binding.h"
#include "metrics/model/listing.h"
#include "metrics/model/object.h"
#include "metrics/rules/capacity.h"

enum { BEFORE, AFTER };

const char *const template_change_names[TEMPLATE_CHANGE_COUNT] = {
    [CHANGE_ADDED] = "added", [CHANGE_REMOVED] = "removed", [CHANGE_GAINED] = "gained",
    [CHANGE_LOST] = "lost",   [CHANGE_MOVED] = "moved",     [CHANGE_OUTDATED] = "outdated",
    [CHANGE_STATE] = "state",
};

static bool same_policy(const struct entry *a, const struct entry *b)
{
    return a == b || (a && b && entry_compare(a, b) == 0);
}

/* How the template changes; false if it does not. */
static bool compare_decisions(const struct template_decision *before,
                              const struct template_decision *after, enum template_change *change)
{
    bool same_state = before->state == after->state && before->reason == after->reason;

    if (!before->governing && after->governing)
        *change = CHANGE_GAINED;
    else if (before->governing && !after->governing)
        *change = CHANGE_LOST;
    else if (!same_policy(before->governing, after->governing))
        *change = CHANGE_MOVED;
    else if (before->state != STATE_STALE && after->state == STATE_STALE)
        *change = CHANGE_OUTDATED;
    else if (!same_state || before->fields != after->fields)
        *change = CHANGE_STATE;
    else
        return false;
    return true;
}

static void add_template(struct comparison *c, enum template_change change,
                         const struct entry *before, const struct entry *after)
{
    c->templates = xreallocarray(c->templates, c->template_count + 1, sizeof(*c->templates));
    c->templates[c->template_count++] = (struct template_comparison){change, before, after};
}

static void compare_pair(struct comparison *c, const struct entry *before,
                         const struct entry *after)
{
    enum template_change change;

    if (!after)
        add_template(c, CHANGE_REMOVED, before, NULL);
    else if (!before)
        add_template(c, CHANGE_ADDED, NULL, after);
    else if (compare_decisions(template_decision(before), template_decision(after), &change))
        add_template(c, change, before, after);
}

static bool is_ahead(const struct entry *dependency, unsigned field)
{
    const struct dependency_decision *d = dependency ? dependency_decision(dependency) : NULL;

    return d && d->fields[field].ahead;
}

static void compare_conflicts(struct comparison *c, const struct entry *before,
                              const struct entry *after)
{
    for (unsigned i = 0; i < DEPENDENCY_FIELD_COUNT; i++) {
        bool appears = is_ahead(after, i);

        if (is_ahead(before, i) == appears)
            continue;
        c->conflicts = xreallocarray(c->conflicts, c->conflict_count + 1, sizeof(*c->conflicts));
        c->conflicts[c->conflict_count++] =
            (struct conflict_comparison){appears ? after : before, i, appears};
    }
}

typedef void pair_fn(struct comparison *c, const struct entry *before, const struct entry *after);

/* Call `each` for every object of a class, with NULL for the side on which it does not exist. */
static void each_pair(struct comparison *c, const struct engine *before, const struct engine *after,
                      enum object_class class, pair_fn *each)
{
    CLEANUP(listing_release) struct listing old = listing_make(engine_store(before), class);
    CLEANUP(listing_release) struct listing fresh = listing_make(engine_store(after), class);
    size_t i = 0, j = 0;

    while (i < old.count || j < fresh.count) {
        int order = i == old.count     ? 1
                    : j == fresh.count ? -1
                                       : entry_compare(old.entries[i], fresh.entries[j]);

        each(c, order <= 0 ? old.entries[i] : NULL, order >= 0 ? fresh.entries[j] : NULL);
        i += order <= 0;
        j += order >= 0;
    }
}

static struct cluster_comparison *find_cluster(struct comparison *c, const char *name)
{
    for (size_t i = 0; i < c->cluster_count; i++) {
        if (strcmp(c->clusters[i].name, name) == 0)
            return &c->clusters[i];
    }
    c->clusters = xreallocarray(c->clusters, c->cluster_count + 1, sizeof(*c->clusters));
    c->clusters[c->cluster_count] = (struct cluster_comparison){.name = name};
    return &c->clusters[c->cluster_count++];
}

static double request_of(const struct binding *b, const char *resource)
{
    for (uint32_t i = 0; i < b->request_count; i++) {
        if (strcmp(b->requests[i].resource, resource) == 0)
            return b->requests[i].amount;
    }
    return 0;
}

static void add_replicas(struct comparison *c, const struct binding *b,
                         const struct target_cluster *at, unsigned side)
{
    struct cluster_comparison *cluster = find_cluster(c, at->name);

    cluster->replicas[side] += at->replicas;
    cluster->cores[side] += at->replicas * request_of(b, "cpu");
    cluster->memory_bytes[side] += at->replicas * request_of(b, "memory");
}

/* Add the replicas of the binding: those it has, or after the change those it will get. */
static void add_assignment(struct comparison *c, const struct entry *template, unsigned side)
{
    const struct template_decision *d = template ? template_decision(template) : NULL;
    const struct binding *b = d ? entry_binding(d->binding) : NULL;
    const struct projection *p = d && d->capacity ? &d->capacity->projection : NULL;
    bool projects = side == AFTER && p && d->capacity->governed;

    if (!b)
        return;
    if (projects && !p->determined)
        c->undetermined++;
    if (projects && p->determined) {
        for (uint32_t i = 0; i < p->count; i++)
            add_replicas(c, b, &p->clusters[i], side);
        return;
    }
    for (uint32_t i = 0; i < b->cluster_count; i++)
        add_replicas(c, b, &b->clusters[i], side);
}

static void compare_clusters(struct comparison *c, const struct entry *before,
                             const struct entry *after)
{
    add_assignment(c, before, BEFORE);
    add_assignment(c, after, AFTER);
}

static int by_name(const void *a, const void *b)
{
    const struct cluster_comparison *left = a, *right = b;

    return strcmp(left->name, right->name);
}

void comparison_make(const struct engine *before, const struct engine *after,
                     struct comparison *out)
{
    *out = (struct comparison){0};
    each_pair(out, before, after, CLASS_TEMPLATE, compare_pair);
    each_pair(out, before, after, CLASS_TEMPLATE, compare_clusters);
    /* Dependencies are bindings, or templates that have none yet. */
    each_pair(out, before, after, CLASS_BINDING, compare_conflicts);
    each_pair(out, before, after, CLASS_TEMPLATE, compare_conflicts);
    if (out->cluster_count > 1)
        qsort(out->clusters, out->cluster_count, sizeof(*out->clusters), by_name);
}

void comparison_release(struct comparison *c)
{
    free(c->templates);
    free(c->conflicts);
    free(c->clusters);
    *c = (struct comparison){0};
}
