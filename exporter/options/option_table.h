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

OPTION(
    TEXTS, manifests, .name = "manifests", .value = "PATH",
    .help = "YAML or JSON manifests to evaluate: a file, a directory tree, or - for standard input",
    .commands = COMMAND_EVALUATES)

/* Choices in the order of enum render_mode. */
OPTION(CHOICE, render, .name = "render", .value = "MODE", .fallback = "auto",
       .help = "kustomizations and Helm charts among the manifests: auto renders them with "
               "kustomize, kubectl and helm from PATH; never runs no program, and reads the "
               "resources of kustomizations without their patches",
       .choices = CHOICES("auto", "never"), .flag_only = true,
       .commands = COMMAND_APPLIES_RULES & ~COMMAND_SERVE)

OPTION(TEXTS, exclude, .name = "exclude", .value = "GLOB",
       .help =
           "files and folders in a PATH not to read, as a pattern of .gitignore relative to the "
           "PATH; a folder may list such patterns in the file .karmadapolicyignore",
       .commands = COMMAND_APPLIES_RULES)

OPTION(TEXTS, include, .name = "include", .value = "GLOB",
       .help = "files and folders in a PATH to read, as a pattern of .gitignore relative to the "
               "PATH; by default all files",
       .commands = COMMAND_APPLIES_RULES)

OPTION(FLAG, strict_files, .name = "strict-files",
       .help = "report files and documents that are no Kubernetes objects, such as Helm templates "
               "and kustomizations, as errors; by default they are skipped and counted",
       .commands = COMMAND_APPLIES_RULES)

OPTION(TEXT, namespace, .name = "namespace", .value = "NAME", .fallback = "default", .letter = 'n',
       .help = "namespace of manifest objects and OBJECT arguments that have no namespace, as in "
               "kubectl. If the flag is set, reconcile changes only templates of this namespace, "
               "and check of an API server or --server prints only its problems",
       .commands = COMMAND_APPLIES_RULES)

OPTION(TEXT, kubeconfig, .name = "kubeconfig", .value = "FILE", .fallback = "",
       .help = "kubeconfig for Karmada's API server; without the flag $KUBECONFIG, ~/.kube/config "
               "and the service account of the pod are tried",
       .commands = COMMAND_EVALUATES)

OPTION(TEXT, context, .name = "context", .value = "NAME", .fallback = "",
       .help = "context of the kubeconfig; by default its current context",
       .commands = COMMAND_EVALUATES)

OPTION(NAMES, namespaces, .name = "namespaces", .value = "NAMES",
       .help = "namespaces to read, from the API server or from files, separated by commas; all by "
               "default; cluster-scoped objects are always read",
       .commands = COMMAND_EVALUATES)

OPTION(NAMES, namespaces_denied, .name = "namespaces-denylist", .value = "NAMES",
       .help = "namespaces not to read, from the API server or from files, separated by commas",
       .commands = COMMAND_EVALUATES)

OPTION(DURATION, audit_interval_ms, .name = "kube.audit-interval", .value = "DURATION",
       .fallback = "1h",
       .help = "interval between comparisons of the objects in memory with those of the API "
               "server, kind by kind and at a slow pace; 0 disables them",
       .commands = COMMAND_SERVE)

OPTION(UINT, shard, .name = "shard", .value = "NUMBER", .fallback = "0",
       .help = "number of this exporter among --total-shards, from 0", .commands = COMMAND_SERVE)

OPTION(UINT, total_shards, .name = "total-shards", .value = "COUNT", .fallback = "1",
       .help = "number of exporters that divide the namespaces among them",
       .commands = COMMAND_SERVE)

/* Choices in the order of enum takeover. */
OPTION(CHOICE, takeover, .name = "rules.takeover", .value = "RULES", .fallback = "preemption",
       .help = "rules by which another policy takes over a template: preemption (Karmada 1.8 and "
               "later) or static (at the template's next change)",
       .choices = CHOICES("preemption", "static"), .commands = COMMAND_APPLIES_RULES)

OPTION(DURATION, grace_ms, .name = "rules.grace", .value = "DURATION", .fallback = "60s",
       .help = "time that Karmada has to act before a difference is overdue",
       .commands = COMMAND_APPLIES_RULES)

