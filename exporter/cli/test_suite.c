/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/cli/test_suite.h"

#include <unistd.h>

#include "exporter/options/options.h"
#include "exporter/system/file.h"
#include "exporter/system/secret.h"
#include "exporter/text/check_result.h"
#include "exporter/text/object_name.h"
#include "metrics/base/number.h"
#include "metrics/base/shown.h"
#include "metrics/base/suggest.h"
#include "metrics/rules/scheduling/verdicts.h"
#include "metrics/simulate/plan.h"

enum {
    NODES_MAX = 4 * 1024 * 1024,
    GATES_MAX_BYTES = 64 * 1024,
    WORDS_MAX_BYTES = 4096,
    TEST_LIMIT_MAX = INT32_MAX, /* Replicas. */
};

/* ---- nodes ---- */

struct checker {
    const char *path;
};

/*
 * Checks a node. Returns false with an error that begins with path, line and column if its value is
 * not valid.
 */
typedef bool check_fn(const struct checker *c, const cJSON *node, struct error *err);

/* Members that a mapping may have; the last one has no name. */
struct test_member {
    const char *name;
    check_fn *check;
    bool required;
};

/* Returns the name of a node in an error. */
static const char *node_name(const cJSON *node)
{
    if (node->string)
        return node->string;
    return node->prev ? "an element of the list" : "the document";
}

static bool refuse(const struct checker *c, const cJSON *node, const char *needs, struct error *err)
{
    fail(err, "%s%s%s needs %s", node->string ? "'" : "", node_name(node), node->string ? "'" : "",
         needs);
    return yaml_fail(c->path, node, err);
}

/* Names for suggest_name(), and the position in them. */
struct value_names {
    const char *const *names;
    size_t count;
    size_t at;
};

static const char *next_name(void *context)
{
    struct value_names *list = context;

    return list->at < list->count ? list->names[list->at++] : NULL;
}

static const char *next_member(void *context)
{
    const struct test_member **next = context;

    return (*next)->name ? (*next)++->name : NULL;
}

static const struct test_member *find_member(const struct test_member *members, const char *name)
{
    for (; members->name; members++) {
        if (strcmp(members->name, name) == 0)
            return members;
    }
    return NULL;
}

static bool refuse_unknown(const struct checker *c, const cJSON *node,
                           const struct test_member *members, struct error *err)
{
    const struct test_member *next = members;
    const char *nearest = suggest_name(node->string, next_member, &next);

    if (nearest)
        fail(err, "unknown name '%s'; did you mean '%s'?", shown(node->string).text, nearest);
    else
        fail(err, "unknown name '%s'", shown(node->string).text);
    return yaml_fail(c->path, node, err);
}

/* Checks the names and values of a mapping. */
static bool check_members(const struct checker *c, const cJSON *node,
                          const struct test_member *members, struct error *err)
{
    const cJSON *child;

    if (!cJSON_IsObject(node))
        return refuse(c, node, "a mapping", err);
    cJSON_ArrayForEach (child, node) {
        const struct test_member *member = find_member(members, child->string);

        if (!member)
            return refuse_unknown(c, child, members, err);
        if (!member->check(c, child, err))
            return false;
    }
    for (; members->name; members++) {
        if (members->required && !json_get(node, members->name)) {
            fail(err, "'%s' is missing", members->name);
            return yaml_fail(c->path, node, err);
        }
    }
    return true;
}

/* ---- values ---- */

static bool is_text(const cJSON *node)
{
    return cJSON_IsString(node) && *node->valuestring != '\0';
}

static bool check_text(const struct checker *c, const cJSON *node, struct error *err)
{
    return is_text(node) || refuse(c, node, "a text", err);
}

/* Checks each text of a node that is a text or a list of texts. */
static bool check_each_text(const struct checker *c, const cJSON *node, check_fn *check,
                            struct error *err)
{
    const cJSON *text;

