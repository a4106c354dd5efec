/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/session.h"
#include "metrics/model/template.h"
#include "tests/unit/fake_api.h"
#include "tests/unit/suite.h"
#include "tests/unit/world.h"

static const int64_t clock_ms = INT64_C(1767225600000);

/* A source and a template finder of the same server. */
struct lab {
    struct fake_api api;
    struct world world;
    struct namespace_filter filter;
    struct log log;
    struct kube_source *source;
    struct template_finder finder;
};

static void run_until_idle(struct lab *lab)
{
    do {
        kube_source_turn(lab->source, lab->api.now_ms, clock_ms + lab->api.now_ms);
        lookup_turn(lab->finder.lookup, lab->api.now_ms);
    } while (fake_turn(&lab->api));
}

static int lab_open(void **state)
{
    struct lab *lab = xcalloc(1, sizeof(*lab));

    lab->log = (struct log){.level = LOG_LEVEL_ERROR, .stream = stderr};
    fake_api_init(&lab->api, 1);
    lab->api.now_ms = 1000;
    world_init(&lab->world, &rules_options_default, 1);

    const struct kube_source_settings settings = {
        .store = lab->world.store,
        .engine = lab->world.engine,
        .filter = &lab->filter,
        .log = &lab->log,
        .transport = fake_api_transport(&lab->api),
        .now_ms = lab->api.now_ms,
        .clock_ms = clock_ms,
    };
    lab->source = kube_source_new(&settings);
    template_finder_init(&lab->finder, lab->source, &settings);
    fake_put(&lab->api, FAKE_CONFIG_MAP, "a", "x", 7);
    fake_put(&lab->api, FAKE_DEPLOYMENT, "a", "d", 7);
    run_until_idle(lab);
    *state = lab;
    return 0;
}

static int lab_close(void **state)
{
    struct lab *lab = *state;

    template_finder_release(&lab->finder);
    kube_source_free(lab->source);
    assert_null(lab->api.transfers);
    fake_api_release(&lab->api);
    world_release(&lab->world);
    free(lab);
    return 0;
}

static struct lookup_answer find_once(struct lab *lab, const char *kind, const char *ns,
                                      const char *name, enum lookup_client client)
{
    const struct template_name wanted = {.kind = kind, .ns = ns, .name = name};
    struct identity id;

    return template_finder_find(&lab->finder, &wanted, client, &id, lab->api.now_ms);
}

static struct lookup_answer find(struct lab *lab, const char *kind, const char *ns,
                                 const char *name)
{
    struct lookup_answer answer = find_once(lab, kind, ns, name, LOOKUP_COMMAND);

    if (answer.state != LOOKUP_WAITING)
        return answer;
    run_until_idle(lab);
    return find_once(lab, kind, ns, name, LOOKUP_COMMAND);
}

TEST_WITH(found_template_can_be_stored, lab_open, lab_close)
{
    struct lab *lab = *state;
    struct lookup_answer answer = find(lab, "ConfigMap", "a", "x");
    struct error err;

    assert_int_equal(answer.state, LOOKUP_FOUND);
    const struct entry *entry = template_finder_store(&lab->finder, answer.object, &err);
    assert_non_null(entry);
    world_run(&lab->world, clock_ms);
    assert_int_equal(template_decision(entry)->state, STATE_PENDING);
    assert_int_equal(template_decision(entry)->reason, PENDING_KIND_NOT_SELECTED);
}

TEST_WITH(kind_names_of_kubectl_are_accepted, lab_open, lab_close)
{
    static const char *const names[] = {"configmap", "ConfigMaps", "CM", "configmaps"};
    struct lab *lab = *state;

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        assert_int_equal(find(lab, names[i], "a", "x").state, LOOKUP_FOUND);
    assert_int_equal(find(lab, "c", "a", "x").state, LOOKUP_UNKNOWN);
    assert_int_equal(find(lab, "", "a", "x").state, LOOKUP_UNKNOWN);
    /* A PropagationPolicy is not a template. */
    assert_int_equal(find(lab, "PropagationPolicy", "a", "x").state, LOOKUP_UNKNOWN);
    assert_int_equal(lab->api.fetches, 1);
}

