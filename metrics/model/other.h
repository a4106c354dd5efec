/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/decode.h"

/*
 * An object of one of Karmada's own groups that no rule looks at. It is kept, as
 * the least there can be, so that nothing takes it for a template.
 */
void *other_decode(struct decode *d, const cJSON *json);
void other_release(struct intern *strings, void *object);
