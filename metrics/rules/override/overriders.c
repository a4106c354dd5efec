/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/override/overriders.h"

#include <math.h>

#include "metrics/base/json_patch.h"
#include "metrics/base/json_verbatim.h"
#include "metrics/base/number.h"
#include "metrics/rules/override/image_reference.h"
#include "metrics/rules/override/workload_schema.h"

enum { PATH_MAX_BYTES = 1 << 16, TEXT_MAX_BYTES = 1 << 24 };

/* The object that is changed, and the reason of a failure. */
struct overriding_object {
    cJSON **object;
    const struct yaml_converter *yaml;
    struct error *err;
};

/*
 * Returns true if Karmada can decode the object again after a patch (apimachinery:
 * unstructuredJSONScheme): it needs a kind, and an apiVersion with one '/' at most.
 */
static bool is_decodable(const cJSON *object, struct error *err)
{
    const char *version = json_str(object, "apiVersion", "");
    const char *slash = strchr(version, '/');

    if (*json_str(object, "kind", "") == '\0')
        return fail(err, "the result has no kind");
    if (slash && strchr(slash + 1, '/'))
        return fail(err, "the result has an invalid apiVersion");
    return true;
}

static enum overriders_result apply_patch(struct overriding_object *o,
                                          const struct json_patch_operation *operations,
                                          size_t count)
{
    return json_patch_apply(o->object, operations, count, o->err) &&
                   is_decodable(*o->object, o->err)
               ? OVERRIDERS_APPLIED
               : OVERRIDERS_FAILED;
}

/* Applies one operation of a list that is patched as a whole in Karmada. */
static enum overriders_result apply_operation(struct overriding_object *o, const char *op,
                                              const char *path, const cJSON *value)
{
    const struct json_patch_operation operation = {op, path, value};

    return apply_patch(o, &operation, 1);
}

/* ---- kinds with containers ---- */

/* Returns the path of the containers of an object; NULL for other kinds. */
static const char *containers_path(const cJSON *object)
{
    const char *kind = json_str(object, "kind", "");

    if (!workload_has_containers(kind))
        return NULL;
    return strcmp(kind, "Pod") == 0 ? "/spec/containers" : "/spec/template/spec/containers";
}

/*
 * Stores the value at the path of the containers; NULL if it is absent. Returns false if a parent
 * of it is no object.
 */
static bool find_containers(const cJSON *object, const char *path, const cJSON **out)
{
    const cJSON *at = object;
    char *part;

    while (at && !cJSON_IsNull(at) && (part = json_pointer_next(&path))) {
        if (!cJSON_IsObject(at)) {
            free(part);
            return false;
        }
        at = cJSON_GetObjectItemCaseSensitive(at, part);
        free(part);
    }
    *out = *path == '\0' ? at : NULL;
    return true;
}

/* ---- imageOverrider ---- */

static struct image_change image_change_of(const cJSON *item)
{
    return (struct image_change){json_str(item, "component", ""), json_str(item, "operator", ""),
                                 json_str(item, "value", "")};
}

static enum overriders_result replace_image(struct overriding_object *o, const cJSON *item,
                                            const char *path, const char *image)
{
    CLEANUP(strbuf_release) struct strbuf fresh = STRBUF_INIT(TEXT_MAX_BYTES);
    CLEANUP(json_cleanup) cJSON *value = NULL;
    const struct image_change change = image_change_of(item);

    if (*path != '/') {
        fail(o->err, "the path of the image does not begin with '/'");
        return OVERRIDERS_FAILED;
    }
    if (!image_apply_change(image, &change, &fresh, o->err))
        return OVERRIDERS_FAILED;
    value = cJSON_CreateString(fresh.data);
    return apply_operation(o, "replace", path, value);
}

/* Changes the image of one container. Returns false with the reason if it is no valid image. */
static bool change_container_image(struct overriding_object *o, cJSON *container,
                                   const struct image_change *change)
{
    CLEANUP(strbuf_release) struct strbuf fresh = STRBUF_INIT(TEXT_MAX_BYTES);
    cJSON *image = cJSON_GetObjectItemCaseSensitive(container, "image");

    if (!image_apply_change(json_str(container, "image", ""), change, &fresh, o->err))
        return false;
    json_replace(container, image, cJSON_CreateString(fresh.data));
    return true;
}

