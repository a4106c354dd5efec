/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/source.h"

#include "exporter/kube/reflector/store.h"
#include "metrics/model/binding.h"
#include "metrics/model/object.h"
#include "metrics/model/policy.h"
#include "metrics/model/template.h"
#include "tests/unit/fake_api.h"
#include "tests/unit/suite.h"
#include "tests/unit/world.h"

enum {
    SEEDS = 200,
    STEPS = 120,
    /* A stream that went deaf, then one that turned out to have gone back in time. */
    CALM_MS = 60 * 60 * 1000,
    START_MS = 1000,
};

static const int64_t clock_offset_ms = INT64_C(1767225600000);

/* A source, the server it reads, and what it reads into. */
struct lab {
    struct fake_api api;
    struct world world;
    struct namespace_filter filter;
    struct log log;
    struct kube_source *source;
    bool restless; /* Objects change between any two turns. */
};

static void random_write(struct fake_api *api);

static void lab_init(struct lab *lab, uint32_t seed)
{
    *lab = (struct lab){.log = {.level = LOG_LEVEL_ERROR, .stream = stderr}};
    fake_api_init(&lab->api, seed);
    lab->api.now_ms = START_MS;
    world_init(&lab->world, &rules_options_default, seed);
}

static void lab_start(struct lab *lab)
{
    lab->source = kube_source_new(&(struct kube_settings){
        .store = lab->world.store,
        .engine = lab->world.engine,
        .filter = &lab->filter,
        .log = &lab->log,
        .transport = fake_api_transport(&lab->api),
        .streaming_lists = true,
        .seed = 7,
        .now_ms = lab->api.now_ms,
        .clock_ms = clock_offset_ms,
    });
}

static void lab_release(struct lab *lab)
{
    kube_source_free(lab->source);
    assert_null(lab->api.transfers);
    fake_api_release(&lab->api);
    world_release(&lab->world);
}

/* Everything that happens at this moment. */
static void settle(struct lab *lab)
{
    unsigned turns = 0;

    do {
        assert_true(++turns < 100000);
        kube_source_turn(lab->source, lab->api.now_ms, clock_offset_ms + lab->api.now_ms);
        if (lab->restless && fake_random(&lab->api, 20) == 0)
            random_write(&lab->api);
    } while (fake_turn(&lab->api));
    kube_source_turn(lab->source, lab->api.now_ms, clock_offset_ms + lab->api.now_ms);
}

/* Let time pass, from one thing that is due to the next. */
static void pass(struct lab *lab, int64_t ms)
{
    int64_t until_ms = lab->api.now_ms + ms;

    settle(lab);
    while (lab->api.now_ms < until_ms) {
        int64_t due_ms = kube_source_due(lab->source);
        int64_t step_ms = lab->api.now_ms + 10 * 1000;

        if (due_ms < step_ms)
            step_ms = due_ms > lab->api.now_ms ? due_ms : lab->api.now_ms + 1;
        lab->api.now_ms = step_ms < until_ms ? step_ms : until_ms;
        settle(lab);
    }
}

/* ---- what is there, and what should be ---- */