    if (is_text(node))
        return check(c, node, err);
    if (!cJSON_IsArray(node) || !node->child)
        return refuse(c, node, "a text or a list of texts", err);
    cJSON_ArrayForEach (text, node) {
        if (!check_text(c, text, err) || !check(c, text, err))
            return false;
    }
    return true;
}

static bool check_path(const struct checker *c, const cJSON *node, struct error *err)
{
    if (strcmp(node->valuestring, "-") != 0)
        return true;
    return refuse(c, node, "the path of a file or folder: a test does not read standard input",
                  err);
}

static bool check_paths(const struct checker *c, const cJSON *node, struct error *err)
{
    return check_each_text(c, node, check_path, err);
}

static bool check_texts(const struct checker *c, const cJSON *node, struct error *err)
{
    return check_each_text(c, node, check_text, err);
}

/* Checks that a text is one of the names. */
static bool check_name(const struct checker *c, const cJSON *node, const char *const *names,
                       size_t count, struct error *err)
{
    struct value_names list = {names, count, 0};
    CLEANUP(strbuf_release) struct strbuf all = STRBUF_INIT(WORDS_MAX_BYTES);
    const char *nearest;

    for (size_t i = 0; is_text(node) && i < count; i++) {
        if (strcmp(names[i], node->valuestring) == 0)
            return true;
    }
    for (size_t i = 0; i < count; i++)
        strbuf_addf(&all, "%s%s", i == 0 ? "one of " : ", ", names[i]);
    if (!is_text(node))
        return refuse(c, node, all.data, err);
    nearest = suggest_name(node->valuestring, next_name, &list);
    if (!nearest)
        return refuse(c, node, all.data, err);
    fail(err, "'%s' is no value of '%s'; did you mean '%s'?", shown(node->valuestring).text,
         node_name(node), nearest);
    return yaml_fail(c->path, node, err);
}

static bool check_bool(const struct checker *c, const cJSON *node, struct error *err)
{
    static const char *const names[] = {"true", "false"};

    return check_name(c, node, names, ARRAY_LEN(names), err);
}

static bool check_replicas(const struct checker *c, const cJSON *node, struct error *err)
{
    uint64_t ignored;

    return (is_text(node) && parse_uint(node->valuestring, TEST_LIMIT_MAX, &ignored)) ||
           refuse(c, node, "a number of replicas", err);
}

static bool check_object_name(const struct checker *c, const cJSON *node, struct error *err)
{
    CLEANUP(object_name_release) struct object_name name = {0};

    if (!check_text(c, node, err))
        return false;
    return object_name_parse(node->valuestring, &name, err) || yaml_fail(c->path, node, err);
}

static bool check_object_names(const struct checker *c, const cJSON *node, struct error *err)
{
    if (cJSON_IsArray(node) && !node->child)
        return true;
    return check_each_text(c, node, check_object_name, err);
}

static bool check_policy(const struct checker *c, const cJSON *node, struct error *err)
{
    if (cJSON_IsNull(node))
        return true;
    if (!is_text(node))
        return refuse(c, node, "pp/NAMESPACE/NAME, cpp/NAME, or null for no policy", err);
    return check_object_name(c, node, err);
}

static bool check_objects(const struct checker *c, const cJSON *node, struct error *err)
{
    const cJSON *object;

    if (!cJSON_IsArray(node) || !node->child)
        return refuse(c, node, "a list of objects", err);
    cJSON_ArrayForEach (object, node) {
        if (!cJSON_IsObject(object))
            return refuse(c, object, "apiVersion, kind and metadata", err);
    }
    return true;
}

/* Compares two nodes by their texts, and then by their places. */
static int compare_texts(const void *a, const void *b)
{
    const cJSON *x = *(const cJSON *const *)a, *y = *(const cJSON *const *)b;
    int order = strcmp(x->valuestring, y->valuestring);

    order = order ? order : x->valueint - y->valueint;
    return order ? order : (x->valuedouble > y->valuedouble) - (x->valuedouble < y->valuedouble);
}

