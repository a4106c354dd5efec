/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/release_detection.h"

#include "metrics/base/json.h"
#include "tests/unit/suite.h"

/* ---- CustomResourceDefinitions of a release, from the fields of Karmada's own ---- */

enum { LINE_BYTES = 4096, COLUMNS = 7, ROWS_MAX = 4096 };

/* Releases of crd-fields.tsv, oldest first; the position of a release is its number below. */
static const char *const columns_of_time[] = {
    "v1.8.0",  "v1.9.0",  "v1.10.0", "v1.11.0", "v1.12.0",      "v1.13.0", "v1.14.0",
    "v1.15.0", "v1.16.0", "v1.17.0", "v1.18.0", "v1.19.0-rc.0", "f8fdd02d"};
enum { TIME_OF_1_13 = 5 };

struct field_row {
    char group[64], version[32], kind[64], path[512], constraints[512];
    size_t first, last; /* Positions in columns_of_time. */
};

static struct field_row *rows;
static size_t row_count;

static size_t time_of(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(columns_of_time); i++) {
        if (strcmp(columns_of_time[i], name) == 0)
            return i;
    }
    fail_msg("unknown release '%s'", name);
    return 0;
}

static void copy_text(char *out, size_t size, const char *text)
{
    assert_true(strlen(text) < size);
    memcpy(out, text, strlen(text) + 1);
}

static void parse_row(char *line)
{
    char *columns[COLUMNS];
    struct field_row *row = &rows[row_count];

    line[strcspn(line, "\n")] = '\0';
    for (size_t i = 0; i < COLUMNS; i++) {
        columns[i] = line;
        line += strcspn(line, "\t");
        if (*line)
            *line++ = '\0';
    }
    if (strcmp(columns[0], "group") == 0)
        return;
    copy_text(row->group, sizeof(row->group), columns[0]);
    copy_text(row->version, sizeof(row->version), columns[1]);
    copy_text(row->kind, sizeof(row->kind), columns[2]);
    copy_text(row->path, sizeof(row->path), columns[3]);
    copy_text(row->constraints, sizeof(row->constraints), columns[5]);
    row->last = ARRAY_LEN(columns_of_time) - 1;
    if (strcmp(columns[6], "all") != 0) {
        char *dots = strstr(columns[6], "..");

        row->last = time_of(dots ? dots + 2 : columns[6]);
        if (dots)
            *dots = '\0';
        row->first = time_of(columns[6]);
    }
    row_count++;
}

static int read_rows(void **state)
{
    FILE *file = fopen("tests/fixtures/crd-fields.tsv", "r");
    char line[LINE_BYTES];

    (void)state;
    assert_non_null(file);
    rows = xcalloc(ROWS_MAX, sizeof(*rows));
    while (fgets(line, sizeof(line), file)) {
        assert_true(row_count < ROWS_MAX);
        if (*line != '#')
            parse_row(line);
    }
    fclose(file);
    return row_count < 1000;
}

static int free_rows(void **state)
{
    (void)state;
    free(rows);
    return 0;
}

SUITE_WITH(read_rows, free_rows);

/* Returns the child of a schema for a part of a path, which ends with "[]" for items of a list. */
static cJSON *descend(cJSON *schema, const char *part)
{
    char name[128];
    size_t len = strcspn(part, "[{");
    cJSON *properties = cJSON_GetObjectItemCaseSensitive(schema, "properties");
    cJSON *child;

    snprintf(name, sizeof(name), "%.*s", (int)len, part);
    if (!properties)
        properties = cJSON_AddObjectToObject(schema, "properties");
    child = cJSON_GetObjectItemCaseSensitive(properties, name);
    if (!child)
        child = cJSON_AddObjectToObject(properties, name);
    for (part += len; *part; part += 2) {
        const char *member = *part == '[' ? "items" : "additionalProperties";
        cJSON *inner = cJSON_GetObjectItemCaseSensitive(child, member);

        child = inner ? inner : cJSON_AddObjectToObject(child, member);
    }
    return child;
}

