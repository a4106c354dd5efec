/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/explain/explain.h"

#include "metrics/base/json.h"
#include "tests/unit/suite.h"
#include "tests/unit/world.h"

enum { TEXT_MAX = 1 << 20, NOW_S = 1767225600 };

#define META(name, rest) "\"metadata\":{\"name\":\"" name "\",\"namespace\":\"a\"" rest "}"
#define POLICY(name, selects, rest)                                                                \
    "{\"apiVersion\":\"policy.karmada.io/v1alpha1\",\"kind\":\"PropagationPolicy\"," META(         \
        name, ",\"labels\":{\"propagationpolicy.karmada.io/permanent-id\":\"id-" name              \
              "\"}") ",\"spec\":{\"resourceSelectors\":[" selects "]" rest "}}"
#define SELECTS(name) "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"name\":\"" name "\"}"
#define ID(name)      "\"labels\":{\"propagationpolicy.karmada.io/permanent-id\":\"id-" name "\"}"
#define CLAIM(name)                                                                                \
    "," ID(name) ",\"annotations\":{\"propagationpolicy.karmada.io/namespace\":\"a\","             \
                 "\"propagationpolicy.karmada.io/name\":\"" name "\"}"
#define FOREIGN_CLAIM(name)                                                                        \
    "," ID("x") ",\"annotations\":{\"propagationpolicy.karmada.io/namespace\":\"a\","              \
                "\"propagationpolicy.karmada.io/name\":\"" name "\"}"
#define WEB(rest)                                                                                  \
    "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\"," META(                                   \
        "web", rest) ",\"spec\":{\"replicas\":2}}"
#define BINDING_OF(name, rest, spec)                                                               \
    "{\"apiVersion\":\"work.karmada.io/v1alpha2\",\"kind\":\"ResourceBinding\"," META(             \
        name "-deployment", rest) ",\"spec\":{\"replicas\":2,\"resource\":{"                       \
                                  "\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\","            \
                                  "\"namespace\":\"a\",\"name\":\"" name "\"}" spec "}}"
#define BINDING(rest) BINDING_OF("web", rest, ",\"placement\":{}")
#define ON(cluster)   ",\"placement\":{},\"clusters\":[{\"name\":\"" cluster "\"}]"
#define ON_BOTH       ",\"placement\":{},\"clusters\":[{\"name\":\"m1\"},{\"name\":\"m2\"}]"
#define REQUIRED                                                                                   \
    ",\"requiredBy\":[{\"namespace\":\"a\",\"name\":\"app-deployment\"," IN_M1 "},"                \
    "{\"namespace\":\"a\",\"name\":\"api-deployment\"," IN_M1 "}]"
#define IN_M1 "\"clusters\":[{\"name\":\"m1\"}]"
#define BOUND                                                                                      \
    POLICY("p", SELECTS("web"), "")                                                                \
    "," WEB(CLAIM("p")) "," BINDING_OF("web", CLAIM("p"), ON_BOTH)
#define OVERRIDE(kind, name, spec)                                                                 \
    "{\"apiVersion\":\"policy.karmada.io/v1alpha1\",\"kind\":\"" kind                              \
    "\"," META(name, "") ",\"spec\":{" spec "}}"
#define OP(name, spec)  OVERRIDE("OverridePolicy", name, spec)
#define COP(name, spec) OVERRIDE("ClusterOverridePolicy", name, spec)
#define SELECTING(name) "\"resourceSelectors\":[" SELECTS(name) "],"
#define RULE(target, overriders)                                                                   \
    "\"overrideRules\":[{" target "\"overriders\":{\"plaintext\":[" overriders "]}}]"
#define PATH(path) "{\"operator\":\"remove\",\"path\":\"" path "\"}"
#define ON_ALL     RULE("", PATH("/a"))
#define ON_M1      "\"targetCluster\":{\"clusterNames\":[\"m1\"]},"
#define IN_EU                                                                                      \
    "\"targetCluster\":{\"fieldSelector\":{\"matchExpressions\":["                                 \
    "{\"key\":\"region\",\"operator\":\"In\",\"values\":[\"eu\"]}]}},"
