/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/files/package_renderer.h"

#include <sys/stat.h>
#include <unistd.h>

#include "exporter/files/manifest_problems.h"
#include "tests/unit/folder.h"
#include "tests/unit/suite.h"

static const struct message_case {
    const char *name;
    const char *messages;
    const char *wanted;
} messages[] = {
    {"nothing", "", "it printed no message"},
    {"one line", "Error: no such chart\n", "no such chart"},
    {"warnings before, advice behind",
     "W1128 something\nError: YAML parse error on web/templates/x.yaml: line 3\n\n"
     "Use --debug flag to render out invalid YAML\n",
     "YAML parse error on web/templates/x.yaml: line 3"},
    {"kubectl", "error: accumulating resources: accumulation err=\"no such file\"",
     "accumulating resources: accumulation err=\"no such file\""},
    {"kustomizations above",
     "Error: accumulating resources: accumulation err='accumulating resources from '../a': '/r/a' "
     "must resolve to a file': recursed accumulation of path '/r/a': loading generators: no",
     "loading generators: no"},
    {"a file outside of its kustomization",
     "Error: accumulating resources: accumulation err='accumulating resources from '../x.yaml': "
     "security; file '/r/x.yaml' is not in or below '/r/a'': must build at directory: '/r/x.yaml': "
     "file is not directory",
     "security; file '/r/x.yaml' is not in or below '/r/a'"},
    {"a quote of an outer message",
     "error: accumulation err=\"accumulating resources from '../a': '/r/a' must resolve to a "
     "file': "
     "cycle detected\"",
     "cycle detected"},
    {"a patch that may be secret",
     "Error: trouble configuring builtin PatchTransformer with config: `\npatch: s3cr3t\n`: unable "
     "to parse SM or JSON patch from [patch: s3cr3t]",
     "trouble configuring builtin PatchTransformer: unable to parse SM or JSON patch"},
    {"the log of kubectl of Google Cloud",
     "# Warning: 'bases' is deprecated.\nE1128 run.go:72] \"command failed\" err=\"no match for "
     "\\\"a\\\"\"\n",
     "no match for \"a\""},
    {"that log with several lines",
     "# Warning: 'bases' is deprecated.\nE1128 run.go:72] \"command failed\" err=<\n\twrong kind\n"
     "\t{? {caBundle: ''} : ''}\n >\n",
     "wrong kind"},
    {"that log with a patch that may be secret",
     "E1128 run.go:72] \"command failed\" err=\"trouble configuring builtin PatchTransformer with "
     "config: `\\npatch: s3cr3t\\n`: unable to parse SM or JSON patch from [patch: s3cr3t]\"\n",
     "trouble configuring builtin PatchTransformer: unable to parse SM or JSON patch"},
};

TEST_ROWS(messages_name_the_cause, messages, name)
{
    const struct message_case *c = *state;
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(1000);

    render_message_add(&out, c->messages);
    assert_string_equal(out.data, c->wanted);
}

TEST(long_messages_are_cut)
{
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(1000);
    char text[RENDER_MESSAGE_BYTES + 2];

    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    render_message_add(&out, text);
    assert_int_equal(out.len, RENDER_MESSAGE_BYTES + strlen("..."));
}

/* ---- programs ---- */

/* A folder with programs, a package, and PATH as it was before. */
struct lab {
    char *folder;
    char *path; /* PATH before. */
    struct package package;
    struct manifest_file *file;
};

static int set_up(void **state)
{
    struct lab *lab = xcalloc(1, sizeof(*lab));

    lab->folder = folder_make();
    lab->path = xstrdup(getenv("PATH"));
    *state = lab;
    return 0;
}

static int tear_down(void **state)
{
    struct lab *lab = *state;

    setenv("PATH", lab->path, 1);
    manifest_file_free(lab->file);
    free(lab->path);
    folder_remove(lab->folder);
    free(lab);
    return 0;
}

/* Adds a script to the folder. */
static void add_program(const struct lab *lab, const char *name, const char *script)
{
    CLEANUP(free_cleanup) char *path = folder_path(lab->folder, name);

    folder_write(lab->folder, name, script);
    assert_int_equal(chmod(path, 0755), 0);
}

/* Makes PATH the folder, and /bin for the shell of the scripts. */
static void set_path(const struct lab *lab)
{
    CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT(4096);

    strbuf_addf(&path, "%s:/bin", lab->folder);
    setenv("PATH", path.data, 1);
}

