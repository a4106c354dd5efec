/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/watch_state.h"

#include "exporter/kube/server_response.h"
#include "exporter/system/url.h"
#include "tests/unit/suite.h"

#define FIRST           "limit=5000" /* The first list, of the most recent state. */
#define LIST(version)   "limit=5000&resourceVersion=" version
#define STREAM(version) "watch=true&allowWatchBookmarks=true&timeoutSeconds=300" version
#define INITIAL(version)                                                                           \
    "watch=true&allowWatchBookmarks=true&timeoutSeconds=300&sendInitialEvents=true"                \
    "&resourceVersionMatch=NotOlderThan" version
#define AT(version) "&resourceVersion=" version

enum { STEPS_MAX = 20 };

/* An input, and the action that follows: a request, else a wait, else (wait_ms 0) no action. */
struct step {
    enum watch_input_kind kind;
    int64_t after_ms; /* Time since the previous step. */
    enum end_reason reason;
    const char *version;
    const char *token;
    int64_t retry_after_ms;
    const char *opens; /* Query of the request; NULL: no request. */
    int64_t wait_ms;
    bool listed;
};

#define TIMER_OPENS(after, query)                                                                  \
    {                                                                                              \
        .kind = WATCH_TIMER, .after_ms = (after), .opens = (query)                                 \
    }
#define START_OPENS(query) TIMER_OPENS(0, query)
#define END_OPENS(why, query)                                                                      \
    {                                                                                              \
        .kind = WATCH_ENDED, .after_ms = 2000, .reason = (why), .opens = (query)                   \
    }
#define END_WAITS(why, wait)                                                                       \
    {                                                                                              \
        .kind = WATCH_ENDED, .after_ms = 2000, .reason = (why), .wait_ms = (wait)                  \
    }
#define PAGE_OPENS(v, next, query)                                                                 \
    {                                                                                              \
        .kind = WATCH_PAGE, .version = (v), .token = (next), .opens = (query)                      \
    }
#define LAST_PAGE_OPENS(v, query)                                                                  \
    {                                                                                              \
        .kind = WATCH_PAGE, .version = (v), .opens = (query), .listed = true                       \
    }
#define INPUT(input, v)                                                                            \
    {                                                                                              \
        .kind = (input), .version = (v)                                                            \
    }
#define INITIAL_END(v)                                                                             \
    {                                                                                              \
        .kind = WATCH_INITIAL_END, .version = (v), .listed = true                                  \
    }
/* A list of version 5, and the stream of changes that follows. */
#define STREAMING START_OPENS(FIRST), LAST_PAGE_OPENS("5", STREAM(AT("5")))

/* After a complete list: initial events, because the version of the stream is too old. */
#define REREADING STREAMING, END_OPENS(END_GONE, INITIAL(AT("5")))

