/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/text/object_name.h"

#include <strings.h>

#include "metrics/base/suggest.h"
#include "metrics/model/store.h"
#include "metrics/rules/object_index.h"

enum {
    NAMES_MAX_BYTES = 1 << 16,
    SUGGESTIONS_MAX = 5, /* Suggested objects of one class. */
    DISTANCE_MAX = 2,    /* Maximum edit distance of a suggested name. */
};

void object_name_release(struct object_name *n)
{
    free(n->kind);
    free(n->version);
    free(n->group);
    free(n->ns);
    free(n->name);
    *n = (struct object_name){0};
}

/*
 * Returns the length of an API version at the start of the text, such as 7 for "v1beta1.apps", if a
 * '.' follows; else 0.
 */
static size_t version_length(const char *text)
{
    size_t len = 1 + strspn(text + (*text != '\0'), "0123456789");

    if (*text != 'v' || len == 1)
        return 0;
    if (strncmp(text + len, "alpha", 5) == 0 || strncmp(text + len, "beta", 4) == 0) {
        len += text[len] == 'a' ? 5 : 4;
        len += strspn(text + len, "0123456789");
    }
    return text[len] == '.' ? len : 0;
}

bool object_name_parse(const char *text, struct object_name *out, struct error *err)
{
    const char *slash = strchr(text, '/');
    const char *last = strrchr(text, '/');
    const char *dot = slash ? memchr(text, '.', (size_t)(slash - text)) : NULL;
    const char *kind_end = dot ? dot : slash;

    *out = (struct object_name){0};
    if (!slash || kind_end == text || !last[1])
        return fail(err, "'%s' names no object: write KIND[.GROUP]/[NAMESPACE/]NAME", text);
    out->kind = xmemdup0(text, (size_t)(kind_end - text));
    if (dot) {
        size_t version = version_length(dot + 1);
        const char *group = dot + 1 + (version > 0 ? version + 1 : 0);

        if (version > 0)
            out->version = xmemdup0(dot + 1, version);
        out->group = xmemdup0(group, (size_t)(slash - group));
    }
    if (last > slash)
        out->ns = xmemdup0(slash + 1, (size_t)(last - slash - 1));
    out->name = xstrdup(last + 1);
    return true;
}

/* Short names of kubectl for common kinds. */
static const struct {
    const char *abbreviation;
    const char *kind;
} short_names[] = {
    {"cj", "CronJob"},
    {"cm", "ConfigMap"},
    {"cop", "ClusterOverridePolicy"},
    {"cpp", "ClusterPropagationPolicy"},
    {"crb", "ClusterResourceBinding"},
    {"crd", "CustomResourceDefinition"},
    {"deploy", "Deployment"},
    {"ds", "DaemonSet"},
    {"hpa", "HorizontalPodAutoscaler"},
    {"ing", "Ingress"},
    {"limits", "LimitRange"},
    {"netpol", "NetworkPolicy"},
    {"ns", "Namespace"},
    {"op", "OverridePolicy"},
    {"pc", "PriorityClass"},
    {"pdb", "PodDisruptionBudget"},
    {"po", "Pod"},
    {"pp", "PropagationPolicy"},
    {"pv", "PersistentVolume"},
    {"pvc", "PersistentVolumeClaim"},
    {"quota", "ResourceQuota"},
    {"rb", "ResourceBinding"},
    {"rs", "ReplicaSet"},
    {"sa", "ServiceAccount"},
    {"sc", "StorageClass"},
    {"sts", "StatefulSet"},
    {"svc", "Service"},
};

bool object_name_kind_fits(const char *kind, const char *typed)
{
    for (size_t i = 0; i < ARRAY_LEN(short_names); i++) {
        if (strcasecmp(typed, short_names[i].abbreviation) == 0)
            return strcmp(kind, short_names[i].kind) == 0;
    }

    size_t len = strlen(kind);
    size_t rest;

    if (kind[len - 1] == 'y' && strncasecmp(kind, typed, len - 1) == 0)
        return strcasecmp(typed + len - 1, "y") == 0 || strcasecmp(typed + len - 1, "ies") == 0;
    if (strncasecmp(kind, typed, len) != 0)
        return false;
    rest = strlen(typed) - len;
    return rest == 0 || strcasecmp(typed + len, "s") == 0 || strcasecmp(typed + len, "es") == 0;
}

bool object_name_is_namespace(const char *text, const char **name)
{
    CLEANUP(object_name_release) struct object_name n = {0};
    struct error ignored;
    bool core;

    if (!object_name_parse(text, &n, &ignored) || n.ns ||
        !object_name_kind_fits("Namespace", n.kind))
        return false;
    core = (!n.group || *n.group == '\0') && (!n.version || strcmp(n.version, "v1") == 0);
    *name = strrchr(text, '/') + 1;
    return core;
}

