/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/files/rescan.h"

enum {
    RETRY_MS = 1000,
    REST_PARTS = 4, /* Walks take one fifth of the time of a disk. */
    RESULTS_A_STEP = 256,
};

void rescan_release(struct rescan *r)
{
    read_job_free(r->job);
    for (size_t i = 0; i < r->held_count; i++)
        read_job_free(r->held[i].job);
    *r = (struct rescan){.reader = NULL};
}

static struct tree_path *find_path(const struct tree *t)
{
    for (size_t i = 0; i < t->path_count; i++) {
        if (t->paths[i].look && !t->paths[i].hangs)
            return &t->paths[i];
    }
    return NULL;
}

bool rescan_wanted(const struct rescan *r, const struct tree *t)
{
    return r->reader && (r->job || find_path(t));
}

static void hold(struct rescan *r, struct held held)
{
    if (r->held_count < HELD_MAX) {
        r->held[r->held_count++] = held;
        return;
    }
    /* Too many jobs hang: this PATH is tried again from time to time. */
    read_job_free(held.job);
    held.path->hangs = false;
    held.path->look = held.path->force = true;
    r->rest_ms = held.retry_ms;
}

void rescan_hold(struct rescan *r, struct tree_path *path, struct read_job *job, int64_t now_ms)
{
    hold(r, (struct held){.job = job, .path = path, .retry_ms = now_ms + RETRY_MS});
}

bool rescan_is_held(const struct rescan *r, const struct tree_path *path)
{
    size_t count = 0;

    for (size_t i = 0; i < r->held_count; i++)
        count += r->held[i].path == path;
    return path->hangs || count >= HELD_OF_PATH_MAX;
}

/* Walks the PATHs of the jobs that have returned again, and reads their files. */
static void let_go(struct rescan *r, int64_t now_ms)
{
    struct read_result ignored;

    for (size_t i = 0; i < r->held_count;) {
        struct held *held = &r->held[i];
        enum read_job_state state = JOB_HANGS;

        held->rested = held->rested || now_ms >= held->retry_ms;
        if (held->rested)
            state = read_job_next(held->job, now_ms, &ignored);
        if (state == JOB_WAITS || state == JOB_HANGS) {
            i++;
            continue;
        }
        read_job_free(held->job);
        held->path->hangs = held->path->hangs && !held->is_walk;
        held->path->look = held->path->force = true;
        *held = r->held[--r->held_count];
    }
}

static void begin(struct rescan *r, struct tree *t, struct tree_path *path, int64_t now_ms)
{
    struct read_job *job = scan_start(r->reader, path->path, t->watches.fd);

    if (!job) {
        r->rest_ms = now_ms + RETRY_MS;
        return;
    }
    r->path = path;
    r->force = path->force;
    r->begun_ms = now_ms;
    path->look = path->force = false;
    walk_begin(t, path);
    r->job = job;
}

static void end(struct rescan *r, struct tree *t, int64_t now_ms)
{
    walk_end(t, r->path);
    r->path->walked = r->path->walked || !r->path->missing;
    r->rest_ms = now_ms + (now_ms - r->begun_ms) * REST_PARTS;
    read_job_free(r->job);
    r->job = NULL;
}

static void give_up(struct rescan *r, struct tree *t, const char *why, int64_t now_ms)
{
    struct error text;

    fail(&text, "cannot read '%s': %s", r->path->path, why);
    walk_fail(t, r->path, text.text);
    r->path->hangs = true;
    r->path->look = r->path->force = true;
    hold(r, (struct held){
                .job = r->job, .path = r->path, .is_walk = true, .retry_ms = now_ms + RETRY_MS});
    r->job = NULL;
}

static bool go_on(struct rescan *r, struct tree *t, int64_t now_ms)
{
    struct read_result result;

    for (unsigned i = 0; i < RESULTS_A_STEP; i++) {
        enum read_job_state state = read_job_next(r->job, now_ms, &result);

        switch (state) {
        case JOB_RESULT:
            walk_receive(t, r->path, r->force, &result);
            continue;
        case JOB_WAITS:
            return i > 0;
        case JOB_DONE:
            end(r, t, now_ms);
            return true;
        case JOB_HANGS:
        case JOB_LOST:
            give_up(r, t, read_job_failure(state), now_ms);
            return true;
        }
    }
    return true;
}

bool rescan_step(struct rescan *r, struct tree *t, int64_t now_ms)
{
    let_go(r, now_ms);
    if (r->job)
        return go_on(r, t, now_ms);

    struct tree_path *path = find_path(t);

    if (!path || now_ms < r->rest_ms)
        return false;
    begin(r, t, path, now_ms);
    return true;
}

int64_t rescan_due(const struct rescan *r, const struct tree *t)
{
    int64_t due_ms = INT64_MAX;

    if (r->job)
        due_ms = read_job_due(r->job);
    else if (rescan_wanted(r, t))
        due_ms = r->rest_ms;
    for (size_t i = 0; i < r->held_count; i++) {
        /* A descriptor reports that a job goes on, but not the end of its pause. */
        if (!r->held[i].rested && r->held[i].retry_ms < due_ms)
            due_ms = r->held[i].retry_ms;
    }
    return due_ms;
}