static struct watch_case {
    const char *name;
    bool streaming_lists;
    struct step steps[STEPS_MAX];
} watch_cases[] = {
    /* Lists. */
    {"a list, then its changes", false, {STREAMING}},
    {"pages with escaped tokens, and the version of the last page",
     false,
     {START_OPENS(FIRST), PAGE_OPENS("5", "a/b+c=", "limit=5000&continue=a%2Fb%2Bc%3D"),
      PAGE_OPENS("5", "d", "limit=5000&continue=d"), LAST_PAGE_OPENS("5", STREAM(AT("5")))}},
    {"a list without a version fails",
     false,
     {START_OPENS(FIRST), {.kind = WATCH_PAGE, .version = "", .wait_ms = 800}}},
    {"an expired token: all objects in one page",
     false,
     {START_OPENS(FIRST), PAGE_OPENS("5", "a", "limit=5000&continue=a"),
      END_OPENS(END_GONE, "resourceVersion=0")}},
    {"a refused token: all objects in one page",
     false,
     {START_OPENS(FIRST), PAGE_OPENS("5", "a", "limit=5000&continue=a"),
      END_OPENS(END_REFUSED, "resourceVersion=0"), END_WAITS(END_REFUSED, 800)}},
    {"a token of the list in one page expires too: a wait, until a list is complete",
     false,
     {START_OPENS(FIRST), PAGE_OPENS("5", "a", "limit=5000&continue=a"),
      END_OPENS(END_GONE, "resourceVersion=0"), PAGE_OPENS("5", "b", "limit=5000&continue=b"),
      END_WAITS(END_GONE, 800), TIMER_OPENS(800, "resourceVersion=0"),
      PAGE_OPENS("5", "c", "limit=5000&continue=c"), END_WAITS(END_REFUSED, 1600),
      TIMER_OPENS(1600, "resourceVersion=0"), LAST_PAGE_OPENS("5", STREAM(AT("5")))}},
    {"busy between pages: the same page later",
     false,
     {START_OPENS(FIRST), PAGE_OPENS("5", "a", "limit=5000&continue=a"),
      END_WAITS(END_BUSY, 800), TIMER_OPENS(800, "limit=5000&continue=a")}},
    {"cut short between pages: the same page later",
     false,
     {START_OPENS(FIRST), PAGE_OPENS("5", "a", "limit=5000&continue=a"),
      END_WAITS(END_LOST, 800), TIMER_OPENS(800, "limit=5000&continue=a")}},
    {"malformed page: again from the first page",
     false,
     {START_OPENS(FIRST), PAGE_OPENS("5", "a", "limit=5000&continue=a"),
      END_WAITS(END_MALFORMED, 800), TIMER_OPENS(800, FIRST)}},
    {"410 for a list from a version: latest version at once, then a wait",
     false,
     {STREAMING, END_OPENS(END_GONE, "resourceVersion=5"), END_OPENS(END_GONE, FIRST),
      END_WAITS(END_GONE, 800),
      TIMER_OPENS(800, FIRST), LAST_PAGE_OPENS("9", STREAM(AT("9")))}},
    {"a server that lags: latest version",
     false,
     {STREAMING, END_OPENS(END_GONE, "resourceVersion=5"), END_OPENS(END_AHEAD, FIRST),
      LAST_PAGE_OPENS("3", STREAM(AT("3")))}},
    {"forbidden: endless retries with growing waits",
     false,
     {START_OPENS(FIRST), END_WAITS(END_FORBIDDEN, 800), TIMER_OPENS(800, FIRST),
      END_WAITS(END_FORBIDDEN, 1600), TIMER_OPENS(1600, FIRST), END_WAITS(END_FORBIDDEN, 3200),
      TIMER_OPENS(3200, FIRST), END_WAITS(END_ABSENT, 6400), TIMER_OPENS(6400, FIRST),
      END_WAITS(END_UNAUTHORIZED, 12800), TIMER_OPENS(12800, FIRST),
      END_WAITS(END_UNAVAILABLE, 25600), TIMER_OPENS(25600, FIRST), END_WAITS(END_LOST, 30000),
      TIMER_OPENS(30000, FIRST)}},
    {"no metadata-only form: full objects at once, then a wait",
     false,
     {START_OPENS(FIRST), END_OPENS(END_UNACCEPTABLE, FIRST),
      END_WAITS(END_UNACCEPTABLE, 800)}},
    {"only an event resets the waits, a complete list does not",
     false,
     {START_OPENS(FIRST), END_WAITS(END_UNAVAILABLE, 800), TIMER_OPENS(800, FIRST),
      LAST_PAGE_OPENS("5", STREAM(AT("5"))), END_WAITS(END_FAILED, 1600),
      TIMER_OPENS(1600, "resourceVersion=5"), LAST_PAGE_OPENS("6", STREAM(AT("6"))),
      END_WAITS(END_FAILED, 3200), TIMER_OPENS(3200, "resourceVersion=6"),
      LAST_PAGE_OPENS("7", STREAM(AT("7"))), INPUT(WATCH_CHANGE, "8"), END_WAITS(END_FAILED, 800)}},
    {"a relist has a limit if the server paginates",
     false,
     {STREAMING, END_OPENS(END_GONE, "resourceVersion=5"),
      PAGE_OPENS("6", "a", "limit=5000&continue=a"), LAST_PAGE_OPENS("6", STREAM(AT("6"))),
      END_WAITS(END_FAILED, 800), TIMER_OPENS(800, LIST("6"))}},

    {"a request for all objects does not shorten the wait after a failure",
     false,
     {STREAMING, END_WAITS(END_LOST, 800), INPUT(WATCH_RELIST, NULL),
      TIMER_OPENS(800, "resourceVersion=5")}},
    {"a restore between pages: again from the first page",
     false,
     {START_OPENS(FIRST), PAGE_OPENS("5", "a", "limit=5000&continue=a"),
      INPUT(WATCH_RESTORED, NULL), TIMER_OPENS(0, FIRST)}},

    /* Streams of changes. */
    {"changes and bookmarks change the version",
     false,
     {STREAMING, INPUT(WATCH_CHANGE, "6"), INPUT(WATCH_BOOKMARK, "9"),
      END_OPENS(END_REGULAR, STREAM(AT("9")))}},
    {"a change without a version keeps the version",
     false,
     {STREAMING, INPUT(WATCH_CHANGE, "6"), INPUT(WATCH_CHANGE, ""),
      END_OPENS(END_REGULAR, STREAM(AT("6")))}},
    {"a regular end: resume at once", false, {STREAMING, END_OPENS(END_REGULAR, STREAM(AT("5")))}},
    {"an early end: wait, and list the second time",
     false,
     {STREAMING,
      {.kind = WATCH_ENDED, .after_ms = 900, .reason = END_REGULAR, .wait_ms = 800},
      TIMER_OPENS(800, STREAM(AT("5"))),
      {.kind = WATCH_ENDED, .after_ms = 900, .reason = END_REGULAR, .wait_ms = 1600},
      TIMER_OPENS(1600, "resourceVersion=5")}},
    {"an early end after a change: wait, resume",
     false,
     {STREAMING,
      INPUT(WATCH_CHANGE, "6"),
      {.kind = WATCH_ENDED, .after_ms = 900, .reason = END_REGULAR, .wait_ms = 800},
      TIMER_OPENS(800, STREAM(AT("6")))}},
    {"lost: wait, resume",
     false,
     {STREAMING, END_WAITS(END_LOST, 800), TIMER_OPENS(800, STREAM(AT("5"))),
      END_WAITS(END_LOST, 1600), TIMER_OPENS(1600, STREAM(AT("5")))}},
    {"busy: wait for Retry-After, resume",
     false,
     {STREAMING,
      {.kind = WATCH_ENDED, .reason = END_BUSY, .retry_after_ms = 7000, .wait_ms = 7000},
      TIMER_OPENS(7000, STREAM(AT("5")))}},
    {"busy with a short Retry-After: usual wait",
     false,
     {STREAMING, {.kind = WATCH_ENDED, .reason = END_BUSY, .retry_after_ms = 10, .wait_ms = 800}}},
    {"no access: wait, resume",
     false,
     {STREAMING, END_WAITS(END_UNAUTHORIZED, 800), TIMER_OPENS(800, STREAM(AT("5"))),
      END_WAITS(END_FORBIDDEN, 1600), TIMER_OPENS(1600, STREAM(AT("5")))}},
    {"too old: list at once, and the second time wait",
     false,
     {STREAMING, END_OPENS(END_GONE, "resourceVersion=5"), LAST_PAGE_OPENS("6", STREAM(AT("6"))),
      END_WAITS(END_GONE, 800), TIMER_OPENS(800, "resourceVersion=6")}},
    {"too old, and again after a while: list at once",
     false,
     {STREAMING,
      END_OPENS(END_GONE, "resourceVersion=5"),
      LAST_PAGE_OPENS("6", STREAM(AT("6"))),
      {.kind = WATCH_ENDED, .after_ms = 10000, .reason = END_GONE, .opens = "resourceVersion=6"}}},
    {"too old after each change: four lists at once, then wait",
     false,
     {STREAMING, INPUT(WATCH_CHANGE, "6"), END_OPENS(END_GONE, "resourceVersion=6"),
      LAST_PAGE_OPENS("6", STREAM(AT("6"))), INPUT(WATCH_CHANGE, "7"),
      END_OPENS(END_GONE, "resourceVersion=7"), LAST_PAGE_OPENS("7", STREAM(AT("7"))),
      INPUT(WATCH_CHANGE, "8"), END_OPENS(END_GONE, "resourceVersion=8"),
      LAST_PAGE_OPENS("8", STREAM(AT("8"))), INPUT(WATCH_CHANGE, "9"),
      END_OPENS(END_GONE, "resourceVersion=9"), LAST_PAGE_OPENS("9", STREAM(AT("9"))),
      INPUT(WATCH_CHANGE, "10"), END_WAITS(END_GONE, 800)}},
    {"absent: wait, list",
     false,
     {STREAMING, END_WAITS(END_ABSENT, 800), TIMER_OPENS(800, "resourceVersion=5")}},
    {"failed: wait, list",
     false,
     {STREAMING, END_WAITS(END_FAILED, 800), TIMER_OPENS(800, "resourceVersion=5")}},
    {"malformed: wait, list",
     false,
     {STREAMING, END_WAITS(END_MALFORMED, 800), TIMER_OPENS(800, "resourceVersion=5")}},
    {"ahead of the server: wait, list the latest",
     false,
     {STREAMING, END_WAITS(END_AHEAD, 800), TIMER_OPENS(800, FIRST)}},
    {"silence before the first bookmark is ignored",
     false,
     {STREAMING, INPUT(WATCH_CHANGE, "6"), TIMER_OPENS(200000, NULL)}},
    {"silence after a bookmark: resume twice, then list",
     false,
     {STREAMING, INPUT(WATCH_BOOKMARK, "6"), TIMER_OPENS(179999, NULL),
      TIMER_OPENS(1, STREAM(AT("6"))), TIMER_OPENS(180000, STREAM(AT("6"))),
      TIMER_OPENS(180000, "resourceVersion=6")}},
    {"a stream that exceeds its timeout is replaced",
     false,
     {STREAMING, TIMER_OPENS(329999, NULL), TIMER_OPENS(1, STREAM(AT("5")))}},
    {"six silent streams without bookmarks: list",
     false,
     {STREAMING, END_OPENS(END_REGULAR, STREAM(AT("5"))), END_OPENS(END_REGULAR, STREAM(AT("5"))),
      END_OPENS(END_REGULAR, STREAM(AT("5"))), END_OPENS(END_REGULAR, STREAM(AT("5"))),
      END_OPENS(END_REGULAR, STREAM(AT("5"))), END_OPENS(END_REGULAR, "resourceVersion=5"),
      LAST_PAGE_OPENS("7", STREAM(AT("7"))), END_OPENS(END_REGULAR, STREAM(AT("7")))}},

    /* Streams that begin with all objects (WatchList), after the first list. */
    {"initial events, then changes in the same stream",
     true,
     {REREADING, INPUT(WATCH_CHANGE, "3"), INITIAL_END("6"), INPUT(WATCH_CHANGE, "7"),
      END_OPENS(END_REGULAR, STREAM(AT("7")))}},
    {"lost initial events: again, then a list",
     true,
     {REREADING, INPUT(WATCH_CHANGE, "3"), END_WAITS(END_LOST, 800),
      TIMER_OPENS(800, INITIAL(AT("5"))), END_WAITS(END_REGULAR, 1600),
      TIMER_OPENS(1600, "resourceVersion=5")}},
    {"refused initial events: list at once",
     true,
     {REREADING, END_OPENS(END_REFUSED, "resourceVersion=5")}},
    {"failed initial events: list at once",
     true,
     {REREADING, END_OPENS(END_FAILED, "resourceVersion=5")}},
    {"busy: wait, then initial events again",
     true,
     {REREADING, END_WAITS(END_BUSY, 800), TIMER_OPENS(800, INITIAL(AT("5")))}},
    {"ahead of the server: initial events of the most recent state",
     true,
     {REREADING, END_OPENS(END_AHEAD, INITIAL("")), INITIAL_END("2")}},
    {"silence of 10 s in initial events: list",
     true,
     {REREADING, INPUT(WATCH_CHANGE, "3"), TIMER_OPENS(9999, NULL),
      TIMER_OPENS(1, "resourceVersion=5")}},
    {"no metadata-only form: full objects, then a list",
     true,
     {REREADING, END_OPENS(END_UNACCEPTABLE, INITIAL(AT("5"))), END_WAITS(END_UNACCEPTABLE, 800),
      TIMER_OPENS(800, "resourceVersion=5")}},
    {"an end of initial events without a version fails",
     true,
     {REREADING, {.kind = WATCH_INITIAL_END, .version = "", .wait_ms = 800}}},
};

