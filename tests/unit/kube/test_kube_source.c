/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/kube_source.h"

#include "exporter/kube/reflector_store.h"
#include "metrics/model/binding.h"
#include "metrics/model/policy.h"
#include "metrics/model/store.h"
#include "metrics/model/template.h"
#include "metrics/model/work.h"
#include "metrics/rules/problems/control_plane_work.h"
#include "metrics/rules/rule.h"
#include "tests/unit/follow.h"
#include "tests/unit/suite.h"

enum {
    SEEDS = 200,
    STEPS = 120,
    /* Enough to detect a stream that brings no events, and then a restored server. */
    CALM_MS = 60 * 60 * 1000,
};

/* ---- actual and expected contents of the store ---- */

static void append_description(const struct entry *entry, struct strbuf *out)
{
    strbuf_addf(out, "%s %s/%s", entry_kind(entry), entry_ns(entry), entry->name);
    if (entry_class(entry) == CLASS_TEMPLATE) {
        struct labels labels = template_labels(entry_template(entry));

        strbuf_addf(out, " %s", labels.count > 0 ? labels_at(&labels, 0).value : "?");
    } else if (entry_class(entry) == CLASS_POLICY) {
        strbuf_addf(out, " %d", entry_policy(entry)->priority);
    } else if (entry_class(entry) == CLASS_BINDING) {
        strbuf_addf(out, " %d", entry_binding(entry)->replicas);
    } else if (entry_class(entry) == CLASS_WORK) {
        strbuf_addf(out, " of %s", entry_work(entry)->binding_ns);
    }
}

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Returns sorted lines, one for each object of the store. The caller frees the text. */
static char *describe_store(const struct store *store)
{
    char *lines[FAKE_OBJECTS_MAX];
    size_t count = 0, len;
    struct strbuf out = STRBUF_INIT(1 << 20);

    for (const struct type *type = store_first_type(store); type; type = type->next) {
        for (const struct partition *partition = type->partitions; partition;
             partition = partition->next_of_type) {
            for (size_t i = 0; i < partition->count; i++) {
                struct strbuf line = STRBUF_INIT(1 << 12);

                if (!entry_exists(partition_entry(partition, i)))
                    continue;
                append_description(partition_entry(partition, i), &line);
                assert_true(count < ARRAY_LEN(lines));
                lines[count++] = strbuf_take(&line, &len);
            }
        }
    }
    qsort(lines, count, sizeof(*lines), compare_lines);
    for (size_t i = 0; i < count; i++) {
        strbuf_addf(&out, "%s\n", lines[i]);
        free(lines[i]);
    }
    return strbuf_take(&out, &len);
}

/* Returns true if the namespace filter does not exclude the object. */
static bool is_in_scope(const struct fake_object *o, const struct namespace_filter *filter)
{
    const char *ns = o->kind == FAKE_WORK ? fake_work_ns(o->value) : o->ns;
    bool unfiltered = o->kind == FAKE_CLUSTER_POLICY || o->kind == FAKE_CLUSTER_OVERRIDE ||
                      o->kind == FAKE_CLUSTER;

    return unfiltered || (ns && namespace_filter_allows(filter, ns));
}

static bool has_override(const struct fake_api *api, const struct namespace_filter *filter)
{
    bool has = false;

    for (size_t i = 0; i < api->count; i++)
        has = has || (is_in_scope(&api->objects[i], filter) &&
                      (api->objects[i].kind == FAKE_OVERRIDE ||
                       api->objects[i].kind == FAKE_CLUSTER_OVERRIDE));
    return has;
}

/*
 * Returns true if the store must have the object, which is in scope. A template must be in the
 * store if a policy selects its kind or a binding refers to it, a Work of a binding if Works are
 * wanted, and an Event of a failed override if also an override policy exists.
 */
static bool must_be_stored(const struct fake_api *api, const struct namespace_filter *filter,
                           const struct fake_object *object)
{
    if (object->kind == FAKE_WORK)
        return api->works_wanted && fake_work_ns(object->value);
    if (object->kind == FAKE_EVENT && strstr(fake_event_reason(object->name), "Override"))
        return api->works_wanted && has_override(api, filter);
    if (!fake_kinds[object->kind].template)
        return true;
    for (size_t i = 0; i < api->count; i++) {
        const struct fake_object *o = &api->objects[i];

        if ((o->kind == FAKE_POLICY || o->kind == FAKE_CLUSTER_POLICY) &&
            fake_selects(o->value, object->kind))
            return true;
        if (o->kind == FAKE_BINDING && strcmp(o->name, object->name) == 0 &&
            strcmp(o->ns, object->ns) == 0 && fake_bound_kind(o->name) == object->kind)
            return true;
    }
    return false;
}

/* Returns the answers of the discovery about Foo, if it is served. */
static enum api_version_answer find_api_version(const void *context, const char *api_version,
                                                const char *kind)
{
    const struct fake_api *api = context;

    if (strcmp(kind, "Foo") != 0 || !api->served[FAKE_FOO])
        return API_VERSION_UNKNOWN;
    return strcmp(api_version, FAKE_OLD_VERSION) == 0 ? API_VERSION_UNWATCHED : API_VERSION_WATCHED;
}

/* Puts an object of the server into the world as the source must do. */
static void put_expected(const struct fake_api *api, const struct namespace_filter *filter,
                         const struct fake_object *object, struct world *out)
{
    CLEANUP(strbuf_release) struct strbuf json = STRBUF_INIT(1 << 16);
    bool in_scope = is_in_scope(object, filter);

    fake_write(object, false, &json);
    CLEANUP(json_cleanup) cJSON *parsed = cJSON_Parse(json.data);

    if (in_scope && must_be_stored(api, filter, object))
        world_put_text(out, json.data);
    else if (!in_scope && object->kind == FAKE_POLICY)
        engine_put_other_policy(out->engine, parsed, (struct origin){0});
}

/* Initializes a world with all objects of the server that the store must have. */
static void init_expected_world(const struct fake_api *api, const struct namespace_filter *filter,
                                struct world *out)
{
    world_init(out, &rules_options_default, 99);
    engine_set_api_version_source(
        out->engine, (struct api_version_source){.judge = find_api_version, .context = api});
    engine_follow_works(out->engine, api->works_wanted);
    for (size_t i = 0; i < api->count; i++)
        put_expected(api, filter, &api->objects[i], out);
}

static void assert_same_text(const char *actual, const char *expected, uint32_t seed)
{
    if (strcmp(actual, expected) != 0)
        fail_msg("seed %u:\n--- is\n%s--- should be\n%s", seed, actual, expected);
}

static void assert_equals_server(struct follow_lab *lab, uint32_t seed)
{
    struct world expected_world;
    struct strbuf dump = STRBUF_INIT(1 << 22), expected_dump = STRBUF_INIT(1 << 22);

    init_expected_world(&lab->api, &lab->filter, &expected_world);

    CLEANUP(free_cleanup) char *actual = describe_store(lab->world.store);
    CLEANUP(free_cleanup) char *expected = describe_store(expected_world.store);

    assert_same_text(actual, expected, seed);
    world_run(&lab->world, FOLLOW_CLOCK_OFFSET_MS);
    world_inherit(&expected_world, &lab->world);
    world_run(&expected_world, FOLLOW_CLOCK_OFFSET_MS);
    world_dump(&lab->world, &dump);
    world_dump(&expected_world, &expected_dump);
    assert_same_text(dump.data, expected_dump.data, seed);
    strbuf_release(&dump);
    strbuf_release(&expected_dump);
    world_release(&expected_world);
}

/* ---- random histories ---- */

/* Returns true for policies if few_policies is set: then bindings cause most watches. */
static bool is_rare_policy(const struct fake_api *api, enum fake_kind kind)
{
    return api->few_policies && (kind == FAKE_POLICY || kind == FAKE_CLUSTER_POLICY);
}

static void remove_rare_policies(struct fake_api *api)
{
    for (size_t i = api->count; i-- > 0;) {
        if (is_rare_policy(api, api->objects[i].kind))
            fake_remove(api, i);
    }
}

static void write_random_object(struct fake_api *api)
{
    /* Of two shards, the first one has only "shop". */
    static const char *const namespaces[] = {"a", "b", "shop"};
    static const char *const names[] = {"x", "y", "z", "u", "v", "w"};
    enum fake_kind kind = (enum fake_kind)fake_random(api, FAKE_KIND_COUNT);
    const char *ns = fake_kinds[kind].namespaced ? namespaces[fake_random(api, 3)] : "";

    if (is_rare_policy(api, kind) && fake_random(api, 3) > 0)
        remove_rare_policies(api);
    else if (api->count > 0 && fake_random(api, 4) == 0)
        fake_remove(api, fake_random(api, (uint32_t)api->count));
    else if (api->served[kind])
        fake_put(api, kind, ns, names[fake_random(api, ARRAY_LEN(names))], fake_random(api, 50));
}

