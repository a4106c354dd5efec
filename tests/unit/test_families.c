/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/families.h"

#include <setjmp.h>

#include <cmocka.h>

/*
 * What rules, boards and users rely on: a family is written down here a second
 * time, so that nobody renames one without knowing.
 */
struct promise {
    const char *name; /* The name of the test too. */
    enum family_type type;
    const char *labels;
};

#define POLICY "policy_kind,policy_namespace,policy"

static struct promise promises[] = {
    {"karmada_templates", FAMILY_GAUGE, "api_group,kind,state"},
    {"karmada_namespace_templates", FAMILY_GAUGE, "namespace,state"},
    {"karmada_templates_stale", FAMILY_GAUGE, POLICY ",reason,phase"},
    {"karmada_templates_stale_field", FAMILY_GAUGE, "field"},
    {"karmada_templates_stale_oldest_timestamp_seconds", FAMILY_GAUGE, "phase"},
    {"karmada_templates_pending", FAMILY_GAUGE, "api_group,kind,reason"},
    {"karmada_templates_pending_oldest_timestamp_seconds", FAMILY_GAUGE, "reason"},
    {"karmada_templates_ignored", FAMILY_GAUGE, "reason"},
    {"karmada_templates_outranked", FAMILY_GAUGE, POLICY},
    {"karmada_templates_unbound_oldest_timestamp_seconds", FAMILY_GAUGE, ""},
    {"karmada_propagationpolicy_templates", FAMILY_GAUGE, POLICY ",relation"},
    {"karmada_propagationpolicy_info", FAMILY_GAUGE,
     POLICY ",activation,preemption,priority,propagate_deps,conflict_resolution,"
            "preserve_resources_on_deletion"},
    {"karmada_propagationpolicy_generation", FAMILY_GAUGE, POLICY},
    {"karmada_propagationpolicy_unused", FAMILY_GAUGE, "policy_kind"},
    {"karmada_propagationpolicy_overlaps", FAMILY_GAUGE, "decided_by"},
    {"karmada_propagationpolicy_invalid", FAMILY_GAUGE, "reason"},
    {"karmada_bindings", FAMILY_GAUGE, "scope,origin"},
    {"karmada_bindings_not_rescheduled", FAMILY_GAUGE, "scope"},
    {"karmada_dependency_conflicts", FAMILY_GAUGE, "field"},
    {"karmada_dependency_conflicted_bindings", FAMILY_GAUGE, ""},
    {"karmada_dependency_conflict_info", FAMILY_GAUGE,
     "namespace,api_group,kind,name,field,resolved"},
    {"karmada_propagationpolicy_dependency_conflicts", FAMILY_GAUGE, POLICY ",field,value"},
    {"karmada_dependency_conflicts_predicted", FAMILY_GAUGE, "field"},
    {"karmada_dependency_unapplied_resolutions", FAMILY_GAUGE, "field"},
    {"karmada_dependency_overridden", FAMILY_GAUGE, "field"},
    {"karmada_dependency_dangling_references", FAMILY_GAUGE, ""},
    {"karmada_dependency_shared_bindings", FAMILY_GAUGE, ""},
    {"karmada_dependency_conflict_oldest_timestamp_seconds", FAMILY_GAUGE, "field"},
    {"karmada_dependency_conflict_transitions_total", FAMILY_COUNTER, "field"},
    {"karmada_dependency_conflict_events_total", FAMILY_COUNTER, "field"},
    {"karmada_template_binding_delay_seconds", FAMILY_HISTOGRAM, ""},
    {"karmada_template_stale_info", FAMILY_GAUGE, "namespace,api_group,kind,name,reason,phase"},
    {"karmada_template_pending_info", FAMILY_GAUGE, "namespace,api_group,kind,name,reason"},
    {"karmada_binding_name_collisions", FAMILY_GAUGE, ""},
    {"karmada_dangling_claims", FAMILY_GAUGE, "holder"},
    {"karmada_bindings_without_template", FAMILY_GAUGE, "scope"},
    {"karmada_policy_exporter_threshold_seconds", FAMILY_GAUGE, "threshold"},
    {"karmada_stale_replicas", FAMILY_GAUGE, "member_cluster"},
    {"karmada_stale_resource_requests", FAMILY_GAUGE, "member_cluster,resource,unit"},
    {"karmada_stale_forbidden_replicas", FAMILY_GAUGE, "member_cluster"},
    {"karmada_stale_projected_replicas", FAMILY_GAUGE, "member_cluster"},
    {"karmada_stale_projected_resource_requests", FAMILY_GAUGE, "member_cluster,resource,unit"},
    {"karmada_stale_undetermined_templates", FAMILY_GAUGE, "reason"},
    {"karmada_member_cluster_allocatable", FAMILY_GAUGE, "member_cluster,resource,unit"},
    {"karmada_member_cluster_allocated", FAMILY_GAUGE, "member_cluster,resource,unit"},
    {"karmada_policy_exporter_up", FAMILY_GAUGE, ""},
    {"karmada_policy_exporter_snapshot_timestamp_seconds", FAMILY_GAUGE, ""},
    {"karmada_policy_exporter_evaluations_total", FAMILY_COUNTER, ""},
    {"karmada_policy_exporter_evaluation_duration_seconds", FAMILY_HISTOGRAM, ""},
    {"karmada_policy_exporter_event_lag_seconds", FAMILY_HISTOGRAM, ""},
    {"karmada_policy_exporter_config_last_reload_successful", FAMILY_GAUGE, ""},
    {"karmada_policy_exporter_objects", FAMILY_GAUGE, "resource"},
    {"karmada_policy_exporter_manifest_files", FAMILY_GAUGE, ""},
    {"karmada_policy_exporter_manifest_errors", FAMILY_GAUGE, ""},
    {"karmada_policy_exporter_decode_errors_total", FAMILY_COUNTER, "resource"},
    {"karmada_policy_exporter_detail_series_dropped", FAMILY_GAUGE, "family"},
    {"karmada_policy_exporter_http_requests_total", FAMILY_COUNTER, "handler,code"},
    {"process_cpu_seconds_total", FAMILY_COUNTER, ""},
    {"process_resident_memory_bytes", FAMILY_GAUGE, ""},
};

