/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/auth/kubeconfig.h"

#include <errno.h>
#include <unistd.h>

#include "exporter/kube/auth/kubeconfig_entry.h"
#include "exporter/system/secret.h"
#include "exporter/yaml/yaml.h"
#include "metrics/base/shown.h"

enum {
    FILES_MAX = 64,
    FILE_MAX_BYTES = 1024 * 1024,
    NODES_MAX = 100 * 1000,
    NAMES_MAX_BYTES = 160, /* Of the contexts that an error lists. */
    FILES_MAX_BYTES = 64 * 1024,
};

struct source {
    char *file;
    char *folder; /* That relative paths in it start from. */
    cJSON *tree;  /* NULL if the file is empty. */
};

/* In the order of precedence. */
struct sources {
    struct source items[FILES_MAX];
    size_t count;
};

static void release_sources(struct sources *sources)
{
    for (size_t i = 0; i < sources->count; i++) {
        free(sources->items[i].file);
        free(sources->items[i].folder);
        secret_tree_cleanup(&sources->items[i].tree);
    }
}

/* The first document, as kubectl does it. NULL in `out` if there is none. */
static bool parse(const char *file, const char *text, cJSON **out, struct error *err)
{
    struct yaml_limits limits = {.nodes_max = NODES_MAX, .bytes_max = FILE_MAX_BYTES};
    struct yaml_text source = {text, strlen(text)};
    struct json_position where;

    CLEANUP(yaml_reader_cleanup)
    struct yaml_reader *reader = yaml_reader_new(yaml_read_text, &source, limits);
    switch (yaml_reader_next(reader, out, &where, err)) {
    case YAML_READ_DOCUMENT:
    case YAML_READ_ITEM:
        return true;
    case YAML_READ_END:
        *out = NULL;
        return true;
    case YAML_READ_MALFORMED:
        return fail_in(err, "the kubeconfig '%s', line %zu, column %zu", file, where.line,
                       where.column);
    }
    abort();
}

static bool check_kind(const char *file, const cJSON *tree, struct error *err)
{
    static const struct {
        const char *key;
        const char *wanted;
    } texts[] = {{"kind", "Config"}, {"apiVersion", "v1"}};

    if (!cJSON_IsObject(tree))
        return fail(err, "'%s' is not a kubeconfig: it is no mapping", file);
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct field_place place = {.file = file, .what = "the kubeconfig"};
        const char *text;

        if (!field_text(&place, tree, texts[i].key, &text, err))
            return false;
        if (text && strcmp(text, texts[i].wanted) != 0)
            return fail(err, "'%s' is not a kubeconfig: its %s is '%s' and not '%s'", file,
                        texts[i].key, shown(text).text, texts[i].wanted);
    }
    return true;
}

static bool add_source(struct sources *sources, const char *file, struct error *err)
{
    CLEANUP(secret_cleanup) char *text = secret_file_read(file, FILE_MAX_BYTES, NULL, err);
    const char *slash = strrchr(file, '/');
    cJSON *tree;

    if (!text)
        return fail_in(err, "the kubeconfig");
    if (!parse(file, text, &tree, err))
        return false;
    if (tree && !check_kind(file, tree, err)) {
        secret_tree_cleanup(&tree);
        return false;
    }
    /* "/config" is in "/", "config" in ".". */
    sources->items[sources->count++] = (struct source){
        .file = xstrdup(file),
        .folder = slash ? xmemdup0(file, slash == file ? 1 : (size_t)(slash - file)) : xstrdup("."),
        .tree = tree,
    };
    return true;
}

/* Each of the files, which are separated by ':', as shown_path() shows it. */
static void add_files(struct strbuf *out, const char *files)
{
    for (const char *at = files; *at;) {
        size_t len = strcspn(at, ":");
        CLEANUP(free_cleanup) char *file = xmemdup0(at, len);

        strbuf_addf(out, "%s%s", len > 0 ? shown_path(file).text : "", at[len] ? ":" : "");
        at += len + (at[len] == ':');
    }
}

static bool read_sources(const char *files, struct sources *out, struct error *err)
{
    bool several = strchr(files, ':') != NULL;

    for (const char *at = files; *at;) {
        size_t len = strcspn(at, ":");
        CLEANUP(free_cleanup) char *file = xmemdup0(at, len);

        at += len + (at[len] == ':');
        if (len == 0 || (several && access(file, F_OK) != 0 && errno == ENOENT))
            continue;
        if (out->count == FILES_MAX)
            return fail(err, "there are more than %d kubeconfig files", FILES_MAX);
        if (!add_source(out, file, err))
            return false;
    }
    if (out->count > 0)
        return true;

    CLEANUP(strbuf_release) struct strbuf names = STRBUF_INIT(FILES_MAX_BYTES);

    add_files(&names, files);
    return fail(err, "there is no kubeconfig file: none of '%s' exists", names.data);
}

/* A named item of one of the lists, and what error texts about its fields need. */
struct kubeconfig_entry {
    struct field_place place;
    char what[SHOWN_BYTES + 16];
    const cJSON *body; /* NULL if it is empty. */
};

/* What one list is called, and an item of it. */
struct list_names {
    const char *list;
    const char *item;
};
static const struct list_names contexts = {"contexts", "context"};
static const struct list_names clusters = {"clusters", "cluster"};
static const struct list_names users = {"users", "user"};

enum search { SEARCH_FOUND, SEARCH_ABSENT, SEARCH_FAILED };

