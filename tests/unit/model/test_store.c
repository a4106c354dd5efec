/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/store.h"

#include "metrics/model/template.h"
#include "tests/unit/reading.h"
#include "tests/unit/suite.h"

static void free_store(struct store **s)
{
    store_free(*s);
}

/* The number of calls of the listener, and the last call. */
struct witness {
    unsigned calls;
    struct entry *entry;
    char old_value[16]; /* Label v of the previous object. */
    bool had_old;
    bool has_new;
};

static const char *value_of(const void *object)
{
    const struct template *t = object;

    const struct labels labels = template_labels(t);

    return labels.count > 0 ? labels_at(&labels, 0).value : "";
}

static void record_change(void *context, struct entry *entry, const void *old)
{
    struct witness *w = context;

    w->calls++;
    w->entry = entry;
    w->had_old = old != NULL;
    w->has_new = entry_object(entry) != NULL;
    if (entry_class(entry) == CLASS_TEMPLATE)
        snprintf(w->old_value, sizeof(w->old_value), "%s", old ? value_of(old) : "");
}

static struct store *store_with_listener(struct witness *w)
{
    struct store *s = store_new(1);

    *w = (struct witness){0};
    store_set_listener(s, (struct store_listener){record_change, w});
    return s;
}

static enum store_outcome put(struct store *s, const char *text, struct origin origin,
                              struct error *err)
{
    CLEANUP(json_cleanup) cJSON *json = json_of(text);

    return store_put(s, json, origin, err);
}

#define CONFIG_MAP(name, v)                                                                        \
    "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'namespace':'test','name':'" name           \
    "','labels':{'v':'" v "'}}}"
#define BROKEN_CONFIG_MAP(name)                                                                    \
    "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'namespace':'test','name':'" name           \
    "','labels':{'v':1}}}"

static const struct identity map_a = {"v1", "ConfigMap", "test", "a"};
static const struct identity map_b = {"v1", "ConfigMap", "test", "b"};

TEST(listener_is_called_once_for_each_change)
{
    CLEANUP(free_store) struct store *s = NULL;
    struct witness w;
    struct error err;

    s = store_with_listener(&w);
    assert_null(store_find(s, &map_a));
    assert_int_equal(put(s, CONFIG_MAP("a", "1"), (struct origin){1, 1}, &err), STORE_ADDED);
    assert_int_equal(w.calls, 1);
    assert_true(!w.had_old && w.has_new);

    struct entry *entry = store_find(s, &map_a);

    assert_ptr_equal(w.entry, entry);
    assert_string_equal(entry->name, "a");
    assert_string_equal(entry_ns(entry), "test");
    assert_string_equal(entry_kind(entry), "ConfigMap");
    assert_int_equal(entry_class(entry), CLASS_TEMPLATE);
    assert_string_equal(value_of(entry_object(entry)), "1");

    assert_int_equal(put(s, CONFIG_MAP("a", "2"), (struct origin){1, 1}, &err), STORE_CHANGED);
    assert_int_equal(w.calls, 2);
    assert_true(w.had_old && w.has_new);
    assert_string_equal(w.old_value, "1");
    assert_ptr_equal(store_find(s, &map_a), entry);
    assert_string_equal(value_of(entry_object(entry)), "2");

    store_remove(s, entry);
    assert_int_equal(w.calls, 3);
    assert_true(w.had_old && !w.has_new);
    assert_string_equal(w.old_value, "2");
    assert_null(store_find(s, &map_a));
    assert_int_equal(store_object_count(s, CLASS_TEMPLATE), 0);
}

#define VERSIONED_MAP(version, v)                                                                  \
    "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'namespace':'test','name':'a',"             \
    "'resourceVersion':'" version "','labels':{'v':'" v "'}}}"

/* After the restore of a backup, a difference between two versions is no change by a user. */
TEST(object_after_an_invalid_history_inherits_nothing)
{
    for (unsigned undone = 0; undone < 2; undone++) {
        CLEANUP(free_store) struct store *s = store_new(1);
        struct error err;

        put(s, VERSIONED_MAP("5", "1"), (struct origin){1, 1}, &err);

        struct entry *entry = store_find(s, &map_a);
        if (undone)
            entry_mark_seen(entry, (struct origin){1, STORE_HISTORY_INVALID});
        put(s, VERSIONED_MAP("7", "2"), (struct origin){1, 2}, &err);
        assert_int_equal(entry_template(entry)->user_version, undone ? 0 : 5);
        put(s, VERSIONED_MAP("8", "3"), (struct origin){1, 2}, &err);
        assert_int_equal(entry_template(entry)->user_version, 8);
    }
}

