/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/serve/reloads.h"

#include "exporter/text/text_table.h"
#include "exporter/web/response.h"

/* Less than a client's connection may wait for its answer (peers.c). */
enum { WAIT_MAX_MS = 45 * 1000 };

int reloads_fd(const struct reloads *r)
{
    return r->desk ? desk_fd(r->desk) : -1;
}

static void answer(struct reloads *r, unsigned status, const char *text)
{
    struct call *call = desk_next(r->desk);

    call->status = status;
    call->content_type = RESPONSE_TEXT;
    output_safe(&call->body, text);
    strbuf_addc(&call->body, '\n');
    desk_answer(r->desk);
    r->waits = false;
}

bool reloads_turn(struct reloads *r, int64_t now_ms)
{
    if (r->desk && r->waits && now_ms - r->begun_ms >= WAIT_MAX_MS)
        answer(r, MHD_HTTP_GATEWAY_TIMEOUT, "the reload goes on: the log tells how it ends");
    if (!r->desk || r->waits || !desk_next(r->desk))
        return false;
    r->waits = true;
    r->begun_ms = now_ms;
    return true;
}

int64_t reloads_due(const struct reloads *r)
{
    return r->waits ? r->begun_ms + WAIT_MAX_MS : INT64_MAX;
}

void reloads_end(struct reloads *r, const struct error *why)
{
    if (r->waits)
        answer(r, why ? MHD_HTTP_INTERNAL_SERVER_ERROR : MHD_HTTP_OK, why ? why->text : "reloaded");
}
