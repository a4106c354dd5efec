/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/json.h"

/*
 * In which namespace an object of a manifest is, as `kubectl apply` would have it: its own; else
 * the one to apply to; none for kinds that belong to no namespace. Which kinds these are is known
 * of Karmada's and Kubernetes' own (metrics/model/kind.h) and of those that a
 * CustomResourceDefinition among the manifests declares. Of the others an object with a uid comes
 * from an API server, which would have written its namespace: it has none. The rest has one.
 */
struct scopes {
    char *ns; /* The one to apply to. */
    /* The kinds of other groups that belong to no namespace. */
    struct custom_kind {
        char *group;
        char *kind;
    } * kinds;
    size_t count;
};

/* How many definitions are remembered at most: what is beyond belongs to namespaces. */
enum { SCOPES_MAX = 4096 };

/* The namespace is copied. */
void scopes_init(struct scopes *s, const char *ns);
void scopes_release(struct scopes *s);

/*
 * If the object is a CustomResourceDefinition of a kind that belongs to no namespace, remember
 * it. True if that is news: objects of this kind that were read before are in the wrong place.
 * It stays known when the definition goes.
 */
bool scopes_learn(struct scopes *s, const cJSON *object);

/* Remember what another one has learnt, too. */
void scopes_learn_all(struct scopes *s, const struct scopes *from);

/*
 * Write that namespace into an object of a manifest: none is written over its own unless its kind
 * belongs to none. `guessed` is set if a definition could change it.
 */
void scopes_place(const struct scopes *s, cJSON *object, bool *guessed);
