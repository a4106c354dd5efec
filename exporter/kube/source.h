/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/reflector.h"
#include "metrics/rules/engine.h"

/*
 * A Karmada API server as a source of objects: policies, bindings, overrides,
 * clusters and conflict events in full, and of every kind that some policy's selector
 * names the metadata. Kinds come with the first selector that names them
 * and go with the last.
 *
 * A kind that cannot be read holds up nothing else, and keeps its last state.
 */
struct kube_source;

struct kube_settings {
    struct store *store;         /* Outlives the source, as do the next three. */
    const struct engine *engine; /* Over that store. */
    const struct namespace_filter *filter;
    const struct log *log;
    struct transport transport;
    bool streaming_lists; /* Ask for streams that begin with all objects, where the server can. */
    uint64_t seed;
    int64_t now_ms;   /* Steady. */
    int64_t clock_ms; /* Since the epoch. */
};

struct kube_source *kube_source_new(const struct kube_settings *settings) MUST_USE;
/* Stop following; the objects stay in the store. Takes NULL. */
void kube_source_free(struct kube_source *s);

/* Do what is due. Call it after the transport's turn, and no later than kube_source_due(). */
void kube_source_turn(struct kube_source *s, int64_t now_ms, int64_t clock_ms);

/* When something is due without the transport (steady); INT64_MAX for never. */
int64_t kube_source_due(const struct kube_source *s);

/*
 * True once everything that is required has been read, and all else has been or
 * cannot be. It stays true: what is lost later is still there as it was.
 */
bool kube_source_ready(const struct kube_source *s);

/* Everything that is followed, one per namespace where there are several. Borrowed until a turn. */
size_t kube_source_count(const struct kube_source *s);
const struct reflector *kube_source_reflector(const struct kube_source *s, size_t at);

/* A kind that selectors name and the server does not serve, or has not told of yet. */
struct unserved {
    char *api_version;
    char *kind;
    bool absent; /* It is not served, or cannot be watched; else: not known. */
};
size_t kube_source_unserved_count(const struct kube_source *s);
const struct unserved *kube_source_unserved(const struct kube_source *s, size_t at);

/* What reflectors that are gone have counted, for counters that must not go down. */
const struct watch_counts *kube_source_past_counts(const struct kube_source *s);
