/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/decision_text.h"

#include "tests/unit/suite.h"

/* Number of reasons of each state; 1 for a state without reasons. */
static const struct state_case {
    const char *title;
    enum template_state state;
    unsigned reasons;
} states[] = {
    {"current", STATE_CURRENT, 1},
    {"stale", STATE_STALE, STALE_REASON_COUNT},
    {"orphaned", STATE_ORPHANED, 1},
    {"pending", STATE_PENDING, PENDING_REASON_COUNT},
    {"unbound", STATE_UNBOUND, UNBOUND_REASON_COUNT},
    {"attached", STATE_ATTACHED, 1},
    {"ignored", STATE_IGNORED, IGNORED_REASON_COUNT},
};

static void assert_sentence(const char *text)
{
    assert_non_null(text);
    assert_true(*text != '\0' && text[strlen(text) - 1] == '.');
}

TEST_ROWS(each_state_and_reason_has_sentences, states, title)
{
    const struct state_case *c = *state;

    assert_int_equal(ARRAY_LEN(states), STATE_COUNT);
    for (unsigned reason = 0; reason < c->reasons; reason++) {
        for (unsigned i = 0; i < 4; i++) {
            struct template_decision d = {.state = c->state,
                                          .reason = reason & 15,
                                          .phase = i < 2 ? PHASE_DEFERRED : PHASE_OVERDUE};
            enum takeover takeover = i % 2 ? TAKEOVER_STATIC : TAKEOVER_PREEMPTION;

            const struct outcome o = {.state = c->state};

            assert_sentence(state_text(&d));
            if (c->state != STATE_IGNORED)
                assert_sentence(next_change_note_text(&o, next_change_note_of(&d, NULL),
                                                      takeover == TAKEOVER_STATIC));
            if (c->state == STATE_STALE)
                assert_sentence(phase_text(&d, takeover, i / 2));
            assert_non_null(actor_title(state_actor(&d, takeover)));
        }
    }
}

TEST(each_value_of_the_other_enums_has_a_text)
{
    for (unsigned i = 0; i < ACTOR_COUNT; i++)
        assert_non_null(actor_names[i]);
    for (unsigned i = MISS_KIND; i < MISS_COUNT; i++)
        assert_non_null(selector_miss_text(i));
    for (unsigned i = RANK_ELIGIBLE; i <= RANK_NAME; i++) {
        assert_non_null(rank_step_name(i));
        assert_non_null(rank_step_text(i));
    }
    for (unsigned i = 0; i < UNDETERMINED_REASON_COUNT; i++)
        assert_non_null(undetermined_text(i));
}

/* The words of these states alone would describe a success. */
TEST(outcomes_replace_the_state_of_what_runs_nowhere)
{
    static const struct {
        enum template_state state;
        struct predicted predicted;
        bool replaces;
    } rows[] = {
        {STATE_CURRENT, {PREDICTION_NOWHERE, "no_cluster_fit"}, true},
        {STATE_ATTACHED, {PREDICTION_NOWHERE, "referrer"}, true},
        {STATE_ATTACHED, {PREDICTION_PLACED, "required"}, false},
        {STATE_ATTACHED, {PREDICTION_UNDETERMINED, "referrer"}, false},
        {STATE_PENDING, {PREDICTION_NOWHERE, "no_policy"}, false},
        {STATE_PENDING, {PREDICTION_REFUSED, "policy_refused"}, true},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct outcome o = {
            .exists = true, .state = rows[i].state, .predicted = rows[i].predicted};

        assert_int_equal(failed_outcome_text(&o) != NULL, rows[i].replaces);
    }
}
