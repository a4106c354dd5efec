/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/files/package_renderer.h"

#include <errno.h>
#include <unistd.h>

#include "exporter/files/manifest_scan.h"
#include "exporter/system/child_process.h"
#include "exporter/system/platform.h"
#include "exporter/system/temporary_folder.h"

enum {
    RENDER_SECONDS = 60,      /* For one package. */
    RENDER_ALL_SECONDS = 600, /* For all packages. */
    RENDERS_MAX = 1000,
    VERSION_SECONDS = 10,
    OUTPUT_MAX_BYTES = 128 << 20, /* Equal to the limit of YAML files. */
    MESSAGES_MAX_BYTES = 64 << 10,
    VERSION_MAX_BYTES = 4 << 10,
    VERSION_SHOWN_MAX = 40,
    RELEASE_NAME_MAX = 53, /* Limit of helm. */
    PATH_MAX_BYTES = 64 << 10,
};

enum tool { TOOL_KUSTOMIZE, TOOL_KUBECTL, TOOL_HELM, TOOL_COUNT };

static const struct tool_row {
    const char *name;
    const char *version_arguments[2];
    const char *version_prefix; /* Before the version in the output. */
} tools[TOOL_COUNT] = {
    [TOOL_KUSTOMIZE] = {"kustomize", {"version", NULL}, ""},
    [TOOL_KUBECTL] = {"kubectl", {"version", "--client"}, "Kustomize Version: "},
    [TOOL_HELM] = {"helm", {"version", "--short"}, ""},
};

struct package_renderer {
    char *ns;
    char *programs[TOOL_COUNT]; /* Absolute paths; NULL for programs that do not exist. */
    char *versions[TOOL_COUNT]; /* NULL before the first use. */
    size_t count;               /* Packages rendered. */
    int64_t spent_ms;
};

/* Returns the path of a program in the absolute folders of PATH, owned by the caller; or NULL. */
static char *find_program(const char *name)
{
    const char *at = getenv("PATH");

    while (at && *at) {
        size_t len = strcspn(at, ":");
        CLEANUP(free_cleanup) char *folder = xmemdup0(at, len);
        struct stat about;

        at += len + (at[len] == ':');
        /* A relative folder may be in the repository that is checked. */
        if (*folder != '/')
            continue;
        CLEANUP(free_cleanup) char *path = scan_join_path(folder, name);

        if (stat(path, &about) == 0 && S_ISREG(about.st_mode) && access(path, X_OK) == 0)
            return xstrdup(path);
    }
    return NULL;
}

struct package_renderer *package_renderer_new(const char *ns)
{
    struct package_renderer *r = xcalloc(1, sizeof(*r));

    r->ns = xstrdup(ns);
    for (unsigned i = 0; i < TOOL_COUNT; i++)
        r->programs[i] = find_program(tools[i].name);
    return r;
}

void package_renderer_free(struct package_renderer *r)
{
    if (!r)
        return;
    for (unsigned i = 0; i < TOOL_COUNT; i++) {
        free(r->programs[i]);
        free(r->versions[i]);
    }
    free(r->ns);
    free(r);
}

/* Returns the program for packages of a kind; TOOL_COUNT without one. */
static enum tool choose_tool(const struct package_renderer *r, enum package_kind kind)
{
    if (kind == PACKAGE_CHART)
        return r->programs[TOOL_HELM] ? TOOL_HELM : TOOL_COUNT;
    return r->programs[TOOL_KUSTOMIZE] ? TOOL_KUSTOMIZE
           : r->programs[TOOL_KUBECTL] ? TOOL_KUBECTL
                                       : TOOL_COUNT;
}

enum render_obstacle package_renderer_obstacle(struct package_renderer *r, enum package_kind kind)
{
    return choose_tool(r, kind) == TOOL_COUNT ? OBSTACLE_PROGRAM : OBSTACLE_NONE;
}

void rendered_package_release(struct rendered_package *p)
{
    strbuf_release(&p->text);
    free(p->origin_folder);
    *p = (struct rendered_package){.text = STRBUF_INIT(OUTPUT_MAX_BYTES)};
}

/* ---- programs ---- */

