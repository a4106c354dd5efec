/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/http/transport.h"

/* Server for one request at a time, which the test answers with manual_answer(). */
struct transfer {
    struct transport_handler handler; /* Handler of the open request, else zero. */
    char path[256];                   /* Path of the last request. */
    char body[2048];                  /* Body of the last request; "" without a body. */
    enum transport_method method;
    unsigned requests;
};

/* Returns a transport that stores its requests in `transfer`, which must outlive it. */
struct transport manual_transport(struct transfer *transfer);

/* Answers the open request with the complete body. With status 0, the connection breaks. */
void manual_answer(struct transfer *transfer, unsigned http_status, const char *body,
                   int64_t retry_after_ms);