OPTION(UINT, versions, .name = "rules.versions", .value = "COUNT", .fallback = "10",
       .help = "number of versions of a policy to keep, beside those that templates run",
       .commands = COMMAND_SERVE)

OPTION(
    UINT, history_entries, .name = "history.entries", .value = "COUNT", .fallback = "100000",
    .help =
        "maximum number of transitions of templates to keep, at 64 bytes each; the oldest are "
        "dropped; 0 disables the history and the problem decision_flapping/state; at most 10000000",
    .commands = COMMAND_SERVE)

OPTION(SEVERITIES, problem_severities, .name = "problems.severity", .value = "PROBLEM=SEVERITY",
       .help = "severity of a problem instead of its default: critical, warning or info; off "
               "disables the problem; separated by commas",
       .commands = COMMAND_JUDGES)

OPTION(PATIENCES, problem_patiences, .name = "problems.patience", .value = "PROBLEM=DURATION",
       .help =
           "patience of a problem instead of its default: the time for which its condition must "
           "hold before the problem is open, from 0 to 3650d; separated by commas",
       .commands = COMMAND_JUDGES)

OPTION(DURATION, resolve_delay_ms, .name = "problems.resolve-delay", .value = "DURATION",
       .fallback = "5m",
       .help = "time from the end of the condition of an open problem to the end of the problem, "
               "at most 3650d",
       .commands = COMMAND_SERVE)

OPTION(TEXT, skipped_namespaces, .name = "skipped-propagating-namespaces", .value = "REGEX",
       .fallback = "kube-.*",
       .help = "namespaces that Karmada never propagates, as in the flag of "
               "karmada-controller-manager; separated by commas",
       .commands = COMMAND_APPLIES_RULES)

OPTION(TEXT, skipped_apis, .name = "skipped-propagating-apis", .value = "APIS", .fallback = "",
       .help = "APIs that Karmada never propagates, as in the flag of karmada-controller-manager: "
               "groups, group/versions or group/version/Kinds, separated by semicolons",
       .commands = COMMAND_APPLIES_RULES)

OPTION(TEXT, karmada_version, .name = "karmada.version", .value = "VERSION", .fallback = "",
       .help =
           "release of Karmada, such as 1.15, of which the rules apply; without it, the schemas "
           "of Karmada's kinds show the release: on the API server, or in the "
           "CustomResourceDefinitions among the manifests; without schemas, the newest release "
           "is assumed",
       .commands = COMMAND_APPLIES_RULES)

OPTION(TEXT, feature_gates, .name = "karmada.feature-gates", .value = "GATES", .fallback = "",
       .help = "feature gates of Karmada's components that differ from the defaults of their "
               "release, such as PropagationPolicyPreemption=true; separated by commas; an unknown "
               "gate, or one that the release lacks, causes a warning and has no effect",
       .commands = COMMAND_APPLIES_RULES)

OPTION(FLAG, works, .name = "karmada.works",
       .help = "also read Works, which show for each member cluster the manifest that Karmada "
               "sent, and Events of override policies that fail; needs more memory, because each "
               "template has several Works",
       .commands = COMMAND_EVALUATES)

OPTION(TEXT, lease_namespace, .name = "karmada.lease-namespace", .value = "NAME",
       .fallback = "karmada-system",
       .help = "namespace in Karmada's API server with the Leases karmada-controller-manager and "
               "karmada-scheduler, which show whether these components run",
       .commands = COMMAND_SERVE)

OPTION(TEXT, asset_file, .name = "configconnector.asset-file", .value = "FILE", .fallback = "",
       .help = "Cloud Asset Inventory export in NDJSON, plain or gzip, with the leases of Config "
               "Connector's resources; read again when it changes",
       .commands = COMMAND_EVALUATES)

OPTION(DURATION, lease_skew_ms, .name = "configconnector.clock-skew", .value = "DURATION",
       .fallback = "0s",
       .help = "allowed difference between clocks before a lease counts as expired",
       .commands = COMMAND_EVALUATES)

OPTION(TEXTS, changes, .name = "filename", .value = "CHANGE",
       .help = "manifests of the change, applied over those of PATH: a file, a directory tree, or "
               "- for standard input",
       .letter = 'f', .flag_only = true, .commands = COMMAND_PLAN)

