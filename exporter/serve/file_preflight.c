/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/serve/file_preflight.h"

#include <unistd.h>

#include "exporter/kube/auth/locate.h"
#include "exporter/options/options.h"
#include "exporter/serve/alerting/access.h"
#include "exporter/system/file.h"
#include "exporter/system/platform.h"
#include "exporter/system/secret.h"
#include "exporter/web/access_control.h"
#include "metrics/base/map.h"

enum {
    CHUNK = 4096,
    FILE_MAX_BYTES = 1024 * 1024, /* More than that is read of none of these files. */
    PATHS_MAX_BYTES = 1024 * 1024,
    WAIT_MS = 1000,
    NO_CONTENT = 1, /* Hash of a check that has read no file. */
    LOST_RETRY_MS = 1000,
};

/* Input of the jobs. */
struct command_line {
    int argc;
    const char *const *argv;
    const char *const *environment;
    char *web_config_file;  /* In force; owned. NULL without one, and for emit_kubeconfig(). */
    struct strbuf in_force; /* Files of the credentials in force, each with its NUL. */
};

/* Context of try_file() and emit_digest(). */
struct attempt {
    struct read_job *job;
    struct strbuf tried; /* Files that the job has read, each with its NUL. */
    bool unwanted;
};

static void add_path(void *context, const char *path)
{
    strbuf_add(context, path, strlen(path) + 1);
}

static bool has_path(const struct strbuf *paths, const char *path)
{
    for (size_t at = 0; at < paths->len; at += strlen(paths->data + at) + 1) {
        if (strcmp(paths->data + at, path) == 0)
            return true;
    }
    return false;
}

static void command_line_free(void *input)
{
    struct command_line *line = input;

    free(line->web_config_file);
    strbuf_release(&line->in_force);
    free(line);
}

/* ---- jobs of the file reader ---- */

/* Reports the path, then reads the file as the loop would. The file may hold secrets. */
static void try_file(void *context, const char *path)
{
    struct attempt *attempt = context;
    char chunk[CHUNK];
    struct error ignored;
    size_t sum = 0;
    ssize_t len = 1;

    if (!path || *path == '\0' || attempt->unwanted || has_path(&attempt->tried, path))
        return;
    add_path(&attempt->tried, path);
    read_job_touch(attempt->job, path);
    attempt->unwanted = !read_job_emit(attempt->job, 0, path, strlen(path) + 1);
    CLEANUP(file_close) int fd = file_open(path, NULL, &ignored);

    for (; fd >= 0 && len > 0 && sum < FILE_MAX_BYTES; sum += (size_t)len)
        len = read(fd, chunk, sizeof(chunk));
    explicit_bzero(chunk, sizeof(chunk));
}

static struct kube_search place_of(const struct options *o, const struct command_line *line)
{
    return (struct kube_search){
        .kubeconfig = o->kubeconfig,
        .context = o->context,
        .environment = line->environment,
    };
}

static void try_server(struct attempt *attempt, const struct options *o,
                       const struct command_line *line)
{
    CLEANUP(rest_config_release) struct rest_config config = {0};
    const struct kube_search place = place_of(o, line);
    struct error ignored;

    kube_search_each_file(&place, try_file, attempt);
    if (kube_locate(&place, &config, &ignored) == KUBE_FOUND)
        rest_config_each_file(&config, try_file, attempt);
}

static void try_all(struct read_job *job, void *input)
{
    const struct command_line *line = input;
    struct attempt attempt = {.job = job, .tried = STRBUF_INIT(PATHS_MAX_BYTES)};
    struct options options;
    struct error ignored;
    bool parsed;

    for (size_t at = 0; at < line->in_force.len; at += strlen(line->in_force.data + at) + 1)
        try_file(&attempt, line->in_force.data + at);
    if (line->web_config_file)
        active_web_config_visit_files(line->web_config_file, try_file, &attempt);
    options_init(&options);
    if (options_parse(&options, line->argc, line->argv, &ignored))
        try_file(&attempt, options.config_file);
    options_release(&options);
    parsed = config_load(&options, line->argc, line->argv, &ignored);
    if (parsed) {
        active_web_config_visit_files(options.web_config_file, try_file, &attempt);
        access_each_file(&options, try_file, &attempt);
    }
    if (parsed && options.manifests.count == 0)
        try_server(&attempt, &options, line);
    options_release(&options);
    strbuf_release(&attempt.tried);
    secret_wipe_stack();
}

