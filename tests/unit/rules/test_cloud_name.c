/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/cloud_index.h"

#include "tests/unit/suite.h"

#define PROJECT(name)                                                                              \
    {                                                                                              \
        CONTAINER_PROJECT, name                                                                    \
    }
#define PUBSUB  "pubsub.cnrm.cloud.google.com"
#define COMPUTE "compute.cnrm.cloud.google.com"

static struct name_case {
    const char *name;
    const char *asset;
    const char *asset_type;
    const char *group;
    const char *kind;
    struct connector_identity identity;
    bool same;
} cases[] = {
    {"a topic",
     "//pubsub.googleapis.com/projects/p/topics/t",
     "pubsub.googleapis.com/Topic",
     PUBSUB,
     "PubSubTopic",
     {.container = PROJECT("p"), .name = "t"},
     true},
    {"a topic of another project",
     "//pubsub.googleapis.com/projects/q/topics/t",
     "pubsub.googleapis.com/Topic",
     PUBSUB,
     "PubSubTopic",
     {.container = PROJECT("p"), .name = "t"},
     false},
    {"a project name that begins with the declared name",
     "//pubsub.googleapis.com/projects/pp/topics/t",
     "pubsub.googleapis.com/Topic",
     PUBSUB,
     "PubSubTopic",
     {.container = PROJECT("p"), .name = "t"},
     false},
    {"another topic",
     "//pubsub.googleapis.com/projects/p/topics/tt",
     "pubsub.googleapis.com/Topic",
     PUBSUB,
     "PubSubTopic",
     {.container = PROJECT("p"), .name = "t"},
     false},
    {"a subscription of this name",
     "//pubsub.googleapis.com/projects/p/subscriptions/t",
     "pubsub.googleapis.com/Subscription",
     PUBSUB,
     "PubSubTopic",
     {.container = PROJECT("p"), .name = "t"},
     false},
    {"a folder with the name of the project",
     "//pubsub.googleapis.com/folders/p/topics/t",
     "pubsub.googleapis.com/Topic",
     PUBSUB,
     "PubSubTopic",
     {.container = PROJECT("p"), .name = "t"},
     false},
    {"an unclear identity",
     "//pubsub.googleapis.com/projects/p/topics/t",
     "pubsub.googleapis.com/Topic",
     PUBSUB,
     "PubSubTopic",
     {.container = PROJECT("p"), .name = "t", .unclear = true},
     false},
    {"a network, which is global",
     "//compute.googleapis.com/projects/p/global/networks/default",
     "compute.googleapis.com/Network",
     COMPUTE,
     "ComputeNetwork",
     {.container = PROJECT("p"), .name = "default"},
     true},
    {"a regional address",
     "//compute.googleapis.com/projects/p/regions/eu/addresses/a",
     "compute.googleapis.com/Address",
     COMPUTE,
     "ComputeAddress",
     {.container = PROJECT("p"), .location = "eu", .name = "a"},
     true},
    {"a regional address of another region",
     "//compute.googleapis.com/projects/p/regions/us/addresses/a",
     "compute.googleapis.com/Address",
     COMPUTE,
     "ComputeAddress",
     {.container = PROJECT("p"), .location = "eu", .name = "a"},
     false},
    {"a regional address for a resource without a location",
     "//compute.googleapis.com/projects/p/regions/us/addresses/a",
     "compute.googleapis.com/Address",
     COMPUTE,
     "ComputeAddress",
     {.container = PROJECT("p"), .name = "a"},
     false},
    {"a global address, which has an asset type of its own",
     "//compute.googleapis.com/projects/p/global/addresses/a",
     "compute.googleapis.com/GlobalAddress",
     COMPUTE,
     "ComputeAddress",
     {.container = PROJECT("p"), .location = "global", .name = "a"},
     true},
    {"a database instance, without a region in the name",
     "//cloudsql.googleapis.com/projects/p/instances/db",
     "sqladmin.googleapis.com/Instance",
     "sql.cnrm.cloud.google.com",
     "SQLInstance",
     {.container = PROJECT("p"), .location = "eu", .name = "db"},
     true},
    {"a bucket, without a project in the name",
     "//storage.googleapis.com/b",
     "storage.googleapis.com/Bucket",
     "storage.cnrm.cloud.google.com",
     "StorageBucket",
     {.container = {CONTAINER_NONE, ""}, .name = "b"},
     true},
    {"a topic without a project",
     "//pubsub.googleapis.com/t",
     "pubsub.googleapis.com/Topic",
     PUBSUB,
     "PubSubTopic",
     {.container = PROJECT("p"), .name = "t"},
     false},
    {"an empty name",
     "//pubsub.googleapis.com/",
     "pubsub.googleapis.com/Topic",
     PUBSUB,
     "PubSubTopic",
     {.container = PROJECT("p"), .name = ""},
     false},
    {"an empty asset",
     "",
     "pubsub.googleapis.com/Topic",
     PUBSUB,
     "PubSubTopic",
     {.container = PROJECT("p"), .name = "t"},
     false},
    {"only slashes",
     "////////",
     "pubsub.googleapis.com/Topic",
     PUBSUB,
     "PubSubTopic",
     {.container = PROJECT("p"), .name = "t"},
     false},
    {"no type",
     "//pubsub.googleapis.com/projects/p/topics/t",
     NULL,
     PUBSUB,
     "PubSubTopic",
     {.container = PROJECT("p"), .name = "t"},
     false},
    {"a type without a service",
     "//pubsub.googleapis.com/projects/p/topics/t",
     "Topic",
     PUBSUB,
     "PubSubTopic",
     {.container = PROJECT("p"), .name = "t"},
     false},
    {"a service name that begins with the declared name",
     "//pubsublite.googleapis.com/projects/p/topics/t",
     "pubsublite.googleapis.com/Topic",
     PUBSUB,
     "PubSubTopic",
     {.container = PROJECT("p"), .name = "t"},
     false},
};

TEST_ROWS(an_asset_is_compared_with_a_declared_resource, cases, name)
{
    const struct name_case *c = *state;
    struct store *store = store_new(1);
    char version[256];

    snprintf(version, sizeof(version), "%s/v1beta1", c->group);
    assert_int_equal(cloud_asset_is_resource(
                         c->asset, c->asset_type,
                         store_find_or_add(store, &(struct identity){version, c->kind, "", "r"}),
                         &c->identity),
                     c->same);
    /* The index finds assets by hash: equal resources need equal hashes. */
    if (c->same)
        assert_int_equal(cloud_asset_hash(c->asset, 7), cloud_identity_hash(&c->identity, 7));
    store_free(store);
}
