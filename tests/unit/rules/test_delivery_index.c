/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/delivery_index.h"

#include "metrics/model/binding.h"
#include "metrics/rules/rule.h"
#include "tests/unit/reading.h"
#include "tests/unit/suite.h"
#include "tests/unit/world.h"

enum { CLUSTERS = 3, NAMES = 3, BINDINGS = 4, ROUNDS = 4000, NOW_MS = 1000 };

/* "m1" is a prefix of "m10". */
static const char *const clusters[CLUSTERS] = {"m1", "m10", "m2"};

/* Templates with bindings of similar names. The last template has no binding. */
static const struct bound {
    const char *api_version;
    const char *kind;
    const char *ns;
    const char *name;
    const char *binding;
} bound[BINDINGS + 1] = {
    {"apps/v1", "Deployment", "a", "web", "web-deployment"},
    {"apps/v1", "Deployment", "b", "web", "web-deployment"},
    {"apps/v1", "Deployment", "a", "db", "db-deployment"},
    {"rbac.authorization.k8s.io/v1", "ClusterRole", "", "web", "web-clusterrole"},
    {"apps/v1", "Deployment", "a", "unbound", NULL},
};

struct lab {
    struct world world;
    struct entry *templates[BINDINGS + 1];
    struct entry *bindings[BINDINGS];
};

static void put(struct world *w, const char *text)
{
    CLEANUP(json_cleanup) cJSON *json = json_of(text);

    world_put(w, json);
}

static void put_binding(struct world *w, const struct bound *b, const char *id)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(2048);
    const char *prefix = *b->ns ? "" : "cluster";

    strbuf_addf(&text,
                "{'apiVersion':'work.karmada.io/v1alpha2','kind':'%sResourceBinding',"
                "'metadata':{'name':'%s','namespace':'%s','labels':{"
                "'%sresourcebinding.karmada.io/permanent-id':'%s'}},'spec':{'placement':{},"
                "'resource':{'apiVersion':'%s','kind':'%s','namespace':'%s','name':'%s'}}}",
                *b->ns ? "" : "Cluster", b->binding, b->ns, prefix, id, b->api_version, b->kind,
                b->ns, b->name);
    put(w, text.data);
}

static void lab_init(struct lab *lab)
{
    world_init(&lab->world, &rules_options_default, 1);
    for (unsigned i = 0; i <= BINDINGS; i++) {
        const struct bound *b = &bound[i];
        char text[512];

        snprintf(text, sizeof(text),
                 "{'apiVersion':'%s','kind':'%s','metadata':{'name':'%s','namespace':'%s'}}",
                 b->api_version, b->kind, b->name, b->ns);
        put(&lab->world, text);
        lab->templates[i] = world_find(&lab->world, b->api_version, b->kind, b->ns, b->name);
        if (!b->binding)
            continue;
        put_binding(&lab->world, b, "old");
        lab->bindings[i] =
            world_find(&lab->world, "work.karmada.io/v1alpha2",
                       *b->ns ? "ResourceBinding" : "ClusterResourceBinding", b->ns, b->binding);
    }
    world_run(&lab->world, NOW_MS);
}

static void lab_release(struct lab *lab)
{
    world_release(&lab->world);
}

static const struct works *works_in(const struct lab *lab)
{
    return &engine_context(lab->world.engine)->works;
}

/* ---- random histories ---- */

/* Puts a Work of a random binding, of a missing binding, or without a binding. */
static void put_work(struct lab *lab, const char *ns, const char *name)
{
    struct world *w = &lab->world;
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(2048);
    unsigned of = world_random(w, BINDINGS + 2);
    const struct bound *b = &bound[of < BINDINGS ? of : 0];
    const char *prefix = *b->ns ? "" : "cluster";
    static const char *const ids[] = {"old", "old", "new", ""};

    strbuf_addf(&text,
                "{'apiVersion':'work.karmada.io/v1alpha1','kind':'Work','metadata':{'name':'%s',"
                "'namespace':'%s'",
                name, ns);
    if (of <= BINDINGS)
        strbuf_addf(&text,
                    ",'labels':{'%sresourcebinding.karmada.io/permanent-id':'%s'},'annotations':{"
                    "'%sresourcebinding.karmada.io/name':'%s',"
                    "'resourcebinding.karmada.io/namespace':'%s'}",
                    prefix, ids[world_random(w, ARRAY_LEN(ids))], prefix,
                    of < BINDINGS ? b->binding : "gone-deployment", b->ns);
    strbuf_addf(&text, "},'spec':{'suspendDispatching':%s}}",
                world_random(w, 2) ? "true" : "false");
    put(w, text.data);
}

