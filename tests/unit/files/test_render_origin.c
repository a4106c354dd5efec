/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/files/render_origin.h"

#include <unistd.h>

#include "exporter/files/manifest_source.h"
#include "tests/unit/folder.h"
#include "tests/unit/suite.h"

TEST(the_line_of_a_template_is_found)
{
    static const char text[] = "{{- if .Values.web }}\n"             /* 1 */
                               "apiVersion: apps/v1\n"               /* 2 */
                               "kind: Deployment\n"                  /* 3 */
                               "metadata: {}\n"                      /* 4 */
                               "---\n"                               /* 5 */
                               "# kind: Service\n"                   /* 6 */
                               "kind: \"Deployment\"\r\n"            /* 7 */
                               "metadata:\n"                         /* 8 */
                               "  name: 'two'\n"                     /* 9 */
                               "spec: {template: {kind: Service}}\n" /* 10 */
                               "---\n"                               /* 11 */
                               "kind: {{ .Values.kind }}\n"          /* 12 */
                               "  kind: Job\n";                      /* 13 */

    assert_int_equal(template_find_line(text, "Deployment", "web"), 2);
    assert_int_equal(template_find_line(text, "Deployment", "two"), 7);
    assert_int_equal(template_find_line(text, "Deploy", "two"), 1);
    assert_int_equal(template_find_line(text, "Service", "x"), 1);
    assert_int_equal(template_find_line(text, "Job", "x"), 1);
    assert_int_equal(template_find_line("", "Job", "x"), 1);
}

/* ---- origins of objects ---- */

#define ANNOTATED(kind, name, ns, origin)                                                          \
    "{\"kind\":\"" kind "\",\"metadata\":{\"name\":\"" name "\",\"namespace\":\"" ns               \
    "\",\"annotations\":{\"config.kubernetes.io/origin\":\"" origin "\"}}}"

/* A folder with a package, and a finder. */
struct lab {
    char *folder;
    struct rendered_package rendered;
    struct package package;
    struct origin_finder *finder;
    char *definition;
};

static int set_up(void **state)
{
    struct lab *lab = xcalloc(1, sizeof(*lab));

    lab->folder = folder_make();
    lab->rendered.text = STRBUF_INIT(10000);
    lab->finder = origin_finder_new(&manifest_limits_default);
    folder_mkdir(lab->folder, "app");
    folder_mkdir(lab->folder, "base");
    *state = lab;
    return 0;
}

static int tear_down(void **state)
{
    struct lab *lab = *state;

    origin_finder_free(lab->finder);
    rendered_package_release(&lab->rendered);
    free(lab->definition);
    folder_remove(lab->folder);
    free(lab);
    return 0;
}

/* Begins the package app/<definition> of the PATH "<folder>". */
static void begin(struct lab *lab, const char *definition, bool kustomize)
{
    lab->definition = folder_path(lab->folder, definition);
    if (kustomize)
        lab->rendered.origin_folder = folder_path(lab->folder, "wrapper");
    origin_finder_begin(lab->finder, &(struct origin_package){.package = &lab->package,
                                                              .rendered = &lab->rendered,
                                                              .definition = lab->definition,
                                                              .root = lab->folder});
}

/* Checks the origin "<file below the folder>:<line>" of an object, and the object afterwards. */
static void check_origin(const struct lab *lab, const char *json, size_t line, const char *wanted,
                         const char *object_wanted)
{
    CLEANUP(strbuf_release) struct strbuf place = STRBUF_INIT(1000);
    struct error err;
    CLEANUP(json_cleanup) cJSON *object = json_parse(json, strlen(json), NULL, &err);
    struct render_origin origin = origin_finder_find(lab->finder, object, line);
    CLEANUP(free_cleanup) char *printed = cJSON_PrintUnformatted(object);

    strbuf_addf(&place, "%s:%zu", origin.file->path + strlen(lab->folder) + 1, origin.where.line);
    assert_string_equal(place.data, wanted);
    if (object_wanted)
        assert_string_equal(printed, object_wanted);
}

