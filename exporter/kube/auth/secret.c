/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/auth/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exporter/system/file.h"

void secret_free(char *secret)
{
    if (!secret)
        return;
    explicit_bzero(secret, strlen(secret));
    free(secret);
}

void secret_cleanup(char **secret)
{
    secret_free(*secret);
}

void secret_release(struct strbuf *b)
{
    if (b->cap > 0)
        explicit_bzero(b->data, b->len);
    strbuf_release(b);
}

static void wipe(cJSON *item)
{
    for (; item; item = item->next) {
        if (cJSON_IsString(item))
            explicit_bzero(item->valuestring, strlen(item->valuestring));
        wipe(item->child);
    }
}

void secret_tree_cleanup(cJSON **tree)
{
    wipe(*tree);
    cJSON_Delete(*tree);
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

char *secret_file_read(const char *path, size_t max, struct secret_file *about, struct error *err)
{
    CLEANUP(secret_release) struct strbuf text = STRBUF_INIT(max);
    struct stat status;
    bool read = false;
    size_t len;

    CLEANUP(file_close) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 || fstat(fd, &status) < 0) {
        fail(err, "cannot read '%s': %s", path, strerror(errno));
        return NULL;
    }
    /* What is checked is the open file: nobody can put another in its place meanwhile. */
    if (!S_ISREG(status.st_mode))
        fail(err, "cannot read '%s': it is not a regular file", path);
    else if (status.st_mode & (S_IWGRP | S_IWOTH))
        fail(err,
             "'%s' can be written by others than its owner (mode %03o), who could redirect us: "
             "chmod go-w",
             path, (unsigned)status.st_mode & 0777);
    else if (status.st_size < 0 || (size_t)status.st_size > max)
        fail(err, "'%s' is larger than %zu bytes", path, max);
    else if (file_read_fd(fd, path, &text, err))
        read = true;
    if (!read)
        return NULL;
    if (memchr(text.data, '\0', text.len)) {
        fail(err, "'%s' is not a text: it holds a NUL byte", path);
        return NULL;
    }
    if (about) {
        about->stamp = file_stamp_of(&status);
        about->everybody_reads = status.st_mode & S_IROTH;
    }
    return strbuf_take(&text, &len);
}