OPTION(TEXTS, deletions, .name = "delete", .value = "OBJECT",
       .help = "object of PATH to delete, as KIND[.GROUP]/[NAMESPACE/]NAME", .flag_only = true,
       .commands = COMMAND_PLAN)

OPTION(TEXTS, lost_clusters, .name = "lose", .value = "CLUSTER",
       .help = "member cluster to lose after the change: the plan shows which templates move, and "
               "which ones have no copy left",
       .flag_only = true, .commands = COMMAND_PLAN)

OPTION(TEXT, to_karmada, .name = "to-karmada", .value = "RELEASE", .fallback = "",
       .help = "release of Karmada to upgrade to before the change, such as 1.19: the plan shows "
               "which templates change, and by which behaviour of the release",
       .flag_only = true, .commands = COMMAND_PLAN)

OPTION(FLAG, details, .name = "details",
       .help = "print each template with its differences instead of groups of equal changes",
       .flag_only = true, .commands = COMMAND_PLAN | COMMAND_RECONCILE)

OPTION(FAIL_ON, fail_on, .name = "fail-on", .value = "PROBLEMS", .fallback = "warning,policy_tie",
       .help = "problems that cause exit status 1, separated by commas: PROBLEM, PROBLEM/REASON or "
               "a severity, which includes higher severities ('help problems' lists them); an "
               "empty value disables the check. For plan also consequences of the change: move "
               "(replicas move), lost (no policy governs a template any more), wait (for a user's "
               "next change), overflow (of free capacity), undetermined (clusters), unsettled (no "
               "stable state), and outcomes: nowhere (no cluster is left), refused, ignored, "
               "not_simulated (any problem or outcome includes it); without the flag plan does not "
               "exit with 1",
       .choices = fail_on_names, .commands = COMMAND_CHECK | COMMAND_PLAN)

OPTION(TEXT, only_problem, .name = "problem", .value = "PROBLEM", .fallback = "",
       .help = "print only this problem, as PROBLEM or PROBLEM/REASON; other problems do not cause "
               "exit status 1",
       .flag_only = true, .commands = COMMAND_CHECK)

OPTION(TEXT, baseline, .name = "baseline", .value = "REPORT", .fallback = "",
       .help = "problems that are known and cause no exit status 1: those of the file REPORT of "
               "'check -o json', or with git:REF those of the same PATHs in a commit, branch or "
               "tag of their Git repository",
       .commands = COMMAND_CHECK)

OPTION(TEXTS, exceptions, .name = "exceptions", .value = "FILE",
       .help = "YAML list of problems that are accepted until a date, each with problem, object, "
               "reason and until; an exception that has expired causes exit status 1",
       .commands = COMMAND_CHECK)

OPTION(TEXTS, environments, .name = "environment", .value = "NAME=PATH[,PATH]",
       .help = "evaluate the PATHs of this environment, after those of all environments, apart "
               "from other environments; each environment has its own member clusters",
       .commands = COMMAND_CHECK)

OPTION(TEXT, only_tests, .name = "run", .value = "REGEX", .fallback = "",
       .help = "run only the tests with a name that this extended regular expression matches",
       .flag_only = true, .commands = COMMAND_TEST)

OPTION(FLAG, allow_empty, .name = "allow-empty", .help = "accept manifests without an object",
       .commands = COMMAND_CHECK | COMMAND_EXPLAIN | COMMAND_PLAN)

/* Choices in the order of enum output_format. */
OPTION(CHOICE, output, .name = "output", .value = "FORMAT", .fallback = "table",
       .help =
           "table: text, no wider than the terminal; wide: text with all columns, for check, "
           "explain, plan and reconcile; json or yaml: documents; for check, plan and test "
           "also sarif, junit, github (log with annotations), gitlab (code quality) and markdown "
           "(comment on a merge request); markdown is also the reference of all metrics "
           "(metrics), of all options (help), or of a topic (help TOPIC)",
       .choices = CHOICES("table", "json", "yaml", "markdown", "wide", "sarif", "junit", "github",
                          "gitlab"),
       .letter = 'o',
       .commands = COMMAND_CHECK | COMMAND_EXPLAIN | COMMAND_PLAN | COMMAND_RECONCILE |
                   COMMAND_TEST | COMMAND_METRICS | COMMAND_HELP)

