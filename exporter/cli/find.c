/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/cli/find.h"

#include "exporter/system/platform.h"
#include "exporter/text/object_name.h"

enum { SLICE_MS = 100 };

/* Why an object could not be read; the server's own words come behind it. */
static const char *const failures[] = {
    [LOOKUP_FORBIDDEN] = "the API server does not let us read it",
    [LOOKUP_OUTSIDE] = "its namespace is none of those that are read",
    [LOOKUP_LATE] = "the API server has not answered in time",
    [LOOKUP_FAILED] = "the API server cannot read it",
    [LOOKUP_BUSY] = "too many objects have been asked for",
};

static struct lookup_answer ask(struct evaluation *e, const struct object_name *name)
{
    struct template_finder *finder = kube_session_finder(e->session);
    const struct template_name wanted = {
        .kind = name->kind,
        .group = name->group,
        .ns = name->ns ? name->ns : e->options.namespace,
        .name = name->name,
    };
    struct lookup_answer answer;
    struct identity id;

    while ((answer = finder_ask(finder, &wanted, LOOKUP_OWN, &id, platform_steady_ms())).state ==
           LOOKUP_WAITING) {
        evaluation_wait(e, NULL, NULL, 0, evaluation_idle_ms(e));
        evaluation_pump(e, SLICE_MS);
        evaluation_run(e, platform_now_ms(), SIZE_MAX);
    }
    return answer;
}

/* Read it at the API server. NULL: `err` says what it said before unless there is more to say. */
static const struct entry *fetch(struct evaluation *e, const char *typed, enum exit_status *status,
                                 struct error *err)
{
    CLEANUP(object_name_release) struct object_name name = {0};
    const struct entry *entry;
    struct lookup_answer answer;
    struct error ignored;

    if (!e->session || !object_name_parse(typed, &name, &ignored))
        return NULL;
    answer = ask(e, &name);
    if (answer.state == LOOKUP_MISSING || answer.state == LOOKUP_UNKNOWN)
        return NULL;
    if (answer.state != LOOKUP_FOUND) {
        *status = answer.state == LOOKUP_LATE || answer.state == LOOKUP_FAILED ? STATUS_UNREACHABLE
                                                                               : STATUS_USAGE;
        fail(err, "'%s': %s%s%s", typed, failures[answer.state], *answer.reason ? ": " : "",
             answer.reason);
        return NULL;
    }
    entry = finder_keep(kube_session_finder(e->session), answer.object, err);
    while (!evaluation_run(e, platform_now_ms(), SIZE_MAX))
        continue;
    return entry;
}

const struct entry *find_or_fetch(struct evaluation *e, unsigned classes, const char *typed,
                                  enum exit_status *status, struct error *err)
{
    bool given = e->options.on_command_line[OPTION_OF_namespace];
    const struct entry *entry =
        object_find_in(e->store, classes, typed, given ? e->options.namespace : NULL, err);

    *status = STATUS_USAGE;
    if (!entry)
        entry = fetch(e, typed, status, err);
    return entry ? entry : object_find_binding_of(e->store, typed);
}
