/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/release_detection.h"

#include "metrics/base/json.h"

static const struct {
    const char *group;
    const char *version;
    const char *kind;
} schemas[RELEASE_SCHEMA_COUNT] = {
#define RELEASE_SCHEMA_ROW(id, group, version, kind)                                               \
    [RELEASE_SCHEMA_##id] = {(group), (version), (kind)},
    RELEASE_SCHEMAS(RELEASE_SCHEMA_ROW)};

const char *release_schema_kind(enum release_schema schema)
{
    return schemas[schema].kind;
}

enum { BEFORE_KNOWN = -1, SEGMENT_MAX = 64 };

enum schema_class { SCHEMA_OF_POLICY, SCHEMA_OF_BINDING, SCHEMA_OF_NEW_KIND };

/*
 * Changes of the schemas, as tests/fixtures/crd-fields.tsv has them: the kinds, the path of a field
 * in .spec, the first release with the field, and the value that the enum of the field has lost in
 * this release, NULL for a field that is new. "[]" stands for the items of a list.
 */
static const struct signature {
    enum schema_class class;
    enum release since;
    const char *path;
    const char *lost_value;
} signatures[] = {
    {SCHEMA_OF_POLICY, RELEASE_1_13, "schedulePriority", NULL},
    {SCHEMA_OF_POLICY, RELEASE_1_15, "failover.cluster", NULL},
    {SCHEMA_OF_POLICY, RELEASE_1_17, "placement.workloadAffinity", NULL},
    {SCHEMA_OF_POLICY, RELEASE_1_18, "placement.clusterAffinities.[].overflowAffinities", NULL},
    {SCHEMA_OF_POLICY, RELEASE_1_19_RC, "failover.application.purgeMode", "Immediately"},
    {SCHEMA_OF_BINDING, RELEASE_1_13, "schedulePriority", NULL},
    {SCHEMA_OF_BINDING, RELEASE_1_15, "components", NULL},
    {SCHEMA_OF_BINDING, RELEASE_1_17, "placement.workloadAffinity", NULL},
    {SCHEMA_OF_BINDING, RELEASE_1_18, "placement.clusterAffinities.[].overflowAffinities", NULL},
    {SCHEMA_OF_BINDING, RELEASE_1_19_RC, "gracefulEvictionTasks.[].purgeMode", "Immediately"},
    {SCHEMA_OF_BINDING, RELEASE_1_19, "clusters.[].components", NULL},
    {SCHEMA_OF_NEW_KIND, RELEASE_1_14, "", NULL},
};

static const enum schema_class schema_classes[RELEASE_SCHEMA_COUNT] = {
    [RELEASE_SCHEMA_POLICY] = SCHEMA_OF_POLICY,
    [RELEASE_SCHEMA_CLUSTER_POLICY] = SCHEMA_OF_POLICY,
    [RELEASE_SCHEMA_TAINT_POLICY] = SCHEMA_OF_NEW_KIND,
    [RELEASE_SCHEMA_BINDING] = SCHEMA_OF_BINDING,
    [RELEASE_SCHEMA_CLUSTER_BINDING] = SCHEMA_OF_BINDING,
};

/* ---- one schema ---- */

enum presence { PRESENCE_UNKNOWN, PRESENCE_NO, PRESENCE_YES };

/*
 * Returns whether a schema has a child: the items of a list, or a property. A schema that keeps
 * unknown fields, or describes no properties, does not show which fields its release knows.
 */
static enum presence find_child(const cJSON *schema, const char *name, const cJSON **out)
{
    const cJSON *properties = json_object_or_null(json_get(schema, "properties"));

    *out = strcmp(name, "[]") == 0 ? json_get(schema, "items") : json_get(properties, name);
    if (*out)
        return PRESENCE_YES;
    return !properties || json_bool(schema, "x-kubernetes-preserve-unknown-fields", false)
               ? PRESENCE_UNKNOWN
               : PRESENCE_NO;
}

/* Walks a path. The result is unknown if a parent is missing, because an earlier release adds it.
 */
static enum presence find_field(const cJSON *spec, const char *path, const cJSON **out)
{
    enum presence presence = PRESENCE_YES;

    *out = spec;
    while (*path != '\0') {
        size_t len = strcspn(path, ".");
        char name[SEGMENT_MAX];

        snprintf(name, sizeof(name), "%.*s", (int)len, path);
        path += len + (path[len] == '.');
        presence = find_child(*out, name, out);
        if (presence != PRESENCE_YES)
            return presence == PRESENCE_NO && *path == '\0' ? PRESENCE_NO : PRESENCE_UNKNOWN;
    }
    return presence;
}

/* Returns whether a schema has the change that a signature describes. */
static enum presence find_signature(const cJSON *spec, const struct signature *signature)
{
    const cJSON *field;
    enum presence presence = find_field(spec, signature->path, &field);
    const cJSON *values = json_array(field, "enum");

    if (!signature->lost_value)
        return presence;
    if (presence != PRESENCE_YES || !values)
        return PRESENCE_UNKNOWN;
    return json_array_has_text(values, signature->lost_value) ? PRESENCE_NO : PRESENCE_YES;
}

/*
 * Returns the releases that a schema of this kind can come from; `read` is false if the schema has
 * no part that differs between releases.
 */
static struct release_bounds bounds_of_schema(enum release_schema kind, const cJSON *schema)
{
    const cJSON *spec = json_get(json_get(schema, "properties"), "spec"), *exclusions;
    struct release_bounds bounds = {
        .oldest = BEFORE_KNOWN,
        .newest = RELEASE_NEWEST,
        .lacks_exclusions = schema_classes[kind] == SCHEMA_OF_POLICY &&
                            find_field(spec, "excludedResources", &exclusions) == PRESENCE_NO,
    };

    for (size_t i = 0; i < ARRAY_LEN(signatures); i++) {
        const struct signature *signature = &signatures[i];
        int since = (int)signature->since;
        enum presence presence;

        if (signature->class != schema_classes[kind])
            continue;
        presence = find_signature(spec, signature);
        bounds.read = bounds.read || presence != PRESENCE_UNKNOWN;
        if (presence == PRESENCE_YES && since > bounds.oldest)
            bounds.oldest = since;
        if (presence == PRESENCE_NO && since - 1 < bounds.newest)
            bounds.newest = since - 1;
    }
    return bounds;
}

static bool bounds_equal(struct release_bounds a, struct release_bounds b)
{
    return a.read == b.read && a.oldest == b.oldest && a.newest == b.newest &&
           a.lacks_exclusions == b.lacks_exclusions;
}

/* Stores what the schema of a kind shows. Returns true if the evidence has changed. */
static bool add_schema(struct release_evidence *e, enum release_schema kind, const cJSON *schema)
{
    struct release_bounds bounds = bounds_of_schema(kind, schema);
    bool changed = !bounds_equal(bounds, e->bounds[kind]);

    e->bounds[kind] = bounds;
    return changed;
}

/* Returns the row of a kind, or RELEASE_SCHEMA_COUNT. NULL: any version. */
static enum release_schema find_schema(const char *group, const char *version, const char *kind)
{
    unsigned at = 0;

    while (at < RELEASE_SCHEMA_COUNT &&
           (strcmp(schemas[at].group, group) != 0 || strcmp(schemas[at].kind, kind) != 0 ||
            (version && strcmp(schemas[at].version, version) != 0)))
        at++;
    return (enum release_schema)at;
}

bool release_evidence_add_definition(struct release_evidence *e, const cJSON *definition)
{
    const cJSON *spec = json_get(definition, "spec");
    const char *kind = json_str(json_get(spec, "names"), "kind", "");
    enum release_schema row;
    const cJSON *version;

    if (strcmp(json_str(definition, "kind", ""), "CustomResourceDefinition") != 0)
        return false;
    row = find_schema(json_str(spec, "group", ""), NULL, kind);
    if (row == RELEASE_SCHEMA_COUNT)
        return false;
    cJSON_ArrayForEach (version, json_array(spec, "versions")) {
        if (strcmp(json_str(version, "name", ""), schemas[row].version) == 0)
            return add_schema(e, row, json_get(json_get(version, "schema"), "openAPIV3Schema"));
    }
    return false;
}

/* Adds the schema of one component, if it describes a kind of the table. */
static void add_component(struct release_evidence *e, const cJSON *schema)
{
    const cJSON *kind;

    cJSON_ArrayForEach (kind, json_array(schema, "x-kubernetes-group-version-kind")) {
        enum release_schema row = find_schema(
            json_str(kind, "group", ""), json_str(kind, "version", ""), json_str(kind, "kind", ""));

        if (row == RELEASE_SCHEMA_COUNT)
            continue;
        add_schema(e, row, schema);
        e->group_is_complete = e->group_is_complete || row == RELEASE_SCHEMA_POLICY;
    }
}

bool release_evidence_add_openapi(struct release_evidence *e, const cJSON *document)
{
    const cJSON *components =
        json_object_or_null(json_get(json_get(document, "components"), "schemas"));
    const cJSON *schema;

    if (!components)
        return false;
    cJSON_ArrayForEach (schema, components)
        add_component(e, schema);
    return true;
}

void release_evidence_merge(struct release_evidence *e, const struct release_evidence *from)
{
    for (unsigned i = 0; i < RELEASE_SCHEMA_COUNT; i++) {
        if (from->bounds[i].read)
            e->bounds[i] = from->bounds[i];
    }
    e->group_is_complete = e->group_is_complete || from->group_is_complete;
}

/* ---- all schemas ---- */

/*
 * Returns true if the schema of the kind limits the releases. A kind that a later release has added
 * is a hint only where the other schemas leave this open: an installation may omit it.
 */
static bool limits_releases(const struct release_evidence *e, unsigned kind)
{
    return e->bounds[kind].read && schema_classes[kind] != SCHEMA_OF_NEW_KIND;
}

/* Narrows the range by the presence of the kind that 1.14 has added. */
static void narrow_by_new_kind(const struct release_evidence *e, int *oldest, int *newest)
{
    bool present = e->bounds[RELEASE_SCHEMA_TAINT_POLICY].read;
    bool absent = !present && e->group_is_complete;

    if (present && *newest >= RELEASE_1_14 && *oldest < RELEASE_1_14)
        *oldest = RELEASE_1_14;
    if (absent && *newest == RELEASE_1_14 && *oldest < RELEASE_1_14)
        *newest = RELEASE_1_13;
}

/* Sets the kind with the oldest schema, and the kind with the newest one. */
static void find_extremes(const struct release_evidence *e, struct release_finding *out)
{
    for (unsigned i = 0; i < RELEASE_SCHEMA_COUNT; i++) {
        struct release_bounds b = e->bounds[i];

        if (!limits_releases(e, i))
            continue;
        if (out->behind == RELEASE_SCHEMA_COUNT || b.newest < out->behind_bounds.newest) {
            out->behind = (enum release_schema)i;
            out->behind_bounds = b;
        }
        if (out->ahead == RELEASE_SCHEMA_COUNT || b.oldest > out->ahead_bounds.oldest) {
            out->ahead = (enum release_schema)i;
            out->ahead_bounds = b;
        }
    }
}

/* Returns true if all schemas of policies that were read lack excludedResources. */
static bool lacks_exclusions(const struct release_evidence *e)
{
    bool lacks = false;

    for (unsigned i = 0; i < RELEASE_SCHEMA_COUNT; i++) {
        if (schema_classes[i] != SCHEMA_OF_POLICY || !e->bounds[i].read)
            continue;
        if (!e->bounds[i].lacks_exclusions)
            return false;
        lacks = true;
    }
    return lacks;
}

static enum release known_release(int release)
{
    return release < 0 ? (enum release)0 : (enum release)release;
}

struct release_finding release_evidence_evaluate(const struct release_evidence *e,
                                                 enum release_origin origin)
{
    struct release_finding f = {
        .range = {RELEASE_NEWEST, RELEASE_NEWEST, RELEASE_ASSUMED, false},
        .behind = RELEASE_SCHEMA_COUNT,
        .ahead = RELEASE_SCHEMA_COUNT,
    };
    int oldest, newest;

    find_extremes(e, &f);
    if (f.behind == RELEASE_SCHEMA_COUNT)
        return f;
    oldest = f.ahead_bounds.oldest;
    newest = f.behind_bounds.newest;
    if (oldest > newest) {
        oldest = f.behind_bounds.oldest < newest ? f.behind_bounds.oldest : newest;
        newest = f.ahead_bounds.newest > f.ahead_bounds.oldest ? f.ahead_bounds.newest
                                                               : f.ahead_bounds.oldest;
    } else {
        narrow_by_new_kind(e, &oldest, &newest);
        f.behind = f.ahead = RELEASE_SCHEMA_COUNT;
        f.behind_bounds = f.ahead_bounds = (struct release_bounds){0};
    }
    f.is_older = oldest == BEFORE_KNOWN && newest == BEFORE_KNOWN;
    f.range = (struct release_range){known_release(oldest), known_release(newest), origin,
                                     lacks_exclusions(e)};
    return f;
}

bool release_finding_equal(const struct release_finding *a, const struct release_finding *b)
{
    return a->range.oldest == b->range.oldest && a->range.newest == b->range.newest &&
           a->range.origin == b->range.origin &&
           a->range.lacks_exclusions == b->range.lacks_exclusions && a->is_older == b->is_older &&
           a->behind == b->behind && a->ahead == b->ahead &&
           bounds_equal(a->behind_bounds, b->behind_bounds) &&
           bounds_equal(a->ahead_bounds, b->ahead_bounds);
}

/* Appends the releases of a schema, such as "1.15 to 1.16". */
static void append_bounds(struct release_bounds bounds, struct strbuf *out)
{
    if (bounds.newest == BEFORE_KNOWN) {
        strbuf_addf(out, "before %s", release_name((enum release)0));
        return;
    }
    release_range_append((struct release_range){known_release(bounds.oldest),
                                                known_release(bounds.newest), RELEASE_ASSUMED,
                                                false},
                         out);
}

void release_finding_warn(const struct release_finding *finding, struct strbuf *out)
{
    if (finding->behind < RELEASE_SCHEMA_COUNT && finding->behind == finding->ahead) {
        strbuf_addf(out,
                    "the schema of %s has fields of Karmada %s, but lacks fields of Karmada %s; "
                    "set --karmada.version to the release of the components that run",
                    release_schema_kind(finding->ahead),
                    release_name(known_release(finding->ahead_bounds.oldest)),
                    release_name(known_release(finding->behind_bounds.newest + 1)));
    } else if (finding->behind < RELEASE_SCHEMA_COUNT) {
        strbuf_addf(out, "the schemas of Karmada's kinds are not of one release: %s is of Karmada ",
                    release_schema_kind(finding->behind));
        append_bounds(finding->behind_bounds, out);
        strbuf_addf(out, ", %s of Karmada ", release_schema_kind(finding->ahead));
        append_bounds(finding->ahead_bounds, out);
        strbuf_adds(out, "; set --karmada.version to the release of the components that run");
    } else if (finding->is_older) {
        strbuf_addf(out,
                    "the schemas of Karmada's kinds are older than Karmada %s, the oldest release "
                    "that this exporter knows; the rules of %s apply",
                    release_name((enum release)0), release_name((enum release)0));
    }
}
