/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/cli/verb.h"

#include <signal.h>

#include "exporter/serve/confinement.h"
#include "exporter/serve/guard.h"
#include "exporter/serve/loop.h"
#include "exporter/system/descriptors.h"
#include "exporter/system/platform.h"
#include "exporter/version.h"

enum {
    /* A change shows within a second, also where it has to wait for the next page. */
    PUBLISH_MS = 900,
    REFRESH_MS = 5000,
    LOG_WAIT_MS = 250, /* For lines that are still to be written in the end. */
};

enum outcome {
    OUTCOME_REFUSED, /* The loop does not start, ... */
    OUTCOME_FAILED,  /* ... or finds that its sources cannot be read. */
    OUTCOME_ENDED,   /* By a signal. */
};

static enum outcome turn_loop(const struct command *command, const struct log *log,
                              struct guard *guard, struct error *err)
{
    const struct options *o = &command->options;
    const struct loop_settings settings = {
        .argc = command->argc,
        .argv = command->argv,
        .log = log,
        .publish_ms = PUBLISH_MS,
        .refresh_ms = REFRESH_MS,
    };
    enum loop_step step = LOOP_GOES_ON;
    struct loop *loop = loop_new(&settings, err);

    if (!loop)
        return OUTCOME_REFUSED;
    log_write(log, LOG_LEVEL_INFO, "starting", "version", EXPORTER_VERSION, "revision",
              exporter_revision);
    for (size_t i = 0; i < o->listen_addresses.count; i++)
        log_write(log, LOG_LEVEL_INFO, "listening", "address", loop_address(loop, i), "metrics",
                  o->telemetry_path);
    while (step == LOOP_GOES_ON)
        step = loop_turn(loop, err);
    if (step == LOOP_ENDED)
        guard_ending(guard);
    loop_free(loop);
    return step == LOOP_ENDED ? OUTCOME_ENDED : OUTCOME_FAILED;
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
    confine(o, platform_environment(), &confinement);

    struct guard *guard = guard_start(&err);

    if (!guard || !log_start(&log, &err)) {
        guard_free(guard);
        return command_refuse(command, err.text);
    }
    confinement_log(&confinement, &log);
    enum outcome outcome = turn_loop(command, &log, guard, &err);
    enum exit_status status = STATUS_OK;

    log_stop(&log, LOG_WAIT_MS);
    if (outcome == OUTCOME_REFUSED)
        status = command_refuse(command, err.text);
    if (outcome == OUTCOME_FAILED) {
        command_complain(command, err.text);
        status = STATUS_USAGE;
    }
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
