/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/api_resources.h"
#include "exporter/kube/backoff.h"
#include "exporter/kube/http/transport.h"
#include "exporter/kube/object_stream.h"
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

/*
 * Objects that somebody asks for by name and that no watch follows: read alone, at most for two
 * seconds, and kept for ten, so that a page that is loaded again costs the server nothing. Web
 * clients together may ask for five new ones a second.
 */
struct lookup;

enum lookup_client { LOOKUP_COMMAND, LOOKUP_WEB };

enum lookup_state {
    LOOKUP_WAITING, /* Ask again after the next turn. */
    LOOKUP_FOUND,
    LOOKUP_MISSING,
    LOOKUP_FORBIDDEN,
    LOOKUP_OUTSIDE, /* The namespace is none of those that this exporter reads. */
    LOOKUP_LATE,    /* The server has not answered in time. */
    LOOKUP_FAILED,
    LOOKUP_BUSY,    /* Too many have been asked for. */
    LOOKUP_UNKNOWN, /* No template has such a kind, as far as is known. */
};

struct lookup_answer {
    enum lookup_state state;
    const cJSON *object; /* Of LOOKUP_FOUND; borrowed until the next turn. */
    const char *reason;  /* For people, of the others: the server's words, or ""; likewise. */
};

/* The filter is borrowed. */
struct lookup *lookup_new(struct transport transport, const struct namespace_filter *filter,
                          int64_t now_ms) MUST_USE;
/* Takes NULL. */
void lookup_free(struct lookup *l);

/* Ask for an object, or for what became of it. `now_ms` is steady here, too. */
struct lookup_answer lookup_object(struct lookup *l, const struct fetch_spec *spec,
                                   enum lookup_client client, int64_t now_ms);

/* Forget what is too old. */
void lookup_turn(struct lookup *l, int64_t now_ms);
/* When something is due: the end of a wait, or of what is kept; INT64_MAX for never. */
int64_t lookup_due(const struct lookup *l);

/*
 * Sets or removes one annotation of objects of an API server, one after the other, and touches
 * nothing else of them. Right before it writes it reads the object's metadata; what it writes names
 * the uid and the version that it has read, so that the server refuses it (409) for an object that
 * has been changed since, or been deleted and created again. Then it reads again, and decides
 * again, a few times. A patch never creates.
 *
 * It writes to ANNOTATE_PER_S objects a second, and to fewer after the server has said that it is
 * busy (429); it waits as long as the server then asks it to.
 */
enum { ANNOTATE_PER_S = 10 };

enum annotator_state {
    ANNOTATE_OPEN,
    ANNOTATE_WRITTEN,
    ANNOTATE_GONE,     /* There is no such object. */
    ANNOTATE_REPLACED, /* Another one has its name now. */
    ANNOTATE_DELETING, /* It is being deleted. */
    ANNOTATE_UNWANTED, /* `wanted` has said so. */
    ANNOTATE_FORBIDDEN,
    ANNOTATE_FAILED, /* Again and again; it may have been written. */
};

struct annotator_spec {
    struct identity id;
    const char *resource; /* The plural in paths. */
    uint32_t uid_hash;    /* Of the object that is meant (identity.h). */
    const char *key;
    const char *value; /* NULL removes the annotation. */
    const char *field_manager;
    /*
     * Whether to write, now that the metadata have been read; asked again after each reading.
     * `value` is what the annotation has, NULL if there is none.
     */
    bool (*wanted)(void *context, const char *value);
    void *context;
};

struct annotator {
    struct transport transport;
    int64_t interval_ms; /* From reading one object that is written to reading the next. */
    int64_t due_ms;      /* Before that nothing is asked for. */
    int64_t read_ms;     /* When the last reading of an object began. */
    /* Of the present object: */
    const struct annotator_spec *spec; /* NULL before the first. */
    struct fetch *fetch;               /* NULL between requests. */
    bool writes;                       /* It is the patch. */
    char *patch;                       /* To be sent; NULL: read first. */
    unsigned failures;
    unsigned busy;
    enum annotator_state state;
    uint64_t version; /* Of WRITTEN: the object's resourceVersion by it; 0 if it is no number. */
    struct error err; /* Of FORBIDDEN and FAILED: the server's words. */
};

void annotator_init(struct annotator *a, struct transport transport);
/* Gives up what is open. */
void annotator_release(struct annotator *a);

/* Begin with an object. The spec is borrowed until the state is no longer OPEN. */
void annotator_start(struct annotator *a, const struct annotator_spec *spec);
/* Go on, after the transport's turn; before the first object that is nothing. Times are steady. */
enum annotator_state annotator_turn(struct annotator *a, int64_t now_ms);
/* When to do so even if nothing arrives; INT64_MAX for never. */
int64_t annotator_due(const struct annotator *a);