static void describe(const struct entry *entry, struct strbuf *out)
{
    strbuf_addf(out, "%s %s/%s", entry_kind(entry), entry_ns(entry), entry->name);
    if (entry_class(entry) == CLASS_TEMPLATE) {
        const struct template *t = entry_template(entry);

        strbuf_addf(out, " %s", t->labels.count > 0 ? t->labels.items[0].value : "?");
    } else if (entry_class(entry) == CLASS_POLICY) {
        strbuf_addf(out, " %d", entry_policy(entry)->priority);
    } else if (entry_class(entry) == CLASS_BINDING) {
        strbuf_addf(out, " %d", entry_binding(entry)->replicas);
    }
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* All objects of the store, one a line, sorted. */
static char *inventory(const struct store *store)
{
    char *lines[FAKE_OBJECTS_MAX];
    size_t count = 0, len;
    struct strbuf out = STRBUF_INIT(1 << 20);

    for (const struct type *type = store_types(store); type; type = type->next) {
        for (const struct partition *partition = type->partitions; partition;
             partition = partition->next_of_type) {
            for (size_t i = 0; i < partition->count; i++) {
                struct strbuf line = STRBUF_INIT(1 << 12);

                if (!entry_exists(partition->entries[i]))
                    continue;
                describe(partition->entries[i], &line);
                assert_true(count < ARRAY_LEN(lines));
                lines[count++] = strbuf_take(&line, &len);
            }
        }
    }
    qsort(lines, count, sizeof(*lines), by_text);
    for (size_t i = 0; i < count; i++) {
        strbuf_addf(&out, "%s\n", lines[i]);
        free(lines[i]);
    }
    return strbuf_take(&out, &len);
}

/* True if the object is to be in the store: a policy selects its kind, or a binding is of it. */
static bool is_kept(const struct fake_api *api, const struct fake_object *object)
{
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

/* As the server answers, once it has been asked. */
static enum version_answer judge(const void *context, const char *api_version, const char *kind)
{
    const struct fake_api *api = context;

    return strcmp(kind, "Foo") == 0 && strcmp(api_version, FAKE_OLD_VERSION) == 0 &&
                   api->served[FAKE_FOO]
               ? VERSION_UNWATCHED
               : VERSION_UNKNOWN;
}

/* A world that was just told of everything the server has. */
static void fresh_world(const struct fake_api *api, struct world *out)
{
    world_init(out, &rules_options_default, 99);
    engine_judge_versions(out->engine, (struct version_judge){judge, api});
    for (size_t i = 0; i < api->count; i++) {
        struct strbuf json = STRBUF_INIT(1 << 16);

        if (!is_kept(api, &api->objects[i]))
            continue;
        fake_write(&api->objects[i], false, &json);
        world_put_text(out, json.data);
        strbuf_release(&json);
    }
}

static void assert_same_text(const char *actual, const char *expected, uint32_t seed)
{
    if (strcmp(actual, expected) != 0)
        fail_msg("seed %u:\n--- is\n%s--- should be\n%s", seed, actual, expected);
}

static void assert_equals_server(struct lab *lab, uint32_t seed)
{
    struct world fresh;
    struct strbuf dump = STRBUF_INIT(1 << 22), fresh_dump = STRBUF_INIT(1 << 22);

    fresh_world(&lab->api, &fresh);

    CLEANUP(free_cleanup) char *actual = inventory(lab->world.store);
    CLEANUP(free_cleanup) char *expected = inventory(fresh.store);

    assert_same_text(actual, expected, seed);
    world_run(&lab->world, clock_offset_ms);
    world_inherit(&fresh, &lab->world);
    world_run(&fresh, clock_offset_ms);
    world_dump(&lab->world, &dump);
    world_dump(&fresh, &fresh_dump);
    assert_same_text(dump.data, fresh_dump.data, seed);
    strbuf_release(&dump);
    strbuf_release(&fresh_dump);
    world_release(&fresh);
}

/* ---- random histories ---- */

/* Where there are few policies, most kinds are watched for the sake of bindings alone. */
static bool is_rare(const struct fake_api *api, enum fake_kind kind)
{
    return api->few_policies && (kind == FAKE_POLICY || kind == FAKE_CLUSTER_POLICY);
}

static void remove_rare(struct fake_api *api)
{
    for (size_t i = api->count; i-- > 0;) {
        if (is_rare(api, api->objects[i].kind))
            fake_remove(api, i);
    }
}

static void random_write(struct fake_api *api)
{
    static const char *const namespaces[] = {"a", "b", "c"};
    static const char *const names[] = {"x", "y", "z", "u", "v", "w"};
    enum fake_kind kind = (enum fake_kind)fake_random(api, FAKE_KIND_COUNT);
    const char *ns = fake_kinds[kind].namespaced ? namespaces[fake_random(api, 3)] : "";

    if (is_rare(api, kind) && fake_random(api, 3) > 0)
        remove_rare(api);
    else if (api->count > 0 && fake_random(api, 4) == 0)
        fake_remove(api, fake_random(api, (uint32_t)api->count));
    else if (api->served[kind])
        fake_put(api, kind, ns, names[fake_random(api, ARRAY_LEN(names))], fake_random(api, 50));
}

static void random_step(struct lab *lab)
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
        pass(lab, fake_random(api, 400 * 1000));
        break;
    case 4:
    case 5:
        pass(lab, fake_random(api, 5000));
        break;
    default:
        random_write(api);
        break;
    }
    settle(lab);
}

static void count_requests(const struct fake_api *api, uint64_t *out)
{
    memcpy(out, api->requests, sizeof(api->requests));
}

/* Whatever the server did, nobody asked it more often than the waits allow. */
static void assert_patient(const struct lab *lab, uint32_t seed)
{
    int64_t seconds = (lab->api.now_ms - START_MS) / 1000;
    uint64_t requests[FAKE_KIND_COUNT];

    count_requests(&lab->api, requests);
    for (int i = 0; i < FAKE_KIND_COUNT; i++) {
        /* A list, its second try, its stream: then at least 0.8 s pass. */
        if (requests[i] > (uint64_t)(20 + 4 * seconds))
            fail_msg("seed %u: %" PRIu64 " requests for %s in %" PRId64 " s", seed, requests[i],
                     fake_kinds[i].resource, seconds);
    }
}

