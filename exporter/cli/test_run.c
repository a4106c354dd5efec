/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/cli/test_run.h"

#include "exporter/cli/load.h"
#include "exporter/cli/planned_objects.h"
#include "exporter/system/platform.h"
#include "exporter/text/plan_clusters_text.h"
#include "exporter/text/plan_text.h"
#include "exporter/text/plan_upgrade_text.h"
#include "exporter/text/skipped_files.h"

enum {
    EVALUATIONS_MAX = 8, /* Evaluations in memory. */
    KEY_MAX_BYTES = 64 * 1024 * 1024,
    TEXT_MAX_BYTES = 64 * 1024,
};

const char *const test_status_names[TEST_STATUS_COUNT] = {
    [TEST_PASSED] = "passed",
    [TEST_FAILED] = "failed",
    [TEST_BROKEN] = "broken",
};

/* PATH of a case without manifests: an evaluation without a PATH reads an API server. */
static const char no_manifests[] = "/dev/null";

void test_result_release(struct test_result *r)
{
    failed_expectations_release(&r->failures);
    text_list_release(&r->errors);
}

/* An evaluation of the manifests and settings that `key` describes. */
struct kept_evaluation {
    char *key; /* Owned, as is the evaluation. */
    struct evaluation *evaluation;
    bool judged; /* The problems are those of the evaluation without a change. */
};

struct test_runner {
    const struct invocation *invocation;
    struct kept_evaluation kept[EVALUATIONS_MAX];
    size_t next;           /* Index of the oldest one, or of a free place. */
    struct strbuf skipped; /* Last sentence about skipped files that was printed. */
};

struct test_runner *test_runner_new(const struct invocation *invocation)
{
    struct test_runner *r = xcalloc(1, sizeof(*r));

    r->invocation = invocation;
    r->skipped = STRBUF_INIT(TEXT_MAX_BYTES);
    return r;
}

static void drop_evaluation(struct kept_evaluation *kept)
{
    evaluation_free(kept->evaluation);
    free(kept->key);
    *kept = (struct kept_evaluation){0};
}

void test_runner_free(struct test_runner *r)
{
    for (size_t i = 0; i < EVALUATIONS_MAX; i++)
        drop_evaluation(&r->kept[i]);
    strbuf_release(&r->skipped);
    free(r);
}

/* ---- errors ---- */

/* One run of a case. */
struct run {
    struct test_runner *runner;
    struct test_result *result;
    const cJSON *release;
};

/* A message_fn: prints a warning, and adds an error to the result of the struct run. */
static void note_message(void *context, const char *text)
{
    struct run *run = context;
    CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(KEY_MAX_BYTES);

    if (strncmp(text, "warning: ", strlen("warning: ")) != 0) {
        run->result->status = TEST_BROKEN;
        text_list_add(&run->result->errors, text);
        return;
    }
    strbuf_addf(&line, "%s (test '%s')", text, run->result->test_case->name);
    invocation_print_error(run->runner->invocation, line.data);
}

/* Adds an error about a node of the test file. Returns false. */
static bool note_error_at(struct run *run, const cJSON *node, struct error *err)
{
    (void)yaml_fail(run->result->suite->path, node, err);
    note_message(run, err->text);
    return false;
}

/* ---- manifests and settings of a case ---- */

static void add_paths(const struct test_suite *suite, const cJSON *node, struct text_list *out)
{
    for (node = test_first_text(node); node; node = test_next_text(node)) {
        CLEANUP(free_cleanup) char *path = test_resolve_path(suite, node->valuestring);

        text_list_add(out, path);
    }
}

/* Returns the setting as text; "" if it is not set. The caller frees it. */
static char *setting_text(const struct test_case *c, const char *key)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX_BYTES);
    const cJSON *node = test_case_setting(c, key);
    size_t len;

    if (node)
        test_add_gates(node, &text);
    return strbuf_take(&text, &len);
}