#define CLUSTER(name)                                                                              \
    "{\"apiVersion\":\"cluster.karmada.io/v1alpha1\",\"kind\":\"Cluster\",\"metadata\":{"          \
    "\"name\":\"" name "\"}}"

#define EVICTED(task)                                                                              \
    POLICY("p", SELECTS("web"), "")                                                                \
    "," WEB(CLAIM("p")) "," BINDING_OF(                                                            \
        "web", CLAIM("p"),                                                                         \
        ON("m2") ",\"gracefulEvictionTasks\":[{\"fromCluster\":\"m1\"" task "}]")
#define READY(name)                                                                                \
    "{\"apiVersion\":\"cluster.karmada.io/v1alpha1\",\"kind\":\"Cluster\",\"metadata\":{"          \
    "\"name\":\"" name                                                                             \
    "\"},\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}"

static void add_line(void *context, enum explain_style style, const char *text)
{
    strbuf_addf(context, "%*s%s\n", (int)style, "", text);
}

static void explain_to(const struct world *w, const struct entry *entry, struct strbuf *lines,
                       struct strbuf *json)
{
    struct explanation x;

    explanation_init(&x);
    explain_object(w->engine, entry, NOW_S * INT64_C(1000), &x);
    explanation_finish(&x);
    explanation_each_line(&x, add_line, lines);
    strbuf_adds(json, x.json.data);
    explanation_release(&x);
}

