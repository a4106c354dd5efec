/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/reflector_store.h"

#include "metrics/base/timestamp.h"
#include "metrics/model/policy.h"
#include "metrics/model/store.h"
#include "metrics/model/template.h"
#include "metrics/rules/problems/problems.h"
#include "tests/unit/reading.h"
#include "tests/unit/suite.h"
#include "tests/unit/world.h"

#define KARMADA_POLICY "policy.karmada.io/v1alpha1"

static void put_policy(struct reflector_store *s, const char *name, const char *changed)
{
    char text[512];
    struct error err;

    snprintf(
        text, sizeof(text),
        "{\"apiVersion\":\"" KARMADA_POLICY "\",\"kind\":\"PropagationPolicy\","
        "\"metadata\":{\"namespace\":\"a\",\"name\":\"%s\",\"managedFields\":[{\"manager\":\"m\","
        "\"time\":\"%s\",\"fieldsV1\":{\"f:spec\":{}}}]}}",
        name, changed);
    CLEANUP(json_cleanup) cJSON *object = json_parse(text, strlen(text), NULL, &err);

    assert_non_null(object);
    reflector_store_put(s, object);
}

static int64_t find_changed_ms(const struct world *w, const char *name)
{
    return entry_policy(world_find(w, KARMADA_POLICY, "PropagationPolicy", "a", name))->changed_ms;
}

/* An older time of managedFields lowers changed_ms only in a list after a restore. */
TEST(restore_resets_the_change_time_of_each_object)
{
    static const char *const names[] = {"x", "y", "z"};
    const struct log log = {.level = LOG_LEVEL_ERROR};
    struct world w;

    world_init(&w, &rules_options_default, 1);
    struct reflector_store s = {.store = w.store,
                                .log = &log,
                                .resource = "propagationpolicies",
                                .api_version = KARMADA_POLICY,
                                .origin = {.source = 1}};

    for (unsigned restored = 0; restored < 2; restored++) {
        reflector_store_begin_pass(&s, false);
        for (size_t i = 0; i < ARRAY_LEN(names); i++)
            put_policy(&s, names[i], "2026-01-02T00:00:00Z");
        reflector_store_end_pass(&s);
        reflector_store_begin_pass(&s, restored);
        for (size_t i = 0; i < ARRAY_LEN(names); i++)
            put_policy(&s, names[i], "2026-01-01T00:00:00Z");
        reflector_store_end_pass(&s);
        for (size_t i = 0; i < ARRAY_LEN(names); i++)
            assert_int_equal(find_changed_ms(&w, names[i]),
                             restored ? INT64_C(1767225600000) : INT64_C(1767312000000));
    }
    world_release(&w);
}

/*
 * No policy selects the kind, and no binding refers to the object. After store_pin() the store does
 * not keep the object; after store_request_read() it does.
 */
TEST(pinned_entry_is_not_read_without_a_request)
{
    static const char text[] = "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":"
                               "{\"namespace\":\"a\",\"name\":\"held\"}}";
    const struct identity id = {"v1", "ConfigMap", "a", "held"};
    const struct log log = {.level = LOG_LEVEL_ERROR};
    struct error err;
    struct world w;

    world_init(&w, &rules_options_default, 1);
    struct reflector_store s = {.store = w.store,
                                .log = &log,
                                .resource = "configmaps",
                                .api_version = "v1",
                                .bound_templates_only = true,
                                .origin = {.source = 1}};
    struct entry *entry = store_find_or_add(w.store, &id);

    store_pin(entry);
    for (unsigned wanted = 0; wanted < 2; wanted++) {
        CLEANUP(json_cleanup) cJSON *object = json_parse(text, strlen(text), NULL, &err);

        assert_non_null(object);
        if (wanted)
            store_request_read(entry);
        reflector_store_put(&s, object);
        assert_int_equal(entry_exists(entry), wanted);
    }
    world_release(&w);
}

