/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/serve/loop.h"

#include <poll.h>

#include "exporter/evaluation.h"
#include "exporter/serve/file_preflight.h"
#include "exporter/serve/own_health.h"
#include "exporter/serve/publisher.h"
#include "exporter/serve/senders.h"
#include "exporter/serve/web_service.h"
#include "exporter/system/descriptors.h"
#include "exporter/system/platform.h"
#include "exporter/system/process.h"
#include "exporter/system/signals.h"
#include "exporter/text/text_table.h"
#include "exporter/web/api.h"
#include "exporter/web/response.h"
#include "metrics/base/map.h"
#include "metrics/base/strbuf.h"

/* Logs the sizes of the new current evaluation, and its changed options that need a restart. */
static void log_adopted_evaluation(const struct log *log, const struct options *before,
                                   const struct evaluation *e)
{
    for (size_t i = 0; before && i < OPTION_COUNT; i++) {
        if (option_defs[i].needs_restart && !option_equal(before, &e->options, &option_defs[i]))
            log_write(log, LOG_LEVEL_WARN, "option changed; restart to apply it", "option",
                      option_defs[i].name);
    }
    log_write(log, LOG_LEVEL_INFO, e->session ? "synced with the API server" : "read manifests",
              "files", LOG_NUMBER((int64_t)manifests_file_count(e->manifests)), "broken",
              LOG_NUMBER((int64_t)manifests_broken_file_count(e->manifests)), "skipped",
              LOG_NUMBER((int64_t)manifests_skipped_total(e->manifests)), "templates",
              LOG_NUMBER((int64_t)store_object_count(e->store, CLASS_TEMPLATE)), "policies",
              LOG_NUMBER((int64_t)store_object_count(e->store, CLASS_POLICY)), "bindings",
              LOG_NUMBER((int64_t)store_object_count(e->store, CLASS_BINDING)));
}

enum { LINES_MAX = 100, PROBLEM_MAX = 64 * 1024 };

/* Known problems of manifests: a problem is logged only when it appears or reappears. */
struct problem_log {
    uint64_t *logged;  /* Sorted hashes of the problems of the last update. */
    size_t count;      /* Number of elements of `logged`. */
    uint64_t rejected; /* Number of PROBLEM_MALFORMED and PROBLEM_REJECTED that appeared. */
};

static void problem_log_release(struct problem_log *l)
{
    free(l->logged);
    *l = (struct problem_log){0};
}

static int compare_hashes(const void *a, const void *b)
{
    const uint64_t *x = a;
    const uint64_t *y = b;

    return *x < *y ? -1 : *x > *y;
}

/*
 * Logs new problems other than skipped documents: the first LINES_MAX, and the number of the
 * others. Returns true if a problem is new, or if the number of all problems has changed.
 */
static bool problem_log_update(struct problem_log *l, const struct manifests *m,
                               const struct log *log)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(PROBLEM_MAX);
    size_t count = manifests_problem_count(m);
    uint64_t *hashes = xcalloc(count ? count : 1, sizeof(*hashes));
    size_t count_before = l->count;
    size_t fresh = 0;

    for (size_t i = 0; i < count; i++) {
        struct manifest_problem p = manifests_problem(m, i);

        if (p.kind == PROBLEM_SKIPPED)
            continue;
        /* The hash excludes line and column, because edits of the file move an old problem. */
        strbuf_reset(&text);
        strbuf_addf(&text, "%d\n%s\n%s", (int)p.kind, p.path, p.text);
        hashes[i] = map_hash(text.data, text.len, 0);
        if (l->count > 0 &&
            bsearch(&hashes[i], l->logged, l->count, sizeof(*hashes), compare_hashes))
            continue;
        l->rejected += p.kind == PROBLEM_MALFORMED || p.kind == PROBLEM_REJECTED;
        if (fresh++ >= LINES_MAX)
            continue;
        strbuf_reset(&text);
        manifest_problem_append_place(&p, &text);
        log_write(log, problem_kind_blocks_evaluation(p.kind) ? LOG_LEVEL_WARN : LOG_LEVEL_INFO,
                  "manifest problem", "kind", problem_kind_name(p.kind), "place", text.data,
                  "problem", p.text);
    }
    if (fresh > LINES_MAX)
        log_write(log, LOG_LEVEL_WARN, "more manifest problems are not logged one by one", "count",
                  LOG_NUMBER((int64_t)(fresh - LINES_MAX)));
    qsort(hashes, count, sizeof(*hashes), compare_hashes);
    free(l->logged);
    l->logged = hashes;
    l->count = count;
    return fresh > 0 || count != count_before;
}

