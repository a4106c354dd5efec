/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/files/manifest_source.h"

#include "exporter/files/custom_kinds.h"
#include "exporter/files/declarations.h"
#include "exporter/files/json_file.h"
#include "exporter/system/platform.h"
#include "metrics/base/shown.h"

/* ---- walks of the PATHs by jobs of the file reader ---- */

enum {
    RETRY_MS = 1000,
    PAUSE_FACTOR = 4, /* Pause after a walk, in durations of that walk. */
    RESULTS_PER_STEP = 256,
};

void path_walk_release(struct path_walk *w)
{
    read_job_free(w->job);
    for (size_t i = 0; i < w->hanging_count; i++)
        read_job_free(w->hanging[i].job);
    *w = (struct path_walk){.reader = NULL};
}

static struct manifest_path *find_path_to_walk(const struct manifest_tree *t)
{
    for (size_t i = 0; i < t->path_count; i++) {
        if (t->paths[i].needs_walk && !t->paths[i].hangs)
            return &t->paths[i];
    }
    return NULL;
}

bool path_walk_is_pending(const struct path_walk *w, const struct manifest_tree *t)
{
    return w->reader && (w->job || find_path_to_walk(t));
}

static void add_hanging_job(struct path_walk *w, struct hanging_job fresh)
{
    if (w->hanging_count < HANGING_MAX) {
        w->hanging[w->hanging_count++] = fresh;
        return;
    }
    /* Too many jobs hang to keep this job, so its PATH is walked again after a pause. */
    read_job_free(fresh.job);
    fresh.path->hangs = false;
    fresh.path->needs_walk = fresh.path->force_reread = true;
    w->next_walk_ms = fresh.retry_ms;
}

void path_walk_keep_job(struct path_walk *w, struct manifest_path *path, struct read_job *job,
                        int64_t now_ms)
{
    add_hanging_job(w,
                    (struct hanging_job){.job = job, .path = path, .retry_ms = now_ms + RETRY_MS});
}

/* Returns true if files of the PATH must not be read: its walk or too many of its jobs hang. */
static bool path_is_blocked(const struct path_walk *w, const struct manifest_path *path)
{
    size_t count = 0;

    for (size_t i = 0; i < w->hanging_count; i++)
        count += w->hanging[i].path == path;
    return path->hangs || count >= HANGING_OF_PATH_MAX;
}

/* Frees jobs that no longer hang after their pause; their PATHs are walked and read again. */
static void release_returned_jobs(struct path_walk *w, int64_t now_ms)
{
    struct read_result ignored;

    for (size_t i = 0; i < w->hanging_count;) {
        struct hanging_job *hanging = &w->hanging[i];
        enum read_job_state state = JOB_HANGS;

        hanging->pause_over = hanging->pause_over || now_ms >= hanging->retry_ms;
        if (hanging->pause_over)
            state = read_job_next(hanging->job, now_ms, &ignored);
        if (state == JOB_WAITS || state == JOB_HANGS) {
            i++;
            continue;
        }
        read_job_free(hanging->job);
        hanging->path->hangs = hanging->path->hangs && !hanging->is_walk;
        hanging->path->needs_walk = hanging->path->force_reread = true;
        *hanging = w->hanging[--w->hanging_count];
    }
}

static void start_walk(struct path_walk *w, struct manifest_tree *t, struct manifest_path *path,
                       int64_t now_ms)
{
    struct read_job *job = scan_start_job(w->reader, path->path, &t->filter, t->watches.fd);

    if (!job) {
        w->next_walk_ms = now_ms + RETRY_MS;
        return;
    }
    w->path = path;
    w->force_reread = path->force_reread;
    w->begun_ms = now_ms;
    path->needs_walk = path->force_reread = false;
    manifest_tree_begin_walk(t, path);
    w->job = job;
}

static void finish_walk(struct path_walk *w, struct manifest_tree *t, int64_t now_ms)
{
    manifest_tree_end_walk(t, w->path);
    w->path->was_found = w->path->was_found || !w->path->missing;
    w->next_walk_ms = now_ms + (now_ms - w->begun_ms) * PAUSE_FACTOR;
    read_job_free(w->job);
    w->job = NULL;
}

