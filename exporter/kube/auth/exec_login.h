/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/auth/exec_credential.h"
#include "exporter/kube/auth/exec_plugin.h"

/*
 * The last credential of an exec plugin, and when the plugin has to run again: before the
 * credential expires, after the server refused it, and a while after a failure. The old
 * one is in force until it expires or there is a new one.
 */
enum {
    LOGIN_LEAD_MS = 60 * 1000,  /* How long before its end a credential is renewed, at most. */
    LOGIN_PAUSE_MS = 10 * 1000, /* Between runs, whatever the plugin and the server say. */
    LOGIN_RETRY_FIRST_MS = 5 * 1000,
    LOGIN_RETRY_LAST_MS = 60 * 1000,
};

struct exec_login {
    const struct kube_config *config; /* Borrowed. */
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
void exec_login_init(struct exec_login *login, const struct kube_config *config,
                     const char *const *environment);
void exec_login_release(struct exec_login *login);

/* `ca` goes to the plugin if it asks for the cluster; may be NULL. */
void exec_login_advance(struct exec_login *login, const char *ca, int64_t now_ms, int64_t wall_ms);

/* The server refused the credential. */
void exec_login_refused(struct exec_login *login);

/* The credential to send; NULL before the first one, and after it has expired. */
const struct exec_credential *exec_login_credential(const struct exec_login *login);

/* When exec_login_advance() is due (steady). */
int64_t exec_login_due(const struct exec_login *login);
