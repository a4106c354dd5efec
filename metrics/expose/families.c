/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/families.h"

#include "metrics/expose/observe.h"

enum {
    TEMPLATES = 1u << CLASS_TEMPLATE,
    POLICIES = 1u << CLASS_POLICY,
    BINDINGS = 1u << CLASS_BINDING,
    DEPENDENCIES = BINDINGS | TEMPLATES, /* Templates only where there are no bindings. */
};

static const char *const policy_kind_names[] = {"PropagationPolicy", "ClusterPropagationPolicy"};
static const char *const relation_names[] = {
    [RELATION_CLAIMED] = "claimed",
    [RELATION_SELECTED] = "selected",
    [RELATION_WON] = "won",
    [RELATION_EXCLUDED] = "excluded",
};
/* In the order of rank_step, from RANK_KIND on. */
static const char *const decided_by_names[] = {"kind", "priority", "selector", "name"};
static const char *const scope_names[] = {"namespaced", "cluster"};
static const char *const origin_names[BINDING_ORIGIN_COUNT] = {
    [ORIGIN_POLICY] = "policy",
    [ORIGIN_DEPENDENCY] = "dependency",
    [ORIGIN_BOTH] = "both",
    [ORIGIN_UNCLAIMED] = "unclaimed",
};

/* None of them whole: OpenMetrics would have "1.0" where the text format has "1". */
static const double duration_buckets[] = {0.00001, 0.0001, 0.0005, 0.001, 0.0025,
                                          0.005,   0.01,   0.025,  0.1,   0.5};

static const double lag_buckets[] = {0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 1.5, 2.5, 7.5};

#define TEXT(label)                                                                                \
    {                                                                                              \
        .name = (label)                                                                            \
    }
#define ONE_OF(label, names)                                                                       \
    {                                                                                              \
        .name = (label), .values = (names), .value_count = ARRAY_LEN(names)                        \
    }

#define KIND     TEXT("api_group"), TEXT("kind")
#define POLICY   TEXT("policy_kind"), TEXT("policy_namespace"), TEXT("policy")
#define STATE    ONE_OF("state", state_names)
#define PHASE    ONE_OF("phase", phase_names)
#define SCOPE    ONE_OF("scope", scope_names)
#define DRIFTED  ONE_OF("field", drift_field_names)
#define DISPUTED ONE_OF("field", dependency_field_names)
#define PENDING  ONE_OF("reason", pending_reason_names)

/* A family that the exporter sets about itself. */
#define OWN(own_type, own_name, words, ...)                                                        \
    {                                                                                              \
        .name = (own_name), .type = (own_type), .help = (words), .fold = FOLD_SET, __VA_ARGS__     \
    }