static void abandon_walk(struct path_walk *w, struct manifest_tree *t, const char *why,
                         int64_t now_ms)
{
    struct error text;

    fail(&text, "cannot read '%s': %s", w->path->path, why);
    manifest_tree_fail_walk(t, w->path, text.text);
    w->path->hangs = true;
    w->path->needs_walk = w->path->force_reread = true;
    add_hanging_job(
        w, (struct hanging_job){
               .job = w->job, .path = w->path, .is_walk = true, .retry_ms = now_ms + RETRY_MS});
    w->job = NULL;
}

static bool receive_walk_results(struct path_walk *w, struct manifest_tree *t, int64_t now_ms)
{
    struct read_result result;

    for (unsigned i = 0; i < RESULTS_PER_STEP; i++) {
        enum read_job_state state = read_job_next(w->job, now_ms, &result);

        switch (state) {
        case JOB_RESULT:
            manifest_tree_receive_result(t, w->path, w->force_reread, &result);
            continue;
        case JOB_WAITS:
            return i > 0;
        case JOB_DONE:
            finish_walk(w, t, now_ms);
            return true;
        case JOB_HANGS:
        case JOB_REJECTED:
            abandon_walk(w, t, read_job_failure(state), now_ms);
            return true;
        }
    }
    return true;
}

bool path_walk_step(struct path_walk *w, struct manifest_tree *t, int64_t now_ms)
{
    release_returned_jobs(w, now_ms);
    if (w->job)
        return receive_walk_results(w, t, now_ms);

    struct manifest_path *path = find_path_to_walk(t);

    if (!path || now_ms < w->next_walk_ms)
        return false;
    start_walk(w, t, path, now_ms);
    return true;
}

int64_t path_walk_due(const struct path_walk *w, const struct manifest_tree *t)
{
    int64_t due_ms = INT64_MAX;

    if (w->job)
        due_ms = read_job_due(w->job);
    else if (path_walk_is_pending(w, t))
        due_ms = w->next_walk_ms;
    for (size_t i = 0; i < w->hanging_count; i++) {
        /* The end of a pause needs a timer; after the pause, file_reader_fd() reports the job. */
        if (!w->hanging[i].pause_over && w->hanging[i].retry_ms < due_ms)
            due_ms = w->hanging[i].retry_ms;
    }
    return due_ms;
}

/* ---- the source ---- */

/* Waits for the file reader or a pause up to this duration count as work. */
enum { SHORT_WAIT_MS = 250 };

/* Length of the part of a generated name that is kept, and of that which is added, as in
 * Kubernetes. */
enum { GENERATED_BASE_MAX = 58, GENERATED_SUFFIX = 5 };

const struct manifest_limits manifest_limits_default = {
    .yaml_max_bytes = (size_t)128 << 20,
    .object_max_bytes = (size_t)8 << 20,
    .nodes_max = 1000 * 1000,
};

struct manifests {
    struct manifest_limits limits;
    struct manifest_tree tree;
    struct package_reader packages;
    struct custom_kinds custom_kinds;
    struct api_version_source server_versions; /* All zero without an API server. */
    struct release_evidence release_evidence;
    size_t keep_max;                       /* See manifests_keep_streams(). */
    const struct namespace_filter *filter; /* Borrowed. NULL: objects of all namespaces. */
    struct declarations declarations;
    manifest_progress_fn *progress; /* May be NULL. */
    void *progress_context;
    manifest_receive_fn *receive; /* NULL: objects go to the store. */
    void *receive_context;
    const char *annotation_key; /* Borrowed; NULL: no annotation is observed. */
    manifest_annotation_fn *each_annotation;
    void *annotation_context;
    struct object_source received; /* See manifests_received_source(). */
    uint64_t generated_names; /* Number of names that complete_name() gave in the current file. */
    struct manifest_reader *current_reader; /* NULL between files. */
    struct manifest_file *current_file;     /* Borrowed; NULL between files. */
    struct document_problems found;         /* Problems found so far in the current file. */
    struct problem_view view;
    bool view_is_old;
    struct path_walk path_walk;
    struct prefetch prefetch;
    int64_t waits_since_ms; /* Start of waiting for the file reader or a pause; 0: not waiting. */
    int64_t due_ms;         /* Steady time of the next step if no descriptor is ready before. */
};

