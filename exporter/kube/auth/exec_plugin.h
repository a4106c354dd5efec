/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <poll.h>

#include "exporter/kube/auth/kube_config.h"
#include "metrics/base/strbuf.h"

/*
 * One run after another of an exec plugin, as a child process that nothing blocks on:
 * its output comes over pipes and its end over a pidfd, all for the loop to
 * poll. No shell is involved, nothing is inherited but the environment, there is
 * nothing to read on its standard input. One that takes longer than
 * EXEC_TIME_MAX_MS or prints more than EXEC_OUTPUT_MAX_BYTES is killed, with its
 * process group.
 */
struct exec_plugin;

enum {
    EXEC_TIME_MAX_MS = 60 * 1000,
    EXEC_OUTPUT_MAX_BYTES = 1024 * 1024,
    EXEC_FDS = 3,
};

/* `exec` and `environment` (NAME=value, NULL at the end) are borrowed. */
struct exec_plugin *exec_plugin_new(const struct kube_exec *exec,
                                    const char *const *environment) MUST_USE;
/* Ends a run that is under way. Takes NULL. */
void exec_plugin_free(struct exec_plugin *p);

/* Begin a run, when none is under way. `info` is for KUBERNETES_EXEC_INFO. */
bool exec_plugin_start(struct exec_plugin *p, const char *info, int64_t now_ms,
                       struct error *err) MUST_USE;

enum exec_state { EXEC_IDLE, EXEC_RUNNING, EXEC_ENDED, EXEC_FAILED };

/*
 * Read what has arrived. EXEC_ENDED is returned once: the plugin succeeded and `out`
 * has its output. So is EXEC_FAILED, with the reason: how it ended and the last line of its
 * standard error, unless that holds a value of the kubeconfig's env.
 */
enum exec_state exec_plugin_turn(struct exec_plugin *p, int64_t now_ms, struct strbuf *out,
                                 struct error *err) MUST_USE;

/* When it must have ended (steady); INT64_MAX if none is under way. */
int64_t exec_plugin_due(const struct exec_plugin *p);

/* What to poll for; answers how many. */
size_t exec_plugin_fds(const struct exec_plugin *p, struct pollfd out[static EXEC_FDS]);
