/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/dependency.h"

#include "metrics/base/timestamp.h"
#include "tests/unit/lines.h"
#include "tests/unit/reading.h"
#include "tests/unit/suite.h"
#include "tests/unit/world.h"

static void check_field(const struct field_resolution *field, const cJSON *expect, bool resolved)
{
    assert_int_equal(field->conflict, json_bool(expect, "conflict", false));
    assert_int_equal(field->resolved, resolved);
}

static void check_binding(const struct world *w, const cJSON *expect)
{
    const cJSON *resolution = json_get(expect, "conflictResolution");
    const cJSON *preserve = json_get(expect, "preserveResourcesOnDeletion");
    const struct entry *binding =
        world_find(w, "work.karmada.io/v1alpha2", "ResourceBinding",
                   json_str(expect, "namespace", ""), json_str(expect, "name", ""));

    assert_non_null(binding);
    const struct dependency_decision *d = dependency_decision(binding);
    assert_non_null(d);
    assert_true(d->attached);
    assert_int_equal(d->dangling, json_int(expect, "missingReferences", -1));
    check_field(&d->fields[DEPENDENCY_CONFLICT_RESOLUTION], resolution,
                strcmp(json_str(resolution, "resolved", "Abort"), "Overwrite") == 0);
    check_field(&d->fields[DEPENDENCY_PRESERVE], preserve, json_bool(preserve, "resolved", false));
    /* The vectors contain no resolution if requiredBy is empty. */
    if (!resolution)
        assert_int_equal(d->referrers + d->dangling, 0);
}

/* Asserts that no other binding is attached, and that no unattached one has a conflict. */
static void check_other_bindings(const struct world *w, const cJSON *expect)
{
    const struct type *type = store_first_type(w->store);
    size_t attached = 0;

    for (; type; type = type->next) {
        for (const struct partition *partition = type->partitions; partition;
             partition = partition->next_of_type) {
            for (size_t i = 0; i < partition->count; i++) {
                const struct dependency_decision *d =
                    dependency_decision(partition_entry(partition, i));

                attached += d && d->attached;
                if (d && !d->attached)
                    assert_false(d->fields[0].conflict || d->fields[1].conflict);
            }
        }
    }
    assert_int_equal(attached, cJSON_GetArraySize(expect));
}

static void check_case(const cJSON *line, void *context)
{
    size_t *checked = context;
    const cJSON *expect;
    struct world w;

    world_init(&w, &rules_options_default, 1);
    world_put_all(&w, json_get(line, "objects"));
    world_run(&w, 0);
    cJSON_ArrayForEach (expect, json_get(line, "expect")) {
        check_binding(&w, expect);
        (*checked)++;
    }
    check_other_bindings(&w, json_get(line, "expect"));
    world_release(&w);
}

TEST(conflicts_and_resolutions_agree_with_karmada)
{
    size_t checked = 0;
    size_t cases = lines_each("tests/fixtures/vectors/dependency.jsonl.gz", check_case, &checked);

    assert_int_equal(cases, 1000);
    assert_true(checked >= cases);
}

/* The vectors contain no unapplied and no overridden values. */
TEST(stored_values_are_compared_with_the_resolution)
{
    static const char referrer[] =
        "{\"apiVersion\":\"work.karmada.io/v1alpha2\",\"kind\":\"ResourceBinding\",\"metadata\":{"
        "\"name\":\"app-deployment\",\"namespace\":\"test\"},\"spec\":{\"placement\":{},"
        "\"conflictResolution\":\"Overwrite\",\"resource\":{\"apiVersion\":\"apps/v1\","
        "\"kind\":\"Deployment\",\"name\":\"app\",\"namespace\":\"test\"}}}";
    static const char shared[] =
        "{\"apiVersion\":\"work.karmada.io/v1alpha2\",\"kind\":\"ResourceBinding\",\"metadata\":{"
        "\"name\":\"shared-configmap\",\"namespace\":\"test\"},\"spec\":{%s"
        "\"conflictResolution\":\"Abort\",\"resource\":{\"apiVersion\":\"v1\","
        "\"kind\":\"ConfigMap\",\"name\":\"shared\",\"namespace\":\"test\"},"
        "\"requiredBy\":[{\"namespace\":\"test\",\"name\":\"app-deployment\"}]}}";
    const char *placements[] = {"", "\"placement\":{},"};
    struct world w;

    world_init(&w, &rules_options_default, 1);
    world_put_text(&w, referrer);
    for (size_t own = 0; own < ARRAY_LEN(placements); own++) {
        char text[1024];

        snprintf(text, sizeof(text), shared, placements[own]);
        world_put_text(&w, text);
        world_run(&w, 0);
        const struct field_resolution *field =
            &dependency_decision(world_find(&w, "work.karmada.io/v1alpha2", "ResourceBinding",
                                            "test", "shared-configmap"))
                 ->fields[DEPENDENCY_CONFLICT_RESOLUTION];
        assert_true(field->resolved);
        assert_false(field->stored);
        assert_int_equal(field->unapplied, own == 0);
        assert_int_equal(field->overridden, own == 1);
        assert_false(field->conflict);
    }
    world_release(&w);
}

