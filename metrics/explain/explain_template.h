/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/explain/explanation.h"

/* Adds all sections about a template to the open object. */
void explain_template(struct explain_context *x, const struct entry *template);

/* Adds "state", "reason", "phase", "actor", "flags" and "since" of a template, with their lines. */
void explain_state(struct explain_context *x, const struct entry *template);
