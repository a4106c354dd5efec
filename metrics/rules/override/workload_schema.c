/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/override/workload_schema.h"

#include <math.h>

#include "metrics/base/number.h"
#include "metrics/base/timestamp.h"

/*
 * Field of a Go struct (k8s.io/api: core/v1, apps/v1, batch/v1). `type` has a '[' for each list and
 * a '{' for each map around the value, then a letter: s string, i integer, z boolean, b base64, Q
 * quantity, O integer or string, T time, * any value. Without a letter the value is another struct.
 */
struct schema_field {
    const char *name;
    const char *type;
    uint8_t schema; /* Index in `schemas`, if `type` has no letter. */
};

/* A struct, with its fields sorted by name (strcmp). */
struct schema {
    const char *name;
    uint16_t first; /* Index in `fields`. */
    uint8_t count;
};

static const struct schema_field fields[] = {
    /* clang-format off */
    {"fsType", "s", 0}, {"partition", "i", 0}, {"readOnly", "z", 0}, {"volumeID", "s", 0},
    {"nodeAffinity", "", 77}, {"podAffinity", "", 93}, {"podAntiAffinity", "", 95},
    {"localhostProfile", "s", 0}, {"type", "s", 0}, {"cachingMode", "s", 0}, {"diskName", "s", 0},
    {"diskURI", "s", 0}, {"fsType", "s", 0}, {"kind", "s", 0}, {"readOnly", "z", 0}, {"readOnly", "z", 0},
    {"secretName", "s", 0}, {"shareName", "s", 0}, {"driver", "s", 0}, {"fsType", "s", 0},
    {"nodePublishSecretRef", "", 73}, {"readOnly", "z", 0}, {"volumeAttributes", "{s", 0}, {"add", "[s", 0},
    {"drop", "[s", 0}, {"monitors", "[s", 0}, {"path", "s", 0}, {"readOnly", "z", 0}, {"secretFile", "s", 0},
    {"secretRef", "", 73}, {"user", "s", 0}, {"fsType", "s", 0}, {"readOnly", "z", 0}, {"secretRef", "", 73},
    {"volumeID", "s", 0}, {"labelSelector", "", 68}, {"name", "s", 0}, {"optional", "z", 0}, {"path", "s", 0},
    {"signerName", "s", 0}, {"name", "s", 0}, {"optional", "z", 0}, {"key", "s", 0}, {"name", "s", 0},
    {"optional", "z", 0}, {"items", "[", 67}, {"name", "s", 0}, {"optional", "z", 0}, {"defaultMode", "i", 0},
    {"items", "[", 67}, {"name", "s", 0}, {"optional", "z", 0}, {"args", "[s", 0}, {"command", "[s", 0},
    {"env", "[", 41}, {"envFrom", "[", 40}, {"image", "s", 0}, {"imagePullPolicy", "s", 0},
    {"lifecycle", "", 70}, {"livenessProbe", "", 118}, {"name", "s", 0}, {"ports", "[", 16},
    {"readinessProbe", "", 118}, {"resizePolicy", "[", 17}, {"resources", "", 130}, {"restartPolicy", "s", 0},
    {"restartPolicyRules", "[", 18}, {"securityContext", "", 142}, {"startupProbe", "", 118},
    {"stdin", "z", 0}, {"stdinOnce", "z", 0}, {"terminationMessagePath", "s", 0},
    {"terminationMessagePolicy", "s", 0}, {"tty", "z", 0}, {"volumeDevices", "[", 164},
    {"volumeMounts", "[", 165}, {"workingDir", "s", 0}, {"containerName", "s", 0}, {"requestName", "s", 0},
    {"resourceName", "s", 0}, {"containerPort", "i", 0}, {"hostIP", "s", 0}, {"hostPort", "i", 0},
    {"name", "s", 0}, {"protocol", "s", 0}, {"resourceName", "s", 0}, {"restartPolicy", "s", 0},
    {"action", "s", 0}, {"exitCodes", "", 19}, {"operator", "s", 0}, {"values", "[i", 0}, {"running", "", 21},
    {"terminated", "", 22}, {"waiting", "", 23}, {"startedAt", "T", 0}, {"containerID", "s", 0},
    {"exitCode", "i", 0}, {"finishedAt", "T", 0}, {"message", "s", 0}, {"reason", "s", 0}, {"signal", "i", 0},
    {"startedAt", "T", 0}, {"message", "s", 0}, {"reason", "s", 0}, {"allocatedResources", "{Q", 0},
    {"allocatedResourcesStatus", "[", 131}, {"containerID", "s", 0}, {"image", "s", 0}, {"imageID", "s", 0},
    {"lastState", "", 20}, {"name", "s", 0}, {"ready", "z", 0}, {"resources", "", 130},
    {"restartCount", "i", 0}, {"started", "z", 0}, {"state", "", 20}, {"stopSignal", "s", 0},
    {"user", "", 25}, {"volumeMounts", "[", 166}, {"linux", "", 72}, {"apiVersion", "s", 0}, {"kind", "s", 0},
    {"metadata", "", 83}, {"spec", "", 28}, {"status", "", 29}, {"lastTransitionTime", "T", 0},
    {"message", "s", 0}, {"reason", "s", 0}, {"status", "s", 0}, {"type", "s", 0},
    {"minReadySeconds", "i", 0}, {"revisionHistoryLimit", "i", 0}, {"selector", "", 68},
    {"template", "", 115}, {"updateStrategy", "", 30}, {"collisionCount", "i", 0}, {"conditions", "[", 27},
    {"currentNumberScheduled", "i", 0}, {"desiredNumberScheduled", "i", 0}, {"numberAvailable", "i", 0},
    {"numberMisscheduled", "i", 0}, {"numberReady", "i", 0}, {"numberUnavailable", "i", 0},
    {"observedGeneration", "i", 0}, {"updatedNumberScheduled", "i", 0}, {"rollingUpdate", "", 132},
    {"type", "s", 0}, {"apiVersion", "s", 0}, {"kind", "s", 0}, {"metadata", "", 83}, {"spec", "", 33},
    {"status", "", 34}, {"lastTransitionTime", "T", 0}, {"lastUpdateTime", "T", 0}, {"message", "s", 0},
    {"reason", "s", 0}, {"status", "s", 0}, {"type", "s", 0}, {"minReadySeconds", "i", 0}, {"paused", "z", 0},
    {"progressDeadlineSeconds", "i", 0}, {"replicas", "i", 0}, {"revisionHistoryLimit", "i", 0},
    {"selector", "", 68}, {"strategy", "", 35}, {"template", "", 115}, {"availableReplicas", "i", 0},
    {"collisionCount", "i", 0}, {"conditions", "[", 32}, {"observedGeneration", "i", 0},
    {"readyReplicas", "i", 0}, {"replicas", "i", 0}, {"terminatingReplicas", "i", 0},
    {"unavailableReplicas", "i", 0}, {"updatedReplicas", "i", 0}, {"rollingUpdate", "", 133},
    {"type", "s", 0}, {"items", "[", 37}, {"fieldRef", "", 82}, {"mode", "i", 0}, {"path", "s", 0},
    {"resourceFieldRef", "", 128}, {"defaultMode", "i", 0}, {"items", "[", 37}, {"medium", "s", 0},
    {"sizeLimit", "Q", 0}, {"configMapRef", "", 10}, {"prefix", "s", 0}, {"secretRef", "", 138},
    {"name", "s", 0}, {"value", "s", 0}, {"valueFrom", "", 42}, {"configMapKeyRef", "", 11},
    {"fieldRef", "", 82}, {"fileKeyRef", "", 48}, {"resourceFieldRef", "", 128}, {"secretKeyRef", "", 139},
    {"args", "[s", 0}, {"command", "[s", 0}, {"env", "[", 41}, {"envFrom", "[", 40}, {"image", "s", 0},
    {"imagePullPolicy", "s", 0}, {"lifecycle", "", 70}, {"livenessProbe", "", 118}, {"name", "s", 0},
    {"ports", "[", 16}, {"readinessProbe", "", 118}, {"resizePolicy", "[", 17}, {"resources", "", 130},
    {"restartPolicy", "s", 0}, {"restartPolicyRules", "[", 18}, {"securityContext", "", 142},
    {"startupProbe", "", 118}, {"stdin", "z", 0}, {"stdinOnce", "z", 0}, {"targetContainerName", "s", 0},
    {"terminationMessagePath", "s", 0}, {"terminationMessagePolicy", "s", 0}, {"tty", "z", 0},
    {"volumeDevices", "[", 164}, {"volumeMounts", "[", 165}, {"workingDir", "s", 0}, {"args", "[s", 0},
    {"command", "[s", 0}, {"env", "[", 41}, {"envFrom", "[", 40}, {"image", "s", 0},
    {"imagePullPolicy", "s", 0}, {"lifecycle", "", 70}, {"livenessProbe", "", 118}, {"name", "s", 0},
    {"ports", "[", 16}, {"readinessProbe", "", 118}, {"resizePolicy", "[", 17}, {"resources", "", 130},
    {"restartPolicy", "s", 0}, {"restartPolicyRules", "[", 18}, {"securityContext", "", 142},
    {"startupProbe", "", 118}, {"stdin", "z", 0}, {"stdinOnce", "z", 0}, {"terminationMessagePath", "s", 0},
    {"terminationMessagePolicy", "s", 0}, {"tty", "z", 0}, {"volumeDevices", "[", 164},
    {"volumeMounts", "[", 165}, {"workingDir", "s", 0}, {"volumeClaimTemplate", "", 89}, {"command", "[s", 0},
    {"fsType", "s", 0}, {"lun", "i", 0}, {"readOnly", "z", 0}, {"targetWWNs", "[s", 0}, {"wwids", "[s", 0},
    {"key", "s", 0}, {"optional", "z", 0}, {"path", "s", 0}, {"volumeName", "s", 0}, {"driver", "s", 0},
    {"fsType", "s", 0}, {"options", "{s", 0}, {"readOnly", "z", 0}, {"secretRef", "", 73},
    {"datasetName", "s", 0}, {"datasetUUID", "s", 0}, {"fsType", "s", 0}, {"partition", "i", 0},
    {"pdName", "s", 0}, {"readOnly", "z", 0}, {"port", "i", 0}, {"service", "s", 0}, {"directory", "s", 0},
    {"repository", "s", 0}, {"revision", "s", 0}, {"endpoints", "s", 0}, {"path", "s", 0},
    {"readOnly", "z", 0}, {"host", "s", 0}, {"httpHeaders", "[", 56}, {"path", "s", 0}, {"port", "O", 0},
    {"scheme", "s", 0}, {"name", "s", 0}, {"value", "s", 0}, {"hostnames", "[s", 0}, {"ip", "s", 0},
    {"ip", "s", 0}, {"path", "s", 0}, {"type", "s", 0}, {"chapAuthDiscovery", "z", 0},
    {"chapAuthSession", "z", 0}, {"fsType", "s", 0}, {"initiatorName", "s", 0}, {"iqn", "s", 0},
    {"iscsiInterface", "s", 0}, {"lun", "i", 0}, {"portals", "[s", 0}, {"readOnly", "z", 0},
    {"secretRef", "", 73}, {"targetPortal", "s", 0}, {"pullPolicy", "s", 0}, {"reference", "s", 0},
    {"imageRef", "s", 0}, {"apiVersion", "s", 0}, {"kind", "s", 0}, {"metadata", "", 83}, {"spec", "", 65},
    {"status", "", 66}, {"lastProbeTime", "T", 0}, {"lastTransitionTime", "T", 0}, {"message", "s", 0},
    {"reason", "s", 0}, {"status", "s", 0}, {"type", "s", 0}, {"activeDeadlineSeconds", "i", 0},
    {"backoffLimit", "i", 0}, {"backoffLimitPerIndex", "i", 0}, {"completionMode", "s", 0},
    {"completions", "i", 0}, {"managedBy", "s", 0}, {"manualSelector", "z", 0}, {"maxFailedIndexes", "i", 0},
    {"parallelism", "i", 0}, {"podFailurePolicy", "", 101}, {"podReplacementPolicy", "s", 0},
    {"selector", "", 68}, {"successPolicy", "", 153}, {"suspend", "z", 0}, {"template", "", 115},
    {"ttlSecondsAfterFinished", "i", 0}, {"active", "i", 0}, {"completedIndexes", "s", 0},
    {"completionTime", "T", 0}, {"conditions", "[", 64}, {"failed", "i", 0}, {"failedIndexes", "s", 0},
    {"ready", "i", 0}, {"startTime", "T", 0}, {"succeeded", "i", 0}, {"terminating", "i", 0},
    {"uncountedTerminatedPods", "", 162}, {"key", "s", 0}, {"mode", "i", 0}, {"path", "s", 0},
    {"matchExpressions", "[", 69}, {"matchLabels", "{s", 0}, {"key", "s", 0}, {"operator", "s", 0},
    {"values", "[s", 0}, {"postStart", "", 71}, {"preStop", "", 71}, {"stopSignal", "s", 0}, {"exec", "", 46},
    {"httpGet", "", 55}, {"sleep", "", 144}, {"tcpSocket", "", 156}, {"gid", "i", 0},
    {"supplementalGroups", "[i", 0}, {"uid", "i", 0}, {"name", "s", 0}, {"apiVersion", "s", 0},
    {"fieldsType", "s", 0}, {"fieldsV1", "*", 0}, {"manager", "s", 0}, {"operation", "s", 0},
    {"subresource", "s", 0}, {"time", "T", 0}, {"status", "s", 0},
    {"targetVolumeAttributesClassName", "s", 0}, {"path", "s", 0}, {"readOnly", "z", 0}, {"server", "s", 0},
    {"preferredDuringSchedulingIgnoredDuringExecution", "[", 117},
    {"requiredDuringSchedulingIgnoredDuringExecution", "", 79}, {"containers", "[s", 0},
    {"resourceClaimName", "s", 0}, {"resources", "{Q", 0}, {"nodeSelectorTerms", "[", 81}, {"key", "s", 0},
    {"operator", "s", 0}, {"values", "[s", 0}, {"matchExpressions", "[", 80}, {"matchFields", "[", 80},
    {"apiVersion", "s", 0}, {"fieldPath", "s", 0}, {"annotations", "{s", 0}, {"creationTimestamp", "T", 0},
    {"deletionGracePeriodSeconds", "i", 0}, {"deletionTimestamp", "T", 0}, {"finalizers", "[s", 0},
    {"generateName", "s", 0}, {"generation", "i", 0}, {"labels", "{s", 0}, {"managedFields", "[", 74},
    {"name", "s", 0}, {"namespace", "s", 0}, {"ownerReferences", "[", 84}, {"resourceVersion", "s", 0},
    {"selfLink", "s", 0}, {"uid", "s", 0}, {"apiVersion", "s", 0}, {"blockOwnerDeletion", "z", 0},
    {"controller", "z", 0}, {"kind", "s", 0}, {"name", "s", 0}, {"uid", "s", 0}, {"apiVersion", "s", 0},
    {"kind", "s", 0}, {"metadata", "", 83}, {"spec", "", 87}, {"status", "", 88}, {"lastProbeTime", "T", 0},
    {"lastTransitionTime", "T", 0}, {"message", "s", 0}, {"reason", "s", 0}, {"status", "s", 0},
    {"type", "s", 0}, {"accessModes", "[s", 0}, {"dataSource", "", 160}, {"dataSourceRef", "", 161},
    {"resources", "", 168}, {"selector", "", 68}, {"storageClassName", "s", 0},
    {"volumeAttributesClassName", "s", 0}, {"volumeMode", "s", 0}, {"volumeName", "s", 0},
    {"accessModes", "[s", 0}, {"allocatedResourceStatuses", "{s", 0}, {"allocatedResources", "{Q", 0},
    {"capacity", "{Q", 0}, {"conditions", "[", 86}, {"currentVolumeAttributesClassName", "s", 0},
    {"modifyVolumeStatus", "", 75}, {"phase", "s", 0}, {"metadata", "", 83}, {"spec", "", 87},
    {"claimName", "s", 0}, {"readOnly", "z", 0}, {"fsType", "s", 0}, {"pdID", "s", 0}, {"apiVersion", "s", 0},
    {"kind", "s", 0}, {"metadata", "", 83}, {"spec", "", 113}, {"status", "", 114},
    {"preferredDuringSchedulingIgnoredDuringExecution", "[", 172},
    {"requiredDuringSchedulingIgnoredDuringExecution", "[", 94}, {"labelSelector", "", 68},
    {"matchLabelKeys", "[s", 0}, {"mismatchLabelKeys", "[s", 0}, {"namespaceSelector", "", 68},
    {"namespaces", "[s", 0}, {"topologyKey", "s", 0},
    {"preferredDuringSchedulingIgnoredDuringExecution", "[", 172},
    {"requiredDuringSchedulingIgnoredDuringExecution", "[", 94}, {"certificateChainPath", "s", 0},
    {"credentialBundlePath", "s", 0}, {"keyPath", "s", 0}, {"keyType", "s", 0},
    {"maxExpirationSeconds", "i", 0}, {"signerName", "s", 0}, {"userAnnotations", "{s", 0},
    {"lastProbeTime", "T", 0}, {"lastTransitionTime", "T", 0}, {"message", "s", 0},
    {"observedGeneration", "i", 0}, {"reason", "s", 0}, {"status", "s", 0}, {"type", "s", 0},
    {"nameservers", "[s", 0}, {"options", "[", 99}, {"searches", "[s", 0}, {"name", "s", 0},
    {"value", "s", 0}, {"requestMappings", "[", 15}, {"resourceClaimName", "s", 0}, {"rules", "[", 104},
    {"containerName", "s", 0}, {"operator", "s", 0}, {"values", "[i", 0}, {"status", "s", 0},
    {"type", "s", 0}, {"action", "s", 0}, {"onExitCodes", "", 102}, {"onPodConditions", "[", 103},
    {"ip", "s", 0}, {"name", "s", 0}, {"conditionType", "s", 0}, {"name", "s", 0},
    {"resourceClaimName", "s", 0}, {"resourceClaimTemplateName", "s", 0}, {"name", "s", 0},
    {"resourceClaimName", "s", 0}, {"name", "s", 0}, {"podGroupName", "s", 0}, {"appArmorProfile", "", 2},
    {"fsGroup", "i", 0}, {"fsGroupChangePolicy", "s", 0}, {"runAsGroup", "i", 0}, {"runAsNonRoot", "z", 0},
    {"runAsUser", "i", 0}, {"seLinuxChangePolicy", "s", 0}, {"seLinuxOptions", "", 135},
    {"seccompProfile", "", 137}, {"supplementalGroups", "[i", 0}, {"supplementalGroupsPolicy", "s", 0},
    {"sysctls", "[", 155}, {"windowsOptions", "", 173}, {"activeDeadlineSeconds", "i", 0},
    {"affinity", "", 1}, {"automountServiceAccountToken", "z", 0}, {"containers", "[", 14},
    {"dnsConfig", "", 98}, {"dnsPolicy", "s", 0}, {"enableServiceLinks", "z", 0},
    {"ephemeralContainers", "[", 43}, {"hostAliases", "[", 57}, {"hostIPC", "z", 0}, {"hostNetwork", "z", 0},
    {"hostPID", "z", 0}, {"hostUsers", "z", 0}, {"hostname", "s", 0}, {"hostnameOverride", "s", 0},
    {"imagePullSecrets", "[", 73}, {"initContainers", "[", 14}, {"nodeName", "s", 0},
    {"nodeSelector", "{s", 0}, {"os", "", 106}, {"overhead", "{Q", 0}, {"preemptionPolicy", "s", 0},
    {"priority", "i", 0}, {"priorityClassName", "s", 0}, {"readinessGates", "[", 107},
    {"resourceClaims", "[", 108}, {"resources", "", 130}, {"restartPolicy", "s", 0},
    {"runtimeClassName", "s", 0}, {"schedulerName", "s", 0}, {"schedulingGates", "[", 110},
    {"schedulingGroup", "", 111}, {"securityContext", "", 112}, {"serviceAccount", "s", 0},
    {"serviceAccountName", "s", 0}, {"setHostnameAsFQDN", "z", 0}, {"shareProcessNamespace", "z", 0},
    {"subdomain", "s", 0}, {"terminationGracePeriodSeconds", "i", 0}, {"tolerations", "[", 157},
    {"topologySpreadConstraints", "[", 158}, {"volumes", "[", 163}, {"allocatedResources", "{Q", 0},
    {"conditions", "[", 97}, {"containerStatuses", "[", 24}, {"ephemeralContainerStatuses", "[", 24},
    {"extendedResourceClaimStatus", "", 100}, {"hostIP", "s", 0}, {"hostIPs", "[", 58},
    {"initContainerStatuses", "[", 24}, {"message", "s", 0},
    {"nodeAllocatableResourceClaimStatuses", "[", 78}, {"nominatedNodeName", "s", 0},
    {"observedGeneration", "i", 0}, {"phase", "s", 0}, {"podIP", "s", 0}, {"podIPs", "[", 105},
    {"qosClass", "s", 0}, {"reason", "s", 0}, {"resize", "s", 0}, {"resourceClaimStatuses", "[", 109},
    {"resources", "", 130}, {"startTime", "T", 0}, {"metadata", "", 83}, {"spec", "", 113},
    {"fsType", "s", 0}, {"readOnly", "z", 0}, {"volumeID", "s", 0}, {"preference", "", 81},
    {"weight", "i", 0}, {"exec", "", 46}, {"failureThreshold", "i", 0}, {"grpc", "", 52}, {"httpGet", "", 55},
    {"initialDelaySeconds", "i", 0}, {"periodSeconds", "i", 0}, {"successThreshold", "i", 0},
    {"tcpSocket", "", 156}, {"terminationGracePeriodSeconds", "i", 0}, {"timeoutSeconds", "i", 0},
    {"exec", "", 46}, {"grpc", "", 52}, {"httpGet", "", 55}, {"tcpSocket", "", 156}, {"defaultMode", "i", 0},
    {"sources", "[", 167}, {"group", "s", 0}, {"readOnly", "z", 0}, {"registry", "s", 0}, {"tenant", "s", 0},
    {"user", "s", 0}, {"volume", "s", 0}, {"fsType", "s", 0}, {"image", "s", 0}, {"keyring", "s", 0},
    {"monitors", "[s", 0}, {"pool", "s", 0}, {"readOnly", "z", 0}, {"secretRef", "", 73}, {"user", "s", 0},
    {"apiVersion", "s", 0}, {"kind", "s", 0}, {"metadata", "", 83}, {"spec", "", 125}, {"status", "", 126},
    {"lastTransitionTime", "T", 0}, {"message", "s", 0}, {"reason", "s", 0}, {"status", "s", 0},
    {"type", "s", 0}, {"minReadySeconds", "i", 0}, {"replicas", "i", 0}, {"selector", "", 68},
    {"template", "", 115}, {"availableReplicas", "i", 0}, {"conditions", "[", 124},
    {"fullyLabeledReplicas", "i", 0}, {"observedGeneration", "i", 0}, {"readyReplicas", "i", 0},
    {"replicas", "i", 0}, {"terminatingReplicas", "i", 0}, {"name", "s", 0}, {"request", "s", 0},
    {"containerName", "s", 0}, {"divisor", "Q", 0}, {"resource", "s", 0}, {"health", "s", 0},
    {"message", "s", 0}, {"resourceID", "s", 0}, {"claims", "[", 127}, {"limits", "{Q", 0},
    {"requests", "{Q", 0}, {"name", "s", 0}, {"resources", "[", 129}, {"maxSurge", "O", 0},
    {"maxUnavailable", "O", 0}, {"maxSurge", "O", 0}, {"maxUnavailable", "O", 0}, {"maxUnavailable", "O", 0},
    {"partition", "i", 0}, {"level", "s", 0}, {"role", "s", 0}, {"type", "s", 0}, {"user", "s", 0},
    {"fsType", "s", 0}, {"gateway", "s", 0}, {"protectionDomain", "s", 0}, {"readOnly", "z", 0},
    {"secretRef", "", 73}, {"sslEnabled", "z", 0}, {"storageMode", "s", 0}, {"storagePool", "s", 0},
    {"system", "s", 0}, {"volumeName", "s", 0}, {"localhostProfile", "s", 0}, {"type", "s", 0},
    {"name", "s", 0}, {"optional", "z", 0}, {"key", "s", 0}, {"name", "s", 0}, {"optional", "z", 0},
    {"items", "[", 67}, {"name", "s", 0}, {"optional", "z", 0}, {"defaultMode", "i", 0}, {"items", "[", 67},
    {"optional", "z", 0}, {"secretName", "s", 0}, {"allowPrivilegeEscalation", "z", 0},
    {"appArmorProfile", "", 2}, {"capabilities", "", 6}, {"privileged", "z", 0}, {"procMount", "s", 0},
    {"readOnlyRootFilesystem", "z", 0}, {"runAsGroup", "i", 0}, {"runAsNonRoot", "z", 0},
    {"runAsUser", "i", 0}, {"seLinuxOptions", "", 135}, {"seccompProfile", "", 137},
    {"windowsOptions", "", 173}, {"audience", "s", 0}, {"expirationSeconds", "i", 0}, {"path", "s", 0},
    {"seconds", "i", 0}, {"apiVersion", "s", 0}, {"kind", "s", 0}, {"metadata", "", 83}, {"spec", "", 149},
    {"status", "", 150}, {"lastTransitionTime", "T", 0}, {"message", "s", 0}, {"reason", "s", 0},
    {"status", "s", 0}, {"type", "s", 0}, {"start", "i", 0}, {"whenDeleted", "s", 0}, {"whenScaled", "s", 0},
    {"minReadySeconds", "i", 0}, {"ordinals", "", 147}, {"persistentVolumeClaimRetentionPolicy", "", 148},
    {"podManagementPolicy", "s", 0}, {"replicas", "i", 0}, {"revisionHistoryLimit", "i", 0},
    {"selector", "", 68}, {"serviceName", "s", 0}, {"template", "", 115}, {"updateStrategy", "", 151},
    {"volumeClaimTemplates", "[", 85}, {"availableReplicas", "i", 0}, {"collisionCount", "i", 0},
    {"conditions", "[", 146}, {"currentReplicas", "i", 0}, {"currentRevision", "s", 0},
    {"observedGeneration", "i", 0}, {"readyReplicas", "i", 0}, {"replicas", "i", 0},
    {"updateRevision", "s", 0}, {"updatedReplicas", "i", 0}, {"rollingUpdate", "", 134}, {"type", "s", 0},
    {"fsType", "s", 0}, {"readOnly", "z", 0}, {"secretRef", "", 73}, {"volumeName", "s", 0},
    {"volumeNamespace", "s", 0}, {"rules", "[", 154}, {"succeededCount", "i", 0},
    {"succeededIndexes", "s", 0}, {"name", "s", 0}, {"value", "s", 0}, {"host", "s", 0}, {"port", "O", 0},
    {"effect", "s", 0}, {"key", "s", 0}, {"operator", "s", 0}, {"tolerationSeconds", "i", 0},
    {"value", "s", 0}, {"labelSelector", "", 68}, {"matchLabelKeys", "[s", 0}, {"maxSkew", "i", 0},
    {"minDomains", "i", 0}, {"nodeAffinityPolicy", "s", 0}, {"nodeTaintsPolicy", "s", 0},
    {"topologyKey", "s", 0}, {"whenUnsatisfiable", "s", 0}, {"apiVersion", "s", 0}, {"kind", "s", 0},
    {"apiGroup", "s", 0}, {"kind", "s", 0}, {"name", "s", 0}, {"apiGroup", "s", 0}, {"kind", "s", 0},
    {"name", "s", 0}, {"namespace", "s", 0}, {"failed", "[s", 0}, {"succeeded", "[s", 0},
    {"awsElasticBlockStore", "", 0}, {"azureDisk", "", 3}, {"azureFile", "", 4}, {"cephfs", "", 7},
    {"cinder", "", 8}, {"configMap", "", 13}, {"csi", "", 5}, {"downwardAPI", "", 38}, {"emptyDir", "", 39},
    {"ephemeral", "", 45}, {"fc", "", 47}, {"flexVolume", "", 49}, {"flocker", "", 50},
    {"gcePersistentDisk", "", 51}, {"gitRepo", "", 53}, {"glusterfs", "", 54}, {"hostPath", "", 59},
    {"image", "", 61}, {"iscsi", "", 60}, {"name", "s", 0}, {"nfs", "", 76},
    {"persistentVolumeClaim", "", 90}, {"photonPersistentDisk", "", 91}, {"portworxVolume", "", 116},
    {"projected", "", 120}, {"quobyte", "", 121}, {"rbd", "", 122}, {"scaleIO", "", 136}, {"secret", "", 141},
    {"storageos", "", 152}, {"vsphereVolume", "", 171}, {"devicePath", "s", 0}, {"name", "s", 0},
    {"mountPath", "s", 0}, {"mountPropagation", "s", 0}, {"name", "s", 0}, {"readOnly", "z", 0},
    {"recursiveReadOnly", "s", 0}, {"subPath", "s", 0}, {"subPathExpr", "s", 0}, {"mountPath", "s", 0},
    {"name", "s", 0}, {"readOnly", "z", 0}, {"recursiveReadOnly", "s", 0}, {"volumeStatus", "", 170},
    {"clusterTrustBundle", "", 9}, {"configMap", "", 12}, {"downwardAPI", "", 36}, {"podCertificate", "", 96},
    {"secret", "", 140}, {"serviceAccountToken", "", 143}, {"limits", "{Q", 0}, {"requests", "{Q", 0},
    {"awsElasticBlockStore", "", 0}, {"azureDisk", "", 3}, {"azureFile", "", 4}, {"cephfs", "", 7},
    {"cinder", "", 8}, {"configMap", "", 13}, {"csi", "", 5}, {"downwardAPI", "", 38}, {"emptyDir", "", 39},
    {"ephemeral", "", 45}, {"fc", "", 47}, {"flexVolume", "", 49}, {"flocker", "", 50},
    {"gcePersistentDisk", "", 51}, {"gitRepo", "", 53}, {"glusterfs", "", 54}, {"hostPath", "", 59},
    {"image", "", 61}, {"iscsi", "", 60}, {"nfs", "", 76}, {"persistentVolumeClaim", "", 90},
    {"photonPersistentDisk", "", 91}, {"portworxVolume", "", 116}, {"projected", "", 120},
    {"quobyte", "", 121}, {"rbd", "", 122}, {"scaleIO", "", 136}, {"secret", "", 141}, {"storageos", "", 152},
    {"vsphereVolume", "", 171}, {"image", "", 62}, {"fsType", "s", 0}, {"storagePolicyID", "s", 0},
    {"storagePolicyName", "s", 0}, {"volumePath", "s", 0}, {"podAffinityTerm", "", 94}, {"weight", "i", 0},
    {"gmsaCredentialSpec", "s", 0}, {"gmsaCredentialSpecName", "s", 0}, {"hostProcess", "z", 0},
    {"runAsUserName", "s", 0},
    /* clang-format on */
};