/* State of the current evaluation at the last check. Many turns of the loop change nothing. */
struct change_detection {
    uint64_t evaluations; /* engine_evaluations(). */
    uint64_t problems;    /* problems_version(). */
    size_t files;         /* Number of manifest files. */
    uint64_t health;      /* kube_source_health_version(); 0 without an API server. */
};

/* Returns true if the state or the problems have changed since the last call. Logs new problems. */
static bool detect_changes(struct change_detection *last, const struct evaluation *e,
                           struct problem_log *problems, const struct log *log)
{
    const struct change_detection now = {
        .evaluations = engine_evaluations(e->engine),
        .problems = problems_version(engine_problems(e->engine)),
        .files = manifests_file_count(e->manifests),
        .health = e->session ? kube_source_health_version(kube_session_source(e->session)) : 0,
    };
    bool changed = problem_log_update(problems, e->manifests, log) ||
                   now.evaluations != last->evaluations || now.problems != last->problems ||
                   now.files != last->files || now.health != last->health;

    *last = now;
    return changed;
}

/* ---- reloads requested over HTTP ---- */

/* Maximum wait for a reload, below the server's deadline for an answer (connections.c). */
enum { RELOAD_REQUEST_MAX_MS = 45 * 1000 };

/*
 * Requests to /-/reload. The first request waits for the end of the reload that it started. The
 * next request starts another reload, which also reads changes made during the previous one.
 */
struct reloads {
    struct request_queue *request_queue; /* NULL without --web.enable-lifecycle. Borrowed. */
    bool waits;       /* The first request of the queue waits for the end of its reload. */
    int64_t begun_ms; /* With `waits`: start of that reload; steady. */
};

/* Returns the descriptor to poll for reading; -1 without a queue. */
static int reloads_fd(const struct reloads *r)
{
    return r->request_queue ? request_queue_fd(r->request_queue) : -1;
}

static void answer_reload_request(struct reloads *r, unsigned status, const char *text)
{
    struct queued_request *queued_request = request_queue_peek(r->request_queue);

    queued_request->status = status;
    queued_request->content_type = RESPONSE_TEXT;
    output_escape(&queued_request->body, text);
    strbuf_addc(&queued_request->body, '\n');
    request_queue_answer_first(r->request_queue);
    r->waits = false;
}

/* Returns true if a request needs a new reload. Answers a request that has waited for too long. */
static MUST_USE bool reloads_turn(struct reloads *r, int64_t now_ms)
{
    if (r->request_queue && r->waits && now_ms - r->begun_ms >= RELOAD_REQUEST_MAX_MS)
        answer_reload_request(r, MHD_HTTP_GATEWAY_TIMEOUT,
                              "the reload continues: see the log for its result");
    if (!r->request_queue || r->waits || !request_queue_peek(r->request_queue))
        return false;
    r->waits = true;
    r->begun_ms = now_ms;
    return true;
}

/*
 * Returns the steady time in ms of the next reloads_turn() if no request arrives before;
 * INT64_MAX: no call needed.
 */
static int64_t reloads_due(const struct reloads *r)
{
    return r->waits ? r->begun_ms + RELOAD_REQUEST_MAX_MS : INT64_MAX;
}

