/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/ignored_templates.h"

#include <regex.h>

#include "metrics/base/shown.h"
#include "metrics/model/store.h"
#include "metrics/model/template.h"

/* An API that Karmada does not propagate. A NULL version or kind stands for all. */
struct skipped_api {
    char *group;
    char *version;
    char *kind;
};

struct ignored {
    regex_t *namespaces;
    size_t namespace_count;
    struct skipped_api *apis;
    size_t api_count;
    struct api_version_source api_versions;
};

/* APIs that Karmada always skips, except Karmada's own: kind.c excludes these from templates. */
static const char default_apis[] = "events.k8s.io;coordination.k8s.io/v1";

/* `verdict` of a partition: undecided, not ignored as a whole, or VERDICT_REASON + the reason. */
enum { VERDICT_UNKNOWN, VERDICT_NONE, VERDICT_REASON };

static bool add_namespace_pattern(struct ignored *ignored, const char *pattern, size_t len,
                                  struct error *err)
{
    CLEANUP(free_cleanup) char *text = xcalloc(1, len + sizeof("^()$"));
    regex_t regex;

    snprintf(text, len + sizeof("^()$"), "^(%.*s)$", (int)len, pattern);
    int code = regcomp(&regex, text, REG_EXTENDED | REG_NOSUB);
    if (code == REG_ESPACE)
        memory_exhausted(0);
    if (code != 0) {
        char why[128];

        regerror(code, &regex, why, sizeof(why));
        return fail(err, "'%s' is not a regular expression for namespaces: %s",
                    shown_part(pattern, len).text, why);
    }
    ignored->namespaces = xreallocarray(ignored->namespaces, ignored->namespace_count + 1,
                                        sizeof(*ignored->namespaces));
    ignored->namespaces[ignored->namespace_count++] = regex;
    return true;
}

static void add_api(struct ignored *ignored, struct skipped_api api)
{
    ignored->apis = xreallocarray(ignored->apis, ignored->api_count + 1, sizeof(*ignored->apis));
    ignored->apis[ignored->api_count++] = api;
}

static void add_api_for_each_kind(struct ignored *ignored, struct skipped_api api,
                                  const char *kinds, const char *end)
{
    while (kinds < end) {
        size_t len = strcspn(kinds, ",;");

        if (len > (size_t)(end - kinds))
            len = (size_t)(end - kinds);
        add_api(ignored, (struct skipped_api){
                             xstrdup(api.group),
                             xstrdup(api.version),
                             xmemdup0(kinds, len),
                         });
        kinds += len + 1;
    }
}

/*
 * Adds the APIs of one part of --skipped-propagating-apis: group | group/version | v1/Kind,... |
 * group/version/Kind,... (Karmada: parseSingle).
 */
static bool add_apis_of_part(struct ignored *ignored, const char *token, size_t len,
                             struct error *err)
{
    const char *end = token + len;
    const char *slash = memchr(token, '/', len);
    const char *second = slash ? memchr(slash + 1, '/', (size_t)(end - slash - 1)) : NULL;

    if (!slash) {
        add_api(ignored, (struct skipped_api){.group = xmemdup0(token, len)});
        return true;
    }
    CLEANUP(free_cleanup) char *first = xmemdup0(token, (size_t)(slash - token));
    if (!second && strcmp(first, "v1") == 0) {
        char group[] = "";

        add_api_for_each_kind(ignored, (struct skipped_api){group, first, NULL}, slash + 1, end);
        return true;
    }
    if (!second) {
        add_api(ignored, (struct skipped_api){
                             xstrdup(first), xmemdup0(slash + 1, (size_t)(end - slash - 1)), NULL});
        return true;
    }
    if (memchr(second + 1, '/', (size_t)(end - second - 1)))
        return fail(err, "'%s' names no API: use group, group/version or group/version/Kind,Kind",
                    shown_part(token, len).text);
    CLEANUP(free_cleanup) char *version = xmemdup0(slash + 1, (size_t)(second - slash - 1));
    add_api_for_each_kind(ignored, (struct skipped_api){first, version, NULL}, second + 1, end);
    return true;
}

typedef bool add_fn(struct ignored *ignored, const char *token, size_t len, struct error *err);

/* Calls `add` for each non-empty part of `list`. Returns false if a call fails. */
static bool add_each_part(struct ignored *ignored, const char *list, const char *separator,
                          add_fn *add, struct error *err)
{
    while (*list) {
        size_t len = strcspn(list, separator);

        if (len > 0 && !add(ignored, list, len, err))
            return false;
        list += len + (list[len] != '\0');
    }
    return true;
}

