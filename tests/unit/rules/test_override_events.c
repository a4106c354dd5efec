/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/overrides.h"

#include "metrics/model/override_policy.h"
#include "metrics/model/store.h"
#include "metrics/model/template.h"
#include "metrics/rules/rule.h"
#include "tests/unit/lines.h"
#include "tests/unit/reading.h"
#include "tests/unit/suite.h"
#include "tests/unit/world.h"

enum { NOW_MS = 1000, ROUNDS = 4000 };

static const struct override_events *events_in(const struct world *w)
{
    return &engine_context(w->engine)->override_events;
}

static void put(struct world *w, const char *text)
{
    CLEANUP(json_cleanup) cJSON *json = json_of(text);

    world_put(w, json);
}

/* Returns the name of the override policy that failed, "" if no failure counts. */
static const char *find_failed_policy(const struct world *w, const struct entry *template,
                                      const struct work *work, const char *cluster)
{
    CLEANUP(entry_list_release) struct entry_list reads = {0};
    struct override_failure failure;

    return override_failed(events_in(w), template, work, cluster, &reads, &failure) ? failure.policy
                                                                                    : "";
}

/* ---- recorded objects of Karmada ---- */

/* Expected failures of each step, as "template cluster policy, ". */
static const struct recorded {
    const char *step;
    const char *failures;
} recorded[] = {
    {"01-two-on-one-path", ""},
    {"02-more-specific-for-member2", ""},
    {"03-path-does-not-exist", "web member1 c-wrong-path, web member2 c-wrong-path, "},
    {"04-new-template-with-a-wrong-path-made-after",
     "new member1 d-wrong-path-new, web member1 c-wrong-path, web member2 c-wrong-path, "},
    {"05-fresh-template-with-a-wrong-path",
     "fresh member1 e-wrong-path-fresh, fresh member2 e-wrong-path-fresh, "
     "new member1 d-wrong-path-new, web member1 c-wrong-path, web member2 c-wrong-path, "},
    {"06-wrong-paths-deleted", ""},
    {"07-override-of-replicas", ""},
    {"08-override-that-the-member-refuses", ""},
    {"09-all-overrides-deleted", ""},
};

/* Recorded facts that show which failures are over. Each selection suffices. */
enum evidence { ALL, WITHOUT_SUCCESSES, EVENTS_ALONE };

struct recorded_check {
    enum evidence evidence;
    size_t at;
};

static bool is_evidence(const cJSON *object, enum evidence evidence)
{
    const char *kind = json_str(object, "kind", "");

    if (strcmp(kind, "Event") == 0)
        return evidence != WITHOUT_SUCCESSES ||
               strcmp(json_str(object, "reason", ""), "ApplyOverridePolicyFailed") == 0;
    /*
     * With EVENTS_ALONE, put_failed_policies() replaces the policies, so that no policy is missing.
     */
    return strcmp(kind, "OverridePolicy") != 0 || evidence != EVENTS_ALONE;
}

static void put_failed_policies(struct world *w)
{
    static const char *const names[] = {"c-wrong-path", "d-wrong-path-new", "e-wrong-path-fresh"};
    char text[256];

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        snprintf(text, sizeof(text),
                 "{'apiVersion':'policy.karmada.io/v1alpha1','kind':'OverridePolicy','metadata':{"
                 "'name':'%s','namespace':'s-w-overrides'}}",
                 names[i]);
        put(w, text);
    }
}

static void check_recorded(const cJSON *line, void *context)
{
    static const char *const names[] = {"fresh", "new", "web"};
    static const char *const clusters[] = {"member1", "member2"};
    struct recorded_check *check = context;
    const struct recorded *expected = &recorded[check->at++];
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(1024);
    const cJSON *object;
    struct world w;

    assert_non_null(strstr(json_str(line, "step", ""), expected->step));
    world_init(&w, &rules_options_default, 1);
    cJSON_ArrayForEach (object, json_get(line, "objects")) {
        if (is_evidence(object, check->evidence))
            world_put(&w, object);
    }
    if (check->evidence == EVENTS_ALONE)
        put_failed_policies(&w);
    for (size_t i = 0; i < ARRAY_LEN(names) * ARRAY_LEN(clusters); i++) {
        const char *name = names[i / 2], *cluster = clusters[i % 2];
        const struct entry *template =
            world_find(&w, "apps/v1", "Deployment", "s-w-overrides", name);
        const char *policy = template ? find_failed_policy(&w, template, NULL, cluster) : "";

        if (*policy)
            strbuf_addf(&text, "%s %s %s, ", name, cluster, policy);
    }
    assert_string_equal(text.data, expected->failures);
    world_release(&w);
}

