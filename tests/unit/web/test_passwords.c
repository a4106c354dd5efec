/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/passwords.h"

#include <crypt.h>
#include <pthread.h>

#include "tests/unit/suite.h"

enum { QUEUE = 16, MANY = 40 };

/* Each that asks writes here how it was answered, and as which one. */
struct fixture {
    struct passwords *passwords;
    char *slow, *fast; /* Hashes of "secret". */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct asker {
        struct fixture *fixture;
        enum password_answer answer;
        unsigned place; /* 0: not yet. */
    } askers[MANY];
    unsigned asked, answered;
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

static void note(void *context, enum password_answer answer)
{
    struct asker *asker = context;
    struct fixture *f = asker->fixture;

    pthread_mutex_lock(&f->lock);
    asker->answer = answer;
    asker->place = ++f->answered;
    pthread_cond_signal(&f->changed);
    pthread_mutex_unlock(&f->lock);
}

/* Is it taken? Its number is that of those who asked before. */
static bool ask(struct fixture *f, uint64_t origin, const char *password, const char *hash)
{
    struct asker *asker = &f->askers[f->asked++];

    *asker = (struct asker){.fixture = f};
    return passwords_check(f->passwords,
                           &(struct login_attempt){"scraper", password, hash, true, origin}, note,
                           asker);
}

static void wait_for_all(struct fixture *f)
{
    pthread_mutex_lock(&f->lock);
    while (f->answered < f->asked)
        pthread_cond_wait(&f->changed, &f->lock);
    pthread_mutex_unlock(&f->lock);
}

/* One is being checked, and the queue is full of guesses of another origin. */
static void besiege(struct fixture *f, uint64_t origin)
{
    unsigned taken = 0;

    while (taken <= QUEUE) {
        bool more = ask(f, origin, "guess", f->slow);

        taken += more;
        if (!more) {
            /* The thread may not have the first one in hand yet. */
            f->asked--;
            sched_yield();
        }
    }
}

TEST_WITH(a_password_is_right_or_wrong, set_up, tear_down)
{
    struct fixture *f = *state;
    struct login_attempt claim = {"scraper", "secret", f->fast, true, 1};

    assert_false(passwords_is_cached(f->passwords, &claim));
    assert_true(ask(f, 1, "guess", f->fast));
    assert_true(ask(f, 1, "secret", f->fast));
    assert_true(ask(f, 1, "guess", f->slow));
    wait_for_all(f);
    assert_int_equal(f->askers[0].answer, PASSWORD_WRONG);
    assert_int_equal(f->askers[1].answer, PASSWORD_RIGHT);
    assert_int_equal(f->askers[2].answer, PASSWORD_WRONG);
    assert_true(passwords_is_cached(f->passwords, &claim));
    claim.password = "guess";
    assert_false(passwords_is_cached(f->passwords, &claim));
    claim = (struct login_attempt){"scraper", "secret", f->fast, false, 1};
    assert_false(passwords_is_cached(f->passwords, &claim));
}

/* Whoever comes from elsewhere has a place, and is checked before the others' next but one. */
TEST_WITH(guesses_make_room_for_who_comes_from_elsewhere, set_up, tear_down)
{
    struct fixture *f = *state;

    besiege(f, 1);
    unsigned mine = f->asked;

    assert_true(ask(f, 2, "secret", f->slow));
    wait_for_all(f);
    assert_int_equal(f->askers[mine].answer, PASSWORD_RIGHT);
    /* The guess that came last has been sent away at once, and at most two were checked before. */
    assert_int_equal(f->askers[mine - 1].answer, PASSWORD_UNCHECKED);
    assert_in_range(f->askers[mine].place, 2, 4);
    for (unsigned i = 0; i + 1 < mine; i++)
        assert_int_equal(f->askers[i].answer, PASSWORD_WRONG);
}

TEST_WITH(one_origin_displaces_nobody, set_up, tear_down)
{
    struct fixture *f = *state;

    besiege(f, 1);
    assert_false(ask(f, 1, "secret", f->slow));
    f->asked--;
    wait_for_all(f);
    for (unsigned i = 0; i < f->asked; i++)
        assert_int_equal(f->askers[i].answer, PASSWORD_WRONG);
}

/* Who have half of the queue each keep that. */
TEST_WITH(origins_end_up_with_as_many, set_up, tear_down)
{
    struct fixture *f = *state;
    unsigned taken = 0;

    besiege(f, 1);
    while (ask(f, 2, "guess", f->slow))
        taken++;
    f->asked--;
    passwords_close(f->passwords);
    wait_for_all(f);
    /* At most one of the first was checked meanwhile. */
    assert_in_range(taken, QUEUE / 2, QUEUE / 2 + 1);
    assert_false(ask(f, 3, "secret", f->fast));
}

/* Names that are nobody's take as long as those of users do, each of them always as long. */
TEST_WITH(nobody_is_told_by_the_time, set_up, tear_down)
{
    enum { USERS = 3, NAMES = 300 };
    const struct fixture *f = *state;
    unsigned counts[USERS] = {0};

    for (unsigned i = 0; i < NAMES; i++) {
        char name[32];
        unsigned at;

        snprintf(name, sizeof(name), "nobody-%u", i);
        at = passwords_substitute(f->passwords, name, USERS);
        assert_in_range(at, 0, USERS - 1);
        assert_int_equal(passwords_substitute(f->passwords, name, USERS), at);
        counts[at]++;
    }
    for (unsigned i = 0; i < USERS; i++)
        assert_in_range(counts[i], NAMES / USERS / 2, 2 * NAMES / USERS);
}