/* Returns true with the reason if metadata.name is a number or boolean: YAML needs quotes then. */
static bool name_lacks_quotes(const cJSON *object, struct error *why)
{
    const cJSON *name = json_get(json_get(object, "metadata"), "name");

    if (!cJSON_IsBool(name) && !cJSON_IsNumber(name))
        return false;
    fail(why, "metadata.name is a %s: put it in quotes",
         cJSON_IsNumber(name) ? "number" : "boolean");
    return true;
}

/* Requests a new reading of a file, or a new rendering of the package that it defines. */
static void request_reread(void *context, struct manifest_file *file)
{
    struct manifests *m = context;

    if (file->origin_count > 0)
        file->needs_rendering = true;
    else
        manifest_tree_mark_changed(&m->tree, file);
}

/* Requests a new reading of files with objects to which a new definition may apply. */
static void mark_files_with_custom_kinds(struct manifests *m)
{
    for (size_t i = 0; i < m->tree.count; i++) {
        struct manifest_file *file = m->tree.files[i];

        /* A pipe or standard input without a copy of its bytes cannot be read again. */
        if (file->has_custom_kinds && (!file->read_once || file->spool >= 0))
            request_reread(m, file);
    }
}

/* Passes the observed annotation of an object on; nothing without it. */
static void observe_annotation(struct manifests *m, const cJSON *object)
{
    const cJSON *annotations = json_get(json_get(object, "metadata"), "annotations");
    const cJSON *value = m->annotation_key ? json_get(annotations, m->annotation_key) : NULL;
    const struct json_place *place = &m->received.place;

    if (value)
        m->each_annotation(m->annotation_context, cJSON_GetStringValue(value),
                           m->received.file->path,
                           (struct json_position){place->line, declared_column(place->column)});
}

/* Appends what the API server would append, from the place of the file and a number in the file. */
static void append_generated_suffix(const struct manifests *m, struct strbuf *name)
{
    static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";
    const struct manifest_file *file = m->current_file;
    const char *slash = strrchr(file->path, '/');
    /* Relative to the PATH, so that the name is the same wherever the folder is. */
    const char *path = file->is_path ? (slash ? slash + 1 : file->path)
                                     : file->path + strlen(m->tree.paths[file->path_index].path);
    uint64_t hash = map_hash(path, strlen(path), m->generated_names);

    for (unsigned i = 0; i < GENERATED_SUFFIX; i++) {
        strbuf_addc(name, letters[hash % (sizeof(letters) - 1)]);
        hash /= sizeof(letters) - 1;
    }
}

/*
 * Names an object that has only a metadata.generateName. Each such object has a name of its own,
 * because the API server creates an object of its own for each.
 */
static void complete_name(struct manifests *m, cJSON *object)
{
    CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(GENERATED_BASE_MAX + GENERATED_SUFFIX);
    cJSON *metadata = cJSON_GetObjectItemCaseSensitive(object, "metadata");
    const char *base = json_str(metadata, "generateName", "");

    if (!*base || *json_str(metadata, "name", ""))
        return;
    m->generated_names++;
    strbuf_add(&name, base, strnlen(base, GENERATED_BASE_MAX));
    append_generated_suffix(m, &name);
    cJSON_DeleteItemFromObjectCaseSensitive(metadata, "name");
    if (!cJSON_AddStringToObject(metadata, "name", name.data))
        memory_exhausted(0);
}

static bool put_object(struct manifests *m, cJSON *object, struct json_place place,
                       struct error *why)
{
    complete_name(m, object);
    custom_kinds_complete_object(&m->custom_kinds, object, &m->current_file->has_custom_kinds);
    set_preferred_version(&m->server_versions, object);
    custom_kinds_add_definition(&m->custom_kinds, object, m->current_file);
    release_evidence_add_definition(&m->release_evidence, object);
    if (m->filter && !namespace_filter_reads_object(m->filter, object))
        return true;
    if (!m->packages.current)
        m->received = (struct object_source){m->current_file, place};
    observe_annotation(m, object);
    return m->receive ? m->receive(m->receive_context, object, why)
                      : declarations_put(&m->declarations, m->current_file, object, place, why);
}

/*
 * Stores or passes on an object of the current file, or adds a problem. Ignores an object that the
 * filter excludes.
 */
