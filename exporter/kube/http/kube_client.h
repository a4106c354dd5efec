/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <poll.h>

#include "exporter/kube/http/transfer.h"

/*
 * HTTPS client for one API server, with HTTP/2 where the server supports it. One thread uses a
 * client and calls kube_client_perform() and kube_client_poll() in turn. Streams have connections
 * of their own, so that a long list does not delay events.
 */
struct kube_client;

/*
 * Returns a client without connections, which the caller owns. Copies the settings; borrows their
 * texts and the context of `identity`. The caller has called curl_global_init().
 */
struct kube_client *kube_client_new(const struct kube_client_settings *settings,
                                    int64_t now_ms) MUST_USE;

/*
 * Closes all connections. Frees transfers that were not cancelled, without a call of `done`. NULL
 * is allowed.
 */
void kube_client_free(struct kube_client *c);

struct transport kube_client_transport(struct kube_client *c);

/* Sends and receives without waiting, and calls handlers. `now_ms` is steady time. */
void kube_client_perform(struct kube_client *c, int64_t now_ms);

/*
 * Waits until a descriptor is ready or `timeout_ms` has passed (negative: no timeout); may return
 * sooner. Polls the descriptors of `c`, of the second client `beside` (may be NULL) and the `count`
 * `others`, at most 1,024 in all, and sets `revents` of the others. Returns false if a signal
 * interrupted the wait.
 */
bool kube_client_poll(struct kube_client *c, struct kube_client *beside, struct pollfd *others,
                      size_t count, int64_t timeout_ms);

/*
 * Returns the steady time in ms of the next kube_client_perform() if no descriptor is ready before;
 * INT64_MAX: no call needed.
 */
int64_t kube_client_due(const struct kube_client *c);

/* Used only by kube_client.c and tests. */

/*
 * Only for tests. Makes the next kube_client_perform() close all connections; open transfers end
 * with an error.
 */
void kube_client_reset(struct kube_client *c);

/* Returns the number of open sockets. */
unsigned kube_client_count_connections(const struct kube_client *c);

/* Used only by tests. Return the numbers of open requests with and without response headers. */
unsigned kube_client_count_answered(const struct kube_client *c);
unsigned kube_client_count_unanswered(const struct kube_client *c);
