/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/history.h"

void history_begin_list(struct history *h)
{
    recheck_end(&h->recheck);
    h->listed = (struct newest){0};
    h->contradicted = false;
}

/* Hold the newest object known against what a list has of it. */
static void compare(struct history *h, const struct watch *w, const cJSON *object)
{
    enum newest_verdict verdict = newest_judge(&h->newest, w->version, object);

    h->contradicted =
        h->contradicted || verdict == NEWEST_UNDONE || (verdict == NEWEST_ALTERED && !h->varies);
    h->varies = h->varies || (h->doubted && verdict == NEWEST_HOLDS);
}

void history_note(struct history *h, const struct watch *w, const struct watch_event *event)
{
    const cJSON *object = event->object;

    if (!object || event->kind == EVENT_BOOKMARK || event->kind == EVENT_INITIAL_END)
        return;
    if (w->phase == WATCH_STREAMING) {
        bool deleted = event->kind == EVENT_DELETED;

        recheck_note(&h->recheck, object, deleted);
        newest_note(&h->newest, object, event->version, deleted);
        return;
    }
    if (newest_is_of(&h->newest, object))
        compare(h, w, object);
    newest_note_listed(&h->listed, object, event->version);
}

bool history_end_list(struct history *h, bool older)
{
    bool restored = (older || h->contradicted) && !h->expected;

    if (older || h->contradicted || h->expected)
        h->newest = h->listed;
    else
        newest_replace(&h->newest, &h->listed);
    h->expected = h->contradicted = h->doubted = false;
    return restored;
}

void history_check(struct history *h, struct recheck_spec spec, int64_t now_ms)
{
    if (!h->resumed)
        return;
    spec.newest = &h->newest;
    spec.by_version = h->varies;
    recheck_begin(&h->recheck, &spec, now_ms);
}

bool history_end_request(struct history *h)
{
    bool lost = recheck_is_open(&h->recheck) && !newest_is(&h->newest, &h->recheck.newest);

    recheck_end(&h->recheck);
    return lost;
}

enum recheck_result history_turn(struct history *h, struct transport transport, int64_t now_ms)
{
    enum recheck_result result = recheck_turn(&h->recheck, transport, now_ms);

    h->doubted = h->doubted || (result == RECHECK_DOUBTFUL && h->recheck.altered);
    return result;
}