static void assert_step(struct watch *w, const struct step *step, int64_t now_ms)
{
    struct strbuf query = STRBUF_INIT(4096);
    int64_t due_before = w->due_ms;
    struct watch_action action = watch_process_input(w, &(struct watch_input){
                                                            .kind = step->kind,
                                                            .now_ms = now_ms,
                                                            .reason = step->reason,
                                                            .version = step->version,
                                                            .token = step->token,
                                                            .retry_after_ms = step->retry_after_ms,
                                                        });

    assert_int_equal(action.open, step->opens != NULL);
    assert_int_equal(action.listed, step->listed);
    if (action.open) {
        url_add_watch_parameters(w, &query);
        assert_string_equal(query.data, step->opens);
        /* The response to a stream begins at once. */
        if (w->phase != WATCH_LISTING)
            watch_note_bytes(w, 0, false, now_ms);
    } else if (step->wait_ms > 0) {
        assert_int_equal(w->phase, WATCH_WAITING);
        assert_int_equal(w->due_ms, now_ms + step->wait_ms);
    } else if (step->kind == WATCH_TIMER) {
        assert_int_equal(w->due_ms, due_before);
    }
    strbuf_release(&query);
}

TEST_ROWS(inputs_lead_to_requests_and_waits, watch_cases, name)
{
    const struct watch_case *s = *state;
    int64_t now_ms = 1000;
    struct watch w;

    watch_init(&w, s->streaming_lists, now_ms);
    for (size_t i = 0; i < STEPS_MAX; i++) {
        const struct step *step = &s->steps[i];

        if (step->kind == WATCH_TIMER && step->after_ms == 0 && !step->opens)
            break;
        now_ms += step->after_ms;
        assert_step(&w, step, now_ms);
    }
    watch_release(&w);
}

