/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/explain/parts.h"

/*
 * The section "candidates": the policies that select a template, best first, each with what made
 * it lose. Where none of them may have it, also those that select its kind, and what of their
 * selectors does not fit.
 */
void explain_selection(struct explaining *x, const struct entry *template);

/* "rule": {index, apiVersion, kind, namespace, name, labelSelector}; its words go to `text`. */
void explain_rule(struct explaining *x, const char *key, uint32_t index,
                  const struct resource_selector *rule, struct strbuf *text);
