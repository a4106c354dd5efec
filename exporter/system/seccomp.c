/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/system/seccomp.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define OUR_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OUR_ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#define OUR_ARCHITECTURE 0
#endif

/* Whatever their arguments are. The frequent ones first. */
static const unsigned free_calls[] = {
    /* waiting, time */
    SYS_futex,
    SYS_ppoll,
    SYS_epoll_pwait,
    SYS_clock_gettime,
    SYS_clock_getres,
    SYS_clock_nanosleep,
    SYS_nanosleep,
    SYS_gettimeofday,
    SYS_pselect6,
    SYS_epoll_create1,
    SYS_epoll_ctl,
    SYS_eventfd2,
    SYS_signalfd4,
    SYS_timerfd_create,
    SYS_timerfd_settime,
    SYS_timerfd_gettime,
    SYS_restart_syscall,
    /* descriptors and files; which of them may be read, Landlock says */
    SYS_read,
    SYS_write,
    SYS_readv,
    SYS_writev,
    SYS_pread64,
    SYS_lseek,
    SYS_close,
    SYS_newfstatat,
    SYS_fstat,
    SYS_statx,
    SYS_statfs,
    SYS_fstatfs,
    SYS_faccessat,
    SYS_readlinkat,
    SYS_getdents64,
    SYS_getcwd,
    SYS_fcntl,
    SYS_dup,
    SYS_dup3,
    SYS_pipe2,
    SYS_fadvise64,
    SYS_inotify_init1,
    SYS_inotify_add_watch,
    SYS_inotify_rm_watch,
    SYS_memfd_create, /* memfd: what standard input held */
    /* sockets, of the families below */
    SYS_recvfrom,
    SYS_sendto,
    SYS_sendmsg,
    SYS_recvmsg,
    SYS_sendmmsg,
    SYS_recvmmsg,
    SYS_accept4,
    SYS_accept,
    SYS_connect,
    SYS_bind,
    SYS_listen,
    SYS_shutdown,
    SYS_getsockname,
    SYS_getpeername,
    SYS_getsockopt,
    SYS_setsockopt,
    SYS_socketpair,
    /* memory */
    SYS_munmap,
    SYS_mremap,
    SYS_madvise,
    SYS_brk,
    /* threads and signals */
    SYS_rt_sigprocmask,
    SYS_rt_sigaction,
    SYS_rt_sigreturn,
    SYS_rt_sigtimedwait,
    SYS_sigaltstack,
    SYS_set_robust_list,
    SYS_get_robust_list,
    SYS_set_tid_address,
    SYS_rseq,
    SYS_membarrier,
    SYS_sched_yield,
    SYS_sched_getaffinity,
    SYS_exit,
    SYS_exit_group,
    /* what there is to know */
    SYS_getrandom,
    SYS_getpid,
    SYS_getppid,
    SYS_gettid,
    SYS_getuid,
    SYS_geteuid,
    SYS_getgid,
    SYS_getegid,
    SYS_getrusage,
    SYS_sysinfo,
    SYS_uname,
/* Newer ones, and those of the older architecture alone. */
#ifdef SYS_faccessat2
    SYS_faccessat2,
#endif
#ifdef SYS_epoll_pwait2
    SYS_epoll_pwait2,
#endif
#ifdef __x86_64__
    SYS_poll,
    SYS_epoll_wait,
    SYS_stat,
    SYS_lstat,
    SYS_access,
    SYS_readlink,
    SYS_select,
    SYS_pipe,
    SYS_dup2,
    SYS_eventfd,
    SYS_getrlimit,
    SYS_time,
#endif
};