/* Returns the expected result of work_in_cluster() from a scan of all Works. */
static const struct work *find_work_by_scan(const struct lab *lab, unsigned binding,
                                            const char *cluster)
{
    const struct type *type = store_find_type(lab->world.store, "work.karmada.io/v1alpha1", "Work");
    const struct binding *b = entry_binding(lab->bindings[binding]);
    const struct entry *found = NULL;

    for (const struct partition *p = type ? type->partitions : NULL; p; p = p->next_of_type) {
        for (size_t i = 0; i < p->count; i++) {
            const struct entry *entry = partition_entry(p, i);
            const struct work *work = entry_work(entry);
            const char *of = cluster_of_execution_ns(entry_ns(entry));

            if (work && work->binding_name && of && strcmp(of, cluster) == 0 &&
                strcmp(work->binding_name, bound[binding].binding) == 0 &&
                strcmp(work->binding_ns, bound[binding].ns) == 0 &&
                !(b && uid_hashes_differ(b->id_hash, work->binding_id)) &&
                (!found || strcmp(entry->name, found->name) < 0))
                found = entry;
        }
    }
    return entry_work(found);
}

/* Results of work_in_cluster() by binding and cluster. */
struct answers {
    bool there[BINDINGS][CLUSTERS];
    bool suspended[BINDINGS][CLUSTERS];
};

static void query_all(const struct lab *lab, struct answers *out)
{
    memset(out, 0, sizeof(*out));
    for (unsigned b = 0; b < BINDINGS; b++) {
        for (unsigned c = 0; c < CLUSTERS; c++) {
            const struct work *work = work_in_cluster(works_in(lab), lab->bindings[b], clusters[c]);

            assert_ptr_equal(work, find_work_by_scan(lab, b, clusters[c]));
            out->there[b][c] = work != NULL;
            out->suspended[b][c] = work && work->suspended;
        }
        assert_null(work_in_cluster(works_in(lab), lab->bindings[b], "m"));
        assert_null(work_in_cluster(works_in(lab), lab->bindings[b], "m100"));
        assert_null(work_in_cluster(works_in(lab), lab->bindings[b], ""));
    }
}

static void change_randomly(struct lab *lab)
{
    static const char *const spaces[] = {"karmada-es-m1", "karmada-es-m10", "karmada-es-m2",
                                         "elsewhere"};
    struct world *w = &lab->world;
    const char *ns = spaces[world_random(w, ARRAY_LEN(spaces))];
    char name[16];

    if (world_random(w, 10) == 0) {
        unsigned at = world_random(w, BINDINGS);

        put_binding(w, &bound[at], world_random(w, 2) ? "old" : "new");
        return;
    }
    snprintf(name, sizeof(name), "w%u", world_random(w, NAMES));

    struct entry *entry = world_find(w, "work.karmada.io/v1alpha1", "Work", ns, name);

    if (entry && world_random(w, 3) == 0)
        store_remove(w->store, entry);
    else
        put_work(lab, ns, name);
}

TEST(any_history_finds_each_work_and_marks_its_template)
{
    struct answers before, after;
    struct lab lab;

    lab_init(&lab);
    query_all(&lab, &before);
    for (unsigned round = 0; round < ROUNDS; round++) {
        change_randomly(&lab);
        query_all(&lab, &after);
        for (unsigned b = 0; b < BINDINGS; b++) {
            bool same =
                memcmp(before.there[b], after.there[b], sizeof(after.there[b])) == 0 &&
                memcmp(before.suspended[b], after.suspended[b], sizeof(after.suspended[b])) == 0;

            assert_true(same || lab.templates[b]->dirty);
        }
        world_run(&lab.world, NOW_MS);
        before = after;
    }
    lab_release(&lab);
}