/* Objects, with text that the explanation of the Deployment web must and must not contain. */
static const struct sentence_case {
    const char *title;
    const char *objects;
    const char *wanted_text;
    const char *unwanted_text;
} sentences[] = {
    {"a claim without a binding", "[" POLICY("p", SELECTS("other"), "") "," WEB(CLAIM("p")) "]",
     "The claim stands until the policy is deleted", "should have removed the claim"},
    {"a claim that the binding also has",
     "[" POLICY("p", SELECTS("other"), "") "," WEB(CLAIM("p")) "," BINDING(CLAIM("p")) "]",
     "If the policy was changed, Karmada should have removed the claim.", "at its next change"},
    {"a claim of a policy that is gone", "[" WEB(CLAIM("p")) "," BINDING(CLAIM("p")) "]",
     "Karmada should have removed the claim when the policy was deleted.", "still has time"},
    {"a claim with another id than that of the policy",
     "[" POLICY("p", SELECTS("other"), "") "," WEB(FOREIGN_CLAIM("p")) "]",
     "The claim has another id than that policy", "should have removed the claim"},
    {"an override policy that does not exist",
     "[" POLICY("p", SELECTS("web"), ",\"dependentOverrides\":[\"nope\"]") "," WEB(
         CLAIM("p")) "," BINDING(CLAIM("p")) "]",
     "After the user's next change of the template: stale, template_updated.",
     "A restart of Karmada's controllers has"},
    {"an incomplete claim", "[" POLICY("p", SELECTS("web"), "") "," WEB("," ID("p")) "]",
     "The claim is incomplete", "keeps its policy"},
    {"a Lazy policy waits",
     "[" POLICY("p", SELECTS("web"), ",\"activationPreference\":\"Lazy\"") "," WEB(CLAIM("p")) "]",
     "The policy is Lazy: the change waits by design for the user's next change of the template.",
     "should have"},
    {"an exclusion with its index and content",
     "[" POLICY("p", SELECTS("web"),
                ",\"excludedResources\":[{\"namespace\":\"b\"},{\"labelSelector\":{\"matchLabels\":"
                "{\"app\":\"x\"}}},{\"name\":\"web\"}]") "," WEB("") "]",
     "excludedResources[2] matches: name web", "wins"},
    {"a policy that selects another name", "[" POLICY("p", SELECTS("other"), "") "," WEB("") "]",
     "does not match: the name of resourceSelectors[0]", "wins"},
    {"a policy of the same name in another version",
     "[" POLICY("p", "{\"apiVersion\":\"apps/v1beta1\",\"kind\":\"Deployment\"}",
                "") "," WEB("") "]",
     "does not match: the apiVersion of resourceSelectors[0]", "wins"},
    {"no override", "[" BOUND "," CLUSTER("m1") "," CLUSTER("m2") "]", "Replicas now", "Overrides"},
    {"an override that selects others", "[" BOUND "," OP("o", SELECTING("db") ON_ALL) "]",
     "Replicas now", "Overrides"},
    {"an override of a template without clusters", "[" WEB("") "," OP("o", ON_ALL) "]", "pending",
     "Overrides"},
    {"an override on all clusters",
     "[" BOUND "," OP("o", SELECTING("web") ON_ALL) "," CLUSTER("m1") "," CLUSTER("m2") "]",
     " On m1, m2:\n  1. OverridePolicy a/o, overrideRules[0], selects by name\n", "2."},
    {"an override on one of two clusters", "[" BOUND "," OP("o", RULE(ON_M1, PATH("/a"))) "]",
     " On m1:\n  1. OverridePolicy a/o, overrideRules[0], selects everything\n"
     " On m2: no override policy.\n",
     "On m1, m2"},
    {"a ClusterOverridePolicy comes first",
     "[" BOUND "," OP("a", ON_ALL) "," COP("z", SELECTING("web") ON_ALL) "]",
     "  1. ClusterOverridePolicy z, overrideRules[0], selects by name\n"
     "  2. OverridePolicy a/a, overrideRules[0], selects everything\n",
     "further override policies may apply"},
    {"a deprecated override without overriders", "[" BOUND "," OP("o", "\"overriders\":{}") "]",
     "1. OverridePolicy a/o, spec.overriders, selects everything, and changes nothing",
     "overrideRules"},
    {"a label is changed before OverridePolicies are selected",
     "[" BOUND "," COP("o", RULE("", PATH("/metadata/labels/app"))) "]",
     "further override policies may apply", "no override policy"},
    {"an override by the region of clusters that are not read",
     "[" BOUND "," OP("o", RULE(IN_EU, PATH("/a"))) "]", "On m1, m2: unknown", "1. OverridePolicy"},
    {"a cluster that does not exist", "[" BOUND "," OP("o", ON_ALL) "," CLUSTER("m1") "]",
     "On m2: no Cluster has this name", "On m1, m2"},
    {"an override of a dependency on the clusters of its referrers",
     "[" WEB("") "," BINDING_OF("web", "", REQUIRED) "," BINDING_OF(
         "app", "", ON("m1")) "," BINDING_OF("api", "", ON("m1")) "," OP("o", ON_ALL) "]",
     " On m1:\n  1. OverridePolicy a/o", "m2"},
    {"an eviction from a cluster that is ready again",
     "[" EVICTED("") "," READY("m1") "," READY("m2") "]", "m1 is ready, and still loses its copy",
     "deleted at 2026"},
    {"an eviction with a grace period",
     "[" EVICTED(",\"creationTimestamp\":\"2026-01-01T00:00:00Z\",\"gracePeriodSeconds\":90") "]",
     "is deleted at 2026-01-01T00:01:30Z at the latest", "is ready"},
    {"an eviction with suppressDeletion", "[" EVICTED(",\"suppressDeletion\":true") "]",
     "The copy on m1 stays until a user removes the eviction task", "at the latest"},
};

static enum kept_documents keep_documents;

/* Checks that the explanation of an object contains wanted_text but not unwanted_text. */
static void check_explanation(const struct sentence_case *c, const char *api_version,
                              const char *kind, const char *name)
{
    CLEANUP(strbuf_release) struct strbuf lines = STRBUF_INIT(TEXT_MAX);
    CLEANUP(strbuf_release) struct strbuf json = STRBUF_INIT(TEXT_MAX);
    struct error err;
    struct world w;

    CLEANUP(json_cleanup)
    cJSON *objects = json_parse(c->objects, strlen(c->objects), NULL, &err);
    assert_non_null(objects);
    world_init(&w, &rules_options_default, 1);
    store_keep_documents(w.store, keep_documents);
    world_put_all(&w, objects);
    world_run(&w, NOW_S * INT64_C(1000));
    explain_to(&w, world_find(&w, api_version, kind, "a", name), &lines, &json);
    if (!strstr(lines.data, c->wanted_text) || strstr(lines.data, c->unwanted_text))
        fail_msg("%s", lines.data);
    world_release(&w);
}

