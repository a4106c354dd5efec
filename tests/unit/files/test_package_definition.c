/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/files/package_definition.h"

#include "metrics/base/strbuf.h"
#include "tests/unit/suite.h"

static const struct definition_case {
    const char *name;
    const char *file;
    const char *json;
    const char *wanted; /* Kind, name of a chart, and references as printed below; NULL: none. */
} cases[] = {
    {"an empty kustomization", "kustomization.yaml", "{}", "kustomization"},
    {"files and folders with objects", "kustomization.yml",
     "{\"resources\":[\"a.yaml\",\"../base\"],\"bases\":[\"../old\"],\"components\":[\"../c\"]}",
     "kustomization a.yaml ../base ../old ../c changes"},
    {"a component", "Kustomization",
     "{\"apiVersion\":\"kustomize.config.k8s.io/v1alpha1\",\"kind\":\"Component\","
     "\"resources\":[\"a.yaml\"]}",
     "component a.yaml"},
    {"patches of all forms", "kustomization.yaml",
     "{\"patches\":[{\"path\":\"p.yaml\"},\"old.yaml\",{\"patch\":\"- op: add\"}],"
     "\"patchesStrategicMerge\":[\"s.yaml\",\"kind: Deployment\\nmetadata: {}\",\"{}\"],"
     "\"patchesJson6902\":[{\"path\":\"j.yaml\"}]}",
     "kustomization -p.yaml -old.yaml -s.yaml -j.yaml changes"},
    {"files that are configuration", "kustomization.yaml",
     "{\"replacements\":[{\"path\":\"r.yaml\"},{\"source\":{}}],\"generators\":[\"g.yaml\"],"
     "\"transformers\":[\"t.yaml\",\"apiVersion: builtin\\nkind: X\"],\"validators\":[\"v.yaml\"],"
     "\"configurations\":[\"c.yaml\"],\"crds\":[\"crd.yaml\"],\"openapi\":{\"path\":\"o.json\"}}",
     "kustomization -r.yaml -g.yaml -t.yaml -v.yaml -c.yaml -crd.yaml -o.json changes"},
    {"generators", "kustomization.yaml",
     "{\"configMapGenerator\":[{\"name\":\"c\",\"files\":[\"a.conf\",\"key=b.yaml\"],"
     "\"envs\":[\"e.env\"]}],\"secretGenerator\":[{\"env\":\"s.env\"}]}",
     "kustomization -a.conf -b.yaml -e.env -s.env changes"},
    {"charts in a kustomization", "kustomization.yaml",
     "{\"helmCharts\":[{\"name\":\"x\",\"valuesFile\":\"v.yaml\"}]}",
     "kustomization -v.yaml -charts inflates changes"},
    {"lists of another type", "kustomization.yaml",
     "{\"resources\":\"a.yaml\",\"patches\":{\"path\":\"b\"},\"components\":[1,null,{}]}",
     "kustomization changes"},
    {"a Kustomization of Flux", "kustomization.yaml",
     "{\"apiVersion\":\"kustomize.toolkit.fluxcd.io/v1\",\"kind\":\"Kustomization\"}", NULL},
    {"an object in a file of this name", "kustomization.yaml",
     "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\"}", NULL},
    {"another file name", "a.yaml", "{\"resources\":[\"a.yaml\"]}", NULL},
    {"no mapping", "kustomization.yaml", "[]", NULL},
    {"a chart", "Chart.yaml",
     "{\"apiVersion\":\"v2\",\"name\":\"web\",\"dependencies\":[{\"name\":\"a\","
     "\"repository\":\"file://../a\"},{\"name\":\"b\",\"repository\":\"https://example.org\"}]}",
     "chart web -../a"},
    {"a library chart", "Chart.yaml",
     "{\"apiVersion\":\"v2\",\"name\":\"lib\",\"type\":\"library\"}", "library lib"},
    {"a Chart.yaml with an object", "Chart.yaml",
     "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"name\":\"x\"}", NULL},
};

static void print_definition(const struct package_definition *d, struct strbuf *out)
{
    static const char *const kinds[] = {
        [PACKAGE_KUSTOMIZATION] = "kustomization",
        [PACKAGE_COMPONENT] = "component",
        [PACKAGE_CHART] = "chart",
        [PACKAGE_LIBRARY] = "library",
    };

    strbuf_adds(out, kinds[d->kind]);
    if (d->name)
        strbuf_addf(out, " %s", d->name);
    for (size_t i = 0; i < d->count; i++)
        strbuf_addf(out, " %s%s", d->references[i].use == REFERENCE_INPUT ? "-" : "",
                    d->references[i].path);
    strbuf_adds(out, d->inflates_charts ? " inflates" : "");
    strbuf_adds(out, d->changes_objects ? " changes" : "");
}

TEST_ROWS(definitions_list_their_references, cases, name)
{
    const struct definition_case *c = *state;
    CLEANUP(strbuf_release) struct strbuf printed = STRBUF_INIT(4096);
    struct package_definition d;
    struct error err;
    CLEANUP(json_cleanup) cJSON *document = json_parse(c->json, strlen(c->json), NULL, &err);

    assert_non_null(document);
    if (!package_definition_read(c->file, document, &d)) {
        assert_null(c->wanted);
        return;
    }
    print_definition(&d, &printed);
    package_definition_release(&d);
    assert_non_null(c->wanted);
    assert_string_equal(printed.data, c->wanted);
}

TEST(paths_are_joined_without_dots)
{
    static const struct {
        const char *folder, *path, *wanted;
    } paths[] = {
        {"overlays/prod", "../../base", "base"},
        {"a", "../../b", "../b"},
        {"..", "..", "../.."},
        {".", "a.yaml", "a.yaml"},
        {"./x", "./y//z/", "x/y/z"},
        {"a", "..", "."},
        {"/a/b", "../c", "/a/c"},
        {"/a", "../../..", "/"},
        {"a", "/etc/x", "/etc/x"},
        {"", "", "."},
        {"a..b", "..c", "a..b/..c"},
    };

    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        CLEANUP(free_cleanup) char *joined = package_join_path(paths[i].folder, paths[i].path);

        assert_string_equal(joined, paths[i].wanted);
    }
}

TEST(remote_references_are_recognised)
{
    static const char *const remote[] = {
        "https://example.org/a.yaml", "git@example.org:x/y", "github.com/x/y//deploy?ref=v1",
        "ssh://git@example.org/x",    "git::https://x/y",    "example.org/x/y?ref=main",
    };
    static const char *const local[] = {"../base", "a.yaml", "github.community/x", "./git@x"};

    for (size_t i = 0; i < ARRAY_LEN(remote); i++)
        assert_true(package_reference_is_remote(remote[i]));
    for (size_t i = 0; i < ARRAY_LEN(local); i++)
        assert_false(package_reference_is_remote(local[i]));
}
