/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/connector_conflicts.h"

#include "tests/unit/suite.h"

/* Seed 004, to the second. */
enum { NOW = 1767225600, NAME_ROOM = 160 };

static const struct expiry {
    const char *name;
    const char *label; /* NULL: the seconds from now on. */
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

/* What comes of it for a namespace that asks for protection, by who holds the lease. */
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
    {"nobody", NULL, "own", ALWAYS(VERDICT_OBTAINS)},
    {"nobody, and no id of its own yet", NULL, NULL, ALWAYS(VERDICT_OBTAINS)},
    {"itself",
     "own",
     "own",
     {VERDICT_RENEWS, VERDICT_RENEWS, VERDICT_RENEWS, VERDICT_RENEWS, VERDICT_RENEWS,
      VERDICT_RENEWS, VERDICT_RENEWS, VERDICT_RENEWS, VERDICT_RENEWS, VERDICT_KEEPS,
      VERDICT_KEEPS}},
    {"another",
     "other",
     "own",
     {VERDICT_TAKES_OVER, VERDICT_TAKES_OVER, VERDICT_TAKES_OVER, VERDICT_TAKES_OVER,
      VERDICT_TAKES_OVER, VERDICT_TAKES_OVER, VERDICT_REFUSED, VERDICT_REFUSED, VERDICT_REFUSED,
      VERDICT_REFUSED, VERDICT_REFUSED}},
    {"its own id in capitals, which is another",
     "OWN",
     "own",
     {VERDICT_TAKES_OVER, VERDICT_TAKES_OVER, VERDICT_TAKES_OVER, VERDICT_TAKES_OVER,
      VERDICT_TAKES_OVER, VERDICT_TAKES_OVER, VERDICT_REFUSED, VERDICT_REFUSED, VERDICT_REFUSED,
      VERDICT_REFUSED, VERDICT_REFUSED}},
    {"another, and no id of its own yet",
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
    {"policy project", PREVENTION_UNKNOWN},
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

static void verdict(void **state)
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

MADE_TESTS(combine)
{
    struct combination *c = combinations;

    for (size_t h = 0; h < ARRAY_LEN(holders); h++) {
        for (size_t p = 0; p < ARRAY_LEN(policies); p++) {
            for (size_t x = 0; x < EXPIRIES; x++, c++) {
                *c = (struct combination){
                    .holder = &holders[h], .policy = &policies[p], .expiry = x};
                snprintf(c->name, sizeof(c->name), "held by %s, %s, %s", holders[h].name,
                         expiries[x].name, policies[p].name);
                ADD_TEST(verdict, c->name, c);
            }
        }
    }
}

/* A lease in a snapshot, seen from outside: held by "x" if held is true. */
static struct state_case {
    const char *name;
    bool held;
    int64_t in_s;
    int64_t age_s; /* Of the snapshot. */
    int64_t skew_s;
    enum lease_state state;
    int64_t ends_in_s; /* INT64_MAX: never. */
} state_cases[] = {
    {"nobody holds it, whatever the expiry", false, 3000, 0, 0, LEASE_ABSENT, INT64_MAX},
    {"fresh", true, 2400, 0, 0, LEASE_HELD, 2401},
    {"20 minutes left", true, 1200, 0, 0, LEASE_HELD, 1201},
    {"a second less", true, 1199, 0, 0, LEASE_EXPIRING, 1200},
    {"20 minutes were left in the snapshot", true, 0, 1200, 0, LEASE_HELD, 1},
    {"a second less in the snapshot", true, 1198, 1, 0, LEASE_EXPIRING, 1199},
    {"alive in the snapshot, past by now", true, -1, 1200, 0, LEASE_UNKNOWN, INT64_MAX},
    {"alive in the snapshot by a second", true, -1, 1, 0, LEASE_UNKNOWN, INT64_MAX},
    {"past in the snapshot by a second", true, -2, 1, 0, LEASE_EXPIRED, 2400},
    {"past in a snapshot that is nearly too old", true, -2401, 2400, 0, LEASE_EXPIRED, 1},
    {"past in a snapshot that is too old", true, -2402, 2401, 0, LEASE_UNKNOWN, INT64_MAX},
    {"expiring in the snapshot, past by now", true, -1, 600, 0, LEASE_UNKNOWN, INT64_MAX},
    {"a snapshot of the future is one of now", true, 1200, -60, 0, LEASE_HELD, 1},
    {"and what is past by now, is past", true, -1, -60, 0, LEASE_EXPIRED, 2461},
    {"clocks that differ, alive in the snapshot", true, -40, 20, 30, LEASE_UNKNOWN, INT64_MAX},
    {"clocks that differ, past in the snapshot", true, -60, 20, 30, LEASE_EXPIRED, 2381},
    {"the last second", true, 0, 0, 0, LEASE_EXPIRING, 1},
    {"over", true, -1, 0, 0, LEASE_EXPIRED, 2401},
    {"clocks that differ give it more time", true, -30, 0, 30, LEASE_EXPIRING, 1},
    {"but no longer than that", true, -31, 0, 30, LEASE_EXPIRED, 2401},
    {"the snapshot is as old as a lease lasts", true, 1300, 2400, 0, LEASE_HELD, 1},
    {"and older: it tells nothing any more", true, 1300, 2401, 0, LEASE_UNKNOWN, INT64_MAX},
};

static struct lease snapshot_of(const struct state_case *c)
{
    return (struct lease){
        .holder = c->held ? "x" : NULL,
        .expires_s = NOW + c->in_s,
        .snapshot_ms = (NOW - c->age_s) * 1000,
    };
}

TEST_ROWS(state_of_a_lease, state_cases, name)
{
    const struct state_case *c = *state;
    struct lease l = snapshot_of(c);
    struct lease_clock clock = {NOW, c->skew_s};

    assert_string_equal(lease_state_names[lease_state(&l, clock)], lease_state_names[c->state]);
    assert_int_equal(lease_state_ends_s(&l, clock),
                     c->ends_in_s == INT64_MAX ? INT64_MAX : NOW + c->ends_in_s);
}

/* Looking at the lease again when it says so is soon enough, second by second. */
static void watch_lease(const struct lease *l, int64_t skew_s)
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

TEST(nothing_changes_before_its_end)
{
    static const int64_t snapshots_s[] = {-1500, 0, 700};

    for (int64_t in_s = -100; in_s < 2600; in_s += 19) {
        for (size_t i = 0; i < ARRAY_LEN(snapshots_s); i++)
            watch_lease(&(struct lease){.holder = "x",
                                        .expires_s = NOW + in_s,
                                        .snapshot_ms = (NOW + snapshots_s[i]) * 1000},
                        (in_s & 1) * 29);
    }
}

/* An export each hour of a lease that is extended in time, seen minute by minute for a day. */
TEST(a_holder_that_is_well_never_seems_to_have_let_go)
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

/* Two namespaces want one topic, each for two hours: a clock that the test turns, second by second.
 */
TEST(two_namespaces_contend)
{
    static const char *const ids[] = {"one", "two"};
    struct lease l = {.snapshot_ms = INT64_MAX};
    unsigned obtained = 0, taken = 0, refused = 0;

    for (int64_t at = NOW; at < NOW + 2 * 3600; at++) {
        for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
            /* The first one reconciles every ten minutes, and dies after the first hour. */
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
     * The first renews after 30 minutes, and finds 20 minutes left after 50, which is enough: its
     * lease lasts until minute 70, and the other is refused once in each minute before.
     */
    assert_int_equal(refused, 70);
    assert_string_equal(l.holder, "two");
}