/* The owner comes from an annotation or a label; the label wins. */
TEST(owner_of_a_template_follows_its_metadata)
{
    static const struct {
        const char *metadata, *owner;
    } written[] = {
        {"\"annotations\":{\"team\":\"red\"}", "red"},
        {"\"annotations\":{\"team\":\"green\"}", "green"},
        {"\"annotations\":{\"team\":\"green\"},\"labels\":{\"team\":\"blue\"}", "blue"},
        {"\"annotations\":{\"other\":\"x\"}", NULL},
    };
    const struct log log = {.level = LOG_LEVEL_ERROR};
    struct error err;
    struct world w;

    world_init(&w, &rules_options_default, 1);
    store_set_owner_key(w.store, "team");
    struct reflector_store s = {.store = w.store,
                                .log = &log,
                                .resource = "configmaps",
                                .api_version = "v1",
                                .origin = {.source = 1}};

    for (size_t i = 0; i < ARRAY_LEN(written); i++) {
        char text[256];

        snprintf(text, sizeof(text),
                 "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":"
                 "{\"namespace\":\"a\",\"name\":\"x\",%s}}",
                 written[i].metadata);
        CLEANUP(json_cleanup) cJSON *object = json_parse(text, strlen(text), NULL, &err);
        const char *owner;

        assert_non_null(object);
        reflector_store_put(&s, object);
        owner = template_owner(entry_template(world_find(&w, "v1", "ConfigMap", "a", "x")));
        assert_text(owner, written[i].owner);
    }
    world_release(&w);
}

/* ---- rejected objects ---- */

static const struct log quiet = {.level = LOG_LEVEL_ERROR};

static struct reflector_store make_policy_store(const struct world *w)
{
    return (struct reflector_store){.store = w->store,
                                    .log = &quiet,
                                    .resource = "propagationpolicies",
                                    .api_version = KARMADA_POLICY,
                                    .kind = "PropagationPolicy",
                                    .origin = {.source = 1}};
}

/* Returns a policy in namespace "a"; without `valid`, a value has a wrong type. */
static cJSON *policy_json(const char *name, bool valid)
{
    char text[256];
    struct error err;

    snprintf(text, sizeof(text),
             "{\"apiVersion\":\"" KARMADA_POLICY "\",\"kind\":\"PropagationPolicy\",\"metadata\":"
             "{\"namespace\":\"a\",\"name\":\"%s\",\"uid\":\"u\"},\"spec\":{\"priority\":%s}}",
             name, valid ? "1" : "\"high\"");
    return json_parse(text, strlen(text), NULL, &err);
}

static void put_named(struct reflector_store *s, const char *name, bool valid)
{
    CLEANUP(json_cleanup) cJSON *object = policy_json(name, valid);

    reflector_store_put(s, object);
}

TEST(a_rejected_object_counts_until_it_is_valid_deleted_or_not_listed)
{
    struct world w;

    world_init(&w, &rules_options_default, 1);
    struct reflector_store s = make_policy_store(&w);
    CLEANUP(json_cleanup) cJSON *deleted = policy_json("y", false);

    reflector_store_begin_pass(&s, false);
    put_named(&s, "x", true);
    reflector_store_end_pass(&s);
    assert_false(reflector_store_has_rejected(&s));
    /* A valid version ends the rejection of this object only. */
    put_named(&s, "x", false);
    put_named(&s, "x", false);
    put_named(&s, "y", false);
    assert_true(reflector_store_has_rejected(&s));
    put_named(&s, "x", true);
    assert_true(reflector_store_has_rejected(&s));
    reflector_store_remove(&s, deleted);
    assert_false(reflector_store_has_rejected(&s));
    /* A list without the object ends it at the end of the pass, not before. */
    put_named(&s, "z", false);
    reflector_store_begin_pass(&s, false);
    assert_true(reflector_store_has_rejected(&s));
    put_named(&s, "x", true);
    reflector_store_end_pass(&s);
    assert_false(reflector_store_has_rejected(&s));
    /* A list with the rejected object does not. */
    put_named(&s, "z", false);
    reflector_store_begin_pass(&s, false);
    put_named(&s, "z", false);
    reflector_store_end_pass(&s);
    assert_true(reflector_store_has_rejected(&s));
    reflector_store_clear(&s);
    assert_false(reflector_store_has_rejected(&s));
    assert_int_equal(s.rejected, 6);
    reflector_store_release(&s);
    world_release(&w);
}

TEST(a_rejected_object_of_unknown_name_counts_until_a_complete_pass_without_one)
{
    struct world w;

    world_init(&w, &rules_options_default, 1);
    struct reflector_store s = make_policy_store(&w);

    reflector_store_begin_pass(&s, false);
    reflector_store_reject(&s, NULL, "not an object");
    reflector_store_end_pass(&s);
    assert_true(reflector_store_has_rejected(&s));
    reflector_store_begin_pass(&s, false);
    reflector_store_reject(&s, NULL, "not valid JSON");
    reflector_store_note_unnamed(&s);
    reflector_store_end_pass(&s);
    assert_true(reflector_store_has_rejected(&s));
    reflector_store_begin_pass(&s, false);
    assert_true(reflector_store_has_rejected(&s));
    reflector_store_end_pass(&s);
    assert_false(reflector_store_has_rejected(&s));
    reflector_store_release(&s);
    world_release(&w);
}

