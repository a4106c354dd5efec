/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/files/package_set.h"

/* Role of a file that a package refers to. */
struct role {
    enum file_role role;
    char path[]; /* Result of package_join_path(). */
};

static uint64_t hash_path(const char *path)
{
    return map_hash(path, strlen(path), 0);
}

static bool is_package(const void *item, const void *key)
{
    return strcmp(((const struct package *)item)->folder, key) == 0;
}

static bool is_role(const void *item, const void *key)
{
    return strcmp(((const struct role *)item)->path, key) == 0;
}

void package_set_init(struct package_set *s)
{
    *s = (struct package_set){.by_folder = MAP_INIT(is_package), .roles = MAP_INIT(is_role)};
}

static void free_package(struct package *p)
{
    package_definition_release(&p->definition);
    free(p->folder);
    free(p);
}

static void release_roles(struct package_set *s)
{
    void *role;

    for (size_t at = 0; (role = map_next(&s->roles, &at));)
        free(role);
    map_release(&s->roles);
}

void package_set_release(struct package_set *s)
{
    for (size_t i = 0; i < s->count; i++)
        free_package(s->items[i]);
    free(s->items);
    map_release(&s->by_folder);
    release_roles(s);
    package_set_init(s);
}

static struct package *find_folder(const struct package_set *s, const char *folder)
{
    return map_get(&s->by_folder, hash_path(folder), folder);
}

/* Adds a package for `folder`, which is taken over. */
static struct package *add_package(struct package_set *s, char *folder, struct manifest_file *file)
{
    struct package *p = xcalloc(1, sizeof(*p));

    p->folder = folder;
    p->file = file;
    if (s->count == s->capacity) {
        s->capacity = s->capacity * 2 + 8;
        s->items = xreallocarray(s->items, s->capacity, sizeof(struct package *));
    }
    s->items[s->count++] = p;
    map_add(&s->by_folder, hash_path(folder), p);
    return p;
}

static bool is_chart(const struct package *p)
{
    return p->definition.kind == PACKAGE_CHART || p->definition.kind == PACKAGE_LIBRARY;
}

struct package *package_set_find(const struct package_set *s, const struct manifest_file *file)
{
    for (size_t i = 0; i < s->count; i++) {
        if (s->items[i]->file == file)
            return s->items[i];
    }
    return NULL;
}

void package_set_put(struct package_set *s, struct manifest_file *file, const char *path,
                     struct package_definition *definition)
{
    const char *slash = strrchr(path, '/');
    CLEANUP(free_cleanup) char *parent = xmemdup0(path, slash ? (size_t)(slash - path) : 0);
    char *folder = package_join_path(slash == path ? "/" : parent, "");
    struct package *p = find_folder(s, folder);
    bool chart = definition
                     ? definition->kind == PACKAGE_CHART || definition->kind == PACKAGE_LIBRARY
                     : strcmp(slash ? slash + 1 : path, "Chart.yaml") == 0;

    if (p && p->file && p->file != file && (is_chart(p) || !chart)) {
        if (definition)
            package_definition_release(definition);
        free(folder);
        return;
    }
    if (p)
        free(folder);
    else
        p = add_package(s, folder, file);
    package_definition_release(&p->definition);
    p->file = file;
    p->broken = !definition;
    p->definition = definition ? *definition
                               : (struct package_definition){.kind = chart ? PACKAGE_LIBRARY
                                                                           : PACKAGE_COMPONENT};
}

static void remove_at(struct package_set *s, size_t i)
{
    struct package *p = s->items[i];

    (void)!map_take(&s->by_folder, hash_path(p->folder), p->folder);
    s->items[i] = s->items[--s->count];
    free_package(p);
}

bool package_set_remove(struct package_set *s, const struct manifest_file *file)
{
    for (size_t i = 0; i < s->count; i++) {
        if (s->items[i]->file == file) {
            remove_at(s, i);
            return true;
        }
    }
    return false;
}

/* ---- charts ---- */