/* Writes an object in one of 20 calls, so that objects also change between two turns. */
static void write_sometimes(struct fake_api *api)
{
    if (fake_random(api, 20) == 0)
        write_random_object(api);
}

static void run_random_step(struct follow_lab *lab)
{
    struct fake_api *api = &lab->api;

    switch (fake_random(api, 20)) {
    case 0:
        fake_compact(api);
        break;
    case 1:
        fake_cut_all(api);
        break;
    case 2:
        fake_serve(api, FAKE_FOO, fake_random(api, 2));
        break;
    case 3:
        follow_pass(lab, fake_random(api, 400 * 1000));
        break;
    case 4:
    case 5:
        follow_pass(lab, fake_random(api, 5000));
        break;
    default:
        write_random_object(api);
        break;
    }
    follow_settle(lab);
}

static void copy_request_counts(const struct fake_api *api, uint64_t *out)
{
    memcpy(out, api->requests, sizeof(api->requests));
}

/* Returns the maximum number of watches of a kind: Events have one for each reason. */
static unsigned watches_of(int kind)
{
    return kind == FAKE_EVENT ? 3 : 1;
}

/* Fails if the source sent more requests for a kind than its waits allow. */
static void assert_request_rate(const struct follow_lab *lab, uint32_t seed)
{
    int64_t seconds = (lab->api.now_ms - FOLLOW_START_MS) / 1000;
    uint64_t requests[FAKE_KIND_COUNT];

    copy_request_counts(&lab->api, requests);
    for (int i = 0; i < FAKE_KIND_COUNT; i++) {
        /* After a list, its retry and a stream, at least 0.8 s pass. */
        if (requests[i] > (uint64_t)(20 + 4 * seconds) * watches_of(i))
            fail_msg("seed %u: %" PRIu64 " requests for %s in %" PRId64 " s", seed, requests[i],
                     fake_kinds[i].resource, seconds);
    }
}

static void run_random_history(uint32_t seed, unsigned fault_percent)
{
    struct follow_lab lab;

    follow_init(&lab, seed);
    lab.api.streaming_lists = fake_random(&lab.api, 2);
    lab.api.paginates = fake_random(&lab.api, 2);
    lab.api.bookmarks = fake_random(&lab.api, 3) > 0;
    lab.api.legacy_discovery = fake_random(&lab.api, 3) == 0;
    lab.api.fault_percent = fault_percent;
    lab.api.few_policies = seed % 3 > 0;
    lab.api.works_wanted = seed % 4 > 1;
    if (seed % 3 == 2)
        lab.filter = (struct namespace_filter){.shard = seed % 2, .total_shards = 2};
    lab.api.shards = (enum fake_shards)(seed % (FAKE_SHARDS_INVALID + 1));
    for (unsigned i = 0; i < 30; i++)
        write_random_object(&lab.api);
    follow_start(&lab);
    lab.disturb = seed % 2 ? write_sometimes : NULL;
    for (unsigned i = 0; i < STEPS; i++)
        run_random_step(&lab);
    lab.disturb = NULL;
    assert_request_rate(&lab, seed);
    lab.api.fault_percent = 0;
    follow_pass(&lab, CALM_MS);
    assert_true(kube_source_ready(lab.source));
    assert_equals_server(&lab, seed);

    /* Without changes, the source only renews streams after their timeout, and runs discovery. */
    uint64_t before[FAKE_KIND_COUNT], after[FAKE_KIND_COUNT];
    copy_request_counts(&lab.api, before);
    follow_pass(&lab, CALM_MS);
    copy_request_counts(&lab.api, after);
    for (int i = 0; i < FAKE_KIND_COUNT; i++) {
        if (after[i] - before[i] > 25 * watches_of(i))
            fail_msg("seed %u: %" PRIu64 " requests for %s in a quiet hour", seed,
                     after[i] - before[i], fake_kinds[i].resource);
    }
    assert_equals_server(&lab, seed);
    follow_release(&lab);
}

TEST(store_equals_the_server_after_random_faults)
{
    static const unsigned percents[] = {0, 5, 30, 70};

    for (uint32_t seed = 1; seed <= SEEDS; seed++)
        run_random_history(seed, percents[seed % ARRAY_LEN(percents)]);
}

/* ---- single behaviours ---- */

static const struct reflector *find_reflector(const struct follow_lab *lab, const char *resource)
{
    for (size_t i = 0; i < kube_source_reflector_count(lab->source); i++) {
        const struct reflector *f = kube_source_reflector(lab->source, i);

        if (strcmp(f->resource, resource) == 0)
            return f;
    }
    return NULL;
}

/* Values of policies, by the kind that they select. The server never serves Unheard. */
enum {
    SELECTS_CONFIG_MAPS = 0,
    SELECTS_DEPLOYMENTS = 1,
    SELECTS_FOOS = 2,
    SELECTS_UNHEARD = 4,
    SELECTS_OLD_FOOS = 5
};

TEST(kind_is_watched_from_the_first_selector_to_the_last)
{
    struct follow_lab lab;

    follow_init(&lab, 1);
    fake_put(&lab.api, FAKE_DEPLOYMENT, "a", "x", 1);
    follow_start(&lab);
    follow_settle(&lab);
    assert_null(find_reflector(&lab, "deployments"));

    fake_put(&lab.api, FAKE_POLICY, "a", "p", SELECTS_DEPLOYMENTS);
    fake_put(&lab.api, FAKE_CLUSTER_POLICY, "", "q", SELECTS_DEPLOYMENTS + 6);
    follow_settle(&lab);
    assert_non_null(find_reflector(&lab, "deployments"));
    assert_null(find_reflector(&lab, "configmaps"));
    assert_equals_server(&lab, 1);

    fake_remove(&lab.api, 1);
    follow_settle(&lab);
    assert_non_null(find_reflector(&lab, "deployments"));
    unsigned streams = lab.api.open_streams;
    fake_put(&lab.api, FAKE_CLUSTER_POLICY, "", "q", SELECTS_CONFIG_MAPS);
    follow_settle(&lab);
    assert_null(find_reflector(&lab, "deployments"));
    assert_int_equal(lab.api.open_streams, streams);
    assert_equals_server(&lab, 1);
    follow_release(&lab);
}

/* Bindings named "x" and "u" refer to ConfigMaps. */
TEST(kind_is_watched_while_a_binding_refers_to_it)
{
    struct follow_lab lab;

    follow_init(&lab, 1);
    fake_put(&lab.api, FAKE_CONFIG_MAP, "a", "x", 1);
    fake_put(&lab.api, FAKE_CONFIG_MAP, "a", "other", 1);
    fake_put(&lab.api, FAKE_POLICY, "a", "p", SELECTS_CONFIG_MAPS);
    fake_put(&lab.api, FAKE_BINDING, "a", "x", 1);
    follow_start(&lab);
    follow_settle(&lab);
    assert_int_equal(store_object_count(lab.world.store, CLASS_TEMPLATE), 2);

    /* Without a policy, only the ConfigMap with a binding stays in the store. */
    uint64_t requests = lab.api.requests[FAKE_CONFIG_MAP];
    follow_remove(&lab, FAKE_POLICY, "p");
    follow_settle(&lab);
    assert_non_null(find_reflector(&lab, "configmaps"));
    assert_int_equal(store_object_count(lab.world.store, CLASS_TEMPLATE), 1);
    assert_equals_server(&lab, 1);
    assert_int_equal(lab.api.requests[FAKE_CONFIG_MAP], requests);

    /* With a policy again, the source lists all ConfigMaps. */
    fake_put(&lab.api, FAKE_POLICY, "a", "p", SELECTS_CONFIG_MAPS);
    follow_settle(&lab);
    assert_int_equal(store_object_count(lab.world.store, CLASS_TEMPLATE), 2);
    assert_equals_server(&lab, 1);

    follow_remove(&lab, FAKE_POLICY, "p");
    follow_settle(&lab);
    unsigned streams = lab.api.open_streams;
    follow_remove(&lab, FAKE_BINDING, "x");
    follow_settle(&lab);
    assert_null(find_reflector(&lab, "configmaps"));
    assert_equals_server(&lab, 1);
    fake_turn(&lab.api);
    assert_int_equal(lab.api.open_streams, streams - 1);
    follow_release(&lab);
}