struct ignored *ignored_new(const char *namespaces, const char *apis, struct error *err)
{
    struct ignored *ignored = xcalloc(1, sizeof(*ignored));

    if (!add_each_part(ignored, namespaces, ",", add_namespace_pattern, err) ||
        !add_each_part(ignored, default_apis, ";", add_apis_of_part, err) ||
        !add_each_part(ignored, apis, ";", add_apis_of_part, err)) {
        ignored_free(ignored);
        return NULL;
    }
    return ignored;
}

void ignored_set_api_versions(struct ignored *ignored, struct api_version_source source)
{
    ignored->api_versions = source;
}

void ignored_free(struct ignored *ignored)
{
    if (!ignored)
        return;
    for (size_t i = 0; i < ignored->namespace_count; i++)
        regfree(&ignored->namespaces[i]);
    for (size_t i = 0; i < ignored->api_count; i++) {
        free(ignored->apis[i].group);
        free(ignored->apis[i].version);
        free(ignored->apis[i].kind);
    }
    free(ignored->namespaces);
    free(ignored->apis);
    free(ignored);
}

static bool api_includes_type(const struct skipped_api *api, const struct type *type)
{
    const char *slash = strchr(type->api_version, '/');
    const char *version = slash ? slash + 1 : type->api_version;

    return strcmp(api->group, type->group) == 0 &&
           (!api->version || strcmp(api->version, version) == 0) &&
           (!api->kind || strcmp(api->kind, type->kind) == 0);
}

static bool skips_namespace(const struct ignored *ignored, const char *ns)
{
    for (size_t i = 0; *ns && i < ignored->namespace_count; i++) {
        if (regexec(&ignored->namespaces[i], ns, 0, NULL, 0) == 0)
            return true;
    }
    return false;
}

static bool is_reserved_namespace(const char *ns)
{
    static const char prefix[] = "karmada-es-";

    return strcmp(ns, "karmada-system") == 0 || strcmp(ns, "karmada-cluster") == 0 ||
           strncmp(ns, prefix, sizeof(prefix) - 1) == 0;
}

/* Returns the `verdict` of a partition: whether and why Karmada ignores all its objects. */
static int decide_partition_verdict(const struct ignored *ignored,
                                    const struct partition *partition)
{
    for (size_t i = 0; i < ignored->api_count; i++) {
        if (api_includes_type(&ignored->apis[i], partition->type))
            return VERDICT_REASON + IGNORED_SKIPPED_API;
    }
    if (is_reserved_namespace(partition->scope.ns))
        return VERDICT_REASON + IGNORED_RESERVED_NAMESPACE;
    if (skips_namespace(ignored, partition->scope.ns))
        return VERDICT_REASON + IGNORED_SKIPPED_NAMESPACE;
    return VERDICT_NONE;
}

/* Returns true for the ConfigMap that the API server writes at every start. */
static bool is_system_object(const struct entry *template)
{
    return strcmp(template->name, "extension-apiserver-authentication") == 0 &&
           strcmp(entry_ns(template), "kube-system") == 0 &&
           strcmp(entry_kind(template), "ConfigMap") == 0;
}

/*
 * Returns true if the API server refuses the object. One that an API server has stored is not
 * refused because its kind has gone since. The answer is not cached: a CustomResourceDefinition in
 * the files may change it.
 */
static bool is_unserved(const struct ignored *ignored, const struct entry *template)
{
    const struct api_version_source *source = &ignored->api_versions;
    const struct type *type = entry_type(template);
    const struct template *t = entry_template(template);
    enum api_version_answer answer = api_version_judge(source, type->api_version, type->kind);
    bool is_stored = t->unread || t->uid_hash != uid_hash("");

    return answer == API_VERSION_UNSERVED ||
           (answer == API_VERSION_ABSENT && (source->objects_decide || !is_stored));
}

bool find_ignored_reason(const struct ignored *ignored, const struct entry *template,
                         enum ignored_reason *reason)
{
    const struct template *t = entry_template(template);
    struct partition *partition = entry_partition(template);

    if (partition->verdict == VERDICT_UNKNOWN)
        partition->verdict = decide_partition_verdict(ignored, partition);
    if (is_system_object(template))
        *reason = IGNORED_SYSTEM_OBJECT;
    else if (partition->verdict != VERDICT_NONE)
        *reason = (enum ignored_reason)(partition->verdict - VERDICT_REASON);
    else if (template_claimed_by(t))
        *reason = IGNORED_CLAIMED_BY;
    else if (is_unserved(ignored, template))
        *reason = IGNORED_UNWATCHED_VERSION;
    else
        return false;
    return true;
}