static void add_row(cJSON *schema, const struct field_row *row)
{
    char path[512], *rest = path + 1, *part;
    char values[512], *at;

    snprintf(path, sizeof(path), "%s", row->path);
    while ((part = strsep(&rest, ".")) != NULL)
        schema = descend(schema, part);
    at = strstr(row->constraints, "enum=");
    if (!at)
        return;
    snprintf(values, sizeof(values), "%s", at + strlen("enum="));
    values[strcspn(values, ";")] = '\0';
    rest = values;
    cJSON *list = cJSON_AddArrayToObject(schema, "enum");

    while ((part = strsep(&rest, "|")) != NULL)
        cJSON_AddItemToArray(list, cJSON_CreateString(part));
}

/* Returns the schema of a kind at a release; NULL if the release does not have the kind. */
static cJSON *make_schema(const char *group, const char *version, const char *kind, size_t time)
{
    cJSON *schema = NULL;

    for (size_t i = 0; i < row_count; i++) {
        const struct field_row *row = &rows[i];

        if (strcmp(row->group, group) != 0 || strcmp(row->version, version) != 0 ||
            strcmp(row->kind, kind) != 0 || time < row->first || time > row->last)
            continue;
        if (!schema)
            schema = cJSON_CreateObject();
        add_row(schema, row);
    }
    return schema;
}

/* Kinds of RELEASE_SCHEMAS, in their order, for the tests. */
static const struct {
    const char *group, *version, *kind;
} kinds[RELEASE_SCHEMA_COUNT] = {
#define TEST_KIND(id, group, version, kind) {(group), (version), (kind)},
    RELEASE_SCHEMAS(TEST_KIND)};

static cJSON *make_definition(size_t kind, size_t time)
{
    cJSON *schema = make_schema(kinds[kind].group, kinds[kind].version, kinds[kind].kind, time);
    cJSON *definition = cJSON_CreateObject();
    cJSON *spec = cJSON_AddObjectToObject(definition, "spec");
    cJSON *version = cJSON_CreateObject();

    cJSON_AddStringToObject(definition, "apiVersion", "apiextensions.k8s.io/v1");
    cJSON_AddStringToObject(definition, "kind", schema ? "CustomResourceDefinition" : "None");
    cJSON_AddStringToObject(spec, "group", kinds[kind].group);
    cJSON_AddStringToObject(cJSON_AddObjectToObject(spec, "names"), "kind", kinds[kind].kind);
    cJSON_AddItemToArray(cJSON_AddArrayToObject(spec, "versions"), version);
    cJSON_AddStringToObject(version, "name", kinds[kind].version);
    cJSON_AddItemToObject(cJSON_AddObjectToObject(version, "schema"), "openAPIV3Schema",
                          schema ? schema : cJSON_CreateObject());
    return definition;
}

static void add_definition(struct release_evidence *e, size_t kind, size_t time)
{
    cJSON *definition = make_definition(kind, time);

    release_evidence_add_definition(e, definition);
    cJSON_Delete(definition);
}

static struct release_finding detect_files(size_t time)
{
    struct release_evidence e = {0};

    for (size_t i = 0; i < RELEASE_SCHEMA_COUNT; i++)
        add_definition(&e, i, time);
    return release_evidence_evaluate(&e, RELEASE_OF_FILES);
}

/* Adds the OpenAPI document of one group at a release. */
static void add_openapi(struct release_evidence *e, const char *group, size_t time)
{
    cJSON *document = cJSON_CreateObject();
    cJSON *components =
        cJSON_AddObjectToObject(cJSON_AddObjectToObject(document, "components"), "schemas");

    for (size_t i = 0; i < RELEASE_SCHEMA_COUNT; i++) {
        cJSON *schema = strcmp(kinds[i].group, group) == 0
                            ? make_schema(kinds[i].group, kinds[i].version, kinds[i].kind, time)
                            : NULL;
        cJSON *names;

        if (!schema)
            continue;
        names = cJSON_CreateObject();
        cJSON_AddStringToObject(names, "group", kinds[i].group);
        cJSON_AddStringToObject(names, "version", kinds[i].version);
        cJSON_AddStringToObject(names, "kind", kinds[i].kind);
        cJSON_AddItemToArray(cJSON_AddArrayToObject(schema, "x-kubernetes-group-version-kind"),
                             names);
        cJSON_AddItemToObject(components, kinds[i].kind, schema);
    }
    assert_true(release_evidence_add_openapi(e, document));
    cJSON_Delete(document);
}