#define REFERRER(name, conflict_resolution, time)                                                  \
    "{\"apiVersion\":\"work.karmada.io/v1alpha2\",\"kind\":\"ResourceBinding\",\"metadata\":{"     \
    "\"name\":\"" name "-deployment\",\"namespace\":\"test\",\"creationTimestamp\":\"" time        \
    "\",\"generation\":1},\"spec\":{\"placement\":{},\"propagateDeps\":true,"                      \
    "\"conflictResolution\":\"" conflict_resolution "\",\"resource\":{\"apiVersion\":\"apps/v1\"," \
    "\"kind\":\"Deployment\",\"name\":\"" name "\",\"namespace\":\"test\"}}}"
#define DEPLOYMENT(name)                                                                           \
    "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"" name "\","     \
    "\"namespace\":\"test\"}}"
#define POLICY_WITH(name, conflict_resolution)                                                     \
    "{\"apiVersion\":\"policy.karmada.io/v1alpha1\",\"kind\":\"PropagationPolicy\",\"metadata\":{" \
    "\"name\":\"" name "\",\"namespace\":\"test\"},\"spec\":{\"propagateDeps\":true,"              \
    "\"conflictResolution\":\"" conflict_resolution "\",\"resourceSelectors\":[{\"apiVersion\":"   \
    "\"apps/v1\",\"kind\":\"Deployment\",\"name\":\"" name "\"}]}}"
#define SHARED(placement, time)                                                                    \
    "{\"apiVersion\":\"work.karmada.io/v1alpha2\",\"kind\":\"ResourceBinding\",\"metadata\":{"     \
    "\"name\":\"shared-configmap\",\"namespace\":\"test\",\"creationTimestamp\":\"" time           \
    "\",\"generation\":1},\"spec\":{" placement "\"resource\":{\"apiVersion\":\"v1\","             \
    "\"kind\":\"ConfigMap\",\"name\":\"shared\",\"namespace\":\"test\"},\"requiredBy\":[{"         \
    "\"namespace\":\"test\",\"name\":\"a-deployment\"},{\"namespace\":\"test\","                   \
    "\"name\":\"b-deployment\"}]}}"

/* Values in two bindings and in their policies, and the expected conflicts now and later. */
static const struct prediction_case {
    const char *title;
    const char *bindings[2];
    const char *policies[2];
    bool own_placement;
    bool conflict;
    bool ahead;
    bool predicted;
} predictions[] = {
    {"the bindings agree, the policies too",
     {"Abort", "Abort"},
     {"Abort", "Abort"},
     false,
     false,
     false,
     false},
    {"the bindings agree, the policies do not",
     {"Abort", "Abort"},
     {"Overwrite", "Abort"},
     false,
     false,
     true,
     true},
    {"the bindings conflict, the policies agree",
     {"Overwrite", "Abort"},
     {"Abort", "Abort"},
     false,
     true,
     false,
     false},
    {"the bindings conflict, the policies too",
     {"Overwrite", "Abort"},
     {"Abort", "Overwrite"},
     false,
     true,
     true,
     false},
    {"a dependency with a placement of its own has no conflict",
     {"Overwrite", "Abort"},
     {"Abort", "Overwrite"},
     true,
     false,
     false,
     false},
};