OPTION(TEXTS, reports, .name = "report", .value = "FORMAT=FILE",
       .help =
           "also write the findings to FILE as sarif, junit, github, gitlab or markdown, beside "
           "--output and of the same evaluation",
       .flag_only = true, .commands = COMMAND_CHECK | COMMAND_PLAN)

OPTION(TEXT, server, .name = "server", .value = "URL", .fallback = "",
       .help =
           "URL of a running exporter that answers instead of reading manifests or an API server, "
           "such as http://localhost:19180; proxies are not used, redirects are not followed",
       .flag_only = true, .commands = COMMAND_REMOTE)

OPTION(
    TEXT, server_ca_file, .name = "server.ca-file", .value = "FILE", .fallback = "",
    .help = "CA certificates for the exporter of --server, in PEM; by default those of the system",
    .flag_only = true, .commands = COMMAND_REMOTE)

OPTION(TEXT, server_cert_file, .name = "server.cert-file", .value = "FILE", .fallback = "",
       .help = "client certificate for the exporter of --server, with --server.key-file",
       .flag_only = true, .commands = COMMAND_REMOTE)

OPTION(TEXT, server_key_file, .name = "server.key-file", .value = "FILE", .fallback = "",
       .help = "private key of --server.cert-file", .flag_only = true, .commands = COMMAND_REMOTE)

OPTION(TEXT, server_user, .name = "server.user", .value = "NAME", .fallback = "",
       .help = "user for requests to the exporter of --server, with --server.password-file; needs "
               "https, or a loopback address",
       .flag_only = true, .commands = COMMAND_REMOTE)

OPTION(TEXT, server_password_file, .name = "server.password-file", .value = "FILE", .fallback = "",
       .help = "file with the password of --server.user; only its first line counts",
       .flag_only = true, .commands = COMMAND_REMOTE)

OPTION(DURATION, server_timeout_ms, .name = "server.timeout", .value = "DURATION",
       .fallback = "30s",
       .help = "time without progress after which a request to the exporter of --server fails; 0 "
               "disables the limit",
       .flag_only = true, .commands = COMMAND_REMOTE)

OPTION(FLAG, history, .name = "history",
       .help = "also print the earlier states of a template, with time and cause of each change; "
               "needs --server, because only a running exporter has a history",
       .flag_only = true, .commands = COMMAND_EXPLAIN)

OPTION(TEXT, policy, .name = "policy", .value = "OBJECT", .fallback = "",
       .help = "reconcile the templates that this policy governs, as pp/NAMESPACE/NAME or cpp/NAME",
       .flag_only = true, .commands = COMMAND_RECONCILE)

OPTION(TEXT, selector, .name = "selector", .value = "SELECTOR", .fallback = "", .letter = 'l',
       .help = "reconcile the templates with these labels, in kubectl's syntax; with --policy only "
               "those of its templates",
       .flag_only = true, .commands = COMMAND_RECONCILE)

OPTION(TEXT, from_version, .name = "from-version", .value = "VERSION", .fallback = "",
       .help = "reconcile only the templates that run this version of --policy: its number, or its "
               "hash, which all exporters compute alike; explain lists both",
       .flag_only = true, .commands = COMMAND_RECONCILE)

OPTION(UINT, max_templates, .name = "max", .value = "COUNT", .fallback = "0",
       .help = "maximum number of templates to change; 0 for all", .flag_only = true,
       .commands = COMMAND_RECONCILE)

OPTION(FLAG, undo, .name = "undo",
       .help = "remove the annotation from the templates; for Karmada this is another change by "
               "their user: earlier placements do not return",
       .flag_only = true, .commands = COMMAND_RECONCILE)

/* Choices in the order of `risks` in cmd_reconcile.c. */
OPTION(SET, accept, .name = "accept", .value = "RISKS", .fallback = "",
       .help = "continue although the plan has conflicts that appear, templates that become "
               "pending, or member clusters without enough free capacity; separated by commas",
       .choices = CHOICES("conflict", "pending", "overflow"), .flag_only = true,
       .commands = COMMAND_RECONCILE)