/*
 * Changes the images of all containers, but not of initContainers. Karmada patches each image by
 * its path; the list may be long, so that it is walked once here.
 */
static enum overriders_result override_all_images(struct overriding_object *o, const cJSON *item)
{
    const char *path = containers_path(*o->object);
    const struct image_change change = image_change_of(item);
    const cJSON *containers = NULL;

    if (!path)
        return apply_patch(o, NULL, 0);
    if (!workload_fits_schema(*o->object, json_str(*o->object, "kind", ""), o->err))
        return OVERRIDERS_FAILED;
    if (find_containers(*o->object, path, &containers) && containers) {
        for (cJSON *at = containers->child; at; at = at->next) {
            if (!change_container_image(o, at, &change))
                return OVERRIDERS_FAILED;
        }
    }
    return apply_patch(o, NULL, 0);
}

/* The value that a path without escapes leads to, in `*value`. */
static enum overriders_result find_predicate_value(struct overriding_object *o, const char *path,
                                                   const cJSON **value)
{
    CLEANUP(free_cleanup) char *text = NULL;
    const cJSON *at = *o->object;
    char *part, *rest, *next;
    int64_t index;

    path += strspn(path, "/");
    text = xstrdup(path);
    for (size_t len = strlen(text); len > 0 && text[len - 1] == '/'; len--)
        text[len - 1] = '\0';
    rest = text;
    while ((next = strchr(rest, '/'))) {
        *next = '\0';
        part = rest;
        rest = next + 1;
        at = json_get(at, part);
        if (cJSON_IsObject(at))
            continue;
        next = strchrnul(rest, '/');
        CLEANUP(free_cleanup) char *number = xmemdup0(rest, (size_t)(next - rest));
        if (!cJSON_IsArray(at) || !json_parse_index(number, &index) || index > INT32_MAX) {
            fail(o->err, "the path %s of the image does not exist", path);
            return OVERRIDERS_FAILED;
        }
        at = index < 0 ? NULL : cJSON_GetArrayItem(at, (int)index);
        if (!cJSON_IsObject(at)) {
            fail(o->err, "the index %s in the path %s of the image is out of range", number, path);
            return OVERRIDERS_PANICKED;
        }
        if (*next == '\0')
            break; /* The index is also read as a key of the element. */
        rest = next + 1;
    }
    *value = json_get(at, rest);
    return OVERRIDERS_APPLIED;
}

static enum overriders_result override_image(struct overriding_object *o, const cJSON *item)
{
    const cJSON *predicate = json_get(item, "predicate");
    const char *path = json_str(predicate, "path", "");
    const cJSON *value = NULL;
    enum overriders_result result;

    if (!predicate)
        return override_all_images(o, item);
    result = find_predicate_value(o, path, &value);
    if (result != OVERRIDERS_APPLIED)
        return result;
    if (!cJSON_IsString(value)) {
        fail(o->err, "the value at the path %s of the image is no text", path);
        return OVERRIDERS_FAILED;
    }
    CLEANUP(free_cleanup) char *image = xstrdup(value->valuestring);

    return replace_image(o, item, path, image);
}

/* ---- commandOverrider and argsOverrider ---- */

/* Appends a value as Go's fmt.Sprintf("%s") does: Karmada converts the present values so. */
static void add_formatted(struct strbuf *out, const cJSON *value)
{
    bool list = cJSON_IsArray(value);
    const cJSON *item;

    if (cJSON_IsString(value)) {
        strbuf_adds(out, value->valuestring);
    } else if (cJSON_IsNull(value)) {
        strbuf_adds(out, "%!s(<nil>)");
    } else if (cJSON_IsBool(value)) {
        strbuf_addf(out, "%%!s(bool=%s)", cJSON_IsTrue(value) ? "true" : "false");
    } else if (cJSON_IsNumber(value)) {
        strbuf_adds(out, value->valuedouble == trunc(value->valuedouble) ? "%!s(int64="
                                                                         : "%!s(float64=");
        strbuf_add_double(out, value->valuedouble);
        strbuf_addc(out, ')');
    } else {
        strbuf_adds(out, list ? "[" : "map[");
        cJSON_ArrayForEach (item, value) {
            if (item != value->child)
                strbuf_addc(out, ' ');
            if (!list)
                strbuf_addf(out, "%s:", item->string);
            add_formatted(out, item);
        }
        strbuf_addc(out, ']');
    }
}