/* Returns the nearest chart with a folder above `path`; NULL without one. */
static struct package *find_chart_above(const struct package_set *s, const char *path)
{
    CLEANUP(free_cleanup) char *folder = xstrdup(path);
    char *slash;

    while ((slash = strrchr(folder, '/'))) {
        struct package *p;

        if (slash == folder)
            break;
        *slash = '\0';
        p = find_folder(s, folder);
        if (p && is_chart(p))
            return p;
    }
    struct package *top = find_folder(s, *path == '/' ? "/" : ".");
    bool above = strcmp(path, "..") == 0 || strncmp(path, "../", 3) == 0;

    return top && is_chart(top) && !above && strcmp(path, top->folder) != 0 ? top : NULL;
}

/* Returns the part of a path below the folder of a package. */
static const char *path_below(const struct package *p, const char *path)
{
    size_t len = strcmp(p->folder, ".") == 0 ? 0 : strlen(p->folder);

    path += len;
    return *path == '/' ? path + 1 : path;
}

static bool is_below(const struct package *p, const char *path, const char *name)
{
    const char *below = path_below(p, path);
    size_t len = strlen(name);

    return strncmp(below, name, len) == 0 && below[len] == '/';
}

/*
 * Marks packages inside of a chart: its dependencies, templates that look like a package, and
 * kustomizations anywhere below it, which charts have as sources of their own files.
 */
static void mark_parts_of_charts(const struct package_set *s)
{
    for (size_t i = 0; i < s->count; i++) {
        struct package *p = s->items[i];
        const struct package *chart = find_chart_above(s, p->folder);

        p->in_chart = chart && (!is_chart(p) || is_below(chart, p->folder, "charts") ||
                                is_below(chart, p->folder, "templates") ||
                                strcmp(path_below(chart, p->folder), "templates") == 0);
        p->included = p->in_chart;
    }
}

/* ---- references ---- */

struct walk {
    struct package_set *set;
    const struct package_resolver *resolver;
    struct package **todo;
    size_t count;
    size_t capacity;
};

static void walk_release(struct walk *w)
{
    free(w->todo);
}

static void add_to_walk(struct walk *w, struct package *p)
{
    if (p->visit == w->set->visits)
        return;
    p->visit = w->set->visits;
    if (w->count == w->capacity) {
        w->capacity = w->capacity * 2 + 16;
        w->todo = xreallocarray(w->todo, w->capacity, sizeof(struct package *));
    }
    w->todo[w->count++] = p;
}

/* Returns the package in a folder, also one outside of the PATHs; NULL without one. */
static struct package *find_or_load(const struct walk *w, const char *folder)
{
    struct package *p = find_folder(w->set, folder);
    struct package_definition definition;

    if (p || !w->resolver->load || !w->resolver->load(w->resolver->context, folder, &definition))
        return p;
    p = add_package(w->set, xstrdup(folder), NULL);
    p->definition = definition;
    p->included = true;
    return p;
}

/*
 * Returns true if a reference leads to a folder that is in no PATH: kustomize accepts only folders
 * from there. `to` is its package.
 */
static bool leads_outside(const struct walk *w, const struct package_reference *r,
                          const struct package *to)
{
    const char *dot = strrchr(r->path, '.');

    if (to || w->resolver->load)
        return to && !to->file;
    return r->use == REFERENCE_OBJECTS && (!dot || strchr(dot, '/'));
}

static void note_obstacle(struct package *root, enum render_obstacle obstacle,
                          const struct package *culprit, const char *reference)
{
    if (root->obstacle != OBSTACLE_NONE)
        return;
    root->obstacle = obstacle;
    root->culprit = culprit;
    root->reference = reference;
}

