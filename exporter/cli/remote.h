/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/cli/command.h"
#include "exporter/options/options.h"
#include "metrics/base/strbuf.h"

/*
 * The verbs as a running exporter answers them (--server): it prints, and its findings make the
 * exit status.
 *
 * False if the command line names no exporter, and nothing that is for one: the verb looks for
 * itself. Else it is done, or refused, and *status is what to exit with.
 */
bool remote_run_check(const struct invocation *invocation, enum exit_status *status) MUST_USE;
/* `typed` is the object's name. */
bool remote_run_explain(const struct invocation *invocation, const char *typed,
                        enum exit_status *status) MUST_USE;

/*
 * A running exporter, as --server and the flags beside it name it. Nothing of what it sends can
 * make us wait, grow or go elsewhere without end; no proxy is used, and no redirect followed. The
 * credentials stay out of every text.
 */
struct remote;

/* NULL is fine. */
void remote_free(struct remote *r);

/* What it has answered. */
struct remote_answer {
    unsigned status;
    char *content_type; /* "" if it did not say. */
    char *findings;     /* The header FINDING_COUNTS_HEADER; NULL without. */
    char *location;     /* Where a redirect leads, without user and query; NULL if unknown. */
    struct strbuf body;
};
