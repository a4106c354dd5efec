/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/rules/engine.h"

/* The sentences of explain.h: constant texts for each answer that the rules can give. */

/* What the state means here. */
const char *explain_state_words(const struct template_decision *d);
/* Why a stale template's difference may wait, or may not. */
const char *explain_phase_words(const struct template_decision *d, enum takeover takeover);
/* How closely a selector names a template: "name", "label", "kind". */
const char *explain_score_words(enum selector_score score);
/* What the loser lost by. */
const char *explain_step_words(enum rank_step step);
/* By what right the governing policy governs; there is one. */
const char *explain_governing_words(const struct template_decision *d);
/* What the user's next change of the template does. */
const char *explain_next_words(const struct template_decision *d, enum takeover takeover);
/* A copied field's value, as text; "(not set)" if there is none. */
const char *explain_field_value(const struct propagation *p, enum drift_field field);