static void receive_object(void *context, cJSON *object, struct json_place place)
{
    struct manifests *m = context;
    struct json_position where = {place.line, place.column};
    enum skipped_kind kind = recognize_document(m->current_file->path, object);
    struct error why;

    if (!m->packages.current && package_reader_take(&m->packages, m->current_file, object))
        return;
    if (kind != SKIPPED_NONE)
        document_problems_skip(&m->found, kind, where, m->packages.strict);
    else if (!document_is_object(object, &why) || name_lacks_quotes(object, &why) ||
             !put_object(m, object, place, &why))
        document_problems_add(&m->found, PROBLEM_REJECTED, where, why.text, NULL);
}

/* Stores or passes on a rendered object, with the place in the file from which it was made. */
static void receive_rendered_object(void *context, cJSON *object, struct json_place place)
{
    struct manifests *m = context;
    struct render_origin origin = package_reader_add_object(&m->packages, object, place);

    m->found.path = origin.file->path;
    m->received = (struct object_source){origin.file, {origin.where.line, origin.where.column, 0}};
    receive_object(m, object,
                   (struct json_place){origin.where.line, origin.where.column, place.offset});
    m->found.path = NULL;
}

struct manifests *manifests_new(struct store *store, const char *const *paths, size_t count,
                                const char *ns, const struct manifest_limits *limits)
{
    struct manifests *m = xcalloc(1, sizeof(*m));

    m->limits = *limits;
    m->due_ms = INT64_MAX;
    manifest_tree_init(&m->tree, paths, count);
    package_reader_init(&m->packages, limits, ns);
    custom_kinds_init(&m->custom_kinds, ns);
    m->declarations.store = store;
    m->declarations.request_reread = request_reread;
    m->declarations.context = m;
    return m;
}

void manifests_free(struct manifests *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->tree.count; i++)
        declarations_free_file(&m->declarations, m->tree.files[i]);
    declarations_release(&m->declarations);
    manifest_reader_free(m->current_reader);
    prefetch_release(&m->prefetch);
    path_walk_release(&m->path_walk);
    document_problems_release(&m->found);
    problem_view_release(&m->view);
    custom_kinds_release(&m->custom_kinds);
    package_reader_release(&m->packages);
    manifest_tree_release(&m->tree);
    free(m);
}

void manifests_set_filter(struct manifests *m, const struct namespace_filter *filter)
{
    m->filter = filter;
}

void manifests_set_render_mode(struct manifests *m, enum render_mode mode)
{
    m->packages.mode = mode;
}

bool manifests_set_options(struct manifests *m, const struct options *options, struct error *err)
{
    struct path_filter filter;

    if (!path_filter_make(&filter, &options->exclude, &options->include, err))
        return false;
    manifest_tree_set_filter(&m->tree, filter);
    m->packages.strict = options->strict_files;
    return true;
}

void manifests_keep_streams(struct manifests *m, size_t max)
{
    m->keep_max = max;
}

void manifests_set_progress(struct manifests *m, manifest_progress_fn *progress, void *context)
{
    m->progress = progress;
    m->progress_context = context;
}

void manifests_set_receiver(struct manifests *m, manifest_receive_fn *receive, void *context)
{
    m->receive = receive;
    m->receive_context = context;
}

void manifests_observe_annotation(struct manifests *m, const char *key,
                                  manifest_annotation_fn *each, void *context)
{
    m->annotation_key = key;
    m->each_annotation = each;
    m->annotation_context = context;
}

struct object_source manifests_received_source(const struct manifests *m)
{
    return m->received;
}

const struct release_evidence *manifests_release_evidence(const struct manifests *m)
{
    return &m->release_evidence;
}

void manifests_import_definitions(struct manifests *m, const struct manifests *others)
{
    custom_kinds_import(&m->custom_kinds, &others->custom_kinds);
}

void manifests_set_server_versions(struct manifests *m, struct api_version_source source)
{
    m->server_versions = source;
}

struct api_version_source manifests_api_versions(const struct manifests *m)
{
    return custom_kinds_api_versions(&m->custom_kinds);
}

uint64_t manifests_api_versions_version(const struct manifests *m)
{
    return m->custom_kinds.version;
}