static struct evidence_case {
    const char *name;
    enum evidence evidence;
} evidences[] = {
    {"with all recorded objects", ALL},
    {"with Events of failures only, by deleted policies", WITHOUT_SUCCESSES},
    {"with Events only, by Events of success", EVENTS_ALONE},
};

TEST_ROWS(recorded_failures_are_found, evidences, name)
{
    const struct evidence_case *c = *state;
    struct recorded_check check = {.evidence = c->evidence};

    lines_each("tests/fixtures/recordings/overrides.jsonl.gz", check_recorded, &check);
    assert_int_equal(check.at, ARRAY_LEN(recorded));
}

/* ---- when a failure is over ---- */

#define TEMPLATE(uid)                                                                              \
    "{'apiVersion':'apps/v1','kind':'Deployment','metadata':{'name':'web','namespace':'test',"     \
    "'uid':'" uid "'}}"
#define ABOUT                                                                                      \
    "'involvedObject':{'apiVersion':'apps/v1','kind':'Deployment','namespace':'test',"             \
    "'name':'web','uid':'u1'}"
#define EVENT(name, reason, second, message)                                                       \
    "{'apiVersion':'v1','kind':'Event','metadata':{'name':'" name "','namespace':'test'},"         \
    "'reason':'" reason "'," ABOUT ",'lastTimestamp':'2026-01-31T12:00:" second                    \
    "Z','message':'" message "'}"
#define FAILED(second)                                                                             \
    EVENT("f", "ApplyOverridePolicyFailed", second,                                                \
          "Apply override policy(test/o) for cluster(m) failed.")
#define APPLIED(second, policy, cluster)                                                           \
    EVENT("s", "ApplyOverridePolicySucceed", second,                                               \
          "Apply override policy(" policy ") for cluster(" cluster ") succeed.")
#define WRITTEN(second) EVENT("w", "SyncWorkSucceed", second, "Sync work successful.")
#define POLICY(second, generation)                                                                 \
    "{'apiVersion':'policy.karmada.io/v1alpha1','kind':'OverridePolicy','metadata':{'name':'o',"   \
    "'namespace':'test','creationTimestamp':'2026-01-31T12:00:" second                             \
    "Z','generation':" generation "}}"
#define CHANGED(second)                                                                            \
    "{'apiVersion':'policy.karmada.io/v1alpha1','kind':'OverridePolicy','metadata':{'name':'o',"   \
    "'namespace':'test','creationTimestamp':'2026-01-31T12:00:00Z','generation':2,"                \
    "'managedFields':[{'manager':'kubectl','time':'2026-01-31T12:00:" second "Z','fieldsV1':{"     \
    "'f:spec':{}}}]}}"

static struct over_case {
    const char *name;
    /* Object put after the template, its policy and the failure at 12:00:20; may be NULL. */
    const char *more;
    bool over;
} overs[] = {
    {"no further object", NULL, false},
    {"the policy was applied later", APPLIED("21", "test/o", "m"), true},
    {"the policy was applied in the same second", APPLIED("20", "test/o", "m"), false},
    {"the policy was applied earlier", APPLIED("19", "test/o", "m"), false},
    {"the policy was applied later to another cluster", APPLIED("21", "test/o", "m2"), false},
    {"another policy was applied", APPLIED("21", "test/p", "m"), false},
    {"a cluster-wide policy of the name was applied", APPLIED("21", "o", "m"), false},
    {"all Works were written later", WRITTEN("21"), true},
    {"all Works were written in the same second", WRITTEN("20"), false},
    {"the policy failed again", FAILED("25"), false},
    {"the policy was changed later", CHANGED("21"), true},
    {"the policy was changed in the same second", CHANGED("20"), false},
    {"the policy was created again", POLICY("21", "1"), true},
    {"the time of the policy's change is unknown", POLICY("00", "2"), false},
    {"the template was created again", TEMPLATE("u2"), true},
    {"the UID of the template is unknown", TEMPLATE(""), false},
};

