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
    PUBLISH_MS = 900,  /* Longest interval of pages while objects change. */
    REFRESH_MS = 5000, /* Interval of pages while no object changes. */
    LOG_WAIT_MS = 250, /* Maximum time to write the remaining log lines at exit. */
};

enum serve_result {
    SERVE_NOT_STARTED, /* A thread or the loop could not be started. */
    SERVE_FAILED,      /* The loop has ended with an error. */
    SERVE_SIGNALLED,   /* Ended by SIGTERM or SIGINT. */
};

/* Services that run beside the loop; all are borrowed. */
struct loop_services {
    const struct log *log;
    struct file_reader *reader;
    struct shutdown_deadline *shutdown_deadline;
};

static enum serve_result run_loop(const struct invocation *invocation,
                                  const struct loop_services *services, struct error *err)
{
    const struct log *log = services->log;
    const struct options *o = &invocation->options;
    const struct loop_settings settings = {
        .argc = invocation->argc,
        .argv = invocation->argv,
        .log = log,
        .reader = services->reader,
        .publish_ms = PUBLISH_MS,
        .refresh_ms = REFRESH_MS,
    };
    enum loop_result result = LOOP_CONTINUES;
    struct loop *loop = loop_new(&settings, err);

    if (!loop)
        return SERVE_NOT_STARTED;
    log_write(log, LOG_LEVEL_INFO, "starting", "version", EXPORTER_VERSION, "revision",
              exporter_revision);
    for (size_t i = 0; i < o->listen_addresses.count; i++) {
        shutdown_deadline_add_listener(services->shutdown_deadline, loop_listener(loop, i));
        log_write(log, LOG_LEVEL_INFO, "listening", "address", loop_address(loop, i), "metrics",
                  o->telemetry_path);
    }
    while (result == LOOP_CONTINUES)
        result = loop_turn(loop, err);
    if (result == LOOP_STOPPED)
        shutdown_deadline_begin(services->shutdown_deadline);
    loop_free(loop);
    return result == LOOP_STOPPED ? SERVE_SIGNALLED : SERVE_FAILED;
}

/* Frees the reader; accepts NULL. If one of its threads hangs, logs that and sets *is_blocked. */
static void stop_file_reader(struct file_reader *reader, const struct log *log, bool *is_blocked)
{
    char file[READ_FILE_NAME_MAX] = "";
    char count[16];

    if (reader)
        file_reader_blocked_file(reader, file);
    snprintf(count, sizeof(count), "%u", reader ? file_reader_abandoned(reader) : 0);
    if (file_reader_free(reader))
        return;
    log_write(log, LOG_LEVEL_WARN,
              "stopping although reads of files hang; all ports are closed, but the process may "
              "remain until these reads return",
              "reads", count, "file", file);
    *is_blocked = true;
}

/*
 * Ends the process without exit(), which would free objects that a blocked thread still uses.
 * Closes the outputs first: the kernel may keep the process until the blocked read returns, and a
 * program that reads the output must not wait for that.
 */
static _Noreturn void exit_with_blocked_thread(enum exit_status status)
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

    /* If the reader of the log closes its pipe, the exporter must continue. */
    signal(SIGPIPE, SIG_IGN);
    descriptors_raise_limit();
    confine_process(o, platform_environment(), &confinement);

    /* New threads inherit the Landlock rules; filter_syscalls() sets its filter in all threads. */
    bool is_blocked = confinement.is_blocked;
    struct file_reader *reader = file_reader_new(&err);
    struct shutdown_deadline *shutdown_deadline = reader ? shutdown_deadline_start(&err) : NULL;

    enum serve_result result = SERVE_NOT_STARTED;
    enum exit_status status = STATUS_OK;

    if (shutdown_deadline && log_start(&log, &err)) {
        filter_syscalls(&confinement);
        confinement_log(&confinement, &log);
        result =
            run_loop(invocation, &(struct loop_services){&log, reader, shutdown_deadline}, &err);
    }
    stop_file_reader(reader, &log, &is_blocked);
    log_stop(&log, LOG_WAIT_MS);
    if (result == SERVE_NOT_STARTED)
        status = invocation_reject(invocation, err.text);
    if (result == SERVE_FAILED) {
        invocation_print_error(invocation, err.text);
        status = STATUS_USAGE;
    }
    if (is_blocked)
        exit_with_blocked_thread(status);
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
               "their changes, and serves the results as Prometheus metrics, web pages and JSON, "
               "until SIGTERM or SIGINT. SIGHUP reloads the configuration file and all objects.",
    .examples = examples,
    .bit = COMMAND_SERVE,
    .run = run_serve,
};
