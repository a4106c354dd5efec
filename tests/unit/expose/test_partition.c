/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/report.h"

#include "tests/unit/page.h"
#include "tests/unit/random_object.h"
#include "tests/unit/suite.h"

enum { WORLDS = 100, OBJECTS = 120, REPORT_MAX = 1 << 24 };

/* Returns the number of elements of a list that have `text` at `key`; NULL counts all elements. */
static int64_t count_rows(const cJSON *list, const char *key, const char *text)
{
    const cJSON *element;
    int64_t total = 0;

    cJSON_ArrayForEach (element, list)
        total += !text || strcmp(json_str(element, key, ""), text) == 0;
    return total;
}

/* Checks that two families count as many templates for each name as the report has rows. */
static void check_names(const char *page, const cJSON *rows, const char *key,
                        const char *const *names, unsigned name_count, const char *family,
                        const char *by_namespace)
{
    for (unsigned i = 0; i < name_count; i++) {
        char label[64];
        int64_t reported = count_rows(rows, key, names[i]);

        snprintf(label, sizeof(label), "%s=\"%s\"", key, names[i]);
        assert_int_equal(page_sum(page, family, label), reported);
        assert_int_equal(page_sum(page, by_namespace, label), reported);
    }
}

static void check_states(const char *page, const cJSON *report, const struct store *store)
{
    const cJSON *rows = json_get(report, "templates");
    const cJSON *summary = json_get(json_get(report, "summary"), "templates");
    int64_t templates = (int64_t)store_object_count(store, CLASS_TEMPLATE);

    assert_int_equal(page_sum(page, "karmada_templates", ""), templates);
    assert_int_equal(page_sum(page, "karmada_namespace_templates", ""), templates);
    assert_int_equal(count_rows(rows, "state", NULL), templates);
    check_names(page, rows, "state", state_names, STATE_COUNT, "karmada_templates",
                "karmada_namespace_templates");
    for (unsigned i = 0; i < STATE_COUNT; i++)
        assert_int_equal(json_int(summary, state_names[i], -1),
                         count_rows(rows, "state", state_names[i]));
    assert_int_equal(page_sum(page, "karmada_templates_stale", ""),
                     count_rows(rows, "state", "stale"));
    assert_int_equal(page_sum(page, "karmada_templates_pending", ""),
                     count_rows(rows, "state", "pending"));
    assert_int_equal(page_sum(page, "karmada_templates_ignored", ""),
                     count_rows(rows, "state", "ignored"));
    assert_int_equal(page_sum(page, "karmada_template_stale_info", ""),
                     count_rows(rows, "state", "stale"));
    assert_int_equal(page_sum(page, "karmada_template_pending_info", ""),
                     count_rows(rows, "state", "pending"));
}

/* Checks that each template is in one stage, and that the other families agree with the report. */
static void check_stages(const char *page, const cJSON *report, const struct store *store)
{
    const cJSON *rows = json_get(report, "templates");
    int64_t templates = (int64_t)store_object_count(store, CLASS_TEMPLATE);

    assert_int_equal(page_sum(page, "karmada_templates_stage", ""), templates);
    assert_int_equal(count_rows(rows, "stage", NULL), templates);
    check_names(page, rows, "stage", stage_names, STAGE_COUNT, "karmada_templates_stage",
                "karmada_namespace_templates_stage");
    for (unsigned i = 0; i < STAGE_COUNT; i++) {
        char label[64];

        snprintf(label, sizeof(label), "stage=\"%s\"", stage_names[i]);
        assert_int_equal(page_sum(page, "karmada_templates_delivery", label),
                         count_rows(rows, "delivery", stage_names[i]));
    }
}

static void check_conflicts(const char *page, const cJSON *report)
{
    const cJSON *rows = json_get(report, "conflicts");
    int64_t predicted = count_rows(rows, "origin", "predicted");

    assert_int_equal(page_sum(page, "karmada_dependency_conflicts_predicted", ""), predicted);
    assert_int_equal(page_sum(page, "karmada_dependency_conflicts", ""),
                     count_rows(rows, "origin", NULL) - predicted);
    assert_int_equal(page_sum(page, "karmada_dependency_conflict_info", ""),
                     count_rows(rows, "origin", NULL) - predicted);
}