TEST(rejected_put_keeps_the_old_version)
{
    CLEANUP(free_store) struct store *s = NULL;
    struct witness w;
    struct error err;

    s = store_with_listener(&w);
    put(s, CONFIG_MAP("a", "1"), (struct origin){1, 1}, &err);
    put(s, CONFIG_MAP("b", "1"), (struct origin){1, 1}, &err);
    assert_int_equal(put(s, BROKEN_CONFIG_MAP("a"), (struct origin){1, 2}, &err), STORE_REJECTED);
    assert_string_equal(err.text, "ConfigMap 'test/a': 'metadata.labels' must be a map of strings");
    assert_int_equal(w.calls, 2);
    assert_string_equal(value_of(entry_object(store_find(s, &map_a))), "1");

    /* The rejected put has marked object a as seen, so the sweep removes only object b. */
    assert_int_equal(store_sweep(s, (struct origin){1, 2}), 1);
    assert_non_null(store_find(s, &map_a));
    assert_null(store_find(s, &map_b));
    assert_int_equal(w.calls, 3);

    assert_int_equal(put(s, BROKEN_CONFIG_MAP("new"), (struct origin){1, 2}, &err), STORE_REJECTED);
    assert_null(store_find(s, &(struct identity){"v1", "ConfigMap", "test", "new"}));
    assert_int_equal(store_object_count(s, CLASS_TEMPLATE), 1);
}

TEST(sweep_removes_objects_of_one_source_only)
{
    CLEANUP(free_store) struct store *s = NULL;
    struct witness w;
    struct error err;

    s = store_with_listener(&w);
    put(s, CONFIG_MAP("a", "1"), (struct origin){1, 1}, &err);
    put(s, CONFIG_MAP("b", "1"), (struct origin){2, 1}, &err);
    assert_int_equal(store_sweep(s, (struct origin){3, 9}), 0);
    assert_int_equal(store_sweep(s, (struct origin){1, 1}), 0);
    assert_int_equal(store_sweep(s, (struct origin){1, 2}), 1);
    assert_null(store_find(s, &map_a));
    assert_non_null(store_find(s, &map_b));
}

TEST(entry_in_use_is_not_freed)
{
    CLEANUP(free_store) struct store *s = NULL;
    struct witness w;
    struct error err;

    s = store_with_listener(&w);

    struct entry *entry = store_find_or_add(s, &map_a);

    assert_null(entry_object(entry));
    assert_ptr_equal(store_find_or_add(s, &map_a), entry);
    assert_ptr_equal(store_find(s, &map_a), entry);
    assert_int_equal(store_object_count(s, CLASS_TEMPLATE), 0);
    assert_int_equal(w.calls, 0);

    assert_int_equal(put(s, CONFIG_MAP("a", "1"), (struct origin){1, 1}, &err), STORE_ADDED);
    assert_ptr_equal(store_find(s, &map_a), entry);

    entry->pins = 1;
    store_remove(s, entry);
    assert_ptr_equal(store_find(s, &map_a), entry);
    assert_null(entry_object(entry));
    assert_int_equal(store_sweep(s, (struct origin){1, 2}), 0);

    entry->pins = 0;
    entry->dirty = true;
    store_free_if_unused(s, entry);
    assert_ptr_equal(store_find(s, &map_a), entry);
    entry->dirty = false;
    store_free_if_unused(s, entry);
    assert_null(store_find(s, &map_a));
}