static struct watch create_streaming_watch(void)
{
    struct watch w;

    watch_init(&w, false, 0);
    assert_true(watch_process_input(&w, &(struct watch_input){.kind = WATCH_TIMER}).open);
    assert_true(
        watch_process_input(&w, &(struct watch_input){.kind = WATCH_PAGE, .version = "5"}).open);
    return w;
}

/* Returns a watch with an open first list or, if `initial`, with open initial events. */
static struct watch create_open_watch(bool initial)
{
    static const struct watch_input list = {.kind = WATCH_PAGE, .version = "5"},
                                    again = {.kind = WATCH_RELIST};
    struct watch w;

    watch_init(&w, initial, 0);
    assert_true(watch_process_input(&w, &(struct watch_input){.kind = WATCH_TIMER}).open);
    if (initial) {
        assert_true(watch_process_input(&w, &list).listed);
        assert_true(watch_process_input(&w, &again).open);
    }
    assert_int_equal(w.phase, initial ? WATCH_INITIAL_EVENTS : WATCH_LISTING);
    return w;
}

TEST(list_fails_after_a_minute_without_a_byte)
{
    struct watch w = create_open_watch(false);
    struct watch_input timer = {.kind = WATCH_TIMER, .now_ms = w.due_ms};

    assert_int_equal(w.due_ms, 60 * 1000);
    assert_string_equal(watch_late_reason(&w, 20 * 1000), "the server does not answer");
    assert_false(watch_process_input(&w, &timer).open);
    assert_int_equal(w.phase, WATCH_WAITING);
    assert_int_equal(w.stalls, 1);
    assert_int_equal(w.counts.list_failures, 1);
}

