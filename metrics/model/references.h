/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/decode.h"

/* What can be needed: by name, or by one label whose value is then the name. */
struct reference_kind {
    const char *api_version;
    const char *kind;
    const char *label_key; /* NULL if by name. */
};

/* Another object in the template's namespace that it needs to run. `name` is shared. */
struct reference {
    const struct reference_kind *to;
    const char *name;
};

/* Each reference once, in the order of kinds in references_decode, and then by name. */
struct references {
    struct reference *items;
    uint32_t count;
};

/*
 * Find what a workload depends on, exactly as Karmada's native interpreter does
 * (pkg/resourceinterpreter/default/native/dependencies.go): ConfigMaps, Secrets,
 * ServiceAccounts and PersistentVolumeClaims of a pod template, the TLS Secrets
 * of an Ingress, the derived Service and EndpointSlices of a ServiceImport.
 *
 * Kinds without rules have none.
 */
void references_decode(struct decode *d, const cJSON *json, struct references *out);
void references_release(struct intern *strings, struct references *r);
