/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/*
 * Outcome of a prediction about one template (product contract 3.12): what Karmada does with it. A
 * prediction is never better than Karmada.
 */
enum prediction {
    PREDICTION_PLACED,       /* All clusters and replicas are determined. */
    PREDICTION_NOWHERE,      /* No cluster passes the filters, or Karmada removes all copies. */
    PREDICTION_REFUSED,      /* The API server, a webhook or the scheduler refuses. */
    PREDICTION_IGNORED,      /* Karmada never processes the template. */
    PREDICTION_UNDETERMINED, /* See enum undetermined_reason. */
    PREDICTION_NOT_SIMULATED,
    PREDICTION_COUNT,
};
/* Names of the enumerators in JSON (`outcome`) and in --fail-on. */
extern const char *const prediction_names[PREDICTION_COUNT];
