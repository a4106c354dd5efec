/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/manual.h"

#include "tests/unit/suite.h"

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

void manual_answer(struct transfer *transfer, unsigned http_status, const char *body,
                   int64_t retry_after_ms)
{
    struct transport_handler handler = transfer->handler;
    const struct transport_result result = {
        .complete = http_status != 0,
        .http_status = http_status,
        .retry_after_ms = retry_after_ms,
        .error = http_status ? "" : "connection lost",
    };

    transfer->handler = (struct transport_handler){0};
    assert_non_null(handler.done);
    if (http_status)
        assert_true(handler.data(handler.context, http_status, body, strlen(body)));
    handler.done(handler.context, &result);
}