TEST(new_binding_causes_one_read_of_its_template)
{
    struct follow_lab lab;

    follow_init(&lab, 2);
    fake_put(&lab.api, FAKE_CONFIG_MAP, "a", "x", 1);
    fake_put(&lab.api, FAKE_CONFIG_MAP, "a", "u", 1);
    fake_put(&lab.api, FAKE_BINDING, "a", "x", 1);
    follow_start(&lab);
    follow_settle(&lab);
    assert_int_equal(store_object_count(lab.world.store, CLASS_TEMPLATE), 1);

    uint64_t requests = lab.api.requests[FAKE_CONFIG_MAP];
    fake_put(&lab.api, FAKE_BINDING, "a", "u", 1);
    follow_settle(&lab);
    assert_int_equal(store_object_count(lab.world.store, CLASS_TEMPLATE), 2);
    assert_int_equal(lab.api.requests[FAKE_CONFIG_MAP], requests);
    assert_int_equal(lab.api.fetches, 1);
    follow_remove(&lab, FAKE_BINDING, "u");
    follow_settle(&lab);
    assert_equals_server(&lab, 2);
    follow_release(&lab);
}

/* A new policy with many dependencies must not cause one request for each of them. */
TEST(many_new_bindings_cause_few_requests_for_templates)
{
    struct follow_lab lab;
    char name[16];

    follow_init(&lab, 3);
    fake_put(&lab.api, FAKE_BINDING, "a", "x", 1);
    for (unsigned i = 0; i < 90; i++) {
        snprintf(name, sizeof(name), "x%u", i);
        fake_put(&lab.api, FAKE_CONFIG_MAP, "a", name, 1);
    }
    follow_start(&lab);
    follow_settle(&lab);
    lab.api.slow_fetches = true;
    for (unsigned i = 0; i < 90; i++) {
        snprintf(name, sizeof(name), "x%u", i);
        fake_put(&lab.api, FAKE_BINDING, "a", name, 1);
    }
    follow_settle(&lab);
    assert_int_equal(store_object_count(lab.world.store, CLASS_TEMPLATE), 90);
    assert_in_range(lab.api.fetches, 1, 8);
    assert_in_range(lab.api.requests[FAKE_CONFIG_MAP], 3, 8);
    assert_equals_server(&lab, 3);
    follow_release(&lab);
}

/* The ConfigMap is deleted or changed after 0 to 59 turns: before, during or after its fetch. */
TEST(change_during_a_fetch_is_not_lost)
{
    for (unsigned row = 0; row < 4 * 60; row++) {
        struct follow_lab lab;

        follow_init(&lab, 50 + row);
        lab.api.streaming_lists = row & 1;
        fake_put(&lab.api, FAKE_BINDING, "a", "u", 1);
        fake_put(&lab.api, FAKE_CONFIG_MAP, "a", "x", 1);
        follow_start(&lab);
        follow_settle(&lab);
        fake_put(&lab.api, FAKE_BINDING, "a", "x", 1);
        for (unsigned turns = 0; turns < row / 4; turns++) {
            kube_source_turn(lab.source, lab.api.now_ms, FOLLOW_CLOCK_OFFSET_MS);
            fake_turn(&lab.api);
        }
        if (row & 2)
            follow_remove(&lab, FAKE_CONFIG_MAP, "x");
        else
            fake_put(&lab.api, FAKE_CONFIG_MAP, "a", "x", 2);
        follow_pass(&lab, 1500);
        assert_equals_server(&lab, 50 + row);
        follow_release(&lab);
    }
}

static const struct entry *find_deployment(const struct follow_lab *lab, const char *name)
{
    return store_find(lab->world.store, &(struct identity){"apps/v1", "Deployment", "a", name});
}

static bool is_unread(const struct follow_lab *lab, const char *name)
{
    const struct entry *entry = find_deployment(lab, name);
    const struct template *t = entry ? entry_template(entry) : NULL;

    return t && t->unread;
}

/* While Deployments are forbidden, a binding adds its template to the store as unread. */
TEST(forbidden_template_is_known_from_its_binding)
{
    struct follow_lab lab;

    follow_init(&lab, 4);
    lab.api.forbidden[FAKE_DEPLOYMENT] = true;
    fake_put(&lab.api, FAKE_DEPLOYMENT, "a", "y", 1);
    fake_put(&lab.api, FAKE_BINDING, "a", "y", 1);
    fake_put(&lab.api, FAKE_BINDING, "a", "v", 1);
    follow_start(&lab);
    follow_pass(&lab, 5000);
    assert_true(kube_source_ready(lab.source));
    assert_true(is_unread(&lab, "y"));
    assert_true(is_unread(&lab, "v"));
    world_run(&lab.world, FOLLOW_CLOCK_OFFSET_MS);
    assert_int_equal(template_decision(find_deployment(&lab, "y"))->state, STATE_ORPHANED);
    fake_put(&lab.api, FAKE_BINDING, "a", "y2", 1);
    follow_remove(&lab, FAKE_BINDING, "v");
    follow_pass(&lab, 5000);
    assert_true(is_unread(&lab, "y2"));
    world_run(&lab.world, FOLLOW_CLOCK_OFFSET_MS);
    assert_null(find_deployment(&lab, "v"));
    assert_int_equal(store_object_count(lab.world.store, CLASS_TEMPLATE), 2);

    /* With permission to read Deployments, the source reads the only one that exists. */
    lab.api.forbidden[FAKE_DEPLOYMENT] = false;
    follow_pass(&lab, 61 * 1000);
    assert_false(is_unread(&lab, "y"));
    assert_int_equal(store_object_count(lab.world.store, CLASS_TEMPLATE), 1);
    assert_equals_server(&lab, 4);

    /* After the permission is withdrawn, y stays read; a new binding adds an unread template. */
    lab.api.forbidden[FAKE_DEPLOYMENT] = true;
    fake_put(&lab.api, FAKE_BINDING, "a", "v", 2);
    follow_settle(&lab);
    assert_true(is_unread(&lab, "v"));
    assert_false(is_unread(&lab, "y"));
    lab.api.forbidden[FAKE_DEPLOYMENT] = false;
    follow_pass(&lab, 61 * 1000);
    assert_equals_server(&lab, 4);
    follow_release(&lab);
}

/* The second binding is created after 0 to 39 turns. */
TEST(fetch_of_a_template_does_not_delay_readiness)
{
    for (unsigned row = 0; row < 2 * 40; row++) {
        struct follow_lab lab;

        follow_init(&lab, 300 + row);
        lab.api.forbidden[FAKE_DEPLOYMENT] = row & 1;
        lab.api.streaming_lists = row & 2;
        fake_put(&lab.api, FAKE_BINDING, "a", "y", 1);
        follow_start(&lab);
        for (unsigned turns = 0; turns < row / 2; turns++) {
            kube_source_turn(lab.source, lab.api.now_ms, FOLLOW_CLOCK_OFFSET_MS);
            fake_turn(&lab.api);
        }
        fake_put(&lab.api, FAKE_BINDING, "a", "v", 1);
        follow_pass(&lab, 5000);
        assert_true(kube_source_ready(lab.source));
        assert_int_equal(is_unread(&lab, "v"), lab.api.forbidden[FAKE_DEPLOYMENT]);
        follow_release(&lab);
    }
}

TEST(unserved_kinds_are_reported_and_retried)
{
    struct follow_lab lab;

    follow_init(&lab, 2);
    lab.api.served[FAKE_FOO] = false;
    fake_put(&lab.api, FAKE_POLICY, "a", "p", SELECTS_FOOS);
    fake_put(&lab.api, FAKE_POLICY, "a", "q", SELECTS_UNHEARD);
    follow_start(&lab);
    follow_settle(&lab);
    assert_int_equal(kube_source_unserved_kind_count(lab.source), 2);
    assert_true(kube_source_unserved_kind(lab.source, 0)->answer == DISCOVERY_ABSENT);
    assert_true(kube_source_ready(lab.source));

    fake_serve(&lab.api, FAKE_FOO, true);
    fake_put(&lab.api, FAKE_FOO, "a", "x", 1);
    follow_pass(&lab, 35 * 1000);
    assert_int_equal(kube_source_unserved_kind_count(lab.source), 1);
    assert_string_equal(kube_source_unserved_kind(lab.source, 0)->kind, "Unheard");
    assert_equals_server(&lab, 2);

    /* A 404 response to a watch starts discovery before its next regular time. */
    fake_serve(&lab.api, FAKE_FOO, false);
    fake_cut_all(&lab.api);
    follow_pass(&lab, 5 * 1000);
    assert_int_equal(kube_source_unserved_kind_count(lab.source), 2);
    assert_equals_server(&lab, 2);
    follow_release(&lab);
}

