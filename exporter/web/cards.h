/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/strbuf.h"
#include "metrics/rules/engine.h"

/*
 * What pages show of one object among others, as an element of a list: what is wrong with it, since
 * when, who must act, and links to all that it names.
 */
struct cards {
    const struct engine *engine; /* It has nothing left to evaluate. */
    int64_t now_ms;
    size_t policy_names_max; /* Of each side of a conflict so many are shown. */
    struct strbuf *out;
};

/* Appends the card of an object. */
typedef void card_fn(const struct cards *c, const struct entry *entry);

/* A template by its state: what that means, and who must act. */
card_fn card_template;
/* A template by where its binding is. */
card_fn card_delivery;
/* A dependency: a card for each field in conflict, or that will be, with the parties by side. */
card_fn card_conflicts;
/* A policy with those of its versions that templates run, newest first. */
card_fn card_rollout;
