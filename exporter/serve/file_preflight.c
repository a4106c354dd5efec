/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/serve/file_preflight.h"

#include <unistd.h>

#include "exporter/kube/auth/locate.h"
#include "exporter/notify/alertmanager_access.h"
#include "exporter/options/options.h"
#include "exporter/system/file.h"
#include "exporter/system/platform.h"
#include "exporter/system/secret.h"
#include "exporter/web/access_control.h"
#include "metrics/base/map.h"

enum {
    CHUNK = 4096,
    FILE_MAX_BYTES = 1024 * 1024, /* Maximum number of bytes read from a file. */
    PATHS_MAX_BYTES = 1024 * 1024,
    WAIT_MS = 1000,
    LOST_RETRY_MS = 1000,
    KUBECONFIG_CHECK_MS = 2 * 1000,
    KUBECONFIG_RETRY_MS = 10 * 1000,
    NO_CONTENT = 1, /* Hash of a check that has hashed no file. */
};

struct job_input {
    int argc;
    const char *const *argv;
    const char *const *environment;
    char *web_config_file;          /* Web configuration in use; NULL without one. Owned. */
    struct strbuf credential_files; /* Paths of the files, each followed by NUL. */
};

struct read_attempt {
    struct read_job *job;
    struct strbuf read_paths; /* Paths read by read_file_once(), each followed by NUL. */
    bool unwanted;            /* The job was freed: stop reading. */
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

static void job_input_free(void *input)
{
    struct job_input *in = input;

    free(in->web_config_file);
    strbuf_release(&in->credential_files);
    free(in);
}

/* ---- jobs of the file reader ---- */

/* Emits a new path, then reads the file and wipes the content, which may be secret. */
static void read_file_once(void *context, const char *path)
{
    struct read_attempt *attempt = context;
    char chunk[CHUNK];
    struct error ignored;
    size_t sum = 0;
    ssize_t len = 1;

    if (!path || *path == '\0' || attempt->unwanted || has_path(&attempt->read_paths, path))
        return;
    add_path(&attempt->read_paths, path);
    read_job_set_file(attempt->job, path);
    attempt->unwanted = !read_job_emit(attempt->job, 0, path, strlen(path) + 1);
    CLEANUP(file_close) int fd = file_open(path, NULL, &ignored);

    for (; fd >= 0 && len > 0 && sum < FILE_MAX_BYTES; sum += (size_t)len)
        len = read(fd, chunk, sizeof(chunk));
    explicit_bzero(chunk, sizeof(chunk));
}

static struct kube_search kube_search_of(const struct options *o, const struct job_input *in)
{
    return (struct kube_search){
        .kubeconfig = o->kubeconfig,
        .context = o->context,
        .environment = in->environment,
    };
}

static void read_credential_files(struct read_attempt *attempt, const struct options *o,
                                  const struct job_input *in)
{
    CLEANUP(rest_config_release) struct rest_config config = {0};
    const struct kube_search search = kube_search_of(o, in);
    struct error ignored;

    kube_search_each_file(&search, read_file_once, attempt);
    if (kube_locate(&search, &config, &ignored) == KUBE_FOUND)
        rest_config_each_file(&config, read_file_once, attempt);
}

static void read_all_files(struct read_job *job, void *input)
{
    const struct job_input *in = input;
    struct read_attempt attempt = {.job = job, .read_paths = STRBUF_INIT(PATHS_MAX_BYTES)};
    struct options options;
    struct error ignored;
    bool parsed;

    for (size_t at = 0; at < in->credential_files.len;
         at += strlen(in->credential_files.data + at) + 1)
        read_file_once(&attempt, in->credential_files.data + at);
    if (in->web_config_file)
        active_web_config_visit_files(in->web_config_file, read_file_once, &attempt);
    options_init(&options);
    if (options_parse(&options, in->argc, in->argv, &ignored))
        read_file_once(&attempt, options.config_file);
    options_release(&options);
    parsed = config_load(&options, in->argc, in->argv, &ignored);
    if (parsed) {
        active_web_config_visit_files(options.web_config_file, read_file_once, &attempt);
        alertmanager_access_each_file(&options, read_file_once, &attempt);
    }
    if (parsed && options.manifests.count == 0)
        read_credential_files(&attempt, &options, in);
    options_release(&options);
    strbuf_release(&attempt.read_paths);
    secret_wipe_stack();
}

/* Emits a hash of the content, 0 after an error: writing the same content is no change. */
static void emit_file_hash(void *context, const char *path)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_SECRET(FILE_MAX_BYTES);
    struct read_attempt *attempt = context;
    struct error ignored;

