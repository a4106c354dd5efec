/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/discovery.h"
#include "exporter/kube/initial_sync.h"
#include "exporter/kube/reflector.h"
#include "metrics/rules/engine.h"
#include "metrics/rules/selector_index.h"

/*
 * A Karmada API server as a source of objects. Which kinds it watches is said by the table
 * of kinds (metrics/model/kind.c), by policies and by bindings: a kind comes with the first
 * selector that names it or the first binding that refers to it, and goes when neither is left.
 * Only its metadata are read; without a selector only templates that a binding refers to are kept.
 *
 * A kind that cannot be read holds up nothing else, and keeps its last state.
 */
struct kube_source;

struct kube_source_settings {
    struct store *store;   /* Outlives the source, as do the next three. */
    struct engine *engine; /* Over that store. */
    const struct namespace_filter *filter;
    const struct log *log;
    struct transport transport;
    bool streaming_lists;      /* Have streams begin with all objects, where the server can. */
    bool references;           /* Read what specs reference: more than the metadata of workloads. */
    bool works;                /* Read Works. Whoever reads references waits for them. */
    int64_t audit_interval_ms; /* As of struct audit. */
    uint64_t seed;
    int64_t now_ms;   /* Steady. */
    int64_t clock_ms; /* Since the epoch. */
};

struct kube_source *kube_source_new(const struct kube_source_settings *settings) MUST_USE;
/* End all watches; the objects stay in the store. Takes NULL. */
void kube_source_free(struct kube_source *s);

/* Do what is due. Call it after the transport's turn, and no later than kube_source_due(). */
void kube_source_turn(struct kube_source *s, int64_t now_ms, int64_t clock_ms);

/* When something is due without the transport (steady); INT64_MAX for never. */
int64_t kube_source_due(const struct kube_source *s);

/*
 * True once every required kind has been read, and every other one has been read, cannot be, or is
 * late (missing.h). It stays true: what fails later keeps its last state.
 */
bool kube_source_ready(const struct kube_source *s);

/*
 * For whoever looks once: read the templates that others refer to (reflector_store_is_referred)
 * and that are not in the store. It is ready again when they are.
 */
void kube_source_read_referenced_templates(struct kube_source *s);

/* All reflectors, one per namespace where namespaces are named. Borrowed until the next turn. */
size_t kube_source_reflector_count(const struct kube_source *s);
const struct reflector *kube_source_reflector(const struct kube_source *s, size_t at);

/* The kinds that selectors name and that are not watched. */
size_t kube_source_unserved_kind_count(const struct kube_source *s);
const struct unserved_kind *kube_source_unserved_kind(const struct kube_source *s, size_t at);

/* The kinds that have not been read as a whole, once the source is ready. Likewise. */
size_t kube_source_missing_kind_count(const struct kube_source *s);
const struct missing_kind *kube_source_missing_kind(const struct kube_source *s, size_t at);

/* A number that changes when a kind can no longer be read, or can again. */
uint64_t kube_source_health_version(const struct kube_source *s);

/* What is known of the server's kinds. Borrowed. */
const struct discovery *kube_source_discovery(const struct kube_source *s);

/*
 * Keeps what is known of a server's kinds up to date: asks at the start, every half
 * a minute, and soon when something points at a change.
 *
 * A request that makes no progress is given up. Where each version of a group needs one of its
 * own, as before Kubernetes 1.26, those that hang must not hold up the others: they get a second,
 * and longer in the rounds that follow at once.
 */
struct discoverer {
    struct reflector_context *context;
    struct discovery *discovery;
    struct transfer *transfer;
    struct strbuf body;
    int64_t due_ms;
    int64_t begun_ms;
    int64_t ended_ms;
    unsigned failures;        /* Rounds in a row. */
    struct progress progress; /* Of the open request. */
    unsigned hung;            /* Versions of groups that did not answer in this round. */
    int64_t patience_ms;      /* How long each of them may take to. */
};

void discoverer_init(struct discoverer *d, struct reflector_context *context);
void discoverer_release(struct discoverer *d);

/* Do what is due at context->now_ms. */
void discoverer_turn(struct discoverer *d);
int64_t discoverer_due(const struct discoverer *d);
