/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/files/manifest_source.h"

#include "exporter/files/declarations.h"
#include "exporter/files/json_file.h"
#include "exporter/files/manifest_tree.h"
#include "exporter/system/platform.h"

enum {
    RETRY_MS = 1000,
    REST_PARTS = 4, /* Walks take one fifth of the time of a disk. */
    RESULTS_A_STEP = 256,
};

void path_walk_release(struct path_walk *r)
{
    read_job_free(r->job);
    for (size_t i = 0; i < r->hanging_count; i++)
        read_job_free(r->hanging_job[i].job);
    *r = (struct path_walk){.reader = NULL};
}

static struct tree_path *find_path(const struct manifest_tree *t)
{
    for (size_t i = 0; i < t->path_count; i++) {
        if (t->paths[i].needs_walk && !t->paths[i].hangs)
            return &t->paths[i];
    }
    return NULL;
}

bool path_walk_is_pending(const struct path_walk *r, const struct manifest_tree *t)
{
    return r->reader && (r->job || find_path(t));
}

static void hold(struct path_walk *r, struct hanging_job hanging_job)
{
    if (r->hanging_count < HANGING_MAX) {
        r->hanging_job[r->hanging_count++] = hanging_job;
        return;
    }
    /* Too many jobs hang: this PATH is tried again from time to time. */
    read_job_free(hanging_job.job);
    hanging_job.path->hangs = false;
    hanging_job.path->needs_walk = hanging_job.path->force_reread = true;
    r->rest_ms = hanging_job.retry_ms;
}

void path_walk_keep_job(struct path_walk *r, struct tree_path *path, struct read_job *job,
                        int64_t now_ms)
{
    hold(r, (struct hanging_job){.job = job, .path = path, .retry_ms = now_ms + RETRY_MS});
}

/* True if so much of the PATH hangs that its files had better not be touched. */
static bool path_walk_is_held(const struct path_walk *r, const struct tree_path *path)
{
    size_t count = 0;

    for (size_t i = 0; i < r->hanging_count; i++)
        count += r->hanging_job[i].path == path;
    return path->hangs || count >= HANGING_OF_PATH_MAX;
}

/* Walks the PATHs of the jobs that have returned again, and reads their files. */
static void let_go(struct path_walk *r, int64_t now_ms)
{
    struct read_result ignored;

    for (size_t i = 0; i < r->hanging_count;) {
        struct hanging_job *hanging_job = &r->hanging_job[i];
        enum read_job_state state = JOB_HANGS;

        hanging_job->rested = hanging_job->rested || now_ms >= hanging_job->retry_ms;
        if (hanging_job->rested)
            state = read_job_next(hanging_job->job, now_ms, &ignored);
        if (state == JOB_WAITS || state == JOB_HANGS) {
            i++;
            continue;
        }
        read_job_free(hanging_job->job);
        hanging_job->path->hangs = hanging_job->path->hangs && !hanging_job->is_walk;
        hanging_job->path->needs_walk = hanging_job->path->force_reread = true;
        *hanging_job = r->hanging_job[--r->hanging_count];
    }
}

static void begin(struct path_walk *r, struct manifest_tree *t, struct tree_path *path,
                  int64_t now_ms)
{
    struct read_job *job = scan_start(r->reader, path->path, t->watches.fd);

    if (!job) {
        r->rest_ms = now_ms + RETRY_MS;
        return;
    }
    r->path = path;
    r->force_reread = path->force_reread;
    r->begun_ms = now_ms;
    path->needs_walk = path->force_reread = false;
    walk_begin(t, path);
    r->job = job;
}

static void end(struct path_walk *r, struct manifest_tree *t, int64_t now_ms)
{
    walk_end(t, r->path);
    r->path->walked = r->path->walked || !r->path->missing;
    r->rest_ms = now_ms + (now_ms - r->begun_ms) * REST_PARTS;
    read_job_free(r->job);
    r->job = NULL;
}

