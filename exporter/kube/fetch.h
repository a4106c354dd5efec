/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/http/transport.h"
#include "exporter/kube/object_stream.h"
#include "exporter/kube/progress.h"
#include "metrics/base/strbuf.h"
#include "metrics/model/metadata.h"

/* One object of an API server, read or written by a request of its own, or found in a list. */

enum fetch_state {
    FETCH_OPEN,
    FETCH_FOUND,
    FETCH_MISSING,   /* 404: there is no such object, or no namespace to create it in. */
    FETCH_FORBIDDEN, /* 403, 401. */
    FETCH_FAILED,    /* Anything else: it may exist. */
};

struct fetch_spec {
    struct identity id;
    const char *resource; /* The plural in paths. */
    bool metadata_only;
    /*
     * NULL: the object is read by its name. Else it is looked for in one page of the list that has
     * this query; with the name "" any object will do, and none is missing if the page is empty.
     * An object that is not in the page is missing only if the list ends there.
     */
    const char *list_query;
    /* Instead of reading it write this body; what is found is the object as it is then. */
    enum transport_method method;
    const char *body;
    const char *field_manager; /* Who does that. */
};

struct fetch {
    struct transport transport;
    struct transfer *transfer; /* NULL once it has ended. */
    char *api_version;
    char *kind;
    char *name;                /* Of what is looked for in a list, */
    struct object_stream list; /* which is read as it comes. */
    bool lists;
    struct strbuf body;
    size_t received; /* Bytes. */
    struct progress progress;
    enum fetch_state state;
    unsigned http_status;   /* 0: there was no answer. */
    int64_t retry_after_ms; /* The server asks us to wait so long; 0 if it does not. */
    char *version;          /* Of the list; NULL if there is none. */
    cJSON *object;          /* FETCH_FOUND: the caller may move it out. */
    struct error err;       /* Why not, unless it was found. */
};

/* Ask for it; the texts are copied. It must not be moved. */
struct fetch *fetch_start(struct transport transport, const struct fetch_spec *spec,
                          int64_t now_ms) MUST_USE;
/* Have it fail if it makes no progress; `now_ms` is steady. To be called at each turn. */
void fetch_turn(struct fetch *f, int64_t now_ms);
/* When that is due; INT64_MAX if it is not open. */
int64_t fetch_due(const struct fetch *f);
/* Give it up, if it is open: it stays so. */
void fetch_stop(struct fetch *f);
/* The same, and free it. Takes NULL. */
void fetch_free(struct fetch *f);