/* Describes manifests, inline objects and settings: cases with equal keys share an evaluation. */
static char *make_key(const struct run *run, const struct text_list *paths)
{
    const struct test_case *c = run->result->test_case;
    CLEANUP(strbuf_release) struct strbuf key = STRBUF_INIT(KEY_MAX_BYTES);
    CLEANUP(free_cleanup) char *gates = setting_text(c, "featureGates");
    CLEANUP(free_cleanup) char *takeover = setting_text(c, "takeover");
    size_t len;

    for (size_t i = 0; i < paths->count; i++)
        strbuf_addf(&key, "%s\n", paths->items[i]);
    strbuf_addf(&key, "\n%p\n%p\n%s\n%s\n%s", (const void *)c->common_objects,
                (const void *)c->objects, run->release ? run->release->valuestring : "", gates,
                takeover);
    return strbuf_take(&key, &len);
}

static void replace_text(char **field, const char *text)
{
    free(*field);
    *field = xstrdup(text);
}

/* Sets the options of an evaluation: those of the command line, then those of the case. */
static bool make_options(const struct run *run, const struct text_list *paths, struct options *out,
                         struct error *err)
{
    const struct invocation *invocation = run->runner->invocation;
    const struct test_case *c = run->result->test_case;
    CLEANUP(free_cleanup) char *gates = setting_text(c, "featureGates");
    CLEANUP(free_cleanup) char *takeover = setting_text(c, "takeover");
    const struct option_def *def = &option_defs[OPTION_OF_takeover];

    if (!config_load(out, invocation->argc, invocation->argv, err))
        return false;
    text_list_release(&out->manifests);
    for (size_t i = 0; i < paths->count; i++)
        text_list_add(&out->manifests, paths->items[i]);
    if (paths->count == 0)
        text_list_add(&out->manifests, no_manifests);
    /* A configuration file for `serve` may name these. */
    replace_text(&out->kubeconfig, "");
    replace_text(&out->context, "");
    replace_text(&out->asset_file, "");
    if (run->release)
        replace_text(&out->karmada_version, run->release->valuestring);
    if (*gates)
        replace_text(&out->feature_gates, gates);
    return *takeover == '\0' ||
           option_value_set(&out->takeover, def->type, def->choices, takeover, err);
}

static void run_to_end(struct evaluation *e)
{
    while (!evaluation_run(e, platform_now_ms(), SIZE_MAX))
        continue;
}

/* ---- inline objects ---- */

/* Passes a list of inline objects to the receiver of `m`. `written` has their places. */
static bool read_objects(struct run *run, struct manifests *m, const cJSON *objects,
                         const cJSON *written)
{
    const cJSON *object = objects ? objects->child : NULL;
    const cJSON *node = written ? written->child : NULL;
    struct error err;
    size_t line; /* Line in the JSON text; the node has the line in the test file. */

    for (; object && node; object = object->next, node = node->next) {
        char *json = cJSON_PrintUnformatted(object);
        bool fine;

        if (!json)
            memory_exhausted(0);
        fine = manifests_read_text(m, "object", json, strlen(json), &line, &err);
        free(json);
        if (!fine)
            return note_error_at(run, node, &err);
    }
    return true;
}

static bool put_object(void *context, const cJSON *object, struct error *err)
{
    struct evaluation *e = context;

    return store_put(e->store, object, (struct origin){.source = UINT32_MAX}, err) !=
           STORE_REJECTED;
}

/* Puts the inline objects of the document and of the case into the store. */
static bool put_objects(struct run *run, struct evaluation *e)
{
    const struct test_case *c = run->result->test_case;
    struct manifests *m =
        manifests_new(NULL, NULL, 0, e->options.namespace, &manifest_limits_default);
    bool fine;

    manifests_import_definitions(m, e->manifests);
    manifests_set_receiver(m, put_object, e);
    fine = read_objects(run, m, c->common_objects, json_get(c->document, "objects")) &&
           read_objects(run, m, c->objects, json_get(c->node, "objects"));
    manifests_free(m);
    return fine;
}

