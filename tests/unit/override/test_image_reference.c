/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/override/image_reference.h"

#include "tests/unit/suite.h"

#define SHA256 "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static const struct image_row {
    const char *title, *image, *component, *op, *value;
    const char *result; /* NULL: the image is refused. */
} rows[] = {
    {"a registry is added", "nginx:1", "Registry", "add", "reg.io", "reg.io/nginx:1"},
    {"a registry is appended", "reg.io/a:1", "Registry", "add", ":5000", "reg.io:5000/a:1"},
    {"a registry is replaced", "reg.io/a", "Registry", "replace", "b.io", "b.io/a"},
    {"a registry is removed", "reg.io/a:1", "Registry", "remove", "", "a:1"},
    {"a name without dot is no registry", "lib/a", "Registry", "replace", "b.io", "b.io/lib/a"},
    {"localhost is a registry", "localhost/a", "Registry", "replace", "b.io", "b.io/a"},
    {"a port is a registry", "host:5000/a:1", "Registry", "remove", "", "a:1"},
    {"an IPv6 address", "[::1]:5000/a", "Registry", "remove", "", "a"},
    {"a repository is appended", "reg.io/a:1", "Repository", "add", "-dev", "reg.io/a-dev:1"},
    {"a repository is removed", "reg.io/a:1", "Repository", "remove", "", "reg.io/:1"},
    {"a tag is replaced", "a:1", "Tag", "replace", "2", "a:2"},
    {"a tag is appended", "a:1", "Tag", "add", "-x", "a:1-x"},
    {"a tag is removed", "a:1", "Tag", "remove", "", "a"},
    {"a digest replaces a tag", "a:1", "Tag", "replace", SHA256, "a@" SHA256},
    {"a tag replaces a digest", "a@" SHA256, "Tag", "replace", "1", "a:1"},
    {"a digest is removed", "a@" SHA256, "Tag", "remove", "", "a"},
    {"an invalid tag changes nothing", "a:1", "Tag", "replace", ":2", "a:1"},
    {"a tag that begins with a dot", "a:1", "Tag", "replace", ".2", "a:1"},
    {"tag and digest lose the digest", "a:1@" SHA256, "Registry", "remove", "", "a:1"},
    {"an unknown operation", "a:1@" SHA256, "Registry", "move", "", "a:1"},
    {"separators", "a.b/c__d/e---f", "Tag", "replace", "1", "a.b/c__d/e---f:1"},
    {"three underscores", "a___b", "Tag", "remove", "", NULL},
    {"upper case", "Nginx", "Tag", "remove", "", NULL},
    {"an upper-case registry", "Reg.io/a", "Tag", "remove", "", "Reg.io/a"},
    {"an empty part", "a//b", "Tag", "remove", "", NULL},
    {"an empty image", "", "Tag", "remove", "", NULL},
    {"an empty tag", "a:", "Tag", "remove", "", NULL},
    {"a slash at the end", "a/", "Tag", "remove", "", NULL},
    {"a short digest", "a@sha256:0123", "Tag", "remove", "", NULL},
    {"an unknown algorithm", "a@md5:0123456789abcdef0123456789abcdef", "Tag", "remove", "", NULL},
    {"an unknown component", "a", "Host", "remove", "", NULL},
};

TEST_ROWS(an_image_changes_by_component, rows, title)
{
    const struct image_row *row = *state;
    const struct image_change change = {row->component, row->op, row->value};
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(1024);
    struct error err;

    assert_int_equal(image_apply_change(row->image, &change, &out, &err), row->result != NULL);
    if (row->result)
        assert_string_equal(out.data, row->result);
}
