/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/text/check_result.h"
#include "exporter/text/findings.h"

/*
 * Adds the findings of `check`: the inputs that cannot be read, the problems that count, those
 * that a baseline or an exception suppresses, the conditions that `fail_on` names, and the
 * templates that Karmada will not place. A hidden problem is a relation of its cause, and a finding
 * only if `fail_on` names it. `environment` is NULL without --environment.
 */
void findings_add_check(struct findings *f, const struct check_result *r,
                        const struct fail_on *fail_on, const char *environment);
