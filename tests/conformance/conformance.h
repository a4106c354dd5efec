/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <cjson/cJSON.h>

#include "metrics/base/strbuf.h"
#include "metrics/rules/control_plane.h"

/*
 * Comparison of the rules with the answers of Karmada's own functions, for each release
 * (tests/fixtures/vectors/by-release; the format is described there).
 */

enum verdict {
    VERDICT_RIGHT,        /* The rules give Karmada's answer. */
    VERDICT_UNDETERMINED, /* The rules give no answer, with a reason. */
    VERDICT_WRONG,
};

/*
 * Judges one vector for the release of its file. Unless the verdict is VERDICT_RIGHT, appends the
 * expected and the actual answer to `why`, or the reason of an undetermined one.
 */
typedef enum verdict conformance_judge(const cJSON *vector, enum release release,
                                       struct strbuf *why);

conformance_judge judge_affinity;              /* scheduling.c */
conformance_judge judge_division;              /* scheduling.c */
conformance_judge judge_filters;               /* scheduling.c */
conformance_judge judge_schedule;              /* scheduling.c */
conformance_judge judge_schedule_after_change; /* scheduling.c */
conformance_judge judge_dependency;            /* dependencies.c */
conformance_judge judge_admission;             /* admission.c; also admission-features */
conformance_judge judge_overrides;             /* overrides.c */
