/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/serve/rehearsal.h"

#include <unistd.h>

#include "exporter/kube/auth/locate.h"
#include "exporter/options/config.h"
#include "exporter/options/unknown_gates.h"
#include "exporter/serve/alerting/access.h"
#include "exporter/system/file.h"
#include "exporter/system/platform.h"
#include "exporter/system/secret.h"
#include "exporter/web/armour.h"
#include "metrics/base/map.h"

enum {
    CHUNK = 4096,
    FILE_MAX_BYTES = 1024 * 1024, /* More than that is read of none of these files. */
    WAIT_MS = 1000,
    LOST_RETRY_MS = 1000,
};

struct command_line {
    int argc;
    const char *const *argv;
};

/* ---- the process that tries ---- */

/* Read a file as the loop would, having said which. There may be secrets in it. */
static void try_file(void *output, const char *path)
{
    char chunk[CHUNK];
    struct error ignored;
    size_t sum = 0;
    ssize_t len = 1;

    if (!path || *path == '\0')
        return;
    job_emit(output, path, strlen(path) + 1);
    CLEANUP(file_close) int fd = file_open(path, NULL, &ignored);

    for (; fd >= 0 && len > 0 && sum < FILE_MAX_BYTES; sum += (size_t)len)
        len = read(fd, chunk, sizeof(chunk));
    explicit_bzero(chunk, sizeof(chunk));
}

static struct kube_place place_of(const struct options *o)
{
    return (struct kube_place){
        .kubeconfig = o->kubeconfig,
        .context = o->context,
        .environment = platform_environment(),
    };
}

static void try_server(struct job_output *out, const struct options *o)
{
    CLEANUP(kube_config_release) struct kube_config config = {0};
    const struct kube_place place = place_of(o);
    struct error ignored;

    kube_place_each_file(&place, try_file, out);
    if (kube_locate(&place, &config, &ignored) == KUBE_FOUND)
        kube_config_each_file(&config, try_file, out);
}

static void try_all(struct job_output *out, const char *input, size_t len, int fd)
{
    struct command_line line;
    struct options options;
    struct error ignored;
    bool parsed;

    (void)fd;
    assert(len == sizeof(line));
    memcpy(&line, input, sizeof(line));
    options_init(&options);
    if (options_parse(&options, line.argc, line.argv, &ignored))
        try_file(out, options.config_file);
    options_release(&options);
    parsed = config_load(&options, line.argc, line.argv, &ignored);
    if (parsed) {
        armour_each_file(options.web_config_file, try_file, out);
        access_each_file(&options, try_file, out);
    }
    if (parsed && options.manifests.count == 0)
        try_server(out, &options);
    options_release(&options);
    secret_wipe_stack();
}

/* Hand over what tells this content from another; writing the same again is no change. */
static void emit_digest(void *output, const char *path)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_SECRET(FILE_MAX_BYTES);
    struct error ignored;
    uint64_t digest = file_read(path, &text, &ignored) ? map_hash(text.data, text.len, 1) : 0;

    job_emit(output, &digest, sizeof(digest));
}

static void emit_kubeconfig(struct job_output *out, const char *input, size_t len, int fd)
{
    struct command_line line;
    struct options options;
    struct error ignored;

    (void)fd;
    assert(len == sizeof(line));
    memcpy(&line, input, sizeof(line));
    if (config_load(&options, line.argc, line.argv, &ignored) && options.manifests.count == 0 &&
        *options.kubeconfig != '\0') {
        const struct kube_place place = place_of(&options);

        kube_place_each_file(&place, emit_digest, out);
    }
    options_release(&options);
}

/* ---- who asks ---- */

void rehearsal_release(struct rehearsal *r)
{
    job_free(r->job);
    r->job = NULL;
    job_free(r->look);
    r->look = NULL;
}

static void start(struct rehearsal *r)
{
    const struct command_line line = {r->argc, r->argv};

    r->job = job_start(r->workers, try_all, &line, sizeof(line), -1);
}

/* Repeats a job after the end of its process, but only once in LOST_RETRY_MS. */
static enum job_state go_on(struct rehearsal *r, int64_t now_ms)
{
    enum job_state state;
    const char *path;
    size_t len;

