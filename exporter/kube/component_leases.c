/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/component_leases.h"

#include "metrics/base/timestamp.h"
#include "metrics/rules/problems/problem.h"

const char *const component_names[CONTROL_COUNT] = {
    [CONTROL_CONTROLLERS] = CONTROLLER_COMPONENT,
    [CONTROL_SCHEDULER] = SCHEDULER_COMPONENT,
};

void component_leases_init(struct component_leases *l,
                           const struct component_leases_settings *settings)
{
    *l = (struct component_leases){.settings = *settings};
}

void component_leases_release(struct component_leases *l)
{
    for (size_t i = 0; i < CONTROL_COUNT; i++) {
        fetch_free(l->readers[i].fetch);
        free(l->readers[i].holder);
        l->readers[i] = (struct component_lease_reader){0};
    }
}

/* ---- responses ---- */

/*
 * Logs a Lease that has become absent, unreadable or readable. A request that fails is logged if
 * the next one fails too, because single failures are normal; a denial of access at once.
 */
static void log_change(const struct component_leases *l, enum control_component component,
                       struct component_lease_reader *r, bool denied)
{
    static const char *const messages[] = {
        [COMPONENT_LEASE_READABLE] = "the Lease of a component of Karmada can be read",
        [COMPONENT_LEASE_ABSENT] = ("no Lease shows whether a component of Karmada runs: the "
                                    "problem reasons not_running and restarting are not checked; "
                                    "--karmada.lease-namespace names the namespace of the Lease"),
        [COMPONENT_LEASE_UNREADABLE] =
            ("cannot read the Lease of a component of Karmada: the problem reasons not_running and "
             "restarting are not checked"),
    };
    enum component_lease_state state = r->exists     ? COMPONENT_LEASE_READABLE
                                       : r->readable ? COMPONENT_LEASE_ABSENT
                                                     : COMPONENT_LEASE_UNREADABLE;

    if (state == r->logged || (state == COMPONENT_LEASE_UNREADABLE && !denied && r->failures < 2))
        return;
    r->logged = state;
    log_write(l->settings.log, state == COMPONENT_LEASE_READABLE ? LOG_LEVEL_INFO : LOG_LEVEL_WARN,
              messages[state], "lease", component_names[component], "namespace", l->settings.ns,
              state == COMPONENT_LEASE_UNREADABLE ? "error" : NULL, r->err.text);
}

/* Returns a time in the spec of a Lease, in milliseconds since the epoch; 0 without a valid one. */
static int64_t time_in_spec(const cJSON *spec, const char *key)
{
    int64_t ms;

    return parse_timestamp(json_str(spec, key, ""), &ms) ? ms : 0;
}

/* Stores the values of the Lease that a request has found, or the reason of its failure. */
static void store_response(struct component_lease_reader *r, const struct fetch *f)
{
    const cJSON *spec = json_get(f->object, "spec");

    free(r->holder);
    r->holder = NULL;
    r->renew_ms = r->acquire_ms = 0;
    r->read = true;
    r->readable = f->state == FETCH_FOUND || f->state == FETCH_MISSING;
    r->exists = f->state == FETCH_FOUND;
    r->failures = r->readable ? 0 : r->failures + 1;
    r->err = f->err;
    if (!r->exists)
        return;
    r->holder = xstrdup(json_str(spec, "holderIdentity", ""));
    r->renew_ms = time_in_spec(spec, "renewTime");
    r->acquire_ms = time_in_spec(spec, "acquireTime");
}

static void end_request(struct component_leases *l, enum control_component component)
{
    struct component_lease_reader *r = &l->readers[component];
    struct component_lease lease;

    store_response(r, r->fetch);
    log_change(l, component, r, r->fetch->state == FETCH_FORBIDDEN);
    fetch_free(r->fetch);
    r->fetch = NULL;
    if (l->settings.observer.read && component_leases_last(l, component, &lease))
        l->settings.observer.read(l->settings.observer.context, &lease);
}

bool component_leases_last(const struct component_leases *l, enum control_component component,
                           struct component_lease *out)
{
    const struct component_lease_reader *r = &l->readers[component];

    if (!r->read)
        return false;
    *out = (struct component_lease){
        .component = component,
        .readable = r->readable,
        .exists = r->exists,
        .holder = r->holder ? r->holder : "",
        .renew_ms = r->renew_ms,
        .acquire_ms = r->acquire_ms,
        .error = r->readable ? "" : r->err.text,
    };
    return true;
}

/* ---- requests ---- */

static void start_request(struct component_leases *l, enum control_component component,
                          int64_t now_ms)
{
    struct component_lease_reader *r = &l->readers[component];

    r->due_ms = now_ms + COMPONENT_LEASE_INTERVAL_MS;
    r->fetch = fetch_start(
        l->settings.transport,
        &(struct fetch_spec){
            .id = {"coordination.k8s.io/v1", "Lease", l->settings.ns, component_names[component]},
            .resource = "leases",
        },
        now_ms);
}

void component_leases_turn(struct component_leases *l, int64_t now_ms)
{
    for (unsigned i = 0; i < CONTROL_COUNT; i++) {
        struct component_lease_reader *r = &l->readers[i];

        if (r->fetch) {
            fetch_turn(r->fetch, now_ms);
            if (r->fetch->state != FETCH_OPEN)
                end_request(l, (enum control_component)i);
        }
        if (!r->fetch && now_ms >= r->due_ms)
            start_request(l, (enum control_component)i, now_ms);
    }
}

int64_t component_leases_due(const struct component_leases *l)
{
    int64_t due_ms = INT64_MAX;

    for (unsigned i = 0; i < CONTROL_COUNT; i++) {
        const struct component_lease_reader *r = &l->readers[i];
        int64_t at_ms = r->fetch ? fetch_due(r->fetch) : r->due_ms;

        due_ms = at_ms < due_ms ? at_ms : due_ms;
    }
    return due_ms;
}
