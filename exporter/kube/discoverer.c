/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/discoverer.h"

enum {
    BODY_MAX_BYTES = 16 * 1024 * 1024,
    INTERVAL_MS = 30 * 1000,
    /* Where a round needs a request for each version of each group. */
    LEGACY_INTERVAL_MS = 5 * 60 * 1000,
    INTERVAL_SPREAD_MS = 3 * 1000,
    RETRY_FIRST_MS = 1000,
    RETRY_SHIFTS = 5,
    APART_MS = 2 * 1000, /* Between two rounds, however much points at a change. */
    FAILURES_BEFORE_READY = 3,
    VERSION_FIRST_MS = 1000,
    VERSION_LAST_MS = 8 * 1000,
};

void discoverer_init(struct discoverer *d, struct reflector_context *context)
{
    *d = (struct discoverer){
        .context = context,
        .discovery = discovery_new(),
        .body = STRBUF_INIT(BODY_MAX_BYTES),
        .due_ms = context->now_ms,
        .begun_ms = context->now_ms - APART_MS,
        .patience_ms = VERSION_FIRST_MS,
    };
}

void discoverer_release(struct discoverer *d)
{
    if (d->transfer)
        d->context->transport.cancel(d->context->transport.context, d->transfer);
    strbuf_release(&d->body);
    discovery_free(d->discovery);
}

static void end_round(struct discoverer *d)
{
    int64_t delay_ms = discovery_is_legacy(d->discovery) ? LEGACY_INTERVAL_MS : INTERVAL_MS;

    if (discovery_succeeded(d->discovery)) {
        bool again = d->hung > 0 && d->patience_ms < VERSION_LAST_MS;

        d->failures = 0;
        d->patience_ms = again ? 2 * d->patience_ms : VERSION_FIRST_MS;
        delay_ms = again ? RETRY_FIRST_MS : delay_ms;
    } else {
        unsigned shifts = d->failures < RETRY_SHIFTS ? d->failures : RETRY_SHIFTS - 1;

        delay_ms = (int64_t)RETRY_FIRST_MS << shifts;
        if (++d->failures == 2)
            log_write(d->context->log, LOG_LEVEL_WARN,
                      discovery_version(d->discovery) > 0
                          ? "cannot discover the API's kinds; using the last known list"
                          : "cannot discover the API's kinds; none is known so far");
    }
    d->hung = 0;
    d->ended_ms = d->context->now_ms;
    d->due_ms = d->ended_ms + delay_ms + reflector_random(d->context) % INTERVAL_SPREAD_MS;
}

static bool receive_bytes(void *context, unsigned http_status, const char *bytes, size_t len)
{
    struct discoverer *d = context;

    (void)http_status;
    progress_heard(&d->progress, len, d->context->now_ms);
    strbuf_add(&d->body, bytes, len);
    return strbuf_ok(&d->body);
}

static void receive_head(void *context, unsigned http_status)
{
    struct discoverer *d = context;

    if (http_status == 200)
        reflector_answered(d->context);
}

static void request_ended(void *context, const struct transport_result *result)
{
    struct discoverer *d = context;
    struct discovery_reply reply = {
        .http_status = strbuf_ok(&d->body) ? result->http_status : 0,
        .content_type = result->content_type,
        .body = d->body.data,
        .len = d->body.len,
    };

    d->transfer = NULL;
    if (discovery_receive(d->discovery, &reply))
        end_round(d);
    strbuf_release(&d->body);
}

static bool asks_for_version(const struct discoverer *d)
{
    return strchr(discovery_path(d->discovery) + 1, '/') != NULL;
}

static int64_t deadline(const struct discoverer *d)
{
    return progress_deadline(&d->progress,
                             asks_for_version(d) ? d->patience_ms : PROGRESS_SHORT_MS);
}

static void give_up(struct discoverer *d)
{
    d->context->transport.cancel(d->context->transport.context, d->transfer);
    d->hung += asks_for_version(d);
    request_ended(d, &(struct transport_result){.error = ""});
}

void discoverer_turn(struct discoverer *d)
{
    if (d->transfer && d->context->now_ms >= deadline(d))
        give_up(d);
    if (d->transfer)
        return;
    /* What did not reach the server may now: others do. */
    if (d->failures > 0 && d->context->recovered_ms >= d->ended_ms &&
        d->due_ms > d->ended_ms + RETRY_FIRST_MS)
        d->due_ms = d->ended_ms + RETRY_FIRST_MS;
    if (!discovery_path(d->discovery)) {
        if (d->context->now_ms < d->due_ms)
            return;
        d->begun_ms = d->context->now_ms;
        discovery_begin(d->discovery);
    }
    progress_open(&d->progress, d->context->now_ms);
    d->transfer = d->context->transport.start(d->context->transport.context,
                                              &(struct transport_request){
                                                  .path = discovery_path(d->discovery),
                                                  .accept = discovery_accept(),
                                                  .class = REQUEST_SHORT,
                                                  .handler = {.responded = receive_head,
                                                              .data = receive_bytes,
                                                              .done = request_ended,
                                                              .context = d},
                                              });
}

int64_t discoverer_due(const struct discoverer *d)
{
    if (d->transfer)
        return deadline(d);
    return discovery_path(d->discovery) ? d->context->now_ms : d->due_ms;
}

void discoverer_hasten(struct discoverer *d)
{
    int64_t soon_ms = d->begun_ms + APART_MS;

    if (d->failures == 0 && d->due_ms > soon_ms)
        d->due_ms = soon_ms;
}

bool discoverer_ready(const struct discoverer *d)
{
    return discovery_succeeded(d->discovery) || d->failures >= FAILURES_BEFORE_READY;
}

/* To Karmada a kind is what its preferred version is, and nothing where that cannot be watched. */
static enum api_version_answer judge_version(const void *context, const char *api_version,
                                             const char *kind)
{
    const struct api_resource *preferred = discovery_preferred(context, api_version, kind);
    const struct api_resource *ignored;

    if (preferred)
        return strcmp(preferred->api_version, api_version) == 0 ? API_VERSION_WATCHED
                                                                : API_VERSION_UNWATCHED;
    return discovery_find(context, api_version, kind, &ignored) == DISCOVERY_UNWATCHED
               ? API_VERSION_UNWATCHED
               : API_VERSION_UNKNOWN;
}

struct api_version_source discoverer_judge(const struct discoverer *d)
{
    return (struct api_version_source){judge_version, d->discovery};
}
