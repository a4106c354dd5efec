/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/connector_conflicts.h"

#include "tests/unit/suite.h"

/* NOW is 2026-01-01T00:00:00Z. */
enum { NOW = 1767225600, NAME_ROOM = 160 };

static const struct expiry {
    const char *name;
    const char *label; /* Label with the expiry; NULL: NOW + in_s. */
    int64_t in_s;
} expiries[] = {
    {"no expiry", "", 0},
    {"expiry abc", "abc", 0},
    {"a negative expiry", "-5", 0},
    {"an expiry of 2^63", "9223372036854775808", 0},
    {"a fractional expiry", "1767229200.5", 0},
    {"expired a second ago", NULL, -1},
    {"expiring this second", NULL, 0},
    {"a second left", NULL, 1},
    {"a second less than 20 minutes left", NULL, 1199},
    {"20 minutes left", NULL, 1200},
    {"40 minutes left", NULL, 2400},
};
enum { EXPIRIES = ARRAY_LEN(expiries) };

/* Holders of a lease, and the verdicts for a namespace that requests protection, by expiry. */
static const struct holder {
    const char *name;
    const char *id;
    const char *own_id;
    enum lease_verdict verdicts[EXPIRIES];
} holders[] = {
#define ALWAYS(v)                                                                                  \
    {                                                                                              \
        v, v, v, v, v, v, v, v, v, v, v                                                            \
    }
    {"no namespace", NULL, "own", ALWAYS(VERDICT_OBTAINS)},
    {"no namespace, own id missing", NULL, NULL, ALWAYS(VERDICT_OBTAINS)},
    {"its own namespace",
     "own",
     "own",
     {VERDICT_RENEWS, VERDICT_RENEWS, VERDICT_RENEWS, VERDICT_RENEWS, VERDICT_RENEWS,
      VERDICT_RENEWS, VERDICT_RENEWS, VERDICT_RENEWS, VERDICT_RENEWS, VERDICT_KEEPS,
      VERDICT_KEEPS}},
    {"another namespace",
     "other",
     "own",
     {VERDICT_TAKES_OVER, VERDICT_TAKES_OVER, VERDICT_TAKES_OVER, VERDICT_TAKES_OVER,
      VERDICT_TAKES_OVER, VERDICT_TAKES_OVER, VERDICT_REFUSED, VERDICT_REFUSED, VERDICT_REFUSED,
      VERDICT_REFUSED, VERDICT_REFUSED}},
    {"its own id in capitals",
     "OWN",
     "own",
     {VERDICT_TAKES_OVER, VERDICT_TAKES_OVER, VERDICT_TAKES_OVER, VERDICT_TAKES_OVER,
      VERDICT_TAKES_OVER, VERDICT_TAKES_OVER, VERDICT_REFUSED, VERDICT_REFUSED, VERDICT_REFUSED,
      VERDICT_REFUSED, VERDICT_REFUSED}},
    {"another namespace, own id missing",
     "other",
     NULL,
     {VERDICT_TAKES_OVER, VERDICT_TAKES_OVER, VERDICT_TAKES_OVER, VERDICT_TAKES_OVER,
      VERDICT_TAKES_OVER, VERDICT_TAKES_OVER, VERDICT_REFUSED, VERDICT_REFUSED, VERDICT_REFUSED,
      VERDICT_REFUSED, VERDICT_REFUSED}},
};

static const struct policy_variant {
    const char *name;
    enum prevention prevention;
} policies[] = {
    {"policy resource", PREVENTION_RESOURCE},
    {"policy none", PREVENTION_NONE},
    {"no policy", PREVENTION_UNSET},
    {"policy project", PREVENTION_INVALID},
};

static struct combination {
    char name[NAME_ROOM];
    const struct holder *holder;
    const struct policy_variant *policy;
    size_t expiry;
} combinations[ARRAY_LEN(holders) * ARRAY_LEN(policies) * EXPIRIES];

static struct lease lease_of(const char *holder, const struct expiry *expiry)
{
    return (struct lease){
        .holder = holder,
        .expires_s = expiry->label ? lease_expiry_parse(expiry->label) : NOW + expiry->in_s,
        .snapshot_ms = (int64_t)NOW * 1000,
    };
}

