/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Library for LD_PRELOAD that records the duration of each turn of the exporter's main loop, from
 * the end of one poll() to the next call, as CPU time of the thread. The file that TURNS names gets
 * one uint32_t in microseconds, plus 1, for each of the first TURNS_MAX turns; zeros follow the
 * last. Only calls from the program itself count: libcurl also calls poll(), within a turn.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { TURNS_MAX = 1 << 20 };

static uint32_t *turns;
static size_t count;
static long loop;
static const void *program; /* Address of the program in memory. */

/* Returns the start of the program or the library that holds the address. */
static const void *find_module(unsigned long address)
{
    Dl_info about;

    /* dladdr() takes a pointer without const, and does not read the memory. */
    return dladdr((void *)address, &about) ? about.dli_fbase : NULL;
}

__attribute__((constructor)) static void start_recording(void)
{
    const char *path = getenv("TURNS");
    int fd = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;

    unsetenv("LD_PRELOAD");
    loop = syscall(SYS_gettid);
    program = find_module(getauxval(AT_ENTRY));
    if (fd < 0 || ftruncate(fd, TURNS_MAX * sizeof(*turns)) != 0)
        abort();
    turns = mmap(NULL, TURNS_MAX * sizeof(*turns), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (turns == MAP_FAILED)
        abort();
    close(fd);
}

static uint64_t thread_cpu_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

int poll(struct pollfd *wanted, nfds_t number, int timeout_ms)
{
    static uint64_t woken_us;
    const struct timespec left = {timeout_ms / 1000, timeout_ms % 1000 * 1000000L};
    bool turns_here = syscall(SYS_gettid) == loop &&
                      find_module((unsigned long)__builtin_return_address(0)) == program;
    int ready;

    if (turns_here && woken_us > 0 && count < TURNS_MAX)
        turns[count++] = (uint32_t)(thread_cpu_us() - woken_us) + 1;
    ready = ppoll(wanted, number, timeout_ms < 0 ? NULL : &left, NULL);
    if (turns_here)
        woken_us = thread_cpu_us();
    return ready;
}
