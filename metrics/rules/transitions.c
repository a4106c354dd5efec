/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/transitions.h"

#include "metrics/base/handle_map.h"
#include "metrics/model/binding.h"
#include "metrics/model/store.h"
#include "metrics/model/template.h"
#include "metrics/rules/object_index.h"
#include "metrics/rules/policy_versions.h"

enum {
    CHUNK = 1024,                  /* Handles of records per allocation. */
    CLUSTERS_MASK = (1 << 20) - 1, /* As in struct template_decision. */
    LONG_BITS = 44,     /* Bits of times, which last until the year 2527, and of record numbers. */
    DISTANCE_BITS = 24, /* Bits of the distance of two records, which is below the limit. */
    MERGE_MS = 1000,    /* A record below this age includes further changes of the same run. */
};

static const uint64_t LONG_MASK = (UINT64_C(1) << LONG_BITS) - 1;
static const uint64_t DISTANCE_MASK = (UINT64_C(1) << DISTANCE_BITS) - 1;

#define CAUSE_NAME(id, word, text) word,
#define CAUSE_TEXT(id, word, text) text,
const char *const cause_names[CAUSE_COUNT] = {CAUSES(CAUSE_NAME)};
const char *const cause_texts[CAUSE_COUNT] = {CAUSES(CAUSE_TEXT)};

struct transition_record {
    uint64_t time_ms : LONG_BITS;
    uint64_t state : 4;
    uint64_t reason : 4;
    uint64_t stage : 6;
    uint64_t stage_reason : 6;
    uint64_t number : LONG_BITS;
    uint64_t clusters : 20;
    /* Record number minus that of the template's previous record; 0 without one. */
    uint64_t older : DISTANCE_BITS;
    /* Number of the template's next record minus this one; 0 without one. */
    uint64_t newer : DISTANCE_BITS;
    uint64_t cause : 4;
    uint64_t phase : 2;
    uint64_t decided : 1;
    uint64_t undone : 1; /* The same run of the engine reverted the change. */
    pool_handle template;
    pool_handle policy;
    pool_handle claimed;
    uint32_t version;
    uint32_t version_key;
    uint32_t cluster_hash;
};
/* With its handle in the ring, and its slot in a table that is four fifths full. */
_Static_assert(sizeof(struct transition_record) <= 48, "a record has the documented 64 bytes");
_Static_assert((int)STATE_COUNT <= 16 && (int)STALE_REASON_COUNT <= 16 &&
                   (int)PENDING_REASON_COUNT <= 16 && (int)UNBOUND_REASON_COUNT <= 16 &&
                   (int)IGNORED_REASON_COUNT <= 16 && (int)PHASE_COUNT <= 4 &&
                   (int)CAUSE_COUNT <= 16 && (int)STAGE_COUNT <= 64 &&
                   (int)STAGE_REASON_COUNT <= 64,
               "the enumerators fit into the bit fields of a record");

struct transitions {
    struct store *store;
    struct pool *memory;  /* Pool of entries and records. */
    pool_handle **chunks; /* The ring of records, allocated on demand. */
    size_t chunk_count;
    struct handle_map newest; /* Newest record of each template. */
    size_t limit;
    uint64_t last;    /* Number of the newest record; 0 without records. */
    uint64_t settled; /* Value of `last` at the end of the last complete run. */
    int64_t begun_ms;
};

enum cause cause_of_class(enum object_class class)
{
    static const enum cause causes[CLASS_COUNT] = {
        [CLASS_TEMPLATE] = CAUSE_TEMPLATE, [CLASS_POLICY] = CAUSE_POLICY,
        [CLASS_BINDING] = CAUSE_BINDING,   [CLASS_OVERRIDE] = CAUSE_OVERRIDE,
        [CLASS_CLUSTER] = CAUSE_CLUSTER,   [CLASS_EVENT] = CAUSE_EVENT,
        [CLASS_WORK] = CAUSE_WORK,         [CLASS_LEASE] = CAUSE_LEASE,
        [CLASS_SETTING] = CAUSE_SETTING,   [CLASS_OTHER] = CAUSE_SETTING,
        [CLASS_QUOTA] = CAUSE_SETTING,
    };

    return causes[class];
}

enum cause cause_for_dependents(enum cause cause)
{
    /* A change that affects many templates stays the cause for their dependents too. */
    const unsigned shared = 1U << CAUSE_DISCOVERY | 1U << CAUSE_POLICY | 1U << CAUSE_OVERRIDE |
                            1U << CAUSE_CLUSTER | 1U << CAUSE_SETTING;

    return shared >> cause & 1 ? cause : CAUSE_OTHER_TEMPLATE;
}

/* ---- parts of a decision ---- */

struct moment moment_of_template(const struct entry *template)
{
    const struct template_decision *d = template_decision(template);