/* Answers the request that waits, if any. `failure` is NULL if the reload succeeded. */
static void reloads_end(struct reloads *r, const struct error *failure)
{
    if (r->waits)
        answer_reload_request(r, failure ? MHD_HTTP_INTERNAL_SERVER_ERROR : MHD_HTTP_OK,
                              failure ? failure->text : "reloaded");
}

/* ---- state of the loop ---- */

enum {
    SLICE_MS = 5,
    LOOP_WAIT_MAX_MS = HEARTBEAT_MAX_AGE_MS / 5, /* An idle loop must update its heartbeat. */
    WEB_MEMORY_PART = 8,    /* Buffers of the web server may use 1/8 of the memory limit. */
    SOON_MS = 20,           /* Maximum wait while manifests being read delay a page. */
    OVERDUE_MS = 100,       /* Maximum wait while a deadline stays in the past. */
    RESERVED_MAX_MS = 2000, /* Maximum time without requests that use the evaluation. */
};

struct loop {
    struct loop_settings settings;
    struct signals signals;
    struct heartbeat heartbeat;
    struct web_service web_service;
    struct evaluation *current; /* NULL until the first evaluation is complete. */
    struct evaluation *next;    /* Evaluation that will replace `current`; NULL without one. */
    bool next_loaded;           /* evaluation_load() has read the sources of `next`. */
    bool adoption_waits;        /* `next` is complete; a request still uses rows of `current`. */
    bool reloading;             /* A reload has started; its options have not been read. */
    struct file_preflight file_preflight;
    int64_t started_ms; /* Time of loop_new(); since the epoch. */
    int64_t turned_ms;  /* End of the wait in the last turn that could use `current`; steady. */
    bool stopping;      /* SIGTERM or SIGINT was received. */
    int64_t lent_ms;    /* Start of the last request that used `current`; steady. */
    /*
     * After a request has used `current`, the loop keeps the evaluation for as long, at most
     * RESERVED_MAX_MS, if it has changes or a reload to process: until this steady time.
     */
    int64_t reserved_until_ms;
    uint64_t lent_evaluations; /* engine_evaluations() at the end of that request. */
    bool config_loaded; /* False from fail_reload() to the next prepare_next() or adopt_next(). */
    struct change_detection change_detection;
    struct reloads reloads;
    struct publisher publisher;
    struct senders senders;
    struct memory_guard memory;
    struct problem_log problems;
    struct readiness readiness;
};

/* Calls `each` with the path of every credential file of both evaluations. */
static void each_credential_file(void *source, kube_file_fn *each, void *context)
{
    const struct loop *l = source;
    const struct evaluation *const all[] = {l->current, l->next};

    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        if (all[i] && all[i]->session)
            kube_session_each_file(all[i]->session, each, context);
    }
}

/* Replaces `next` by an evaluation of the present options, unless that fails: returns false. */
static bool prepare_next(struct loop *l, struct error *err)
{
    struct evaluation *next = file_preflight_create_evaluation(&l->file_preflight, err);

    if (!next)
        return false;
    evaluation_free(l->next);
    l->next = next;
    l->next_loaded = false;
    return true;
}

/* Returns the session of `current`, or else of `next`, for pages; NULL without an API server. */
static const struct kube_session *shown_session(const struct loop *l)
{
    const struct evaluation *shown = l->current ? l->current : l->next;

    return shown ? shown->session : NULL;
}

static struct health gather_health(const struct loop *l)
{
    return (struct health){
        .evaluation = l->current,
        .session = shown_session(l),
        .telemetry_path = l->web_service.telemetry_path,
        .external_url = l->web_service.site_url.external,
        .config_loaded = l->config_loaded,
        .web_service = &l->web_service,
        .senders = &l->senders,
        .rejected = l->problems.rejected,
        .log_dropped = log_dropped(l->settings.log),
        .beat_age_ms = heartbeat_age_ms(&l->heartbeat, platform_steady_ms()),
        .now_ms = platform_now_ms(),
        .started_ms = l->started_ms,
    };
}