/* ---- evaluations ---- */

static void print_release_warning(void *context, const char *warning)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX_BYTES);

    strbuf_addf(&text, "warning: %s", warning);
    note_message(context, text.data);
}

/* Prints which files are skipped, unless that was the last such sentence. */
static void print_skipped(struct test_runner *r, const struct manifests *m)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX_BYTES);

    skipped_files_add(m, &text);
    if (text.len == 0 || strcmp(text.data, r->skipped.data) == 0)
        return;
    invocation_print_error(r->invocation, text.data);
    strbuf_reset(&r->skipped);
    strbuf_adds(&r->skipped, text.data);
}

/* Adds the error `fact` about manifests without certain objects, and the files that are skipped. */
static bool note_empty(struct run *run, const cJSON *node, const struct manifests *m,
                       const char *fact)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX_BYTES);
    struct error err;

    skipped_files_add_empty(m, fact, &text);
    fail(&err, "%scorrect the paths", text.data);
    return note_error_at(run, node, &err);
}

/* Reads the objects of an evaluation. Adds errors and returns false if one is not read. */
static bool fill_evaluation(struct run *run, struct evaluation *e)
{
    const cJSON *paths = test_case_setting(run->result->test_case, "manifests");
    struct error err;

    if (evaluation_load(e, &err) != LOADING_DONE)
        return note_error_at(run, paths ? paths : run->result->test_case->node, &err);
    load_report_problems(e->manifests, note_message, run);
    print_skipped(run->runner, e->manifests);
    if (run->result->status == TEST_BROKEN || !put_objects(run, e))
        return false;
    run_to_end(e);
    evaluation_each_release_warning(e, print_release_warning, run);
    if (store_object_count(e->store, CLASS_TEMPLATE) + store_object_count(e->store, CLASS_POLICY) >
        0)
        return true;
    return note_empty(run, run->result->test_case->node, e->manifests,
                      "the manifests contain no template and no policy");
}

/* Returns a new evaluation; NULL, with errors added, if its objects cannot be read. */
static struct evaluation *make_evaluation(struct run *run, const struct text_list *paths)
{
    static const struct log silent_log = {.level = LOG_LEVEL_NONE};
    struct options options;
    struct evaluation *e = NULL;
    struct error err;

    if (make_options(run, paths, &options, &err))
        e = evaluation_new(&(struct evaluation_settings){.options = &options,
                                                         .environment = platform_environment(),
                                                         .log = &silent_log,
                                                         .references = true,
                                                         .renders = true,
                                                         .documents = true,
                                                         .seed = platform_random_seed()},
                           &err);
    else
        options_release(&options);
    if (!e) {
        note_error_at(run, run->result->test_case->node, &err);
        return NULL;
    }
    if (fill_evaluation(run, e))
        return e;
    evaluation_free(e);
    return NULL;
}

/* Returns the evaluation of the case, owned by the runner; NULL with errors added. */
static struct kept_evaluation *get_evaluation(struct run *run)
{
    struct test_runner *r = run->runner;
    const struct test_case *c = run->result->test_case;
    CLEANUP(text_list_release) struct text_list paths = {0};
    CLEANUP(free_cleanup) char *key = NULL;
    struct kept_evaluation fresh = {0};

    add_paths(run->result->suite, json_get(c->document, "manifests"), &paths);
    add_paths(run->result->suite, json_get(c->node, "manifests"), &paths);
    key = make_key(run, &paths);
    for (size_t i = 0; i < EVALUATIONS_MAX; i++) {
        if (r->kept[i].key && strcmp(r->kept[i].key, key) == 0)
            return &r->kept[i];
    }
    fresh.evaluation = make_evaluation(run, &paths);
    if (!fresh.evaluation)
        return NULL;
    fresh.key = key;
    key = NULL;
    drop_evaluation(&r->kept[r->next]);
    r->kept[r->next] = fresh;
    r->next = (r->next + 1) % EVALUATIONS_MAX;
    return &r->kept[(r->next + EVALUATIONS_MAX - 1) % EVALUATIONS_MAX];
}

