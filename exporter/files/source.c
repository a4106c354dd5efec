/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/files/source.h"

#include "exporter/files/follow.h"
#include "exporter/files/intake.h"
#include "exporter/files/state.h"
#include "exporter/files/walk.h"
#include "exporter/system/platform.h"

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
    tree_init(&m->tree, paths, count);
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
    ahead_release(&m->ahead);
    rescan_release(&m->rescan);
    problems_release(&m->found);
    problem_view_release(&m->view);
    scopes_release(&m->scopes);
    tree_release(&m->tree);
    free(m);
}

void manifests_limit(struct manifests *m, const struct namespace_filter *filter)
{
    m->filter = filter;
}

void manifests_hand_out(struct manifests *m, manifest_put_fn *put, void *context)
{
    m->put = put;
    m->put_context = context;
}

int manifests_watch(struct manifests *m, struct error *err)
{
    return tree_watch(&m->tree, err);
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
static void begin(struct manifests *m, struct manifest_file *file)
{
    bool follows = m->tree.watches.fd >= 0;
    struct ahead *ahead = m->rescan.reader ? &m->ahead : NULL;

    declarations_begin(file);
    m->current = file;
    m->reading = reading_new(file, &m->limits, ahead, follows);
    reading_listen(m->reading, intake_object, m);
}

/* Of the files that are read ahead, those that were not come to yet. */
static void mark_rest(struct manifests *m, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        tree_mark(&m->tree, m->ahead.files[i]);
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
    size_t next = m->ahead.next;
    size_t count = m->ahead.count;
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
        if (m->ahead.count == 0)
            mark_rest(m, next, count);
        rescan_hold(&m->rescan, &m->tree.paths[m->current->path_index], why.hangs, now_ms);
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

    while ((file = tree_next_changed(&m->tree))) {
        const struct tree_path *path = &m->tree.paths[file->path_index];

        if (rescan_is_held(&m->rescan, path)) {
            struct read_failure why = {.kind = PROBLEM_UNREADABLE};

            fail(&why.text, "cannot read '%s': other files of '%s' do not answer", file->path,
                 path->path);
            begin(m, file);
            fail_file(m, &why);
        } else if (file->spool >= 0) {
            begin(m, file);
            break;
        } else if ((file->once && m->ahead.count > 0) || !ahead_add(&m->ahead, file)) {
            tree_mark(&m->tree, file);
            break;
        } else if (file->once) {
            /* Standard input may block for ever: it has a job of its own. */
            break;
        }
    }
    if (m->ahead.count > 0)
        ahead_start(&m->ahead, m->tree.paths[m->ahead.files[0]->path_index].path);
}

/* True if a file is begun, or was to be. */
static bool begin_next(struct manifests *m)
{
    struct manifest_file *file;

    if (!m->rescan.reader) {
        file = tree_next_changed(&m->tree);
        if (file)
            begin(m, file);
        return file;
    }
    file = ahead_next(&m->ahead);
    if (file)
        begin(m, file);
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
    if (m->ahead.next == m->ahead.count && !ahead_done(&m->ahead, now_ms))
        return false;
    if (begin_next(m))
        return true;
    if (m->rescan.reader) {
        bool moved = rescan_step(&m->rescan, &m->tree, now_ms);

        m->view_is_old = m->view_is_old || moved;
        m->due_ms = rescan_due(&m->rescan, &m->tree);
        if (moved || rescan_wanted(&m->rescan, &m->tree))
            return moved;
    }
    file = tree_next_gone(&m->tree);
    if (!file)
        return false;
    declarations_drop(&m->declarations, file);
    manifest_file_free(file);
    m->view_is_old = true;
    return true;
}

static bool has_work(const struct manifests *m)
{
    return m->reading || m->ahead.count > 0 || m->tree.changed > 0 || m->tree.gone > 0 ||
           rescan_wanted(&m->rescan, &m->tree);
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

void manifests_know(struct manifests *m, const struct manifests *others)
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

    begin(m, file);
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
    bool fine = walk_all(&m->tree, err);

    while (step(m, 0))
        continue;
    m->view_is_old = true;
    refresh_view(m);
    return fine;
}

void manifests_use(struct manifests *m, struct file_reader *reader)
{
    m->rescan.reader = m->ahead.reader = reader;
    m->tree.apart = reader != NULL;
}

void manifests_begin(struct manifests *m)
{
    for (size_t i = 0; i < m->tree.path_count; i++)
        m->tree.paths[i].look = m->tree.paths[i].force = true;
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

bool manifests_listens(const struct manifests *m)
{
    /* What a walk under way is about to find may be what an event is about. */
    return !m->rescan.job;
}

bool manifests_pump(struct manifests *m, unsigned slice_ms)
{
    int64_t now_ms = platform_steady_ms();
    int64_t end_ms = now_ms + slice_ms;
    bool events = manifests_listens(m) && follow_pump(&m->tree);
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

size_t manifests_broken_count(const struct manifests *m)
{
    return m->view.broken;
}

size_t manifests_duplicate_count(const struct manifests *m)
{
    return m->view.duplicates;
}