static void play_history(uint32_t seed, unsigned fault_percent)
{
    struct lab lab;

    lab_init(&lab, seed);
    lab.api.streaming_lists = fake_random(&lab.api, 2);
    lab.api.paginates = fake_random(&lab.api, 2);
    lab.api.bookmarks = fake_random(&lab.api, 3) > 0;
    lab.api.legacy_discovery = fake_random(&lab.api, 3) == 0;
    lab.api.fault_percent = fault_percent;
    lab.api.few_policies = seed % 3 > 0;
    for (unsigned i = 0; i < 30; i++)
        random_write(&lab.api);
    lab_start(&lab);
    lab.restless = seed % 2;
    for (unsigned i = 0; i < STEPS; i++)
        random_step(&lab);
    lab.restless = false;
    assert_patient(&lab, seed);
    lab.api.fault_percent = 0;
    pass(&lab, CALM_MS);
    assert_true(kube_source_ready(lab.source));
    assert_equals_server(&lab, seed);

    /* And then it is quiet: nothing but streams that end in time, and discovery. */
    uint64_t before[FAKE_KIND_COUNT], after[FAKE_KIND_COUNT];
    count_requests(&lab.api, before);
    pass(&lab, CALM_MS);
    count_requests(&lab.api, after);
    for (int i = 0; i < FAKE_KIND_COUNT; i++) {
        if (after[i] - before[i] > 25)
            fail_msg("seed %u: %" PRIu64 " requests for %s in a quiet hour", seed,
                     after[i] - before[i], fake_kinds[i].resource);
    }
    assert_equals_server(&lab, seed);
    lab_release(&lab);
}

TEST(after_any_faults_the_store_is_the_servers)
{
    static const unsigned percents[] = {0, 5, 30, 70};

    for (uint32_t seed = 1; seed <= SEEDS; seed++)
        play_history(seed, percents[seed % ARRAY_LEN(percents)]);
}

/* ---- one thing at a time ---- */

static const struct reflector *followed(const struct lab *lab, const char *resource)
{
    for (size_t i = 0; i < kube_source_count(lab->source); i++) {
        const struct reflector *f = kube_source_reflector(lab->source, i);

        if (strcmp(f->resource, resource) == 0)
            return f;
    }
    return NULL;
}

/* Values whose policies select ConfigMaps, Deployments, Foos, and a kind nobody has heard of. */
enum {
    SELECTS_CONFIG_MAPS = 0,
    SELECTS_DEPLOYMENTS = 1,
    SELECTS_FOOS = 2,
    SELECTS_UNHEARD = 4,
    SELECTS_OLD_FOOS = 5
};

TEST(kinds_come_with_the_first_selector_and_go_with_the_last)
{
    struct lab lab;

    lab_init(&lab, 1);
    fake_put(&lab.api, FAKE_DEPLOYMENT, "a", "x", 1);
    lab_start(&lab);
    settle(&lab);
    assert_null(followed(&lab, "deployments"));

    fake_put(&lab.api, FAKE_POLICY, "a", "p", SELECTS_DEPLOYMENTS);
    fake_put(&lab.api, FAKE_CLUSTER_POLICY, "", "q", SELECTS_DEPLOYMENTS + 6);
    settle(&lab);
    assert_non_null(followed(&lab, "deployments"));
    assert_null(followed(&lab, "configmaps"));
    assert_equals_server(&lab, 1);

    fake_remove(&lab.api, 1);
    settle(&lab);
    assert_non_null(followed(&lab, "deployments"));
    unsigned streams = lab.api.open_streams;
    fake_put(&lab.api, FAKE_CLUSTER_POLICY, "", "q", SELECTS_CONFIG_MAPS);
    settle(&lab);
    assert_null(followed(&lab, "deployments"));
    assert_int_equal(lab.api.open_streams, streams);
    assert_equals_server(&lab, 1);
    lab_release(&lab);
}

static size_t find_fake(const struct fake_api *api, enum fake_kind kind, const char *name)
{
    for (size_t i = 0; i < api->count; i++) {
        if (api->objects[i].kind == kind && strcmp(api->objects[i].name, name) == 0)
            return i;
    }
    fail_msg("there is no %s '%s'", fake_kinds[kind].kind, name);
    return 0;
}

/* "x" and "u" name ConfigMaps to fake bindings, "y" a Deployment. */
TEST(kinds_stay_for_as_long_as_a_binding_refers_to_them)
{
    struct lab lab;

    lab_init(&lab, 1);
    fake_put(&lab.api, FAKE_CONFIG_MAP, "a", "x", 1);
    fake_put(&lab.api, FAKE_CONFIG_MAP, "a", "other", 1);
    fake_put(&lab.api, FAKE_POLICY, "a", "p", SELECTS_CONFIG_MAPS);
    fake_put(&lab.api, FAKE_BINDING, "a", "x", 1);
    lab_start(&lab);
    settle(&lab);
    assert_int_equal(store_count(lab.world.store, CLASS_TEMPLATE), 2);

    /* The last policy goes: what it leaves behind stays in sight, and nothing else. */
    uint64_t requests = lab.api.requests[FAKE_CONFIG_MAP];
    fake_remove(&lab.api, find_fake(&lab.api, FAKE_POLICY, "p"));
    settle(&lab);
    assert_non_null(followed(&lab, "configmaps"));
    assert_int_equal(store_count(lab.world.store, CLASS_TEMPLATE), 1);
    assert_equals_server(&lab, 1);
    assert_int_equal(lab.api.requests[FAKE_CONFIG_MAP], requests);

    /* A policy comes back: all of them are read again. */
    fake_put(&lab.api, FAKE_POLICY, "a", "p", SELECTS_CONFIG_MAPS);
    settle(&lab);
    assert_int_equal(store_count(lab.world.store, CLASS_TEMPLATE), 2);
    assert_equals_server(&lab, 1);

    fake_remove(&lab.api, find_fake(&lab.api, FAKE_POLICY, "p"));
    settle(&lab);
    unsigned streams = lab.api.open_streams;
    fake_remove(&lab.api, find_fake(&lab.api, FAKE_BINDING, "x"));
    settle(&lab);
    assert_null(followed(&lab, "configmaps"));
    assert_equals_server(&lab, 1);
    fake_turn(&lab.api);
    assert_int_equal(lab.api.open_streams, streams - 1);
    lab_release(&lab);
}

