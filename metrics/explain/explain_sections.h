/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/explain/explanation.h"

/* The section "configConnector" of a template that is one of its resources. */
void explain_connector(struct explaining *x, const struct entry *template);

/*
 * The section "overrides": which rules of override policies act on a template, in the order in
 * which Karmada applies them, by the member clusters that its binding means. None without those,
 * and none where no override policy selects the template.
 */
void explain_overrides_of(struct explaining *x, const struct entry *template);

/*
 * The section "history": the newest transitions of a template and why it moved, newest first, and
 * since when all are known. Nothing where nothing is remembered (engine_remember).
 */
void explain_history(struct explaining *x, const struct entry *template);

/*
 * The section "next": what Karmada makes of a template by itself, and after its user's next
 * change, played. Decisions that were read before are void afterwards, entries are not.
 */
void explain_next(struct explaining *x, const struct entry *template);