/* Karmada watches the preferred version, even if policies and bindings name another one. */
TEST(selector_of_a_non_preferred_version_selects_nothing)
{
    static const struct identity foo = {"example.io/v1", "Foo", "a", "z"};
    struct follow_lab lab;

    for (uint32_t seed = 60; seed < 64; seed++) {
        follow_init(&lab, seed);
        fake_put(&lab.api, FAKE_POLICY, "a", "p", SELECTS_OLD_FOOS);
        fake_put(&lab.api, FAKE_FOO, "a", "z", 1);
        follow_start(&lab);
        follow_settle(&lab);
        assert_null(find_reflector(&lab, "foos"));
        assert_int_equal(kube_source_unserved_kind_count(lab.source), 1);
        assert_int_equal(kube_source_unserved_kind(lab.source, 0)->answer, DISCOVERY_UNWATCHED);

        /* A binding with the old version still refers to the template. */
        fake_put(&lab.api, FAKE_BINDING, "a", "z", FAKE_OLD_VALUE);
        follow_pass(&lab, 5000);
        assert_non_null(store_find(lab.world.store, &foo));
        assert_string_equal(find_reflector(&lab, "foos")->api_version, "example.io/v1");
        world_run(&lab.world, FOLLOW_CLOCK_OFFSET_MS);

        const struct entry *entry = store_find(lab.world.store, &foo);
        assert_non_null(decision_binding(template_decision(entry)));
        follow_release(&lab);
    }
}

TEST(source_is_ready_without_the_cluster_kind)
{
    struct follow_lab lab;

    follow_init(&lab, 3);
    lab.api.served[FAKE_CLUSTER] = false;
    follow_start(&lab);
    follow_settle(&lab);
    assert_true(kube_source_ready(lab.source));
    assert_false(find_reflector(&lab, "clusters")->synced);
    follow_pass(&lab, CALM_MS);
    /* The retries go on, in the end every 30 to 60 s. */
    assert_in_range(lab.api.requests[FAKE_CLUSTER], 60, 150);
    follow_release(&lab);
}

TEST(every_kind_with_watch_always_is_watched)
{
    struct follow_lab lab;
    size_t count;
    const struct kind_def *table = kind_table(&count);

    follow_init(&lab, 3);
    follow_start(&lab);
    for (const struct kind_def *def = table; def < table + count; def++) {
        if (def->watch.when == WATCH_ALWAYS && !find_reflector(&lab, def->watch.resource))
            fail_msg("%s is not watched", def->name);
    }
    follow_release(&lab);
}

TEST(objects_stay_until_their_kind_is_not_served)
{
    struct follow_lab lab;

    follow_init(&lab, 4);
    fake_put(&lab.api, FAKE_CLUSTER, "", "m", 1);
    follow_start(&lab);
    follow_settle(&lab);
    assert_int_equal(store_object_count(lab.world.store, CLASS_CLUSTER), 1);
    fake_cut_all(&lab.api);
    lab.api.fault_percent = 100;
    follow_pass(&lab, CALM_MS);
    assert_int_equal(store_object_count(lab.world.store, CLASS_CLUSTER), 1);
    lab.api.fault_percent = 0;
    fake_serve(&lab.api, FAKE_CLUSTER, false);
    follow_pass(&lab, 2 * 61 * 1000);
    assert_int_equal(store_object_count(lab.world.store, CLASS_CLUSTER), 0);
    fake_serve(&lab.api, FAKE_CLUSTER, true);
    fake_put(&lab.api, FAKE_CLUSTER, "", "m", 2);
    follow_pass(&lab, 2 * 61 * 1000);
    assert_equals_server(&lab, 4);
    follow_release(&lab);
}

TEST(source_is_not_ready_before_policies_are_read)
{
    struct follow_lab lab;

    follow_init(&lab, 4);
    lab.api.served[FAKE_POLICY] = false;
    follow_start(&lab);
    follow_pass(&lab, CALM_MS);
    assert_false(kube_source_ready(lab.source));
    fake_serve(&lab.api, FAKE_POLICY, true);
    follow_pass(&lab, 61 * 1000);
    assert_true(kube_source_ready(lab.source));
    lab.api.fault_percent = 100;
    fake_cut_all(&lab.api);
    follow_pass(&lab, CALM_MS);
    assert_true(kube_source_ready(lab.source));
    follow_release(&lab);
}

/* Compares the number after each turn of an outage and of the list that follows. */
TEST(relist_never_lowers_the_number_of_objects)
{
    struct follow_lab lab;
    size_t policies, lists;

    for (uint32_t seed = 5; seed < 9; seed++) {
        follow_init(&lab, seed);
        lab.api.paginates = seed % 2;
        lab.api.streaming_lists = seed > 6;
        for (unsigned i = 0; i < 20; i++) {
            char name[16];

            snprintf(name, sizeof(name), "p%u", i);
            fake_put(&lab.api, FAKE_POLICY, "a", name, SELECTS_CONFIG_MAPS);
        }
        follow_start(&lab);
        follow_settle(&lab);
        policies = store_object_count(lab.world.store, CLASS_POLICY);
        assert_int_equal(policies, 20);
        lists = lab.api.requests[FAKE_POLICY];
        fake_put(&lab.api, FAKE_CONFIG_MAP, "a", "x", 1);
        fake_compact(&lab.api);
        fake_cut_all(&lab.api);
        for (unsigned i = 0; i < 20000; i++) {
            kube_source_turn(lab.source, lab.api.now_ms, FOLLOW_CLOCK_OFFSET_MS);
            lab.api.now_ms += fake_turn(&lab.api) ? 0 : 1;
            assert_int_equal(store_object_count(lab.world.store, CLASS_POLICY), policies);
        }
        assert_true(lab.api.requests[FAKE_POLICY] > lists + 1);
        assert_equals_server(&lab, seed);
        follow_release(&lab);
    }
}

/* The restored server reports no error; its streams only stay silent. */
TEST(restore_from_a_backup_is_detected)
{
    struct fake_snapshot *backup = xcalloc(1, sizeof(*backup));
    struct follow_lab lab;

    for (uint32_t seed = 10; seed < 14; seed++) {
        follow_init(&lab, seed);
        lab.api.bookmarks = seed % 2;
        lab.api.streaming_lists = seed > 11;
        for (unsigned i = 0; i < 60; i++)
            write_random_object(&lab.api);
        memcpy(backup->objects, lab.api.objects, sizeof(backup->objects));
        backup->count = lab.api.count;
        backup->version = lab.api.version;
        follow_start(&lab);
        follow_settle(&lab);
        for (unsigned i = 0; i < 60; i++)
            write_random_object(&lab.api);
        follow_pass(&lab, 5 * 60 * 1000);
        fake_restore(&lab.api, backup);
        follow_pass(&lab, 2 * CALM_MS);
        assert_equals_server(&lab, seed);
        follow_release(&lab);
    }
    free(backup);
}

TEST(namespace_filter_limits_the_templates)
{
    static const char *const named[] = {"a", "b"};
    static const char *const denied[] = {"b"};
    static const struct identity in_a = {"v1", "ConfigMap", "a", "x"};
    static const struct identity in_b = {"v1", "ConfigMap", "b", "x"};
    static const struct identity in_c = {"v1", "ConfigMap", "c", "x"};
    static const struct namespace_filter scopes[] = {
        {.namespaces = named, .namespace_count = 2},
        {.denied = denied, .denied_count = 1},
        {.namespaces = named, .namespace_count = 2, .denied = denied, .denied_count = 1},
    };
    static const bool seen[][3] = {{true, true, false}, {true, false, true}, {true, false, false}};

    for (size_t i = 0; i < ARRAY_LEN(scopes); i++) {
        struct follow_lab lab;

        follow_init(&lab, 20);
        lab.filter = scopes[i];
        fake_put(&lab.api, FAKE_CLUSTER_POLICY, "", "p", SELECTS_CONFIG_MAPS);
        fake_put(&lab.api, FAKE_CONFIG_MAP, "a", "x", 1);
        fake_put(&lab.api, FAKE_CONFIG_MAP, "b", "x", 1);
        fake_put(&lab.api, FAKE_CONFIG_MAP, "c", "x", 1);
        follow_start(&lab);
        follow_settle(&lab);
        assert_true(kube_source_ready(lab.source));
        assert_int_equal(store_find(lab.world.store, &in_a) != NULL, seen[i][0]);
        assert_int_equal(store_find(lab.world.store, &in_b) != NULL, seen[i][1]);
        assert_int_equal(store_find(lab.world.store, &in_c) != NULL, seen[i][2]);
        follow_release(&lab);
    }
}

