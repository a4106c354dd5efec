/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/problem_sentences.h"

/* Times and retries in the sentences are defaults of Karmada and Config Connector. */
const struct problem_sentences problem_sentences[PROBLEM_REASON_COUNT] = {
    [PROBLEM_REASON_LAST_COPY_AT_RISK_CLUSTER_READY] =
        {"Karmada evicts the last copy of {subject} from {clusters}, and no other member cluster "
         "takes it over[ (Karmada: {message})].",
         "Let the placement allow another Ready cluster, or set suppressDeletion in the eviction "
         "task; removing the task deletes the copy.",
         "The problem ends when another member cluster is assigned or suppressDeletion is set[; "
         "else Karmada deletes the copy at {deadline}]."},
    [PROBLEM_REASON_LAST_COPY_AT_RISK_CLUSTER_NOT_READY] =
        {"Karmada evicts the last copy of {subject} from {clusters}, which is not Ready, and no "
         "other member cluster takes it over[ (Karmada: {message})].",
         "Restore the member cluster, and let the platform team set suppressDeletion in the "
         "eviction task before the task ends.",
         "The problem ends when another member cluster is assigned or suppressDeletion is set[; "
         "else Karmada deletes the copy at {deadline}]."},
    [PROBLEM_REASON_PLACEMENT_LOST_CLUSTER_GONE] =
        {"{subject} runs in no member cluster: its placement names a cluster that does not exist, "
         "and no other one passes the filters of {policy}[ (Karmada: {message})].",
         "Let the placement of the policy allow an existing member cluster. Join the missing "
         "cluster again only if it was removed by mistake.",
         "The problem ends when the scheduler assigns a member cluster; it tries again after a "
         "change of the binding or of a Cluster."},
    [PROBLEM_REASON_PLACEMENT_LOST_NO_CLUSTER_FIT] =
        {"{subject} runs in no member cluster: it was placed before, but no cluster passes the "
         "filters of {policy} any more[ (Karmada: {message})].",
         "Let the placement of the policy allow a member cluster, or restore the labels and taints "
         "of the Clusters.",
         "The problem ends when the scheduler assigns a member cluster; it tries again after a "
         "change of the binding or of a Cluster."},
    [PROBLEM_REASON_CONTROLLERS_STUCK_NOT_RUNNING] =
        {"No instance of {subject} has renewed its Lease for 2 minutes.",
         "Check that the pods of karmada-controller-manager run and reach the API server, and "
         "restart them.",
         "The problem ends when an instance renews the Lease."},
    [PROBLEM_REASON_CONTROLLERS_STUCK_RESTARTING] =
        {"The Lease of {subject} got three new holders within an hour, and templates wait to be "
         "processed.",
         "Read the logs of the terminated containers of karmada-controller-manager, and fix the "
         "cause of the restarts.",
         "The problem ends when an instance keeps the Lease for an hour, or when no template "
         "waits."},
    [PROBLEM_REASON_CONTROLLERS_STUCK_NO_PROGRESS] =
        {"For 10 minutes one of the work queues of {subject} has not progressed, although "
         "templates in it are due.",
         "Read the log of karmada-controller-manager for errors, and restart it if a queue hangs.",
         "The problem ends when Karmada processes a template of that queue."},
    [PROBLEM_REASON_CONTROLLERS_STUCK_TOO_SLOW] =
        {"At its present rate {subject} needs more than 2 hours to process the templates that are "
         "due.",
         "Raise the concurrent syncs and --kube-api-qps of karmada-controller-manager, and check "
         "the latency of the API server.",
         "The problem ends when no template is due for more than 5 minutes, or when the rest takes "
         "less than 2 hours."},
    [PROBLEM_REASON_CONTROLLERS_STUCK_ALL_REFUSED] =
        {"For 15 minutes {subject} has applied no policy, and each attempt ended with an Event "
         "ApplyPolicyFailed.",
         "Read the Events ApplyPolicyFailed of the templates, and fix the webhook, quota or API "
         "server that they name.",
         "The problem ends when Karmada processes a template."},
    [PROBLEM_REASON_SCHEDULER_STUCK_NOT_RUNNING] =
        {"No instance of {subject} has renewed its Lease for 2 minutes.",
         "Check that the pods of karmada-scheduler run and reach the API server, and restart them.",
         "The problem ends when an instance renews the Lease."},
    [PROBLEM_REASON_SCHEDULER_STUCK_RESTARTING] =
        {"The Lease of {subject} got three new holders within an hour, and bindings wait to be "
         "scheduled.",
         "Read the logs of the terminated containers of karmada-scheduler, and fix the cause of "
         "the restarts.",
         "The problem ends when an instance keeps the Lease for an hour, or when no binding "
         "waits."},
    [PROBLEM_REASON_SCHEDULER_STUCK_NO_PROGRESS] =
        {"For 10 minutes {subject} has scheduled no binding, although bindings are due.",
         "Read the log of karmada-scheduler for errors, and restart it if its queue hangs.",
         "The problem ends when the scheduler processes a binding."},
    [PROBLEM_REASON_CLOUD_RESOURCE_CONFLICT_DUPLICATE_IDENTITY] =
        {"{subject} and {related} declare the same cloud resource, so that Config Connector writes "
         "it from several objects.",
         "Set the annotation cnrm.cloud.google.com/deletion-policy: abandon on one object, then "
         "delete it or change its spec.resourceID.",
         "The problem ends when only one object declares the cloud resource."},
    [PROBLEM_REASON_CLOUD_RESOURCE_CONFLICT_MULTI_CLUSTER_PLACEMENT] =
        {"{subject} is placed on several member clusters[ ({clusters})], so that several instances "
         "of Config Connector manage its cloud resource.",
         "Set the annotation cnrm.cloud.google.com/deletion-policy: abandon on the template, then "
         "let the placement select one member cluster.",
         "The problem ends when the template is placed on one member cluster."},
    [PROBLEM_REASON_CLOUD_RESOURCE_CONFLICT_SILENT] =
        {"{subject} requests no lease, but {holder} holds the lease on its cloud resource, so that "
         "two controllers write it.",
         "Set the annotation cnrm.cloud.google.com/deletion-policy: abandon on the object in one "
         "of the namespaces, then delete this object.",
         "The problem ends when one namespace manages the cloud resource, or when the other lease "
         "expires."},
    [PROBLEM_REASON_PLACEMENT_AT_RISK_AFFINITY] =
        {"{subject} runs on {clusters}, but no member cluster passes the filters of {policy}: most "
         "clusters do not match its cluster affinity.",
         "Let the cluster affinity of the policy match a member cluster, or restore the labels of "
         "the Clusters.",
         "The problem ends when a member cluster passes all filters; until then the next "
         "scheduling of the binding deletes all copies."},
    [PROBLEM_REASON_PLACEMENT_AT_RISK_API_NOT_SERVED] =
        {"{subject} runs on {clusters}, but no member cluster passes the filters of {policy}: most "
         "clusters do not serve the API of the template.",
         "Install the CustomResourceDefinition in a member cluster of the placement, or allow a "
         "cluster that serves the API.",
         "The problem ends when a member cluster passes all filters; until then the next "
         "scheduling of the binding deletes all copies."},
    [PROBLEM_REASON_PLACEMENT_AT_RISK_TAINT] =
        {"{subject} runs on {clusters}, but no member cluster passes the filters of {policy}: most "
         "clusters have a taint that it does not tolerate.",
         "Add a toleration to the placement of the policy, or remove the taint from a member "
         "cluster.",
         "The problem ends when a member cluster passes all filters; until then the next "
         "scheduling of the binding deletes all copies."},
    [PROBLEM_REASON_PLACEMENT_AT_RISK_EVICTING] =
        {"{subject} runs on {clusters}, but no member cluster passes the filters of {policy}: the "
         "template is being evicted from most clusters.",
         "Let the placement of the policy allow another member cluster, or wait until the eviction "
         "tasks end.",
         "The problem ends when a member cluster passes all filters; until then the next "
         "scheduling of the binding deletes all copies."},
    [PROBLEM_REASON_PLACEMENT_AT_RISK_SPREAD_PROPERTY] =
        {"{subject} runs on {clusters}, but no member cluster passes the filters of {policy}: most "
         "clusters lack a property of its spread constraints.",
         "Set provider, region or zones in the Clusters, or remove the spread constraint from the "
         "policy.",
         "The problem ends when a member cluster passes all filters; until then the next "
         "scheduling of the binding deletes all copies."},
    [PROBLEM_REASON_PLACEMENT_AT_RISK_WORKLOAD_AFFINITY] =
        {"{subject} runs on {clusters}, but no member cluster passes the filters of {policy}: most "
         "clusters do not satisfy its workload affinity.",
         "Change the workload affinity in the placement of the policy so that a member cluster "
         "satisfies it.",
         "The problem ends when a member cluster passes all filters; until then the next "
         "scheduling of the binding deletes all copies."},
    [PROBLEM_REASON_PLACEMENT_AT_RISK_CLUSTER_DELETING] =
        {"{subject} runs on {clusters}, but no member cluster passes the filters of {policy}: most "
         "clusters are being deleted.",
         "Let the placement of the policy allow a member cluster that is not being deleted.",
         "The problem ends when a member cluster passes all filters; until then the next "
         "scheduling of the binding deletes all copies."},
    [PROBLEM_REASON_PLACEMENT_AT_RISK_CLUSTER_NOT_READY] =
        {"{subject} runs on {clusters}, but no member cluster passes the filters of {policy}: most "
         "clusters are not Ready.",
         "Let the placement of the policy allow a member cluster that is Ready.",
         "The problem ends when a member cluster passes all filters; until then the next "
         "scheduling of the binding deletes all copies."},
    [PROBLEM_REASON_DEPENDENCY_CONFLICT_CONFLICT_RESOLUTION] =
        {"Referrers of {subject}[ ({template})] request different values of {field}[: {values}][; "
         "the resolved value is {resolved}].",
         "Set {field} to the same value in the policies of all referrers.",
         "The problem ends when all referrers request the same value."},
    [PROBLEM_REASON_DEPENDENCY_CONFLICT_PRESERVE_RESOURCES_ON_DELETION] =
        {"Referrers of {subject}[ ({template})] request different values of {field}[: {values}][; "
         "the resolved value is {resolved}].",
         "Set {field} to the same value in the policies of all referrers.",
         "The problem ends when all referrers request the same value."},
    [PROBLEM_REASON_DEPENDENCY_NOT_RESOLVED_CONFLICT_RESOLUTION] =
        {"{subject}[ ({template})] has a value in {field} that Karmada should have replaced[: it "
         "is {stored}, and {expected}].",
         "Wait until Karmada writes the resolved value; if it does not, check "
         "karmada-controller-manager and spec.requiredBy of the binding.",
         "The problem ends when the binding has the resolved value; Karmada writes it at the next "
         "change of a referrer."},
    [PROBLEM_REASON_DEPENDENCY_NOT_RESOLVED_PRESERVE_RESOURCES_ON_DELETION] =
        {"{subject}[ ({template})] has a value in {field} that Karmada should have replaced[: it "
         "is {stored}, and {expected}].",
         "Wait until Karmada writes the resolved value; if it does not, check "
         "karmada-controller-manager and spec.requiredBy of the binding.",
         "The problem ends when the binding has the resolved value; Karmada writes it at the next "
         "change of a referrer."},
    [PROBLEM_REASON_POLICY_NOT_IN_FORCE_PRIORITY_CLASS_MISSING] =
        {"{policy} is not in force for {subject}, because Karmada cannot resolve the "
         "PriorityClass[ {wanted}] of its schedulePriority.",
         "Create the PriorityClass, or remove schedulePriority from the policy; "
         "priorityClassSource must be KubePriorityClass.",
         "The problem ends when Karmada can resolve the PriorityClass and has applied the policy."},
    [PROBLEM_REASON_POLICY_NOT_IN_FORCE_OVERRIDE_MISSING] =
        {"{policy} is not in force for {subject}, because an override policy in its "
         "dependentOverrides does not exist[: {wanted}].",
         "Create the override policy, or remove its name from dependentOverrides of the policy.",
         "The problem ends when the override policies exist and Karmada has applied the policy; it "
         "tries again within 17 minutes."},
    [PROBLEM_REASON_POLICY_NOT_IN_FORCE_POLICY_REPLACED] =
        {"{policy} governs {subject}, but the binding was made from another policy[: {related}].",
         "Wait until Karmada applies the policy; if it does not, read the Events of the template "
         "and check karmada-controller-manager.",
         "The problem ends when the binding has the values of the policy."},
    [PROBLEM_REASON_POLICY_NOT_IN_FORCE_POLICY_UPDATED] =
        {"The binding of {subject} does not have the present values of {policy}[: {fields}].",
         "Wait until Karmada applies the policy; if it does not, read the Events of the template "
         "and check karmada-controller-manager.",
         "The problem ends when the binding has the values of the policy."},
    [PROBLEM_REASON_POLICY_NOT_IN_FORCE_NEVER_BOUND] =
        {"Karmada has claimed {subject} for {policy}, but has never created a binding.",
         "Wait until Karmada applies the policy; if it does not, read the Events of the template "
         "and check karmada-controller-manager.",
         "The problem ends when Karmada creates the binding."},
    [PROBLEM_REASON_POLICY_NOT_IN_FORCE_TEMPLATE_UPDATED] =
        {"A user's change of {subject} is not in its binding, so that member clusters run an older "
         "version[ under {policy}].",
         "Wait until Karmada updates the binding; if it does not, read the Events of the template "
         "and check karmada-controller-manager.",
         "The problem ends when the binding has the change."},
    [PROBLEM_REASON_TEMPLATE_FROZEN_SELECTOR_MISMATCH] =
        {"{policy} has claimed {subject} but no longer selects it, so that Karmada propagates no "
         "change of the template.",
         "Let the policy select the template again, or remove the labels and annotations of the "
         "claim from the template.",
         "The problem ends when the policy selects the template or the claim is removed; Karmada "
         "removes it when the policy changes."},
    [PROBLEM_REASON_TEMPLATE_FROZEN_POLICY_GONE] =
        {"{policy}, which has claimed {subject}, does not exist or was created again, so that "
         "Karmada propagates no change of the template.",
         "Create a policy that selects the template, and remove the labels and annotations of the "
         "old claim from the template.",
         "The problem ends when the claim is removed; Karmada 1.15 and later remove it at the "
         "template's next change."},
    [PROBLEM_REASON_NOT_PROPAGATED_OVERRIDE_MISSING] =
        {"{policy} selects {subject}, but an override policy in its dependentOverrides does not "
         "exist[: {wanted}].",
         "Create the override policy, or remove its name from dependentOverrides of the policy.",
         "The problem ends when the override policies exist and Karmada has applied the policy; it "
         "tries again within 17 minutes."},
    [PROBLEM_REASON_NOT_PROPAGATED_NAMESAKE] =
        {"The binding of {subject} cannot be created, because the binding of a deleted object of "
         "the same name still exists.",
         "Wait until Karmada deletes the old binding; if it does not, check its Works and whether "
         "their member clusters are Ready.",
         "The problem ends when the old binding is gone and Karmada has created the new one."},
    [PROBLEM_REASON_NOT_PROPAGATED_PRIORITY_CLASS_MISSING] =
        {"{policy} governs {subject}, but Karmada creates no binding, because it cannot resolve "
         "the PriorityClass[ {wanted}] of schedulePriority.",
         "Create the PriorityClass, or remove schedulePriority from the policy; "
         "priorityClassSource must be KubePriorityClass.",
         "The problem ends when Karmada can resolve the PriorityClass and has applied the policy."},
    [PROBLEM_REASON_NOT_PROPAGATED_STUCK] =
        {"Karmada has claimed {subject} for {policy} but created no binding, and does not try "
         "again by itself.",
         "Read the Events of the template, because a webhook may refuse the binding, then change "
         "the template.",
         "The problem ends when Karmada creates the binding: at the template's next change, or "
         "when its controllers restart."},
    [PROBLEM_REASON_NOT_PROPAGATED_NOT_CLAIMED] =
        {"{policy} selects {subject}, but Karmada has not claimed the template.",
         "Wait until Karmada claims the template; if it does not, check that "
         "karmada-controller-manager runs.",
         "The problem ends when Karmada has created the binding."},
    [PROBLEM_REASON_NOT_PROPAGATED_WAITING] =
        {"{policy} governs {subject}, but Karmada has not created the binding.",
         "Wait until Karmada creates the binding; if it does not, read the Events of the template "
         "and check karmada-controller-manager.",
         "The problem ends when Karmada has created the binding."},
    [PROBLEM_REASON_NOT_PROPAGATED_POLICY_DELETING] =
        {"Only policies that are being deleted select {subject}[: {related}].",
         "Create another policy that selects the template.",
         "The problem ends when a policy that is not being deleted selects the template."},
    [PROBLEM_REASON_NOT_PROPAGATED_NO_MATCH] =
        {"No policy selects {subject}.",
         "Create a policy that selects the template, or add it to resourceSelectors of a policy.",
         "The problem ends when a policy selects the template."},
    [PROBLEM_REASON_NOT_PROPAGATED_POLICY_GONE] =
        {"{subject} was changed after its policy had gone, and no policy selects it, so that the "
         "change is not propagated.",
         "Create a policy that selects the template, or delete the template and its binding.",
         "The problem ends when a policy selects the template."},
    [PROBLEM_REASON_NOT_SCHEDULED_NO_CLUSTER_FIT] =
        {"No member cluster passes the filters of the placement of {subject}[ in {policy}][ "
         "(Karmada: {message})].",
         "Let the placement of the policy allow a member cluster, or change the labels or taints "
         "of a Cluster.",
         "The problem ends when the scheduler assigns a member cluster; it tries again after a "
         "change of the binding or of a Cluster."},
    [PROBLEM_REASON_NOT_SCHEDULED_UNSCHEDULABLE] =
        {"The member clusters do not have enough free capacity for {subject}[ (Karmada: "
         "{message})].",
         "Add capacity to the member clusters of the placement, or reduce the replicas or requests "
         "of the template.",
         "The problem ends when the scheduler assigns all replicas; it tries again after 5 "
         "minutes."},
    [PROBLEM_REASON_NOT_SCHEDULED_QUOTA_EXCEEDED] =
        {"A FederatedResourceQuota refuses the replicas of {subject}[ (Karmada: {message})].",
         "Raise the FederatedResourceQuota, or let the owner reduce the replicas or requests of "
         "the template.",
         "The problem ends when the quota allows the replicas; the scheduler tries again within 10 "
         "seconds."},
    [PROBLEM_REASON_NOT_SCHEDULED_SCHEDULER_ERROR] =
        {"The scheduler cannot schedule {subject}[ (Karmada: {message})].",
         "Fix the cause that the message of the condition Scheduled names, such as a spread "
         "constraint with too few clusters.",
         "The problem ends when the scheduler succeeds; it tries again within 10 seconds."},
    [PROBLEM_REASON_NOT_SCHEDULED_OTHER_SCHEDULER] =
        {"{policy} assigns {subject} to a scheduler other than Karmada's[, {scheduler}], "
         "which has not scheduled it.",
         "Check that the scheduler in schedulerName of the policy runs, or remove schedulerName.",
         "The problem ends when that scheduler has scheduled the binding."},
    [PROBLEM_REASON_NOT_SCHEDULED_WAITING] =
        {"The scheduler has not processed the binding of {subject}, or its last change.",
         "Wait for karmada-scheduler; if the binding stays unscheduled, check that "
         "karmada-scheduler runs and read its log.",
         "The problem ends when the scheduler has processed the binding."},
    [PROBLEM_REASON_NOT_DELIVERED_WORK_MISSING] =
        {"{subject} has no Work for {clusters}, although the scheduler has assigned it there.",
         "Wait until Karmada creates the Work; if it does not, read the Events of the template and "
         "check karmada-controller-manager.",
         "The problem ends when the template is applied in all of its member clusters."},
    [PROBLEM_REASON_NOT_DELIVERED_WORK_DELETING] =
        {"The old Work of {subject} for {clusters} is still being deleted.",
         "Wait until Karmada creates the Work again; if the old one stays, check its finalizers "
         "and whether the member cluster is Ready.",
         "The problem ends when the template is applied in all of its member clusters."},
    [PROBLEM_REASON_NOT_DELIVERED_ALREADY_EXISTS] =
        {"{subject} is not applied in {clusters}, because an object of this name that Karmada does "
         "not manage exists there[ (Karmada: {message})].",
         "Delete the object in the member cluster, or set the annotation "
         "work.karmada.io/conflict-resolution: overwrite on the template.",
         "The problem ends when Karmada has applied the template; it tries again by itself."},
    [PROBLEM_REASON_NOT_DELIVERED_REFUSED] =
        {"{subject} is refused by the API server of {clusters}[ (Karmada: {message})].",
         "Fix the template, or the rights, webhook or quota in the member cluster that the message "
         "names.",
         "The problem ends when Karmada has applied the template; it tries again by itself."},
    [PROBLEM_REASON_NOT_DELIVERED_WORK_OUTDATED] =
        {"The Work of {subject} for {clusters} is older than the template.",
         "Wait until Karmada updates the Work; if it does not, read the Events of the template and "
         "check karmada-controller-manager.",
         "The problem ends when the member clusters have the present version of the template."},
    [PROBLEM_REASON_NOT_DELIVERED_WAITING] =
        {"Karmada has not applied the present version of {subject} in {clusters}.",
         "Wait for Karmada; if nothing changes, check karmada-controller-manager, or karmada-agent "
         "for clusters in pull mode.",
         "The problem ends when the template is applied in all of its member clusters."},
    [PROBLEM_REASON_OVERRIDE_FAILED_OBSERVED] =
        {"An override policy fails for {subject} in {clusters}, so that no change reaches the "
         "cluster[ (Karmada: {message})].",
         "Fix the override policy that the Event ApplyOverridePolicyFailed of the template names, "
         "or delete it.",
         "The problem ends when Karmada has applied the override policy."},
    [PROBLEM_REASON_OVERRIDE_FAILED_PREDICTED] =
        {"{failing} will fail for {subject}[ in {clusters}][: {failure}].",
         "Fix the override policy, or let it select other objects or clusters.",
         "The problem ends when the override policies can be applied to the template."},
    [PROBLEM_REASON_EVICTION_STUCK_PURGE_BLOCKED] =
        {"Karmada evicts {subject} from {clusters} with purgeMode Directly, and creates no "
         "replacement before the old copy is deleted.",
         "Restore the member cluster, so that Karmada can delete the old copy.",
         "The problem ends when the eviction task ends[, at the latest at {deadline}]."},
    [PROBLEM_REASON_EVICTION_STUCK_RESCHEDULING] =
        {"Karmada evicts {subject} from {clusters}, and the scheduler has not assigned a "
         "replacement[ (Karmada: {message})].",
         "Wait for karmada-scheduler; if the binding stays unscheduled, check the placement of the "
         "policy and that karmada-scheduler runs.",
         "The problem ends when the eviction task ends[, at the latest at {deadline}]."},
    [PROBLEM_REASON_EVICTION_STUCK_REPLACING] =
        {"Karmada evicts {subject} from {clusters}, and the replacement is not healthy.",
         "Check the pods and Events of the template in the other member clusters.",
         "The problem ends when the eviction task ends[, at the latest at {deadline}]."},
    [PROBLEM_REASON_POLICY_INVALID_INVALID_SELECTOR] =
        {"A labelSelector in resourceSelectors of {subject} is invalid and selects no template.",
         "Correct the labelSelector in resourceSelectors of the policy.",
         "The problem ends when the policy is corrected."},
    [PROBLEM_REASON_POLICY_INVALID_INVALID_EXCLUSION] =
        {"A labelSelector in excludedResources of {subject} is invalid and excludes no template.",
         "Correct the labelSelector in excludedResources of the policy.",
         "The problem ends when the policy is corrected."},
    [PROBLEM_REASON_POLICY_INVALID_EMPTY_EXCLUSION] =
        {"A rule in excludedResources of {subject} sets no field and excludes no template.",
         "Set a field in the rule of excludedResources, or remove the rule.",
         "The problem ends when the policy is corrected."},
    [PROBLEM_REASON_POLICY_INVALID_NO_SELECTOR] =
        {"{subject} has no resourceSelectors and selects no template.",
         "Add resourceSelectors to the policy, or delete the policy.",
         "The problem ends when the policy is corrected."},
    [PROBLEM_REASON_POLICY_INVALID_FOREIGN_NAMESPACE] =
        {"A resourceSelector of {subject} names another namespace than that of the policy and "
         "selects no template.",
         "Move the policy to the namespace of the templates, or remove the namespace from the "
         "resourceSelector.",
         "The problem ends when the policy is corrected."},
    [PROBLEM_REASON_POLICY_INVALID_UNWATCHED_VERSION] =
        {"A resourceSelector of {subject} names an API version that Karmada does not watch and "
         "selects no template[: {versions}].",
         "Set apiVersion of the resourceSelector to the preferred version of the kind.",
         "The problem ends when the policy is corrected."},
    [PROBLEM_REASON_POLICY_INVALID_PREEMPTION_WITHOUT_NAME] =
        {"{subject} sets preemption: Always, but a resourceSelector without a name preempts no "
         "policy.",
         "Add names to resourceSelectors of the policy, or remove preemption.",
         "The problem ends when the policy is corrected."},
    [PROBLEM_REASON_POLICY_INVALID_CLUSTER_SCOPED_KIND] =
        {"A resourceSelector of {subject} names a cluster-scoped kind, which a policy with a "
         "namespace never selects.",
         "Select the kind in a ClusterPropagationPolicy, and remove the resourceSelector here.",
         "The problem ends when the policy is corrected."},
    [PROBLEM_REASON_POLICY_INVALID_KIND_NOT_SERVED] =
        {"A resourceSelector of {subject} names a kind that the API server does not serve[: "
         "{kinds}].",
         "Install the CustomResourceDefinition of the kind, or correct apiVersion and kind of the "
         "resourceSelector.",
         "The problem ends when the API server serves the kind, or when the policy is corrected."},
    [PROBLEM_REASON_POLICY_INVALID_PRIORITY_CLASS_MISSING] =
        {"Karmada cannot resolve the PriorityClass[ {wanted}] in schedulePriority of {subject}.",
         "Create the PriorityClass, or remove schedulePriority from the policy; "
         "priorityClassSource must be KubePriorityClass.",
         "The problem ends when Karmada can resolve the PriorityClass."},
    [PROBLEM_REASON_POLICY_INVALID_OVERRIDE_MISSING] =
        {"An override policy in dependentOverrides of {subject} does not exist[: {wanted}].",
         "Create the override policy, or remove its name from dependentOverrides of the policy.",
         "The problem ends when all override policies in dependentOverrides exist."},
    [PROBLEM_REASON_POLICY_INVALID_FIELD_PRUNED] =
        {"{subject} sets a field that the CustomResourceDefinition does not have, so that the API "
         "server drops it[: {pruned}].",
         "Correct the name or the place of the field, upgrade Karmada's "
         "CustomResourceDefinitions, or remove the field.",
         "The problem ends when the object is corrected."},
    [PROBLEM_REASON_POLICY_INVALID_REFUSED] =
        {"The API server refuses[ {write} of] {subject}[: {refusal}][; until {write}, the stored "
         "object stays in force].",
         "Correct the object so that it passes the schema and the webhook of the Karmada release.",
         "The problem ends when the object is corrected."},
    [PROBLEM_REASON_BINDING_NAME_COLLISION_TAKEN] =
        {"{subject} and {related} need a binding of the same name[ ({binding})].",
         "Rename one of the templates: Karmada forms the name of a binding from the name and kind "
         "of the template, without the API group.",
         "The problem ends when no other template needs a binding of that name."},
    [PROBLEM_REASON_BINDING_NAME_COLLISION_INVALID_NAME] =
        {"The name of the binding of {subject}[ ({binding})] is no valid object name, so that "
         "Karmada cannot create it.",
         "Rename the template, so that its name and kind form a valid object name.",
         "The problem ends when the template has a valid name."},
    [PROBLEM_REASON_REFERENCE_BROKEN_REQUIRED_BY_MISSING] =
        {"{subject} names bindings in spec.requiredBy that do not exist[: {related}].",
         "Remove the missing bindings from spec.requiredBy of the binding.",
         "The problem ends when all bindings in spec.requiredBy exist."},
    [PROBLEM_REASON_REFERENCE_BROKEN_TEMPLATE_MISSING] =
        {"The template of {subject}[ ({template})] does not exist.",
         "Delete the binding, or create the template again.",
         "The problem ends when the template exists or the binding is gone."},
    [PROBLEM_REASON_REFERENCE_BROKEN_CLAIM_MISSING] =
        {"{subject} has a claim of {policy}, which does not exist or was created again.",
         "Remove the labels and annotations of the claim, or create a policy that selects the "
         "template.",
         "The problem ends when the claim is removed or its policy exists."},
    [PROBLEM_REASON_DELETION_STUCK_POLICY] =
        {"{subject} is being deleted, but its finalizer is still there.",
         "Check that karmada-controller-manager runs, and read its log for errors about the "
         "policy.",
         "The problem ends when the policy is gone."},
    [PROBLEM_REASON_DELETION_STUCK_BINDING] = {"{subject}[ of {template}] is being deleted, but "
                                               "its copies in member clusters are not gone.",
                                               "Check that the member clusters of the binding are "
                                               "Ready, and read the finalizers of its Works.",
                                               "The problem ends when the binding is gone."},
    [PROBLEM_REASON_MEMBER_CLUSTER_UNAVAILABLE_GONE] =
        {"Templates are placed on {subject}, which does not exist.",
         "Remove the Cluster from the placements of the policies, and let them allow existing "
         "clusters. Join it again only if it was removed by mistake.",
         "The problem ends when the Cluster exists and is Ready, or when no template is placed on "
         "it."},
    [PROBLEM_REASON_MEMBER_CLUSTER_UNAVAILABLE_NOT_READY] =
        {"{subject} is not Ready, and templates are placed on it.",
         "Restore the API server of the member cluster, and the connection from Karmada or from "
         "karmada-agent.",
         "The problem ends when the Cluster is Ready, or when no template is placed on it."},
    [PROBLEM_REASON_MEMBER_CLUSTER_UNAVAILABLE_FLAPPING] =
        {"The condition Ready of {subject} changed more than 6 times within an hour.",
         "Check the network and the API server of the member cluster for interruptions.",
         "The problem ends when the condition changes at most 6 times within an hour."},
    [PROBLEM_REASON_MEMBER_CLUSTER_UNAVAILABLE_REFUSING] =
        {"{subject} refuses more than half of the templates that are placed on it.",
         "Check the rights of Karmada in the member cluster, and its admission webhooks and "
         "quotas.",
         "The problem ends when the member cluster accepts at least half of the templates."},
    [PROBLEM_REASON_MANAGEMENT_CONFLICT_INVALID_PREVENTION] =
        {"Config Connector refuses to manage {subject}, because its annotation "
         "cnrm.cloud.google.com/management-conflict-prevention-policy, or that of its Namespace, "
         "has another value than none and resource.",
         "Set the annotation cnrm.cloud.google.com/management-conflict-prevention-policy to "
         "resource, or remove it.",
         "The problem ends when the annotation has a valid value or is removed."},
    [PROBLEM_REASON_MANAGEMENT_CONFLICT_REPORTED] =
        {"Config Connector reports a management conflict for {subject}[ in {clusters}][: {holder} "
         "holds the lease].",
         "Set the annotation cnrm.cloud.google.com/deletion-policy: abandon on the object in one "
         "of the two namespaces, then delete that object.",
         "The problem ends when the other namespace stops renewing the lease, which expires 40 "
         "minutes after its last renewal."},
    [PROBLEM_REASON_MANAGEMENT_CONFLICT_REFUSED] =
        {"Config Connector will refuse to manage {subject}, because another namespace holds the "
         "lease on its cloud resource[: {holder}].",
         "Set the annotation cnrm.cloud.google.com/deletion-policy: abandon on the object in one "
         "of the two namespaces, then delete that object.",
         "The problem ends when the other namespace stops renewing the lease, which expires 40 "
         "minutes after its last renewal."},
    [PROBLEM_REASON_LEASE_AT_RISK_EXPIRED] =
        {"The lease on {subject}[ of {holder}] has expired, so that any namespace can take it "
         "over.",
         "Check that Config Connector runs in the namespace of the holder and reconciles the "
         "object.",
         "The problem ends when a namespace renews the lease[, which expired at {deadline}]."},
    [PROBLEM_REASON_LEASE_AT_RISK_EXPIRING] =
        {"The lease on {subject}[ of {holder}] is not renewed, although less than 20 minutes "
         "remain.",
         "Check that Config Connector runs in the namespace of the holder and reconciles the "
         "object.",
         "The problem ends when the holder renews the lease[, which expires at {deadline}]."},
    [PROBLEM_REASON_LEASE_AT_RISK_UNKNOWN_HOLDER] =
        {"The lease on {subject} has a holder that is no known namespace[: {holder}].",
         "Find the Config Connector installation with this id, or add its namespace to the "
         "ConfigMap cnrm-system/namespace-id.",
         "The problem ends when the holder is known[, or when another namespace takes the lease "
         "after {deadline}]."},
    [PROBLEM_REASON_DECISION_FLAPPING_STATE] =
        {"{subject} returned three times within an hour to a policy or a version that it had "
         "left[, last to {policy}].",
         "Find the client that changes the policy or a competing policy again and again, and let "
         "one client own them.",
         "The problem ends one hour after the last return to an earlier policy or version."},
    [PROBLEM_REASON_DECISION_FLAPPING_CONFLICT] =
        {"The conflict of {subject}[ ({template})] began four times within an hour.",
         "Find the client that changes the policies of the referrers again and again, and let one "
         "client own them.",
         "The problem ends when the conflict begins less than four times within an hour."},
    [PROBLEM_REASON_DATA_INCOMPLETE_FORBIDDEN] =
        {"The exporter is not allowed to read {subject}, so that its results about these objects "
         "are incomplete.",
         "Grant the exporter the verbs get, list and watch for the resource.",
         "The problem ends when the exporter has read all objects."},
    [PROBLEM_REASON_DATA_INCOMPLETE_FAILING] =
        {"The exporter cannot read {subject} at present, and keeps the objects that it read last.",
         "Read the log of the exporter for the error, and fix the API server, the network or the "
         "file.",
         "The problem ends when a read succeeds; the exporter tries again by itself."},
    [PROBLEM_REASON_DATA_INCOMPLETE_LATE] =
        {"The exporter has not read all objects of {subject} yet.",
         "Check the API server for slow lists of the resource, and read the log of the exporter.",
         "The problem ends when the exporter has read all objects."},
    [PROBLEM_REASON_DATA_INCOMPLETE_BROKEN_FILE] =
        {"The exporter cannot read {subject} or a part of it. The last valid content, if any, "
         "stays in use.",
         "Correct the file; the log of the exporter has the line and the column of the error.",
         "The problem ends when the file is valid."},
    [PROBLEM_REASON_DATA_INCOMPLETE_REJECTED] =
        {"The exporter has rejected objects of {subject}, because it cannot decode them.",
         "Correct the objects that the log of the exporter names.",
         "The problem ends when all objects can be decoded."},
    [PROBLEM_REASON_DATA_INCOMPLETE_DIVERGED] =
        {"Objects of {subject} in the exporter differ from those in the API server.",
         "Check proxies and caches between the exporter and the API server, and restart the "
         "exporter.",
         "The problem ends when an audit finds no difference."},
    [PROBLEM_REASON_DATA_INCOMPLETE_SNAPSHOT_OLD] =
        {"The asset export in {subject} is older than twice its usual interval.",
         "Check the job that writes the asset export.",
         "The problem ends when a new asset export is written."},
    [PROBLEM_REASON_UNHEALTHY_ROLLING] =
        {"The rollout of {subject} in {clusters} is not complete.",
         "Check the pods and Events of the rollout in the member cluster.",
         "The problem ends when the rollout is complete."},
    [PROBLEM_REASON_UNHEALTHY_UNAVAILABLE] =
        {"{subject} is not healthy in {clusters}.",
         "Check the pods and Events of the template in the member cluster.",
         "The problem ends when Karmada reports the template as healthy."},
    [PROBLEM_REASON_UNHEALTHY_UNKNOWN] =
        {"Karmada reports the health of {subject} in {clusters} as unknown.",
         "Check the status of the object in the member cluster, and the health interpreter of its "
         "kind.",
         "The problem ends when Karmada has collected the status."},
    [PROBLEM_REASON_ORPHANED] =
        {"No policy governs {subject}, which keeps running from the binding of an earlier policy.",
         "Create a policy that selects the template, or delete the template.",
         "The problem ends when a policy governs the template or the template is gone."},
    [PROBLEM_REASON_EXCLUDED] =
        {"Only excludedResources of {policy} keep {subject} from being propagated.",
         "Remove the matching rule from excludedResources of the policy, or create another policy "
         "for the template.",
         "The problem ends when a policy selects the template."},
    [PROBLEM_REASON_DEFERRED_TOO_LONG_POLICY_UPDATED] =
        {"{policy} has changed, and {subject} still runs with the old values[: {fields}].",
         "Change the template, for example with the command reconcile, so that Karmada applies the "
         "policy.",
         "The problem ends at the template's next change by a user."},
    [PROBLEM_REASON_DEFERRED_TOO_LONG_POLICY_REPLACED] =
        {"{policy} governs {subject}, but its binding still comes from another policy[: "
         "{related}].",
         "Change the template, for example with the command reconcile, so that Karmada applies the "
         "policy.",
         "The problem ends at the template's next change by a user."},
    [PROBLEM_REASON_DEFERRED_TOO_LONG_SELECTOR_MISMATCH] =
        {"{policy} no longer selects {subject}, which still runs under its claim.",
         "Change the template, so that Karmada matches it anew, or let the policy select it again.",
         "The problem ends at the template's next change by a user."},
    [PROBLEM_REASON_DEFERRED_TOO_LONG_POLICY_GONE] =
        {"{policy} is gone, and {subject} still runs under its claim.",
         "Create a policy that selects the template, and change the template so that Karmada "
         "matches it anew.",
         "The problem ends at the template's next change by a user."},
    [PROBLEM_REASON_DEFERRED_TOO_LONG_NEVER_BOUND] =
        {"{policy} is Lazy and has claimed {subject}, which has no binding and runs in no "
         "member cluster.",
         "Change the template, for example with the command reconcile, so that Karmada creates the "
         "binding.",
         "The problem ends at the template's next change by a user."},
    [PROBLEM_REASON_ON_FALLBACK] =
        {"{subject} runs on {clusters}, in a fallback group of {policy} and not in the first "
         "group.",
         "Create a WorkloadRebalancer for the template once the first group has capacity.",
         "The problem ends when the scheduler uses the first group; Karmada does not return to it "
         "by itself."},
    [PROBLEM_REASON_TWO_COPIES_HELD] =
        {"The evicted copy of {subject} in {clusters} still runs beside its replacement, because "
         "its task sets suppressDeletion.",
         "Check the replacement, then remove suppressDeletion from the eviction task of the "
         "binding.",
         "The problem ends when the eviction task is gone."},
    [PROBLEM_REASON_CHANGE_SUSPENDED] =
        {"A suspension[ in {policy}] blocks a change of {subject}.",
         "Remove the suspension from the policy or from the binding.",
         "The problem ends when the suspension is removed or no change waits."},
    [PROBLEM_REASON_FORBIDDEN_PLACEMENT_BINDING] =
        {"{subject} runs on {clusters}, which the placement of its binding does not allow.",
         "Change the placement of the policy. Create a WorkloadRebalancer only if another member "
         "cluster passes all filters; otherwise it deletes all copies.",
         "The problem ends when the scheduler assigns only clusters that the placement allows."},
    [PROBLEM_REASON_FORBIDDEN_PLACEMENT_POLICY] =
        {"{subject} has replicas on {clusters}, which {policy} does not allow any more.",
         "Change the template, so that Karmada applies the policy.",
         "The problem ends when Karmada has applied the policy and moved the replicas."},
    [PROBLEM_REASON_DRIFT_EXCEEDS_CAPACITY_CPU] =
        {"{subject} does not have enough free CPU for the replicas that Karmada moves there once "
         "outdated templates follow their policies.",
         "Add capacity to the member cluster, or apply the changes of the policies in smaller "
         "batches.",
         "The problem ends when arriving replicas need at most 80 % of the capacity that is free "
         "or becomes free."},
    [PROBLEM_REASON_DRIFT_EXCEEDS_CAPACITY_MEMORY] =
        {"{subject} does not have enough free memory for the replicas that Karmada moves there "
         "once outdated templates follow their policies.",
         "Add capacity to the member cluster, or apply the changes of the policies in smaller "
         "batches.",
         "The problem ends when arriving replicas need at most 80 % of the capacity that is free "
         "or becomes free."},
    [PROBLEM_REASON_DRIFT_EXCEEDS_CAPACITY_PODS] =
        {"{subject} does not have enough free pods for the replicas that Karmada moves there once "
         "outdated templates follow their policies.",
         "Add capacity to the member cluster, or apply the changes of the policies in smaller "
         "batches.",
         "The problem ends when arriving replicas need at most 80 % of the capacity that is free "
         "or becomes free."},
    [PROBLEM_REASON_DRIFT_EXCEEDS_CAPACITY_EPHEMERAL_STORAGE] =
        {"{subject} does not have enough free ephemeral storage for the replicas that Karmada "
         "moves there once outdated templates follow their policies.",
         "Add capacity to the member cluster, or apply the changes of the policies in smaller "
         "batches.",
         "The problem ends when arriving replicas need at most 80 % of the capacity that is free "
         "or becomes free."},
    [PROBLEM_REASON_DRIFT_EXCEEDS_CAPACITY_OTHER] =
        {"{subject} does not have enough free capacity, other than CPU, memory, pods and ephemeral "
         "storage, for the replicas that Karmada moves there once outdated templates follow their "
         "policies.",
         "Add capacity to the member cluster, or apply the changes of the policies in smaller "
         "batches.",
         "The problem ends when arriving replicas need at most 80 % of the capacity that is free "
         "or becomes free."},
    [PROBLEM_REASON_DELETION_TRAP] =
        {"If {subject} leaves one of its member clusters[ ({clusters})], Config Connector there "
         "deletes a cloud resource that is in use.",
         "Set the annotation cnrm.cloud.google.com/deletion-policy: abandon on the template before "
         "you change its placement.",
         "The problem ends when the annotation is set, or when the template is in one member "
         "cluster."},
    [PROBLEM_REASON_LEASE_UNPROTECTED_LAPSE_HAZARD] =
        {"{subject} requests a lease, but its reconcile interval is longer than the 40 minutes of "
         "a lease.",
         "Set the annotation cnrm.cloud.google.com/reconcile-interval-in-seconds to less than "
         "1200.",
         "The problem ends when the reconcile interval is shorter than the lease."},
    [PROBLEM_REASON_LEASE_UNPROTECTED_UNPROTECTABLE] =
        {"{subject} requests a lease, but cloud resources of its kind have no labels to hold it.",
         "Remove the annotation cnrm.cloud.google.com/management-conflict-prevention-policy, and "
         "let only one namespace declare the resource.",
         "The problem ends when the object requests no lease."},
    [PROBLEM_REASON_CONFLICT_PREDICTED_CONFLICT_RESOLUTION] =
        {"Referrers of {subject}[ ({template})] will request different values of {field} once "
         "Karmada has applied their policies[: {values}].",
         "Set {field} to the same value in the policies of all referrers.",
         "The problem ends when the policies of all referrers have the same value, or when the "
         "conflict begins."},
    [PROBLEM_REASON_CONFLICT_PREDICTED_PRESERVE_RESOURCES_ON_DELETION] =
        {"Referrers of {subject}[ ({template})] will request different values of {field} once "
         "Karmada has applied their policies[: {values}].",
         "Set {field} to the same value in the policies of all referrers.",
         "The problem ends when the policies of all referrers have the same value, or when the "
         "conflict begins."},
    [PROBLEM_REASON_REPLICAS_CONTESTED_HPA] =
        {"{subject} is scaled by {hpa} in {clusters}, where Karmada resets spec.replicas to the "
         "value of the template.",
         "Set the label resourcetemplate.karmada.io/retain-replicas: \"true\" on the template; "
         "other kinds than Deployment also need an interpreter that retains the field.",
         "The problem ends when the label is set, or when no HorizontalPodAutoscaler is propagated "
         "to a member cluster of its workload."},
    [PROBLEM_REASON_REPLICAS_CONTESTED_FEDERATED_HPA] =
        {"{subject} is scaled by {federated_hpa}, and each client that applies spec.replicas of "
         "the template resets it.",
         "Remove spec.replicas from the manifest of the template. With the label "
         "resourcetemplate.karmada.io/retain-replicas, copies do not follow the FederatedHPA.",
         "The problem ends when no client but Karmada sets spec.replicas, when the label is "
         "\"true\", or when no FederatedHPA scales the template."},
    [PROBLEM_REASON_VALUE_OVERRIDDEN_CONFLICT_RESOLUTION] =
        {"The value of {field} in {subject}[ ({template})] is overridden: {override}.",
         "Set {field} in the policy to the value of the annotation or of the referrers, or remove "
         "the override.",
         "The problem ends when both values are equal."},
    [PROBLEM_REASON_VALUE_OVERRIDDEN_PRESERVE_RESOURCES_ON_DELETION] =
        {"The value of {field} in {subject}[ ({template})] is overridden: {override}.",
         "Set {field} in the policy to the value of the annotation or of the referrers, or remove "
         "the override.",
         "The problem ends when both values are equal."},
    [PROBLEM_REASON_POLICY_TIE] =
        {"{subject} ranks before {related} only by its name, for templates that both select.",
         "Give the policies different priorities, or resourceSelectors that do not overlap.",
         "The problem ends when priority or selectors rank the policies."},
    [PROBLEM_REASON_POLICY_OUTRANKED] =
        {"{subject} keeps templates by its claim, although {related} ranks first.",
         "Set preemption: Always and a higher priority in the other policy, or remove the overlap "
         "of the resourceSelectors.",
         "The problem ends when the policy that ranks first governs the templates."},
    [PROBLEM_REASON_POLICY_UNUSED] =
        {"{subject} selects no template.", "Delete the policy, or correct its resourceSelectors.",
         "The problem ends when the policy selects a template or is gone."},
    [PROBLEM_REASON_DUPLICATE_OBJECT] =
        {"The files declare {subject} more than once, and only the last declaration counts.",
         "Remove all declarations of the object but one.",
         "The problem ends when the files declare the object once."},
};