static void publish_all(struct loop *l)
{
    const struct health health = gather_health(l);

    publisher_all(&l->publisher, &health);
}

static void note_change(struct loop *l)
{
    publisher_change(&l->publisher, platform_steady_ms());
}

/* ---- start and end ---- */

struct loop *loop_new(const struct loop_settings *settings, struct error *err)
{
    struct loop *l = xcalloc(1, sizeof(*l));

    *l = (struct loop){.settings = *settings, .started_ms = platform_now_ms()};
    l->signals.fd = -1;
    l->config_loaded = true;
    publisher_init(&l->publisher, settings->log, settings->publish_ms, settings->refresh_ms);
    l->file_preflight = (struct file_preflight){
        .reader = settings->reader,
        .argc = settings->argc,
        .argv = settings->argv,
        .log = settings->log,
        .files_in_force = each_credential_file,
        .files_source = l,
    };
    if (!signals_open(&l->signals, err) || !file_preflight_wait(&l->file_preflight, err) ||
        !prepare_next(l, err)) {
        loop_free(l);
        return NULL;
    }

    const struct options *o = &l->next->options;

    memory_return_large_blocks();
    l->memory.limit = o->memory_limit > 0 ? o->memory_limit : memory_limit();
    const struct web_service_settings web_service = {
        .options = o,
        .log = settings->log,
        .heartbeat = &l->heartbeat,
        .page_store = l->publisher.page_store,
        .memory_bytes = l->memory.limit / WEB_MEMORY_PART,
    };

    heartbeat_update(&l->heartbeat, platform_steady_ms());
    if (!web_service_start(&l->web_service, &web_service, err) ||
        !senders_init(&l->senders, &web_service, l->web_service.site_url.external, err)) {
        loop_free(l);
        return NULL;
    }
    l->file_preflight.web_config_file = xstrdup(o->web_config_file);
    readiness_init(&l->readiness, l->web_service.server);
    l->reloads.request_queue = server_reload_queue(l->web_service.server);
    publish_all(l);
    return l;
}

void loop_free(struct loop *l)
{
    if (!l)
        return;
    web_service_release(&l->web_service);
    senders_release(&l->senders, l->current);
    readiness_release(&l->readiness);
    publisher_release(&l->publisher);
    file_preflight_release(&l->file_preflight);
    evaluation_free(l->next);
    evaluation_free(l->current);
    problem_log_release(&l->problems);
    signals_close(&l->signals);
    free(l);
}

int loop_listener(const struct loop *l, size_t at)
{
    return server_listener_fd(l->web_service.server, at);
}

const char *loop_address(const struct loop *l, size_t at)
{
    return server_address(l->web_service.server, at);
}

/* ---- evaluations and reloads ---- */

/* Starts a reload, which turn_files() continues, unless a source can be read only once. */
static void begin_reload(struct loop *l)
{
    const struct evaluation *const all[] = {l->current, l->next};
    struct error err;

    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        if (all[i] && !evaluation_can_reload(all[i], &err)) {
            log_write(l->settings.log, LOG_LEVEL_WARN, err.text);
            reloads_end(&l->reloads, &err);
            return;
        }
    }
    log_write(l->settings.log, LOG_LEVEL_INFO, "reloading options and sources");
    l->reloading = true;
}

static void fail_reload(struct loop *l, const struct error *failure)
{
    l->config_loaded = false;
    log_write(l->settings.log, LOG_LEVEL_ERROR,
              "reload failed; the old configuration stays in force", "error", failure->text);
    /* If another reload has begun, the request in the queue waits for the end of that reload. */
    if (!l->reloading)
        reloads_end(&l->reloads, failure);
    note_change(l);
}

