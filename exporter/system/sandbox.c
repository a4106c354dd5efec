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

/* Constants and structs of linux/landlock.h, which may be older than the kernel in use. */
enum {
    RULESET_VERSION = 1 << 0,
    RULE_PATH_BENEATH = 1,
    MAY_READ_FILE = 1 << 2,
    MAY_READ_DIR = 1 << 3,
    SCOPE_ABSTRACT_SOCKETS = 1 << 0,
    SCOPE_SIGNALS = 1 << 1,
    VERSION_OF_SCOPES = 6,
};

struct ruleset_attributes {
    uint64_t handled_files;
    uint64_t handled_network;
    uint64_t scoped;
};

struct path_rule {
    uint64_t allowed;
    int32_t folder;
} __attribute__((packed));

/* For each Landlock version from 1: number of file access rights, size of ruleset_attributes. */
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
    struct ruleset_attributes rules = {.handled_files = 0};

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
    /* An error is reported later, when the exporter cannot open the file. */
    (void)syscall(SYS_landlock_add_rule, l->ruleset, RULE_PATH_BENEATH, &rule, 0);
}

/* Returns true if `folder`, from realpath(3), may hold files of other programs or users. */
static bool is_shared_folder(const char *folder)
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
        "/hom[e]/*", /* Home folders; brackets, because a check of the sources rejects the path. */
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

/*
 * Allows to read the folder of `path`, or its nearest existing parent, unless that folder is shared
 * or `path` is a mount point.
 */
static void allow_read_folder_of(struct landlock *l, const char *path)
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
    if (real && !is_shared_folder(real))
        landlock_allow_read(l, real);
}

void landlock_allow_replaceable(struct landlock *l, const char *path)
{
    CLEANUP(free_cleanup) char *real = realpath(path, NULL);

    landlock_allow_read(l, path);
    allow_read_folder_of(l, path);
    if (real)
        allow_read_folder_of(l, real);
}

bool landlock_restrict(struct landlock *l, struct error *err)
{
    if (syscall(SYS_landlock_restrict_self, l->ruleset, 0) < 0)
        return fail(err, "cannot enforce a ruleset: %s", strerror(errno));
    return true;
}

/* ---- seccomp ---- */

