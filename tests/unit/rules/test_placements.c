/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/placement_match.h"

#include "tests/unit/suite.h"
#include "tests/unit/world.h"

#define CLUSTER(name)                                                                              \
    "{\"apiVersion\":\"cluster.karmada.io/v1alpha1\",\"kind\":\"Cluster\",\"metadata\":{"          \
    "\"name\":\"" name "\"}}"

/* Equal placements have one resolution, which new Clusters update in place. */
TEST(equal_placements_share_one_resolution)
{
    struct world w;

    world_init(&w, &rules_options_default, 1);
    struct placements *p = placements_new(w.store, 1);
    const struct resolved_placement *first = placements_ref(p, NULL);
    assert_int_equal(first->cluster_count, 0);
    assert_false(first->has_clusters);
    world_put_text(&w, CLUSTER("m2"));
    world_put_text(&w, CLUSTER("m1"));
    placements_mark_outdated(p);
    const struct resolved_placement *second = placements_ref(p, NULL);
    assert_ptr_equal(first, second);
    assert_int_equal(first->cluster_count, 2);
    assert_string_equal(first->clusters[0], "m1");
    assert_string_equal(first->groups[0].members[1].name, "m2");
    placements_drop(p, first);
    assert_int_equal(second->references, 1);
    placements_drop(p, second);
    placements_drop(p, NULL);
    placements_free(p);
    placements_free(NULL);
    world_release(&w);
}

TEST(a_cluster_is_known_by_its_cluster_object)
{
    struct world w;

    world_init(&w, &rules_options_default, 1);
    struct placements *p = placements_new(w.store, 1);
    const struct resolved_placement *resolved = placements_ref(p, NULL);
    assert_false(placements_has_cluster(p, "m1"));
    /* Without a Cluster object, only the name counts, and the placement excludes no name. */
    assert_true(placements_allow_cluster(p, resolved, "m1"));
    world_put_text(&w, CLUSTER("m1"));
    placements_mark_outdated(p);
    assert_true(placements_has_cluster(p, "m1"));
    assert_false(placements_has_cluster(p, "m"));
    placements_drop(p, resolved);
    placements_free(p);
    world_release(&w);
}
