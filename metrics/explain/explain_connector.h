/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/explain/parts.h"

/* The section "configConnector" of a template that is one of its resources. */
void explain_connector(struct explaining *x, const struct entry *template);
