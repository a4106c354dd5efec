/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/files/file_recognition.h"

#include <strings.h>

#include "metrics/base/shown.h"
#include "metrics/base/utf16.h"
#include "metrics/base/utf8.h"
#include "metrics/model/builtin_kinds.h"
#include "metrics/model/kind.h"

#define LIST_KIND "List"

#define SKIPPED_NOUN(suffix, id, one, many) [SKIPPED_##suffix] = {id, one, many},
const struct skipped_noun skipped_nouns[SKIPPED_KIND_COUNT] = {SKIPPED_KINDS(SKIPPED_NOUN)};
#undef SKIPPED_NOUN

struct error skipped_message(enum skipped_kind kind)
{
    bool countable = strcmp(skipped_nouns[kind].one, skipped_nouns[kind].many) != 0;
    struct error text;

    fail(&text, "no Kubernetes object: looks like %s%s%s", countable ? "a " : "",
         skipped_nouns[kind].one,
         kind == SKIPPED_HELM_TEMPLATE
             ? "; render it: helm template CHART | karmada-policy-exporter check -"
             : "");
    return text;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* Returns true if the name of the file is `stem` with the extension of a YAML file. */
static bool has_yaml_name(const char *path, const char *stem)
{
    const char *name = base_name(path);
    size_t len = strlen(stem);

    return strncmp(name, stem, len) == 0 &&
           (strcmp(name + len, ".yaml") == 0 || strcmp(name + len, ".yml") == 0);
}

static enum skipped_kind other_document(const char *path)
{
    const char *dot = strrchr(base_name(path), '.');

    return dot && strcmp(dot, ".json") == 0 ? SKIPPED_OTHER_JSON : SKIPPED_OTHER_YAML;
}

/* Mark that opens an expression of a template, and the kind of the template. */
static const struct template_mark {
    const char *text;
    enum skipped_kind kind;
    bool in_names; /* Only in a name: valid YAML contains the mark, too. */
} template_marks[] = {
    {"{{", SKIPPED_HELM_TEMPLATE, false},  {"{%", SKIPPED_OTHER_TEMPLATE, false},
    {"{#", SKIPPED_OTHER_TEMPLATE, false}, {"<%", SKIPPED_OTHER_TEMPLATE, false},
    {"${", SKIPPED_OTHER_TEMPLATE, true},  {"$(", SKIPPED_OTHER_TEMPLATE, true},
};

/* Returns true if a quote at `at` begins a quoted text in YAML, and is not part of a plain text. */
static bool opens_quote(const char *line, const char *at)
{
    return (*at == '\'' || *at == '"') && (at == line || strchr(" \t[{,", at[-1]));
}

/* Returns the end of the quoted text that begins at `at`, or `end`. */
static const char *skip_quoted(const char *at, const char *end)
{
    const char *close = memchr(at + 1, *at, (size_t)(end - at - 1));

    return close ? close + 1 : end;
}

/* Returns the kind of template of which a line is a part: a mark in quotes is part of a text. */
static enum skipped_kind recognize_line(const char *line, size_t len)
{
    const char *end = line + len;

    for (const char *at = line; at < end;) {
        if (opens_quote(line, at)) {
            at = skip_quoted(at, end);
            continue;
        }
        for (size_t i = 0; i < ARRAY_LEN(template_marks); i++) {
            const struct template_mark *mark = &template_marks[i];
            size_t mark_len = strlen(mark->text);

            if (!mark->in_names && (size_t)(end - at) >= mark_len &&
                memcmp(at, mark->text, mark_len) == 0)
                return mark->kind;
        }
        at++;
    }
    return SKIPPED_NONE;
}

static enum skipped_kind recognize_name(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(template_marks); i++) {
        if (strstr(name, template_marks[i].text))
            return template_marks[i].kind;
    }
    return SKIPPED_NONE;
}

/* Returns the kind of template that has an expression in the identity of a document. */
static enum skipped_kind recognize_identity(const cJSON *document)
{
    const cJSON *metadata = json_get(document, "metadata");
    const char *const names[] = {
        json_str(document, "apiVersion", ""),   json_str(document, "kind", ""),
        json_str(metadata, "name", ""),         json_str(metadata, "namespace", ""),
        json_str(metadata, "generateName", ""),
    };
    enum skipped_kind found = SKIPPED_NONE;

