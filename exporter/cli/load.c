/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/cli/load.h"

#include "exporter/machine.h"
#include "exporter/problem_log.h"

enum { LINE_MAX_BYTES = 8192 };

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
        problem_add_place(&text, &p);
        strbuf_addf(&text, ": %s", p.text);
        verbs_complain(command->err, text.data, NULL);
    }
}

static bool is_read(const struct evaluation *e)
{
    for (size_t i = 0; i < manifests_problem_count(e->manifests); i++) {
        if (load_is_unread(manifests_problem(e->manifests, i).kind))
            return false;
    }
    return true;
}

struct evaluation *load_manifests(struct command *command, bool *complete)
{
    struct options *o = &command->options;
    struct evaluation *e;
    struct error err;
    char nothing[80];
    char advice[80];

    snprintf(nothing, sizeof(nothing),
             "nothing to %s: name a file, a folder, or - for standard input", o->verb);
    snprintf(advice, sizeof(advice), "See 'karmada-policy-exporter %s --help'.", o->verb);
    for (size_t i = 0; i < o->arguments.count; i++)
        text_list_add(&o->manifests, o->arguments.items[i]);
    if (o->manifests.count == 0) {
        verbs_complain(command->err, nothing, advice);
        return NULL;
    }
    e = evaluation_new(o, false, machine_seed(), &err);
    if (!e) {
        verbs_complain(command->err, err.text, NULL);
        return NULL;
    }
    /* A PATH that is missing is among the problems too. */
    *complete = evaluation_load(e, &err);
    while (!evaluation_settle(e, machine_now_ms(), SIZE_MAX))
        continue;
    *complete = *complete && is_read(e);
    return e;
}