void manifests_set_reader(struct manifests *m, struct file_reader *reader)
{
    m->path_walk.reader = m->prefetch.reader = reader;
    m->tree.uses_reader = reader != NULL;
}

int manifests_watch(struct manifests *m, struct error *err)
{
    return manifest_tree_watch(&m->tree, err);
}

/* ---- files ---- */

/* Stores the problems found in the current file, and ends its reading. */
static void finish_current_file(struct manifests *m)
{
    if (m->packages.current)
        package_reader_end_rendering(&m->packages);
    document_problems_release(&m->current_file->problems);
    m->current_file->problems = m->found;
    m->found = (struct document_problems){0};
    manifest_reader_free(m->current_reader);
    m->current_reader = NULL;
    m->current_file = NULL;
    m->view_is_old = true;
    if (custom_kinds_end_file(&m->custom_kinds) && !m->receive)
        mark_files_with_custom_kinds(m);
}

static void receive_repeated_key(void *context, const char *key, struct json_position where)
{
    struct manifests *m = context;
    struct error text;

    fail(&text, "the key '%s' appears twice in one mapping: the last value counts, as in kubectl",
         shown(key).text);
    document_problems_add(&m->found, PROBLEM_REPEATED_KEY, where, text.text, NULL);
}

static void begin_file(struct manifests *m, struct manifest_file *file)
{
    size_t keep_max = m->tree.watches.fd >= 0 ? SIZE_MAX : m->keep_max;
    struct prefetch *prefetch = m->path_walk.reader ? &m->prefetch : NULL;

    declarations_begin_pass(file);
    m->generated_names = 0;
    m->current_file = file;
    m->current_reader = manifest_reader_new(file, &m->limits, prefetch, keep_max);
    manifest_reader_set_receiver(m->current_reader, receive_object, m);
    manifest_reader_receive_repeated_keys(m->current_reader, receive_repeated_key, m);
}

static void fail_current_file(struct manifests *m, const struct read_failure *why)
{
    /* A file that had objects is broken: it keeps them. */
    bool skips = why->looks_like != SKIPPED_NONE && m->current_file->declaration_count == 0;

    /* A file may be removed after the scan of its folder. */
    if (why->gone && !m->current_file->is_path)
        manifest_tree_mark_gone(&m->tree, m->current_file);
    else if (skips)
        document_problems_skip(&m->found, why->looks_like, why->where, m->packages.strict);
    else
        document_problems_add(&m->found, why->kind, why->where, why->text.text, NULL);
    declarations_fail_pass(&m->declarations, m->current_file);
    if (!m->packages.current)
        package_reader_end_file(&m->packages, m->current_file, !why->gone);
    finish_current_file(m);
}

/* Runs one step of the current file. Returns false if the file reader has no result yet. */
static bool continue_current_file(struct manifests *m, int64_t now_ms)
{
    size_t next = m->prefetch.next;
    size_t count = m->prefetch.count;
    struct read_failure why;

    switch (manifest_reader_step(m->current_reader, now_ms, &why)) {
    case READING_WAITS:
        m->due_ms = manifest_reader_due(m->current_reader);
        return false;
    case READING_DONE:
        declarations_end_pass(&m->declarations, m->current_file);
        if (!m->packages.current)
            package_reader_end_file(&m->packages, m->current_file, false);
        finish_current_file(m);
        return true;
    case READING_HANGS:
        /* If the step has stopped m->prefetch, no file after the current one was read. */
        for (size_t i = next; i < count && m->prefetch.count == 0; i++)
            manifest_tree_mark_changed(&m->tree, m->prefetch.files[i]);
        path_walk_keep_job(&m->path_walk, &m->tree.paths[m->current_file->path_index],
                           why.hanging_job, now_ms);
        fail_current_file(m, &why);
        return true;
    case READING_FAILED:
        fail_current_file(m, &why);
        return true;
    case READING_MORE:
        return true;
    }
    abort();
}

/* Drops what was read from a file that has another role now. */
static void pass_over_file(struct manifests *m, struct manifest_file *file)
{
    declarations_begin_pass(file);
    declarations_end_pass(&m->declarations, file);
    document_problems_release(&file->problems);
    package_reader_count_skipped(&m->packages, file);
    m->view_is_old = true;
}

