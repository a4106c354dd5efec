/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/failure.h"

/* A stream that misses something says so at once: one open for longer missed nothing. */
enum { PROVEN_MS = 1000 };

void failure_count(struct reflector_failure *f, bool counts)
{
    if (counts && !f->counts)
        f->context->failing_count++;
    else if (!counts && f->counts)
        f->context->failing_count--;
    f->counts = counts;
}

void failure_log(struct reflector_failure *f, enum end_reason reason, const char *text,
                 unsigned retries, bool synced)
{
    const char *name = end_reason_name(reason);
    bool warn = !f->warned && retries > 0;

    snprintf(f->text, sizeof(f->text), "%s%s%s", name, *text ? ": " : "", text);
    f->warned = f->warned || warn;
    f->context->health_version += warn;
    log_write(f->context->log, warn ? LOG_LEVEL_WARN : LOG_LEVEL_DEBUG,
              synced ? "cannot read a resource; its last known objects stay in force"
                     : "cannot read a resource",
              "resource", f->resource, "api_version", f->api_version, "reason", name, "error",
              text);
}

void failure_end(struct reflector_failure *f)
{
    if (f->warned)
        log_write(f->context->log, LOG_LEVEL_INFO, "a resource can be read again", "resource",
                  f->resource, "api_version", f->api_version);
    failure_count(f, false);
    f->context->health_version += f->warned;
    f->warned = false;
    f->text[0] = '\0';
}

void failure_note(struct reflector_failure *f, const struct request_end *end)
{
    if (!end->unanswered && end->reason != END_UNAVAILABLE && end->reason != END_BUSY)
        return;
    failure_count(f, true);
    f->failed_ms = f->context->now_ms;
    f->told_to_wait_ms = end->retry_after_ms;
}

int64_t failure_end_ms(const struct reflector_failure *f, int64_t answered_ms)
{
    return f->text[0] && answered_ms ? answered_ms + PROVEN_MS : INT64_MAX;
}

void failure_log_poll(struct reflector_failure *f)
{
    if (f->polled)
        return;
    f->polled = true;
    f->context->health_version++;
    log_write(f->context->log, LOG_LEVEL_WARN,
              "no connection is left to watch a resource over HTTP/1.1; it is listed every 30 s; "
              "raise the limit of open files",
              "resource", f->resource, "api_version", f->api_version);
}
