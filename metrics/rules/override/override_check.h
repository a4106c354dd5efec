/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/rules/overrides.h"

/*
 * Returns true if it is certain that no rule of the selection fails for a template in any member
 * cluster: each overrider can be applied to the object as it is, and no overrider removes
 * a field or changes the type of a value, so that their order does not matter. The check is much
 * faster than the evaluation, and true for almost all templates. After false, a rule may fail.
 */
bool overrides_cannot_fail(const struct override_selection *selection, const cJSON *object);