/* Returns the new list, owned by the caller. `present` may be NULL. */
static cJSON *change_list(const cJSON *present, const char *op, const cJSON *values)
{
    cJSON *fresh = cJSON_CreateArray();
    const cJSON *item;

    cJSON_ArrayForEach (item, present) {
        CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX_BYTES);

        add_formatted(&text, item);
        if (strcmp(op, "remove") != 0 || !json_array_has_text(values, text.data))
            cJSON_AddItemToArray(fresh, cJSON_CreateString(text.data));
    }
    if (strcmp(op, "add") != 0)
        return fresh;
    cJSON_ArrayForEach (item, values)
        cJSON_AddItemToArray(fresh,
                             cJSON_CreateString(cJSON_IsString(item) ? item->valuestring : ""));
    return fresh;
}

/* Changes the list `key` of a container with the name of the overrider. */
static enum overriders_result change_container(struct overriding_object *o, cJSON *container,
                                               const char *key, const cJSON *item)
{
    const cJSON *name = json_get(container, "name");
    cJSON *present, *fresh;

    if (!cJSON_IsObject(container)) {
        fail(o->err, "a container is no object");
        return OVERRIDERS_PANICKED;
    }
    if (!cJSON_IsString(name) ||
        strcmp(name->valuestring, json_str(item, "containerName", "")) != 0)
        return OVERRIDERS_APPLIED;
    present = cJSON_GetObjectItemCaseSensitive(container, key);
    if (present && !cJSON_IsNull(present) && !cJSON_IsArray(present)) {
        fail(o->err, "the field %s of the container %s is no list", key, name->valuestring);
        return OVERRIDERS_PANICKED;
    }
    fresh = change_list(present, json_str(item, "operator", ""), json_array(item, "value"));
    if (present)
        json_replace(container, present, fresh);
    else
        cJSON_AddItemToObject(container, key, fresh);
    return OVERRIDERS_APPLIED;
}

static enum overriders_result override_list(struct overriding_object *o, const cJSON *item,
                                            const char *key)
{
    const char *path = containers_path(*o->object);
    enum overriders_result result = OVERRIDERS_APPLIED;
    const cJSON *containers = NULL;

    if (!path)
        return apply_patch(o, NULL, 0);
    if (!find_containers(*o->object, path, &containers) ||
        (containers && !cJSON_IsArray(containers))) {
        fail(o->err, "the containers of the object are no list");
        return OVERRIDERS_FAILED;
    }
    for (cJSON *at = containers ? containers->child : NULL; at && result == OVERRIDERS_APPLIED;
         at = at->next)
        result = change_container(o, at, key, item);
    return result == OVERRIDERS_APPLIED ? apply_patch(o, NULL, 0) : result;
}

static enum overriders_result override_command(struct overriding_object *o, const cJSON *item)
{
    return override_list(o, item, "command");
}

static enum overriders_result override_args(struct overriding_object *o, const cJSON *item)
{
    return override_list(o, item, "args");
}

/* ---- labelsOverrider and annotationsOverrider ---- */

/* Returns metadata.<map> if it is an object with only texts; else NULL. */
static const cJSON *find_text_map(const cJSON *object, const char *map)
{
    const cJSON *found = json_get(json_get(object, "metadata"), map);
    const cJSON *item;

    if (!cJSON_IsObject(found))
        return NULL;
    cJSON_ArrayForEach (item, found) {
        if (!cJSON_IsString(item))
            return NULL;
    }
    return found;
}

