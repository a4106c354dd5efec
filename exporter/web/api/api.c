/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/api/api.h"

#include "exporter/system/platform.h"
#include "metrics/expose/writer.h"

#define ENDPOINT_ROW(id, handler, path, summary, known, required, answer)                          \
    {handler, path, summary, known, required, answer},

const struct endpoint endpoints[ENDPOINT_COUNT] = {ENDPOINTS(ENDPOINT_ROW)};

void api_error_write(struct strbuf *out, const char *text)
{
    struct writer w = {.out = out};

    writer_open(&w, NULL, '{');
    writer_text(&w, "error", text);
    writer_close(&w, '}');
    strbuf_addc(out, '\n');
}

void api_refuse(struct call *call, unsigned status, const char *text)
{
    call->status = status;
    strbuf_reset(&call->body);
    api_error_write(&call->body, text);
}

bool api_turn(struct desk *desk, const struct health *h, bool settled, unsigned slice_ms)
{
    int64_t end_ms = platform_steady_ms() + slice_ms;
    struct call *call;

    while ((call = desk_next(desk)) != NULL) {
        if (!settled || platform_steady_ms() >= end_ms)
            return true;
        call->endpoint->answer(call, h);
        desk_answer(desk);
    }
    return false;
}