/* ---- change ---- */

/* Applies the texts of a member of the change. Adds an error and returns false if one fails. */
static bool apply_texts(struct run *run, struct plan *p, const struct evaluation *e,
                        const cJSON *node,
                        bool (*apply)(struct plan *p, const struct store *store, const char *typed,
                                      struct error *err))
{
    struct error err;

    for (node = test_first_text(node); node; node = test_next_text(node)) {
        if (!apply(p, e->store, node->valuestring, &err))
            return note_error_at(run, node, &err);
    }
    return true;
}

static bool upgrade(struct run *run, struct plan *p, const struct evaluation *e, const cJSON *node)
{
    struct error err;

    if (!node || plan_upgrade_typed(p, engine_release(e->engine), node->valuestring, &err))
        return true;
    return note_error_at(run, node, &err);
}

/* Reads the objects that the change applies. */
static bool read_applied(struct run *run, const struct evaluation *e, const cJSON *change,
                         struct planned_objects *out)
{
    const struct test_case *c = run->result->test_case;
    CLEANUP(text_list_release) struct text_list paths = {0};
    struct manifests *m;
    struct error err;
    bool fine;

    add_paths(run->result->suite, json_get(change, "apply"), &paths);
    m = manifests_new(NULL, (const char *const *)paths.items, paths.count, e->options.namespace,
                      &manifest_limits_default);
    manifests_import_definitions(m, e->manifests);
    manifests_set_server_versions(m, engine_api_version_source(e->engine));
    manifests_set_render_mode(m, (enum render_mode)e->options.render);
    planned_objects_init(out, m);
    fine = manifests_set_options(m, &e->options, &err) || note_error_at(run, change, &err);
    fine = fine && planned_objects_read(out, note_message, run) &&
           read_objects(run, m, c->change_objects, json_get(change, "objects"));
    planned_objects_drop_duplicates(out, note_message, run);
    print_skipped(run->runner, m);
    if (fine && out->count == 0)
        return note_empty(run, json_get(change, "apply"), m,
                          "the manifests of 'apply' contain no object");
    return fine;
}

static bool apply_objects(struct run *run, struct plan *p, const struct evaluation *e,
                          const cJSON *change)
{
    CLEANUP(planned_objects_release) struct planned_objects objects = {0};
    struct error err;

    if (!json_get(change, "apply") && !json_get(change, "objects"))
        return true;
    if (!read_applied(run, e, change, &objects))
        return false;
    for (size_t i = 0; i < objects.count; i++) {
        if (objects.items[i].json && !plan_apply(p, objects.items[i].json, &err))
            return note_error_at(run, change, &err);
    }
    return true;
}

/* Makes the change in the order of `plan`: upgrade, deletions, objects; clusters are lost last. */
static bool apply_change(struct run *run, struct plan *p, const struct evaluation *e,
                         const cJSON *change)
{
    return upgrade(run, p, e, json_get(change, "toKarmada")) &&
           apply_texts(run, p, e, json_get(change, "lose"), plan_lose_typed) &&
           apply_texts(run, p, e, json_get(change, "delete"), plan_delete_typed) &&
           apply_objects(run, p, e, change);
}

/* ---- expectations ---- */

/* Returns the objects that the expectations name, pinned; the caller frees the array. */
static struct entry **find_objects(const struct evaluation *e, const cJSON *test_case)
{
    const cJSON *list = json_array(test_case, "expect"), *node;
    struct entry **objects = xcalloc((size_t)cJSON_GetArraySize(list) + 1, sizeof(struct entry *));
    struct error ignored;
    size_t count = 0;

    cJSON_ArrayForEach (node, list) {
        const struct entry *entry = expectation_find_object(e, node, &ignored);

        if (entry)
            store_pin((struct entry *)(uintptr_t)entry);
        objects[count++] = (struct entry *)(uintptr_t)entry;
    }
    return objects;
}