TEST(a_binding_that_comes_later_brings_its_template_alone)
{
    struct lab lab;

    lab_init(&lab, 2);
    fake_put(&lab.api, FAKE_CONFIG_MAP, "a", "x", 1);
    fake_put(&lab.api, FAKE_CONFIG_MAP, "a", "u", 1);
    fake_put(&lab.api, FAKE_BINDING, "a", "x", 1);
    lab_start(&lab);
    settle(&lab);
    assert_int_equal(store_count(lab.world.store, CLASS_TEMPLATE), 1);

    uint64_t requests = lab.api.requests[FAKE_CONFIG_MAP];
    fake_put(&lab.api, FAKE_BINDING, "a", "u", 1);
    settle(&lab);
    assert_int_equal(store_count(lab.world.store, CLASS_TEMPLATE), 2);
    assert_int_equal(lab.api.requests[FAKE_CONFIG_MAP], requests);
    assert_int_equal(lab.api.fetches, 1);
    fake_remove(&lab.api, find_fake(&lab.api, FAKE_BINDING, "u"));
    settle(&lab);
    assert_equals_server(&lab, 2);
    lab_release(&lab);
}

/* One list for many: with a request each a new policy with dependencies would be an attack. */
TEST(many_bindings_that_come_later_bring_their_templates_at_once)
{
    struct lab lab;
    char name[16];

    lab_init(&lab, 3);
    fake_put(&lab.api, FAKE_BINDING, "a", "x", 1);
    for (unsigned i = 0; i < 90; i++) {
        snprintf(name, sizeof(name), "x%u", i);
        fake_put(&lab.api, FAKE_CONFIG_MAP, "a", name, 1);
    }
    lab_start(&lab);
    settle(&lab);
    lab.api.slow_fetches = true;
    for (unsigned i = 0; i < 90; i++) {
        snprintf(name, sizeof(name), "x%u", i);
        fake_put(&lab.api, FAKE_BINDING, "a", name, 1);
    }
    settle(&lab);
    assert_int_equal(store_count(lab.world.store, CLASS_TEMPLATE), 90);
    assert_in_range(lab.api.fetches, 1, 8);
    assert_in_range(lab.api.requests[FAKE_CONFIG_MAP], 3, 8);
    assert_equals_server(&lab, 3);
    lab_release(&lab);
}

/* Whenever the object goes or changes while it is fetched, and whatever else is read meanwhile. */
TEST(what_is_fetched_late_is_not_believed)
{
    for (unsigned row = 0; row < 4 * 60; row++) {
        struct lab lab;

        lab_init(&lab, 50 + row);
        lab.api.streaming_lists = row & 1;
        fake_put(&lab.api, FAKE_BINDING, "a", "u", 1);
        fake_put(&lab.api, FAKE_CONFIG_MAP, "a", "x", 1);
        lab_start(&lab);
        settle(&lab);
        fake_put(&lab.api, FAKE_BINDING, "a", "x", 1);
        for (unsigned turns = 0; turns < row / 4; turns++) {
            kube_source_turn(lab.source, lab.api.now_ms, clock_offset_ms);
            fake_turn(&lab.api);
        }
        if (row & 2)
            fake_remove(&lab.api, find_fake(&lab.api, FAKE_CONFIG_MAP, "x"));
        else
            fake_put(&lab.api, FAKE_CONFIG_MAP, "a", "x", 2);
        pass(&lab, 1500);
        assert_equals_server(&lab, 50 + row);
        lab_release(&lab);
    }
}

static const struct entry *find_deployment(const struct lab *lab, const char *name)
{
    return store_find(lab->world.store, &(struct identity){"apps/v1", "Deployment", "a", name});
}

static bool is_unread(const struct lab *lab, const char *name)
{
    const struct entry *entry = find_deployment(lab, name);
    const struct template *t = entry ? entry_template(entry) : NULL;

    return t && t->unread;
}