/* Sets metadata.<map> to an empty object. Returns false if metadata is no object. */
static bool clear_text_map(cJSON *object, const char *map)
{
    cJSON *metadata = cJSON_GetObjectItemCaseSensitive(object, "metadata");
    cJSON *old;

    if (!metadata)
        metadata = cJSON_AddObjectToObject(object, "metadata");
    if (!cJSON_IsObject(metadata))
        return false;
    old = cJSON_GetObjectItemCaseSensitive(metadata, map);
    if (old)
        json_replace(metadata, old, cJSON_CreateObject());
    else
        cJSON_AddObjectToObject(metadata, map);
    return true;
}

/* Returns true if the operation has an effect on the key; makes the map for an added key. */
static bool prepare_key(cJSON *object, const char *map, const char *op, const char *key)
{
    const cJSON *present = find_text_map(object, map);

    if (strcmp(op, "remove") == 0 || strcmp(op, "replace") == 0)
        return json_get(present, key);
    return strcmp(op, "add") != 0 || present || clear_text_map(object, map);
}

/* Appends the path of a key. Only '/' is escaped, as in Karmada. */
static void add_map_path(struct strbuf *out, const char *map, const char *key)
{
    strbuf_addf(out, "/metadata/%s/", map);
    for (; *key; key++) {
        if (*key == '/')
            strbuf_adds(out, "~1");
        else
            strbuf_addc(out, *key);
    }
}

static enum overriders_result override_text_map(struct overriding_object *o, const cJSON *item,
                                                const char *map)
{
    const char *op = json_str(item, "operator", "");
    enum overriders_result result = OVERRIDERS_APPLIED;
    const cJSON *value;

    cJSON_ArrayForEach (value, json_object_or_null(json_get(item, "value"))) {
        CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT(PATH_MAX_BYTES);

        if (!prepare_key(*o->object, map, op, value->string))
            continue;
        add_map_path(&path, map, value->string);
        result = apply_operation(o, op, path.data, value);
        if (result != OVERRIDERS_APPLIED)
            return result;
    }
    return result;
}

static enum overriders_result override_labels(struct overriding_object *o, const cJSON *item)
{
    return override_text_map(o, item, "labels");
}

static enum overriders_result override_annotations(struct overriding_object *o, const cJSON *item)
{
    return override_text_map(o, item, "annotations");
}

/* ---- plaintext and fieldOverrider ---- */

/* Applies a list of operations with the member `path_key` to the tree `*doc`. */
static bool patch_with_list(cJSON **doc, const cJSON *list, const char *path_key, struct error *err)
{
    size_t count = 0, size = (size_t)cJSON_GetArraySize(list);
    CLEANUP(free_cleanup)
    struct json_patch_operation *operations = xcalloc(size, sizeof(*operations));
    const cJSON *item;

    cJSON_ArrayForEach (item, list)
        operations[count++] = (struct json_patch_operation){
            json_str(item, "operator", ""), json_str(item, path_key, ""), json_get(item, "value")};
    return json_patch_apply(doc, operations, count, err);
}

static enum overriders_result override_plaintext(struct overriding_object *o, const cJSON *list)
{
    return patch_with_list(o->object, list, "path", o->err) && is_decodable(*o->object, o->err)
               ? OVERRIDERS_APPLIED
               : OVERRIDERS_FAILED;
}

/* Returns the text at a JSON pointer with its container; NULL with the reason. */
static cJSON *find_text_field(struct overriding_object *o, const char *pointer, cJSON **container)
{
    cJSON *at = *o->object;
    const char *rest = pointer;
    char *part;

    *container = NULL;
    if (*pointer != '\0' && *pointer != '/') {
        fail(o->err, "the fieldPath %s does not begin with '/'", pointer);
        return NULL;
    }
    while (at && (part = json_pointer_next(&rest))) {
        int64_t index = -1;

        *container = at;
        if (cJSON_IsArray(at))
            at = json_parse_index(part, &index) && index >= 0 && index <= INT32_MAX
                     ? cJSON_GetArrayItem(at, (int)index)
                     : NULL;
        else
            at = cJSON_IsObject(at) ? cJSON_GetObjectItemCaseSensitive(at, part) : NULL;
        free(part);
    }
    if (!at)
        fail(o->err, "there is no field %s", pointer);
    else if (!cJSON_IsString(at))
        fail(o->err, "the field %s is no text", pointer);
    return cJSON_IsString(at) && *container ? at : NULL;
}

