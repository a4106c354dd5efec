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

/* What is for good is done in a child, which says by its exit status how far it came. */
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

/* In the child: ends it, with the line, unless the claim holds. */
#define HOLDS(claim)                                                                               \
    do {                                                                                           \
        if (!(claim)) {                                                                            \
            fprintf(stderr, "%s:%d: %s (errno %d)\n", __FILE__, __LINE__, #claim, errno);          \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

/* ---- seccomp ---- */

static void install(void)
{
    struct error err;

    HOLDS(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    HOLDS(seccomp_install(&err));
}

static void *open_a_file(void *result)
{
    *(int *)result = open("/dev/null", O_RDONLY | O_CLOEXEC);
    return NULL;
}

static void what_serving_needs(const char *folder)
{
    struct addrinfo *found = NULL;
    struct rlimit limit;
    pthread_t thread;
    int opened = -1;

    (void)folder;
    install();
    HOLDS(prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == SECCOMP_MODE_FILTER);
    HOLDS(pthread_create(&thread, NULL, open_a_file, &opened) == 0);
    HOLDS(pthread_join(thread, NULL) == 0);
    HOLDS(opened >= 0);
    HOLDS(getaddrinfo("localhost", "443", NULL, &found) == 0);
    freeaddrinfo(found);
    HOLDS(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    HOLDS(socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0) >= 0);
    HOLDS(poll(NULL, 0, 1) == 0);
    /* Enough for malloc to ask the kernel, and to move it. */
    char *large = xreallocarray(xcalloc(1, 1 << 20), 64, 1 << 20);
    HOLDS(large[(1 << 20) - 1] == 0);
    free(large);
    malloc_trim(0);
}

static void what_an_intruder_wants(const char *folder)
{
    static char *const nothing[] = {NULL};
    CLEANUP(free_cleanup) char *new_file = folder_path(folder, "new");
    struct rlimit limit = {0, 0};
    pid_t spawned;

    install();
    HOLDS(execve("/bin/true", nothing, nothing) < 0 && errno == ENOSYS);
    HOLDS(posix_spawn(&spawned, "/bin/true", NULL, NULL, nothing, nothing) != 0);
    HOLDS(fork() < 0 && errno == EPERM);
    HOLDS(open(new_file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) < 0 && errno == EPERM);
    HOLDS(open("/dev/null", O_RDWR | O_CLOEXEC) < 0 && errno == EPERM);
    HOLDS(unlink(new_file) < 0 && errno == ENOSYS);
    HOLDS(socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0) < 0 && errno == EPERM);
    HOLDS(kill(getppid(), 0) < 0 && errno == EPERM);
    HOLDS(setrlimit(RLIMIT_CORE, &limit) < 0 && errno == EPERM);
    HOLDS(prctl(PR_SET_DUMPABLE, 1) < 0 && errno == EPERM);

    int mode = PROT_READ | PROT_WRITE;
    char *page = mmap(NULL, 4096, mode, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    HOLDS(page != MAP_FAILED);
    HOLDS(mprotect(page, 4096, PROT_READ | PROT_EXEC) < 0 && errno == EPERM);
    mode |= PROT_EXEC;
    HOLDS(mmap(NULL, 4096, mode, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
}

static void ends_itself(const char *folder)
{
    (void)folder;
    signal(SIGABRT, SIG_DFL);
    install();
    abort();
}

TEST(serving_works_under_the_filter)
{
    if (HARDENING_SANITIZED)
        skip();
    assert_int_equal(run_child(what_serving_needs, NULL), 0);
}

TEST(nothing_else_works_under_the_filter)
{
    if (HARDENING_SANITIZED)
        skip();

    char *folder = folder_make();
    assert_int_equal(run_child(what_an_intruder_wants, folder), 0);
    folder_remove(folder);
}

TEST(a_programming_error_still_ends_the_process)
{
    if (HARDENING_SANITIZED)
        skip();

    int status = run_child(ends_itself, NULL);
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
        HOLDS(errno == EACCES || errno == ENOENT);
    return fd >= 0;
}

static void restrict_to_path(const char *path)
{
    struct error err;
    struct landlock *l = landlock_new(&err);

    HOLDS(l != NULL);
    HOLDS(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    landlock_allow_named(l, path);
    HOLDS(landlock_restrict(l, &err));
    landlock_free(l);
}

/* Allows one path that a user named: "here/file", "link", "later/file" ... */
static void restrict_to(const char *folder, const char *name)
{
    CLEANUP(free_cleanup) char *path = folder_path(folder, name);

    restrict_to_path(path);
}

static void a_file_that_is_replaced(const char *folder)
{
    CLEANUP(free_cleanup) char *new_file = folder_path(folder, "here/new");

    restrict_to(folder, "here/file");
    HOLDS(can_read(folder, "here/file"));
    HOLDS(can_read(folder, "here/other"));
    HOLDS(!can_read(folder, "there/file"));
    HOLDS(!can_read(folder, "here/outside"));
    HOLDS(!can_read(folder, "here/missing"));
    HOLDS(open(new_file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) < 0 && errno == EACCES);
    HOLDS(open("/etc/passwd", O_RDONLY | O_CLOEXEC) < 0 && errno == EACCES);
}

static void the_folder_of_a_link_and_of_what_it_is_to(const char *folder)
{
    restrict_to(folder, "here/outside");
    HOLDS(can_read(folder, "here/outside"));
    HOLDS(can_read(folder, "here/file"));
    HOLDS(can_read(folder, "there/file"));
    HOLDS(!can_read(folder, "third/file"));
}

static void a_tree(const char *folder)
{
    restrict_to(folder, "here/tree");
    HOLDS(can_read(folder, "here/tree"));
    HOLDS(can_read(folder, "here/tree/deep/file"));
    HOLDS(!can_read(folder, "there/file"));
}

static void what_is_not_there_yet(const char *folder)
{
    restrict_to(folder, "there/later/file");
    HOLDS(can_read(folder, "there/file"));
    HOLDS(!can_read(folder, "here/file"));
}

static bool can_open(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static void the_file_alone_of_a_folder_that_all_share(const char *folder)
{
    HOLDS(can_open("/etc/passwd"));
    restrict_to_path("/etc/nsswitch.conf");
    HOLDS(can_open("/etc/nsswitch.conf"));
    HOLDS(!can_open("/etc/passwd") && errno == EACCES);
    HOLDS(!can_open("/etc/shadow"));
    HOLDS(!can_open("/etc") && errno == EACCES);
    HOLDS(!can_read(folder, "here/file"));
}

static void no_shared_folder_of_what_is_not_there_yet(const char *folder)
{
    (void)folder;
    restrict_to_path("/etc/a-folder-of-a-test/file");
    HOLDS(!can_open("/etc/passwd") && errno == EACCES);
}

static void no_shared_folder_of_a_link(const char *folder)
{
    CLEANUP(free_cleanup) char *path = folder_path(folder, "here/system");

    restrict_to_path(path);
    HOLDS(can_open(path));
    HOLDS(can_read(folder, "here/file"));
    HOLDS(!can_open("/etc/passwd") && errno == EACCES);
}

static void a_folder_without_those_beside_it(const char *folder)
{
    restrict_to_path(folder);
    HOLDS(can_read(folder, "here/file"));
    HOLDS(!can_open(P_tmpdir) && errno == EACCES);
}

static void never_all_of_it(const char *folder)
{
    restrict_to("", "missing-file-of-a-test");
    HOLDS(!can_read(folder, "here/file"));
}

static struct landlock_case {
    const char *name;
    void (*body)(const char *folder);
} landlock_cases[] = {
    {"a file that is replaced", a_file_that_is_replaced},
    {"a link", the_folder_of_a_link_and_of_what_it_is_to},
    {"a tree", a_tree},
    {"what is not there yet", what_is_not_there_yet},
    {"a file of the root folder", never_all_of_it},
    {"a file of /etc", the_file_alone_of_a_folder_that_all_share},
    {"what is not there yet in /etc", no_shared_folder_of_what_is_not_there_yet},
    {"a link into /etc", no_shared_folder_of_a_link},
    {"a folder in /tmp", a_folder_without_those_beside_it},
};

TEST_ROWS(reads_what_is_allowed, landlock_cases, name)
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