static void verdict_follows_from_holder_expiry_and_policy(void **state)
{
    const struct combination *c = *state;
    struct lease l = lease_of(c->holder->id, &expiries[c->expiry]);
    enum lease_verdict wanted = c->policy->prevention == PREVENTION_RESOURCE
                                    ? c->holder->verdicts[c->expiry]
                                    : VERDICT_UNPROTECTED;

    assert_string_equal(
        lease_verdict_names[lease_verdict(c->policy->prevention, &l, c->holder->own_id,
                                          (struct lease_clock){NOW, 0})],
        lease_verdict_names[wanted]);
}

MADE_TESTS(add_combinations)
{
    struct combination *c = combinations;

    for (size_t h = 0; h < ARRAY_LEN(holders); h++) {
        for (size_t p = 0; p < ARRAY_LEN(policies); p++) {
            for (size_t x = 0; x < EXPIRIES; x++, c++) {
                *c = (struct combination){
                    .holder = &holders[h], .policy = &policies[p], .expiry = x};
                snprintf(c->name, sizeof(c->name), "held by %s, %s, %s", holders[h].name,
                         expiries[x].name, policies[p].name);
                ADD_TEST(verdict_follows_from_holder_expiry_and_policy, c->name, c);
            }
        }
    }
}

/* Lease in a snapshot of the assets, held by "x" if `held` is true, and its expected state. */
static struct state_case {
    const char *name;
    bool held;
    int64_t in_s;
    int64_t age_s; /* Age of the snapshot. */
    int64_t skew_s;
    enum lease_state state;
    int64_t ends_in_s; /* INT64_MAX: never. */
} state_cases[] = {
    {"no holder, any expiry", false, 3000, 0, 0, LEASE_ABSENT, INT64_MAX},
    {"just renewed", true, 2400, 0, 0, LEASE_HELD, 2401},
    {"20 minutes left", true, 1200, 0, 0, LEASE_HELD, 1201},
    {"a second less than 20 minutes left now", true, 1199, 0, 0, LEASE_EXPIRING, 1200},
    {"20 minutes were left in the snapshot", true, 0, 1200, 0, LEASE_HELD, 1},
    {"a second less than 20 minutes left in the snapshot", true, 1198, 1, 0, LEASE_EXPIRING, 1199},
    {"valid in the snapshot, expired by now", true, -1, 1200, 0, LEASE_UNKNOWN, INT64_MAX},
    {"expires in the second of the snapshot", true, -1, 1, 0, LEASE_UNKNOWN, INT64_MAX},
    {"expired by a second in the snapshot", true, -2, 1, 0, LEASE_EXPIRED, 2400},
    {"expired in a snapshot that is nearly too old", true, -2401, 2400, 0, LEASE_EXPIRED, 1},
    {"expired in a snapshot that is too old", true, -2402, 2401, 0, LEASE_UNKNOWN, INT64_MAX},
    {"expiring in the snapshot, expired by now", true, -1, 600, 0, LEASE_UNKNOWN, INT64_MAX},
    {"a snapshot from the future counts as new", true, 1200, -60, 0, LEASE_HELD, 1},
    {"an expired lease in a snapshot from the future", true, -1, -60, 0, LEASE_EXPIRED, 2461},
    {"clock skew, valid in the snapshot", true, -40, 20, 30, LEASE_UNKNOWN, INT64_MAX},
    {"clock skew, expired in the snapshot", true, -60, 20, 30, LEASE_EXPIRED, 2381},
    {"the last second", true, 0, 0, 0, LEASE_EXPIRING, 1},
    {"expired by a second", true, -1, 0, 0, LEASE_EXPIRED, 2401},
    {"clock skew extends the lease", true, -30, 0, 30, LEASE_EXPIRING, 1},
    {"expired by more than the clock skew", true, -31, 0, 30, LEASE_EXPIRED, 2401},
    {"a snapshot as old as a lease lasts", true, 1300, 2400, 0, LEASE_HELD, 1},
    {"a snapshot older than a lease lasts", true, 1300, 2401, 0, LEASE_UNKNOWN, INT64_MAX},
};

static struct lease snapshot_of(const struct state_case *c)
{
    return (struct lease){
        .holder = c->held ? "x" : NULL,
        .expires_s = NOW + c->in_s,
        .snapshot_ms = (NOW - c->age_s) * 1000,
    };
}

