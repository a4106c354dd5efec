/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/json.h"

/*
 * A package is a folder with files from which kustomize or Helm makes objects: a kustomization or a
 * chart. Its definition is the content of kustomization.yaml or Chart.yaml.
 */
enum package_kind {
    PACKAGE_KUSTOMIZATION,
    PACKAGE_COMPONENT, /* Kustomize component: only a kustomization that refers to it applies it. */
    PACKAGE_CHART,
    PACKAGE_LIBRARY, /* Helm library chart: has no objects of its own. */
};

enum reference_use {
    REFERENCE_OBJECTS, /* File with objects, or folder of another package. */
    REFERENCE_INPUT,   /* Patch, values, file of a generator: no objects, even if it looks so. */
};

struct package_reference {
    char *path; /* Owned, as in the definition: relative to the folder, or a URL. */
    enum reference_use use;
};

struct package_definition {
    enum package_kind kind;
    char *name; /* Name of a chart, owned; NULL in a kustomization. */
    struct package_reference *references;
    size_t count;
    size_t capacity;
    bool inflates_charts; /* A kustomization that renders Helm charts. */
    bool changes_objects; /* A kustomization that does more than to list files with objects. */
};

/* Returns true if a file of this name can have the definition of a package. */
bool package_is_definition_name(const char *name);

/* Names of definition files of kustomizations, in the order in which kustomize looks for them. */
enum { KUSTOMIZATION_NAME_COUNT = 3 };
extern const char *const kustomization_names[KUSTOMIZATION_NAME_COUNT];

/*
 * Reads the definition of a package from the document of a file called `name`. Returns false if the
 * document is no definition, such as a Kustomization of Flux. Lists of another type than kustomize
 * expects are ignored, because kustomize rejects them itself.
 */
bool package_definition_read(const char *name, const cJSON *document,
                             struct package_definition *out) MUST_USE;
void package_definition_release(struct package_definition *d);

/* Returns true if the reference needs the network: a URL, or a repository such as github.com/x/y.
 */
bool package_reference_is_remote(const char *path);

/*
 * Returns the path of `path` in `folder` without ".", ".." after a name, and repeated slashes;
 * owned by the caller. An absolute `path` stays so. The result is "." for the working folder. Does
 * not read links.
 */
char *package_join_path(const char *folder, const char *path) MUST_USE;
