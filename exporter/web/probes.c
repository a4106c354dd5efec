/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/probes.h"

#include <pthread.h>

#include "exporter/system/platform.h"
#include "exporter/web/response.h"
#include "metrics/base/strbuf.h"

enum { TEXT_MAX = 256, VERBOSE_MAX = 128 * 1024 };

struct probes {
    const struct heartbeat *heartbeat;
    pthread_mutex_t lock; /* Guards the two below. */
    char *ready_text;
    bool ready;
};

struct probes *probes_new(const struct heartbeat *heartbeat)
{
    struct probes *p = xcalloc(1, sizeof(*p));

    p->heartbeat = heartbeat;
    pthread_mutex_init(&p->lock, NULL);
    probes_set_ready(p, false, "karmada-policy-exporter is not ready: nothing was read yet\n");
    return p;
}

void probes_free(struct probes *p)
{
    if (!p)
        return;
    free(p->ready_text);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

void probes_set_ready(struct probes *p, bool ready, const char *text)
{
    char *fresh = xstrdup(text);

    pthread_mutex_lock(&p->lock);
    char *old = p->ready_text;
    p->ready_text = fresh;
    p->ready = ready;
    pthread_mutex_unlock(&p->lock);
    free(old);
}

/* Does the query have "verbose", with or without a value? */
static bool is_verbose(struct MHD_Connection *connection)
{
    static const char name[] = "verbose";
    const char *value;
    size_t len;

    return MHD_lookup_connection_value_n(connection, MHD_GET_ARGUMENT_KIND, name, strlen(name),
                                         &value, &len) == MHD_YES;
}

/* `check` is what was looked at, and `text` what came of it. */
static struct MHD_Response *answer(const struct probe *probe, const char *check, bool passed,
                                   const char *text, unsigned *out_status)
{
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(VERBOSE_MAX);

    *out_status = passed ? MHD_HTTP_OK : MHD_HTTP_SERVICE_UNAVAILABLE;
    if (probe->anonymous)
        text = passed ? "ok\n" : "not ok\n";
    else if (is_verbose(probe->connection)) {
        /* As kube-apiserver writes it: a line for the check, why it failed, one for the whole. */
        strbuf_addf(&out, "[%c]%s %s\n%s%s check %s\n", passed ? '+' : '-', check,
                    passed ? "ok" : "failed", passed ? "" : text, probe->name,
                    passed ? "passed" : "failed");
        text = out.data;
    }
    return response_text(text);
}

struct MHD_Response *probes_health(struct probes *p, const struct probe *probe,
                                   unsigned *out_status)
{
    int64_t age_ms = p->heartbeat ? heartbeat_age_ms(p->heartbeat, platform_steady_ms()) : 0;
    bool beats = age_ms <= HEARTBEAT_LIMIT_MS;
    char text[TEXT_MAX] = "karmada-policy-exporter is Healthy.\n";

    if (!beats)
        snprintf(text, sizeof(text),
                 "karmada-policy-exporter is not healthy: its loop stands still for %" PRId64
                 " s, and %d s is the most; what it serves is as old\n",
                 age_ms / 1000, HEARTBEAT_LIMIT_MS / 1000);
    return answer(probe, "loop", beats, text, out_status);
}

struct MHD_Response *probes_readiness(struct probes *p, const struct probe *probe,
                                      unsigned *out_status)
{
    pthread_mutex_lock(&p->lock);
    struct MHD_Response *response = answer(probe, "sources", p->ready, p->ready_text, out_status);
    pthread_mutex_unlock(&p->lock);
    return response;
}