/* Refuses a text that an earlier node of the list has. Sorts the list. */
static bool check_unique(const struct checker *c, const cJSON **nodes, size_t count,
                         struct error *err)
{
    if (count > 1)
        qsort(nodes, count, sizeof(const cJSON *), compare_texts);
    for (size_t i = 1; i < count; i++) {
        if (strcmp(nodes[i - 1]->valuestring, nodes[i]->valuestring) != 0)
            continue;
        fail(err, "%s%s'%s' is taken already, in line %d", nodes[i]->string ? nodes[i]->string : "",
             nodes[i]->string ? " " : "", shown(nodes[i]->valuestring).text,
             nodes[i - 1]->valueint);
        return yaml_fail(c->path, nodes[i], err);
    }
    return true;
}

/* ---- settings of Karmada ---- */

static bool check_release(const struct checker *c, const cJSON *node, struct error *err)
{
    struct release_range range;
    bool known;

    if (!release_parse(node->valuestring, &range, &known, err))
        return yaml_fail(c->path, node, err);
    if (known)
        return true;
    fail(err, "Karmada %s is not known; the nearest known release is %s",
         shown(node->valuestring).text, release_name(range.newest));
    return yaml_fail(c->path, node, err);
}

static bool check_releases(const struct checker *c, const cJSON *node, struct error *err)
{
    return check_each_text(c, node, check_release, err);
}

static bool check_one_release(const struct checker *c, const cJSON *node, struct error *err)
{
    return check_text(c, node, err) && check_release(c, node, err);
}

/* Unknown gate, as unknown_gates_each() reports it. */
struct unknown_gate {
    struct error *err;
    bool found;
};

static void note_unknown_gate(void *context, const char *gate, const char *nearest)
{
    struct unknown_gate *unknown = context;

    if (!unknown->found)
        fail(unknown->err, "unknown feature gate '%s'; the nearest is '%s'", gate, nearest);
    unknown->found = true;
}

static bool check_gates(const struct checker *c, const cJSON *node, struct error *err)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(GATES_MAX_BYTES);
    struct unknown_gate unknown = {.err = err};
    const cJSON *gate;
    gate_set ignored;

    if (!is_text(node) && !cJSON_IsObject(node))
        return refuse(c, node, "feature gates with true or false, such as 'Failover: true'", err);
    cJSON_ArrayForEach (gate, json_object_or_null(node)) {
        if (!check_bool(c, gate, err))
            return false;
    }
    test_add_gates(node, &text);
    if (!gates_parse(text.data, RELEASE_NEWEST, &ignored, err))
        return yaml_fail(c->path, node, err);
    unknown_gates_each(text.data, note_unknown_gate, &unknown);
    return !unknown.found || yaml_fail(c->path, node, err);
}

static bool check_takeover(const struct checker *c, const cJSON *node, struct error *err)
{
    const char *const *choices = option_defs[OPTION_OF_takeover].choices;
    size_t count = 0;

    while (choices[count])
        count++;
    return check_name(c, node, choices, count, err);
}

/* ---- expectations ---- */

static bool check_state(const struct checker *c, const cJSON *node, struct error *err)
{
    return check_name(c, node, state_names, STATE_COUNT, err);
}

static bool check_reason(const struct checker *c, const cJSON *node, struct error *err)
{
    const char *names[STALE_REASON_COUNT + (size_t)PENDING_REASON_COUNT + UNBOUND_REASON_COUNT +
                      IGNORED_REASON_COUNT];
    size_t count = 0;

    for (unsigned i = 0; i < STALE_REASON_COUNT; i++)
        names[count++] = stale_reason_names[i];
    for (unsigned i = 0; i < PENDING_REASON_COUNT; i++)
        names[count++] = pending_reason_names[i];
    for (unsigned i = 0; i < UNBOUND_REASON_COUNT; i++)
        names[count++] = unbound_reason_names[i];
    for (unsigned i = 0; i < IGNORED_REASON_COUNT; i++)
        names[count++] = ignored_reason_names[i];
    return check_name(c, node, names, count, err);
}

