/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/notify/events.h"

#include <unistd.h>

#include "exporter/system/platform.h"
#include "exporter/version.h"
#include "metrics/rules/rule.h"

#define LEASE_NAMESPACE "karmada-system"
#define LEASE_NAME      EXPORTER_NAME "-events"

enum {
    LOGGED_FAILURES = 2, /* Minimum in a row to log LEADER_ELECTION_FAILED. */
    RELEASE_MS = 1000,   /* Maximum time to release the Lease at the end. */
    RELEASE_WAIT_MS = 50,
};

void events_init(struct events *e, const struct log *log)
{
    *e = (struct events){.log = log, .idle = true};
    if (gethostname(e->instance, sizeof(e->instance)) != 0)
        snprintf(e->instance, sizeof(e->instance), "unknown");
    e->instance[sizeof(e->instance) - 1] = '\0';
    snprintf(e->identity, sizeof(e->identity), "%s_%016" PRIx64, e->instance,
             platform_random_seed());
    event_writer_init(&e->event_writer, e->instance, platform_random_seed());
}

/* ---- leader election ---- */

/* Hashes names for the name of the Lease: exporters with other namespaces use another Lease. */
static uint64_t hash_names(const struct text_list *names, uint64_t seed)
{
    for (size_t i = 0; i < names->count; i++)
        seed = map_hash(names->items[i], strlen(names->items[i]) + 1, seed);
    return map_hash("", 1, seed);
}

/* Initializes the election, again if Lease or duration in the options differ. */
static void begin_election(struct events *e, const struct options *o)
{
    char name[sizeof(e->lease)];
    size_t len = (size_t)snprintf(name, sizeof(name), "%s", LEASE_NAME);

    if (o->total_shards > 1)
        len += (size_t)snprintf(name + len, sizeof(name) - len, "-%" PRIu64 "-of-%" PRIu64,
                                o->shard, o->total_shards);
    if (o->namespaces.count > 0 || o->namespaces_denied.count > 0)
        snprintf(name + len, sizeof(name) - len, "-%016" PRIx64,
                 hash_names(&o->namespaces_denied, hash_names(&o->namespaces, 0)));
    if (e->open && strcmp(name, e->lease) == 0 &&
        e->leader_election.settings.lease_ms == (int64_t)o->events_lease_ms)
        return;
    if (e->open)
        leader_election_release(&e->leader_election);
    snprintf(e->lease, sizeof(e->lease), "%s", name);
    leader_election_init(&e->leader_election,
                         &(struct leader_election_settings){
                             .ns = LEASE_NAMESPACE,
                             .name = e->lease,
                             .identity = e->identity,
                             .field_manager = EXPORTER_NAME,
                             .lease_ms = (int64_t)o->events_lease_ms,
                         },
                         (uint32_t)platform_random_seed());
    e->open = true;
}

static void end_election(struct events *e)
{
    if (e->open)
        leader_election_release(&e->leader_election);
    e->open = false;
    e->led = false;
}

/* ---- evaluation ---- */

/* Returns true if a release that Karmada may run writes Events about conflicts itself. */
static bool may_write_events(const struct engine *engine)
{
    return release_range_has(engine_release(engine), BEHAVIOUR_RESOLVES_DEPENDENCIES) !=
           RELEASE_ANSWER_NO;
}

/* Observes the conflicts of another evaluation, which is complete. */
static void adopt_evaluation(struct events *e, struct evaluation *current, int64_t now_ms)
{
    const struct rule_context *facts = engine_context_const(current->engine);

    begin_election(e, &current->options);
    /* Schemas show the release of the definitions, not of the component that writes the Events. */
    e->silent =
        facts->release.origin == RELEASE_GIVEN && engine_resolves_dependencies(current->engine);
    if (e->silent)
        log_write(e->log, LOG_LEVEL_INFO,
                  "--events.emit has no effect: this release of Karmada writes these Events itself",
                  "karmada.version", current->options.karmada_version);
    conflict_tracker_set_role(&e->event_writer.conflicts, now_ms,
                              leader_election_leads(&e->leader_election, now_ms));
    conflict_tracker_adopt_store(&e->event_writer.conflicts, current->store);
    current->observer = (struct engine_observer){.decided = conflict_tracker_update_entry,
                                                 .context = &e->event_writer.conflicts};
    e->current = current;
}