/* Appends a name that object_name_parse() reads: with the version of the kind if `with_version`. */
static void add_entry_name(struct strbuf *out, const struct entry *entry, bool with_version)
{
    const struct type *type = entry_type(entry);
    const char *version = type->api_version + strlen(type->group) + (*type->group ? 1 : 0);
    const char *ns = entry_ns(entry);

    strbuf_addf(out, "%s%s%s%s%s%s/%s%s%s", out->len > 0 ? ", " : "", type->kind,
                with_version ? "." : "", with_version ? version : "",
                *type->group || with_version ? "." : "", type->group, ns, *ns ? "/" : "",
                entry->name);
}

void object_name_add(struct strbuf *out, const struct entry *entry)
{
    const char *ns = entry_ns(entry);

    if (entry_class(entry) == CLASS_POLICY)
        strbuf_addf(out, "%s/%s%s%s", *ns ? "pp" : "cpp", ns, *ns ? "/" : "", entry->name);
    else
        entry_add_name(out, entry);
}

void object_name_add_identity(struct strbuf *out, const struct identity *id)
{
    strbuf_addf(out, "%s %s%s%s", id->kind, id->ns, *id->ns ? "/" : "", id->name);
}

/* ---- search ---- */

/* Returns true if Kubernetes serves its own kind also in this version: it is the same object. */
static bool is_served_version(const char *api_version, const char *kind, const char *version)
{
    const struct builtin_kind *row = builtin_kind_find(api_version, kind);

    return row && version_rank_of(row->versions, version) != VERSION_UNSERVED;
}

/* Returns true if a type has the kind, group and version of a name. */
static bool type_fits(const struct object_name *w, const char *api_version, const char *kind)
{
    size_t group_len = api_group_len(api_version);
    const char *version = api_version + group_len + (group_len > 0);

    return object_name_kind_fits(kind, w->kind) &&
           (!w->group ||
            (strlen(w->group) == group_len && memcmp(w->group, api_version, group_len) == 0)) &&
           (!w->version || strcmp(w->version, version) == 0 ||
            is_served_version(api_version, kind, w->version));
}

static bool identity_fits(const struct object_name *w, const struct identity *id)
{
    return strcmp(id->name, w->name) == 0 && (!w->ns || strcmp(id->ns, w->ns) == 0) &&
           type_fits(w, id->api_version, id->kind);
}

bool object_name_fits(const char *typed, const struct identity *id)
{
    CLEANUP(object_name_release) struct object_name name = {0};
    struct error ignored;

    return object_name_parse(typed, &name, &ignored) && identity_fits(&name, id);
}

/* Appends the objects of a type that fit: one look-up in each namespace of the name. */
static void find_in_type(const struct store *store, const struct object_name *w,
                         const struct type *type, struct entry_list *found)
{
    for (const struct partition *p = type->partitions; p; p = p->next_of_type) {
        struct entry *entry;

        if (w->ns && strcmp(p->scope.ns, w->ns) != 0)
            continue;
        entry = store_find(store,
                           &(struct identity){type->api_version, type->kind, p->scope.ns, w->name});
        if (entry && entry_exists(entry))
            entry_list_add(found, entry);
    }
}

/* Returns the objects among `classes` that fit, in no order. */
static struct entry_list find_fitting(const struct store *store, unsigned classes,
                                      const struct object_name *w)
{
    struct entry_list found = {0};

    for (const struct type *type = store_first_type(store); type; type = type->next) {
        if ((classes >> type->def->class & 1) && type_fits(w, type->api_version, type->kind))
            find_in_type(store, w, type, &found);
    }
    return found;
}

/* ---- errors ---- */

/* Orders by class, then as lists. */
static int compare_found(const void *left, const void *right)
{
    const struct entry *a = *(struct entry *const *)left, *b = *(struct entry *const *)right;

    return entry_class(a) != entry_class(b) ? (int)entry_class(a) - (int)entry_class(b)
                                            : entry_compare(a, b);
}

/* Returns true if the list has the object at index `i` also in another version of its kind. */
static bool is_in_other_version(const struct entry_list *list, size_t i)
{
    const struct entry *a = list->items[i];

    for (size_t k = 0; k < list->count; k++) {
        const struct entry *b = list->items[k];

        if (k != i && entry_kind(a) == entry_kind(b) && entry_ns(a) == entry_ns(b) &&
            entry_type(a)->group == entry_type(b)->group)
            return true;
    }
    return false;
}

static void fail_ambiguous(const char *typed, struct entry_list *found, struct error *err)
{
    CLEANUP(strbuf_release) struct strbuf names = STRBUF_INIT(NAMES_MAX_BYTES);

    qsort(found->items, found->count, sizeof(const struct entry *), compare_found);
    for (size_t i = 0; i < found->count; i++)
        add_entry_name(&names, found->items[i], is_in_other_version(found, i));
    fail(err, "'%s' could be any of %s", typed, names.data);
}

/* Object with a name similar to the typed one. */
struct similar_object {
    const struct entry *entry;
    size_t distance; /* See edit_distance(). */
};

static int compare_similar(const void *left, const void *right)
{
    const struct similar_object *a = left, *b = right;

    if (a->distance != b->distance)
        return a->distance < b->distance ? -1 : 1;
    return entry_compare(a->entry, b->entry);
}

