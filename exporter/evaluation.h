/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <poll.h>

#include "exporter/assets/source.h"
#include "exporter/kube/session.h"
#include "exporter/manifests/source.h"
#include "exporter/options/options.h"
#include "metrics/expose/registry.h"

/*
 * What one set of options looks at: the sources, the objects they brought, what
 * the rules say about them, and the series of that. A reload makes another one
 * beside it, which takes its place when it is complete.
 */
struct evaluation {
    struct options options; /* Owned. */
    struct store *store;
    struct engine *engine;
    struct registry *registry;
    struct manifests *manifests; /* Without a PATH where the objects come from an API server. */
    struct namespace_filter filter;
    struct kube_session *session; /* NULL without an API server. */
    struct asset_source *assets;  /* NULL without a file of them. */
    int changes_fd; /* Readable when manifests changed; -1 if they are not followed. */
    bool settled;
};

struct evaluation_settings {
    struct options *options; /* The evaluation's from here on, also after a failure. */
    const char *const *environment;
    const struct log *log; /* Borrowed, as is the environment. */
    bool follow;           /* Manifests, as they change. */
    bool cluster; /* Manifests go over what an API server says. Without any, it is all there is. */
    uint64_t seed;
};

/*
 * Make everything ready for evaluation_load. NULL with the reason if an option is not valid,
 * or if there is nothing to look at.
 */
struct evaluation *evaluation_new(const struct evaluation_settings *settings,
                                  struct error *err) MUST_USE;
/* Takes NULL. */
void evaluation_free(struct evaluation *e);

enum loading {
    LOADING_GOES_ON, /* Wait with evaluation_wait(), and call again. */
    LOADING_DONE,
    LOADING_FAILED, /* A PATH or the file of assets cannot be opened; the rest is read. */
};

/*
 * Read everything once: what an API server sends as it comes, assets in slices, all manifests at
 * a stroke after that, so that they go over what the server says.
 */
enum loading evaluation_load(struct evaluation *e, struct error *err) MUST_USE;

/* Look at up to `budget` objects again. True when nothing is left to look at. */
bool evaluation_run(struct evaluation *e, int64_t now_ms, size_t budget);

/* Take what the sources have, manifests for about `slice_ms`. */
void evaluation_pump(struct evaluation *e, unsigned slice_ms);

/* For how many milliseconds there is nothing to do if nothing stirs; 0: go on at once. */
int64_t evaluation_idle_ms(const struct evaluation *e);

/*
 * Wait until something stirs, here or on the others (whose revents are set, as poll(2)
 * does it), but no longer than that. Takes NULL for none.
 */
void evaluation_wait(struct evaluation *e, struct pollfd *others, size_t count, int64_t wait_ms);