/* Prepares `next` for a reload. If not `readable`, the reload fails; `err` has the reason. */
static void reload_options(struct loop *l, bool readable, struct error *err)
{
    l->reloading = false;
    if (readable && prepare_next(l, err))
        l->config_loaded = true;
    else
        fail_reload(l, err);
}

/* Returns the steady time in ms of the next read of credential files; INT64_MAX: never. */
static int64_t evaluations_files_due(const struct loop *l)
{
    return earlier_of(l->current ? evaluation_files_due(l->current) : INT64_MAX,
                      l->next ? evaluation_files_due(l->next) : INT64_MAX);
}

/*
 * Reads due files on the loop thread, lets evaluations read theirs, and continues a reload. All
 * this only once the file reader could read the files: a file system that hangs blocks the reader,
 * not the loop. If it hangs, a reload fails.
 */
static void turn_files(struct loop *l)
{
    int64_t now_ms = platform_steady_ms();
    bool wanted = l->reloading || evaluations_files_due(l) <= now_ms ||
                  web_service_files_due(&l->web_service) <= now_ms;
    struct error err;
    enum file_preflight_state state = file_preflight_turn(&l->file_preflight, wanted, now_ms, &err);

    if (l->current)
        evaluation_hold_files(l->current, state != FILE_PREFLIGHT_DONE);
    if (l->next)
        evaluation_hold_files(l->next, state != FILE_PREFLIGHT_DONE);
    if (state == FILE_PREFLIGHT_DONE && web_service_files_due(&l->web_service) <= now_ms &&
        web_service_read_files(&l->web_service))
        note_change(l);
    if (l->reloading && (state == FILE_PREFLIGHT_DONE || state == FILE_PREFLIGHT_HANGS))
        reload_options(l, state == FILE_PREFLIGHT_DONE, &err);
}

/* Replaces the current evaluation by `next`, which is complete. */
static void adopt_next(struct loop *l)
{
    log_adopted_evaluation(l->settings.log, l->current ? &l->current->options : NULL, l->next);
    api_forget_lists(l->web_service.api);
    senders_forget(&l->senders);
    evaluation_free(l->current);
    l->current = l->next;
    l->next = NULL;
    l->config_loaded = true;
    detect_changes(&l->change_detection, l->current, &l->problems, l->settings.log);
    publish_all(l);
    if (!l->reloading)
        reloads_end(&l->reloads, NULL);
}

/* Discards `next`, reports a failed reload, returns true. Without `current`, only returns false. */
static bool discard_next(struct loop *l, const struct error *failure)
{
    if (!l->current)
        return false;
    evaluation_free(l->next);
    l->next = NULL;
    fail_reload(l, failure);
    return true;
}

/* Keeps transitions and judges problems of an evaluation that has decided about all objects. */
static void begin_observation(struct evaluation *next, const struct evaluation *current)
{
    engine_keep_transitions(next->engine, (size_t)next->options.history_entries);
    evaluation_judge_problems(next, false, current);
}

/*
 * Reads and evaluates `next` for a slice. Adopts it when complete; discards it if a reload fails.
 * Returns false with the reason if the first evaluation cannot be read.
 */
static bool advance_next(struct loop *l, struct error *err)
{
    if (l->next_loaded) {
        evaluation_pump(l->next, SLICE_MS);
    } else {
        enum loading loading = evaluation_load(l->next, err);

        /* The first evaluation waits for server and files without a limit; a reload does not. */
        if (loading == LOADING_FAILED || (loading == LOADING_HANGS && l->current) ||
            (loading == LOADING_BUSY && l->current && l->next->session &&
             !kube_session_can_become_ready(l->next->session, err)))
            return discard_next(l, err);
        if (loading == LOADING_HANGS)
            problem_log_update(&l->problems, l->next->manifests, l->settings.log);
        l->next_loaded = loading == LOADING_DONE;
    }
    if (!evaluation_run_slice(l->next, SLICE_MS) || !l->next_loaded)
        return true;
    /* The problems follow from complete decisions, and belong to the first page. */
    if (!l->next->source_problems)
        begin_observation(l->next, l->current);
    else if (!api_has_request(l->web_service.api))
        adopt_next(l);
    else
        l->adoption_waits = true;
    return true;
}

