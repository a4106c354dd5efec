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

/*
 * Log that an evaluation is complete and shown from now on, how much it holds, and which options
 * differ from those `before` (NULL: there were none) but count after a restart only.
 */
static void announce_adopted(const struct log *log, const struct options *before,
                             const struct evaluation *e)
{
    for (size_t i = 0; before && i < OPTION_COUNT; i++) {
        if (option_defs[i].needs_restart && !options_same(before, &e->options, &option_defs[i]))
            log_write(log, LOG_LEVEL_WARN, "option changed; restart to apply it", "option",
                      option_defs[i].name);
    }
    log_write(log, LOG_LEVEL_INFO, e->session ? "synced with the API server" : "read manifests",
              "files", LOG_NUMBER((int64_t)manifests_file_count(e->manifests)), "broken",
              LOG_NUMBER((int64_t)manifests_broken_file_count(e->manifests)), "templates",
              LOG_NUMBER((int64_t)store_object_count(e->store, CLASS_TEMPLATE)), "policies",
              LOG_NUMBER((int64_t)store_object_count(e->store, CLASS_POLICY)), "bindings",
              LOG_NUMBER((int64_t)store_object_count(e->store, CLASS_BINDING)));
}

enum { LINES_MAX = 100, PROBLEM_MAX = 64 * 1024 };

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
 * Log each problem that the last update did not have; of very many only the first, and how
 * many more there are. False if the problems are the same as then.
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

        /* Without line and column: a problem that only moved within its file is the same. */
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
        log_write(log,
                  p.kind == PROBLEM_FOREIGN     ? LOG_LEVEL_DEBUG
                  : p.kind == PROBLEM_DUPLICATE ? LOG_LEVEL_INFO
                                                : LOG_LEVEL_WARN,
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

/* True if there is something since the last call. What is new among the problems is logged. */
static bool news_since(struct change_detection *n, const struct evaluation *e,
                       struct problem_log *problems, const struct log *log)
{
    const struct change_detection now = {
        .evaluations = engine_evaluations(e->engine),
        .files = manifests_file_count(e->manifests),
        .health = e->session ? kube_source_health_version(kube_session_source(e->session)) : 0,
    };
    bool told = problem_log_update(problems, e->manifests, log);
    bool changed = told || now.evaluations != n->evaluations || now.files != n->files ||
                   now.health != n->health;

    *n = now;
    return changed;
}

/* Less than a client's connection may wait for its answer (peers.c). */
enum { WAIT_MAX_MS = 45 * 1000 };

/* For the loop to poll for reading; -1 without a desk. */
static int reloads_fd(const struct reloads *r)
{
    return r->request_queue ? request_queue_fd(r->request_queue) : -1;
}

static void answer(struct reloads *r, unsigned status, const char *text)
{
    struct queued_request *queued_request = request_queue_peek(r->request_queue);

    queued_request->status = status;
    queued_request->content_type = RESPONSE_TEXT;
    output_safe(&queued_request->body, text);
    strbuf_addc(&queued_request->body, '\n');
    request_queue_answer_first(r->request_queue);
    r->waits = false;
}

/*
 * True if a reload is to begin. Whoever waits for one for too long is told that it goes on.
 * `now_ms` is steady.
 */
static MUST_USE bool reloads_turn(struct reloads *r, int64_t now_ms)
{
    if (r->request_queue && r->waits && now_ms - r->begun_ms >= WAIT_MAX_MS)
        answer(r, MHD_HTTP_GATEWAY_TIMEOUT, "the reload goes on: the log tells how it ends");
    if (!r->request_queue || r->waits || !request_queue_peek(r->request_queue))
        return false;
    r->waits = true;
    r->begun_ms = now_ms;
    return true;
}

/* When a turn is due (steady); INT64_MAX for never. */
static int64_t reloads_due(const struct reloads *r)
{
    return r->waits ? r->begun_ms + WAIT_MAX_MS : INT64_MAX;
}

/* A reload has ended: well (NULL), or with why the old state stays in force. */
static void reloads_end(struct reloads *r, const struct error *why)
{
    if (r->waits)
        answer(r, why ? MHD_HTTP_INTERNAL_SERVER_ERROR : MHD_HTTP_OK, why ? why->text : "reloaded");
}

enum {
    SLICE_MS = 5,
    LOOP_WAIT_MAX_MS = HEARTBEAT_LIMIT_MS / 5, /* A loop without work is well, too. */
    WEB_MEMORY_PART = 8,                       /* Of the limit, for the connections of clients. */
    SOON_MS = 20,     /* For the end of a reading that is published with what it brings. */
    OVERDUE_MS = 100, /* Wait where a deadline has passed and no turn moves it. */
};

struct loop {
    struct loop_settings settings;
    struct signals signals;
    struct heartbeat heartbeat;
    struct web web;
    struct evaluation *current; /* NULL until everything is read once. */
    struct evaluation *next;    /* Being prepared to replace it; NULL if none is. */
    bool next_loaded;
    bool reloading; /* The options are to be read again. */
    struct file_preflight file_preflight;
    int64_t started_ms; /* Since the epoch. */
    int64_t turned_ms;  /* When the last turn began; steady. */
    bool stopping;
    bool config_loaded;
    struct change_detection change_detection;
    struct reloads reloads;
    struct publisher publisher;
    struct senders senders;
    struct memory_guard memory;
    struct problem_log problems;
    struct readiness readiness;
};

/* Calls `each` with the files of the credentials that the loop reads again. */
static void files_in_force(void *source, kube_file_fn *each, void *context)
{
    const struct loop *l = source;
    const struct evaluation *const all[] = {l->current, l->next};

    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        if (all[i] && all[i]->session)
            kube_session_each_file(all[i]->session, each, context);
    }
}

