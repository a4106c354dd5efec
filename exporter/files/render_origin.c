/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/files/render_origin.h"

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exporter/files/manifest_scan.h"
#include "exporter/system/file.h"
#include "metrics/base/map.h"

#define ORIGIN_ANNOTATION "config.kubernetes.io/origin"

enum { TEMPLATE_MAX_BYTES = 4 << 20 };

/* An object of a file. */
struct indexed_object {
    char *kind;
    char *ns;
    char *name;
    struct json_position where;
};

/* A file that is the origin of objects. Objects or text are read when they are needed. */
struct origin_file {
    struct manifest_file *file; /* With the path as the user names it. */
    struct indexed_object *objects;
    size_t count;
    size_t capacity;
    char *text; /* Text of a template; NULL before it is read. */
    bool indexed;
};

/* Line of the rendered text with a comment of helm. */
struct source_line {
    size_t line;
    const char *source; /* In the rendered text; ends at the end of the line. */
    size_t len;
};

struct origin_finder {
    struct manifest_limits limits;
    struct map files;
    struct origin_package current;
    struct source_line *sources; /* Comments in the current package, in order. */
    size_t source_count;
    size_t source_capacity;
    char *folder;      /* Folder of the current package, as the user names it. */
    char *real_folder; /* The same without links; NULL if unknown, as the following. */
    char *real_root;   /* PATH with the package. */
    char *working_folder;
};

static bool is_file(const void *item, const void *key)
{
    return strcmp(((const struct origin_file *)item)->file->path, key) == 0;
}

struct origin_finder *origin_finder_new(const struct manifest_limits *limits)
{
    struct origin_finder *f = xcalloc(1, sizeof(*f));

    f->limits = *limits;
    f->files = MAP_INIT(is_file);
    f->working_folder = realpath(".", NULL);
    return f;
}

static void free_file(struct origin_file *file)
{
    for (size_t i = 0; i < file->count; i++) {
        free(file->objects[i].kind);
        free(file->objects[i].ns);
        free(file->objects[i].name);
    }
    free(file->objects);
    free(file->text);
    manifest_file_free(file->file);
    free(file);
}

static void end_package(struct origin_finder *f)
{
    free(f->folder);
    free(f->real_folder);
    free(f->real_root);
    f->folder = f->real_folder = f->real_root = NULL;
    f->source_count = 0;
}

void origin_finder_free(struct origin_finder *f)
{
    void *file;

    if (!f)
        return;
    for (size_t at = 0; (file = map_next(&f->files, &at));)
        free_file(file);
    map_release(&f->files);
    end_package(f);
    free(f->sources);
    free(f->working_folder);
    free(f);
}

static void add_source(struct origin_finder *f, struct source_line source)
{
    if (f->source_count == f->source_capacity) {
        f->source_capacity = f->source_capacity * 2 + 64;
        f->sources = xreallocarray(f->sources, f->source_capacity, sizeof(*f->sources));
    }
    f->sources[f->source_count++] = source;
}

/* Finds the comments of helm: "# Source: chart/templates/web.yaml" after a line "---". */
static void find_sources(struct origin_finder *f, const char *text)
{
    static const char prefix[] = "# Source: ";
    bool after_marker = false;
    size_t line = 1;

    for (const char *at = text; *at; line++) {
        size_t len = strcspn(at, "\n");

        if (after_marker && strncmp(at, prefix, sizeof(prefix) - 1) == 0)
            add_source(
                f, (struct source_line){line, at + sizeof(prefix) - 1, len - (sizeof(prefix) - 1)});
        after_marker = len == 3 && memcmp(at, "---", 3) == 0;
        at += len;
        at += *at == '\n';
    }
}

void origin_finder_begin(struct origin_finder *f, const struct origin_package *package)
{
    const char *slash = strrchr(package->definition, '/');

    end_package(f);
    f->current = *package;
    f->folder =
        slash ? xmemdup0(package->definition,
                         slash == package->definition ? 1 : (size_t)(slash - package->definition))
              : xstrdup(".");
    f->real_folder = realpath(f->folder, NULL);
    f->real_root = realpath(package->root, NULL);
    if (!package->rendered->origin_folder)
        find_sources(f, package->rendered->text.data);
}

/* ---- files ---- */

static bool is_json_name(const char *path)
{
    size_t len = strlen(path);

    return len >= 5 && strcmp(path + len - 5, ".json") == 0;
}

static struct origin_file *get_file(struct origin_finder *f, const char *path)
{
    uint64_t hash = map_hash(path, strlen(path), 0);
    struct origin_file *file = map_get(&f->files, hash, path);
    struct stat about;

    if (file)
        return file;
    file = xcalloc(1, sizeof(*file));
    file->file = manifest_file_new(path, 0);
    /* With a signature, fields can be found in the file. JSON would need offsets of the objects. */
    if (stat(path, &about) == 0 && !is_json_name(path))
        file->file->signature = file_signature_of(&about);
    map_add(&f->files, hash, file);
    return file;
}

