/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/serve/loop.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "exporter/evaluation.h"
#include "exporter/options/config.h"
#include "exporter/serve/memory_guard.h"
#include "exporter/serve/problem_log.h"
#include "exporter/serve/publisher.h"
#include "exporter/serve/readiness.h"
#include "exporter/system/file.h"
#include "exporter/system/heartbeat.h"
#include "exporter/system/memory.h"
#include "exporter/system/platform.h"
#include "exporter/web/server.h"

enum {
    SLICE_MS = 5,
    EVALUATION_BATCH = 64, /* Between two looks at the clock: few, so that a slice ends in time. */
    WAIT_MAX_MS = HEARTBEAT_LIMIT_MS / 5, /* A loop without work is well, too. */
    WEB_MEMORY_PART = 8,                  /* Of the limit, for the connections of clients. */
    BOTH_WAIT_MS = 20, /* While two API servers are watched: only one can be waited for. */
};

struct loop {
    struct loop_settings settings;
    sigset_t mask_before;
    int signals;
    struct heartbeat heartbeat;
    struct server *server;
    char *telemetry_path;       /* The server's: a reload may change the option, not the server. */
    struct evaluation *current; /* NULL until everything is read once. */
    struct evaluation *next;    /* Being prepared to replace it; NULL if none is. */
    bool next_loaded;
    bool stopping;
    bool config_loaded;
    uint64_t evaluations; /* As has_changed() last saw them. */
    size_t files;         /* Likewise, as is the next one. */
    uint64_t health;
    struct publisher publisher;
    struct memory_guard memory;
    struct problem_log problems;
    struct readiness readiness;
};

static bool block_signals(struct loop *l, struct error *err)
{
    sigset_t wanted;

    sigemptyset(&wanted);
    sigaddset(&wanted, SIGTERM);
    sigaddset(&wanted, SIGINT);
    sigaddset(&wanted, SIGHUP);
    if (pthread_sigmask(SIG_BLOCK, &wanted, &l->mask_before) != 0)
        abort();
    l->signals = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
    return l->signals >= 0 || fail(err, "cannot wait for signals: %s", strerror(errno));
}

/* Start an evaluation with what the command line and its configuration file say now. */
static bool prepare_next(struct loop *l, struct error *err)
{
    struct options options;
    struct evaluation *next = NULL;

    if (config_load(&options, l->settings.argc, l->settings.argv, err))
        next = evaluation_new(
            &(struct evaluation_settings){
                .options = &options,
                .environment = platform_environment(),
                .log = l->settings.log,
                .follow = true,
                .seed = platform_seed(),
            },
            err);
    options_release(&options);
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
        .server = l->server,
        .telemetry_path = l->telemetry_path,
        .config_loaded = l->config_loaded,
        .rejected = l->problems.rejected,
        .log_dropped = log_dropped(l->settings.log),
        .beat_age_ms = heartbeat_age_ms(&l->heartbeat, platform_steady_ms()),
        .now_ms = platform_now_ms(),
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

    l->settings = *settings;
    l->signals = -1;
    l->config_loaded = true;
    publisher_init(&l->publisher, settings->log, settings->publish_ms, settings->refresh_ms);
    if (!block_signals(l, err) || !prepare_next(l, err)) {
        loop_free(l);
        return NULL;
    }

    const struct options *o = &l->next->options;

    l->memory.limit = o->memory_limit > 0 ? o->memory_limit : memory_limit();

    const struct server_options server = {
        .addresses = (const char *const *)o->listen_addresses.items,
        .address_count = o->listen_addresses.count,
        .telemetry_path = o->telemetry_path,
        .log = settings->log,
        .heartbeat = &l->heartbeat,
        .memory_bytes = l->memory.limit / WEB_MEMORY_PART,
    };

    heartbeat_beat(&l->heartbeat, platform_steady_ms());
    l->telemetry_path = xstrdup(o->telemetry_path);
    l->server = server_start(&server, l->publisher.snapshot, err);
    if (!l->server) {
        loop_free(l);
        return NULL;
    }
    readiness_init(&l->readiness, l->server);
    publish_all(l);
    return l;
}