    for (size_t i = 0; i < ARRAY_LEN(names) && found == SKIPPED_NONE; i++)
        found = recognize_name(names[i]);
    return found;
}

static bool is_kustomization(const char *path, const char *api_version)
{
    static const char group[] = "kustomize.config.k8s.io/";

    return strncmp(api_version, group, sizeof(group) - 1) == 0 ||
           (!*api_version && has_yaml_name(path, "kustomization"));
}

/* Returns true if metadata has a part that only a Kubernetes object has. */
static bool is_object_metadata(const cJSON *metadata)
{
    static const char *const keys[] = {"name", "generateName", "namespace", "labels",
                                       "annotations"};

    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        if (json_get(metadata, keys[i]))
            return true;
    }
    return false;
}

/* Returns the row of Karmada's kind of policies with this name; NULL for other kinds. */
static const struct kind_def *find_policy_kind(const char *kind)
{
    size_t count;
    const struct kind_def *rows = kind_table(&count);

    for (size_t i = 0; i < count; i++) {
        if ((rows[i].class == CLASS_POLICY || rows[i].class == CLASS_OVERRIDE) &&
            strcmp(rows[i].name, kind) == 0)
            return &rows[i];
    }
    return NULL;
}

/* Returns true if a policy cannot be of the group: other projects have kinds of the same names. */
static bool is_wrong_group(const char *api_version, const struct kind_def *policy)
{
    static const char suffix[] = "karmada.io";
    size_t len = api_group_len(api_version);

    if (api_group_is(api_version, len, policy->group))
        return false;
    return len == 0 || is_builtin_group(api_version) ||
           (len >= sizeof(suffix) - 1 &&
            memcmp(api_version + len - (sizeof(suffix) - 1), suffix, sizeof(suffix) - 1) == 0);
}

/* Returns the row of the kind that a policy in a wrong group is meant to have; NULL for others. */
static const struct kind_def *find_meant_policy(const char *api_version, const char *kind)
{
    const struct kind_def *policy = find_policy_kind(kind);

    return policy && *api_version && is_wrong_group(api_version, policy) ? policy : NULL;
}

/*
 * Returns true if the document is meant as an object for an API server: its kind is served, or its
 * group is, and the kind is misspelt. The core group and config.karmada.io share their names with
 * configurations of tools.
 */
static bool is_object_kind(const char *api_version, const char *kind)
{
    enum object_class class = kind_of(api_version, kind)->class;

    if (builtin_kind_find(api_version, kind) || strcmp(kind, LIST_KIND) == 0 ||
        find_meant_policy(api_version, kind))
        return true;
    if (class != CLASS_TEMPLATE && class != CLASS_OTHER)
        return true;
    if (class == CLASS_OTHER)
        return strcmp(kind, "KarmadaInitConfig") != 0;
    return api_group_len(api_version) > 0 && is_builtin_group(api_version);
}

/* Returns the member with this key in any letter case; NULL without one. */
static const cJSON *find_in_any_case(const cJSON *document, const char *key)
{
    const cJSON *member;

    cJSON_ArrayForEach (member, document) {
        if (strcasecmp(member->string, key) == 0)
            return member;
    }
    return NULL;
}

static const char *const type_keys[] = {"apiVersion", "kind"};

/*
 * Returns a member whose key is "apiVersion" or "kind" in wrong letter case, in a document that has
 * both; NULL without one.
 */
static const cJSON *find_miscased_type(const cJSON *document)
{
    const cJSON *found = NULL;

    if (!cJSON_IsObject(document))
        return NULL;
    for (size_t i = 0; i < ARRAY_LEN(type_keys); i++) {
        const cJSON *member = NULL;

        if (json_get(document, type_keys[i]))
            continue;
        member = find_in_any_case(document, type_keys[i]);
        if (!member)
            return NULL;
        found = member;
    }
    return found;
}

/* Returns true for an item of a List without a type; see list_item_set_type(). */
static bool is_untyped_item(const cJSON *document)
{
    return !*json_str(document, "apiVersion", "-") && !*json_str(document, "kind", "-");
}

/* Returns true if an element of an array is an object with a type. */
static bool has_objects(const cJSON *array)
{
    const cJSON *element;

    cJSON_ArrayForEach (element, array) {
        if (*json_str(element, "apiVersion", "") && *json_str(element, "kind", ""))
            return true;
    }
    return false;
}