static void index_object(void *context, cJSON *object, struct json_place place)
{
    const cJSON *metadata = json_get(object, "metadata");
    struct origin_file *file = context;

    if (file->count == file->capacity) {
        file->capacity = file->capacity * 2 + 4;
        file->objects = xreallocarray(file->objects, file->capacity, sizeof(*file->objects));
    }
    file->objects[file->count++] = (struct indexed_object){
        .kind = xstrdup(json_str(object, "kind", "")),
        .ns = xstrdup(json_str(metadata, "namespace", "")),
        .name = xstrdup(json_str(metadata, "name", "")),
        .where = {place.line, place.column},
    };
}

/*
 * Returns how well an object of a file fits a rendered object: kustomize keeps the kind, may change
 * the namespace, and may add a prefix and a suffix to the name.
 */
static unsigned rate_object(const struct indexed_object *candidate, const cJSON *object)
{
    const cJSON *metadata = json_get(object, "metadata");
    const char *name = json_str(metadata, "name", "");
    unsigned rating = 1;

    if (strcmp(candidate->kind, json_str(object, "kind", "")) != 0)
        return 0;
    if (strcmp(candidate->name, name) == 0)
        rating = UINT_MAX - 1;
    else if (*candidate->name && strstr(name, candidate->name))
        rating += (unsigned)strlen(candidate->name) * 2;
    /* The namespace decides between objects with the same name. */
    return rating + (strcmp(candidate->ns, json_str(metadata, "namespace", "")) == 0);
}

/* Returns the place of a rendered object in a file with objects; line 1 if it is not there. */
static struct json_position find_in_objects(struct origin_finder *f, struct origin_file *file,
                                            const cJSON *object)
{
    struct json_position where = {1, 1};
    unsigned best = 0;
    struct error ignored;

    /* The objects before an error count: kustomize has read the file. */
    if (!file->indexed)
        (void)!manifest_read_file(file->file->path, &f->limits, index_object, file, &ignored);
    file->indexed = true;
    for (size_t i = 0; i < file->count; i++) {
        unsigned rating = rate_object(&file->objects[i], object);

        if (rating <= best)
            continue;
        best = rating;
        where = file->objects[i].where;
    }
    return where;
}

static const char *get_text(struct origin_file *file)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEMPLATE_MAX_BYTES);
    struct error ignored;

    if (!file->text)
        file->text =
            file_read(file->file->path, &text, &ignored) ? strbuf_take(&text, NULL) : xstrdup("");
    return file->text;
}

/* Returns true if a line, without indent and "- ", is "<key>: <value>". The value may have quotes.
 */
static bool line_has(const char *line, size_t len, const char *key, const char *value)
{
    size_t key_len = strlen(key), value_len = strlen(value), at = strspn(line, " -");

    if (at + key_len >= len || strncmp(line + at, key, key_len) != 0 || line[at + key_len] != ':')
        return false;
    at += key_len + 1;
    at += strspn(line + at, " \"'");
    return at + value_len <= len && strncmp(line + at, value, value_len) == 0 &&
           (at + value_len == len || strchr(" \"'\r#", line[at + value_len]));
}

