/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/work.h"

#include "metrics/base/number.h"
#include "metrics/base/timestamp.h"
#include "metrics/model/binding.h"

enum { OVERRIDE_NAMES_MAX = 64 };

static const char ns_key[] = "resourcebinding.karmada.io/namespace";
static const char name_key[] = "resourcebinding.karmada.io/name";
static const char cluster_wide_name_key[] = "clusterresourcebinding.karmada.io/name";
static const char generation_key[] = "resourcetemplate.karmada.io/generation";

static bool is_binding_name(const char *text)
{
    return *text && strlen(text) <= BINDING_NAME_MAX;
}

/*
 * Sets `ns` ("" if cluster-scoped) and `name` to those of the binding in the annotations of a Work.
 * Returns false if the Work belongs to no binding, or a text is longer than BINDING_NAME_MAX.
 */
static bool find_binding_of_work(const cJSON *annotations, const char **ns, const char **name)
{
    *ns = json_str(annotations, ns_key, "");
    *name = json_str(annotations, name_key, "");
    if (is_binding_name(*ns) && is_binding_name(*name))
        return true;
    *ns = "";
    *name = json_str(annotations, cluster_wide_name_key, "");
    return is_binding_name(*name);
}

/*
 * Returns the names of the override policies in the annotation `key`, each with a slash after it,
 * as an interned text. Ignores invalid elements, and elements after the first OVERRIDE_NAMES_MAX.
 */
static const char *read_override_names(struct decode *d, const cJSON *annotations, const char *key)
{
    const char *text = json_str(annotations, key, "");
    struct error ignored;
    CLEANUP(json_cleanup)
    cJSON *list = *text ? json_parse(text, strlen(text), NULL, &ignored) : NULL;
    CLEANUP(strbuf_release) struct strbuf names = STRBUF_INIT(SIZE_MAX);
    const cJSON *item;
    unsigned count = 0;

    if (cJSON_IsArray(list)) {
        cJSON_ArrayForEach (item, list) {
            const char *name = json_str(item, "policyName", "");

            if (count++ < OVERRIDE_NAMES_MAX && *name && strlen(name) <= OBJECT_NAME_MAX &&
                !strchr(name, '/'))
                strbuf_addf(&names, "%s/", name);
        }
    }
    return intern_add(d->strings, names.len > 0 ? names.data : "");
}

static void read_binding(struct decode *d, const cJSON *metadata, struct work *w)
{
    static const char *const keys[] = {ns_key, name_key, cluster_wide_name_key};
    const cJSON *annotations = decode_object(d, metadata, "metadata", "annotations");
    const cJSON *labels = decode_object(d, metadata, "metadata", "labels");
    const char *ns, *name;

    w->binding_id = binding_id_decode(d, labels);
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        decode_text(d, annotations, "metadata.annotations", keys[i]);
    if (!find_binding_of_work(annotations, &ns, &name))
        return;
    w->binding_ns = intern_add(d->strings, ns);
    w->binding_name = intern_add(d->strings, name);
    w->overrides = read_override_names(d, annotations, "policy.karmada.io/applied-overrides");
    w->cluster_overrides =
        read_override_names(d, annotations, "policy.karmada.io/applied-cluster-overrides");
}

/* Returns the annotation with the template's generation in the first manifest; 0 if unknown. */
static uint32_t read_template_generation(struct decode *d, const cJSON *spec)
{
    const cJSON *workload = decode_object(d, spec, "spec", "workload");
    const cJSON *manifests = decode_array(d, workload, "spec.workload", "manifests");
    const cJSON *metadata = json_get(cJSON_GetArrayItem(manifests, 0), "metadata");
    const char *text = json_str(json_get(metadata, "annotations"), generation_key, "");
    uint64_t generation = 0;

    return parse_uint(text, UINT32_MAX, &generation) ? (uint32_t)generation : 0;
}

static uint32_t read_written_time(struct decode *d, const cJSON *metadata)
{
    uint32_t created_s =
        timestamp_seconds(decode_time(d, metadata, "metadata", "creationTimestamp"));
    struct binding_write write;

    binding_write_decode(d, metadata, &write);
    return write.time_s > created_s ? write.time_s : created_s;
}

void *work_decode(struct decode *d, const cJSON *json)
{
    const cJSON *metadata = decode_object(d, json, "", "metadata");
    const cJSON *spec = decode_object(d, json, "", "spec");
    struct work *w = pool_alloc_zeroed(intern_memory(d->strings), sizeof(*w));

    read_binding(d, metadata, w);
    w->template_generation = read_template_generation(d, spec);
    w->written_s = read_written_time(d, metadata);
    w->deleting = decode_is_deleting(d, metadata);
    w->suspended = decode_bool(d, spec, "spec", "suspendDispatching") == OPTIONAL_TRUE;
    if (d->failed) {
        work_release(d->strings, w);
        return NULL;
    }
    return w;
}

void work_release(struct intern *strings, void *object)
{
    struct work *w = object;

    if (!w)
        return;
    intern_drop(strings, w->binding_ns);
    intern_drop(strings, w->binding_name);
    intern_drop(strings, w->overrides);
    intern_drop(strings, w->cluster_overrides);
    pool_free(w);
}

bool work_equal(const struct work *a, const struct work *b)
{
    return a->binding_ns == b->binding_ns && a->binding_name == b->binding_name &&
           a->binding_id == b->binding_id && a->template_generation == b->template_generation &&
           a->overrides == b->overrides && a->cluster_overrides == b->cluster_overrides &&
           a->written_s == b->written_s && a->deleting == b->deleting &&
           a->suspended == b->suspended;
}

bool work_take_next_override(const char **list, char name[OBJECT_NAME_MAX + 1])
{
    size_t len = strcspn(*list, "/");

    if (len == 0)
        return false;
    memcpy(name, *list, len);
    name[len] = '\0';
    *list += len + 1;
    return true;
}

const char *cluster_of_execution_ns(const char *ns)
{
    static const char prefix[] = "karmada-es-";
    size_t len = sizeof(prefix) - 1;

    return strncmp(ns, prefix, len) == 0 && ns[len] ? ns + len : NULL;
}

const char *work_binding_ns(const cJSON *json)
{
    const char *ns, *name;

    return find_binding_of_work(json_get(json_get(json, "metadata"), "annotations"), &ns, &name)
               ? ns
               : NULL;
}
