/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/passwords.h"

#include <crypt.h>
#include <gnutls/crypto.h>

#include "exporter/system/platform.h"
#include "exporter/system/secret.h"

enum { WAITING_MAX = 16, CACHE_MAX = 100, DIGEST_BYTES = 32 };

/* Login attempt that is queued or being checked. Owns its texts. */
struct password_check {
    struct password_check *next;
    char *user, *password, *hash;
    bool exists;
    uint64_t network;
    void (*done)(void *context, enum password_answer answer);
    void *context;
};

struct passwords {
    pthread_t thread;
    bool started;
    pthread_mutex_t lock; /* Guards the members below except `key`, which is constant. */
    pthread_cond_t changed;
    struct password_check *first;
    struct password_check **last;
    unsigned waiting;
    uint64_t last_network; /* Network of the last check. */
    bool closed;
    unsigned char key[DIGEST_BYTES];              /* HMAC key of this process, random. */
    unsigned char cache[CACHE_MAX][DIGEST_BYTES]; /* Digests of correct credentials. */
    unsigned cached_count;
    unsigned next_slot; /* Entry of the cache to overwrite next. */
};

static void free_check(struct password_check *check)
{
    free(check->user);
    secret_free(check->password);
    secret_free(check->hash);
    free(check);
}

/* Computes the HMAC of the texts with their NULs, so that different credentials differ. */
static void digest_credentials(const struct passwords *p, const char *user, const char *password,
                               const char *hash, unsigned char out[DIGEST_BYTES])
{
    const char *const texts[] = {user, password, hash};
    gnutls_hmac_hd_t hmac;

    if (gnutls_hmac_init(&hmac, GNUTLS_MAC_SHA256, p->key, sizeof(p->key)) < 0)
        memory_exhausted(DIGEST_BYTES);
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        gnutls_hmac(hmac, texts[i], strlen(texts[i]) + 1);
    gnutls_hmac_deinit(hmac, out);
}

/* The caller holds the lock. Compares all entries, so that the duration reveals no position. */
static bool is_in_cache(const struct passwords *p, const unsigned char digest[DIGEST_BYTES])
{
    bool found = false;

    for (unsigned i = 0; i < p->cached_count; i++)
        found |= gnutls_memcmp(p->cache[i], digest, DIGEST_BYTES) == 0;
    return found;
}

static void add_to_cache(struct passwords *p, const struct password_check *check)
{
    unsigned char digest[DIGEST_BYTES];

    digest_credentials(p, check->user, check->password, check->hash, digest);
    pthread_mutex_lock(&p->lock);
    if (!is_in_cache(p, digest)) {
        memcpy(p->cache[p->next_slot], digest, DIGEST_BYTES);
        p->next_slot = (p->next_slot + 1) % CACHE_MAX;
        p->cached_count += p->cached_count < CACHE_MAX;
    }
    pthread_mutex_unlock(&p->lock);
}

/* Computes the hash for unknown users, too, so that the duration does not reveal them. */
static bool is_password_right(const struct password_check *check)
{
    struct crypt_data *data = xcalloc(1, sizeof(*data));
    const char *computed = crypt_r(check->password, check->hash, data);
    size_t len = strlen(check->hash);
    bool right = computed && strlen(computed) == len &&
                 gnutls_memcmp(computed, check->hash, len) == 0 && check->exists;

    explicit_bzero(data, sizeof(*data));
    free(data);
    return right;
}

/* Caches correct credentials, calls `done`, and frees the check. */
static void finish_check(struct passwords *p, struct password_check *check,
                         enum password_answer answer)
{
    if (answer == PASSWORD_RIGHT)
        add_to_cache(p, check);
    check->done(check->context, answer);
    free_check(check);
}

/* ---- queue; the caller holds the lock ---- */

static struct password_check *unlink_check(struct passwords *p, struct password_check **at)
{
    struct password_check *check = *at;

    *at = check->next;
    if (!*at)
        p->last = at;
    p->waiting--;
    return check;
}

static unsigned count_of_network(const struct passwords *p, uint64_t network)
{
    unsigned count = 0;

    for (const struct password_check *c = p->first; c; c = c->next)
        count += c->network == network;
    return count;
}

/*
 * Removes and returns the newest check of the network with most queued checks, if these are at
 * least two more than those of `network`; else returns NULL.
 */
static struct password_check *unlink_for_network(struct passwords *p, uint64_t network)
{
    struct password_check **found = NULL;
    unsigned most = count_of_network(p, network) + 1;