/* Reports a hash of the contents; writing the same contents again is no change. */
static void emit_digest(void *context, const char *path)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_SECRET(FILE_MAX_BYTES);
    struct attempt *attempt = context;
    struct error ignored;

    if (attempt->unwanted)
        return;

    read_job_touch(attempt->job, path);
    uint64_t digest = file_read(path, &text, &ignored) ? map_hash(text.data, text.len, 1) : 0;
    attempt->unwanted = !read_job_emit(attempt->job, 0, &digest, sizeof(digest));
}

static void emit_kubeconfig(struct read_job *job, void *input)
{
    const struct command_line *line = input;
    struct attempt attempt = {.job = job};
    struct options options;
    struct error ignored;

    options_init(&options);
    if (options_parse(&options, line->argc, line->argv, &ignored))
        read_job_touch(job, options.config_file);
    options_release(&options);
    if (config_load(&options, line->argc, line->argv, &ignored) && options.manifests.count == 0 &&
        *options.kubeconfig != '\0') {
        const struct kube_search place = place_of(&options, line);

        kube_search_each_file(&place, emit_digest, &attempt);
    }
    options_release(&options);
}

/* ---- the loop ---- */

void file_preflight_release(struct file_preflight *r)
{
    read_job_free(r->job);
    r->job = NULL;
    read_job_free(r->look);
    r->look = NULL;
    free(r->web_config_file);
    r->web_config_file = NULL;
}

static struct command_line *command_line_new(const struct file_preflight *r)
{
    struct command_line *line = xmalloc(sizeof(*line));

    *line = (struct command_line){
        .argc = r->argc,
        .argv = r->argv,
        .environment = platform_environment(),
        .in_force = STRBUF_INIT(PATHS_MAX_BYTES),
    };
    return line;
}

static struct read_job *start_attempt(const struct file_preflight *r)
{
    struct command_line *line = command_line_new(r);

    if (r->web_config_file)
        line->web_config_file = xstrdup(r->web_config_file);
    if (r->files_in_force)
        r->files_in_force(r->files_source, add_path, &line->in_force);
    return read_job_start(r->reader, "", try_all, line, command_line_free);
}

/* Starts a lost job again, but only once in LOST_RETRY_MS. */
static enum read_job_state go_on(struct file_preflight *r, int64_t now_ms)
{
    enum read_job_state state;
    struct read_result path;

    for (;;) {
        while ((state = read_job_next(r->job, now_ms, &path)) == JOB_RESULT)
            snprintf(r->touched, sizeof(r->touched), "%s", path.bytes);
        r->lost = state == JOB_LOST;
        if (!r->lost || now_ms < r->retry_ms)
            return state;
        read_job_free(r->job);
        r->job = start_attempt(r);
        r->retry_ms = now_ms + LOST_RETRY_MS;
    }
}

enum file_preflight_state file_preflight_turn(struct file_preflight *r, bool wanted, int64_t now_ms,
                                              struct error *err)
{
    enum read_job_state state;

