/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/explain/explain.h"

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
#define BINDING(rest)                                                                              \
    "{\"apiVersion\":\"work.karmada.io/v1alpha2\",\"kind\":\"ResourceBinding\"," META(             \
        "web-deployment", rest) ",\"spec\":{\"replicas\":2,\"placement\":{},\"resource\":{"        \
                                "\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\","              \
                                "\"namespace\":\"a\",\"name\":\"web\"}}}"

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
    explanation_lines(&x, add_line, lines);
    strbuf_adds(json, x.json.data);
    explanation_release(&x);
}

/* What is said of the Deployment web in a small world, and what must not be. */
static const struct sentence_case {
    const char *title;
    const char *objects;
    const char *said;
    const char *unsaid;
} sentences[] = {
    {"a claim of which no binding knows",
     "[" POLICY("p", SELECTS("other"), "") "," WEB(CLAIM("p")) "]",
     "the claim stands until the policy is deleted", "should have removed the claim then"},
    {"a claim that its binding has, too",
     "[" POLICY("p", SELECTS("other"), "") "," WEB(CLAIM("p")) "," BINDING(CLAIM("p")) "]",
     "If its policy was changed, Karmada should have removed the claim then.",
     "at its next change"},
    {"a claim of a policy that is gone", "[" WEB(CLAIM("p")) "," BINDING(CLAIM("p")) "]",
     "Karmada should have removed the claim when the policy was deleted.", "still has time"},
    {"a claim of a namesake in another control plane",
     "[" POLICY("p", SELECTS("other"), "") "," WEB(FOREIGN_CLAIM("p")) "]",
     "Its claim is under another id than that policy's", "should have removed the claim then"},
    {"an override policy that does not exist",
     "[" POLICY("p", SELECTS("web"), ",\"dependentOverrides\":[\"nope\"]") "," WEB(
         CLAIM("p")) "," BINDING(CLAIM("p")) "]",
     "After the next change by its user: stale, template_updated.",
     "A restart of Karmada's controllers brings"},
    {"half a claim", "[" POLICY("p", SELECTS("web"), "") "," WEB("," ID("p")) "]",
     "It has the id of a claim, but not the rest", "keeps its policy"},
    {"a Lazy policy waits",
     "[" POLICY("p", SELECTS("web"), ",\"activationPreference\":\"Lazy\"") "," WEB(CLAIM("p")) "]",
     "It waits by design for its user's next change: the policy is Lazy.", "should have"},
    {"an exclusion is told by its place and content",
     "[" POLICY("p", SELECTS("web"),
                ",\"excludedResources\":[{\"namespace\":\"b\"},{\"labelSelector\":{\"matchLabels\":"
                "{\"app\":\"x\"}}},{\"name\":\"web\"}]") "," WEB("") "]",
     "excludedResources[2] matches: name web", "wins"},
    {"a policy that comes near", "[" POLICY("p", SELECTS("other"), "") "," WEB("") "]",
     "does not fit: the name of resourceSelectors[0]", "wins"},
    {"a policy of the same name in another version",
     "[" POLICY("p", "{\"apiVersion\":\"apps/v1beta1\",\"kind\":\"Deployment\"}",
                "") "," WEB("") "]",
     "does not fit: the apiVersion of resourceSelectors[0]", "wins"},
};

TEST_ROWS(sentences_are_true, sentences, title)
{
    const struct sentence_case *c = *state;
    CLEANUP(strbuf_release) struct strbuf lines = STRBUF_INIT(TEXT_MAX);
    CLEANUP(strbuf_release) struct strbuf json = STRBUF_INIT(TEXT_MAX);
    struct error err;
    struct world w;

    CLEANUP(json_cleanup)
    cJSON *objects = json_parse(c->objects, strlen(c->objects), NULL, &err);
    assert_non_null(objects);
    world_init(&w, &rules_options_default, 1);
    world_put_all(&w, objects);
    world_run(&w, NOW_S * INT64_C(1000));
    explain_to(&w, world_find(&w, "apps/v1", "Deployment", "a", "web"), &lines, &json);
    if (!strstr(lines.data, c->said) || strstr(lines.data, c->unsaid))
        fail_msg("%s", lines.data);
    world_release(&w);
}

/* Each line is in the JSON, with the object that it is about; headings are not. */
TEST(lines_end_the_objects_that_they_are_about)
{
    static const char wanted[] = "{\"name\":\"n\",\"list\":[{\"i\":1,\"text\":[\"first\"]},"
                                 "{\"i\":2}],\"text\":[\"about n\",\"in the list\"]}";
    struct explanation x;
    CLEANUP(strbuf_release) struct strbuf lines = STRBUF_INIT(TEXT_MAX);

    explanation_init(&x);
    x.facts.lines = 0;
    explanation_line(&x, EXPLAIN_HEADING, "title");
    writer_text(&x.facts, "name", "n");
    explanation_line(&x, EXPLAIN_PARAGRAPH, "about %s", "n");
    explanation_open(&x, "list", '[');
    explanation_open(&x, NULL, '{');
    writer_int(&x.facts, "i", 1);
    explanation_line(&x, EXPLAIN_DETAIL, "first");
    explanation_close(&x, '}');
    explanation_line(&x, EXPLAIN_PARAGRAPH, "in the list");
    explanation_open(&x, NULL, '{');
    writer_int(&x.facts, "i", 2);
    explanation_close(&x, '}');
    explanation_close(&x, ']');
    explanation_finish(&x);
    assert_memory_equal(strchr(x.json.data, '{'), wanted, strlen(wanted));
    explanation_lines(&x, add_line, &lines);
    assert_string_equal(lines.data, "title\n about n\n  first\n in the list\n");
    explanation_release(&x);
}
