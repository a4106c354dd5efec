/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/files/package_definition.h"

#include "metrics/base/base.h"

const char *const kustomization_names[KUSTOMIZATION_NAME_COUNT] = {
    "kustomization.yaml",
    "kustomization.yml",
    "Kustomization",
};

static bool is_kustomization_name(const char *name)
{
    for (unsigned i = 0; i < KUSTOMIZATION_NAME_COUNT; i++) {
        if (strcmp(name, kustomization_names[i]) == 0)
            return true;
    }
    return false;
}

static bool is_chart_name(const char *name)
{
    return strcmp(name, "Chart.yaml") == 0;
}

bool package_is_definition_name(const char *name)
{
    return is_kustomization_name(name) || is_chart_name(name);
}

void package_definition_release(struct package_definition *d)
{
    for (size_t i = 0; i < d->count; i++)
        free(d->references[i].path);
    free(d->references);
    free(d->name);
    *d = (struct package_definition){.kind = PACKAGE_KUSTOMIZATION};
}

static void add_reference(struct package_definition *d, const char *path, enum reference_use use)
{
    if (*path == '\0')
        return;
    if (d->count == d->capacity) {
        d->capacity = d->capacity * 2 + 8;
        d->references = xreallocarray(d->references, d->capacity, sizeof(*d->references));
    }
    d->references[d->count++] = (struct package_reference){xstrdup(path), use};
}

/* ---- kustomizations ---- */

/* Form of the elements of a list in a kustomization. */
enum element_form {
    FORM_PATH,     /* Text with a path; a text of YAML is no path. */
    FORM_KEY_PATH, /* Text "path", or "key=path". */
    FORM_OBJECT,   /* Object with the path in `member`. */
};

/* Lists of a kustomization that refer to files. */
static const struct reference_list {
    const char *name;
    enum element_form form;
    const char *member;
    enum reference_use use;
} reference_lists[] = {
    {"resources", FORM_PATH, NULL, REFERENCE_OBJECTS},
    {"bases", FORM_PATH, NULL, REFERENCE_OBJECTS},
    {"components", FORM_PATH, NULL, REFERENCE_OBJECTS},
    {"patches", FORM_OBJECT, "path", REFERENCE_INPUT},
    {"patches", FORM_PATH, NULL, REFERENCE_INPUT},
    {"patchesStrategicMerge", FORM_PATH, NULL, REFERENCE_INPUT},
    {"patchesJson6902", FORM_OBJECT, "path", REFERENCE_INPUT},
    {"replacements", FORM_OBJECT, "path", REFERENCE_INPUT},
    {"generators", FORM_PATH, NULL, REFERENCE_INPUT},
    {"transformers", FORM_PATH, NULL, REFERENCE_INPUT},
    {"validators", FORM_PATH, NULL, REFERENCE_INPUT},
    {"configurations", FORM_PATH, NULL, REFERENCE_INPUT},
    {"crds", FORM_PATH, NULL, REFERENCE_INPUT},
    {"helmCharts", FORM_OBJECT, "valuesFile", REFERENCE_INPUT},
};

/* Lists of files in each element of configMapGenerator and secretGenerator. */
static const struct reference_list generator_lists[] = {
    {"files", FORM_KEY_PATH, NULL, REFERENCE_INPUT},
    {"envs", FORM_PATH, NULL, REFERENCE_INPUT},
};

/* kustomize also accepts a patch or a generator itself in the place of its path. */
static bool is_path(const char *text)
{
    return !strchr(text, '\n') && !strchr(text, '{') && !strstr(text, ": ");
}

static void add_element(struct package_definition *d, const struct reference_list *list,
                        const cJSON *element)
{
    const char *text = list->form == FORM_OBJECT ? json_str(element, list->member, "")
                       : cJSON_IsString(element) ? element->valuestring
                                                 : "";
    const char *equals = list->form == FORM_KEY_PATH ? strchr(text, '=') : NULL;

    if (is_path(text))
        add_reference(d, equals ? equals + 1 : text, list->use);
}

static void add_list(struct package_definition *d, const struct reference_list *list,
                     const cJSON *document)
{
    const cJSON *element;

    cJSON_ArrayForEach (element, json_array(document, list->name))
        add_element(d, list, element);
}

static void add_generators(struct package_definition *d, const cJSON *generators)
{
    const cJSON *generator;

    cJSON_ArrayForEach (generator, generators) {
        for (size_t i = 0; i < ARRAY_LEN(generator_lists); i++)
            add_list(d, &generator_lists[i], generator);
        add_reference(d, json_str(generator, "env", ""), REFERENCE_INPUT);
    }
}

static void read_helm_charts(struct package_definition *d, const cJSON *document)
{
    const cJSON *charts = json_array(document, "helmCharts");
    const cJSON *old = json_array(document, "helmChartInflationGenerator");
    const cJSON *globals = json_get(document, "helmGlobals");

    d->inflates_charts = cJSON_GetArraySize(charts) + cJSON_GetArraySize(old) > 0;
    if (d->inflates_charts)
        add_reference(d, json_str(globals, "chartHome", "charts"), REFERENCE_INPUT);
}