/* Returns the first word after the prefix in the output of a program that prints its version. */
static char *read_version(const struct package_renderer *r, enum tool tool)
{
    const struct tool_row *row = &tools[tool];
    const char *const arguments[] = {row->name, row->version_arguments[0],
                                     row->version_arguments[1], NULL};
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(VERSION_MAX_BYTES);
    struct error ignored;
    const char *at;
    size_t len;

    if (!child_run(
            &(struct child_command){
                .program = r->programs[tool],
                .arguments = arguments,
                .time_max_seconds = VERSION_SECONDS,
            },
            &out, &ignored))
        return xstrdup("");
    at = strstr(out.data, row->version_prefix);
    at = at ? at + strlen(row->version_prefix) : "";
    len = strspn(at, "0123456789.v+-abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
    return xmemdup0(at, len < VERSION_SHOWN_MAX ? len : VERSION_SHOWN_MAX);
}

static struct render_program describe_tool(struct package_renderer *r, enum tool tool)
{
    if (!r->versions[tool])
        r->versions[tool] = read_version(r, tool);
    return (struct render_program){tools[tool].name, r->versions[tool]};
}

/* Returns the text after the last appearance of `part`, or the text itself. */
static const char *after_last(const char *text, const char *part)
{
    const char *found;

    while ((found = strstr(text, part)))
        text = found + strlen(part);
    return text;
}

/* Returns the text after a prefix and the next "': "; the text itself without the prefix. */
static const char *after_quoted(const char *text, const char *prefix)
{
    const char *end = strncmp(text, prefix, strlen(prefix)) == 0 ? strstr(text, "': ") : NULL;

    return end ? end + strlen("': ") : text;
}

/* Returns the cause in a message of kustomize, which repeats it for each kustomization above. */
static const char *find_cause(const char *line)
{
    static const char resource[] = "accumulating resources from '";
    const char *at = after_last(line, resource);

    if (at != line)
        at = after_quoted(at - strlen(resource), resource);
    at = after_last(at, "' must resolve to a file': ");
    return after_quoted(at, "recursed accumulation of path '");
}

/* Returns the length of the cause without the ends of outer messages and without a patch. */
static size_t measure_cause(const char *cause)
{
    const char *outer = strstr(cause, "': must build at directory"), *patch;
    size_t len = outer ? (size_t)(outer - cause) : strlen(cause);

    /* A quote without its beginning is that of an outer message. */
    if (len > 0 && cause[len - 1] == '"' && strchr(cause, '"') == cause + len - 1)
        len--;
    patch = strstr(cause, "patch from [");
    return patch && patch < cause + len ? (size_t)(patch - cause) + strlen("patch") : len;
}

static void add_cause(struct strbuf *out, const char *line, size_t len)
{
    static const char config[] = " with config: `";
    CLEANUP(free_cleanup) char *first = xmemdup0(line, len);
    const char *cause = find_cause(first);

    len = measure_cause(cause);
    /* The configuration follows in other lines. It may be a patch. */
    if (len > strlen(config) && strcmp(cause + len - strlen(config), config) == 0)
        len -= strlen(config);
    strbuf_add(out, cause, len < RENDER_MESSAGE_BYTES ? len : RENDER_MESSAGE_BYTES);
    strbuf_adds(out, len > RENDER_MESSAGE_BYTES ? "..." : "");
}

/* Returns the message as the program wrote it: kubectl of Google Cloud quotes it for its log. */
static char *unquote(const char *messages)
{
    static const char quoted[] = "\"command failed\" err=\"";
    const char *at = strstr(messages, quoted);
    char *text = xstrdup(at ? at + strlen(quoted) : messages), *end = text;

    for (const char *from = text; at && *from && *from != '"'; from++) {
        bool escaped = *from == '\\' && from[1] != '\0';

        from += escaped;
        *end++ = escaped && *from == 'n' ? '\n' : *from;
    }
    if (at)
        *end = '\0';
    return text;
}

void render_message_add(struct strbuf *out, const char *messages)
{
    CLEANUP(free_cleanup) char *text = unquote(messages);
    const char *line = after_last(after_last(text, "Error: "), "error: "), *after_config;
    size_t start = out->len;

    line = after_last(line, "\"command failed\" err=<");
    after_config = strstr(line, "\n`: ");
    line += strspn(line, " \t\r\n");
    add_cause(out, line, strcspn(line, "\r\n"));
    if (after_config) {
        after_config += strlen("\n`: ");
        strbuf_adds(out, ": ");
        add_cause(out, after_config, strcspn(after_config, "\r\n"));
    }
    if (out->len == start)
        strbuf_adds(out, "it printed no message");
}

/* Appends a text without the path of the working folder, which users do not write either. */
static void add_relative(struct strbuf *out, const char *text)
{
    CLEANUP(free_cleanup) char *real = realpath(".", NULL);
    CLEANUP(free_cleanup) char *folder = scan_join_path(real ? real : "/", "");
    const char *found;

    while (folder[1] != '\0' && (found = strstr(text, folder))) {
        strbuf_add(out, text, (size_t)(found - text));
        text = found + strlen(folder);
    }
    strbuf_adds(out, text);
}

/* Runs a program, and describes its failure. `messages` receives its standard error. */
static bool run_tool(struct package_renderer *r, enum tool tool, const char *const *arguments,
                     struct strbuf *out, struct strbuf *messages, struct error *err)
{
    int64_t begun_ms = platform_steady_ms();
    bool fine = child_run(
        &(struct child_command){
            .program = r->programs[tool],
            .arguments = arguments,
            .time_max_seconds = RENDER_SECONDS,
            .messages = messages,
        },
        out, err);

    r->spent_ms += platform_steady_ms() - begun_ms;
    if (fine)
        return true;

    CLEANUP(strbuf_release) struct strbuf relative = STRBUF_INIT(MESSAGES_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(RENDER_MESSAGE_BYTES * 3);

    add_relative(&relative, messages->data);
    if (strncmp(err->text, "exit code", strlen("exit code")) == 0)
        render_message_add(&text, relative.data);
    else
        strbuf_adds(&text, err->text);
    return fail(err, "%s fails: %s", tools[tool].name, text.data);
}

/* ---- kustomizations ---- */

static void remove_wrapper(struct temporary_folder **folder)
{
    temporary_folder_remove(*folder);
}

/* Appends the way from `folder` to the absolute path `to`, because kustomize takes no such path. */
static void add_way(struct strbuf *out, const char *folder, const char *to)
{
    for (const char *at = folder; *at; at++) {
        if (*at == '/' && at[1] != '\0')
            strbuf_adds(out, "../");
    }
    strbuf_adds(out, to + 1);
}

static bool write_file(const char *path, const struct strbuf *text)
{
    FILE *file = fopen(path, "we");
    bool fine = file && fwrite(text->data, 1, text->len, file) == text->len;

    if (file && fclose(file) != 0)
        fine = false;
    return fine;
}

/*
 * Writes a kustomization that includes `target` and asks for the origin of each object. Returns its
 * folder; NULL with the reason on errors.
 */
static struct temporary_folder *make_wrapper(const char *target, struct error *err)
{
    struct temporary_folder *folder = temporary_folder_make(err);
    CLEANUP(strbuf_release) struct strbuf way = STRBUF_INIT(PATH_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(PATH_MAX_BYTES);
    CLEANUP(free_cleanup) char *file = NULL;

    if (!folder)
        return NULL;
    add_way(&way, temporary_folder_path(folder), target);
    strbuf_adds(&text, "{\"resources\": [");
    json_quote(&text, way.data);
    strbuf_adds(&text, "], \"buildMetadata\": [\"originAnnotations\"]}\n");
    file = scan_join_path(temporary_folder_path(folder), kustomization_names[0]);
    if (strbuf_ok(&text) && write_file(file, &text))
        return folder;
    fail(err, "cannot write '%s': %s", file, strerror(errno));
    temporary_folder_remove(folder);
    return NULL;
}

static bool run_kustomize(struct package_renderer *r, enum tool tool, const char *target,
                          struct rendered_package *out, struct error *err)
{
    CLEANUP(strbuf_release) struct strbuf messages = STRBUF_INIT(MESSAGES_MAX_BYTES);
    CLEANUP(remove_wrapper) struct temporary_folder *folder = make_wrapper(target, err);

    if (!folder)
        return false;

    const char *wrapper = temporary_folder_path(folder);
    const char *const build[] = {"kustomize", "build", wrapper, NULL};
    const char *const kubectl[] = {"kubectl", "kustomize", wrapper, NULL};

    out->origin_folder = xstrdup(wrapper);
    return run_tool(r, tool, tool == TOOL_KUSTOMIZE ? build : kubectl, &out->text, &messages, err);
}

/* ---- charts ---- */

/* Returns the name of a chart if it can be that of a release. */
static const char *choose_release_name(const char *chart)
{
    size_t len = strspn(chart, "abcdefghijklmnopqrstuvwxyz0123456789-");
    bool valid = chart[len] == '\0' && len > 0 && len <= RELEASE_NAME_MAX && *chart != '-' &&
                 chart[len - 1] != '-';

    return valid ? chart : "release-name";
}

static bool run_helm(struct package_renderer *r, const struct package *p, const char *target,
                     struct rendered_package *out, enum render_obstacle *obstacle,
                     struct error *err)
{
    CLEANUP(strbuf_release) struct strbuf messages = STRBUF_INIT(MESSAGES_MAX_BYTES);
    /* Hooks are objects for Karmada like others, except tests, which only `helm test` creates. */
    const char *const arguments[] = {
        "helm",           "template",     choose_release_name(p->definition.name),
        target,           "--namespace",  *r->ns ? r->ns : "default",
        "--include-crds", "--skip-tests", NULL};

    if (run_tool(r, TOOL_HELM, arguments, &out->text, &messages, err))
        return true;
    if (strstr(messages.data, "missing in charts/ directory"))
        *obstacle = OBSTACLE_DEPENDENCIES;
    return false;
}

bool package_renderer_run(struct package_renderer *r, const struct package *p, const char *folder,
                          struct rendered_package *out, enum render_obstacle *obstacle,
                          struct error *err)
{
    CLEANUP(free_cleanup) char *target = realpath(folder, NULL);
    enum tool tool = choose_tool(r, p->definition.kind);

    *out = (struct rendered_package){.text = STRBUF_INIT(OUTPUT_MAX_BYTES)};
    *obstacle = OBSTACLE_NONE;
    if (!target)
        return fail(err, "cannot open the folder: %s", strerror(errno));
    if (r->count >= RENDERS_MAX)
        return fail(err, "more than %d kustomizations and charts: check a part of the folders",
                    RENDERS_MAX);
    if (r->spent_ms >= (int64_t)RENDER_ALL_SECONDS * 1000)
        return fail(err, "rendering takes more than %d seconds in all: check a part of the folders",
                    RENDER_ALL_SECONDS);
    r->count++;
    out->program = describe_tool(r, tool);
    return tool == TOOL_HELM ? run_helm(r, p, target, out, obstacle, err)
                             : run_kustomize(r, tool, target, out, err);
}
