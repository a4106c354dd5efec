/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/auth/kubeconfig_field.h"

/*
 * The entries of a kubeconfig that a context names. `out` is to be released also after a
 * failure: it has what was read before.
 */

/* A cluster: where the server is, and whom to trust. */
bool kubeconfig_read_cluster(const struct field_place *place, const cJSON *cluster,
                             struct kube_config *out, struct error *err) MUST_USE;

/* A user: its credentials, and as whom it acts. */
bool kubeconfig_read_user(const struct field_place *place, const cJSON *user,
                          struct kube_config *out, struct error *err) MUST_USE;
