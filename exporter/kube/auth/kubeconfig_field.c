/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/auth/kubeconfig_field.h"

#include "exporter/system/encoding.h"
#include "exporter/system/secret.h"
#include "exporter/yaml/yaml.h"

enum { DATA_MAX_BYTES = 1024 * 1024, KEY_MAX = 64, TEXTS_MAX = 1000 };

bool field_fail(const struct field_place *place, const cJSON *object, const char *key,
                struct error *err, const char *fmt, ...)
{
    struct error what;
    va_list args;

    va_start(args, fmt);
    vsnprintf(what.text, sizeof(what.text), fmt, args);
    va_end(args);

    size_t line = yaml_line(object);
    if (line == 0)
        return fail(err, "'%s', %s: '%s': %s", place->file, place->what, key, what.text);
    return fail(err, "'%s', line %zu, %s: '%s': %s", place->file, line, place->what, key,
                what.text);
}

static const char *type_name(const cJSON *item)
{
    if (cJSON_IsString(item))
        return "a text";
    if (cJSON_IsNumber(item))
        return "a number";
    if (cJSON_IsBool(item))
        return "true or false";
    return cJSON_IsArray(item) ? "a list" : "a mapping";
}

/* The field, which is no null; NULL if it is missing. */
static const cJSON *find(const cJSON *object, const char *key)
{
    const cJSON *item = json_get(object, key);

    return item && !cJSON_IsNull(item) ? item : NULL;
}

static bool refuse(const struct field_place *place, const cJSON *object, const char *key,
                   const char *wanted, struct error *err)
{
    const cJSON *item = find(object, key);
    bool quotes_help =
        (cJSON_IsNumber(item) || cJSON_IsBool(item)) && strcmp(wanted, "a text") == 0;

    return field_fail(place, object, key, err, "it is %s and must be %s%s", type_name(item), wanted,
                      quotes_help ? ": put it in quotes" : "");
}

bool field_text(const struct field_place *place, const cJSON *object, const char *key,
                const char **out, struct error *err)
{
    const cJSON *item = find(object, key);

    if (item && !cJSON_IsString(item))
        return refuse(place, object, key, "a text", err);
    *out = item && item->valuestring[0] ? item->valuestring : NULL;
    return true;
}

bool field_bool(const struct field_place *place, const cJSON *object, const char *key, bool *out,
                struct error *err)
{
    const cJSON *item = find(object, key);

    if (item && !cJSON_IsBool(item))
        return refuse(place, object, key, "true or false", err);
    *out = cJSON_IsTrue(item);
    return true;
}

bool field_object(const struct field_place *place, const cJSON *object, const char *key,
                  const cJSON **out, struct error *err)
{
    const cJSON *item = find(object, key);

    if (item && !cJSON_IsObject(item))
        return refuse(place, object, key, "a mapping", err);
    *out = item;
    return true;
}

bool field_list(const struct field_place *place, const cJSON *object, const char *key,
                const cJSON **out, struct error *err)
{
    const cJSON *list = find(object, key);
    const cJSON *item;

    if (list && !cJSON_IsArray(list))
        return refuse(place, object, key, "a list", err);
    cJSON_ArrayForEach (item, list) {
        if (!cJSON_IsObject(item))
            return field_fail(place, object, key, err, "an item of it is %s and must be a mapping",
                              type_name(item));
    }
    *out = list;
    return true;
}

bool field_copy_text(const struct field_place *place, const cJSON *object, const char *key,
                     char **out, struct error *err)
{
    const char *text = NULL;

    if (!field_text(place, object, key, &text, err))
        return false;
    *out = text ? xstrdup(text) : NULL;
    return true;
}

char *field_resolve(const struct field_place *place, const char *path)
{
    char *full = NULL;

    if (path[0] == '/')
        return xstrdup(path);
    if (asprintf(&full, "%s/%s", place->folder, path) < 0)
        memory_exhausted(0);
    return full;
}

bool field_copy_path(const struct field_place *place, const cJSON *object, const char *key,
                     char **out, struct error *err)
{
    const char *path = NULL;

    if (!field_text(place, object, key, &path, err))
        return false;
    *out = path ? field_resolve(place, path) : NULL;
    return true;
}

bool field_copy_texts(const struct field_place *place, const cJSON *object, const char *key,
                      char ***out, size_t *out_count, struct error *err)
{
    const cJSON *list = find(object, key);
    const cJSON *item;
    int count = cJSON_GetArraySize(list);

    if (list && !cJSON_IsArray(list))
        return refuse(place, object, key, "a list", err);
    if (count > TEXTS_MAX)
        return field_fail(place, object, key, err, "it has more than %d items", TEXTS_MAX);
    cJSON_ArrayForEach (item, list) {
        if (!cJSON_IsString(item))
            return field_fail(place, object, key, err, "an item of it is %s and must be a text",
                              cJSON_IsNull(item) ? "null" : type_name(item));
    }

    char **texts = xcalloc((size_t)count + 1, sizeof(*texts));
    *out_count = 0;
    cJSON_ArrayForEach (item, list)
        texts[(*out_count)++] = xstrdup(item->valuestring);
    *out = texts;
    return true;
}

bool field_copy_bytes(const struct field_place *place, const cJSON *object, const char *key,
                      struct kube_bytes *out, struct error *err)
{
    CLEANUP(strbuf_release) struct strbuf bytes = STRBUF_SECRET(DATA_MAX_BYTES);
    char data_key[KEY_MAX];
    const char *data = NULL;
    size_t len;

    snprintf(data_key, sizeof(data_key), "%s-data", key);
    if (!field_copy_path(place, object, key, &out->file, err) ||
        !field_text(place, object, data_key, &data, err))
        return false;
    if (!data)
        return true;
    strbuf_reserve(&bytes, strlen(data));
    if (!base64_decode(data, &bytes))
        return field_fail(place, object, data_key, err, "it is not base64");
    if (!strbuf_ok(&bytes))
        return field_fail(place, object, data_key, err, "it is larger than %d bytes",
                          DATA_MAX_BYTES);
    if (bytes.len == 0 || memchr(bytes.data, '\0', bytes.len))
        return field_fail(place, object, data_key, err, "it is not PEM in base64");
    out->data = strbuf_take(&bytes, &len);
    return true;
}