TEST(rejected_objects_that_the_reflector_does_not_keep_do_not_count)
{
    const char *const other_names[] = {"b"};
    struct namespace_filter others = {.namespaces = other_names, .namespace_count = 1};
    struct world w;

    world_init(&w, &rules_options_default, 1);
    struct reflector_store s = make_policy_store(&w);
    CLEANUP(json_cleanup) cJSON *object = policy_json("x", false);

    s.filter = &others;
    reflector_store_reject(&s, object, "too large");
    assert_false(reflector_store_has_rejected(&s));
    s.filter = NULL;
    /* No binding and no template refers to it. */
    s.bound_templates_only = true;
    reflector_store_reject(&s, object, "too large");
    assert_false(reflector_store_has_rejected(&s));
    s.bound_templates_only = false;
    assert_true(reflector_store_has_rejected(&s));
    reflector_store_release(&s);
    world_release(&w);
}

/* A flood of rejected objects needs limited memory, and none of them is lost silently. */
TEST(rejected_objects_beyond_the_limit_count_as_objects_of_unknown_name)
{
    enum { MANY = 12000 };
    struct world w;
    char name[32];

    world_init(&w, &rules_options_default, 1);
    struct reflector_store s = make_policy_store(&w);

    reflector_store_begin_pass(&s, false);
    for (unsigned i = 0; i < MANY; i++) {
        snprintf(name, sizeof(name), "p%u", i);
        put_named(&s, name, false);
    }
    assert_int_equal(s.rejected, MANY);
    assert_true(s.rejected_now.count < MANY);
    for (unsigned i = 0; i < MANY; i++) {
        snprintf(name, sizeof(name), "p%u", i);
        put_named(&s, name, true);
    }
    assert_int_equal(s.rejected_now.count, 0);
    assert_true(reflector_store_has_rejected(&s));
    reflector_store_begin_pass(&s, false);
    reflector_store_end_pass(&s);
    assert_false(reflector_store_has_rejected(&s));
    reflector_store_release(&s);
    world_release(&w);
}

/* No binding and no template refers to the objects. */
TEST(rejected_objects_beyond_the_limit_do_not_count_unless_the_reflector_keeps_them)
{
    enum { MANY = 12000 };
    const struct identity id = {KARMADA_POLICY, "PropagationPolicy", "a", "wanted"};
    CLEANUP(json_cleanup) cJSON *wanted = policy_json("wanted", false);
    struct world w;
    char name[32];

    world_init(&w, &rules_options_default, 1);
    struct reflector_store s = make_policy_store(&w);

    s.bound_templates_only = true;
    reflector_store_begin_pass(&s, false);
    for (unsigned i = 0; i < MANY; i++) {
        snprintf(name, sizeof(name), "p%u", i);
        CLEANUP(json_cleanup) cJSON *object = policy_json(name, false);

        reflector_store_reject(&s, object, "too large");
    }
    assert_false(reflector_store_has_rejected(&s));
    store_request_read(store_find_or_add(w.store, &id));
    reflector_store_reject(&s, wanted, "too large");
    assert_true(reflector_store_has_rejected(&s));
    reflector_store_release(&s);
    world_release(&w);
}

/* ---- shards ---- */

/* Kubernetes stores Events about cluster-scoped objects in the namespace "default". */
TEST(events_belong_to_the_shard_of_the_object_that_they_are_about)
{
    static const struct {
        const char *ns;
        const char *subject; /* Namespace of the object. */
        uint32_t shard;      /* Of two: the shard of the object. */
    } events[] = {{"default", "", 0}, {"default", "default", 1}, {"shop", "shop", 0}};

    for (size_t i = 0; i < ARRAY_LEN(events); i++) {
        for (uint32_t shard = 0; shard < 2; shard++) {
            struct namespace_filter filter = {.shard = shard, .total_shards = 2};
            struct world w;
            char text[512];

            world_init(&w, &rules_options_default, 1);
            struct reflector_store s = make_policy_store(&w);

            s.filter = &filter;
            s.by_subject = true;
            snprintf(
                text, sizeof(text),
                "{\"apiVersion\":\"v1\",\"kind\":\"Event\",\"metadata\":{\"namespace\":\"%s\","
                "\"name\":\"e\"},\"reason\":\"ApplyPolicyFailed\",\"involvedObject\":{\"kind\":"
                "\"Secret\",\"apiVersion\":\"v1\",\"name\":\"x\",\"namespace\":\"%s\"}}",
                events[i].ns, events[i].subject);
            CLEANUP(json_cleanup) cJSON *object = cJSON_Parse(text);

            reflector_store_put(&s, object);
            assert_int_equal(store_object_count(w.store, CLASS_EVENT), shard == events[i].shard);
            reflector_store_release(&s);
            world_release(&w);
        }
    }
}

