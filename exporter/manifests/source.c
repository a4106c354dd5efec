/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/manifests/source.h"

#include "exporter/manifests/declarations.h"
#include "exporter/manifests/follow.h"
#include "exporter/manifests/list.h"
#include "exporter/manifests/reading.h"
#include "exporter/manifests/scopes.h"
#include "exporter/manifests/walk.h"
#include "exporter/system/platform.h"

const struct manifest_limits manifest_limits_default = {
    .file_max_bytes = (size_t)16 << 20,
    .object_max_bytes = (size_t)8 << 20,
    .nodes_max = 1000 * 1000,
};

struct manifests {
    struct manifest_limits limits;
    struct tree tree;
    struct scopes scopes;
    struct declarations declarations;
    manifest_put_fn *put; /* NULL: objects are declared. */
    void *put_context;
    struct reading *reading;       /* The file that is being read, if any, ... */
    struct manifest_file *current; /* ... which one it is, ... */
    struct problems found;         /* ... and what is wrong with it so far. */
    struct problem_view view;
    bool view_is_old;
};

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
    problems_release(&m->found);
    problem_view_release(&m->view);
    scopes_release(&m->scopes);
    tree_release(&m->tree);
    free(m);
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
        if (file->guesses && (!file->once || file->spool >= 0))
            tree_mark(&m->tree, file);
    }
}

static bool put(struct manifests *m, cJSON *object, struct json_place place, struct error *why)
{
    scopes_place(&m->scopes, object, &m->current->guesses);
    if (scopes_learn(&m->scopes, object) && !m->put)
        read_guesses_again(m);
    return m->put ? m->put(m->put_context, object, why)
                  : declarations_put(&m->declarations, m->current, object, place, why);
}

static void on_object(void *context, cJSON *object, struct json_place place)
{
    struct manifests *m = context;
    struct json_position where = {place.line, 0};
    struct error why;

    if (!cJSON_IsObject(object) || list_item_inherits(object))
        problems_add(&m->found, PROBLEM_FOREIGN, where,
                     "neither apiVersion nor kind: not a Kubernetes object, skipped");
    else if (lacks_quotes(object, &why) || !put(m, object, place, &why))
        problems_add(&m->found, PROBLEM_REJECTED, where, why.text);
}

static void begin(struct manifests *m, struct manifest_file *file)
{
    bool follows = m->tree.watches.fd >= 0;

    declarations_begin(file);
    m->current = file;
    m->reading = reading_new(file, &m->limits, follows);
    reading_listen(m->reading, on_object, m);
}

/* Read a little further; at the end of the file, its objects and problems are complete. */
static void advance(struct manifests *m)
{
    struct manifest_file *file = m->current;
    struct failure why;
    enum reading_state state = reading_step(m->reading, &why);

    if (state == READING_MORE)
        return;
    if (state == READING_DONE) {
        declarations_end(&m->declarations, file);
    } else {
        /* A file that went between the look into its folder and its opening is no problem. */
        if (why.gone && !file->is_path)
            tree_lose(&m->tree, file);
        else
            problems_add(&m->found, why.kind, why.where, why.text.text);
        declarations_fail(&m->declarations, file);
    }
    problems_release(&file->problems);
    file->problems = m->found;
    m->found = (struct problems){0};
    reading_free(m->reading);
    m->reading = NULL;
    m->current = NULL;
    m->view_is_old = true;
}

/* One piece of work. Gone files come last: a renamed one is read before its old name goes. */
static bool step(struct manifests *m)
{
    struct manifest_file *file;

    if (m->reading) {
        advance(m);
    } else if ((file = tree_next_changed(&m->tree))) {
        begin(m, file);
    } else if ((file = tree_next_gone(&m->tree))) {
        declarations_drop(&m->declarations, file);
        manifest_file_free(file);
        m->view_is_old = true;
    } else {
        return false;
    }
    return true;
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

bool manifests_load(struct manifests *m, struct error *err)
{
    bool fine = walk_all(&m->tree, err);

    while (step(m))
        continue;
    m->view_is_old = true;
    refresh_view(m);
    return fine;
}

bool manifests_pump(struct manifests *m, unsigned slice_ms)
{
    int64_t end_ms = platform_steady_ms() + slice_ms;
    bool events = follow_pump(&m->tree);
    bool moved = events || manifests_busy(m);

    while (step(m) && platform_steady_ms() < end_ms)
        continue;
    m->view_is_old = m->view_is_old || events;
    refresh_view(m);
    return moved;
}

bool manifests_busy(const struct manifests *m)
{
    return m->reading || m->tree.changed > 0 || m->tree.gone > 0;
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
