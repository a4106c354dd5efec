/* SPDX-License-Identifier: Apache-2.0 */
/* Comparison of the store with a simple oracle, and memory use of the store. */
#include "metrics/model/store.h"

#include "metrics/model/template.h"
#include "tests/unit/heap.h"
#include "tests/unit/reading.h"
#include "tests/unit/suite.h"

static void free_store(struct store **s)
{
    store_free(*s);
}

static const char *value_of(const void *object)
{
    const struct template *t = object;

    const struct labels labels = template_labels(t);

    return labels.count > 0 ? labels_at(&labels, 0).value : "";
}

static enum store_outcome put(struct store *s, const char *text, struct origin origin,
                              struct error *err)
{
    CLEANUP(json_cleanup) cJSON *json = json_of(text);

    return store_put(s, json, origin, err);
}

enum { ORACLE_ROUNDS = 20000, ORACLE_KINDS = 3, ORACLE_SPACES = 3, ORACLE_NAMES = 4 };

static const char *const oracle_kinds[ORACLE_KINDS][2] = {
    {"v1", "ConfigMap"},
    {"apps/v1", "Deployment"},
    {"example.com/v1", "Game"},
};

/* Expected state of one identity. */
struct truth {
    bool known;
    bool exists;
    bool held; /* The entry has a reader. */
    unsigned value;
    struct origin origin;
};

struct oracle {
    struct store *store;
    unsigned calls; /* Expected number of listener calls. */
    unsigned heard; /* Actual number of listener calls. */
    uint32_t random;
    struct truth truths[ORACLE_KINDS][ORACLE_SPACES][ORACLE_NAMES];
};

static void count_call(void *context, struct entry *entry, const void *old)
{
    struct oracle *o = context;

    o->heard++;
    assert_true(old || entry_object(entry));
}

static uint32_t next_random(struct oracle *o, uint32_t limit)
{
    o->random = o->random * 1664525 + 1013904223;
    return (o->random >> 8) % limit;
}

/* Selected identity, and the memory of its strings. */
struct pick {
    struct truth *truth;
    struct identity id;
    char ns[16];
    char name[16];
};

static void pick_identity(struct oracle *o, const unsigned at[3], struct pick *p)
{
    *p = (struct pick){.truth = &o->truths[at[0]][at[1]][at[2]]};
    if (at[1] > 0)
        snprintf(p->ns, sizeof(p->ns), "ns%u", at[1]);
    snprintf(p->name, sizeof(p->name), "n%u", at[2]);
    p->id = (struct identity){oracle_kinds[at[0]][0], oracle_kinds[at[0]][1], p->ns, p->name};
}

static void remove_expected_object(struct truth *t)
{
    t->exists = false;
    t->known = t->held;
}

static void oracle_put(struct oracle *o, struct pick *p, struct origin origin)
{
    struct truth *t = p->truth;
    bool broken = next_random(o, 4) == 0;
    unsigned value = next_random(o, 1000);
    char text[256];
    struct error err;

    snprintf(text, sizeof(text),
             "{'apiVersion':'%s','kind':'%s','metadata':{'namespace':'%s','name':'%s',"
             "'labels':{'v':%s%u%s}}}",
             p->id.api_version, p->id.kind, p->id.ns, p->id.name, broken ? "" : "'", value,
             broken ? "" : "'");

    enum store_outcome outcome = put(o->store, text, origin, &err);

    if (t->known || !broken)
        t->origin = origin;
    if (broken) {
        assert_int_equal(outcome, STORE_REJECTED);
        return;
    }
    assert_int_equal(outcome, t->exists ? STORE_CHANGED : STORE_ADDED);
    o->calls++;
    t->known = true;
    t->exists = true;
    t->value = value;
}

static void oracle_sweep(struct oracle *o, struct origin origin)
{
    struct truth *all = &o->truths[0][0][0];
    size_t swept = 0;

    for (size_t i = 0; i < sizeof(o->truths) / sizeof(*all); i++) {
        struct truth *t = &all[i];

        if (!t->exists || t->origin.source != origin.source || t->origin.sweep == origin.sweep)
            continue;
        remove_expected_object(t);
        swept++;
    }
    o->calls += (unsigned)swept;
    assert_int_equal(store_sweep(o->store, origin), swept);
}

