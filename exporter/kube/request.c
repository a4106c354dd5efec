/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/request.h"

enum { ERROR_BODY_MAX_BYTES = 8 * 1024 };

void request_init(struct request *q, struct transport transport)
{
    *q = (struct request){.transport = transport, .error_body = STRBUF_INIT(ERROR_BODY_MAX_BYTES)};
}

static void release_bodies(struct request *q)
{
    object_stream_release(&q->stream);
    strbuf_release(&q->error_body);
    free(q->token);
    q->token = NULL;
}

void request_close(struct request *q)
{
    if (!q->transfer)
        return;
    q->transport.cancel(q->transport.context, q->transfer);
    q->transfer = NULL;
    release_bodies(q);
}

static bool give_up(struct request *q, enum end_reason reason, const char *text)
{
    q->given_up = true;
    q->reason = reason;
    snprintf(q->text, sizeof(q->text), "%s", text);
    return false;
}

static bool receive_event(void *context, const struct watch_event *event)
{
    struct request *q = context;

    if (event->kind == EVENT_ERROR) {
        q->retry_after_ms = event->status->retry_after_ms;
        return give_up(q, end_reason_of_error(event->status), event->status->message);
    }
    if (q->list) {
        const cJSON *metadata = json_get(event->object, "metadata");

        list_pages_note(&q->pages, json_str(metadata, "namespace", ""),
                        json_str(metadata, "name", ""));
    }
    q->stopped = !q->handler.event(q->handler.context, event);
    return !q->stopped;
}

static void receive_head(void *context, unsigned http_status)
{
    struct request *q = context;

    if (http_status == 200)
        q->handler.answered(q->handler.context);
}

static bool read_bytes(struct request *q, unsigned http_status, const char *bytes, size_t len)
{
    struct error err;

    if (q->given_up || q->stopped)
        return false;
    if (http_status != 200) {
        /* The beginning is enough for an error text; the rest is dropped. */
        size_t room = ERROR_BODY_MAX_BYTES - q->error_body.len;

        strbuf_add(&q->error_body, bytes, len < room ? len : room);
        return true;
    }
    if (object_stream_feed(&q->stream, bytes, len, &err))
        return true;
    return q->given_up || q->stopped ? false : give_up(q, END_MALFORMED, err.text);
}

static bool receive_bytes(void *context, unsigned http_status, const char *bytes, size_t len)
{
    struct request *q = context;

    if (!read_bytes(q, http_status, bytes, len))
        return false;
    q->handler.heard(q->handler.context, len, !json_frame_is_complete(&q->stream.frame));
    return true;
}

/* Returns why the list may not go on with its next page; NULL if it may, or ends here. */
static const char *page_fault(struct request *q, const struct list_facts *facts)
{
    return facts->token ? list_pages_end(&q->pages, q->token, facts->token) : NULL;
}

/* The end of a list: a complete page, or why it is none. */
static void read_page(struct request *q, const struct transport_result *result,
                      struct request_end *end, struct list_facts *facts)
{
    struct error err;

    if (object_stream_finish_list(&q->stream, facts, &err)) {
        const char *fault = page_fault(q, facts);

        end->page = fault ? NULL : facts;
        end->reason = fault ? END_MALFORMED : end->reason;
        snprintf(q->text, sizeof(q->text), "%s", fault ? fault : "");
        return;
    }
    end->reason = object_stream_is_cut(&q->stream) ? END_LOST : END_MALFORMED;
    snprintf(q->text, sizeof(q->text), "%s", *result->error ? result->error : err.text);
}

static void read_refusal(struct request *q, const struct transport_result *result,
                         struct request_end *end)
{
    struct status status;

    status_read_body(q->error_body.data, q->error_body.len, &status);
    end->reason = end_reason_of_response(result->http_status, &status);
    end->retry_after_ms = result->retry_after_ms > status.retry_after_ms ? result->retry_after_ms
                                                                         : status.retry_after_ms;
    snprintf(q->text, sizeof(q->text), "%s", status.message);
}

static void request_ended(void *context, const struct transport_result *result)
{
    struct request *q = context;
    struct request_end end = {
        .reason = END_REGULAR, .text = q->text, .unanswered = result->http_status == 0};
    struct list_facts facts = {0};

    q->transfer = NULL;
    if (q->given_up) {
        end.reason = q->reason;
        end.retry_after_ms = q->retry_after_ms;
    } else if (result->http_status != 0 && result->http_status != 200) {
        read_refusal(q, result, &end);
    } else if (result->http_status == 200 && q->list) {
        read_page(q, result, &end, &facts);
    } else if (result->http_status == 0 || !result->complete) {
        end.reason = END_LOST;
        snprintf(q->text, sizeof(q->text), "%s", result->error);
    }
    release_bodies(q);
    q->handler.ended(q->handler.context, &end);
    list_facts_release(&facts);
}

void request_open(struct request *q, const struct request_spec *spec)
{
    q->handler = spec->handler;
    q->list = spec->list;
    q->token = spec->token ? xstrdup(spec->token) : NULL;
    if (!spec->token)
        list_pages_begin(&q->pages);
    list_pages_open(&q->pages);
    q->stopped = q->given_up = false;
    q->retry_after_ms = 0;
    q->text[0] = '\0';
    object_stream_init(&q->stream, spec->list ? JSON_FRAME_LIST : JSON_FRAME_EVENTS,
                       spec->api_version, spec->kind, receive_event, q);
    q->transfer = q->transport.start(q->transport.context,
                                     &(struct transport_request){
                                         .path = spec->path,
                                         .accept = spec->accept,
                                         .class = spec->list ? REQUEST_SHORT : REQUEST_STREAM,
                                         .handler = {.responded = receive_head,
                                                     .data = receive_bytes,
                                                     .done = request_ended,
                                                     .context = q},
                                     });
}
