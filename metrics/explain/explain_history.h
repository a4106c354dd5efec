/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/explain/parts.h"

/*
 * The section "history": the newest transitions of a template and why it moved, newest first, and
 * since when all are known. Nothing where nothing is remembered (engine_remember).
 */
void explain_history(struct explaining *x, const struct entry *template);