    if (!r->reader)
        return wanted ? FILE_PREFLIGHT_DONE : FILE_PREFLIGHT_NONE;
    if (!r->job && !wanted)
        return FILE_PREFLIGHT_NONE;
    if (!r->job)
        r->job = start_attempt(r);
    state = go_on(r, now_ms);
    if (state == JOB_WAITS)
        return FILE_PREFLIGHT_WAITS;
    if (state == JOB_HANGS) {
        fail(err, "cannot read '%s': %s", r->touched, read_job_failure(state));
        if (*r->hung == '\0') {
            log_write(r->log, LOG_LEVEL_WARN,
                      "cannot read a file; what was read last stays in force", "error", err->text);
            snprintf(r->hung, sizeof(r->hung), "%s", r->touched);
        }
        return FILE_PREFLIGHT_HANGS;
    }
    if (state == JOB_LOST) {
        fail(err, "cannot read files: %s", read_job_failure(state));
        return FILE_PREFLIGHT_HANGS;
    }
    read_job_free(r->job);
    r->job = NULL;
    if (*r->hung != '\0')
        log_write(r->log, LOG_LEVEL_INFO, "the file can be read again", "file", r->hung);
    r->hung[0] = '\0';
    return FILE_PREFLIGHT_DONE;
}

bool file_preflight_wait(struct file_preflight *r, struct error *err)
{
    enum file_preflight_state state;

    while ((state = file_preflight_turn(r, true, platform_steady_ms(), err)) ==
           FILE_PREFLIGHT_WAITS)
        file_reader_wait(r->reader, WAIT_MS);
    return state == FILE_PREFLIGHT_DONE;
}

bool file_preflight_kubeconfig_needs_reload(struct file_preflight *r, bool loaded, int64_t now_ms)
{
    uint64_t seen = r->seen;
    enum read_job_state state;
    struct read_result digest;

    if (!r->reader || (!r->look && now_ms < r->looked_ms + KUBECONFIG_LOOK_MS && r->looked_ms != 0))
        return false;
    if (!r->look) {
        r->look =
            read_job_start(r->reader, "", emit_kubeconfig, command_line_new(r), command_line_free);
        r->looked_ms = now_ms;
        r->looking = NO_CONTENT;
    }
    while ((state = read_job_next(r->look, now_ms, &digest)) == JOB_RESULT)
        r->looking = map_hash(digest.bytes, digest.len, r->looking);
    if (state == JOB_WAITS || state == JOB_HANGS)
        return false;
    read_job_free(r->look);
    r->look = NULL;
    /* Without a valid configuration the job reads no kubeconfig: the last one stays in force. */
    if (state == JOB_DONE && r->looking != NO_CONTENT)
        r->seen = r->looking;

    bool decided = r->asked_ms != 0 && now_ms >= r->asked_ms + KUBECONFIG_RETRY_MS;
    bool wanted = (seen != 0 && r->seen != seen) || (decided && !loaded);

    if (wanted || decided)
        r->asked_ms = wanted ? now_ms : 0;
    return wanted;
}

int64_t file_preflight_due(const struct file_preflight *r)
{
    int64_t due_ms = r->job && *r->hung == '\0' ? read_job_due(r->job) : INT64_MAX;

    if (r->lost)
        due_ms = r->retry_ms;

    int64_t look_ms = r->look ? read_job_due(r->look) : r->looked_ms + KUBECONFIG_LOOK_MS;

    return r->reader && look_ms < due_ms ? look_ms : due_ms;
}

static void warn_of_gate(void *context, const char *gate, const char *nearest)
{
    const struct log *log = context;

    log_write(log, LOG_LEVEL_WARN,
              "an unknown feature gate in --karmada.feature-gates has no effect", "gate", gate,
              "nearest", nearest);
}

struct evaluation *file_preflight_create_evaluation(const struct file_preflight *r,
                                                    struct error *err)
{
    struct options options;
    struct evaluation *e = NULL;

    if (config_load(&options, r->argc, r->argv, err))
        e = evaluation_new(
            &(struct evaluation_settings){
                .options = &options,
                .environment = platform_environment(),
                .log = r->log,
                .reader = r->reader,
                .follow = true,
                .seed = platform_seed(),
            },
            err);
    options_release(&options);
    if (e)
        unknown_gates_each(e->options.feature_gates, warn_of_gate, (void *)(uintptr_t)r->log);
    return e;
}
