/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/evaluation.h"
#include "exporter/serve/problem_log.h"

/*
 * Whether an evaluation has anything new to publish: a change beside a watched file wakes the loop,
 * too. All zero has seen nothing.
 */
struct news {
    uint64_t evaluations; /* As they were seen last, as is the rest. */
    size_t files;
    uint64_t health;
};

/* True if there is something since the last call. What is new among the problems is logged. */
bool news_since(struct news *n, const struct evaluation *e, struct problem_log *problems,
                const struct log *log);
