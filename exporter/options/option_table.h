/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Table of all options. A row OPTION(type, field, ...) has the suffix of the option type (enum
 * option_type), the name of the member in struct options, and initializers for struct option_def. A
 * new option is a new row; code that uses the option reads the member.
 *
 * options.h and options.c include this file several times, each time with another macro OPTION.
 */
#ifndef OPTION
#define OPTION(type, field, ...)
#endif

OPTION(TEXTS, manifests, .name = "manifests", .value = "PATH",
       .help = "YAML or JSON manifests to evaluate: a file, a folder with all below it, or - for "
               "standard input",
       .commands = COMMAND_EVALUATES)

OPTION(
    TEXT, namespace, .name = "namespace", .value = "NAME", .fallback = "default", .letter = 'n',
    .help =
        "where objects of the manifests are that belong to a namespace and name none, as if "
        "kubectl applied them; if it is given, explain looks there for an OBJECT without one, and "
        "reconcile changes templates there alone",
    .commands = COMMAND_EVALUATES)

OPTION(TEXT, kubeconfig, .name = "kubeconfig", .value = "FILE", .fallback = "",
       .help = "how to reach Karmada's API server; without it $KUBECONFIG, ~/.kube/config and the "
               "pod's service account are tried",
       .commands = COMMAND_EVALUATES)

OPTION(TEXT, context, .name = "context", .value = "NAME", .fallback = "",
       .help = "the context of the kubeconfig to use instead of its current one",
       .commands = COMMAND_EVALUATES)

OPTION(NAMES, namespaces, .name = "namespaces", .value = "NAMES",
       .help = "namespaces to read, of an API server or of files, several with commas; all by "
               "default; objects without a namespace are read in any case",
       .commands = COMMAND_EVALUATES)

OPTION(NAMES, namespaces_denied, .name = "namespaces-denylist", .value = "NAMES",
       .help = "namespaces not to read, of an API server or of files, several with commas",
       .commands = COMMAND_EVALUATES)

OPTION(DURATION, audit_interval_ms, .name = "kube.audit-interval", .value = "DURATION",
       .fallback = "1h",
       .help = "how often to compare the objects of each kind with what the API server has, at a "
               "slow pace; 0 for never",
       .commands = COMMAND_SERVE)

OPTION(UINT, shard, .name = "shard", .value = "NUMBER", .fallback = "0",
       .help = "which share of the namespaces to read, counted from 0", .commands = COMMAND_SERVE)

OPTION(UINT, total_shards, .name = "total-shards", .value = "COUNT", .fallback = "1",
       .help = "how many exporters share the namespaces between them", .commands = COMMAND_SERVE)

/* Choices in the order of enum takeover. */
OPTION(CHOICE, takeover, .name = "rules.takeover", .value = "RULES", .fallback = "preemption",
       .help = "when a template goes over to another policy: preemption (Karmada 1.8 and later) "
               "or static (at the template's next change)",
       .choices = CHOICES("preemption", "static"), .commands = COMMAND_EVALUATES)

OPTION(DURATION, grace_ms, .name = "rules.grace", .value = "DURATION", .fallback = "60s",
       .help = "how long Karmada may take to act before a difference is overdue",
       .commands = COMMAND_EVALUATES)

OPTION(UINT, versions, .name = "rules.versions", .value = "COUNT", .fallback = "10",
       .help = "how many versions of a policy to remember beside those that templates run",
       .commands = COMMAND_SERVE)

OPTION(UINT, history_entries, .name = "history.entries", .value = "COUNT", .fallback = "100000",
       .help = "how many transitions of templates to remember, the newest, at 64 bytes each and as "
               "they come; 0 for none, and no problem decision_flapping/state; at most 10000000",
       .commands = COMMAND_SERVE)

OPTION(SEVERITIES, problem_severities, .name = "problems.severity", .value = "PROBLEM=SEVERITY",
       .help = "another severity of a problem: critical, warning or info; off disables the "
               "problem; repeatable, or several with commas",
       .commands = COMMAND_JUDGES)

OPTION(PATIENCES, problem_patiences, .name = "problems.patience", .value = "PROBLEM=DURATION",
       .help = "another patience of a problem: the time for which its condition must hold before "
               "the problem is open, from 0 to 3650d; repeatable, or several with commas",
       .commands = COMMAND_JUDGES)

OPTION(DURATION, resolve_delay_ms, .name = "problems.resolve-delay", .value = "DURATION",
       .fallback = "5m",
       .help = "time for which the condition of an open problem must not hold before the problem "
               "is resolved, at most 3650d",
       .commands = COMMAND_SERVE)