/* Returns true if all fields of Karmada's kinds are equal in two releases of the table. */
static bool schemas_equal(size_t a, size_t b)
{
    for (size_t i = 0; i < row_count; i++) {
        bool in_a = a >= rows[i].first && a <= rows[i].last;

        if (in_a != (b >= rows[i].first && b <= rows[i].last))
            return false;
    }
    return true;
}

static size_t time_of_release(unsigned release)
{
    return TIME_OF_1_13 + release;
}

/* ---- detection ---- */

TEST(schemas_separate_releases_as_far_as_they_differ)
{
    assert_int_equal(ARRAY_LEN(columns_of_time) - TIME_OF_1_13, RELEASE_COUNT);
    for (unsigned release = 0; release < RELEASE_COUNT; release++) {
        struct release_evidence server = {0};
        struct release_finding files = detect_files(time_of_release(release));
        struct release_range found;

        add_openapi(&server, "policy.karmada.io", time_of_release(release));
        add_openapi(&server, "work.karmada.io", time_of_release(release));
        found = release_evidence_evaluate(&server, RELEASE_OF_SERVER).range;
        assert_int_equal(found.origin, RELEASE_OF_SERVER);
        assert_int_equal(files.range.origin, RELEASE_OF_FILES);
        for (unsigned other = 0; other < RELEASE_COUNT; other++) {
            bool inside = other >= found.oldest && other <= found.newest;

            assert_int_equal(inside,
                             schemas_equal(time_of_release(release), time_of_release(other)));
        }
        assert_true(release >= files.range.oldest && release <= files.range.newest);
        assert_int_equal(files.behind, RELEASE_SCHEMA_COUNT);
        assert_false(files.is_older);
    }
}

/* Only 1.13 and 1.14 differ by a whole kind, and files may lack the definition of a kind. */
TEST(definitions_in_files_separate_releases_by_fields)
{
    static const struct {
        unsigned oldest, newest;
    } wanted[RELEASE_COUNT] = {
        {RELEASE_1_13, RELEASE_1_14},       {RELEASE_1_14, RELEASE_1_14},
        {RELEASE_1_15, RELEASE_1_16},       {RELEASE_1_15, RELEASE_1_16},
        {RELEASE_1_17, RELEASE_1_17},       {RELEASE_1_18, RELEASE_1_18},
        {RELEASE_1_19_RC, RELEASE_1_19_RC}, {RELEASE_1_19, RELEASE_1_19},
    };

    for (unsigned release = 0; release < RELEASE_COUNT; release++) {
        struct release_range found = detect_files(time_of_release(release)).range;

        assert_int_equal(found.oldest, wanted[release].oldest);
        assert_int_equal(found.newest, wanted[release].newest);
    }
}

/* Adds the definition of a kind of policies, also one with excludedResources. */
static void add_policy_definition(struct release_evidence *e, size_t kind, bool with_exclusions)
{
    cJSON *definition = make_definition(kind, time_of_release(RELEASE_1_18));
    cJSON *version = cJSON_GetArrayItem(
        cJSON_GetObjectItem(cJSON_GetObjectItem(definition, "spec"), "versions"), 0);
    cJSON *schema = cJSON_GetObjectItem(cJSON_GetObjectItem(version, "schema"), "openAPIV3Schema");

    if (with_exclusions)
        cJSON_AddStringToObject(descend(descend(schema, "spec"), "excludedResources"), "type",
                                "array");
    release_evidence_add_definition(e, definition);
    cJSON_Delete(definition);
}

TEST(no_release_has_excluded_resources)
{
    for (unsigned release = 0; release < RELEASE_COUNT; release++)
        assert_true(detect_files(time_of_release(release)).range.lacks_exclusions);
}

TEST(a_control_plane_can_have_excluded_resources)
{
    struct release_evidence e = {0};

    assert_false(release_evidence_evaluate(&e, RELEASE_OF_FILES).range.lacks_exclusions);
    add_policy_definition(&e, RELEASE_SCHEMA_POLICY, true);
    assert_false(release_evidence_evaluate(&e, RELEASE_OF_FILES).range.lacks_exclusions);
    add_policy_definition(&e, RELEASE_SCHEMA_CLUSTER_POLICY, false);
    assert_false(release_evidence_evaluate(&e, RELEASE_OF_FILES).range.lacks_exclusions);
    add_policy_definition(&e, RELEASE_SCHEMA_POLICY, false);
    assert_true(release_evidence_evaluate(&e, RELEASE_OF_FILES).range.lacks_exclusions);
}

