/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/release_reader.h"

#include "tests/unit/manual.h"
#include "tests/unit/suite.h"
#include "tests/unit/world.h"

/* Index of the schemas; the hashes are the parameters. */
#define PATHS_OF(policy, work)                                                                     \
    "{\"paths\":{\"api/v1\":{\"serverRelativeURL\":\"/openapi/v3/api/v1?hash=1\"},"                \
    "\"apis/policy.karmada.io/v1alpha1\":{\"serverRelativeURL\":"                                  \
    "\"/openapi/v3/apis/policy.karmada.io/v1alpha1?hash=" policy "\"},"                            \
    "\"apis/work.karmada.io/v1alpha2\":{\"serverRelativeURL\":"                                    \
    "\"/openapi/v3/apis/work.karmada.io/v1alpha2?hash=" work "\"}}}"
#define SCHEMA(group, version, kind, fields)                                                       \
    "{\"components\":{\"schemas\":{\"x\":{\"x-kubernetes-group-version-kind\":[{\"group\":"        \
    "\"" group "\",\"version\":\"" version "\",\"kind\":\"" kind "\"}],\"properties\":{\"spec\":{" \
    "\"properties\":{" fields "}}}}}}}"
#define PLACEMENT_OF_1_17 "\"placement\":{\"properties\":{\"workloadAffinity\":{}}}"
#define POLICY_OF_1_15                                                                             \
    SCHEMA("policy.karmada.io", "v1alpha1", "PropagationPolicy",                                   \
           "\"schedulePriority\":{},\"failover\":{\"properties\":{\"cluster\":{}}},"               \
           "\"placement\":{\"properties\":{\"clusterTolerations\":{}}}")
#define POLICY_OF_1_17                                                                             \
    SCHEMA("policy.karmada.io", "v1alpha1", "PropagationPolicy",                                   \
           "\"schedulePriority\":{},\"failover\":{\"properties\":{\"cluster\":{},"                 \
           "\"application\":{\"properties\":{\"purgeMode\":{\"enum\":[\"Immediately\"]}}}}},"      \
           "\"placement\":{\"properties\":{\"workloadAffinity\":{},\"clusterAffinities\":{"        \
           "\"items\":{\"properties\":{\"affinityName\":{}}}}}}")
#define BINDING_OF_1_15                                                                            \
    SCHEMA("work.karmada.io", "v1alpha2", "ResourceBinding",                                       \
           "\"schedulePriority\":{},\"components\":{},"                                            \
           "\"placement\":{\"properties\":{\"clusterTolerations\":{}}}")
#define BINDING_OF_1_17                                                                            \
    SCHEMA("work.karmada.io", "v1alpha2", "ResourceBinding",                                       \
           "\"schedulePriority\":{},\"components\":{}," PLACEMENT_OF_1_17)
#define INDEX_URL  "/openapi/v3"
#define POLICY_URL INDEX_URL "/apis/policy.karmada.io/v1alpha1"
#define WORK_URL   INDEX_URL "/apis/work.karmada.io/v1alpha2"

struct lab {
    struct transfer transfer;
    struct world world;
    struct log log;
    struct reflector_context context;
    struct release_reader reader;
};

static void lab_init(struct lab *lab, const char *version)
{
    struct rules_options options = rules_options_default;

    *lab = (struct lab){.log = {.level = LOG_LEVEL_NONE}};
    options.karmada_version = version;
    world_init(&lab->world, &options, 1);
    lab->context = (struct reflector_context){
        .engine = lab->world.engine,
        .transport = manual_transport(&lab->transfer),
        .log = &lab->log,
        .now_ms = 1000,
    };
    release_reader_init(&lab->reader, &lab->context);
}

static void lab_release(struct lab *lab)
{
    release_reader_release(&lab->reader);
    world_release(&lab->world);
}