OPTION(TEXT, skipped_namespaces, .name = "skipped-propagating-namespaces", .value = "REGEX",
       .fallback = "kube-.*",
       .help = "namespaces that Karmada never propagates, as in the flag of its controller "
               "manager; several with commas",
       .commands = COMMAND_EVALUATES)

OPTION(TEXT, skipped_apis, .name = "skipped-propagating-apis", .value = "APIS", .fallback = "",
       .help = "APIs that Karmada never propagates, as in the flag of its controller manager: "
               "groups, group/versions or group/version/Kinds, several with semicolons",
       .commands = COMMAND_EVALUATES)

OPTION(TEXT, karmada_version, .name = "karmada.version", .value = "VERSION", .fallback = "",
       .help = "release of Karmada, such as 1.15, where it is older than the newest that is known: "
               "nothing is expected of it that came later (before 1.16 it does not resolve "
               "conflicts of dependencies)",
       .commands = COMMAND_EVALUATES)

OPTION(TEXT, feature_gates, .name = "karmada.feature-gates", .value = "GATES", .fallback = "",
       .help =
           "feature gates of Karmada's components that differ from its defaults, by its own "
           "names, as PropagationPolicyPreemption=true; several with commas; an unknown gate is a "
           "warning, and has no effect",
       .commands = COMMAND_EVALUATES)

OPTION(FLAG, works, .name = "karmada.works",
       .help = "also read Works from the API server, which say of each member cluster what was "
               "sent there, and Events of overrides that fail: several Works for each template, "
               "so it takes more memory",
       .commands = COMMAND_EVALUATES)

OPTION(TEXT, lease_namespace, .name = "karmada.lease-namespace", .value = "NAME",
       .fallback = "karmada-system",
       .help = "namespace in Karmada's API server with the Leases karmada-controller-manager and "
               "karmada-scheduler, which show whether these components run",
       .commands = COMMAND_SERVE)

OPTION(TEXT, asset_file, .name = "configconnector.asset-file", .value = "FILE", .fallback = "",
       .help = "Cloud Asset Inventory export, one JSON object after another, plain or gzip: the "
               "leases of Config Connector's resources; read again when it changes",
       .commands = COMMAND_EVALUATES)

OPTION(DURATION, lease_skew_ms, .name = "configconnector.clock-skew", .value = "DURATION",
       .fallback = "0s", .help = "by how much clocks may differ before a lease counts as expired",
       .commands = COMMAND_EVALUATES)

OPTION(TEXTS, changes, .name = "filename", .value = "CHANGE",
       .help = "manifests to apply over those of PATH: a file, a folder, or - for standard input",
       .letter = 'f', .flag_only = true, .commands = COMMAND_PLAN)

OPTION(TEXTS, deletions, .name = "delete", .value = "OBJECT",
       .help = "an object of PATH to delete, written KIND[.GROUP]/[NAMESPACE/]NAME",
       .flag_only = true, .commands = COMMAND_PLAN)

OPTION(FAIL_ON, fail_on, .name = "fail-on", .value = "PROBLEMS", .fallback = "warning,policy_tie",
       .help = "problems that make the exit status 1, several with commas: PROBLEM, PROBLEM/REASON "
               "or a severity, which includes the higher ones; with an empty value no problem "
               "fails. plan takes no severities and no reasons, but consequences of the change, "
               "and exits with 1 only if the flag is given. Names",
       .choices = fail_on_names, .commands = COMMAND_CHECK | COMMAND_PLAN)

OPTION(FLAG, allow_empty, .name = "allow-empty", .help = "manifests without an object are no error",
       .commands = COMMAND_CHECK)

/* Choices in the order of enum output_format. */
OPTION(CHOICE, output, .name = "output", .value = "FORMAT", .fallback = "table",
       .help = "table for people, json or yaml for programs; metrics has markdown, too, and so has "
               "help, of which that is the reference of all options",
       .choices = CHOICES("table", "json", "yaml", "markdown"), .letter = 'o',
       .commands = COMMAND_CHECK | COMMAND_EXPLAIN | COMMAND_PLAN | COMMAND_RECONCILE |
                   COMMAND_METRICS | COMMAND_HELP)

OPTION(TEXT, server, .name = "server", .value = "URL", .fallback = "",
       .help = "ask the exporter that runs there, as http://localhost:19180 or with a path behind "
               "it, instead of looking for oneself; through no proxy, and no redirect is followed",
       .flag_only = true, .commands = COMMAND_REMOTE)