TEST_ROWS(a_conflict_is_predicted_from_the_policies, predictions, title)
{
    const struct prediction_case *o = *state;
    struct world w;

    world_init(&w, &rules_options_default, 1);
    world_put_text(&w, DEPLOYMENT("a"));
    world_put_text(&w, DEPLOYMENT("b"));
    world_put_text(&w, strcmp(o->bindings[0], "Abort") == 0
                           ? REFERRER("a", "Abort", "2026-01-01T10:00:00Z")
                           : REFERRER("a", "Overwrite", "2026-01-01T10:00:00Z"));
    world_put_text(&w, REFERRER("b", "Abort", "2026-01-01T12:00:00Z"));
    world_put_text(&w, strcmp(o->policies[0], "Abort") == 0 ? POLICY_WITH("a", "Abort")
                                                            : POLICY_WITH("a", "Overwrite"));
    world_put_text(&w, strcmp(o->policies[1], "Abort") == 0 ? POLICY_WITH("b", "Abort")
                                                            : POLICY_WITH("b", "Overwrite"));
    world_put_text(&w, o->own_placement ? SHARED("\"placement\":{},", "2026-01-01T11:00:00Z")
                                        : SHARED("", "2026-01-01T11:00:00Z"));
    world_run(&w, 0);

    const struct dependency_decision *d = dependency_decision(
        world_find(&w, "work.karmada.io/v1alpha2", "ResourceBinding", "test", "shared-configmap"));
    const struct field_resolution *field = &d->fields[DEPENDENCY_CONFLICT_RESOLUTION];
    assert_int_equal(field->conflict, o->conflict);
    assert_int_equal(field->ahead, o->ahead);
    assert_int_equal(field->predicted, o->predicted);
    world_release(&w);
}

/* A conflict began with the latest change of a referrer or of the dependency. */
TEST(a_conflict_dates_from_the_latest_change)
{
    static const char *const shared[] = {SHARED("", "2026-01-01T11:00:00Z"),
                                         SHARED("", "2026-01-01T13:00:00Z")};
    static const char *const since[] = {"2026-01-01T12:00:00Z", "2026-01-01T13:00:00Z"};

    for (size_t i = 0; i < ARRAY_LEN(shared); i++) {
        int64_t expected_ms;
        struct world w;

        assert_true(parse_timestamp(since[i], &expected_ms));
        world_init(&w, &rules_options_default, 1);
        world_put_text(&w, REFERRER("a", "Overwrite", "2026-01-01T12:00:00Z"));
        world_put_text(&w, REFERRER("b", "Abort", "2026-01-01T10:00:00Z"));
        world_put_text(&w, shared[i]);
        world_run(&w, 0);
        assert_true(dependency_decision(world_find(&w, "work.karmada.io/v1alpha2",
                                                   "ResourceBinding", "test", "shared-configmap"))
                        ->since_ms == expected_ms);
        world_release(&w);
    }
}

/* The ConfigMap has no binding; a Deployment that a policy selects mounts it. */
TEST(the_value_to_be_stored_is_derived_without_bindings)
{
    static const char mounting[] =
        "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"a\","
        "\"namespace\":\"test\"},\"spec\":{\"template\":{\"spec\":{\"volumes\":[{\"configMap\":{"
        "\"name\":\"shared\"}}]}}}}";
    static const char shared[] = "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{"
                                 "\"name\":\"shared\",\"namespace\":\"test\"}}";
    struct world w;

    world_init(&w, &rules_options_default, 1);
    world_put_text(&w, mounting);
    world_put_text(&w, shared);
    world_run(&w, 0);
    const struct entry *entry = world_find(&w, "v1", "ConfigMap", "test", "shared");
    assert_null(dependency_decision(entry));
    assert_null(dependency_decide(intern_memory(store_string_pool(w.store)), NULL,
                                  &(struct dependency_referrers){0}, (struct release_range){0}));

    world_put_text(&w, POLICY_WITH("a", "Overwrite"));
    world_run(&w, 0);
    const struct dependency_decision *d = dependency_decision(entry);
    assert_non_null(d);
    assert_true(d->derived);
    assert_int_equal(d->referrers, 1);
    assert_true(d->fields[DEPENDENCY_CONFLICT_RESOLUTION].stored);
    assert_false(d->fields[DEPENDENCY_PRESERVE].stored);
    for (unsigned i = 0; i < DEPENDENCY_FIELD_COUNT; i++)
        assert_false(d->fields[i].unapplied || d->fields[i].overridden);
    world_release(&w);
}

