/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/simulate/play.h"

/*
 * A policy is applied to a template that it has claimed: the template's binding is made or
 * renewed, scheduled, and its dependencies follow (ApplyPolicy, ApplyClusterPolicy). Nothing
 * happens where Karmada fails: a namesake's binding is in the way, or a PriorityClass is missing.
 */
void binder_apply(struct play *play, struct entry *template, const struct entry *policy);