    if (!d)
        return (struct moment){0};
    return (struct moment){
        .policy = d->state == STATE_IGNORED ? NULL : decision_winner(d),
        .claimed = decision_claimed(d),
        .version = decision_version(d) ? decision_version(d)->number : 0,
        .version_key = decision_version(d) ? decision_version(d)->key : 0,
        .cluster_hash = d->cluster_hash,
        .clusters = d->target_count,
        .decided = true,
        .state = (uint8_t)d->state,
        .reason = (uint8_t)d->reason,
        .phase = d->state == STATE_STALE ? (uint8_t)d->phase : 0,
        .stage = (uint8_t)d->stages.at.stage,
        .stage_reason = (uint8_t)d->stages.at.reason,
    };
}

bool moment_equal(const struct moment *a, const struct moment *b)
{
    return a->policy == b->policy && a->claimed == b->claimed && a->version == b->version &&
           a->version_key == b->version_key && a->cluster_hash == b->cluster_hash &&
           a->clusters == b->clusters && a->decided == b->decided && a->state == b->state &&
           a->reason == b->reason && a->phase == b->phase && a->stage == b->stage &&
           a->stage_reason == b->stage_reason;
}

uint32_t cluster_set_hash(const struct binding *b)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < binding_target_count(b); i++)
        sum += map_hash(b->clusters[i].name, strlen(b->clusters[i].name), 0);
    return (uint32_t)(sum ^ sum >> 32);
}

void unpin_unless_null(struct store *store, struct entry *entry)
{
    if (entry)
        store_unpin(store, entry);
}

static struct moment moment_before_record(const struct transition_record *r)
{
    return (struct moment){
        .policy = pool_beside(r, r->policy),
        .claimed = pool_beside(r, r->claimed),
        .version = r->version,
        .version_key = r->version_key,
        .cluster_hash = r->cluster_hash,
        .clusters = r->clusters,
        .decided = r->decided,
        .state = r->state,
        .reason = r->reason,
        .phase = r->phase,
        .stage = r->stage,
        .stage_reason = r->stage_reason,
    };
}

/* ---- ring of records ---- */

static struct entry *template_of(const struct transition_record *r)
{
    return pool_beside(r, r->template);
}

static bool is_record_of(const void *item, const void *key)
{
    return template_of(item) == key;
}

struct transitions *transitions_new(struct store *store, size_t limit, int64_t now_ms)
{
    struct transitions *t = xcalloc(1, sizeof(*t));

    assert(limit <= DISTANCE_MASK && now_ms >= 0);
    t->store = store;
    t->memory = intern_memory(store_string_pool(store));
    t->newest = HANDLE_MAP_INIT(t->memory, is_record_of);
    t->limit = limit;
    t->begun_ms = now_ms;
    return t;
}

/* Returns the place of the record with this number in the ring. */
static pool_handle *ring_place(const struct transitions *t, uint64_t number)
{
    size_t at = (size_t)((number - 1) % t->limit);

    return &t->chunks[at / CHUNK][at % CHUNK];
}

static struct transition_record *record_at(const struct transitions *t, uint64_t number)
{
    return pool_at(t->memory, *ring_place(t, number));
}

/* Returns the number of the oldest record; `last` + 1 without records. */
static uint64_t oldest_number(const struct transitions *t)
{
    return t->last > t->limit ? t->last - t->limit + 1 : 1;
}

static void pin_unless_null(struct entry *entry)
{
    if (entry)
        store_pin(entry);
}

static struct transition_record *newest_record_of(const struct transitions *t,
                                                  const struct entry *template)
{
    return handle_map_get(&t->newest, map_hash_address(template), template);
}

/*
 * Frees the oldest record. `older` of the template's next record still refers to it, so
 * older_record_of() checks that the record exists.
 */
static void drop_record(struct transitions *t, struct transition_record *r)
{
    struct entry *template = template_of(r);
    struct moment before = moment_before_record(r);

    if (r->newer == 0)
        handle_map_take(&t->newest, map_hash_address(template), template);
    pool_free(r);
    unpin_unless_null(t->store, before.policy);
    unpin_unless_null(t->store, before.claimed);
    unpin_unless_null(t->store, template);
}

void transitions_free(struct transitions *t)
{
    if (!t)
        return;
    for (uint64_t number = oldest_number(t); number <= t->last; number++)
        drop_record(t, record_at(t, number));
    for (size_t i = 0; i < t->chunk_count; i++)
        free(t->chunks[i]);
    free(t->chunks);
    handle_map_release(&t->newest);
    free(t);
}

/* Increments `last`; drops the oldest record of a full ring. Returns a record for the number. */
static struct transition_record *take_next_record(struct transitions *t)
{
    struct transition_record *r;

