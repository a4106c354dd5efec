/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/evaluation.h"

/*
 * Log that an evaluation is complete and shown from now on, how much it holds, and which options
 * differ from those `before` (NULL: there were none) but count after a restart only.
 */
void announce_adopted(const struct log *log, const struct options *before,
                      const struct evaluation *e);
