/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/files/walk.h"
#include "exporter/system/file_reader.h"

/*
 * Walks PATHs with jobs of the file reader, one at a time, and keeps the jobs that hang. A PATH
 * that does not answer is a problem and keeps its files. It is walked again when its job returns.
 */
enum { HELD_MAX = ABANDONED_MAX, HELD_OF_PATH_MAX = ABANDONED_OF_PATH_MAX };

struct rescan {
    struct file_reader *reader; /* Borrowed. NULL: the caller walks PATHs itself. */
    struct read_job *job;       /* Of the walk under way; NULL without one. */
    struct tree_path *path;
    bool force;
    int64_t begun_ms;
    int64_t rest_ms; /* Until then there is no other walk: they are not to keep a disk busy. */
    /* Jobs that hang or were lost. */
    struct held {
        struct read_job *job;
        struct tree_path *path;
        bool is_walk;
        int64_t retry_ms; /* Not before. */
        bool rested;      /* retry_ms has passed: only the job itself is waited for. */
    } held[HELD_MAX];
    size_t held_count;
};

void rescan_release(struct rescan *r);

/* True while a PATH is walked, or is to be. */
bool rescan_wanted(const struct rescan *r, const struct tree *t);

/* Go on with the walk, or begin one. False if there is nothing to do for now. */
bool rescan_step(struct rescan *r, struct tree *t, int64_t now_ms);

/* Keeps the job that hangs while it reads a file of this PATH; takes ownership of the job. */
void rescan_hold(struct rescan *r, struct tree_path *path, struct read_job *job, int64_t now_ms);

/* True if so much of the PATH hangs that its files had better not be touched. */
bool rescan_is_held(const struct rescan *r, const struct tree_path *path);

/* When rescan_step() is due though nothing has arrived; INT64_MAX for never. */
int64_t rescan_due(const struct rescan *r, const struct tree *t);