TEST_ROWS(later_facts_end_a_failure, overs, name)
{
    const struct over_case *c = *state;
    struct world w;

    world_init(&w, &rules_options_default, 1);
    put(&w, TEMPLATE("u1"));
    put(&w, POLICY("00", "1"));
    put(&w, FAILED("20"));
    if (c->more)
        put(&w, c->more);

    const struct entry *template = world_find(&w, "apps/v1", "Deployment", "test", "web");

    assert_string_equal(find_failed_policy(&w, template, NULL, "m"), c->over ? "" : "o");
    assert_string_equal(find_failed_policy(&w, template, NULL, "m2"), "");
    world_release(&w);
}

TEST(a_work_written_later_ends_a_failure)
{
    struct world w;
    const struct entry *template;
    struct work work = {.written_s = 1769860821};

    world_init(&w, &rules_options_default, 1);
    put(&w, TEMPLATE("u1"));
    put(&w, POLICY("00", "1"));
    put(&w, FAILED("20"));
    template = world_find(&w, "apps/v1", "Deployment", "test", "web");
    assert_string_equal(find_failed_policy(&w, template, &work, "m"), "");
    work.written_s--;
    assert_string_equal(find_failed_policy(&w, template, &work, "m"), "o");
    work.written_s = 0;
    assert_string_equal(find_failed_policy(&w, template, &work, "m"), "o");
    world_release(&w);
}

/* While the kind is incomplete, a missing policy may exist. */
TEST(a_policy_that_was_not_read_does_not_end_a_failure)
{
    struct world w;
    const struct entry *template;

    world_init(&w, &rules_options_default, 1);
    put(&w, TEMPLATE("u1"));
    put(&w, FAILED("20"));
    template = world_find(&w, "apps/v1", "Deployment", "test", "web");
    assert_string_equal(find_failed_policy(&w, template, NULL, "m"), "");
    engine_set_incomplete(w.engine, "policy.karmada.io/v1alpha1", "OverridePolicy", true);
    assert_string_equal(find_failed_policy(&w, template, NULL, "m"), "o");
    world_release(&w);
}

TEST(the_latest_of_several_failures_is_returned)
{
    struct override_failure failure;
    CLEANUP(entry_list_release) struct entry_list reads = {0};
    struct world w;

    world_init(&w, &rules_options_default, 1);
    put(&w, TEMPLATE("u1"));
    put(&w, POLICY("00", "1"));
    put(&w, "{'apiVersion':'policy.karmada.io/v1alpha1','kind':'ClusterOverridePolicy',"
            "'metadata':{'name':'wide'}}");
    put(&w, FAILED("20"));
    put(&w, EVENT("g", "ApplyOverridePolicyFailed", "30",
                  "Apply cluster override policy(wide) for cluster(m) failed."));
    assert_true(override_failed(events_in(&w),
                                world_find(&w, "apps/v1", "Deployment", "test", "web"), NULL, "m",
                                &reads, &failure));
    assert_string_equal(failure.policy_ns, "");
    assert_string_equal(failure.policy, "wide");
    assert_string_equal(failure.message,
                        "Apply cluster override policy(wide) for cluster(m) failed.");
    assert_int_equal(failure.time_ms, INT64_C(1769860830000));
    assert_int_equal(reads.count, 2);
    world_release(&w);
}

/* ---- random histories ---- */

enum { TEMPLATES = 3, POLICIES = 3, CLUSTERS = 2, EVENTS = 12 };

static const char *const clusters[CLUSTERS] = {"m1", "m10"};
static const struct {
    const char *ns;
    const char *name;
} policies[POLICIES] = {{"a", "x"}, {"a", "y"}, {"", "x"}};
static const struct {
    const char *api_version;
    const char *ns;
    const char *name;
} templates[TEMPLATES] = {
    {"apps/v1", "a", "web"}, {"apps/v1", "b", "web"}, {"other/v1", "a", "web"}};

struct lab {
    struct world world;
    struct entry *templates[TEMPLATES];
};

static void lab_init(struct lab *lab)
{
    world_init(&lab->world, &rules_options_default, 1);
    for (unsigned i = 0; i < TEMPLATES; i++) {
        char text[256];

        snprintf(text, sizeof(text),
                 "{'apiVersion':'%s','kind':'Deployment','metadata':{'name':'%s','namespace':'%s',"
                 "'uid':'u'}}",
                 templates[i].api_version, templates[i].name, templates[i].ns);
        put(&lab->world, text);
        lab->templates[i] = world_find(&lab->world, templates[i].api_version, "Deployment",
                                       templates[i].ns, templates[i].name);
    }
    world_run(&lab->world, NOW_MS);
}

