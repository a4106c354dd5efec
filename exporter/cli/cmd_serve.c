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
    struct shutdown_deadline *shutdown_deadline;
};

static enum outcome turn_loop(const struct invocation *invocation,
                              const struct surroundings *around, struct error *err)
{
    const struct log *log = around->log;
    const struct options *o = &invocation->options;
    const struct loop_settings settings = {
        .argc = invocation->argc,
        .argv = invocation->argv,
        .log = log,
        .reader = around->reader,
        .publish_ms = PUBLISH_MS,
        .refresh_ms = REFRESH_MS,
    };
    enum loop_result step = LOOP_CONTINUES;
    struct loop *loop = loop_new(&settings, err);

    if (!loop)
        return OUTCOME_REFUSED;
    log_write(log, LOG_LEVEL_INFO, "starting", "version", EXPORTER_VERSION, "revision",
              exporter_revision);
    for (size_t i = 0; i < o->listen_addresses.count; i++) {
        shutdown_deadline_listener(around->shutdown_deadline, loop_listener(loop, i));
        log_write(log, LOG_LEVEL_INFO, "listening", "address", loop_address(loop, i), "metrics",
                  o->telemetry_path);
    }
    while (step == LOOP_CONTINUES)
        step = loop_turn(loop, err);
    if (step == LOOP_STOPPED)
        shutdown_deadline_ending(around->shutdown_deadline);
    loop_free(loop);
    return step == LOOP_STOPPED ? OUTCOME_ENDED : OUTCOME_FAILED;
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

static enum exit_status run_serve(struct invocation *invocation)
{
    struct options *o = &invocation->options;
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
    struct shutdown_deadline *shutdown_deadline = reader ? shutdown_deadline_start(&err) : NULL;

    enum outcome outcome = OUTCOME_REFUSED;
    enum exit_status status = STATUS_OK;

    if (shutdown_deadline && log_start(&log, &err)) {
        confine_calls(&confinement);
        confinement_log(&confinement, &log);
        outcome =
            turn_loop(invocation, &(struct surroundings){&log, reader, shutdown_deadline}, &err);
    }
    end_reading(reader, &log, &is_blocked);
    log_stop(&log, LOG_WAIT_MS);
    if (outcome == OUTCOME_REFUSED)
        status = invocation_reject(invocation, err.text);
    if (outcome == OUTCOME_FAILED) {
        invocation_print_error(invocation, err.text);
        status = STATUS_USAGE;
    }
    if (is_blocked)
        leave(status);
    shutdown_deadline_free(shutdown_deadline);
    return status;
}

static const char *const examples[] = {
    "--kubeconfig karmada.config",
    "serve --manifests ./manifests --log.format json",
    NULL,
};

const struct command serve_command = {
    .name = "serve",
    .usage = "[FLAGS]",
    .summary = "run the exporter: follow changes, serve metrics over HTTP",
    .details = "Reads Karmada's API server (--kubeconfig) or manifests (--manifests), follows "
               "them as they change, and serves what it finds as Prometheus metrics and on a "
               "page for people, until SIGTERM or SIGINT. SIGHUP reads the configuration file "
               "and everything else again.",
    .examples = examples,
    .bit = COMMAND_SERVE,
    .run = run_serve,
};
