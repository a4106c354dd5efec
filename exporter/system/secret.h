/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/system/file.h"
#include "metrics/base/json.h"

/*
 * Texts that nobody must see, and the files they come from. No error text here
 * holds a byte of them.
 */

/* Wipe and free, also what is behind the end of the text. Takes NULL. */
void secret_free(char *secret);
/* For CLEANUP on a `char *`. */
void secret_cleanup(char **secret);
/* For CLEANUP on a `cJSON *`: as json_cleanup(), and its keys and texts are wiped. */
void secret_json_cleanup(cJSON **tree);

/* The texts one after another; the caller's. In one piece: asprintf(3) leaves copies as it grows.
 */
char *secret_concat(const char *a, const char *b, const char *c) MUST_USE;

/*
 * Overwrite what functions that have returned left on the stack: libraries that parse a secret
 * keep parts of it in their frames. To be called when one has been read.
 */
void secret_wipe_stack(void);

/*
 * True if it may be the value of a header: not empty, at most SECRET_HEADER_MAX
 * bytes, no control characters. A line end in it would be a header of its own.
 */
enum { SECRET_HEADER_MAX = 16 * 1024 };
bool secret_fits_header(const char *text) MUST_USE;

/*
 * Returns true if something is at the path that a key for secrets names: a token, a key, a
 * password. Otherwise the error shows the folders of the path that exist, and no more: people put
 * the secret itself in the place of its path.
 */
bool secret_path_exists(const char *path, struct error *err) MUST_USE;

/* What a caller may want to know of a file that was read. */
struct secret_file {
    struct file_stamp stamp;
    bool world_readable; /* Its mode lets all users of the machine read it. */
};

/*
 * The file as a C string that the caller gives to secret_free(), or NULL. It must be a
 * regular file that only its owner can write: whoever else can would choose
 * whom we trust. At most `max` bytes, none of them NUL. `about` may be NULL.
 */
char *secret_file_read(const char *path, size_t max, struct secret_file *about,
                       struct error *err) MUST_USE;

/* The first line of such a file, without its end; NULL also where it is empty. */
char *secret_line_read(const char *path, struct error *err) MUST_USE;

/*
 * Keeps secrets inside the process: disables core dumps, stops other processes of the same user
 * from attaching, and unsets SSLKEYLOGFILE, the file to which libcurl and GnuTLS write TLS keys.
 * Children inherit the core limit and the environment.
 *
 * Initialises libcurl, so main() calls the function before any thread runs. Allocations of libcurl
 * do not return without memory: a request could lose an option or a header without an error.
 */
void secret_protect_process(void);
