/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/decode.h"

/*
 * Dependencies of a template, found as by Karmada's native interpreter
 * (pkg/resourceinterpreter/default/native/dependencies.go): ConfigMaps, Secrets, ServiceAccounts
 * and PersistentVolumeClaims of a pod template, the TLS Secrets of an Ingress, the derived Service
 * and EndpointSlices of a ServiceImport. The dependencies of other kinds are unknown.
 */

/* Kind of a dependency. */
struct reference_kind {
    const char *api_version;
    const char *kind;
    const char *label_key; /* Label that identifies the objects; NULL if their name does. */
};

/* A dependency in the template's namespace. `name` is the object's name, or the label's value. */
struct reference {
    const struct reference_kind *to;
    const char *name; /* Interned. */
};

/* The references of a template, without duplicates, sorted by kind and name. */
struct references {
    const struct reference *items; /* An interned block; NULL without references. */
    uint32_t count;
    bool known; /* True for ServiceImports, and Pods, workloads and Ingresses that have a spec. */
};

/* Returns the references in an interned block; NULL is an empty list. */
static inline struct references references_of_block(const struct reference *items, bool known)
{
    return (struct references){items, items ? (uint32_t)(intern_len(items) / sizeof(*items)) : 0,
                               known};
}

/* Sets `out` to the dependencies of a template. Release `out` also after an error. */
void references_decode(struct decode *d, const cJSON *json, struct references *out);
void references_release(struct intern *strings, struct references *r);
/*
 * Returns true if Karmada's interpreters can find an object of this kind and name as a dependency
 * of some template. A ResourceInterpreterCustomization or a webhook can add further kinds.
 */
bool kind_is_dependency(const char *api_version, const char *kind, const char *name);
/* Returns true if references_decode() needs the spec of this kind, not only its metadata. */
bool kind_has_references(const char *api_version, const char *kind);
