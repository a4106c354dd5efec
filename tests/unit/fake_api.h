/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/http/transport.h"
#include "metrics/base/strbuf.h"

/*
 * API server without a network. Keeps objects with versions and a log of changes. Answers lists and
 * watches like Kubernetes, in parts of random length, and injects random faults at the rate
 * fault_percent. The time changes only if the test sets now_ms.
 */

enum fake_kind {
    FAKE_POLICY,
    FAKE_CLUSTER_POLICY,
    FAKE_BINDING,
    FAKE_CLUSTER_BINDING,
    FAKE_OVERRIDE,
    FAKE_CLUSTER_OVERRIDE,
    FAKE_QUOTA,
    FAKE_CLUSTER,
    FAKE_EVENT,
    FAKE_CONFIG_MAP,
    FAKE_DEPLOYMENT,
    FAKE_FOO,  /* Custom resource, which tests remove with fake_serve(). */
    FAKE_WORK, /* Two of three values belong to a binding x-configmap: fake_work_ns(). */
    FAKE_KIND_COUNT,
};

/* Version of Foo that is served but not preferred. Bindings of Foos with FAKE_OLD_VALUE use it. */
#define FAKE_OLD_VERSION "example.io/v1beta1"
enum { FAKE_OLD_VALUE = 1000 };

struct fake_kind_row {
    const char *api_version;
    const char *kind;
    const char *resource;
    bool namespaced;
    bool template;
};
extern const struct fake_kind_row fake_kinds[FAKE_KIND_COUNT];

struct fake_object {
    enum fake_kind kind;
    char ns[16];
    char name[16];
    uint64_t version;
    unsigned value; /* Content: determines generation, label, spec, and the binding of a Work. */
};

struct fake_change {
    uint64_t version;
    const char *type;
    struct fake_object object;
};

/* Handling of shardSelector in lists and watches. */
enum fake_shards {
    FAKE_SHARDS_IGNORED,
    FAKE_SHARDS_SELECTED, /* Like Kubernetes 1.36: shardInfo in lists of full built-in objects only.
                           */
    FAKE_SHARDS_MIXED_UP, /* Like FAKE_SHARDS_SELECTED, with another selector in shardInfo. */
    FAKE_SHARDS_UNKNOWN,  /* Status 400 without a text. */
    FAKE_SHARDS_INVALID,  /* Status 500 of Kubernetes 1.36 for an invalid selector. */
};

enum { FAKE_OBJECTS_MAX = 256, FAKE_SNAPSHOTS = 64 };

struct fake_snapshot {
    uint64_t version;
    size_t count;
    struct fake_object objects[FAKE_OBJECTS_MAX];
};

struct fake_api {
    struct fake_object objects[FAKE_OBJECTS_MAX];
    size_t count;
    struct fake_change *log;
    size_t log_count;
    uint64_t version;
    uint64_t compacted;         /* Changes up to this version have been compacted. */
    struct fake_snapshot *base; /* Objects before the first change of the log. */
    /* Versions by which streams lag, not lists. A list of a version ahead of streams gets 504. */
    uint64_t behind;
    bool forgetful; /* Lists of one object return all present ones of the kind, for any version. */
    bool unlisted;  /* Lists of one object by name return 404. */
    bool served[FAKE_KIND_COUNT];
    bool streaming_lists;
    bool paginates; /* Lists with a limit have pages of three objects. */
    bool endless;   /* Each list repeats its first page without end, with new tokens. */
    bool bookmarks;
    bool legacy_discovery;
    enum fake_shards shards;
    bool few_policies;      /* Setting of tests: random writes put few policies. */
    bool works_wanted;      /* Setting of tests: the source watches Works. */
    bool unreachable;       /* New requests fail without a response. */
    unsigned fault_percent; /* Percentage of requests, bodies and events with a fault. */
    int64_t now_ms;
    uint32_t random;
    struct transfer *transfers;
    struct fake_snapshot *snapshots; /* Snapshots of the latest lists, for further pages. */
    size_t snapshot_next;
    /* Lists and watches by kind, without further pages and lists of one object. */
    uint64_t requests[FAKE_KIND_COUNT];
    uint64_t pages;                  /* Requests for pages after the first. */
    uint64_t glances;                /* Lists of one object, by limit or by name. */
    uint64_t discovery_requests;     /* Requests for /api: one in each round of discovery. */
    uint64_t fetches;                /* GET requests of single objects. */
    bool fetched_full;               /* The last fetch requested the whole object. */
    bool slow_fetches;               /* While set, fetches stay unanswered. */
    bool forbidden[FAKE_KIND_COUNT]; /* Requests for the kind return 403. */
    bool busy[FAKE_KIND_COUNT];      /* Requests for the kind return 429: try again after 1 s. */
    uint64_t sent[FAKE_KIND_COUNT];  /* Objects in lists and streams. */
    unsigned open_streams;
};

void fake_api_init(struct fake_api *f, uint32_t seed);
void fake_api_release(struct fake_api *f);
struct transport fake_api_transport(struct fake_api *f);

uint32_t fake_random(struct fake_api *f, uint32_t limit);

/* Adds or changes an object. A new object is ignored if the server has FAKE_OBJECTS_MAX objects. */
void fake_put(struct fake_api *f, enum fake_kind kind, const char *ns, const char *name,
              unsigned value);
/* Removes the object with index `at` of `objects`. */
void fake_remove(struct fake_api *f, size_t at);
/* Compacts all changes so far: watches from older versions get 410. */
void fake_compact(struct fake_api *f);
/* Sets whether a kind is served. Removes its objects if not. */
void fake_serve(struct fake_api *f, enum fake_kind kind, bool served);
/* Copies the present objects and version to `snapshot`. */
void fake_save(const struct fake_api *f, struct fake_snapshot *snapshot);
/* Restores an earlier state, like a backup of etcd, and breaks all connections. */
void fake_restore(struct fake_api *f, const struct fake_snapshot *snapshot);

/* Appends the object as JSON, as it is in lists. */
void fake_write(const struct fake_object *o, bool metadata_only, struct strbuf *out);

/* Returns the kind of the template that a FAKE_BINDING of this name refers to. */
enum fake_kind fake_bound_kind(const char *name);

/* Returns the reason of a FAKE_EVENT of this name. */
const char *fake_event_reason(const char *name);

/* Returns the namespace of the binding of a FAKE_WORK with this value; NULL: no binding. */
const char *fake_work_ns(unsigned value);

/* Returns true if a policy with this value has a selector for the kind's preferred version. */
bool fake_selects(unsigned value, enum fake_kind kind);

/* Sends the text, valid or not, on the open streams of a kind. */
void fake_say(struct fake_api *f, enum fake_kind kind, const char *text);

/* Answers new requests and sends parts of bodies. Returns false if no transfer advanced. */
bool fake_turn(struct fake_api *f);

/* Breaks all connections. */
void fake_cut_all(struct fake_api *f);