enum { MINUTE_MS = 60 * 1000, SHARDS = 7, NAMESPACES = 42, TEXT_MAX = 1024 };

/* One of several exporters that share the namespaces of a control plane, in virtual time. */
struct shard {
    struct world world;
    struct namespace_filter filter;
    struct reflector_store objects;
    const int64_t *now_ms;
};

struct shards {
    struct log log;
    struct shard items[SHARDS];
    int64_t now_ms;
};

static void on_skipped(void *context, const cJSON *object)
{
    const struct shard *shard = context;

    engine_note_other_binding(shard->world.engine, object, *shard->now_ms);
}

/* Names of namespaces are such numbers: similar names would be in few shards. */
#define FIRST_NAMESPACE "9e3779b1"
static unsigned namespace_number(unsigned i)
{
    return (i + 1) * 2654435761U;
}

/* Each shard reads the object. */
static void put_in_shards(struct shards *shards, const char *text, bool binding)
{
    for (unsigned i = 0; i < SHARDS; i++) {
        struct shard *shard = &shards->items[i];
        struct error err;
        CLEANUP(json_cleanup) cJSON *object = json_parse(text, strlen(text), NULL, &err);

        assert_non_null(object);
        shard->objects.skipped = (struct skipped_observer){binding ? on_skipped : NULL, shard};
        reflector_store_put(&shard->objects, object);
    }
}

/* Puts the binding x of a namespace, which Karmada wrote and scheduled at these times. */
static void put_binding(struct shards *shards, const char *ns, int64_t written_ms,
                        int64_t scheduled_ms)
{
    char text[TEXT_MAX], written[32], scheduled[32], now[32];

    format_timestamp(written_ms, written);
    format_timestamp(scheduled_ms, scheduled);
    format_timestamp(shards->now_ms, now);
    snprintf(text, sizeof(text),
             "{\"apiVersion\":\"work.karmada.io/v1alpha2\",\"kind\":\"ResourceBinding\","
             "\"metadata\":{\"namespace\":\"%s\",\"name\":\"x-secret\",\"managedFields\":[{"
             "\"manager\":\"karmada-controller-manager\",\"time\":\"%s\",\"fieldsV1\":{"
             "\"f:spec\":{\"f:resource\":{}}}},{\"manager\":\"m\",\"time\":\"%s\","
             "\"subresource\":\"status\",\"fieldsV1\":{\"f:status\":{}}}]},\"spec\":{"
             "\"resource\":{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"namespace\":\"%s\","
             "\"name\":\"x\",\"uid\":\"s\",\"resourceVersion\":\"%" PRId64
             "\"},\"placement\":{}},\"status\":{"
             "\"lastScheduledTime\":\"%s\",\"conditions\":[{\"type\":\"Scheduled\","
             "\"status\":\"True\",\"reason\":\"Success\"}]}}",
             ns, written, now, ns, written_ms, scheduled);
    put_in_shards(shards, text, true);
}

static void pass_in_shards(struct shards *shards, int64_t ms)
{
    for (int64_t end_ms = shards->now_ms + ms; shards->now_ms < end_ms;) {
        shards->now_ms += MINUTE_MS / 2;
        for (unsigned i = 0; i < SHARDS; i++)
            world_run(&shards->items[i].world, shards->now_ms);
    }
}