static bool check_outcome(const struct checker *c, const cJSON *node, struct error *err)
{
    return check_name(c, node, prediction_names, PREDICTION_COUNT, err);
}

static bool check_when(const struct checker *c, const cJSON *node, struct error *err)
{
    return check_name(c, node, plan_when_names, PLAN_WHEN_COUNT, err);
}

/* Refuses a text that a list has twice, because each of its texts stands for one object. */
static bool check_distinct(const struct checker *c, const cJSON *list, struct error *err)
{
    CLEANUP(free_cleanup)
    const cJSON **nodes = xcalloc((size_t)cJSON_GetArraySize(list) + 1, sizeof(const cJSON *));
    const cJSON *one;
    size_t count = 0;

    cJSON_ArrayForEach (one, list)
        nodes[count++] = one;
    return check_unique(c, nodes, count, err);
}

/* Clusters: names with replicas, or a list of names; null replicas are any number. */
static bool check_clusters(const struct checker *c, const cJSON *node, struct error *err)
{
    const cJSON *child;

    if (!cJSON_IsObject(node) && !cJSON_IsArray(node))
        return refuse(c, node, "a mapping such as {member1: 2}, or a list of names; [] for none",
                      err);
    cJSON_ArrayForEach (child, node) {
        bool fine = cJSON_IsArray(node) ? check_text(c, child, err)
                                        : cJSON_IsNull(child) || check_replicas(c, child, err);

        if (!fine)
            return false;
    }
    return cJSON_IsObject(node) || check_distinct(c, node, err);
}

static bool check_verdict(const struct checker *c, const cJSON *node, struct error *err)
{
    return check_name(c, node, cluster_verdict_names, CLUSTER_VERDICT_TARGET, err);
}

/* Clusters that have no copy, with the verdict that excludes each, or as a list. */
static bool check_not_on(const struct checker *c, const cJSON *node, struct error *err)
{
    const cJSON *child;

    if (!cJSON_IsObject(node))
        return check_each_text(c, node, check_text, err);
    if (!node->child)
        return refuse(c, node, "a mapping such as {member1: affinity}, or a list of names", err);
    cJSON_ArrayForEach (child, node) {
        if (!check_verdict(c, child, err))
            return false;
    }
    return true;
}

/* Copies in member clusters: values by JSON pointer; null for a missing value. */
static bool check_copies(const struct checker *c, const cJSON *node, struct error *err)
{
    const cJSON *cluster, *value;

    if (!cJSON_IsObject(node) || !node->child)
        return refuse(c, node, "a mapping such as {member1: {/spec/replicas: 2}}", err);
    cJSON_ArrayForEach (cluster, node) {
        if (!cJSON_IsObject(cluster) || !cluster->child)
            return refuse(c, cluster, "a mapping such as {/spec/replicas: 2}", err);
        cJSON_ArrayForEach (value, cluster) {
            if (*value->string != '/')
                return refuse(c, value, "a name that begins with '/': a JSON pointer", err);
            if (!cJSON_IsString(value) && !cJSON_IsNull(value))
                return refuse(c, value, "a text, a number, true, false or null", err);
        }
    }
    return true;
}

static bool check_problem(const struct checker *c, const cJSON *node, struct error *err)
{
    struct problem_filter filter;

    if (!check_text(c, node, err))
        return false;
    return problem_filter_parse(node->valuestring, NULL, &filter, err) ||
           yaml_fail(c->path, node, err);
}

static const struct test_member problem_members[] = {
    {"problem", check_problem, true},
    {"object", check_object_name, false},
    {NULL, NULL, false},
};