/* Start an evaluation with what the command line and its configuration file say now. */
static bool prepare_next(struct loop *l, struct error *err)
{
    struct evaluation *next = file_preflight_perform(&l->file_preflight, err);

    if (!next)
        return false;
    evaluation_free(l->next);
    l->next = next;
    l->next_loaded = false;
    return true;
}

/* Until the first evaluation is complete, people want to know what its source does. */
static const struct kube_session *shown_session(const struct loop *l)
{
    const struct evaluation *shown = l->current ? l->current : l->next;

    return shown ? shown->session : NULL;
}

static struct health health_of(const struct loop *l)
{
    return (struct health){
        .evaluation = l->current,
        .session = shown_session(l),
        .telemetry_path = l->web.telemetry_path,
        .external_url = l->web.place.external,
        .config_loaded = l->config_loaded,
        .web = &l->web,
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
    const struct health health = health_of(l);

    publisher_all(&l->publisher, &health);
}

static void note_change(struct loop *l)
{
    publisher_change(&l->publisher, platform_steady_ms());
}

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
        .files_in_force = files_in_force,
        .files_source = l,
    };
    if (!signals_open(&l->signals, err) || !file_preflight_wait(&l->file_preflight, err) ||
        !prepare_next(l, err)) {
        loop_free(l);
        return NULL;
    }

    const struct options *o = &l->next->options;

    memory_return_large();
    l->memory.limit = o->memory_limit > 0 ? o->memory_limit : memory_limit();
    const struct web_settings web = {
        .options = o,
        .log = settings->log,
        .heartbeat = &l->heartbeat,
        .page_store = l->publisher.page_store,
        .memory_bytes = l->memory.limit / WEB_MEMORY_PART,
    };

    heartbeat_beat(&l->heartbeat, platform_steady_ms());
    if (!web_start(&l->web, &web, err) ||
        !senders_init(&l->senders, &web, l->web.place.external, err)) {
        loop_free(l);
        return NULL;
    }
    l->file_preflight.web_config_file = xstrdup(o->web_config_file);
    readiness_init(&l->readiness, l->web.server);
    l->reloads.request_queue = server_reload_queue(l->web.server);
    publish_all(l);
    return l;
}

void loop_free(struct loop *l)
{
    if (!l)
        return;
    web_release(&l->web);
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
    return server_listener_fd(l->web.server, at);
}

const char *loop_address(const struct loop *l, size_t at)
{
    return server_address(l->web.server, at);
}

static void begin_reload(struct loop *l)
{
    const struct evaluation *const all[] = {l->current, l->next};
    struct error err;

    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        if (all[i] && !evaluation_can_begin_again(all[i], &err)) {
            log_write(l->settings.log, LOG_LEVEL_WARN, err.text);
            reloads_end(&l->reloads, &err);
            return;
        }
    }
    log_write(l->settings.log, LOG_LEVEL_INFO, "reloading options and sources");
    l->reloading = true;
}

static void fail_reload(struct loop *l, const struct error *why)
{
    l->config_loaded = false;
    log_write(l->settings.log, LOG_LEVEL_ERROR,
              "reload failed; the old configuration stays in force", "error", why->text);
    /* Another one may have been asked for since it began. */
    if (!l->reloading)
        reloads_end(&l->reloads, why);
    note_change(l);
}