/* Its bindings tell that it is there, and what Karmada made of it. */
TEST(what_may_not_be_read_is_known_by_its_binding)
{
    struct lab lab;

    lab_init(&lab, 4);
    lab.api.forbidden[FAKE_DEPLOYMENT] = true;
    fake_put(&lab.api, FAKE_DEPLOYMENT, "a", "y", 1);
    fake_put(&lab.api, FAKE_BINDING, "a", "y", 1);
    fake_put(&lab.api, FAKE_BINDING, "a", "v", 1);
    lab_start(&lab);
    pass(&lab, 5000);
    assert_true(kube_source_ready(lab.source));
    assert_true(is_unread(&lab, "y"));
    assert_true(is_unread(&lab, "v"));
    world_run(&lab.world, clock_offset_ms);
    assert_int_equal(template_decision(find_deployment(&lab, "y"))->state, STATE_ORPHANED);
    fake_put(&lab.api, FAKE_BINDING, "a", "y2", 1);
    fake_remove(&lab.api, find_fake(&lab.api, FAKE_BINDING, "v"));
    pass(&lab, 5000);
    assert_true(is_unread(&lab, "y2"));
    assert_int_equal(store_count(lab.world.store, CLASS_TEMPLATE), 2);

    /* It may be read after all: then it is known what there is. */
    lab.api.forbidden[FAKE_DEPLOYMENT] = false;
    pass(&lab, 61 * 1000);
    assert_false(is_unread(&lab, "y"));
    assert_int_equal(store_count(lab.world.store, CLASS_TEMPLATE), 1);
    assert_equals_server(&lab, 4);

    /* And no more: what is known stays, what comes is known by its binding. */
    lab.api.forbidden[FAKE_DEPLOYMENT] = true;
    fake_put(&lab.api, FAKE_BINDING, "a", "v", 2);
    settle(&lab);
    assert_true(is_unread(&lab, "v"));
    assert_false(is_unread(&lab, "y"));
    lab.api.forbidden[FAKE_DEPLOYMENT] = false;
    pass(&lab, 61 * 1000);
    assert_equals_server(&lab, 4);
    lab_release(&lab);
}

/* Whenever the binding comes, what cannot be read holds nothing up. */
TEST(what_is_fetched_holds_up_nothing)
{
    for (unsigned row = 0; row < 2 * 40; row++) {
        struct lab lab;

        lab_init(&lab, 300 + row);
        lab.api.forbidden[FAKE_DEPLOYMENT] = row & 1;
        lab.api.streaming_lists = row & 2;
        fake_put(&lab.api, FAKE_BINDING, "a", "y", 1);
        lab_start(&lab);
        for (unsigned turns = 0; turns < row / 2; turns++) {
            kube_source_turn(lab.source, lab.api.now_ms, clock_offset_ms);
            fake_turn(&lab.api);
        }
        fake_put(&lab.api, FAKE_BINDING, "a", "v", 1);
        pass(&lab, 5000);
        assert_true(kube_source_ready(lab.source));
        assert_int_equal(is_unread(&lab, "v"), lab.api.forbidden[FAKE_DEPLOYMENT]);
        lab_release(&lab);
    }
}

TEST(kinds_that_are_not_served_are_reported_and_tried_again)
{
    struct lab lab;

    lab_init(&lab, 2);
    lab.api.served[FAKE_FOO] = false;
    fake_put(&lab.api, FAKE_POLICY, "a", "p", SELECTS_FOOS);
    fake_put(&lab.api, FAKE_POLICY, "a", "q", SELECTS_UNHEARD);
    lab_start(&lab);
    settle(&lab);
    assert_int_equal(kube_source_unserved_count(lab.source), 2);
    assert_true(kube_source_unserved(lab.source, 0)->answer == DISCOVERY_ABSENT);
    assert_true(kube_source_ready(lab.source));

    fake_serve(&lab.api, FAKE_FOO, true);
    fake_put(&lab.api, FAKE_FOO, "a", "x", 1);
    pass(&lab, 35 * 1000);
    assert_int_equal(kube_source_unserved_count(lab.source), 1);
    assert_string_equal(kube_source_unserved(lab.source, 0)->kind, "Unheard");
    assert_equals_server(&lab, 2);

    /* A stream that is told "not found" asks what is served, rather than wait for the next time. */
    fake_serve(&lab.api, FAKE_FOO, false);
    fake_cut_all(&lab.api);
    pass(&lab, 5 * 1000);
    assert_int_equal(kube_source_unserved_count(lab.source), 2);
    assert_equals_server(&lab, 2);
    lab_release(&lab);
}

/* Karmada looks at the preferred version, whatever policies and older bindings name. */
TEST(another_version_than_the_preferred_one_is_no_template)
{
    static const struct identity foo = {"example.io/v1", "Foo", "a", "z"};
    struct lab lab;

    for (uint32_t seed = 60; seed < 64; seed++) {
        lab_init(&lab, seed);
        fake_put(&lab.api, FAKE_POLICY, "a", "p", SELECTS_OLD_FOOS);
        fake_put(&lab.api, FAKE_FOO, "a", "z", 1);
        lab_start(&lab);
        settle(&lab);
        assert_null(followed(&lab, "foos"));
        assert_int_equal(kube_source_unserved_count(lab.source), 1);
        assert_int_equal(kube_source_unserved(lab.source, 0)->answer, DISCOVERY_UNWATCHED);

        /* An older binding is of the template all the same. */
        fake_put(&lab.api, FAKE_BINDING, "a", "z", FAKE_OLD_VALUE);
        pass(&lab, 5000);
        assert_non_null(store_find(lab.world.store, &foo));
        assert_string_equal(followed(&lab, "foos")->api_version, "example.io/v1");
        world_run(&lab.world, clock_offset_ms);

        const struct entry *entry = store_find(lab.world.store, &foo);
        assert_non_null(template_decision(entry)->binding);
        lab_release(&lab);
    }
}