TEST_WITH(kustomize_annotations_lead_to_files, set_up, tear_down)
{
    struct lab *lab = *state;

    folder_write(lab->folder, "base/web.yaml",
                 "kind: Deployment\nmetadata: {name: web}\n---\nkind: Deployment\n"
                 "metadata: {name: web-x, namespace: a}\n---\nkind: Deployment\n"
                 "metadata: {name: web-x, namespace: b}\n---\nkind: List\nitems:\n"
                 "- kind: Service\n  metadata: {name: web}\n");
    folder_write(lab->folder, "app/kustomization.yaml",
                 "configMapGenerator:\n- name: \"a\"\n- {name: a-long, literals: [x=y]}\n");
    begin(lab, "app/kustomization.yaml", true);
    check_origin(lab, ANNOTATED("Deployment", "p-web", "n", "path: ../base/web.yaml\\n"), 1,
                 "base/web.yaml:1",
                 "{\"kind\":\"Deployment\",\"metadata\":{\"name\":\"p-web\",\"namespace\":\"n\"}}");
    check_origin(lab, ANNOTATED("Deployment", "p-web-x-s", "b", "path: ../base/web.yaml\\n"), 1,
                 "base/web.yaml:7", NULL);
    check_origin(lab, ANNOTATED("Deployment", "web-x", "a", "path: ../base/web.yaml\\n"), 1,
                 "base/web.yaml:4", NULL);
    check_origin(lab, ANNOTATED("Service", "web", "", "path: ../base/web.yaml\\n"), 1,
                 "base/web.yaml:12", NULL);
    check_origin(lab, ANNOTATED("Job", "none", "", "path: ../base/web.yaml\\n"), 1,
                 "base/web.yaml:1", NULL);
    check_origin(lab, ANNOTATED("Job", "none", "", "path: ../gone.yaml\\n"), 1, "gone.yaml:1",
                 NULL);
    check_origin(lab,
                 ANNOTATED("ConfigMap", "p-a-long-6g6gd9868f", "",
                           "configuredIn: ../app/kustomization.yaml\\nconfiguredBy:\\n"),
                 1, "app/kustomization.yaml:3", NULL);
    check_origin(lab,
                 ANNOTATED("ConfigMap", "b-a-5g", "",
                           "configuredIn: ../app/kustomization.yaml\\nconfiguredBy:\\n"),
                 1, "app/kustomization.yaml:2", NULL);
}

TEST_WITH(objects_without_an_annotation_come_from_the_definition, set_up, tear_down)
{
    struct lab *lab = *state;

    folder_write(lab->folder, "app/kustomization.yaml", "resources: []\n");
    begin(lab, "app/kustomization.yaml", true);
    check_origin(lab, "{\"kind\":\"Job\",\"metadata\":{\"annotations\":{\"a\":\"b\"}}}", 1,
                 "app/kustomization.yaml:1",
                 "{\"kind\":\"Job\",\"metadata\":{\"annotations\":{\"a\":\"b\"}}}");
    check_origin(lab, "{\"metadata\":7}", 1, "app/kustomization.yaml:1", "{\"metadata\":7}");
}

TEST_WITH(comments_of_helm_lead_to_templates, set_up, tear_down)
{
    struct lab *lab = *state;

    folder_write(lab->folder, "app/web.yaml", "{{ if x }}\nkind: Job\n{{ end }}\n");
    strbuf_adds(&lab->rendered.text, "---\n# Source: chart/web.yaml\nkind: Job\n"
                                     "# Source: chart/no-comment-of-helm.yaml\n---\n"
                                     "# Source: chart/charts/sub/templates/a.yaml\nkind: Job\n");
    begin(lab, "app/Chart.yaml", false);
    check_origin(lab, "{\"kind\":\"Job\"}", 1, "app/Chart.yaml:1", NULL);
    check_origin(lab, "{\"kind\":\"Job\"}", 3, "app/web.yaml:2", NULL);
    check_origin(lab, "{\"kind\":\"Job\"}", 4, "app/web.yaml:2", NULL);
    /* The subchart is in an archive. */
    check_origin(lab, "{\"kind\":\"Job\"}", 7, "app/Chart.yaml:1", NULL);
}