    if (attempt->unwanted)
        return;

    read_job_set_file(attempt->job, path);
    uint64_t hash = file_read(path, &text, &ignored) ? map_hash(text.data, text.len, 1) : 0;
    attempt->unwanted = !read_job_emit(attempt->job, 0, &hash, sizeof(hash));
}

static void emit_kubeconfig_hash(struct read_job *job, void *input)
{
    const struct job_input *in = input;
    struct read_attempt attempt = {.job = job};
    struct options options;
    struct error ignored;

    options_init(&options);
    if (options_parse(&options, in->argc, in->argv, &ignored))
        read_job_set_file(job, options.config_file);
    options_release(&options);
    if (config_load(&options, in->argc, in->argv, &ignored) && options.manifests.count == 0 &&
        *options.kubeconfig != '\0') {
        const struct kube_search search = kube_search_of(&options, in);

        kube_search_each_file(&search, emit_file_hash, &attempt);
    }
    options_release(&options);
}

/* ---- calls by the loop ---- */

void file_preflight_release(struct file_preflight *p)
{
    read_job_free(p->job);
    read_job_free(p->kubeconfig_check);
    free(p->web_config_file);
}

static struct job_input *job_input_new(const struct file_preflight *p)
{
    struct job_input *in = xmalloc(sizeof(*in));

    *in = (struct job_input){
        .argc = p->argc,
        .argv = p->argv,
        .environment = platform_environment(),
        .credential_files = STRBUF_INIT(PATHS_MAX_BYTES),
    };
    return in;
}

static struct read_job *start_job(const struct file_preflight *p)
{
    struct job_input *in = job_input_new(p);

    if (p->web_config_file)
        in->web_config_file = xstrdup(p->web_config_file);
    if (p->files_in_force)
        p->files_in_force(p->files_source, add_path, &in->credential_files);
    return read_job_start(p->reader, "", read_all_files, in, job_input_free);
}

/* Returns the state of `job`. Restarts a lost job, at most once every LOST_RETRY_MS. */
static enum read_job_state continue_job(struct file_preflight *p, int64_t now_ms)
{
    enum read_job_state state;
    struct read_result path;

    for (;;) {
        while ((state = read_job_next(p->job, now_ms, &path)) == JOB_RESULT)
            snprintf(p->current_path, sizeof(p->current_path), "%s", path.bytes);
        p->job_lost = state == JOB_REJECTED;
        if (!p->job_lost || now_ms < p->retry_ms)
            return state;
        read_job_free(p->job);
        p->job = start_job(p);
        p->retry_ms = now_ms + LOST_RETRY_MS;
    }
}

enum file_preflight_state file_preflight_turn(struct file_preflight *p, bool wanted, int64_t now_ms,
                                              struct error *err)
{
    enum read_job_state state;

    if (!p->reader)
        return wanted ? FILE_PREFLIGHT_DONE : FILE_PREFLIGHT_NONE;
    if (!p->job && !wanted)
        return FILE_PREFLIGHT_NONE;
    if (!p->job)
        p->job = start_job(p);
    state = continue_job(p, now_ms);
    if (state == JOB_WAITS)
        return FILE_PREFLIGHT_WAITS;
    if (state == JOB_HANGS) {
        fail(err, "cannot read '%s': %s", p->current_path, read_job_failure(state));
        if (*p->hanging_path == '\0') {
            log_write(p->log, LOG_LEVEL_WARN, "cannot read a file; its last content stays in force",
                      "error", err->text);
            snprintf(p->hanging_path, sizeof(p->hanging_path), "%s", p->current_path);
        }
        return FILE_PREFLIGHT_HANGS;
    }
    if (state == JOB_REJECTED) {
        fail(err, "cannot read files: %s", read_job_failure(state));
        return FILE_PREFLIGHT_HANGS;
    }
    read_job_free(p->job);
    p->job = NULL;
    if (*p->hanging_path != '\0')
        log_write(p->log, LOG_LEVEL_INFO, "the file can be read again", "file", p->hanging_path);
    p->hanging_path[0] = '\0';
    return FILE_PREFLIGHT_DONE;
}