/* Problems: names, and in the list of a case also names with their objects. */
static bool check_problems(const struct checker *c, const cJSON *node, struct error *err)
{
    const cJSON *problem;

    if (!cJSON_IsArray(node))
        return refuse(c, node, "a list of problems; [] for none", err);
    cJSON_ArrayForEach (problem, node) {
        bool fine = cJSON_IsObject(problem) ? check_members(c, problem, problem_members, err)
                                            : check_problem(c, problem, err);

        if (!fine)
            return false;
    }
    return true;
}

static bool check_problem_names(const struct checker *c, const cJSON *node, struct error *err)
{
    const cJSON *problem;

    if (!check_problems(c, node, err))
        return false;
    cJSON_ArrayForEach (problem, node) {
        if (cJSON_IsObject(problem))
            return refuse(c, problem, "a problem, such as policy_tie: the object is known", err);
    }
    return true;
}

/* Facts of a template at one time. */
#define FACT_MEMBERS                                                                               \
    {"state", check_state, false}, {"reason", check_reason, false},                                \
        {"policy", check_policy, false}, {"clusters", check_clusters, false},                      \
        {"replicas", check_replicas, false}, {"outcome", check_outcome, false},                    \
    {                                                                                              \
        "outcomeReason", check_text, false                                                         \
    }

static const struct test_member next_members[] = {FACT_MEMBERS, {NULL, NULL, false}};

static bool check_next(const struct checker *c, const cJSON *node, struct error *err)
{
    return check_members(c, node, next_members, err) &&
           (node->child || refuse(c, node, "a field such as clusters", err));
}

static const struct test_member expectation_members[] = {
    {"object", check_object_name, true},
    {"exists", check_bool, false},
    FACT_MEMBERS,
    {"requiredBy", check_object_names, false},
    {"notOn", check_not_on, false},
    {"copies", check_copies, false},
    {"when", check_when, false},
    {"next", check_next, false},
    {"problems", check_problem_names, false},
    {NULL, NULL, false},
};

/* Refuses fields of an object that must not exist: they would not be compared. */
static bool check_absence(const struct checker *c, const cJSON *node, struct error *err)
{
    static const char *const allowed[] = {"object", "exists", "outcome", "outcomeReason"};
    const cJSON *field;

    if (strcmp(json_str(node, "exists", ""), "false") != 0)
        return true;
    cJSON_ArrayForEach (field, node) {
        size_t i = 0;

        while (i < ARRAY_LEN(allowed) && strcmp(field->string, allowed[i]) != 0)
            i++;
        if (i == ARRAY_LEN(allowed))
            return refuse(c, field, "an object that exists: remove the field, or 'exists: false'",
                          err);
    }
    return true;
}

static bool check_expectation(const struct checker *c, const cJSON *node, struct error *err)
{
    if (!check_members(c, node, expectation_members, err) || !check_absence(c, node, err))
        return false;
    if (node->child->next)
        return true;
    fail(err, "'%s' has no expectation: add a field such as clusters",
         shown(json_str(node, "object", "")).text);
    return yaml_fail(c->path, node, err);
}

static bool check_expectations(const struct checker *c, const cJSON *node, struct error *err)
{
    CLEANUP(free_cleanup) const cJSON **names = NULL;
    const cJSON *expectation;
    size_t count = 0;

    if (!cJSON_IsArray(node) || !node->child)
        return refuse(c, node, "a list of objects with their expected fields", err);
    names = xcalloc((size_t)cJSON_GetArraySize(node), sizeof(const cJSON *));
    cJSON_ArrayForEach (expectation, node) {
        if (!check_expectation(c, expectation, err))
            return false;
        names[count++] = json_get(expectation, "object");
    }
    return check_unique(c, names, count, err);
}

/* ---- cases ---- */

static const struct test_member change_members[] = {
    {"apply", check_paths, false},           {"objects", check_objects, false},
    {"delete", check_object_names, false},   {"lose", check_texts, false},
    {"toKarmada", check_one_release, false}, {NULL, NULL, false},
};