static size_t count_reflectors(const struct follow_lab *lab, const char *resource)
{
    size_t count = 0;

    for (size_t i = 0; i < kube_source_reflector_count(lab->source); i++)
        count += strcmp(kube_source_reflector(lab->source, i)->resource, resource) == 0;
    return count;
}

/* Only a source that reads Works reads Events of failed overrides. */
TEST(failed_overrides_are_read_if_override_policies_exist)
{
    static const char *const failed = "ApplyOverridePolicyFailed";
    struct follow_lab lab;

    follow_init(&lab, 21);
    lab.api.works_wanted = true;
    assert_string_equal(fake_event_reason("a"), failed);
    assert_string_not_equal(fake_event_reason("b"), failed);
    assert_string_equal(fake_event_reason("c"), "ApplyPolicyFailed");
    fake_put(&lab.api, FAKE_EVENT, "a", "a", 1);
    fake_put(&lab.api, FAKE_EVENT, "a", "b", 1);
    fake_put(&lab.api, FAKE_EVENT, "a", "c", 1);
    follow_start(&lab);
    follow_pass(&lab, 1000);
    assert_int_equal(count_reflectors(&lab, "events"), 2);
    assert_int_equal(store_object_count(lab.world.store, CLASS_EVENT), 2);
    fake_put(&lab.api, FAKE_CLUSTER_OVERRIDE, "", "x", 1);
    fake_put(&lab.api, FAKE_OVERRIDE, "a", "x", 1);
    follow_pass(&lab, 1000);
    assert_int_equal(count_reflectors(&lab, "events"), 3);
    assert_int_equal(store_object_count(lab.world.store, CLASS_EVENT), 3);
    follow_remove(&lab, FAKE_OVERRIDE, "x");
    follow_pass(&lab, 1000);
    assert_int_equal(count_reflectors(&lab, "events"), 3);
    follow_remove(&lab, FAKE_CLUSTER_OVERRIDE, "x");
    follow_pass(&lab, 1000);
    assert_int_equal(count_reflectors(&lab, "events"), 2);
    assert_int_equal(store_object_count(lab.world.store, CLASS_EVENT), 2);
    follow_release(&lab);
}

TEST(works_are_read_only_if_enabled)
{
    struct follow_lab lab;

    follow_init(&lab, 21);
    fake_put(&lab.api, FAKE_WORK, "karmada-es-m", "x", 1);
    follow_start(&lab);
    follow_pass(&lab, 10 * 60 * 1000);
    assert_int_equal(lab.api.requests[FAKE_WORK], 0);
    assert_int_equal(store_object_count(lab.world.store, CLASS_WORK), 0);
    follow_release(&lab);
}

/* Works are in namespaces of member clusters, to which the namespace filter does not apply. */
TEST(works_are_filtered_by_the_namespace_of_their_binding)
{
    static const char *const only_b[] = {"b"};
    struct follow_lab lab;
    const struct identity work = {"work.karmada.io/v1alpha1", "Work", "karmada-es-m", "y"};

    follow_init(&lab, 21);
    lab.api.works_wanted = true;
    lab.filter = (struct namespace_filter){.namespaces = only_b, .namespace_count = 1};
    for (unsigned i = 0; i < 3; i++)
        fake_put(&lab.api, FAKE_WORK, "karmada-es-m", (const char *[]){"x", "y", "z"}[i], i);
    follow_start(&lab);
    follow_settle(&lab);
    assert_string_equal(fake_work_ns(2), "b");
    assert_int_equal(store_object_count(lab.world.store, CLASS_WORK), 1);
    assert_null(store_find(lab.world.store, &work));
    /* The changes assign y to a binding in namespace b, and z to none. */
    fake_put(&lab.api, FAKE_WORK, "karmada-es-m", "y", 5);
    fake_put(&lab.api, FAKE_WORK, "karmada-es-m", "z", 3);
    follow_settle(&lab);
    assert_int_equal(store_object_count(lab.world.store, CLASS_WORK), 1);
    assert_non_null(store_find(lab.world.store, &work));
    follow_release(&lab);
}

TEST(each_template_and_cluster_binding_is_in_one_shard)
{
    enum { SHARDS = 3, NAMESPACES = 30 };
    size_t maps = 0, cluster_bindings = 0;

    for (uint32_t shard = 0; shard < SHARDS; shard++) {
        struct follow_lab lab;
        char ns[16];

        follow_init(&lab, 21);
        lab.filter = (struct namespace_filter){.shard = shard, .total_shards = SHARDS};
        fake_put(&lab.api, FAKE_CLUSTER_POLICY, "", "p", SELECTS_CONFIG_MAPS);
        fake_put(&lab.api, FAKE_CLUSTER_BINDING, "", "c", 1);
        for (unsigned i = 0; i < NAMESPACES; i++) {
            snprintf(ns, sizeof(ns), "%x", (i + 1) * 2654435761U);
            fake_put(&lab.api, FAKE_CONFIG_MAP, ns, "x", 1);
        }
        follow_start(&lab);
        follow_settle(&lab);
        assert_true(kube_source_ready(lab.source));
        assert_int_equal(store_object_count(lab.world.store, CLASS_POLICY), 1);
        assert_in_range(store_object_count(lab.world.store, CLASS_TEMPLATE), 1, NAMESPACES - 1);
        maps += store_object_count(lab.world.store, CLASS_TEMPLATE);
        cluster_bindings += store_object_count(lab.world.store, CLASS_BINDING);
        follow_release(&lab);
    }
    assert_int_equal(maps, NAMESPACES);
    assert_int_equal(cluster_bindings, 1);
}

/* ---- shards and the API server ---- */

enum { SHARD_COUNT = 3 };
static const char *const shard_spaces[] = {"shop", "depot", "alpha", "beta", "gamma", "epsilon"};

static void put_shard_objects(struct fake_api *api, unsigned value)
{
    static const enum fake_kind kinds[] = {FAKE_BINDING, FAKE_OVERRIDE,   FAKE_QUOTA,
                                           FAKE_EVENT,   FAKE_CONFIG_MAP, FAKE_DEPLOYMENT};

    for (size_t i = 0; i < ARRAY_LEN(shard_spaces); i++) {
        for (size_t kind = 0; kind < ARRAY_LEN(kinds); kind++)
            fake_put(api, kinds[kind], shard_spaces[i], "x", value + (unsigned)i);
        fake_put(api, FAKE_CONFIG_MAP, shard_spaces[i], "y", value);
        fake_put(api, FAKE_POLICY, shard_spaces[i], "x", value + (unsigned)i);
    }
}

/* Follows a server that has objects in all namespaces, changes them, and removes some. */
static void follow_shard(struct follow_lab *lab, unsigned row, enum fake_shards shards,
                         struct namespace_filter filter)
{
    follow_init(lab, 21);
    lab->filter = filter;
    lab->api.shards = shards;
    lab->references = shards == FAKE_SHARDS_MIXED_UP; /* Reads full Deployments. */
    lab->api.streaming_lists = row & 1;
    lab->api.paginates = row & 2;
    fake_put(&lab->api, FAKE_CLUSTER_POLICY, "", "p", SELECTS_CONFIG_MAPS);
    fake_put(&lab->api, FAKE_CLUSTER_BINDING, "", "c", 1);
    put_shard_objects(&lab->api, 1);
    follow_start(lab);
    follow_pass(lab, 60 * 1000);
    assert_true(kube_source_ready(lab->source));
    put_shard_objects(&lab->api, 2);
    for (size_t i = lab->api.count; i-- > 0;) {
        if (strcmp(lab->api.objects[i].name, "y") == 0 && i % 2)
            fake_remove(&lab->api, i);
    }
    follow_pass(lab, 60 * 1000);
}

static size_t count_lines(const char *text)
{
    size_t count = 0;

    for (const char *c = text; *c; c++)
        count += *c == '\n';
    return count;
}

/*
 * Fails unless each line of `whole` is in one of the texts, or in all of them if it is about a
 * ClusterPropagationPolicy, and the texts have no other lines.
 */