TEST(clusters_may_be_absent)
{
    struct lab lab;

    lab_init(&lab, 3);
    lab.api.served[FAKE_CLUSTER] = false;
    lab_start(&lab);
    settle(&lab);
    assert_true(kube_source_ready(lab.source));
    assert_false(followed(&lab, "clusters")->synced);
    pass(&lab, CALM_MS);
    /* A patient question from time to time. */
    assert_in_range(lab.api.requests[FAKE_CLUSTER], 60, 150);
    lab_release(&lab);
}

/* The table of kinds alone says what is watched: what it has as such is, in all namespaces. */
TEST(every_kind_of_the_table_is_watched)
{
    struct lab lab;
    size_t count;
    const struct kind_def *table = kind_table(&count);

    lab_init(&lab, 3);
    lab_start(&lab);
    for (const struct kind_def *def = table; def < table + count; def++) {
        if (def->watch.when == WATCH_ALWAYS && !followed(&lab, def->watch.resource))
            fail_msg("%s is not watched", def->name);
    }
    lab_release(&lab);
}

/* The objects of a kind go with it, once the server says that it is gone, not before. */
TEST(a_kind_that_is_gone_leaves_nothing)
{
    struct lab lab;

    lab_init(&lab, 4);
    fake_put(&lab.api, FAKE_CLUSTER, "", "m", 1);
    lab_start(&lab);
    settle(&lab);
    assert_int_equal(store_count(lab.world.store, CLASS_CLUSTER), 1);
    fake_cut_all(&lab.api);
    lab.api.fault_percent = 100;
    pass(&lab, CALM_MS);
    assert_int_equal(store_count(lab.world.store, CLASS_CLUSTER), 1);
    lab.api.fault_percent = 0;
    fake_serve(&lab.api, FAKE_CLUSTER, false);
    pass(&lab, 2 * 61 * 1000);
    assert_int_equal(store_count(lab.world.store, CLASS_CLUSTER), 0);
    fake_serve(&lab.api, FAKE_CLUSTER, true);
    fake_put(&lab.api, FAKE_CLUSTER, "", "m", 2);
    pass(&lab, 2 * 61 * 1000);
    assert_equals_server(&lab, 4);
    lab_release(&lab);
}

TEST(nothing_is_ready_before_the_policies_are_read)
{
    struct lab lab;

    lab_init(&lab, 4);
    lab.api.served[FAKE_POLICY] = false;
    lab_start(&lab);
    pass(&lab, CALM_MS);
    assert_false(kube_source_ready(lab.source));
    fake_serve(&lab.api, FAKE_POLICY, true);
    pass(&lab, 61 * 1000);
    assert_true(kube_source_ready(lab.source));
    lab.api.fault_percent = 100;
    fake_cut_all(&lab.api);
    pass(&lab, CALM_MS);
    assert_true(kube_source_ready(lab.source));
    lab_release(&lab);
}

/* Through an outage, and through the list after it, at every single moment. */
TEST(a_relist_lowers_nothing_half_way)
{
    struct lab lab;
    size_t policies, lists;

    for (uint32_t seed = 5; seed < 9; seed++) {
        lab_init(&lab, seed);
        lab.api.paginates = seed % 2;
        lab.api.streaming_lists = seed > 6;
        for (unsigned i = 0; i < 20; i++) {
            char name[16];

            snprintf(name, sizeof(name), "p%u", i);
            fake_put(&lab.api, FAKE_POLICY, "a", name, SELECTS_CONFIG_MAPS);
        }
        lab_start(&lab);
        settle(&lab);
        policies = store_count(lab.world.store, CLASS_POLICY);
        assert_int_equal(policies, 20);
        lists = lab.api.requests[FAKE_POLICY];
        fake_put(&lab.api, FAKE_CONFIG_MAP, "a", "x", 1);
        fake_compact(&lab.api);
        fake_cut_all(&lab.api);
        for (unsigned i = 0; i < 20000; i++) {
            kube_source_turn(lab.source, lab.api.now_ms, clock_offset_ms);
            lab.api.now_ms += fake_turn(&lab.api) ? 0 : 1;
            assert_int_equal(store_count(lab.world.store, CLASS_POLICY), policies);
        }
        assert_true(lab.api.requests[FAKE_POLICY] > lists + 1);
        assert_equals_server(&lab, seed);
        lab_release(&lab);
    }
}

/* The server comes back older than we are: nothing says so but its silence. */
TEST(a_server_restored_from_a_backup_is_noticed)
{
    struct fake_snapshot *backup = xcalloc(1, sizeof(*backup));
    struct lab lab;

    for (uint32_t seed = 10; seed < 14; seed++) {
        lab_init(&lab, seed);
        lab.api.bookmarks = seed % 2;
        lab.api.streaming_lists = seed > 11;
        for (unsigned i = 0; i < 60; i++)
            random_write(&lab.api);
        memcpy(backup->objects, lab.api.objects, sizeof(backup->objects));
        backup->count = lab.api.count;
        backup->version = lab.api.version;
        lab_start(&lab);
        settle(&lab);
        for (unsigned i = 0; i < 60; i++)
            random_write(&lab.api);
        pass(&lab, 5 * 60 * 1000);
        fake_restore(&lab.api, backup);
        pass(&lab, 2 * CALM_MS);
        assert_equals_server(&lab, seed);
        lab_release(&lab);
    }
    free(backup);
}