TEST_ROWS(template_is_explained, sentences, title)
{
    check_explanation(*state, "apps/v1", "Deployment", "web");
}

static const struct sentence_case policy_sentences[] = {
    {"a selector that matches no template",
     "[" POLICY("p", SELECTS("web") "," SELECTS("wbe"), "") "," WEB("") "]",
     "resourceSelectors[1] matches no existing template.", "resourceSelectors[0] matches"},
    {"an exclusion that matches no selected template",
     "[" POLICY("p", SELECTS("web"),
                ",\"excludedResources\":[{\"name\":\"web\"},{\"name\":\"db\"}]") "," WEB("") "]",
     "excludedResources[1] matches no existing template.", "excludedResources[0] matches"},
    {"a policy with selectors that match templates",
     "[" POLICY("p", SELECTS("web"), "") "," WEB("") "]", "Selected: 1",
     "matches no existing template"},
};

TEST_ROWS(policy_is_explained, policy_sentences, title)
{
    check_explanation(*state, "policy.karmada.io/v1alpha1", "PropagationPolicy", "p");
}

/* ---- effects of override policies on whole templates ---- */

#define CLAIMING_POLICY POLICY("p", SELECTS("web"), "")
#define REPLICAS(value)                                                                            \
    "\"overrideRules\":[{\"overriders\":{\"plaintext\":[{\"path\":\"/spec/replicas\","             \
    "\"operator\":\"replace\",\"value\":" value "}]}}]"
#define WHOLE                                                                                      \
    "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"web\","          \
    "\"namespace\":\"a\"},\"spec\":{\"replicas\":2}}"
#define ANYWHERE "[" CLAIMING_POLICY "," WHOLE "," CLUSTER("m1") "," CLUSTER("m2") ","

static const struct sentence_case effects[] = {
    {"before and after, for equal clusters once", ANYWHERE OP("o", REPLICAS("3")) "]",
     " On m1, m2 (predicted):\n  1. OverridePolicy a/o, overrideRules[0], selects everything\n"
     "  /spec/replicas: 2 -> 3\n",
     "On m2"},
    {"a rule without effect", ANYWHERE OP("o", REPLICAS("2")) "]",
     "overrideRules[0], selects everything, and changes nothing\n", "/spec/replicas"},
    {"two policies write one path", ANYWHERE OP("o", REPLICAS("3")) "," COP("z", REPLICAS("4")) "]",
     "Several override policies write /spec/replicas: OverridePolicy a/o is applied after "
     "ClusterOverridePolicy z, and wins.",
     "changes nothing"},
    {"one policy that writes a path twice has no line",
     ANYWHERE OP("o", REPLICAS("3")) "," COP("z", RULE("", PATH("/x"))) "]",
     "ClusterOverridePolicy z, overrideRules[0] fails", "Several override policies"},
    {"the rule that fails ends the list", ANYWHERE COP("z", RULE("", PATH("/x/y"))) "]",
     "ClusterOverridePolicy z, overrideRules[0] fails: plaintext: ", "selects everything"},
    {"a policy without a matching cluster",
     ANYWHERE OP("o", "\"overrideRules\":[{\"targetCluster\":{\"clusterNames\":[\"m9\"]},"
                      "\"overriders\":{}}]") "]",
     "OverridePolicy a/o selects the template, but no rule of it matches a cluster", "fails"},
};

TEST_ROWS(effects_of_override_policies_are_explained, effects, title)
{
    keep_documents = DOCUMENTS_OF_ALL;
    check_explanation(*state, "apps/v1", "Deployment", "web");
    keep_documents = DOCUMENTS_OF_NONE;
}