static void give_up(struct path_walk *r, struct manifest_tree *t, const char *why, int64_t now_ms)
{
    struct error text;

    fail(&text, "cannot read '%s': %s", r->path->path, why);
    walk_fail(t, r->path, text.text);
    r->path->hangs = true;
    r->path->needs_walk = r->path->force_reread = true;
    hold(r, (struct hanging_job){
                .job = r->job, .path = r->path, .is_walk = true, .retry_ms = now_ms + RETRY_MS});
    r->job = NULL;
}

static bool go_on(struct path_walk *r, struct manifest_tree *t, int64_t now_ms)
{
    struct read_result result;

    for (unsigned i = 0; i < RESULTS_A_STEP; i++) {
        enum read_job_state state = read_job_next(r->job, now_ms, &result);

        switch (state) {
        case JOB_RESULT:
            walk_receive(t, r->path, r->force_reread, &result);
            continue;
        case JOB_WAITS:
            return i > 0;
        case JOB_DONE:
            end(r, t, now_ms);
            return true;
        case JOB_HANGS:
        case JOB_LOST:
            give_up(r, t, read_job_failure(state), now_ms);
            return true;
        }
    }
    return true;
}

bool path_walk_step(struct path_walk *r, struct manifest_tree *t, int64_t now_ms)
{
    let_go(r, now_ms);
    if (r->job)
        return go_on(r, t, now_ms);

    struct tree_path *path = find_path(t);

    if (!path || now_ms < r->rest_ms)
        return false;
    begin(r, t, path, now_ms);
    return true;
}

int64_t path_walk_due(const struct path_walk *r, const struct manifest_tree *t)
{
    int64_t due_ms = INT64_MAX;

    if (r->job)
        due_ms = read_job_due(r->job);
    else if (path_walk_is_pending(r, t))
        due_ms = r->rest_ms;
    for (size_t i = 0; i < r->hanging_count; i++) {
        /* A descriptor reports that a job goes on, but not the end of its pause. */
        if (!r->hanging_job[i].rested && r->hanging_job[i].retry_ms < due_ms)
            due_ms = r->hanging_job[i].retry_ms;
    }
    return due_ms;
}

/* `name: y` and `name: 12` look like names; YAML reads a boolean and a number. */
static bool lacks_quotes(const cJSON *object, struct error *why)
{
    const cJSON *name = json_get(json_get(object, "metadata"), "name");

    if (!cJSON_IsBool(name) && !cJSON_IsNumber(name))
        return false;
    fail(why, "metadata.name is a %s: put it in quotes",
         cJSON_IsNumber(name) ? "number" : "boolean");
    return true;
}

/* Objects without a namespace were put into one that their definition, read now, gives none. */
static void read_guesses_again(struct manifests *m)
{
    for (size_t i = 0; i < m->tree.count; i++) {
        struct manifest_file *file = m->tree.files[i];

        /* The bytes of a pipe may be gone: there the definition has to come first. */
        if (file->guesses && (!file->read_once || file->spool >= 0))
            tree_mark(&m->tree, file);
    }
}

static bool put_object(struct manifests *m, cJSON *object, struct json_place place,
                       struct error *why)
{
    scopes_set_namespace(&m->scopes, object, &m->current->guesses);
    if (scopes_add_definition(&m->scopes, object) && !m->put)
        read_guesses_again(m);
    if (m->filter && !namespace_limit_reads(m->filter, object))
        return true;
    return m->put ? m->put(m->put_context, object, why)
                  : declarations_put(&m->declarations, m->current, object, place, why);
}

/*
 * Receive an object of the file that is being read: it is declared or handed out, or a problem.
 * The context is the struct manifests (state.h).
 */
