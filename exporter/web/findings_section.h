/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/web/cards.h"
#include "metrics/rules/findings.h"

/*
 * What is wrong, worst first: how much of each class of findings there is, then a section for each,
 * whose id is the word of the class (metrics/rules/findings.h), "held" or "rollout". The numbers of
 * templates by state link to the lists of them. `ns`: of this namespace alone, NULL for all.
 */
void findings_section_write(const struct cards *c, const struct findings *f, const char *ns);