static void change_policy(struct world *w)
{
    unsigned at = world_random(w, POLICIES);
    const char *prefix = *policies[at].ns ? "" : "Cluster";
    char text[512], kind[32];

    snprintf(kind, sizeof(kind), "%sOverridePolicy", prefix);

    struct entry *entry =
        world_find(w, "policy.karmada.io/v1alpha1", kind, policies[at].ns, policies[at].name);

    if (entry && entry_exists(entry) && world_random(w, 2)) {
        store_remove(w->store, entry);
        return;
    }
    snprintf(text, sizeof(text),
             "{'apiVersion':'policy.karmada.io/v1alpha1','kind':'%s','metadata':{'name':'%s',"
             "'namespace':'%s','creationTimestamp':'2026-01-31T12:00:%02uZ','generation':1}}",
             kind, policies[at].name, policies[at].ns, world_random(w, 6));
    put(w, text);
}

static void change_event(struct world *w)
{
    static const char *const reasons[] = {"ApplyOverridePolicyFailed", "ApplyOverridePolicyFailed",
                                          "ApplyOverridePolicySucceed", "SyncWorkSucceed",
                                          "DependencyPolicyConflict"};
    unsigned of = world_random(w, TEMPLATES), by = world_random(w, POLICIES);
    const char *ns = policies[by].ns;
    char name[16], text[1024];

    snprintf(name, sizeof(name), "e%u", world_random(w, EVENTS));

    struct entry *entry = world_find(w, "v1", "Event", "a", name);

    if (entry && world_random(w, 4) == 0) {
        store_remove(w->store, entry);
        return;
    }
    snprintf(text, sizeof(text),
             "{'apiVersion':'v1','kind':'Event','metadata':{'name':'%s','namespace':'a'},"
             "'reason':'%s','involvedObject':{'apiVersion':'%s','kind':'%s','namespace':'%s',"
             "'name':'%s','uid':'%s'},'lastTimestamp':'2026-01-31T12:00:%02uZ','message':'Apply "
             "%soverride policy(%s%s%s) for cluster(%s) failed.'}",
             name, reasons[world_random(w, ARRAY_LEN(reasons))], templates[of].api_version,
             world_random(w, 9) ? "Deployment" : "Job", templates[of].ns, templates[of].name,
             world_random(w, 5) ? "u" : "v", world_random(w, 6), *ns ? "" : "cluster ", ns,
             *ns ? "/" : "", policies[by].name, clusters[world_random(w, CLUSTERS)]);
    put(w, text);
}

static bool is_about(const struct event *e, const struct entry *template, const char *cluster)
{
    const struct override_event *o = e ? e->override : NULL;

    return o && strcmp(e->kind, "Deployment") == 0 && strcmp(e->ns, entry_ns(template)) == 0 &&
           strcmp(e->name, template->name) == 0 && o->uid_hash == uid_hash("u") &&
           strcmp(o->api_version, entry_type(template)->api_version) == 0 &&
           (o->outcome == WORKS_WRITTEN || strcmp(o->cluster, cluster) == 0);
}

/* Returns Event number `at` of the history, NULL if it does not exist. */
static const struct event *event_at(const struct lab *lab, unsigned at)
{
    char name[16];

    snprintf(name, sizeof(name), "e%u", at);
    return entry_event(world_find(&lab->world, "v1", "Event", "a", name));
}

static bool is_past(const struct lab *lab, const struct override_event *failure,
                    const struct entry *template, const char *cluster)
{
    const char *kind = *failure->policy_ns ? "OverridePolicy" : "ClusterOverridePolicy";
    const struct entry *entry = world_find(&lab->world, "policy.karmada.io/v1alpha1", kind,
                                           failure->policy_ns, failure->policy);
    const struct override *policy = entry ? entry_object(entry) : NULL;
    bool past = !policy || policy->created_ms > failure->time_ms;

    for (unsigned i = 0; i < EVENTS; i++) {
        const struct event *e = event_at(lab, i);

        if (is_about(e, template, cluster) && e->override->time_ms > failure->time_ms)
            past = past || e->override->outcome == WORKS_WRITTEN ||
                   (e->override->outcome == OVERRIDE_APPLIED &&
                    strcmp(e->override->policy, failure->policy) == 0 &&
                    strcmp(e->override->policy_ns, failure->policy_ns) == 0);
    }
    return past;
}