/* ---- derived and observed referrers together ---- */

#define META(name, more) "'metadata':{'name':'" name "','namespace':'test'" more "}"
#define NEEDING(name)                                                                              \
    "{'apiVersion':'apps/v1','kind':'Deployment'," META(                                           \
        name, "") ",'spec':{'template':{'spec':{'volumes':[{'configMap':{'name':'shared'}}]}}}}"
#define CLAIMED(name)                                                                              \
    "{'apiVersion':'apps/v1','kind':'Deployment'," META(                                           \
        name, ",'labels':{'propagationpolicy.karmada.io/permanent-id':'1'},"                       \
              "'annotations':{'propagationpolicy.karmada.io/namespace':'test',"                    \
              "'propagationpolicy.karmada.io/name':'" name                                         \
              "'}") ",'spec':{'template':{'spec':{'volumes':[{'configMap':{'name':'shared'}}]}}}}"
#define UNREAD(name) "{'apiVersion':'apps/v1','kind':'Deployment'," META(name, "") "}"
#define CONFIG_MAP   "{'apiVersion':'v1','kind':'ConfigMap'," META("shared", "") "}"
#define POLICY(name, conflict_resolution, more)                                                    \
    "{'apiVersion':'policy.karmada.io/v1alpha1','kind':'PropagationPolicy'," META(                 \
        name,                                                                                      \
        ",'labels':{'propagationpolicy.karmada.io/permanent-id':'1'}") ",'spec':{" more            \
                                                                       "'propagateDeps':true,'"    \
                                                                       "conflictResolution':"      \
                                                                       "'" conflict_resolution     \
                                                                       "','placement':{},'"        \
                                                                       "resourceSelectors':[{'"    \
                                                                       "apiVersion':'apps/"        \
                                                                       "v1','kind':'Deployment',"  \
                                                                       "'name':'" name "'}]}}"
#define NOTED_IN(ns)                                                                               \
    ",'annotations':{'resourcebinding.karmada.io/dependencies':'[{\\\"apiVersion\\\":\\\"v1\\\","  \
    "\\\"kind\\\":\\\"ConfigMap\\\",\\\"namespace\\\":\\\"" ns "\\\",\\\"name\\\":"                \
    "\\\"shared\\\"}]'}"
#define NOTE      NOTED_IN("test")
#define ELSEWHERE NOTED_IN("other")
#define BOUND(name, conflict_resolution, more)                                                     \
    "{'apiVersion':'work.karmada.io/v1alpha2','kind':'ResourceBinding'," META(                     \
        name "-deployment", more) ",'spec':{'placement':{},'propagateDeps':true,"                  \
                                  "'conflictResolution':'" conflict_resolution                     \
                                  "','resource':{'apiVersion':'apps/v1',"                          \
                                  "'kind':'Deployment','namespace':'test','name':'" name "'}}}"
#define LISTING(placement, conflict_resolution, list)                                              \
    "{'apiVersion':'work.karmada.io/v1alpha2','kind':'ResourceBinding'," META(                     \
        "shared-configmap",                                                                        \
        "") ",'spec':{" placement "'conflictResolution':'" conflict_resolution                     \
            "','resource':{'apiVersion':'v1','kind':'ConfigMap','namespace':'test',"               \
            "'name':'shared'},'requiredBy':[" list "]}}"
#define LISTED(name) "{'namespace':'test','name':'" name "-deployment'}"

enum { OBJECTS_MAX = 10 };

/*
 * Objects, and the decisions about the ConfigMap and its binding, as append_decision() writes them.
 */
