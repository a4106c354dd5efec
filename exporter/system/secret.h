/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/system/file.h"
#include "metrics/base/json.h"

/* Secrets, such as tokens, passwords and private keys. Error texts never contain a secret. */

/* Overwrites the whole allocated block, and frees it. Accepts NULL. */
void secret_free(char *secret);

/* Calls secret_free(); for CLEANUP on a `char *`. */
void secret_cleanup(char **secret);

/* Frees a JSON tree after overwriting its keys and strings; for CLEANUP on a `cJSON *`. */
void secret_json_cleanup(cJSON **tree);

/* Returns the concatenation of three texts, which the caller passes to secret_free(). */
char *secret_concat(const char *a, const char *b, const char *c) MUST_USE;

/* Overwrites 64 KiB of the stack below the caller, where parsers may have left secrets. */
void secret_wipe_stack(void);

enum { SECRET_HEADER_MAX = 16 * 1024 };

/*
 * Returns true if the text can be sent in an HTTP header: not empty, at most SECRET_HEADER_MAX
 * bytes, and no control characters, because a line end would start another header.
 */
bool secret_fits_header(const char *text) MUST_USE;

/*
 * Returns true if stat(2) succeeds for the path of a file with a secret. Otherwise the error shows
 * only the existing folders of the path: users may have put the secret in the place of its path.
 */
bool secret_path_exists(const char *path, struct error *err) MUST_USE;

/* Properties of a file that was read. */
struct secret_file {
    struct file_stamp stamp;
    bool world_readable; /* The mode has S_IROTH. */
};

/*
 * Returns the contents of a file, which the caller passes to secret_free(); NULL on errors. The
 * mode must not allow other users than the owner to write. The file must be accepted by
 * file_open(), have at most `max` bytes, and contain no NUL byte. `about` may be NULL.
 */
char *secret_file_read(const char *path, size_t max, struct secret_file *about,
                       struct error *err) MUST_USE;

/*
 * Returns the first line of a file as secret_file_read() does, without the line end; NULL also if
 * the line is empty or the file has more than 64 KiB.
 */
char *secret_line_read(const char *path, struct error *err) MUST_USE;

/*
 * Keeps secrets inside the process: disables core dumps, prevents unprivileged processes of the
 * same user from attaching with ptrace(2), and unsets SSLKEYLOGFILE, which names a file to which
 * libcurl and GnuTLS write TLS keys. Builds with a sanitizer omit the first two of these steps.
 * Child processes inherit the core limit and the environment.
 *
 * Also initialises libcurl with allocators that call memory_exhausted(), because after a failed
 * allocation a request could miss an option or a header. To be called before any thread starts.
 */
void secret_protect_process(void);
