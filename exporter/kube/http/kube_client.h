/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <poll.h>

#include "exporter/kube/http/transfer.h"

/*
 * Requests to one API server, over HTTP/2 and TLS, in one thread. Its loop is:
 *
 *     kube_client_perform(c, now);            handlers are called from here
 *     ... whatever that leads to ...
 *     kube_client_poll(c, NULL, fds, count, timeout);
 *
 * Lists and streams go over connections of their own, so that a long list does
 * not hold up changes.
 */
struct kube_client;

/* The settings are copied, their texts are borrowed. curl_global_init() must have been called. */
struct kube_client *kube_client_new(const struct kube_client_settings *settings,
                                    int64_t now_ms) MUST_USE;
/* Nothing may be under way. Takes NULL. */
void kube_client_free(struct kube_client *c);

struct transport kube_client_transport(struct kube_client *c);

/* Do what can be done without waiting; `now_ms` is steady. */
void kube_client_perform(struct kube_client *c, int64_t now_ms);

/*
 * Waits until a descriptor is ready, but no longer than `timeout_ms` (negative: for ever). Polls
 * the descriptors of `c`, of a second client `beside` (NULL: there is none), and the `count`
 * others. Sets the others' revents as poll(2) does. Returns false if a signal came.
 */
bool kube_client_poll(struct kube_client *c, struct kube_client *beside, struct pollfd *others,
                      size_t count, int64_t timeout_ms);

/* When kube_client_perform() is due even if no descriptor is ready; INT64_MAX for never. */
int64_t kube_client_due(const struct kube_client *c);

/* Close all connections; streams end as lost, for their owners to resume. */
void kube_client_reset(struct kube_client *c);

/* For the series about the exporter's own health. */
unsigned kube_client_count_connections(const struct kube_client *c);
unsigned kube_client_count_answered(const struct kube_client *c); /* Whose response has begun. */
unsigned
kube_client_count_unanswered(const struct kube_client *c); /* Requests without a response so far. */