TEST(list_below_1_kib_a_second_is_late)
{
    struct watch w = create_open_watch(false);
    int64_t now_ms = 12 * 1000;

    for (; w.due_ms > now_ms; now_ms += 1000)
        watch_note_bytes(&w, 1, true, now_ms);
    assert_int_equal(w.due_ms, 22 * 1000);
    assert_non_null(strstr(watch_late_reason(&w, now_ms), "less than 1 KiB a second"));
}

/* The limit is 4 KiB a second: with 8, a list may take an hour; with 2, it fails. */
TEST(list_may_last_while_it_progresses)
{
    struct watch w = create_open_watch(false);
    int64_t now_ms = 0;

    for (; now_ms < 3600 * 1000; now_ms += 1000) {
        assert_true(w.due_ms > now_ms);
        watch_note_bytes(&w, 8 * 1024, true, now_ms);
    }
    /* At 2 KiB a second, the list fails once the tolerance of one minute is used up. */
    w = create_open_watch(false);
    for (now_ms = 0; w.due_ms > now_ms && now_ms < 3600 * 1000; now_ms += 1000)
        watch_note_bytes(&w, 2 * 1024, true, now_ms);
    assert_in_range(now_ms, 100 * 1000, 130 * 1000);
    assert_non_null(strstr(watch_late_reason(&w, now_ms), "less than 4 KiB a second"));
}

