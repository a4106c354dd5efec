/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/notify/leader_election.h"

#include "metrics/base/number.h"
#include "tests/sim/rng.h"
#include "tests/unit/suite.h"

/*
 * Simulates replicas that share one Lease over a network that delays and loses messages. Each
 * replica has clocks of its own, and may be killed, stopped or cut off. The server decides about a
 * request when it arrives, by its resourceVersion.
 */

enum {
    REPLICAS = 3,
    STEP_MS = 50,
    LEASE_MS = 15000,
    DEADLINE_MS = 10000,
    DISTURBED_MS = 90 * 1000, /* The network works after this time. */
    QUIET_MS = 60 * 1000,
    SEEDS = 400,
    BODY_SIZE = 1024,
    DAY_MS = 24 * 3600 * 1000,
};

struct replica {
    struct lab *lab;
    struct leader_election leader_election;
    char identity[32];
    /* Offsets of the replica's clocks from the time of the lab. */
    int64_t steady_ms;
    int64_t clock_ms;
    int64_t stopped_until_ms; /* End of a time without CPU, as after SIGSTOP. */
    int64_t cut_until_ms;     /* End of a time without a network. */
    int64_t dead_until_ms;    /* Start of the next replica in this place. */
    bool dead;
};

struct transfer {
    struct transfer *next;
    struct replica *from;
    enum transport_method method;
    struct transport_handler handler;
    char body[BODY_SIZE]; /* Body of the request, then of the response. */
    unsigned http_status; /* 0 until the server has processed the request. */
    int64_t due_ms;       /* Arrival of the request, then of the response; INT64_MAX: lost. */
    bool canceled;
};

struct lab {
    struct rng rng;
    int64_t now_ms;
    struct replica replicas[REPLICAS];
    struct transfer *transfers;
    char *lease; /* Lease of the server; NULL if it does not exist. */
    unsigned version;
    unsigned started;
    unsigned conflicts; /* Number of responses with 409. */
    unsigned hand_overs;
    const struct replica *last;
    bool disturbed;
    bool no_namespace;
    bool forbidden;
};

/* ---- the network ---- */

/* Returns the time of arrival of a message; INT64_MAX: the message is lost. */
static int64_t travel_ms(struct lab *lab, const struct replica *r)
{
    if (lab->now_ms < r->cut_until_ms || (lab->disturbed && rng_chance(&lab->rng, 3)))
        return INT64_MAX;
    if (lab->disturbed && rng_chance(&lab->rng, 5))
        return lab->now_ms + rng_between(&lab->rng, 1000, 20000);
    return lab->now_ms + rng_between(&lab->rng, 0, 200);
}

static struct transfer *start(void *context, const struct transport_request *request)
{
    struct replica *r = context;
    struct transfer *t = xcalloc(1, sizeof(*t));

    *t = (struct transfer){.next = r->lab->transfers,
                           .from = r,
                           .method = request->method,
                           .handler = request->handler,
                           .due_ms = travel_ms(r->lab, r)};
    snprintf(t->body, sizeof(t->body), "%s", request->body ? request->body : "");
    r->lab->transfers = t;
    return t;
}

/* A request that was sent still arrives at the server. */
static void cancel(void *context, struct transfer *t)
{
    (void)context;
    t->canceled = true;
}

static struct transport transport_of(struct replica *r)
{
    return (struct transport){.start = start, .cancel = cancel, .context = r};
}

/* ---- the server ---- */

static void respond_with_error(struct transfer *t, unsigned status)
{
    t->http_status = status;
    snprintf(t->body, sizeof(t->body), "{\"kind\":\"Status\",\"code\":%u,\"message\":\"no\"}",
             status);
}

static void store_lease(struct lab *lab, cJSON *lease)
{
    char version[16];

    snprintf(version, sizeof(version), "%u", ++lab->version);
    cJSON *metadata = cJSON_GetObjectItemCaseSensitive(lease, "metadata");
    cJSON_DeleteItemFromObjectCaseSensitive(metadata, "resourceVersion");
    cJSON_AddStringToObject(metadata, "resourceVersion", version);
    free(lab->lease);
    lab->lease = cJSON_PrintUnformatted(lease);
}