OPTION(TEXT, server_ca_file, .name = "server.ca-file", .value = "FILE", .fallback = "",
       .help = "who vouches for the exporter of --server, in PEM; without it whom this system "
               "trusts",
       .flag_only = true, .commands = COMMAND_REMOTE)

OPTION(TEXT, server_cert_file, .name = "server.cert-file", .value = "FILE", .fallback = "",
       .help = "our certificate for the exporter of --server, with --server.key-file",
       .flag_only = true, .commands = COMMAND_REMOTE)

OPTION(TEXT, server_key_file, .name = "server.key-file", .value = "FILE", .fallback = "",
       .help = "the key of --server.cert-file", .flag_only = true, .commands = COMMAND_REMOTE)

OPTION(TEXT, server_user, .name = "server.user", .value = "NAME", .fallback = "",
       .help = "as which user the exporter of --server is asked, with --server.password-file; "
               "over https, or on this machine",
       .flag_only = true, .commands = COMMAND_REMOTE)

OPTION(TEXT, server_password_file, .name = "server.password-file", .value = "FILE", .fallback = "",
       .help = "the password of --server.user, up to the end of the line", .flag_only = true,
       .commands = COMMAND_REMOTE)

OPTION(DURATION, server_timeout_ms, .name = "server.timeout", .value = "DURATION",
       .fallback = "30s",
       .help = "for how long the exporter of --server may send next to nothing before we give up; "
               "0 for ever",
       .flag_only = true, .commands = COMMAND_REMOTE)

OPTION(FLAG, history, .name = "history",
       .help = "of a template also what it was before, when it moved and why: a running exporter "
               "remembers that (--server)",
       .flag_only = true, .commands = COMMAND_EXPLAIN)

OPTION(TEXT, policy, .name = "policy", .value = "OBJECT", .fallback = "",
       .help = "reconcile the templates that are to follow this policy, written pp/NAMESPACE/NAME "
               "or cpp/NAME",
       .flag_only = true, .commands = COMMAND_RECONCILE)

OPTION(TEXT, selector, .name = "selector", .value = "SELECTOR", .fallback = "", .letter = 'l',
       .help = "reconcile the templates with these labels, written as for kubectl; with --policy "
               "those of its templates",
       .flag_only = true, .commands = COMMAND_RECONCILE)

OPTION(TEXT, from_version, .name = "from-version", .value = "VERSION", .fallback = "",
       .help = "reconcile the templates that run this version of --policy alone, by its number or, "
               "which stays the same whoever looks, by its hash; explain lists both",
       .flag_only = true, .commands = COMMAND_RECONCILE)

OPTION(UINT, max_templates, .name = "max", .value = "COUNT", .fallback = "0",
       .help = "change no more than so many templates; 0 for all", .flag_only = true,
       .commands = COMMAND_RECONCILE)

OPTION(FLAG, undo, .name = "undo",
       .help = "take the annotation off the templates again, which is another change by their "
               "user to Karmada: it brings no old placement back",
       .flag_only = true, .commands = COMMAND_RECONCILE)

/* Choices in the order of `risks` in cmd_reconcile.c. */
OPTION(SET, accept, .name = "accept", .value = "RISKS", .fallback = "",
       .help = "go ahead although the plan has conflicts that appear, templates that become "
               "pending, or member clusters that get more than they have free, several with commas",
       .choices = CHOICES("conflict", "pending", "overflow"), .flag_only = true,
       .commands = COMMAND_RECONCILE)

OPTION(FLAG, yes, .name = "yes", .help = "write to the API server, rather than only say what would",
       .flag_only = true, .commands = COMMAND_RECONCILE)

OPTION(UINT, batch, .name = "batch", .value = "COUNT", .fallback = "10",
       .help = "how many templates to change before waiting for them", .flag_only = true,
       .commands = COMMAND_RECONCILE)

OPTION(DURATION, pause_ms, .name = "pause", .value = "DURATION", .fallback = "30s",
       .help = "how long to rest between two batches", .flag_only = true,
       .commands = COMMAND_RECONCILE)

OPTION(CHOICE, wait_for, .name = "wait", .value = "STATE", .fallback = "current",
       .help = "what each template of a batch has to become before the next one begins: current, "
               "or healthy in all its member clusters",
       .choices = CHOICES("current", "healthy"), .flag_only = true, .commands = COMMAND_RECONCILE)

OPTION(DURATION, timeout_ms, .name = "timeout", .value = "DURATION", .fallback = "5m",
       .help = "how long the templates of a batch may take to; then nothing more is changed",
       .flag_only = true, .commands = COMMAND_RECONCILE)

