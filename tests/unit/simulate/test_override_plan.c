/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/simulate/override_plan.h"

#include "metrics/simulate/plan.h"

#include "tests/unit/bound_objects.h"
#include "tests/unit/planned.h"
#include "tests/unit/reading.h"
#include "tests/unit/suite.h"
#include "tests/unit/world.h"

enum { NOW_MS = 1000 * 1000, TEXT_MAX = 1024 };

#define WEB                                                                                        \
    "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"web\","          \
    "\"namespace\":\"default\"},\"spec\":{\"replicas\":" /* and the number */
#define OVERRIDE(name, operation)                                                                  \
    "{\"apiVersion\":\"policy.karmada.io/v1alpha1\",\"kind\":\"OverridePolicy\",\"metadata\":{"    \
    "\"name\":\"" name "\",\"namespace\":\"default\"},\"spec\":{\"overrideRules\":[{"              \
    "\"overriders\":{\"plaintext\":[" operation "]}}]}}"
#define REPLACE(path, value) "{\"path\":\"" path "\",\"operator\":\"replace\",\"value\":" value "}"

static const struct plan_case {
    const char *name;
    const char *stored; /* Override policy before the change; NULL: none. */
    const char *apply;  /* NULL: the stored policy is deleted. */
    const char *wanted; /* "<cluster> <path> <from> <to>;" for each change, "fails" and "heals". */
} cases[] = {
    {"a new policy", NULL, OVERRIDE("o", REPLACE("/spec/replicas", "3")),
     "member1 /spec/replicas 2 3;"},
    {"a changed policy", OVERRIDE("o", REPLACE("/spec/replicas", "3")),
     OVERRIDE("o", REPLACE("/spec/replicas", "4")), "member1 /spec/replicas 3 4;"},
    {"a deleted policy", OVERRIDE("o", REPLACE("/spec/replicas", "3")), NULL,
     "member1 /spec/replicas 3 2;"},
    {"a policy that writes the present value", NULL, OVERRIDE("o", REPLACE("/spec/replicas", "2")),
     ""},
    {"a later policy wins already", OVERRIDE("z", REPLACE("/spec/replicas", "3")),
     OVERRIDE("a", REPLACE("/spec/replicas", "4")), ""},
    {"a policy that fails", NULL, OVERRIDE("o", REPLACE("/spec/none", "3")), "member1 fails;"},
    {"a repaired policy", OVERRIDE("o", REPLACE("/spec/none", "3")),
     OVERRIDE("o", REPLACE("/spec/replicas", "2")), "member1 heals;"},
    {"a changed template", OVERRIDE("o", REPLACE("/spec/paused", "true")),
     WEB "2,\"paused\":false}}", "member1 heals;"},
    {"a changed template with the same effect", OVERRIDE("o", REPLACE("/spec/replicas", "4")),
     WEB "3}}", ""},
};

static void add_item(struct strbuf *out, const struct plan_override *o)
{
    for (size_t i = 0; i < o->changes.count; i++) {
        const struct override_change *change = &o->changes.items[i];

        strbuf_addf(out, "%s %s %d %d;", o->cluster, change->path, change->from->valueint,
                    change->to->valueint);
    }
    if (o->failure_after || o->failure_before)
        strbuf_addf(out, "%s %s;", o->cluster, o->failure_after ? "fails" : "heals");
}

TEST_ROWS(copies_before_and_after_are_compared, cases, name)
{
    const struct plan_case *c = *state;
    CLEANUP(strbuf_release) struct strbuf found = STRBUF_INIT(TEXT_MAX);
    const struct plan_result *r;
    struct plan *p;
    struct world w;

    world_init(&w, &rules_options_default, 1);
    store_keep_documents(w.store, DOCUMENTS_OF_ALL);
    world_put_text(&w, CLUSTER("member1"));
    world_put_text(&w, POLICY("old", SELECTS("web") "," ON("member1")));
    world_put_text(&w, WEB "2}}");
    if (c->stored)
        world_put_text(&w, c->stored);
    world_run(&w, NOW_MS);
    p = plan_new(w.engine);
    plan_admit_manifests(p);
    if (c->apply)
        planned_apply(p, c->apply);
    else
        plan_delete(p,
                    world_find(&w, "policy.karmada.io/v1alpha1", "OverridePolicy", "default", "o"));
    r = plan_finish(p);
    for (size_t i = 0; i < r->override_count; i++)
        add_item(&found, &r->overrides[i]);
    assert_text(found.data, c->wanted);
    assert_int_equal(r->object_count, 0);
    plan_free(p);
    world_release(&w);
}
