/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <poll.h>
#include <sys/types.h>

#include "exporter/kube/auth/rest_config.h"
#include "metrics/base/error.h"
#include "metrics/base/strbuf.h"

/*
 * A program that runs beside us, in a process group of its own: what it prints
 * and when it ends can be polled for. It inherits nothing that is not named here.
 */
struct child {
    pid_t pid; /* 0: none. */
    int end;   /* A pidfd: readable once it has ended. */
    int out;   /* What it prints; never blocks. -1 once closed. */
    int err;
};

#define CHILD_NONE ((struct child){.end = -1, .out = -1, .err = -1})

/* A `program` without a slash is looked for in our own PATH. Both lists end with NULL. */
bool child_start(struct child *c, const char *program, char *const *arguments,
                 char *const *environment, struct error *err) MUST_USE;

struct child_status {
    bool exited; /* By itself, with `code`; else by the signal `code`. */
    int code;
};

/* True once it has ended; never waits. Then there is only output left to read. */
bool child_try_wait(struct child *c, struct child_status *out) MUST_USE;

/* Close everything; a child that still runs is killed and waited for. */
void child_release(struct child *c);

/*
 * The input and the output of an exec plugin: an ExecCredential of
 * client.authentication.k8s.io, v1 or v1beta1.
 */
struct exec_credential {
    char *token;       /* NULL if there is none; then there is a certificate. */
    char *certificate; /* PEM, with `key`, or neither. */
    char *key;
    int64_t expires_ms; /* Since the epoch; INT64_MAX if it has no end. */
};

void exec_credential_release(struct exec_credential *credential);

enum { EXEC_INFO_MAX_BYTES = 2 * 1024 * 1024 };

/*
 * Append the value of KUBERNETES_EXEC_INFO. `config->exec` is the plugin; `ca`
 * is PEM, or NULL if the system's authorities are trusted.
 */
void exec_info_append(const struct rest_config *config, const char *ca, struct strbuf *out);

/*
 * Read the output of a plugin. It must be of `api_version` and hold a usable
 * credential. Errors quote nothing of the output but type names.
 */
bool exec_credential_parse(const char *json, size_t len, const char *api_version,
                           struct exec_credential *out, struct error *err) MUST_USE;

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
struct exec_plugin *exec_plugin_new(const struct rest_config_exec *exec,
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
enum exec_state exec_plugin_poll(struct exec_plugin *p, int64_t now_ms, struct strbuf *out,
                                 struct error *err) MUST_USE;

/* When it must have ended (steady); INT64_MAX if none is under way. */
int64_t exec_plugin_due(const struct exec_plugin *p);

/* What to poll for; answers how many. */
size_t exec_plugin_fds(const struct exec_plugin *p, struct pollfd out[static EXEC_FDS]);

/*
 * The last credential of an exec plugin, and when the plugin has to run again: before the
 * credential expires, after the server refused it, and a while after a failure. The old
 * one is in force until it expires or there is a new one.
 */
enum {
    EXEC_RENEW_LEAD_MS = 60 * 1000, /* How long before its end a credential is renewed, at most. */
    EXEC_RUN_GAP_MS = 10 * 1000,    /* Between runs, whatever the plugin and the server say. */
    EXEC_RETRY_MIN_MS = 5 * 1000,
    EXEC_RETRY_MAX_MS = 60 * 1000,
};

struct exec_authenticator {
    const struct rest_config *config; /* Borrowed. */
    struct exec_plugin *plugin;
    struct exec_credential credential;
    bool given;             /* There is a credential, be it expired. */
    bool wanted;            /* Run as soon as allowed. */
    int64_t renew_ms;       /* When to run anyway, on the wall clock. */
    unsigned failures;      /* In a row. */
    int64_t pause_ms;       /* No run before this (steady). */
    int64_t now_ms;         /* When last advanced, */
    int64_t wall_ms;        /* on both clocks. */
    uint64_t version;       /* Another number for another certificate. */
    uint64_t token_version; /* For a token in the place of another. */
    struct error problem;
};

/* `config`, which has an `exec`, and `environment` are borrowed. */
void exec_authenticator_init(struct exec_authenticator *login, const struct rest_config *config,
                             const char *const *environment);
void exec_authenticator_release(struct exec_authenticator *login);

/* `ca` goes to the plugin if it asks for the cluster; may be NULL. */
void exec_authenticator_advance(struct exec_authenticator *login, const char *ca, int64_t now_ms,
                                int64_t wall_ms);

/* The server refused the credential. */
void exec_authenticator_note_unauthorized(struct exec_authenticator *login);

/* The credential to send; NULL before the first one, and after it has expired. */
const struct exec_credential *exec_authenticator_credential(const struct exec_authenticator *login);

/* When exec_authenticator_advance() is due (steady). */
int64_t exec_authenticator_due(const struct exec_authenticator *login);