static void assert_divided(const char *whole, char *const *texts)
{
    CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(1 << 12);
    size_t expected = 0, actual = 0;

    for (const char *at = whole; *at; at += line.len) {
        unsigned found = 0;
        bool shared = strncmp(at, "ClusterPropagationPolicy ", 25) == 0;

        strbuf_release(&line);
        strbuf_addf(&line, "%.*s", (int)strcspn(at, "\n") + 1, at);
        for (size_t i = 0; i < SHARD_COUNT; i++)
            found += strstr(texts[i], line.data) != NULL;
        if (found != (shared ? SHARD_COUNT : 1))
            fail_msg("%u shards have: %s", found, line.data);
        expected += found;
    }
    for (size_t i = 0; i < SHARD_COUNT; i++) {
        size_t lines = count_lines(texts[i]);

        /* The shards of the test are not empty: besides the policy, each has a namespace. */
        assert_true(lines > 1 && lines < count_lines(whole));
        actual += lines;
    }
    assert_int_equal(actual, expected);
}

static struct shard_case {
    const char *title;
    enum fake_shards shards;
} shard_cases[] = {
    {"the server ignores the selector", FAKE_SHARDS_IGNORED},
    {"the server selects", FAKE_SHARDS_SELECTED},
    {"the server returns another selector", FAKE_SHARDS_MIXED_UP},
    {"the server rejects the parameter", FAKE_SHARDS_UNKNOWN},
    {"the server rejects the selector", FAKE_SHARDS_INVALID},
};

TEST_ROWS(shards_together_have_all_objects, shard_cases, title)
{
    const struct shard_case *c = *state;

    for (unsigned row = 0; row < 4; row++) {
        char *whole, *texts[SHARD_COUNT];
        struct follow_lab lab;

        follow_shard(&lab, row, FAKE_SHARDS_IGNORED, (struct namespace_filter){0});
        whole = describe_store(lab.world.store);
        follow_release(&lab);
        for (uint32_t shard = 0; shard < SHARD_COUNT; shard++) {
            follow_shard(&lab, row, c->shards,
                         (struct namespace_filter){.shard = shard, .total_shards = SHARD_COUNT});
            texts[shard] = describe_store(lab.world.store);
            follow_release(&lab);
        }
        assert_divided(whole, texts);
        for (size_t i = 0; i < SHARD_COUNT; i++)
            free(texts[i]);
        free(whole);
    }
}

TEST(server_that_selects_sends_the_objects_of_the_shard)
{
    const struct namespace_filter filter = {.total_shards = SHARD_COUNT};
    unsigned own = 0;
    size_t count = ARRAY_LEN(shard_spaces);
    struct follow_lab lab;

    for (size_t i = 0; i < count; i++)
        own += namespace_filter_allows(&filter, shard_spaces[i]);
    for (unsigned row = 0; row < 4; row++) {
        follow_shard(&lab, row, FAKE_SHARDS_SELECTED, filter);
        /* Once in the list, and once as a change. */
        assert_int_equal(lab.api.sent[FAKE_QUOTA], 2 * own);
        assert_int_equal(lab.api.sent[FAKE_OVERRIDE], 2 * own);
        /* The list of bindings is limited to the shard, but not the stream. */
        assert_int_equal(lab.api.sent[FAKE_BINDING], own + count);
        /* Policies of all shards decide which kinds are selected. */
        assert_int_equal(lab.api.sent[FAKE_POLICY], 2 * count);
        follow_release(&lab);
        follow_shard(&lab, row, FAKE_SHARDS_IGNORED, filter);
        assert_int_equal(lab.api.sent[FAKE_QUOTA], 2 * count);
        assert_int_equal(lab.api.sent[FAKE_BINDING], 2 * count);
        follow_release(&lab);
    }
}

TEST(kinds_that_policies_of_other_shards_select_are_read)
{
    const struct fake_kind_row *deployments = &fake_kinds[FAKE_DEPLOYMENT];
    struct follow_lab lab;

    follow_init(&lab, 21);
    lab.filter = (struct namespace_filter){.total_shards = 2};
    assert_true(namespace_filter_allows(&lab.filter, "shop"));
    assert_false(namespace_filter_allows(&lab.filter, "depot"));
    fake_put(&lab.api, FAKE_DEPLOYMENT, "shop", "x", 1);
    fake_put(&lab.api, FAKE_POLICY, "depot", "p", SELECTS_DEPLOYMENTS);
    follow_start(&lab);
    follow_settle(&lab);
    assert_non_null(
        world_find(&lab.world, deployments->api_version, deployments->kind, "shop", "x"));
    assert_int_equal(store_object_count(lab.world.store, CLASS_POLICY), 0);
    /* The policy selects another kind; then it is deleted. */
    fake_put(&lab.api, FAKE_POLICY, "depot", "p", SELECTS_CONFIG_MAPS);
    follow_pass(&lab, 60 * 1000);
    assert_null(find_reflector(&lab, "deployments"));
    assert_non_null(find_reflector(&lab, "configmaps"));
    follow_remove(&lab, FAKE_POLICY, "p");
    follow_pass(&lab, 60 * 1000);
    assert_null(find_reflector(&lab, "configmaps"));
    /* The stream does not report a deletion. */
    fake_put(&lab.api, FAKE_POLICY, "depot", "p", SELECTS_DEPLOYMENTS);
    follow_pass(&lab, 60 * 1000);
    assert_non_null(find_reflector(&lab, "deployments"));
    follow_remove(&lab, FAKE_POLICY, "p");
    fake_compact(&lab.api);
    fake_cut_all(&lab.api);
    follow_pass(&lab, 10 * 60 * 1000);
    assert_null(find_reflector(&lab, "deployments"));
    follow_release(&lab);
}

/* No shard reads the namespace, so its policy selects no kind. */
TEST(policies_in_denied_namespaces_select_no_kind)
{
    static const char *const denied[] = {"depot"};
    struct follow_lab lab;

    follow_init(&lab, 21);
    lab.filter = (struct namespace_filter){.total_shards = 2, .denied = denied, .denied_count = 1};
    fake_put(&lab.api, FAKE_POLICY, "depot", "p", SELECTS_DEPLOYMENTS);
    follow_start(&lab);
    follow_settle(&lab);
    assert_true(kube_source_ready(lab.source));
    assert_null(find_reflector(&lab, "deployments"));
    follow_release(&lab);
}

TEST(listed_namespaces_of_other_shards_have_their_policies_read)
{
    static const char *const names[] = {"shop", "depot"};
    struct follow_lab lab;

    follow_init(&lab, 21);
    lab.filter =
        (struct namespace_filter){.total_shards = 2, .namespaces = names, .namespace_count = 2};
    fake_put(&lab.api, FAKE_DEPLOYMENT, "shop", "x", 1);
    fake_put(&lab.api, FAKE_POLICY, "depot", "p", SELECTS_DEPLOYMENTS);
    follow_start(&lab);
    follow_settle(&lab);
    assert_true(kube_source_ready(lab.source));
    assert_int_equal(store_object_count(lab.world.store, CLASS_TEMPLATE), 1);
    follow_release(&lab);
}

TEST(refused_selector_is_sent_once_for_each_resource)
{
    static const enum fake_shards refusing[] = {FAKE_SHARDS_UNKNOWN, FAKE_SHARDS_INVALID};

    for (size_t i = 0; i < ARRAY_LEN(refusing); i++) {
        struct follow_lab lab;

        follow_shard(&lab, 0, refusing[i], (struct namespace_filter){.total_shards = SHARD_COUNT});
        for (size_t at = 0; at < kube_source_reflector_count(lab.source); at++) {
            const struct reflector *r = kube_source_reflector(lab.source, at);

            assert_false(r->by_shard);
            assert_true(r->synced);
            assert_true(r->watch.counts.list_failures <= 2);
        }
        follow_release(&lab);
    }
}