/* Some objects have not been read: the explanation reports that the overrides are incomplete. */
static const struct gap_case {
    const char *title;
    const char *objects;
    bool incomplete; /* Not all OverridePolicies have been read. */
    bool unread;     /* The exporter has no permission to read the template. */
    const char *wanted_text;
} gaps[] = {
    {"unread override policies", "[" BOUND "]", true, false,
     "Not all override policies have been read"},
    {"unread labels of the template", "[" BOUND "," OP("o", SELECTING("db") ON_ALL) "]", false,
     true, "The labels of the template cannot be read"},
};

TEST_ROWS(unread_overrides_are_reported, gaps, title)
{
    const struct gap_case *c = *state;
    CLEANUP(strbuf_release) struct strbuf lines = STRBUF_INIT(TEXT_MAX);
    CLEANUP(strbuf_release) struct strbuf json = STRBUF_INIT(TEXT_MAX);
    CLEANUP(json_cleanup) cJSON *nothing = cJSON_CreateObject();
    struct error err;
    struct world w;

    CLEANUP(json_cleanup)
    cJSON *objects = json_parse(c->objects, strlen(c->objects), NULL, &err);
    assert_non_null(objects);
    world_init(&w, &rules_options_default, 1);
    if (c->incomplete)
        engine_set_incomplete(w.engine, "policy.karmada.io/v1alpha1", "OverridePolicy", true);
    world_put_all(&w, objects);
    struct entry *web = world_find(&w, "apps/v1", "Deployment", "a", "web");
    if (c->unread)
        assert_int_equal(store_put_at(w.store, web, nothing, (struct origin){1, 1}, &err),
                         STORE_CHANGED);
    world_run(&w, NOW_S * INT64_C(1000));
    explain_to(&w, web, &lines, &json);
    if (!strstr(lines.data, c->wanted_text) || !strstr(json.data, "\"overridesComplete\":false") ||
        strstr(lines.data, "On m1"))
        fail_msg("%s", lines.data);
    world_release(&w);
}

static const struct unread_kind {
    const char *title;
    const char *api_version;
} unread_kinds[] = {
    {"PropagationPolicy", "policy.karmada.io/v1alpha1"},
    {"ResourceBinding", "work.karmada.io/v1alpha2"},
    {"Deployment", "apps/v1"},
};

/* Explains the policy, the binding and the template while one of the kinds is partly read. */
TEST_ROWS(objects_of_a_partly_read_kind_are_explained, unread_kinds, title)
{
    static const char *const names[] = {"p", "web-deployment", "web"};
    const struct unread_kind *c = *state;
    struct error err;
    struct world w;

    CLEANUP(json_cleanup)
    cJSON *objects = json_parse("[" BOUND "]", strlen("[" BOUND "]"), NULL, &err);
    world_init(&w, &rules_options_default, 1);
    engine_set_incomplete(w.engine, c->api_version, c->title, true);
    world_put_all(&w, objects);
    world_run(&w, NOW_S * INT64_C(1000));
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        CLEANUP(strbuf_release) struct strbuf lines = STRBUF_INIT(TEXT_MAX);
        CLEANUP(strbuf_release) struct strbuf json = STRBUF_INIT(TEXT_MAX);
        const struct unread_kind *kind = &unread_kinds[i];
        const struct entry *entry = world_find(&w, kind->api_version, kind->title, "a", names[i]);

        explain_to(&w, entry, &lines, &json);
        if (entry_class(entry) != CLASS_POLICY && kind == c)
            assert_non_null(strstr(lines.data, "not all objects of the kind have been read"));
    }
    world_release(&w);
}