static const struct referrer_case {
    const char *name;
    const char *objects[OBJECTS_MAX];
    const char *text;
} referrer_cases[] = {
    {"a new referrer conflicts with a bound one",
     {NEEDING("a"), POLICY("a", "Overwrite", ""), BOUND("a", "Overwrite", ""), CONFIG_MAP,
      LISTING("", "Overwrite", LISTED("a")), NEEDING("b"), POLICY("b", "Abort", "")},
     "ResourceBinding: attached derived 2 conflict resolved=1 stored=1"
     " a=1 b=0(derived)"},
    {"the value of a new referrer wins, and is not yet due",
     {NEEDING("a"), POLICY("a", "Abort", ""), BOUND("a", "Abort", ""), CONFIG_MAP,
      LISTING("", "Abort", LISTED("a")), NEEDING("b"), POLICY("b", "Overwrite", "")},
     "ResourceBinding: attached derived 2 conflict resolved=1 stored=0"
     " a=0 b=1(derived)"},
    {"two new referrers, and a binding of another template",
     {BOUND("c", "Abort", ""), CONFIG_MAP, NEEDING("a"), POLICY("a", "Overwrite", ""), NEEDING("b"),
      POLICY("b", "Abort", "")},
     "ConfigMap: attached derived 2 conflict resolved=1 stored=1 a=1(derived) b=0(derived)"},
    {"a binding left by earlier referrers does not count",
     {CONFIG_MAP, LISTING("", "Abort", ""), NEEDING("a"), POLICY("a", "Overwrite", ""),
      NEEDING("b"), POLICY("b", "Abort", "")},
     "ConfigMap: attached derived 2 conflict resolved=1 stored=1 a=1(derived) b=0(derived)"
     "ResourceBinding: attached 0 resolved=0 stored=0"},
    {"a dependency that was not read, but has a binding",
     {NEEDING("a"), POLICY("a", "Overwrite", ""), BOUND("a", "Overwrite", ""),
      LISTING("", "Overwrite", LISTED("a")), NEEDING("b"), POLICY("b", "Abort", "")},
     "ResourceBinding: attached derived 2 conflict resolved=1 stored=1"
     " a=1 b=0(derived)"},
    {"referrers in requiredBy count once",
     {NEEDING("a"), POLICY("a", "Overwrite", ""), BOUND("a", "Overwrite", ""), CONFIG_MAP,
      NEEDING("b"), POLICY("b", "Overwrite", ""), BOUND("b", "Overwrite", ""),
      LISTING("", "Overwrite", LISTED("b") "," LISTED("a"))},
     "ResourceBinding: attached 2 resolved=1 stored=1 b=1 a=1"},
    {"a bound referrer that is not in requiredBy yet",
     {NEEDING("a"), POLICY("a", "Overwrite", ""), BOUND("a", "Overwrite", ""), CONFIG_MAP,
      NEEDING("b"), POLICY("b", "Abort", ""), BOUND("b", "Abort", ""),
      LISTING("", "Overwrite", LISTED("a"))},
     "ResourceBinding: attached 1 resolved=1 stored=1 predicted a=1 (b=0)"},
    {"two bound referrers, no binding of the dependency yet",
     {NEEDING("a"), POLICY("a", "Overwrite", ""), BOUND("a", "Overwrite", ""), CONFIG_MAP,
      NEEDING("b"), POLICY("b", "Abort", ""), BOUND("b", "Abort", "")},
     "ConfigMap: attached 0 resolved=0 stored=0 predicted (a=1) (b=0)"},
    {"references known only from annotations of bindings",
     {UNREAD("a"), POLICY("a", "Overwrite", ""), BOUND("a", "Overwrite", NOTE), CONFIG_MAP,
      UNREAD("b"), POLICY("b", "Abort", ""), BOUND("b", "Abort", NOTE),
      LISTING("", "Overwrite", LISTED("a"))},
     "ResourceBinding: attached 1 resolved=1 stored=1 predicted a=1 (b=0)"},
    {"references of a referrer unknown",
     {UNREAD("a"), POLICY("a", "Overwrite", ""), BOUND("a", "Overwrite", NOTE), CONFIG_MAP,
      UNREAD("b"), POLICY("b", "Abort", ""), BOUND("b", "Abort", ""),
      LISTING("", "Overwrite", LISTED("a"))},
     "ResourceBinding: attached 1 resolved=1 stored=1 a=1"},
    {"a lazy policy waits for the next change of the referrer",
     {NEEDING("a"), POLICY("a", "Overwrite", ""), BOUND("a", "Overwrite", ""), CONFIG_MAP,
      LISTING("", "Overwrite", LISTED("a")), CLAIMED("b"),
      POLICY("b", "Abort", "'activationPreference':'Lazy',")},
     "ResourceBinding: attached 1 resolved=1 stored=1 predicted a=1 (b=0)(derived)"},
    {"a dependent override of the policy is missing",
     {NEEDING("a"), POLICY("a", "Overwrite", ""), BOUND("a", "Overwrite", ""), CONFIG_MAP,
      LISTING("", "Overwrite", LISTED("a")), NEEDING("b"),
      POLICY("b", "Abort", "'dependentOverrides':['nope'],")},
     "ResourceBinding: attached 1 resolved=1 stored=1 predicted a=1 (b=0)(derived)"},
    {"the policy does not propagate dependencies",
     {NEEDING("a"), POLICY("a", "Overwrite", ""), BOUND("a", "Overwrite", ""), CONFIG_MAP,
      LISTING("", "Overwrite", LISTED("a")), NEEDING("b"),
      POLICY("b", "Abort", "'propagateDeps':false,")},
     "ResourceBinding: attached 1 resolved=1 stored=1 a=1"},
    {"a policy of its own selects the dependency",
     {NEEDING("a"), POLICY("a", "Overwrite", ""), BOUND("a", "Overwrite", ""), CONFIG_MAP,
      LISTING("'placement':{},", "Abort", LISTED("a")), NEEDING("b"), POLICY("b", "Abort", "")},
     "ResourceBinding: 1 resolved=1 stored=0 overridden a=1"},
    {"a dangling reference, and a new referrer",
     {CONFIG_MAP, LISTING("", "Abort", LISTED("a")), NEEDING("b"), POLICY("b", "Overwrite", "")},
     "ResourceBinding: attached derived 1 resolved=1 stored=0 dangling b=1(derived)"},
    {"referrers of another namespace do not count",
     {UNREAD("a"), POLICY("a", "Overwrite", ""), BOUND("a", "Overwrite", ELSEWHERE), UNREAD("b"),
      POLICY("b", "Abort", ""), BOUND("b", "Abort", ELSEWHERE),
      "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'shared','namespace':'other'}}"},
     ""},
    {"a dependency that does not exist",
     {NEEDING("a"), POLICY("a", "Overwrite", ""), NEEDING("b"), POLICY("b", "Abort", "")},
     ""},
};

