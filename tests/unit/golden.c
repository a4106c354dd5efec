/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/golden.h"

#include <setjmp.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#define GOLDEN_FOLDER "tests/fixtures/golden/"

enum { PATH_MAX_BYTES = 256, FILE_MAX_BYTES = 1 << 20 };

/* Returns the text of the file, NULL if the file does not open. The caller frees it. */
static char *read_text(const char *path)
{
    CLEANUP(free_cleanup) char *text = xcalloc(1, FILE_MAX_BYTES);
    FILE *file = fopen(path, "rb");

    if (!file)
        return NULL;
    size_t len = fread(text, 1, FILE_MAX_BYTES - 1, file);
    fclose(file);
    return xmemdup0(text, len);
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* Prints the differences between the file and the text, which diff reads from a memory file. */
static void print_diff(const char *path, const char *text)
{
    int fd = memfd_create("now", 0);
    char command[3 * PATH_MAX_BYTES];

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    snprintf(command, sizeof(command), "diff -u --label '%s' --label now -N '%s' /dev/fd/%d", path,
             path, fd);
    fflush(stdout);
    if (system(command) < 0)
        print_message("cannot run diff\n");
    close(fd);
}

void golden_check_path(const char *path, const char *text)
{
    const char *mode = getenv("GOLDEN");

    if (mode && strcmp(mode, "write") == 0) {
        write_text(path, text);
        return;
    }

    CLEANUP(free_cleanup) char *golden = read_text(path);

    if (golden && strcmp(text, golden) == 0)
        return;
    print_diff(path, text);
    fail_msg("%s differs; if that is right, `make golden` rewrites it", path);
}

void golden_check(const char *name, const char *text)
{
    char path[PATH_MAX_BYTES];

    snprintf(path, sizeof(path), GOLDEN_FOLDER "%s", name);
    golden_check_path(path, text);
}

void golden_load(struct world *w, const char *name)
{
    char path[PATH_MAX_BYTES];

    snprintf(path, sizeof(path), GOLDEN_FOLDER "%s", name);
    CLEANUP(free_cleanup) char *text = read_text(path);
    cJSON *objects = text ? cJSON_Parse(text) : NULL;

    if (!cJSON_IsArray(objects))
        fail_msg("%s is no JSON array", path);
    world_put_all(w, objects);
    cJSON_Delete(objects);
}
