/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <poll.h>

#include "exporter/kube/auth/rest_config.h"
#include "exporter/kube/kube_source.h"
#include "exporter/kube/object_request.h"

/* Finds templates that people name and that no watch keeps in the store. */

/* A template as somebody names it. */
struct template_name {
    const char *kind;  /* As in kubectl: in any case, plural, or short. */
    const char *group; /* NULL if it was left out. */
    const char *ns;    /* Where it is, if its kind is namespaced. */
    const char *name;
};

struct template_finder {
    const struct kube_source *source; /* Borrowed, as is all that follows. */
    const struct namespace_filter *filter;
    struct store *store;
    struct lookup *lookup; /* Owned. */
};

void template_finder_init(struct template_finder *f, const struct kube_source *source,
                          const struct kube_source_settings *settings);
void template_finder_release(struct template_finder *f);

/*
 * Ask for a template that is not in the store. All of it if its spec says what it references or
 * Config Connector manages it; of others, Secrets among them, no more than the metadata. `id`
 * gets what it is, borrowed until the next turn, unless the answer is LOOKUP_UNKNOWN. One of a
 * kind that is read anyway is missing.
 */
struct lookup_answer template_finder_find(struct template_finder *f,
                                          const struct template_name *name,
                                          enum lookup_client client, struct identity *id,
                                          int64_t now_ms);

/*
 * Put what was found into the store, where nothing keeps it up to date: for whoever looks once.
 * NULL with the reason if it is not valid.
 */
const struct entry *template_finder_store(struct template_finder *f, const cJSON *object,
                                          struct error *err);

/*
 * One API server and all that is needed to keep its objects in a store: our credentials, the
 * connections, and the source. What fails is tried again for as long as the
 * session lives; a failure removes nothing from the store.
 *
 * Its loop is: kube_session_turn(), let the engine look at what changed,
 * kube_session_poll(). Times are milliseconds: `now_ms` steady, `clock_ms` since the epoch.
 */
struct kube_session;
struct kube_client;

struct kube_session_settings {
    struct rest_config *config;     /* The session owns it, also on failure. */
    const char *const *environment; /* For exec plugins. Borrowed, as is all that follows. */
    struct store *store;
    struct engine *engine;
    const struct namespace_filter *filter;
    const struct log *log;
    bool references; /* As of struct kube_source_settings, as are the next two. */
    bool works;
    int64_t audit_interval_ms;
    uint64_t seed;
    int64_t now_ms;
    int64_t clock_ms;
};

/* Reads the files that the configuration names, and connects to nothing yet. */
struct kube_session *kube_session_new(const struct kube_session_settings *settings,
                                      struct error *err) MUST_USE;
/* Close all connections; the objects stay in the store. Takes NULL. */
void kube_session_free(struct kube_session *s);

/* Process what has arrived and do what is due. */
void kube_session_turn(struct kube_session *s, int64_t now_ms, int64_t clock_ms);

/* Calls `each` with every file that the credentials in force are read from. */
void kube_session_each_file(const struct kube_session *s, kube_file_fn *each, void *context);

/* credentials_hold_files() and credentials_files_due(). */
void kube_session_hold_files(struct kube_session *s, bool held);
int64_t kube_session_files_due(const struct kube_session *s);

/* When a turn is due even if no descriptor is ready (steady); INT64_MAX for never. */
int64_t kube_session_due(const struct kube_session *s);

/* Polls two sessions as kube_client_poll() does, with at most KUBE_SESSION_EXTRA_FDS_MAX others. */
enum { KUBE_SESSION_EXTRA_FDS_MAX = 8 };
bool kube_session_poll(struct kube_session *s, struct kube_session *beside, struct pollfd *others,
                       size_t count, int64_t timeout_ms);

/* True once every required kind has been read; it stays true. */
bool kube_session_ready(const struct kube_session *s);

/* kube_source_read_referenced_templates(). */
void kube_session_read_referenced_templates(struct kube_session *s);

/*
 * For callers that cannot wait for ever: false, with the reason, once a required kind has
 * failed so often in a row that waiting for it seems of no use.
 */
bool kube_session_can_become_ready(const struct kube_session *s, struct error *err);

/* Why the credentials cannot be read, or have not come; "" if they can. Borrowed. */
const char *kube_session_credentials_error(const struct kube_session *s);

/* For requests of one's own; what is asked for is answered in kube_session_turn(). */
struct transport kube_session_transport(struct kube_session *s);

/* Finds what is not in the store. Borrowed. */
struct template_finder *kube_session_finder(struct kube_session *s);

/* For the series about the exporter's own health, and for tests. Borrowed. */
const struct kube_source *kube_session_source(const struct kube_session *s);
const struct kube_client *kube_session_client(const struct kube_session *s);

/* "https://host:port", and "the context 'karmada-apiserver' of ...", for people. Borrowed. */
const char *kube_session_server_url(const struct kube_session *s);
const char *kube_session_config_origin(const struct kube_session *s);