void loop_free(struct loop *l)
{
    if (!l)
        return;
    if (l->server)
        server_set_ready(l->server, false, "karmada-policy-exporter is stopping\n");
    server_stop(l->server);
    readiness_release(&l->readiness);
    publisher_release(&l->publisher);
    evaluation_free(l->next);
    evaluation_free(l->current);
    free(l->telemetry_path);
    problem_log_release(&l->problems);
    if (l->signals >= 0) {
        close(l->signals);
        pthread_sigmask(SIG_SETMASK, &l->mask_before, NULL);
    }
    free(l);
}

const char *loop_address(const struct loop *l, size_t at)
{
    return server_address(l->server, at);
}

static void reload(struct loop *l)
{
    const struct log *log = l->settings.log;
    struct error err;

    for (size_t i = 0; l->current && i < l->current->options.manifests.count; i++) {
        if (strcmp(l->current->options.manifests.items[i], "-") != 0)
            continue;
        log_write(log, LOG_LEVEL_WARN,
                  "cannot reload: standard input is read only once; the old state stays in force");
        return;
    }
    log_write(log, LOG_LEVEL_INFO, "reloading options and sources");
    l->config_loaded = prepare_next(l, &err);
    if (!l->config_loaded) {
        log_write(log, LOG_LEVEL_ERROR, "reload failed; the old configuration stays in force",
                  "error", err.text);
        note_change(l);
    }
}

