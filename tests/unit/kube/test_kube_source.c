/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/kube_source.h"

#include "exporter/kube/reflector_store.h"
#include "metrics/model/binding.h"
#include "metrics/model/policy.h"
#include "metrics/model/store.h"
#include "metrics/model/template.h"
#include "metrics/model/work.h"
#include "tests/unit/follow.h"
#include "tests/unit/suite.h"

enum {
    SEEDS = 200,
    STEPS = 120,
    /* A stream that went deaf, then one that turned out to have gone back in time. */
    CALM_MS = 60 * 60 * 1000,
};

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
    } else if (entry_class(entry) == CLASS_WORK) {
        strbuf_addf(out, " of %s", entry_work(entry)->binding_ns);
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

    for (const struct type *type = store_first_type(store); type; type = type->next) {
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

static bool has_override(const struct fake_api *api)
{
    bool has = false;

    for (size_t i = 0; i < api->count; i++)
        has = has || api->objects[i].kind == FAKE_OVERRIDE ||
              api->objects[i].kind == FAKE_CLUSTER_OVERRIDE;
    return has;
}

/* True if the object is to be in the store: a policy selects its kind, or a binding is of it. */
static bool is_kept(const struct fake_api *api, const struct fake_object *object)
{
    if (object->kind == FAKE_WORK)
        return api->works_wanted && fake_work_ns(object->value);
    if (object->kind == FAKE_EVENT && strstr(fake_event_reason(object->name), "Override"))
        return api->works_wanted && has_override(api);
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
static enum api_version_answer judge(const void *context, const char *api_version, const char *kind)
{
    const struct fake_api *api = context;

    return strcmp(kind, "Foo") == 0 && strcmp(api_version, FAKE_OLD_VERSION) == 0 &&
                   api->served[FAKE_FOO]
               ? API_VERSION_UNWATCHED
               : API_VERSION_UNKNOWN;
}

/* A world that was just told of everything the server has. */
static void fresh_world(const struct fake_api *api, struct world *out)
{
    world_init(out, &rules_options_default, 99);
    engine_set_api_version_source(out->engine, (struct api_version_source){judge, api});
    engine_follow_works(out->engine, api->works_wanted);
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

static void assert_equals_server(struct follow_lab *lab, uint32_t seed)
{
    struct world fresh;
    struct strbuf dump = STRBUF_INIT(1 << 22), fresh_dump = STRBUF_INIT(1 << 22);

    fresh_world(&lab->api, &fresh);

    CLEANUP(free_cleanup) char *actual = inventory(lab->world.store);
    CLEANUP(free_cleanup) char *expected = inventory(fresh.store);

    assert_same_text(actual, expected, seed);
    world_run(&lab->world, FOLLOW_CLOCK_OFFSET_MS);
    world_inherit(&fresh, &lab->world);
    world_run(&fresh, FOLLOW_CLOCK_OFFSET_MS);
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

/* So that objects change between any two turns. */
static void write_now_and_then(struct fake_api *api)
{
    if (fake_random(api, 20) == 0)
        random_write(api);
}

static void random_step(struct follow_lab *lab)
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
        random_write(api);
        break;
    }
    follow_settle(lab);
}

static void count_requests(const struct fake_api *api, uint64_t *out)
{
    memcpy(out, api->requests, sizeof(api->requests));
}

/* Whatever the server did, nobody asked it more often than the waits allow. */
static void assert_patient(const struct follow_lab *lab, uint32_t seed)
{
    int64_t seconds = (lab->api.now_ms - FOLLOW_START_MS) / 1000;
    uint64_t requests[FAKE_KIND_COUNT];

    count_requests(&lab->api, requests);
    for (int i = 0; i < FAKE_KIND_COUNT; i++) {
        /* A list, its second try, its stream: then at least 0.8 s pass. */
        if (requests[i] > (uint64_t)(20 + 4 * seconds))
            fail_msg("seed %u: %" PRIu64 " requests for %s in %" PRId64 " s", seed, requests[i],
                     fake_kinds[i].resource, seconds);
    }
}

static void overlay_history(uint32_t seed, unsigned fault_percent)
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
    for (unsigned i = 0; i < 30; i++)
        random_write(&lab.api);
    follow_start(&lab);
    lab.disturb = seed % 2 ? write_now_and_then : NULL;
    for (unsigned i = 0; i < STEPS; i++)
        random_step(&lab);
    lab.disturb = NULL;
    assert_patient(&lab, seed);
    lab.api.fault_percent = 0;
    follow_pass(&lab, CALM_MS);
    assert_true(kube_source_ready(lab.source));
    assert_equals_server(&lab, seed);

    /* And then it is quiet: nothing but streams that end in time, and discovery. */
    uint64_t before[FAKE_KIND_COUNT], after[FAKE_KIND_COUNT];
    count_requests(&lab.api, before);
    follow_pass(&lab, CALM_MS);
    count_requests(&lab.api, after);
    for (int i = 0; i < FAKE_KIND_COUNT; i++) {
        if (after[i] - before[i] > 25)
            fail_msg("seed %u: %" PRIu64 " requests for %s in a quiet hour", seed,
                     after[i] - before[i], fake_kinds[i].resource);
    }
    assert_equals_server(&lab, seed);
    follow_release(&lab);
}

TEST(after_any_faults_the_store_is_the_servers)
{
    static const unsigned percents[] = {0, 5, 30, 70};

    for (uint32_t seed = 1; seed <= SEEDS; seed++)
        overlay_history(seed, percents[seed % ARRAY_LEN(percents)]);
}

/* ---- one thing at a time ---- */

static const struct reflector *followed(const struct follow_lab *lab, const char *resource)
{
    for (size_t i = 0; i < kube_source_reflector_count(lab->source); i++) {
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
    struct follow_lab lab;

    follow_init(&lab, 1);
    fake_put(&lab.api, FAKE_DEPLOYMENT, "a", "x", 1);
    follow_start(&lab);
    follow_settle(&lab);
    assert_null(followed(&lab, "deployments"));

    fake_put(&lab.api, FAKE_POLICY, "a", "p", SELECTS_DEPLOYMENTS);
    fake_put(&lab.api, FAKE_CLUSTER_POLICY, "", "q", SELECTS_DEPLOYMENTS + 6);
    follow_settle(&lab);
    assert_non_null(followed(&lab, "deployments"));
    assert_null(followed(&lab, "configmaps"));
    assert_equals_server(&lab, 1);

    fake_remove(&lab.api, 1);
    follow_settle(&lab);
    assert_non_null(followed(&lab, "deployments"));
    unsigned streams = lab.api.open_streams;
    fake_put(&lab.api, FAKE_CLUSTER_POLICY, "", "q", SELECTS_CONFIG_MAPS);
    follow_settle(&lab);
    assert_null(followed(&lab, "deployments"));
    assert_int_equal(lab.api.open_streams, streams);
    assert_equals_server(&lab, 1);
    follow_release(&lab);
}

/* "x" and "u" name ConfigMaps to fake bindings, "y" a Deployment. */
TEST(kinds_stay_for_as_long_as_a_binding_refers_to_them)
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

    /* The last policy goes: what it leaves behind stays in sight, and nothing else. */
    uint64_t requests = lab.api.requests[FAKE_CONFIG_MAP];
    follow_remove(&lab, FAKE_POLICY, "p");
    follow_settle(&lab);
    assert_non_null(followed(&lab, "configmaps"));
    assert_int_equal(store_object_count(lab.world.store, CLASS_TEMPLATE), 1);
    assert_equals_server(&lab, 1);
    assert_int_equal(lab.api.requests[FAKE_CONFIG_MAP], requests);

    /* A policy comes back: all of them are read again. */
    fake_put(&lab.api, FAKE_POLICY, "a", "p", SELECTS_CONFIG_MAPS);
    follow_settle(&lab);
    assert_int_equal(store_object_count(lab.world.store, CLASS_TEMPLATE), 2);
    assert_equals_server(&lab, 1);

    follow_remove(&lab, FAKE_POLICY, "p");
    follow_settle(&lab);
    unsigned streams = lab.api.open_streams;
    follow_remove(&lab, FAKE_BINDING, "x");
    follow_settle(&lab);
    assert_null(followed(&lab, "configmaps"));
    assert_equals_server(&lab, 1);
    fake_turn(&lab.api);
    assert_int_equal(lab.api.open_streams, streams - 1);
    follow_release(&lab);
}

TEST(a_binding_that_comes_later_brings_its_template_alone)
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

/* One list for many: with a request each a new policy with dependencies would be an attack. */
TEST(many_bindings_that_come_later_bring_their_templates_at_once)
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

/* Whenever the object goes or changes while it is fetched, and whatever else is read meanwhile. */
TEST(what_is_fetched_late_is_not_believed)
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

/* Its bindings tell that it is there, and what Karmada made of it. */
TEST(what_may_not_be_read_is_known_by_its_binding)
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
    assert_int_equal(store_object_count(lab.world.store, CLASS_TEMPLATE), 2);

    /* It may be read after all: then it is known what there is. */
    lab.api.forbidden[FAKE_DEPLOYMENT] = false;
    follow_pass(&lab, 61 * 1000);
    assert_false(is_unread(&lab, "y"));
    assert_int_equal(store_object_count(lab.world.store, CLASS_TEMPLATE), 1);
    assert_equals_server(&lab, 4);

    /* And no more: what is known stays, what comes is known by its binding. */
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

/* Whenever the binding comes, what cannot be read holds nothing up. */
TEST(what_is_fetched_holds_up_nothing)
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

TEST(kinds_that_are_not_served_are_reported_and_tried_again)
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

    /* A stream that is told "not found" asks what is served, rather than wait for the next time. */
    fake_serve(&lab.api, FAKE_FOO, false);
    fake_cut_all(&lab.api);
    follow_pass(&lab, 5 * 1000);
    assert_int_equal(kube_source_unserved_kind_count(lab.source), 2);
    assert_equals_server(&lab, 2);
    follow_release(&lab);
}

/* Karmada looks at the preferred version, whatever policies and older bindings name. */
TEST(another_version_than_the_preferred_one_is_no_template)
{
    static const struct identity foo = {"example.io/v1", "Foo", "a", "z"};
    struct follow_lab lab;

    for (uint32_t seed = 60; seed < 64; seed++) {
        follow_init(&lab, seed);
        fake_put(&lab.api, FAKE_POLICY, "a", "p", SELECTS_OLD_FOOS);
        fake_put(&lab.api, FAKE_FOO, "a", "z", 1);
        follow_start(&lab);
        follow_settle(&lab);
        assert_null(followed(&lab, "foos"));
        assert_int_equal(kube_source_unserved_kind_count(lab.source), 1);
        assert_int_equal(kube_source_unserved_kind(lab.source, 0)->answer, DISCOVERY_UNWATCHED);

        /* An older binding is of the template all the same. */
        fake_put(&lab.api, FAKE_BINDING, "a", "z", FAKE_OLD_VALUE);
        follow_pass(&lab, 5000);
        assert_non_null(store_find(lab.world.store, &foo));
        assert_string_equal(followed(&lab, "foos")->api_version, "example.io/v1");
        world_run(&lab.world, FOLLOW_CLOCK_OFFSET_MS);

        const struct entry *entry = store_find(lab.world.store, &foo);
        assert_non_null(template_decision(entry)->binding);
        follow_release(&lab);
    }
}

TEST(clusters_may_be_absent)
{
    struct follow_lab lab;

    follow_init(&lab, 3);
    lab.api.served[FAKE_CLUSTER] = false;
    follow_start(&lab);
    follow_settle(&lab);
    assert_true(kube_source_ready(lab.source));
    assert_false(followed(&lab, "clusters")->synced);
    follow_pass(&lab, CALM_MS);
    /* A patient question from time to time. */
    assert_in_range(lab.api.requests[FAKE_CLUSTER], 60, 150);
    follow_release(&lab);
}

/* The table of kinds alone says what is watched: what it has as such is, in all namespaces. */
TEST(every_kind_of_the_table_is_watched)
{
    struct follow_lab lab;
    size_t count;
    const struct kind_def *table = kind_table(&count);

    follow_init(&lab, 3);
    follow_start(&lab);
    for (const struct kind_def *def = table; def < table + count; def++) {
        if (def->watch.when == WATCH_ALWAYS && !followed(&lab, def->watch.resource))
            fail_msg("%s is not watched", def->name);
    }
    follow_release(&lab);
}

/* The objects of a kind go with it, once the server says that it is gone, not before. */
TEST(a_kind_that_is_gone_leaves_nothing)
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

TEST(nothing_is_ready_before_the_policies_are_read)
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

/* Through an outage, and through the list after it, at every single moment. */
TEST(a_relist_lowers_nothing_half_way)
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

/* The server comes back older than we are: nothing says so but its silence. */
TEST(a_server_restored_from_a_backup_is_noticed)
{
    struct fake_snapshot *backup = xcalloc(1, sizeof(*backup));
    struct follow_lab lab;

    for (uint32_t seed = 10; seed < 14; seed++) {
        follow_init(&lab, seed);
        lab.api.bookmarks = seed % 2;
        lab.api.streaming_lists = seed > 11;
        for (unsigned i = 0; i < 60; i++)
            random_write(&lab.api);
        memcpy(backup->objects, lab.api.objects, sizeof(backup->objects));
        backup->count = lab.api.count;
        backup->version = lab.api.version;
        follow_start(&lab);
        follow_settle(&lab);
        for (unsigned i = 0; i < 60; i++)
            random_write(&lab.api);
        follow_pass(&lab, 5 * 60 * 1000);
        fake_restore(&lab.api, backup);
        follow_pass(&lab, 2 * CALM_MS);
        assert_equals_server(&lab, seed);
        follow_release(&lab);
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

static size_t count_watches(const struct follow_lab *lab, const char *resource)
{
    size_t count = 0;

    for (size_t i = 0; i < kube_source_reflector_count(lab->source); i++)
        count += strcmp(kube_source_reflector(lab->source, i)->resource, resource) == 0;
    return count;
}

/* With Works, since nothing else than what was asked for before may go over the wire without. */
TEST(failed_overrides_are_read_while_there_are_override_policies)
{
    static const char *const failed = "ApplyOverridePolicyFailed";
    struct follow_lab lab;

    follow_init(&lab, 21);
    lab.api.works_wanted = true;
    assert_string_equal(fake_event_reason("a"), failed);
    assert_string_not_equal(fake_event_reason("b"), failed);
    fake_put(&lab.api, FAKE_EVENT, "a", "a", 1);
    fake_put(&lab.api, FAKE_EVENT, "a", "b", 1);
    follow_start(&lab);
    follow_pass(&lab, 1000);
    assert_int_equal(count_watches(&lab, "events"), 1);
    assert_int_equal(store_object_count(lab.world.store, CLASS_EVENT), 1);
    fake_put(&lab.api, FAKE_CLUSTER_OVERRIDE, "", "x", 1);
    fake_put(&lab.api, FAKE_OVERRIDE, "a", "x", 1);
    follow_pass(&lab, 1000);
    assert_int_equal(count_watches(&lab, "events"), 2);
    assert_int_equal(store_object_count(lab.world.store, CLASS_EVENT), 2);
    follow_remove(&lab, FAKE_OVERRIDE, "x");
    follow_pass(&lab, 1000);
    assert_int_equal(count_watches(&lab, "events"), 2);
    follow_remove(&lab, FAKE_CLUSTER_OVERRIDE, "x");
    follow_pass(&lab, 1000);
    assert_int_equal(count_watches(&lab, "events"), 1);
    assert_int_equal(store_object_count(lab.world.store, CLASS_EVENT), 1);
    follow_release(&lab);
}

TEST(works_are_read_only_if_wanted)
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

/* They are in the namespaces of clusters, and count where their bindings do. */
TEST(works_are_kept_where_their_bindings_are)
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
    /* Others come to belong to a binding there, or cease to. */
    fake_put(&lab.api, FAKE_WORK, "karmada-es-m", "y", 5);
    fake_put(&lab.api, FAKE_WORK, "karmada-es-m", "z", 3);
    follow_settle(&lab);
    assert_int_equal(store_object_count(lab.world.store, CLASS_WORK), 1);
    assert_non_null(store_find(lab.world.store, &work));
    follow_release(&lab);
}

TEST(shards_share_everything_once)
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
            snprintf(ns, sizeof(ns), "n%u", i);
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

/* How many kinds have been read. Those that the fake server does not have must be known absent. */
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

/* How many watches are as if nothing had happened: the last request was answered. */
static size_t count_healthy(const struct follow_lab *lab)
{
    size_t count = 0;

    for (size_t i = 0; i < kube_source_reflector_count(lab->source); i++) {
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
        struct follow_lab lab;
        size_t healthy;
        int64_t first_ms;

        follow_init(&lab, seed);
        lab.api.bookmarks = false;
        fake_put(&lab.api, FAKE_POLICY, "a", "p", SELECTS_DEPLOYMENTS);
        follow_start(&lab);
        follow_pass(&lab, 5000);
        healthy = count_healthy(&lab);
        /* Policies select Deployments, of the three kinds of templates, and nobody wants Works. */
        assert_int_equal(healthy, FAKE_KIND_COUNT - 3);
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
        /* The second in which a stream could still say that it missed something is part of it. */
        assert_in_range(lab.api.now_ms - first_ms, 0, 1500);
        assert_equals_server(&lab, seed);
        follow_release(&lab);
    }
}

/* What all lose at once they do not all ask for again at once. */
TEST(waits_for_a_server_that_is_gone_are_spread)
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

/* A kind that can be read again does not count as one that fails, nor twice while it does. */
TEST(failures_are_counted_while_they_last)
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

/* Lists that are complete, or refused, leave their places to others. */
TEST(no_list_is_counted_after_its_end)
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

/* With nothing else to do, it is the discovery that a turn is due for. */
TEST(a_turn_is_due_for_whatever_is_due_first)
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
        assert_int_equal(store_object_count(world.store, CLASS_TEMPLATE), 1);
    }
    assert_int_equal(s.rejected, 2);
    /* A version that is not valid, and then none at all. */
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

/* However many there are: so many lists at once, and all are read in the end. */
TEST(lists_wait_for_each_other)
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

/* What a server refuses to the first it is not asked for by all the others. */
TEST(streaming_lists_are_given_up_together)
{
    struct follow_lab lab;
    uint64_t requests[FAKE_KIND_COUNT];
    uint64_t sum = 0;

    follow_init(&lab, 23);
    lab.api.streaming_lists = false;
    follow_start(&lab);
    follow_settle(&lab);
    count_requests(&lab.api, requests);
    for (size_t i = 0; i < FAKE_KIND_COUNT; i++)
        sum += requests[i];
    /* A list and a watch each, and those that were under way when the first was refused. */
    assert_in_range(sum, 2 * count_synced(&lab), 2 * count_synced(&lab) + 4);
    follow_release(&lab);
}

/* Discovery is asked for what is selected and not served, not for whatever changes. */
TEST(what_is_served_needs_no_discovery)
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

/* Each list repeats its first page for ever, with a new token each time. */
TEST(lists_that_do_not_end_are_tried_less_and_less_often)
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
