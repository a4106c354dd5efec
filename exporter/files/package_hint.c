/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/files/package_hint.h"

#include "exporter/files/manifest_problems.h"
#include "metrics/base/shown.h"
#include "metrics/base/strbuf.h"

enum { COMMAND_MAX_BYTES = 400, REASON_MAX_BYTES = 200 };

#define CHECK_COMMAND "| karmada-policy-exporter check -"

char *package_shown_folder(const struct package *p)
{
    const char *path = p->file->path;
    const char *slash = strrchr(path, '/');

    return slash ? xmemdup0(path, slash == path ? 1 : (size_t)(slash - path)) : xstrdup(".");
}

/* Appends a word of a shell command. */
static void add_word(struct strbuf *out, const char *word)
{
    size_t safe = strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789./_-");

    if (word[safe] == '\0' && *word != '-') {
        strbuf_adds(out, word);
        return;
    }
    strbuf_adds(out, *word == '-' ? "./'" : "'");
    for (; *word; word++) {
        if (*word == '\'')
            strbuf_adds(out, "'\\'");
        strbuf_addc(out, *word);
    }
    strbuf_addc(out, '\'');
}

/* Returns a remote reference without the credentials that it may have before "@". */
static struct shown show_remote(const char *reference)
{
    const char *at = strrchr(reference, '@');

    return shown(at ? at + 1 : reference);
}

/* Appends the command that renders the package. */
static void add_command(struct strbuf *out, const struct package *p)
{
    CLEANUP(free_cleanup) char *folder = package_shown_folder(p);

    if (p->definition.kind != PACKAGE_CHART) {
        strbuf_adds(out, p->obstacle == OBSTACLE_CHARTS ? "kubectl kustomize --enable-helm "
                                                        : "kubectl kustomize ");
    } else if (p->obstacle == OBSTACLE_DEPENDENCIES) {
        strbuf_adds(out, "helm dependency build ");
    } else {
        strbuf_adds(out, "helm template ");
        add_word(out, p->definition.name);
        strbuf_addc(out, ' ');
    }
    add_word(out, folder);
    if (p->obstacle != OBSTACLE_DEPENDENCIES)
        strbuf_adds(out, " " CHECK_COMMAND);
}

static void add_reason(struct strbuf *out, const struct package *p, bool server)
{
    bool is_chart = p->definition.kind == PACKAGE_CHART;

    switch (p->obstacle) {
    case OBSTACLE_DISABLED:
        strbuf_adds(out, server ? "serve runs no programs" : "--render=never");
        return;
    case OBSTACLE_PROGRAM:
        strbuf_adds(out, is_chart ? "helm is not on PATH"
                                  : "neither kustomize nor kubectl is on PATH");
        return;
    case OBSTACLE_REMOTE:
        strbuf_addf(out, "%s refers to '%s', which needs the network",
                    p->culprit == p ? "it" : p->culprit->folder, show_remote(p->reference).text);
        return;
    case OBSTACLE_CHARTS:
        strbuf_adds(out, "it renders Helm charts");
        return;
    case OBSTACLE_DEPENDENCIES:
        strbuf_adds(out, "dependencies are missing in its folder charts/");
        return;
    case OBSTACLE_NONE:
    case OBSTACLE_MISSING:
        break;
    }
    abort();
}

void package_describe_obstacle(const struct package *p, bool server, struct error *out)
{
    CLEANUP(strbuf_release) struct strbuf command = STRBUF_INIT(COMMAND_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf reason = STRBUF_INIT(REASON_MAX_BYTES);

    add_reason(&reason, p, server);
    add_command(&command, p);
    if (p->definition.kind == PACKAGE_CHART)
        fail(out, "not rendered (%s): its templates are not read; run: %s", reason.data,
             command.data);
    else
        fail(out,
             "not rendered (%s): its own files are read without patches and generators; run: %s",
             reason.data, command.data);
}

void package_describe_missing(const struct package *p, struct error *out)
{
    fail(out,
         "not rendered: '%s' refers to '%s', which does not exist: correct the path",
         p->culprit->folder, shown(p->reference).text);
}