bool document_is_object(const cJSON *document, struct error *why)
{
    const char *api_version = json_str(document, "apiVersion", "");
    const char *kind = json_str(document, "kind", "");
    const struct kind_def *policy = find_meant_policy(api_version, kind);
    const cJSON *miscased = find_miscased_type(document);

    if (cJSON_IsArray(document))
        return fail(why, "a sequence is no object: put each object into a document of its own");
    if (miscased)
        return fail(why, "the key '%s' is misspelt: write %s", shown(miscased->string).text,
                    strcasecmp(miscased->string, type_keys[0]) == 0 ? type_keys[0] : type_keys[1]);
    if (strcmp(kind, LIST_KIND) == 0 && !json_get(json_get(document, "metadata"), "name"))
        return fail(why, "the items of the List are no sequence");
    if (policy)
        return fail(why, "there is no kind %s in apiVersion '%s': write %s", kind,
                    shown(api_version).text, policy->api_version);
    return true;
}

enum skipped_kind recognize_document(const char *path, const cJSON *document)
{
    const char *api_version = json_str(document, "apiVersion", "");
    const char *kind = json_str(document, "kind", "");
    enum skipped_kind template;

    if (!cJSON_IsObject(document))
        return has_objects(document) ? SKIPPED_NONE : other_document(path);
    if (is_kustomization(path, api_version))
        return SKIPPED_KUSTOMIZATION;
    template = recognize_identity(document);
    if (template != SKIPPED_NONE)
        return template;
    if (!json_get(document, "kind") && has_yaml_name(path, "Chart"))
        return SKIPPED_HELM_CHART;
    if (find_miscased_type(document))
        return SKIPPED_NONE;
    if (!json_get(document, "apiVersion") && !json_get(document, "kind"))
        return other_document(path);
    if (is_untyped_item(document) || is_object_metadata(json_get(document, "metadata")))
        return SKIPPED_NONE;
    if (!*api_version || !*kind)
        return other_document(path);
    return is_object_kind(api_version, kind) ? SKIPPED_NONE : SKIPPED_CONFIGURATION;
}

enum skipped_kind recognize_text_at(const char *text, size_t len, size_t line)
{
    const char *end = text + len;

    for (; line > 1; line--) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));

        if (!newline)
            return SKIPPED_NONE;
        text = newline + 1;
    }
    const char *newline = memchr(text, '\n', (size_t)(end - text));

    return recognize_line(text, (size_t)((newline ? newline : end) - text));
}

/* Returns true if a text contains a key, with its quotes. */
static bool has_quoted(const char *text, size_t len, const char *quoted)
{
    return memmem(text, len, quoted, strlen(quoted));
}

bool is_commented_json(const char *head, size_t len)
{
    bool in_text = false;

    if (has_quoted(head, len, "\"apiVersion\"") ||
        (has_quoted(head, len, "\"kind\"") && has_quoted(head, len, "\"metadata\"")))
        return false;
    for (size_t i = 0; i + 1 < len; i++) {
        if (in_text && head[i] == '\\')
            i++;
        else if (head[i] == '"')
            in_text = !in_text;
        else if (!in_text && head[i] == '/' && (head[i + 1] == '/' || head[i + 1] == '*'))
            return true;
    }
    return false;
}

/* Returns true if a byte is a control character that no text contains, or not UTF-8. */
static bool has_foreign_byte(const char *text)
{
    while (*text) {
        bool is_control = (unsigned char)*text < ' ' && !strchr("\t\n\v\f\r\033", *text);

        if (is_control || utf8_next(&text) == UTF8_BROKEN)
            return true;
    }
    return false;
}

bool is_binary_text(const char *head, size_t len)
{
    enum { EXAMINED = 8000 }; /* As many bytes as git examines. */
    size_t examined = len < EXAMINED ? len : EXAMINED;

    if (utf16_detect(head, len).active || !memchr(head, '\0', examined))
        return false;

    /* Pieces between NUL bytes. The last piece may end in the middle of a character. */
    CLEANUP(free_cleanup) char *copy = xmemdup0(head, examined);
    for (size_t at = 0; at < examined; at += strlen(copy + at) + 1) {
        if (at + strlen(copy + at) < examined && has_foreign_byte(copy + at))
            return true;
    }
    return false;
}