static const struct schema schemas[] = {
    /* clang-format off */
    {"AWSElasticBlockStoreVolumeSource", 0, 4}, {"Affinity", 4, 3}, {"AppArmorProfile", 7, 2},
    {"AzureDiskVolumeSource", 9, 6}, {"AzureFileVolumeSource", 15, 3}, {"CSIVolumeSource", 18, 5},
    {"Capabilities", 23, 2}, {"CephFSVolumeSource", 25, 6}, {"CinderVolumeSource", 31, 4},
    {"ClusterTrustBundleProjection", 35, 5}, {"ConfigMapEnvSource", 40, 2}, {"ConfigMapKeySelector", 42, 3},
    {"ConfigMapProjection", 45, 3}, {"ConfigMapVolumeSource", 48, 4}, {"Container", 52, 25},
    {"ContainerExtendedResourceRequest", 77, 3}, {"ContainerPort", 80, 5}, {"ContainerResizePolicy", 85, 2},
    {"ContainerRestartRule", 87, 2}, {"ContainerRestartRuleOnExitCodes", 89, 2}, {"ContainerState", 91, 3},
    {"ContainerStateRunning", 94, 1}, {"ContainerStateTerminated", 95, 7}, {"ContainerStateWaiting", 102, 2},
    {"ContainerStatus", 104, 15}, {"ContainerUser", 119, 1}, {"DaemonSet", 120, 5},
    {"DaemonSetCondition", 125, 5}, {"DaemonSetSpec", 130, 5}, {"DaemonSetStatus", 135, 10},
    {"DaemonSetUpdateStrategy", 145, 2}, {"Deployment", 147, 5}, {"DeploymentCondition", 152, 6},
    {"DeploymentSpec", 158, 8}, {"DeploymentStatus", 166, 9}, {"DeploymentStrategy", 175, 2},
    {"DownwardAPIProjection", 177, 1}, {"DownwardAPIVolumeFile", 178, 4}, {"DownwardAPIVolumeSource", 182, 2},
    {"EmptyDirVolumeSource", 184, 2}, {"EnvFromSource", 186, 3}, {"EnvVar", 189, 3}, {"EnvVarSource", 192, 5},
    {"EphemeralContainer", 197, 26}, {"EphemeralContainerCommon", 223, 25}, {"EphemeralVolumeSource", 248, 1},
    {"ExecAction", 249, 1}, {"FCVolumeSource", 250, 5}, {"FileKeySelector", 255, 4},
    {"FlexVolumeSource", 259, 5}, {"FlockerVolumeSource", 264, 2}, {"GCEPersistentDiskVolumeSource", 266, 4},
    {"GRPCAction", 270, 2}, {"GitRepoVolumeSource", 272, 3}, {"GlusterfsVolumeSource", 275, 3},
    {"HTTPGetAction", 278, 5}, {"HTTPHeader", 283, 2}, {"HostAlias", 285, 2}, {"HostIP", 287, 1},
    {"HostPathVolumeSource", 288, 2}, {"ISCSIVolumeSource", 290, 11}, {"ImageVolumeSource", 301, 2},
    {"ImageVolumeStatus", 303, 1}, {"Job", 304, 5}, {"JobCondition", 309, 6}, {"JobSpec", 315, 16},
    {"JobStatus", 331, 11}, {"KeyToPath", 342, 3}, {"LabelSelector", 345, 2},
    {"LabelSelectorRequirement", 347, 3}, {"Lifecycle", 350, 3}, {"LifecycleHandler", 353, 4},
    {"LinuxContainerUser", 357, 3}, {"LocalObjectReference", 360, 1}, {"ManagedFieldsEntry", 361, 7},
    {"ModifyVolumeStatus", 368, 2}, {"NFSVolumeSource", 370, 3}, {"NodeAffinity", 373, 2},
    {"NodeAllocatableResourceClaimStatus", 375, 3}, {"NodeSelector", 378, 1},
    {"NodeSelectorRequirement", 379, 3}, {"NodeSelectorTerm", 382, 2}, {"ObjectFieldSelector", 384, 2},
    {"ObjectMeta", 386, 15}, {"OwnerReference", 401, 6}, {"PersistentVolumeClaim", 407, 5},
    {"PersistentVolumeClaimCondition", 412, 6}, {"PersistentVolumeClaimSpec", 418, 9},
    {"PersistentVolumeClaimStatus", 427, 8}, {"PersistentVolumeClaimTemplate", 435, 2},
    {"PersistentVolumeClaimVolumeSource", 437, 2}, {"PhotonPersistentDiskVolumeSource", 439, 2},
    {"Pod", 441, 5}, {"PodAffinity", 446, 2}, {"PodAffinityTerm", 448, 6}, {"PodAntiAffinity", 454, 2},
    {"PodCertificateProjection", 456, 7}, {"PodCondition", 463, 7}, {"PodDNSConfig", 470, 3},
    {"PodDNSConfigOption", 473, 2}, {"PodExtendedResourceClaimStatus", 475, 2}, {"PodFailurePolicy", 477, 1},
    {"PodFailurePolicyOnExitCodesRequirement", 478, 3}, {"PodFailurePolicyOnPodConditionsPattern", 481, 2},
    {"PodFailurePolicyRule", 483, 3}, {"PodIP", 486, 1}, {"PodOS", 487, 1}, {"PodReadinessGate", 488, 1},
    {"PodResourceClaim", 489, 3}, {"PodResourceClaimStatus", 492, 2}, {"PodSchedulingGate", 494, 1},
    {"PodSchedulingGroup", 495, 1}, {"PodSecurityContext", 496, 13}, {"PodSpec", 509, 42},
    {"PodStatus", 551, 21}, {"PodTemplateSpec", 572, 2}, {"PortworxVolumeSource", 574, 3},
    {"PreferredSchedulingTerm", 577, 2}, {"Probe", 579, 10}, {"ProbeHandler", 589, 4},
    {"ProjectedVolumeSource", 593, 2}, {"QuobyteVolumeSource", 595, 6}, {"RBDVolumeSource", 601, 8},
    {"ReplicaSet", 609, 5}, {"ReplicaSetCondition", 614, 5}, {"ReplicaSetSpec", 619, 4},
    {"ReplicaSetStatus", 623, 7}, {"ResourceClaim", 630, 2}, {"ResourceFieldSelector", 632, 3},
    {"ResourceHealth", 635, 3}, {"ResourceRequirements", 638, 3}, {"ResourceStatus", 641, 2},
    {"RollingUpdateDaemonSet", 643, 2}, {"RollingUpdateDeployment", 645, 2},
    {"RollingUpdateStatefulSetStrategy", 647, 2}, {"SELinuxOptions", 649, 4},
    {"ScaleIOVolumeSource", 653, 10}, {"SeccompProfile", 663, 2}, {"SecretEnvSource", 665, 2},
    {"SecretKeySelector", 667, 3}, {"SecretProjection", 670, 3}, {"SecretVolumeSource", 673, 4},
    {"SecurityContext", 677, 12}, {"ServiceAccountTokenProjection", 689, 3}, {"SleepAction", 692, 1},
    {"StatefulSet", 693, 5}, {"StatefulSetCondition", 698, 5}, {"StatefulSetOrdinals", 703, 1},
    {"StatefulSetPersistentVolumeClaimRetentionPolicy", 704, 2}, {"StatefulSetSpec", 706, 11},
    {"StatefulSetStatus", 717, 10}, {"StatefulSetUpdateStrategy", 727, 2}, {"StorageOSVolumeSource", 729, 5},
    {"SuccessPolicy", 734, 1}, {"SuccessPolicyRule", 735, 2}, {"Sysctl", 737, 2}, {"TCPSocketAction", 739, 2},
    {"Toleration", 741, 5}, {"TopologySpreadConstraint", 746, 8}, {"TypeMeta", 754, 2},
    {"TypedLocalObjectReference", 756, 3}, {"TypedObjectReference", 759, 4},
    {"UncountedTerminatedPods", 763, 2}, {"Volume", 765, 31}, {"VolumeDevice", 796, 2},
    {"VolumeMount", 798, 7}, {"VolumeMountStatus", 805, 5}, {"VolumeProjection", 810, 6},
    {"VolumeResourceRequirements", 816, 2}, {"VolumeSource", 818, 30}, {"VolumeStatus", 848, 1},
    {"VsphereVirtualDiskVolumeSource", 849, 4}, {"WeightedPodAffinityTerm", 853, 2},
    {"WindowsSecurityContextOptions", 855, 4},
    /* clang-format on */
};