TEST(a_single_definition_is_evidence)
{
    struct release_evidence e = {0};

    add_definition(&e, RELEASE_SCHEMA_CLUSTER_POLICY, time_of_release(RELEASE_1_19));
    struct release_range found = release_evidence_evaluate(&e, RELEASE_OF_FILES).range;

    assert_int_equal(found.oldest, RELEASE_1_19_RC);
    assert_int_equal(found.newest, RELEASE_1_19);
}

TEST(releases_before_the_oldest_known_one_are_reported)
{
    for (size_t time = 0; time < TIME_OF_1_13; time++) {
        CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(4096);
        struct release_finding found = detect_files(time);

        assert_true(found.is_older);
        assert_int_equal(found.range.oldest, RELEASE_1_13);
        assert_int_equal(found.range.newest, RELEASE_1_13);
        release_finding_warn(&found, &text);
        assert_string_equal(text.data,
                            "the schemas of Karmada's kinds are older than Karmada 1.13, the "
                            "oldest release that this exporter knows; the rules of 1.13 apply");
    }
}

static struct half_upgrade {
    const char *name;
    unsigned policies, bindings; /* Releases of the definitions. */
    unsigned oldest, newest;
    const char *warning;
} half_upgrades[] = {
    {"policies before bindings", RELEASE_1_18, RELEASE_1_15, RELEASE_1_15, RELEASE_1_18,
     "the schemas of Karmada's kinds are not of one release: ResourceBinding is of Karmada 1.15 to "
     "1.16, PropagationPolicy of Karmada 1.18; set --karmada.version to the release of the "
     "components that run"},
    {"bindings before policies", RELEASE_1_13, RELEASE_1_17, RELEASE_1_13, RELEASE_1_17,
     "the schemas of Karmada's kinds are not of one release: PropagationPolicy is of Karmada 1.13 "
     "to 1.14, ResourceBinding of Karmada 1.17; set --karmada.version to the release of the "
     "components that run"},
    {"neighbours", RELEASE_1_17, RELEASE_1_18, RELEASE_1_17, RELEASE_1_18,
     "the schemas of Karmada's kinds are not of one release: PropagationPolicy is of Karmada 1.17, "
     "ResourceBinding of Karmada 1.18; set --karmada.version to the release of the components that "
     "run"},
    {"the oldest and the newest", RELEASE_1_19, RELEASE_1_13, RELEASE_1_13, RELEASE_1_19,
     "the schemas of Karmada's kinds are not of one release: ResourceBinding is of Karmada 1.13 to "
     "1.14, PropagationPolicy of Karmada 1.19.0-rc.0 to 1.19; set --karmada.version to the release "
     "of the components that run"},
};

TEST_ROWS(a_half_upgrade_spans_both_releases, half_upgrades, name)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(4096);
    const struct half_upgrade *row = *state;
    struct release_evidence e = {0};
    struct release_finding found;

    add_openapi(&e, "policy.karmada.io", time_of_release(row->policies));
    add_openapi(&e, "work.karmada.io", time_of_release(row->bindings));
    found = release_evidence_evaluate(&e, RELEASE_OF_SERVER);
    assert_int_equal(found.range.oldest, row->oldest);
    assert_int_equal(found.range.newest, row->newest);
    release_finding_warn(&found, &text);
    assert_string_equal(text.data, row->warning);
}

TEST(equal_schemas_of_two_releases_are_no_half_upgrade)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(4096);
    struct release_evidence e = {0};
    struct release_finding found;

    add_openapi(&e, "policy.karmada.io", time_of_release(RELEASE_1_15));
    add_openapi(&e, "work.karmada.io", time_of_release(RELEASE_1_16));
    found = release_evidence_evaluate(&e, RELEASE_OF_SERVER);
    release_finding_warn(&found, &text);
    assert_string_equal(text.data, "");
    assert_int_equal(found.range.oldest, RELEASE_1_15);
    assert_int_equal(found.range.newest, RELEASE_1_16);
}