/* Returns the patched JSON text, owned by the caller; NULL with the reason. */
static char *patch_json_text(struct overriding_object *o, const char *text, const cJSON *list)
{
    CLEANUP(json_cleanup) cJSON *tree = NULL;

    if (*text == '\0')
        return xstrdup("");
    tree = json_verbatim_parse(text, o->err);
    if (!tree)
        return NULL;
    if (!cJSON_IsObject(tree) && !cJSON_IsNull(tree) && *text != '[') {
        fail(o->err, "the text of the field is no JSON object or array");
        return NULL;
    }
    return patch_with_list(&tree, list, "subPath", o->err) ? json_verbatim_write(tree) : NULL;
}

static char *patch_yaml_text(struct overriding_object *o, const char *text, const cJSON *list)
{
    CLEANUP(json_cleanup) cJSON *tree = NULL;

    if (!o->yaml) {
        fail(o->err, "YAML in fields cannot be evaluated here");
        return NULL;
    }
    tree = o->yaml->read(text, o->err);
    if (!tree)
        return NULL;
    if (!cJSON_IsObject(tree) && !cJSON_IsArray(tree) && !cJSON_IsNull(tree)) {
        fail(o->err, "the text of the field is no YAML mapping or sequence");
        return NULL;
    }
    return patch_with_list(&tree, list, "subPath", o->err) ? o->yaml->write(tree) : NULL;
}

static enum overriders_result override_field(struct overriding_object *o, const cJSON *item)
{
    const cJSON *yaml = json_array(item, "yaml"), *json = json_array(item, "json");
    const char *pointer = json_str(item, "fieldPath", "");
    CLEANUP(free_cleanup) char *text = NULL;
    cJSON *container;
    cJSON *field = find_text_field(o, pointer, &container);

    if (!field)
        return OVERRIDERS_FAILED;
    if (cJSON_GetArraySize(yaml) > 0)
        text = patch_yaml_text(o, field->valuestring, yaml);
    else if (cJSON_GetArraySize(json) > 0)
        text = patch_json_text(o, field->valuestring, json);
    else
        text = xstrdup(""); /* Karmada writes an empty text. */
    if (!text) {
        fail_in(o->err, "field %s", pointer);
        return OVERRIDERS_FAILED;
    }
    json_replace(container, field, cJSON_CreateString(text));
    return OVERRIDERS_APPLIED;
}

/* ---- one rule ---- */

typedef enum overriders_result item_fn(struct overriding_object *o, const cJSON *item);

/* Lists of overriders, in the order in which Karmada applies them; plaintext follows. */
static const struct {
    const char *list;
    item_fn *apply;
} lists[] = {
    {"imageOverrider", override_image},
    {"commandOverrider", override_command},
    {"argsOverrider", override_args},
    {"labelsOverrider", override_labels},
    {"annotationsOverrider", override_annotations},
    {"fieldOverrider", override_field},
};

enum overriders_result overriders_apply(const cJSON *overriders, cJSON **object,
                                        const struct yaml_converter *yaml, struct error *err)
{
    struct overriding_object o = {object, yaml, err};
    enum overriders_result result = OVERRIDERS_APPLIED;
    const cJSON *item;

    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        cJSON_ArrayForEach (item, json_array(overriders, lists[i].list)) {
            result = lists[i].apply(&o, item);
            if (result != OVERRIDERS_APPLIED) {
                fail_in(err, "%s", lists[i].list);
                return result;
            }
        }
    }
    result = override_plaintext(&o, json_array(overriders, "plaintext"));
    if (result != OVERRIDERS_APPLIED)
        fail_in(err, "plaintext");
    return result;
}

/* ---- normal form ---- */

enum field_use {
    FIELD_ALWAYS,    /* Written even if empty. */
    FIELD_NOT_EMPTY, /* Omitted if empty. */
    FIELD_VALUE,     /* Any value; null if absent. */
};

