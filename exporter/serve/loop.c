/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/serve/loop.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "exporter/evaluation.h"
#include "exporter/options/config.h"
#include "exporter/serve/problem_log.h"
#include "exporter/serve/publisher.h"
#include "exporter/system/file.h"
#include "exporter/system/platform.h"
#include "exporter/web/server.h"

enum {
    SLICE_MS = 5,
    LOOKS_BETWEEN_CLOCKS = 64, /* Few enough that a slice ends in time. */
    WAIT_MAX_MS = 60 * 1000,
    BOTH_WAIT_MS = 20, /* While two API servers are followed and only one can be waited for. */
};

struct loop {
    struct loop_settings settings;
    sigset_t mask_before;
    int signals;
    struct server *server;
    char *telemetry_path;       /* As the server has it: options may change, the server does not. */
    struct evaluation *current; /* NULL until everything was read once. */
    struct evaluation *next;    /* Being prepared to take its place; NULL if none is. */
    bool next_loaded;
    bool stopping;
    bool config_loaded;
    uint64_t looks; /* How many objects had been looked at when that was last asked. */
    size_t files;   /* And how many files there were. */
    struct publisher publisher;
    struct problem_log problems;
};

static bool take_signals_over(struct loop *l, struct error *err)
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

/* Begin to prepare what the command line and its configuration file say now. */
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

static bool start_server(struct loop *l, struct error *err)
{
    const struct options *o = &l->next->options;
    const struct server_options server = {
        .addresses = (const char *const *)o->listen_addresses.items,
        .address_count = o->listen_addresses.count,
        .telemetry_path = o->telemetry_path,
        .log = l->settings.log,
    };

    l->telemetry_path = xstrdup(o->telemetry_path);
    l->server = server_start(&server, l->publisher.snapshot, err);
    return l->server != NULL;
}

/* Before the first evaluation is complete its source is what people wonder about. */
static const struct kube_session *shown_session(const struct loop *l)
{
    if (l->current)
        return l->current->session;
    return l->next ? l->next->session : NULL;
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
    if (!take_signals_over(l, err) || !prepare_next(l, err) || !start_server(l, err)) {
        loop_free(l);
        return NULL;
    }
    publish_all(l);
    return l;
}

void loop_free(struct loop *l)
{
    if (!l)
        return;
    if (l->server)
        server_set_ready(l->server, false);
    server_stop(l->server);
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

/* Standard input gives its bytes once. */
static bool can_be_read_again(const struct evaluation *e)
{
    for (size_t i = 0; i < e->options.manifests.count; i++) {
        if (strcmp(e->options.manifests.items[i], "-") == 0)
            return false;
    }
    return true;
}

static void reload(struct loop *l)
{
    const struct log *log = l->settings.log;
    struct error err;

    if (l->current && !can_be_read_again(l->current)) {
        log_write(log, LOG_LEVEL_WARN, "standard input cannot be read again; all stays as it is");
        return;
    }
    log_write(log, LOG_LEVEL_INFO, "reading options and sources again");
    l->config_loaded = prepare_next(l, &err);
    if (!l->config_loaded) {
        log_write(log, LOG_LEVEL_ERROR, "cannot reload; all stays as it is", "error", err.text);
        note_change(l);
    }
}

static void take_signals(struct loop *l)
{
    struct signalfd_siginfo info;

    while (read(l->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        if (info.ssi_signo == SIGHUP) {
            reload(l);
        } else {
            log_write(l->settings.log, LOG_LEVEL_INFO, "ending", "signal",
                      info.ssi_signo == SIGTERM ? "SIGTERM" : "SIGINT");
            l->stopping = true;
        }
    }
}

/* Look at what changed until it is done or the slice is over. True if it is done. */
static bool settle(struct evaluation *e)
{
    uint64_t looks = engine_evaluations(e->engine);
    double start = platform_steady_seconds();
    double duration = 0;
    bool done = false;

    while (!done && duration * 1000 < SLICE_MS) {
        done = evaluation_run(e, platform_now_ms(), LOOKS_BETWEEN_CLOCKS);
        duration = platform_steady_seconds() - start;
    }
    if (engine_evaluations(e->engine) != looks)
        registry_count(e->registry, OWN_EVALUATION_DURATION, duration);
    return done;
}

/* Neighbours of a file make noise, too: does anything look different? */
static bool has_changed(struct loop *l)
{
    const struct evaluation *e = l->current;
    uint64_t looks = engine_evaluations(e->engine);
    size_t files = manifests_file_count(e->manifests);
    bool problems = problem_log_update(&l->problems, e->manifests, l->settings.log);
    bool changed = problems || looks != l->looks || files != l->files;

    l->looks = looks;
    l->files = files;
    return changed;
}

/* Options that only a restart changes would otherwise seem to have been taken. */
static void warn_of_restart(const struct loop *l)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if (option_defs[i].needs_restart &&
            !options_same(&l->current->options, &l->next->options, &option_defs[i]))
            log_write(l->settings.log, LOG_LEVEL_WARN, "a changed option counts after a restart",
                      "option", option_defs[i].name);
    }
}