OPTION(FLAG, yes, .name = "yes",
       .help = "write to the API server; without the flag reconcile only prints the changes",
       .flag_only = true, .commands = COMMAND_RECONCILE)

OPTION(UINT, batch, .name = "batch", .value = "COUNT", .fallback = "10",
       .help = "number of templates to change before waiting for them", .flag_only = true,
       .commands = COMMAND_RECONCILE)

OPTION(DURATION, pause_ms, .name = "pause", .value = "DURATION", .fallback = "30s",
       .help = "pause between two batches", .flag_only = true, .commands = COMMAND_RECONCILE)

OPTION(CHOICE, wait_for, .name = "wait", .value = "STATE", .fallback = "current",
       .help = "state that each template of a batch must reach before the next batch begins: "
               "current, or healthy in all its member clusters",
       .choices = CHOICES("current", "healthy"), .flag_only = true, .commands = COMMAND_RECONCILE)

OPTION(DURATION, timeout_ms, .name = "timeout", .value = "DURATION", .fallback = "5m",
       .help = "time for the templates of a batch to reach the state of --wait; after it nothing "
               "more is changed",
       .flag_only = true, .commands = COMMAND_RECONCILE)

OPTION(TEXTS, listen_addresses, .name = "web.listen-address", .value = "ADDRESS",
       .fallback = ":19180", .help = "address of the HTTP server, as [HOST]:PORT",
       .commands = COMMAND_SERVE, .needs_restart = true)

OPTION(TEXT, telemetry_path, .name = "web.telemetry-path", .value = "PATH", .fallback = "/metrics",
       .help = "path of the metrics", .commands = COMMAND_SERVE, .needs_restart = true)

OPTION(TEXT, web_config_file, .name = "web.config.file", .value = "FILE", .fallback = "",
       .help = "file with TLS, users, headers and rate limits, in the schema of Prometheus' "
               "exporter toolkit; read again when it changes",
       .commands = COMMAND_SERVE, .needs_restart = true)

OPTION(FLAG, probes_without_auth, .name = "web.probes-without-auth",
       .help = "answer /-/healthy, /-/ready, /livez, /readyz and /healthz without authentication; "
               "the response has only the status code and the text ok or not ok",
       .commands = COMMAND_SERVE, .needs_restart = true)

OPTION(FLAG, lifecycle, .name = "web.enable-lifecycle",
       .help = "reload on POST or PUT to /-/reload, as on SIGHUP, and return the result",
       .commands = COMMAND_SERVE, .needs_restart = true)

OPTION(
    FLAG, plans, .name = "web.enable-plan",
    .help = "accept POST of manifests to /api/v1/plan and return the plan; no manifest is applied",
    .commands = COMMAND_SERVE, .needs_restart = true)

OPTION(TEXT, external_url, .name = "web.external-url", .value = "URL", .fallback = "",
       .help = "URL at which users reach the pages, for example behind a proxy: "
               "https://proxy.example/karmada",
       .commands = COMMAND_SERVE, .needs_restart = true)

OPTION(TEXT, route_prefix, .name = "web.route-prefix", .value = "PATH", .fallback = "",
       .help = "prefix of all paths; by default the path of --web.external-url; / for a proxy that "
               "removes the prefix",
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
       .help = "user for requests to Alertmanager, with --alertmanager.password-file; needs https, "
               "or a loopback address",
       .commands = COMMAND_SERVE, .needs_restart = true)

OPTION(TEXT, alertmanager_password_file, .name = "alertmanager.password-file", .value = "FILE",
       .fallback = "",
       .help = "file with the password of --alertmanager.user; only its first line counts; read "
               "for each request",
       .commands = COMMAND_SERVE, .needs_restart = true)

OPTION(TEXT, alertmanager_token_file, .name = "alertmanager.bearer-token-file", .value = "FILE",
       .fallback = "",
       .help = "file with a token for Alertmanager, instead of a user; only its first line counts; "
               "read for each request",
       .commands = COMMAND_SERVE, .needs_restart = true)

