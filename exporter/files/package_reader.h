/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/files/manifest_tree.h"
#include "exporter/files/package_set.h"
#include "exporter/files/render_origin.h"

/* Programs that a source of manifests may run for the packages among its files. */
enum render_mode {
    RENDER_AUTO,   /* All programs that exist. */
    RENDER_NEVER,  /* No program: --render=never. */
    RENDER_SERVER, /* No program: a server never runs one. */
};

/* A package that was rendered. Texts are borrowed. */
struct rendering {
    char *folder; /* Path as the user names it. Owned. */
    bool is_chart;
    struct render_program program;
    size_t objects;
};

/*
 * Packages among the files of a source: collects their definitions, decides how each file is read,
 * and renders. Definitions are read before all other files.
 */
struct package_reader {
    struct package_set set;
    bool is_old; /* A definition has changed since package_reader_resolve(). */
    enum render_mode mode;
    bool strict; /* Files that are no objects are problems. */
    struct manifest_limits limits;
    char *ns;
    struct package_renderer *renderer; /* NULL before it is needed. */
    struct origin_finder *finder;      /* NULL before the first rendering. */
    struct rendered_package rendered;  /* The current one. */
    struct manifest_file *current;     /* Definition of the current package; NULL without one. */
    bool has_definition;               /* The file that is being read defines a package. */
    struct rendering *renderings;
    size_t count;
    size_t capacity;
    size_t current_rendering; /* Index of the rendering that is being read. */
};

/* Copies `ns`, the namespace of objects without one. The mode is RENDER_SERVER. */
void package_reader_init(struct package_reader *r, const struct manifest_limits *limits,
                         const char *ns);
void package_reader_release(struct package_reader *r);

/* ---- definitions ---- */

/* Returns true, and stores the definition, if a document of `file` defines a package. */
bool package_reader_take(struct package_reader *r, struct manifest_file *file,
                         const cJSON *document) MUST_USE;

/* Ends the reading of a file that may have a definition. `failed`: it cannot be parsed. */
void package_reader_end_file(struct package_reader *r, struct manifest_file *file, bool failed);

/* Forgets a file that is freed. */
void package_reader_forget(struct package_reader *r, const struct manifest_file *file);

/* ---- roles of files ---- */

/*
 * Decides again how files are read, after a definition has changed. Marks as changed the files of
 * the tree that were read in another way, and requests the renderings. Adds to the problems of the
 * definitions those that prevent a rendering.
 */
void package_reader_resolve(struct package_reader *r, struct manifest_tree *tree);

/* Returns the role of a file, which is not current before package_reader_resolve(). */
enum file_role package_reader_role(const struct package_reader *r,
                                   const struct manifest_file *file);

/* Adds a file with a role that is not read to its problems, unless its package is rendered. */
void package_reader_count_skipped(const struct package_reader *r, struct manifest_file *file);

/* ---- renderings ---- */

/*
 * Renders the next package that needs it, and returns its definition; NULL without one. If the
 * program fails, `found` receives the problem, and r->rendered.text is empty. The call blocks.
 */
struct manifest_file *package_reader_render_next(struct package_reader *r,
                                                 struct manifest_tree *tree,
                                                 struct document_problems *found);

/* Adds an object of the current rendering, and returns its origin, as origin_finder_find() does. */
struct render_origin package_reader_add_object(struct package_reader *r, cJSON *object,
                                               struct json_place place);

/* Ends the current rendering. */
void package_reader_end_rendering(struct package_reader *r);