static void intake_object(void *context, cJSON *object, struct json_place place)
{
    struct manifests *m = context;
    struct json_position where = {place.line, 0};
    struct error why;

    if (!cJSON_IsObject(object) || list_item_inherits(object))
        problems_add(&m->found, PROBLEM_FOREIGN, where,
                     "neither apiVersion nor kind: not a Kubernetes object, skipped");
    else if (lacks_quotes(object, &why) || !put_object(m, object, place, &why))
        problems_add(&m->found, PROBLEM_REJECTED, where, why.text);
}

const struct manifest_limits manifest_limits_default = {
    .yaml_max_bytes = (size_t)128 << 20,
    .object_max_bytes = (size_t)8 << 20,
    .nodes_max = 1000 * 1000,
};

/* Waits for the file reader up to this length count as work. */
enum { SHORT_WAIT_MS = 250 };

static void want(void *context, struct manifest_file *file)
{
    struct manifests *m = context;

    tree_mark(&m->tree, file);
}

struct manifests *manifests_new(struct store *store, const char *const *paths, size_t count,
                                const char *ns, const struct manifest_limits *limits)
{
    struct manifests *m = xcalloc(1, sizeof(*m));

    m->limits = *limits;
    m->due_ms = INT64_MAX;
    manifest_tree_init(&m->tree, paths, count);
    scopes_init(&m->scopes, ns);
    m->declarations.store = store;
    m->declarations.want = want;
    m->declarations.context = m;
    return m;
}

void manifests_free(struct manifests *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->tree.count; i++)
        declarations_forget(&m->declarations, m->tree.files[i]);
    declarations_release(&m->declarations);
    reading_free(m->reading);
    prefetch_release(&m->prefetch);
    path_walk_release(&m->path_walk);
    problems_release(&m->found);
    problem_view_release(&m->view);
    scopes_release(&m->scopes);
    manifest_tree_release(&m->tree);
    free(m);
}

void manifests_set_filter(struct manifests *m, const struct namespace_filter *filter)
{
    m->filter = filter;
}

void manifests_set_receiver(struct manifests *m, manifest_receive_fn *put, void *context)
{
    m->put = put;
    m->put_context = context;
}

int manifests_watch(struct manifests *m, struct error *err)
{
    return manifest_tree_watch(&m->tree, err);
}

/* What was read of a file was the last: its objects and problems are complete. */
static void end_file(struct manifests *m)
{
    problems_release(&m->current->problems);
    m->current->problems = m->found;
    m->found = (struct problems){0};
    reading_free(m->reading);
    m->reading = NULL;
    m->current = NULL;
    m->view_is_old = true;
}

/* Read the file, or say why it is not touched. */
static void source_begin(struct manifests *m, struct manifest_file *file)
{
    bool follows = m->tree.watches.fd >= 0;
    struct prefetch *prefetch = m->path_walk.reader ? &m->prefetch : NULL;

    declarations_begin(file);
    m->current = file;
    m->reading = reading_new(file, &m->limits, prefetch, follows);
    reading_listen(m->reading, intake_object, m);
}

/* Of the files that are read ahead, those that were not come to yet. */
static void mark_rest(struct manifests *m, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        tree_mark(&m->tree, m->prefetch.files[i]);
}

static void fail_file(struct manifests *m, const struct read_failure *why)
{
    /* A file that went between the look into its folder and its opening is no problem. */
    if (why->gone && !m->current->is_path)
        tree_lose(&m->tree, m->current);
    else
        problems_add(&m->found, why->kind, why->where, why->text.text);
    declarations_fail(&m->declarations, m->current);
    end_file(m);
}

/* Read a little further. False if there is nothing but to wait. */
static bool advance(struct manifests *m, int64_t now_ms)
{
    size_t next = m->prefetch.next;
    size_t count = m->prefetch.count;
    struct read_failure why;

    switch (reading_step(m->reading, now_ms, &why)) {
    case READING_WAITS:
        m->due_ms = reading_due(m->reading);
        return false;
    case READING_DONE:
        declarations_end(&m->declarations, m->current);
        end_file(m);
        return true;
    case READING_HANGS:
        if (m->prefetch.count == 0)
            mark_rest(m, next, count);
        path_walk_keep_job(&m->path_walk, &m->tree.paths[m->current->path_index], why.hangs,
                           now_ms);
        fail_file(m, &why);
        return true;
    case READING_FAILED:
        fail_file(m, &why);
        return true;
    case READING_MORE:
        return true;
    }
    abort();
}