bool file_preflight_wait(struct file_preflight *p, struct error *err)
{
    enum file_preflight_state state;

    while ((state = file_preflight_turn(p, true, platform_steady_ms(), err)) ==
           FILE_PREFLIGHT_WAITS)
        file_reader_wait(p->reader, WAIT_MS);
    return state == FILE_PREFLIGHT_DONE;
}

bool file_preflight_kubeconfig_needs_reload(struct file_preflight *p, bool loaded, int64_t now_ms)
{
    uint64_t last_hash = p->kubeconfig_hash;
    enum read_job_state state;
    struct read_result hash;

    if (!p->reader || (!p->kubeconfig_check && now_ms < p->checked_ms + KUBECONFIG_CHECK_MS &&
                       p->checked_ms != 0))
        return false;
    if (!p->kubeconfig_check) {
        p->kubeconfig_check =
            read_job_start(p->reader, "", emit_kubeconfig_hash, job_input_new(p), job_input_free);
        p->checked_ms = now_ms;
        p->check_hash = NO_CONTENT;
    }
    while ((state = read_job_next(p->kubeconfig_check, now_ms, &hash)) == JOB_RESULT)
        p->check_hash = map_hash(hash.bytes, hash.len, p->check_hash);
    if (state == JOB_WAITS || state == JOB_HANGS)
        return false;
    read_job_free(p->kubeconfig_check);
    p->kubeconfig_check = NULL;
    /* A job that was lost or found no --kubeconfig has no hash: the previous hash stays valid. */
    if (state == JOB_DONE && p->check_hash != NO_CONTENT)
        p->kubeconfig_hash = p->check_hash;

    bool retry_due = p->reload_ms != 0 && now_ms >= p->reload_ms + KUBECONFIG_RETRY_MS;
    bool wanted = (last_hash != 0 && p->kubeconfig_hash != last_hash) || (retry_due && !loaded);

    if (wanted || retry_due)
        p->reload_ms = wanted ? now_ms : 0;
    return wanted;
}

int64_t file_preflight_due(const struct file_preflight *p)
{
    int64_t due_ms = p->job && *p->hanging_path == '\0' ? read_job_due(p->job) : INT64_MAX;

    if (p->job_lost)
        due_ms = p->retry_ms;

    int64_t check_ms = p->kubeconfig_check ? read_job_due(p->kubeconfig_check)
                                           : p->checked_ms + KUBECONFIG_CHECK_MS;

    return p->reader && check_ms < due_ms ? check_ms : due_ms;
}

static void warn_unknown_gate(void *context, const char *gate, const char *nearest)
{
    const struct log *log = context;

    log_write(log, LOG_LEVEL_WARN,
              "an unknown feature gate in --karmada.feature-gates has no effect", "gate", gate,
              "nearest", nearest);
}

struct evaluation *file_preflight_create_evaluation(const struct file_preflight *p,
                                                    struct error *err)
{
    struct options options;
    struct evaluation *e = NULL;

    if (config_load(&options, p->argc, p->argv, err))
        e = evaluation_new(
            &(struct evaluation_settings){
                .options = &options,
                .environment = platform_environment(),
                .log = p->log,
                .reader = p->reader,
                .follow = true,
                .series = true,
                .seed = platform_random_seed(),
            },
            err);
    options_release(&options);
    if (e)
        unknown_gates_each(e->options.feature_gates, warn_unknown_gate, (void *)(uintptr_t)p->log);
    return e;
}