static void process_request(struct lab *lab, struct transfer *t)
{
    CLEANUP(json_cleanup) cJSON *sent = cJSON_Parse(t->body);
    CLEANUP(json_cleanup) cJSON *there = lab->lease ? cJSON_Parse(lab->lease) : NULL;
    const char *named = json_str(json_get(sent, "metadata"), "resourceVersion", "");
    const char *version = json_str(json_get(there, "metadata"), "resourceVersion", "");

    if (lab->forbidden) {
        respond_with_error(t, 403);
    } else if (t->method == TRANSPORT_CREATE ? lab->no_namespace : !there) {
        respond_with_error(t, 404);
    } else if (t->method == TRANSPORT_CREATE
                   ? there != NULL
                   : t->method == TRANSPORT_REPLACE && strcmp(named, version) != 0) {
        lab->conflicts++;
        respond_with_error(t, 409);
    } else {
        if (sent)
            store_lease(lab, sent);
        t->http_status = t->method == TRANSPORT_CREATE ? 201 : 200;
        snprintf(t->body, sizeof(t->body), "%s", lab->lease);
    }
}

static void deliver_response(struct transfer *t)
{
    const struct transport_result result = {
        .complete = true, .http_status = t->http_status, .error = ""};

    if (t->canceled)
        return;
    assert_true(t->handler.data(t->handler.context, t->http_status, t->body, strlen(t->body)));
    t->handler.done(t->handler.context, &result);
}

static void deliver_messages(struct lab *lab)
{
    for (struct transfer **at = &lab->transfers; *at;) {
        struct transfer *t = *at;
        bool stopped = t->http_status && lab->now_ms < t->from->stopped_until_ms;

        if (lab->now_ms < t->due_ms || stopped) {
            /* A lost message is kept until its replica cancels the request. */
            if (t->due_ms < INT64_MAX || !t->canceled) {
                at = &t->next;
                continue;
            }
        } else if (t->http_status == 0) {
            process_request(lab, t);
            t->due_ms = travel_ms(lab, t->from);
            continue;
        } else {
            deliver_response(t);
        }
        *at = t->next;
        free(t);
    }
}

/* ---- replicas ---- */

static void start_replica(struct lab *lab, struct replica *r)
{
    struct rng *rng = &lab->rng;

    *r = (struct replica){.lab = lab,
                          .steady_ms = rng_between(rng, 0, DAY_MS),
                          .clock_ms = rng_between(rng, 0, 2 * DAY_MS) - DAY_MS};
    snprintf(r->identity, sizeof(r->identity), "exporter-%u", ++lab->started);
    leader_election_init(&r->leader_election,
                         &(struct leader_election_settings){.ns = "karmada-system",
                                                            .name = "events",
                                                            .identity = r->identity,
                                                            .field_manager = "exporter",
                                                            .lease_ms = LEASE_MS},
                         rng_below(rng, UINT32_MAX));
}

static bool is_up(const struct replica *r)
{
    return !r->dead && r->lab->now_ms >= r->stopped_until_ms;
}

static bool replica_leads(const struct replica *r)
{
    return is_up(r) && leader_election_leads(&r->leader_election, r->lab->now_ms + r->steady_ms);
}

static void turn_replica(struct replica *r)
{
    struct lab *lab = r->lab;

    if (r->dead && lab->now_ms >= r->dead_until_ms)
        start_replica(lab, r);
    if (is_up(r))
        leader_election_turn(&r->leader_election, transport_of(r), lab->now_ms + r->steady_ms,
                             lab->now_ms + r->clock_ms + DAY_MS);
}

/* Kills the replica as by SIGKILL; another replica starts after `for_ms`. */
static void kill_replica(struct replica *r, int64_t for_ms)
{
    leader_election_release(&r->leader_election);
    r->dead = true;
    r->dead_until_ms = r->lab->now_ms + for_ms;
}

