/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/decode.h"

/*
 * An object of one of Karmada's own groups that no rule uses. Only its existence is kept, as one
 * byte, so that it is no template.
 */
void *other_decode(struct decode *d, const cJSON *json);
void other_release(struct intern *strings, void *object);
