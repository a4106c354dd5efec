/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/references.h"

enum { PATH_ROOM = 128 };

/* Kinds of dependencies, in the order of struct references. */
enum dependency_kind {
    DEPENDENCY_CONFIG_MAP,
    DEPENDENCY_SECRET,
    DEPENDENCY_SERVICE_ACCOUNT,
    DEPENDENCY_VOLUME_CLAIM,
    DEPENDENCY_SERVICE,
    DEPENDENCY_ENDPOINT_SLICES,
};

static const struct reference_kind dependency_kinds[] = {
    [DEPENDENCY_CONFIG_MAP] = {"v1", "ConfigMap", NULL},
    [DEPENDENCY_SECRET] = {"v1", "Secret", NULL},
    [DEPENDENCY_SERVICE_ACCOUNT] = {"v1", "ServiceAccount", NULL},
    [DEPENDENCY_VOLUME_CLAIM] = {"v1", "PersistentVolumeClaim", NULL},
    [DEPENDENCY_SERVICE] = {"v1", "Service", NULL},
    [DEPENDENCY_ENDPOINT_SLICES] = {"discovery.k8s.io/v1", "EndpointSlice",
                                    "kubernetes.io/service-name"},
};

/* Field with the name of an object: outer.member.name, or member.name if `outer` is NULL. */
struct reference_field {
    const char *outer;
    const char *member;
    const char *path; /* Path of the member, for error messages. */
    const char *name;
    enum dependency_kind kind;
};

static const struct reference_field env_fields[] = {
    {"valueFrom", "configMapKeyRef", "env[].valueFrom.configMapKeyRef", "name",
     DEPENDENCY_CONFIG_MAP},
    {"valueFrom", "secretKeyRef", "env[].valueFrom.secretKeyRef", "name", DEPENDENCY_SECRET},
};

static const struct reference_field env_from_fields[] = {
    {NULL, "configMapRef", "envFrom[].configMapRef", "name", DEPENDENCY_CONFIG_MAP},
    {NULL, "secretRef", "envFrom[].secretRef", "name", DEPENDENCY_SECRET},
};

static const struct reference_field volume_fields[] = {
    {NULL, "configMap", "configMap", "name", DEPENDENCY_CONFIG_MAP},
    {NULL, "secret", "secret", "secretName", DEPENDENCY_SECRET},
    {NULL, "azureFile", "azureFile", "secretName", DEPENDENCY_SECRET},
    {"cephfs", "secretRef", "cephfs.secretRef", "name", DEPENDENCY_SECRET},
    {"cinder", "secretRef", "cinder.secretRef", "name", DEPENDENCY_SECRET},
    {"flexVolume", "secretRef", "flexVolume.secretRef", "name", DEPENDENCY_SECRET},
    {"rbd", "secretRef", "rbd.secretRef", "name", DEPENDENCY_SECRET},
    {"scaleIO", "secretRef", "scaleIO.secretRef", "name", DEPENDENCY_SECRET},
    {"iscsi", "secretRef", "iscsi.secretRef", "name", DEPENDENCY_SECRET},
    {"storageos", "secretRef", "storageos.secretRef", "name", DEPENDENCY_SECRET},
    {"csi", "nodePublishSecretRef", "csi.nodePublishSecretRef", "name", DEPENDENCY_SECRET},
    {NULL, "persistentVolumeClaim", "persistentVolumeClaim", "claimName", DEPENDENCY_VOLUME_CLAIM},
};

static const struct reference_field projected_fields[] = {
    {NULL, "configMap", "projected.sources[].configMap", "name", DEPENDENCY_CONFIG_MAP},
    {NULL, "secret", "projected.sources[].secret", "name", DEPENDENCY_SECRET},
};

/* A reference to an object, found in the JSON of a template; the name is borrowed. */
struct found_reference {
    enum dependency_kind kind;
    const char *name;
    bool excluded; /* The object is not a dependency, even if another field refers to it. */
};