void events_forget(struct events *e)
{
    if (e->open)
        leader_election_suspend(&e->leader_election);
    event_writer_suspend(&e->event_writer);
    if (e->current)
        e->current->observer = (struct engine_observer){0};
    e->current = NULL;
    e->idle = true;
}

/* Returns true, and logs once, while Events are unread: the writer could write an Event again. */
static bool events_are_unread(struct events *e)
{
    bool unread = engine_incomplete_classes(e->current->engine) & 1U << CLASS_EVENT;

    if (unread && !e->unread)
        log_write(e->log, LOG_LEVEL_WARN,
                  "Events about conflicts are not written until existing Events have been read");
    e->unread = unread;
    return unread;
}

/* ---- log of changes; the functions return true if the pages change ---- */

static bool log_leader(struct events *e, bool leads)
{
    const char *holder = json_str(json_get(e->leader_election.lease, "spec"), "holderIdentity", "");

    if (leads != e->led)
        log_write(e->log, LOG_LEVEL_INFO,
                  leads ? "this exporter writes the Events about conflicts now"
                        : "this exporter does not write Events about conflicts any more",
                  "lease", e->lease, "identity", e->identity);
    else if (!leads && *holder && strcmp(holder, e->holder) != 0 &&
             strcmp(holder, e->identity) != 0)
        log_write(e->log, LOG_LEVEL_INFO, "another exporter writes the Events about conflicts",
                  "lease", e->lease, "holder", holder);
    snprintf(e->holder, sizeof(e->holder), "%s", holder);
    bool changed = leads != e->led;
    e->led = leads;
    return changed;
}

static bool log_lease_problem(struct events *e)
{
    static const char *const texts[] = {
        [LEADER_ELECTION_FORBIDDEN] =
            "not allowed to use the Lease for writing Events: grant get, create and update of "
            "leases.coordination.k8s.io in " LEASE_NAMESPACE,
        [LEADER_ELECTION_NO_NAMESPACE] =
            "no lease for writing Events: Karmada's API server has no namespace " LEASE_NAMESPACE
            "; create it there (kubectl create namespace " LEASE_NAMESPACE ")",
        [LEADER_ELECTION_FAILED] = "cannot use the lease for writing Events",
    };
    enum leader_election_problem problem = e->leader_election.problem;

    if (problem == e->problem ||
        (problem == LEADER_ELECTION_FAILED && e->leader_election.failures < LOGGED_FAILURES))
        return false;
    if (problem == LEADER_ELECTION_FINE)
        log_write(e->log, LOG_LEVEL_INFO, "the lease for writing Events can be used", "lease",
                  e->lease);
    else
        log_write(e->log, LOG_LEVEL_WARN, texts[problem], "lease", e->lease, "verb",
                  e->leader_election.verb, "error", e->leader_election.err.text);
    e->problem = problem;
    return true;
}

static bool log_write_failure(struct events *e)
{
    const struct event_writer *m = &e->event_writer;
    const char *failure = m->failures > 0 ? m->err.text : "";

    if (strcmp(failure, e->failure) == 0)
        return false;
    if (!*failure)
        log_write(e->log, LOG_LEVEL_INFO, "Events about conflicts can be written");
    else if (m->forbidden_verb)
        log_write(e->log, LOG_LEVEL_WARN,
                  "not allowed to write Events about conflicts: grant get, create and patch of "
                  "events, and get of resourcebindings.work.karmada.io",
                  "verb", m->forbidden_verb, "resource", m->forbidden_resource, "error", failure);
    else
        log_write(e->log, LOG_LEVEL_WARN, "cannot write an Event about a conflict", "error",
                  failure);
    snprintf(e->failure, sizeof(e->failure), "%s", failure);
    return true;
}

