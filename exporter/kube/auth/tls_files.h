/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/auth/rest_config.h"
#include "exporter/system/secret.h"

/*
 * The CA, and our certificate with its key: as PEM in memory, and kept equal to
 * their files where they come from files.
 *
 * A change counts once the files are stable: they have not changed for
 * TLS_STABLE_MS, or for TLS_PAIR_STABLE_MS if only one of a pair has changed,
 * since the other is probably being written. Files that are not valid never count.
 */
enum {
    TLS_FILE_MAX_BYTES = 1024 * 1024,
    TLS_CHECK_MS = 5000,
    TLS_STABLE_MS = 1000,
    TLS_PAIR_STABLE_MS = 5000,
};

/* What belongs together: the CA alone, or a certificate and its key. */
enum { PEM_GROUP_MAX = 2 };
struct pem_file {
    const char *name; /* For people. */
    const char *path; /* NULL if it is not a file. Borrowed. */
    bool secret;      /* The path is shown only if it exists. */
    bool (*check)(const char *pem, struct error *err);
    char *pem;               /* NULL if there is none. */
    struct file_stamp stamp; /* Of the file when `pem` was read. */
    struct file_stamp seen;  /* When last looked at. */
};
struct pem_group {
    struct pem_file parts[PEM_GROUP_MAX];
    size_t count;
    int64_t seen_ms;      /* Since when the files are as `seen`; INT64_MAX: they are as read. */
    struct error problem; /* Why the last look failed; "" if it did not. */
};

struct tls_files {
    struct pem_group trust; /* The CA. */
    struct pem_group pair;  /* The certificate, the key. */
    int64_t due_ms;         /* When to look again; INT64_MAX without files. */
    uint64_t version;       /* Another number for other bytes. */
};

/* Read it all. `config` outlives `out`, which is to be released; all zeros on failure. */
bool tls_files_load(struct tls_files *out, const struct rest_config *config, int64_t now_ms,
                    struct error *err) MUST_USE;
void tls_files_release(struct tls_files *files);

/* Look at the files, if that is due. */
void tls_files_advance(struct tls_files *files, int64_t now_ms);

/* NULL if there is none. Borrowed until the next look. */
const char *tls_files_ca(const struct tls_files *files);
const char *tls_files_certificate(const struct tls_files *files);
const char *tls_files_key(const struct tls_files *files);
