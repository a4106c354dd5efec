/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/http/transport.h"
#include "metrics/base/strbuf.h"

/*
 * An API server without a network: keeps objects with versions and a log of
 * changes, answers lists and streams as Kubernetes does, in pieces of random
 * length, and misbehaves at random as often as it is told to. Time stands still
 * unless the test moves it.
 */
enum fake_kind {
    FAKE_POLICY,
    FAKE_CLUSTER_POLICY,
    FAKE_BINDING,
    FAKE_CLUSTER_BINDING,
    FAKE_OVERRIDE,
    FAKE_CLUSTER_OVERRIDE,
    FAKE_CLUSTER,
    FAKE_EVENT,
    FAKE_CONFIG_MAP,
    FAKE_DEPLOYMENT,
    FAKE_FOO,  /* A custom resource, which comes and goes. */
    FAKE_WORK, /* Two of three belong to the binding of a ConfigMap 'x': see fake_work_ns(). */
    FAKE_KIND_COUNT,
};

/* Of Foo: served, and not preferred. Bindings of this value refer to it. */
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
    unsigned value; /* Whatever can change about it. */
};

struct fake_change {
    uint64_t version;
    const char *type;
    struct fake_object object;
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
    uint64_t compacted;         /* Changes up to here are forgotten. */
    struct fake_snapshot *base; /* What there was before the log begins. */
    uint64_t behind; /* By so many versions the cache that streams and lists come from. */
    bool forgetful;  /* Lists of the past, and of some objects, are lists of all there is now. */
    bool unlisted;   /* Lists of some objects are not found. */
    bool served[FAKE_KIND_COUNT];
    bool streaming_lists;
    bool paginates; /* Three objects a page, from whatever version. */
    bool endless;   /* Each list repeats its first page for ever, with a new token each time. */
    bool bookmarks;
    bool legacy_discovery;
    bool few_policies;      /* For whoever writes at random. */
    bool works_wanted;      /* By whoever follows it. */
    bool unreachable;       /* No request is answered. */
    unsigned fault_percent; /* Of requests, and of pieces of bodies. */
    int64_t now_ms;
    uint32_t random;
    struct transfer *transfers;
    struct fake_snapshot *snapshots; /* Of lists whose pages are being asked for. */
    size_t snapshot_next;
    /* Neither pages after the first count, nor lists of one object: */
    uint64_t requests[FAKE_KIND_COUNT];
    uint64_t pages; /* Pages after the first. */
    uint64_t glances;
    uint64_t discovery_requests;
    uint64_t fetches;                /* Of single objects. */
    bool fetched_full;               /* The last one, more than its metadata. */
    bool slow_fetches;               /* They are not answered, for now. */
    bool forbidden[FAKE_KIND_COUNT]; /* To us. */
    unsigned open_streams;
};

void fake_api_init(struct fake_api *f, uint32_t seed);
void fake_api_release(struct fake_api *f);
struct transport fake_api_transport(struct fake_api *f);

uint32_t fake_random(struct fake_api *f, uint32_t limit);

/* Write an object, new or changed; remove one if it is there; forget old changes. */
void fake_put(struct fake_api *f, enum fake_kind kind, const char *ns, const char *name,
              unsigned value);
void fake_remove(struct fake_api *f, size_t at);
void fake_compact(struct fake_api *f);
/* End the serving of a kind, with all its objects; or begin it again. */
void fake_serve(struct fake_api *f, enum fake_kind kind, bool served);
/* What there is now. */
void fake_save(const struct fake_api *f, struct fake_snapshot *snapshot);
/* Go back to an earlier state, as after restoring a backup. Connections are lost. */
void fake_restore(struct fake_api *f, const struct fake_snapshot *snapshot);

/* Append the object as it is in lists. */
void fake_write(const struct fake_object *o, bool metadata_only, struct strbuf *out);

/* The kind of the template of that name to which a FAKE_BINDING of that name refers. */
enum fake_kind fake_bound_kind(const char *name);

/* The reason of a FAKE_EVENT of that name. */
const char *fake_event_reason(const char *name);

/* The namespace of the binding that a FAKE_WORK of this value belongs to; NULL: to none. */
const char *fake_work_ns(unsigned value);

/* True if a policy of this value has a selector of that kind. */
bool fake_selects(unsigned value, enum fake_kind kind);

/* Send this on the open streams of a kind, whatever it is. */
void fake_say(struct fake_api *f, enum fake_kind kind, const char *text);

/* Answer, and send what there is to send. True if anything was. */
bool fake_turn(struct fake_api *f);

/* Lose all connections. */
void fake_cut_all(struct fake_api *f);
