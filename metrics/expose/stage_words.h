/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/expose/words.h"

/* What ends a stage, and who has to see to that. */
struct stage_end {
    enum actor actor;
    const char *text; /* The edit or the wait; a sentence. "" where nothing is to be ended. */
};

struct stage_end stage_end_of(struct standing at);
/* Whoever must act on a template's state; where nobody has to, on its stage. */
enum actor explain_who(const struct template_decision *d, enum takeover takeover);
const char *explain_who_words(const struct template_decision *d, enum takeover takeover);
/* Who that is, behind "up to". */
const char *stage_actor_words(enum actor actor);
