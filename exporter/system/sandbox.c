/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/system/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <linux/sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "exporter/system/file.h"

/* ---- Landlock ---- */

/* As in linux/landlock.h, which knows fewer versions where it is old, and in no libc. */
enum {
    RULESET_VERSION = 1 << 0,
    RULE_PATH_BENEATH = 1,
    MAY_READ_FILE = 1 << 2,
    MAY_READ_DIR = 1 << 3,
    SCOPE_ABSTRACT_SOCKETS = 1 << 0,
    SCOPE_SIGNALS = 1 << 1,
    VERSION_OF_SCOPES = 6,
};

struct ruleset {
    uint64_t handled_files;
    uint64_t handled_network;
    uint64_t scoped;
};

struct path_rule {
    uint64_t allowed;
    int32_t folder;
} __attribute__((packed));

/* By version, from 1: how many kinds of access to files it knows, and how much of the struct. */
static const struct {
    unsigned accesses;
    size_t bytes;
} versions[] = {{13, 8}, {14, 8}, {15, 8}, {15, 16}, {16, 16}, {16, 24}};

struct landlock {
    int ruleset;
};

int landlock_version(void)
{
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, RULESET_VERSION);

    return version > 0 ? (int)version : 0;
}

struct landlock *landlock_new(struct error *err)
{
    int version = landlock_version();
    size_t at = (size_t)version < ARRAY_LEN(versions) ? (size_t)version : ARRAY_LEN(versions);
    struct ruleset rules = {.handled_files = 0};

    if (version == 0) {
        fail(err, "the kernel has no Landlock");
        return NULL;
    }
    rules.handled_files = (1U << versions[at - 1].accesses) - 1;
    if (version >= VERSION_OF_SCOPES)
        rules.scoped = SCOPE_ABSTRACT_SOCKETS | SCOPE_SIGNALS;

    long fd = syscall(SYS_landlock_create_ruleset, &rules, versions[at - 1].bytes, 0);
    if (fd < 0) {
        fail(err, "cannot make a ruleset: %s", strerror(errno));
        return NULL;
    }

    struct landlock *l = xcalloc(1, sizeof(*l));
    l->ruleset = (int)fd;
    return l;
}

void landlock_free(struct landlock *l)
{
    if (!l)
        return;
    close(l->ruleset);
    free(l);
}

void landlock_allow_read(struct landlock *l, const char *path)
{
    struct stat about;
    CLEANUP(file_close) int fd = open(path, O_PATH | O_CLOEXEC);

    if (fd < 0 || fstat(fd, &about) < 0)
        return;

    struct path_rule rule = {.allowed = MAY_READ_FILE, .folder = fd};
    if (S_ISDIR(about.st_mode))
        rule.allowed |= MAY_READ_DIR;
    /* What is not allowed for whatever reason can be said once it is to be read. */
    (void)syscall(SYS_landlock_add_rule, l->ruleset, RULE_PATH_BENEATH, &rule, 0);
}

/* Does the folder hold files of others, secrets among them? `folder` has no links in it. */
static bool is_shared(const char *folder)
{
    static const char *const patterns[] = {
        "/",
        "/boot",
        "/dev",
        "/etc",
        "/etc/pki",
        "/etc/pki/tls",
        "/etc/pki/tls/private",
        "/etc/ssl",
        "/etc/ssl/private",
        "/home",
        "/hom[e]/*", /* The home folders, as the gate "words" accepts it. */
        "/proc",
        "/root",
        "/run",
        "/sys",
        "/tmp",
        "/usr",
        "/usr/local",
        "/usr/local/etc",
        "/var",
        "/var/lib",
        "/var/tmp",
    };

    for (size_t i = 0; i < ARRAY_LEN(patterns); i++) {
        if (fnmatch(patterns[i], folder, FNM_PATHNAME) == 0)
            return true;
    }
    return false;
}