static const struct schema *find_schema(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(schemas); i++) {
        if (strcmp(schemas[i].name, name) == 0)
            return &schemas[i];
    }
    return NULL;
}

/* Returns the field of a struct; NULL if it does not have the field. */
static const struct schema_field *find_field(const struct schema *schema, const char *key)
{
    size_t low = schema->first, high = low + schema->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(fields[middle].name, key);

        if (order == 0)
            return &fields[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* ---- values of plain types ---- */

static bool is_whole_number(const cJSON *value)
{
    return cJSON_IsNumber(value) && value->valuedouble == trunc(value->valuedouble);
}

static bool is_base64(const char *text)
{
    size_t digits =
        strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");
    size_t padding = strspn(text + digits, "=");

    return text[digits + padding] == '\0' && padding <= 2 && (digits + padding) % 4 == 0;
}

/* Returns true for a number, or a text with a quantity; Go ignores blanks around it. */
static bool is_quantity(const cJSON *value)
{
    static const char blanks[] = " \t\n\v\f\r";
    CLEANUP(free_cleanup) char *text = NULL;
    double number;
    size_t len;

    if (!cJSON_IsString(value))
        return cJSON_IsNumber(value);
    text = xstrdup(value->valuestring + strspn(value->valuestring, blanks));
    for (len = strlen(text); len > 0 && strchr(blanks, text[len - 1]); len--)
        text[len - 1] = '\0';
    return parse_quantity(text, &number);
}

static bool is_time(const cJSON *value)
{
    int64_t ms;

    return cJSON_IsString(value) && parse_timestamp(value->valuestring, &ms);
}

static bool fits_plain(const cJSON *value, char type)
{
    switch (type) {
    case 's':
        return cJSON_IsString(value);
    case 'i':
        return is_whole_number(value);
    case 'z':
        return cJSON_IsBool(value);
    case 'b':
        return cJSON_IsArray(value) || (cJSON_IsString(value) && is_base64(value->valuestring));
    case 'Q':
        return is_quantity(value);
    case 'O':
        return cJSON_IsString(value) ||
               (is_whole_number(value) && fabs(value->valuedouble) <= INT32_MAX);
    case 'T':
        return is_time(value);
    default:
        return true;
    }
}

/* ---- values of all types ---- */

static bool refuse(const cJSON *value, struct error *err)
{
    return fail(err, "the field %s has another type", value->string ? value->string : "");
}

/* `type`, `schema`: as in struct schema_field. Recursion ends at the depth of the JSON. */
static bool fits(const cJSON *value, const char *type, const struct schema *schema,
                 struct error *err)
{
    const cJSON *item;

    if (cJSON_IsNull(value))
        return true;
    if (*type == '[' || *type == '{') {
        if (*type == '[' ? !cJSON_IsArray(value) : !cJSON_IsObject(value))
            return refuse(value, err);
        cJSON_ArrayForEach (item, value) {
            if (!fits(item, type + 1, schema, err))
                return false;
        }
        return true;
    }
    if (*type != '\0')
        return fits_plain(value, *type) || refuse(value, err);
    if (!cJSON_IsObject(value))
        return refuse(value, err);
    cJSON_ArrayForEach (item, value) {
        const struct schema_field *field = find_field(schema, item->string);

        if (field && !fits(item, field->type, &schemas[field->schema], err))
            return false;
    }
    return true;
}

bool workload_fits_schema(const cJSON *object, const char *kind, struct error *err)
{
    return fits(object, "", find_schema(kind), err) ||
           fail_in(err, "the object is no valid %s", kind);
}

bool workload_has_containers(const char *kind)
{
    static const char *const kinds[] = {"Pod",       "ReplicaSet",  "Deployment",
                                        "DaemonSet", "StatefulSet", "Job"};

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (strcmp(kinds[i], kind) == 0)
            return true;
    }
    return false;
}
