/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/metadata.h"

#include "tests/unit/reading.h"
#include "tests/unit/suite.h"

static struct unnamed_case {
    const char *name;
    const char *json;
    const char *error;
} unnamed[] = {
    {"no object", "[]", "the object has no apiVersion"},
    {"no apiVersion", "{'kind':'Pod','metadata':{'name':'a'}}", "the object has no apiVersion"},
    {"no kind", "{'apiVersion':'v1','metadata':{'name':'a'}}", "the object has no kind"},
    {"no metadata", "{'apiVersion':'v1','kind':'Pod'}", "the Pod has no metadata.name"},
    {"an empty name", "{'apiVersion':'v1','kind':'Pod','metadata':{'name':''}}",
     "the Pod has no metadata.name"},
    {"a name that is a number", "{'apiVersion':'v1','kind':'Pod','metadata':{'name':1}}",
     "the Pod has no metadata.name"},
};

TEST_ROWS(object_without_identity_is_rejected, unnamed, name)
{
    const struct unnamed_case *c = *state;
    CLEANUP(json_cleanup) cJSON *json = json_of(c->json);
    struct identity id = {.name = "untouched"};
    struct error err;

    assert_false(identity_read(json, &id, &err));
    assert_string_equal(err.text, c->error);
    assert_string_equal(id.name, "untouched");
}

TEST(namespace_is_optional)
{
    CLEANUP(json_cleanup)
    cJSON *pod =
        json_of("{'apiVersion':'v1','kind':'Pod','metadata':{'name':'a','namespace':'n'}}");
    CLEANUP(json_cleanup)
    cJSON *node = json_of("{'apiVersion':'v1','kind':'Node','metadata':{'name':'b'}}");
    struct identity id;
    struct error err;

    assert_true(identity_read(pod, &id, &err));
    assert_string_equal(id.api_version, "v1");
    assert_string_equal(id.kind, "Pod");
    assert_string_equal(id.ns, "n");
    assert_string_equal(id.name, "a");
    assert_true(identity_read(node, &id, &err));
    assert_string_equal(id.ns, "");
}
