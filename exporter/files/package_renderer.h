/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/files/package_set.h"
#include "metrics/base/error.h"
#include "metrics/base/strbuf.h"

/*
 * Renders packages with the programs of the user: kustomizations with kustomize or kubectl, charts
 * with helm. The programs are searched only in the absolute folders of PATH, and run with a limit
 * of time and output. They get no right to run plugins, and no reference that needs the network.
 */
struct package_renderer;

/* `ns`, copied, is the namespace of Helm releases. Runs nothing yet. */
struct package_renderer *package_renderer_new(const char *ns) MUST_USE;
/* Accepts NULL. */
void package_renderer_free(struct package_renderer *r);

/* Returns OBSTACLE_PROGRAM if no program can render packages of this kind, else OBSTACLE_NONE. */
enum render_obstacle package_renderer_obstacle(struct package_renderer *r, enum package_kind kind);

/* A program with its version. Borrowed from the renderer. */
struct render_program {
    const char *name;
    const char *version; /* "" if the program does not print one. */
};

struct rendered_package {
    struct strbuf text; /* YAML. */
    /* Folder to which kustomize relates the origins of objects (render_origin.h); NULL for helm. */
    char *origin_folder;
    struct render_program program;
};

void rendered_package_release(struct rendered_package *p);

/*
 * Renders a package, and blocks until then. `folder` is the path of its folder. Returns false and
 * sets `err` if the program fails, and sets `obstacle` to OBSTACLE_DEPENDENCIES if it fails only
 * because dependencies of a chart are missing.
 */
bool package_renderer_run(struct package_renderer *r, const struct package *p, const char *folder,
                          struct rendered_package *out, enum render_obstacle *obstacle,
                          struct error *err) MUST_USE;

/* Used only by package_renderer.c and tests. */

enum { RENDER_MESSAGE_BYTES = 200 };

/*
 * Appends the first line of the last error in the messages of a program, without the texts that
 * kustomize puts before the cause, and without the patches that it repeats: these may be secret.
 */
void render_message_add(struct strbuf *out, const char *messages);
