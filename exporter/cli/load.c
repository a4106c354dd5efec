/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/cli/load.h"

#include <signal.h>

#include "exporter/system/platform.h"

enum { LINE_MAX_BYTES = 8192, LOOKS_BETWEEN_READS = 1024 };

/* What fails is in the answer; what is tried again is nobody's business. */
static const struct log silent_log = {.level = LOG_LEVEL_NONE};

bool load_is_unread(enum problem_kind kind)
{
    return kind == PROBLEM_UNREADABLE || kind == PROBLEM_MALFORMED || kind == PROBLEM_REJECTED;
}

void load_complain(const struct evaluation *e, const struct command *command)
{
    for (size_t i = 0; i < manifests_problem_count(e->manifests); i++) {
        CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(LINE_MAX_BYTES);
        struct manifest_problem p = manifests_problem(e->manifests, i);

        if (!load_is_unread(p.kind))
            continue;
        manifest_problem_place(&p, &text);
        strbuf_addf(&text, ": %s", p.text);
        command_complain(command, text.data);
    }
}

static bool is_read(const struct evaluation *e)
{
    for (size_t i = 0; i < manifests_problem_count(e->manifests); i++) {
        if (load_is_unread(manifests_problem(e->manifests, i).kind))
            return false;
    }
    return *asset_source_problem(e->assets) == '\0';
}

/* False, with the reason, if the server is not to be had. */
static enum loading read_sources(struct evaluation *e, struct error *err)
{
    enum loading loading;

    /* A server that hangs up must not end us. */
    if (e->session)
        signal(SIGPIPE, SIG_IGN);
    while ((loading = evaluation_load(e, err)) == LOADING_GOES_ON) {
        bool settled = evaluation_run(e, platform_now_ms(), LOOKS_BETWEEN_READS);

        if (e->session && !kube_session_hopeful(e->session, err))
            return LOADING_GOES_ON;
        evaluation_wait(e, NULL, 0, settled ? evaluation_idle_ms(e) : 0);
    }
    return loading;
}

static struct evaluation *open_sources(struct command *command, const struct text_list *over,
                                       struct error *err)
{
    struct options *o = &command->options;
    bool cluster;

    for (size_t i = 0; i < o->arguments.count; i++)
        text_list_add(&o->manifests, o->arguments.items[i]);
    cluster = o->manifests.count == 0;
    /* Later PATHs count before earlier ones: that is what applying means. */
    for (size_t i = 0; over && i < over->count; i++)
        text_list_add(&o->manifests, over->items[i]);
    return evaluation_new(
        &(struct evaluation_settings){
            .options = o,
            .environment = platform_environment(),
            .log = &silent_log,
            .cluster = cluster,
            .seed = platform_seed(),
        },
        err);
}

struct evaluation *load_sources(struct command *command, const struct text_list *over,
                                enum exit_status *status)
{
    struct evaluation *e;
    enum loading loading;
    struct error err;

    e = open_sources(command, over, &err);
    if (!e) {
        *status = command_refuse(command, err.text);
        return NULL;
    }
    loading = read_sources(e, &err);
    if (loading == LOADING_GOES_ON) {
        command_complain(command, err.text);
        *status = STATUS_UNREACHABLE;
        evaluation_free(e);
        return NULL;
    }
    while (!evaluation_run(e, platform_now_ms(), SIZE_MAX))
        continue;
    /* Manifests that cannot be read are in the answer; there is no place in it for assets. */
    if (*asset_source_problem(e->assets) != '\0')
        command_complain(command, asset_source_problem(e->assets));
    /* A PATH that is missing is among the problems too. */
    *status = loading == LOADING_DONE && is_read(e) ? STATUS_OK : STATUS_USAGE;
    return e;
}