static void tell_counts(const struct loop *l)
{
    const struct evaluation *e = l->current;

    log_write(l->settings.log, LOG_LEVEL_INFO, e->session ? "all is synced" : "manifests are read",
              "files", LOG_NUMBER((int64_t)manifests_file_count(e->manifests)), "broken",
              LOG_NUMBER((int64_t)manifests_broken_count(e->manifests)), "templates",
              LOG_NUMBER((int64_t)store_count(e->store, CLASS_TEMPLATE)), "policies",
              LOG_NUMBER((int64_t)store_count(e->store, CLASS_POLICY)), "bindings",
              LOG_NUMBER((int64_t)store_count(e->store, CLASS_BINDING)));
}

static void take_next(struct loop *l)
{
    if (l->current)
        warn_of_restart(l);
    evaluation_free(l->current);
    l->current = l->next;
    l->next = NULL;
    l->config_loaded = true;
    has_changed(l);
    tell_counts(l);
    publish_all(l);
    server_set_ready(l->server, true);
}

/* False if there is none before it that could stay in place. */
static bool drop_next(struct loop *l, const struct error *err)
{
    if (!l->current)
        return false;
    log_write(l->settings.log, LOG_LEVEL_ERROR, "cannot reload; all stays as it is", "error",
              err->text);
    evaluation_free(l->next);
    l->next = NULL;
    l->config_loaded = false;
    note_change(l);
    return true;
}

/* False if the first evaluation cannot be. */
static bool advance_next(struct loop *l, struct error *err)
{
    if (l->next_loaded) {
        evaluation_pump(l->next, SLICE_MS);
    } else {
        enum loading loading = evaluation_load(l->next, err);

        /* A first evaluation waits for its server for ever; a later one has one to fall back on. */
        if (loading == LOADING_FAILED ||
            (loading == LOADING_GOES_ON && l->current && l->next->session &&
             !kube_session_hopeful(l->next->session, err)))
            return drop_next(l, err);
        l->next_loaded = loading == LOADING_DONE;
    }
    if (settle(l->next) && l->next_loaded)
        take_next(l);
    return true;
}

static void follow(struct loop *l, bool readable)
{
    struct evaluation *e = l->current;

    if (engine_deadline(e->engine) <= platform_now_ms())
        e->settled = false;
    if (readable || e->session || e->assets || manifests_busy(e->manifests))
        evaluation_pump(e, SLICE_MS);
    if (!e->settled && settle(e) && has_changed(l))
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

/* While the first evaluation is on its way the page tells how that goes. */
static bool can_publish(const struct loop *l)
{
    return !l->current || (l->current->settled && !manifests_busy(l->current->manifests));
}

enum loop_step loop_turn(struct loop *l, struct error *err)
{
    struct evaluation *waited_for = l->next && l->next->session ? l->next : l->current;
    /* poll() passes over a negative descriptor. */
    struct pollfd wanted[] = {
        {.fd = l->signals, .events = POLLIN},
        {.fd = l->current ? l->current->changes_fd : -1, .events = POLLIN},
    };

    evaluation_wait(waited_for, wanted, ARRAY_LEN(wanted), wait_ms(l));
    take_signals(l);
    if (l->stopping)
        return LOOP_ENDED;
    if (l->next && !advance_next(l, err))
        return LOOP_FAILED;
    if (l->current)
        follow(l, wanted[1].revents != 0);
    if (can_publish(l) && platform_steady_ms() >= publisher_due(&l->publisher)) {
        const struct health health = health_of(l);

        publisher_turn(&l->publisher, &health, platform_steady_ms());
    }
    return LOOP_GOES_ON;
}
