/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/cli/check_baseline.h"

#include "exporter/cli/git_tree.h"
#include "exporter/cli/load.h"
#include "exporter/text/check_result.h"
#include "metrics/base/shown.h"

enum { LINE_MAX_BYTES = 8192, PATH_MAX_BYTES = 4096 };

static const char git_prefix[] = "git:";

struct check_baseline {
    struct baseline *problems;
    struct git_tree *tree; /* NULL for a report. */
    char *ref;             /* NULL for a report. */
};

void check_baseline_free(struct check_baseline *b)
{
    if (!b)
        return;
    baseline_free(b->problems);
    git_tree_free(b->tree);
    free(b->ref);
    free(b);
}

struct baseline *check_baseline_problems(const struct check_baseline *b)
{
    return b->problems;
}

bool check_options_of(const struct invocation *invocation, const struct environment *environment,
                      struct options *out, struct error *err)
{
    options_release(out);
    if (!config_load(out, invocation->argc, invocation->argv, err))
        return false;
    for (size_t i = 0; i < out->arguments.count; i++)
        text_list_add(&out->manifests, out->arguments.items[i]);
    text_list_release(&out->arguments);
    for (size_t i = 0; i < environment->paths.count; i++)
        text_list_add(&out->manifests, environment->paths.items[i]);
    return true;
}

/* ---- opening ---- */

static void warn(const struct invocation *invocation, const char *text)
{
    CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(LINE_MAX_BYTES);

    strbuf_addf(&line, "warning: --baseline: %s", text);
    invocation_print_error(invocation, line.data);
}

static bool open_report(struct check_baseline *b, const struct invocation *invocation,
                        const char *path, const struct environments *environments,
                        struct error *err)
{
    size_t unknown;
    struct error text;

    if (!baseline_read_report(b->problems, path, err))
        return false;
    if (*environments->items[0].name == '\0' && !baseline_has_environment(b->problems, ""))
        return fail(err, "%s is a report of environments: use --environment with the same names",
                    shown(path).text);
    for (size_t i = 0; i < environments->count; i++) {
        const char *name = environments->items[i].name;

        if (baseline_has_environment(b->problems, name))
            continue;
        fail(&text, "%s has no environment '%s', so that all problems of it are new",
             shown(path).text, name);
        warn(invocation, text.text);
    }
    unknown = baseline_unknown_count(b->problems);
    if (unknown > 0) {
        fail(&text, "%zu problem%s of %s %s ignored: this version does not have these problems",
             unknown, unknown == 1 ? "" : "s", shown(path).text, unknown == 1 ? "is" : "are");
        warn(invocation, text.text);
    }
    return true;
}

static bool open_git(struct check_baseline *b, const struct invocation *invocation, const char *ref,
                     const struct environments *environments, struct error *err)
{
    struct options all = {0};
    bool fine = true;
    struct error text;

    for (size_t i = 0; i < environments->count && fine; i++) {
        struct options o = {0};

        fine = check_options_of(invocation, &environments->items[i], &o, err);
        for (size_t k = 0; k < o.manifests.count; k++)
            text_list_add(&all.manifests, o.manifests.items[k]);
        options_release(&o);
    }
    b->ref = xstrdup(ref);
    if (fine)
        b->tree = git_tree_extract(ref, &all.manifests, err);
    text_list_release(&all.manifests);
    if (!b->tree)
        return false;
    if (git_tree_submodule(b->tree)) {
        fail(&text,
             "git:%s has no files of submodules, such as %s: problems of their objects are new",
             shown(ref).text, shown(git_tree_submodule(b->tree)).text);
        warn(invocation, text.text);
    }
    return true;
}

struct check_baseline *check_baseline_open(const struct invocation *invocation, const char *value,
                                           const struct environments *environments,
                                           struct error *err)
{
    struct check_baseline *b = xcalloc(1, sizeof(*b));
    bool is_git = strncmp(value, git_prefix, strlen(git_prefix)) == 0;

    b->problems = baseline_new();
    if (is_git ? open_git(b, invocation, value + strlen(git_prefix), environments, err)
               : open_report(b, invocation, value, environments, err))
        return b;
    check_baseline_free(b);
    return NULL;
}

/* ---- evaluation of git:REF ---- */

/* PATHs of the command line, and the same files in the tree. */
struct mapped_paths {
    struct text_list heads;
    struct text_list bases;
};

static void mapped_paths_release(struct mapped_paths *m)
{
    text_list_release(&m->heads);
    text_list_release(&m->bases);
}

/* Replaces the PATHs of `o` by those of the tree; a PATH that is not in the tree is left out. */
static void map_paths(const struct check_baseline *b, struct options *o, struct mapped_paths *out)
{
    for (size_t i = 0; i < o->manifests.count; i++) {
        CLEANUP(free_cleanup) char *base = git_tree_find(b->tree, o->manifests.items[i]);

        if (!base)
            continue;
        text_list_add(&out->heads, o->manifests.items[i]);
        text_list_add(&out->bases, base);
    }
    text_list_release(&o->manifests);
    for (size_t i = 0; i < out->bases.count; i++)
        text_list_add(&o->manifests, out->bases.items[i]);
}

