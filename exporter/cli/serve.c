/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/cli/verb.h"

#include <signal.h>

#include "exporter/serve/confinement.h"
#include "exporter/serve/guard.h"
#include "exporter/serve/loop.h"
#include "exporter/system/descriptors.h"
#include "exporter/system/platform.h"
#include "exporter/system/workers.h"
#include "exporter/version.h"

enum {
    /* A change shows within a second, also where it has to wait for the next page. */
    PUBLISH_MS = 900,
    REFRESH_MS = 5000,
    LOOK_MS = 1000,    /* The longest between two looks at a process. */
    LOG_WAIT_MS = 250, /* For lines that are still to be written in the end. */
};

enum outcome {
    OUTCOME_REFUSED, /* The loop does not start, ... */
    OUTCOME_FAILED,  /* ... or finds that its sources cannot be read. */
    OUTCOME_ENDED,   /* By a signal. */
    OUTCOME_BLIND,   /* The process that starts file readers has ended. */
};

/* What the loop runs with, and who watches over it. */
struct surroundings {
    const struct log *log;
    struct workers *workers;
    struct guard *guard;
};

/* A service manager restarts a process that ends with a status other than 0. */
static enum outcome end_blind(const struct surroundings *around)
{
    log_write(around->log, LOG_LEVEL_ERROR,
              "the process that starts file readers ended; exiting with status 1, because files "
              "can be read again only after a restart");
    return OUTCOME_BLIND;
}

static enum outcome turn_loop(const struct command *command, const struct surroundings *around,
                              struct error *err)
{
    const struct log *log = around->log;
    const struct options *o = &command->options;
    const struct loop_settings settings = {
        .argc = command->argc,
        .argv = command->argv,
        .log = log,
        .workers = around->workers,
        .publish_ms = PUBLISH_MS,
        .refresh_ms = REFRESH_MS,
    };
    enum loop_step step = LOOP_GOES_ON;
    struct loop *loop = loop_new(&settings, err);

    if (!loop) {
        workers_turn(around->workers);
        return workers_ended(around->workers) ? end_blind(around) : OUTCOME_REFUSED;
    }
    log_write(log, LOG_LEVEL_INFO, "starting", "version", EXPORTER_VERSION, "revision",
              exporter_revision);
    for (size_t i = 0; i < o->listen_addresses.count; i++)
        log_write(log, LOG_LEVEL_INFO, "listening", "address", loop_address(loop, i), "metrics",
                  o->telemetry_path);
    while (step == LOOP_GOES_ON)
        step = loop_turn(loop, err);
    enum outcome outcome = OUTCOME_FAILED;

    if (step == LOOP_ENDED) {
        guard_ending(around->guard, STATUS_OK);
        outcome = OUTCOME_ENDED;
    } else if (step == LOOP_BLIND) {
        guard_ending(around->guard, STATUS_FOUND);
        outcome = end_blind(around);
    }
    loop_free(loop);
    return outcome;
}

/* The input of the job: its process has a copy of the options where we have them. */
struct confining {
    const struct options *options;
};

/* Confining looks at what the options name, which may hang: a process of its own tries it. */
static void try_confining(struct job_output *out, const char *input, size_t len, int fd)
{
    struct confinement ignored;
    struct confining c;

    (void)out;
    (void)fd;
    assert(len == sizeof(c));
    memcpy(&c, input, sizeof(c));
    confine(c.options, platform_environment(), &ignored);
}

/* True if it does not hang. */
static bool can_confine(const struct options *o)
{
    struct workers *workers;
    enum job_state state = JOB_LOST;
    struct error ignored;
    const char *bytes;
    size_t len;

    workers = workers_start(NULL, &ignored);
    if (!workers)
        return false;
    const struct confining c = {o};
    struct job *job = job_start(workers, try_confining, &c, sizeof(c), -1);

    while ((state = job_next(job, platform_steady_ms(), &bytes, &len)) == JOB_WAITS)
        workers_wait(workers, LOOK_MS);
    job_free(job);
    workers_free(workers);
    return state == JOB_DONE;
}

static enum exit_status run_serve(struct command *command)
{
    const struct options *o = &command->options;
    struct log log = {
        .level = (enum log_level)o->log_level,
        .format = (enum log_format)o->log_format,
        .stream = stderr,
    };
    struct confinement confinement;
    struct error err;

    /* A reader of the log that goes away must not end the exporter. */
    signal(SIGPIPE, SIG_IGN);
    descriptors_raise();
    if (can_confine(o))
        confine(o, platform_environment(), &confinement);
    else
        confinement_leave(&confinement, "what the options name does not answer");

    /*
     * Before there are threads or much memory, which they are not to have, and before the filter,
     * which lets nobody make processes. Each of them has it, too.
     */
    struct workers *workers = workers_start(confinement.filters ? confine_worker : NULL, &err);
    confine_calls(&confinement);
    struct guard *guard = workers ? guard_start(&err) : NULL;

    if (!guard || !log_start(&log, &err)) {
        guard_free(guard);
        workers_free(workers);
        return command_refuse(command, err.text);
    }
    confinement_log(&confinement, &log);
    enum outcome outcome = turn_loop(command, &(struct surroundings){&log, workers, guard}, &err);
    enum exit_status status = STATUS_OK;

    workers_free(workers);
    log_stop(&log, LOG_WAIT_MS);
    if (outcome == OUTCOME_REFUSED)
        status = command_refuse(command, err.text);
    if (outcome == OUTCOME_FAILED) {
        command_complain(command, err.text);
        status = STATUS_USAGE;
    }
    if (outcome == OUTCOME_BLIND)
        status = STATUS_FOUND;
    guard_free(guard);
    return status;
}

static const char *const examples[] = {
    "--kubeconfig karmada.config",
    "serve --manifests ./manifests --log.format json",
    NULL,
};

const struct verb serve_verb = {
    .name = "serve",
    .usage = "[FLAGS]",
    .summary = "run the exporter: follow changes, serve metrics over HTTP",
    .details = "Reads Karmada's API server (--kubeconfig) or manifests (--manifests), follows "
               "them as they change, and serves what it finds as Prometheus metrics and on a "
               "page for people, until SIGTERM or SIGINT. SIGHUP reads the configuration file "
               "and everything else again.",
    .examples = examples,
    .bit = VERB_SERVE,
    .run = run_serve,
};
