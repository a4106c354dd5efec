/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/files/json_file.h"
#include "exporter/files/manifest_problems.h"
#include "exporter/kube/api_resources.h"
#include "metrics/base/json.h"
#include "metrics/model/store.h"

/*
 * Which document of which file declares which object. Of several that declare
 * the same one, the last in order is put into the store; when it goes, the file
 * of the one before it is read again.
 *
 * Objects that a file no longer declares are removed here rather than by
 * store_sweep, which would walk the whole store for each changed file and could
 * not see that another file declares the object too.
 */
struct declarations {
    struct store *store;
    /* Called when a file has to be read again though it has not changed. */
    void (*want)(void *context, struct manifest_file *file);
    void *context;
    /* All declarations, hashed by their entry. */
    struct declaration **chains;
    size_t chain_count; /* Zero or a power of two. */
    size_t count;
};

/* Free the chains, after the declarations of every file have been dropped or forgotten. */
void declarations_release(struct declarations *m);

/* A reading of the file begins: its next pass. */
void declarations_begin(struct manifest_file *file);

/*
 * The file declares an object. False with the reason if it is not a valid one;
 * then the version that the file gave before stays.
 */
bool declarations_put(struct declarations *m, struct manifest_file *file, const cJSON *object,
                      struct json_place place, struct error *err) MUST_USE;

/* The pass is complete: drop the objects that the file did not declare in it. */
void declarations_end(struct declarations *m, struct manifest_file *file);

/* The pass failed: all objects stay, but for those that the file was read again for. */
void declarations_fail(struct declarations *m, struct manifest_file *file);

/* The file is gone: drop its objects. */
void declarations_drop(struct declarations *m, struct manifest_file *file);

/* Free the file's declarations, but leave its objects in the store: for the end of the program. */
void declarations_forget(struct declarations *m, struct manifest_file *file);

/* Fill the file's `duplicates` from its declarations that are shadowed. */
void declarations_report(const struct declarations *m, struct manifest_file *file);

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
bool scopes_add_definition(struct scopes *s, const cJSON *object);

/* Remember what another one has learnt, too. */
void scopes_learn_all(struct scopes *s, const struct scopes *from);

/*
 * Write that namespace into an object of a manifest: none is written over its own unless its kind
 * belongs to none. `guessed` is set if a definition could change it.
 */
void scopes_set_namespace(const struct scopes *s, cJSON *object, bool *guessed);

/*
 * Returns true if an exporter with this filter would read the object from an API server: objects of
 * other namespaces, and cluster-scoped templates of other shards, are not read; kinds that concern
 * every namespace are (`unfiltered` in metrics/model/kind.h). An object outside the filter that is
 * read for its settings alone gets the API version of these settings, as from an API server.
 */
bool namespace_limit_reads(const struct namespace_filter *filter, cJSON *object);