/* Appends the path that a file of the tree has below the PATH of the command line. */
static void add_head_path(const struct mapped_paths *m, const char *path, struct strbuf *out)
{
    for (size_t i = 0; i < m->bases.count; i++) {
        size_t len = strlen(m->bases.items[i]);
        const char *head = m->heads.items[i];
        size_t head_len = strlen(head);

        if (strncmp(path, m->bases.items[i], len) != 0 || (path[len] && path[len] != '/'))
            continue;
        while (path[len] && head_len > 0 && head[head_len - 1] == '/')
            head_len--;
        strbuf_add(out, head, head_len);
        strbuf_adds(out, path + len);
        return;
    }
    strbuf_adds(out, path);
}

static void add_unread(struct check_baseline *b, const struct evaluation *e,
                       const struct mapped_paths *paths, const char *environment)
{
    for (size_t i = 0; i < manifests_problem_count(e->manifests); i++) {
        CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT(PATH_MAX_BYTES);
        struct manifest_problem p = manifests_problem(e->manifests, i);

        if (!problem_kind_blocks_evaluation(p.kind))
            continue;
        add_head_path(paths, p.path, &path);
        baseline_add_unread(b->problems, environment, path.data, p.text);
    }
}

/* Adds a problem. Its subject may be a file of the tree. */
static void add_problem(struct check_baseline *b, const struct problem *p,
                        const struct mapped_paths *paths, const char *environment)
{
    CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(PATH_MAX_BYTES);
    struct baseline_item item = {.reason = p->reason, .subject = problem_identity(p)};

    if (p->subject)
        strbuf_adds(&name, problem_name(p));
    else
        add_head_path(paths, problem_name(p), &name);
    item.subject.name = name.data;
    baseline_add(b->problems, environment, &item);
}

/* Adds all problems except those that an exception covers, and conditions of --fail-on. */
static void add_result(struct check_baseline *b, const struct check_result *r,
                       const struct mapped_paths *paths, const char *environment)
{
    const struct problems *ps = engine_problems(r->evaluation->engine);
    struct problem_walk walk = {0};
    const struct problem *p;

    while ((p = problems_next(ps, &walk))) {
        if (!check_result_suppression(r, p))
            add_problem(b, p, paths, environment);
    }
    for (unsigned k = 0; k < NORMAL_CONDITION_COUNT; k++) {
        for (size_t i = 0; i < r->normal[k].count; i++)
            baseline_add(b->problems, environment,
                         &(struct baseline_item){.reason = PROBLEM_REASON_COUNT,
                                                 .condition = k,
                                                 .subject = entry_identity(r->normal[k].items[i])});
    }
}

static void observe_annotations(void *context, struct evaluation *e)
{
    exceptions_observe(context, e->manifests);
}

/* Problems of files are compared with those of the head; they do not make the baseline invalid. */
static bool accept_unread(void *context, const struct manifest_problem *p)
{
    (void)context;
    (void)p;
    return true;
}

/*
 * Evaluates the files of `base` and adds their problems, except those that the exceptions of `s`
 * cover. Moves the options out of `base`.
 */
static bool evaluate_tree(struct check_baseline *b, struct invocation *base,
                          const struct mapped_paths *paths, const struct suppressions *s,
                          enum exit_status *status)
{
    struct evaluation *e = load_sources_with(base,
                                             &(struct load_hooks){.opened = observe_annotations,
                                                                  .accepts = accept_unread,
                                                                  .context = s->exceptions,
                                                                  .quiet = true},
                                             status);
    struct check_result r;

    if (!e)
        return false;
    load_judge_problems(e);
    check_result_make(&r, e, NULL, s);
    add_result(b, &r, paths, s->environment);
    add_unread(b, e, paths, s->environment);
    check_result_release(&r);
    evaluation_free(e);
    *status = STATUS_OK;
    return true;
}

bool check_baseline_prepare(struct check_baseline *b, const struct invocation *invocation,
                            const struct environment *environment, int64_t now_ms,
                            enum exit_status *status)
{
    CLEANUP(mapped_paths_release) struct mapped_paths paths = {.heads = {NULL, 0}};
    struct invocation base = *invocation;
    struct exceptions *exceptions;
    bool fine = true;
    struct error err;

    if (!b->tree)
        return true;
    base.options = (struct options){0};
    baseline_add_environment(b->problems, environment->name);
    if (!check_options_of(invocation, environment, &base.options, &err)) {
        *status = invocation_reject(invocation, err.text);
        return false;
    }
    base.options.allow_empty = true;
    map_paths(b, &base.options, &paths);
    exceptions = exceptions_new(base.options.namespace);
    for (size_t i = 0; i < base.options.exceptions.count && fine; i++)
        fine = exceptions_read_file(exceptions, base.options.exceptions.items[i], &err);
    if (!fine)
        *status = invocation_reject(invocation, err.text);
    if (fine && paths.bases.count > 0)
        fine = evaluate_tree(b, &base, &paths,
                             &(struct suppressions){.exceptions = exceptions,
                                                    .environment = environment->name,
                                                    .now_ms = now_ms},
                             status);
    exceptions_free(exceptions);
    options_release(&base.options);
    return fine;
}