/* Appends up to SUGGESTIONS_MAX objects of a class with similar names, the most similar first. */
static void add_suggestions(struct strbuf *out, const char *name, const struct store *store,
                            enum object_class class)
{
    CLEANUP(listing_release) struct listing all = listing_make_unordered(store, class);
    CLEANUP(free_cleanup)
    struct similar_object *similar = xreallocarray(NULL, all.count + 1, sizeof(*similar));
    size_t count = 0, len = strlen(name);

    for (size_t i = 0; i < all.count; i++) {
        const struct entry *entry = all.entries[i];
        size_t distance, entry_len = strlen(entry->name);

        /* The distance is at least the difference of the lengths. */
        if (entry_len > len + DISTANCE_MAX || len > entry_len + DISTANCE_MAX)
            continue;
        distance = edit_distance(entry->name, name);
        if (distance <= DISTANCE_MAX)
            similar[count++] = (struct similar_object){entry, distance};
    }
    if (count > 1)
        qsort(similar, count, sizeof(*similar), compare_similar);
    for (size_t i = 0; i < count && i < SUGGESTIONS_MAX; i++)
        add_entry_name(out, similar[i].entry, false);
}

static void fail_missing(const char *typed, const char *name, const struct store *store,
                         unsigned classes, struct error *err)
{
    CLEANUP(strbuf_release) struct strbuf nearest = STRBUF_INIT(NAMES_MAX_BYTES);

    for (unsigned i = 0; i < CLASS_COUNT; i++) {
        if (classes >> i & 1)
            add_suggestions(&nearest, name, store, (enum object_class)i);
    }
    if (nearest.len > 0)
        fail(err, "there is no '%s'; the nearest are %s", typed, nearest.data);
    else
        fail(err, "there is no '%s'", typed);
}

/* ---- objects by name ---- */

const struct entry *object_find(const struct store *store, unsigned classes, const char *typed,
                                struct error *err)
{
    CLEANUP(object_name_release) struct object_name wanted = {0};
    CLEANUP(entry_list_release) struct entry_list found = {0};

    if (!object_name_parse(typed, &wanted, err))
        return NULL;
    found = find_fitting(store, classes, &wanted);
    if (found.count == 1)
        return found.items[0];
    if (found.count > 1)
        fail_ambiguous(typed, &found, err);
    else
        fail_missing(typed, wanted.name, store, classes, err);
    return NULL;
}

const struct entry *object_find_in_namespace(const struct store *store, unsigned classes,
                                             const char *typed, const char *ns, struct error *err)
{
    CLEANUP(object_name_release) struct object_name name = {0};
    CLEANUP(entry_list_release) struct entry_list found = {0};
    const struct entry *entry;

    if (!object_name_parse(typed, &name, err))
        return NULL;
    if (name.ns || !ns)
        return object_find(store, classes, typed, err);
    name.ns = xstrdup(ns);
    found = find_fitting(store, classes, &name);
    if (found.count == 1)
        return found.items[0];
    entry = object_find(store, classes, typed, err);
    if (entry && *entry_ns(entry) != '\0' && strcmp(entry_ns(entry), ns) != 0) {
        fail(err, "there is no '%.*s/%s/%s'", (int)strcspn(typed, "/"), typed, ns, name.name);
        return NULL;
    }
    return entry;
}

size_t object_count(const struct store *store, unsigned classes, const char *typed, const char *ns)
{
    CLEANUP(object_name_release) struct object_name name = {0};
    CLEANUP(entry_list_release) struct entry_list found = {0};
    struct error ignored;

    if (!object_name_parse(typed, &name, &ignored))
        return 0;
    if (!name.ns && ns)
        name.ns = xstrdup(ns);
    found = find_fitting(store, classes, &name);
    return found.count;
}

const struct entry *object_find_binding(const struct store *store, const char *typed,
                                        const char *ns)
{
    CLEANUP(object_name_release) struct object_name wanted = {0};
    CLEANUP(entry_list_release) struct entry_list templates = {0};
    CLEANUP(listing_release) struct listing all = {0};
    const struct entry *found = NULL;
    struct error err;
    size_t count = 0;

    if (!object_name_parse(typed, &wanted, &err))
        return NULL;
    templates = find_fitting(store, 1U << CLASS_TEMPLATE, &wanted);
    for (size_t i = 0; i < templates.count; i++) {
        if (!ns || wanted.ns || strcmp(entry_ns(templates.items[i]), ns) == 0)
            return NULL;
    }
    all = listing_make_unordered(store, CLASS_BINDING);
    for (size_t i = 0; i < all.count; i++) {
        struct identity id;

        if (!binding_get_resource(entry_binding(all.entries[i]), &id) ||
            !identity_fits(&wanted, &id) ||
            (ns && !wanted.ns && *id.ns != '\0' && strcmp(id.ns, ns) != 0))
            continue;
        found = all.entries[i];
        count++;
    }
    return count == 1 ? found : NULL;
}
