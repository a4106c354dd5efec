/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <poll.h>

#include "exporter/kube/auth/rest_config.h"
#include "exporter/system/child_process.h"
#include "metrics/base/error.h"
#include "metrics/base/strbuf.h"

/* ---- input and output of an exec plugin ---- */

/* ExecCredential of client.authentication.k8s.io, v1 or v1beta1. Owns its texts. */
struct exec_credential {
    char *token;        /* NULL only if there is a certificate. */
    char *certificate;  /* PEM; set if and only if `key` is set. */
    char *key;          /* PEM. */
    int64_t expires_ms; /* Milliseconds since the epoch; INT64_MAX without expirationTimestamp. */
};

void exec_credential_release(struct exec_credential *credential);

enum { EXEC_INFO_MAX_BYTES = 2 * 1024 * 1024 };

/*
 * Appends the value of KUBERNETES_EXEC_INFO for the plugin config->exec. `ca` is the PEM of the
 * cluster's CA; NULL without one.
 */
void exec_info_append(const struct rest_config *config, const char *ca, struct strbuf *out);

/*
 * Parses the output of a plugin. Returns false with an error if the output is no ExecCredential of
 * `api_version` with a usable credential. Errors quote no text of the output. The caller gives
 * `out` to exec_credential_release().
 */
bool exec_credential_parse(const char *json, size_t len, const char *api_version,
                           struct exec_credential *out, struct error *err) MUST_USE;

/* ---- runs of an exec plugin ---- */

/*
 * Runs an exec plugin as a child process, one run at a time, without a shell. The caller polls the
 * descriptors of the run. The plugin's environment is the given one with the env of the kubeconfig
 * and KUBERNETES_EXEC_INFO; its standard input is empty.
 * A plugin that runs longer than EXEC_TIME_MAX_MS or writes more than EXEC_OUTPUT_MAX_BYTES to
 * standard output is killed with its process group. Times are milliseconds of the steady clock.
 */
struct exec_plugin;

enum {
    EXEC_TIME_MAX_MS = 60 * 1000,
    EXEC_OUTPUT_MAX_BYTES = 1024 * 1024,
    EXEC_FDS = 3,
};

/* `exec` and `environment`, NAME=value texts with a NULL at the end, are borrowed. */
struct exec_plugin *exec_plugin_new(const struct rest_config_exec *exec,
                                    const char *const *environment) MUST_USE;
/* Kills the plugin if it runs. Accepts NULL. */
void exec_plugin_free(struct exec_plugin *p);

/*
 * Starts a run with `info` as the value of KUBERNETES_EXEC_INFO. A run that is still in progress is
 * killed. Returns false with an error if the plugin cannot run.
 */
bool exec_plugin_start(struct exec_plugin *p, const char *info, int64_t now_ms,
                       struct error *err) MUST_USE;

enum exec_state { EXEC_IDLE, EXEC_RUNNING, EXEC_ENDED, EXEC_FAILED };

/*
 * Reads available output and returns the state. EXEC_ENDED and EXEC_FAILED are returned once for
 * each run. After EXEC_ENDED, `out` holds the output, which the caller owns. After EXEC_FAILED,
 * `err` holds the reason, often with the last line of standard error. In this line, arguments (of
 * "name=value" only the values) of at least 8 bytes are masked, as are words that look like tokens.
 * The line is left out if its start is lost, or if the kept 4 KiB of standard error contain a value
 * of the kubeconfig's env with at least 4 bytes.
 */
enum exec_state exec_plugin_poll(struct exec_plugin *p, int64_t now_ms, struct strbuf *out,
                                 struct error *err) MUST_USE;

/*
 * Returns the steady time in milliseconds of the next exec_plugin_poll() if no descriptor is ready
 * before, which is the deadline of the run; INT64_MAX: no call needed.
 */
int64_t exec_plugin_due(const struct exec_plugin *p);

/* Stores the descriptors to poll. Returns their number, 0 if the plugin does not run. */
size_t exec_plugin_fds(const struct exec_plugin *p, struct pollfd out[static EXEC_FDS]);

/* ---- renewal of the credential ---- */

/*
 * The current credential of an exec plugin, like the Authenticator of client-go. The plugin runs at
 * first, before the credential expires, after status 401, and again with a growing delay after a
 * failure. The old credential is used until it expires or a new one replaces it.
 */
enum {
    EXEC_RENEW_LEAD_MS = 60 * 1000, /* Maximum time from renewal to expiry. */
    EXEC_RUN_GAP_MS = 10 * 1000,    /* Minimum time from the end of a successful run to the next. */
    EXEC_RETRY_MIN_MS = 5 * 1000,
    EXEC_RETRY_MAX_MS = 60 * 1000,
};

struct exec_authenticator {
    const struct rest_config *config; /* Borrowed. */
    struct exec_plugin *plugin;
    struct exec_credential credential; /* Last credential of the plugin, possibly expired. */
    bool has_credential;
    bool run_wanted;        /* A run is due from next_run_ms on; false after a successful run. */
    int64_t renew_ms;       /* Time of the renewal, since the epoch; INT64_MAX without expiry. */
    unsigned failures;      /* Failed runs in a row. */
    int64_t next_run_ms;    /* Earliest start of the next run, steady clock. */
    int64_t now_ms;         /* Steady clock at the last exec_authenticator_advance(). */
    int64_t wall_ms;        /* Milliseconds since the epoch at the same time. */
    uint64_t version;       /* Increases when certificate or key changes. */
    uint64_t token_version; /* Increases when a new token replaces an old one. */
    struct error problem;   /* Reason why the last run failed; "" if it succeeded. */
};

/* Borrows `environment` and `config`. config->exec must be set. */
void exec_authenticator_init(struct exec_authenticator *a, const struct rest_config *config,
                             const char *const *environment);
void exec_authenticator_release(struct exec_authenticator *a);

/* Reads output and starts a run that is due. `ca` is as in exec_info_append(). */
void exec_authenticator_advance(struct exec_authenticator *a, const char *ca, int64_t now_ms,
                                int64_t wall_ms);

/* Schedules a run after status 401. */
void exec_authenticator_note_unauthorized(struct exec_authenticator *a);

/* Returns the credential to send, borrowed; NULL before the first success and after expiry. */
const struct exec_credential *exec_authenticator_credential(const struct exec_authenticator *a);

/*
 * Returns the steady time in milliseconds of the next exec_authenticator_advance() if no descriptor
 * is ready before; INT64_MAX: no call needed.
 */
int64_t exec_authenticator_due(const struct exec_authenticator *a);