static void release_objects(const struct evaluation *e, const cJSON *test_case,
                            struct entry **objects)
{
    size_t count = (size_t)cJSON_GetArraySize(json_array(test_case, "expect"));

    for (size_t i = 0; i < count; i++) {
        if (objects[i])
            store_unpin(e->store, objects[i]);
    }
    free(objects);
}

/* Judges the problems of the present state, which may be that of a simulation. */
static void judge_problems(struct kept_evaluation *kept, bool simulated)
{
    struct evaluation *e = kept->evaluation;

    if (kept->judged && !simulated)
        return;
    kept->judged = !simulated;
    if (!simulated) {
        load_judge_problems(e);
        return;
    }
    /* The engine does not judge problems during a simulation. */
    evaluation_judge_problems(e, true, NULL);
    while (!problems_run(engine_problems(e->engine), engine_context(e->engine), SIZE_MAX))
        continue;
}

/* Compares the expectations of the case with the observed state. */
static void compare(struct run *run, const struct observation *o)
{
    struct test_result *result = run->result;
    const cJSON *node = result->test_case->node;
    struct error err;

    if (!expectations_compare(o, node, result->suite->path, &result->failures, &err))
        note_message(run, err.text);
    else if (result->failures.count > 0)
        result->status = TEST_FAILED;
}

static void run_without_change(struct run *run, struct kept_evaluation *kept,
                               struct entry *const *objects)
{
    struct observation o = {.evaluation = kept->evaluation, .objects = objects};

    if (expectations_need_problems(run->result->test_case->node))
        judge_problems(kept, false);
    if (expectations_need_simulation(run->result->test_case->node))
        o.simulation = plan_new(kept->evaluation->engine);
    compare(run, &o);
    plan_free(o.simulation);
}

/* Prints a warning for each object of the change that the plan does not simulate completely. */
static void warn_of_change(struct run *run, const struct plan_result *plan)
{
    for (size_t i = 0; i < plan->object_count; i++) {
        const struct change_object *object = &plan->objects[i];
        CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX_BYTES);

        if (object->outcome == PREDICTION_REFUSED ||
            expectations_name_change(run->result->test_case->node, object))
            continue;
        strbuf_addf(&text, "warning: %s %s%s%s: %s", object->id.kind, object->id.ns,
                    *object->id.ns ? "/" : "", object->id.name, object->text);
        note_message(run, text.data);
    }
}

static void run_change(struct run *run, struct kept_evaluation *kept, const cJSON *change,
                       struct entry *const *objects)
{
    struct present_bindings *bindings = present_bindings_new(kept->evaluation->store);
    struct plan *p = plan_new(kept->evaluation->engine);

    plan_admit_manifests(p);
    if (apply_change(run, p, kept->evaluation, change)) {
        const struct plan_result *plan = plan_finish(p);

        warn_of_change(run, plan);
        if (expectations_need_problems(run->result->test_case->node))
            judge_problems(kept, true);
        compare(run, &(struct observation){.evaluation = kept->evaluation,
                                           .plan = plan,
                                           .simulation = p,
                                           .objects = objects,
                                           .bindings = bindings});
    }
    plan_free(p);
    present_bindings_free(bindings);
}

struct test_result test_run(struct test_runner *r, const struct test_suite *suite,
                            const struct test_case *test_case, const cJSON *release)
{
    struct test_result result = {
        .suite = suite,
        .test_case = test_case,
        .release = release ? release->valuestring : NULL,
        .status = TEST_PASSED,
    };
    struct run run = {r, &result, release};
    const cJSON *change = json_get(test_case->node, "change");
    struct kept_evaluation *kept = get_evaluation(&run);
    struct entry **objects;

    if (!kept)
        return result;
    objects = find_objects(kept->evaluation, test_case->node);
    if (change)
        run_change(&run, kept, change, objects);
    else
        run_without_change(&run, kept, objects);
    release_objects(kept->evaluation, test_case->node, objects);
    return result;
}