const struct family families[] = {
    {.name = "karmada_templates",
     .help = "Resource templates by kind and state; each is in exactly one state.",
     .bound = "kinds x 7",
     .labels = {KIND, STATE},
     .classes = TEMPLATES,
     .observe = observe_templates},
    {.name = "karmada_namespace_templates",
     .help = "Resource templates by namespace and state; each is in exactly one state.",
     .bound = "namespaces x 7",
     .labels = {TEXT("namespace"), STATE},
     .classes = TEMPLATES,
     .observe = observe_namespace_templates},
    {.name = "karmada_templates_stale",
     .help = "Templates bound by something else than what governs them now, by the policy that "
             "governs them, or that they claim where none does.",
     .bound = "policies x 10",
     .labels = {POLICY, ONE_OF("reason", stale_reason_names), PHASE},
     .classes = TEMPLATES,
     .observe = observe_stale},
    {.name = "karmada_templates_stale_field",
     .help = "Stale templates by field in which binding and policy differ; several per template.",
     .bound = "8",
     .labels = {DRIFTED},
     .classes = TEMPLATES,
     .observe = observe_stale_fields},
    {.name = "karmada_templates_stale_oldest_timestamp_seconds",
     .unit = "seconds",
     .help = "Since when the longest stale template may have been stale.",
     .bound = "2",
     .fold = FOLD_MIN,
     .labels = {PHASE},
     .classes = TEMPLATES,
     .observe = observe_stale_oldest},
    {.name = "karmada_templates_pending",
     .help = "Templates that no policy governs and nothing else propagates, by reason.",
     .bound = "kinds x 6",
     .labels = {KIND, PENDING},
     .classes = TEMPLATES,
     .observe = observe_pending},
    {.name = "karmada_templates_pending_oldest_timestamp_seconds",
     .unit = "seconds",
     .help = "Since when the longest pending template may have been pending.",
     .bound = "6",
     .fold = FOLD_MIN,
     .labels = {PENDING},
     .classes = TEMPLATES,
     .observe = observe_pending_oldest},
    {.name = "karmada_templates_ignored",
     .help = "Templates that Karmada never considers, by reason.",
     .bound = "5",
     .labels = {ONE_OF("reason", ignored_reason_names)},
     .classes = TEMPLATES,
     .observe = observe_ignored},
    {.name = "karmada_templates_outranked",
     .help = "Templates that a policy keeps by its claim though another would win a fresh match, "
             "by the policy that is claimed.",
     .bound = "policies",
     .labels = {POLICY},
     .classes = TEMPLATES,
     .observe = observe_outranked},
    {.name = "karmada_templates_unbound_oldest_timestamp_seconds",
     .unit = "seconds",
     .help = "Since when the longest unbound template should have had a binding.",
     .bound = "1",
     .fold = FOLD_MIN,
     .classes = TEMPLATES,
     .observe = observe_unbound_oldest},

    {.name = "karmada_propagationpolicy_templates",
     .help = "Templates that claim a policy, that it selects, that it would win, and that its "
             "excludedResources keep away; ignored ones left out.",
     .bound = "policies x 4",
     .labels = {POLICY, ONE_OF("relation", relation_names)},
     .classes = TEMPLATES | POLICIES,
     .observe = observe_policy_templates},
    {.name = "karmada_propagationpolicy_info",
     .help = "What a policy says, as labels; always 1.",
     .bound = "policies",
     .labels = {POLICY, TEXT("activation"), TEXT("preemption"), TEXT("priority"),
                TEXT("propagate_deps"), TEXT("conflict_resolution"),
                TEXT("preserve_resources_on_deletion")},
     .classes = POLICIES,
     .observe = observe_policy_info},
    {.name = "karmada_propagationpolicy_generation",
     .help = "The metadata.generation of a policy: it changes when the spec does.",
     .bound = "policies",
     .labels = {POLICY},
     .classes = POLICIES,
     .observe = observe_policy_generation},
    {.name = "karmada_propagationpolicy_unused",
     .help = "Policies that select no template: karmada_propagationpolicy_templates with relation "
             "selected is 0.",
     .bound = "2",
     .fold = FOLD_ZEROS,
     .labels = {ONE_OF("policy_kind", policy_kind_names)},
     .of = "karmada_propagationpolicy_templates",
     .of_row = RELATION_SELECTED},
    {.name = "karmada_propagationpolicy_overlaps",
     .help = "Templates that several policies select, by what decides between the best two.",
     .bound = "4",
     .labels = {ONE_OF("decided_by", decided_by_names)},
     .classes = TEMPLATES,
     .observe = observe_overlaps},
    {.name = "karmada_propagationpolicy_invalid",
     .help = "Policies in which something cannot work as written, by reason.",
     .bound = "6",
     .labels = {ONE_OF("reason", policy_problem_names)},
     .classes = POLICIES,
     .observe = observe_policy_problems},

    {.name = "karmada_bindings",
     .help = "ResourceBindings and ClusterResourceBindings by what they are there for: a policy's "
             "claim, other bindings that require them, both, or neither.",
     .bound = "8",
     .labels = {SCOPE, ONE_OF("origin", origin_names)},
     .classes = BINDINGS,
     .observe = observe_bindings},
    {.name = "karmada_bindings_not_rescheduled",
     .help = "Bindings whose placement the scheduler has not applied yet.",
     .bound = "2",
     .labels = {SCOPE},
     .classes = BINDINGS,
     .observe = observe_not_rescheduled},

    {.name = "karmada_dependency_conflicts",
     .help = "Dependencies whose referrers disagree on a field.",
     .bound = "2",
     .labels = {DISPUTED},
     .classes = DEPENDENCIES,
     .observe = observe_conflicts},
    {.name = "karmada_dependency_conflicted_bindings",
     .help = "Dependencies whose referrers disagree on any field.",
     .bound = "1",
     .classes = DEPENDENCIES,
     .observe = observe_conflicted},
    {.name = "karmada_dependency_conflict_info",
     .help = "A dependency whose referrers disagree on a field, and the value that results.",
     .bound = "detail limit",
     .detail = true,
     .labels = {TEXT("namespace"), KIND, TEXT("name"), TEXT("field"), TEXT("resolved")},
     .classes = DEPENDENCIES,
     .observe = observe_conflict_info},
    {.name = "karmada_propagationpolicy_dependency_conflicts",
     .help = "Dependencies in dispute to which a policy is a party, by the value that it wants.",
     .bound = "policies x 4",
     .labels = {POLICY, TEXT("field"), TEXT("value")},
     .classes = DEPENDENCIES,
     .observe = observe_conflict_parties},
    {.name = "karmada_dependency_conflicts_predicted",
     .help = "Dependencies without a conflict that will have one once bindings follow what the "
             "policies say now.",
     .bound = "2",
     .labels = {DISPUTED},
     .classes = DEPENDENCIES,
     .observe = observe_predicted},
    {.name = "karmada_dependency_unapplied_resolutions",
     .help = "Attached bindings whose field has not the value that their referrers result in.",
     .bound = "2",
     .labels = {DISPUTED},
     .classes = DEPENDENCIES,
     .observe = observe_unapplied},
    {.name = "karmada_dependency_overridden",
     .help = "Required bindings whose own policy's value stands against what their referrers "
             "result in.",
     .bound = "2",
     .labels = {DISPUTED},
     .classes = DEPENDENCIES,
     .observe = observe_overridden},
    {.name = "karmada_dependency_dangling_references",
     .help = "Entries of requiredBy that name a binding which does not exist.",
     .bound = "1",
     .classes = DEPENDENCIES,
     .observe = observe_dangling},
    {.name = "karmada_dependency_shared_bindings",
     .help = "Dependencies with more than one referrer: where a conflict could arise.",
     .bound = "1",
     .classes = DEPENDENCIES,
     .observe = observe_shared},
    {.name = "karmada_dependency_conflict_oldest_timestamp_seconds",
     .unit = "seconds",
     .help = "Since when the longest conflict may have existed.",
     .bound = "2",
     .fold = FOLD_MIN,
     .labels = {DISPUTED},
     .classes = DEPENDENCIES,
     .observe = observe_conflict_oldest},
    {.name = "karmada_dependency_conflict_transitions_total",
     .help = "How often referrers of a dependency began to disagree on a field.",
     .bound = "2",
     .type = FAMILY_COUNTER,
     .fold = FOLD_ONSET,
     .labels = {DISPUTED},
     .classes = DEPENDENCIES,
     .observe = observe_conflicts},

    OWN(FAMILY_GAUGE, "karmada_policy_exporter_build_info",
        "Which build of the exporter runs; always 1.", .bound = "1",
        .labels = {TEXT("version"), TEXT("revision"), TEXT("compiler")}),
    OWN(FAMILY_GAUGE, "karmada_policy_exporter_up",
        "1 once everything has been read; until then no other numbers are shown.", .bound = "1"),
    OWN(FAMILY_GAUGE, "karmada_policy_exporter_snapshot_timestamp_seconds",
        "When the numbers on this page were last brought up to date.", .unit = "seconds",
        .bound = "1"),
    OWN(FAMILY_COUNTER, "karmada_policy_exporter_evaluations_total",
        "How many objects the rules have looked at, each look counted.", .bound = "1"),
    OWN(FAMILY_HISTOGRAM, "karmada_policy_exporter_evaluation_duration_seconds",
        "How long a slice of looking at objects took.", .unit = "seconds", .bound = "1",
        .buckets = duration_buckets, .bucket_count = ARRAY_LEN(duration_buckets)),
    OWN(FAMILY_HISTOGRAM, "karmada_policy_exporter_event_lag_seconds",
        "How long the first change after a page waited to be on the next.", .unit = "seconds",
        .bound = "1", .buckets = lag_buckets, .bucket_count = ARRAY_LEN(lag_buckets)),
    OWN(FAMILY_GAUGE, "karmada_policy_exporter_config_last_reload_successful",
        "1 if the configuration in force is the last one that was given.", .bound = "1"),
    OWN(FAMILY_GAUGE, "karmada_policy_exporter_objects", "Objects held in memory.",
        .bound = "resources", .labels = {TEXT("resource")}),
    OWN(FAMILY_GAUGE, "karmada_policy_exporter_manifest_files", "Manifest files read.",
        .bound = "1"),
    OWN(FAMILY_GAUGE, "karmada_policy_exporter_manifest_errors",
        "Manifest files that cannot be read as they are now; their last good content counts.",
        .bound = "1"),
    OWN(FAMILY_COUNTER, "karmada_policy_exporter_decode_errors_total",
        "Objects that could not be understood; the version before them, if any, counts.",
        .bound = "resources", .labels = {TEXT("resource")}),
    OWN(FAMILY_GAUGE, "karmada_policy_exporter_detail_series_dropped",
        "Series with one object each that are not shown because there are too many.",
        .bound = "detail families", .labels = {TEXT("family")}),
    OWN(FAMILY_COUNTER, "karmada_policy_exporter_http_requests_total", "Requests answered.",
        .bound = "handlers x codes", .labels = {TEXT("handler"), TEXT("code")}),
    OWN(FAMILY_COUNTER, "process_cpu_seconds_total",
        "Total user and system CPU time spent in seconds.", .unit = "seconds", .bound = "1"),
    OWN(FAMILY_GAUGE, "process_max_fds", "Maximum number of open file descriptors.", .bound = "1"),
    OWN(FAMILY_GAUGE, "process_open_fds", "Number of open file descriptors.", .bound = "1"),
    OWN(FAMILY_GAUGE, "process_resident_memory_bytes", "Resident memory size in bytes.",
        .unit = "bytes", .bound = "1"),
    OWN(FAMILY_GAUGE, "process_start_time_seconds",
        "Start time of the process since unix epoch in seconds.", .unit = "seconds", .bound = "1"),
    OWN(FAMILY_GAUGE, "process_virtual_memory_bytes", "Virtual memory size in bytes.",
        .unit = "bytes", .bound = "1"),
};
const size_t family_count = ARRAY_LEN(families);