static void disturb_replica(struct lab *lab)
{
    struct replica *r = &lab->replicas[rng_below(&lab->rng, REPLICAS)];
    int64_t for_ms = rng_between(&lab->rng, 500, 25000);

    if (r->dead || !rng_chance(&lab->rng, 1))
        return;
    switch (rng_below(&lab->rng, 5)) {
    case 0:
        kill_replica(r, for_ms);
        break;
    case 1:
        r->stopped_until_ms = lab->now_ms + for_ms;
        break;
    case 2:
        leader_election_suspend(&r->leader_election);
        break;
    case 3:
        r->clock_ms += rng_between(&lab->rng, 0, 2 * DAY_MS) - DAY_MS;
        break;
    default:
        r->cut_until_ms = lab->now_ms + for_ms;
    }
}

/* Returns the leader, or NULL. Counts changes of the leader. Fails if two replicas lead. */
static struct replica *leader_of(struct lab *lab)
{
    struct replica *leader = NULL;

    for (unsigned i = 0; i < REPLICAS; i++) {
        if (!replica_leads(&lab->replicas[i]))
            continue;
        assert_null(leader);
        leader = &lab->replicas[i];
    }
    if (leader && leader != lab->last) {
        lab->hand_overs++;
        lab->last = leader;
    }
    return leader;
}

static struct replica *advance_lab(struct lab *lab)
{
    lab->now_ms += STEP_MS;
    deliver_messages(lab);
    for (unsigned i = 0; i < REPLICAS; i++)
        turn_replica(&lab->replicas[i]);
    return leader_of(lab);
}

static void lab_init(struct lab *lab, uint64_t seed)
{
    *lab = (struct lab){.rng = rng_of(seed, 0)};
    for (unsigned i = 0; i < REPLICAS; i++)
        start_replica(lab, &lab->replicas[i]);
}

static void lab_release(struct lab *lab)
{
    for (unsigned i = 0; i < REPLICAS; i++)
        leader_election_release(&lab->replicas[i].leader_election);
    while (lab->transfers) {
        struct transfer *t = lab->transfers;

        lab->transfers = t->next;
        free(t);
    }
    free(lab->lease);
}

/* Advances the time until a replica leads; fails after 10 * LEASE_MS. Returns the time passed. */
static int64_t wait_for_leader(struct lab *lab)
{
    int64_t begun_ms = lab->now_ms;

    while (!advance_lab(lab))
        assert_true(lab->now_ms - begun_ms < 10 * LEASE_MS);
    return lab->now_ms - begun_ms;
}

static void run_history(uint64_t seed, unsigned *hand_overs, unsigned *conflicts)
{
    struct lab lab;
    const struct replica *leader = NULL;
    int64_t led_ms = 0;

    lab_init(&lab, seed);
    lab.disturbed = true;
    while (lab.now_ms < DISTURBED_MS) {
        disturb_replica(&lab);
        advance_lab(&lab);
    }
    lab.disturbed = false;
    for (unsigned i = 0; i < REPLICAS; i++)
        lab.replicas[i].cut_until_ms = lab.replicas[i].stopped_until_ms = 0;
    /* A delayed renewal of a dead replica may still arrive. */
    while (lab.now_ms < DISTURBED_MS + QUIET_MS) {
        const struct replica *now = advance_lab(&lab);

        led_ms = now && now == leader ? led_ms + STEP_MS : 0;
        leader = now;
    }
    /* A replica may start as late as 25 s after the disturbances, but does not replace a leader. */
    if (led_ms < QUIET_MS - 3 * LEASE_MS)
        fail_msg("seed %" PRIu64 ": no replica leads for long enough: %" PRId64 " ms", seed,
                 led_ms);
    *hand_overs += lab.hand_overs;
    *conflicts += lab.conflicts;
    lab_release(&lab);
}

TEST(two_replicas_never_lead_at_once_and_one_leads_soon)
{
    const char *wanted = getenv("ELECTION_SEEDS");
    uint64_t seeds = SEEDS;
    unsigned hand_overs = 0, conflicts = 0;

    assert_true(!wanted || parse_uint(wanted, UINT32_MAX, &seeds));
    for (uint64_t seed = 1; seed <= seeds; seed++)
        run_history(seed, &hand_overs, &conflicts);
    print_message("%" PRIu64 " histories, %u changes of the leader, %u responses with 409\n", seeds,
                  hand_overs, conflicts);
    assert_true(hand_overs > seeds && conflicts > 0);
}

