/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/binding.h"
#include "metrics/model/store.h"
#include "metrics/model/template.h"

/*
 * Whether the last change that a user made to a template is in its binding (product contract
 * 3.9). Pure, and without a clock: whether Karmada still had time for it is asked elsewhere.
 */
enum uptake {
    UPTAKE_UNKNOWN, /* No proof of either. */
    UPTAKE_IN,
    UPTAKE_NOT_IN,
};

/* Of a template and the binding that a policy made for it, which is its own. */
enum uptake uptake_of(const struct entry *template, const struct binding *b);

/*
 * The same of a template that no policy claims any more. Karmada's taking the claim back was no
 * user's change, so what runs may be older than the template by that.
 */
enum uptake uptake_of_orphan(const struct entry *template, const struct binding *b);
