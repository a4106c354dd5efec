/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/watch.h"

enum {
    DELAY_FIRST_MS = 800,
    DELAY_LAST_MS = 30 * 1000, /* Spread up to its double. */
    DELAY_SHIFTS = 6,
    STREAM_MIN_S = 300,
    STREAM_SPREAD_S = 300,
    STREAM_GRACE_MS = 30 * 1000, /* For a server that ends a stream later than asked to. */
    SHORT_MS = 1000,
    /* A server sends a bookmark a minute. */
    QUIET_MS = 3 * 60 * 1000,
    FILLING_QUIET_MS = 60 * 1000,
    FILLING_TRIES = 2,
    /*
     * A server that was restored from a backup keeps silent until it reaches our
     * version. Listing brings that to light: soon where bookmarks stay out or
     * streams end at once, else after so many streams that told nothing.
     */
    SILENT_MAX_SUSPECT = 2,
    SILENT_MAX = 6,
};

static const char *const stop_names[WATCH_STOP_COUNT] = {
    [STOP_ENDED] = "ended",         [STOP_SHORT] = "short",   [STOP_LOST] = "lost",
    [STOP_QUIET] = "quiet",         [STOP_BUSY] = "busy",     [STOP_UNAVAILABLE] = "unavailable",
    [STOP_GONE] = "gone",           [STOP_AHEAD] = "ahead",   [STOP_UNAUTHORIZED] = "unauthorized",
    [STOP_FORBIDDEN] = "forbidden", [STOP_ABSENT] = "absent", [STOP_UNACCEPTABLE] = "unacceptable",
    [STOP_REFUSED] = "refused",     [STOP_FAILED] = "failed", [STOP_MALFORMED] = "malformed",
};

const char *watch_stop_name(enum watch_stop stop)
{
    return stop_names[stop];
}

void watch_init(struct watch *w, bool fills, int64_t start_ms)
{
    *w = (struct watch){.phase = WATCH_WAITING, .fills = fills, .due_ms = start_ms};
}

void watch_list_only(struct watch *w)
{
    w->fills = false;
    if (w->phase == WATCH_FILLING)
        w->phase = WATCH_LISTING;
}

static void drop_token(struct watch *w)
{
    free(w->token);
    w->token = NULL;
}

void watch_release(struct watch *w)
{
    drop_token(w);
}

/* When the open request is to be given up. A list is watched over by who transfers it. */
static int64_t deadline(const struct watch *w)
{
    int64_t end_ms = w->opened_ms + (int64_t)w->timeout_s * 1000 + STREAM_GRACE_MS;
    int64_t quiet_ms = w->heard_ms + (w->phase == WATCH_FILLING ? FILLING_QUIET_MS : QUIET_MS);

    if (w->phase == WATCH_LISTING)
        return INT64_MAX;
    if (w->phase == WATCH_STREAMING && !w->bookmarks)
        return end_ms;
    return quiet_ms < end_ms ? quiet_ms : end_ms;
}

void watch_opened(struct watch *w, int64_t now_ms)
{
    w->opened_ms = w->heard_ms = now_ms;
    w->due_ms = deadline(w);
}

static struct watch_order open_next(struct watch *w, const struct watch_event *e)
{
    if (*w->version && !w->relist)
        w->phase = WATCH_STREAMING;
    else
        w->phase = w->fills && !w->token ? WATCH_FILLING : WATCH_LISTING;
    w->counts.lists += w->phase != WATCH_STREAMING;
    w->progressed = false;
    w->timeout_s = STREAM_MIN_S + e->random % STREAM_SPREAD_S;
    watch_opened(w, e->now_ms);
    return (struct watch_order){.open = true};
}

/* Exponential and spread: from one to two times the delay. */
static int64_t delay_ms(const struct watch *w, uint32_t random)
{
    unsigned shifts = w->stops - 1 < DELAY_SHIFTS ? w->stops - 1 : DELAY_SHIFTS;
    uint32_t delay = (uint32_t)DELAY_FIRST_MS << shifts;

    if (delay > DELAY_LAST_MS)
        delay = DELAY_LAST_MS;
    return (int64_t)delay + random % delay;
}

static struct watch_order wait_a_while(struct watch *w, const struct watch_event *e)
{
    w->stops++;
    w->phase = WATCH_WAITING;

