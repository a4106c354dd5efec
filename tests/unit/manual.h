/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/http/transport.h"

/*
 * A server that is asked one thing at a time and says, through the handler, what the test has it
 * say when the test has it do so.
 */
struct transfer {
    struct transport_handler
        handler;     /* Of the request that is open; zeroed when it is cancelled. */
    char path[256];  /* Of the last request. */
    char body[2048]; /* Likewise; "" if it reads. */
    enum transport_method method;
    unsigned requests;
};

/* It keeps what it is asked in `transfer`, which it borrows. */
struct transport manual_transport(struct transfer *transfer);

/* Answer the request that is open, whole; with the status 0 its connection is lost. */
void manual_answer(struct transfer *transfer, unsigned http_status, const char *body,
                   int64_t retry_after_ms);