/* Waits until the next request is due, checks its path, and answers it. */
static void answer_next(struct lab *lab, const char *path, unsigned status, const char *body)
{
    if (release_reader_due(&lab->reader) > lab->context.now_ms)
        lab->context.now_ms = release_reader_due(&lab->reader);
    release_reader_turn(&lab->reader);
    assert_non_null(lab->reader.transfer);
    assert_string_equal(lab->transfer.path, path);
    manual_answer(&lab->transfer, status, body, 0);
    assert_null(lab->reader.transfer);
}

/* Answers the three requests of a round that reads all schemas. */
static void answer_all(struct lab *lab, const char *policy, const char *binding)
{
    answer_next(lab, INDEX_URL, 200, PATHS_OF("A", "B"));
    answer_next(lab, POLICY_URL "?hash=A", 200, policy);
    answer_next(lab, WORK_URL "?hash=B", 200, binding);
}

static void check_release(const struct lab *lab, enum release oldest, enum release newest,
                          enum release_origin origin)
{
    struct release_range range = engine_release(lab->world.engine);

    assert_int_equal(range.oldest, oldest);
    assert_int_equal(range.newest, newest);
    assert_int_equal(range.origin, origin);
    assert_int_equal(lab->reader.finding.range.oldest, oldest);
}

TEST(schemas_set_the_release_of_the_engine)
{
    struct lab lab;

    lab_init(&lab, NULL);
    assert_false(release_reader_ready(&lab.reader));
    answer_all(&lab, POLICY_OF_1_15, BINDING_OF_1_15);
    assert_true(release_reader_ready(&lab.reader));
    check_release(&lab, RELEASE_1_15, RELEASE_1_16, RELEASE_OF_SERVER);
    assert_string_equal(lab.reader.failure.text, "");
    assert_int_equal(release_reader_due(&lab.reader), lab.context.now_ms + RELEASE_INTERVAL_MS);
    lab_release(&lab);
}

TEST(schemas_are_read_again_only_after_their_hash_has_changed)
{
    struct lab lab;

    lab_init(&lab, NULL);
    answer_all(&lab, POLICY_OF_1_15, BINDING_OF_1_15);
    for (unsigned i = 0; i < 3; i++)
        answer_next(&lab, INDEX_URL, 200, PATHS_OF("A", "B"));
    assert_int_equal(lab.transfer.requests, 6);

    answer_next(&lab, INDEX_URL, 200, PATHS_OF("C", "B"));
    answer_next(&lab, POLICY_URL "?hash=C", 200, POLICY_OF_1_17);
    /* Half an upgrade: the schemas of work.karmada.io have not changed yet. */
    check_release(&lab, RELEASE_1_15, RELEASE_1_17, RELEASE_OF_SERVER);
    assert_int_equal(lab.reader.finding.behind, RELEASE_SCHEMA_BINDING);
    answer_next(&lab, INDEX_URL, 200, PATHS_OF("C", "D"));
    answer_next(&lab, WORK_URL "?hash=D", 200, BINDING_OF_1_17);
    check_release(&lab, RELEASE_1_17, RELEASE_1_17, RELEASE_OF_SERVER);
    assert_int_equal(lab.reader.finding.behind, RELEASE_SCHEMA_COUNT);
    lab_release(&lab);
}

static struct failing_index {
    const char *name;
    unsigned status;
    const char *body, *failure;
} failing_indexes[] = {
    {"forbidden", 403, "{}", "/openapi/v3: HTTP status 403"},
    {"before Kubernetes 1.24", 404, "404 page not found", "/openapi/v3: HTTP status 404"},
    {"no response", 0, "", "/openapi/v3: broken"},
    {"not JSON", 200, "<html>", "/openapi/v3: not a list of schemas"},
    {"another document", 200, "{\"kind\":\"Status\"}", "/openapi/v3: not a list of schemas"},
    {"paths of a wrong type", 200, "{\"paths\":[1]}", "/openapi/v3: not a list of schemas"},
};