/*
 * Returns the next changed file that is read, and passes over those that are not. Returns NULL
 * without one, and while the prefetch has definitions: these decide how other files are read.
 */
static struct manifest_file *take_changed_file(struct manifests *m)
{
    bool has_definitions = m->prefetch.count > 0 && m->prefetch.files[0]->is_definition;
    struct manifest_file *file;

    while ((file = manifest_tree_take_changed(&m->tree))) {
        if (!file->is_definition && has_definitions) {
            manifest_tree_mark_changed(&m->tree, file);
            return NULL;
        }
        if (file->is_definition)
            return file;
        if (m->packages.is_old)
            package_reader_resolve(&m->packages, &m->tree);
        file->role = package_reader_role(&m->packages, file);
        if (file_role_is_read(file->role))
            return file;
        pass_over_file(m, file);
    }
    return NULL;
}

/*
 * Starts a job for changed files, and may begin a changed file with a spool. Fails changed files of
 * a PATH that is blocked.
 */
static void start_prefetch(struct manifests *m)
{
    struct manifest_file *file;

    while ((file = take_changed_file(m))) {
        const struct manifest_path *path = &m->tree.paths[file->path_index];

        if (path_is_blocked(&m->path_walk, path)) {
            struct read_failure why = {.kind = PROBLEM_UNREADABLE};

            fail(&why.text, "cannot read '%s': reads of other files of '%s' hang", file->path,
                 path->path);
            begin_file(m, file);
            fail_current_file(m, &why);
        } else if (file->spool >= 0) {
            begin_file(m, file);
            break;
        } else if ((file->read_once && m->prefetch.count > 0) ||
                   !prefetch_add_file(&m->prefetch, file)) {
            manifest_tree_mark_changed(&m->tree, file);
            break;
        } else if (file->read_once) {
            /* A job of its own, because a pipe may block forever. */
            break;
        }
    }
    if (m->prefetch.count > 0)
        prefetch_start(&m->prefetch, m->tree.paths[m->prefetch.files[0]->path_index].path);
}

/*
 * Begins to read a changed file. With a file reader, a call may only start the prefetch of changed
 * files. Returns false if no file has changed.
 */
static bool begin_next_file(struct manifests *m)
{
    struct manifest_file *file;

    if (!m->path_walk.reader) {
        file = take_changed_file(m);
        if (file)
            begin_file(m, file);
        return file;
    }
    file = prefetch_next_file(&m->prefetch);
    if (file)
        begin_file(m, file);
    else if (m->tree.changed > 0)
        start_prefetch(m);
    else
        return false;
    return true;
}

/* Renders the next package, and begins to read its objects. Returns false if there is none. */
static bool begin_next_rendering(struct manifests *m)
{
    struct package_reader *packages = &m->packages;
    struct manifest_file *file;

    if (packages->is_old) {
        package_reader_resolve(packages, &m->tree);
        m->view_is_old = true;
        if (m->tree.changed > 0)
            return true;
    }
    file = package_reader_render_next(packages, &m->tree, &m->found);
    if (!file)
        return false;
    begin_file(m, file);
    manifest_reader_set_text(m->current_reader, packages->rendered.text.data,
                             packages->rendered.text.len);
    manifest_reader_set_receiver(m->current_reader, receive_rendered_object, m);
    return true;
}

/*
 * Runs one step of work. Returns false if there is no work, or only waiting. Removed files come
 * last, so that a renamed file is read under its new name before the objects of the old one go.
 */
static bool run_next_step(struct manifests *m, int64_t now_ms)
{
    struct manifest_file *file;

    m->due_ms = INT64_MAX;
    if (m->current_reader)
        return continue_current_file(m, now_ms);
    if (m->prefetch.next == m->prefetch.count && !prefetch_try_finish(&m->prefetch, now_ms))
        return false;
    if (begin_next_file(m))
        return true;
    if (m->path_walk.reader) {
        bool progressed = path_walk_step(&m->path_walk, &m->tree, now_ms);

        m->view_is_old = m->view_is_old || progressed;
        m->due_ms = path_walk_due(&m->path_walk, &m->tree);
        if (progressed || path_walk_is_pending(&m->path_walk, &m->tree))
            return progressed;
    }
    if (begin_next_rendering(m))
        return true;
    file = manifest_tree_take_gone(&m->tree);
    if (!file)
        return false;
    package_reader_forget(&m->packages, file);
    declarations_drop_file(&m->declarations, file);
    custom_kinds_forget_file(&m->custom_kinds, file);
    manifest_file_free(file);
    m->view_is_old = true;
    return true;
}