static bool check_change(const struct checker *c, const cJSON *node, struct error *err)
{
    return check_members(c, node, change_members, err) &&
           (node->child || refuse(c, node, "apply, objects, delete, lose or toKarmada", err));
}

#define SETTING_MEMBERS                                                                            \
    {"manifests", check_paths, false}, {"objects", check_objects, false},                          \
        {"karmada", check_releases, false}, {"featureGates", check_gates, false},                  \
    {                                                                                              \
        "takeover", check_takeover, false                                                          \
    }

static const struct test_member case_members[] = {
    {"name", check_text, true},          SETTING_MEMBERS,
    {"change", check_change, false},     {"expect", check_expectations, false},
    {"problems", check_problems, false}, {NULL, NULL, false},
};

/* Refuses the field of expectations that only a change gives a meaning. */
static bool check_time_of_effect(const struct checker *c, const cJSON *node, struct error *err)
{
    const cJSON *expectation;

    cJSON_ArrayForEach (expectation, json_array(node, "expect")) {
        const cJSON *when = json_get(expectation, "when");

        if (when && !json_get(node, "change"))
            return refuse(c, when, "a 'change' in the case", err);
    }
    return true;
}

static bool check_case(const struct checker *c, const cJSON *node, struct error *err)
{
    if (!check_members(c, node, case_members, err))
        return false;
    if (!json_get(node, "expect") && !json_get(node, "problems"))
        return refuse(c, node, "'expect' or 'problems': a case without them cannot fail", err);
    return check_time_of_effect(c, node, err);
}

static bool check_cases(const struct checker *c, const cJSON *node, struct error *err)
{
    const cJSON *one;

    if (!cJSON_IsArray(node) || !node->child)
        return refuse(c, node, "a list with at least one case", err);
    cJSON_ArrayForEach (one, node) {
        if (!check_case(c, one, err))
            return false;
    }
    return true;
}

static const struct test_member document_members[] = {
    SETTING_MEMBERS,
    {"tests", check_cases, true},
    {NULL, NULL, false},
};

/* ---- reading ---- */

static struct yaml_reader *open_reader(struct yaml_text *source, bool as_written)
{
    return yaml_reader_new(yaml_read_text, source,
                           (struct yaml_limits){.nodes_max = NODES_MAX,
                                                .bytes_max = 4 * (size_t)TEST_FILE_MAX_BYTES,
                                                .as_written = as_written});
}

/* Adds the next document. Returns YAML_READ_MALFORMED with path, line and column in the error. */
static enum yaml_outcome read_document(struct test_suite *suite, struct yaml_reader *written,
                                       struct yaml_reader *typed, struct error *err)
{
    struct test_document document = {0};
    struct json_position where;
    enum yaml_outcome outcome = yaml_reader_next(typed, &document.typed, &where, err);

    if (outcome == YAML_READ_DOCUMENT)
        outcome = yaml_reader_next(written, &document.written, &where, err);
    if (outcome == YAML_READ_MALFORMED)
        fail_in(err, "%s:%zu:%zu", suite->path, where.line, where.column);
    if (outcome != YAML_READ_DOCUMENT) {
        cJSON_Delete(document.typed);
        return outcome;
    }
    suite->documents =
        xreallocarray(suite->documents, suite->document_count + 1, sizeof(*suite->documents));
    suite->documents[suite->document_count++] = document;
    return outcome;
}

static bool read_documents(struct test_suite *suite, const struct strbuf *text, struct error *err)
{
    struct yaml_text source = {text->data, text->len}, again = source;
    CLEANUP(yaml_reader_cleanup) struct yaml_reader *written = open_reader(&source, true);
    CLEANUP(yaml_reader_cleanup) struct yaml_reader *typed = open_reader(&again, false);
    const struct checker checker = {suite->path};
    enum yaml_outcome outcome;

    while ((outcome = read_document(suite, written, typed, err)) == YAML_READ_DOCUMENT) {
        const cJSON *root = suite->documents[suite->document_count - 1].written;

        if (!check_members(&checker, root, document_members, err))
            return false;
    }
    return outcome == YAML_READ_END;
}

