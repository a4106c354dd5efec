/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/system/temporary_folder.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "metrics/base/strbuf.h"
#include "tests/unit/suite.h"

enum { PATH_BYTES = 4096 };

static void write_below(const char *folder)
{
    CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT(PATH_BYTES);

    strbuf_addf(&path, "%s/deep", folder);
    assert_int_equal(mkdir(path.data, S_IRWXU), 0);
    strbuf_adds(&path, "/file");
    close(open(path.data, O_CREAT | O_WRONLY | O_CLOEXEC, S_IRUSR));
    assert_int_equal(access(path.data, F_OK), 0);
}

TEST(folders_are_private_and_removed_with_their_content)
{
    struct error err;
    struct temporary_folder *outer = temporary_folder_make(&err);
    struct temporary_folder *inner = temporary_folder_make(&err);
    char *paths[] = {xstrdup(temporary_folder_path(outer)), xstrdup(temporary_folder_path(inner))};
    struct stat about;

    assert_string_not_equal(paths[0], paths[1]);
    assert_int_equal(stat(paths[0], &about), 0);
    assert_int_equal(about.st_mode & (S_IRWXG | S_IRWXO), 0);
    write_below(paths[0]);
    write_below(paths[1]);
    temporary_folder_remove(inner);
    assert_int_not_equal(access(paths[1], F_OK), 0);
    assert_int_equal(access(paths[0], F_OK), 0);
    temporary_folder_remove(outer);
    assert_int_not_equal(access(paths[0], F_OK), 0);
    free(paths[0]);
    free(paths[1]);
}

/* Makes two folders, writes their paths to `out`, and waits. */
static void wait_with_folders(int out)
{
    struct error err;

    for (unsigned i = 0; i < 2; i++) {
        char path[PATH_BYTES] = "";
        const char *folder = temporary_folder_path(temporary_folder_make(&err));

        write_below(folder);
        memcpy(path, folder, strlen(folder));
        if (write(out, path, sizeof(path)) != sizeof(path))
            _exit(1);
    }
    for (;;)
        pause();
}

TEST(a_signal_ends_the_process_and_removes_all_folders)
{
    char paths[2][PATH_BYTES];
    int ends[2], status;
    pid_t child;

    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    child = fork();
    if (child == 0)
        wait_with_folders(ends[1]);
    for (size_t i = 0; i < ARRAY_LEN(paths); i++)
        assert_int_equal(read(ends[0], paths[i], PATH_BYTES), PATH_BYTES);
    kill(child, SIGTERM);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    for (size_t i = 0; i < ARRAY_LEN(paths); i++)
        assert_int_not_equal(access(paths[i], F_OK), 0);
    close(ends[0]);
    close(ends[1]);
}

TEST(a_folder_that_cannot_be_made_is_an_error)
{
    struct error err;

    setenv("TMPDIR", "/no/such/folder", 1);
    assert_null(temporary_folder_make(&err));
    assert_string_equal(err.text, "cannot make a temporary folder in /no/such/folder: No such file "
                                  "or directory: set TMPDIR");
    unsetenv("TMPDIR");
}
