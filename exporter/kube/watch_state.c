/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/watch_state.h"

#include "exporter/kube/backoff.h"
#include "metrics/base/number.h"

static const char *const reason_names[END_REASON_COUNT] = {
    [END_REGULAR] = "ended",       [END_SHORT] = "short",   [END_LOST] = "lost",
    [END_QUIET] = "quiet",         [END_BUSY] = "busy",     [END_UNAVAILABLE] = "unavailable",
    [END_GONE] = "gone",           [END_AHEAD] = "ahead",   [END_UNAUTHORIZED] = "unauthorized",
    [END_FORBIDDEN] = "forbidden", [END_ABSENT] = "absent", [END_UNACCEPTABLE] = "unacceptable",
    [END_REFUSED] = "refused",     [END_FAILED] = "failed", [END_MALFORMED] = "malformed",
    [END_RESTORED] = "restored",
};

const char *end_reason_name(enum end_reason reason)
{
    return reason_names[reason];
}

/* ---- timeouts of the open request ---- */

enum {
    STREAM_GRACE_MS = 30 * 1000, /* Time for the server to end a stream after timeoutSeconds. */
    QUIET_MS = 3 * 60 * 1000,    /* Three intervals between bookmarks of the API server. */
};

enum lifetime_kind {
    LIFETIME_LIST,
    LIFETIME_INITIAL_EVENTS,
    LIFETIME_STREAM,
    LIFETIME_STREAM_WITH_BOOKMARKS, /* Stream that is cancelled after QUIET_MS without an event. */
};

static bool is_stream(enum lifetime_kind kind)
{
    return kind == LIFETIME_STREAM || kind == LIFETIME_STREAM_WITH_BOOKMARKS;
}

/* Restarts all times; keeps `timeout_s`. */
static void lifetime_restart(struct lifetime *l, int64_t now_ms)
{
    l->opened_ms = l->event_ms = now_ms;
    l->cut = false;
    progress_begin(&l->progress, now_ms);
}

/* Counts bytes of the response; parameters as in watch_note_bytes(). */
static void lifetime_note_bytes(struct lifetime *l, enum lifetime_kind kind, size_t bytes, bool cut,
                                int64_t now_ms)
{
    if (is_stream(kind) && !l->cut)
        progress_begin(&l->progress, now_ms);
    l->cut = cut;
    progress_note_bytes(&l->progress, bytes, now_ms);
}

/* Returns when to cancel the request if no more bytes or events arrive. */
static int64_t lifetime_end_ms(const struct lifetime *l, enum lifetime_kind kind)
{
    int64_t progress_ms = progress_deadline(&l->progress, PROGRESS_LIST_MS);
    int64_t end_ms = l->opened_ms + (int64_t)l->timeout_s * 1000 + STREAM_GRACE_MS;

    if (kind == LIFETIME_LIST)
        return progress_ms;
    if (kind == LIFETIME_STREAM_WITH_BOOKMARKS && l->event_ms + QUIET_MS < end_ms)
        end_ms = l->event_ms + QUIET_MS;
    /* Without changes a stream is silent, but not before its head or in the middle of an event. */
    if (is_stream(kind) && l->progress.begun && !l->cut)
        return end_ms;
    return progress_ms < end_ms ? progress_ms : end_ms;
}

static const char *lifetime_late_reason(const struct lifetime *l, enum lifetime_kind kind,
                                        int64_t now_ms)
{
    if (kind == LIFETIME_INITIAL_EVENTS && l->progress.begun)
        return "the initial events do not end";
    return progress_late_reason(&l->progress, now_ms);
}

/* ---- state machine ---- */

enum {
    STREAM_MIN_S = 300,
    STREAM_SPREAD_S = 300,
    SHORT_MS = 1000,
    LASTED_MS = 10 * 1000, /* A stream of this length ends a series of failures. */
    INITIAL_TRIES = 2,
    /*
     * Streams in a row without an event before a list: a restored server sends no event until it
     * reaches the version of the watch. The lower limit is for streams that end at once, or that
     * lack bookmarks they had before.
     */
    SILENT_MAX_SUSPECT = 2,
    SILENT_MAX = 6,
    LIST_COST_MS = 10 * 1000, /* Average interval between lists without a wait. */
};

void watch_init(struct watch *w, bool streaming_lists, int64_t start_ms)
{
    *w = (struct watch){
        .phase = WATCH_WAITING,
        .streaming_lists = streaming_lists,
        .most_recent = true,
        .due_ms = start_ms,
    };
}

void watch_disable_streaming_lists(struct watch *w)
{
    w->streaming_lists = false;
    if (w->phase == WATCH_INITIAL_EVENTS)
        w->phase = WATCH_LISTING;
}

void watch_release(struct watch *w)
{
    free(w->token);
    w->token = NULL;
}