TEST_ROWS(the_state_follows_from_snapshot_and_clock, state_cases, name)
{
    const struct state_case *c = *state;
    struct lease l = snapshot_of(c);
    struct lease_clock clock = {NOW, c->skew_s};

    assert_string_equal(lease_state_names[lease_state(&l, clock)], lease_state_names[c->state]);
    assert_int_equal(lease_state_ends_s(&l, clock),
                     c->ends_in_s == INT64_MAX ? INT64_MAX : NOW + c->ends_in_s);
}

/* Asserts, second by second, that the state does not change before lease_state_ends_s(). */
static void check_state_until_its_end(const struct lease *l, int64_t skew_s)
{
    enum lease_state state = LEASE_UNKNOWN;
    int64_t ends_s = NOW;

    for (int64_t at = NOW; at < NOW + 3200; at++) {
        struct lease_clock clock = {at, skew_s};

        if (at == ends_s) {
            state = lease_state(l, clock);
            ends_s = lease_state_ends_s(l, clock);
        }
        assert_int_equal(lease_state(l, clock), state);
    }
}

TEST(a_state_lasts_until_its_end)
{
    static const int64_t snapshots_s[] = {-1500, 0, 700};

    for (int64_t in_s = -100; in_s < 2600; in_s += 19) {
        for (size_t i = 0; i < ARRAY_LEN(snapshots_s); i++)
            check_state_until_its_end(&(struct lease){.holder = "x",
                                                      .expires_s = NOW + in_s,
                                                      .snapshot_ms = (NOW + snapshots_s[i]) * 1000},
                                      (in_s & 1) * 29);
    }
}

/* A lease that is renewed in time and exported every hour, evaluated every minute of a day. */
TEST(a_renewed_lease_never_counts_as_expired)
{
    unsigned minutes[LEASE_STATE_COUNT] = {0};

    for (int64_t late_s = 0; late_s < 600; late_s += 60) {
        struct lease l = {.holder = "x", .expires_s = NOW + LEASE_LIFE_S};
        struct lease seen = l;

        for (int64_t at = NOW; at < NOW + 24 * 3600; at += 60) {
            if ((at - NOW) % 600 == late_s && l.expires_s - at < LEASE_RENEWAL_S)
                l.expires_s = at + LEASE_LIFE_S;
            if ((at - NOW) % 3600 == 0) {
                seen = l;
                seen.snapshot_ms = at * 1000;
            }
            minutes[lease_state(&seen, (struct lease_clock){at, 0})]++;
        }
    }
    assert_int_equal(minutes[LEASE_EXPIRED], 0);
    assert_true(minutes[LEASE_HELD] > 0 && minutes[LEASE_UNKNOWN] > 0);
}

/* Two namespaces request the lease of one topic for two hours, evaluated every second. */
TEST(a_lease_is_taken_over_only_after_its_expiry)
{
    static const char *const ids[] = {"one", "two"};
    struct lease l = {.snapshot_ms = INT64_MAX};
    unsigned obtained = 0, taken = 0, refused = 0;

    for (int64_t at = NOW; at < NOW + 2 * 3600; at++) {
        for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
            /*
             * The first namespace reconciles every ten minutes during the first hour, the second
             * every minute.
             */
            bool acts = i == 0 ? (at - NOW) % 600 == 0 && at < NOW + 3600 : (at - NOW) % 60 == 30;
            struct lease_clock clock = {at, 0};
            enum lease_verdict v = lease_verdict(PREVENTION_RESOURCE, &l, ids[i], clock);

            if (!acts)
                continue;
            refused += v == VERDICT_REFUSED;
            obtained += v == VERDICT_OBTAINS;
            taken += v == VERDICT_TAKES_OVER;
            if (v != VERDICT_REFUSED && v != VERDICT_KEEPS)
                l = (struct lease){.holder = ids[i], .expires_s = at + LEASE_LIFE_S};
        }
    }
    assert_int_equal(obtained, 1);
    assert_int_equal(taken, 1);
    /*
     * The first namespace renews its lease in minute 30, but not in minute 50, because 20 minutes
     * are left. The lease lasts until minute 70; the second is refused once in each minute before.
     */
    assert_int_equal(refused, 70);
    assert_string_equal(l.holder, "two");
}
