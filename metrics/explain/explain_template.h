/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/explain/explanation.h"

/* All sections about a template, into the open object. */
void explain_template(struct explaining *x, const struct entry *template);

/* "state", "reason", "phase", "fields", "actor" and "since" of a template, and their lines. */
void explain_state(struct explaining *x, const struct entry *template);