/* A later patch or release may add fields that no table has. */
TEST(unknown_fields_of_the_newest_schema_change_nothing)
{
    struct release_evidence e = {0};
    cJSON *definition = make_definition(RELEASE_SCHEMA_BINDING, time_of_release(RELEASE_1_19));
    cJSON *schema = cJSON_GetObjectItem(
        cJSON_GetObjectItem(
            cJSON_GetArrayItem(
                cJSON_GetObjectItem(cJSON_GetObjectItem(definition, "spec"), "versions"), 0),
            "schema"),
        "openAPIV3Schema");

    descend(descend(schema, "spec"), "fieldOfTomorrow");
    assert_true(release_evidence_add_definition(&e, definition));
    assert_int_equal(release_evidence_evaluate(&e, RELEASE_OF_FILES).range.oldest, RELEASE_1_19);
    assert_false(release_evidence_add_definition(&e, definition));
    cJSON_Delete(definition);
}

static struct useless_schema {
    const char *name;
    const char *json;
} useless_schemas[] = {
    {"no object", "[]"},
    {"no schema", "{'kind':'CustomResourceDefinition','spec':{'group':'policy.karmada.io',"
                  "'names':{'kind':'PropagationPolicy'},'versions':[{'name':'v1alpha1'}]}}"},
    {"an open schema",
     "{'kind':'CustomResourceDefinition','spec':{'group':'policy.karmada.io','names':{'kind':"
     "'PropagationPolicy'},'versions':[{'name':'v1alpha1','schema':{'openAPIV3Schema':{"
     "'properties':{'spec':{'properties':{'priority':{}},"
     "'x-kubernetes-preserve-unknown-fields':true}}}}}]}}"},
    {"another version",
     "{'kind':'CustomResourceDefinition','spec':{'group':'work.karmada.io','names':{'kind':"
     "'ResourceBinding'},'versions':[{'name':'v1alpha1','schema':{'openAPIV3Schema':{"
     "'properties':{'spec':{'properties':{'resource':{}}}}}}}]}}"},
    {"another group",
     "{'kind':'CustomResourceDefinition','spec':{'group':'example.io','names':{'kind':"
     "'PropagationPolicy'},'versions':[{'name':'v1alpha1','schema':{'openAPIV3Schema':{"
     "'properties':{'spec':{'properties':{'a':{}}}}}}}]}}"},
    {"wrong types",
     "{'kind':'CustomResourceDefinition','spec':{'group':'policy.karmada.io','names':{'kind':"
     "'PropagationPolicy'},'versions':[1,null,{'name':'v1alpha1','schema':{'openAPIV3Schema':{"
     "'properties':{'spec':[{'properties':1}]}}}}]}}"},
};

TEST_ROWS(a_schema_that_shows_nothing_is_no_evidence, useless_schemas, name)
{
    const struct useless_schema *row = *state;
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(4096);
    struct release_evidence e = {0};
    struct release_finding found;
    struct error err;
    cJSON *json;

    for (const char *at = row->json; *at; at++)
        strbuf_addc(&text, *at == '\'' ? '"' : *at);
    json = json_parse(text.data, text.len, NULL, &err);
    assert_non_null(json);
    release_evidence_add_definition(&e, json);
    assert_false(release_evidence_add_openapi(&e, json));
    found = release_evidence_evaluate(&e, RELEASE_OF_FILES);
    assert_int_equal(found.range.oldest, RELEASE_NEWEST);
    assert_int_equal(found.range.newest, RELEASE_NEWEST);
    assert_int_equal(found.range.origin, RELEASE_ASSUMED);
    cJSON_Delete(json);
}

TEST(findings_are_compared_by_all_members)
{
    struct release_finding a = detect_files(time_of_release(RELEASE_1_15));
    struct release_finding b = detect_files(time_of_release(RELEASE_1_16));
    struct release_finding c = detect_files(time_of_release(RELEASE_1_17));

    assert_true(release_finding_equal(&a, &b));
    assert_false(release_finding_equal(&a, &c));
    b.is_older = true;
    assert_false(release_finding_equal(&a, &b));
}
