/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/dependency.h"

#include "metrics/rules/rule.h"
#include "tests/unit/reading.h"
#include "tests/unit/suite.h"
#include "tests/unit/world.h"

#define BOTH       (1U << DEPENDENCY_CONFLICT_RESOLUTION | 1U << DEPENDENCY_PRESERVE)
#define RESOLUTION "ConflictResolution conflicted (Overwrite vs Abort)"
#define PRESERVE   "PreserveResourcesOnDeletion conflicted (true vs false)"
#define SAYS       "Dependency policy conflict detected: "

static struct message {
    const char *name;
    unsigned fields;
    const char *text;
} messages[] = {
    {"one", 1U << DEPENDENCY_CONFLICT_RESOLUTION, SAYS RESOLUTION "."},
    {"the other", 1U << DEPENDENCY_PRESERVE, SAYS PRESERVE "."},
    {"both", BOTH, SAYS RESOLUTION "; " PRESERVE "."},
};

TEST_ROWS(the_messages_are_karmadas, messages, name)
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

/* It must stay so: an exporter of another release finds by it what this one has written. */
TEST(the_name_is_of_the_binding_and_of_what_is_said)
{
    expect_name("c-configmap", "u1", BOTH, "c-configmap.5bef236d475e8cca");
    expect_name("c-configmap", "u2", BOTH, "c-configmap.97ccc925079edea1");
    expect_name("c-configmap", "u1", 1U << DEPENDENCY_PRESERVE, "c-configmap.2f6f631c536ab7ad");
}

TEST(a_long_name_is_cut_to_one_that_a_server_accepts)
{
    char binding[OBJECT_NAME_MAX + 1];
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(1024);

    memset(binding, 'a', OBJECT_NAME_MAX);
    binding[OBJECT_NAME_MAX] = '\0';
    conflict_event_name(binding, "u1", BOTH, &text);
    assert_int_equal(text.len, OBJECT_NAME_MAX);
    /* Where it is cut there are no letters. */
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
#define KARMADAS "'source':{'component':'dependencies-distributor'}"
#define OURS     "'source':{'component':'karmada-policy-exporter'}"

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

TEST(events_are_found_by_who_wrote_them)
{
    struct world w;
    const struct entry *binding, *own;

    world_init(&w, &rules_options_default, 1);
    binding = put_binding(&w);
    assert_int_equal(conflict_events_by_others(events_in(&w), binding), 0);
    assert_null(conflict_events_find_own(events_in(&w), binding, BOTH));

    put(&w, EVENT("theirs", ABOUT("u1") "," KARMADAS ",'message':'" SAYS PRESERVE ".'"));
    put(&w, EVENT("of-another", ABOUT("u0") "," KARMADAS ",'message':'" SAYS RESOLUTION ".'"));
    put(&w, EVENT("ours", ABOUT("u1") "," OURS ",'message':'" SAYS RESOLUTION "; " PRESERVE ".'"));
    put(&w, EVENT("before", ABOUT("u0") "," OURS ",'message':'" SAYS RESOLUTION ".'"));
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

/* One that was about our binding is not any more, and the other way round. */
TEST(an_event_may_be_replaced)
{
    struct world w;
    const struct entry *binding;

    world_init(&w, &rules_options_default, 1);
    binding = put_binding(&w);
    put(&w, EVENT("e", ABOUT("u1") "," KARMADAS ",'message':'" SAYS PRESERVE ".'"));
    put(&w, EVENT("e", "'reason':'SyncSucceed'"));
    assert_int_equal(conflict_events_by_others(events_in(&w), binding), 0);
    put(&w, EVENT("e", ABOUT("u1") "," KARMADAS ",'message':'" SAYS RESOLUTION ".'"));
    assert_int_equal(conflict_events_by_others(events_in(&w), binding),
                     1U << DEPENDENCY_CONFLICT_RESOLUTION);
    world_release(&w);
}