static void add_cases(struct test_suite *suite, const struct test_document *document)
{
    const cJSON *typed = json_array(document->typed, "tests")->child, *node;

    cJSON_ArrayForEach (node, json_array(document->written, "tests")) {
        suite->cases = xreallocarray(suite->cases, suite->case_count + 1, sizeof(*suite->cases));
        suite->cases[suite->case_count++] = (struct test_case){
            .name = json_str(node, "name", ""),
            .node = node,
            .document = document->written,
            .common_objects = json_array(document->typed, "objects"),
            .objects = json_array(typed, "objects"),
            .change_objects = json_array(json_get(typed, "change"), "objects"),
        };
        typed = typed->next;
    }
}

static bool collect_cases(struct test_suite *suite, struct error *err)
{
    CLEANUP(free_cleanup) const cJSON **names = NULL;

    for (size_t i = 0; i < suite->document_count; i++)
        add_cases(suite, &suite->documents[i]);
    if (suite->case_count == 0)
        return fail(err, "%s: the file has no case: add a list 'tests'", suite->path);
    names = xcalloc(suite->case_count, sizeof(const cJSON *));
    for (size_t i = 0; i < suite->case_count; i++)
        names[i] = json_get(suite->cases[i].node, "name");
    return check_unique(&(struct checker){suite->path}, names, suite->case_count, err);
}

static bool read_file(const char *path, struct strbuf *text, struct error *err)
{
    if (strcmp(path, "-") == 0)
        return file_read_fd(STDIN_FILENO, "standard input", text, err);
    return file_read(path, text, err);
}

bool test_suite_read(struct test_suite *suite, const char *path, struct error *err)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEST_FILE_MAX_BYTES);
    const char *slash = strrchr(path, '/');

    *suite = (struct test_suite){
        .path = xstrdup(strcmp(path, "-") == 0 ? "standard input" : path),
        .folder = xmemdup0(path, slash ? (size_t)(slash + 1 - path) : 0),
    };
    return read_file(path, &text, err) && read_documents(suite, &text, err) &&
           collect_cases(suite, err);
}

void test_suite_release(struct test_suite *suite)
{
    for (size_t i = 0; i < suite->document_count; i++) {
        cJSON_Delete(suite->documents[i].written);
        cJSON_Delete(suite->documents[i].typed);
    }
    free(suite->documents);
    free(suite->cases);
    free(suite->path);
    free(suite->folder);
    *suite = (struct test_suite){0};
}

/* ---- access ---- */

const cJSON *test_case_setting(const struct test_case *c, const char *key)
{
    const cJSON *own = json_get(c->node, key);

    return own ? own : json_get(c->document, key);
}

const cJSON *test_first_text(const cJSON *node)
{
    return cJSON_IsArray(node) ? node->child : node;
}

const cJSON *test_next_text(const cJSON *last)
{
    /* The next node of a member of a mapping is another member. */
    return last->string ? NULL : last->next;
}

void test_add_gates(const cJSON *node, struct strbuf *out)
{
    const cJSON *gate;

    if (cJSON_IsString(node)) {
        strbuf_adds(out, node->valuestring);
        return;
    }
    cJSON_ArrayForEach (gate, node)
        strbuf_addf(out, "%s%s=%s", gate->prev->next ? "," : "", gate->string, gate->valuestring);
}

char *test_resolve_path(const struct test_suite *suite, const char *path)
{
    CLEANUP(strbuf_release) struct strbuf full = STRBUF_INIT(TEST_FILE_MAX_BYTES);
    size_t len;

    strbuf_addf(&full, "%s%s", *path == '/' ? "" : suite->folder, path);
    return strbuf_take(&full, &len);
}