/* Returns the expected answer: the time of the latest failure that is not over, else 0. */
static int64_t latest_failure_ms(const struct lab *lab, const struct entry *template,
                                 const char *cluster)
{
    int64_t latest_ms = 0;

    for (unsigned i = 0; i < EVENTS; i++) {
        const struct event *e = event_at(lab, i);

        if (is_about(e, template, cluster) && e->override->outcome == OVERRIDE_FAILED &&
            !is_past(lab, e->override, template, cluster) && e->override->time_ms > latest_ms)
            latest_ms = e->override->time_ms;
    }
    return latest_ms;
}

/*
 * Asserts the result of override_failed(), and returns its time, 0 without a failure. Appends the
 * entries that override_failed() read to `reads`.
 */
static int64_t check_failure(const struct lab *lab, unsigned template, unsigned cluster,
                             struct entry_list *reads)
{
    struct override_failure f = {0};
    bool failed = override_failed(events_in(&lab->world), lab->templates[template], NULL,
                                  clusters[cluster], reads, &f);

    assert_int_equal(failed ? f.time_ms : 0,
                     latest_failure_ms(lab, lab->templates[template], clusters[cluster]));
    return f.time_ms;
}

/*
 * Stores all answers and the entries read. Pins these entries, as the dependency graph of the
 * engine does.
 */
static void read_all(struct lab *lab, int64_t answers[TEMPLATES][CLUSTERS],
                     struct entry_list reads[TEMPLATES])
{
    for (unsigned t = 0; t < TEMPLATES; t++) {
        for (unsigned c = 0; c < CLUSTERS; c++)
            answers[t][c] = check_failure(lab, t, c, &reads[t]);
        for (size_t i = 0; i < reads[t].count; i++)
            store_pin(reads[t].items[i]);
    }
}

static void unpin_all(struct lab *lab, struct entry_list reads[TEMPLATES])
{
    for (unsigned t = 0; t < TEMPLATES; t++) {
        for (size_t i = 0; i < reads[t].count; i++)
            store_unpin(lab->world.store, reads[t].items[i]);
        entry_list_release(&reads[t]);
    }
}

static bool is_dirty(const struct entry_list *reads)
{
    bool dirty = false;

    for (size_t i = 0; i < reads->count; i++)
        dirty = dirty || reads->items[i]->dirty;
    return dirty;
}

TEST(any_history_finds_failures_and_marks_their_templates)
{
    struct lab lab;

    lab_init(&lab);
    for (unsigned round = 0; round < ROUNDS; round++) {
        int64_t before[TEMPLATES][CLUSTERS], after[TEMPLATES][CLUSTERS];
        struct entry_list reads[TEMPLATES] = {0}, later[TEMPLATES] = {0};

        read_all(&lab, before, reads);
        if (world_random(&lab.world, 3) == 0)
            change_policy(&lab.world);
        else
            change_event(&lab.world);
        read_all(&lab, after, later);
        for (unsigned t = 0; t < TEMPLATES; t++) {
            bool same = memcmp(before[t], after[t], sizeof(after[t])) == 0;

            assert_true(same || lab.templates[t]->dirty || is_dirty(&reads[t]));
        }
        unpin_all(&lab, reads);
        unpin_all(&lab, later);
        world_run(&lab.world, NOW_MS);
    }
    world_release(&lab.world);
}

/* Karmada increments the count of a repeated Event. Only a new time marks the template. */
TEST(a_repeated_event_without_a_new_time_marks_nothing)
{
    struct lab lab;
    static const char event[] =
        "{'apiVersion':'v1','kind':'Event','metadata':{'name':'e','namespace':'a'},'count':%u,"
        "'reason':'ApplyOverridePolicyFailed','involvedObject':{'apiVersion':'apps/v1','kind':"
        "'Deployment','namespace':'a','name':'web'},'lastTimestamp':'2026-01-31T12:00:%02uZ',"
        "'message':'Apply override policy(a/x) for cluster(m) failed.'}";
    char text[1024];

    lab_init(&lab);
    for (unsigned i = 0; i < 3; i++) {
        snprintf(text, sizeof(text), event, i, i / 2);
        put(&lab.world, text);
        assert_int_equal(lab.templates[0]->dirty, i != 1);
        assert_false(lab.templates[1]->dirty || lab.templates[2]->dirty);
        world_run(&lab.world, NOW_MS);
    }
    world_release(&lab.world);
}
