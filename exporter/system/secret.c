/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/system/secret.h"

#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exporter/system/file.h"
#include "exporter/system/platform.h"
#include "metrics/base/base.h"

enum { LINE_FILE_MAX_BYTES = 64 * 1024 };

void secret_free(char *secret)
{
    if (!secret)
        return;
    explicit_bzero(secret, malloc_usable_size(secret));
    free(secret);
}

void secret_cleanup(char **secret)
{
    secret_free(*secret);
}

static void overwrite_json(cJSON *item)
{
    for (; item; item = item->next) {
        if (cJSON_IsString(item))
            explicit_bzero(item->valuestring, malloc_usable_size(item->valuestring));
        /* After a mistake of a user, a key may be a password. */
        if (item->string)
            explicit_bzero(item->string, strlen(item->string));
        overwrite_json(item->child);
    }
}

void secret_json_cleanup(cJSON **tree)
{
    overwrite_json(*tree);
    cJSON_Delete(*tree);
}

char *secret_concat(const char *a, const char *b, const char *c)
{
    /* One allocation: asprintf(3) may leave copies in freed memory when its buffer grows. */
    size_t size = strlen(a) + strlen(b) + strlen(c) + 1;
    char *text = xmalloc(size);

    snprintf(text, size, "%s%s%s", a, b, c);
    return text;
}

/* Not inlined: the buffer must be below the frame of the caller. */
__attribute__((noinline)) void secret_wipe_stack(void)
{
    char room[64 * 1024];

    explicit_bzero(room, sizeof(room));
}

bool secret_fits_header(const char *text)
{
    size_t len = strnlen(text, SECRET_HEADER_MAX + 1);

    if (len == 0 || len > SECRET_HEADER_MAX)
        return false;
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];

        if (c < 0x20 || c == 0x7f)
            return false;
    }
    return true;
}

bool secret_path_exists(const char *path, struct error *err)
{
    struct stat about;

    if (stat(path, &about) == 0)
        return true;

    const char *why = strerror(errno);
    size_t folder = file_existing_folder_length(path);

    if (folder == 0)
        return fail(err, "cannot open the named file (its name is not shown): %s", why);
    return fail(err, "cannot open the named file in '%.*s' (its name is not shown): %s",
                (int)folder, path, why);
}

/* Returns the text of a file of `size` bytes, for secret_free(); NULL on errors. */
static char *read_secret_text(int fd, const char *path, size_t size, struct error *err)
{
    char *text = xcalloc(size + 2, 1);
    size_t len = 0;
    ssize_t n = 1;

    /* Reads up to one byte more than `size`, to detect a file that has grown. */
    while (n != 0 && len <= size) {
        n = read(fd, text + len, size + 1 - len);
        if (n < 0 && errno != EINTR)
            break;
        len += n > 0 ? (size_t)n : 0;
    }
    if (n < 0)
        fail(err, "cannot read '%s': %s", path, strerror(errno));
    else if (len > size)
        fail(err, "'%s' grows while it is read", path);
    else if (memchr(text, '\0', len))
        fail(err, "'%s' is not a text file: it contains a NUL byte", path);
    else
        return text;
    explicit_bzero(text, len);
    free(text);
    return NULL;
}

char *secret_file_read(const char *path, size_t max, struct secret_file *about, struct error *err)
{
    struct stat status;
    char *text = NULL;

    CLEANUP(file_close) int fd = file_open(path, &status, err);
    if (fd < 0)
        return NULL;
    /* `status` is from the open descriptor, so a file that replaces the path has no effect. */
    if (status.st_mode & (S_IWGRP | S_IWOTH))
        fail(err,
             "group or other users can write '%s' (mode %03o), and could make the exporter connect "
             "to another server: chmod go-w",
             path, (unsigned)status.st_mode & 0777);
    else if (status.st_size < 0 || (size_t)status.st_size > max)
        fail(err, "'%s' is larger than %zu bytes", path, max);
    else
        text = read_secret_text(fd, path, (size_t)status.st_size, err);
    if (text && about) {
        about->stamp = file_stamp_of(&status);
        about->world_readable = status.st_mode & S_IROTH;
    }
    return text;
}

char *secret_line_read(const char *path, struct error *err)
{
    char *text = secret_path_exists(path, err)
                     ? secret_file_read(path, LINE_FILE_MAX_BYTES, NULL, err)
                     : NULL;

    if (!text)
        return NULL;
    text[strcspn(text, "\r\n")] = '\0';
    if (*text != '\0')
        return text;
    fail(err, "the first line of '%s' is empty", path);
    secret_free(text);
    return NULL;
}

static void *reallocate(void *memory, size_t size)
{
    return xreallocarray(memory, 1, size);
}

void secret_protect_process(void)
{
    static const struct rlimit none = {.rlim_cur = 0, .rlim_max = 0};

    unsetenv("SSLKEYLOGFILE");
    /* The calls need no privileges, so a failure is not expected. */
    if (!HARDENING_SANITIZED &&
        (setrlimit(RLIMIT_CORE, &none) < 0 || prctl(PR_SET_DUMPABLE, 0) < 0))
        abort();
    if (curl_global_init_mem(CURL_GLOBAL_DEFAULT, xmalloc, free, reallocate, xstrdup, xcalloc) !=
        CURLE_OK)
        memory_exhausted(0);
}