/* Policies that select templates of the policy p. */
#define PRIORITY(number) ",\"priority\":" number
#define ALL              "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\"}"
#define DB               "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\"," META("db", "") "}"
#define OVERLAPS         "Overlapping policies\n"
static const struct sentence_case overlaps[] = {
    {"no other policy",
     "[" POLICY("p", SELECTS("web"), "") "," POLICY("q", SELECTS("db"), "") "," WEB("") "," DB "]",
     "Templates", OVERLAPS},
    {"a tie that p wins", "[" POLICY("p", ALL, "") "," POLICY("q", ALL, "") "," WEB("") "," DB "]",
     OVERLAPS " Tie with PropagationPolicy a/q on 2 templates: only the name decides, and this "
              "policy ranks first.\n",
     "ranks after"},
    {"a tie that p loses", "[" POLICY("p", ALL, "") "," POLICY("o", ALL, "") "," WEB("") "]",
     OVERLAPS " Tie with PropagationPolicy a/o on 1 template: only the name decides, and "
              "the other policy ranks first.\n",
     "ranks after"},
    {"a lower priority",
     "[" POLICY("p", ALL, PRIORITY("1")) "," POLICY("o", ALL, PRIORITY("2")) "," WEB("") "]",
     OVERLAPS
     " This policy ranks after PropagationPolicy a/o on 1 template: the priority is lower.\n",
     "tie"},
    {"a higher priority",
     "[" POLICY("p", ALL, PRIORITY("2")) "," POLICY("o", ALL, PRIORITY("1")) "," WEB("") "]",
     OVERLAPS
     " PropagationPolicy a/o ranks after this policy on 1 template: the priority is lower.\n",
     "Tie"},
    {"ties come before other overlaps",
     "[" POLICY("p", ALL, "") "," POLICY("o", SELECTS("web"), PRIORITY("1")) "," POLICY(
         "q", ALL, "") "," WEB("") "," DB "]",
     OVERLAPS " Tie with PropagationPolicy a/q on 1 template: only the name decides, and this "
              "policy ranks first.\n This policy ranks after PropagationPolicy a/o on 1 template: "
              "the priority is lower.\n",
     "2 templates"},
    {"a tie between two policies that lose",
     "[" POLICY("p", ALL, "") "," POLICY("o", ALL, PRIORITY("1")) "," POLICY("q", ALL,
                                                                             "") "," WEB("") "]",
     OVERLAPS
     " This policy ranks after PropagationPolicy a/o on 1 template: the priority is lower.\n",
     "Tie"},
    {"a policy that excludes the template",
     "[" POLICY("p", ALL, "") "," POLICY(
         "q", ALL, ",\"excludedResources\":[" SELECTS("web") "]") "," WEB("") "]",
     "Templates", OVERLAPS},
    {"a claim of a policy of lower priority",
     "[" POLICY("p", ALL, PRIORITY("2")) "," POLICY("o", ALL, PRIORITY("1")) "," WEB(
         CLAIM("o")) "," BINDING(CLAIM("o")) "]",
     "PropagationPolicy a/o keeps 1 template by its claim, although this policy ranks "
     "first.\n",
     "Tie"},
};

TEST_ROWS(overlapping_policies_are_explained, overlaps, title)
{
    check_explanation(*state, "policy.karmada.io/v1alpha1", "PropagationPolicy", "p");
}

/* The explanation lists ten policies, and counts the others. */
TEST(list_of_overlapping_policies_is_limited)
{
    CLEANUP(strbuf_release) struct strbuf lines = STRBUF_INIT(TEXT_MAX);
    CLEANUP(strbuf_release) struct strbuf json = STRBUF_INIT(TEXT_MAX);
    struct world w;

    world_init(&w, &rules_options_default, 1);
    world_put_text(&w, POLICY("p", ALL, ""));
    for (unsigned i = 10; i < 22; i++) {
        char text[512];

        snprintf(text, sizeof(text), POLICY("q%u", ALL, ""), i, i);
        world_put_text(&w, text);
    }
    world_put_text(&w, WEB(""));
    world_run(&w, NOW_S * INT64_C(1000));
    explain_to(&w, world_find(&w, "policy.karmada.io/v1alpha1", "PropagationPolicy", "a", "p"),
               &lines, &json);
    assert_non_null(strstr(lines.data, "a/q19 on 1 template"));
    assert_null(strstr(lines.data, "a/q20"));
    assert_non_null(strstr(lines.data, " … and 2 more.\n"));
    assert_non_null(strstr(json.data, "\"more\":2"));
    world_release(&w);
}