TEST(complete_list_resets_the_stalls)
{
    struct watch w = create_open_watch(false);
    struct watch_input page = {.kind = WATCH_PAGE, .version = "5"};

    w.stalls = 3;
    assert_true(watch_process_input(&w, &page).listed);
    assert_int_equal(w.stalls, 0);
}

/* Some aggregated API servers ignore sendInitialEvents: they send bookmarks, but no end. */
TEST(endless_initial_events_are_replaced_by_a_list)
{
    struct watch w = create_open_watch(true);
    struct watch_input bookmark = {.kind = WATCH_BOOKMARK, .version = "7"};

    watch_note_bytes(&w, 0, false, 100);
    for (; w.due_ms > bookmark.now_ms; bookmark.now_ms += 1000) {
        watch_note_bytes(&w, 200, false, bookmark.now_ms);
        assert_false(watch_process_input(&w, &bookmark).open);
    }
    assert_in_range(bookmark.now_ms, 10 * 1000, 12 * 1000);
    assert_string_equal(watch_late_reason(&w, bookmark.now_ms), "the initial events do not end");

    struct watch_input timer = {.kind = WATCH_TIMER, .now_ms = w.due_ms};

    /* The list, another kind of request, needs no wait. */
    assert_true(watch_process_input(&w, &timer).open);
    assert_int_equal(w.phase, WATCH_LISTING);
}

TEST(initial_events_may_last_while_they_progress)
{
    struct watch w = create_open_watch(true);

    for (int64_t now_ms = 0; now_ms < 120 * 1000; now_ms += 1000) {
        assert_true(w.due_ms > now_ms);
        watch_note_bytes(&w, 64 * 1024, now_ms % 2000, now_ms);
    }
}

TEST(stream_may_be_silent_between_events_but_not_within_one)
{
    struct watch w = create_streaming_watch();

    assert_int_equal(w.due_ms, 60 * 1000);
    watch_note_bytes(&w, 0, false, 1000);
    assert_int_equal(w.due_ms, 330 * 1000);
    watch_note_bytes(&w, 500, true, 100 * 1000);
    assert_int_equal(w.due_ms, 110 * 1000);
    watch_note_bytes(&w, 1, true, 105 * 1000);
    assert_int_equal(w.due_ms, 110 * 1000);
    watch_note_bytes(&w, 1, false, 109 * 1000);
    assert_int_equal(w.due_ms, 330 * 1000);
}

