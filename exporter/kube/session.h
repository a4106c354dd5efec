/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <poll.h>

#include "exporter/kube/auth/rest_config.h"
#include "exporter/kube/component_leases.h"
#include "exporter/kube/kube_source.h"
#include "exporter/kube/object_request.h"

/* ---- search for templates ---- */

/* Template as a user names it. */
struct template_name {
    const char *kind;  /* Kind, plural, singular or short name, in any case, as in kubectl. */
    const char *group; /* NULL: unspecified. */
    const char *ns;    /* Ignored for cluster-scoped kinds. */
    const char *name;
};

/* Finds templates that no watch keeps in the store. */
struct template_finder {
    const struct kube_source *source;      /* Borrowed. */
    const struct namespace_filter *filter; /* Borrowed. */
    struct store *store;                   /* Borrowed. */
    struct lookup *lookup;                 /* Owned. */
};

/*
 * Reads a template that is not in the store; call again while the state is LOOKUP_WAITING. Reads
 * the full object if its kind has references or belongs to Config Connector; of other kinds, such
 * as Secrets, only the metadata. If a reflector has read and keeps all objects of the kind, the
 * result is LOOKUP_MISSING without a request. Sets `id` unless the result is LOOKUP_UNKNOWN; its
 * texts are borrowed from `name`, and from the session until the next turn.
 */
struct lookup_answer template_finder_find(struct template_finder *f,
                                          const struct template_name *name,
                                          enum lookup_client client, struct identity *id,
                                          int64_t now_ms);

/*
 * Reads the whole object of a template in the store; call again while the state is LOOKUP_WAITING.
 * For the override policies of one template: the watches read metadata only of most kinds.
 */
struct lookup_answer template_finder_read_whole(struct template_finder *f,
                                                const struct entry *template, int64_t now_ms);

/*
 * Adds an object to the store, where no watch updates or removes it; for commands that evaluate
 * once. Returns its entry; NULL with the reason in `err` if the object is invalid.
 */
const struct entry *template_finder_store(struct template_finder *f, const cJSON *object,
                                          struct error *err);

/* ---- session ---- */

/*
 * Session with one API server: credentials, connections and the source that keeps the server's
 * objects in a store. Failures are retried until the session is freed and remove no objects.
 *
 * One thread calls, in a loop: kube_session_turn(), engine_run(), kube_session_poll(). Times are
 * milliseconds: `now_ms` and return values are steady, `clock_ms` counts from the epoch.
 */
struct kube_session;
struct kube_client;

struct kube_session_settings {
    struct rest_config *config;     /* Taken over and left empty, also on failure. */
    const char *const *environment; /* For exec plugins. Borrowed, as are the next pointers. */
    struct store *store;
    struct engine *engine;
    const struct namespace_filter *filter;
    const struct log *log;
    /* Namespace of the Leases of Karmada's components, borrowed; NULL: they are not read. */
    const char *lease_namespace;
    struct component_lease_observer lease_observer; /* Called in kube_session_turn(). */
    bool references; /* This and the following members: see struct kube_source_settings. */
    bool works;
    int64_t audit_interval_ms;
    uint64_t seed;
    int64_t now_ms;
    int64_t clock_ms;
};

/*
 * Reads the files that `config` names and returns a session without connections; NULL with the
 * reason in `err` if the server's URL or a needed file is unusable. The caller owns the result.
 */
struct kube_session *kube_session_new(const struct kube_session_settings *settings,
                                      struct error *err) MUST_USE;
/* Closes all connections. The objects stay in the store. NULL is allowed. */
void kube_session_free(struct kube_session *s);

/* Processes received data and does all work that is due, without waiting. */
void kube_session_turn(struct kube_session *s, int64_t now_ms, int64_t clock_ms);

/* Calls `each` with the paths of the CA, certificate, key and token files that are configured. */
void kube_session_each_file(const struct kube_session *s, kube_file_fn *each, void *context);

/* Calls credentials_hold_files(). kube_session_files_due() returns credentials_files_due(). */
void kube_session_hold_files(struct kube_session *s, bool held);
int64_t kube_session_files_due(const struct kube_session *s);

/*
 * Returns the steady time in ms of the next kube_session_turn() if no descriptor is ready before;
 * INT64_MAX: no call needed.
 */
int64_t kube_session_due(const struct kube_session *s);

enum { KUBE_SESSION_EXTRA_FDS_MAX = 8 };

/*
 * Returns kube_client_poll() for the connections of both sessions, the descriptors of their exec
 * plugins, and the `count` others, at most KUBE_SESSION_EXTRA_FDS_MAX. `beside` may be NULL.
 */
bool kube_session_poll(struct kube_session *s, struct kube_session *beside, struct pollfd *others,
                       size_t count, int64_t timeout_ms);

/* Return kube_source_ready(), and call kube_source_read_referenced_templates(). */
bool kube_session_ready(const struct kube_session *s);
void kube_session_read_referenced_templates(struct kube_session *s);

/*
 * Returns false with the reason in `err` if the session has never had credentials and the last try
 * to get them failed, or if a required kind has not been read and its last three requests failed.
 * For commands that do not wait until the problem is solved.
 */
bool kube_session_can_become_ready(const struct kube_session *s, struct error *err);

/* Returns credentials_problem() of the last turn. Borrowed until the next turn. */
const char *kube_session_credentials_error(const struct kube_session *s);

/* Returns the transport for additional requests. Handlers are called in kube_session_turn(). */
struct transport kube_session_transport(struct kube_session *s);

/* These functions return borrowed parts of the session. */
/* Returns NULL if the session does not read Leases. */
const struct component_leases *kube_session_leases(const struct kube_session *s);
struct template_finder *kube_session_finder(struct kube_session *s);
const struct kube_source *kube_session_source(const struct kube_session *s);
const char *kube_session_server_url(const struct kube_session *s); /* rest_config.server */
/* Returns rest_config.origin, for example "context 'karmada-apiserver' of 'FILE'". */
const char *kube_session_config_origin(const struct kube_session *s);

/* Used only by session.c and tests. */
void template_finder_init(struct template_finder *f, const struct kube_source *source,
                          const struct kube_source_settings *settings);
void template_finder_release(struct template_finder *f);

/* Used only by tests. */
const struct kube_client *kube_session_client(const struct kube_session *s);