/* The shard has no override policy; that of another shard is no sign of a restored server. */
TEST(objects_of_other_shards_do_not_look_like_a_restore)
{
    for (unsigned row = 0; row < 2 * ARRAY_LEN(shard_cases); row++) {
        struct follow_lab lab;

        follow_init(&lab, 21);
        lab.filter = (struct namespace_filter){.total_shards = 2};
        lab.api.shards =
            row < ARRAY_LEN(shard_cases) ? shard_cases[row].shards : FAKE_SHARDS_SELECTED;
        fake_put(&lab.api, FAKE_OVERRIDE, "depot", "x", 1);
        fake_put(&lab.api, FAKE_BINDING, "depot", "x", 1);
        fake_put(&lab.api, FAKE_CLUSTER, "", "x", 1);
        follow_start(&lab);
        follow_pass(&lab, 60 * 1000);
        assert_true(kube_source_ready(lab.source));
        /* The gate is turned on or off, or the server comes to refuse the selector. */
        lab.api.shards = shard_cases[row % ARRAY_LEN(shard_cases)].shards;
        fake_cut_all(&lab.api);
        follow_pass(&lab, CALM_MS);
        assert_int_equal(kube_source_restores(lab.source), 0);
        assert_int_equal(store_object_count(lab.world.store, CLASS_OVERRIDE), 0);
        follow_release(&lab);
    }
}

/* Resources of one namespace, or without namespaces, need no selector. */
TEST(only_resources_of_all_namespaces_are_selected_by_shard)
{
    static const char *const only_shop[] = {"shop"};
    struct follow_lab lab;

    follow_shard(&lab, 0, FAKE_SHARDS_SELECTED,
                 (struct namespace_filter){.total_shards = SHARD_COUNT});
    assert_true(find_reflector(&lab, "resourcebindings")->by_shard);
    assert_true(find_reflector(&lab, "configmaps")->by_shard);
    assert_false(find_reflector(&lab, "propagationpolicies")->by_shard);
    assert_false(find_reflector(&lab, "events")->by_shard);
    assert_false(find_reflector(&lab, "clusterpropagationpolicies")->by_shard);
    assert_false(find_reflector(&lab, "clusters")->by_shard);
    follow_release(&lab);
    lab.filter = (struct namespace_filter){.namespaces = only_shop, .namespace_count = 1};
    follow_shard(&lab, 0, FAKE_SHARDS_SELECTED, lab.filter);
    assert_false(find_reflector(&lab, "resourcebindings")->by_shard);
    follow_release(&lab);
}

TEST(writes_of_bindings_of_other_shards_reach_the_engine)
{
    const struct other_bindings *others;
    struct follow_lab lab;
    char text[512];

    follow_init(&lab, 23);
    /* "a" belongs to the other shard. */
    lab.filter = (struct namespace_filter){.total_shards = 2};
    lab.filter.shard = namespace_filter_allows(&lab.filter, "a");
    fake_put(&lab.api, FAKE_CLUSTER_POLICY, "", "p", SELECTS_CONFIG_MAPS);
    follow_start(&lab);
    follow_settle(&lab);
    assert_true(kube_source_ready(lab.source));
    others = engine_context(lab.world.engine)->other_bindings;
    assert_int_equal(others->times.count, 0);
    snprintf(text, sizeof(text),
             "{\"type\":\"MODIFIED\",\"object\":{\"apiVersion\":\"work.karmada.io/v1alpha2\","
             "\"kind\":\"ResourceBinding\",\"metadata\":{\"namespace\":\"a\",\"name\":\"x\","
             "\"resourceVersion\":\"%" PRIu64 "\",\"managedFields\":[{\"manager\":\"k\",\"time\":"
             "\"2026-01-01T00:00:02Z\",\"fieldsV1\":{\"f:spec\":{\"f:resource\":{}}}}]}}}\n",
             ++lab.api.version);
    fake_say(&lab.api, FAKE_BINDING, text);
    follow_settle(&lab);
    assert_int_equal(others->times.count, 1);
    assert_int_equal(store_object_count(lab.world.store, CLASS_BINDING), 0);
    follow_release(&lab);
}

/* Without the right to read Events, a template without an Event may be refused. */
TEST(refusals_are_read_while_the_watch_of_their_events_works)
{
    struct follow_lab lab;

    follow_init(&lab, 22);
    lab.api.forbidden[FAKE_EVENT] = true;
    follow_start(&lab);
    follow_settle(&lab);
    assert_true(kube_source_ready(lab.source));
    assert_false(kube_source_reads_refusals(lab.source));
    lab.api.forbidden[FAKE_EVENT] = false;
    follow_pass(&lab, 60 * 60 * 1000);
    assert_true(kube_source_reads_refusals(lab.source));
    /* The right is lost: the next watch fails. */
    lab.api.forbidden[FAKE_EVENT] = true;
    fake_cut_all(&lab.api);
    follow_pass(&lab, 60 * 1000);
    assert_false(kube_source_reads_refusals(lab.source));
    follow_release(&lab);
}

/* Returns how many reflectors are synced. Fails if another one did not end with END_ABSENT. */
static size_t count_synced(const struct follow_lab *lab)
{
    size_t count = 0;

    for (size_t i = 0; i < kube_source_reflector_count(lab->source); i++) {
        const struct reflector *r = kube_source_reflector(lab->source, i);

        assert_true(r->synced || r->last_end == END_ABSENT);
        count += r->synced;
    }
    return count;
}

/* Returns how many reflectors have a stream of changes and no failure. */
static size_t count_healthy(const struct follow_lab *lab)
{
    size_t count = 0;

    for (size_t i = 0; i < kube_source_reflector_count(lab->source); i++) {
        const struct reflector *r = kube_source_reflector(lab->source, i);

        count += r->watch.phase == WATCH_STREAMING && !r->failure.text[0] && !r->failure.warned;
    }
    return count;
}

/* Without bookmarks, streams of unchanged kinds bring no events; they count as healthy. */
TEST(first_response_after_an_outage_ends_all_waits)
{
    for (uint32_t seed = 30; seed < 40; seed++) {
        struct follow_lab lab;
        size_t healthy;
        int64_t first_ms;

        follow_init(&lab, seed);
        lab.api.bookmarks = false;
        fake_put(&lab.api, FAKE_POLICY, "a", "p", SELECTS_DEPLOYMENTS);
        follow_start(&lab);
        follow_pass(&lab, 5000);
        healthy = count_healthy(&lab);
        /*
         * Not watched: Works, and ConfigMaps and Foos, which no policy selects. Events of two
         * reasons have two watches.
         */
        assert_int_equal(healthy, FAKE_KIND_COUNT - 3 + 1);
        lab.api.unreachable = true;
        fake_cut_all(&lab.api);
        follow_pass(&lab, 60 * 1000);
        assert_int_equal(count_healthy(&lab), 0);
        lab.api.unreachable = false;
        while (lab.api.open_streams == 0)
            follow_pass(&lab, 10);
        first_ms = lab.api.now_ms;
        follow_pass(&lab, 10);
        while (count_healthy(&lab) < healthy)
            follow_pass(&lab, 10);
        /* The limit includes the second in which a resumed stream may still report a gap. */
        assert_in_range(lab.api.now_ms - first_ms, 0, 1500);
        assert_equals_server(&lab, seed);
        follow_release(&lab);
    }
}

/*
 * A server that starts refuses a resource with 429 until it has read the resource's objects. Other
 * resources, more than half, can be read before.
 */
TEST(waits_for_a_server_that_starts_do_not_grow)
{
    for (uint32_t seed = 50; seed < 60; seed++) {
        struct follow_lab lab;
        size_t healthy;

        follow_init(&lab, seed);
        follow_start(&lab);
        follow_pass(&lab, 5000);
        healthy = count_healthy(&lab);
        lab.api.unreachable = true;
        fake_cut_all(&lab.api);
        follow_pass(&lab, 60 * 1000);
        lab.api.unreachable = false;
        lab.api.busy[FAKE_POLICY] = lab.api.busy[FAKE_BINDING] = true;
        while (count_healthy(&lab) < healthy - 2)
            follow_pass(&lab, 10);
        follow_pass(&lab, 5000);
        assert_int_equal(count_healthy(&lab), healthy - 2);
        lab.api.busy[FAKE_POLICY] = lab.api.busy[FAKE_BINDING] = false;
        /* The longest wait is 1.2 s; a stream without events counts as healthy 1 s later. */
        follow_pass(&lab, 2200);
        assert_int_equal(count_healthy(&lab), healthy);
        follow_release(&lab);
    }
}

/* As if the server refuses the resource for good. */
TEST(waits_for_a_resource_grow_again_once_the_server_has_started)
{
    struct follow_lab lab;
    uint64_t requests;

    follow_init(&lab, 60);
    follow_start(&lab);
    follow_pass(&lab, 5000);
    lab.api.unreachable = true;
    fake_cut_all(&lab.api);
    follow_pass(&lab, 60 * 1000);
    lab.api.unreachable = false;
    lab.api.busy[FAKE_POLICY] = true;
    follow_pass(&lab, 60 * 1000);
    requests = lab.api.requests[FAKE_POLICY];
    follow_pass(&lab, 10 * 60 * 1000);
    /* The waits have grown to 30 to 60 s. */
    assert_in_range(lab.api.requests[FAKE_POLICY] - requests, 0, 20);
    follow_release(&lab);
}