    if (t->last >= t->limit)
        drop_record(t, record_at(t, oldest_number(t)));
    t->last++;
    if (t->last <= t->limit && (t->last - 1) / CHUNK == t->chunk_count) {
        t->chunks = xreallocarray(t->chunks, t->chunk_count + 1, sizeof(pool_handle *));
        t->chunks[t->chunk_count++] = xreallocarray(NULL, CHUNK, sizeof(pool_handle));
    }
    r = pool_alloc(t->memory, sizeof(*r));
    *ring_place(t, t->last) = pool_handle_of(r);
    return r;
}

/* ---- recording ---- */

void transitions_note_before(const struct transitions *t, struct entry *template,
                             struct moment *before)
{
    if (!t || entry_class(template) != CLASS_TEMPLATE)
        return;
    *before = moment_of_template(template);
    pin_unless_null(before->policy);
    pin_unless_null(before->claimed);
}

static void add_record(struct transitions *t, struct entry *template, const struct moment *before,
                       enum cause cause, int64_t now_ms)
{
    struct transition_record *r;

    pin_unless_null(template);
    pin_unless_null(before->policy);
    pin_unless_null(before->claimed);
    r = take_next_record(t);
    *r = (struct transition_record){
        .time_ms = (uint64_t)now_ms & LONG_MASK,
        .number = t->last & LONG_MASK,
        .clusters = before->clusters & CLUSTERS_MASK,
        .template = pool_handle_of(template),
        .policy = pool_handle_of(before->policy),
        .claimed = pool_handle_of(before->claimed),
        .version = before->version,
        .version_key = before->version_key,
        .cluster_hash = before->cluster_hash,
        .cause = cause & 0xfU,
        .state = before->state & 0xfU,
        .reason = before->reason & 0xfU,
        .phase = before->phase & 0x3U,
        .stage = before->stage & 0x3fU,
        .stage_reason = before->stage_reason & 0x3fU,
        .decided = before->decided,
    };

    /* Look up the older record only after take_next_record(), which may have dropped it. */
    struct transition_record *older =
        handle_map_take(&t->newest, map_hash_address(template), template);

    if (older)
        older->newer = r->older = (r->number - older->number) & DISTANCE_MASK;
    handle_map_add(&t->newest, map_hash_address(template), r);
}

static enum cause transition_cause(const struct moment *before, const struct moment *after,
                                   enum cause cause)
{
    return cause == CAUSE_DISCOVERY || (before->decided && after->decided) ? cause : CAUSE_TEMPLATE;
}

/*
 * Returns true if a change at `now_ms` is part of the transition in the record `r`: both are of the
 * same run of the engine and less than MERGE_MS apart.
 */
static bool is_same_transition(const struct transitions *t, const struct transition_record *r,
                               int64_t now_ms)
{
    return r && r->number > t->settled && now_ms - (int64_t)r->time_ms < MERGE_MS;
}

void transitions_note_after(struct transitions *t, struct entry *template,
                            const struct moment *before, enum cause cause, int64_t now_ms)
{
    if (!t || entry_class(template) != CLASS_TEMPLATE)
        return;

    struct moment after = moment_of_template(template);
    struct transition_record *r = newest_record_of(t, template);

    if (is_same_transition(t, r, now_ms)) {
        /* The record keeps the decision before the first change of this run. */
        struct moment first = moment_before_record(r);

        r->undone = moment_equal(&first, &after);
        cause = transition_cause(&first, &after, cause);
        if (cause < r->cause || !after.decided)
            r->cause = cause & 0xfU;
    } else if (!moment_equal(before, &after) &&
               /* The first read of a kind is no transition of its templates. */
               (r || cause != CAUSE_DISCOVERY || (before->decided && after.decided))) {
        add_record(t, template, before, transition_cause(before, &after, cause), now_ms);
    }
    unpin_unless_null(t->store, before->policy);
    unpin_unless_null(t->store, before->claimed);
}

void transitions_end_run(struct transitions *t)
{
    if (t)
        t->settled = t->last;
}

/* ---- queries ---- */

static void fill_transition(const struct transitions *t, const struct transition_record *r,
                            struct transition *out)
{
    *out = (struct transition){
        .number = r->number,
        .time_ms = (int64_t)r->time_ms,
        .template = template_of(r),
        .cause = (enum cause)r->cause,
        .before = moment_before_record(r),
        .after = r->newer ? moment_before_record(record_at(t, r->number + r->newer))
                          : moment_of_template(template_of(r)),
    };
}

bool transitions_next(const struct transitions *t, uint64_t *below, struct transition *out)
{
    if (!t)
        return false;
    if (*below > t->last)
        *below = t->last + 1;
    while (*below > oldest_number(t)) {
        const struct transition_record *r = record_at(t, --*below);

        if (r->undone)
            continue;
        fill_transition(t, r, out);
        return true;
    }
    return false;
}

