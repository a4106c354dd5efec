/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/files/package_reader.h"

#include <sys/stat.h>

#include "metrics/base/shown.h"

void package_reader_init(struct package_reader *r, const struct manifest_limits *limits,
                         const char *ns)
{
    *r = (struct package_reader){.mode = RENDER_SERVER, .limits = *limits, .ns = xstrdup(ns)};
    package_set_init(&r->set);
    r->rendered.text = STRBUF_INIT(0);
}

void package_reader_release(struct package_reader *r)
{
    package_set_release(&r->set);
    package_renderer_free(r->renderer);
    origin_finder_free(r->finder);
    rendered_package_release(&r->rendered);
    for (size_t i = 0; i < r->count; i++)
        free(r->renderings[i].folder);
    free(r->renderings);
    free(r->ns);
}

/* ---- definitions ---- */

static const char *file_name(const struct manifest_file *file)
{
    const char *slash = strrchr(file->path, '/');

    return slash ? slash + 1 : file->path;
}

bool package_reader_take(struct package_reader *r, struct manifest_file *file,
                         const cJSON *document)
{
    struct package_definition definition;

    if (!file->is_definition || r->has_definition ||
        !package_definition_read(file_name(file), document, &definition))
        return false;
    package_set_put(&r->set, file, file->path, &definition);
    r->has_definition = r->is_old = true;
    return true;
}

void package_reader_end_file(struct package_reader *r, struct manifest_file *file, bool failed)
{
    if (!file->is_definition)
        return;
    if (failed)
        package_set_put(&r->set, file, file->path, NULL);
    else if (!r->has_definition && !package_set_remove(&r->set, file))
        return;
    r->is_old = true;
    r->has_definition = false;
}

void package_reader_forget(struct package_reader *r, const struct manifest_file *file)
{
    if (file->is_definition && package_set_remove(&r->set, file))
        r->is_old = true;
}

/* ---- reasons for not rendering ---- */

enum { COMMAND_MAX_BYTES = 400, REASON_MAX_BYTES = 200 };

#define CHECK_COMMAND "| karmada-policy-exporter check -"

/* Returns the folder of a package in the PATHs as the user names it, owned by the caller. */
static MUST_USE char *shown_folder(const struct package *p)
{
    const char *path = p->file->path;
    const char *slash = strrchr(path, '/');

    return slash ? xmemdup0(path, slash == path ? 1 : (size_t)(slash - path)) : xstrdup(".");
}

/* Appends a word of a shell command. */
static void add_word(struct strbuf *out, const char *word)
{
    size_t safe =
        strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789./_-");

    if (word[safe] == '\0' && *word != '-') {
        strbuf_adds(out, word);
        return;
    }
    strbuf_adds(out, *word == '-' ? "./'" : "'");
    for (; *word; word++) {
        if (*word == '\'')
            strbuf_adds(out, "'\\'");
        strbuf_addc(out, *word);
    }
    strbuf_addc(out, '\'');
}

/* Returns a remote reference without the credentials that it may have before "@". */
static struct shown show_remote(const char *reference)
{
    const char *at = strrchr(reference, '@');

    return shown(at ? at + 1 : reference);
}

/* Appends the command that renders the package. */
static void add_command(struct strbuf *out, const struct package *p)
{
    CLEANUP(free_cleanup) char *folder = shown_folder(p);

    if (p->definition.kind != PACKAGE_CHART) {
        strbuf_adds(out, p->obstacle == OBSTACLE_CHARTS ? "kubectl kustomize --enable-helm "
                                                        : "kubectl kustomize ");
    } else if (p->obstacle == OBSTACLE_DEPENDENCIES) {
        strbuf_adds(out, "helm dependency build ");
    } else {
        strbuf_adds(out, "helm template ");
        add_word(out, p->definition.name);
        strbuf_addc(out, ' ');
    }
    add_word(out, folder);
    if (p->obstacle != OBSTACLE_DEPENDENCIES)
        strbuf_adds(out, " " CHECK_COMMAND);
}

static void add_reason(struct strbuf *out, const struct package *p, bool server)
{
    bool is_chart = p->definition.kind == PACKAGE_CHART;

    switch (p->obstacle) {
    case OBSTACLE_DISABLED:
        strbuf_adds(out, server ? "serve runs no programs" : "--render=never");
        return;
    case OBSTACLE_PROGRAM:
        strbuf_adds(out,
                    is_chart ? "helm is not on PATH" : "neither kustomize nor kubectl is on PATH");
        return;
    case OBSTACLE_REMOTE:
        strbuf_addf(out, "%s refers to '%s', which needs the network",
                    p->culprit == p ? "it" : p->culprit->folder, show_remote(p->reference).text);
        return;
    case OBSTACLE_CHARTS:
        strbuf_adds(out, "it renders Helm charts");
        return;
    case OBSTACLE_DEPENDENCIES:
        strbuf_adds(out, "dependencies are missing in its folder charts/");
        return;
    case OBSTACLE_NONE:
    case OBSTACLE_MISSING:
        break;
    }
    abort();
}