static void oracle_step(struct oracle *o)
{
    const unsigned at[3] = {next_random(o, ORACLE_KINDS), next_random(o, ORACLE_SPACES),
                            next_random(o, ORACLE_NAMES)};
    struct origin origin = {next_random(o, 2), next_random(o, 3)};
    struct pick p;

    pick_identity(o, at, &p);

    struct entry *entry = store_find(o->store, &p.id);

    switch (next_random(o, 16)) {
    case 0:
        oracle_sweep(o, origin);
        break;
    case 1:
    case 2:
    case 3:
        if (!entry)
            break;
        o->calls += p.truth->exists;
        store_remove(o->store, entry);
        remove_expected_object(p.truth);
        break;
    case 4:
        store_find_or_add(o->store, &p.id);
        p.truth->known = true;
        break;
    case 5:
    case 6:
        if (!entry)
            break;
        p.truth->held = !p.truth->held;
        entry->pins = p.truth->held;
        break;
    case 7:
        if (!entry)
            break;
        store_free_if_unused(o->store, entry);
        if (!p.truth->exists)
            remove_expected_object(p.truth);
        break;
    default:
        oracle_put(o, &p, origin);
        break;
    }
}

static void compare_entry(const struct truth *t, const struct entry *entry)
{
    assert_int_equal(entry != NULL, t->known);
    if (!entry)
        return;
    assert_int_equal(entry_object(entry) != NULL, t->exists);
    assert_ptr_equal(partition_entry(entry_partition(entry), entry->position), entry);
    if (entry_object(entry)) {
        char value[16];

        snprintf(value, sizeof(value), "%u", t->value);
        assert_string_equal(value_of(entry_object(entry)), value);
    }
}

static void oracle_compare(struct oracle *o)
{
    size_t known = 0;
    size_t exist = 0;
    size_t listed = 0;
    size_t objects = 0;

    for (unsigned i = 0; i < ORACLE_KINDS * ORACLE_SPACES * ORACLE_NAMES; i++) {
        const unsigned at[3] = {i % ORACLE_KINDS, i / ORACLE_KINDS % ORACLE_SPACES,
                                i / (ORACLE_KINDS * ORACLE_SPACES)};
        struct pick p;

        pick_identity(o, at, &p);
        compare_entry(p.truth, store_find(o->store, &p.id));
        known += p.truth->known;
        exist += p.truth->exists;
    }
    for (const struct type *type = store_first_type(o->store); type; type = type->next) {
        objects += type->objects;
        for (const struct partition *partition = type->partitions; partition;
             partition = partition->next_of_type)
            listed += partition->count;
    }
    assert_int_equal(listed, known);
    assert_int_equal(objects, exist);
    assert_int_equal(store_object_count(o->store, CLASS_TEMPLATE), exist);
    assert_int_equal(o->heard, o->calls);
}

TEST(store_agrees_with_the_oracle_for_random_steps)
{
    for (uint32_t seed = 1; seed <= 3; seed++) {
        CLEANUP(free_store) struct store *s = store_new(seed);
        struct oracle o = {.store = s, .random = seed};

        store_set_listener(s, (struct store_listener){count_call, &o});
        for (unsigned round = 0; round < ORACLE_ROUNDS; round++) {
            oracle_step(&o);
            if (round % 8 == 0)
                oracle_compare(&o);
        }
        oracle_compare(&o);
    }
}

/*
 * The memory of a template limits the size of the control planes that can be watched. Four
 * templates share each value of the label app.
 */
TEST(template_takes_at_most_400_bytes)
{
    enum { COUNT = 50000 };
    if (!HEAP_COUNTS)
        skip();
    CLEANUP(free_store) struct store *s = store_new(1);
    size_t before = heap_bytes();
    struct error err;

    for (unsigned i = 0; i < COUNT; i++) {
        char text[512];

        snprintf(text, sizeof(text),
                 "{'apiVersion':'apps/v1','kind':'Deployment','metadata':{'namespace':'team-%u',"
                 "'name':'payments-%u','labels':{'app':'payments-%u','tier':'web',"
                 "'propagationpolicy.karmada.io/permanent-id':'id-%u'},"
                 "'annotations':{'propagationpolicy.karmada.io/namespace':'team-%u',"
                 "'propagationpolicy.karmada.io/name':'default'}}}",
                 i % 500, i, i / 4, i % 500, i % 500);
        assert_int_equal(put(s, text, (struct origin){1, 1}, &err), STORE_ADDED);
    }

    size_t each = (heap_bytes() - before) / COUNT;

    print_message("%zu bytes a template\n", each);
    assert_in_range(each, 100, 400);
}
