/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exporter/system/platform.h"
#include "exporter/system/sandbox.h"
#include "tests/unit/folder.h"
#include "tests/unit/suite.h"

/* Runs the function in a child, because restrictions are permanent. Returns the wait status. */
static int run_child(void (*body)(const char *folder), const char *folder)
{
    int status = 0;
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        body(folder);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

/* Unless the condition is true, prints the line and ends the child process with status 1. */
#define CHILD_ASSERT(condition)                                                                    \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s (errno %d)\n", __FILE__, __LINE__, #condition, errno);      \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

/* ---- seccomp ---- */

static void install_filter(void)
{
    struct error err;

    CHILD_ASSERT(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    CHILD_ASSERT(seccomp_install(&err));
}

static void *open_a_file(void *result)
{
    *(int *)result = open("/dev/null", O_RDONLY | O_CLOEXEC);
    return NULL;
}

static void use_allowed_calls(const char *folder)
{
    struct addrinfo *found = NULL;
    struct rlimit limit;
    pthread_t thread;
    int opened = -1;

    (void)folder;
    install_filter();
    CHILD_ASSERT(prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == SECCOMP_MODE_FILTER);
    CHILD_ASSERT(pthread_create(&thread, NULL, open_a_file, &opened) == 0);
    CHILD_ASSERT(pthread_join(thread, NULL) == 0);
    CHILD_ASSERT(opened >= 0);
    CHILD_ASSERT(getaddrinfo("localhost", "443", NULL, &found) == 0);
    freeaddrinfo(found);
    CHILD_ASSERT(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    CHILD_ASSERT(socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0) >= 0);
    CHILD_ASSERT(poll(NULL, 0, 1) == 0);
    /* The block is so large that malloc uses mmap and realloc uses mremap. */
    char *large = xreallocarray(xcalloc(1, 1 << 20), 64, 1 << 20);
    CHILD_ASSERT(large[(1 << 20) - 1] == 0);
    free(large);
    malloc_trim(0);
}

static void use_refused_calls(const char *folder)
{
    static char *const nothing[] = {NULL};
    CLEANUP(free_cleanup) char *new_file = folder_path(folder, "new");
    struct rlimit limit = {0, 0};
    pid_t spawned;

    install_filter();
    CHILD_ASSERT(execve("/bin/true", nothing, nothing) < 0 && errno == ENOSYS);
    CHILD_ASSERT(posix_spawn(&spawned, "/bin/true", NULL, NULL, nothing, nothing) != 0);
    CHILD_ASSERT(fork() < 0 && errno == EPERM);
    CHILD_ASSERT(open(new_file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) < 0 && errno == EPERM);
    CHILD_ASSERT(open("/dev/null", O_RDWR | O_CLOEXEC) < 0 && errno == EPERM);
    CHILD_ASSERT(unlink(new_file) < 0 && errno == ENOSYS);
    CHILD_ASSERT(socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0) < 0 && errno == EPERM);
    CHILD_ASSERT(kill(getppid(), 0) < 0 && errno == EPERM);
    CHILD_ASSERT(setrlimit(RLIMIT_CORE, &limit) < 0 && errno == EPERM);
    CHILD_ASSERT(prctl(PR_SET_DUMPABLE, 1) < 0 && errno == EPERM);

    int mode = PROT_READ | PROT_WRITE;
    char *page = mmap(NULL, 4096, mode, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHILD_ASSERT(page != MAP_FAILED);
    CHILD_ASSERT(mprotect(page, 4096, PROT_READ | PROT_EXEC) < 0 && errno == EPERM);
    mode |= PROT_EXEC;
    CHILD_ASSERT(mmap(NULL, 4096, mode, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
}

static void abort_under_the_filter(const char *folder)
{
    (void)folder;
    signal(SIGABRT, SIG_DFL);
    install_filter();
    abort();
}

TEST(the_filter_allows_the_calls_of_a_server)
{
    if (HARDENING_SANITIZED)
        skip();
    assert_int_equal(run_child(use_allowed_calls, NULL), 0);
}

TEST(the_filter_refuses_programs_writes_and_signals)
{
    if (HARDENING_SANITIZED)
        skip();

    char *folder = folder_make();
    assert_int_equal(run_child(use_refused_calls, folder), 0);
    folder_remove(folder);
}

TEST(the_filter_allows_abort)
{
    if (HARDENING_SANITIZED)
        skip();

    int status = run_child(abort_under_the_filter, NULL);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
}

/* ---- Landlock ---- */

static bool can_read(const char *folder, const char *name)
{
    CLEANUP(free_cleanup) char *path = folder_path(folder, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd >= 0)
        close(fd);
    else
        CHILD_ASSERT(errno == EACCES || errno == ENOENT);
    return fd >= 0;
}

static void restrict_to_path(const char *path)
{
    struct error err;
    struct landlock *l = landlock_new(&err);

    CHILD_ASSERT(l != NULL);
    CHILD_ASSERT(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    landlock_allow_replaceable(l, path);
    CHILD_ASSERT(landlock_restrict(l, &err));
    landlock_free(l);
}

/* Allows one path below the folder, as for a path in an option. */
static void restrict_to(const char *folder, const char *name)
{
    CLEANUP(free_cleanup) char *path = folder_path(folder, name);

    restrict_to_path(path);
}

static void check_file(const char *folder)
{
    CLEANUP(free_cleanup) char *new_file = folder_path(folder, "here/new");

    restrict_to(folder, "here/file");
    CHILD_ASSERT(can_read(folder, "here/file"));
    CHILD_ASSERT(can_read(folder, "here/other"));
    CHILD_ASSERT(!can_read(folder, "there/file"));
    CHILD_ASSERT(!can_read(folder, "here/outside"));
    CHILD_ASSERT(!can_read(folder, "here/missing"));
    CHILD_ASSERT(open(new_file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) < 0 && errno == EACCES);
    CHILD_ASSERT(open("/etc/passwd", O_RDONLY | O_CLOEXEC) < 0 && errno == EACCES);
}

static void check_link(const char *folder)
{
    restrict_to(folder, "here/outside");
    CHILD_ASSERT(can_read(folder, "here/outside"));
    CHILD_ASSERT(can_read(folder, "here/file"));
    CHILD_ASSERT(can_read(folder, "there/file"));
    CHILD_ASSERT(!can_read(folder, "third/file"));
}

static void check_folder(const char *folder)
{
    restrict_to(folder, "here/tree");
    CHILD_ASSERT(can_read(folder, "here/tree"));
    CHILD_ASSERT(can_read(folder, "here/tree/deep/file"));
    CHILD_ASSERT(!can_read(folder, "there/file"));
}

static void check_missing_file(const char *folder)
{
    restrict_to(folder, "there/later/file");
    CHILD_ASSERT(can_read(folder, "there/file"));
    CHILD_ASSERT(!can_read(folder, "here/file"));
}

static bool can_open(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static void check_file_of_etc(const char *folder)
{
    CHILD_ASSERT(can_open("/etc/passwd"));
    restrict_to_path("/etc/nsswitch.conf");
    CHILD_ASSERT(can_open("/etc/nsswitch.conf"));
    CHILD_ASSERT(!can_open("/etc/passwd") && errno == EACCES);
    CHILD_ASSERT(!can_open("/etc/shadow"));
    CHILD_ASSERT(!can_open("/etc") && errno == EACCES);
    CHILD_ASSERT(!can_read(folder, "here/file"));
}

static void check_missing_file_of_etc(const char *folder)
{
    (void)folder;
    restrict_to_path("/etc/a-folder-of-a-test/file");
    CHILD_ASSERT(!can_open("/etc/passwd") && errno == EACCES);
}

static void check_link_into_etc(const char *folder)
{
    CLEANUP(free_cleanup) char *path = folder_path(folder, "here/system");

    restrict_to_path(path);
    CHILD_ASSERT(can_open(path));
    CHILD_ASSERT(can_read(folder, "here/file"));
    CHILD_ASSERT(!can_open("/etc/passwd") && errno == EACCES);
}

static void check_folder_of_tmp(const char *folder)
{
    restrict_to_path(folder);
    CHILD_ASSERT(can_read(folder, "here/file"));
    CHILD_ASSERT(!can_open(P_tmpdir) && errno == EACCES);
}

static void check_file_of_root(const char *folder)
{
    restrict_to("", "missing-file-of-a-test");
    CHILD_ASSERT(!can_read(folder, "here/file"));
}

static struct landlock_case {
    const char *name;
    void (*body)(const char *folder);
} landlock_cases[] = {
    {"a file that is replaced", check_file},
    {"a link", check_link},
    {"a folder", check_folder},
    {"a missing file", check_missing_file},
    {"a file of the root folder", check_file_of_root},
    {"a file of /etc", check_file_of_etc},
    {"a missing file in /etc", check_missing_file_of_etc},
    {"a link into /etc", check_link_into_etc},
    {"a folder in /tmp", check_folder_of_tmp},
};

TEST_ROWS(landlock_limits_reads_by_named_path, landlock_cases, name)
{
    const struct landlock_case *row = *state;

    if (HARDENING_SANITIZED || landlock_version() == 0)
        skip();

    char *folder = folder_make();
    folder_mkdir(folder, "here");
    folder_mkdir(folder, "here/tree");
    folder_mkdir(folder, "here/tree/deep");
    folder_mkdir(folder, "there");
    folder_mkdir(folder, "third");
    folder_write(folder, "here/file", "1");
    folder_write(folder, "here/other", "1");
    folder_write(folder, "here/tree/deep/file", "1");
    folder_write(folder, "there/file", "1");
    folder_write(folder, "third/file", "1");
    folder_link(folder, "../there/file", "here/outside");
    folder_link(folder, "/etc/nsswitch.conf", "here/system");
    assert_int_equal(run_child(row->body, folder), 0);
    folder_remove(folder);
}