/* Returns true if the kustomization has a member that can add or change objects. */
static bool changes_objects(const cJSON *document)
{
    static const char *const harmless[] = {"apiVersion", "kind",          "metadata",   "resources",
                                           "bases",      "buildMetadata", "sortOptions"};
    const cJSON *member;

    cJSON_ArrayForEach (member, document) {
        size_t i = 0;

        while (i < ARRAY_LEN(harmless) && strcmp(member->string, harmless[i]) != 0)
            i++;
        if (i == ARRAY_LEN(harmless))
            return true;
    }
    return false;
}

static bool read_kustomization(const cJSON *document, struct package_definition *d)
{
    const char *api_version = json_str(document, "apiVersion", "kustomize.config.k8s.io/");
    const char *kind = json_str(document, "kind", "Kustomization");
    bool is_component = strcmp(kind, "Component") == 0;

    if (strncmp(api_version, "kustomize.config.k8s.io/", strlen("kustomize.config.k8s.io/")) != 0 ||
        (!is_component && strcmp(kind, "Kustomization") != 0))
        return false;
    d->kind = is_component ? PACKAGE_COMPONENT : PACKAGE_KUSTOMIZATION;
    for (size_t i = 0; i < ARRAY_LEN(reference_lists); i++)
        add_list(d, &reference_lists[i], document);
    add_generators(d, json_array(document, "configMapGenerator"));
    add_generators(d, json_array(document, "secretGenerator"));
    add_reference(d, json_str(json_get(document, "openapi"), "path", ""), REFERENCE_INPUT);
    read_helm_charts(d, document);
    d->changes_objects = changes_objects(document);
    return true;
}

/* ---- charts ---- */

static bool read_chart(const cJSON *document, struct package_definition *d)
{
    static const char file_scheme[] = "file://";
    const char *name = json_str(document, "name", "");
    const cJSON *dependency;

    if (*name == '\0' || json_get(document, "kind") || !json_get(document, "apiVersion"))
        return false;
    d->kind =
        strcmp(json_str(document, "type", ""), "library") == 0 ? PACKAGE_LIBRARY : PACKAGE_CHART;
    d->name = xstrdup(name);
    cJSON_ArrayForEach (dependency, json_array(document, "dependencies")) {
        const char *repository = json_str(dependency, "repository", "");

        if (strncmp(repository, file_scheme, strlen(file_scheme)) == 0)
            add_reference(d, repository + strlen(file_scheme), REFERENCE_INPUT);
    }
    return true;
}

bool package_definition_read(const char *name, const cJSON *document,
                             struct package_definition *out)
{
    *out = (struct package_definition){.kind = PACKAGE_KUSTOMIZATION};
    if (!cJSON_IsObject(document))
        return false;
    return is_chart_name(name) ? read_chart(document, out)
                               : is_kustomization_name(name) && read_kustomization(document, out);
}

/* ---- paths ---- */

bool package_reference_is_remote(const char *path)
{
    static const char *const hosts[] = {"github.com", "gitlab.com", "bitbucket.org",
                                        "dev.azure.com"};

    if (strstr(path, "://") || strstr(path, "git::") == path || strstr(path, "?ref=") ||
        strncmp(path, "git@", strlen("git@")) == 0)
        return true;
    for (size_t i = 0; i < ARRAY_LEN(hosts); i++) {
        size_t len = strlen(hosts[i]);

        if (strncmp(path, hosts[i], len) == 0 && (path[len] == '/' || path[len] == ':'))
            return true;
    }
    return false;
}

/* Appends the names of `path` to the `len` bytes of `out`, and returns the new length. */
static size_t append_names(char *out, size_t len, const char *path)
{
    while (*path) {
        size_t name_len = strcspn(path, "/");
        size_t last = len;

        while (last > 0 && out[last - 1] != '/')
            last--;
        if (name_len == 2 && memcmp(path, "..", 2) == 0 && len > last &&
            !(len - last == 2 && memcmp(out + last, "..", 2) == 0)) {
            len = last > 1 ? last - 1 : last;
        } else if (name_len > 0 && !(name_len == 1 && *path == '.') &&
                   !(name_len == 2 && memcmp(path, "..", 2) == 0 && len == 1 && *out == '/')) {
            if (len > 0 && out[len - 1] != '/')
                out[len++] = '/';
            memcpy(out + len, path, name_len);
            len += name_len;
        }
        path += name_len;
        path += *path == '/';
    }
    return len;
}

char *package_join_path(const char *folder, const char *path)
{
    char *out = xmalloc(strlen(folder) + strlen(path) + 4);
    size_t len = 0;

    if (*path == '/' || *folder == '/')
        out[len++] = '/';
    if (*path != '/')
        len = append_names(out, len, folder);
    len = append_names(out, len, path);
    if (len == 0)
        out[len++] = '.';
    out[len] = '\0';
    return out;
}
