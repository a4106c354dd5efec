/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/decode.h"

/* A kind that can be referred to: by name, or by one label whose value is the name. */
struct reference_kind {
    const char *api_version;
    const char *kind;
    const char *label_key; /* NULL if by name. */
};

/* An object in the template's namespace that the template needs to run. `name` is shared. */
struct reference {
    const struct reference_kind *to;
    const char *name;
};

/* Each reference once, in the order of kinds in references_decode, and then by name. */
struct references {
    struct reference *items;
    uint32_t count;
    bool known; /* False of a kind that nobody reads here, and of metadata alone. */
};

/*
 * The dependencies of a template, as Karmada's native interpreter finds them
 * (pkg/resourceinterpreter/default/native/dependencies.go): ConfigMaps, Secrets,
 * ServiceAccounts and PersistentVolumeClaims of a pod template, the TLS Secrets of an Ingress,
 * the derived Service and EndpointSlices of a ServiceImport. Other kinds have none. Release them
 * with references_release(), also after a failure.
 */
void references_decode(struct decode *d, const cJSON *json, struct references *out);
/* True of a kind whose spec says what it references: its metadata do not. */
bool references_are_in(const char *api_version, const char *kind);
void references_release(struct intern *strings, struct references *r);
