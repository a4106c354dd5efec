/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/discovery.h"
#include "exporter/kube/reflector.h"
#include "metrics/rules/selector_index.h"

/*
 * Keeps what is known of a server's kinds up to date: asks at the start, every half
 * a minute, and soon when something points at a change.
 *
 * A request that makes no progress is given up. Where each version of a group needs one of its
 * own, as before Kubernetes 1.26, those that hang must not hold up the others: they get a second,
 * and longer in the rounds that follow at once.
 */
struct discoverer {
    struct reflector_context *context;
    struct discovery *discovery;
    struct transfer *transfer;
    struct strbuf body;
    int64_t due_ms;
    int64_t begun_ms;
    int64_t ended_ms;
    unsigned failures;        /* Rounds in a row. */
    struct progress progress; /* Of the open request. */
    unsigned hung;            /* Versions of groups that did not answer in this round. */
    int64_t patience_ms;      /* How long each of them may take to. */
};

void discoverer_init(struct discoverer *d, struct reflector_context *context);
void discoverer_release(struct discoverer *d);

/* Do what is due at context->now_ms. */
void discoverer_turn(struct discoverer *d);
int64_t discoverer_due(const struct discoverer *d);

/* Something may have changed: ask again, but not within two seconds of the last time. */
void discoverer_hasten(struct discoverer *d);

/* True once the server has answered, or has failed to so often that waiting is of no use. */
bool discoverer_ready(const struct discoverer *d);

/* Who says which version of a kind Karmada looks at, for as long as the discoverer is there. */
struct api_version_source discoverer_judge(const struct discoverer *d);
