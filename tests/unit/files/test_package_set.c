/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/files/package_set.h"

#include "exporter/files/manifest_problems.h"
#include "metrics/base/strbuf.h"
#include "tests/unit/suite.h"

enum { FILES_MAX = 12 };

#define OVERLAY "{\"resources\":[\"../../base\"],\"patches\":[{\"path\":\"patch.yaml\"}]}"
#define BASE    "{\"resources\":[\"web.yaml\"]}"
#define CHART   "{\"apiVersion\":\"v2\",\"name\":\"web\"}"

static const struct set_case {
    const char *name;
    enum render_obstacle kustomizations, charts;
    const char *missing; /* Path that does not exist. */
    struct {
        const char *path;
        const char *json; /* Definition; "" if it cannot be read, NULL for another file. */
    } files[FILES_MAX];
    const char *wanted; /* Folders with their treatments, then other files with their roles. */
} cases[] = {
    {.name = "a base is included by two overlays",
     .files = {{"base/kustomization.yaml", BASE},
               {"base/web.yaml", NULL},
               {"base/stray.yaml", NULL},
               {"overlays/prod/kustomization.yaml", OVERLAY},
               {"overlays/prod/patch.yaml", NULL},
               {"overlays/test/kustomization.yaml", OVERLAY},
               {"other/plain.yaml", NULL}},
     .wanted = "base:included overlays/prod:render overlays/test:render "
               "base/web.yaml=rendered base/stray.yaml=unlisted overlays/prod/patch.yaml=rendered "
               "other/plain.yaml=plain"},
    {.name = "without a program objects are read, and patches are not",
     .kustomizations = OBSTACLE_PROGRAM,
     .files = {{"./base/kustomization.yaml", BASE},
               {"./base/web.yaml", NULL},
               {"./overlays/prod/kustomization.yaml", OVERLAY},
               {"./overlays/prod/patch.yaml", NULL}},
     .wanted = "base:included overlays/prod:program "
               "./base/web.yaml=objects ./overlays/prod/patch.yaml=input"},
    {.name = "one overlay needs the network, another renders the same base",
     .files = {{"base/kustomization.yaml", BASE},
               {"base/web.yaml", NULL},
               {"a/b/kustomization.yaml",
                "{\"resources\":[\"../../base\",\"https://example.org/x\",\"own.yaml\"]}"},
               {"a/b/own.yaml", NULL},
               {"overlays/prod/kustomization.yaml", OVERLAY}},
     .wanted = "a/b:remote https://example.org/x base:included overlays/prod:render "
               "base/web.yaml=rendered a/b/own.yaml=objects"},
    {.name = "files have all objects if nothing changes them",
     .kustomizations = OBSTACLE_DISABLED,
     .files = {{"a/kustomization.yaml", "{\"resources\":[\"x.yaml\",\"sub\"]}"},
               {"a/sub/kustomization.yaml", "{\"resources\":[\"y.yaml\"]}"},
               {"b/kustomization.yaml", "{\"resources\":[\"https://example.org/x\"]}"},
               {"c/kustomization.yaml", "{\"resources\":[\"../../outside\"]}"},
               {"d/kustomization.yaml", "{\"resources\":[\"../e\"]}"},
               {"e/kustomization.yaml", "{\"namePrefix\":\"x-\"}"}},
     .wanted = "a:disabled complete a/sub:included b:disabled c:disabled d:disabled e:included"},
    {.name = "a base refers to a file that does not exist",
     .missing = "base/web.yaml",
     .files = {{"base/kustomization.yaml", BASE}, {"o/prod/kustomization.yaml", OVERLAY}},
     .wanted = "base:included o/prod:missing web.yaml"},
    {.name = "a loop has one root",
     .files = {{"a/kustomization.yaml", "{\"resources\":[\"../b\"]}"},
               {"b/kustomization.yaml", "{\"resources\":[\"../a\"]}"}},
     .wanted = "a:render b:included"},
    {.name = "a kustomization that includes itself",
     .files = {{"a/kustomization.yaml", "{\"resources\":[\".\"]}"}},
     .wanted = "a:render"},
    {.name = "a component that no kustomization refers to",
     .files = {{"c/kustomization.yaml", "{\"kind\":\"Component\",\"resources\":[\"x.yaml\"]}"},
               {"c/x.yaml", NULL}},
     .wanted = "c:unused c/x.yaml=unlisted"},
    {.name = "a definition that cannot be read covers its folder",
     .files = {{"a/kustomization.yaml", ""},
               {"a/x.yaml", NULL},
               {"a/sub/y.yaml", NULL},
               {"c/Chart.yaml", ""},
               {"c/templates/z.yaml", NULL}},
     .wanted = "a:broken c:broken a/x.yaml=unlisted a/sub/y.yaml=plain c/templates/z.yaml=chart"},
    {.name = "a chart with a subchart",
     .files = {{"c/Chart.yaml", CHART},
               {"c/charts/sub/Chart.yaml", CHART},
               {"c/charts/sub/templates/a.yaml", NULL},
               {"c/templates/kustomization.yaml", BASE},
               {"c/templates/web.yaml", NULL},
               {"c/values.yaml", NULL}},
     .wanted = "c:render c/charts/sub:included c/templates:included "
               "c/charts/sub/templates/a.yaml=rendered c/templates/web.yaml=rendered "
               "c/values.yaml=rendered"},
    {.name = "a kustomization of a chart's own files is part of the chart",
     .files = {{"c/Chart.yaml", CHART},
               {"c/_crds/kustomization.yaml", BASE},
               {"c/_crds/bases/web.yaml", NULL}},
     .wanted = "c:render c/_crds:included c/_crds/bases/web.yaml=rendered"},
    {.name = "a chart that is not rendered still has its CustomResourceDefinitions",
     .charts = OBSTACLE_DISABLED,
     .files = {{"c/Chart.yaml", CHART}, {"c/crds/x.yaml", NULL}, {"c/templates/a.yaml", NULL}},
     .wanted = "c:disabled c/crds/x.yaml=objects c/templates/a.yaml=chart"},
    {.name = "a library chart and a chart that another one includes from a folder",
     .files = {{"lib/Chart.yaml", "{\"apiVersion\":\"v2\",\"name\":\"l\",\"type\":\"library\"}"},
               {"lib/templates/a.yaml", NULL},
               {"web/Chart.yaml", "{\"apiVersion\":\"v2\",\"name\":\"w\",\"dependencies\":"
                                  "[{\"name\":\"db\",\"repository\":\"file://../db\"}]}"},
               {"db/Chart.yaml", CHART}},
     .wanted = "db:included lib:unused web:render lib/templates/a.yaml=chart"},
    {.name = "a kustomization that renders charts includes those in its folder of charts",
     .files = {{"k/kustomization.yaml", "{\"helmCharts\":[{\"name\":\"web\"}]}"},
               {"k/charts/web/Chart.yaml", CHART}},
     .wanted = "k:charts k/charts/web:included"},
    {.name = "a chart below a kustomization that has nothing to do with it",
     .files = {{"kustomization.yaml", BASE}, {"c/Chart.yaml", CHART}, {"web.yaml", NULL}},
     .wanted = ".:render c:render web.yaml=rendered"},
    {.name = "of two definitions in a folder the chart counts",
     .files = {{"a/kustomization.yaml", BASE}, {"a/Chart.yaml", CHART}, {"a/x.yaml", NULL}},
     .wanted = "a:render a/x.yaml=rendered"},
};

