/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/dependency.h"

#include <setjmp.h>

#include <cmocka.h>

#include "tests/unit/lines.h"
#include "tests/unit/world.h"

static void check_field(const struct field_resolution *field, const cJSON *expect, bool resolved)
{
    assert_int_equal(field->conflict, json_bool(expect, "conflict", false));
    assert_int_equal(field->resolved, resolved);
}

static void check_binding(const struct world *w, const cJSON *expect)
{
    const cJSON *resolution = json_get(expect, "conflictResolution");
    const cJSON *preserve = json_get(expect, "preserveResourcesOnDeletion");
    const struct entry *binding =
        world_find(w, "work.karmada.io/v1alpha2", "ResourceBinding",
                   json_str(expect, "namespace", ""), json_str(expect, "name", ""));

    assert_non_null(binding);
    const struct dependency_decision *d = dependency_decision(binding);
    assert_non_null(d);
    assert_true(d->attached);
    assert_int_equal(d->dangling, json_int(expect, "missingReferences", -1));
    check_field(&d->fields[DEPENDENCY_CONFLICT_RESOLUTION], resolution,
                strcmp(json_str(resolution, "resolved", "Abort"), "Overwrite") == 0);
    check_field(&d->fields[DEPENDENCY_PRESERVE], preserve, json_bool(preserve, "resolved", false));
    /* Where requiredBy is empty the oracle gives no resolution at all. */
    if (!resolution)
        assert_int_equal(d->referrers + d->dangling, 0);
}

/* Every attached binding is in the list, and nothing else is in conflict. */
static void check_rest(const struct world *w, const cJSON *expect)
{
    const struct type *type = store_types(w->store);
    size_t attached = 0;

    for (; type; type = type->next) {
        for (const struct scope *scope = type->scopes; scope; scope = scope->next_of_type) {
            for (size_t i = 0; i < scope->count; i++) {
                const struct dependency_decision *d = dependency_decision(scope->entries[i]);

                attached += d && d->attached;
                if (d && !d->attached)
                    assert_false(d->fields[0].conflict || d->fields[1].conflict);
            }
        }
    }
    assert_int_equal(attached, cJSON_GetArraySize(expect));
}

static void check_case(const cJSON *line, void *context)
{
    size_t *checked = context;
    const cJSON *expect;
    struct world w;

    world_init(&w, &rules_options_default, 1);
    world_put_all(&w, json_get(line, "objects"));
    world_settle(&w, 0);
    cJSON_ArrayForEach (expect, json_get(line, "expect")) {
        check_binding(&w, expect);
        (*checked)++;
    }
    check_rest(&w, json_get(line, "expect"));
    world_release(&w);
}

static void agrees_with_karmada(void **state)
{
    size_t checked = 0;
    size_t cases = lines_each("tests/fixtures/vectors/dependency.jsonl.gz", check_case, &checked);

    (void)state;
    assert_int_equal(cases, 1000);
    assert_true(checked >= cases);
}

/* Facts about unapplied and overridden values that the vectors do not hold. */
static void stored_values_are_held_against_the_rules(void **state)
{
    static const char referrer[] =
        "{\"apiVersion\":\"work.karmada.io/v1alpha2\",\"kind\":\"ResourceBinding\",\"metadata\":{"
        "\"name\":\"app-deployment\",\"namespace\":\"test\"},\"spec\":{\"placement\":{},"
        "\"conflictResolution\":\"Overwrite\",\"resource\":{\"apiVersion\":\"apps/v1\","
        "\"kind\":\"Deployment\",\"name\":\"app\",\"namespace\":\"test\"}}}";
    static const char shared[] =
        "{\"apiVersion\":\"work.karmada.io/v1alpha2\",\"kind\":\"ResourceBinding\",\"metadata\":{"
        "\"name\":\"shared-configmap\",\"namespace\":\"test\"},\"spec\":{%s"
        "\"conflictResolution\":\"Abort\",\"resource\":{\"apiVersion\":\"v1\","
        "\"kind\":\"ConfigMap\",\"name\":\"shared\",\"namespace\":\"test\"},"
        "\"requiredBy\":[{\"namespace\":\"test\",\"name\":\"app-deployment\"}]}}";
    const char *placements[] = {"", "\"placement\":{},"};
    struct world w;

    (void)state;
    world_init(&w, &rules_options_default, 1);
    world_put_text(&w, referrer);
    for (size_t own = 0; own < ARRAY_LEN(placements); own++) {
        char text[1024];

        snprintf(text, sizeof(text), shared, placements[own]);
        world_put_text(&w, text);
        world_settle(&w, 0);
        const struct field_resolution *field =
            &dependency_decision(world_find(&w, "work.karmada.io/v1alpha2", "ResourceBinding",
                                            "test", "shared-configmap"))
                 ->fields[DEPENDENCY_CONFLICT_RESOLUTION];
        assert_true(field->resolved);
        assert_false(field->stored);
        assert_int_equal(field->unapplied, own == 0);
        assert_int_equal(field->overridden, own == 1);
        assert_false(field->conflict);
    }
    world_release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_karmada),
        cmocka_unit_test(stored_values_are_held_against_the_rules),
    };

    return cmocka_run_group_tests_name("dependency", tests, NULL, NULL);
}