/* 42 namespaces in 7 shards; each shard keeps some of them, and none keeps all. */
static void shards_init(struct shards *shards)
{
    struct problem_options options = {.history_limit = 0};

    *shards = (struct shards){.log = {.level = LOG_LEVEL_ERROR}, .now_ms = INT64_C(1767225600000)};
    problem_settings_reset(&options.settings);
    for (unsigned i = 0; i < SHARDS; i++) {
        struct shard *shard = &shards->items[i];

        world_init(&shard->world, &rules_options_default, 1);
        shard->filter = (struct namespace_filter){.shard = i, .total_shards = SHARDS};
        shard->now_ms = &shards->now_ms;
        shard->objects = (struct reflector_store){.store = shard->world.store,
                                                  .log = &shards->log,
                                                  .filter = &shard->filter,
                                                  .resource = "objects",
                                                  .api_version = "v1",
                                                  .origin = {.source = 1}};
    }
    /* Read at the start: no progress. */
    put_binding(shards, FIRST_NAMESPACE, shards->now_ms - MINUTE_MS, shards->now_ms - MINUTE_MS);
    for (unsigned i = 0; i < SHARDS; i++) {
        world_run(&shards->items[i].world, shards->now_ms);
        engine_judge_problems(shards->items[i].world.engine, &options);
    }
    pass_in_shards(shards, 30 * MINUTE_MS);
}

static void shards_release(struct shards *shards)
{
    for (unsigned i = 0; i < SHARDS; i++)
        world_release(&shards->items[i].world);
}

/* A new template in each namespace, for which Karmada makes no binding. */
static void put_templates(struct shards *shards)
{
    char text[TEXT_MAX], created[32];

    format_timestamp(shards->now_ms, created);
    for (unsigned i = 0; i < NAMESPACES; i++) {
        snprintf(text, sizeof(text),
                 "{\"apiVersion\":\"" KARMADA_POLICY "\",\"kind\":\"PropagationPolicy\","
                 "\"metadata\":{\"namespace\":\"%x\",\"name\":\"p\"},\"spec\":{"
                 "\"resourceSelectors\":[{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\"}],"
                 "\"placement\":{}}}",
                 namespace_number(i));
        put_in_shards(shards, text, false);
        snprintf(text, sizeof(text),
                 "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"namespace\":"
                 "\"%x\",\"name\":\"x\",\"uid\":\"u%u\",\"creationTimestamp\":\"%s\"}}",
                 namespace_number(i), i, created);
        put_in_shards(shards, text, false);
    }
}

/* Returns how many shards have the open problem `no_progress` of the controllers. */
static unsigned count_open(const struct shards *shards)
{
    enum problem_reason first = problem_first_reason(PROBLEM_CONTROLLERS_STUCK);
    unsigned count = 0;

    for (unsigned i = 0; i < SHARDS; i++) {
        const struct problem *p = problems_find_open(engine_problems(shards->items[i].world.engine),
                                                     NULL, CONTROLLER_COMPONENT, first);

        count += p && p->reason == PROBLEM_REASON_CONTROLLERS_STUCK_NO_PROGRESS;
    }
    return count;
}

TEST(work_that_stands_still_in_all_shards_opens_in_each)
{
    struct shards shards;

    shards_init(&shards);
    put_templates(&shards);
    pass_in_shards(&shards, 12 * MINUTE_MS);
    assert_int_equal(count_open(&shards), 0);
    pass_in_shards(&shards, 2 * MINUTE_MS);
    assert_int_equal(count_open(&shards), SHARDS);
    shards_release(&shards);
}

TEST(work_that_goes_on_in_one_shard_opens_in_none)
{
    struct shards shards;

    shards_init(&shards);
    put_templates(&shards);
    for (unsigned i = 0; i < 12; i++) {
        pass_in_shards(&shards, 5 * MINUTE_MS);
        put_binding(&shards, FIRST_NAMESPACE, shards.now_ms, shards.now_ms);
        assert_int_equal(count_open(&shards), 0);
    }
    /* Karmada stops. The shard of FIRST_NAMESPACE passed its templates over, as a single exporter
     * would. */
    pass_in_shards(&shards, 14 * MINUTE_MS);
    assert_int_equal(count_open(&shards), SHARDS - 1);
    shards_release(&shards);
}

/* The status changes, and the scheduler works: no write by the controllers. */
TEST(other_writes_of_bindings_of_other_shards_are_no_progress)
{
    struct shards shards;
    int64_t written_ms;

    shards_init(&shards);
    put_templates(&shards);
    written_ms = shards.now_ms - 31 * MINUTE_MS;
    for (unsigned i = 0; i < 14; i++) {
        pass_in_shards(&shards, MINUTE_MS);
        put_binding(&shards, FIRST_NAMESPACE, written_ms, shards.now_ms);
    }
    assert_int_equal(count_open(&shards), SHARDS);
    shards_release(&shards);
}
