/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/explain/explanation.h"

/*
 * Adds all sections about a template, except its history, to the open object. A template that
 * Karmada ignores has only the members of explain_state().
 */
void explain_template(struct explain_context *x, const struct entry *template);

/* Adds the state of a template: "state", "reason", "phase", "actor", "unread", "flags", "since". */
void explain_state(struct explain_context *x, const struct entry *template);
