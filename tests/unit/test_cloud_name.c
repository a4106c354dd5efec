/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/cloud_name.h"

#include <setjmp.h>

#include <cmocka.h>

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
    {"a project whose name begins so",
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
    {"a folder of the project's name",
     "//pubsub.googleapis.com/folders/p/topics/t",
     "pubsub.googleapis.com/Topic",
     PUBSUB,
     "PubSubTopic",
     {.container = PROJECT("p"), .name = "t"},
     false},
    {"an identity that nobody knows",
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
    {"an address of a region",
     "//compute.googleapis.com/projects/p/regions/eu/addresses/a",
     "compute.googleapis.com/Address",
     COMPUTE,
     "ComputeAddress",
     {.container = PROJECT("p"), .location = "eu", .name = "a"},
     true},
    {"an address of another region",
     "//compute.googleapis.com/projects/p/regions/us/addresses/a",
     "compute.googleapis.com/Address",
     COMPUTE,
     "ComputeAddress",
     {.container = PROJECT("p"), .location = "eu", .name = "a"},
     false},
    {"an address of a region for one of none",
     "//compute.googleapis.com/projects/p/regions/us/addresses/a",
     "compute.googleapis.com/Address",
     COMPUTE,
     "ComputeAddress",
     {.container = PROJECT("p"), .name = "a"},
     false},
    {"a global address, which is a type there",
     "//compute.googleapis.com/projects/p/global/addresses/a",
     "compute.googleapis.com/GlobalAddress",
     COMPUTE,
     "ComputeAddress",
     {.container = PROJECT("p"), .location = "global", .name = "a"},
     true},
    {"a database instance, whose name has no region",
     "//cloudsql.googleapis.com/projects/p/instances/db",
     "sqladmin.googleapis.com/Instance",
     "sql.cnrm.cloud.google.com",
     "SQLInstance",
     {.container = PROJECT("p"), .location = "eu", .name = "db"},
     true},
    {"a bucket, whose name has no project",
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
    {"no name at all",
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
    {"slashes alone",
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
    {"a service that begins so",
     "//pubsublite.googleapis.com/projects/p/topics/t",
     "pubsublite.googleapis.com/Topic",
     PUBSUB,
     "PubSubTopic",
     {.container = PROJECT("p"), .name = "t"},
     false},
};

static void compares(void **state)
{
    const struct name_case *c = *state;
    struct type type = {.group = c->group, .kind = c->kind};
    struct partition partition = {.type = &type};
    struct entry entry = {.partition = &partition};

    assert_int_equal(cloud_name_is(c->asset, c->asset_type, &entry, &c->identity), c->same);
}

int main(void)
{
    struct CMUnitTest tests[ARRAY_LEN(cases)];

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        tests[i] = (struct CMUnitTest){cases[i].name, compares, NULL, NULL, &cases[i]};
    return cmocka_run_group_tests_name("cloud_name", tests, NULL, NULL);
}