static void family_is_as_promised(void **state)
{
    const struct promise *p = *state;
    const struct family_def *family = family_find(p->name);
    CLEANUP(strbuf_release) struct strbuf labels = STRBUF_INIT(1024);

    assert_non_null(family);
    assert_int_equal(family->type, p->type);
    for (const struct family_label *label = family->labels; label->name; label++)
        strbuf_addf(&labels, "%s%s", labels.len > 0 ? "," : "", label->name);
    assert_string_equal(labels.data, p->labels);
}

static bool ends_in(const char *text, const char *end)
{
    size_t len = strlen(text);
    size_t end_len = strlen(end);

    return len >= end_len && strcmp(text + len - end_len, end) == 0;
}

static void check_words(const struct family_def *f)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz_0123456789";

    assert_int_equal(strspn(f->name, letters), strlen(f->name));
    assert_true(strncmp(f->name, "karmada_", 8) == 0 || strncmp(f->name, "process_", 8) == 0);
    assert_ptr_equal(family_find(f->name), f);
    assert_true(f->help && f->bound);
    /* Neither format would have to escape anything. */
    assert_null(strpbrk(f->help, "\\\"\n"));
    assert_true(ends_in(f->help, "."));
    assert_int_equal(ends_in(f->name, "_total"), f->type == FAMILY_COUNTER);
    assert_false(ends_in(f->name, "_count") || ends_in(f->name, "_sum"));
    for (const char *const *unit = (const char *const[]){"seconds", "bytes", NULL}; *unit; unit++) {
        bool has = strstr(f->name, *unit) != NULL;

        if (has != (f->unit && strcmp(f->unit, *unit) == 0))
            fail_msg("%s: the unit is not what the name says", f->name);
    }
}

static void check_labels(const struct family_def *f)
{
    unsigned free_labels = family_free_labels(f);

    assert_null(f->labels[FAMILY_LABELS_MAX].name);
    for (unsigned i = 0; f->labels[i].name; i++) {
        assert_int_equal(f->labels[i].values != NULL, i >= free_labels);
        assert_int_equal(f->labels[i].value_count > 0, i >= free_labels);
        assert_string_not_equal(f->labels[i].name, "cluster");
        for (size_t k = 0; k < f->labels[i].value_count; k++)
            assert_non_null(f->labels[i].values[k]);
        for (unsigned k = 0; k < i; k++)
            assert_string_not_equal(f->labels[i].name, f->labels[k].name);
    }
}

static void check_numbers(const struct family_def *f)
{
    bool observed = f->aggregation != AGGREGATE_NONE && f->aggregation != AGGREGATE_ZEROS;

    assert_int_equal(f->collect != NULL, observed);
    assert_int_equal(f->classes != 0, observed);
    /* REGISTRY_SET names labels by their texts. */
    assert_true(f->aggregation != AGGREGATE_NONE || family_series_per_set(f) == 1);
    assert_int_equal(f->type == FAMILY_HISTOGRAM, f->bucket_count > 0);
    assert_true(f->type != FAMILY_HISTOGRAM || f->aggregation == AGGREGATE_NONE ||
                f->aggregation == AGGREGATE_FIRST);
    assert_true(f->aggregation != AGGREGATE_FIRST ||
                (f->type == FAMILY_HISTOGRAM && !f->labels[0].name && !f->opt_in));
    assert_true(f->aggregation != AGGREGATE_MIN || strcmp(f->unit, "seconds") == 0);
    assert_true(f->aggregation != AGGREGATE_INCREASE || f->type == FAMILY_COUNTER);
    for (size_t i = 1; i < f->bucket_count; i++)
        assert_true(f->buckets[i - 1] < f->buckets[i]);
    /* OpenMetrics would want "1.0", which the text format would take for another series. */
    for (size_t i = 0; i < f->bucket_count; i++)
        assert_true(f->buckets[i] != (double)(int64_t)f->buckets[i]);
}

static void check_zeros(const struct family_def *f)
{
    if (f->aggregation != AGGREGATE_ZEROS)
        return;

    const struct family_def *of = family_find(f->of);

    assert_non_null(of);
    assert_true(of->aggregation == AGGREGATE_SUM && !of->opt_in && !f->opt_in);
    assert_true(f->of_index < family_series_per_set(of));
    assert_string_equal(f->labels[0].name, of->labels[0].name);
    assert_null(of->labels[0].values);
    assert_non_null(f->labels[0].values);
    assert_null(f->labels[1].name);
}

static void every_row_is_sound(void **state)
{
    (void)state;
    for (size_t i = 0; i < family_count(); i++) {
        check_words(family_at(i));
        check_labels(family_at(i));
        check_numbers(family_at(i));
        check_zeros(family_at(i));
    }
    assert_null(family_find("karmada_nothing"));
}

int main(void)
{
    struct CMUnitTest tests[ARRAY_LEN(promises) + 1];
    size_t n = 0;

    for (size_t i = 0; i < ARRAY_LEN(promises); i++)
        tests[n++] =
            (struct CMUnitTest){promises[i].name, family_is_as_promised, NULL, NULL, &promises[i]};
    tests[n++] = (struct CMUnitTest)cmocka_unit_test(every_row_is_sound);
    return cmocka_run_group_tests_name("families", tests, NULL, NULL);
}