#define WORK(rest)                                                                                 \
    "{'apiVersion':'work.karmada.io/v1alpha1','kind':'Work','metadata':{'name':'web',"             \
    "'namespace':'karmada-es-m1','annotations':{'resourcebinding.karmada.io/name':"                \
    "'web-deployment','resourcebinding.karmada.io/namespace':'a'}}" rest "}"

/* Member clusters update the status of Works often: that must not evaluate templates. */
TEST(a_status_update_of_a_work_marks_no_template)
{
    struct lab lab;

    lab_init(&lab);
    put(&lab.world, WORK(""));
    world_run(&lab.world, NOW_MS);
    put(&lab.world, WORK(",'status':{'manifestStatuses':[{'health':'Healthy'}]}"));
    for (unsigned i = 0; i <= BINDINGS; i++)
        assert_false(lab.templates[i]->dirty);
    put(&lab.world, WORK(",'spec':{'suspendDispatching':true}"));
    for (unsigned i = 0; i <= BINDINGS; i++)
        assert_int_equal(lab.templates[i]->dirty, i == 0);
    lab_release(&lab);
}

/* ---- whether Works are known ---- */

/* Asserts that Works have just become known or unknown: the templates with a binding are marked. */
static void expect_change(struct lab *lab, bool known)
{
    assert_int_equal(works_known(works_in(lab)), known);
    for (unsigned i = 0; i <= BINDINGS; i++)
        assert_int_equal(lab->templates[i]->dirty, i < BINDINGS);
    world_run(&lab->world, NOW_MS);
}

static void expect_no_change(struct lab *lab, bool known)
{
    assert_int_equal(works_known(works_in(lab)), known);
    for (unsigned i = 0; i <= BINDINGS; i++)
        assert_false(lab->templates[i]->dirty);
}

TEST(works_in_files_are_known_while_one_exists)
{
    static const char without_binding[] = "{'apiVersion':'work.karmada.io/v1alpha1','kind':'Work',"
                                          "'metadata':{'name':'a','namespace':'karmada-es-m1'}}";
    struct lab lab;

    lab_init(&lab);
    expect_no_change(&lab, false);
    put(&lab.world, without_binding);
    expect_change(&lab, true);
    put(&lab.world, without_binding);
    expect_no_change(&lab, true);
    store_remove(lab.world.store,
                 world_find(&lab.world, "work.karmada.io/v1alpha1", "Work", "karmada-es-m1", "a"));
    expect_change(&lab, false);
    lab_release(&lab);
}

TEST(watched_works_are_known_once_all_are_read)
{
    struct lab lab;
    struct engine *e;

    lab_init(&lab);
    e = lab.world.engine;
    engine_follow_works(e, true);
    expect_change(&lab, true);
    engine_set_incomplete(e, "work.karmada.io/v1alpha1", "Work", true);
    expect_change(&lab, false);
    put(&lab.world, WORK(""));
    assert_false(works_known(works_in(&lab)));
    world_run(&lab.world, NOW_MS);
    engine_set_incomplete(e, "work.karmada.io/v1alpha1", "Work", false);
    expect_change(&lab, true);
    engine_follow_works(e, false);
    expect_no_change(&lab, true);
    lab_release(&lab);
}

TEST(incomplete_kinds_other_than_work_do_not_matter)
{
    struct lab lab;

    lab_init(&lab);
    put(&lab.world, WORK(""));
    world_run(&lab.world, NOW_MS);
    engine_set_incomplete(lab.world.engine, "cluster.karmada.io/v1alpha1", "Cluster", true);
    assert_true(works_known(works_in(&lab)));
    lab_release(&lab);
}
