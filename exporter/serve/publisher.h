/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/serve/health.h"
#include "exporter/serve/throttle.h"
#include "exporter/system/log.h"
#include "exporter/web/metrics_page.h"
#include "metrics/rules/findings.h"

/* Writes each page when it is due, and hands it to the threads that serve it. */
struct publisher {
    struct snapshot *snapshot;    /* Owned. */
    const struct log *log;        /* Borrowed. */
    struct metrics_page *metrics; /* The last one; what of it stays is shared. Held. */
    struct registry *blank;       /* The exporter's own health, until there is an evaluation. */
    struct throttle throttles[PAGE_COUNT];
    size_t lengths[PAGE_COUNT]; /* Of the pages as they are. */
    /* What the page for people is made from is collected over several turns. */
    struct findings findings;
    const struct evaluation *collected; /* Of which; NULL if nobody collects. Borrowed. */
    uint64_t evaluations;               /* Its engine's when that began. */
};

/* `longest_ms` and `refresh_ms` as in struct throttle. */
void publisher_init(struct publisher *p, const struct log *log, int64_t longest_ms,
                    int64_t refresh_ms);
void publisher_release(struct publisher *p);

/* Note a change; `now_ms` is steady, here and below. */
void publisher_change(struct publisher *p, int64_t now_ms);

/* When the next page is due. */
int64_t publisher_due(const struct publisher *p);

/* Publish what is due, or do a part of what that takes: then it stays due. */
void publisher_turn(struct publisher *p, const struct health *health, int64_t now_ms);

/* Let go of an evaluation that is to be freed. */
void publisher_forget(struct publisher *p);

/* Publish every page, due or not. */
void publisher_all(struct publisher *p, const struct health *health);
