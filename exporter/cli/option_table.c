/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/cli/options.h"

static const char *const log_levels[] = {"debug", "info", "warn", "error", NULL};
static const char *const log_formats[] = {"logfmt", "json", NULL};
static const char *const takeovers[] = {"preemption", "static", NULL};
static const char *const outputs[] = {"table", "json", "markdown", NULL};
const char *const finding_class_names[FINDING_CLASSES + 1] = {
    "conflict", "predicted", "pending", "stale",     "overdue",
    "orphaned", "unbound",   "invalid", "duplicate", NULL,
};

#define AT(field) offsetof(struct options, field)

const struct option_def option_defs[] = {
    {
        .name = "manifests",
        .value = "PATH",
        .help = "YAML or JSON manifests to look at: a file, a folder with all below it, or - for "
                "standard input",
        .type = OPTION_TEXTS,
        .verbs = VERB_LOOKS,
        .offset = AT(manifests),
    },
    {
        .name = "rules.takeover",
        .value = "RULES",
        .fallback = "preemption",
        .help = "when a template goes over to another policy: preemption (Karmada 1.8 and later) "
                "or static (at the template's next change)",
        .choices = takeovers,
        .type = OPTION_CHOICE,
        .verbs = VERB_LOOKS,
        .offset = AT(takeover),
    },
    {
        .name = "rules.grace",
        .value = "DURATION",
        .fallback = "60s",
        .help = "how long Karmada may take to act before a difference is overdue",
        .type = OPTION_DURATION,
        .verbs = VERB_LOOKS,
        .offset = AT(grace_ms),
    },
    {
        .name = "skipped-propagating-namespaces",
        .value = "REGEX",
        .fallback = "kube-.*",
        .help = "namespaces that Karmada never propagates, as its controller manager is told; "
                "several with commas",
        .type = OPTION_TEXT,
        .verbs = VERB_LOOKS,
        .offset = AT(skipped_namespaces),
    },
    {
        .name = "skipped-propagating-apis",
        .value = "APIS",
        .fallback = "",
        .help = "APIs that Karmada never propagates, as its controller manager is told: groups, "
                "group/versions or group/version/Kinds, several with semicolons",
        .type = OPTION_TEXT,
        .verbs = VERB_LOOKS,
        .offset = AT(skipped_apis),
    },
    {
        .name = "filename",
        .value = "CHANGE",
        .help = "manifests to apply over those of PATH: a file, a folder, or - for standard input",
        .type = OPTION_TEXTS,
        .letter = 'f',
        .flag_only = true,
        .verbs = VERB_PLAN,
        .offset = AT(changes),
    },
    {
        .name = "delete",
        .value = "OBJECT",
        .help = "an object of PATH to delete, written KIND[.GROUP]/[NAMESPACE/]NAME",
        .type = OPTION_TEXTS,
        .flag_only = true,
        .verbs = VERB_PLAN,
        .offset = AT(deletions),
    },
    {
        .name = "fail-on",
        .value = "CLASSES",
        .fallback = "conflict,pending,overdue,invalid",
        .help = "what makes the exit status 1: of conflict, predicted, pending, stale, overdue, "
                "orphaned, unbound, invalid and duplicate, several with commas",
        .choices = finding_class_names,
        .type = OPTION_SET,
        .verbs = VERB_CHECK,
        .offset = AT(fail_on),
    },
    {
        .name = "output",
        .value = "FORMAT",
        .fallback = "table",
        .help = "table for people, json for programs; of metrics also markdown",
        .choices = outputs,
        .type = OPTION_CHOICE,
        .letter = 'o',
        .verbs = VERB_CHECK | VERB_EXPLAIN | VERB_PLAN | VERB_METRICS,
        .offset = AT(output),
    },
    {
        .name = "web.listen-address",
        .value = "ADDRESS",
        .fallback = ":19180",
        .help = "where to serve HTTP: [HOST]:PORT",
        .type = OPTION_TEXTS,
        .verbs = VERB_SERVE,
        .needs_restart = true,
        .offset = AT(listen_addresses),
    },
    {
        .name = "web.telemetry-path",
        .value = "PATH",
        .fallback = "/metrics",
        .help = "where the metrics are served",
        .type = OPTION_TEXT,
        .verbs = VERB_SERVE,
        .needs_restart = true,
        .offset = AT(telemetry_path),
    },
    {
        .name = "metrics.detail-limit",
        .value = "COUNT",
        .fallback = "1000",
        .help = "how many series a family with one series an object may have",
        .type = OPTION_UINT,
        .verbs = VERB_SERVE,
        .offset = AT(detail_limit),
    },
    {
        .name = "metrics.opt-in",
        .help = "show the families of one series an object that are off by default too",
        .type = OPTION_FLAG,
        .verbs = VERB_SERVE,
        .offset = AT(opt_in),
    },
    {
        .name = "log.level",
        .value = "LEVEL",
        .fallback = "info",
        .help = "what is worth a line of log: debug, info, warn or error",
        .choices = log_levels,
        .type = OPTION_CHOICE,
        .verbs = VERB_SERVE,
        .needs_restart = true,
        .offset = AT(log_level),
    },
    {
        .name = "log.format",
        .value = "FORMAT",
        .fallback = "logfmt",
        .help = "how it is written: logfmt or json",
        .choices = log_formats,
        .type = OPTION_CHOICE,
        .verbs = VERB_SERVE,
        .needs_restart = true,
        .offset = AT(log_format),
    },
    {
        .name = "config.file",
        .value = "FILE",
        .fallback = "",
        .help = "YAML file with options under the names of these flags, which go before it; read "
                "again on SIGHUP",
        .type = OPTION_TEXT,
        .flag_only = true,
        .verbs = VERB_LOOKS,
        .offset = AT(config_file),
    },
    {
        .name = "version",
        .help = "print the version and end",
        .type = OPTION_FLAG,
        .flag_only = true,
        .verbs = VERB_ALL,
        .offset = AT(version),
    },
    {
        .name = "help",
        .help = "print this help and end",
        .type = OPTION_FLAG,
        .letter = 'h',
        .flag_only = true,
        .verbs = VERB_ALL,
        .offset = AT(help),
    },
};
const size_t option_def_count = ARRAY_LEN(option_defs);
_Static_assert(ARRAY_LEN(option_defs) <= OPTION_ROOM, "struct options has room for each row");