static void check_policies(const char *page, const cJSON *report)
{
    static const char *const relations[] = {"selected", "won", "claimed"};
    const cJSON *policy;

    for (size_t i = 0; i < ARRAY_LEN(relations); i++) {
        char label[64];
        int64_t total = 0;

        cJSON_ArrayForEach (policy, json_get(report, "policies"))
            total += json_int(policy, relations[i], 0);
        snprintf(label, sizeof(label), "relation=\"%s\"", relations[i]);
        /* Claims of policies that do not exist have a series, but no row of a policy. */
        if (strcmp(relations[i], "claimed") == 0)
            assert_true(page_sum(page, "karmada_propagationpolicy_templates", label) >= total);
        else
            assert_int_equal(page_sum(page, "karmada_propagationpolicy_templates", label), total);
    }
}

/* Returns the number of elements in the lists `key` of the rows with a reason. */
static int64_t count_elements(const cJSON *rows, const char *reason, const char *key)
{
    int64_t elements = 0;
    const cJSON *row;

    cJSON_ArrayForEach (row, rows) {
        if (strcmp(json_str(row, "reason", ""), reason) == 0)
            elements += cJSON_GetArraySize(json_get(row, key));
    }
    return elements;
}

/*
 * Checks the rows of `invalid` about dependencies against the families that count their fields or
 * references. Returns the number of these rows.
 */
static int64_t check_dependencies(const char *page, const cJSON *rows)
{
    int64_t references = page_sum(page, "karmada_dependency_dangling_references", "");
    int64_t named = count_elements(rows, "dangling_reference", "references");

    /* The report contains a repeated reference once. */
    assert_true(named <= references && (named > 0) == (references > 0));
    assert_int_equal(page_sum(page, "karmada_dependency_overridden", ""),
                     count_elements(rows, "overridden_value", "fields"));
    assert_int_equal(page_sum(page, "karmada_dependency_unapplied_resolutions", ""),
                     count_elements(rows, "unapplied_resolution", "fields") +
                         count_elements(rows, "uncleared_fields", "fields"));
    return count_rows(rows, "reason", "dangling_reference") +
           count_rows(rows, "reason", "overridden_value") +
           count_rows(rows, "reason", "unapplied_resolution") +
           count_rows(rows, "reason", "uncleared_fields");
}

/* Checks that each row of `invalid` is counted in one family. */
static void check_invalid(const char *page, const cJSON *report)
{
    static const struct {
        const char *family;
        const char *reason;
    } defects[] = {
        {"karmada_binding_name_collisions", "binding_name_collision"},
        {"karmada_dangling_claims", "dangling_claim"},
        {"karmada_bindings_without_template", "missing_template"},
    };
    const cJSON *rows = json_get(report, "invalid");
    int64_t total = 0;

    for (unsigned i = 0; i < POLICY_PROBLEM_COUNT; i++) {
        char label[64];
        int64_t of_reason = count_rows(rows, "reason", policy_problem_names[i]);

        snprintf(label, sizeof(label), "reason=\"%s\"", policy_problem_names[i]);
        assert_int_equal(page_sum(page, "karmada_propagationpolicy_invalid", label), of_reason);
        total += of_reason;
    }
    for (size_t i = 0; i < ARRAY_LEN(defects); i++) {
        int64_t of_reason = count_rows(rows, "reason", defects[i].reason);

        assert_int_equal(page_sum(page, defects[i].family, ""), of_reason);
        total += of_reason;
    }
    total += check_dependencies(page, rows);
    assert_int_equal(count_rows(rows, "kind", NULL), total);
}

TEST(page_and_report_have_equal_counts)
{
    for (uint32_t seed = 1; seed <= WORLDS; seed++) {
        CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(REPORT_MAX);
        struct error err;
        struct world w;

        world_init(&w, &rules_options_default, seed);
        struct registry *r =
            page_registry(&w, &(struct registry_options){
                                  .detail_limit = 100000, .policy_limit = 100000, .opt_in = true});
        random_objects(&w, OBJECTS);
        world_run(&w, 0);
        report_write(w.engine, NULL, &text);

        CLEANUP(free_cleanup) char *page = page_of(r);
        CLEANUP(json_cleanup) cJSON *report = json_parse(text.data, text.len, NULL, &err);
        assert_non_null(report);
        check_states(page, report, w.store);
        check_stages(page, report, w.store);
        check_conflicts(page, report);
        check_policies(page, report);
        check_invalid(page, report);
        registry_free(r);
        world_release(&w);
    }
}