OPTION(TEXTS, listen_addresses, .name = "web.listen-address", .value = "ADDRESS",
       .fallback = ":19180", .help = "where to serve HTTP: [HOST]:PORT", .commands = COMMAND_SERVE,
       .needs_restart = true)

OPTION(TEXT, telemetry_path, .name = "web.telemetry-path", .value = "PATH", .fallback = "/metrics",
       .help = "where the metrics are served", .commands = COMMAND_SERVE, .needs_restart = true)

OPTION(TEXT, web_config_file, .name = "web.config.file", .value = "FILE", .fallback = "",
       .help = "TLS, users, headers and rate limits, in the schema of Prometheus' exporter "
               "toolkit; read again when it changes",
       .commands = COMMAND_SERVE, .needs_restart = true)

OPTION(FLAG, probes_without_auth, .name = "web.probes-without-auth",
       .help = "answer /-/healthy, /-/ready, /livez, /readyz and /healthz to everybody, with ok or "
               "not ok alone",
       .commands = COMMAND_SERVE, .needs_restart = true)

OPTION(FLAG, lifecycle, .name = "web.enable-lifecycle",
       .help = "reload on POST or PUT to /-/reload, as on SIGHUP, and answer how that ended",
       .commands = COMMAND_SERVE, .needs_restart = true)

OPTION(FLAG, plans, .name = "web.enable-plan",
       .help = "answer POST of manifests to /api/v1/plan with what Karmada would make of them; "
               "nothing is applied",
       .commands = COMMAND_SERVE, .needs_restart = true)

OPTION(TEXT, external_url, .name = "web.external-url", .value = "URL", .fallback = "",
       .help = "where people reach the pages, as behind a proxy: https://proxy.example/karmada",
       .commands = COMMAND_SERVE, .needs_restart = true)

OPTION(TEXT, route_prefix, .name = "web.route-prefix", .value = "PATH", .fallback = "",
       .help = "what every path begins with; by default the path of --web.external-url, and / for "
               "nothing, where a proxy takes that off",
       .commands = COMMAND_SERVE, .needs_restart = true)

OPTION(TEXTS, alertmanager_urls, .name = "alertmanager.url", .value = "URL",
       .help = "Alertmanager that receives alerts about open problems once a minute, without "
               "a Prometheus; give every member of a cluster of Alertmanagers",
       .commands = COMMAND_SERVE, .needs_restart = true)

OPTION(TEXTS, alertmanager_labels, .name = "alertmanager.label", .value = "NAME=VALUE",
       .help = "label of every alert for Alertmanager, such as cluster=prod; give all replicas "
               "the same labels",
       .commands = COMMAND_SERVE, .needs_restart = true)

OPTION(TEXT, alertmanager_user, .name = "alertmanager.user", .value = "NAME", .fallback = "",
       .help = "user for requests to Alertmanager, with --alertmanager.password-file; needs "
               "https, or an address of this machine",
       .commands = COMMAND_SERVE, .needs_restart = true)

OPTION(TEXT, alertmanager_password_file, .name = "alertmanager.password-file", .value = "FILE",
       .fallback = "",
       .help = "the password of --alertmanager.user, up to the end of the line; read for each "
               "request",
       .commands = COMMAND_SERVE, .needs_restart = true)

OPTION(TEXT, alertmanager_token_file, .name = "alertmanager.bearer-token-file", .value = "FILE",
       .fallback = "",
       .help = "a token for Alertmanager, up to the end of the line, instead of a user; read for "
               "each request",
       .commands = COMMAND_SERVE, .needs_restart = true)

OPTION(TEXT, alertmanager_ca_file, .name = "alertmanager.ca-file", .value = "FILE", .fallback = "",
       .help = "who vouches for Alertmanager, in PEM; without it whom this system trusts",
       .commands = COMMAND_SERVE, .needs_restart = true)

/* Exported as karmada_policy_exporter_threshold_seconds, for rules of a site. Nothing else reads
 * them. */
OPTION(DURATION, stale_age_ms, .name = "thresholds.stale-age", .value = "DURATION",
       .fallback = "7d",
       .help = "threshold for your own rules about the age of stale templates; the bundled "
               "alerts use --problems.patience",
       .commands = COMMAND_SERVE)

OPTION(DURATION, pending_age_ms, .name = "thresholds.pending-age", .value = "DURATION",
       .fallback = "1h",
       .help = "threshold for your own rules about the age of pending templates; the bundled "
               "alerts use --problems.patience",
       .commands = COMMAND_SERVE)

