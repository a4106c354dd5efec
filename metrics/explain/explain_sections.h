/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/explain/explanation.h"

/*
 * Sections of the explanation of a template: Config Connector, history and next change.
 */

/*
 * Adds the section "admission": the fields of an object of Karmada's groups that the API server or
 * a webhook refuses, or that the API server drops, in the releases that Karmada may run. Adds
 * nothing without such fields.
 */
void explain_admission(struct explain_context *x, const struct entry *entry);

/* Adds the section "configConnector" if the template is a resource of Config Connector. */
void explain_connector(struct explain_context *x, const struct entry *template);

/*
 * Adds the section "history": the last 20 transitions of a template with their causes, newest
 * first, and the start of the history. Adds nothing if the engine keeps no history
 * (engine_keep_transitions).
 */
void explain_history(struct explain_context *x, const struct entry *template);

/*
 * Adds the section "next": the simulated state of a template, first without and then with another
 * change by its user. Invalidates pointers to decisions, but not to entries.
 */
void explain_predicted_state(struct explain_context *x, const struct entry *template);