    int64_t delay = delay_ms(w, e->random);
    w->due_ms = e->now_ms + (e->retry_after_ms > delay ? e->retry_after_ms : delay);
    return (struct watch_order){0};
}

/* All objects are due: the changes since `version` cannot be had, or cannot be trusted. */
static struct watch_order relist_after_a_while(struct watch *w, const struct watch_event *e)
{
    w->relist = true;
    return wait_a_while(w, e);
}

/* The list as it is now, at once; but if that fails too, there is no hurry. */
static struct watch_order list_latest(struct watch *w, const struct watch_event *e)
{
    drop_token(w);
    if (w->latest)
        return wait_a_while(w, e);
    w->latest = true;
    return open_next(w, e);
}

/* Ask for full objects; once that is refused too, there is nothing left to ask for. */
static struct watch_order ask_plainly(struct watch *w, const struct watch_event *e)
{
    bool was_plain = w->plain;

    w->plain = true;
    w->fills = w->fills && !was_plain;
    return was_plain ? wait_a_while(w, e) : open_next(w, e);
}

static struct watch_order list_stopped(struct watch *w, const struct watch_event *e)
{
    switch (e->stop) {
    case STOP_GONE:
    case STOP_REFUSED:
        if (w->token) {
            drop_token(w);
            w->whole = true;
            return open_next(w, e);
        }
        return e->stop == STOP_GONE ? list_latest(w, e) : wait_a_while(w, e);
    case STOP_AHEAD:
        return list_latest(w, e);
    case STOP_UNACCEPTABLE:
        return ask_plainly(w, e);
    case STOP_LOST:
    case STOP_BUSY:
    case STOP_UNAVAILABLE:
    case STOP_UNAUTHORIZED:
        return wait_a_while(w, e); /* The token may still be good. */
    case STOP_ENDED:
    case STOP_SHORT:
    case STOP_QUIET:
    case STOP_FORBIDDEN:
    case STOP_ABSENT:
    case STOP_FAILED:
    case STOP_MALFORMED:
        drop_token(w);
        return wait_a_while(w, e);
    }
    abort();
}

static struct watch_order list_instead(struct watch *w, const struct watch_event *e)
{
    w->fills = false;
    return open_next(w, e);
}

static struct watch_order filling_stopped(struct watch *w, const struct watch_event *e)
{
    switch (e->stop) {
    case STOP_GONE:
    case STOP_AHEAD:
        return list_latest(w, e);
    case STOP_UNACCEPTABLE:
        return ask_plainly(w, e);
    case STOP_REFUSED:
    case STOP_FAILED:
        return list_instead(w, e);
    case STOP_ENDED:
    case STOP_SHORT:
    case STOP_LOST:
    case STOP_QUIET:
    case STOP_MALFORMED:
        /* It can be the server, or something between that does not let such a stream live. */
        if (++w->silent >= FILLING_TRIES)
            w->fills = false;
        return wait_a_while(w, e);
    case STOP_BUSY:
    case STOP_UNAVAILABLE:
    case STOP_UNAUTHORIZED:
    case STOP_FORBIDDEN:
    case STOP_ABSENT:
        return wait_a_while(w, e);
    }
    abort();
}

/* Streams that tell nothing say nothing about what happened meanwhile. */
static void count_silence(struct watch *w, unsigned max)
{
    if (!w->progressed && ++w->silent >= max)
        w->relist = true;
}

static struct watch_order stream_ended(struct watch *w, const struct watch_event *e)
{
    if (e->now_ms - w->opened_ms >= SHORT_MS) {
        count_silence(w, SILENT_MAX);
        return open_next(w, e);
    }
    count_silence(w, SILENT_MAX_SUSPECT);
    return wait_a_while(w, e);
}

