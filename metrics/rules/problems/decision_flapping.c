/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/problems/decision_flapping.h"

#include "metrics/base/map.h"
#include "metrics/model/template.h"
#include "metrics/rules/rule.h"

/* ---- changes of the policy that a template follows ---- */

enum {
    FLAPPING_RETURNS = 3,
    CHANGES_MAX = 64,          /* Newest changes of a template that are examined. */
    TRANSITIONS_MAX = 1 << 10, /* Newest transitions of a template that are examined. */
};

/* The policy of a template, and the version of it that the template runs. */
struct followed {
    struct entry *policy; /* NULL without a policy. */
    uint32_t version_key; /* 0 if unknown. */
};

struct followed_change {
    struct followed before;
    struct followed after;
    int64_t time_ms;
};

/* Changes of one template, newest first. */
struct followed_changes {
    struct followed_change items[CHANGES_MAX];
    size_t count;
};

/* Changes of a template before a reload, newest first. */
struct earlier_changes {
    struct entry *template; /* Pinned, as are the policies. */
    uint32_t uid_hash;      /* uid_hash() of the UID of the template. */
    size_t count;
    struct followed_change items[];
};

struct flapping_past {
    struct store *store;
    struct map by_template; /* struct earlier_changes. */
};

static struct followed followed_of(const struct moment *m)
{
    return (struct followed){m->claimed ? m->claimed : m->policy, m->version_key};
}

static bool is_followed_equal(const struct followed *a, const struct followed *b)
{
    return a->policy == b->policy && a->version_key == b->version_key;
}

static void add_change(struct followed_changes *out, const struct followed_change *change)
{
    if (out->count < CHANGES_MAX)
        out->items[out->count++] = *change;
}

/* Returns the changes before a reload; NULL if they are of a deleted object of the same name. */
static const struct earlier_changes *find_earlier_changes(const struct rule_context *c,
                                                          const struct entry *template)
{
    const struct template *t = entry_template(template);
    const struct earlier_changes *earlier =
        c->flapping_past
            ? map_get(&c->flapping_past->by_template, map_hash_address(template), template)
            : NULL;

    return earlier && t && !uid_hashes_differ(earlier->uid_hash, t->uid_hash) ? earlier : NULL;
}

/* Returns the number of changes after `after_ms`. */
static size_t count_later_changes(const struct followed_changes *changes, int64_t after_ms)
{
    size_t count = 0;

    while (count < changes->count && changes->items[count].time_ms > after_ms)
        count++;
    return count;
}

/*
 * Finds the changes of a template, if at least `required` > 0 of them are within the last hour.
 * Returns false if there are fewer: most templates need no examination of older transitions. The
 * first decision about a template, and its deletion, are no changes, but the object's limits.
 */
static bool find_changes(const struct rule_context *c, const struct entry *template,
                         size_t required, struct followed_changes *out)
{
    const struct earlier_changes *earlier = find_earlier_changes(c, template);
    int64_t window_ms = c->now_ms - FLAPPING_WINDOW_MS;
    uint64_t below = UINT64_MAX;
    struct transition t;

    out->count = 0;
    for (unsigned i = 0; i < TRANSITIONS_MAX && out->count < CHANGES_MAX &&
                         transitions_next_of_template(c->transitions, template, &below, &t);
         i++) {
        struct followed_change change = {followed_of(&t.before), followed_of(&t.after), t.time_ms};

        if (t.time_ms <= window_ms && out->count < required)
            return false;
        if (!t.before.decided || !t.after.decided) {
            earlier = NULL;
            break;
        }
        if (!is_followed_equal(&change.before, &change.after))
            add_change(out, &change);
    }
    for (size_t i = 0; earlier && i < earlier->count; i++)
        add_change(out, &earlier->items[i]);
    return count_later_changes(out, window_ms) >= required;
}

/* ---- templates that return ---- */

/* What a template follows while its changes are read from the oldest to the newest one. */
struct follower {
    struct followed at;
    struct followed left[CHANGES_MAX]; /* Policies and versions that it has left. */
    size_t left_count;
};

static void leave(struct follower *f)
{
    if (f->at.policy && f->left_count < ARRAY_LEN(f->left))
        f->left[f->left_count++] = f->at;
}

/* Returns true if the template has left the policy, or, with a key, the version of the policy. */
static bool has_left(const struct follower *f, const struct entry *policy, uint32_t version_key)
{
    for (size_t i = 0; i < f->left_count; i++) {
        if (f->left[i].policy == policy &&
            (version_key == 0 || f->left[i].version_key == version_key))
            return true;
    }
    return false;
}

/*
 * Applies a change, and returns true if it returns to a policy or version that the template has
 * left. Karmada writes the claim before the binding: until then the version is unknown, and the
 * binding's write is no further change.
 */
static bool follow(struct follower *f, const struct followed_change *change)
{
    const struct followed *after = &change->after;
    bool returns = false;

    if (f->at.policy != change->before.policy)
        f->at = change->before;
    if (f->at.policy != after->policy) {
        leave(f);
        f->at = *after;
        return after->policy && has_left(f, after->policy, 0);
    }
    if (after->version_key == 0 || after->version_key == f->at.version_key)
        return false;
    if (f->at.version_key != 0) {
        leave(f);
        returns = has_left(f, after->policy, after->version_key);
    }
    f->at.version_key = after->version_key;
    return returns;
}