TEST(only_the_scope_is_looked_at)
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
        struct lab lab;

        lab_init(&lab, 20);
        lab.filter = scopes[i];
        fake_put(&lab.api, FAKE_CLUSTER_POLICY, "", "p", SELECTS_CONFIG_MAPS);
        fake_put(&lab.api, FAKE_CONFIG_MAP, "a", "x", 1);
        fake_put(&lab.api, FAKE_CONFIG_MAP, "b", "x", 1);
        fake_put(&lab.api, FAKE_CONFIG_MAP, "c", "x", 1);
        lab_start(&lab);
        settle(&lab);
        assert_true(kube_source_ready(lab.source));
        assert_int_equal(store_find(lab.world.store, &in_a) != NULL, seen[i][0]);
        assert_int_equal(store_find(lab.world.store, &in_b) != NULL, seen[i][1]);
        assert_int_equal(store_find(lab.world.store, &in_c) != NULL, seen[i][2]);
        lab_release(&lab);
    }
}

TEST(shards_share_everything_once)
{
    enum { SHARDS = 3, NAMESPACES = 30 };
    size_t maps = 0, cluster_bindings = 0;

    for (uint32_t shard = 0; shard < SHARDS; shard++) {
        struct lab lab;
        char ns[16];

        lab_init(&lab, 21);
        lab.filter = (struct namespace_filter){.shard = shard, .total_shards = SHARDS};
        fake_put(&lab.api, FAKE_CLUSTER_POLICY, "", "p", SELECTS_CONFIG_MAPS);
        fake_put(&lab.api, FAKE_CLUSTER_BINDING, "", "c", 1);
        for (unsigned i = 0; i < NAMESPACES; i++) {
            snprintf(ns, sizeof(ns), "n%u", i);
            fake_put(&lab.api, FAKE_CONFIG_MAP, ns, "x", 1);
        }
        lab_start(&lab);
        settle(&lab);
        assert_true(kube_source_ready(lab.source));
        assert_int_equal(store_count(lab.world.store, CLASS_POLICY), 1);
        assert_in_range(store_count(lab.world.store, CLASS_TEMPLATE), 1, NAMESPACES - 1);
        maps += store_count(lab.world.store, CLASS_TEMPLATE);
        cluster_bindings += store_count(lab.world.store, CLASS_BINDING);
        lab_release(&lab);
    }
    assert_int_equal(maps, NAMESPACES);
    assert_int_equal(cluster_bindings, 1);
}

/* How many kinds have been read. Those that the fake server does not have must be known absent. */
static size_t count_synced(const struct lab *lab)
{
    size_t count = 0;

    for (size_t i = 0; i < kube_source_count(lab->source); i++) {
        const struct reflector *r = kube_source_reflector(lab->source, i);

        assert_true(r->synced || r->last_end == END_ABSENT);
        count += r->synced;
    }
    return count;
}

/* How many watches are as if nothing had happened: the last request was answered. */
static size_t count_healthy(const struct lab *lab)
{
    size_t count = 0;

    for (size_t i = 0; i < kube_source_count(lab->source); i++) {
        const struct reflector *r = kube_source_reflector(lab->source, i);

        count += r->watch.phase == WATCH_STREAMING && !r->failure.text[0] && !r->failure.warned;
    }
    return count;
}

/* Until one of them finds the server, all wait for long; then none waits on, and no news is good.
 */
TEST(after_an_outage_the_first_answer_ends_the_waits_of_all)
{
    for (uint32_t seed = 30; seed < 40; seed++) {
        struct lab lab;
        size_t healthy;
        int64_t first_ms;

        lab_init(&lab, seed);
        lab.api.bookmarks = false;
        fake_put(&lab.api, FAKE_POLICY, "a", "p", SELECTS_DEPLOYMENTS);
        lab_start(&lab);
        pass(&lab, 5000);
        healthy = count_healthy(&lab);
        assert_int_equal(healthy, FAKE_KIND_COUNT - 2);
        lab.api.unreachable = true;
        fake_cut_all(&lab.api);
        pass(&lab, 60 * 1000);
        assert_int_equal(count_healthy(&lab), 0);
        lab.api.unreachable = false;
        while (lab.api.open_streams == 0)
            pass(&lab, 10);
        first_ms = lab.api.now_ms;
        pass(&lab, 10);
        while (count_healthy(&lab) < healthy)
            pass(&lab, 10);
        /* The second in which a stream could still say that it missed something is part of it. */
        assert_in_range(lab.api.now_ms - first_ms, 0, 1500);
        assert_equals_server(&lab, seed);
        lab_release(&lab);
    }
}