static bool run(struct lab *lab, enum package_kind kind, const char *ns,
                struct rendered_package *out, enum render_obstacle *obstacle, struct error *err)
{
    struct package_renderer *r = package_renderer_new(ns);
    char name[] = "web";
    bool fine;

    lab->package.definition.kind = kind;
    lab->package.definition.name = kind == PACKAGE_CHART ? name : NULL;
    assert_int_equal(package_renderer_obstacle(r, kind), OBSTACLE_NONE);
    fine = package_renderer_run(r, &lab->package, lab->folder, out, obstacle, err);
    assert_true(!fine || *out->program.version);
    package_renderer_free(r);
    return fine;
}

TEST_WITH(kustomize_gets_a_wrapper_that_asks_for_origins, set_up, tear_down)
{
    struct lab *lab = *state;
    struct rendered_package out;
    enum render_obstacle obstacle;
    struct error err;

    add_program(
        lab, "kustomize",
        "#!/bin/sh\n[ $1 = version ] && echo v5.0.0 && exit\n"
        "echo $1 $#; cat $2/kustomization.yaml; cd $2; cd \"$(sed 's/.*s\": .\"//; s/\".*//' "
        "kustomization.yaml)\"; pwd\n");
    set_path(lab);
    assert_true(run(lab, PACKAGE_KUSTOMIZATION, "", &out, &obstacle, &err));
    assert_true(strncmp(out.text.data, "build 2\n{\"resources\": [\"../", 27) == 0);
    assert_non_null(strstr(out.text.data, "\"buildMetadata\": [\"originAnnotations\"]}\n/"));
    assert_non_null(strstr(out.text.data, lab->folder));
    /* Nothing of the wrapper is left. */
    assert_int_equal(access(out.origin_folder, F_OK), -1);
    rendered_package_release(&out);
}

TEST_WITH(helm_gets_the_namespace_and_no_rights, set_up, tear_down)
{
    struct lab *lab = *state;
    struct rendered_package out;
    enum render_obstacle obstacle;
    struct error err;

    add_program(lab, "helm",
                "#!/bin/sh\n[ $1 = version ] && echo v3.0.0+abc && exit\n"
                "echo $1 $2 $4 $5 $6 $7 $8\n");
    set_path(lab);
    assert_true(run(lab, PACKAGE_CHART, "shop", &out, &obstacle, &err));
    assert_string_equal(out.text.data,
                        "template web --namespace shop --include-crds --skip-tests\n");
    assert_null(out.origin_folder);
    rendered_package_release(&out);
    add_program(lab, "helm",
                "#!/bin/sh\necho 'Error: found in Chart.yaml, but missing in charts/ "
                "directory: x' >&2; exit 1\n");
    assert_false(run(lab, PACKAGE_CHART, "", &out, &obstacle, &err));
    assert_int_equal(obstacle, OBSTACLE_DEPENDENCIES);
    rendered_package_release(&out);
    add_program(lab, "helm", "#!/bin/sh\necho 'Error: other' >&2; exit 1\n");
    assert_false(run(lab, PACKAGE_CHART, "", &out, &obstacle, &err));
    assert_int_equal(obstacle, OBSTACLE_NONE);
    assert_string_equal(err.text, "helm fails: other");
    rendered_package_release(&out);
}

TEST_WITH(programs_are_searched_in_absolute_folders_only, set_up, tear_down)
{
    struct lab *lab = *state;

    add_program(lab, "helm", "#!/bin/sh\n");
    folder_write(lab->folder, "kustomize", "no program");
    assert_int_equal(chdir(lab->folder), 0);
    setenv("PATH", ".::/no/such/folder", 1);
    struct package_renderer *r = package_renderer_new("");

    assert_int_equal(package_renderer_obstacle(r, PACKAGE_CHART), OBSTACLE_PROGRAM);
    package_renderer_free(r);
    setenv("PATH", lab->folder, 1);
    r = package_renderer_new("");
    assert_int_equal(package_renderer_obstacle(r, PACKAGE_CHART), OBSTACLE_NONE);
    assert_int_equal(package_renderer_obstacle(r, PACKAGE_KUSTOMIZATION), OBSTACLE_PROGRAM);
    package_renderer_free(r);
    assert_int_equal(chdir("/"), 0);
}