void state_flapping_condition(const struct rule_context *c, const struct entry *template,
                              struct condition_list *out, int64_t *due_ms)
{
    int64_t window_ms = c->now_ms - FLAPPING_WINDOW_MS;
    int64_t returned_ms[CHANGES_MAX];
    struct followed_changes changes;
    struct follower f = {.left_count = 0};
    size_t returns = 0;

    if (!c->transitions)
        return;
    if (!find_changes(c, template, FLAPPING_RETURNS, &changes))
        return;
    f.at = changes.items[changes.count - 1].before;
    for (size_t i = changes.count; i-- > 0;) {
        if (follow(&f, &changes.items[i]) && changes.items[i].time_ms > window_ms)
            returned_ms[returns++] = changes.items[i].time_ms;
    }
    if (returns < FLAPPING_RETURNS)
        return;
    /* The third return began the condition; the third last one ends it. */
    condition_list_add(out, (struct condition){PROBLEM_REASON_DECISION_FLAPPING_STATE,
                                               returned_ms[FLAPPING_RETURNS - 1], false});
    if (returned_ms[returns - FLAPPING_RETURNS] + FLAPPING_WINDOW_MS < *due_ms)
        *due_ms = returned_ms[returns - FLAPPING_RETURNS] + FLAPPING_WINDOW_MS;
}

/* ---- reloads ---- */

static bool is_changed_template(const void *item, const void *key)
{
    return ((const struct earlier_changes *)item)->template == key;
}

/* Returns the entry of the same identity in `store`, pinned; NULL for NULL. */
static struct entry *pin_in_store(struct store *store, const struct entry *entry)
{
    struct identity id;
    struct entry *found;

    if (!entry)
        return NULL;
    id = entry_identity(entry);
    found = store_find_or_add(store, &id);
    store_pin(found);
    return found;
}

static bool is_same_object(const struct template *a, const struct template *b)
{
    return a && b && !uid_hashes_differ(a->uid_hash, b->uid_hash);
}

/* Takes over the changes of a template of `last`, unless it is there already. */
static void inherit_changes(struct flapping_past *past, const struct rule_context *last,
                            const struct entry *template)
{
    const struct identity id = entry_identity(template);
    struct entry *entry = store_find(past->store, &id);
    struct followed_changes changes;
    struct earlier_changes *earlier;

    if (!entry || !is_same_object(entry_template(entry), entry_template(template)) ||
        map_get(&past->by_template, map_hash_address(entry), entry))
        return;
    /* One change is enough: the others that the problem requires can follow the reload. */
    if (!find_changes(last, template, 1, &changes))
        return;
    earlier = xmalloc(sizeof(*earlier) + changes.count * sizeof(*earlier->items));
    earlier->template = pin_in_store(past->store, entry);
    earlier->uid_hash = entry_template(entry)->uid_hash;
    earlier->count = changes.count;
    for (size_t i = 0; i < changes.count; i++) {
        earlier->items[i] = changes.items[i];
        earlier->items[i].before.policy = pin_in_store(past->store, changes.items[i].before.policy);
        earlier->items[i].after.policy = pin_in_store(past->store, changes.items[i].after.policy);
    }
    map_add(&past->by_template, map_hash_address(entry), earlier);
}

struct flapping_past *flapping_past_new(struct store *store, const struct rule_context *last)
{
    struct flapping_past *past = xcalloc(1, sizeof(*past));
    const struct earlier_changes *earlier;
    const struct entry *template;

    past->store = store;
    past->by_template = MAP_INIT(is_changed_template);
    for (uint64_t at = 0; (template = transitions_next_template(
                               last->transitions, last->now_ms - FLAPPING_WINDOW_MS, &at)) != NULL;)
        inherit_changes(past, last, template);
    for (size_t at = 0; last->flapping_past &&
                        (earlier = map_next(&last->flapping_past->by_template, &at)) != NULL;)
        inherit_changes(past, last, earlier->template);
    return past;
}

void flapping_past_free(struct flapping_past *past)
{
    struct earlier_changes *earlier;

    if (!past)
        return;
    for (size_t at = 0; (earlier = map_next(&past->by_template, &at)) != NULL;) {
        for (size_t i = 0; i < earlier->count; i++) {
            unpin_unless_null(past->store, earlier->items[i].before.policy);
            unpin_unless_null(past->store, earlier->items[i].after.policy);
        }
        store_unpin(past->store, earlier->template);
        free(earlier);
    }
    map_release(&past->by_template);
    free(past);
}

/* ---- conflicts that begin again ---- */

void conflict_begins_note(struct conflict_begins *begins, int64_t now_ms)
{
    memmove(&begins->time_ms[1], &begins->time_ms[0],
            (FLAPPING_BEGINS - 1) * sizeof(begins->time_ms[0]));
    begins->time_ms[0] = now_ms;
}

bool conflict_begins_matter(const struct conflict_begins *begins, int64_t now_ms)
{
    return begins->time_ms[0] > 0 && now_ms < begins->time_ms[0] + FLAPPING_WINDOW_MS;
}

void conflict_flapping_condition(const struct conflict_begins *begins, int64_t now_ms,
                                 struct condition_list *out, int64_t *due_ms)
{
    int64_t end_ms = begins->time_ms[FLAPPING_BEGINS - 1] + FLAPPING_WINDOW_MS;

    if (begins->time_ms[FLAPPING_BEGINS - 1] == 0 || now_ms >= end_ms)
        return;
    condition_list_add(out, (struct condition){PROBLEM_REASON_DECISION_FLAPPING_CONFLICT,
                                               begins->time_ms[0], false});
    if (end_ms < *due_ms)
        *due_ms = end_ms;
}
