/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/folder.h"

#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <unistd.h>

#include <cmocka.h>

char *folder_make(void)
{
    char template[] = P_tmpdir "/exporter-test.XXXXXX";

    assert_non_null(mkdtemp(template));
    return xstrdup(template);
}

static int remove_one(const char *path, const struct stat *about, int type, struct FTW *where)
{
    (void)about;
    (void)type;
    (void)where;
    return remove(path);
}

static void remove_all(const char *path)
{
    assert_int_equal(nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

void folder_remove(char *folder)
{
    remove_all(folder);
    free(folder);
}

char *folder_path(const char *folder, const char *name)
{
    size_t size = strlen(folder) + strlen(name) + 2;
    char *path = xmalloc(size);

    snprintf(path, size, "%s/%s", folder, name);
    return path;
}

void folder_write(const char *folder, const char *name, const char *text)
{
    CLEANUP(free_cleanup) char *path = folder_path(folder, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    size_t len = strlen(text);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, len), len);
    assert_int_equal(close(fd), 0);
}

void folder_replace(const char *folder, const char *name, const char *text)
{
    folder_write(folder, "4913~", text);
    folder_rename(folder, "4913~", name);
}

void folder_rename(const char *folder, const char *from, const char *to)
{
    CLEANUP(free_cleanup) char *old = folder_path(folder, from);
    CLEANUP(free_cleanup) char *new = folder_path(folder, to);

    assert_int_equal(rename(old, new), 0);
}

void folder_unlink(const char *folder, const char *name)
{
    CLEANUP(free_cleanup) char *path = folder_path(folder, name);

    assert_int_equal(unlink(path), 0);
}

void folder_mkdir(const char *folder, const char *name)
{
    CLEANUP(free_cleanup) char *path = folder_path(folder, name);

    assert_int_equal(mkdir(path, 0755), 0);
}

void folder_rmdir(const char *folder, const char *name)
{
    CLEANUP(free_cleanup) char *path = folder_path(folder, name);

    remove_all(path);
}

void folder_link(const char *folder, const char *target, const char *name)
{
    CLEANUP(free_cleanup) char *path = folder_path(folder, name);

    assert_int_equal(symlink(target, path), 0);
}

void folder_swap(const char *folder, const char *target, const char *name)
{
    folder_link(folder, target, "..data_tmp");
    folder_rename(folder, "..data_tmp", name);
}
