/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/rules/connector_conflicts.h"
#include "metrics/rules/engine.h"

/*
 * Append what a conflict of a template or a lease is about, behind its sentence
 * (connector_conflict_texts): ": PubSubTopic team-b/t and 2 more", ": the namespace team-b".
 * Nothing for those that say it all.
 */
void connector_subject_add(const struct engine *e, const struct entry *entry,
                           enum connector_conflict conflict, struct strbuf *out);
