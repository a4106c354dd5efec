/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/auth/kubeconfig_field.h"

/* The cluster of a kubeconfig: where the server is, whom to trust. What was read before a failure
 * is in `out`, to be released. */
bool kubeconfig_read_cluster(const struct field_place *place, const cJSON *cluster,
                             struct kube_config *out, struct error *err) MUST_USE;
