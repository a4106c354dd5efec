/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/reflector.h"

#include "tests/unit/suite.h"
#include "tests/unit/world.h"

/* A reflector that keeps only bound templates finds other templates only by a new list. */
TEST(flag_again_relists_only_bound_templates)
{
    static const struct {
        bool bound_templates_only;
        bool again;
        bool relists;
    } rows[] = {{true, false, false}, {true, true, true}, {false, true, false}};

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct namespace_filter filter = {.total_shards = 1};
        struct log log = {.level = LOG_LEVEL_ERROR};
        struct world w;

        world_init(&w, &rules_options_default, 1);
        struct reflector_context context = {.store = w.store, .filter = &filter, .log = &log};
        struct reflector_list list = {.context = &context};
        struct reflector_spec spec = {.api_version = "v1",
                                      .kind = "ConfigMap",
                                      .resource = "configmaps",
                                      .bound_templates_only = rows[i].bound_templates_only};

        reflector_list_mark_wanted(&list, spec, true);
        assert_int_equal(list.count, 1);
        assert_false(list.items[0]->wants_relist);
        spec.again = rows[i].again;
        reflector_list_mark_wanted(&list, spec, true);
        assert_int_equal(list.count, 1);
        assert_int_equal(list.items[0]->wants_relist, rows[i].relists);
        reflector_list_release(&list);
        world_release(&w);
    }
}
