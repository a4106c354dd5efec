/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/system/seccomp.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

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
