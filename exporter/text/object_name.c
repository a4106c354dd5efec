/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/text/object_name.h"

#include <strings.h>

#include "exporter/options/suggest.h"
#include "metrics/model/store.h"
#include "metrics/rules/object_index.h"

enum { NAMES_MAX_BYTES = 1 << 16, SUGGESTIONS_MAX = 5 };

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

/* Returns true if `typed`, ignoring case, is the short name, singular or plural of the kind. */
static bool kind_fits(const char *kind, const char *typed)
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

    if (!object_name_parse(text, &n, &ignored) || n.ns || !kind_fits("Namespace", n.kind))
        return false;
    core = (!n.group || *n.group == '\0') && (!n.version || strcmp(n.version, "v1") == 0);
    *name = strrchr(text, '/') + 1;
    return core;
}

static void add_entry_name(struct strbuf *out, const struct entry *entry)
{
    const char *group = entry->partition->type->group;
    const char *ns = entry_ns(entry);

    strbuf_addf(out, "%s%s%s%s/%s%s%s", out->len > 0 ? ", " : "", entry_kind(entry),
                *group ? "." : "", group, ns, *ns ? "/" : "", entry->name);
}

void object_name_add(struct strbuf *out, const struct entry *entry)
{
    const char *ns = entry_ns(entry);

    if (entry_class(entry) == CLASS_POLICY)
        strbuf_addf(out, "%s/", *ns ? "pp" : "cpp");
    else
        strbuf_addf(out, "%s ", entry_kind(entry));
    strbuf_addf(out, "%s%s%s", ns, *ns ? "/" : "", entry->name);
}

/* Appends up to SUGGESTIONS_MAX objects with similar names, the most similar first. */
static void add_suggestions(struct strbuf *out, const struct object_name *w,
                            const struct listing *all)
{
    for (size_t distance = 0, found = 0; distance <= 2 && found < SUGGESTIONS_MAX; distance++) {
        for (size_t i = 0; i < all->count && found < SUGGESTIONS_MAX; i++) {
            if (edit_distance(all->entries[i]->name, w->name) != distance)
                continue;
            add_entry_name(out, all->entries[i]);
            found++;
        }
    }
}

static bool identity_fits(const struct object_name *w, const struct identity *id)
{
    size_t group_len = api_group_len(id->api_version);
    const char *version = id->api_version + group_len + (group_len > 0);

    return kind_fits(id->kind, w->kind) && strcmp(id->name, w->name) == 0 &&
           (!w->group ||
            (strlen(w->group) == group_len && memcmp(w->group, id->api_version, group_len) == 0)) &&
           (!w->version || strcmp(w->version, version) == 0) &&
           (!w->ns || strcmp(id->ns, w->ns) == 0);
}

/* Returns the number of objects that fit, appends their names, and stores the last in *found. */
static size_t find_fitting(const struct object_name *w, const struct listing *all,
                           struct strbuf *names, const struct entry **found)
{
    size_t count = 0;

    for (size_t i = 0; i < all->count; i++) {
        const struct entry *entry = all->entries[i];
        const struct identity id = entry_identity(entry);

        if (!identity_fits(w, &id))
            continue;
        *found = entry;
        add_entry_name(names, entry);
        count++;
    }
    return count;
}

const struct entry *object_find(const struct store *store, unsigned classes, const char *typed,
                                struct error *err)
{
    CLEANUP(object_name_release) struct object_name wanted = {0};
    CLEANUP(strbuf_release) struct strbuf names = STRBUF_INIT(NAMES_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf nearest = STRBUF_INIT(NAMES_MAX_BYTES);
    const struct entry *found = NULL;
    size_t count = 0;

    if (!object_name_parse(typed, &wanted, err))
        return NULL;
    for (unsigned i = 0; i < CLASS_COUNT; i++) {
        if (!(classes & 1U << i))
            continue;
        CLEANUP(listing_release) struct listing all = listing_make(store, (enum object_class)i);
        count += find_fitting(&wanted, &all, &names, &found);
        add_suggestions(&nearest, &wanted, &all);
    }
    if (count == 1)
        return found;
    if (count > 1)
        fail(err, "'%s' could be any of %s", typed, names.data);
    else if (nearest.len > 0)
        fail(err, "there is no '%s'; the nearest are %s", typed, nearest.data);
    else
        fail(err, "there is no '%s'", typed);
    return NULL;
}

const struct entry *object_find_in_namespace(const struct store *store, unsigned classes,
                                             const char *typed, const char *ns, struct error *err)
{
    CLEANUP(strbuf_release) struct strbuf full = STRBUF_INIT(NAMES_MAX_BYTES);
    CLEANUP(object_name_release) struct object_name name = {0};
    const struct entry *entry;

    if (!object_name_parse(typed, &name, err))
        return NULL;
    if (name.ns || !ns)
        return object_find(store, classes, typed, err);
    strbuf_addf(&full, "%.*s/%s/%s", (int)strcspn(typed, "/"), typed, ns, name.name);
    entry = object_find(store, classes, full.data, err);
    if (!entry)
        entry = object_find(store, classes, typed, err);
    if (entry && *entry_ns(entry) != '\0' && strcmp(entry_ns(entry), ns) != 0) {
        fail(err, "there is no '%s'", full.data);
        return NULL;
    }
    return entry;
}

const struct entry *object_find_binding(const struct store *store, const char *typed)
{
    CLEANUP(object_name_release) struct object_name wanted = {0};
    CLEANUP(listing_release) struct listing all = listing_make(store, CLASS_BINDING);
    const struct entry *found = NULL;
    struct error err;
    size_t count = 0;

    if (!object_name_parse(typed, &wanted, &err))
        return NULL;
    for (size_t i = 0; i < all.count; i++) {
        struct identity id;

        if (!binding_get_resource(entry_binding(all.entries[i]), &id) ||
            !identity_fits(&wanted, &id))
            continue;
        found = all.entries[i];
        count++;
    }
    return count == 1 ? found : NULL;
}