struct search {
    struct decode *d;
    struct found_reference *items;
    size_t count;
    size_t capacity;
};

static void search_release(struct search *s)
{
    free(s->items);
}

/* Appends a reference, unless its name is NULL. */
static void add_reference(struct search *s, struct found_reference found)
{
    if (!found.name)
        return;
    if (s->count == s->capacity) {
        s->capacity = s->capacity ? 2 * s->capacity : 16;
        s->items = xreallocarray(s->items, s->capacity, sizeof(*s->items));
    }
    s->items[s->count++] = found;
}

static void add_field_references(struct search *s, const cJSON *parent,
                                 const struct reference_field *fields, size_t count)
{
    for (size_t i = 0; cJSON_IsObject(parent) && i < count; i++) {
        const struct reference_field *f = &fields[i];
        const cJSON *outer = f->outer ? json_get(parent, f->outer) : parent;
        const cJSON *member = json_get(outer, f->member);

        if (outer && !cJSON_IsObject(outer)) {
            char path[PATH_ROOM];

            snprintf(path, sizeof(path), "%.*s", (int)(strlen(f->path) - strlen(f->member) - 1),
                     f->path);
            decode_check_element(s->d, outer, path);
        }
        if (!member)
            continue;
        decode_check_element(s->d, member, f->path);
        add_reference(s, (struct found_reference){
                             f->kind, decode_text(s->d, member, f->path, f->name), false});
    }
}

static void read_container(struct search *s, const cJSON *container)
{
    const cJSON *env;

    cJSON_ArrayForEach (env, decode_array(s->d, container, "", "env")) {
        decode_check_element(s->d, env, "env[]");
        add_field_references(s, env, env_fields, ARRAY_LEN(env_fields));
    }
    cJSON_ArrayForEach (env, decode_array(s->d, container, "", "envFrom")) {
        decode_check_element(s->d, env, "envFrom[]");
        add_field_references(s, env, env_from_fields, ARRAY_LEN(env_from_fields));
    }
}

static void read_volume(struct search *s, const cJSON *volume)
{
    const cJSON *projected = decode_object(s->d, volume, "", "projected");
    const cJSON *source;

    add_field_references(s, volume, volume_fields, ARRAY_LEN(volume_fields));
    cJSON_ArrayForEach (source, decode_array(s->d, projected, "projected", "sources")) {
        decode_check_element(s->d, source, "projected.sources[]");
        add_field_references(s, source, projected_fields, ARRAY_LEN(projected_fields));
    }
}

static void read_pull_secret(struct search *s, const cJSON *secret)
{
    add_reference(s, (struct found_reference){DEPENDENCY_SECRET,
                                              decode_text(s->d, secret, "", "name"), false});
}

static void read_tls(struct search *s, const cJSON *tls)
{
    add_reference(s, (struct found_reference){DEPENDENCY_SECRET,
                                              decode_text(s->d, tls, "", "secretName"), false});
}

/* No PersistentVolumeClaim has the name of the claim template: each Pod has its own claim. */
static void read_volume_claim_template(struct search *s, const cJSON *claim)
{
    const cJSON *metadata = decode_object(s->d, claim, "", "metadata");

    add_reference(s,
                  (struct found_reference){DEPENDENCY_VOLUME_CLAIM,
                                           decode_text(s->d, metadata, "metadata", "name"), true});
}

/* Calls `read` for each element of `parent.key`. The prefix of errors is `path`.`key`[]. */
static void for_each_element(struct search *s, const cJSON *parent, const char *path,
                             const char *key, void (*read)(struct search *s, const cJSON *element))
{
    const cJSON *array = decode_array(s->d, parent, path, key);
    char prefix[PATH_ROOM];
    const cJSON *element;

    if (!array || !array->child)
        return;
    snprintf(prefix, sizeof(prefix), "%s.%s[]", path, key);
    s->d->prefix = prefix;
    cJSON_ArrayForEach (element, array) {
        decode_check_element(s->d, element, "");
        read(s, element);
    }
    s->d->prefix = NULL;
}

