/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/discovery.h"
#include "exporter/kube/initial_sync.h"
#include "exporter/kube/reflector.h"
#include "exporter/kube/release_reader.h"
#include "metrics/rules/engine.h"

/*
 * Karmada API server as a source of objects for the store. The table of kinds
 * (metrics/model/kind.c) lists kinds that are always watched. Template kinds are watched while a
 * selector names them or a binding refers to one of their objects; without a selector, only
 * templates that a binding or a template refers to are stored. Most templates are read as metadata
 * only.
 *
 * If a kind cannot be read, its objects keep their last state and other kinds are not affected.
 */
struct kube_source;

struct kube_source_settings {
    struct store *store; /* Pointers are borrowed. */
    struct engine *engine;
    const struct namespace_filter *filter;
    const struct log *log;
    struct transport transport;
    bool streaming_lists; /* Uses WatchList (streams that begin with all objects) if supported. */
    bool references;      /* Reads full objects of kinds with references, such as workloads. */
    /* Reads Works and Events about overrides; with `references`, the initial sync awaits them. */
    bool works;
    int64_t audit_interval_ms; /* Between audits of a resource; 0 disables audits. */
    uint64_t seed;             /* For random delays. */
    int64_t now_ms;            /* Steady. */
    int64_t clock_ms;          /* Since the epoch. */
};

/* Returns a source that has sent no request; the caller owns it. */
struct kube_source *kube_source_new(const struct kube_source_settings *settings) MUST_USE;
/* Ends all watches. The objects stay in the store. NULL is allowed. */
void kube_source_free(struct kube_source *s);

/* Does all work that is due. Call after the transport's periodic work, and at kube_source_due(). */
void kube_source_turn(struct kube_source *s, int64_t now_ms, int64_t clock_ms);
/*
 * Returns the steady time in ms of the next kube_source_turn() if no response data arrives before;
 * INT64_MAX: no call needed.
 */
int64_t kube_source_due(const struct kube_source *s);

/*
 * Returns true when the initial sync has ended (initial_sync.h). Later failures do not change the
 * result; kube_source_read_referenced_templates() does.
 */
bool kube_source_ready(const struct kube_source *s);

/*
 * Makes later turns read the templates that other objects refer to (reflector_store_is_referred)
 * and that the store lacks. The source is not ready until the initial sync has ended again. For
 * commands that evaluate once.
 */
void kube_source_read_referenced_templates(struct kube_source *s);

/*
 * Return the number of reflectors, and one of them, borrowed until the next turn. A kind has one
 * reflector, or one for each namespace if the filter lists namespaces.
 */
size_t kube_source_reflector_count(const struct kube_source *s);
const struct reflector *kube_source_reflector(const struct kube_source *s, size_t at);

/* Returns true if discovery offers the kind, and its objects have no namespace. */
bool kube_source_is_cluster_scoped(const struct kube_source *s, const char *api_version,
                                   const char *kind);

/* Return the kinds of selectors that discovery does not offer, borrowed until the next turn. */
size_t kube_source_unserved_kind_count(const struct kube_source *s);
const struct unserved_kind *kube_source_unserved_kind(const struct kube_source *s, size_t at);

/* Return the missing kinds of a ready source (initial_sync.h), borrowed until the next turn. */
size_t kube_source_missing_kind_count(const struct kube_source *s);
const struct missing_kind *kube_source_missing_kind(const struct kube_source *s, size_t at);

/*
 * Returns true if Karmada's Events about refused templates (EVENT_REFUSAL) have been read, and
 * their watch has not failed twice in a row. A template that no Event names is then not refused.
 */
bool kube_source_reads_refusals(const struct kube_source *s);

/* Returns a number that changes with the problems that reflectors report. */
uint64_t kube_source_health_version(const struct kube_source *s);
/* Returns how often the source has noticed that the server was restored from a backup. */
uint64_t kube_source_restores(const struct kube_source *s);
/* Returns the detection of Karmada's release. Borrowed. */
const struct release_reader *kube_source_release(const struct kube_source *s);
/* Returns the kinds that the server serves. Borrowed. */
const struct discovery *kube_source_discovery(const struct kube_source *s);

/* Used only by kube_source.c and tests. */

/*
 * Runs discovery rounds: at the start, every 30 seconds (without aggregated discovery every five
 * minutes), after failures with a delay that doubles, and soon if kinds may have changed, two
 * seconds after the start of the last round at the earliest. Requests without progress are
 * cancelled.
 *
 * Without aggregated discovery, a version of a group with a slow extension API server must not
 * delay the others: its request is cancelled after one second without a response. The next round
 * then follows one to four seconds later, with twice the timeout, up to eight seconds.
 */
struct discoverer {
    struct reflector_context *context; /* Borrowed. */
    struct discovery *discovery;       /* Owned. */
    struct transfer *transfer;         /* NULL: no open request. */
    struct strbuf body;
    int64_t due_ms;             /* Steady time of the next round. */
    int64_t started_ms;         /* Start of the last round. */
    int64_t ended_ms;           /* End of the last round; 0 before the first. */
    unsigned failures;          /* Failed rounds in a row. */
    struct progress progress;   /* Progress of the open request. */
    unsigned unanswered;        /* Requests for versions that timed out in this round. */
    int64_t version_timeout_ms; /* Until the first byte of a response for one version. */
};

void discoverer_init(struct discoverer *d, struct reflector_context *context);
void discoverer_release(struct discoverer *d);

/* Does all work that is due at context->now_ms. */
void discoverer_turn(struct discoverer *d);
/* Returns the steady time in ms of the next discoverer_turn() if no data arrives before. */
int64_t discoverer_due(const struct discoverer *d);