/* Adds the package that a reference leads to, or notes why the root cannot be rendered. */
static void follow_reference(struct walk *w, struct package *root, const struct package *from,
                             const struct package_reference *r)
{
    if (package_reference_is_remote(r->path)) {
        root->incomplete = true;
        note_obstacle(root, OBSTACLE_REMOTE, from, r->path);
        return;
    }
    CLEANUP(free_cleanup) char *path = package_join_path(from->folder, r->path);
    struct package *to = find_or_load(w, path);

    root->incomplete = root->incomplete || leads_outside(w, r, to);
    if (to && to != root && !is_chart(to))
        to->included = true;
    if (to && !is_chart(to))
        add_to_walk(w, to);
    else if (!to && w->resolver->exists && !w->resolver->exists(w->resolver->context, path))
        note_obstacle(root, OBSTACLE_MISSING, from, r->path);
}

/* Collects in w->todo the packages that a root includes, and finds what prevents its rendering. */
static void walk_root(struct walk *w, struct package *root)
{
    w->set->visits++;
    w->count = 0;
    add_to_walk(w, root);
    for (size_t i = 0; i < w->count; i++) {
        const struct package *p = w->todo[i];

        root->incomplete = root->incomplete || p->definition.changes_objects;
        if (p->definition.inflates_charts)
            note_obstacle(root, OBSTACLE_CHARTS, p, NULL);
        for (size_t k = 0; k < p->definition.count; k++)
            follow_reference(w, root, p, &p->definition.references[k]);
    }
}

static void set_role(struct package_set *s, const char *path, enum file_role role)
{
    struct role *known = map_get(&s->roles, hash_path(path), path);
    size_t size = strlen(path) + 1;

    /* A file has one role for all roots: that with objects wins, then the rendered one. */
    if (known) {
        if (known->role != FILE_RENDERED && (role == FILE_RENDERED || role == FILE_OBJECTS))
            known->role = role;
        return;
    }
    known = xmalloc(sizeof(*known) + size);
    known->role = role;
    memcpy(known->path, path, size);
    map_add(&s->roles, hash_path(path), known);
}

/* Sets the roles of the files to which the packages of the walk refer. */
static void set_roles(const struct walk *w, const struct package *root)
{
    for (size_t i = 0; i < w->count; i++) {
        const struct package *p = w->todo[i];

        for (size_t k = 0; k < p->definition.count; k++) {
            const struct package_reference *r = &p->definition.references[k];
            CLEANUP(free_cleanup) char *path = package_join_path(p->folder, r->path);

            set_role(w->set, path,
                     root->treatment == TREATMENT_RENDER ? FILE_RENDERED
                     : r->use == REFERENCE_OBJECTS       ? FILE_OBJECTS
                                                         : FILE_INPUT);
        }
    }
}

static void resolve_kustomization(struct walk *w, struct package *root)
{
    root->obstacle = w->resolver->kustomizations;
    walk_root(w, root);
    root->treatment = root->obstacle == OBSTACLE_NONE ? TREATMENT_RENDER : TREATMENT_FILES;
    for (size_t i = 0; i < w->count; i++)
        w->todo[i]->rendered = w->todo[i]->rendered || root->treatment == TREATMENT_RENDER;
    set_roles(w, root);
}

static void resolve_chart(const struct walk *w, struct package *root)
{
    root->obstacle = w->resolver->charts;
    root->treatment = root->obstacle == OBSTACLE_NONE ? TREATMENT_RENDER : TREATMENT_FILES;
    root->rendered = root->treatment == TREATMENT_RENDER;
}

/* ---- resolution ---- */

static int compare_packages(const void *a, const void *b)
{
    return strcmp((*(struct package *const *)a)->folder, (*(struct package *const *)b)->folder);
}

/* Forgets the result of an earlier resolution, and the packages outside of the PATHs. */
static void reset(struct package_set *s)
{
    for (size_t i = 0; i < s->count;) {
        struct package *p = s->items[i];

        p->obstacle = OBSTACLE_NONE;
        p->rendered = false;
        p->incomplete = is_chart(p);
        p->culprit = NULL;
        p->reference = NULL;
        p->visit = 0;
        p->treatment = p->broken ? TREATMENT_BROKEN : TREATMENT_UNUSED;
        if (p->file)
            i++;
        else
            remove_at(s, i);
    }
    s->visits = 0;
    release_roles(s);
    if (s->count > 1)
        qsort(s->items, s->count, sizeof(struct package *), compare_packages);
}