/* Returns the object at a path such as "spec.template.spec"; NULL if it is absent or invalid. */
static const cJSON *find_object_at_path(struct decode *d, const cJSON *json, const char *path)
{
    const char *step = path;

    while (json && *step) {
        size_t len = strcspn(step, ".");

        json = json->child;
        while (json && (strncmp(json->string, step, len) != 0 || json->string[len] != '\0'))
            json = json->next;
        step += len;
        if (cJSON_IsNull(json))
            return NULL;
        if (json && !cJSON_IsObject(json)) {
            char wrong[PATH_ROOM];

            snprintf(wrong, sizeof(wrong), "%.*s", (int)(step - path), path);
            decode_check_element(d, json, wrong);
            return NULL;
        }
        step += *step == '.';
    }
    return json;
}

static void read_pod(struct search *s, const cJSON *json, const char *path)
{
    const cJSON *pod = find_object_at_path(s->d, json, path);

    for_each_element(s, pod, path, "containers", read_container);
    for_each_element(s, pod, path, "initContainers", read_container);
    for_each_element(s, pod, path, "ephemeralContainers", read_container);
    for_each_element(s, pod, path, "volumes", read_volume);
    for_each_element(s, pod, path, "imagePullSecrets", read_pull_secret);

    /* serviceAccount is the deprecated name of the field; the API server sets both. */
    const char *older = decode_text(s->d, pod, path, "serviceAccount");
    const char *account = decode_text(s->d, pod, path, "serviceAccountName");

    account = account ? account : older;
    if (account && strcmp(account, "default") != 0)
        add_reference(s, (struct found_reference){DEPENDENCY_SERVICE_ACCOUNT, account, false});
}

static void read_stateful_set(struct search *s, const cJSON *json, const char *path)
{
    read_pod(s, json, path);
    for_each_element(s, find_object_at_path(s->d, json, "spec"), "spec", "volumeClaimTemplates",
                     read_volume_claim_template);
}

static void read_ingress(struct search *s, const cJSON *json, const char *path)
{
    for_each_element(s, find_object_at_path(s->d, json, path), path, "tls", read_tls);
}

static const struct interpreter {
    const char *api_version;
    const char *kind;
    void (*read)(struct search *s, const cJSON *json, const char *path);
    const char *path; /* Path of the object that `read` reads. */
} interpreters[] = {
    {"v1", "Pod", read_pod, "spec"},
    {"apps/v1", "Deployment", read_pod, "spec.template.spec"},
    {"apps/v1", "ReplicaSet", read_pod, "spec.template.spec"},
    {"apps/v1", "DaemonSet", read_pod, "spec.template.spec"},
    {"apps/v1", "StatefulSet", read_stateful_set, "spec.template.spec"},
    {"batch/v1", "Job", read_pod, "spec.template.spec"},
    {"batch/v1", "CronJob", read_pod, "spec.jobTemplate.spec.template.spec"},
    {"networking.k8s.io/v1", "Ingress", read_ingress, "spec"},
};

static int compare_references(const void *a, const void *b)
{
    const struct found_reference *x = a;
    const struct found_reference *y = b;
    int order = x->kind < y->kind ? -1 : x->kind > y->kind;

    if (order == 0)
        order = strcmp(x->name, y->name);
    /* Exclusions come first: sort_and_filter_found() keeps the first of equal names. */
    return order ? order : y->excluded - x->excluded;
}

