/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/auth/token_file.h"

#include "exporter/system/secret.h"

static const char white[] = " \t\r\n\v\f";

/* The file may be larger than the token in it by some white space. */
enum { FILE_MAX_BYTES = 2 * SECRET_HEADER_MAX };

static char *read(const char *path, struct error *err)
{
    CLEANUP(secret_cleanup)
    char *text =
        secret_path_exists(path, err) ? secret_file_read(path, FILE_MAX_BYTES, NULL, err) : NULL;

    if (!text) {
        fail_in(err, "the token");
        return NULL;
    }

    char *start = text + strspn(text, white);
    size_t len = strlen(start);
    while (len > 0 && strchr(white, start[len - 1]))
        start[--len] = '\0';
    if (len == 0) {
        fail(err, "the token in '%s' is empty", path);
        return NULL;
    }
    if (!secret_fits_header(start)) {
        fail(err, "the token in '%s' holds control characters or is longer than %d bytes", path,
             SECRET_HEADER_MAX);
        return NULL;
    }
    return xstrdup(start);
}

static void read_again(struct token_file *t, int64_t now_ms)
{
    char *fresh = read(t->path, &t->problem);

    secret_wipe_stack();
    t->read_ms = now_ms;
    t->due_ms = now_ms + TOKEN_PERIOD_MS;
    if (!fresh)
        return;
    t->version += t->token && strcmp(t->token, fresh) != 0;
    secret_free(t->token);
    t->token = fresh;
    t->problem.text[0] = '\0';
}

bool token_file_load(struct token_file *out, const struct kube_config *config, int64_t now_ms,
                     struct error *err)
{
    *out = (struct token_file){
        .path = config->token_file,
        .token = config->token ? xstrdup(config->token) : NULL,
        .due_ms = INT64_MAX,
    };
    if (!out->path)
        return true;
    read_again(out, now_ms);
    if (out->token)
        return true;
    *err = out->problem;
    return false;
}

void token_file_release(struct token_file *t)
{
    secret_free(t->token);
    *t = (struct token_file){.path = NULL};
}

void token_file_advance(struct token_file *t, int64_t now_ms)
{
    if (now_ms >= t->due_ms)
        read_again(t, now_ms);
}

void token_file_refused(struct token_file *t)
{
    int64_t soon_ms = t->read_ms + TOKEN_REFUSED_MS;

    if (t->path && soon_ms < t->due_ms)
        t->due_ms = soon_ms;
}
