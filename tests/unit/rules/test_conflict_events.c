/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/dependency.h"

#include "metrics/rules/rule.h"
#include "tests/unit/reading.h"
#include "tests/unit/suite.h"
#include "tests/unit/world.h"

#define BOTH          (1U << DEPENDENCY_CONFLICT_RESOLUTION | 1U << DEPENDENCY_PRESERVE)
#define RESOLUTION    "ConflictResolution conflicted (Overwrite vs Abort)"
#define PRESERVE      "PreserveResourcesOnDeletion conflicted (true vs false)"
#define MESSAGE_START "Dependency policy conflict detected: "

static struct message {
    const char *name;
    unsigned fields;
    const char *text;
} messages[] = {
    {"conflictResolution only", 1U << DEPENDENCY_CONFLICT_RESOLUTION, MESSAGE_START RESOLUTION "."},
    {"preserveResourcesOnDeletion only", 1U << DEPENDENCY_PRESERVE, MESSAGE_START PRESERVE "."},
    {"both fields", BOTH, MESSAGE_START RESOLUTION "; " PRESERVE "."},
};

TEST_ROWS(messages_equal_those_of_karmada, messages, name)
{
    const struct message *m = *state;
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(1024);

    conflict_event_message(m->fields, &text);
    assert_string_equal(text.data, m->text);
}

static void expect_name(const char *binding, const char *uid, unsigned fields, const char *name)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(1024);

    conflict_event_name(binding, uid, fields, &text);
    assert_string_equal(text.data, name);
}

/* The names must not change: exporters of two releases must not both create the Event. */
TEST(the_event_name_depends_on_binding_uid_and_fields)
{
    expect_name("c-configmap", "u1", BOTH, "c-configmap.5bef236d475e8cca");
    expect_name("c-configmap", "u2", BOTH, "c-configmap.97ccc925079edea1");
    expect_name("c-configmap", "u1", 1U << DEPENDENCY_PRESERVE, "c-configmap.2f6f631c536ab7ad");
}

TEST(a_long_binding_name_is_cut_to_a_valid_event_name)
{
    char binding[OBJECT_NAME_MAX + 1];
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(1024);

    memset(binding, 'a', OBJECT_NAME_MAX);
    binding[OBJECT_NAME_MAX] = '\0';
    conflict_event_name(binding, "u1", BOTH, &text);
    assert_int_equal(text.len, OBJECT_NAME_MAX);
    /* Dashes at the end of the truncated name are dropped. */
    memset(binding + 200, '-', 40);
    strbuf_reset(&text);
    conflict_event_name(binding, "u1", BOTH, &text);
    assert_int_equal(text.len, 200 + 17);
    assert_int_equal(text.data[200], '.');
}

#define ABOUT(uid)                                                                                 \
    "'involvedObject':{'kind':'ResourceBinding','namespace':'test','name':'c-configmap','uid':"    \
    "'" uid "'},'reason':'DependencyPolicyConflict'"
#define EVENT(name, more)                                                                          \
    "{'apiVersion':'v1','kind':'Event','metadata':{'namespace':'test','name':'" name "'}," more "}"
#define FROM_KARMADA  "'source':{'component':'dependencies-distributor'}"
#define FROM_EXPORTER "'source':{'component':'karmada-policy-exporter'}"

static void put(struct world *w, const char *text)
{
    CLEANUP(json_cleanup) cJSON *json = json_of(text);

    world_put(w, json);
}

static const struct conflict_events *events_in(const struct world *w)
{
    return &engine_context(w->engine)->conflict_events;
}

static struct entry *put_binding(struct world *w)
{
    put(w, "{'apiVersion':'work.karmada.io/v1alpha2','kind':'ResourceBinding','metadata':{"
           "'namespace':'test','name':'c-configmap','uid':'u1'},'spec':{'resource':{"
           "'apiVersion':'v1','kind':'ConfigMap','namespace':'test','name':'c'}}}");
    return world_find(w, "work.karmada.io/v1alpha2", "ResourceBinding", "test", "c-configmap");
}

TEST(events_are_found_by_their_source)
{
    struct world w;
    const struct entry *binding, *own;

    world_init(&w, &rules_options_default, 1);
    binding = put_binding(&w);
    assert_int_equal(conflict_events_by_others(events_in(&w), binding), 0);
    assert_null(conflict_events_find_own(events_in(&w), binding, BOTH));

    put(&w,
        EVENT("theirs", ABOUT("u1") "," FROM_KARMADA ",'message':'" MESSAGE_START PRESERVE ".'"));
    put(&w, EVENT("of-another",
                  ABOUT("u0") "," FROM_KARMADA ",'message':'" MESSAGE_START RESOLUTION ".'"));
    put(&w, EVENT("ours", ABOUT("u1") "," FROM_EXPORTER ",'message':'" MESSAGE_START RESOLUTION
                                      "; " PRESERVE ".'"));
    put(&w, EVENT("before",
                  ABOUT("u0") "," FROM_EXPORTER ",'message':'" MESSAGE_START RESOLUTION ".'"));
    assert_int_equal(conflict_events_by_others(events_in(&w), binding), 1U << DEPENDENCY_PRESERVE);
    own = conflict_events_find_own(events_in(&w), binding, BOTH);
    assert_non_null(own);
    assert_string_equal(own->name, "ours");
    assert_null(
        conflict_events_find_own(events_in(&w), binding, 1U << DEPENDENCY_CONFLICT_RESOLUTION));

    store_remove(w.store, world_find(&w, "v1", "Event", "test", "ours"));
    store_remove(w.store, world_find(&w, "v1", "Event", "test", "theirs"));
    assert_int_equal(conflict_events_by_others(events_in(&w), binding), 0);
    assert_null(conflict_events_find_own(events_in(&w), binding, BOTH));
    world_release(&w);
}

/* A new version of an Event may drop or add the conflict of the binding. */
TEST(a_changed_event_replaces_its_conflict)
{
    struct world w;
    const struct entry *binding;

    world_init(&w, &rules_options_default, 1);
    binding = put_binding(&w);
    put(&w, EVENT("e", ABOUT("u1") "," FROM_KARMADA ",'message':'" MESSAGE_START PRESERVE ".'"));
    put(&w, EVENT("e", "'reason':'SyncSucceed'"));
    assert_int_equal(conflict_events_by_others(events_in(&w), binding), 0);
    put(&w, EVENT("e", ABOUT("u1") "," FROM_KARMADA ",'message':'" MESSAGE_START RESOLUTION ".'"));
    assert_int_equal(conflict_events_by_others(events_in(&w), binding),
                     1U << DEPENDENCY_CONFLICT_RESOLUTION);
    world_release(&w);
}