static bool path_exists(void *context, const char *path)
{
    const struct set_case *c = context;

    return !c->missing || strcmp(path, c->missing) != 0;
}

static void print_treatments(const struct package_set *s, struct strbuf *out)
{
    static const char *const treatments[] = {
        [TREATMENT_RENDER] = "render",     [TREATMENT_FILES] = "files",
        [TREATMENT_INCLUDED] = "included", [TREATMENT_UNUSED] = "unused",
        [TREATMENT_BROKEN] = "broken",
    };
    static const char *const obstacles[] = {
        [OBSTACLE_NONE] = "none",       [OBSTACLE_DISABLED] = "disabled",
        [OBSTACLE_PROGRAM] = "program", [OBSTACLE_REMOTE] = "remote",
        [OBSTACLE_CHARTS] = "charts",   [OBSTACLE_MISSING] = "missing",
    };

    for (size_t i = 0; i < s->count; i++) {
        const struct package *p = s->items[i];

        strbuf_addf(out, "%s%s:%s", out->len > 0 ? " " : "", p->folder,
                    p->treatment == TREATMENT_FILES ? obstacles[p->obstacle]
                                                    : treatments[p->treatment]);
        if (p->reference)
            strbuf_addf(out, " %s", p->reference);
        strbuf_adds(out, p->treatment == TREATMENT_FILES && !p->incomplete ? " complete" : "");
    }
}