/* Processes changes of the sources for a slice. `readable`: manifests may have changed. */
static void advance_current(struct loop *l, bool readable)
{
    struct evaluation *e = l->current;

    if (engine_deadline(e->engine) <= platform_now_ms())
        e->caught_up = false;
    if (readable || e->session || e->assets || e->reader || manifests_busy(e->manifests))
        evaluation_pump(e, SLICE_MS);
    if (!e->caught_up && evaluation_run_slice(e, SLICE_MS) &&
        detect_changes(&l->change_detection, e, &l->problems, l->settings.log))
        note_change(l);
}

/* Returns false while changes in the current evaluation are not processed completely. */
static bool can_publish(const struct loop *l)
{
    return !l->current || (l->current->caught_up && !manifests_busy(l->current->manifests));
}

/* ---- turns ---- */

static void handle_signals(struct loop *l)
{
    int number;

    while ((number = signals_next(&l->signals)) != 0) {
        if (number == SIGHUP) {
            begin_reload(l);
        } else {
            log_write(l->settings.log, LOG_LEVEL_INFO, "stopping", "signal",
                      number == SIGTERM ? "SIGTERM" : "SIGINT");
            l->stopping = true;
        }
    }
}

/* Returns the steady time in ms of the next work other than pages; values as evaluation_due(). */
static int64_t next_work_ms(const struct loop *l)
{
    int64_t due = earlier_of(file_preflight_due(&l->file_preflight), reloads_due(&l->reloads));

    due = earlier_of(due, senders_due(&l->senders));
    if (l->current)
        due = earlier_of(due, evaluation_due(l->current));
    if (l->next)
        due = earlier_of(due, evaluation_due(l->next));
    /* No file is due while the job reads files: its end wakes the loop. */
    if (l->file_preflight.job)
        return due;
    due = earlier_of(due, evaluations_files_due(l));
    return earlier_of(due, web_service_files_due(&l->web_service));
}

/* Returns how long this turn may wait, in milliseconds. */
static int64_t wait_ms(const struct loop *l)
{
    int64_t now_ms = platform_steady_ms();
    int64_t publish_ms = publisher_due(&l->publisher) - now_ms;
    /* A page that is due waits for manifests being read: without SOON_MS the loop would spin. */
    int64_t wait = can_publish(l) || publish_ms > SOON_MS ? publish_ms : SOON_MS;
    int64_t due = next_work_ms(l);

    /* The last turn has not moved a deadline that had passed before: do not spin on it. */
    if (due > EVALUATION_HAS_WORK && due < l->turned_ms)
        wait = earlier_of(wait, OVERDUE_MS);
    else if (due != INT64_MAX)
        wait = earlier_of(wait, due - now_ms);
    if (l->reserved_until_ms > now_ms)
        wait = earlier_of(wait, l->reserved_until_ms - now_ms);
    wait = earlier_of(LOOP_WAIT_MAX_MS, wait);
    return wait > 0 ? wait : 0;
}

/* Returns true if a request may use `current`, which has processed all changes. */
static bool can_lend(const struct loop *l)
{
    int64_t now_ms = platform_steady_ms();

    if (!l->current || now_ms >= l->reserved_until_ms)
        return !l->current || l->current->caught_up;
    /* Without changes since the last request, and without a reload, the loop needs no time. */
    return can_publish(l) && !l->next && next_work_ms(l) > now_ms &&
           engine_evaluations(l->current->engine) == l->lent_evaluations;
}

static void answer_requests(struct loop *l)
{
    const struct health health = gather_health(l);

    if (l->adoption_waits)
        return;
    api_turn(l->web_service.api, &health, l->current, can_lend(l));
    if (api_uses_evaluation(l->web_service.api))
        l->lent_ms = platform_steady_ms();
}

