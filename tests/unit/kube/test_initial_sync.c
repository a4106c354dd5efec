/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/initial_sync.h"

#include "exporter/web/page_parts.h"
#include "metrics/model/binding.h"
#include "metrics/model/store.h"
#include "metrics/rules/decision.h"
#include "metrics/rules/rule.h"
#include "tests/unit/fake_api.h"
#include "tests/unit/page.h"
#include "tests/unit/suite.h"

enum {
    START_MS = 1000,
    STEP_MS = 250,
    SELECTS_DEPLOYMENTS = 1,
    SELECTS_FOOS = 2,
    UNANSWERED_MAX = 64
};

/* Request that the server does not answer. */
struct unanswered {
    struct transport_handler handler;
    bool open;
};

/* A source, its world, and a server that leaves requests for some kinds unanswered. */
struct lab {
    struct fake_api api;
    struct transport fake;
    struct world world;
    struct registry *registry;
    struct namespace_filter filter;
    struct log log;
    struct kube_source *source;
    /* Paths of unanswered requests; an entry with '?' or '=' matches any part of a path. */
    const char *hanging[2];
    /* Members of struct kube_source_settings. */
    bool works;
    bool references;
    struct unanswered unanswered[UNANSWERED_MAX];
    size_t unanswered_count;
};

static bool is_unanswered(const struct lab *lab, const char *path)
{
    bool found = false;

    for (size_t i = 0; i < ARRAY_LEN(lab->hanging) && !found; i++)
        found =
            lab->hanging[i] && (strcmp(path, lab->hanging[i]) == 0 ||
                                (strpbrk(lab->hanging[i], "?=") && strstr(path, lab->hanging[i])));
    return found;
}

static struct transfer *start_request(void *context, const struct transport_request *request)
{
    struct lab *lab = context;

    if (!is_unanswered(lab, request->path))
        return lab->fake.start(lab->fake.context, request);
    assert_true(lab->unanswered_count < UNANSWERED_MAX);
    lab->unanswered[lab->unanswered_count] = (struct unanswered){request->handler, true};
    return (struct transfer *)&lab->unanswered[lab->unanswered_count++];
}

static void cancel_request(void *context, struct transfer *transfer)
{
    struct lab *lab = context;
    struct unanswered *unanswered = (struct unanswered *)transfer;

    if (unanswered >= lab->unanswered && unanswered < lab->unanswered + UNANSWERED_MAX)
        unanswered->open = false;
    else
        lab->fake.cancel(lab->fake.context, transfer);
}

/* Breaks the connections of unanswered requests. The server answers all later requests. */
static void recover_server(struct lab *lab)
{
    memset(lab->hanging, 0, sizeof(lab->hanging));
    for (size_t i = 0; i < lab->unanswered_count; i++) {
        struct unanswered *unanswered = &lab->unanswered[i];

        if (unanswered->open)
            unanswered->handler.done(
                unanswered->handler.context,
                &(struct transport_result){.error = "the connection was lost"});
        unanswered->open = false;
    }
}

static void lab_start(struct lab *lab)
{
    *lab = (struct lab){.log = {.level = LOG_LEVEL_ERROR, .stream = stderr},
                        .hanging = {lab->hanging[0], lab->hanging[1]},
                        .works = lab->works,
                        .references = lab->references};
    fake_api_init(&lab->api, 1);
    lab->api.now_ms = START_MS;
    lab->fake = fake_api_transport(&lab->api);
    world_init(&lab->world, &rules_options_default, 1);
    lab->registry = page_registry(&lab->world, &registry_options_default);
    fake_put(&lab->api, FAKE_POLICY, "a", "p", SELECTS_DEPLOYMENTS);
    fake_put(&lab->api, FAKE_DEPLOYMENT, "a", "web", 1);
    fake_put(&lab->api, FAKE_FOO, "a", "foo", 1);
    fake_put(&lab->api, FAKE_CLUSTER, "", "member1", 1);
    lab->source = kube_source_new(&(struct kube_source_settings){
        .store = lab->world.store,
        .engine = lab->world.engine,
        .filter = &lab->filter,
        .log = &lab->log,
        .transport = {.start = start_request, .cancel = cancel_request, .context = lab},
        .works = lab->works,
        .references = lab->references,
        .seed = 7,
        .now_ms = lab->api.now_ms,
    });
}

