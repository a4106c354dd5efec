/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/fetch.h"

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

enum annotate_state {
    ANNOTATE_OPEN,
    ANNOTATE_WRITTEN,
    ANNOTATE_GONE,     /* There is no such object. */
    ANNOTATE_REPLACED, /* Another one has its name now. */
    ANNOTATE_DELETING, /* It is being deleted. */
    ANNOTATE_UNWANTED, /* `wanted` has said so. */
    ANNOTATE_FORBIDDEN,
    ANNOTATE_FAILED, /* Again and again; it may have been written. */
};

struct annotate_spec {
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

struct annotate {
    struct transport transport;
    int64_t interval_ms; /* From reading one object that is written to reading the next. */
    int64_t due_ms;      /* Before that nothing is asked for. */
    int64_t read_ms;     /* When the last reading of an object began. */
    /* Of the present object: */
    const struct annotate_spec *spec; /* NULL before the first. */
    struct fetch *fetch;              /* NULL between requests. */
    bool writes;                      /* It is the patch. */
    char *patch;                      /* To be sent; NULL: read first. */
    unsigned failures;
    unsigned busy;
    enum annotate_state state;
    uint64_t version; /* Of WRITTEN: the object's resourceVersion by it; 0 if it is no number. */
    struct error err; /* Of FORBIDDEN and FAILED: the server's words. */
};

void annotate_init(struct annotate *a, struct transport transport);
/* Gives up what is open. */
void annotate_release(struct annotate *a);

/* Begin with an object. The spec is borrowed until the state is no longer OPEN. */
void annotate_start(struct annotate *a, const struct annotate_spec *spec);
/* Go on, after the transport's turn; before the first object that is nothing. Times are steady. */
enum annotate_state annotate_turn(struct annotate *a, int64_t now_ms);
/* When to do so even if nothing arrives; INT64_MAX for never. */
int64_t annotate_due(const struct annotate *a);