TEST(versions_of_a_karmada_kind_share_an_entry)
{
    CLEANUP(free_store) struct store *s = store_new(1);
    struct error err;

    assert_int_equal(put(s,
                         "{'apiVersion':'work.karmada.io/v1alpha1','kind':'ResourceBinding',"
                         "'metadata':{'namespace':'test','name':'b'}}",
                         (struct origin){1, 1}, &err),
                     STORE_ADDED);
    assert_int_equal(put(s,
                         "{'apiVersion':'work.karmada.io/v1alpha2','kind':'ResourceBinding',"
                         "'metadata':{'namespace':'test','name':'b'}}",
                         (struct origin){1, 1}, &err),
                     STORE_CHANGED);
    assert_int_equal(put(s, "{'apiVersion':'v1','kind':'Event','metadata':{'name':'e'}}",
                         (struct origin){1, 1}, &err),
                     STORE_ADDED);
    assert_int_equal(put(s,
                         "{'apiVersion':'events.k8s.io/v1','kind':'Event',"
                         "'metadata':{'name':'e'}}",
                         (struct origin){1, 1}, &err),
                     STORE_CHANGED);
    /* The apiVersion of a template is a part of its identity. */
    assert_int_equal(put(s, "{'apiVersion':'apps/v1','kind':'Deployment','metadata':{'name':'d'}}",
                         (struct origin){1, 1}, &err),
                     STORE_ADDED);
    assert_int_equal(put(s, "{'apiVersion':'apps/v2','kind':'Deployment','metadata':{'name':'d'}}",
                         (struct origin){1, 1}, &err),
                     STORE_ADDED);
    assert_int_equal(store_object_count(s, CLASS_BINDING), 1);
    assert_int_equal(store_object_count(s, CLASS_EVENT), 1);
    assert_int_equal(store_object_count(s, CLASS_TEMPLATE), 2);
}

TEST(cluster_scoped_kinds_have_no_namespace)
{
    CLEANUP(free_store) struct store *s = store_new(1);
    struct error err;

    put(s,
        "{'apiVersion':'policy.karmada.io/v1alpha1','kind':'ClusterPropagationPolicy',"
        "'metadata':{'namespace':'stray','name':'cpp'}}",
        (struct origin){1, 1}, &err);

    struct entry *entry = store_find(
        s, &(struct identity){"policy.karmada.io/v1alpha1", "ClusterPropagationPolicy", "", "cpp"});

    assert_non_null(entry);
    assert_string_equal(entry_ns(entry), "");
}

TEST(type_has_a_partition_for_each_namespace)
{
    CLEANUP(free_store) struct store *s = store_new(1);
    struct error err;

    put(s, CONFIG_MAP("a", "1"), (struct origin){1, 1}, &err);
    put(s, CONFIG_MAP("b", "1"), (struct origin){1, 1}, &err);
    put(s, "{'apiVersion':'apps/v1','kind':'Deployment','metadata':{'name':'d'}}",
        (struct origin){1, 1}, &err);

    struct intern *strings = store_string_pool(s);
    struct type *type =
        store_find_interned_type(s, intern_find(strings, "v1"), intern_find(strings, "ConfigMap"));

    assert_non_null(type);
    assert_string_equal(type->group, "");
    assert_int_equal(type->objects, 2);

    struct partition *partition = type_find_partition(s, type, intern_find(strings, "test"));

    assert_ptr_equal(type->partitions, partition);
    assert_int_equal(partition->count, 2);
    assert_null(type_find_partition(s, type, intern_find(strings, "a")));
    assert_null(store_find_interned_type(s, intern_find(strings, "apps/v1"),
                                         intern_find(strings, "ConfigMap")));

    type = store_find_interned_type(s, intern_find(strings, "apps/v1"),
                                    intern_find(strings, "Deployment"));
    assert_string_equal(type->group, "apps");
    assert_true(store_first_type(s) && store_first_type(s)->next &&
                !store_first_type(s)->next->next);
}

TEST(entries_are_ordered_by_kind_namespace_and_name)
{
    CLEANUP(free_store) struct store *s = store_new(1);
    /* Identities in the expected order. */
    static const struct identity ids[] = {
        {"v1", "ConfigMap", "", "z"},         {"v1", "ConfigMap", "a", "a"},
        {"v1", "ConfigMap", "a", "b"},        {"v1", "ConfigMap", "b", "a"},
        {"apps/v1", "Deployment", "a", "a"},  {"apps/v2", "Deployment", "a", "a"},
        {"apps/v1", "Deployment", "a", "a2"}, {"v1", "configMap", "", "a"},
    };

    for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
        for (size_t j = 0; j < ARRAY_LEN(ids); j++) {
            int order = entry_compare(store_find_or_add(s, &ids[i]), store_find_or_add(s, &ids[j]));

            assert_int_equal(order < 0 ? -1 : order > 0, i < j ? -1 : i > j);
        }
    }
}