static void lab_release(struct lab *lab)
{
    kube_source_free(lab->source);
    registry_free(lab->registry);
    fake_api_release(&lab->api);
    world_release(&lab->world);
}

static void advance_time(struct lab *lab, int64_t ms)
{
    for (int64_t until_ms = lab->api.now_ms + ms; lab->api.now_ms < until_ms;) {
        do {
            kube_source_turn(lab->source, lab->api.now_ms, lab->api.now_ms);
            world_run(&lab->world, lab->api.now_ms);
        } while (fake_turn(&lab->api));
        lab->api.now_ms += STEP_MS;
    }
    kube_source_turn(lab->source, lab->api.now_ms, lab->api.now_ms);
    world_run(&lab->world, lab->api.now_ms);
}

static const struct missing_kind *find_missing(const struct lab *lab, const char *kind)
{
    for (size_t i = 0; i < kube_source_missing_kind_count(lab->source); i++) {
        if (strcmp(kube_source_missing_kind(lab->source, i)->kind, kind) == 0)
            return kube_source_missing_kind(lab->source, i);
    }
    return NULL;
}

static void assert_late(const struct lab *lab, const char *kind)
{
    const struct missing_kind *k = find_missing(lab, kind);

    assert_non_null(k);
    assert_true(k->late);
    assert_true(*missing_kind_reason(k->reflector) != '\0');
}

/* Returns true if the source's cards on the home page contain `text`. */
static bool source_cards_contain(const struct lab *lab, const char *text)
{
    CLEANUP(strbuf_release) struct strbuf section = STRBUF_INIT(1 << 16);

    source_cards_write(lab->source, &section);
    return strstr(section.data, text) != NULL;
}

static const char deployments[] = "karmada_templates{api_group=\"apps\",kind=\"Deployment\"";

TEST(source_is_ready_without_kinds_that_hang)
{
    struct lab lab = {.hanging = {"/deployments?", "/clusters?"}};

    lab_start(&lab);
    advance_time(&lab, KIND_WAIT_MS - STEP_MS);
    assert_false(kube_source_ready(lab.source));
    advance_time(&lab, 2 * STEP_MS);
    assert_true(kube_source_ready(lab.source));
    assert_int_equal(kube_source_missing_kind_count(lab.source), 2);
    assert_late(&lab, "Deployment");
    assert_late(&lab, "Cluster");
    CLEANUP(free_cleanup) char *without = page_of(lab.registry);
    page_lacks(without, deployments);
    page_lacks(without, "karmada_placement_drift_replicas");
    recover_server(&lab);
    advance_time(&lab, 5000);
    assert_int_equal(kube_source_missing_kind_count(lab.source), 0);
    CLEANUP(free_cleanup) char *with = page_of(lab.registry);
    page_has(with, "karmada_templates{api_group=\"apps\",kind=\"Deployment\",state=\"unbound\"}",
             "1");
    page_has(with,
             "karmada_placement_drift_replicas{member_cluster=\"member1\",movement=\"staying\"}",
             "0");
    lab_release(&lab);
}

TEST(source_is_not_ready_without_policies)
{
    struct lab lab = {.hanging = {"/clusterpropagationpolicies?"}};

    lab_start(&lab);
    advance_time(&lab, 10 * KIND_WAIT_MS);
    assert_false(kube_source_ready(lab.source));
    recover_server(&lab);
    advance_time(&lab, 60 * 1000);
    assert_true(kube_source_ready(lab.source));
    assert_int_equal(kube_source_missing_kind_count(lab.source), 0);
    lab_release(&lab);
}

TEST(source_does_not_wait_for_events)
{
    struct lab lab = {.hanging = {"/events?"}};

    lab_start(&lab);
    advance_time(&lab, 2 * STEP_MS);
    assert_true(kube_source_ready(lab.source));
    assert_non_null(find_missing(&lab, "Event"));
    assert_false(find_missing(&lab, "Event")->late);
    assert_false(source_cards_contain(&lab, "v1 Event has not been read yet"));
    CLEANUP(free_cleanup) char *page = page_of(lab.registry);
    page_lacks(page, "karmada_dependency_conflict_events_total");
    page_has(page, "karmada_templates{api_group=\"apps\",kind=\"Deployment\",state=\"unbound\"}",
             "1");
    advance_time(&lab, KIND_WAIT_MS);
    assert_late(&lab, "Event");
    assert_true(
        source_cards_contain(&lab, "<ul class=\"cards\">\n<li>v1 Event has not been read yet"));
    lab_release(&lab);
}