static void put_definition(struct package_set *s, struct manifest_file *file, const char *json)
{
    const char *slash = strrchr(file->path, '/');
    struct package_definition definition;
    struct error err;
    CLEANUP(json_cleanup) cJSON *document = NULL;

    if (*json == '\0') {
        package_set_put(s, file, file->path, NULL);
        return;
    }
    document = json_parse(json, strlen(json), NULL, &err);
    assert_non_null(document);
    assert_true(package_definition_read(slash ? slash + 1 : file->path, document, &definition));
    package_set_put(s, file, file->path, &definition);
}

TEST_ROWS(packages_are_resolved, cases, name)
{
    static const char *const roles[] = {
        [FILE_PLAIN] = "plain", [FILE_OBJECTS] = "objects",   [FILE_INPUT] = "input",
        [FILE_CHART] = "chart", [FILE_UNLISTED] = "unlisted", [FILE_RENDERED] = "rendered",
    };
    const struct set_case *c = *state;
    CLEANUP(strbuf_release) struct strbuf printed = STRBUF_INIT(4096);
    struct manifest_file *files[FILES_MAX] = {NULL};
    struct package_set s;

    package_set_init(&s);
    for (size_t i = 0; i < FILES_MAX && c->files[i].path; i++) {
        files[i] = manifest_file_new(c->files[i].path, 0);
        if (c->files[i].json)
            put_definition(&s, files[i], c->files[i].json);
    }
    /* A second resolution has the same result. */
    for (unsigned i = 0; i < 2; i++)
        package_set_resolve(&s, &(struct package_resolver){.kustomizations = c->kustomizations,
                                                           .charts = c->charts,
                                                           .exists = path_exists,
                                                           .context = (void *)(uintptr_t)c});
    print_treatments(&s, &printed);
    for (size_t i = 0; i < FILES_MAX && files[i]; i++) {
        if (!c->files[i].json)
            strbuf_addf(&printed, " %s=%s", files[i]->path,
                        roles[package_set_role(&s, files[i]->path)]);
    }
    package_set_release(&s);
    for (size_t i = 0; i < FILES_MAX; i++)
        manifest_file_free(files[i]);
    assert_string_equal(printed.data, c->wanted);
}

static bool load_base(void *context, const char *folder, struct package_definition *out)
{
    static const char json[] = "{\"resources\":[\"https://example.org/x\"]}";
    struct error err;
    CLEANUP(json_cleanup) cJSON *document = json_parse(json, strlen(json), NULL, &err);

    ++*(unsigned *)context;
    return strcmp(folder, "../base") == 0 &&
           package_definition_read("kustomization.yaml", document, out);
}

TEST(a_base_outside_of_the_paths_is_loaded)
{
    struct manifest_file *file = manifest_file_new("./kustomization.yaml", 0);
    struct package_set s;
    unsigned loads = 0;

    package_set_init(&s);
    put_definition(&s, file, "{\"resources\":[\"../base\",\"../base\"]}");
    for (unsigned i = 0; i < 2; i++)
        package_set_resolve(&s, &(struct package_resolver){.load = load_base, .context = &loads});
    const struct package *p = package_set_find(&s, file);

    assert_int_equal(loads, 2);
    assert_int_equal(p->obstacle, OBSTACLE_REMOTE);
    assert_string_equal(p->culprit->folder, "../base");
    assert_true(package_set_remove(&s, file));
    assert_false(package_set_remove(&s, file));
    package_set_resolve(&s, &(struct package_resolver){.load = load_base, .context = &loads});
    assert_int_equal(s.count, 0);
    package_set_release(&s);
    manifest_file_free(file);
}
