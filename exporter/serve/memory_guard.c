/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/serve/memory_guard.h"

#include <malloc.h>

#include "exporter/system/process.h"

enum {
    LOOK_EVERY_MS = 1000,
    HOLD_MS = 60 * 1000,
    /* In hundredths of the limit. */
    SHED_AT = 80,
    RESTORE_BELOW = 70,
    WARN_AT = 95,
};

static bool is_at_least(uint64_t bytes, uint64_t limit, unsigned hundredths)
{
    return (double)bytes * 100 >= (double)limit * hundredths;
}

enum memory_step memory_guard_decide(struct memory_guard *g, const struct registry *r,
                                     uint64_t resident, int64_t now_ms)
{
    /* A reload has made another one, which has all. */
    if (g->registry && g->registry != r)
        g->registry = NULL;
    if (!g->registry) {
        if (!is_at_least(resident, g->limit, SHED_AT))
            return MEMORY_KEEP;
        g->registry = r;
        g->before = resident;
        g->measured = false;
        g->changed_ms = now_ms;
        return MEMORY_SHED;
    }
    if (!g->measured)
        g->freed = g->before > resident ? g->before - resident : 0;
    g->measured = true;
    if (now_ms - g->changed_ms < HOLD_MS ||
        is_at_least(resident + g->freed, g->limit, RESTORE_BELOW))
        return MEMORY_KEEP;
    g->registry = NULL;
    return MEMORY_RESTORE;
}

static void log_memory(const struct log *log, enum log_level level, const char *message,
                       uint64_t resident, uint64_t limit)
{
    log_write(log, level, message, "resident", LOG_NUMBER((int64_t)resident), "limit",
              LOG_NUMBER((int64_t)limit));
}

static void warn_if_used_up(struct memory_guard *g, uint64_t resident, const struct log *log)
{
    bool used_up = is_at_least(resident, g->limit, WARN_AT);

    if (used_up && !g->warned)
        log_memory(log, LOG_LEVEL_ERROR,
                   "memory is nearly used up; raise the limit, or watch fewer namespaces", resident,
                   g->limit);
    g->warned = used_up;
}

bool memory_guard_turn(struct memory_guard *g, struct registry *r, const struct log *log,
                       int64_t now_ms)
{
    if (g->limit == 0 || now_ms - g->looked_ms < LOOK_EVERY_MS)
        return false;
    g->looked_ms = now_ms;
    uint64_t resident = process_resident_bytes();

    switch (memory_guard_decide(g, r, resident, now_ms)) {
    case MEMORY_SHED:
        log_memory(log, LOG_LEVEL_WARN,
                   "memory is short; metrics with one series an object are left out", resident,
                   g->limit);
        registry_show_details(r, false);
        /* The C library would keep what was freed, and the kernel counts what it keeps. */
        malloc_trim(0);
        return true;
    case MEMORY_RESTORE:
        log_memory(log, LOG_LEVEL_INFO,
                   "memory suffices again; metrics with one series an object are back", resident,
                   g->limit);
        registry_show_details(r, true);
        return true;
    case MEMORY_KEEP:
        break;
    }
    warn_if_used_up(g, resident, log);
    return false;
}
