/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/serve/readiness.h"

#include "exporter/serve/watch_health.h"
#include "exporter/version.h"

enum {
    TEXT_MAX_BYTES = 64 * 1024,
    SHOWN_MAX = 50,
    LOOK_MS = 500,
};

void readiness_init(struct readiness *r, struct server *server)
{
    *r = (struct readiness){.server = server, .said = STRBUF_INIT(TEXT_MAX_BYTES)};
}

void readiness_release(struct readiness *r)
{
    strbuf_release(&r->said);
}

static void add_more(struct strbuf *out, size_t count)
{
    if (count > SHOWN_MAX)
        strbuf_addf(out, "and %zu more\n", count - SHOWN_MAX);
}

/* The kinds that have not been read, of those that are `required` or of the others. */
static size_t add_unread(struct strbuf *out, const struct kube_source *source, bool required)
{
    size_t count = 0;

    for (size_t i = 0; i < kube_source_count(source); i++) {
        const struct reflector *f = kube_source_reflector(source, i);

        if (f->synced || f->required != required || f->optional || count++ >= SHOWN_MAX)
            continue;
        reflector_name(out, f);
        strbuf_addf(out, ": %s\n", missing_kind_reason(f));
    }
    add_more(out, count);
    return count;
}

static void add_waiting(struct strbuf *out, const struct kube_session *session)
{
    const struct kube_source *source = kube_session_source(session);
    const char *problem = kube_session_problem(session);

    strbuf_addf(out, EXPORTER_NAME " is not ready: reading from %s\n",
                kube_session_server(session));
    if (*problem != '\0')
        strbuf_addf(out, "credentials: %s\n", problem);
    if (add_unread(out, source, true) == 0) {
        strbuf_addf(out, "policies and bindings are read; others are waited for up to %d s:\n",
                    KIND_WAIT_MS / 1000);
        add_unread(out, source, false);
    }
}

static void add_late(struct strbuf *out, const struct kube_source *source)
{
    size_t count = 0;

    for (size_t i = 0; i < kube_source_missing_count(source); i++) {
        const struct missing_kind *k = kube_source_missing(source, i);

        if (!k->late || count++ >= SHOWN_MAX)
            continue;
        if (count == 1)
            strbuf_adds(out, "Not read yet, and what depends on it is left out:\n");
        missing_kind_name(out, k);
        strbuf_addf(out, ": %s\n", missing_kind_reason(k->reflector));
    }
    add_more(out, count);
}

void readiness_turn(struct readiness *r, bool ready, const struct kube_session *session,
                    const char *problem, int64_t now_ms)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX_BYTES);

    if (now_ms < r->due_ms && ready == r->ready)
        return;
    r->due_ms = now_ms + LOOK_MS;
    if (ready)
        strbuf_adds(&text, EXPORTER_NAME " is Ready.\n");
    else if (session)
        add_waiting(&text, session);
    else
        strbuf_addf(&text, EXPORTER_NAME " is not ready: %s\n",
                    *problem ? problem : "reading manifests");
    if (ready && session)
        add_late(&text, kube_session_source(session));
    if (!strbuf_ok(&text) || (ready == r->ready && strcmp(text.data, r->said.data) == 0))
        return;
    server_set_ready(r->server, ready, text.data);
    r->ready = ready;
    strbuf_reset(&r->said);
    strbuf_adds(&r->said, text.data);
}