/* `readable`: the files for it have just answered; else the error says why not. */
static void reload(struct loop *l, bool readable, struct error *err)
{
    l->reloading = false;
    if (readable && prepare_next(l, err))
        l->config_loaded = true;
    else
        fail_reload(l, err);
}

/*
 * Returns the evaluation that the next turn goes on preparing. NULL while a request reads the
 * current one, which the new one would replace.
 */
static struct evaluation *next_to_advance(const struct loop *l)
{
    return api_has_request(l->web.api) ? NULL : l->next;
}

/* Returns when files of the evaluations are due to be read here; INT64_MAX for never. */
static int64_t evaluations_files_due(const struct loop *l)
{
    const struct evaluation *next = next_to_advance(l);

    return earlier_of(l->current ? evaluation_files_due(l->current) : INT64_MAX,
                      next ? evaluation_files_due(next) : INT64_MAX);
}

/* Reads the files that are due to be read here, once the file reader has read the same files. */
static void turn_files(struct loop *l)
{
    int64_t now_ms = platform_steady_ms();
    bool wanted =
        l->reloading || evaluations_files_due(l) <= now_ms || web_files_due(&l->web) <= now_ms;
    struct error err;
    enum file_preflight_state state = file_preflight_turn(&l->file_preflight, wanted, now_ms, &err);

    if (l->current)
        evaluation_hold_files(l->current, state != FILE_PREFLIGHT_DONE);
    if (l->next)
        evaluation_hold_files(l->next, state != FILE_PREFLIGHT_DONE);
    if (state == FILE_PREFLIGHT_DONE && web_files_due(&l->web) <= now_ms && web_read_files(&l->web))
        note_change(l);
    if (l->reloading && (state == FILE_PREFLIGHT_DONE || state == FILE_PREFLIGHT_HANGS))
        reload(l, state == FILE_PREFLIGHT_DONE, &err);
}

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

/* The evaluation that was prepared is complete: it replaces the current one. */
static void adopt_next(struct loop *l)
{
    announce_adopted(l->settings.log, l->current ? &l->current->options : NULL, l->next);
    publisher_forget(&l->publisher);
    api_forget_lists(l->web.api);
    senders_forget(&l->senders);
    evaluation_free(l->current);
    l->current = l->next;
    l->next = NULL;
    l->config_loaded = true;
    engine_keep_transitions(l->current->engine, (size_t)l->current->options.history_entries);
    news_since(&l->change_detection, l->current, &l->problems, l->settings.log);
    publish_all(l);
    if (!l->reloading)
        reloads_end(&l->reloads, NULL);
}

/* The evaluation that is prepared is given up. False if there is no current one to fall back on. */
static bool give_up_next(struct loop *l, const struct error *why)
{
    if (!l->current)
        return false;
    evaluation_free(l->next);
    l->next = NULL;
    fail_reload(l, why);
    return true;
}

/* Go on preparing. False if it failed and there is no current evaluation to fall back on. */
static bool advance_next(struct loop *l, struct error *err)
{
    if (l->next_loaded) {
        evaluation_pump(l->next, SLICE_MS);
    } else {
        enum loading loading = evaluation_load(l->next, err);

        /* The first evaluation waits for its server and its files for ever, one of a reload not. */
        if (loading == LOADING_FAILED || (loading == LOADING_HANGS && l->current) ||
            (loading == LOADING_GOES_ON && l->current && l->next->session &&
             !kube_session_can_become_ready(l->next->session, err)))
            return give_up_next(l, err);
        if (loading == LOADING_HANGS)
            problem_log_update(&l->problems, l->next->manifests, l->settings.log);
        l->next_loaded = loading == LOADING_DONE;
    }
    if (evaluation_slice(l->next, SLICE_MS) && l->next_loaded)
        adopt_next(l);
    return true;
}

static void follow(struct loop *l, bool readable)
{
    struct evaluation *e = l->current;

    if (engine_deadline(e->engine) <= platform_now_ms())
        e->caught_up = false;
    if (readable || e->session || e->assets || e->reader || manifests_busy(e->manifests))
        evaluation_pump(e, SLICE_MS);
    if (!e->caught_up && evaluation_slice(e, SLICE_MS) &&
        news_since(&l->change_detection, e, &l->problems, l->settings.log))
        note_change(l);
}

/* Until the first evaluation is complete, the pages show how far it is. */
static bool is_complete(const struct loop *l)
{
    return !l->current || (l->current->caught_up && !manifests_busy(l->current->manifests));
}