static void handle_signals(struct loop *l)
{
    struct signalfd_siginfo info;

    while (read(l->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        if (info.ssi_signo == SIGHUP) {
            reload(l);
        } else {
            log_write(l->settings.log, LOG_LEVEL_INFO, "stopping", "signal",
                      info.ssi_signo == SIGTERM ? "SIGTERM" : "SIGINT");
            l->stopping = true;
        }
    }
}

/* Evaluate what changed until nothing is left or the slice is over. True if nothing is left. */
static bool run_slice(struct evaluation *e)
{
    uint64_t evaluations = engine_evaluations(e->engine);
    double start = platform_steady_seconds();
    double duration = 0;
    bool done = false;

    while (!done && duration * 1000 < SLICE_MS) {
        done = evaluation_run(e, platform_now_ms(), EVALUATION_BATCH);
        duration = platform_steady_seconds() - start;
    }
    if (engine_evaluations(e->engine) != evaluations)
        registry_count(e->registry, OWN_EVALUATION_DURATION, duration);
    return done;
}

/* A change beside a watched file wakes the loop, too: is there anything new to publish? */
static bool has_changed(struct loop *l)
{
    const struct evaluation *e = l->current;
    uint64_t evaluations = engine_evaluations(e->engine);
    size_t files = manifests_file_count(e->manifests);
    bool problems = problem_log_update(&l->problems, e->manifests, l->settings.log);
    uint64_t health = e->session ? kube_source_health_version(kube_session_source(e->session)) : 0;
    bool changed =
        problems || evaluations != l->evaluations || files != l->files || health != l->health;

    l->health = health;
    l->evaluations = evaluations;
    l->files = files;
    return changed;
}

/* The evaluation that was prepared is complete: it replaces the current one. */
static void adopt_next(struct loop *l)
{
    const struct log *log = l->settings.log;
    const struct evaluation *e = l->next;

    for (size_t i = 0; l->current && i < OPTION_COUNT; i++) {
        if (option_defs[i].needs_restart &&
            !options_same(&l->current->options, &e->options, &option_defs[i]))
            log_write(log, LOG_LEVEL_WARN, "option changed; restart to apply it", "option",
                      option_defs[i].name);
    }
    evaluation_free(l->current);
    l->current = l->next;
    l->next = NULL;
    l->config_loaded = true;
    has_changed(l);
    log_write(log, LOG_LEVEL_INFO, e->session ? "synced with the API server" : "read manifests",
              "files", LOG_NUMBER((int64_t)manifests_file_count(e->manifests)), "broken",
              LOG_NUMBER((int64_t)manifests_broken_count(e->manifests)), "templates",
              LOG_NUMBER((int64_t)store_count(e->store, CLASS_TEMPLATE)), "policies",
              LOG_NUMBER((int64_t)store_count(e->store, CLASS_POLICY)), "bindings",
              LOG_NUMBER((int64_t)store_count(e->store, CLASS_BINDING)));
    publish_all(l);
}

/* Go on preparing. False if it failed and there is no current evaluation to fall back on. */
static bool advance_next(struct loop *l, struct error *err)
{
    if (l->next_loaded) {
        evaluation_pump(l->next, SLICE_MS);
    } else {
        enum loading loading = evaluation_load(l->next, err);

        /* The first evaluation waits for its server for ever, one of a reload does not. */
        if (loading == LOADING_FAILED ||
            (loading == LOADING_GOES_ON && l->current && l->next->session &&
             !kube_session_hopeful(l->next->session, err))) {
            if (!l->current)
                return false;
            log_write(l->settings.log, LOG_LEVEL_ERROR,
                      "reload failed; the old configuration stays in force", "error", err->text);
            evaluation_free(l->next);
            l->next = NULL;
            l->config_loaded = false;
            note_change(l);
            return true;
        }
        l->next_loaded = loading == LOADING_DONE;
    }
    if (run_slice(l->next) && l->next_loaded)
        adopt_next(l);
    return true;
}

static void follow(struct loop *l, bool readable)
{
    struct evaluation *e = l->current;

    if (engine_deadline(e->engine) <= platform_now_ms())
        e->caught_up = false;
    if (readable || e->session || e->assets || manifests_busy(e->manifests))
        evaluation_pump(e, SLICE_MS);
    if (!e->caught_up && run_slice(e) && has_changed(l))
        note_change(l);
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t wait_ms(const struct loop *l)
{
    int64_t wait = smaller(WAIT_MAX_MS, publisher_due(&l->publisher) - platform_steady_ms());

    if (l->current)
        wait = smaller(wait, evaluation_idle_ms(l->current));
    if (l->next && (!l->next->session || l->next_loaded))
        wait = 0;
    else if (l->next)
        wait = smaller(wait, evaluation_idle_ms(l->next));
    if (l->next && l->current && l->current->session)
        wait = smaller(wait, BOTH_WAIT_MS);
    return wait > 0 ? wait : 0;
}

enum loop_step loop_turn(struct loop *l, struct error *err)
{
    struct evaluation *waited_for = l->next && l->next->session ? l->next : l->current;
    /* poll() ignores a negative descriptor. */
    struct pollfd wanted[] = {
        {.fd = l->signals, .events = POLLIN},
        {.fd = l->current ? l->current->changes_fd : -1, .events = POLLIN},
    };

    evaluation_wait(waited_for, wanted, ARRAY_LEN(wanted), wait_ms(l));
    heartbeat_beat(&l->heartbeat, platform_steady_ms());
    handle_signals(l);
    if (l->stopping)
        return LOOP_ENDED;
    if (l->next && !advance_next(l, err))
        return LOOP_FAILED;
    if (l->current)
        follow(l, wanted[1].revents != 0);
    readiness_turn(&l->readiness, l->current, shown_session(l), platform_steady_ms());
    /* Until the first evaluation is complete, the pages show how far it is. */
    bool complete =
        !l->current || (l->current->caught_up && !manifests_busy(l->current->manifests));

    if (complete && l->current &&
        memory_guard_turn(&l->memory, l->current->registry, l->settings.log, platform_steady_ms()))
        note_change(l);
    if (complete && platform_steady_ms() >= publisher_due(&l->publisher)) {
        const struct health health = health_of(l);

        publisher_turn(&l->publisher, &health, platform_steady_ms());
    }
    return LOOP_GOES_ON;
}
