/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/decode.h"

/*
 * Dependencies of a template, found as by Karmada's native interpreter
 * (pkg/resourceinterpreter/default/native/dependencies.go): ConfigMaps, Secrets, ServiceAccounts
 * and PersistentVolumeClaims of a pod template, the TLS Secrets of an Ingress, the derived Service
 * and EndpointSlices of a ServiceImport. Other kinds have no dependencies.
 */

/* Kind of a dependency. A reference has the name of the object, or the value of its label. */
struct reference_kind {
    const char *api_version;
    const char *kind;
    const char *label_key; /* Key of the label; NULL if references have object names. */
};

/* An object in the template's namespace that the template needs to run. `name` is interned. */
struct reference {
    const struct reference_kind *to;
    const char *name;
};

/* The references of a template, without duplicates, sorted by kind and name. */
struct references {
    struct reference *items;
    uint32_t count;
    bool known; /* False if the object has no spec, or references.c does not read its kind. */
};

/* Sets `out` to the dependencies of a template. Release them also after an error. */
void references_decode(struct decode *d, const cJSON *json, struct references *out);
void references_release(struct intern *strings, struct references *r);
/* Returns true if specs of the kind contain references, so that metadata alone is incomplete. */
bool kind_has_references(const char *api_version, const char *kind);