void watch_note_recovery(struct watch *w, int64_t failed_ms, int64_t retry_after_ms,
                         uint32_t random)
{
    int64_t wait_ms = backoff_after_recovery_ms(random);
    int64_t soon_ms = failed_ms + (retry_after_ms > wait_ms ? retry_after_ms : wait_ms);

    w->retries = 0;
    if (w->phase == WATCH_WAITING && w->due_ms > soon_ms)
        w->due_ms = soon_ms;
}

static enum lifetime_kind lifetime_of(const struct watch *w)
{
    if (w->phase == WATCH_STREAMING)
        return w->bookmarks ? LIFETIME_STREAM_WITH_BOOKMARKS : LIFETIME_STREAM;
    return w->phase == WATCH_LISTING ? LIFETIME_LIST : LIFETIME_INITIAL_EVENTS;
}

void watch_note_opened(struct watch *w, int64_t now_ms)
{
    lifetime_restart(&w->lifetime, now_ms);
    w->due_ms = lifetime_end_ms(&w->lifetime, lifetime_of(w));
}

void watch_note_bytes(struct watch *w, size_t bytes, bool cut, int64_t now_ms)
{
    if (w->phase == WATCH_WAITING)
        return;
    lifetime_note_bytes(&w->lifetime, lifetime_of(w), bytes, cut, now_ms);
    w->due_ms = lifetime_end_ms(&w->lifetime, lifetime_of(w));
}

void watch_start_polling(struct watch *w, uint32_t random)
{
    w->phase = WATCH_WAITING;
    w->polled = true;
    w->retries = 0;
    w->due_ms = w->listed_ms + backoff_poll_ms(random);
}

const char *watch_late_reason(const struct watch *w, int64_t now_ms)
{
    return lifetime_late_reason(&w->lifetime, lifetime_of(w), now_ms);
}

/* Chooses the next request by the state, restarts the timeouts, and returns the open action. */
static struct watch_action open_next_request(struct watch *w, const struct watch_input *in)
{
    bool first = *w->version == '\0';

    if (!first && !w->relist && !w->polled)
        w->phase = WATCH_STREAMING;
    else
        w->phase =
            w->streaming_lists && !first && !w->token ? WATCH_INITIAL_EVENTS : WATCH_LISTING;
    w->counts.lists += w->phase != WATCH_STREAMING;
    w->progressed = false;
    w->lifetime.timeout_s = STREAM_MIN_S + in->random % STREAM_SPREAD_S;
    watch_note_opened(w, in->now_ms);
    return (struct watch_action){.open = true};
}

/* Waits for the longer of the exponential delay and the delay that the server asks for. */
static struct watch_action wait_before_retry(struct watch *w, const struct watch_input *in)
{
    int64_t wait_ms = backoff_ms(w->retries, in->random);

    w->retries++;
    w->phase = WATCH_WAITING;
    w->due_ms = in->now_ms + (in->retry_after_ms > wait_ms ? in->retry_after_ms : wait_ms);
    return (struct watch_action){0};
}

/* Lists all objects after a wait: the changes since `version` are unavailable or unreliable. */
static struct watch_action wait_before_relist(struct watch *w, const struct watch_input *in)
{
    w->relist = true;
    return wait_before_retry(w, in);
}

/*
 * Lists at once after 410, which is normal after a restart of the server: the objects in the store
 * are out of date until then. Waits if such a list began shortly before and no stream of changes
 * has had an event since, or if the burst limit is exhausted.
 */
static struct watch_action relist_when_gone(struct watch *w, const struct watch_input *in)
{
    if (in->now_ms < w->relist_at_once_ms ||
        !burst_limit_take(&w->burst_limit, LIST_COST_MS, in->now_ms))
        return wait_before_relist(w, in);
    w->relist_at_once_ms = in->now_ms + LIST_COST_MS;
    w->relist = true;
    return open_next_request(w, in);
}

/* Lists the most recent state: at once, or after a wait if the failed request had asked for it. */
static struct watch_action list_most_recent(struct watch *w, const struct watch_input *in)
{
    watch_release(w);
    if (w->most_recent)
        return wait_before_retry(w, in);
    w->most_recent = true;
    return open_next_request(w, in);
}

/*
 * Lists without a limit, because the continue token is refused: at once, or after a wait if the
 * failed list had no limit either. A server may send pages although no limit was asked for.
 */
static struct watch_action list_in_one_page(struct watch *w, const struct watch_input *in)
{
    watch_release(w);
    if (w->unpaginated)
        return wait_before_retry(w, in);
    w->unpaginated = true;
    /* In one page, the first list may come from the watch cache: etcd would have to read all. */
    w->most_recent = w->most_recent && *w->version;
    return open_next_request(w, in);
}

