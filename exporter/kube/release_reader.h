/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/reflector_request.h"
#include "metrics/rules/release_detection.h"

/* Groups of Karmada with schemas that show the release: enumerator, group and version. */
#define RELEASE_GROUPS(ROW)                                                                        \
    ROW(POLICY, "policy.karmada.io/v1alpha1")                                                      \
    ROW(WORK, "work.karmada.io/v1alpha2")

#define RELEASE_GROUP_ENUMERATOR(id, name) RELEASE_GROUP_##id,
enum release_group { RELEASE_GROUPS(RELEASE_GROUP_ENUMERATOR) RELEASE_GROUP_COUNT };

enum { RELEASE_INTERVAL_MS = 30 * 1000 };

/*
 * Detects Karmada's release from the OpenAPI v3 schemas of an API server, and sets that of the
 * engine. The index of the schemas is read at the start and every 30 seconds; it has a hash of each
 * group's schemas, and these are read only after the hash has changed. If the schemas cannot be
 * read, the last result stays; before the first result the newest release is assumed.
 *
 * Does nothing if the options of the engine set the release.
 */
struct release_reader {
    struct reflector_context *context; /* Borrowed. */
    bool disabled;                     /* The options of the engine set the release. */
    struct transfer *transfer;         /* NULL: no open request. */
    struct strbuf body;
    struct progress progress; /* Progress of the open request. */
    bool reads_index;         /* The open or next request is for the index, else for `group`. */
    enum release_group group;
    struct release_schema_source {
        char *wanted; /* URL with the hash, from the last index; NULL: the group is not served. */
        char *read;   /* URL of the schemas that `evidence` is from; NULL: none. */
        bool failed;  /* The last request for the schemas failed. */
        struct release_evidence evidence;
    } sources[RELEASE_GROUP_COUNT];
    struct release_finding finding;
    struct error failure; /* Reason why the schemas could not be read last; "" if they were. */
    unsigned failures;    /* Failed rounds in a row. */
    unsigned rounds;      /* Rounds that have ended. */
    int64_t due_ms;       /* Steady time of the next request. */
};

void release_reader_init(struct release_reader *r, struct reflector_context *context);
void release_reader_release(struct release_reader *r);

/* Does all work that is due at context->now_ms. */
void release_reader_turn(struct release_reader *r);
/* Returns the steady time in ms of the next release_reader_turn() if no data arrives before. */
int64_t release_reader_due(const struct release_reader *r);

/* Returns true once the first round has ended, also without a result. */
bool release_reader_ready(const struct release_reader *r);
