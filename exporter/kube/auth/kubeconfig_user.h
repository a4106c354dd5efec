/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/auth/kubeconfig_field.h"

/* The user of a kubeconfig: its credentials, and as whom it acts. What was read before a failure
 * is in `out`, to be released. */
bool kubeconfig_read_user(const struct field_place *place, const cJSON *user,
                          struct kube_config *out, struct error *err) MUST_USE;
