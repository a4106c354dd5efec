/* SPDX-License-Identifier: Apache-2.0 */

#include <signal.h>
#include <unistd.h>

#include "exporter/cli/command.h"
#include "exporter/serve/confinement.h"
#include "exporter/serve/loop.h"
#include "exporter/system/descriptors.h"
#include "exporter/system/file_reader.h"
#include "exporter/system/platform.h"
#include "exporter/system/signals.h"
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

/* Parts that the loop borrows, and the guard of its end. */
struct surroundings {
    const struct log *log;
    struct file_reader *reader;
    struct guard *guard;
};

static enum outcome turn_loop(const struct command *command, const struct surroundings *around,
                              struct error *err)
{
    const struct log *log = around->log;
    const struct options *o = &command->options;
    const struct loop_settings settings = {
        .argc = command->argc,
        .argv = command->argv,
        .log = log,
        .reader = around->reader,
        .publish_ms = PUBLISH_MS,
        .refresh_ms = REFRESH_MS,
    };
    enum loop_step step = LOOP_GOES_ON;
    struct loop *loop = loop_new(&settings, err);

    if (!loop)
        return OUTCOME_REFUSED;
    log_write(log, LOG_LEVEL_INFO, "starting", "version", EXPORTER_VERSION, "revision",
              exporter_revision);
    for (size_t i = 0; i < o->listen_addresses.count; i++) {
        guard_listener(around->guard, loop_listener(loop, i));
        log_write(log, LOG_LEVEL_INFO, "listening", "address", loop_address(loop, i), "metrics",
                  o->telemetry_path);
    }
    while (step == LOOP_GOES_ON)
        step = loop_turn(loop, err);
    if (step == LOOP_ENDED)
        guard_ending(around->guard);
    loop_free(loop);
    return step == LOOP_ENDED ? OUTCOME_ENDED : OUTCOME_FAILED;
}

/* Frees the reader. If a thread is still blocked, logs that and sets `*is_blocked`. */
static void end_reading(struct file_reader *reader, const struct log *log, bool *is_blocked)
{
    char file[READ_FILE_MAX] = "";
    char count[16];

    if (reader)
        file_reader_blocked(reader, file);
    snprintf(count, sizeof(count), "%u", reader ? file_reader_abandoned(reader) : 0);
    if (file_reader_free(reader))
        return;
    log_write(
        log, LOG_LEVEL_WARN,
        "ending without the result of reads that hang; all ports are closed, but the kernel may "
        "keep the process until these reads return",
        "reads", count, "file", file);
    *is_blocked = true;
}

/*
 * Ends the process at once: exit() would free objects that a blocked thread uses when its read
 * returns. A program that reads the output must not wait for that read either.
 */
static _Noreturn void leave(enum exit_status status)
{
    close(STDOUT_FILENO);
    close(STDERR_FILENO);
    _exit((int)status);
}

static enum exit_status run_serve(struct command *command)
{
    struct options *o = &command->options;
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

    /* Threads that start from here on inherit Landlock; the filter reaches all threads. */
    bool is_blocked = confinement.is_blocked;
    struct file_reader *reader = file_reader_new(&err);
    struct guard *guard = reader ? guard_start(&err) : NULL;

    enum outcome outcome = OUTCOME_REFUSED;
    enum exit_status status = STATUS_OK;

    if (guard && log_start(&log, &err)) {
        confine_calls(&confinement);
        confinement_log(&confinement, &log);
        outcome = turn_loop(command, &(struct surroundings){&log, reader, guard}, &err);
    }
    end_reading(reader, &log, &is_blocked);
    log_stop(&log, LOG_WAIT_MS);
    if (outcome == OUTCOME_REFUSED)
        status = command_refuse(command, err.text);
    if (outcome == OUTCOME_FAILED) {
        command_complain(command, err.text);
        status = STATUS_USAGE;
    }
    if (is_blocked)
        leave(status);
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
