/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/context.h"
#include "exporter/kube/request.h"

/* How the failures of a reflector are logged, counted and forgotten. */
struct reflector_failure {
    struct reflector_context *context; /* Borrowed, as are the resource and its apiVersion. */
    const char *resource;
    const char *api_version;
    bool counts;       /* The server did not answer, or not now: it counts as failing. */
    int64_t failed_ms; /* When that was; and for how long it said to wait: */
    int64_t told_to_wait_ms;
    bool warned; /* The log has a warning about it. */
    bool polled; /* And one about the lack of room for a stream. */
    /* Why the last request failed, or makes no progress, for people; "" if neither is so. */
    char text[512];
};

/* It counts among those that the server does not serve, or does not. */
void failure_count(struct reflector_failure *f, bool counts);

/*
 * A single failure happens now and then: the log warns of the second in a row. `synced`: there are
 * objects from before.
 */
void failure_log(struct reflector_failure *f, enum end_reason reason, const char *text,
                 unsigned retries, bool synced);

/* It is not watched, for lack of connections, but listed now and then: tell that once. */
void failure_log_poll(struct reflector_failure *f);

/* The resource can be read again. */
void failure_end(struct reflector_failure *f);

/* A request ended: is it the server that fails, rather than this request of it? */
void failure_note(struct reflector_failure *f, const struct request_end *end);

/*
 * When an open stream that was answered then (0: it was not), and of which nothing came yet, ends
 * the failure before it.
 */
int64_t failure_end_ms(const struct reflector_failure *f, int64_t answered_ms);
