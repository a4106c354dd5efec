/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/files/json_file.h"
#include "exporter/files/manifest_problems.h"
#include "exporter/kube/api_resources.h"
#include "metrics/base/json.h"
#include "metrics/model/store.h"

/*
 * The documents that declare each object. If several documents declare the same object, the last
 * document in order is in the store. After the removal of that document, the file of the document
 * before it is read again.
 *
 * Objects that a file no longer declares are removed here, and not with store_sweep(), which would
 * check every object for each changed file, and would remove objects that another file declares.
 */
struct declarations {
    struct store *store;
    /* Called for a file that has to be read again although it is unchanged. */
    void (*request_reread)(void *context, struct manifest_file *file);
    void *context;
    struct declaration **chains; /* Hash table of all declarations by store entry. */
    size_t chain_count;          /* Zero or a power of two. */
    size_t count;
};

/* Frees the hash table. Before, drop or free the declarations of every file. */
void declarations_release(struct declarations *m);

/* Begins the next pass over the documents of the file. */
void declarations_begin_pass(struct manifest_file *file);

/*
 * Notes that the file declares `object` at `place`, and puts the object into the store unless a
 * later document declares it, too. Returns false with the reason if the object is invalid; if the
 * store has the version of an earlier pass of the file, that version stays, as declared here.
 */
bool declarations_put(struct declarations *m, struct manifest_file *file, const cJSON *object,
                      struct json_place place, struct error *err) MUST_USE;

/* Ends a complete pass: drops the declarations of the file that are not from this pass. */
void declarations_end_pass(struct declarations *m, struct manifest_file *file);

/*
 * Ends a pass that failed: declarations of this and earlier passes stay. If file->reread_requested
 * is set, the store loses the objects that the pass should have put there again.
 */
void declarations_fail_pass(struct declarations *m, struct manifest_file *file);

/* Drops all declarations of a file that is gone. */
void declarations_drop_file(struct declarations *m, struct manifest_file *file);

/* Frees the declarations of a file when the source is freed. The objects stay in the store. */
void declarations_free_file(struct declarations *m, struct manifest_file *file);

/*
 * Returns true and stores path and position of the document that counts for an entry. Returns false
 * if no file declares it. The path is valid until the file is dropped. A column of 2^24 or above
 * is 0.
 */
bool declarations_find_place(const struct declarations *m, const struct entry *entry,
                             const char **path, struct json_position *where);

/* Fills file->duplicates: a problem for each document whose object a later one declares again. */
void declarations_report_shadowed(const struct declarations *m, struct manifest_file *file);

/* ---- namespace of an object ---- */

/*
 * Rules for the namespace of objects in manifests, as in `kubectl apply`. Cluster-scoped kinds are
 * known for Karmada and Kubernetes (metrics/model/kind.h) and from CustomResourceDefinitions
 * among the manifests: their objects lose a namespace. Objects of all other kinds keep their
 * namespace; without one they get `ns`. An object of an unknown kind with a uid and without a
 * namespace was read from an API server, so it is taken as cluster-scoped.
 */
struct scopes {
    char *ns; /* Namespace for namespaced objects that do not set one. */
    /* Cluster-scoped kinds from CustomResourceDefinitions. */
    struct custom_kind {
        char *group;
        char *kind;
    } * kinds;
    size_t count;
};

/* Maximum number of cluster-scoped custom kinds; the definitions beyond it are ignored. */
enum { SCOPES_MAX = 4096 };

/* Copies `ns`; "" means "default". */
void scopes_init(struct scopes *s, const char *ns);
void scopes_release(struct scopes *s);

/*
 * Stores the kind if the object is a CustomResourceDefinition of a cluster-scoped kind. Returns
 * true if the kind was added: objects of this kind that were read before may have a wrong
 * namespace. Returns false for a kind already stored, for other objects, and beyond SCOPES_MAX. The
 * kind stays stored after its definition is removed.
 */
bool scopes_add_definition(struct scopes *s, const cJSON *object);

/* Adds the custom kinds of `from`, up to SCOPES_MAX. */
void scopes_import(struct scopes *s, const struct scopes *from);

/*
 * Sets or removes metadata.namespace of an object. Sets `guessed` to true, and never to false, if
 * the kind is unknown, so that a later definition could change the namespace.
 */
void scopes_set_namespace(const struct scopes *s, cJSON *object, bool *guessed);

/*
 * Returns true if an exporter with this filter reads the object. The filter applies to the
 * namespace of the object, "" for cluster-scoped objects. For Works, the filter applies to the
 * namespace of the binding; a Work without a binding is not read. Kinds with `unfiltered`
 * (metrics/model/kind.h) and kinds that no API server serves are always read. Objects with settings
 * are also read outside the filter; then their apiVersion is set to that of the settings, as the
 * watch of an API server does.
 */
bool namespace_filter_reads_object(const struct namespace_filter *filter, cJSON *object);