/* Each line except headings is in the member `text` of the innermost object open at that time. */
TEST(json_object_ends_with_the_lines_about_it)
{
    static const char wanted[] = "{\"name\":\"n\",\"list\":[{\"i\":1,\"text\":[\"first\"]},"
                                 "{\"i\":2}],\"text\":[\"about n\",\"in the list\"]}";
    struct explanation x;
    CLEANUP(strbuf_release) struct strbuf lines = STRBUF_INIT(TEXT_MAX);

    explanation_init(&x);
    x.facts.lines = 0;
    explanation_add_line(&x, EXPLAIN_HEADING, "title");
    json_writer_text(&x.facts, "name", "n");
    explanation_add_line(&x, EXPLAIN_PARAGRAPH, "about %s", "n");
    explanation_open(&x, "list", '[');
    explanation_open(&x, NULL, '{');
    json_writer_int(&x.facts, "i", 1);
    explanation_add_line(&x, EXPLAIN_DETAIL, "first");
    explanation_close(&x, '}');
    explanation_add_line(&x, EXPLAIN_PARAGRAPH, "in the list");
    explanation_open(&x, NULL, '{');
    json_writer_int(&x.facts, "i", 2);
    explanation_close(&x, '}');
    explanation_close(&x, ']');
    explanation_finish(&x);
    assert_memory_equal(strchr(x.json.data, '{'), wanted, strlen(wanted));
    explanation_each_line(&x, add_line, &lines);
    assert_string_equal(lines.data, "title\n about n\n  first\n in the list\n");
    explanation_release(&x);
}

/* Lines of the problems of one template, in this order, before its state. */
static const struct problem_case {
    const char *title;
    bool judged;   /* engine_judge_problems() was called. */
    bool snapshot; /* As in `check`: without observation. */
    const char *lines[5];
} problem_cases[] = {
    {"no problem without a judgement", false, false, {"State: stale"}},
    {"open problems, then a hidden one",
     true,
     true,
     {"\n warning: template frozen (policy_gone), open.\n",
      "\n warning: not scheduled (waiting), open.\n",
      "\n warning: reference broken (claim_missing), hidden.\n",
      "\n  Hidden, because the problem 'template frozen' of Deployment a/web causes it.\n",
      "State: stale"}},
    {"pending problems",
     true,
     false,
     {"\n warning: template frozen (policy_gone), pending, first seen 2026-01-01T00:00:00Z.\n",
      "\n  Action (Policy owner): ", "\n warning: not scheduled (waiting), pending, first seen ",
      "\n warning: reference broken (claim_missing), pending, first seen ", "State: stale"}},
};

TEST_ROWS(problems_precede_the_decision, problem_cases, title)
{
    static const char objects[] =
        "[" WEB(CLAIM("p")) "," BINDING_OF("web", "", ",\"placement\":{}") "]";
    const struct problem_case *c = *state;
    struct problem_options options = {.snapshot = c->snapshot, .only_proven_times = c->snapshot};
    CLEANUP(strbuf_release) struct strbuf lines = STRBUF_INIT(TEXT_MAX);
    CLEANUP(strbuf_release) struct strbuf json = STRBUF_INIT(TEXT_MAX);
    const char *at;
    struct error err;
    struct world w;

    CLEANUP(json_cleanup) cJSON *parsed = json_parse(objects, strlen(objects), NULL, &err);
    problem_settings_reset(&options.settings);
    world_init(&w, &rules_options_default, 1);
    world_put_all(&w, parsed);
    if (c->judged)
        engine_judge_problems(w.engine, &options);
    world_run(&w, NOW_S * INT64_C(1000));
    explain_to(&w, world_find(&w, "apps/v1", "Deployment", "a", "web"), &lines, &json);
    world_release(&w);
    at = lines.data;
    for (size_t i = 0; i < ARRAY_LEN(c->lines) && c->lines[i]; i++) {
        const char *found = strstr(at, c->lines[i]);

        if (!found)
            fail_msg("%s is not in its place in\n%s", c->lines[i], lines.data);
        at = found + 1;
    }
    assert_int_equal(strstr(lines.data, "\nProblems\n") != NULL, c->judged);

    CLEANUP(json_cleanup) cJSON *tree = json_parse(json.data, json.len, NULL, &err);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(tree, "problems")), c->judged ? 3 : 0);
}