TEST(first_replica_leads_at_once_and_keeps_the_lease)
{
    struct lab lab;
    struct replica *leader;

    lab_init(&lab, 1);
    assert_in_range(wait_for_leader(&lab), 0, 1000);
    leader = leader_of(&lab);
    while (lab.now_ms < 100 * 1000)
        assert_ptr_equal(advance_lab(&lab), leader);
    assert_non_null(strstr(lab.lease, leader->identity));
    assert_non_null(strstr(lab.lease, "\"leaseTransitions\":0"));
    assert_non_null(strstr(lab.lease, "\"leaseDurationSeconds\":15"));
    lab_release(&lab);
}

TEST(another_replica_leads_after_a_kill_when_the_lease_ends)
{
    struct lab lab;
    int64_t took_ms;

    lab_init(&lab, 2);
    wait_for_leader(&lab);
    kill_replica(leader_of(&lab), DAY_MS);
    took_ms = wait_for_leader(&lab);
    assert_in_range(took_ms, DEADLINE_MS, LEASE_MS + 5500);
    assert_non_null(strstr(lab.lease, "\"leaseTransitions\":1"));
    lab_release(&lab);
}

TEST(resigned_leader_leaves_the_lease_to_another_replica)
{
    struct lab lab;
    struct replica *first;

    lab_init(&lab, 3);
    wait_for_leader(&lab);
    first = leader_of(&lab);
    leader_election_resign(&first->leader_election);
    assert_false(replica_leads(first));
    assert_in_range(wait_for_leader(&lab), 0, 3500);
    assert_true(first->leader_election.released);
    assert_ptr_not_equal(leader_of(&lab), first);
    assert_int_equal(leader_election_due(&first->leader_election), INT64_MAX);
    lab_release(&lab);
}

TEST(isolated_leader_stops_at_its_deadline)
{
    struct lab lab;
    struct replica *first;
    int64_t cut_ms;

    lab_init(&lab, 4);
    wait_for_leader(&lab);
    first = leader_of(&lab);
    cut_ms = lab.now_ms;
    first->cut_until_ms = INT64_MAX;
    while (replica_leads(first))
        advance_lab(&lab);
    assert_in_range(lab.now_ms - cut_ms, DEADLINE_MS - 3000, DEADLINE_MS + 500);
    wait_for_leader(&lab);
    assert_in_range(lab.now_ms - cut_ms, DEADLINE_MS, LEASE_MS + 5500);
    lab_release(&lab);
}

TEST(stopped_leader_does_not_lead_after_it_continues)
{
    struct lab lab;
    struct replica *first;

    lab_init(&lab, 5);
    wait_for_leader(&lab);
    first = leader_of(&lab);
    first->stopped_until_ms = lab.now_ms + 2 * LEASE_MS;
    wait_for_leader(&lab);
    while (lab.now_ms < first->stopped_until_ms + LEASE_MS)
        assert_ptr_not_equal(advance_lab(&lab), first);
    lab_release(&lab);
}

TEST(missing_namespace_and_rights_are_reported_and_retried)
{
    struct lab lab;
    const struct leader_election *e = &lab.replicas[0].leader_election;

    lab_init(&lab, 6);
    lab.no_namespace = true;
    while (lab.now_ms < 60 * 1000)
        assert_null(advance_lab(&lab));
    assert_int_equal(e->problem, LEADER_ELECTION_NO_NAMESPACE);
    assert_string_equal(e->verb, "create");
    lab.no_namespace = false;
    lab.forbidden = true;
    while (lab.now_ms < 200 * 1000)
        assert_null(advance_lab(&lab));
    assert_int_equal(e->problem, LEADER_ELECTION_FORBIDDEN);
    assert_string_equal(e->verb, "get");
    lab.forbidden = false;
    assert_in_range(wait_for_leader(&lab), 0, 70 * 1000);
    lab_release(&lab);
}