#define BY_FAILURE "fieldSelector=reason%3DApplyOverridePolicyFailed"

/* Events of failed overrides have a list of their own. The other Events are complete without it. */
TEST(source_does_not_wait_for_events_of_failed_overrides)
{
    struct lab lab = {.hanging = {BY_FAILURE}, .works = true};

    lab_start(&lab);
    fake_put(&lab.api, FAKE_OVERRIDE, "a", "o", 1);
    advance_time(&lab, 2 * STEP_MS);
    assert_true(kube_source_ready(lab.source));
    advance_time(&lab, 2 * KIND_WAIT_MS);
    assert_true(lab.unanswered_count > 0);
    assert_int_equal(kube_source_missing_kind_count(lab.source), 0);
    CLEANUP(free_cleanup) char *page = page_of(lab.registry);
    page_has(page, "karmada_dependency_conflict_events_total{field=\"ConflictResolution\"}", "0");
    lab_release(&lab);
}

TEST(source_with_references_waits_for_failed_overrides)
{
    struct lab lab = {.hanging = {BY_FAILURE}, .references = true, .works = true};

    lab_start(&lab);
    fake_put(&lab.api, FAKE_OVERRIDE, "a", "o", 1);
    advance_time(&lab, KIND_WAIT_MS - STEP_MS);
    assert_false(kube_source_ready(lab.source));
    advance_time(&lab, 2 * STEP_MS);
    assert_true(kube_source_ready(lab.source));
    lab_release(&lab);
}

static bool are_works_known(const struct lab *lab)
{
    return works_known(&engine_context(lab->world.engine)->works);
}

/* Until all Works are read, they count as unknown. */
TEST(source_does_not_wait_for_works)
{
    struct lab lab = {.hanging = {"/works?"}, .works = true};

    lab_start(&lab);
    advance_time(&lab, 2 * STEP_MS);
    assert_true(kube_source_ready(lab.source));
    assert_false(find_missing(&lab, "Work")->late);
    assert_false(are_works_known(&lab));
    advance_time(&lab, KIND_WAIT_MS);
    assert_late(&lab, "Work");
    recover_server(&lab);
    advance_time(&lab, 5000);
    assert_null(find_missing(&lab, "Work"));
    assert_true(are_works_known(&lab));
    lab_release(&lab);
}

TEST(source_with_references_waits_for_works)
{
    struct lab lab = {.hanging = {"/works?"}, .works = true, .references = true};

    lab_start(&lab);
    advance_time(&lab, KIND_WAIT_MS - STEP_MS);
    assert_false(kube_source_ready(lab.source));
    advance_time(&lab, 2 * STEP_MS);
    assert_true(kube_source_ready(lab.source));
    assert_late(&lab, "Work");
    assert_false(are_works_known(&lab));
    lab_release(&lab);
}

TEST(forbidden_works_stay_unknown)
{
    struct lab lab = {.works = true};

    lab_start(&lab);
    lab.api.forbidden[FAKE_WORK] = true;
    advance_time(&lab, 10 * STEP_MS);
    assert_true(kube_source_ready(lab.source));
    assert_false(are_works_known(&lab));
    lab_release(&lab);
}

/* Without discovery, a kind counts neither as served nor as absent. */
TEST(selected_kind_is_late_while_discovery_hangs)
{
    struct lab lab = {.hanging = {"/api", "/apis"}};

    lab_start(&lab);
    advance_time(&lab, KIND_WAIT_MS + STEP_MS);
    assert_true(kube_source_ready(lab.source));
    assert_late(&lab, "Deployment");
    assert_null(find_missing(&lab, "Deployment")->reflector);
    CLEANUP(free_cleanup) char *page = page_of(lab.registry);
    page_lacks(page, deployments);
    page_has(page, "karmada_propagationpolicy_unused{policy_kind=\"PropagationPolicy\"}", "0");
    recover_server(&lab);
    advance_time(&lab, 60 * 1000);
    assert_int_equal(kube_source_missing_kind_count(lab.source), 0);
    lab_release(&lab);
}