/* Fields of the elements of a list of overriders, in Karmada's order. */
static const struct list_fields {
    const char *list;
    struct {
        const char *key;
        enum field_use use;
        const char *below; /* List of the fields of the elements or of the object. */
    } fields[5];
} normal_lists[] = {
    {"plaintext",
     {{"path", FIELD_ALWAYS, NULL},
      {"operator", FIELD_ALWAYS, NULL},
      {"value", FIELD_VALUE, NULL}}},
    {"imageOverrider",
     {{"predicate", FIELD_NOT_EMPTY, "predicate"},
      {"component", FIELD_ALWAYS, NULL},
      {"operator", FIELD_ALWAYS, NULL},
      {"value", FIELD_NOT_EMPTY, NULL}}},
    {"commandOverrider",
     {{"containerName", FIELD_ALWAYS, NULL},
      {"operator", FIELD_ALWAYS, NULL},
      {"value", FIELD_NOT_EMPTY, NULL}}},
    {"argsOverrider",
     {{"containerName", FIELD_ALWAYS, NULL},
      {"operator", FIELD_ALWAYS, NULL},
      {"value", FIELD_NOT_EMPTY, NULL}}},
    {"labelsOverrider", {{"operator", FIELD_ALWAYS, NULL}, {"value", FIELD_VALUE, NULL}}},
    {"annotationsOverrider", {{"operator", FIELD_ALWAYS, NULL}, {"value", FIELD_VALUE, NULL}}},
    {"fieldOverrider",
     {{"fieldPath", FIELD_ALWAYS, NULL},
      {"json", FIELD_NOT_EMPTY, "json"},
      {"yaml", FIELD_NOT_EMPTY, "json"}}},
    {"predicate", {{"path", FIELD_ALWAYS, NULL}}},
    {"json",
     {{"subPath", FIELD_ALWAYS, NULL},
      {"operator", FIELD_ALWAYS, NULL},
      {"value", FIELD_VALUE, NULL}}},
};

enum { OVERRIDER_LISTS = 7 };

static bool is_empty(const cJSON *value)
{
    return !value || cJSON_IsNull(value) || (cJSON_IsString(value) && !*value->valuestring) ||
           ((cJSON_IsArray(value) || cJSON_IsObject(value)) && !value->child);
}

static cJSON *normalize_value(const cJSON *value, const char *list);

static cJSON *normalize_item(const cJSON *item, const struct list_fields *list)
{
    cJSON *out = cJSON_CreateObject();

    for (size_t i = 0; i < ARRAY_LEN(list->fields) && list->fields[i].key; i++) {
        const cJSON *value = cJSON_GetObjectItemCaseSensitive(item, list->fields[i].key);
        const char *key = list->fields[i].key;

        if (list->fields[i].use == FIELD_NOT_EMPTY && is_empty(value) &&
            !(cJSON_IsObject(value) && list->fields[i].below))
            continue;
        if (value && list->fields[i].below)
            cJSON_AddItemToObject(out, key, normalize_value(value, list->fields[i].below));
        else if (value)
            cJSON_AddItemToObject(out, key, cJSON_Duplicate(value, true));
        else if (list->fields[i].use == FIELD_VALUE)
            cJSON_AddNullToObject(out, key);
        else
            cJSON_AddStringToObject(out, key, "");
    }
    return out;
}

/* Returns an object, or a list of objects, with the fields of `list`. */
static cJSON *normalize_value(const cJSON *value, const char *list)
{
    const struct list_fields *fields = normal_lists;
    const cJSON *item;
    cJSON *out;

    while (strcmp(fields->list, list) != 0)
        fields++;
    if (!cJSON_IsArray(value))
        return normalize_item(value, fields);
    out = cJSON_CreateArray();
    cJSON_ArrayForEach (item, value)
        cJSON_AddItemToArray(out, normalize_item(item, fields));
    return out;
}

cJSON *overriders_normalize(const cJSON *overriders)
{
    cJSON *out = cJSON_CreateObject();

    for (size_t i = 0; i < OVERRIDER_LISTS; i++) {
        const cJSON *list = json_array(overriders, normal_lists[i].list);

        if (list && list->child)
            cJSON_AddItemToObject(out, normal_lists[i].list,
                                  normalize_value(list, normal_lists[i].list));
    }
    return out;
}