/* ---- turns and end ---- */

bool events_turn(struct events *e, struct evaluation *current, int64_t now_ms, int64_t clock_ms)
{
    bool wanted = current && current->session && current->options.events_emit;
    bool leads;

    e->idle = true;
    if (!wanted && e->open)
        end_election(e);
    if (!wanted)
        return false;
    if (e->current != current && current->caught_up)
        adopt_evaluation(e, current, now_ms);
    if (!e->current || e->silent || events_are_unread(e))
        return false;

    const struct transport transport = kube_session_transport(current->session);

    e->idle = false;
    leader_election_turn(&e->leader_election, transport, now_ms, clock_ms);
    leads = leader_election_leads(&e->leader_election, now_ms);
    if (current->caught_up || !leads)
        event_writer_turn(&e->event_writer,
                          &(struct event_writer_input){
                              .engine = current->engine,
                              .transport = transport,
                              .patience_ms = may_write_events(current->engine)
                                                 ? (int64_t)current->options.grace_ms
                                                 : 0,
                              .leads = leads,
                          },
                          now_ms, clock_ms);

    uint64_t results = 0;
    for (unsigned i = 0; i < EVENT_RESULT_COUNT; i++)
        results += e->event_writer.results[i];
    bool changed = results != e->results;
    e->results = results;
    changed |= log_leader(e, leads);
    changed |= log_lease_problem(e);
    changed |= log_write_failure(e);
    return changed;
}

int64_t events_due(const struct events *e)
{
    int64_t due_ms =
        earlier_of(leader_election_due(&e->leader_election), event_writer_due(&e->event_writer));

    if (e->idle)
        return INT64_MAX;
    /* A turn is needed at the end of the leadership, to cancel the write under way. */
    return e->led ? earlier_of(due_ms, e->leader_election.held_until_ms) : due_ms;
}

void events_release(struct events *e, struct evaluation *current)
{
    int64_t until_ms = platform_steady_ms() + RELEASE_MS;

    event_writer_suspend(&e->event_writer);
    if (e->open && e->current && current == e->current) {
        leader_election_resign(&e->leader_election);
        while (!e->leader_election.released && platform_steady_ms() < until_ms) {
            leader_election_turn(&e->leader_election, kube_session_transport(current->session),
                                 platform_steady_ms(), platform_now_ms());
            evaluation_wait(current, NULL, NULL, 0, RELEASE_WAIT_MS);
            kube_session_turn(current->session, platform_steady_ms(), platform_now_ms());
        }
    }
    events_forget(e);
    end_election(e);
    event_writer_release(&e->event_writer);
}

void events_fill(const struct events *e, struct registry *registry)
{
    const struct event_writer *m = &e->event_writer;

    if (!e->open)
        return;
    for (unsigned i = 0; i < EVENT_RESULT_COUNT; i++)
        REGISTRY_SET(registry, OWN_EVENTS_EMITTED, (double)m->results[i],
                     event_writer_result_names[i]);
    REGISTRY_SET(registry, OWN_EVENTS_LEADER, e->led ? 1 : 0);
    registry_clear_family(registry, OWN_EVENTS_FORBIDDEN);
    if (e->leader_election.problem == LEADER_ELECTION_FORBIDDEN)
        REGISTRY_SET(registry, OWN_EVENTS_FORBIDDEN, 1, e->leader_election.verb, "leases");
    if (m->forbidden_verb)
        REGISTRY_SET(registry, OWN_EVENTS_FORBIDDEN, 1, m->forbidden_verb, m->forbidden_resource);
}
