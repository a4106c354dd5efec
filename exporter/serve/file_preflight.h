/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/evaluation.h"
#include "exporter/system/file_reader.h"
#include "exporter/system/log.h"

/* Calls `each` with the path of every credential file in use by an evaluation. */
typedef void files_in_force_fn(void *source, kube_file_fn *each, void *context);

/*
 * The loop thread reads small files itself: configuration, kubeconfigs, certificates and tokens. A
 * mount that does not answer would block the loop. Therefore a job of the file reader first reads
 * the same files: those that the options name at present, and those in use, because these stay in
 * use while the options are invalid.
 */
struct file_preflight {
    struct file_reader *reader; /* NULL: the loop reads files without a job. Borrowed. */
    int argc;
    const char *const *argv;           /* Command line. Borrowed. */
    const struct log *log;             /* Borrowed. */
    files_in_force_fn *files_in_force; /* NULL if no credentials are in use. */
    void *files_source;                /* First argument of files_in_force. Borrowed. */
    char *web_config_file;             /* Path in use; owned. NULL before the web server starts. */
    struct read_job *job;              /* Reads all files; NULL between runs. */
    struct read_job *kubeconfig_check; /* Hashes files of --kubeconfig; NULL between checks. */
    int64_t checked_ms;       /* Start of the last kubeconfig_check; 0 before the first. Steady. */
    uint64_t check_hash;      /* Hash of the content that kubeconfig_check has read so far. */
    uint64_t kubeconfig_hash; /* Result of the last check that hashed a file; 0 before. */
    int64_t reload_ms;        /* Last reload for a kubeconfig; 0: no retry. Steady. */
    char current_path[256];   /* Path of the file that `job` reads. */
    char hanging_path[256];   /* Path that the log reported as hanging; "" without one. */
    bool job_lost;            /* The file reader could not run `job`. */
    int64_t retry_ms;         /* Earliest restart of a lost job. Steady. */
};

/* Frees the jobs and web_config_file. A zeroed struct is allowed. */
void file_preflight_release(struct file_preflight *p);

enum file_preflight_state {
    FILE_PREFLIGHT_NONE,  /* No job runs, and no job is wanted. */
    FILE_PREFLIGHT_WAITS, /* The job runs. */
    FILE_PREFLIGHT_HANGS, /* A file does not answer, or the job cannot be run; see the error. */
    FILE_PREFLIGHT_DONE,  /* Read the files in this turn: all just answered, or `reader` is NULL. */
};

/*
 * Continues the job that reads all files, or starts it if `wanted`. Logs once that a file hangs,
 * and once that it can be read again. `now_ms` is steady.
 */
enum file_preflight_state file_preflight_turn(struct file_preflight *p, bool wanted, int64_t now_ms,
                                              struct error *err);

/* Blocks until the job has run. Returns false with the reason if it hangs or cannot run. */
bool file_preflight_wait(struct file_preflight *p, struct error *err) MUST_USE;

/*
 * Checks the files of --kubeconfig every 2 s in a job. Returns true after a change of their
 * content; and again every 10 s, unless `loaded` at that time: no reload has failed since the last
 * one began. Ignores the kubeconfigs of $KUBECONFIG and ~/.kube/config, which users change for
 * other reasons. `now_ms` is steady. Returns false without a file reader.
 */
bool file_preflight_kubeconfig_needs_reload(struct file_preflight *p, bool loaded,
                                            int64_t now_ms) MUST_USE;

/*
 * Returns the steady time in ms of the next turn or check if file_reader_fd() reports nothing
 * before; INT64_MAX: no call needed.
 */
int64_t file_preflight_due(const struct file_preflight *p);

/*
 * Reads the configuration file, logs unknown feature gates, and returns an evaluation, which the
 * caller frees; NULL with the reason on failure. Call it after FILE_PREFLIGHT_DONE.
 */
struct evaluation *file_preflight_create_evaluation(const struct file_preflight *p,
                                                    struct error *err) MUST_USE;
