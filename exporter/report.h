/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/evaluation.h"

/*
 * Append the report (metrics/expose/report.h) of an evaluation that has nothing left to evaluate,
 * with what could not be read of its manifests: what `check` prints, and the API answers.
 */
void report_of_sources(const struct evaluation *e, struct strbuf *out);