/* Sorts the found references, and removes duplicates and excluded objects. */
static void sort_and_filter_found(struct search *s)
{
    size_t kept = 0;

    if (s->count > 0)
        qsort(s->items, s->count, sizeof(*s->items), compare_references);
    for (size_t i = 0; i < s->count; i++) {
        struct found_reference *last = kept > 0 ? &s->items[kept - 1] : NULL;
        struct found_reference item = s->items[i];

        if (last && last->kind == item.kind && strcmp(last->name, item.name) == 0)
            continue;
        if (last && last->excluded)
            kept--;
        s->items[kept++] = item;
    }
    if (kept > 0 && s->items[kept - 1].excluded)
        kept--;
    s->count = kept;
}

static struct reference make_reference(struct intern *strings, const struct found_reference *found)
{
    return (struct reference){&dependency_kinds[found->kind], intern_add(strings, found->name)};
}

static void drop_reference_names(struct intern *strings, const struct reference *items,
                                 size_t count)
{
    for (size_t i = 0; i < count; i++)
        intern_drop(strings, items[i].name);
}

/* Sets items and count of `out` to the interned block of `count` references, at least one. */
static void share_references(struct intern *strings, const struct found_reference *found,
                             size_t count, struct references *out)
{
    CLEANUP(free_cleanup) struct reference *items = xreallocarray(NULL, count, sizeof(*items));
    bool added;

    for (size_t i = 0; i < count; i++)
        items[i] = make_reference(strings, &found[i]);
    out->items = intern_add_block(strings, items, count * sizeof(*items), &added);
    out->count = (uint32_t)count;
    if (!added)
        drop_reference_names(strings, items, count);
}

/* Sets `out` to the Service that Karmada derives from a ServiceImport, and its EndpointSlices. */
static void decode_service_import(struct decode *d, const cJSON *json, struct references *out)
{
    CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(SIZE_MAX);

    strbuf_addf(&name, "derived-%s", json_str(json_get(json, "metadata"), "name", ""));

    const struct found_reference found[] = {{DEPENDENCY_SERVICE, name.data, false},
                                            {DEPENDENCY_ENDPOINT_SLICES, name.data, false}};

    share_references(d->strings, found, ARRAY_LEN(found), out);
    out->known = true;
}

void references_decode(struct decode *d, const cJSON *json, struct references *out)
{
    CLEANUP(search_release) struct search s = {.d = d};

    *out = (struct references){0};
    if (is_object_of_kind(json, "multicluster.x-k8s.io/v1alpha1", "ServiceImport")) {
        decode_service_import(d, json, out);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(interpreters); i++) {
        const struct interpreter *interpreter = &interpreters[i];

        if (!is_object_of_kind(json, interpreter->api_version, interpreter->kind))
            continue;
        interpreter->read(&s, json, interpreter->path);
        out->known = json_get(json, "spec") != NULL;
    }
    sort_and_filter_found(&s);
    if (s.count > 0)
        share_references(d->strings, s.items, s.count, out);
}

bool kind_is_dependency(const char *api_version, const char *kind, const char *name)
{
    static const char derived[] = "derived-";

    for (size_t i = 0; i < ARRAY_LEN(dependency_kinds); i++) {
        const struct reference_kind *to = &dependency_kinds[i];

        /* Services and EndpointSlices are dependencies of a ServiceImport only. */
        if (strcmp(to->kind, kind) == 0 && strcmp(to->api_version, api_version) == 0)
            return (i != DEPENDENCY_SERVICE && i != DEPENDENCY_ENDPOINT_SLICES) ||
                   strncmp(name, derived, sizeof(derived) - 1) == 0;
    }
    return false;
}

bool kind_has_references(const char *api_version, const char *kind)
{
    for (size_t i = 0; i < ARRAY_LEN(interpreters); i++) {
        if (strcmp(interpreters[i].kind, kind) == 0 &&
            strcmp(interpreters[i].api_version, api_version) == 0)
            return true;
    }
    return false;
}

void references_release(struct intern *strings, struct references *r)
{
    if (r->items && intern_has_one_reference(r->items))
        drop_reference_names(strings, r->items, r->count);
    intern_drop(strings, r->items);
    *r = (struct references){0};
}
