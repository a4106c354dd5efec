/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/evaluation.h"

/*
 * Reads and evaluates manifests as `check` does, and judges the problems. `now_ms` is in
 * milliseconds since the epoch. The caller frees the evaluation.
 */
struct evaluation *evaluated_manifests(const char *path, int64_t now_ms) MUST_USE;
