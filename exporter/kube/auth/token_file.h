/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/auth/kube_config.h"
#include "metrics/base/error.h"

/*
 * A bearer token, and the file that it comes from: read again once a minute,
 * since it is replaced before it expires, and after the server refused it.
 * The file is opened by its path each time, as Kubernetes swaps links.
 */
enum {
    TOKEN_PERIOD_MS = 60 * 1000,
    TOKEN_REFUSED_MS = 1000, /* Between two readings, whatever the server says. */
};

struct token_file {
    const char *path; /* NULL: the token never changes. Borrowed. */
    char *token;      /* NULL if there is none. */
    int64_t read_ms;
    int64_t due_ms;       /* INT64_MAX without a file. */
    uint64_t version;     /* Another number for another token. */
    struct error problem; /* Why the last reading failed; "" if it did not. */
};

/* A file that cannot be read fails only where there is no token in `config` either. */
bool token_file_load(struct token_file *out, const struct kube_config *config, int64_t now_ms,
                     struct error *err) MUST_USE;
void token_file_release(struct token_file *t);

/* Read it, if that is due; a failure leaves the token as it was. */
void token_file_advance(struct token_file *t, int64_t now_ms);

/* The server refused the token: read the file again soon. */
void token_file_refused(struct token_file *t);
