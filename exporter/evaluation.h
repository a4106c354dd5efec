/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/cli/options.h"
#include "exporter/manifests/source.h"
#include "metrics/expose/series.h"

/*
 * What one set of options looks at: the source, the objects it brought, what
 * the rules say about them, and the series of that. A reload makes another one
 * beside it, which takes its place when it is complete.
 */
struct evaluation {
    struct options options; /* Owned. */
    struct store *store;
    struct engine *engine;
    struct series *series;
    struct manifests *manifests;
    int changes_fd; /* Readable when manifests changed; -1 if they are not followed. */
    bool settled;
};

/*
 * Take the options (they are the evaluation's from here on, also after a
 * failure) and make everything ready for evaluation_load. NULL with the reason
 * if an option is not valid.
 */
struct evaluation *evaluation_new(struct options *options, bool follow, uint64_t seed,
                                  struct error *err) MUST_USE;
/* Takes NULL. */
void evaluation_free(struct evaluation *e);

/* Read all manifests once. False if a PATH does not exist or cannot be opened; the rest is read. */
bool evaluation_load(struct evaluation *e, struct error *err) MUST_USE;

/* Look at up to `budget` objects again. True when nothing is left to look at. */
bool evaluation_settle(struct evaluation *e, int64_t now_ms, size_t budget);

/* Take changes of the manifests, for about `slice_ms`. True if there were any. */
bool evaluation_pump(struct evaluation *e, unsigned slice_ms);
