/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/passwords.h"

#include <crypt.h>
#include <pthread.h>

#include "tests/unit/suite.h"

enum { QUEUE = 16, MANY = 40, CACHED = 100 };

/* Password checks, with the results that their callbacks stored. */
struct fixture {
    struct passwords *passwords;
    char *slow, *fast; /* bcrypt hashes of "secret" with costs 12 and 4. */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct started_check {
        struct fixture *fixture;
        enum password_answer answer;
        unsigned order; /* Order of completion, from 1; 0 until then. */
    } checks[MANY];
    unsigned started, completed;
};

static char *hash_of(const char *salt)
{
    struct crypt_data data = {.initialized = 0};
    const char *hash = crypt_r("secret", salt, &data);

    assert_non_null(hash);
    return xstrdup(hash);
}

static int set_up(void **state)
{
    struct fixture *f = xcalloc(1, sizeof(*f));
    struct error err;

    *state = f;
    pthread_mutex_init(&f->lock, NULL);
    pthread_cond_init(&f->changed, NULL);
    f->fast = hash_of("$2b$04$abcdefghijklmnopqrstuu");
    f->slow = hash_of("$2b$12$abcdefghijklmnopqrstuu");
    f->passwords = passwords_new(&err);
    return f->passwords ? 0 : -1;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    passwords_free(f->passwords);
    free(f->fast);
    free(f->slow);
    free(f);
    return 0;
}

static void store_result(void *context, enum password_answer answer)
{
    struct started_check *started_check = context;
    struct fixture *f = started_check->fixture;

    pthread_mutex_lock(&f->lock);
    started_check->answer = answer;
    started_check->order = ++f->completed;
    pthread_cond_signal(&f->changed);
    pthread_mutex_unlock(&f->lock);
}

/* Starts check number `started`, and counts it. Returns false if the queue rejects the check. */
static bool start_check(struct fixture *f, uint64_t origin, const char *password, const char *hash)
{
    struct started_check *started_check = &f->checks[f->started++];

    *started_check = (struct started_check){.fixture = f};
    return passwords_check(f->passwords,
                           &(struct login_attempt){"scraper", password, hash, true, origin},
                           store_result, started_check);
}

static void wait_for_all(struct fixture *f)
{
    pthread_mutex_lock(&f->lock);
    while (f->completed < f->started)
        pthread_cond_wait(&f->changed, &f->lock);
    pthread_mutex_unlock(&f->lock);
}

/* Starts checks of a wrong password until one of them runs and the queue is full. */
static void fill_queue(struct fixture *f, uint64_t origin)
{
    unsigned taken = 0;

    while (taken <= QUEUE) {
        bool more = start_check(f, origin, "guess", f->slow);

        taken += more;
        if (!more) {
            /* The thread may not have taken the first check from the queue yet. */
            f->started--;
            sched_yield();
        }
    }
}

TEST_WITH(only_right_passwords_of_users_are_remembered, set_up, tear_down)
{
    struct fixture *f = *state;
    struct login_attempt claim = {"scraper", "secret", f->fast, true, 1};

    assert_false(passwords_is_cached(f->passwords, &claim));
    assert_true(start_check(f, 1, "guess", f->fast));
    assert_true(start_check(f, 1, "secret", f->fast));
    assert_true(start_check(f, 1, "guess", f->slow));
    wait_for_all(f);
    assert_int_equal(f->checks[0].answer, PASSWORD_WRONG);
    assert_int_equal(f->checks[1].answer, PASSWORD_RIGHT);
    assert_int_equal(f->checks[2].answer, PASSWORD_WRONG);
    assert_true(passwords_is_cached(f->passwords, &claim));
    claim.password = "guess";
    assert_false(passwords_is_cached(f->passwords, &claim));
    claim = (struct login_attempt){"scraper", "secret", f->fast, false, 1};
    assert_false(passwords_is_cached(f->passwords, &claim));
}

static struct login_attempt numbered_attempt(const struct fixture *f, unsigned number,
                                             char user[16])
{
    snprintf(user, 16, "user%u", number);
    return (struct login_attempt){user, "secret", f->fast, true, 1};
}

TEST_WITH(only_the_last_right_passwords_are_remembered, set_up, tear_down)
{
    struct fixture *f = *state;
    struct login_attempt attempt;
    char user[16];

    for (unsigned i = 0; i <= CACHED; i++) {
        f->checks[0] = (struct started_check){.fixture = f};
        f->started++;
        attempt = numbered_attempt(f, i, user);
        assert_true(passwords_check(f->passwords, &attempt, store_result, &f->checks[0]));
        wait_for_all(f);
    }
    for (unsigned i = 0; i <= CACHED + 1; i++) {
        attempt = numbered_attempt(f, i, user);
        assert_int_equal(passwords_is_cached(f->passwords, &attempt), i > 0 && i <= CACHED);
    }
}

TEST_WITH(full_queue_makes_room_for_another_origin, set_up, tear_down)
{
    struct fixture *f = *state;

    fill_queue(f, 1);
    unsigned mine = f->started;

    assert_true(start_check(f, 2, "secret", f->slow));
    wait_for_all(f);
    assert_int_equal(f->checks[mine].answer, PASSWORD_RIGHT);
    /* The new check displaces the last guess at once, and runs after at most two guesses. */
    assert_int_equal(f->checks[mine - 1].answer, PASSWORD_UNCHECKED);
    assert_in_range(f->checks[mine].order, 2, 4);
    for (unsigned i = 0; i + 1 < mine; i++)
        assert_int_equal(f->checks[i].answer, PASSWORD_WRONG);
}

TEST_WITH(full_queue_rejects_more_from_the_same_origin, set_up, tear_down)
{
    struct fixture *f = *state;

    fill_queue(f, 1);
    assert_false(start_check(f, 1, "secret", f->slow));
    f->started--;
    wait_for_all(f);
    for (unsigned i = 0; i < f->started; i++)
        assert_int_equal(f->checks[i].answer, PASSWORD_WRONG);
}

TEST_WITH(two_origins_share_a_full_queue_equally, set_up, tear_down)
{
    struct fixture *f = *state;
    unsigned taken = 0;

    fill_queue(f, 1);
    while (start_check(f, 2, "guess", f->slow))
        taken++;
    f->started--;
    passwords_close(f->passwords);
    wait_for_all(f);
    /* At most one check of origin 1 has left the queue meanwhile. */
    assert_in_range(taken, QUEUE / 2, QUEUE / 2 + 1);
    assert_false(start_check(f, 3, "secret", f->fast));
}

/* The duration of a check must not reveal which users exist. */
TEST_WITH(unknown_user_is_checked_against_a_fixed_hash, set_up, tear_down)
{
    enum { USERS = 3, NAMES = 300 };
    const struct fixture *f = *state;
    unsigned counts[USERS] = {0};

    for (unsigned i = 0; i < NAMES; i++) {
        char name[32];
        unsigned at;

        snprintf(name, sizeof(name), "nobody-%u", i);
        at = passwords_substitute_index(f->passwords, name, USERS);
        assert_in_range(at, 0, USERS - 1);
        assert_int_equal(passwords_substitute_index(f->passwords, name, USERS), at);
        counts[at]++;
    }
    for (unsigned i = 0; i < USERS; i++)
        assert_in_range(counts[i], NAMES / USERS / 2, 2 * NAMES / USERS);
}