TEST(waits_and_stream_timeouts_are_spread)
{
    static const struct {
        uint32_t random;
        int64_t wait_ms;
        unsigned timeout_s;
    } rows[] = {
        {0, 800, 300},    {1, 801, 301},
        {299, 1099, 599}, {799, 1599, 499},
        {800, 800, 500},  {UINT32_MAX, 800 + UINT32_MAX % 800, 300 + UINT32_MAX % 300},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct watch w = create_streaming_watch();
        struct watch_action action = watch_process_input(
            &w, &(struct watch_input){
                    .kind = WATCH_ENDED, .reason = END_LOST, .random = rows[i].random});

        assert_false(action.open);
        assert_int_equal(w.due_ms, rows[i].wait_ms);
        action = watch_process_input(&w, &(struct watch_input){.kind = WATCH_TIMER,
                                                               .now_ms = w.due_ms,
                                                               .random = rows[i].random});
        assert_true(action.open);
        assert_int_equal(w.lifetime.timeout_s, rows[i].timeout_s);
    }
}

/* Events are not required: a kind without changes must not wait up to a minute after a break. */
TEST(stream_open_for_ten_seconds_resets_the_waits)
{
    struct watch w = create_streaming_watch();
    struct watch_input end = {.kind = WATCH_ENDED, .reason = END_LOST};
    int64_t opened_ms = w.lifetime.opened_ms;

    w.retries = 6;
    watch_note_bytes(&w, 0, false, opened_ms);
    end.now_ms = opened_ms + 9999;
    assert_false(watch_process_input(&w, &end).open);
    assert_int_equal(w.due_ms - end.now_ms, 30000);

    w = create_streaming_watch();
    w.retries = 6;
    watch_note_bytes(&w, 0, false, opened_ms);
    end.now_ms = opened_ms + 10000;
    assert_false(watch_process_input(&w, &end).open);
    assert_int_equal(w.due_ms - end.now_ms, 800);

    /* A stream without a response does not reset the waits. */
    w = create_streaming_watch();
    w.retries = 6;
    assert_false(watch_process_input(&w, &end).open);
    assert_int_equal(w.due_ms - end.now_ms, 30000);
}

TEST(recovery_of_the_server_shortens_a_wait)
{
    struct watch w = create_streaming_watch();
    struct watch_input end = {.kind = WATCH_ENDED, .reason = END_LOST, .now_ms = 5000};

    w.retries = 6;
    assert_false(watch_process_input(&w, &end).open);
    assert_int_equal(w.due_ms, 35000);
    watch_note_recovery(&w, 5000, 3000, 0);
    assert_int_equal(w.due_ms, 8000);
    assert_int_equal(w.retries, 0);
    watch_note_recovery(&w, 5000, 0, 399);
    assert_int_equal(w.due_ms, 6199);
    /* A recovery neither extends a wait nor affects an open stream. */
    watch_note_recovery(&w, 6000, 0, 0);
    assert_int_equal(w.due_ms, 6199);
    w = create_streaming_watch();
    end.now_ms = w.due_ms;
    watch_note_recovery(&w, 0, 0, 0);
    assert_int_equal(w.due_ms, end.now_ms);
    watch_release(&w);
}

TEST(ends_are_counted_by_reason)
{
    struct watch w = create_streaming_watch();
    struct watch_input end = {.kind = WATCH_ENDED, .reason = END_REGULAR, .now_ms = 10};

    assert_false(watch_process_input(&w, &end).open);
    assert_int_equal(w.counts.restarts[END_SHORT], 1);
    assert_int_equal(w.counts.restarts[END_REGULAR], 0);
    end.now_ms = w.due_ms + 5000;
    assert_true(
        watch_process_input(&w, &(struct watch_input){.kind = WATCH_TIMER, .now_ms = w.due_ms})
            .open);
    assert_true(watch_process_input(&w, &end).open);
    assert_int_equal(w.counts.restarts[END_REGULAR], 1);
    assert_int_equal(w.counts.lists, 1);
    assert_int_equal(w.counts.list_failures, 0);
}

TEST(second_end_of_a_request_is_ignored)
{
    struct watch w = create_streaming_watch();
    struct watch_input stop = {.kind = WATCH_ENDED, .reason = END_LOST};

    assert_false(watch_process_input(&w, &stop).open);
    stop.now_ms = 500;
    assert_false(watch_process_input(&w, &stop).open);
    assert_int_equal(w.due_ms, 800);
    assert_int_equal(w.counts.restarts[END_LOST], 1);
}