    for (struct password_check **at = &p->first; *at; at = &(*at)->next) {
        unsigned count = count_of_network(p, (*at)->network);

        if (count > most || (found && (*at)->network == (*found)->network))
            found = at;
        most = count > most ? count : most;
    }
    return found ? unlink_check(p, found) : NULL;
}

/*
 * Returns the link to the oldest check of a network other than `last_network`; without one, the
 * link to the oldest check. The queue must not be empty.
 */
static struct password_check **find_next_check(struct passwords *p)
{
    for (struct password_check **at = &p->first; *at; at = &(*at)->next) {
        if ((*at)->network != p->last_network)
            return at;
    }
    return &p->first;
}

/*
 * Waits for a check, removes it from the queue and returns it. Returns NULL if the queue is closed
 * and empty.
 */
static struct password_check *wait_for_check(struct passwords *p)
{
    struct password_check *check = NULL;

    pthread_mutex_lock(&p->lock);
    while (!p->first && !p->closed)
        pthread_cond_wait(&p->changed, &p->lock);
    if (p->first) {
        check = unlink_check(p, find_next_check(p));
        p->last_network = check->network;
    }
    pthread_mutex_unlock(&p->lock);
    return check;
}

static bool is_closed(struct passwords *p)
{
    pthread_mutex_lock(&p->lock);
    bool closed = p->closed;
    pthread_mutex_unlock(&p->lock);
    return closed;
}

static void *run_checks(void *context)
{
    struct passwords *p = context;
    struct password_check *check;

    while ((check = wait_for_check(p)) != NULL) {
        if (is_closed(p))
            finish_check(p, check, PASSWORD_UNCHECKED);
        else
            finish_check(p, check, is_password_right(check) ? PASSWORD_RIGHT : PASSWORD_WRONG);
        secret_wipe_stack();
    }
    return NULL;
}

struct passwords *passwords_new(struct error *err)
{
    struct passwords *p = xcalloc(1, sizeof(*p));
    int code;

    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->changed, NULL);
    p->last = &p->first;
    if (gnutls_rnd(GNUTLS_RND_KEY, p->key, sizeof(p->key)) < 0)
        abort();
    code = thread_start(&p->thread, run_checks, p);
    p->started = code == 0;
    if (p->started)
        return p;
    fail(err, "cannot start the thread that checks passwords: %s", strerror(code));
    passwords_free(p);
    return NULL;
}

void passwords_free(struct passwords *p)
{
    if (!p)
        return;
    passwords_close(p);
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
    explicit_bzero(p, sizeof(*p));
    free(p);
}

bool passwords_is_cached(struct passwords *p, const struct login_attempt *attempt)
{
    unsigned char digest[DIGEST_BYTES];

    digest_credentials(p, attempt->user, attempt->password, attempt->hash, digest);
    pthread_mutex_lock(&p->lock);
    bool known = is_in_cache(p, digest);
    pthread_mutex_unlock(&p->lock);
    return known && attempt->exists;
}

unsigned passwords_substitute_index(const struct passwords *p, const char *user, unsigned count)
{
    unsigned char digest[DIGEST_BYTES];
    unsigned number;

    digest_credentials(p, user, "", "", digest);
    memcpy(&number, digest, sizeof(number));
    return number % count;
}

bool passwords_check(struct passwords *p, const struct login_attempt *attempt,
                     void (*done)(void *context, enum password_answer answer), void *context)
{
    struct password_check *check = NULL, *dropped = NULL;

    pthread_mutex_lock(&p->lock);
    if (!p->closed && p->waiting == WAITING_MAX)
        dropped = unlink_for_network(p, attempt->network);
    if (!p->closed && p->waiting < WAITING_MAX) {
        check = xcalloc(1, sizeof(*check));
        *check = (struct password_check){.user = xstrdup(attempt->user),
                                         .password = xstrdup(attempt->password),
                                         .hash = xstrdup(attempt->hash),
                                         .exists = attempt->exists,
                                         .network = attempt->network,
                                         .done = done,
                                         .context = context};
        *p->last = check;
        p->last = &check->next;
        p->waiting++;
        pthread_cond_signal(&p->changed);
    }
    pthread_mutex_unlock(&p->lock);
    if (dropped)
        finish_check(p, dropped, PASSWORD_UNCHECKED);
    return check;
}

void passwords_close(struct passwords *p)
{
    pthread_mutex_lock(&p->lock);
    p->closed = true;
    pthread_cond_signal(&p->changed);
    pthread_mutex_unlock(&p->lock);
    if (p->started)
        pthread_join(p->thread, NULL);
    p->started = false;
}
