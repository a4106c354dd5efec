/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/notify/leader_election.h"

#include "exporter/kube/backoff.h"
#include "metrics/base/timestamp.h"

#define API_VERSION "coordination.k8s.io/v1"
#define KIND        "Lease"

enum {
    SECOND_MS = 1000,
    LEASE_MAX_MS = 3600 * SECOND_MS, /* Limit for durations that other holders have written. */
};

void leader_election_init(struct leader_election *e,
                          const struct leader_election_settings *settings, uint32_t random)
{
    *e = (struct leader_election){.settings = *settings, .random = random};
}

void leader_election_release(struct leader_election *e)
{
    fetch_free(e->fetch);
    cJSON_Delete(e->lease);
    free(e->record);
    *e = (struct leader_election){.settings = e->settings};
}

/* Returns how long a renewal lets a replica lead: 10 of 15 s, as in client-go. */
static int64_t leadership_ms(const struct leader_election *e)
{
    return e->settings.lease_ms * 2 / 3;
}

/* Returns the time between renewals: 2 of 15 s. */
static int64_t renew_interval_ms(const struct leader_election *e)
{
    return e->settings.lease_ms * 2 / 15;
}

/* ---- last known Lease ---- */

static const cJSON *lease_spec(const struct leader_election *e)
{
    return json_get(e->lease, "spec");
}

static bool holds_lease(const struct leader_election *e)
{
    return strcmp(json_str(lease_spec(e), "holderIdentity", ""), e->settings.identity) == 0;
}

/* Returns true if the Lease has no holder, or was not seen to change for its duration. */
static bool lease_is_available(const struct leader_election *e, int64_t now_ms)
{
    int64_t seconds = json_int(lease_spec(e), "leaseDurationSeconds", 0);
    int64_t lasts_ms = seconds < LEASE_MAX_MS / SECOND_MS ? seconds * SECOND_MS : LEASE_MAX_MS;

    if (seconds < 1)
        lasts_ms = e->settings.lease_ms;
    return !*json_str(lease_spec(e), "holderIdentity", "") || now_ms >= e->observed_ms + lasts_ms;
}

static void store_response(struct leader_election *e, struct fetch *f, int64_t now_ms)
{
    char *record = cJSON_PrintUnformatted(json_get(f->object, "spec"));

    if (!e->record || !record || strcmp(record, e->record) != 0)
        e->observed_ms = now_ms;
    free(e->record);
    e->record = record;
    cJSON_Delete(e->lease);
    e->lease = f->object;
    f->object = NULL;
    e->read = true;
}

/* ---- requests ---- */

static void set_item(cJSON *object, const char *key, cJSON *value)
{
    cJSON_DeleteItemFromObjectCaseSensitive(object, key);
    if (!value || !cJSON_AddItemToObject(object, key, value))
        memory_exhausted(0);
}

/* Returns the Lease to write: held by this replica or, after leader_election_resign(), released. */
static cJSON *lease_json_new(const struct leader_election *e, int64_t clock_ms)
{
    cJSON *lease = e->lease ? cJSON_Duplicate(e->lease, true) : cJSON_CreateObject();
    cJSON *spec = cJSON_DetachItemFromObjectCaseSensitive(lease, "spec");
    int64_t transitions = json_int(spec, "leaseTransitions", 0);
    bool changes_hands = e->lease && !holds_lease(e);
    int64_t seconds = e->releasing ? 1 : e->settings.lease_ms / SECOND_MS;
    char now[64];

    /* The API server parses metav1.MicroTime only with six fractional digits. */
    format_timestamp(clock_ms, now);
    snprintf(strchr(now, 'Z'), 16, ".%03d000Z", (int)(clock_ms % SECOND_MS));
    if (!cJSON_IsObject(spec)) {
        cJSON_Delete(spec);
        spec = cJSON_CreateObject();
    }
    if (!e->lease) {
        cJSON *metadata = cJSON_AddObjectToObject(lease, "metadata");

        set_item(lease, "apiVersion", cJSON_CreateString(API_VERSION));
        set_item(lease, "kind", cJSON_CreateString(KIND));
        set_item(metadata, "name", cJSON_CreateString(e->settings.name));
        set_item(metadata, "namespace", cJSON_CreateString(e->settings.ns));
    }
    set_item(spec, "holderIdentity", cJSON_CreateString(e->releasing ? "" : e->settings.identity));
    set_item(spec, "leaseDurationSeconds", cJSON_CreateNumber((double)seconds));
    set_item(spec, "renewTime", cJSON_CreateString(now));
    if (!holds_lease(e) || e->releasing || !json_get(spec, "acquireTime"))
        set_item(spec, "acquireTime", cJSON_CreateString(now));
    set_item(spec, "leaseTransitions", cJSON_CreateNumber((double)(transitions + changes_hands)));
    set_item(lease, "spec", spec);
    return lease;
}

static void send_request(struct leader_election *e, struct transport transport,
                         enum transport_method method, int64_t now_ms, int64_t clock_ms)
{
    static const char *const verbs[] = {
        [TRANSPORT_READ] = "get", [TRANSPORT_CREATE] = "create", [TRANSPORT_REPLACE] = "update"};
    char *body = NULL;

