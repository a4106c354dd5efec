/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/template.h"

/*
 * Find what a workload depends on, exactly as Karmada's native interpreter does
 * (pkg/resourceinterpreter/default/native/dependencies.go): ConfigMaps, Secrets,
 * ServiceAccounts and PersistentVolumeClaims of a pod template, the TLS Secrets
 * of an Ingress, the derived Service and EndpointSlices of a ServiceImport.
 *
 * Sets `references` and `reference_count` of the template, each reference once,
 * in the order of kinds above and then by name. Kinds without rules get none.
 */
void references_decode(struct decode *d, const cJSON *json, struct template *out);
void references_release(struct intern *strings, struct template *t);