TEST_WITH(failed_lookup_returns_its_cause, lab_open, lab_close)
{
    static const char *const named[] = {"a"};
    struct lab *lab = *state;

    assert_int_equal(find(lab, "configmap", "a", "y").state, LOOKUP_MISSING);
    lab->api.forbidden[FAKE_FOO] = true;
    struct lookup_answer answer = find(lab, "foo", "a", "z");
    assert_int_equal(answer.state, LOOKUP_FORBIDDEN);
    assert_string_equal(answer.reason, "forbidden");
    lab->filter = (struct namespace_filter){.namespaces = named, .namespace_count = 1};
    assert_int_equal(find(lab, "configmap", "b", "x").state, LOOKUP_OUTSIDE);
    lab->api.unreachable = true;
    assert_int_equal(find(lab, "deployment", "a", "d").state, LOOKUP_FAILED);
    lab->api.unreachable = false;
    /* A failed lookup can be repeated after a second. */
    lab->api.now_ms += 1000;
    run_until_idle(lab);
    assert_int_equal(find(lab, "deployment", "a", "d").state, LOOKUP_FOUND);
}

TEST_WITH(lookup_waits_at_most_two_seconds, lab_open, lab_close)
{
    struct lab *lab = *state;

    lab->api.slow_fetches = true;
    assert_int_equal(find(lab, "configmap", "a", "x").state, LOOKUP_WAITING);
    assert_int_equal(lookup_due(lab->finder.lookup), lab->api.now_ms + 2000);
    lab->api.now_ms += 1999;
    run_until_idle(lab);
    assert_int_equal(find(lab, "configmap", "a", "x").state, LOOKUP_WAITING);
    lab->api.now_ms += 1;
    run_until_idle(lab);
    assert_int_equal(find(lab, "configmap", "a", "x").state, LOOKUP_LATE);
    assert_int_equal(lab->api.fetches, 1);
}

TEST_WITH(result_of_a_lookup_is_kept_for_ten_seconds, lab_open, lab_close)
{
    struct lab *lab = *state;

    for (unsigned i = 0; i < 5; i++)
        assert_int_equal(find(lab, "configmap", "a", "x").state, LOOKUP_FOUND);
    lab->api.now_ms += 9999;
    run_until_idle(lab);
    assert_int_equal(find(lab, "configmap", "a", "x").state, LOOKUP_FOUND);
    assert_int_equal(lab->api.fetches, 1);
    lab->api.now_ms += 1;
    run_until_idle(lab);
    assert_int_equal(find(lab, "configmap", "a", "x").state, LOOKUP_FOUND);
    assert_int_equal(lab->api.fetches, 2);
}

TEST_WITH(web_clients_have_five_lookups_a_second, lab_open, lab_close)
{
    struct lab *lab = *state;
    char name[16];
    unsigned waiting = 0;

    for (unsigned i = 0; i < 20; i++) {
        snprintf(name, sizeof(name), "n%u", i);
        waiting += find_once(lab, "configmap", "a", name, LOOKUP_WEB).state == LOOKUP_WAITING;
    }
    assert_int_equal(waiting, 5);
    assert_int_equal(find_once(lab, "configmap", "a", "n19", LOOKUP_WEB).state, LOOKUP_BUSY);
    /* A kept result does not count. */
    run_until_idle(lab);
    assert_int_equal(find_once(lab, "configmap", "a", "n0", LOOKUP_WEB).state, LOOKUP_MISSING);
    lab->api.now_ms += 200;
    assert_int_equal(find_once(lab, "configmap", "a", "n19", LOOKUP_WEB).state, LOOKUP_WAITING);
    assert_int_equal(find_once(lab, "configmap", "a", "n18", LOOKUP_WEB).state, LOOKUP_BUSY);
    assert_int_equal(find_once(lab, "configmap", "a", "n18", LOOKUP_COMMAND).state, LOOKUP_WAITING);
    run_until_idle(lab);
}

/* The policy selects ConfigMaps: the source has read all of them. */
TEST_WITH(template_of_a_watched_kind_is_not_requested, lab_open, lab_close)
{
    struct lab *lab = *state;

    fake_put(&lab->api, FAKE_POLICY, "a", "p", 0);
    run_until_idle(lab);
    assert_int_equal(find(lab, "configmap", "a", "nobody").state, LOOKUP_MISSING);
    assert_int_equal(lab->api.fetches, 0);
}

TEST_WITH(only_specs_with_references_are_read_in_full, lab_open, lab_close)
{
    struct lab *lab = *state;

    assert_string_equal(json_str(find(lab, "deployment", "a", "d").object, "kind", ""),
                        "Deployment");
    assert_true(lab->api.fetched_full);
    find(lab, "configmap", "a", "x");
    assert_false(lab->api.fetched_full);
}