/* Asks for full objects after 406 or 415. If these fail too, waits and uses lists, not WatchList.
 */
static struct watch_action ask_for_full_objects(struct watch *w, const struct watch_input *in)
{
    bool asked = w->full_objects;

    w->full_objects = true;
    w->streaming_lists = w->streaming_lists && !asked;
    return asked ? wait_before_retry(w, in) : open_next_request(w, in);
}

static struct watch_action handle_list_end(struct watch *w, const struct watch_input *in)
{
    switch (in->reason) {
    case END_GONE:
    case END_REFUSED:
        if (w->token)
            return list_in_one_page(w, in);
        return in->reason == END_GONE ? list_most_recent(w, in) : wait_before_retry(w, in);
    case END_AHEAD:
        return list_most_recent(w, in);
    case END_UNACCEPTABLE:
        return ask_for_full_objects(w, in);
    case END_LOST:
    case END_BUSY:
    case END_UNAVAILABLE:
    case END_UNAUTHORIZED:
        return wait_before_retry(w, in); /* The continue token may still be valid. */
    case END_REGULAR:
    case END_SHORT:
    case END_QUIET:
    case END_FORBIDDEN:
    case END_ABSENT:
    case END_FAILED:
    case END_MALFORMED:
    case END_RESTORED:
        watch_release(w);
        return wait_before_retry(w, in);
    }
    abort();
}

static struct watch_action handle_initial_events_end(struct watch *w, const struct watch_input *in)
{
    switch (in->reason) {
    case END_GONE:
    case END_AHEAD:
        return list_most_recent(w, in);
    case END_UNACCEPTABLE:
        return ask_for_full_objects(w, in);
    case END_REFUSED:
    case END_FAILED:
    case END_QUIET:
        /* WatchList is refused, or its initial events do not end (some aggregated API servers). */
        w->streaming_lists = false;
        return open_next_request(w, in);
    case END_REGULAR:
    case END_SHORT:
    case END_LOST:
    case END_MALFORMED:
        /* The server or a proxy may not support long streams: use lists instead. */
        if (++w->silent >= INITIAL_TRIES)
            w->streaming_lists = false;
        return wait_before_retry(w, in);
    case END_BUSY:
    case END_UNAVAILABLE:
    case END_UNAUTHORIZED:
    case END_FORBIDDEN:
    case END_ABSENT:
    case END_RESTORED:
        return wait_before_retry(w, in);
    }
    abort();
}

/* Counts the stream if it had no event; after `max` of them in a row, all objects are listed. */
static void count_silent_stream(struct watch *w, unsigned max)
{
    if (!w->progressed && ++w->silent >= max)
        w->relist = true;
}

static struct watch_action handle_stream_end(struct watch *w, const struct watch_input *in)
{
    switch (in->reason) {
    case END_REGULAR:
    case END_SHORT:
        if (in->now_ms - w->lifetime.opened_ms >= SHORT_MS) {
            count_silent_stream(w, SILENT_MAX);
            return open_next_request(w, in);
        }
        count_silent_stream(w, SILENT_MAX_SUSPECT);
        return wait_before_retry(w, in);
    case END_QUIET:
        count_silent_stream(w, w->bookmarks ? SILENT_MAX_SUSPECT : SILENT_MAX);
        return open_next_request(w, in);
    case END_LOST:
    case END_BUSY:
    case END_UNAVAILABLE:
    case END_UNAUTHORIZED:
    case END_FORBIDDEN:
        return wait_before_retry(w, in); /* The stream can resume from `version`. */
    case END_UNACCEPTABLE:
        w->relist = true;
        return ask_for_full_objects(w, in);
    case END_AHEAD:
        w->most_recent = true;
        return wait_before_relist(w, in);
    case END_GONE:
        return relist_when_gone(w, in);
    case END_ABSENT:
    case END_REFUSED:
    case END_FAILED:
    case END_MALFORMED:
    case END_RESTORED:
        return wait_before_relist(w, in);
    }
    abort();
}

static struct watch_action handle_request_end(struct watch *w, const struct watch_input *in)
{
    bool is_short = in->reason == END_REGULAR && !w->progressed &&
                    in->now_ms - w->lifetime.opened_ms < SHORT_MS;

    if (w->phase == WATCH_LISTING || w->phase == WATCH_INITIAL_EVENTS) {
        w->counts.list_failures++;
        w->stalls += in->reason == END_QUIET;
    }
    if (w->phase == WATCH_STREAMING && w->lifetime.progress.begun &&
        in->now_ms - w->lifetime.opened_ms >= LASTED_MS)
        w->retries = 0;
    if (w->phase == WATCH_INITIAL_EVENTS || w->phase == WATCH_STREAMING)
        w->counts.restarts[is_short ? END_SHORT : in->reason]++;
    if (w->phase == WATCH_LISTING)
        return handle_list_end(w, in);
    if (w->phase == WATCH_INITIAL_EVENTS)
        return handle_initial_events_end(w, in);
    return w->phase == WATCH_STREAMING ? handle_stream_end(w, in) : (struct watch_action){0};
}

