/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/system/process.h"

#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exporter/system/platform.h"
#include "exporter/system/sandbox.h"
#include "metrics/base/json.h"
#include "tests/unit/folder.h"
#include "tests/unit/suite.h"

static struct group_case {
    const char *name;
    const char *groups;      /* Content of /proc/self/cgroup. */
    const char *files[4][2]; /* Paths below /sys/fs/cgroup and their contents. */
    uint64_t limit;          /* Bytes; 0 without a limit. */
} group_cases[] = {
    {"no group", "", {{NULL}}, 0},
    {"a container's own group", "0::/\n", {{"memory.max", "536870912\n"}}, 536870912},
    {"a group without a limit", "0::/\n", {{"memory.max", "max\n"}}, 0},
    {"a group of a host", "0::/a/b\n", {{"a/b/memory.max", "4096\n"}}, 4096},
    {"the smallest limit of a group and its parents",
     "0::/a/b\n",
     {{"a/b/memory.max", "8192\n"}, {"a/memory.max", "4096\n"}, {"memory.max", "max\n"}},
     4096},
    {"a path that the container cannot access",
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
    {"invalid lines", "::\n:\n0:\nmemory\n0::", {{"memory.max", "4096\n"}}, 4096},
    {"an invalid number", "0::/\n", {{"memory.max", "12x\n"}}, 0},
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

TEST_ROWS(the_smallest_limit_of_the_control_groups_applies, group_cases, name)
{
    const struct group_case *c = *state;
    char *folder = folder_make();

    for (size_t i = 0; i < ARRAY_LEN(c->files) && c->files[i][0]; i++) {
        make_folders(folder, c->files[i][0]);
        folder_write(folder, c->files[i][0], c->files[i][1]);
    }
    uint64_t limit = memory_limit_of_groups(folder, c->groups);

    folder_remove(folder);
    assert_int_equal(limit, c->limit);
}

TEST(the_limit_of_this_process_is_plausible)
{
    assert_true(memory_limit() == 0 || memory_limit() > 1024 * 1024);
}

/*
 * The call of platform_steady_ms() links platform.c with its memory_exhausted(), which replaces
 * that of metrics/. A child process allocates too much; the parent reads its standard error.
 */
TEST(a_failed_allocation_reports_its_size_and_aborts)
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
    /* A sanitizer may write a report first. */
    assert_non_null(strstr(text, "karmada-policy-exporter: out of memory: cannot get "
                                 "9223372036854775807 bytes; raise the memory limit\n"));
}

/* ---- exhausted memory, in a child process ---- */

static void run_child(void (*body)(void), char *text, size_t size)
{
    int ends[2], status = 0;
    ssize_t n;

    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        signal(SIGABRT, SIG_DFL);
        memory_set_json_hooks();
        body();
        _exit(0);
    }
    close(ends[1]);
    assert_int_equal(waitpid(child, &status, 0), child);
    n = read(ends[0], text, size - 1);
    close(ends[0]);
    assert_true(n >= 0);
    text[n] = '\0';
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
}

/* Limits the address space to its present size plus `bytes`. */
static void limit_memory(size_t bytes)
{
    struct process_metrics facts;

    process_metrics_read(&facts);
    const rlim_t limit = (rlim_t)facts.virtual_bytes + bytes;

    setrlimit(RLIMIT_AS, &(struct rlimit){limit, limit});
}

static void allocate_too_much(void)
{
    free(xmalloc(PTRDIFF_MAX));
}

static void multiply_too_much(void)
{
    free(xreallocarray(NULL, SIZE_MAX, 2));
}

static void fill_a_tree(void)
{
    cJSON *tree = cJSON_CreateArray();

    limit_memory(1 << 20);
    for (;;)
        cJSON_AddItemToArray(tree, cJSON_CreateString("a text of some bytes"));
}

static void parse_a_text(void)
{
    enum { BYTES = 4 << 20 };
    char *text = xcalloc(1, BYTES + 1);
    struct error err;

    memset(text, '1', BYTES);
    for (size_t i = 2; i < BYTES - 2; i += 2)
        text[i] = ',';
    text[0] = '[';
    text[BYTES - 1] = ']';
    limit_memory(1 << 20);
    cJSON_Delete(json_parse(text, BYTES, NULL, &err));
}

static void *exhaust(void *context)
{
    pthread_barrier_wait(context);
    free(xmalloc(PTRDIFF_MAX));
    return NULL;
}

static void exhaust_in_threads(void)
{
    pthread_barrier_t all;
    pthread_t threads[8];

    pthread_barrier_init(&all, NULL, ARRAY_LEN(threads));
    for (size_t i = 0; i < ARRAY_LEN(threads); i++) {
        if (pthread_create(&threads[i], NULL, exhaust, &all) != 0)
            _exit(1);
    }
    for (size_t i = 0; i < ARRAY_LEN(threads); i++)
        pthread_join(threads[i], NULL);
}

static void exhaust_under_the_filter(void)
{
    struct error err;

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || !seccomp_install(&err))
        _exit(1);
    free(xmalloc(PTRDIFF_MAX));
}

static struct exhaustion_case {
    const char *name;
    void (*body)(void);
    const char *wanted;
} exhaustion_cases[] = {
    {"by one block", allocate_too_much, ": cannot get 9223372036854775807 bytes"},
    {"by a product", multiply_too_much, ": cannot get 18446744073709551615 bytes"},
    {"by a tree of JSON", fill_a_tree, NULL},
    {"by a text of JSON", parse_a_text, NULL},
    {"in threads at once", exhaust_in_threads, ": cannot get 9223372036854775807 bytes"},
    {"under the filter", exhaust_under_the_filter, ": cannot get 9223372036854775807 bytes"},
};

TEST_ROWS(exhausted_memory_is_reported_in_one_line, exhaustion_cases, name)
{
    const struct exhaustion_case *row = *state;
    static const char head[] = "karmada-policy-exporter: out of memory";
    static const char tail[] = "; raise the memory limit\n";
    char text[1024];
    char wanted[256];

    if (HARDENING_SANITIZED)
        skip();
    run_child(row->body, text, sizeof(text));
    assert_memory_equal(text, head, strlen(head));
    assert_string_equal(strchr(text, ';'), tail);
    if (row->wanted) {
        snprintf(wanted, sizeof(wanted), "%s%s%s", head, row->wanted, tail);
        assert_string_equal(text, wanted);
    }
}