static bool has_work(const struct manifests *m)
{
    return m->current_reader || m->prefetch.count > 0 || m->tree.changed > 0 || m->tree.gone > 0 ||
           m->packages.is_old || path_walk_is_pending(&m->path_walk, &m->tree);
}

static void refresh_view(struct manifests *m)
{
    static const struct document_problems none;
    size_t at = 0;

    if (!m->view_is_old)
        return;
    manifest_tree_sort(&m->tree);
    problem_view_release(&m->view);
    for (size_t i = 0; i < m->tree.path_count; i++) {
        const struct manifest_path *path = &m->tree.paths[i];

        problem_view_add(&m->view, path->path, &path->problems, &none);
        for (; at < m->tree.count && m->tree.files[at]->path_index == i; at++) {
            struct manifest_file *file = m->tree.files[at];

            declarations_report_shadowed(&m->declarations, file);
            problem_view_add(&m->view, file->path, &file->problems, &file->duplicates);
        }
    }
    m->view_is_old = false;
}

/*
 * Fails with the first problem of a text and the number of further ones. Stores its line. Returns
 * false.
 */
static bool fail_text(const struct document_problems *found, size_t *line, struct error *err)
{
    const struct document_problem *first = &found->items[0];
    size_t more = 0;

    for (unsigned i = 0; i < PROBLEM_KIND_COUNT; i++)
        more += found->seen[i];
    more--;
    if (more == 0)
        fail(err, "%s", first->text);
    else
        fail(err, "%.180s (and %zu more problem%s)", first->text, more, more == 1 ? "" : "s");
    *line = first->line;
    return false;
}

bool manifests_read_text(struct manifests *m, const char *name, const char *text, size_t len,
                         size_t *line, struct error *err)
{
    struct manifest_file *file = manifest_file_new(name, 0);
    enum reading_state state = READING_MORE;
    struct read_failure why;
    bool fine;

    m->packages.strict = true;
    begin_file(m, file);
    manifest_reader_set_text(m->current_reader, text, len);
    while (state == READING_MORE) {
        state = manifest_reader_step(m->current_reader, 0, &why);
        if (state == READING_MORE && yaml_time_limit_is_over(&m->limits.term)) {
            state = READING_FAILED;
            fail(&why.text, "reading it takes too long");
        }
    }
    if (state != READING_DONE)
        document_problems_add(&m->found, why.kind, why.where, why.text.text, NULL);
    fine = m->found.count == 0 || fail_text(&m->found, line, err);
    finish_current_file(m);
    custom_kinds_forget_file(&m->custom_kinds, file);
    manifest_file_free(file);
    return fine;
}

bool manifests_load(struct manifests *m, struct error *err)
{
    bool fine = manifest_tree_walk_all(&m->tree, err);

    while (run_next_step(m, 0)) {
        if (m->progress && !m->current_reader)
            m->progress(m->progress_context, m->tree.count - m->tree.changed, m->tree.count);
    }
    m->view_is_old = true;
    refresh_view(m);
    return fine;
}

void manifests_start_reading(struct manifests *m)
{
    for (size_t i = 0; i < m->tree.path_count; i++)
        m->tree.paths[i].needs_walk = m->tree.paths[i].force_reread = true;
}

enum manifests_state manifests_state(const struct manifests *m, struct error *err)
{
    for (size_t i = 0; i < m->tree.path_count; i++) {
        const struct manifest_path *path = &m->tree.paths[i];

        if (path->was_found || (!path->missing && !path->hangs))
            continue;
        fail(err, "%s", path->problems.items[0].text);
        return path->hangs ? MANIFESTS_HANG : MANIFESTS_MISSING;
    }
    return has_work(m) ? MANIFESTS_BUSY : MANIFESTS_READ;
}

bool manifests_accept_events(const struct manifests *m)
{
    /* An event may concern a file that the current walk is about to find. */
    return !m->path_walk.job;
}

