/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/builtin_kinds.h"

#include "metrics/model/kind.h"
#include "tests/unit/suite.h"

TEST(each_row_is_found_in_each_of_its_versions)
{
    size_t count;
    const struct builtin_kind *table = builtin_kind_table(&count);

    assert_true(count > 50);
    for (const struct builtin_kind *row = table; row < table + count; row++) {
        for (const char *at = row->versions; *at;
             at += strcspn(at, " ") + (strchr(at, ' ') != NULL)) {
            char api_version[128];

            snprintf(api_version, sizeof(api_version), "%s%s%.*s", row->group,
                     *row->group ? "/" : "", (int)strcspn(at, " "), at);
            assert_ptr_equal(builtin_kind_find(api_version, row->kind), row);
            assert_int_equal(version_rank_of(row->versions, api_version),
                             at == row->versions ? VERSION_PREFERRED : VERSION_SERVED);
            assert_int_equal(scope_of_kind(api_version, row->kind),
                             row->cluster_scoped ? SCOPE_CLUSTER : SCOPE_NAMESPACED);
        }
    }
}

TEST(similar_groups_and_kinds_are_not_found)
{
    static const char *const others[][2] = {
        {"app/v1", "Deployment"},
        {"apps.example/v1", "Deployment"},
        {"apps/v1", "deployment"},
        {"apps/v1", "Deploymen"},
        {"apps/v1", "Deployments"},
        {"v1", "Deployment"},
        {"autoscaling/v2", "Scaler"},
        {"autoscaling.k8s.io/v1", "HorizontalPodAutoscaler"},
        {"", ""},
        {"/", ""},
        {"policy.karmada.io/v1alpha1", "PropagationPolicy"},
    };

    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        assert_null(builtin_kind_find(others[i][0], others[i][1]));
}

TEST(the_kind_that_is_probably_meant_is_suggested)
{
    static const char *const meant[][3] = {
        {"apps/v1", "Deploymnet", "Deployment of apps/v1"},
        {"extensions/v1beta1", "Ingress", "Ingress of networking.k8s.io/v1"},
        {"v1", "Deployment", "Deployment of apps/v1"},
        {"apps/v1", "Secrets", "Secret of v1"},
        {"autoscaling/v1", "HorizontalPodAutoscalers", "HorizontalPodAutoscaler of autoscaling/v2"},
        {"apps/v1", "Widget", NULL},
    };

    for (size_t i = 0; i < ARRAY_LEN(meant); i++) {
        const struct builtin_kind *row = builtin_kind_suggest(meant[i][0], meant[i][1]);
        CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(256);

        assert_int_equal(row != NULL, meant[i][2] != NULL);
        if (row)
            builtin_kind_add_name(row, &name);
        assert_string_equal(name.data, meant[i][2] ? meant[i][2] : "");
    }
}

TEST(versions_that_are_a_part_of_another_are_not_served)
{
    assert_int_equal(version_rank_of("v10 v1", "g/v1"), VERSION_SERVED);
    assert_int_equal(version_rank_of("v1 v1beta1", "g/v1beta"), VERSION_UNSERVED);
    assert_int_equal(version_rank_of("v1beta1", "g/v1"), VERSION_UNSERVED);
    assert_int_equal(version_rank_of("v1", "g/"), VERSION_UNSERVED);
    assert_int_equal(version_rank_of("", "v1"), VERSION_UNSERVED);
}

/* The order of Kubernetes' documentation of CustomResourceDefinitions, and other names. */
TEST(versions_have_the_order_of_kubernetes)
{
    static const char *const sorted[] = {
        "v10",       "v2",        "v1",   "v11beta2", "v10beta3", "v3beta1",
        "v12alpha1", "v11alpha2", "foo1", "foo10",    "v1gamma1", "v1beta",
    };
    /* Other names are in byte order; "v1beta" and "v1gamma1" are such names. */
    static const char *const others[] = {"foo1", "foo10", "v1beta", "v1gamma1"};

    for (size_t i = 0; i + 4 < ARRAY_LEN(sorted); i++) {
        for (size_t k = i + 1; k < ARRAY_LEN(sorted); k++) {
            assert_true(version_compare(sorted[i], sorted[k]) < 0);
            assert_true(version_compare(sorted[k], sorted[i]) > 0);
        }
        assert_int_equal(version_compare(sorted[i], sorted[i]), 0);
    }
    for (size_t i = 1; i < ARRAY_LEN(others); i++)
        assert_true(version_compare(others[i - 1], others[i]) < 0);
    assert_int_equal(version_compare("v01", "v1"), 0);
}