/* The reflectors lose their streams at the same time. */
TEST(waits_for_an_unreachable_server_are_spread)
{
    struct follow_lab lab;
    size_t count, apart = 0;

    follow_init(&lab, 41);
    follow_start(&lab);
    follow_pass(&lab, 5000);
    lab.api.unreachable = true;
    fake_cut_all(&lab.api);
    follow_settle(&lab);
    count = kube_source_reflector_count(lab.source);
    for (size_t i = 1; i < count; i++)
        apart += kube_source_reflector(lab.source, i)->watch.due_ms !=
                 kube_source_reflector(lab.source, 0)->watch.due_ms;
    assert_true(count > 5);
    assert_in_range(apart, count / 2, count);
    follow_release(&lab);
}

TEST(failing_reflector_is_counted_once_until_it_recovers)
{
    struct reflector_context context = {.reflector_count = 4};
    struct reflector_failure failure = {.context = &context};

    reflector_failure_set_failing(&failure, true);
    reflector_failure_set_failing(&failure, true);
    assert_int_equal(context.failing_count, 1);
    reflector_failure_set_failing(&failure, false);
    reflector_failure_set_failing(&failure, false);
    assert_int_equal(context.failing_count, 0);
}

TEST(complete_and_refused_lists_release_their_tickets)
{
    struct follow_lab lab;

    follow_init(&lab, 43);
    lab.api.streaming_lists = false;
    lab.api.paginates = true;
    lab.api.forbidden[FAKE_CLUSTER_POLICY] = lab.api.forbidden[FAKE_CLUSTER] = true;
    for (char name[] = "a"; name[0] <= 'h'; name[0]++)
        fake_put(&lab.api, FAKE_POLICY, "a", name, 1);
    follow_start(&lab);
    follow_pass(&lab, 5000);
    for (size_t i = 0; i < kube_source_reflector_count(lab.source); i++)
        assert_int_equal(kube_source_reflector(lab.source, i)->ticket.state, TICKET_IDLE);
    follow_release(&lab);
}

/* While nothing changes, discovery is due first. */
TEST(source_is_due_when_its_first_part_is_due)
{
    struct follow_lab lab;

    follow_init(&lab, 42);
    follow_start(&lab);
    follow_pass(&lab, 5000);
    for (size_t i = 0; i < kube_source_reflector_count(lab.source); i++)
        assert_true(kube_source_due(lab.source) <=
                    reflector_due(kube_source_reflector(lab.source, i)));
    uint64_t rounds = lab.api.discovery_requests;
    while (lab.api.discovery_requests == rounds) {
        assert_true(kube_source_due(lab.source) < lab.api.now_ms + 60 * 60 * 1000);
        lab.api.now_ms = kube_source_due(lab.source);
        follow_settle(&lab);
        assert_true(lab.api.now_ms < 120 * 1000);
    }
    follow_release(&lab);
}

TEST(last_readable_version_survives_relists)
{
    static const char good[] = "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{"
                               "\"name\":\"x\",\"namespace\":\"a\"}}";
    struct log log = {.level = LOG_LEVEL_ERROR, .stream = stderr};
    struct reflector_store s = {
        .log = &log, .resource = "configmaps", .api_version = "v1", .origin = {1, 0}};
    struct world world;
    cJSON *object = cJSON_Parse(good);

    world_init(&world, &rules_options_default, 1);
    s.store = world.store;
    reflector_store_begin_pass(&s, false);
    reflector_store_put(&s, object);
    reflector_store_end_pass(&s);
    for (unsigned pass = 0; pass < 2; pass++) {
        reflector_store_begin_pass(&s, false);
        reflector_store_reject(&s, object, "it is larger than can be read");
        reflector_store_end_pass(&s);
        assert_int_equal(store_object_count(world.store, CLASS_TEMPLATE), 1);
    }
    assert_int_equal(s.rejected, 2);
    /* An invalid version does not remove the last one; a list without the object does. */
    cJSON_AddItemToObject(cJSON_GetObjectItem(object, "metadata"), "labels",
                          cJSON_CreateStringArray((const char *const[]){"no map"}, 1));
    reflector_store_begin_pass(&s, false);
    reflector_store_put(&s, object);
    reflector_store_end_pass(&s);
    assert_int_equal(s.rejected, 3);
    assert_int_equal(store_object_count(world.store, CLASS_TEMPLATE), 1);
    reflector_store_begin_pass(&s, false);
    reflector_store_end_pass(&s);
    assert_int_equal(store_object_count(world.store, CLASS_TEMPLATE), 0);
    cJSON_Delete(object);
    world_release(&world);
}

TEST(four_lists_start_at_once_and_the_others_follow)
{
    struct follow_lab lab;
    unsigned lists = 0;

    follow_init(&lab, 22);
    follow_start(&lab);
    kube_source_turn(lab.source, lab.api.now_ms, FOLLOW_CLOCK_OFFSET_MS);
    for (size_t i = 0; i < kube_source_reflector_count(lab.source); i++)
        lists += kube_source_reflector(lab.source, i)->request.transfer != NULL;
    assert_int_equal(lists, 4);
    follow_settle(&lab);
    assert_true(count_synced(&lab) >= lists);
    follow_release(&lab);
}

/* The refusal of one streaming list keeps the other reflectors from requesting theirs. */
TEST(refused_streaming_list_disables_all_of_them)
{
    struct follow_lab lab;
    uint64_t before[FAKE_KIND_COUNT], requests[FAKE_KIND_COUNT];
    uint64_t sum = 0;

    follow_init(&lab, 23);
    lab.api.streaming_lists = false;
    follow_start(&lab);
    follow_settle(&lab);
    copy_request_counts(&lab.api, before);
    /* The versions of all watches become too old. */
    for (size_t i = 0; i < FAKE_KIND_COUNT; i++)
        fake_put(&lab.api, (enum fake_kind)i, "a", "later", 1);
    fake_compact(&lab.api);
    fake_cut_all(&lab.api);
    follow_pass(&lab, 20 * 1000);
    copy_request_counts(&lab.api, requests);
    for (size_t i = 0; i < FAKE_KIND_COUNT; i++)
        sum += requests[i] - before[i];
    /*
     * These are two watches and one list of each kind, except for the last written kind, and
     * requests open at the first refusal.
     */
    assert_in_range(sum, 3 * count_synced(&lab) - 1, 3 * count_synced(&lab) + 4);
    follow_release(&lab);
}

/* A selector of a served kind does not start discovery before its regular time. */
TEST(only_selectors_of_unserved_kinds_start_discovery)
{
    struct follow_lab lab;

    follow_init(&lab, 1);
    fake_put(&lab.api, FAKE_POLICY, "a", "p", SELECTS_CONFIG_MAPS);
    follow_start(&lab);
    follow_pass(&lab, 3 * 1000);

    uint64_t asked = lab.api.discovery_requests;

    fake_put(&lab.api, FAKE_POLICY, "a", "q", SELECTS_DEPLOYMENTS);
    follow_pass(&lab, 3 * 1000);
    assert_int_equal(lab.api.discovery_requests, asked);
    fake_put(&lab.api, FAKE_POLICY, "a", "r", SELECTS_UNHEARD);
    follow_pass(&lab, 3 * 1000);
    assert_true(lab.api.discovery_requests > asked);
    follow_release(&lab);
}

/* Each list repeats its first page without end, with a new token each time. */
TEST(endless_lists_are_retried_less_and_less_often)
{
    CLEANUP(free_cleanup) struct follow_lab *lab = xcalloc(1, sizeof(*lab));
    uint64_t first, later;

    follow_init(lab, 3);
    lab->api.endless = true;
    follow_put_policy(lab, "p", 1);
    follow_start(lab);
    follow_pass(lab, 60 * 1000);
    first = lab->api.pages;
    follow_pass(lab, 60 * 1000);
    later = lab->api.pages - first;
    assert_false(kube_source_ready(lab->source));
    assert_true(later > 0 && later < first);
    assert_in_range(first, 1,
                    8 * (LIST_EMPTY_PAGES_MAX + 1) * kube_source_reflector_count(lab->source));
    lab->api.endless = false;
    follow_pass(lab, 90 * 1000);
    assert_true(kube_source_ready(lab->source));
    follow_release(lab);
}