bool manifests_pump(struct manifests *m, unsigned slice_ms)
{
    int64_t now_ms = platform_steady_ms();
    int64_t end_ms = now_ms + slice_ms;
    bool events = manifests_accept_events(m) && manifest_tree_pump_events(&m->tree);
    bool progressed = events || has_work(m);
    bool stepped;

    do {
        stepped = run_next_step(m, now_ms);
        now_ms = platform_steady_ms();
    } while (stepped && now_ms < end_ms);
    m->view_is_old = m->view_is_old || events;
    refresh_view(m);
    if (stepped || !has_work(m))
        m->waits_since_ms = 0;
    else if (m->waits_since_ms == 0)
        m->waits_since_ms = now_ms;
    return progressed;
}

bool manifests_busy(const struct manifests *m)
{
    return has_work(m) &&
           (m->waits_since_ms == 0 || platform_steady_ms() - m->waits_since_ms < SHORT_WAIT_MS);
}

int64_t manifests_due(const struct manifests *m)
{
    return has_work(m) && m->waits_since_ms == 0 ? 0 : m->due_ms;
}

size_t manifests_problem_count(const struct manifests *m)
{
    return m->view.count;
}

struct manifest_problem manifests_problem(const struct manifests *m, size_t i)
{
    assert(i < m->view.count);
    return m->view.items[i];
}

bool manifests_find_fault(const struct manifests *m, const char *path, struct json_position *where)
{
    for (size_t i = 0; i < m->tree.path_count; i++) {
        const struct manifest_file *file = manifest_tree_find_file(&m->tree, (uint32_t)i, path);

        if (file && document_problems_find_fault(&file->problems, where))
            return true;
    }
    return false;
}

bool manifests_find_place(const struct manifests *m, const struct entry *entry, const char **path,
                          struct json_position *where)
{
    return declarations_find_place(&m->declarations, entry, path, where);
}

bool manifests_find_source(const struct manifests *m, const struct entry *entry,
                           struct object_source *out)
{
    return declarations_find_source(&m->declarations, entry, out);
}

const struct manifest_limits *manifests_limits(const struct manifests *m)
{
    return &m->limits;
}

bool manifests_find_earlier_place(const struct manifests *m, const struct entry *entry,
                                  size_t index, const char **path, struct json_position *where)
{
    return declarations_find_earlier_place(&m->declarations, entry, index, path, where);
}

size_t manifests_rendering_count(const struct manifests *m)
{
    return m->packages.count;
}

size_t manifests_rendered_duplicate_count(const struct manifests *m)
{
    size_t count = 0;

    for (size_t i = 0; i < m->tree.count; i++) {
        if (m->tree.files[i]->origin_count > 0)
            count += m->tree.files[i]->duplicates.seen[PROBLEM_DUPLICATE];
    }
    return count;
}

const struct rendering *manifests_rendering(const struct manifests *m, size_t i)
{
    assert(i < m->packages.count);
    return &m->packages.renderings[i];
}

size_t manifests_file_count(const struct manifests *m)
{
    return m->tree.count;
}

size_t manifests_broken_file_count(const struct manifests *m)
{
    return m->view.broken;
}

size_t manifests_duplicate_count(const struct manifests *m)
{
    return m->view.duplicates;
}

size_t manifests_skipped_count(const struct manifests *m, enum skipped_kind kind)
{
    return m->view.skipped[kind];
}

size_t manifests_skipped_total(const struct manifests *m)
{
    size_t total = 0;

    for (unsigned i = 0; i < SKIPPED_KIND_COUNT; i++)
        total += m->view.skipped[i];
    return total;
}

struct manifests_excluded manifests_excluded(const struct manifests *m)
{
    struct manifests_excluded sum = {0};

    for (size_t i = 0; i < m->tree.path_count; i++) {
        sum.files += m->tree.paths[i].excluded_files;
        sum.folders += m->tree.paths[i].excluded_folders;
    }
    return sum;
}

size_t manifests_repeated_key_count(const struct manifests *m)
{
    return m->view.repeated_keys;
}

bool manifests_pattern_is_used(const struct manifests *m, size_t i)
{
    return m->tree.used_patterns && m->tree.used_patterns[i];
}