/* Ask for the files that have changed, as far as what they are in answers. */
static void read_ahead(struct manifests *m)
{
    struct manifest_file *file;

    while ((file = manifest_tree_take_changed(&m->tree))) {
        const struct tree_path *path = &m->tree.paths[file->path_index];

        if (path_walk_is_held(&m->path_walk, path)) {
            struct read_failure why = {.kind = PROBLEM_UNREADABLE};

            fail(&why.text, "cannot read '%s': other files of '%s' do not answer", file->path,
                 path->path);
            source_begin(m, file);
            fail_file(m, &why);
        } else if (file->spool >= 0) {
            source_begin(m, file);
            break;
        } else if ((file->read_once && m->prefetch.count > 0) ||
                   !prefetch_add(&m->prefetch, file)) {
            tree_mark(&m->tree, file);
            break;
        } else if (file->read_once) {
            /* Standard input may block for ever: it has a job of its own. */
            break;
        }
    }
    if (m->prefetch.count > 0)
        prefetch_start(&m->prefetch, m->tree.paths[m->prefetch.files[0]->path_index].path);
}

/* True if a file is begun, or was to be. */
static bool begin_next(struct manifests *m)
{
    struct manifest_file *file;

    if (!m->path_walk.reader) {
        file = manifest_tree_take_changed(&m->tree);
        if (file)
            source_begin(m, file);
        return file;
    }
    file = prefetch_next(&m->prefetch);
    if (file)
        source_begin(m, file);
    else if (m->tree.changed > 0)
        read_ahead(m);
    else
        return false;
    return true;
}

/*
 * One piece of work; false if there is none, or none but waiting. Gone files come last: a renamed
 * one is read before its old name goes.
 */
static bool step(struct manifests *m, int64_t now_ms)
{
    struct manifest_file *file;

    m->due_ms = INT64_MAX;
    if (m->reading)
        return advance(m, now_ms);
    if (m->prefetch.next == m->prefetch.count && !prefetch_done(&m->prefetch, now_ms))
        return false;
    if (begin_next(m))
        return true;
    if (m->path_walk.reader) {
        bool moved = path_walk_step(&m->path_walk, &m->tree, now_ms);

        m->view_is_old = m->view_is_old || moved;
        m->due_ms = path_walk_due(&m->path_walk, &m->tree);
        if (moved || path_walk_is_pending(&m->path_walk, &m->tree))
            return moved;
    }
    file = manifest_tree_take_gone(&m->tree);
    if (!file)
        return false;
    declarations_drop(&m->declarations, file);
    manifest_file_free(file);
    m->view_is_old = true;
    return true;
}

static bool has_work(const struct manifests *m)
{
    return m->reading || m->prefetch.count > 0 || m->tree.changed > 0 || m->tree.gone > 0 ||
           path_walk_is_pending(&m->path_walk, &m->tree);
}

static void refresh_view(struct manifests *m)
{
    static const struct problems none;
    size_t at = 0;

    if (!m->view_is_old)
        return;
    tree_sort(&m->tree);
    problem_view_release(&m->view);
    for (size_t i = 0; i < m->tree.path_count; i++) {
        const struct tree_path *path = &m->tree.paths[i];

        problem_view_add(&m->view, path->path, &path->problems, &none);
        for (; at < m->tree.count && m->tree.files[at]->path_index == i; at++) {
            struct manifest_file *file = m->tree.files[at];

            declarations_report(&m->declarations, file);
            problem_view_add(&m->view, file->path, &file->problems, &file->duplicates);
        }
    }
    m->view_is_old = false;
}

