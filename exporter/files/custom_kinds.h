/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/json.h"
#include "metrics/rules/api_versions.h"

struct manifest_file;

/*
 * Identity of the objects in manifests: the namespace as in `kubectl apply`, and the API version
 * that Karmada watches, because an object has one identity in all its versions. Both are known for
 * the kinds of Karmada and Kubernetes (metrics/model/kind.h) and, for custom kinds, from the
 * CustomResourceDefinitions among the manifests.
 *
 * Objects of cluster-scoped kinds lose a namespace. Objects of all other kinds keep their
 * namespace; without one they get `ns`. An object of an unknown kind with a uid and without a
 * namespace was read from an API server, so it is taken as cluster-scoped.
 */
struct custom_kinds {
    char *ns; /* Namespace for namespaced objects that do not set one. */
    /* Kinds with a definition, sorted by group and kind. */
    struct custom_kind {
        char *group;
        char *kind;
        char *versions; /* Served versions, as in struct builtin_kind; "" if unknown. */
        bool cluster_scoped;
        char *used_versions; /* `versions` and `cluster_scoped` before the last end of a file. */
        bool used_cluster_scoped;
        const struct manifest_file *file; /* File with the definition; NULL if unknown. */
    } * items;
    size_t count;
    bool changed;     /* A definition differs from the last end of a file. */
    uint64_t version; /* Changes whenever answers of custom_kinds_api_versions() may change. */
};

/* Maximum number of custom kinds; the definitions beyond it are ignored. */
enum { CUSTOM_KINDS_MAX = 4096 };

/* Copies `ns`; "" means "default". */
void custom_kinds_init(struct custom_kinds *k, const char *ns);
void custom_kinds_release(struct custom_kinds *k);

/*
 * Stores scope and versions if the object is a CustomResourceDefinition. Of several definitions of
 * a kind the last one counts, in the order of manifest_file_compare(). `file` may be NULL. A kind
 * stays stored after its definition is removed.
 */
void custom_kinds_add_definition(struct custom_kinds *k, const cJSON *object,
                                 const struct manifest_file *file);

/*
 * Ends the reading of a file. Returns true if objects that were read before may have a wrong
 * namespace or version, because definitions have changed since the last call.
 */
bool custom_kinds_end_file(struct custom_kinds *k);

/* Forgets a file that is freed; its definitions stay. */
void custom_kinds_forget_file(struct custom_kinds *k, const struct manifest_file *file);

/* Adds the kinds of `from`, up to CUSTOM_KINDS_MAX. */
void custom_kinds_import(struct custom_kinds *k, const struct custom_kinds *from);

/*
 * Sets or removes metadata.namespace of an object, and sets apiVersion to the preferred version if
 * that of a template is another served one. Sets `guessed` to true, and never to false, if a later
 * definition could change them.
 */
void custom_kinds_complete_object(const struct custom_kinds *k, cJSON *object, bool *guessed);

/* Sets apiVersion to the version that the source prefers, if it watches another one. */
void set_preferred_version(const struct api_version_source *source, cJSON *object);

/* Returns the source of API versions for objects in files; it borrows `k`. */
struct api_version_source custom_kinds_api_versions(const struct custom_kinds *k);