/* What all lose at once they do not all ask for again at once. */
TEST(waits_for_a_server_that_is_gone_are_spread)
{
    struct lab lab;
    size_t count, apart = 0;

    lab_init(&lab, 41);
    lab_start(&lab);
    pass(&lab, 5000);
    lab.api.unreachable = true;
    fake_cut_all(&lab.api);
    settle(&lab);
    count = kube_source_count(lab.source);
    for (size_t i = 1; i < count; i++)
        apart += kube_source_reflector(lab.source, i)->watch.due_ms !=
                 kube_source_reflector(lab.source, 0)->watch.due_ms;
    assert_true(count > 5);
    assert_in_range(apart, count / 2, count);
    lab_release(&lab);
}

/* A kind that can be read again does not count as one that fails, nor twice while it does. */
TEST(failures_are_counted_while_they_last)
{
    struct reflector_context context = {.reflector_count = 4};
    struct failure failure = {.context = &context};

    failure_count(&failure, true);
    failure_count(&failure, true);
    assert_int_equal(context.failing_count, 1);
    failure_count(&failure, false);
    failure_count(&failure, false);
    assert_int_equal(context.failing_count, 0);
}

/* Lists that are complete, or refused, leave their places to others. */
TEST(no_list_is_counted_after_its_end)
{
    struct lab lab;

    lab_init(&lab, 43);
    lab.api.streaming_lists = false;
    lab.api.paginates = true;
    lab.api.forbidden[FAKE_CLUSTER_POLICY] = lab.api.forbidden[FAKE_CLUSTER] = true;
    for (char name[] = "a"; name[0] <= 'h'; name[0]++)
        fake_put(&lab.api, FAKE_POLICY, "a", name, 1);
    lab_start(&lab);
    pass(&lab, 5000);
    for (size_t i = 0; i < kube_source_count(lab.source); i++)
        assert_int_equal(kube_source_reflector(lab.source, i)->ticket.state, TICKET_IDLE);
    lab_release(&lab);
}

/* With nothing else to do, it is the discovery that a turn is due for. */
TEST(a_turn_is_due_for_whatever_is_due_first)
{
    struct lab lab;

    lab_init(&lab, 42);
    lab_start(&lab);
    pass(&lab, 5000);
    for (size_t i = 0; i < kube_source_count(lab.source); i++)
        assert_true(kube_source_due(lab.source) <=
                    reflector_due(kube_source_reflector(lab.source, i)));
    uint64_t rounds = lab.api.discovery_requests;
    while (lab.api.discovery_requests == rounds) {
        assert_true(kube_source_due(lab.source) < lab.api.now_ms + 60 * 60 * 1000);
        lab.api.now_ms = kube_source_due(lab.source);
        settle(&lab);
        assert_true(lab.api.now_ms < 120 * 1000);
    }
    lab_release(&lab);
}

/* One bad write on the server removes nothing here, however often everything is listed again. */
TEST(the_last_version_that_could_be_read_outlives_relists)
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
        assert_int_equal(store_count(world.store, CLASS_TEMPLATE), 1);
    }
    assert_int_equal(s.rejected, 2);
    /* A version that is not valid, and then none at all. */
    cJSON_AddItemToObject(cJSON_GetObjectItem(object, "metadata"), "labels",
                          cJSON_CreateStringArray((const char *const[]){"no map"}, 1));
    reflector_store_begin_pass(&s, false);
    reflector_store_put(&s, object);
    reflector_store_end_pass(&s);
    assert_int_equal(s.rejected, 3);
    assert_int_equal(store_count(world.store, CLASS_TEMPLATE), 1);
    reflector_store_begin_pass(&s, false);
    reflector_store_end_pass(&s);
    assert_int_equal(store_count(world.store, CLASS_TEMPLATE), 0);
    cJSON_Delete(object);
    world_release(&world);
}

/* However many there are: so many lists at once, and all are read in the end. */
TEST(lists_wait_for_each_other)
{
    struct lab lab;
    unsigned lists = 0;

    lab_init(&lab, 22);
    lab_start(&lab);
    kube_source_turn(lab.source, lab.api.now_ms, clock_offset_ms);
    for (size_t i = 0; i < kube_source_count(lab.source); i++)
        lists += kube_source_reflector(lab.source, i)->request.transfer != NULL;
    assert_int_equal(lists, 4);
    settle(&lab);
    assert_true(count_synced(&lab) >= lists);
    lab_release(&lab);
}

/* What a server refuses to the first it is not asked for by all the others. */
TEST(streaming_lists_are_given_up_together)
{
    struct lab lab;
    uint64_t requests[FAKE_KIND_COUNT];
    uint64_t sum = 0;

    lab_init(&lab, 23);
    lab.api.streaming_lists = false;
    lab_start(&lab);
    settle(&lab);
    count_requests(&lab.api, requests);
    for (size_t i = 0; i < FAKE_KIND_COUNT; i++)
        sum += requests[i];
    /* A list and a watch each, and those that were under way when the first was refused. */
    assert_in_range(sum, 2 * count_synced(&lab), 2 * count_synced(&lab) + 4);
    lab_release(&lab);
}
