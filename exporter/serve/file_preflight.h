/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/evaluation.h"
#include "exporter/system/file_reader.h"
#include "exporter/system/log.h"

/* Calls `each` with every file of the credentials in force. */
typedef void files_in_force_fn(void *source, kube_file_fn *each, void *context);

/*
 * The loop reads small files itself: its configuration, kubeconfigs, certificates and tokens. A job
 * of the file reader reads the same files first, so that the loop opens only files that have just
 * answered: those that the configuration names now, and those in force, which stay in use while
 * the configuration is not valid.
 */
struct file_preflight {
    struct file_reader *reader; /* NULL: nothing is tried. All but the jobs is borrowed. */
    int argc;
    const char *const *argv;
    const struct log *log;
    files_in_force_fn *files_in_force; /* NULL if no file is in force yet. */
    void *files_source;
    char *web_config_file; /* In force; owned. NULL before the start, "" without one. */
    struct read_job *job;  /* NULL if no job runs. */
    struct read_job *look; /* The same for the check of the kubeconfig. */
    int64_t looked_ms;     /* Start of the last check; 0 before the first. */
    uint64_t looking;      /* Hash of the contents read in this check, */
    uint64_t seen;         /* and in the last one; 0 before the first. */
    int64_t asked_ms;      /* Time of the reload for another content; 0 if that is decided. */
    char touched[256];     /* Path of the file that the job reads. */
    char hung[256];        /* Path of the file that does not answer, as the log has it; else "". */
    bool lost;             /* The job could not be run; retry_ms is the next attempt. */
    int64_t retry_ms;
};

void file_preflight_release(struct file_preflight *r);

enum file_preflight_state {
    FILE_PREFLIGHT_NONE,
    FILE_PREFLIGHT_WAITS,
    FILE_PREFLIGHT_HANGS, /* The error names the file that does not answer; the log has it once. */
    FILE_PREFLIGHT_DONE,  /* All answers, for a moment: read it now. */
};

/* Go on with the rehearsal; begin one if it is wanted. `now_ms` is steady. */
enum file_preflight_state file_preflight_turn(struct file_preflight *r, bool wanted, int64_t now_ms,
                                              struct error *err);

/* The same to its end, however long, but no longer than until it hangs. */
bool file_preflight_wait(struct file_preflight *r, struct error *err) MUST_USE;

/*
 * True if a file of --kubeconfig has another content than when this was asked before: credentials
 * may stand in it, as in what Karmada's installers write. It is looked at every KUBECONFIG_LOOK_MS.
 * Whoever names none has that of people, who change its context for other reasons. True once more
 * after KUBECONFIG_RETRY_MS if the reload for it has failed (not `loaded`): the server may be back.
 */
enum { KUBECONFIG_LOOK_MS = 2 * 1000, KUBECONFIG_RETRY_MS = 10 * 1000 };
bool file_preflight_kubeconfig_needs_reload(struct file_preflight *r, bool loaded,
                                            int64_t now_ms) MUST_USE;

/* When a turn, or a look at the kubeconfig, is due though nothing has arrived. */
int64_t file_preflight_due(const struct file_preflight *r);

/*
 * An evaluation of what the command line and its configuration file say now: after a rehearsal. It
 * has not been loaded; NULL with the reason if an option is not valid.
 */
struct evaluation *file_preflight_create_evaluation(const struct file_preflight *r,
                                                    struct error *err) MUST_USE;
