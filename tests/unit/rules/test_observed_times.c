/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/transitions.h"

#include <stdio.h>

#include "metrics/base/timestamp.h"
#include "metrics/model/template.h"
#include "tests/unit/suite.h"
#include "tests/unit/world.h"

#define POLICY(name, time, selected)                                                               \
    "{\"apiVersion\":\"policy.karmada.io/v1alpha1\",\"kind\":\"PropagationPolicy\",\"metadata\":{" \
    "\"name\":\"" name "\",\"namespace\":\"test\",\"labels\":{"                                    \
    "\"propagationpolicy.karmada.io/permanent-id\":\"" name "\"}" time "},\"spec\":{"              \
    "\"resourceSelectors\":[{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\"" selected "}],"          \
    "\"placement\":{\"clusterAffinity\":{\"clusterNames\":[\"m1\"]}}}}"
#define AT(time)                                                                                   \
    ",\"generation\":2,\"managedFields\":[{\"manager\":\"kubectl\",\"time\":\"" time               \
    "\",\"fieldsV1\":{\"f:spec\":{}}}]"
#define CLAIM                                                                                      \
    ",\"labels\":{\"propagationpolicy.karmada.io/permanent-id\":\"p\"},\"annotations\":{"          \
    "\"propagationpolicy.karmada.io/namespace\":\"test\","                                         \
    "\"propagationpolicy.karmada.io/name\":\"p\"}"
#define SETTINGS(name, metadata, data)                                                             \
    "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"" name                 \
    "\",\"namespace\":\"test\"" metadata "},\"data\":{\"a\":\"" data "\"}}"
#define BINDING(name, metadata, cluster)                                                           \
    "{\"apiVersion\":\"work.karmada.io/v1alpha2\",\"kind\":\"ResourceBinding\",\"metadata\":{"     \
    "\"name\":\"" name "-configmap\",\"namespace\":\"test\"" metadata                              \
    "},\"spec\":{\"resource\":{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"namespace\":"        \
    "\"test\",\"name\":\"" name                                                                    \
    "\"},\"placement\":{\"clusterAffinity\":{\"clusterNames\":[\"" cluster "\"]}}}}"

static int64_t ms_of(const char *time)
{
    int64_t ms;

    assert_true(parse_timestamp(time, &ms));
    return ms;
}

static const struct template_decision *decision_of(const struct world *w, const char *name)
{
    return template_decision(world_find(w, "v1", "ConfigMap", "test", name));
}

/*
 * With static takeover, drift is deferred until the next user change. The change has no time in
 * managedFields: the time at which the exporter sees it counts.
 */
TEST(a_change_without_a_time_is_dated_when_seen)
{
    const int64_t noon_ms = ms_of("2026-01-01T12:00:00Z");
    struct rules_options options = rules_options_default;
    struct world w;

    options.takeover = TAKEOVER_STATIC;
    world_init(&w, &options, 1);
    world_put_text(&w, POLICY("p", "", ""));
    world_put_text(&w, SETTINGS("one", CLAIM, "1"));
    world_put_text(&w, BINDING("one", CLAIM, "m2"));
    world_run(&w, noon_ms);
    assert_int_equal(decision_of(&w, "one")->phase, PHASE_DEFERRED);

    /* The object is put again without a change. */
    world_put_text(&w, SETTINGS("one", CLAIM, "1"));
    world_run(&w, noon_ms + 1000);
    assert_true(engine_deadline(w.engine) == INT64_MAX);

    world_put_text(&w, SETTINGS("one", CLAIM, "2"));
    world_run(&w, noon_ms + 2000);
    assert_int_equal(decision_of(&w, "one")->phase, PHASE_DEFERRED);
    world_run(&w, noon_ms + 62000);
    assert_int_equal(decision_of(&w, "one")->phase, PHASE_DEFERRED);
    world_run(&w, noon_ms + 62001);
    assert_int_equal(decision_of(&w, "one")->phase, PHASE_OVERDUE);

    /* The policy changes: its drift is deferred until the next user change. */
    world_put_text(&w, POLICY("p", "", ",\"namespace\":\"test\""));
    world_run(&w, noon_ms + 63000);
    assert_int_equal(decision_of(&w, "one")->phase, PHASE_DEFERRED);
    world_release(&w);
}

static void expect_phases(const struct world *w, enum stale_phase phase)
{
    static const char *const names[] = {"one", "two"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        assert_int_equal(decision_of(w, names[i])->state, STATE_STALE);
        assert_int_equal(decision_of(w, names[i])->reason, STALE_SELECTOR_MISMATCH);
        assert_int_equal(decision_of(w, names[i])->phase, phase);
    }
}

/*
 * Karmada removes the claims of a changed policy one by one. While it makes progress, the remaining
 * templates are not overdue.
 */
TEST(progress_on_a_policy_extends_the_grace_period)
{
    const int64_t noon_ms = ms_of("2026-01-01T12:00:00Z");
    struct world w;

    world_init(&w, &rules_options_default, 1);
    world_put_text(&w, POLICY("p", AT("2026-01-01T11:00:00Z"), ""));
    world_put_text(&w, SETTINGS("one", CLAIM, "1"));
    world_put_text(&w, SETTINGS("two", CLAIM, "1"));
    world_put_text(&w, SETTINGS("three", CLAIM, "1"));
    world_put_text(&w, BINDING("one", CLAIM, "m1"));
    world_run(&w, noon_ms - 1000);
    world_put_text(&w, POLICY("p", AT("2026-01-01T12:00:00Z"), ",\"name\":\"other\""));
    world_run(&w, noon_ms);
    expect_phases(&w, PHASE_DEFERRED);

    /* After 50 s, the claim of a third template is removed: the grace period ends 60 s later. */
    world_put_text(&w, SETTINGS("three", "", "1"));
    world_run(&w, noon_ms + 50000);
    world_run(&w, noon_ms + 110000);
    expect_phases(&w, PHASE_DEFERRED);
    world_run(&w, noon_ms + 110001);
    expect_phases(&w, PHASE_OVERDUE);

    /* Progress after the end of the grace period does not count. */
    world_put_text(&w, BINDING("one", "", "m1"));
    world_run(&w, noon_ms + 300000);
    expect_phases(&w, PHASE_OVERDUE);
    world_release(&w);
}