/*
 * Sets the text for a root that is not rendered: the reason, the effect, and the command that the
 * user can run. `server`: the reader is `serve`.
 */
static void describe_obstacle(const struct package *p, bool server, struct error *out)
{
    CLEANUP(strbuf_release) struct strbuf command = STRBUF_INIT(COMMAND_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf reason = STRBUF_INIT(REASON_MAX_BYTES);

    add_reason(&reason, p, server);
    add_command(&command, p);
    if (p->definition.kind == PACKAGE_CHART)
        fail(out, "not rendered (%s): its templates are not read; run: %s", reason.data,
             command.data);
    else
        fail(out,
             "not rendered (%s): its own files are read without patches and generators; run: %s",
             reason.data, command.data);
}

/* Sets the text for OBSTACLE_MISSING: the reference that leads nowhere, and where it is. */
static void describe_missing(const struct package *p, struct error *out)
{
    fail(out, "not rendered: '%s' refers to '%s', which does not exist: correct the path",
         p->culprit->folder, shown(p->reference).text);
}

/* ---- roles of files ---- */

static bool path_exists(void *context, const char *path)
{
    struct stat about;

    (void)context;
    return stat(path, &about) == 0;
}

struct loaded {
    const char *name;
    struct package_definition *out;
    bool found;
};

static void receive_definition(void *context, cJSON *object, struct json_place place)
{
    struct loaded *l = context;

    (void)place;
    l->found = l->found || package_definition_read(l->name, object, l->out);
}

/* Reads the kustomization of a folder outside of the PATHs. */
static bool load_definition(void *context, const char *folder, struct package_definition *out)
{
    const struct package_reader *r = context;
    struct loaded l = {.out = out};
    struct error ignored;

    for (unsigned i = 0; i < KUSTOMIZATION_NAME_COUNT && !l.found; i++) {
        CLEANUP(free_cleanup) char *path = scan_join_path(folder, kustomization_names[i]);

        l.name = kustomization_names[i];
        if (path_exists(NULL, path) &&
            !manifest_read_file(path, &r->limits, receive_definition, &l, &ignored) && l.found) {
            package_definition_release(out);
            return false;
        }
    }
    return l.found;
}

static struct package_resolver make_resolver(struct package_reader *r)
{
    struct package_resolver resolver = {
        .kustomizations = OBSTACLE_DISABLED,
        .charts = OBSTACLE_DISABLED,
        .context = r,
    };

    /* A server must not wait for files. */
    if (r->mode == RENDER_SERVER)
        return resolver;
    resolver.load = load_definition;
    resolver.exists = path_exists;
    if (r->mode == RENDER_NEVER)
        return resolver;
    if (!r->renderer)
        r->renderer = package_renderer_new(r->ns);
    resolver.kustomizations = package_renderer_obstacle(r->renderer, PACKAGE_KUSTOMIZATION);
    resolver.charts = package_renderer_obstacle(r->renderer, PACKAGE_CHART);
    return resolver;
}

enum file_role package_reader_role(const struct package_reader *r, const struct manifest_file *file)
{
    return package_set_role(&r->set, file->path);
}

void package_reader_count_skipped(const struct package_reader *r, struct manifest_file *file)
{
    static const enum skipped_kind kinds[] = {
        [FILE_INPUT] = SKIPPED_KUSTOMIZE_PATCH,
        [FILE_CHART] = SKIPPED_OTHER_YAML,
        [FILE_UNLISTED] = SKIPPED_UNLISTED,
    };

    if (file->role != FILE_RENDERED)
        document_problems_skip(&file->problems,
                               file->is_chart_template ? SKIPPED_HELM_TEMPLATE : kinds[file->role],
                               (struct json_position){0, 0}, r->strict);
}

/* Replaces the problems of the definition by the reason for not rendering the package, if any. */
static void add_hint(const struct package_reader *r, const struct package *p)
{
    struct json_position nowhere = {0, 0};
    struct error text;

    document_problems_release(&p->file->problems);
    if (!p->rendered)
        document_problems_skip(&p->file->problems,
                               p->definition.kind == PACKAGE_CHART ||
                                       p->definition.kind == PACKAGE_LIBRARY
                                   ? SKIPPED_HELM_CHART
                                   : SKIPPED_KUSTOMIZATION,
                               nowhere, r->strict);
    if (p->treatment != TREATMENT_FILES)
        return;
    if (p->obstacle == OBSTACLE_MISSING) {
        describe_missing(p, &text);
        document_problems_add(&p->file->problems, PROBLEM_UNREADABLE, nowhere, text.text, NULL);
    } else if (p->incomplete) {
        describe_obstacle(p, r->mode == RENDER_SERVER, &text);
        document_problems_add(&p->file->problems, PROBLEM_NOT_RENDERED, nowhere, text.text, NULL);
    }
}

void package_reader_resolve(struct package_reader *r, struct manifest_tree *tree)
{
    struct package_resolver resolver = make_resolver(r);

    r->is_old = false;
    package_set_resolve(&r->set, &resolver);
    for (size_t i = 0; i < r->set.count; i++) {
        struct package *p = r->set.items[i];

        if (p->file && p->treatment != TREATMENT_BROKEN)
            add_hint(r, p);
        if (p->file)
            p->file->needs_rendering = p->treatment == TREATMENT_RENDER;
    }
    for (size_t i = 0; i < tree->count; i++) {
        struct manifest_file *file = tree->files[i];

        if (file->pass > 0 && !file->is_definition &&
            file_role_is_read(file->role) != file_role_is_read(package_reader_role(r, file)))
            manifest_tree_mark_changed(tree, file);
    }
}

/* ---- renderings ---- */

/* Begins the entry of a package, which exists if the package is rendered again. */
static void begin_rendering(struct package_reader *r, const struct package *p, const char *folder)
{
    for (r->current_rendering = 0; r->current_rendering < r->count; r->current_rendering++) {
        if (strcmp(r->renderings[r->current_rendering].folder, folder) == 0) {
            r->renderings[r->current_rendering].objects = 0;
            return;
        }
    }
    if (r->count == r->capacity) {
        r->capacity = r->capacity * 2 + 4;
        r->renderings = xreallocarray(r->renderings, r->capacity, sizeof(*r->renderings));
    }
    r->renderings[r->count++] = (struct rendering){
        .folder = xstrdup(folder),
        .is_chart = p->definition.kind == PACKAGE_CHART,
        .program = r->rendered.program,
    };
}

/* Renders a package, or adds the problem. */
static void render(struct package_reader *r, struct package *p, const char *root,
                   struct document_problems *found)
{
    CLEANUP(free_cleanup) char *folder = shown_folder(p);
    enum render_obstacle obstacle;
    struct error err;

    if (package_renderer_run(r->renderer, p, folder, &r->rendered, &obstacle, &err)) {
        if (!r->finder)
            r->finder = origin_finder_new(&r->limits);
        origin_finder_begin(r->finder, &(struct origin_package){.package = p,
                                                                .rendered = &r->rendered,
                                                                .definition = p->file->path,
                                                                .root = root});
        begin_rendering(r, p, folder);
        return;
    }
    rendered_package_release(&r->rendered);
    if (obstacle == OBSTACLE_NONE) {
        fail_in(&err, "cannot render '%s'", folder);
        document_problems_add(found, PROBLEM_UNREADABLE, (struct json_position){0, 0}, err.text,
                              NULL);
        return;
    }
    p->treatment = TREATMENT_FILES;
    p->obstacle = obstacle;
    describe_obstacle(p, false, &err);
    document_problems_add(found, PROBLEM_NOT_RENDERED, (struct json_position){0, 0}, err.text,
                          NULL);
}

struct manifest_file *package_reader_render_next(struct package_reader *r,
                                                 struct manifest_tree *tree,
                                                 struct document_problems *found)
{
    for (size_t i = 0; i < r->set.count; i++) {
        struct package *p = r->set.items[i];

        if (!p->file || !p->file->needs_rendering)
            continue;
        p->file->needs_rendering = false;
        p->file->origin_count = 0;
        r->current = p->file;
        render(r, p, tree->paths[p->file->path_index].path, found);
        return p->file;
    }
    return NULL;
}

struct render_origin package_reader_add_object(struct package_reader *r, cJSON *object,
                                               struct json_place place)
{
    struct render_origin origin = origin_finder_find(r->finder, object, place.line);
    struct manifest_file *file = r->current;

    r->renderings[r->current_rendering].objects++;
    /* The numbers of the objects in a YAML text count from 1. */
    if (place.offset > file->origin_capacity) {
        file->origin_capacity = place.offset * 2;
        file->origins =
            xreallocarray(file->origins, file->origin_capacity, sizeof(struct manifest_file *));
    }
    for (; file->origin_count < place.offset; file->origin_count++)
        file->origins[file->origin_count] = origin.file;
    return origin;
}

void package_reader_end_rendering(struct package_reader *r)
{
    rendered_package_release(&r->rendered);
    r->current = NULL;
}
