/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/auth/rest_config.h"
#include "exporter/system/secret.h"

/*
 * PEM of a CA and of a client certificate with its key. Reads PEM files again after a change, once
 * they have been unchanged for TLS_STABLE_MS. If only the certificate or only the key has changed,
 * the delay is TLS_PAIR_STABLE_MS, because the other file is probably about to be written. Files
 * that are not valid are never used.
 */
enum {
    TLS_FILE_MAX_BYTES = 1024 * 1024,
    TLS_CHECK_MS = 5000,
    TLS_STABLE_MS = 1000,
    TLS_PAIR_STABLE_MS = 5000,
};

struct pem_file {
    const char *name; /* For messages: "the client key". */
    const char *path; /* NULL if the PEM does not come from a file. Borrowed. */
    bool is_secret;   /* Errors show only the existing part of `path`: it may be the key itself. */
    bool (*check)(const char *pem, struct error *err);
    char *pem;                /* NULL if the configuration has no such PEM. */
    struct file_stamp loaded; /* Stamp of the file when `pem` was read. */
    struct file_stamp seen;   /* Stamp of the file at the last check. */
};

enum { PEM_GROUP_MAX = 2 };

/* Files that are replaced together: the CA alone, or a certificate and its key. */
struct pem_group {
    struct pem_file files[PEM_GROUP_MAX];
    size_t count;
    /* Last check that saw a change or no file; INT64_MAX: all files are as loaded. */
    int64_t seen_ms;
    struct error problem; /* Last failure; "" once all files are as loaded. */
};

/* Times are milliseconds of the steady clock. */
struct tls_files {
    struct pem_group ca;
    struct pem_group pair; /* Client certificate and client key, in this order. */
    int64_t due_ms;        /* Time of the next check; INT64_MAX without files. */
    uint64_t version;      /* Increases when a PEM changes. */
};

/*
 * Reads all files. `config` must outlive `out`, which the caller gives to tls_files_release().
 * Returns false with an error, and `out` filled with zeros, if a file cannot be used.
 */
bool tls_files_load(struct tls_files *out, const struct rest_config *config, int64_t now_ms,
                    struct error *err) MUST_USE;
void tls_files_release(struct tls_files *files);

/* Checks the files once due_ms is reached. Keeps the old PEM of a group with an unusable file. */
void tls_files_advance(struct tls_files *files, int64_t now_ms);

/* Return a PEM, borrowed until tls_files_advance(); NULL if the configuration sets no such PEM. */
const char *tls_files_ca(const struct tls_files *files);
const char *tls_files_certificate(const struct tls_files *files);
const char *tls_files_key(const struct tls_files *files);