size_t template_find_line(const char *text, const char *kind, const char *name)
{
    size_t first = 0, current = 0, start = 0, line = 1;

    for (const char *at = text; *at; line++) {
        size_t len = strcspn(at, "\n");

        if (len >= 3 && strncmp(at, "---", 3) == 0)
            current = start = 0;
        /* The key of an object, in contrast to a comment and an action of the template. */
        if (start == 0 && ((*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z')))
            start = line;
        if (*at != ' ' && line_has(at, len, "kind", kind))
            current = start;
        if (first == 0)
            first = current;
        if (current > 0 && line_has(at, len, "name", name))
            return current;
        at += len;
        at += *at == '\n';
    }
    return first > 0 ? first : 1;
}

/* Returns the line of a kustomization with the longest name that is in `name`; 1 without one. */
static size_t find_generator_line(const char *text, const char *name)
{
    size_t found = 1, longest = 0, line = 1;

    for (const char *at = text; *at; line++) {
        size_t len = strcspn(at, "\n");
        const char *key = strstr(at, "name:");

        if (key && key < at + len) {
            const char *value = key + strlen("name:") + strspn(key + strlen("name:"), " \"'");
            CLEANUP(free_cleanup) char *word = xmemdup0(value, strcspn(value, " \"',}#\r\n"));

            if (strlen(word) > longest && strstr(name, word)) {
                longest = strlen(word);
                found = line;
            }
        }
        at += len;
        at += *at == '\n';
    }
    return found;
}

/* ---- kustomize ---- */

/* Returns the rest of `path` below `folder`; NULL if it is not there. */
static const char *rest_below(const char *path, const char *folder)
{
    size_t len = folder ? strlen(folder) : 0;

    return len > 0 && strncmp(path, folder, len) == 0 && path[len] == '/' ? path + len + 1 : NULL;
}

/* Returns the path of a file as the user names it, owned by the caller. `real` has no links. */
static char *name_path(const struct origin_finder *f, const char *real)
{
    const char *rest = rest_below(real, f->real_folder);

    if (rest)
        return scan_join_path(f->folder, rest);
    rest = rest_below(real, f->real_root);
    if (rest)
        return scan_join_path(f->current.root, rest);
    rest = *f->current.root == '/' ? NULL : rest_below(real, f->working_folder);
    return xstrdup(rest ? rest : real);
}

/* Stores the value of "<key>: <value>" in the text of an annotation. Returns NULL without one. */
static char *read_member(const char *text, const char *key)
{
    size_t key_len = strlen(key);

    for (const char *at = text; *at;) {
        size_t len = strcspn(at, "\n");

        if (len > key_len + 1 && strncmp(at, key, key_len) == 0 && at[key_len] == ':')
            return xmemdup0(at + key_len + 2, len - key_len - 2);
        at += len;
        at += *at == '\n';
    }
    return NULL;
}

/* Removes the annotation from the object, and returns its text, owned by the caller; or NULL. */
static char *take_annotation(cJSON *object)
{
    cJSON *metadata = cJSON_GetObjectItemCaseSensitive(object, "metadata");
    cJSON *annotations = cJSON_GetObjectItemCaseSensitive(metadata, "annotations");
    const char *text = json_str(annotations, ORIGIN_ANNOTATION, NULL);
    char *taken = text ? xstrdup(text) : NULL;

    if (!taken)
        return NULL;
    cJSON_DeleteItemFromObjectCaseSensitive(annotations, ORIGIN_ANNOTATION);
    if (cJSON_GetArraySize(annotations) == 0)
        cJSON_DeleteItemFromObjectCaseSensitive(metadata, "annotations");
    return taken;
}

/* Returns the file that an annotation names; NULL without one. `key` is its member. */
static struct origin_file *find_annotated_file(struct origin_finder *f, const char *annotation,
                                               const char *key)
{
    CLEANUP(free_cleanup) char *relative = annotation ? read_member(annotation, key) : NULL;

    if (!relative)
        return NULL;
    CLEANUP(free_cleanup)
    char *real = package_join_path(f->current.rendered->origin_folder, relative);
    CLEANUP(free_cleanup) char *path = name_path(f, real);

    return get_file(f, path);
}

static struct render_origin find_kustomize_origin(struct origin_finder *f, cJSON *object)
{
    CLEANUP(free_cleanup) char *annotation = take_annotation(object);
    const char *name = json_str(json_get(object, "metadata"), "name", "");
    struct origin_file *file = find_annotated_file(f, annotation, "path");

    if (file)
        return (struct render_origin){file->file, find_in_objects(f, file, object)};
    file = find_annotated_file(f, annotation, "configuredIn");
    if (!file)
        file = get_file(f, f->current.definition);
    return (struct render_origin){file->file, {find_generator_line(get_text(file), name), 1}};
}

/* ---- helm ---- */

static const struct source_line *find_source(const struct origin_finder *f, size_t line)
{
    size_t from = 0, to = f->source_count;

    while (from < to) {
        size_t middle = from + (to - from) / 2;

        if (f->sources[middle].line <= line)
            from = middle + 1;
        else
            to = middle;
    }
    return from > 0 ? &f->sources[from - 1] : NULL;
}

static struct render_origin find_helm_origin(struct origin_finder *f, const cJSON *object,
                                             size_t line)
{
    const struct source_line *source = find_source(f, line);
    const char *slash = source ? memchr(source->source, '/', source->len) : NULL;
    struct origin_file *file;

    if (slash) {
        /* The source begins with the name of the chart. */
        CLEANUP(free_cleanup)
        char *below = xmemdup0(slash + 1, source->len - (size_t)(slash + 1 - source->source));
        CLEANUP(free_cleanup) char *path = scan_join_path(f->folder, below);

        /* A subchart may be in an archive. */
        if (access(path, R_OK) == 0) {
            file = get_file(f, path);
            return (struct render_origin){
                file->file,
                {template_find_line(get_text(file), json_str(object, "kind", ""),
                                    json_str(json_get(object, "metadata"), "name", "")),
                 1}};
        }
    }
    file = get_file(f, f->current.definition);
    return (struct render_origin){file->file, {1, 1}};
}

struct render_origin origin_finder_find(struct origin_finder *f, cJSON *object, size_t line)
{
    return f->current.rendered->origin_folder ? find_kustomize_origin(f, object)
                                              : find_helm_origin(f, object, line);
}