static struct watch_order following_stopped(struct watch *w, const struct watch_event *e)
{
    switch (e->stop) {
    case STOP_ENDED:
    case STOP_SHORT:
        return stream_ended(w, e);
    case STOP_QUIET:
        count_silence(w, w->bookmarks ? SILENT_MAX_SUSPECT : SILENT_MAX);
        return open_next(w, e);
    case STOP_LOST:
    case STOP_BUSY:
    case STOP_UNAVAILABLE:
    case STOP_UNAUTHORIZED:
    case STOP_FORBIDDEN:
        return wait_a_while(w, e); /* Nothing is wrong with the version. */
    case STOP_UNACCEPTABLE:
        w->relist = true;
        return ask_plainly(w, e);
    case STOP_AHEAD:
        w->latest = true;
        return relist_after_a_while(w, e);
    case STOP_GONE:
    case STOP_ABSENT:
    case STOP_REFUSED:
    case STOP_FAILED:
    case STOP_MALFORMED:
        return relist_after_a_while(w, e);
    }
    abort();
}

static void count_stop(struct watch *w, const struct watch_event *e)
{
    bool at_once = e->stop == STOP_ENDED && !w->progressed && e->now_ms - w->opened_ms < SHORT_MS;

    if (w->phase == WATCH_LISTING || w->phase == WATCH_FILLING)
        w->counts.list_failures++;
    if (w->phase == WATCH_FILLING || w->phase == WATCH_STREAMING)
        w->counts.restarts[at_once ? STOP_SHORT : e->stop]++;
}

static struct watch_order stopped(struct watch *w, const struct watch_event *e)
{
    count_stop(w, e);
    switch (w->phase) {
    case WATCH_WAITING:
        return (struct watch_order){0};
    case WATCH_LISTING:
        return list_stopped(w, e);
    case WATCH_FILLING:
        return filling_stopped(w, e);
    case WATCH_STREAMING:
        return following_stopped(w, e);
    }
    abort();
}

/* False for a version that nothing could be resumed from. */
static bool take_version(struct watch *w, const char *version)
{
    size_t len = version ? strlen(version) : 0;

    if (len == 0 || len >= sizeof(w->version))
        return false;
    memcpy(w->version, version, len + 1);
    return true;
}

static struct watch_order malformed(struct watch *w, const struct watch_event *e)
{
    struct watch_event stop = *e;

    stop.kind = WATCH_STOPPED;
    stop.stop = STOP_MALFORMED;
    return stopped(w, &stop);
}

static struct watch_order page_came(struct watch *w, const struct watch_event *e)
{
    bool more = e->token && *e->token;

    if (w->phase != WATCH_LISTING)
        return (struct watch_order){0};
    if (more) {
        w->paginated = w->paginated || !w->latest;
        drop_token(w);
        w->token = xstrdup(e->token);
        return open_next(w, e);
    }
    if (!take_version(w, e->version))
        return malformed(w, e);
    drop_token(w);
    w->relist = w->latest = w->whole = false;
    w->silent = 0;

    struct watch_order order = open_next(w, e);
    order.listed = true;
    return order;
}

static struct watch_order stream_told(struct watch *w, const struct watch_event *e)
{
    struct watch_order order = {0};

    if (w->phase == WATCH_FILLING && e->kind == WATCH_FILLED) {
        if (!take_version(w, e->version))
            return malformed(w, e);
        w->phase = WATCH_STREAMING;
        w->relist = w->latest = false;
        w->silent = 0;
        order.listed = true;
    } else if (w->phase == WATCH_STREAMING) {
        take_version(w, e->version);
        w->progressed = true;
        w->stops = w->silent = 0;
        w->bookmarks = w->bookmarks || e->kind == WATCH_BOOKMARK;
    }
    w->heard_ms = e->now_ms;
    w->due_ms = w->phase == WATCH_WAITING ? w->due_ms : deadline(w);
    return order;
}

static struct watch_order timer(struct watch *w, const struct watch_event *e)
{
    struct watch_event stop = *e;

    if (e->now_ms < w->due_ms)
        return (struct watch_order){0};
    if (w->phase == WATCH_WAITING)
        return open_next(w, e);
    stop.kind = WATCH_STOPPED;
    stop.stop = STOP_QUIET;
    return stopped(w, &stop);
}

struct watch_order watch_step(struct watch *w, const struct watch_event *event)
{
    switch (event->kind) {
    case WATCH_TIMER:
        return timer(w, event);
    case WATCH_PAGE:
        return page_came(w, event);
    case WATCH_CHANGE:
    case WATCH_BOOKMARK:
    case WATCH_FILLED:
        return stream_told(w, event);
    case WATCH_STOPPED:
        return stopped(w, event);
    }
    abort();
}
