/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/reflector.h"
#include "metrics/rules/object_index.h"

/*
 * The templates that bindings refer to, where that decides what is kept of a kind: no policy
 * selects it, or nobody may read it.
 *
 * A reflector that drops what no binding refers to has no way to ask for one object when a
 * binding comes later, and reading all of them again for each binding would be too much: the
 * object is fetched alone, and from then on the reflector's stream keeps it up to date. What the
 * stream or a list says between the fetch and its answer may be newer than the answer; then it
 * is fetched anew. Only for many at once the reflector reads all objects again.
 *
 * Where the kind is forbidden, a template that a binding refers to is put into the store as
 * unread.
 */
struct bound_templates {
    struct reflector_context *context;
    struct entry **changed; /* Pinned: of these a binding came or went. */
    size_t changed_count;
    size_t changed_capacity;
    struct bound_templates_fetch *fetches;
    unsigned open_count; /* Of them. */
};

void bound_templates_init(struct bound_templates *b, struct reflector_context *context);
void bound_templates_release(struct bound_templates *b);

/* A binding began to refer to a template, or ceased to: for the next turn. */
void bound_templates_changed(struct bound_templates *b, const struct identity *template);

/* Do what is due, for the templates of these reflectors. */
void bound_templates_turn(struct bound_templates *b, struct reflector *const *reflectors,
                          size_t count);

/* When the next turn is due. */
int64_t bound_templates_due(const struct bound_templates *b);

/* True once there is no use in waiting: each template is there, or has been asked for. */
bool bound_templates_ready(const struct bound_templates *b);