void manifests_import_definitions(struct manifests *m, const struct manifests *others)
{
    scopes_learn_all(&m->scopes, &others->scopes);
}

/* Of what is wrong with a text: the first, and how many more. */
static bool fail_text(const struct problems *found, struct error *err)
{
    const struct problem *first = &found->items[0];
    size_t more = found->broken + found->harmless - 1;

    if (more == 0)
        fail(err, "%s", first->text);
    else
        fail(err, "%.180s (and %zu more problem%s)", first->text, more, more == 1 ? "" : "s");
    if (first->line > 0)
        fail_in(err, "line %zu", first->line);
    return false;
}

bool manifests_read_text(struct manifests *m, const char *name, const char *text, size_t len,
                         struct error *err)
{
    struct manifest_file *file = manifest_file_new(name, 0);
    enum reading_state state = READING_MORE;
    struct read_failure why;
    bool fine;

    source_begin(m, file);
    reading_take_text(m->reading, text, len);
    while (state == READING_MORE) {
        state = reading_step(m->reading, 0, &why);
        if (state == READING_MORE && yaml_term_is_over(&m->limits.term)) {
            state = READING_FAILED;
            fail(&why.text, "reading it takes too long");
        }
    }
    if (state != READING_DONE)
        problems_add(&m->found, why.kind, why.where, why.text.text);
    fine = m->found.count == 0 || fail_text(&m->found, err);
    end_file(m);
    manifest_file_free(file);
    return fine;
}

bool manifests_load(struct manifests *m, struct error *err)
{
    bool fine = manifest_tree_walk_all(&m->tree, err);

    while (step(m, 0))
        continue;
    m->view_is_old = true;
    refresh_view(m);
    return fine;
}

void manifests_set_reader(struct manifests *m, struct file_reader *reader)
{
    m->path_walk.reader = m->prefetch.reader = reader;
    m->tree.apart = reader != NULL;
}

void manifests_start_reading(struct manifests *m)
{
    for (size_t i = 0; i < m->tree.path_count; i++)
        m->tree.paths[i].needs_walk = m->tree.paths[i].force_reread = true;
}

enum manifests_state manifests_state(const struct manifests *m, struct error *err)
{
    for (size_t i = 0; i < m->tree.path_count; i++) {
        const struct tree_path *path = &m->tree.paths[i];

        if (path->walked || (!path->missing && !path->hangs))
            continue;
        fail(err, "%s", path->problems.items[0].text);
        return path->hangs ? MANIFESTS_HANG : MANIFESTS_MISSING;
    }
    return has_work(m) ? MANIFESTS_BUSY : MANIFESTS_READ;
}

bool manifests_accept_events(const struct manifests *m)
{
    /* What a walk under way is about to find may be what an event is about. */
    return !m->path_walk.job;
}

bool manifests_pump(struct manifests *m, unsigned slice_ms)
{
    int64_t now_ms = platform_steady_ms();
    int64_t end_ms = now_ms + slice_ms;
    bool events = manifests_accept_events(m) && manifest_tree_pump_events(&m->tree);
    bool moved = events || has_work(m);
    bool stepped;

    do {
        stepped = step(m, now_ms);
        now_ms = platform_steady_ms();
    } while (stepped && now_ms < end_ms);
    m->view_is_old = m->view_is_old || events;
    refresh_view(m);
    if (stepped || !has_work(m))
        m->waits_ms = 0;
    else if (m->waits_ms == 0)
        m->waits_ms = now_ms;
    return moved;
}

bool manifests_busy(const struct manifests *m)
{
    return has_work(m) && (m->waits_ms == 0 || platform_steady_ms() - m->waits_ms < SHORT_WAIT_MS);
}

int64_t manifests_due(const struct manifests *m)
{
    return has_work(m) && m->waits_ms == 0 ? 0 : m->due_ms;
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
