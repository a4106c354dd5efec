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
                                          .reason = (uint8_t)reason,
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
