/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/files/package_definition.h"
#include "metrics/base/map.h"

struct manifest_file;

/*
 * All packages of the PATHs: which of them a program renders, and how every other file in and
 * beside them is read. A root is a package that no other package includes. Only roots are rendered,
 * because a render of a root has the objects of all packages that it includes.
 */

enum package_treatment {
    TREATMENT_RENDER,   /* Root: a program makes the objects of its files. */
    TREATMENT_FILES,    /* Root that is not rendered: its files with objects are read themselves. */
    TREATMENT_INCLUDED, /* A root includes it. */
    TREATMENT_UNUSED,   /* Component without a kustomization, library chart: no objects. */
    TREATMENT_BROKEN,   /* The definition cannot be read. */
};

/* Reason for not rendering a root. */
enum render_obstacle {
    OBSTACLE_NONE,
    OBSTACLE_DISABLED,     /* --render=never, or `serve`. */
    OBSTACLE_PROGRAM,      /* No program that can render it. */
    OBSTACLE_REMOTE,       /* A reference needs the network. */
    OBSTACLE_CHARTS,       /* A kustomization renders Helm charts. */
    OBSTACLE_MISSING,      /* A file or folder does not exist. */
    OBSTACLE_DEPENDENCIES, /* Dependencies of a chart are not in its folder. */
};

struct package {
    char *folder;               /* Result of package_join_path(). */
    struct manifest_file *file; /* The definition. Borrowed; NULL outside of the PATHs. */
    struct package_definition definition;
    bool broken;
    /* Set by package_set_resolve(). */
    enum package_treatment treatment;
    enum render_obstacle obstacle; /* Reason for TREATMENT_FILES. */
    const struct package *culprit; /* Package with the reference that is an obstacle; or NULL. */
    const char *reference;         /* The reference; NULL without one. */
    bool included;                 /* Another package refers to it. */
    bool rendered;                 /* A rendering includes its objects. */
    bool in_chart;                 /* The package is a subchart or template of a chart. */
    bool incomplete;               /* Root: its files alone do not have all of its objects. */
    uint32_t visit;                /* Number of the latest root that includes it. */
};

enum file_role {
    FILE_PLAIN,    /* In no package: its objects are read. */
    FILE_OBJECTS,  /* Objects of a package that is not rendered: they are read. */
    FILE_INPUT,    /* Patch or the like of a kustomization that is not rendered. */
    FILE_CHART,    /* Template, values or the like of a chart that is not rendered. */
    FILE_UNLISTED, /* Beside a kustomization that does not refer to it. */
    FILE_RENDERED, /* Read by the program that renders its package. */
};

/* Returns true if the objects of a file with this role are read from the file itself. */
static inline bool file_role_is_read(enum file_role role)
{
    return role == FILE_PLAIN || role == FILE_OBJECTS;
}

struct package_set {
    struct package **items; /* Owned; in no order before package_set_resolve(). */
    size_t count;
    size_t capacity;
    struct map by_folder;
    struct map roles; /* Role of each file that a package refers to. */
    uint32_t visits;
};

void package_set_init(struct package_set *s);
void package_set_release(struct package_set *s);

/*
 * Stores the package that `file` at `path` defines, in place of an earlier one; takes over
 * `definition`. With NULL the definition cannot be read. A folder has one package: of several
 * definitions the chart counts, else the first in the order of the paths.
 */
void package_set_put(struct package_set *s, struct manifest_file *file, const char *path,
                     struct package_definition *definition);

/* Removes the package that `file` defines, if any. Returns false without one. */
bool package_set_remove(struct package_set *s, const struct manifest_file *file);

/* Knowledge of files outside of the set. */
struct package_resolver {
    enum render_obstacle kustomizations; /* Obstacle to all kustomizations, and to all charts. */
    enum render_obstacle charts;
    /* Returns true if a file or folder exists. NULL: all exist. */
    bool (*exists)(void *context, const char *path);
    /* Reads the kustomization in a folder outside of the PATHs. NULL: there are no such. */
    bool (*load)(void *context, const char *folder, struct package_definition *out);
    void *context;
};

/* Sets the treatment of all packages, and the roles of files. Sorts the packages by folder. */
void package_set_resolve(struct package_set *s, const struct package_resolver *resolver);

/* Returns the role of a file, after package_set_resolve(). `path` is that of the file in the tree.
 */
enum file_role package_set_role(const struct package_set *s, const char *path);

/* Returns the package that `file` defines; NULL without one. */
struct package *package_set_find(const struct package_set *s, const struct manifest_file *file);