/* Its folder, or the nearest above that exists. */
static void allow_folder_of(struct landlock *l, const char *path)
{
    CLEANUP(free_cleanup) char *folder = NULL;
    CLEANUP(free_cleanup) char *real = NULL;
    struct statx about;

    if (statx(AT_FDCWD, path, 0, STATX_TYPE, &about) == 0 &&
        (about.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0)
        return;
    if (asprintf(&folder, "%s%s", path[0] == '/' ? "" : "./", path) < 0)
        memory_exhausted(0);
    for (size_t len = strlen(folder); !real && len > 1;) {
        while (len > 1 && folder[len - 1] == '/')
            len--;
        while (len > 1 && folder[len - 1] != '/')
            len--;
        while (len > 1 && folder[len - 1] == '/')
            len--;
        folder[len] = '\0';
        real = realpath(folder, NULL);
    }
    if (real && !is_shared(real))
        landlock_allow_read(l, real);
}

void landlock_allow_replaceable(struct landlock *l, const char *path)
{
    CLEANUP(free_cleanup) char *real = realpath(path, NULL);

    landlock_allow_read(l, path);
    allow_folder_of(l, path);
    if (real)
        allow_folder_of(l, real);
}

bool landlock_restrict(struct landlock *l, struct error *err)
{
    if (syscall(SYS_landlock_restrict_self, l->ruleset, 0) < 0)
        return fail(err, "cannot enforce a ruleset: %s", strerror(errno));
    return true;
}

/* ---- seccomp ---- */

/* Calls that are allowed with any arguments. */
static const int free_calls[] = {
    /* Waiting and time. */
    SYS_futex, SYS_ppoll, SYS_epoll_pwait, SYS_clock_gettime, SYS_clock_getres, SYS_clock_nanosleep,
    SYS_nanosleep, SYS_gettimeofday, SYS_pselect6, SYS_epoll_create1, SYS_epoll_ctl, SYS_eventfd2,
    SYS_signalfd4, SYS_timerfd_create, SYS_timerfd_settime, SYS_timerfd_gettime,
    SYS_restart_syscall,
    /* Descriptors and files. Landlock limits the files. A memfd holds standard input. */
    SYS_read, SYS_write, SYS_readv, SYS_writev, SYS_pread64, SYS_lseek, SYS_close, SYS_newfstatat,
    SYS_fstat, SYS_statx, SYS_statfs, SYS_fstatfs, SYS_faccessat, SYS_readlinkat, SYS_getdents64,
    SYS_getcwd, SYS_fcntl, SYS_dup, SYS_dup3, SYS_pipe2, SYS_fadvise64, SYS_inotify_init1,
    SYS_inotify_add_watch, SYS_inotify_rm_watch, SYS_memfd_create,
    /* Sockets. The conditions below limit their families. */
    SYS_recvfrom, SYS_sendto, SYS_sendmsg, SYS_recvmsg, SYS_sendmmsg, SYS_recvmmsg, SYS_accept4,
    SYS_accept, SYS_connect, SYS_bind, SYS_listen, SYS_shutdown, SYS_getsockname, SYS_getpeername,
    SYS_getsockopt, SYS_setsockopt, SYS_socketpair,
    /* Memory. */
    SYS_munmap, SYS_mremap, SYS_madvise, SYS_brk,
    /* Threads and signals. */
    SYS_rt_sigprocmask, SYS_rt_sigaction, SYS_rt_sigreturn, SYS_rt_sigtimedwait, SYS_sigaltstack,
    SYS_set_robust_list, SYS_get_robust_list, SYS_set_tid_address, SYS_rseq, SYS_membarrier,
    SYS_sched_yield, SYS_sched_getaffinity, SYS_exit, SYS_exit_group,
/* Calls of newer kernels, and those that only the older architecture has. */
#ifdef SYS_faccessat2
    SYS_faccessat2,
#endif
#ifdef SYS_epoll_pwait2
    SYS_epoll_pwait2,
#endif
#ifdef __x86_64__
    SYS_poll, SYS_epoll_wait, SYS_stat, SYS_lstat, SYS_access, SYS_readlink, SYS_select, SYS_pipe,
    SYS_dup2, SYS_eventfd, SYS_getrlimit, SYS_time,
#endif
    /* Information about the process and the system. */
    SYS_getrandom, SYS_getpid, SYS_getppid, SYS_gettid, SYS_getuid, SYS_geteuid, SYS_getgid,
    SYS_getegid, SYS_getrusage, SYS_sysinfo, SYS_uname};

/* Conditions on the lower 32 bits of an argument; the kernel ignores the upper ones of an int. */
#define IS(argument, value)   SCMP_CMP64(argument, SCMP_CMP_MASKED_EQ, UINT32_MAX, value)
#define HAS(argument, bit)    SCMP_CMP64(argument, SCMP_CMP_MASKED_EQ, bit, bit)
#define LACKS(argument, bits) SCMP_CMP64(argument, SCMP_CMP_MASKED_EQ, bits, 0)
#define IS_NULL(argument)     SCMP_CMP64(argument, SCMP_CMP_EQ, 0, 0)

/* Calls that are allowed if the condition of one of their lines holds. */
static const struct bound_call {
    int call;
    struct scmp_arg_cmp condition; /* Arguments are counted from 0. */
} bound_calls[] = {
    {SYS_openat, LACKS(2, O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)},
    {SYS_socket, IS(0, AF_INET)},
    {SYS_socket, IS(0, AF_INET6)},
    {SYS_socket, IS(0, AF_UNIX)},    /* Resolvers. */
    {SYS_socket, IS(0, AF_NETLINK)}, /* getaddrinfo(3) reads the addresses of the host. */
    {SYS_mmap, LACKS(2, PROT_WRITE)},
    {SYS_mmap, LACKS(2, PROT_EXEC)}, /* Never both. The resolver loads its modules. */
    {SYS_mprotect, LACKS(2, PROT_EXEC)},
    /* Threads, no processes. A filter cannot read the flags of clone3, which glibc tries first. */
    {SYS_clone, HAS(0, CLONE_THREAD)},
    {SYS_ioctl, IS(1, TCGETS)}, /* isatty(3) */
    {SYS_ioctl, IS(1, FIONREAD)},
    {SYS_ioctl, IS(1, FIONBIO)},
    {SYS_ioctl, IS(1, TIOCOUTQ)}, /* Bytes that a client has not acknowledged. */
    {SYS_prctl, IS(0, PR_SET_NAME)},
    {SYS_prctl, IS(0, PR_GET_NAME)},
    {SYS_prctl, IS(0, PR_GET_SECCOMP)},
    {SYS_prlimit64, IS_NULL(2)}, /* To read limits, not to change them. */
};

/* Signals to the own process, for abort(3). */
static const int signal_calls[] = {SYS_tgkill, SYS_kill};

static const struct attribute {
    enum scmp_filter_attr name;
    uint32_t value;
} attributes[] = {
    {SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS},
    {SCMP_FLTATR_CTL_NNP, 0}, /* The caller has set PR_SET_NO_NEW_PRIVS. */
    {SCMP_FLTATR_CTL_TSYNC, 1},
    {SCMP_FLTATR_CTL_LOG, 1},      /* The kernel's audit log gets refused calls. */
    {SCMP_FLTATR_CTL_OPTIMIZE, 2}, /* A binary search for the call. */
};

/*
 * Sets the attributes of a filter and adds the rules: calls with their conditions, or the bare
 * calls. Returns 0, or a negative error number.
 */
static int fill(scmp_filter_ctx filter, bool conditions)
{
    const struct scmp_arg_cmp own_process = IS(0, (uint32_t)getpid());
    unsigned count = conditions ? 1 : 0;
    int code = 0;

    for (size_t i = 0; code == 0 && i < ARRAY_LEN(attributes); i++)
        code = seccomp_attr_set(filter, attributes[i].name, attributes[i].value);
    for (size_t i = 0; code == 0 && i < ARRAY_LEN(free_calls); i++)
        code = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, free_calls[i], 0, NULL);
    for (size_t i = 0; code == 0 && i < ARRAY_LEN(bound_calls); i++)
        code = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, bound_calls[i].call, count,
                                      &bound_calls[i].condition);
    for (size_t i = 0; code == 0 && i < ARRAY_LEN(signal_calls); i++)
        code = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, signal_calls[i], count, &own_process);
    return code;
}

/*
 * Two filters, since a libseccomp filter has one error for everything that it does not allow. The
 * first one allows calls by their arguments (EPERM), the second one by their number (ENOSYS). Where
 * both refuse a call, the kernel takes the error of the filter that was loaded last.
 */
bool seccomp_install(struct error *err)
{
    scmp_filter_ctx by_arguments = seccomp_init(SCMP_ACT_ERRNO(EPERM));
    scmp_filter_ctx by_number = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
    int code = by_arguments && by_number ? fill(by_arguments, true) : -ENOMEM;

    if (code == 0)
        code = fill(by_number, false);
    if (code == 0) /* For the second filter, which does not allow the call. */
        code = seccomp_rule_add_array(by_arguments, SCMP_ACT_ALLOW, SYS_seccomp, 0, NULL);
    if (code == 0)
        code = seccomp_load(by_arguments);
    if (code == 0)
        code = seccomp_load(by_number);
    seccomp_release(by_arguments);
    seccomp_release(by_number);
    return code == 0 || fail(err, "cannot install the filter: %s", strerror(-code));
}