/* Two entries that free_others() frees at the first removal of another object, as the rules do. */
struct tidying {
    struct store *store;
    struct entry *others[2];
};

static void free_others(void *context, struct entry *entry, const void *old)
{
    struct tidying *t = context;

    (void)old;
    for (size_t i = 0; !entry_object(entry) && i < ARRAY_LEN(t->others); i++) {
        if (t->others[i])
            store_free_if_unused(t->store, t->others[i]);
        t->others[i] = NULL;
    }
}

TEST(listener_may_free_other_entries_during_a_sweep)
{
    CLEANUP(free_store) struct store *s = store_new(1);
    struct tidying tidying = {.store = s};
    struct error err;

    tidying.others[0] = store_find_or_add(s, &(struct identity){"v1", "ConfigMap", "test", "x"});
    put(s, CONFIG_MAP("a", "1"), (struct origin){1, 1}, &err);
    put(s, CONFIG_MAP("b", "1"), (struct origin){2, 1}, &err);
    tidying.others[1] = store_find_or_add(s, &(struct identity){"v1", "ConfigMap", "test", "y"});
    put(s, CONFIG_MAP("c", "1"), (struct origin){1, 1}, &err);
    store_set_listener(s, (struct store_listener){free_others, &tidying});
    assert_int_equal(store_sweep(s, (struct origin){1, 2}), 2);
    assert_int_equal(store_object_count(s, CLASS_TEMPLATE), 1);
    assert_non_null(store_find(s, &map_b));
}

static size_t count_partitions(const struct store *s)
{
    size_t count = 0;

    for (const struct type *type = store_first_type(s); type; type = type->next) {
        for (const struct partition *partition = type->partitions; partition;
             partition = partition->next_of_type)
            count++;
    }
    return count;
}

TEST(partitions_of_removed_namespaces_are_freed)
{
    CLEANUP(free_store) struct store *s = store_new(1);

    store_find_or_add(s, &map_a);
    for (unsigned i = 0; i < 1000; i++) {
        char ns[32];

        snprintf(ns, sizeof(ns), "run-%u", i);
        store_remove(s, store_find_or_add(s, &(struct identity){"v1", "ConfigMap", ns, "a"}));
    }
    assert_true(count_partitions(s) < 100);
    assert_true(intern_count(store_string_pool(s)) < 110);
    assert_non_null(store_find(s, &map_a));
}

/* Puts the objects of two API groups with one kind in three namespaces, in a mixed order. */
static void put_mixed(struct store *s)
{
    struct error err;
    char json[256];

    for (unsigned i = 0; i < 60; i++) {
        unsigned k = i * 37 % 60;

        snprintf(
            json, sizeof(json),
            "{'apiVersion':'%s/v1','kind':'%s','metadata':{'namespace':'ns-%u','name':'n-%u'}}",
            k % 2 ? "one.example.org" : "two.example.org", k % 5 ? "Thing" : "Other", k % 3, k / 2);
        assert_int_equal(put(s, json, (struct origin){1, 1}, &err), STORE_ADDED);
    }
}

TEST(listings_have_all_objects_of_a_class_in_order)
{
    struct store *s = store_new(1);
    struct listing sorted;
    struct listing unordered;

    put_mixed(s);
    sorted = listing_make(s, CLASS_TEMPLATE);
    unordered = listing_make_unordered(s, CLASS_TEMPLATE);
    assert_int_equal(sorted.count, 60);
    assert_int_equal(unordered.count, 60);
    for (size_t i = 0; i + 1 < sorted.count; i++)
        assert_true(entry_compare(sorted.entries[i], sorted.entries[i + 1]) < 0);
    listing_release(&sorted);
    listing_release(&unordered);
    sorted = listing_make(s, CLASS_POLICY);
    assert_int_equal(sorted.count, 0);
    listing_release(&sorted);
    store_free(s);
}
