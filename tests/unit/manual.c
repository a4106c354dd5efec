/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/manual.h"

static struct transfer *start(void *context, const struct transport_request *request)
{
    struct transfer *transfer = context;

    transfer->handler = request->handler;
    snprintf(transfer->path, sizeof(transfer->path), "%s", request->path);
    snprintf(transfer->body, sizeof(transfer->body), "%s", request->body ? request->body : "");
    transfer->method = request->method;
    transfer->requests++;
    return transfer;
}

static void cancel(void *context, struct transfer *transfer)
{
    (void)context;
    transfer->handler = (struct transport_handler){0};
}

struct transport manual_transport(struct transfer *transfer)
{
    return (struct transport){.start = start, .cancel = cancel, .context = transfer};
}
