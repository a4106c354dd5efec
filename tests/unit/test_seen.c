/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/seen.h"

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

/* Under static rules a drift waits for its user's next change: the one that was seen counts. */
TEST(a_change_without_a_time_is_dated_when_it_is_seen)
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

    /* Read again, but not changed. */
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

    /* The policy changes, so that the next change is waited for again. */
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

/* Karmada takes the claims back one by one: what it has not come to yet is not overdue. */
TEST(a_policy_that_is_worked_off_has_time)
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

    /* After 50 s it is seen to let go of a third one: until 60 s after that there is time. */
    world_put_text(&w, SETTINGS("three", "", "1"));
    world_run(&w, noon_ms + 50000);
    world_run(&w, noon_ms + 110000);
    expect_phases(&w, PHASE_DEFERRED);
    world_run(&w, noon_ms + 110001);
    expect_phases(&w, PHASE_OVERDUE);

    /* Later work is not this policy's change any more. */
    world_put_text(&w, BINDING("one", "", "m1"));
    world_run(&w, noon_ms + 300000);
    expect_phases(&w, PHASE_OVERDUE);
    world_release(&w);
}

/* A change of the templates themselves is no sign of Karmada's work. */
TEST(other_changes_give_no_time)
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