/* Marks the packages to which another package of the set refers. */
static void mark_references(const struct package_set *s)
{
    for (size_t i = 0; i < s->count; i++) {
        const struct package *p = s->items[i];

        for (size_t k = 0; k < p->definition.count; k++) {
            CLEANUP(free_cleanup)
            char *path = package_join_path(p->folder, p->definition.references[k].path);
            struct package *to = find_folder(s, path);

            if (to && to != p && is_chart(to) == is_chart(p))
                to->included = true;
        }
    }
}

/* Charts below the folder of charts of a kustomization that renders them are its input. */
static void mark_inflated_charts(const struct package_set *s)
{
    for (size_t i = 0; i < s->count; i++) {
        struct package *p = s->items[i];
        CLEANUP(free_cleanup) char *home = package_join_path(p->folder, "..");
        CLEANUP(free_cleanup) char *owner = package_join_path(home, "..");
        const struct package *kustomization = is_chart(p) ? find_folder(s, owner) : NULL;

        for (size_t k = 0; kustomization && k < kustomization->definition.count; k++) {
            CLEANUP(free_cleanup)
            char *path = package_join_path(owner, kustomization->definition.references[k].path);

            p->included = p->included ||
                          (kustomization->definition.inflates_charts && strcmp(path, home) == 0);
        }
    }
}

static void resolve_root(struct walk *w, struct package *p)
{
    if (p->definition.kind == PACKAGE_KUSTOMIZATION)
        resolve_kustomization(w, p);
    else if (p->definition.kind == PACKAGE_CHART)
        resolve_chart(w, p);
}

void package_set_resolve(struct package_set *s, const struct package_resolver *resolver)
{
    CLEANUP(walk_release) struct walk w = {.set = s, .resolver = resolver};
    size_t count;

    reset(s);
    /* Packages from outside of the PATHs are added behind these. */
    count = s->count;
    mark_parts_of_charts(s);
    mark_references(s);
    mark_inflated_charts(s);
    for (size_t i = 0; i < count; i++) {
        if (!s->items[i]->included && !s->items[i]->broken)
            resolve_root(&w, s->items[i]);
    }
    for (size_t i = 0; i < count; i++) {
        struct package *p = s->items[i];

        if (!p->included || (p->broken && !p->in_chart))
            continue;
        /* No root reaches a loop of references: its first kustomization becomes a root. */
        if (p->visit == 0 && p->definition.kind == PACKAGE_KUSTOMIZATION && !p->in_chart)
            resolve_root(&w, p);
        else
            p->treatment = TREATMENT_INCLUDED;
    }
    /* Charts sort before their subcharts, of which the treatment is that of the chart. */
    for (size_t i = 0; i < count; i++) {
        struct package *p = s->items[i];
        const struct package *chart = p->in_chart ? find_chart_above(s, p->folder) : NULL;

        p->rendered = p->rendered || (chart && chart->rendered);
    }
}

static enum file_role role_in_chart(const struct package *chart, const char *path)
{
    if (chart->rendered)
        return FILE_RENDERED;
    /* CustomResourceDefinitions of a chart are no templates. */
    return is_below(chart, path, "crds") ? FILE_OBJECTS : FILE_CHART;
}

enum file_role package_set_role(const struct package_set *s, const char *path)
{
    if (s->count == 0)
        return FILE_PLAIN;
    CLEANUP(free_cleanup) char *clean = package_join_path("", path);
    CLEANUP(free_cleanup) char *folder = package_join_path(clean, "..");
    const struct role *role = map_get(&s->roles, hash_path(clean), clean);
    const struct package *p = find_folder(s, folder), *chart = find_chart_above(s, clean);

    if (role)
        return role->role;
    if (p && !is_chart(p) && !p->in_chart)
        return FILE_UNLISTED;
    return chart ? role_in_chart(chart, clean) : FILE_PLAIN;
}
