/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/passwords.h"

#include <crypt.h>
#include <gnutls/crypto.h>

#include "exporter/system/platform.h"
#include "exporter/system/secret.h"

enum { WAITING_MAX = 16, REMEMBERED_MAX = 100, DIGEST_BYTES = 32 };

struct check {
    struct check *next;
    char *user, *password, *hash;
    bool exists;
    uint64_t origin;
    void (*done)(void *context, enum password_answer answer);
    void *context;
};

struct passwords {
    pthread_t thread;
    bool started;
    pthread_mutex_t lock; /* Guards all below. */
    pthread_cond_t changed;
    struct check *first;
    struct check **last;
    unsigned waiting;
    uint64_t origin; /* Of the one that was checked last. */
    bool closed;
    unsigned char
        key[DIGEST_BYTES]; /* Of this process: what is remembered says nothing to others. */
    unsigned char remembered[REMEMBERED_MAX][DIGEST_BYTES];
    unsigned count;
    unsigned oldest;
};

static void free_check(struct check *check)
{
    free(check->user);
    secret_free(check->password);
    secret_free(check->hash);
    free(check);
}

/* Each text with its end, so that no two claims are the same bytes. */
static void digest_of(const struct passwords *p, const char *user, const char *password,
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

/* The lock is held. All are compared: how long it takes says nothing of which it was. */
static bool is_remembered(const struct passwords *p, const unsigned char digest[DIGEST_BYTES])
{
    bool found = false;

    for (unsigned i = 0; i < p->count; i++)
        found |= gnutls_memcmp(p->remembered[i], digest, DIGEST_BYTES) == 0;
    return found;
}

static void remember(struct passwords *p, const struct check *check)
{
    unsigned char digest[DIGEST_BYTES];

    digest_of(p, check->user, check->password, check->hash, digest);
    pthread_mutex_lock(&p->lock);
    if (!is_remembered(p, digest)) {
        memcpy(p->remembered[p->oldest], digest, DIGEST_BYTES);
        p->oldest = (p->oldest + 1) % REMEMBERED_MAX;
        p->count += p->count < REMEMBERED_MAX;
    }
    pthread_mutex_unlock(&p->lock);
}

/* The same work whether there is such a user or not. */
static bool is_right(const struct check *check)
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

static void finish(struct passwords *p, struct check *check, enum password_answer answer)
{
    if (answer == PASSWORD_RIGHT)
        remember(p, check);
    check->done(check->context, answer);
    free_check(check);
}

/* ---- who waits; the lock is held ---- */

static struct check *take_out(struct passwords *p, struct check **at)
{
    struct check *check = *at;

    *at = check->next;
    if (!*at)
        p->last = at;
    p->waiting--;
    return check;
}

static unsigned count_of(const struct passwords *p, uint64_t origin)
{
    unsigned count = 0;

    for (const struct check *c = p->first; c; c = c->next)
        count += c->origin == origin;
    return count;
}

/* The one that came last, of the origin of which most wait, if that has one more than this has. */
static struct check *displace(struct passwords *p, uint64_t origin)
{
    struct check **found = NULL;
    unsigned most = count_of(p, origin) + 1;

    for (struct check **at = &p->first; *at; at = &(*at)->next) {
        unsigned count = count_of(p, (*at)->origin);

        if (count > most || (found && (*at)->origin == (*found)->origin))
            found = at;
        most = count > most ? count : most;
    }
    return found ? take_out(p, found) : NULL;
}

/* Whoever waits longest, but for those of the origin that had its turn. */
static struct check **next_in_turn(struct passwords *p)
{
    for (struct check **at = &p->first; *at; at = &(*at)->next) {
        if ((*at)->origin != p->origin)
            return at;
    }
    return &p->first;
}

/* The next one; NULL once it is closed and none is left. */
static struct check *take(struct passwords *p)
{
    struct check *check = NULL;

    pthread_mutex_lock(&p->lock);
    while (!p->first && !p->closed)
        pthread_cond_wait(&p->changed, &p->lock);
    if (p->first) {
        check = take_out(p, next_in_turn(p));
        p->origin = check->origin;
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

static void *run(void *context)
{
    struct passwords *p = context;
    struct check *check;

    while ((check = take(p)) != NULL) {
        if (is_closed(p))
            finish(p, check, PASSWORD_UNCHECKED);
        else
            finish(p, check, is_right(check) ? PASSWORD_RIGHT : PASSWORD_WRONG);
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
    code = thread_start(&p->thread, run, p);
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

bool passwords_is_cached(struct passwords *p, const struct login_attempt *claim)
{
    unsigned char digest[DIGEST_BYTES];

    digest_of(p, claim->user, claim->password, claim->hash, digest);
    pthread_mutex_lock(&p->lock);
    bool known = is_remembered(p, digest);
    pthread_mutex_unlock(&p->lock);
    return known && claim->exists;
}

unsigned passwords_substitute(const struct passwords *p, const char *user, unsigned count)
{
    unsigned char digest[DIGEST_BYTES];
    unsigned number;

    digest_of(p, user, "", "", digest);
    memcpy(&number, digest, sizeof(number));
    return number % count;
}

bool passwords_check(struct passwords *p, const struct login_attempt *claim,
                     void (*done)(void *context, enum password_answer answer), void *context)
{
    struct check *check = NULL, *displaced = NULL;

    pthread_mutex_lock(&p->lock);
    if (!p->closed && p->waiting == WAITING_MAX)
        displaced = displace(p, claim->origin);
    if (!p->closed && p->waiting < WAITING_MAX) {
        check = xcalloc(1, sizeof(*check));
        *check = (struct check){.user = xstrdup(claim->user),
                                .password = xstrdup(claim->password),
                                .hash = xstrdup(claim->hash),
                                .exists = claim->exists,
                                .origin = claim->origin,
                                .done = done,
                                .context = context};
        *p->last = check;
        p->last = &check->next;
        p->waiting++;
        pthread_cond_signal(&p->changed);
    }
    pthread_mutex_unlock(&p->lock);
    if (displaced)
        finish(p, displaced, PASSWORD_UNCHECKED);
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