    for (;;) {
        while ((state = job_next(r->job, now_ms, &path, &len)) == JOB_FRAME)
            snprintf(r->touched, sizeof(r->touched), "%s", path);
        r->lost = state == JOB_LOST;
        if (!r->lost || now_ms < r->retry_ms)
            return state;
        job_free(r->job);
        start(r);
        r->retry_ms = now_ms + LOST_RETRY_MS;
    }
}

enum rehearsal_state rehearsal_turn(struct rehearsal *r, bool wanted, int64_t now_ms,
                                    struct error *err)
{
    enum job_state state;

    if (!r->workers)
        return wanted ? REHEARSAL_DONE : REHEARSAL_NONE;
    if (!r->job && !wanted)
        return REHEARSAL_NONE;
    if (!r->job)
        start(r);
    state = go_on(r, now_ms);
    if (state == JOB_WAITS)
        return REHEARSAL_WAITS;
    if (state == JOB_HANGS) {
        fail(err, "cannot read '%s': %s", r->touched, job_failure(state));
        if (!r->hangs)
            log_write(r->log, LOG_LEVEL_WARN,
                      "cannot read a file; what was read last stays in force", "error", err->text);
        r->hangs = true;
        return REHEARSAL_HANGS;
    }
    if (state == JOB_LOST) {
        fail(err, "the process that reads files has ended");
        return REHEARSAL_HANGS;
    }
    job_free(r->job);
    r->job = NULL;
    if (r->hangs)
        log_write(r->log, LOG_LEVEL_INFO, "the file can be read again", "file", r->touched);
    r->hangs = false;
    return REHEARSAL_DONE;
}

bool rehearsal_wait(struct rehearsal *r, struct error *err)
{
    enum rehearsal_state state;

    while ((state = rehearsal_turn(r, true, platform_steady_ms(), err)) == REHEARSAL_WAITS)
        workers_wait(r->workers, WAIT_MS);
    return state == REHEARSAL_DONE;
}

bool rehearsal_sees_another_kubeconfig(struct rehearsal *r, bool loaded, int64_t now_ms)
{
    const struct command_line line = {r->argc, r->argv};
    uint64_t seen = r->seen;
    enum job_state state;
    const char *stamp;
    size_t len;

    if (!r->workers ||
        (!r->look && now_ms < r->looked_ms + KUBECONFIG_LOOK_MS && r->looked_ms != 0))
        return false;
    if (!r->look) {
        r->look = job_start(r->workers, emit_kubeconfig, &line, sizeof(line), -1);
        r->looked_ms = now_ms;
        r->looking = 1;
    }
    while ((state = job_next(r->look, now_ms, &stamp, &len)) == JOB_FRAME)
        r->looking = map_hash(stamp, len, r->looking);
    if (state == JOB_WAITS || state == JOB_HANGS)
        return false;
    job_free(r->look);
    r->look = NULL;
    if (state == JOB_DONE)
        r->seen = r->looking;

    bool decided = r->asked_ms != 0 && now_ms >= r->asked_ms + KUBECONFIG_RETRY_MS;
    bool wanted = (seen != 0 && r->seen != seen) || (decided && !loaded);

    if (wanted || decided)
        r->asked_ms = wanted ? now_ms : 0;
    return wanted;
}

int64_t rehearsal_due(const struct rehearsal *r)
{
    int64_t due_ms = r->job && !r->hangs ? job_due(r->job) : INT64_MAX;

    if (r->lost)
        due_ms = r->retry_ms;

    int64_t look_ms = r->look ? INT64_MAX : r->looked_ms + KUBECONFIG_LOOK_MS;

    return r->workers && look_ms < due_ms ? look_ms : due_ms;
}

static void warn_of_gate(void *context, const char *gate, const char *nearest)
{
    const struct log *log = context;

    log_write(log, LOG_LEVEL_WARN,
              "an unknown feature gate in --karmada.feature-gates has no effect", "gate", gate,
              "nearest", nearest);
}

struct evaluation *rehearsal_perform(const struct rehearsal *r, struct error *err)
{
    struct options options;
    struct evaluation *e = NULL;

    if (config_load(&options, r->argc, r->argv, err))
        e = evaluation_new(
            &(struct evaluation_settings){
                .options = &options,
                .environment = platform_environment(),
                .log = r->log,
                .workers = r->workers,
                .follow = true,
                .seed = platform_seed(),
            },
            err);
    options_release(&options);
    if (e)
        unknown_gates_each(e->options.feature_gates, warn_of_gate, (void *)(uintptr_t)r->log);
    return e;
}
