/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/system/memory.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exporter/system/platform.h"
#include "tests/unit/folder.h"
#include "tests/unit/suite.h"

/* Groups as files in a folder, and the limit that follows from them. */
static struct group_case {
    const char *name;
    const char *groups;
    const char *files[4][2]; /* Paths and what they hold. */
    uint64_t limit;
} group_cases[] = {
    {"no group", "", {{NULL}}, 0},
    {"a container's own group", "0::/\n", {{"memory.max", "536870912\n"}}, 536870912},
    {"a group without a limit", "0::/\n", {{"memory.max", "max\n"}}, 0},
    {"a group of a host", "0::/a/b\n", {{"a/b/memory.max", "4096\n"}}, 4096},
    {"the tightest of those above",
     "0::/a/b\n",
     {{"a/b/memory.max", "8192\n"}, {"a/memory.max", "4096\n"}, {"memory.max", "max\n"}},
     4096},
    {"a path that a container does not see",
     "0::/kubepods/pod1/c\n",
     {{"memory.max", "4096\n"}},
     4096},
    {"version 1",
     "9:name=systemd:/\n4:cpu,memory:/a\n1:memoryless:/b\n",
     {{"memory/a/memory.limit_in_bytes", "4096\n"},
      {"memory/b/memory.limit_in_bytes", "1024\n"},
      {"memory/memory.limit_in_bytes", "9223372036854771712\n"}},
     4096},
    {"both versions", "4:memory:/\n0::/\n", {{"memory/memory.limit_in_bytes", "4096\n"}}, 4096},
    {"what is no line", "::\n:\n0:\nmemory\n0::", {{"memory.max", "4096\n"}}, 4096},
    {"what is no number", "0::/\n", {{"memory.max", "12x\n"}}, 0},
};

static void make_folders(const char *folder, const char *file)
{
    for (const char *at = strchr(file, '/'); at; at = strchr(at + 1, '/')) {
        CLEANUP(free_cleanup) char *name = xmemdup0(file, (size_t)(at - file));
        CLEANUP(free_cleanup) char *path = folder_path(folder, name);

        if (access(path, F_OK) < 0)
            folder_mkdir(folder, name);
    }
}

TEST_ROWS(groups, group_cases, name)
{
    const struct group_case *c = *state;
    char *folder = folder_make();

    for (size_t i = 0; i < ARRAY_LEN(c->files) && c->files[i][0]; i++) {
        make_folders(folder, c->files[i][0]);
        folder_write(folder, c->files[i][0], c->files[i][1]);
    }
    uint64_t limit = memory_limit_of(folder, c->groups);

    folder_remove(folder);
    assert_int_equal(limit, c->limit);
}

TEST(the_limit_of_this_process_is_plausible)
{
    assert_true(memory_limit() == 0 || memory_limit() > 1024 * 1024);
}

/* Ends in a process of its own, whose words are read. That there is a clock brings the words in. */
TEST(who_gets_no_memory_says_so_and_ends)
{
    volatile size_t too_much = SIZE_MAX / 2;
    char text[4096] = "";
    size_t len = 0;
    int ends[2], status = 0;

    assert_true(platform_steady_ms() > 0);
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();

    if (pid == 0) {
        dup2(ends[1], STDERR_FILENO);
        free(xmalloc(too_much));
        _exit(0);
    }
    close(ends[1]);
    for (ssize_t got; (got = read(ends[0], text + len, sizeof(text) - 1 - len)) > 0;)
        len += (size_t)got;
    close(ends[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    /* A sanitizer has its word first. */
    assert_non_null(strstr(text,
                           "karmada-policy-exporter: out of memory: 9223372036854775807 bytes "
                           "more cannot be had; raise its limit\n"));
}
