/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/notify/leader_election.h"

#include "exporter/kube/backoff.h"
#include "metrics/base/timestamp.h"

#define API_VERSION "coordination.k8s.io/v1"
#define KIND        "Lease"

enum {
    SECOND_MS = 1000,
    LEASE_MAX_MS = 3600 * SECOND_MS, /* As others may say that theirs lasts. */
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

/* As client-go: 10 s of 15, and 2 s. */
static int64_t deadline_ms(const struct leader_election *e)
{
    return e->settings.lease_ms * 2 / 3;
}

static int64_t retry_ms(const struct leader_election *e)
{
    return e->settings.lease_ms * 2 / 15;
}

/* ---- what the Lease says ---- */

static const cJSON *spec_of(const struct leader_election *e)
{
    return json_get(e->lease, "spec");
}

static bool is_ours(const struct leader_election *e)
{
    return strcmp(json_str(spec_of(e), "holderIdentity", ""), e->settings.identity) == 0;
}

/* Nobody holds it, or whoever does has not been heard of for as long as it lasts. */
static bool is_free(const struct leader_election *e, int64_t now_ms)
{
    int64_t seconds = json_int(spec_of(e), "leaseDurationSeconds", 0);
    int64_t lasts_ms = seconds < LEASE_MAX_MS / SECOND_MS ? seconds * SECOND_MS : LEASE_MAX_MS;

    if (seconds < 1)
        lasts_ms = e->settings.lease_ms;
    return !*json_str(spec_of(e), "holderIdentity", "") || now_ms >= e->observed_ms + lasts_ms;
}

static void keep(struct leader_election *e, struct fetch *f, int64_t now_ms)
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

/* ---- what is asked for ---- */

static void put(cJSON *object, const char *key, cJSON *value)
{
    cJSON_DeleteItemFromObjectCaseSensitive(object, key);
    if (!value || !cJSON_AddItemToObject(object, key, value))
        memory_exhausted(0);
}

/* The Lease as it is to be: ours, or nobody's. */
static cJSON *lease_to_be(const struct leader_election *e, int64_t clock_ms)
{
    cJSON *lease = e->lease ? cJSON_Duplicate(e->lease, true) : cJSON_CreateObject();
    cJSON *spec = cJSON_DetachItemFromObjectCaseSensitive(lease, "spec");
    int64_t transitions = json_int(spec, "leaseTransitions", 0);
    bool changes_hands = e->lease && !is_ours(e);
    int64_t seconds = e->releasing ? 1 : e->settings.lease_ms / SECOND_MS;
    char now[64];

    /* metav1.MicroTime is read with six digits only. */
    format_timestamp(clock_ms, now);
    snprintf(strchr(now, 'Z'), 16, ".%03d000Z", (int)(clock_ms % SECOND_MS));
    if (!cJSON_IsObject(spec)) {
        cJSON_Delete(spec);
        spec = cJSON_CreateObject();
    }
    if (!e->lease) {
        cJSON *metadata = cJSON_AddObjectToObject(lease, "metadata");

        put(lease, "apiVersion", cJSON_CreateString(API_VERSION));
        put(lease, "kind", cJSON_CreateString(KIND));
        put(metadata, "name", cJSON_CreateString(e->settings.name));
        put(metadata, "namespace", cJSON_CreateString(e->settings.ns));
    }
    put(spec, "holderIdentity", cJSON_CreateString(e->releasing ? "" : e->settings.identity));
    put(spec, "leaseDurationSeconds", cJSON_CreateNumber((double)seconds));
    put(spec, "renewTime", cJSON_CreateString(now));
    if (!is_ours(e) || e->releasing || !json_get(spec, "acquireTime"))
        put(spec, "acquireTime", cJSON_CreateString(now));
    put(spec, "leaseTransitions", cJSON_CreateNumber((double)(transitions + changes_hands)));
    put(lease, "spec", spec);
    return lease;
}

static void ask(struct leader_election *e, struct transport transport, enum transport_method method,
                int64_t now_ms, int64_t clock_ms)
{
    static const char *const verbs[] = {
        [TRANSPORT_READ] = "get", [TRANSPORT_CREATE] = "create", [TRANSPORT_REPLACE] = "update"};
    char *body = NULL;

    if (method != TRANSPORT_READ) {
        CLEANUP(json_cleanup) cJSON *lease = lease_to_be(e, clock_ms);

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

/* ---- answers ---- */

/* Up to a fifth more: those who wait for a Lease spread. */
static int64_t spread_ms(struct leader_election *e, int64_t ms)
{
    e->random = e->random * 1664525 + 1013904223;
    return ms + ms * (e->random >> 24) / (256 * 5);
}

static void note_failure(struct leader_election *e, const struct fetch *f, int64_t now_ms)
{
    bool slow = f->state == FETCH_FORBIDDEN || f->state == FETCH_MISSING;
    int64_t wait_ms = slow ? backoff_ms(e->failures, e->random) : retry_ms(e);

    e->read = false;
    /* Another one was faster: that is no failure. */
    if (f->http_status != 409) {
        e->failures++;
        e->err = f->err;
        e->trouble = f->state == FETCH_FORBIDDEN ? LEADER_ELECTION_FORBIDDEN
                     : f->state == FETCH_MISSING ? LEADER_ELECTION_NO_NAMESPACE
                                                 : LEADER_ELECTION_FAILED;
    }
    wait_ms = wait_ms > f->retry_after_ms ? wait_ms : f->retry_after_ms;
    e->due_ms = now_ms + spread_ms(e, wait_ms);
}

static void receive(struct leader_election *e, struct fetch *f, int64_t now_ms)
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
        note_failure(e, f, now_ms);
        return;
    }
    keep(e, f, now_ms);
    e->failures = 0;
    e->trouble = LEADER_ELECTION_FINE;
    e->due_ms = e->asked_ms + retry_ms(e);
    if (e->releasing) {
        e->released = !is_ours(e);
        e->due_ms = now_ms;
    } else if (wrote) {
        e->held_until_ms = is_ours(e) ? e->asked_ms + deadline_ms(e) : 0;
    } else if (is_ours(e) || is_free(e, now_ms)) {
        e->due_ms = now_ms;
    } else {
        /* Another one has it: what we still believed to have is lost. */
        e->held_until_ms = 0;
        e->read = false;
        e->due_ms = now_ms + spread_ms(e, retry_ms(e));
    }
}

void leader_election_turn(struct leader_election *e, struct transport transport, int64_t now_ms,
                          int64_t clock_ms)
{
    if (e->fetch) {
        struct fetch *f = e->fetch;

        fetch_turn(f, now_ms);
        /* Whoever waits for one answer for longer has no time left for another try. */
        if (f->state == FETCH_OPEN && now_ms >= e->asked_ms + deadline_ms(e) / 2) {
            leader_election_suspend(e);
            e->due_ms = now_ms;
        } else if (f->state == FETCH_OPEN) {
            return;
        } else {
            e->fetch = NULL;
            receive(e, f, now_ms);
            fetch_free(f);
        }
    }
    if (e->released || now_ms < e->due_ms)
        return;
    if (!e->read) {
        ask(e, transport, TRANSPORT_READ, now_ms, clock_ms);
    } else if (e->releasing && (!e->lease || !is_ours(e))) {
        e->released = true;
    } else {
        ask(e, transport, e->lease ? TRANSPORT_REPLACE : TRANSPORT_CREATE, now_ms, clock_ms);
    }
}

int64_t leader_election_due(const struct leader_election *e)
{
    int64_t due_ms = e->released ? INT64_MAX : e->due_ms;

    if (e->fetch) {
        int64_t patience_ms = e->asked_ms + deadline_ms(e) / 2;

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
    /* What is under way may happen all the same. */
    e->read = false;
    e->due_ms = e->asked_ms;
    fetch_free(e->fetch);
    e->fetch = NULL;
}

void leader_election_resign(struct leader_election *e)
{
    e->releasing = true;
    e->released = !e->fetch && !is_ours(e);
    e->held_until_ms = 0;
    e->due_ms = 0;
}