static void append_referrer(void *context, const struct dependency_referrer *referrer)
{
    struct strbuf *out = context;
    bool now = referrer->counts_observed;
    const struct dependency_values *values = now ? &referrer->observed : &referrer->current;

    if (!referrer->template)
        return;
    strbuf_addf(out, now ? " %s=%d%s" : " (%s=%d)%s", referrer->template->name,
                values->wants[DEPENDENCY_CONFLICT_RESOLUTION],
                referrer->derived ? "(derived)" : "");
}

static void append_decision(const struct world *w, const struct entry *entry, struct strbuf *out)
{
    const struct dependency_decision *d = entry ? dependency_decision(entry) : NULL;

    if (!d)
        return;

    const struct field_resolution *f = &d->fields[DEPENDENCY_CONFLICT_RESOLUTION];
    strbuf_addf(out, "%s:%s%s %u%s resolved=%d stored=%d", entry_kind(entry),
                d->attached ? " attached" : "", d->derived ? " derived" : "", d->referrers,
                f->conflict ? " conflict" : "", f->resolved, f->stored);
    strbuf_addf(out, "%s%s%s%s", f->predicted ? " predicted" : "", f->unapplied ? " unapplied" : "",
                f->overridden ? " overridden" : "", d->dangling > 0 ? " dangling" : "");
    engine_dependency_referrers(w->engine, entry, append_referrer, out);
}

static void put_quoted(struct world *w, const char *object)
{
    CLEANUP(json_cleanup) cJSON *json = json_of(object);

    world_put(w, json);
}