TEST_ROWS(without_an_index_the_newest_release_is_assumed, failing_indexes, name)
{
    const struct failing_index *row = *state;
    struct lab lab;

    lab_init(&lab, NULL);
    answer_next(&lab, INDEX_URL, row->status, row->body);
    check_release(&lab, RELEASE_NEWEST, RELEASE_NEWEST, RELEASE_ASSUMED);
    assert_true(release_reader_ready(&lab.reader));
    if (row->status != 0)
        assert_string_equal(lab.reader.failure.text, row->failure);
    else
        assert_string_not_equal(lab.reader.failure.text, "");
    /* It recovers. */
    answer_all(&lab, POLICY_OF_1_17, BINDING_OF_1_17);
    check_release(&lab, RELEASE_1_17, RELEASE_1_17, RELEASE_OF_SERVER);
    assert_string_equal(lab.reader.failure.text, "");
    lab_release(&lab);
}

TEST(a_failure_keeps_the_last_result)
{
    struct lab lab;

    lab_init(&lab, NULL);
    answer_all(&lab, POLICY_OF_1_15, BINDING_OF_1_15);
    for (unsigned i = 0; i < 8; i++)
        answer_next(&lab, INDEX_URL, i % 2 ? 500 : 403, "{}");
    check_release(&lab, RELEASE_1_15, RELEASE_1_16, RELEASE_OF_SERVER);
    lab_release(&lab);
}

TEST(one_group_that_cannot_be_read_leaves_the_other_as_evidence)
{
    struct lab lab;

    lab_init(&lab, NULL);
    answer_next(&lab, INDEX_URL, 200, PATHS_OF("A", "B"));
    answer_next(&lab, POLICY_URL "?hash=A", 403, "{}");
    answer_next(&lab, WORK_URL "?hash=B", 200, BINDING_OF_1_15);
    check_release(&lab, RELEASE_1_15, RELEASE_1_16, RELEASE_OF_SERVER);
    assert_string_equal(lab.reader.failure.text, "policy.karmada.io/v1alpha1: HTTP status 403");
    answer_next(&lab, INDEX_URL, 200, PATHS_OF("A", "B"));
    answer_next(&lab, POLICY_URL "?hash=A", 200, POLICY_OF_1_15);
    assert_string_equal(lab.reader.failure.text, "");
    lab_release(&lab);
}

TEST(a_server_without_the_groups_of_karmada_shows_nothing)
{
    struct lab lab;

    lab_init(&lab, NULL);
    answer_all(&lab, POLICY_OF_1_15, BINDING_OF_1_15);
    answer_next(&lab, INDEX_URL, 200, "{\"paths\":{\"api/v1\":{}}}");
    check_release(&lab, RELEASE_NEWEST, RELEASE_NEWEST, RELEASE_ASSUMED);
    lab_release(&lab);
}

TEST(the_url_of_schemas_must_have_their_path)
{
    struct lab lab;

    lab_init(&lab, NULL);
    answer_next(&lab, INDEX_URL, 200,
                "{\"paths\":{\"apis/policy.karmada.io/v1alpha1\":{\"serverRelativeURL\":"
                "\"//attacker.example/x\"}}}");
    answer_next(&lab, POLICY_URL, 200, POLICY_OF_1_17);
    check_release(&lab, RELEASE_1_17, RELEASE_1_17, RELEASE_OF_SERVER);
    lab_release(&lab);
}

TEST(a_request_without_progress_is_cancelled)
{
    struct lab lab;

    lab_init(&lab, NULL);
    release_reader_turn(&lab.reader);
    assert_non_null(lab.reader.transfer);
    lab.context.now_ms = release_reader_due(&lab.reader);
    release_reader_turn(&lab.reader);
    assert_null(lab.reader.transfer);
    assert_true(release_reader_ready(&lab.reader));
    assert_string_not_equal(lab.reader.failure.text, "");
    lab_release(&lab);
}

TEST(with_a_given_release_nothing_is_requested)
{
    struct lab lab;

    lab_init(&lab, "1.14");
    assert_true(release_reader_ready(&lab.reader));
    assert_true(release_reader_due(&lab.reader) == INT64_MAX);
    release_reader_turn(&lab.reader);
    assert_int_equal(lab.transfer.requests, 0);
    check_release(&lab, RELEASE_1_14, RELEASE_1_14, RELEASE_GIVEN);
    lab_release(&lab);
}