    if (method != TRANSPORT_READ) {
        CLEANUP(json_cleanup) cJSON *lease = lease_json_new(e, clock_ms);

        body = cJSON_PrintUnformatted(lease);
        if (!body)
            memory_exhausted(0);
    }
    e->verb = verbs[method];
    e->asked_ms = now_ms;
    e->fetch = fetch_start(transport,
                           &(struct fetch_spec){
                               .id = {API_VERSION, KIND, e->settings.ns, e->settings.name},
                               .resource = "leases",
                               .method = method,
                               .body = body,
                               .field_manager = e->settings.field_manager,
                           },
                           now_ms);
    free(body);
}

/* ---- responses ---- */

/* Returns `ms` plus up to a fifth, so that requests of replicas do not coincide. */
static int64_t spread_ms(struct leader_election *e, int64_t ms)
{
    e->random = e->random * 1664525 + 1013904223;
    return ms + ms * (e->random >> 24) / (256 * 5);
}

static void handle_failure(struct leader_election *e, const struct fetch *f, int64_t now_ms)
{
    bool slow = f->state == FETCH_FORBIDDEN || f->state == FETCH_MISSING;
    int64_t wait_ms = slow ? backoff_ms(e->failures, e->random) : renew_interval_ms(e);

    e->read = false;
    /* 409 is no failure: another replica has written first. */
    if (f->http_status != 409) {
        e->failures++;
        e->err = f->err;
        e->problem = f->state == FETCH_FORBIDDEN ? LEADER_ELECTION_FORBIDDEN
                     : f->state == FETCH_MISSING ? LEADER_ELECTION_NO_NAMESPACE
                                                 : LEADER_ELECTION_FAILED;
    }
    wait_ms = wait_ms > f->retry_after_ms ? wait_ms : f->retry_after_ms;
    e->due_ms = now_ms + spread_ms(e, wait_ms);
}

static void handle_response(struct leader_election *e, struct fetch *f, int64_t now_ms)
{
    bool wrote = strcmp(e->verb, "get") != 0;

    if (!wrote && f->state == FETCH_MISSING) {
        cJSON_Delete(e->lease);
        e->lease = NULL;
        e->read = true;
        e->due_ms = now_ms;
        return;
    }
    if (f->state != FETCH_FOUND) {
        handle_failure(e, f, now_ms);
        return;
    }
    store_response(e, f, now_ms);
    e->failures = 0;
    e->problem = LEADER_ELECTION_FINE;
    e->due_ms = e->asked_ms + renew_interval_ms(e);
    if (e->releasing) {
        e->released = !holds_lease(e);
        e->due_ms = now_ms;
    } else if (wrote) {
        e->held_until_ms = holds_lease(e) ? e->asked_ms + leadership_ms(e) : 0;
    } else if (holds_lease(e) || lease_is_available(e, now_ms)) {
        e->due_ms = now_ms;
    } else {
        /* Another replica holds the Lease: this one does not lead. */
        e->held_until_ms = 0;
        e->read = false;
        e->due_ms = now_ms + spread_ms(e, renew_interval_ms(e));
    }
}

void leader_election_turn(struct leader_election *e, struct transport transport, int64_t now_ms,
                          int64_t clock_ms)
{
    if (e->fetch) {
        struct fetch *f = e->fetch;

        fetch_turn(f, now_ms);
        /* A later response would leave no time for a second attempt before the leadership ends. */
        if (f->state == FETCH_OPEN && now_ms >= e->asked_ms + leadership_ms(e) / 2) {
            leader_election_suspend(e);
            e->due_ms = now_ms;
        } else if (f->state == FETCH_OPEN) {
            return;
        } else {
            e->fetch = NULL;
            handle_response(e, f, now_ms);
            fetch_free(f);
        }
    }
    if (e->released || now_ms < e->due_ms)
        return;
    if (!e->read) {
        send_request(e, transport, TRANSPORT_READ, now_ms, clock_ms);
    } else if (e->releasing && (!e->lease || !holds_lease(e))) {
        e->released = true;
    } else {
        send_request(e, transport, e->lease ? TRANSPORT_REPLACE : TRANSPORT_CREATE, now_ms,
                     clock_ms);
    }
}

int64_t leader_election_due(const struct leader_election *e)
{
    int64_t due_ms = e->released ? INT64_MAX : e->due_ms;

    if (e->fetch) {
        int64_t patience_ms = e->asked_ms + leadership_ms(e) / 2;

        due_ms = fetch_due(e->fetch) < patience_ms ? fetch_due(e->fetch) : patience_ms;
    }
    return due_ms;
}

bool leader_election_leads(const struct leader_election *e, int64_t now_ms)
{
    return now_ms < e->held_until_ms && !e->releasing;
}

void leader_election_suspend(struct leader_election *e)
{
    if (!e->fetch)
        return;
    /* The API server may still process a write that was sent, so the Lease must be read again. */
    e->read = false;
    e->due_ms = e->asked_ms;
    fetch_free(e->fetch);
    e->fetch = NULL;
}

void leader_election_resign(struct leader_election *e)
{
    e->releasing = true;
    e->released = !e->fetch && !holds_lease(e);
    e->held_until_ms = 0;
    e->due_ms = 0;
}
