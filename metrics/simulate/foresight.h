/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/simulate/plan.h"

/* What comes next for one template, played as a plan is, without any change of policies. */
struct foresight {
    struct outcome now;
    struct outcome rest; /* What Karmada makes of it by itself; it may be the same. */
    struct outcome next; /* After that, and the next change by its user. */
    bool settled;
    unsigned assumptions; /* Bits by enum assumption. */
};

/*
 * Look ahead for a template that exists, in an engine in which nothing is left to evaluate. `each`
 * reads the answer, whose outcomes are valid during the call alone; afterwards the engine is as it
 * was.
 */
void foresight_make(struct engine *e, const struct entry *template,
                    void (*each)(void *context, const struct foresight *f), void *context);
