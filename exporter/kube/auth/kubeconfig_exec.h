/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/auth/kubeconfig_field.h"

/* The exec plugin of a user, for kube_exec_free(). `out` is untouched on failure. */
bool kubeconfig_read_exec(const struct field_place *place, const cJSON *exec,
                          struct kube_exec **out, struct error *err) MUST_USE;
