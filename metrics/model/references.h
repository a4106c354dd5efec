/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/decode.h"

/*
 * Dependencies of a template, found as by Karmada's native interpreter
 * (pkg/resourceinterpreter/default/native/dependencies.go): ConfigMaps, Secrets, ServiceAccounts
 * and PersistentVolumeClaims of a pod template, the TLS Secrets of an Ingress, the derived Service
 * and EndpointSlices of a ServiceImport. Other kinds have no dependencies.
 */

/* A kind that references can name: by object name, or by a label with that name as its value. */
struct reference_kind {
    const char *api_version;
    const char *kind;
    const char *label_key; /* NULL if by object name. */
};

/* An object in the template's namespace that the template needs to run. `name` is shared. */
struct reference {
    const struct reference_kind *to;
    const char *name;
};

/* Different references, in the order of kinds above, then by name. */
struct references {
    struct reference *items;
    uint32_t count;
    bool known; /* False without a spec, and for kinds that references.c does not read. */
};

/* Sets `out` to the dependencies of a template. Release them also after an error. */
void references_decode(struct decode *d, const cJSON *json, struct references *out);
void references_release(struct intern *strings, struct references *r);
/* Returns true if the references of the kind are in its spec: metadata alone do not suffice. */
bool kind_has_references(const char *api_version, const char *kind);
