/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/evaluation.h"
#include "exporter/web/api.h"
#include "exporter/web/server.h"

/* Set the families of own health in the registry, which has to be prepared anew afterwards. */
void health_fill(const struct health *h, struct registry *registry);
