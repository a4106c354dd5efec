// Alerts about problems, as the tables of the exporter define them; written by `make golden`.
{
  alerts: [
    {
      name: 'KarmadaLastCopyAtRisk',
      summary: 'Karmada is about to delete the only copy of a template.',
      by: 'subject',
      problems: [
        {
          name: 'last_copy_at_risk',
          title: 'last copy at risk',
          doc: 'last-copy-at-risk',
          severity: 'critical',
          reasons: [
            { name: 'cluster_ready', actor: 'platform', action: 'Let the placement allow another Ready cluster, or set suppressDeletion in the eviction task; removing the task deletes the copy.' },
            { name: 'cluster_not_ready', actor: 'cluster', action: 'Restore the member cluster, and let the platform team set suppressDeletion in the eviction task before the task ends.' },
          ],
        },
      ],
    },
    {
      name: 'KarmadaPlacementLost',
      summary: 'A template lost its placement and runs in no member cluster.',
      by: 'subject',
      problems: [
        {
          name: 'placement_lost',
          title: 'placement lost',
          doc: 'placement-lost',
          severity: 'critical',
          reasons: [
            { name: 'cluster_gone', actor: 'policy_owner', action: 'Let the placement of the policy allow an existing member cluster. Join the missing cluster again only if it was removed by mistake.' },
            { name: 'no_cluster_fit', actor: 'policy_owner', action: 'Let the placement of the policy allow a member cluster, or restore the labels and taints of the Clusters.' },
          ],
        },
      ],
    },
    {
      name: 'KarmadaCloudResourceConflict',
      summary: 'Two controllers manage one cloud resource.',
      by: 'subject',
      problems: [
        {
          name: 'cloud_resource_conflict',
          title: 'cloud resource conflict',
          doc: 'cloud-resource-conflict',
          severity: 'critical',
          reasons: [
            { name: 'duplicate_identity', actor: 'user', action: 'Set the annotation cnrm.cloud.google.com/deletion-policy: abandon on one object, then delete it or change its spec.resourceID.' },
            { name: 'multi_cluster_placement', actor: 'policy_owner', action: 'Set the annotation cnrm.cloud.google.com/deletion-policy: abandon on the template, then let the placement select one member cluster.' },
            { name: 'silent', actor: 'user', action: 'Set the annotation cnrm.cloud.google.com/deletion-policy: abandon on the object in one of the namespaces, then delete this object.' },
          ],
        },
      ],
    },
    {
      name: 'KarmadaMemberClusterUnavailable',
      summary: 'A member cluster with placed templates is not available.',
      by: 'subject',
      problems: [
        {
          name: 'member_cluster_unavailable',
          title: 'member cluster unavailable',
          doc: 'member-cluster-unavailable',
          severity: 'warning',
          reasons: [
            { name: 'gone', actor: 'cluster', action: 'Remove the Cluster from the placements of the policies, and let them allow existing clusters. Join it again only if it was removed by mistake.' },
            { name: 'not_ready', actor: 'cluster', action: 'Restore the API server of the member cluster, and the connection from Karmada or from karmada-agent.' },
            { name: 'flapping', actor: 'cluster', action: 'Check the network and the API server of the member cluster for interruptions.' },
            { name: 'refusing', actor: 'cluster', action: 'Check the rights of Karmada in the member cluster, and its admission webhooks and quotas.' },
          ],
        },
      ],
    },
    {
      name: 'KarmadaControllersStuck',
      summary: "Karmada's controllers or its scheduler do not process changes.",
      by: 'reason',
      problems: [
        {
          name: 'controllers_stuck',
          title: 'controllers stuck',
          doc: 'controllers-stuck',
          severity: 'critical',
          reasons: [
            { name: 'not_running', actor: 'platform', action: 'Check that the pods of karmada-controller-manager run and reach the API server, and restart them.' },
            { name: 'restarting', actor: 'platform', action: 'Read the logs of the terminated containers of karmada-controller-manager, and fix the cause of the restarts.' },
            { name: 'no_progress', actor: 'platform', action: 'Read the log of karmada-controller-manager for errors, and restart it if a queue hangs.' },
            { name: 'too_slow', actor: 'platform', action: 'Raise the concurrent syncs and --kube-api-qps of karmada-controller-manager, and check the latency of the API server.' },
            { name: 'all_refused', actor: 'platform', action: 'Read the Events ApplyPolicyFailed of the templates, and fix the webhook, quota or API server that they name.' },
          ],
        },
        {
          name: 'scheduler_stuck',
          title: 'scheduler stuck',
          doc: 'scheduler-stuck',
          severity: 'critical',
          reasons: [
            { name: 'not_running', actor: 'platform', action: 'Check that the pods of karmada-scheduler run and reach the API server, and restart them.' },
            { name: 'restarting', actor: 'platform', action: 'Read the logs of the terminated containers of karmada-scheduler, and fix the cause of the restarts.' },
            { name: 'no_progress', actor: 'platform', action: 'Read the log of karmada-scheduler for errors, and restart it if its queue hangs.' },
          ],
        },
      ],
    },
    {
      name: 'KarmadaDependencyPolicyConflict',
      summary: 'Policies request different values for a shared dependency.',
      by: 'namespace',
      problems: [
        {
          name: 'dependency_conflict',
          title: 'dependency conflict',
          doc: 'dependency-conflict',
          severity: 'warning',
          reasons: [
            { name: 'ConflictResolution', actor: 'policy_owner', action: 'Set the field ConflictResolution to the same value in the policies of all referrers.' },
            { name: 'PreserveResourcesOnDeletion', actor: 'policy_owner', action: 'Set the field PreserveResourcesOnDeletion to the same value in the policies of all referrers.' },
          ],
        },
        {
          name: 'dependency_not_resolved',
          title: 'dependency not resolved',
          doc: 'dependency-not-resolved',
          severity: 'warning',
          reasons: [
            { name: 'ConflictResolution', actor: 'karmada', action: 'Wait until Karmada writes the resolved value; if it does not, check karmada-controller-manager and spec.requiredBy of the binding.' },
            { name: 'PreserveResourcesOnDeletion', actor: 'karmada', action: 'Wait until Karmada writes the resolved value; if it does not, check karmada-controller-manager and spec.requiredBy of the binding.' },
          ],
        },
      ],
    },
    {
      name: 'KarmadaPolicyNotInForce',
      summary: 'Templates do not follow their policy.',
      by: 'namespace',
      problems: [
        {
          name: 'policy_not_in_force',
          title: 'policy not in force',
          doc: 'policy-not-in-force',
          severity: 'warning',
          reasons: [
            { name: 'priority_class_missing', actor: 'platform', action: 'Create the PriorityClass, or remove schedulePriority from the policy; priorityClassSource must be KubePriorityClass.' },
            { name: 'override_missing', actor: 'policy_owner', action: 'Create the override policy, or remove its name from dependentOverrides of the policy.' },
            { name: 'policy_replaced', actor: 'karmada', action: 'Wait until Karmada applies the policy; if it does not, read the Events of the template and check karmada-controller-manager.' },
            { name: 'policy_updated', actor: 'karmada', action: 'Wait until Karmada applies the policy; if it does not, read the Events of the template and check karmada-controller-manager.' },
            { name: 'never_bound', actor: 'karmada', action: 'Wait until Karmada applies the policy; if it does not, read the Events of the template and check karmada-controller-manager.' },
            { name: 'template_updated', actor: 'karmada', action: 'Wait until Karmada updates the binding; if it does not, read the Events of the template and check karmada-controller-manager.' },
          ],
        },
        {
          name: 'template_frozen',
          title: 'template frozen',
          doc: 'template-frozen',
          severity: 'warning',
          reasons: [
            { name: 'selector_mismatch', actor: 'policy_owner', action: 'Let the policy select the template again, or remove the labels and annotations of the claim from the template.' },
            { name: 'policy_gone', actor: 'policy_owner', action: 'Create a policy that selects the template, and remove the labels and annotations of the old claim from the template.' },
          ],
        },
      ],
    },
    {
      name: 'KarmadaNotPropagated',
      summary: 'Templates are not propagated.',
      by: 'namespace',
      problems: [
        {
          name: 'not_propagated',
          title: 'not propagated',
          doc: 'not-propagated',
          severity: 'warning',
          reasons: [
            { name: 'override_missing', actor: 'policy_owner', action: 'Create the override policy, or remove its name from dependentOverrides of the policy.' },
            { name: 'namesake', actor: 'karmada', action: 'Wait until Karmada deletes the old binding; if it does not, check its Works and whether their member clusters are Ready.' },
            { name: 'priority_class_missing', actor: 'platform', action: 'Create the PriorityClass, or remove schedulePriority from the policy; priorityClassSource must be KubePriorityClass.' },
            { name: 'stuck', actor: 'user', action: 'Read the Events of the template, because a webhook may refuse the binding, then change the template.' },
            { name: 'not_claimed', actor: 'karmada', action: 'Wait until Karmada claims the template; if it does not, check that karmada-controller-manager runs.' },
            { name: 'waiting', actor: 'karmada', action: 'Wait until Karmada creates the binding; if it does not, read the Events of the template and check karmada-controller-manager.' },
            { name: 'policy_deleting', actor: 'policy_owner', action: 'Create another policy that selects the template.' },
            { name: 'no_match', actor: 'policy_owner', action: 'Create a policy that selects the template, or add it to resourceSelectors of a policy.' },
            { name: 'policy_gone', actor: 'policy_owner', action: 'Create a policy that selects the template, or delete the template and its binding.' },
          ],
        },
        {
          name: 'binding_name_collision',
          title: 'binding name collision',
          doc: 'binding-name-collision',
          severity: 'warning',
          reasons: [
            { name: 'taken', actor: 'user', action: 'Rename one of the templates: Karmada forms the name of a binding from the name and kind of the template, without the API group.' },
            { name: 'invalid_name', actor: 'user', action: 'Rename the template, so that its name and kind form a valid object name.' },
          ],
        },
      ],
    },
    {
      name: 'KarmadaNotScheduled',
      summary: 'Templates are not scheduled, or the next scheduling deletes their copies.',
      by: 'namespace',
      problems: [
        {
          name: 'placement_at_risk',
          title: 'placement at risk',
          doc: 'placement-at-risk',
          severity: 'warning',
          reasons: [
            { name: 'affinity', actor: 'policy_owner', action: 'Let the cluster affinity of the policy match a member cluster, or restore the labels of the Clusters.' },
            { name: 'api_not_served', actor: 'policy_owner', action: 'Install the CustomResourceDefinition in a member cluster of the placement, or allow a cluster that serves the API.' },
            { name: 'taint', actor: 'policy_owner', action: 'Add a toleration to the placement of the policy, or remove the taint from a member cluster.' },
            { name: 'evicting', actor: 'policy_owner', action: 'Let the placement of the policy allow another member cluster, or wait until the eviction tasks end.' },
            { name: 'spread_property', actor: 'policy_owner', action: 'Set provider, region or zones in the Clusters, or remove the spread constraint from the policy.' },
            { name: 'workload_affinity', actor: 'policy_owner', action: 'Change the workload affinity in the placement of the policy so that a member cluster satisfies it.' },
            { name: 'cluster_deleting', actor: 'policy_owner', action: 'Let the placement of the policy allow a member cluster that is not being deleted.' },
            { name: 'cluster_not_ready', actor: 'policy_owner', action: 'Let the placement of the policy allow a member cluster that is Ready.' },
          ],
        },
        {
          name: 'not_scheduled',
          title: 'not scheduled',
          doc: 'not-scheduled',
          severity: 'warning',
          reasons: [
            { name: 'no_cluster_fit', actor: 'policy_owner', action: 'Let the placement of the policy allow a member cluster, or change the labels or taints of a Cluster.' },
            { name: 'unschedulable', actor: 'platform', action: 'Add capacity to the member clusters of the placement, or reduce the replicas or requests of the template.' },
            { name: 'quota_exceeded', actor: 'platform', action: 'Raise the FederatedResourceQuota, or let the owner reduce the replicas or requests of the template.' },
            { name: 'scheduler_error', actor: 'platform', action: 'Fix the cause that the message of the condition Scheduled names, such as a spread constraint with too few clusters.' },
            { name: 'other_scheduler', actor: 'platform', action: 'Check that the scheduler in schedulerName of the policy runs, or remove schedulerName.' },
            { name: 'waiting', actor: 'karmada', action: 'Wait for karmada-scheduler; if the binding stays unscheduled, check that karmada-scheduler runs and read its log.' },
          ],
        },
      ],
    },
    {
      name: 'KarmadaNotDelivered',
      summary: 'Templates do not reach their member clusters.',
      by: 'namespace',
      problems: [
        {
          name: 'not_delivered',
          title: 'not delivered',
          doc: 'not-delivered',
          severity: 'warning',
          reasons: [
            { name: 'work_missing', actor: 'karmada', action: 'Wait until Karmada creates the Work; if it does not, read the Events of the template and check karmada-controller-manager.' },
            { name: 'work_deleting', actor: 'karmada', action: 'Wait until Karmada creates the Work again; if the old one stays, check its finalizers and whether the member cluster is Ready.' },
            { name: 'already_exists', actor: 'user', action: 'Delete the object in the member cluster, or set the annotation work.karmada.io/conflict-resolution: overwrite on the template.' },
            { name: 'refused', actor: 'user', action: 'Fix the template, or the rights, webhook or quota in the member cluster that the message names.' },
            { name: 'work_outdated', actor: 'karmada', action: 'Wait until Karmada updates the Work; if it does not, read the Events of the template and check karmada-controller-manager.' },
            { name: 'waiting', actor: 'karmada', action: 'Wait for Karmada; if nothing changes, check karmada-controller-manager, or karmada-agent for clusters in pull mode.' },
          ],
        },
        {
          name: 'override_failed',
          title: 'override failed',
          doc: 'override-failed',
          severity: 'warning',
          reasons: [
            { name: 'observed', actor: 'platform', action: 'Fix the override policy that the Event ApplyOverridePolicyFailed of the template names, or delete it.' },
            { name: 'predicted', actor: 'platform', action: 'Fix the override policy, or let it select other objects or clusters.' },
          ],
        },
      ],
    },
    {
      name: 'KarmadaEvictionStuck',
      summary: 'Evictions of templates do not end.',
      by: 'namespace',
      problems: [
        {
          name: 'eviction_stuck',
          title: 'eviction stuck',
          doc: 'eviction-stuck',
          severity: 'warning',
          reasons: [
            { name: 'purge_blocked', actor: 'cluster', action: 'Restore the member cluster, so that Karmada can delete the old copy.' },
            { name: 'rescheduling', actor: 'karmada', action: 'Wait for karmada-scheduler; if the binding stays unscheduled, check the placement of the policy and that karmada-scheduler runs.' },
            { name: 'replacing', actor: 'user', action: 'Check the pods and Events of the template in the other member clusters.' },
          ],
        },
      ],
    },
    {
      name: 'KarmadaPolicyBroken',
      summary: 'Policies or references are invalid, or deletions do not end.',
      by: 'namespace',
      problems: [
        {
          name: 'policy_invalid',
          title: 'policy invalid',
          doc: 'policy-invalid',
          severity: 'warning',
          reasons: [
            { name: 'invalid_selector', actor: 'policy_owner', action: 'Correct the labelSelector in resourceSelectors of the policy.' },
            { name: 'invalid_exclusion', actor: 'policy_owner', action: 'Correct the labelSelector in excludedResources of the policy.' },
            { name: 'empty_exclusion', actor: 'policy_owner', action: 'Set a field in the rule of excludedResources, or remove the rule.' },
            { name: 'no_selector', actor: 'policy_owner', action: 'Add resourceSelectors to the policy, or delete the policy.' },
            { name: 'foreign_namespace', actor: 'policy_owner', action: 'Move the policy to the namespace of the templates, or remove the namespace from the resourceSelector.' },
            { name: 'unwatched_version', actor: 'policy_owner', action: 'Set apiVersion of the resourceSelector to the preferred version of the kind.' },
            { name: 'preemption_without_name', actor: 'policy_owner', action: 'Add names to resourceSelectors of the policy, or remove preemption.' },
            { name: 'cluster_scoped_kind', actor: 'policy_owner', action: 'Select the kind in a ClusterPropagationPolicy, and remove the resourceSelector here.' },
            { name: 'kind_not_served', actor: 'policy_owner', action: 'Install the CustomResourceDefinition of the kind, or correct apiVersion and kind of the resourceSelector.' },
            { name: 'priority_class_missing', actor: 'policy_owner', action: 'Create the PriorityClass, or remove schedulePriority from the policy; priorityClassSource must be KubePriorityClass.' },
            { name: 'override_missing', actor: 'policy_owner', action: 'Create the override policy, or remove its name from dependentOverrides of the policy.' },
            { name: 'field_pruned', actor: 'policy_owner', action: "Correct the name or the place of the field, upgrade Karmada's CustomResourceDefinitions, or remove the field." },
            { name: 'refused', actor: 'policy_owner', action: 'Correct the object so that it passes the schema and the webhook of the Karmada release.' },
          ],
        },
        {
          name: 'reference_broken',
          title: 'reference broken',
          doc: 'reference-broken',
          severity: 'warning',
          reasons: [
            { name: 'required_by_missing', actor: 'platform', action: 'Remove the missing bindings from spec.requiredBy of the binding.' },
            { name: 'template_missing', actor: 'platform', action: 'Delete the binding, or create the template again.' },
            { name: 'claim_missing', actor: 'policy_owner', action: 'Remove the labels and annotations of the claim, or create a policy that selects the template.' },
          ],
        },
        {
          name: 'deletion_stuck',
          title: 'deletion stuck',
          doc: 'deletion-stuck',
          severity: 'warning',
          reasons: [
            { name: 'policy', actor: 'platform', action: 'Check that karmada-controller-manager runs, and read its log for errors about the policy.' },
            { name: 'binding', actor: 'platform', action: 'Check that the member clusters of the binding are Ready, and read the finalizers of its Works.' },
          ],
        },
      ],
    },
    {
      name: 'KarmadaLeaseAtRisk',
      summary: 'Leases of Config Connector are in conflict or not renewed.',
      by: 'namespace',
      problems: [
        {
          name: 'management_conflict',
          title: 'management conflict',
          doc: 'management-conflict',
          severity: 'warning',
          reasons: [
            { name: 'invalid_prevention', actor: 'user', action: 'Set the annotation cnrm.cloud.google.com/management-conflict-prevention-policy to resource, or remove it.' },
            { name: 'reported', actor: 'user', action: 'Set the annotation cnrm.cloud.google.com/deletion-policy: abandon on the object in one of the two namespaces, then delete that object.' },
            { name: 'refused', actor: 'user', action: 'Set the annotation cnrm.cloud.google.com/deletion-policy: abandon on the object in one of the two namespaces, then delete that object.' },
          ],
        },
        {
          name: 'lease_at_risk',
          title: 'lease at risk',
          doc: 'lease-at-risk',
          severity: 'warning',
          reasons: [
            { name: 'expired', actor: 'platform', action: 'Check that Config Connector runs in the namespace of the holder and reconciles the object.' },
            { name: 'expiring', actor: 'platform', action: 'Check that Config Connector runs in the namespace of the holder and reconciles the object.' },
            { name: 'unknown_holder', actor: 'platform', action: 'Find the Config Connector installation with this id, or add its namespace to the ConfigMap cnrm-system/namespace-id.' },
          ],
        },
      ],
    },
    {
      name: 'KarmadaDecisionFlapping',
      summary: 'Decisions of Karmada change back and forth.',
      by: 'namespace',
      problems: [
        {
          name: 'decision_flapping',
          title: 'decision flapping',
          doc: 'decision-flapping',
          severity: 'warning',
          reasons: [
            { name: 'state', actor: 'policy_owner', action: 'Find the client that changes the policy or a competing policy again and again, and let one client own them.' },
            { name: 'conflict', actor: 'policy_owner', action: 'Find the client that changes the policies of the referrers again and again, and let one client own them.' },
          ],
        },
      ],
    },
    {
      name: 'KarmadaPolicyReview',
      summary: 'Items for the weekly review.',
      by: 'problem',
      problems: [
        {
          name: 'unhealthy',
          title: 'unhealthy',
          doc: 'unhealthy',
          severity: 'info',
          reasons: [
            { name: 'rolling', actor: 'user', action: 'Check the pods and Events of the rollout in the member cluster.' },
            { name: 'unavailable', actor: 'user', action: 'Check the pods and Events of the template in the member cluster.' },
            { name: 'unknown', actor: 'user', action: 'Check the status of the object in the member cluster, and the health interpreter of its kind.' },
          ],
        },
        {
          name: 'orphaned',
          title: 'orphaned',
          doc: 'orphaned',
          severity: 'info',
          reasons: [
            { name: '', actor: 'policy_owner', action: 'Create a policy that selects the template, or delete the template.' },
          ],
        },
        {
          name: 'excluded',
          title: 'excluded',
          doc: 'excluded',
          severity: 'info',
          reasons: [
            { name: '', actor: 'policy_owner', action: 'Remove the matching rule from excludedResources of the policy, or create another policy for the template.' },
          ],
        },
        {
          name: 'deferred_too_long',
          title: 'deferred too long',
          doc: 'deferred-too-long',
          severity: 'info',
          reasons: [
            { name: 'policy_updated', actor: 'user', action: 'Change the template, for example with the command reconcile, so that Karmada applies the policy.' },
            { name: 'policy_replaced', actor: 'user', action: 'Change the template, for example with the command reconcile, so that Karmada applies the policy.' },
            { name: 'selector_mismatch', actor: 'user', action: 'Change the template, so that Karmada matches it anew, or let the policy select it again.' },
            { name: 'policy_gone', actor: 'user', action: 'Create a policy that selects the template, and change the template so that Karmada matches it anew.' },
            { name: 'never_bound', actor: 'user', action: 'Change the template, for example with the command reconcile, so that Karmada creates the binding.' },
          ],
        },
        {
          name: 'on_fallback',
          title: 'on fallback',
          doc: 'on-fallback',
          severity: 'info',
          reasons: [
            { name: '', actor: 'platform', action: 'Create a WorkloadRebalancer for the template once the first group has capacity.' },
          ],
        },
        {
          name: 'two_copies_held',
          title: 'two copies held',
          doc: 'two-copies-held',
          severity: 'info',
          reasons: [
            { name: '', actor: 'platform', action: 'Check the replacement, then remove suppressDeletion from the eviction task of the binding.' },
          ],
        },
        {
          name: 'change_suspended',
          title: 'change suspended',
          doc: 'change-suspended',
          severity: 'info',
          reasons: [
            { name: '', actor: 'policy_owner', action: 'Remove the suspension from the policy or from the binding.' },
          ],
        },
        {
          name: 'forbidden_placement',
          title: 'forbidden placement',
          doc: 'forbidden-placement',
          severity: 'info',
          reasons: [
            { name: 'binding', actor: 'platform', action: 'Change the placement of the policy. Create a WorkloadRebalancer only if another member cluster passes all filters; otherwise it deletes all copies.' },
            { name: 'policy', actor: 'user', action: 'Change the template, so that Karmada applies the policy.' },
          ],
        },
        {
          name: 'drift_exceeds_capacity',
          title: 'drift exceeds capacity',
          doc: 'drift-exceeds-capacity',
          severity: 'info',
          reasons: [
            { name: 'cpu', actor: 'platform', action: 'Add capacity to the member cluster, or apply the changes of the policies in smaller batches.' },
            { name: 'memory', actor: 'platform', action: 'Add capacity to the member cluster, or apply the changes of the policies in smaller batches.' },
            { name: 'pods', actor: 'platform', action: 'Add capacity to the member cluster, or apply the changes of the policies in smaller batches.' },
            { name: 'ephemeral-storage', actor: 'platform', action: 'Add capacity to the member cluster, or apply the changes of the policies in smaller batches.' },
            { name: 'other', actor: 'platform', action: 'Add capacity to the member cluster, or apply the changes of the policies in smaller batches.' },
          ],
        },
        {
          name: 'deletion_trap',
          title: 'deletion trap',
          doc: 'deletion-trap',
          severity: 'info',
          reasons: [
            { name: '', actor: 'policy_owner', action: 'Set the annotation cnrm.cloud.google.com/deletion-policy: abandon on the template before you change its placement.' },
          ],
        },
        {
          name: 'lease_unprotected',
          title: 'lease unprotected',
          doc: 'lease-unprotected',
          severity: 'info',
          reasons: [
            { name: 'lapse_hazard', actor: 'user', action: 'Set the annotation cnrm.cloud.google.com/reconcile-interval-in-seconds to less than 1200.' },
            { name: 'unprotectable', actor: 'user', action: 'Remove the annotation cnrm.cloud.google.com/management-conflict-prevention-policy, and let only one namespace declare the resource.' },
          ],
        },
        {
          name: 'conflict_predicted',
          title: 'conflict predicted',
          doc: 'conflict-predicted',
          severity: 'info',
          reasons: [
            { name: 'ConflictResolution', actor: 'policy_owner', action: 'Set the field ConflictResolution to the same value in the policies of all referrers.' },
            { name: 'PreserveResourcesOnDeletion', actor: 'policy_owner', action: 'Set the field PreserveResourcesOnDeletion to the same value in the policies of all referrers.' },
          ],
        },
        {
          name: 'replicas_contested',
          title: 'replicas contested',
          doc: 'replicas-contested',
          severity: 'info',
          reasons: [
            { name: 'hpa', actor: 'user', action: 'Set the label resourcetemplate.karmada.io/retain-replicas: "true" on the template; other kinds than Deployment also need an interpreter that retains the field.' },
            { name: 'federated_hpa', actor: 'user', action: 'Remove spec.replicas from the manifest of the template. With the label resourcetemplate.karmada.io/retain-replicas, copies do not follow the FederatedHPA.' },
          ],
        },
        {
          name: 'value_overridden',
          title: 'value overridden',
          doc: 'value-overridden',
          severity: 'info',
          reasons: [
            { name: 'ConflictResolution', actor: 'policy_owner', action: 'Set the field ConflictResolution in the policy to the value of the annotation or of the referrers, or remove the override.' },
            { name: 'PreserveResourcesOnDeletion', actor: 'policy_owner', action: 'Set the field PreserveResourcesOnDeletion in the policy to the value of the annotation or of the referrers, or remove the override.' },
          ],
        },
        {
          name: 'policy_tie',
          title: 'policy tie',
          doc: 'policy-tie',
          severity: 'info',
          reasons: [
            { name: '', actor: 'policy_owner', action: 'Give the policies different priorities, or resourceSelectors that do not overlap.' },
          ],
        },
        {
          name: 'policy_outranked',
          title: 'policy outranked',
          doc: 'policy-outranked',
          severity: 'info',
          reasons: [
            { name: '', actor: 'policy_owner', action: 'Set preemption: Always and a higher priority in the other policy, or remove the overlap of the resourceSelectors.' },
          ],
        },
        {
          name: 'policy_unused',
          title: 'policy unused',
          doc: 'policy-unused',
          severity: 'info',
          reasons: [
            { name: '', actor: 'policy_owner', action: 'Delete the policy, or correct its resourceSelectors.' },
          ],
        },
        {
          name: 'duplicate_object',
          title: 'duplicate object',
          doc: 'duplicate-object',
          severity: 'info',
          reasons: [
            { name: '', actor: 'user', action: 'Remove all declarations of the object but one.' },
          ],
        },
      ],
    },
    {
      name: 'KarmadaPolicyProblem',
      summary: 'Problems whose severity --problems.severity raises.',
      by: 'namespace',
      problems: [
        {
          name: 'unhealthy',
          title: 'unhealthy',
          doc: 'unhealthy',
          severity: 'info',
          reasons: [
            { name: 'rolling', actor: 'user', action: 'Check the pods and Events of the rollout in the member cluster.' },
            { name: 'unavailable', actor: 'user', action: 'Check the pods and Events of the template in the member cluster.' },
            { name: 'unknown', actor: 'user', action: 'Check the status of the object in the member cluster, and the health interpreter of its kind.' },
          ],
        },
        {
          name: 'orphaned',
          title: 'orphaned',
          doc: 'orphaned',
          severity: 'info',
          reasons: [
            { name: '', actor: 'policy_owner', action: 'Create a policy that selects the template, or delete the template.' },
          ],
        },
        {
          name: 'excluded',
          title: 'excluded',
          doc: 'excluded',
          severity: 'info',
          reasons: [
            { name: '', actor: 'policy_owner', action: 'Remove the matching rule from excludedResources of the policy, or create another policy for the template.' },
          ],
        },
        {
          name: 'deferred_too_long',
          title: 'deferred too long',
          doc: 'deferred-too-long',
          severity: 'info',
          reasons: [
            { name: 'policy_updated', actor: 'user', action: 'Change the template, for example with the command reconcile, so that Karmada applies the policy.' },
            { name: 'policy_replaced', actor: 'user', action: 'Change the template, for example with the command reconcile, so that Karmada applies the policy.' },
            { name: 'selector_mismatch', actor: 'user', action: 'Change the template, so that Karmada matches it anew, or let the policy select it again.' },
            { name: 'policy_gone', actor: 'user', action: 'Create a policy that selects the template, and change the template so that Karmada matches it anew.' },
            { name: 'never_bound', actor: 'user', action: 'Change the template, for example with the command reconcile, so that Karmada creates the binding.' },
          ],
        },
        {
          name: 'on_fallback',
          title: 'on fallback',
          doc: 'on-fallback',
          severity: 'info',
          reasons: [
            { name: '', actor: 'platform', action: 'Create a WorkloadRebalancer for the template once the first group has capacity.' },
          ],
        },
        {
          name: 'two_copies_held',
          title: 'two copies held',
          doc: 'two-copies-held',
          severity: 'info',
          reasons: [
            { name: '', actor: 'platform', action: 'Check the replacement, then remove suppressDeletion from the eviction task of the binding.' },
          ],
        },
        {
          name: 'change_suspended',
          title: 'change suspended',
          doc: 'change-suspended',
          severity: 'info',
          reasons: [
            { name: '', actor: 'policy_owner', action: 'Remove the suspension from the policy or from the binding.' },
          ],
        },
        {
          name: 'forbidden_placement',
          title: 'forbidden placement',
          doc: 'forbidden-placement',
          severity: 'info',
          reasons: [
            { name: 'binding', actor: 'platform', action: 'Change the placement of the policy. Create a WorkloadRebalancer only if another member cluster passes all filters; otherwise it deletes all copies.' },
            { name: 'policy', actor: 'user', action: 'Change the template, so that Karmada applies the policy.' },
          ],
        },
        {
          name: 'drift_exceeds_capacity',
          title: 'drift exceeds capacity',
          doc: 'drift-exceeds-capacity',
          severity: 'info',
          reasons: [
            { name: 'cpu', actor: 'platform', action: 'Add capacity to the member cluster, or apply the changes of the policies in smaller batches.' },
            { name: 'memory', actor: 'platform', action: 'Add capacity to the member cluster, or apply the changes of the policies in smaller batches.' },
            { name: 'pods', actor: 'platform', action: 'Add capacity to the member cluster, or apply the changes of the policies in smaller batches.' },
            { name: 'ephemeral-storage', actor: 'platform', action: 'Add capacity to the member cluster, or apply the changes of the policies in smaller batches.' },
            { name: 'other', actor: 'platform', action: 'Add capacity to the member cluster, or apply the changes of the policies in smaller batches.' },
          ],
        },
        {
          name: 'deletion_trap',
          title: 'deletion trap',
          doc: 'deletion-trap',
          severity: 'info',
          reasons: [
            { name: '', actor: 'policy_owner', action: 'Set the annotation cnrm.cloud.google.com/deletion-policy: abandon on the template before you change its placement.' },
          ],
        },
        {
          name: 'lease_unprotected',
          title: 'lease unprotected',
          doc: 'lease-unprotected',
          severity: 'info',
          reasons: [
            { name: 'lapse_hazard', actor: 'user', action: 'Set the annotation cnrm.cloud.google.com/reconcile-interval-in-seconds to less than 1200.' },
            { name: 'unprotectable', actor: 'user', action: 'Remove the annotation cnrm.cloud.google.com/management-conflict-prevention-policy, and let only one namespace declare the resource.' },
          ],
        },
        {
          name: 'conflict_predicted',
          title: 'conflict predicted',
          doc: 'conflict-predicted',
          severity: 'info',
          reasons: [
            { name: 'ConflictResolution', actor: 'policy_owner', action: 'Set the field ConflictResolution to the same value in the policies of all referrers.' },
            { name: 'PreserveResourcesOnDeletion', actor: 'policy_owner', action: 'Set the field PreserveResourcesOnDeletion to the same value in the policies of all referrers.' },
          ],
        },
        {
          name: 'replicas_contested',
          title: 'replicas contested',
          doc: 'replicas-contested',
          severity: 'info',
          reasons: [
            { name: 'hpa', actor: 'user', action: 'Set the label resourcetemplate.karmada.io/retain-replicas: "true" on the template; other kinds than Deployment also need an interpreter that retains the field.' },
            { name: 'federated_hpa', actor: 'user', action: 'Remove spec.replicas from the manifest of the template. With the label resourcetemplate.karmada.io/retain-replicas, copies do not follow the FederatedHPA.' },
          ],
        },
        {
          name: 'value_overridden',
          title: 'value overridden',
          doc: 'value-overridden',
          severity: 'info',
          reasons: [
            { name: 'ConflictResolution', actor: 'policy_owner', action: 'Set the field ConflictResolution in the policy to the value of the annotation or of the referrers, or remove the override.' },
            { name: 'PreserveResourcesOnDeletion', actor: 'policy_owner', action: 'Set the field PreserveResourcesOnDeletion in the policy to the value of the annotation or of the referrers, or remove the override.' },
          ],
        },
        {
          name: 'policy_tie',
          title: 'policy tie',
          doc: 'policy-tie',
          severity: 'info',
          reasons: [
            { name: '', actor: 'policy_owner', action: 'Give the policies different priorities, or resourceSelectors that do not overlap.' },
          ],
        },
        {
          name: 'policy_outranked',
          title: 'policy outranked',
          doc: 'policy-outranked',
          severity: 'info',
          reasons: [
            { name: '', actor: 'policy_owner', action: 'Set preemption: Always and a higher priority in the other policy, or remove the overlap of the resourceSelectors.' },
          ],
        },
        {
          name: 'policy_unused',
          title: 'policy unused',
          doc: 'policy-unused',
          severity: 'info',
          reasons: [
            { name: '', actor: 'policy_owner', action: 'Delete the policy, or correct its resourceSelectors.' },
          ],
        },
        {
          name: 'duplicate_object',
          title: 'duplicate object',
          doc: 'duplicate-object',
          severity: 'info',
          reasons: [
            { name: '', actor: 'user', action: 'Remove all declarations of the object but one.' },
          ],
        },
      ],
    },
    {
      name: 'KarmadaPolicyExporterDataIncomplete',
      summary: 'The exporter cannot read all of its data.',
      by: 'reason',
      problems: [
        {
          name: 'data_incomplete',
          title: 'data incomplete',
          doc: 'data-incomplete',
          severity: 'warning',
          reasons: [
            { name: 'forbidden', actor: 'platform', action: 'Grant the exporter the verbs get, list and watch for the resource.' },
            { name: 'failing', actor: 'platform', action: 'Read the log of the exporter for the error, and fix the API server, the network or the file.' },
            { name: 'late', actor: 'platform', action: 'Check the API server for slow lists of the resource, and read the log of the exporter.' },
            { name: 'broken_file', actor: 'user', action: 'Correct the file; the log of the exporter has the line and the column of the error.' },
            { name: 'rejected', actor: 'user', action: 'Correct the objects that the log of the exporter names.' },
            { name: 'diverged', actor: 'platform', action: 'Check proxies and caches between the exporter and the API server, and restart the exporter.' },
            { name: 'snapshot_old', actor: 'platform', action: 'Check the job that writes the asset export.' },
          ],
        },
      ],
    },
  ],
}