/* Changes of the templates by users are no progress of Karmada. */
TEST(other_changes_do_not_extend_the_grace_period)
{
    const int64_t noon_ms = ms_of("2026-01-01T12:00:00Z");
    struct world w;

    world_init(&w, &rules_options_default, 1);
    world_put_text(&w, POLICY("p", AT("2026-01-01T12:00:00Z"), ",\"name\":\"other\""));
    world_put_text(&w, SETTINGS("one", CLAIM, "1"));
    world_put_text(&w, SETTINGS("two", CLAIM, "1"));
    world_put_text(&w, BINDING("one", CLAIM, "m1"));
    world_run(&w, noon_ms);
    world_put_text(&w, SETTINGS("one", CLAIM, "2"));
    world_put_text(&w, BINDING("one", CLAIM, "m1"));
    world_run(&w, noon_ms + 50000);
    world_run(&w, noon_ms + 60001);
    expect_phases(&w, PHASE_OVERDUE);
    world_release(&w);
}

#define RECORDING "tests/fixtures/recordings/ak-managed-fields/"

static cJSON *read_json(const char *step, const char *name)
{
    CLEANUP(free_cleanup) char *text = xcalloc(1, 1 << 20);
    char path[256];

    snprintf(path, sizeof(path), RECORDING "%s/%s.json", step, name);

    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_true(fread(text, 1, (1 << 20) - 1, file) > 0);
    fclose(file);

    cJSON *json = cJSON_Parse(text);
    assert_non_null(json);
    return json;
}

/*
 * Puts the objects of a recorded step as a watch would: new and changed objects first, then
 * deletions.
 */
static void put_recorded_step(struct world *w, const char *step, uint32_t pass)
{
    static const char *const kinds[] = {"propagationpolicies", "deployments", "configmaps",
                                        "resourcebindings"};
    struct error err;

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        CLEANUP(json_cleanup) cJSON *list = read_json(step, kinds[i]);
        const cJSON *item;

        cJSON_ArrayForEach (item, cJSON_GetObjectItem(list, "items")) {
            struct identity id;

            assert_true(identity_read(item, &id, &err));
            struct entry *entry = store_find(w->store, &id);
            /* An object that is marked first counts as changed in the pass, not as listed again. */
            if (entry)
                entry_mark_seen(entry, (struct origin){1, pass});
            assert_int_not_equal(store_put(w->store, item, (struct origin){1, pass}, &err),
                                 STORE_REJECTED);
        }
    }
    store_sweep(w->store, (struct origin){1, pass});
}

static void expect_step(const struct world *w, const char *step, const cJSON *expected)
{
    const cJSON *item;

    cJSON_ArrayForEach (item, expected) {
        bool workload = strncmp(item->string, "Deployment/", 11) == 0;
        const struct entry *entry =
            world_find(w, workload ? "apps/v1" : "v1", workload ? "Deployment" : "ConfigMap",
                       "s-ak", strchr(item->string, '/') + 1);
        const struct template_decision *d = template_decision(entry);
        const char *reason = reason_name(d->state, d->reason);
        char said[128];

        snprintf(said, sizeof(said), "%s%s%s%s%s", state_names[d->state], reason ? " " : "",
                 reason ? reason : "", d->state == STATE_STALE ? " " : "",
                 d->state == STATE_STALE ? phase_names[d->phase] : "");
        if (strcmp(said, item->valuestring) != 0)
            fail_msg("%s, %s: expected %s, said %s", step, item->string, item->valuestring, said);
    }
}

/* Replays objects of a real Karmada. Removals are seen live: `expect_live` overrides `expect`. */
TEST(a_replayed_recording_has_the_expected_states)
{
    static const char *const steps[] = {
        "01-bound",
        "02-controllers-down-user-changes",
        "03-controllers-back",
        "04-apply-of-equal-values",
        "05-controllers-down-label-removed",
        "06-controllers-back",
        "07-policy-deleted",
        "08-left-behind-and-changed",
    };
    int64_t now_ms = ms_of("2026-11-21T23:20:00Z");
    struct world w;

    world_init(&w, &rules_options_default, 1);
    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        CLEANUP(json_cleanup) cJSON *notes = read_json(steps[i], "notes");
        const cJSON *live = cJSON_GetObjectItem(notes, "expect_live");
        const cJSON *item;

        put_recorded_step(&w, steps[i], (uint32_t)i + 1);
        world_run(&w, now_ms);
        now_ms += 100000;
        world_run(&w, now_ms);
        cJSON_ArrayForEach (item, live)
            cJSON_ReplaceItemInObject(cJSON_GetObjectItem(notes, "expect"), item->string,
                                      cJSON_Duplicate(item, true));
        expect_step(&w, steps[i], cJSON_GetObjectItem(notes, "expect"));
    }
    world_release(&w);
}