/* The source stays ready. Results that need the kind wait until all its objects are read. */
TEST(kind_selected_later_is_missing_until_it_is_read)
{
    struct lab lab = {0};

    lab_start(&lab);
    advance_time(&lab, 2 * STEP_MS);
    assert_true(kube_source_ready(lab.source));
    assert_int_equal(kube_source_missing_kind_count(lab.source), 0);
    lab.hanging[0] = "/foos?";
    fake_put(&lab.api, FAKE_CLUSTER_POLICY, "", "all", SELECTS_FOOS);
    advance_time(&lab, 2 * STEP_MS);
    assert_true(kube_source_ready(lab.source));
    assert_non_null(find_missing(&lab, "Foo"));
    assert_false(find_missing(&lab, "Foo")->late);
    CLEANUP(free_cleanup) char *page = page_of(lab.registry);
    page_has(page, "karmada_templates{api_group=\"apps\",kind=\"Deployment\",state=\"unbound\"}",
             "1");
    page_has(page, "karmada_propagationpolicy_unused{policy_kind=\"ClusterPropagationPolicy\"}",
             "0");
    advance_time(&lab, KIND_WAIT_MS);
    assert_late(&lab, "Foo");
    recover_server(&lab);
    advance_time(&lab, 5000);
    assert_int_equal(kube_source_missing_kind_count(lab.source), 0);
    lab_release(&lab);
}

/*
 * The first page of bindings arrives before discovery, and thus without the preferred version of
 * Foo; the other pages arrive after discovery. The source therefore lists all bindings again.
 */
TEST(bindings_read_before_discovery_are_read_again)
{
    struct lab lab = {.hanging = {"/apis", "/resourcebindings?limit=5000&continue="}};

    lab_start(&lab);
    lab.api.paginates = true;
    for (char name[] = "foo-a"; name[4] <= 'e'; name[4]++)
        fake_put(&lab.api, FAKE_BINDING, "a", name, FAKE_OLD_VALUE);
    advance_time(&lab, 1000);
    lab.hanging[0] = NULL;
    advance_time(&lab, 20 * 1000);
    assert_int_equal(lab.api.requests[FAKE_BINDING], 1);
    assert_false(kube_source_ready(lab.source));
    recover_server(&lab);
    advance_time(&lab, 20 * 1000);
    assert_true(kube_source_ready(lab.source));
    assert_int_equal(lab.api.requests[FAKE_BINDING], 2);
    lab_release(&lab);
}

TEST(turn_is_due_when_the_next_kind_becomes_late)
{
    struct missing_kind kinds[] = {{.since_ms = 5000}, {.since_ms = 9000}};
    struct missing_kinds missing = {.ready = true, .kinds = kinds, .count = 2};

    assert_int_equal(missing_kinds_due(&missing), 5000 + KIND_WAIT_MS);
    kinds[0].late = true;
    assert_int_equal(missing_kinds_due(&missing), 9000 + KIND_WAIT_MS);
    kinds[1].late = true;
    assert_int_equal(missing_kinds_due(&missing), INT64_MAX);
}

/* The server stops serving PropagationPolicy while the source waits for Clusters. */
TEST(removed_required_kind_leaves_no_overdue_turn)
{
    struct lab lab = {.hanging = {"/clusters?"}};

    lab_start(&lab);
    advance_time(&lab, 2000);
    assert_false(kube_source_ready(lab.source));
    fake_serve(&lab.api, FAKE_POLICY, false);
    fake_cut_all(&lab.api);
    advance_time(&lab, 10 * KIND_WAIT_MS);
    assert_false(kube_source_ready(lab.source));
    assert_true(kube_source_due(lab.source) > lab.api.now_ms);
    fake_serve(&lab.api, FAKE_POLICY, true);
    advance_time(&lab, 10 * KIND_WAIT_MS);
    assert_true(kube_source_ready(lab.source));
    lab_release(&lab);
}