OPTION(DURATION, unbound_age_ms, .name = "thresholds.unbound-age", .value = "DURATION",
       .fallback = "10m",
       .help = "threshold for your own rules about the age of unbound templates; the bundled "
               "alerts use --problems.patience",
       .commands = COMMAND_SERVE)

OPTION(UINT, detail_limit, .name = "metrics.detail-limit", .value = "COUNT", .fallback = "1000",
       .help = "how many series a family with one series per object may have, and how many "
               "namespaces, those with the most templates, have rows of their own in families by "
               "namespace; the others are added up in the namespace _others",
       .commands = COMMAND_SERVE)

OPTION(TEXT, owner_key, .name = "owner-key", .value = "KEY", .fallback = "",
       .help = "label that says whose a template is, or annotation where it has no such label, for "
               "the lists of the pages and of the API",
       .commands = COMMAND_SERVE | COMMAND_CHECK)

OPTION(UINT, policy_limit, .name = "metrics.policy-limit", .value = "COUNT", .fallback = "1000",
       .help = "how many policies, the worst first, have rows of their own in families by policy; "
               "the others are added up in one row without a policy",
       .commands = COMMAND_SERVE)

OPTION(UINT, problem_limit, .name = "metrics.problem-limit", .value = "COUNT", .fallback = "20",
       .help = "maximum number of open problems of each kind and namespace that have a series of "
               "their own; at most 1000 in total",
       .commands = COMMAND_SERVE)

OPTION(FLAG, opt_in, .name = "metrics.opt-in",
       .help = "also show the families with one series per object that are off by default",
       .commands = COMMAND_SERVE)

OPTION(UINT, memory_limit, .name = "memory-limit", .value = "BYTES", .fallback = "0",
       .help = "how much memory it may use: from four fifths on, metrics with one series per "
               "object are left out; 0 means the limit of its control group, if that has one",
       .commands = COMMAND_SERVE, .needs_restart = true)

OPTION(FLAG, events_emit, .name = "events.emit",
       .help = "write to Karmada's API server the Events about conflicts of dependencies that "
               "Karmada has only from 1.16 on, with its words, on the binding that is concerned; "
               "where another component has written one, none is. With --karmada.version 1.16 or "
               "later nothing is written, without it only what Karmada has not said within "
               "--rules.grace. Of several exporters one writes, by a Lease in the namespace "
               "karmada-system, which has to exist there. It takes rights of its own: get, create "
               "and patch events; get resourcebindings of work.karmada.io; get, create and update "
               "leases of coordination.k8s.io",
       .commands = COMMAND_SERVE)

OPTION(DURATION, events_lease_ms, .name = "events.lease-duration", .value = "DURATION",
       .fallback = "15s",
       .help = "how long an exporter that stops without a word keeps others from writing Events: "
               "whole seconds from 3s on; it is renewed seven times in that",
       .commands = COMMAND_SERVE)

/* Choices in the order of enum log_level. */
OPTION(CHOICE, log_level, .name = "log.level", .value = "LEVEL", .fallback = "info",
       .help = "the least severe messages to log: debug, info, warn or error",
       .choices = CHOICES("debug", "info", "warn", "error"), .commands = COMMAND_SERVE,
       .needs_restart = true)

/* Choices in the order of enum log_format. */
OPTION(CHOICE, log_format, .name = "log.format", .value = "FORMAT", .fallback = "logfmt",
       .help = "the format of the log: logfmt or json", .choices = CHOICES("logfmt", "json"),
       .commands = COMMAND_SERVE, .needs_restart = true)

/* Choices in the order of enum hardening. */
OPTION(CHOICE, hardening, .name = "hardening", .value = "HOW", .fallback = "auto",
       .help = "auto confines the process to system calls that it needs and to reading the files "
               "that it was started with, as far as the kernel can, unless the kubeconfig names an "
               "exec plugin, which has to run; off does not",
       .choices = CHOICES("auto", "off"), .commands = COMMAND_SERVE, .needs_restart = true)

OPTION(TEXT, config_file, .name = "config.file", .value = "FILE", .fallback = "",
       .help = "YAML file with options under the names of these flags; a flag goes before the "
               "file; read again on SIGHUP",
       .flag_only = true, .commands = COMMAND_EVALUATES)

OPTION(FLAG, version, .name = "version", .help = "print the version and exit", .flag_only = true,
       .commands = COMMAND_ALL)

OPTION(FLAG, help, .name = "help", .help = "print this help and exit", .letter = 'h',
       .flag_only = true, .commands = COMMAND_ALL)

#undef OPTION