/* Reserves time for the loop after a request, so that clients cannot keep `current` in use. */
static void end_lending(struct loop *l)
{
    int64_t now_ms = platform_steady_ms();

    l->reserved_until_ms = now_ms + earlier_of(now_ms - l->lent_ms, RESERVED_MAX_MS);
    l->lent_evaluations = engine_evaluations(l->current->engine);
}

/* Does the part of a turn that may run while the request worker reads the evaluation. */
static enum loop_result turn_without_evaluation(struct loop *l)
{
    struct pollfd wanted[] = {
        {.fd = l->signals.fd, .events = POLLIN},
        {.fd = request_worker_fd(l->web_service.request_worker), .events = POLLIN},
    };

    descriptors_poll(wanted, ARRAY_LEN(wanted), LOOP_WAIT_MAX_MS);
    heartbeat_update(&l->heartbeat, platform_steady_ms());
    handle_signals(l);
    api_collect(l->web_service.api);
    if (!api_uses_evaluation(l->web_service.api))
        end_lending(l);
    return l->stopping ? LOOP_STOPPED : LOOP_CONTINUES;
}

enum loop_result loop_turn(struct loop *l, struct error *err)
{
    if (api_uses_evaluation(l->web_service.api))
        return turn_without_evaluation(l);

    bool listens = l->current && manifests_accept_events(l->current->manifests);
    /* The next request can begin only after the end of the present one. */
    bool handles = api_has_request(l->web_service.api);
    /* poll() ignores a negative descriptor. */
    struct pollfd wanted[] = {
        {.fd = l->signals.fd, .events = POLLIN},
        {.fd = listens ? l->current->changes_fd : -1, .events = POLLIN},
        {.fd = handles ? -1 : request_queue_fd(server_request_queue(l->web_service.server)),
         .events = POLLIN},
        {.fd = l->settings.reader ? file_reader_fd(l->settings.reader) : -1, .events = POLLIN},
        {.fd = request_worker_fd(l->web_service.request_worker), .events = POLLIN},
        {.fd = reloads_fd(&l->reloads), .events = POLLIN},
    };

    evaluation_wait(l->current, l->next, wanted, ARRAY_LEN(wanted), wait_ms(l));
    l->turned_ms = platform_steady_ms();
    heartbeat_update(&l->heartbeat, l->turned_ms);
    handle_signals(l);
    if (l->stopping)
        return LOOP_STOPPED;
    api_collect(l->web_service.api);
    /* Called before jobs are polled, so that later results end the wait of the next turn. */
    if (l->settings.reader)
        file_reader_handle_event(l->settings.reader);
    if (reloads_turn(&l->reloads, platform_steady_ms()) ||
        file_preflight_kubeconfig_needs_reload(&l->file_preflight, l->config_loaded,
                                               platform_steady_ms()))
        begin_reload(l);
    turn_files(l);
    l->adoption_waits = false;
    if (l->next && !advance_next(l, err))
        return LOOP_FAILED;
    if (l->current)
        advance_current(l, wanted[1].revents != 0);
    readiness_turn(&l->readiness, l->current, shown_session(l),
                   l->current || !l->next ? "" : evaluation_problem(l->next), platform_steady_ms());
    if (senders_turn(&l->senders, l->current, platform_steady_ms(), platform_now_ms()))
        note_change(l);
    if (can_publish(l) && l->current &&
        memory_guard_turn(&l->memory, l->current->registry, l->settings.log, platform_steady_ms()))
        note_change(l);
    if (can_publish(l) && platform_steady_ms() >= publisher_due(&l->publisher)) {
        const struct health health = gather_health(l);

        publisher_turn(&l->publisher, &health, platform_steady_ms());
    }
    /* Requests come last, because the request worker may use the evaluation afterwards. */
    answer_requests(l);
    return LOOP_CONTINUES;
}