static void append_shared_decisions(const struct world *w, struct strbuf *out)
{
    append_decision(w, world_find(w, "v1", "ConfigMap", "test", "shared"), out);
    append_decision(w, world_find(w, "v1", "ConfigMap", "other", "shared"), out);
    append_decision(
        w, world_find(w, "work.karmada.io/v1alpha2", "ResourceBinding", "test", "shared-configmap"),
        out);
}

TEST_ROWS(each_referrer_counts_once, referrer_cases, name)
{
    const struct referrer_case *c = *state;
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(4096);
    struct world w;

    world_init(&w, &rules_options_default, 1);
    for (size_t i = 0; i < OBJECTS_MAX && c->objects[i]; i++)
        put_quoted(&w, c->objects[i]);
    world_run(&w, 0);
    append_shared_decisions(&w, &text);
    assert_string_equal(text.data, c->text);
    world_release(&w);
}

static enum template_state state_of(const struct world *w)
{
    return template_decision(world_find(w, "v1", "ConfigMap", "test", "shared"))->state;
}

/* Follows a referrer from its creation to its deletion. Without a binding, its spec counts. */
TEST(a_referrer_is_derived_until_its_binding_exists)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(4096);
    struct world w;

    world_init(&w, &rules_options_default, 1);
    put_quoted(&w, CONFIG_MAP);
    put_quoted(&w, NEEDING("a"));
    put_quoted(&w, BOUND("other", "Abort", ""));
    world_run(&w, 0);
    append_shared_decisions(&w, &text);
    assert_string_equal(text.data, "");
    assert_int_equal(state_of(&w), STATE_PENDING);

    put_quoted(&w, POLICY("a", "Overwrite", ""));
    world_run(&w, 0);
    append_shared_decisions(&w, &text);
    assert_string_equal(text.data,
                        "ConfigMap: attached derived 1 resolved=1 stored=1 a=1(derived)");
    assert_int_equal(state_of(&w), STATE_ATTACHED);

    /* A bound referrer counts only if requiredBy lists it. */
    strbuf_reset(&text);
    put_quoted(&w, BOUND("a", "Overwrite", ""));
    world_run(&w, 0);
    append_shared_decisions(&w, &text);
    assert_string_equal(text.data, "");
    assert_int_equal(state_of(&w), STATE_PENDING);

    put_quoted(&w, LISTING("", "Overwrite", LISTED("a")));
    world_run(&w, 0);
    append_shared_decisions(&w, &text);
    assert_string_equal(text.data, "ResourceBinding: attached 1 resolved=1 stored=1 a=1");
    assert_int_equal(state_of(&w), STATE_ATTACHED);

    /* Without its binding, the element of requiredBy dangles, and the referrer is derived again. */
    strbuf_reset(&text);
    store_remove(w.store, world_find(&w, "work.karmada.io/v1alpha2", "ResourceBinding", "test",
                                     "a-deployment"));
    world_run(&w, 0);
    append_shared_decisions(&w, &text);
    assert_string_equal(text.data, "ResourceBinding: attached derived 1 resolved=1 stored=1 "
                                   "unapplied dangling a=1(derived)");

    strbuf_reset(&text);
    store_remove(w.store, world_find(&w, "apps/v1", "Deployment", "test", "a"));
    world_run(&w, 0);
    append_shared_decisions(&w, &text);
    assert_string_equal(text.data,
                        "ResourceBinding: attached 0 resolved=0 stored=1 unapplied dangling");
    world_release(&w);
}

TEST(without_the_feature_gate_no_dependency_is_derived)
{
    struct rules_options options = rules_options_default;
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(4096);
    struct world w;

    options.feature_gates = "PropagateDeps=false";
    world_init(&w, &options, 1);
    put_quoted(&w, CONFIG_MAP);
    put_quoted(&w, NEEDING("a"));
    put_quoted(&w, POLICY("a", "Overwrite", ""));
    put_quoted(&w, NEEDING("b"));
    put_quoted(&w, POLICY("b", "Abort", ""));
    world_run(&w, 0);
    append_shared_decisions(&w, &text);
    assert_string_equal(text.data, "");
    assert_int_equal(state_of(&w), STATE_PENDING);
    world_release(&w);
}