TEST(version_that_is_too_long_is_ignored)
{
    struct watch w = create_streaming_watch();
    char version[WATCH_VERSION_MAX + 1];

    memset(version, '7', sizeof(version));
    version[WATCH_VERSION_MAX] = '\0';
    assert_false(
        watch_process_input(&w, &(struct watch_input){.kind = WATCH_CHANGE, .version = version})
            .open);
    assert_string_equal(w.version, "5");
    version[WATCH_VERSION_MAX - 1] = '\0';
    assert_false(
        watch_process_input(&w, &(struct watch_input){.kind = WATCH_CHANGE, .version = version})
            .open);
    assert_string_equal(w.version, version);
}

TEST(only_numbers_in_a_stream_of_changes_can_go_back)
{
    struct watch w = create_streaming_watch();

    assert_true(watch_version_goes_back(&w, "4"));
    assert_false(watch_version_goes_back(&w, "5"));
    assert_false(watch_version_goes_back(&w, "10"));
    assert_false(watch_version_goes_back(&w, ""));
    assert_false(watch_version_goes_back(&w, "a"));
    w.phase = WATCH_INITIAL_EVENTS;
    assert_false(watch_version_goes_back(&w, "4"));
}

/* `older` is set if the version of the list is lower than the known one. */
TEST(restore_causes_a_list_from_etcd_at_once)
{
    static const char *const versions[] = {"4", "5", "6", "x"};

    for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
        struct watch w = create_streaming_watch();
        CLEANUP(strbuf_release) struct strbuf query = STRBUF_INIT(4096);

        assert_false(
            watch_process_input(&w, &(struct watch_input){.kind = WATCH_RESTORED, .now_ms = 50})
                .open);
        assert_int_equal(w.counts.restarts[END_RESTORED], 1);
        assert_int_equal(w.due_ms, 50);
        assert_true(
            watch_process_input(&w, &(struct watch_input){.kind = WATCH_TIMER, .now_ms = 50}).open);
        url_add_watch_parameters(&w, &query);
        assert_string_equal(query.data, FIRST);

        struct watch_action action = watch_process_input(
            &w, &(struct watch_input){.kind = WATCH_PAGE, .version = versions[i]});
        assert_true(action.listed);
        assert_int_equal(action.older, i == 0);
        watch_release(&w);
    }
}

TEST(restore_does_not_shorten_a_wait)
{
    struct watch w = create_streaming_watch();

    assert_false(
        watch_process_input(&w, &(struct watch_input){.kind = WATCH_ENDED, .reason = END_LOST})
            .open);
    assert_false(watch_process_input(&w, &(struct watch_input){.kind = WATCH_RESTORED}).open);
    assert_int_equal(w.due_ms, 800);
    assert_int_equal(w.counts.restarts[END_RESTORED], 0);
    assert_true(
        watch_process_input(&w, &(struct watch_input){.kind = WATCH_TIMER, .now_ms = 800}).open);
    assert_int_equal(w.phase, WATCH_LISTING);
    assert_true(w.most_recent);
}

TEST(end_reasons_have_distinct_names)
{
    for (int i = 0; i < END_REASON_COUNT; i++) {
        assert_non_null(end_reason_name((enum end_reason)i));
        for (int k = 0; k < i; k++)
            assert_string_not_equal(end_reason_name((enum end_reason)i),
                                    end_reason_name((enum end_reason)k));
    }
}

TEST(url_parameters_are_appended_with_separators)
{
    CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT(64);

    url_add_parameter(&path, "a", "b");
    assert_string_equal(path.data, "a=b");
    url_add_parameter(&path, "c", "d");
    assert_string_equal(path.data, "a=b&c=d");
    strbuf_reset(&path);
    strbuf_adds(&path, "/x?");
    url_add_parameter(&path, "a", "b?");
    url_add_parameter(&path, "c", "d");
    assert_string_equal(path.data, "/x?a=b%3F&c=d");
}