static struct watch_action end_request(struct watch *w, const struct watch_input *in,
                                       enum end_reason reason)
{
    struct watch_input end = *in;

    end.kind = WATCH_ENDED;
    end.reason = reason;
    return handle_request_end(w, &end);
}

bool watch_version_goes_back(const struct watch *w, const char *version)
{
    return w->phase == WATCH_STREAMING && number_compare(version, w->version) == NUMBER_LESS;
}

static struct watch_action handle_restored(struct watch *w, const struct watch_input *in)
{
    watch_release(w);
    w->relist = w->most_recent = true;
    if (w->phase == WATCH_WAITING)
        return (struct watch_action){0};
    w->counts.restarts[END_RESTORED] += w->phase == WATCH_STREAMING;
    w->phase = WATCH_WAITING;
    w->due_ms = burst_limit_due(&w->burst_limit, LIST_COST_MS, in->now_ms);
    burst_limit_record(&w->burst_limit, LIST_COST_MS, in->now_ms);
    return (struct watch_action){0};
}

/* Returns true if a list from etcd has an older version than the last known one. */
static bool is_older(const struct watch *w, const char *version)
{
    return w->most_recent && version && number_compare(version, w->version) == NUMBER_LESS;
}

/* Returns false, and keeps the old version, if the new one is missing or too long. */
static bool set_version(struct watch *w, const char *version)
{
    size_t len = version ? strlen(version) : 0;

    if (len == 0 || len >= sizeof(w->version))
        return false;
    memcpy(w->version, version, len + 1);
    return true;
}

static struct watch_action handle_page(struct watch *w, const struct watch_input *in)
{
    bool more = in->token && *in->token;
    bool older = is_older(w, in->version);

    if (w->phase != WATCH_LISTING)
        return (struct watch_action){0};
    if (more) {
        w->paginated = w->paginated || !w->most_recent;
        watch_release(w);
        w->token = xstrdup(in->token);
        return open_next_request(w, in);
    }
    if (!set_version(w, in->version))
        return end_request(w, in, END_MALFORMED);
    watch_release(w);
    w->relist = w->most_recent = w->unpaginated = w->polled = false;
    w->silent = w->stalls = 0;
    w->listed_ms = in->now_ms;
    return (struct watch_action){
        .open = open_next_request(w, in).open, .listed = true, .older = older};
}

static struct watch_action handle_event(struct watch *w, const struct watch_input *in)
{
    struct watch_action action = {.older = is_older(w, in->version)};

    if (w->phase == WATCH_INITIAL_EVENTS && in->kind == WATCH_INITIAL_END) {
        if (!set_version(w, in->version))
            return end_request(w, in, END_MALFORMED);
        w->phase = WATCH_STREAMING;
        w->relist = w->most_recent = false;
        w->silent = w->stalls = 0;
        action.listed = true;
    } else if (w->phase == WATCH_STREAMING) {
        set_version(w, in->version);
        w->progressed = true;
        w->relist_at_once_ms = 0;
        w->retries = w->silent = 0;
        w->bookmarks = w->bookmarks || in->kind == WATCH_BOOKMARK;
    }
    w->lifetime.event_ms = in->now_ms;
    if (w->phase != WATCH_WAITING)
        w->due_ms = lifetime_end_ms(&w->lifetime, lifetime_of(w));
    return action;
}

/* Starts a list, or WatchList: at once, or after a wait that is not between polls. */
static struct watch_action handle_relist(struct watch *w, const struct watch_input *in)
{
    watch_release(w);
    w->relist = true;
    return w->phase == WATCH_WAITING && !w->polled ? (struct watch_action){0}
                                                   : open_next_request(w, in);
}

struct watch_action watch_process_input(struct watch *w, const struct watch_input *input)
{
    switch (input->kind) {
    case WATCH_TIMER:
        if (input->now_ms < w->due_ms)
            return (struct watch_action){0};
        return w->phase == WATCH_WAITING ? open_next_request(w, input)
                                         : end_request(w, input, END_QUIET);
    case WATCH_PAGE:
        return handle_page(w, input);
    case WATCH_CHANGE:
    case WATCH_BOOKMARK:
    case WATCH_INITIAL_END:
        return handle_event(w, input);
    case WATCH_RELIST:
        return handle_relist(w, input);
    case WATCH_RESTORED:
        return handle_restored(w, input);
    case WATCH_ENDED:
        return handle_request_end(w, input);
    }
    abort();
}