/* Returns the previous record of the template; NULL without one, or if it was dropped. */
static const struct transition_record *older_record_of(const struct transitions *t,
                                                       const struct transition_record *r)
{
    return r->older && r->number - r->older >= oldest_number(t) ? record_at(t, r->number - r->older)
                                                                : NULL;
}

bool transitions_next_of_template(const struct transitions *t, const struct entry *template,
                                  uint64_t *below, struct transition *out)
{
    const struct transition_record *r;

    if (!t)
        return false;
    /* Continue at the record returned last, instead of searching from the newest each time. */
    if (*below <= t->last && *below >= oldest_number(t) &&
        template_of(record_at(t, *below)) == template)
        r = older_record_of(t, record_at(t, *below));
    else
        r = newest_record_of(t, template);
    while (r && (r->undone || r->number >= *below))
        r = older_record_of(t, r);
    if (!r)
        return false;
    *below = r->number;
    fill_transition(t, r, out);
    return true;
}

struct entry *transitions_next_template(const struct transitions *t, int64_t after_ms, uint64_t *at)
{
    const struct transition_record *r;

    while (t && (r = handle_map_next(&t->newest, at)) != NULL) {
        if ((int64_t)r->time_ms > after_ms)
            return template_of(r);
    }
    return NULL;
}

size_t transitions_limit(const struct transitions *t)
{
    return t ? t->limit : 0;
}

size_t transitions_count(const struct transitions *t)
{
    return t ? (size_t)(t->last + 1 - oldest_number(t)) : 0;
}

int64_t transitions_start_ms(const struct transitions *t)
{
    return t ? t->begun_ms : 0;
}

int64_t transitions_complete_since_ms(const struct transitions *t)
{
    return t && t->last > t->limit ? (int64_t)record_at(t, oldest_number(t))->time_ms
                                   : transitions_start_ms(t);
}

/* ---- observed times ---- */

/* Records the policy of a claim, if it exists; not twice in a row. `claim` may be NULL. */
static void note_processed_policy(struct observed_times *seen, struct store *store,
                                  const struct claim *claim)
{
    struct entry *policy = claim ? find_claim_policy(store, claim) : NULL;

    if (!policy || !entry_exists(policy))
        return;
    if (seen->processed.count == 0 || seen->processed.items[seen->processed.count - 1] != policy)
        entry_list_add(&seen->processed, policy);
}

/* Records the policies of the old and the new claim of an object. Both claims may be NULL. */
static void note_policies_of_claims(struct observed_times *seen, struct store *store,
                                    const struct claim *old, const struct claim *fresh)
{
    note_processed_policy(seen, store, old);
    if (!claim_equal(old, fresh))
        note_processed_policy(seen, store, fresh);
}

void observed_times_record(struct observed_times *seen, struct store *store, struct entry *entry,
                           const void *old)
{
    const struct template *t = entry_template(entry);
    const struct policy *p = entry_policy(entry);
    const struct binding *b = entry_binding(entry);

    if (seen->paused)
        return;
    if ((t && t->undated) || (p && p->undated))
        entry_list_add(&seen->undated, entry);
    if (!old)
        return;
    if (t) {
        const struct template *last = old;

        if (!claim_equal(template_claim(last), template_claim(t)))
            note_policies_of_claims(seen, store, template_claim(last), template_claim(t));
    }
    if (b) {
        const struct binding *last = old;

        if (!claim_equal(last->claim, b->claim) ||
            !propagation_equal(last->propagation, b->propagation))
            note_policies_of_claims(seen, store, last->claim, b->claim);
    }
}

/* Extends the grace period of the policy's last change, if the period has not ended yet. */
static void extend_grace_period(struct policy *p, int64_t now_ms, int64_t grace_ms)
{
    int64_t until_ms = p->changed_ms + grace_ms;

    if (until_ms < p->grace_extended_until_ms)
        until_ms = p->grace_extended_until_ms;
    if (p->changed_ms && now_ms <= until_ms)
        p->grace_extended_until_ms = now_ms + grace_ms;
}

void observed_times_set_times(struct observed_times *seen, int64_t now_ms, int64_t grace_ms)
{
    for (size_t i = 0; i < seen->undated.count; i++) {
        struct entry *entry = seen->undated.items[i];

        if (entry_template(entry))
            template_set_change_time(entry_object(entry), now_ms);
        else if (entry_policy(entry))
            policy_set_change_time(entry_object(entry), now_ms);
    }
    for (size_t i = 0; i < seen->processed.count; i++) {
        if (entry_policy(seen->processed.items[i]))
            extend_grace_period(entry_object(seen->processed.items[i]), now_ms, grace_ms);
    }
    seen->undated.count = seen->processed.count = 0;
}

void observed_times_release(struct observed_times *seen)
{
    entry_list_release(&seen->undated);
    entry_list_release(&seen->processed);
}