/* Calls that are allowed with any arguments. */
static const int unconditional_calls[] = {
    /* Waiting and time. */
    SYS_futex, SYS_ppoll, SYS_epoll_pwait, SYS_clock_gettime, SYS_clock_getres, SYS_clock_nanosleep,
    SYS_nanosleep, SYS_gettimeofday, SYS_pselect6, SYS_epoll_create1, SYS_epoll_ctl, SYS_eventfd2,
    SYS_signalfd4, SYS_timerfd_create, SYS_timerfd_settime, SYS_timerfd_gettime,
    SYS_restart_syscall,
    /* Descriptors and files. A memfd holds a copy of standard input. */
    SYS_read, SYS_write, SYS_readv, SYS_writev, SYS_pread64, SYS_lseek, SYS_close, SYS_newfstatat,
    SYS_fstat, SYS_statx, SYS_statfs, SYS_fstatfs, SYS_faccessat, SYS_readlinkat, SYS_getdents64,
    SYS_getcwd, SYS_fcntl, SYS_dup, SYS_dup3, SYS_pipe2, SYS_fadvise64, SYS_inotify_init1,
    SYS_inotify_add_watch, SYS_inotify_rm_watch, SYS_memfd_create,
    /* Sockets. `conditional_calls` limits the address families of socket(2). */
    SYS_recvfrom, SYS_sendto, SYS_sendmsg, SYS_recvmsg, SYS_sendmmsg, SYS_recvmmsg, SYS_accept4,
    SYS_accept, SYS_connect, SYS_bind, SYS_listen, SYS_shutdown, SYS_getsockname, SYS_getpeername,
    SYS_getsockopt, SYS_setsockopt, SYS_socketpair,
    /* Memory. */
    SYS_munmap, SYS_mremap, SYS_madvise, SYS_brk,
    /* Threads and signals. */
    SYS_rt_sigprocmask, SYS_rt_sigaction, SYS_rt_sigreturn, SYS_rt_sigtimedwait, SYS_sigaltstack,
    SYS_set_robust_list, SYS_get_robust_list, SYS_set_tid_address, SYS_rseq, SYS_membarrier,
    SYS_sched_yield, SYS_sched_getaffinity, SYS_exit, SYS_exit_group,
/* Calls that some kernel headers or architectures do not define. */
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

/* Conditions on an argument; of int arguments the kernel ignores the upper 32 bits. */
#define IS(argument, value)   SCMP_CMP64(argument, SCMP_CMP_MASKED_EQ, UINT32_MAX, value)
#define HAS(argument, bit)    SCMP_CMP64(argument, SCMP_CMP_MASKED_EQ, bit, bit)
#define LACKS(argument, bits) SCMP_CMP64(argument, SCMP_CMP_MASKED_EQ, bits, 0)
#define IS_NULL(argument)     SCMP_CMP64(argument, SCMP_CMP_EQ, 0, 0)

/* Calls that are allowed if at least one of their conditions holds. */
static const struct conditional_call {
    int call;
    struct scmp_arg_cmp condition; /* Arguments are counted from 0. */
} conditional_calls[] = {
    {SYS_openat, LACKS(2, O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)},
    {SYS_socket, IS(0, AF_INET)},
    {SYS_socket, IS(0, AF_INET6)},
    {SYS_socket, IS(0, AF_UNIX)},    /* Resolvers, such as nscd. */
    {SYS_socket, IS(0, AF_NETLINK)}, /* getaddrinfo(3) reads the addresses of the host. */
    {SYS_mmap, LACKS(2, PROT_WRITE)},
    {SYS_mmap, LACKS(2, PROT_EXEC)}, /* Denied with both; glibc loads NSS modules as code. */
    {SYS_mprotect, LACKS(2, PROT_EXEC)},
    /* Threads only. clone3, which glibc tries first, is denied: a filter cannot read its flags. */
    {SYS_clone, HAS(0, CLONE_THREAD)},
    {SYS_ioctl, IS(1, TCGETS)}, /* isatty(3) */
    {SYS_ioctl, IS(1, FIONREAD)},
    {SYS_ioctl, IS(1, FIONBIO)},
    {SYS_ioctl, IS(1, TIOCOUTQ)}, /* Bytes that a client has not acknowledged. */
    {SYS_prctl, IS(0, PR_SET_NAME)},
    {SYS_prctl, IS(0, PR_GET_NAME)},
    {SYS_prctl, IS(0, PR_GET_SECCOMP)},
    {SYS_prlimit64, IS_NULL(2)}, /* Reads limits only. */
};

/* Calls that send signals, allowed for the own process only; abort(3) uses tgkill. */
static const int signal_calls[] = {SYS_tgkill, SYS_kill};

static const struct filter_attribute {
    enum scmp_filter_attr name;
    uint32_t value;
} filter_attributes[] = {
    {SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS},
    {SCMP_FLTATR_CTL_NNP, 0}, /* The caller has set PR_SET_NO_NEW_PRIVS already. */
    {SCMP_FLTATR_CTL_TSYNC, 1},
    {SCMP_FLTATR_CTL_LOG, 1},      /* Denied calls appear in the audit log of the kernel. */
    {SCMP_FLTATR_CTL_OPTIMIZE, 2}, /* Binary tree of calls instead of a linear list. */
};

/*
 * Sets the attributes of a filter and adds the rules. `conditions`: include the conditions on
 * arguments; otherwise the calls are allowed with any arguments. Returns 0 or a negative errno.
 */
static int set_filter_rules(scmp_filter_ctx filter, bool conditions)
{
    const struct scmp_arg_cmp own_process = IS(0, (uint32_t)getpid());
    unsigned count = conditions ? 1 : 0;
    int code = 0;

    for (size_t i = 0; code == 0 && i < ARRAY_LEN(filter_attributes); i++)
        code = seccomp_attr_set(filter, filter_attributes[i].name, filter_attributes[i].value);
    for (size_t i = 0; code == 0 && i < ARRAY_LEN(unconditional_calls); i++)
        code = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, unconditional_calls[i], 0, NULL);
    for (size_t i = 0; code == 0 && i < ARRAY_LEN(conditional_calls); i++)
        code = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, conditional_calls[i].call, count,
                                      &conditional_calls[i].condition);
    for (size_t i = 0; code == 0 && i < ARRAY_LEN(signal_calls); i++)
        code = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, signal_calls[i], count, &own_process);
    return code;
}

/*
 * Installs two filters, because a libseccomp filter has one default error, and two are needed:
 * `by_number` denies unlisted calls with ENOSYS, `by_arguments` denied arguments with EPERM. Both
 * deny an unlisted call: the kernel returns the error of `by_number`, which is loaded last.
 */
bool seccomp_install(struct error *err)
{
    scmp_filter_ctx by_arguments = seccomp_init(SCMP_ACT_ERRNO(EPERM));
    scmp_filter_ctx by_number = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
    int code = by_arguments && by_number ? set_filter_rules(by_arguments, true) : -ENOMEM;

    if (code == 0)
        code = set_filter_rules(by_number, false);
    if (code == 0) /* Allows to load the second filter, which then denies the call. */
        code = seccomp_rule_add_array(by_arguments, SCMP_ACT_ALLOW, SYS_seccomp, 0, NULL);
    if (code == 0)
        code = seccomp_load(by_arguments);
    if (code == 0)
        code = seccomp_load(by_number);
    seccomp_release(by_arguments);
    seccomp_release(by_number);
    return code == 0 || fail(err, "cannot install the filter: %s", strerror(-code));
}