/* Returns when something is due, but for the pages: steady, or EVALUATION_HAS_WORK. */
static int64_t due_ms(const struct loop *l)
{
    const struct evaluation *next = next_to_advance(l);
    int64_t due = earlier_of(file_preflight_due(&l->file_preflight), reloads_due(&l->reloads));

    due = earlier_of(due, senders_due(&l->senders));
    if (l->current)
        due = earlier_of(due, evaluation_due(l->current));
    if (next)
        due = earlier_of(due, evaluation_due(next));
    if (l->file_preflight.job)
        return due;
    due = earlier_of(due, evaluations_files_due(l));
    return earlier_of(due, web_files_due(&l->web));
}

static int64_t wait_ms(const struct loop *l)
{
    int64_t now_ms = platform_steady_ms();
    int64_t publish_ms = publisher_due(&l->publisher) - now_ms;
    /* What a file brings is published with it: that is here soon, or will not be for long. */
    int64_t wait = is_complete(l) || publish_ms > SOON_MS ? publish_ms : SOON_MS;
    int64_t due = due_ms(l);

    /* The last turn left a deadline that was over when the turn began: do not spin on it. */
    if (due > EVALUATION_HAS_WORK && due < l->turned_ms)
        wait = earlier_of(wait, OVERDUE_MS);
    else if (due != INT64_MAX)
        wait = earlier_of(wait, due - now_ms);
    wait = earlier_of(LOOP_WAIT_MAX_MS, wait);
    return wait > 0 ? wait : 0;
}

static void answer_calls(struct loop *l)
{
    const struct health health = health_of(l);

    api_turn(l->web.api, &health, l->current, !l->current || l->current->caught_up);
}

/* While the clerk reads the evaluation, only what has nothing to do with that goes on. */
static enum loop_result turn_lent(struct loop *l)
{
    struct pollfd wanted[] = {
        {.fd = l->signals.fd, .events = POLLIN},
        {.fd = request_worker_fd(l->web.request_worker), .events = POLLIN},
    };

    descriptors_poll(wanted, ARRAY_LEN(wanted), LOOP_WAIT_MAX_MS);
    heartbeat_beat(&l->heartbeat, platform_steady_ms());
    handle_signals(l);
    answer_calls(l);
    return l->stopping ? LOOP_STOPPED : LOOP_CONTINUES;
}

enum loop_result loop_turn(struct loop *l, struct error *err)
{
    if (api_uses_evaluation(l->web.api))
        return turn_lent(l);

    bool listens = l->current && manifests_accept_events(l->current->manifests);
    /* poll() ignores a negative descriptor. */
    struct pollfd wanted[] = {
        {.fd = l->signals.fd, .events = POLLIN},
        {.fd = listens ? l->current->changes_fd : -1, .events = POLLIN},
        {.fd = request_queue_fd(server_request_queue(l->web.server)), .events = POLLIN},
        {.fd = l->settings.reader ? file_reader_fd(l->settings.reader) : -1, .events = POLLIN},
        {.fd = request_worker_fd(l->web.request_worker), .events = POLLIN},
        {.fd = reloads_fd(&l->reloads), .events = POLLIN},
    };

    evaluation_wait(l->current, next_to_advance(l), wanted, ARRAY_LEN(wanted), wait_ms(l));
    l->turned_ms = platform_steady_ms();
    heartbeat_beat(&l->heartbeat, l->turned_ms);
    handle_signals(l);
    if (l->stopping)
        return LOOP_STOPPED;
    /* Before any job is asked: a result that arrives afterwards ends the next wait. */
    if (l->settings.reader)
        file_reader_turn(l->settings.reader);
    if (reloads_turn(&l->reloads, platform_steady_ms()) ||
        file_preflight_sees_another_kubeconfig(&l->file_preflight, l->config_loaded,
                                               platform_steady_ms()))
        begin_reload(l);
    turn_files(l);
    if (next_to_advance(l) && !advance_next(l, err))
        return LOOP_FAILED;
    if (l->current)
        follow(l, wanted[1].revents != 0);
    readiness_turn(&l->readiness, l->current, shown_session(l),
                   l->current || !l->next ? "" : evaluation_problem(l->next), platform_steady_ms());
    if (senders_turn(&l->senders, l->current, platform_steady_ms(), platform_now_ms()))
        note_change(l);
    if (is_complete(l) && l->current &&
        memory_guard_turn(&l->memory, l->current->registry, l->settings.log, platform_steady_ms()))
        note_change(l);
    if (is_complete(l) && platform_steady_ms() >= publisher_due(&l->publisher)) {
        const struct health health = health_of(l);

        publisher_turn(&l->publisher, &health, platform_steady_ms());
    }
    /* The last thing: it may lend the evaluation. */
    answer_calls(l);
    return LOOP_CONTINUES;
}