/* Those that depend on an argument. A call that has several lines is allowed by any of them. */
enum condition {
    IS,    /* Equals the value. */
    HAS,   /* Has a bit of it. */
    LACKS, /* Has none. */
    NULL_POINTER,
    OUR_PROCESS,
};
static const struct bound_call {
    unsigned call;
    unsigned argument; /* Counted from 0. */
    enum condition condition;
    uint32_t value;
} bound_calls[] = {
    {SYS_openat, 2, LACKS, O_WRONLY | O_RDWR | O_CREAT | O_TRUNC},
    {SYS_socket, 0, IS, AF_INET},
    {SYS_socket, 0, IS, AF_INET6},
    {SYS_socket, 0, IS, AF_UNIX},    /* Resolvers. */
    {SYS_socket, 0, IS, AF_NETLINK}, /* getaddrinfo(3) looks which addresses there are. */
    {SYS_mmap, 2, LACKS, PROT_WRITE},
    {SYS_mmap, 2, LACKS, PROT_EXEC}, /* Never both. The resolver loads its modules. */
    {SYS_mprotect, 2, LACKS, PROT_EXEC},
    /* Threads, no processes. glibc tries clone3 first, whose flags a filter cannot see. */
    {SYS_clone, 0, HAS, CLONE_THREAD},
    {SYS_ioctl, 1, IS, TCGETS}, /* Is it a terminal? */
    {SYS_ioctl, 1, IS, FIONREAD},
    {SYS_ioctl, 1, IS, FIONBIO},
    {SYS_ioctl, 1, IS, TIOCOUTQ}, /* Does a client take what it is sent? */
    {SYS_prctl, 0, IS, PR_SET_NAME},
    {SYS_prctl, 0, IS, PR_GET_NAME},
    {SYS_prctl, 0, IS, PR_GET_SECCOMP},
    {SYS_prlimit64, 2, NULL_POINTER, 0}, /* To look, not to change. */
    {SYS_tgkill, 0, OUR_PROCESS, 0},     /* abort(3) */
    {SYS_kill, 0, OUR_PROCESS, 0},
};

enum {
    INSTRUCTIONS_MAX = 512,
};

struct program {
    struct sock_filter items[INSTRUCTIONS_MAX];
    unsigned short count;
};

static void add(struct program *p, struct sock_filter instruction)
{
    assert(p->count < INSTRUCTIONS_MAX);
    p->items[p->count++] = instruction;
}

static void load(struct program *p, size_t offset)
{
    add(p, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset));
}

static void answer(struct program *p, uint32_t action)
{
    add(p, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action));
}

/* Skip so many instructions if the comparison holds, or if it does not. */
static void jump(struct program *p, unsigned comparison, uint32_t value, uint8_t holds,
                 uint8_t holds_not)
{
    add(p, (struct sock_filter)BPF_JUMP((uint16_t)(BPF_JMP | BPF_K | comparison), value, holds,
                                        holds_not));
}

/* Of an argument's 64 bits the lower 32; both architectures are little-endian. */
static size_t argument(unsigned at)
{
    return offsetof(struct seccomp_data, args) + at * sizeof(uint64_t);
}

static void add_bound_call(struct program *p, const struct bound_call *c)
{
    bool negated = c->condition == LACKS;
    uint32_t value = c->condition == OUR_PROCESS ? (uint32_t)getpid() : c->value;
    unsigned comparison = c->condition == HAS || negated ? BPF_JSET : BPF_JEQ;

    load(p, offsetof(struct seccomp_data, nr));
    jump(p, BPF_JEQ, c->call, 0, c->condition == NULL_POINTER ? 5 : 3);
    if (c->condition == NULL_POINTER) {
        load(p, argument(c->argument) + sizeof(uint32_t));
        jump(p, BPF_JEQ, 0, 0, 3);
    }
    load(p, argument(c->argument));
    jump(p, comparison, value, negated ? 1 : 0, negated ? 0 : 1);
    answer(p, SECCOMP_RET_ALLOW);
}

static void write_program(struct program *p)
{
    load(p, offsetof(struct seccomp_data, arch));
    jump(p, BPF_JEQ, OUR_ARCHITECTURE, 1, 0);
    answer(p, SECCOMP_RET_KILL_PROCESS);
    load(p, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < ARRAY_LEN(free_calls); i++) {
        jump(p, BPF_JEQ, free_calls[i], 0, 1);
        answer(p, SECCOMP_RET_ALLOW);
    }
    for (size_t i = 0; i < ARRAY_LEN(bound_calls); i++)
        add_bound_call(p, &bound_calls[i]);
    /* A call of which there are only lines that do not hold. */
    load(p, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < ARRAY_LEN(bound_calls); i++) {
        if (i > 0 && bound_calls[i].call == bound_calls[i - 1].call)
            continue;
        jump(p, BPF_JEQ, bound_calls[i].call, 0, 1);
        answer(p, SECCOMP_RET_ERRNO | EPERM);
    }
    answer(p, SECCOMP_RET_ERRNO | ENOSYS);
}

bool seccomp_install(struct error *err)
{
    struct program p = {.count = 0};

    if (OUR_ARCHITECTURE == 0)
        return fail(err, "there is no filter for this architecture");
    write_program(&p);

    const struct sock_fprog program = {.len = p.count, .filter = p.items};
    /* What is refused is in the kernel's audit log. */
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_LOG, &program) != 0)
        return fail(err, "cannot install the filter: %s", strerror(errno));
    return true;
}
