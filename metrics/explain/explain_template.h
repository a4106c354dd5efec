/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/explain/explanation.h"

/* All sections about a template, into the open object. */
void explain_template(struct explaining *x, const struct entry *template);

/* "state", "reason", "phase", "fields", "actor" and "since" of a template, and their lines. */
void explain_state(struct explaining *x, const struct entry *template);

/*
 * The section "way": the first link that is broken on the template's way from match to health,
 * what Karmada says of it, who must act, what ends it; then each link, and each member cluster.
 */
void explain_way(struct explaining *x, const struct entry *template);
