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
    /* Where requiredBy is empty the oracle gives no resolution at all. */
    if (!resolution)
        assert_int_equal(d->referrers + d->dangling, 0);
}

/* Every attached binding is in the list, and nothing else is in conflict. */
static void check_rest(const struct world *w, const cJSON *expect)
{
    const struct type *type = store_first_type(w->store);
    size_t attached = 0;

    for (; type; type = type->next) {
        for (const struct partition *partition = type->partitions; partition;
             partition = partition->next_of_type) {
            for (size_t i = 0; i < partition->count; i++) {
                const struct dependency_decision *d = dependency_decision(partition->entries[i]);

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
    check_rest(&w, json_get(line, "expect"));
    world_release(&w);
}

TEST(agrees_with_karmada)
{
    size_t checked = 0;
    size_t cases = lines_each("tests/fixtures/vectors/dependency.jsonl.gz", check_case, &checked);

    assert_int_equal(cases, 1000);
    assert_true(checked >= cases);
}

/* Facts about unapplied and overridden values that the vectors do not hold. */
TEST(stored_values_are_held_against_the_rules)
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
#define SAYS(name, conflict_resolution)                                                            \
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

/* What two bindings say, what their policies say now, and what comes of both. */
static const struct outlook {
    const char *title;
    const char *bindings[2];
    const char *policies[2];
    bool own_placement;
    bool conflict;
    bool ahead;
    bool predicted;
} outlooks[] = {
    {"they agree, and will", {"Abort", "Abort"}, {"Abort", "Abort"}, false, false, false, false},
    {"they agree, and will not",
     {"Abort", "Abort"},
     {"Overwrite", "Abort"},
     false,
     false,
     true,
     true},
    {"they do not agree, but will",
     {"Overwrite", "Abort"},
     {"Abort", "Abort"},
     false,
     true,
     false,
     false},
    {"they do not agree, and will not",
     {"Overwrite", "Abort"},
     {"Abort", "Overwrite"},
     false,
     true,
     true,
     false},
    {"with a placement of its own nobody asks them",
     {"Overwrite", "Abort"},
     {"Abort", "Overwrite"},
     true,
     false,
     false,
     false},
};

TEST_ROWS(looks_ahead, outlooks, title)
{
    const struct outlook *o = *state;
    struct world w;

    world_init(&w, &rules_options_default, 1);
    world_put_text(&w, DEPLOYMENT("a"));
    world_put_text(&w, DEPLOYMENT("b"));
    world_put_text(&w, strcmp(o->bindings[0], "Abort") == 0
                           ? REFERRER("a", "Abort", "2026-01-01T10:00:00Z")
                           : REFERRER("a", "Overwrite", "2026-01-01T10:00:00Z"));
    world_put_text(&w, REFERRER("b", "Abort", "2026-01-01T12:00:00Z"));
    world_put_text(&w, strcmp(o->policies[0], "Abort") == 0 ? SAYS("a", "Abort")
                                                            : SAYS("a", "Overwrite"));
    world_put_text(&w, strcmp(o->policies[1], "Abort") == 0 ? SAYS("b", "Abort")
                                                            : SAYS("b", "Overwrite"));
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

/* Of all parties the last to change made it what it is. */
TEST(since_the_last_party_changed)
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

/* Without bindings the ConfigMap that a propagated Deployment mounts gets what it will get. */
TEST(derives_what_will_be_stored)
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
    assert_null(dependency_decide(NULL, &(struct dependency_referrers){0}, true));

    world_put_text(&w, SAYS("a", "Overwrite"));
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

enum { PARTIES_MAX = 10 };

/* Where the decision is, and what it says of conflictResolution. */
static const struct party_case {
    const char *name;
    const char *objects[PARTIES_MAX];
    const char *text;
} party_cases[] = {
    {"a new application disagrees with one that runs",
     {NEEDING("a"), POLICY("a", "Overwrite", ""), BOUND("a", "Overwrite", ""), CONFIG_MAP,
      LISTING("", "Overwrite", LISTED("a")), NEEDING("b"), POLICY("b", "Abort", "")},
     "ResourceBinding: attached derived 2 conflict resolved=1 stored=1"
     " a=1 b=0(derived)"},
    {"a new application wins over one that runs; nobody has failed to apply that yet",
     {NEEDING("a"), POLICY("a", "Abort", ""), BOUND("a", "Abort", ""), CONFIG_MAP,
      LISTING("", "Abort", LISTED("a")), NEEDING("b"), POLICY("b", "Overwrite", "")},
     "ResourceBinding: attached derived 2 conflict resolved=1 stored=0"
     " a=0 b=1(derived)"},
    {"two new applications beside bindings of others",
     {BOUND("c", "Abort", ""), CONFIG_MAP, NEEDING("a"), POLICY("a", "Overwrite", ""), NEEDING("b"),
      POLICY("b", "Abort", "")},
     "ConfigMap: attached derived 2 conflict resolved=1 stored=1 a=1(derived) b=0(derived)"},
    {"a binding that is left of earlier referrers is none",
     {CONFIG_MAP, LISTING("", "Abort", ""), NEEDING("a"), POLICY("a", "Overwrite", ""),
      NEEDING("b"), POLICY("b", "Abort", "")},
     "ConfigMap: attached derived 2 conflict resolved=1 stored=1 a=1(derived) b=0(derived)"
     "ResourceBinding: attached 0 resolved=0 stored=0"},
    {"a dependency that is not read itself, but has a binding",
     {NEEDING("a"), POLICY("a", "Overwrite", ""), BOUND("a", "Overwrite", ""),
      LISTING("", "Overwrite", LISTED("a")), NEEDING("b"), POLICY("b", "Abort", "")},
     "ResourceBinding: attached derived 2 conflict resolved=1 stored=1"
     " a=1 b=0(derived)"},
    {"who is listed counts once",
     {NEEDING("a"), POLICY("a", "Overwrite", ""), BOUND("a", "Overwrite", ""), CONFIG_MAP,
      NEEDING("b"), POLICY("b", "Overwrite", ""), BOUND("b", "Overwrite", ""),
      LISTING("", "Overwrite", LISTED("b") "," LISTED("a"))},
     "ResourceBinding: attached 2 resolved=1 stored=1 b=1 a=1"},
    {"bound, and not listed yet",
     {NEEDING("a"), POLICY("a", "Overwrite", ""), BOUND("a", "Overwrite", ""), CONFIG_MAP,
      NEEDING("b"), POLICY("b", "Abort", ""), BOUND("b", "Abort", ""),
      LISTING("", "Overwrite", LISTED("a"))},
     "ResourceBinding: attached 1 resolved=1 stored=1 predicted a=1 (b=0)"},
    {"bound, and nobody is listed yet",
     {NEEDING("a"), POLICY("a", "Overwrite", ""), BOUND("a", "Overwrite", ""), CONFIG_MAP,
      NEEDING("b"), POLICY("b", "Abort", ""), BOUND("b", "Abort", "")},
     "ConfigMap: attached 0 resolved=0 stored=0 predicted (a=1) (b=0)"},
    {"only their bindings say what they need",
     {UNREAD("a"), POLICY("a", "Overwrite", ""), BOUND("a", "Overwrite", NOTE), CONFIG_MAP,
      UNREAD("b"), POLICY("b", "Abort", ""), BOUND("b", "Abort", NOTE),
      LISTING("", "Overwrite", LISTED("a"))},
     "ResourceBinding: attached 1 resolved=1 stored=1 predicted a=1 (b=0)"},
    {"nothing says what it needs",
     {UNREAD("a"), POLICY("a", "Overwrite", ""), BOUND("a", "Overwrite", NOTE), CONFIG_MAP,
      UNREAD("b"), POLICY("b", "Abort", ""), BOUND("b", "Abort", ""),
      LISTING("", "Overwrite", LISTED("a"))},
     "ResourceBinding: attached 1 resolved=1 stored=1 a=1"},
    {"a lazy policy waits for the next change",
     {NEEDING("a"), POLICY("a", "Overwrite", ""), BOUND("a", "Overwrite", ""), CONFIG_MAP,
      LISTING("", "Overwrite", LISTED("a")), CLAIMED("b"),
      POLICY("b", "Abort", "'activationPreference':'Lazy',")},
     "ResourceBinding: attached 1 resolved=1 stored=1 predicted a=1 (b=0)(derived)"},
    {"an override is missing",
     {NEEDING("a"), POLICY("a", "Overwrite", ""), BOUND("a", "Overwrite", ""), CONFIG_MAP,
      LISTING("", "Overwrite", LISTED("a")), NEEDING("b"),
      POLICY("b", "Abort", "'dependentOverrides':['nope'],")},
     "ResourceBinding: attached 1 resolved=1 stored=1 predicted a=1 (b=0)(derived)"},
    {"its policy leaves dependencies alone",
     {NEEDING("a"), POLICY("a", "Overwrite", ""), BOUND("a", "Overwrite", ""), CONFIG_MAP,
      LISTING("", "Overwrite", LISTED("a")), NEEDING("b"),
      POLICY("b", "Abort", "'propagateDeps':false,")},
     "ResourceBinding: attached 1 resolved=1 stored=1 a=1"},
    {"a policy of its own decides about the dependency",
     {NEEDING("a"), POLICY("a", "Overwrite", ""), BOUND("a", "Overwrite", ""), CONFIG_MAP,
      LISTING("'placement':{},", "Abort", LISTED("a")), NEEDING("b"), POLICY("b", "Abort", "")},
     "ResourceBinding: 1 resolved=1 stored=0 overridden a=1"},
    {"a reference that leads nowhere, beside a new one",
     {CONFIG_MAP, LISTING("", "Abort", LISTED("a")), NEEDING("b"), POLICY("b", "Overwrite", "")},
     "ResourceBinding: attached derived 1 resolved=1 stored=0 dangling b=1(derived)"},
    {"who needs it from another namespace has another binding of it",
     {UNREAD("a"), POLICY("a", "Overwrite", ""), BOUND("a", "Overwrite", ELSEWHERE), UNREAD("b"),
      POLICY("b", "Abort", ""), BOUND("b", "Abort", ELSEWHERE),
      "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'shared','namespace':'other'}}"},
     ""},
    {"what does not exist is not propagated",
     {NEEDING("a"), POLICY("a", "Overwrite", ""), NEEDING("b"), POLICY("b", "Abort", "")},
     ""},
};

static void add_party(void *context, const struct dependency_referrer *referrer)
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

static void describe(const struct world *w, const struct entry *entry, struct strbuf *out)
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
    engine_dependency_referrers(w->engine, entry, add_party, out);
}

static void put_quoted(struct world *w, const char *object)
{
    CLEANUP(json_cleanup) cJSON *json = json_of(object);

    world_put(w, json);
}

static void describe_shared(const struct world *w, struct strbuf *out)
{
    describe(w, world_find(w, "v1", "ConfigMap", "test", "shared"), out);
    describe(w, world_find(w, "v1", "ConfigMap", "other", "shared"), out);
    describe(
        w, world_find(w, "work.karmada.io/v1alpha2", "ResourceBinding", "test", "shared-configmap"),
        out);
}

TEST_ROWS(counts_all_referrers_once, party_cases, name)
{
    const struct party_case *c = *state;
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(4096);
    struct world w;

    world_init(&w, &rules_options_default, 1);
    for (size_t i = 0; i < PARTIES_MAX && c->objects[i]; i++)
        put_quoted(&w, c->objects[i]);
    world_run(&w, 0);
    describe_shared(&w, &text);
    assert_string_equal(text.data, c->text);
    world_release(&w);
}

static enum template_state state_of(const struct world *w)
{
    return template_decision(world_find(w, "v1", "ConfigMap", "test", "shared"))->state;
}

/* From an application's arrival to its end: who has no binding counts by what it refers to. */
TEST(a_vote_is_derived_until_there_is_a_binding)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(4096);
    struct world w;

    world_init(&w, &rules_options_default, 1);
    put_quoted(&w, CONFIG_MAP);
    put_quoted(&w, NEEDING("a"));
    put_quoted(&w, BOUND("other", "Abort", ""));
    world_run(&w, 0);
    describe_shared(&w, &text);
    assert_string_equal(text.data, "");
    assert_int_equal(state_of(&w), STATE_PENDING);

    put_quoted(&w, POLICY("a", "Overwrite", ""));
    world_run(&w, 0);
    describe_shared(&w, &text);
    assert_string_equal(text.data,
                        "ConfigMap: attached derived 1 resolved=1 stored=1 a=1(derived)");
    assert_int_equal(state_of(&w), STATE_ATTACHED);

    /* Bound, it counts through requiredBy alone. */
    strbuf_reset(&text);
    put_quoted(&w, BOUND("a", "Overwrite", ""));
    world_run(&w, 0);
    describe_shared(&w, &text);
    assert_string_equal(text.data, "");
    assert_int_equal(state_of(&w), STATE_PENDING);

    put_quoted(&w, LISTING("", "Overwrite", LISTED("a")));
    world_run(&w, 0);
    describe_shared(&w, &text);
    assert_string_equal(text.data, "ResourceBinding: attached 1 resolved=1 stored=1 a=1");
    assert_int_equal(state_of(&w), STATE_ATTACHED);

    /* Without its binding it is a dangling reference, and derived again. */
    strbuf_reset(&text);
    store_remove(w.store, world_find(&w, "work.karmada.io/v1alpha2", "ResourceBinding", "test",
                                     "a-deployment"));
    world_run(&w, 0);
    describe_shared(&w, &text);
    assert_string_equal(text.data, "ResourceBinding: attached derived 1 resolved=1 stored=1 "
                                   "unapplied dangling a=1(derived)");

    strbuf_reset(&text);
    store_remove(w.store, world_find(&w, "apps/v1", "Deployment", "test", "a"));
    world_run(&w, 0);
    describe_shared(&w, &text);
    assert_string_equal(text.data,
                        "ResourceBinding: attached 0 resolved=0 stored=1 unapplied dangling");
    world_release(&w);
}

TEST(without_the_gate_no_dependency_is_derived)
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
    describe_shared(&w, &text);
    assert_string_equal(text.data, "");
    assert_int_equal(state_of(&w), STATE_PENDING);
    world_release(&w);
}
