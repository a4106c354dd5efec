/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/files/manifest_reader.h"
#include "exporter/files/package_renderer.h"

/*
 * Origin of rendered objects in the files of their package. kustomize writes the origin of each
 * object to an annotation, helm the template to a comment before each document.
 */

struct render_origin {
    struct manifest_file *file; /* Borrowed from the finder. */
    struct json_position where;
};

struct origin_finder;

/* Returns a finder for all packages of a source. It reads each file of an origin once. */
struct origin_finder *origin_finder_new(const struct manifest_limits *limits) MUST_USE;
/* Accepts NULL. */
void origin_finder_free(struct origin_finder *f);

/* A rendered package while its objects are read. All texts are borrowed. */
struct origin_package {
    const struct package *package;
    const struct rendered_package *rendered;
    const char *definition; /* Path of kustomization.yaml or Chart.yaml. */
    const char *root;       /* PATH with the package. */
};

/* Begins the next package. */
void origin_finder_begin(struct origin_finder *f, const struct origin_package *package);

/*
 * Returns the origin of an object of the current package: the place of the object in a file; else
 * the first line of its template; else that of the definition. `line` is the line of the object in
 * the rendered text. Removes the annotation of kustomize from the object.
 */
struct render_origin origin_finder_find(struct origin_finder *f, cJSON *object, size_t line);

/* Used only by render_origin.c and tests. */

/*
 * Returns the line, from 1, of a template at which an object of this kind and name is likely to
 * begin; 1 if it is not found. A template may make the name and even the kind.
 */
size_t template_find_line(const char *text, const char *kind, const char *name);