OPTION(TEXT, alertmanager_ca_file, .name = "alertmanager.ca-file", .value = "FILE", .fallback = "",
       .help = "CA certificates for Alertmanager, in PEM; by default those of the system",
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
       .help = "maximum number of series of each family that has one series for each object; also "
               "maximum number of namespaces in each family by namespace: the namespaces with the "
               "most templates have rows, the others are added up in the namespace _others",
       .commands = COMMAND_SERVE)

OPTION(TEXT, owner_key, .name = "owner-key", .value = "KEY", .fallback = "",
       .help = "label, or annotation if there is no such label, with the owner of a template, for "
               "pages, API and alerts",
       .commands = COMMAND_SERVE | COMMAND_CHECK)

OPTION(UINT, policy_limit, .name = "metrics.policy-limit", .value = "COUNT", .fallback = "1000",
       .help = "maximum number of policies in families by policy, the worst first; the other "
               "policies are added up in one row without a policy",
       .commands = COMMAND_SERVE)

OPTION(UINT, problem_limit, .name = "metrics.problem-limit", .value = "COUNT", .fallback = "20",
       .help = "maximum number of open problems of each kind and namespace that have a series of "
               "their own; at most 1000 in total",
       .commands = COMMAND_SERVE)

OPTION(FLAG, opt_in, .name = "metrics.opt-in",
       .help = "also export the families with one series for each object that are off by default",
       .commands = COMMAND_SERVE)

OPTION(UINT, memory_limit, .name = "memory-limit", .value = "BYTES", .fallback = "0",
       .help = "maximum memory in bytes; above four fifths of it, metrics with one series for each "
               "object are omitted; 0 uses the limit of the control group, if any",
       .commands = COMMAND_SERVE, .needs_restart = true)

OPTION(
    FLAG, events_emit, .name = "events.emit",
    .help =
        "write Events about conflicts of dependencies to Karmada's API server, on the binding "
        "and with the texts of Karmada 1.16. Karmada 1.16 and later write these Events: with "
        "--karmada.version 1.16 or later the exporter writes no Events. Without --karmada.version, "
        "it writes only Events that no other component has written within --rules.grace. One "
        "of several exporters writes, elected by a Lease in the existing namespace "
        "karmada-system. Needs rights: get, create and patch events; get resourcebindings of "
        "work.karmada.io; get, create and update leases of coordination.k8s.io",
    .commands = COMMAND_SERVE)

OPTION(DURATION, events_lease_ms, .name = "events.lease-duration", .value = "DURATION",
       .fallback = "15s",
       .help = "time after which another exporter may write Events if the present one has stopped "
               "without releasing the Lease: whole seconds, at least 3s; the Lease is renewed "
               "seven times within it",
       .commands = COMMAND_SERVE)

/* Choices in the order of enum log_level. */
OPTION(CHOICE, log_level, .name = "log.level", .value = "LEVEL", .fallback = "info",
       .help = "minimum severity of log messages: debug, info, warn or error",
       .choices = CHOICES("debug", "info", "warn", "error"), .commands = COMMAND_SERVE,
       .needs_restart = true)

/* Choices in the order of enum log_format. */
OPTION(CHOICE, log_format, .name = "log.format", .value = "FORMAT", .fallback = "logfmt",
       .help = "format of the log: logfmt or json", .choices = CHOICES("logfmt", "json"),
       .commands = COMMAND_SERVE, .needs_restart = true)

/* Choices in the order of enum hardening. */
OPTION(CHOICE, hardening, .name = "hardening", .value = "HOW", .fallback = "auto",
       .help = "auto restricts the process to the system calls and files that it needs, as far as "
               "the kernel supports it, unless the kubeconfig has an exec plugin; off disables the "
               "restrictions",
       .choices = CHOICES("auto", "off"), .commands = COMMAND_SERVE, .needs_restart = true)

OPTION(
    TEXT, config_file, .name = "config.file", .value = "FILE", .fallback = "",
    .help =
        "YAML file with options, named as these flags; flags take precedence; read again on SIGHUP",
    .flag_only = true, .commands = COMMAND_EVALUATES)

OPTION(FLAG, version, .name = "version", .help = "print the version and exit", .flag_only = true,
       .commands = COMMAND_ALL)

OPTION(FLAG, help, .name = "help", .help = "print this help and exit", .letter = 'h',
       .flag_only = true, .commands = COMMAND_ALL)

#undef OPTION