static enum search find_in(const struct source *source, const struct list_names *names,
                           const char *name, struct kubeconfig_entry *out, struct error *err)
{
    struct field_place place = {source->file, source->folder, names->list};
    const cJSON *list;
    const cJSON *item;
    const cJSON *found = NULL;

    if (!field_list(&place, source->tree, names->list, &list, err))
        return SEARCH_FAILED;
    cJSON_ArrayForEach (item, list) {
        const char *its_name;

        if (!field_text(&place, item, "name", &its_name, err))
            return SEARCH_FAILED;
        if (!its_name || strcmp(its_name, name) != 0)
            continue;
        if (found) {
            field_fail(&place, item, "name", err, "'%s' is there twice", shown(name).text);
            return SEARCH_FAILED;
        }
        found = item;
    }
    if (!found)
        return SEARCH_ABSENT;
    snprintf(out->what, sizeof(out->what), "%s '%s'", names->item, shown(name).text);
    out->place = (struct field_place){source->file, source->folder, out->what};
    return field_object(&out->place, found, names->item, &out->body, err) ? SEARCH_FOUND
                                                                          : SEARCH_FAILED;
}

/* Of several files, the first that has the entry counts. */
static enum search find(const struct sources *sources, const struct list_names *names,
                        const char *name, struct kubeconfig_entry *out, struct error *err)
{
    for (size_t i = 0; i < sources->count; i++) {
        enum search search = find_in(&sources->items[i], names, name, out, err);

        if (search != SEARCH_ABSENT)
            return search;
    }
    return SEARCH_ABSENT;
}

/* The error lists the contexts there are, for a person who has to name one. */
static bool refuse_context(const struct sources *sources, const char *name, struct error *err)
{
    CLEANUP(strbuf_release) struct strbuf names = STRBUF_INIT(NAMES_MAX_BYTES);
    const cJSON *item;

    for (size_t i = 0; i < sources->count; i++) {
        cJSON_ArrayForEach (item, json_get(sources->items[i].tree, contexts.list))
            strbuf_addf(&names, "%s'%s'", names.len > 0 ? ", " : "",
                        shown(json_str(item, "name", "")).text);
    }

    const char *list = names.len > 0 ? names.data : "none";
    const char *more = strbuf_ok(&names) ? "" : " and more";
    if (name)
        return fail(err, "the kubeconfig has no context '%s' (there are: %s%s)", shown(name).text,
                    list, more);
    return fail(err,
                "the kubeconfig has no current-context: name one with --context (there are: "
                "%s%s)",
                list, more);
}

static bool choose_context(const struct sources *sources, const char *wanted, const char **out,
                           struct error *err)
{
    const char *name = wanted && *wanted ? wanted : NULL;

    for (size_t i = 0; i < sources->count && !name; i++) {
        struct field_place place = {sources->items[i].file, "", "the kubeconfig"};

        if (!field_text(&place, sources->items[i].tree, "current-context", &name, err))
            return false;
    }
    *out = name;
    return name ? true : refuse_context(sources, NULL, err);
}

/* The cluster or user that a context names; it may be in another file than the context. */
static bool find_named(const struct sources *sources, const struct kubeconfig_entry *context,
                       const struct list_names *names, struct kubeconfig_entry *out,
                       struct error *err)
{
    const char *name;

    if (!field_text(&context->place, context->body, names->item, &name, err))
        return false;
    if (!name)
        return field_fail(&context->place, context->body, names->item, err, "it is missing");
    switch (find(sources, names, name, out, err)) {
    case SEARCH_FOUND:
        return true;
    case SEARCH_ABSENT:
        return field_fail(&context->place, context->body, names->item, err,
                          "there is no %s '%s' in the kubeconfig", names->item, shown(name).text);
    case SEARCH_FAILED:
        return false;
    }
    abort();
}

static bool read_context(const struct sources *sources, const char *name, struct kube_config *out,
                         struct error *err)
{
    struct kubeconfig_entry context = {.body = NULL};
    struct kubeconfig_entry cluster = {.body = NULL};
    struct kubeconfig_entry user = {.body = NULL};

    switch (find(sources, &contexts, name, &context, err)) {
    case SEARCH_FOUND:
        break;
    case SEARCH_ABSENT:
        return refuse_context(sources, name, err);
    case SEARCH_FAILED:
        return false;
    }
    out->context = xstrdup(name);
    return field_copy_text(&context.place, context.body, "namespace", &out->ns, err) &&
           find_named(sources, &context, &clusters, &cluster, err) &&
           find_named(sources, &context, &users, &user, err) &&
           kubeconfig_read_cluster(&cluster.place, cluster.body, out, err) &&
           kubeconfig_read_user(&user.place, user.body, out, err);
}

static bool load(const struct kubeconfig_options *options, struct kube_config *out,
                 struct error *err)
{
    CLEANUP(release_sources) struct sources sources = {.count = 0};
    CLEANUP(strbuf_release) struct strbuf origin = STRBUF_INIT(FILES_MAX_BYTES);
    const char *name;

    if (!read_sources(options->files, &sources, err) ||
        !choose_context(&sources, options->context, &name, err) ||
        !read_context(&sources, name, out, err))
        return false;
    if (out->exec && options->refuse_exec)
        return fail(err,
                    "context '%s' needs the exec plugin '%s', and running programs is not "
                    "allowed here",
                    shown(name).text, shown_path(out->exec->command).text);
    strbuf_addf(&origin, "context '%s' of '", shown(name).text);
    add_files(&origin, options->files);
    strbuf_addc(&origin, '\'');
    out->origin = strbuf_take(&origin, NULL);
    return true;
}

bool kubeconfig_load(const struct kubeconfig_options *options, struct kube_config *out,
                     struct error *err)
{
    *out = (struct kube_config){.origin = NULL};

    bool loaded = load(options, out, err);
    if (!loaded)
        kube_config_release(out);
    secret_wipe_stack();
    return loaded;
}
