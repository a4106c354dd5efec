/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/cli/command.h"

/*
 * Commands that a running exporter runs (--server). The size of a response and the time without
 * progress (--server.timeout) are limited; requests use no proxy and follow no redirect. Messages
 * contain no password.
 */

/*
 * Runs `check` on the exporter of --server: prints its response or an error, stores the exit status
 * in *status and returns true. Returns false, without output, if the command line contains neither
 * --server nor another flag of that group (--server.*). Such a flag without --server is an error
 * (STATUS_USAGE).
 */
bool remote_run_check(const struct invocation *invocation, enum exit_status *status) MUST_USE;
/*
 * Runs `plan` in the same way: posts the JSON List `change` of the manifests of -f, which is NULL
 * only without --server. The exporter needs --web.enable-plan.
 */
bool remote_run_plan(const struct invocation *invocation, const struct strbuf *change,
                     enum exit_status *status) MUST_USE;
/* Runs `explain` for the object `typed` (object_name.h) in the same way. */
bool remote_run_explain(const struct invocation *invocation, const char *typed,
                        enum exit_status *status) MUST_USE;
