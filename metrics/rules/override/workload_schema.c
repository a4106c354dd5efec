/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/override/workload_schema.h"

#include <math.h>

#include "metrics/base/number.h"
#include "metrics/base/timestamp.h"

/*
 * Fields of the Go structs (k8s.io/api: core/v1, apps/v1, batch/v1) as NAME:TYPE. A TYPE is the
 * name of another struct, '[' and the type of the elements, '{' and the type of the values, or:
 * s string, i integer, z boolean, b base64, Q quantity, O integer or string, T time, * any value.
 */
static const struct schema {
    const char *name;
    const char *fields;
} schemas[] = {
    /* clang-format off */
    {"AWSElasticBlockStoreVolumeSource",
     "volumeID:s fsType:s partition:i readOnly:z"},
    {"Affinity",
     "nodeAffinity:NodeAffinity podAffinity:PodAffinity podAntiAffinity:PodAntiAffinity"},
    {"AppArmorProfile",
     "type:s localhostProfile:s"},
    {"AzureDiskVolumeSource",
     "diskName:s diskURI:s cachingMode:s fsType:s readOnly:z kind:s"},
    {"AzureFileVolumeSource",
     "secretName:s shareName:s readOnly:z"},
    {"CSIVolumeSource",
     "driver:s readOnly:z fsType:s volumeAttributes:{s "
     "nodePublishSecretRef:LocalObjectReference"},
    {"Capabilities",
     "add:[s drop:[s"},
    {"CephFSVolumeSource",
     "monitors:[s path:s user:s secretFile:s secretRef:LocalObjectReference readOnly:z"},
    {"CinderVolumeSource",
     "volumeID:s fsType:s readOnly:z secretRef:LocalObjectReference"},
    {"ClusterTrustBundleProjection",
     "name:s signerName:s labelSelector:LabelSelector optional:z path:s"},
    {"ConfigMapEnvSource",
     "name:s optional:z"},
    {"ConfigMapKeySelector",
     "name:s key:s optional:z"},
    {"ConfigMapProjection",
     "name:s items:[KeyToPath optional:z"},
    {"ConfigMapVolumeSource",
     "name:s items:[KeyToPath defaultMode:i optional:z"},
    {"Container",
     "name:s image:s command:[s args:[s workingDir:s ports:[ContainerPort "
     "envFrom:[EnvFromSource env:[EnvVar resources:ResourceRequirements "
     "resizePolicy:[ContainerResizePolicy restartPolicy:s "
     "restartPolicyRules:[ContainerRestartRule volumeMounts:[VolumeMount "
     "volumeDevices:[VolumeDevice livenessProbe:Probe readinessProbe:Probe "
     "startupProbe:Probe lifecycle:Lifecycle terminationMessagePath:s "
     "terminationMessagePolicy:s imagePullPolicy:s securityContext:SecurityContext stdin:z "
     "stdinOnce:z tty:z"},
    {"ContainerExtendedResourceRequest",
     "containerName:s resourceName:s requestName:s"},
    {"ContainerPort",
     "name:s hostPort:i containerPort:i protocol:s hostIP:s"},
    {"ContainerResizePolicy",
     "resourceName:s restartPolicy:s"},
    {"ContainerRestartRule",
     "action:s exitCodes:ContainerRestartRuleOnExitCodes"},
    {"ContainerRestartRuleOnExitCodes",
     "operator:s values:[i"},
    {"ContainerState",
     "waiting:ContainerStateWaiting running:ContainerStateRunning "
     "terminated:ContainerStateTerminated"},
    {"ContainerStateRunning",
     "startedAt:T"},
    {"ContainerStateTerminated",
     "exitCode:i signal:i reason:s message:s startedAt:T finishedAt:T containerID:s"},
    {"ContainerStateWaiting",
     "reason:s message:s"},
    {"ContainerStatus",
     "name:s state:ContainerState lastState:ContainerState ready:z restartCount:i image:s "
     "imageID:s containerID:s started:z allocatedResources:{Q "
     "resources:ResourceRequirements volumeMounts:[VolumeMountStatus user:ContainerUser "
     "allocatedResourcesStatus:[ResourceStatus stopSignal:s"},
    {"ContainerUser",
     "linux:LinuxContainerUser"},
    {"DaemonSet",
     "kind:s apiVersion:s metadata:ObjectMeta spec:DaemonSetSpec status:DaemonSetStatus"},
    {"DaemonSetCondition",
     "type:s status:s lastTransitionTime:T reason:s message:s"},
    {"DaemonSetSpec",
     "selector:LabelSelector template:PodTemplateSpec "
     "updateStrategy:DaemonSetUpdateStrategy minReadySeconds:i revisionHistoryLimit:i"},
    {"DaemonSetStatus",
     "currentNumberScheduled:i numberMisscheduled:i desiredNumberScheduled:i numberReady:i "
     "observedGeneration:i updatedNumberScheduled:i numberAvailable:i numberUnavailable:i "
     "collisionCount:i conditions:[DaemonSetCondition"},
    {"DaemonSetUpdateStrategy",
     "type:s rollingUpdate:RollingUpdateDaemonSet"},
    {"Deployment",
     "kind:s apiVersion:s metadata:ObjectMeta spec:DeploymentSpec status:DeploymentStatus"},
    {"DeploymentCondition",
     "type:s status:s lastUpdateTime:T lastTransitionTime:T reason:s message:s"},
    {"DeploymentSpec",
     "replicas:i selector:LabelSelector template:PodTemplateSpec "
     "strategy:DeploymentStrategy minReadySeconds:i revisionHistoryLimit:i paused:z "
     "progressDeadlineSeconds:i"},
    {"DeploymentStatus",
     "observedGeneration:i replicas:i updatedReplicas:i readyReplicas:i "
     "availableReplicas:i unavailableReplicas:i terminatingReplicas:i "
     "conditions:[DeploymentCondition collisionCount:i"},
    {"DeploymentStrategy",
     "type:s rollingUpdate:RollingUpdateDeployment"},
    {"DownwardAPIProjection",
     "items:[DownwardAPIVolumeFile"},
    {"DownwardAPIVolumeFile",
     "path:s fieldRef:ObjectFieldSelector resourceFieldRef:ResourceFieldSelector mode:i"},
    {"DownwardAPIVolumeSource",
     "items:[DownwardAPIVolumeFile defaultMode:i"},
    {"EmptyDirVolumeSource",
     "medium:s sizeLimit:Q"},
    {"EnvFromSource",
     "prefix:s configMapRef:ConfigMapEnvSource secretRef:SecretEnvSource"},
    {"EnvVar",
     "name:s value:s valueFrom:EnvVarSource"},
    {"EnvVarSource",
     "fieldRef:ObjectFieldSelector resourceFieldRef:ResourceFieldSelector "
     "configMapKeyRef:ConfigMapKeySelector secretKeyRef:SecretKeySelector "
     "fileKeyRef:FileKeySelector"},
    {"EphemeralContainer",
     "name:s image:s command:[s args:[s workingDir:s ports:[ContainerPort "
     "envFrom:[EnvFromSource env:[EnvVar resources:ResourceRequirements "
     "resizePolicy:[ContainerResizePolicy restartPolicy:s "
     "restartPolicyRules:[ContainerRestartRule volumeMounts:[VolumeMount "
     "volumeDevices:[VolumeDevice livenessProbe:Probe readinessProbe:Probe "
     "startupProbe:Probe lifecycle:Lifecycle terminationMessagePath:s "
     "terminationMessagePolicy:s imagePullPolicy:s securityContext:SecurityContext stdin:z "
     "stdinOnce:z tty:z targetContainerName:s"},
    {"EphemeralContainerCommon",
     "name:s image:s command:[s args:[s workingDir:s ports:[ContainerPort "
     "envFrom:[EnvFromSource env:[EnvVar resources:ResourceRequirements "
     "resizePolicy:[ContainerResizePolicy restartPolicy:s "
     "restartPolicyRules:[ContainerRestartRule volumeMounts:[VolumeMount "
     "volumeDevices:[VolumeDevice livenessProbe:Probe readinessProbe:Probe "
     "startupProbe:Probe lifecycle:Lifecycle terminationMessagePath:s "
     "terminationMessagePolicy:s imagePullPolicy:s securityContext:SecurityContext stdin:z "
     "stdinOnce:z tty:z"},
    {"EphemeralVolumeSource",
     "volumeClaimTemplate:PersistentVolumeClaimTemplate"},
    {"ExecAction",
     "command:[s"},
    {"FCVolumeSource",
     "targetWWNs:[s lun:i fsType:s readOnly:z wwids:[s"},
    {"FileKeySelector",
     "volumeName:s path:s key:s optional:z"},
    {"FlexVolumeSource",
     "driver:s fsType:s secretRef:LocalObjectReference readOnly:z options:{s"},
    {"FlockerVolumeSource",
     "datasetName:s datasetUUID:s"},
    {"GCEPersistentDiskVolumeSource",
     "pdName:s fsType:s partition:i readOnly:z"},
    {"GRPCAction",
     "port:i service:s"},
    {"GitRepoVolumeSource",
     "repository:s revision:s directory:s"},
    {"GlusterfsVolumeSource",
     "endpoints:s path:s readOnly:z"},
    {"HTTPGetAction",
     "path:s port:O host:s scheme:s httpHeaders:[HTTPHeader"},
    {"HTTPHeader",
     "name:s value:s"},
    {"HostAlias",
     "ip:s hostnames:[s"},
    {"HostIP",
     "ip:s"},
    {"HostPathVolumeSource",
     "path:s type:s"},
    {"ISCSIVolumeSource",
     "targetPortal:s iqn:s lun:i iscsiInterface:s fsType:s readOnly:z portals:[s "
     "chapAuthDiscovery:z chapAuthSession:z secretRef:LocalObjectReference initiatorName:s"},
    {"ImageVolumeSource",
     "reference:s pullPolicy:s"},
    {"ImageVolumeStatus",
     "imageRef:s"},
    {"Job",
     "kind:s apiVersion:s metadata:ObjectMeta spec:JobSpec status:JobStatus"},
    {"JobCondition",
     "type:s status:s lastProbeTime:T lastTransitionTime:T reason:s message:s"},
    {"JobSpec",
     "parallelism:i completions:i activeDeadlineSeconds:i "
     "podFailurePolicy:PodFailurePolicy successPolicy:SuccessPolicy backoffLimit:i "
     "backoffLimitPerIndex:i maxFailedIndexes:i selector:LabelSelector manualSelector:z "
     "template:PodTemplateSpec ttlSecondsAfterFinished:i completionMode:s suspend:z "
     "podReplacementPolicy:s managedBy:s"},
    {"JobStatus",
     "conditions:[JobCondition startTime:T completionTime:T active:i succeeded:i failed:i "
     "terminating:i completedIndexes:s failedIndexes:s "
     "uncountedTerminatedPods:UncountedTerminatedPods ready:i"},
    {"KeyToPath",
     "key:s path:s mode:i"},
    {"LabelSelector",
     "matchLabels:{s matchExpressions:[LabelSelectorRequirement"},
    {"LabelSelectorRequirement",
     "key:s operator:s values:[s"},
    {"Lifecycle",
     "postStart:LifecycleHandler preStop:LifecycleHandler stopSignal:s"},
    {"LifecycleHandler",
     "exec:ExecAction httpGet:HTTPGetAction tcpSocket:TCPSocketAction sleep:SleepAction"},
    {"LinuxContainerUser",
     "uid:i gid:i supplementalGroups:[i"},
    {"LocalObjectReference",
     "name:s"},
    {"ManagedFieldsEntry",
     "manager:s operation:s apiVersion:s time:T fieldsType:s fieldsV1:* subresource:s"},
    {"ModifyVolumeStatus",
     "targetVolumeAttributesClassName:s status:s"},
    {"NFSVolumeSource",
     "server:s path:s readOnly:z"},
    {"NodeAffinity",
     "requiredDuringSchedulingIgnoredDuringExecution:NodeSelector "
     "preferredDuringSchedulingIgnoredDuringExecution:[PreferredSchedulingTerm"},
    {"NodeAllocatableResourceClaimStatus",
     "resourceClaimName:s containers:[s resources:{Q"},
    {"NodeSelector",
     "nodeSelectorTerms:[NodeSelectorTerm"},
    {"NodeSelectorRequirement",
     "key:s operator:s values:[s"},
    {"NodeSelectorTerm",
     "matchExpressions:[NodeSelectorRequirement matchFields:[NodeSelectorRequirement"},
    {"ObjectFieldSelector",
     "apiVersion:s fieldPath:s"},
    {"ObjectMeta",
     "name:s generateName:s namespace:s selfLink:s uid:s resourceVersion:s generation:i "
     "creationTimestamp:T deletionTimestamp:T deletionGracePeriodSeconds:i labels:{s "
     "annotations:{s ownerReferences:[OwnerReference finalizers:[s "
     "managedFields:[ManagedFieldsEntry"},
    {"OwnerReference",
     "apiVersion:s kind:s name:s uid:s controller:z blockOwnerDeletion:z"},
    {"PersistentVolumeClaim",
     "kind:s apiVersion:s metadata:ObjectMeta spec:PersistentVolumeClaimSpec "
     "status:PersistentVolumeClaimStatus"},
    {"PersistentVolumeClaimCondition",
     "type:s status:s lastProbeTime:T lastTransitionTime:T reason:s message:s"},
    {"PersistentVolumeClaimSpec",
     "accessModes:[s selector:LabelSelector resources:VolumeResourceRequirements "
     "volumeName:s storageClassName:s volumeMode:s dataSource:TypedLocalObjectReference "
     "dataSourceRef:TypedObjectReference volumeAttributesClassName:s"},
    {"PersistentVolumeClaimStatus",
     "phase:s accessModes:[s capacity:{Q conditions:[PersistentVolumeClaimCondition "
     "allocatedResources:{Q allocatedResourceStatuses:{s "
     "currentVolumeAttributesClassName:s modifyVolumeStatus:ModifyVolumeStatus"},
    {"PersistentVolumeClaimTemplate",
     "metadata:ObjectMeta spec:PersistentVolumeClaimSpec"},
    {"PersistentVolumeClaimVolumeSource",
     "claimName:s readOnly:z"},
    {"PhotonPersistentDiskVolumeSource",
     "pdID:s fsType:s"},
    {"Pod",
     "kind:s apiVersion:s metadata:ObjectMeta spec:PodSpec status:PodStatus"},
    {"PodAffinity",
     "requiredDuringSchedulingIgnoredDuringExecution:[PodAffinityTerm "
     "preferredDuringSchedulingIgnoredDuringExecution:[WeightedPodAffinityTerm"},
    {"PodAffinityTerm",
     "labelSelector:LabelSelector namespaces:[s topologyKey:s "
     "namespaceSelector:LabelSelector matchLabelKeys:[s mismatchLabelKeys:[s"},
    {"PodAntiAffinity",
     "requiredDuringSchedulingIgnoredDuringExecution:[PodAffinityTerm "
     "preferredDuringSchedulingIgnoredDuringExecution:[WeightedPodAffinityTerm"},
    {"PodCertificateProjection",
     "signerName:s keyType:s maxExpirationSeconds:i credentialBundlePath:s keyPath:s "
     "certificateChainPath:s userAnnotations:{s"},
    {"PodCondition",
     "type:s observedGeneration:i status:s lastProbeTime:T lastTransitionTime:T reason:s "
     "message:s"},
    {"PodDNSConfig",
     "nameservers:[s searches:[s options:[PodDNSConfigOption"},
    {"PodDNSConfigOption",
     "name:s value:s"},
    {"PodExtendedResourceClaimStatus",
     "requestMappings:[ContainerExtendedResourceRequest resourceClaimName:s"},
    {"PodFailurePolicy",
     "rules:[PodFailurePolicyRule"},
    {"PodFailurePolicyOnExitCodesRequirement",
     "containerName:s operator:s values:[i"},
    {"PodFailurePolicyOnPodConditionsPattern",
     "type:s status:s"},
    {"PodFailurePolicyRule",
     "action:s onExitCodes:PodFailurePolicyOnExitCodesRequirement "
     "onPodConditions:[PodFailurePolicyOnPodConditionsPattern"},
    {"PodIP",
     "ip:s"},
    {"PodOS",
     "name:s"},
    {"PodReadinessGate",
     "conditionType:s"},
    {"PodResourceClaim",
     "name:s resourceClaimName:s resourceClaimTemplateName:s"},
    {"PodResourceClaimStatus",
     "name:s resourceClaimName:s"},
    {"PodSchedulingGate",
     "name:s"},
    {"PodSchedulingGroup",
     "podGroupName:s"},
    {"PodSecurityContext",
     "seLinuxOptions:SELinuxOptions windowsOptions:WindowsSecurityContextOptions "
     "runAsUser:i runAsGroup:i runAsNonRoot:z supplementalGroups:[i "
     "supplementalGroupsPolicy:s fsGroup:i sysctls:[Sysctl fsGroupChangePolicy:s "
     "seccompProfile:SeccompProfile appArmorProfile:AppArmorProfile seLinuxChangePolicy:s"},
    {"PodSpec",
     "volumes:[Volume initContainers:[Container containers:[Container "
     "ephemeralContainers:[EphemeralContainer restartPolicy:s "
     "terminationGracePeriodSeconds:i activeDeadlineSeconds:i dnsPolicy:s nodeSelector:{s "
     "serviceAccountName:s serviceAccount:s automountServiceAccountToken:z nodeName:s "
     "hostNetwork:z hostPID:z hostIPC:z shareProcessNamespace:z "
     "securityContext:PodSecurityContext imagePullSecrets:[LocalObjectReference hostname:s "
     "subdomain:s affinity:Affinity schedulerName:s tolerations:[Toleration "
     "hostAliases:[HostAlias priorityClassName:s priority:i dnsConfig:PodDNSConfig "
     "readinessGates:[PodReadinessGate runtimeClassName:s enableServiceLinks:z "
     "preemptionPolicy:s overhead:{Q topologySpreadConstraints:[TopologySpreadConstraint "
     "setHostnameAsFQDN:z os:PodOS hostUsers:z schedulingGates:[PodSchedulingGate "
     "resourceClaims:[PodResourceClaim resources:ResourceRequirements hostnameOverride:s "
     "schedulingGroup:PodSchedulingGroup"},
    {"PodStatus",
     "observedGeneration:i phase:s conditions:[PodCondition message:s reason:s "
     "nominatedNodeName:s hostIP:s hostIPs:[HostIP podIP:s podIPs:[PodIP startTime:T "
     "initContainerStatuses:[ContainerStatus containerStatuses:[ContainerStatus qosClass:s "
     "ephemeralContainerStatuses:[ContainerStatus resize:s "
     "resourceClaimStatuses:[PodResourceClaimStatus "
     "extendedResourceClaimStatus:PodExtendedResourceClaimStatus allocatedResources:{Q "
     "resources:ResourceRequirements "
     "nodeAllocatableResourceClaimStatuses:[NodeAllocatableResourceClaimStatus"},
    {"PodTemplateSpec",
     "metadata:ObjectMeta spec:PodSpec"},
    {"PortworxVolumeSource",
     "volumeID:s fsType:s readOnly:z"},
    {"PreferredSchedulingTerm",
     "weight:i preference:NodeSelectorTerm"},
    {"Probe",
     "exec:ExecAction httpGet:HTTPGetAction tcpSocket:TCPSocketAction grpc:GRPCAction "
     "initialDelaySeconds:i timeoutSeconds:i periodSeconds:i successThreshold:i "
     "failureThreshold:i terminationGracePeriodSeconds:i"},
    {"ProbeHandler",
     "exec:ExecAction httpGet:HTTPGetAction tcpSocket:TCPSocketAction grpc:GRPCAction"},
    {"ProjectedVolumeSource",
     "sources:[VolumeProjection defaultMode:i"},
    {"QuobyteVolumeSource",
     "registry:s volume:s readOnly:z user:s group:s tenant:s"},
    {"RBDVolumeSource",
     "monitors:[s image:s fsType:s pool:s user:s keyring:s secretRef:LocalObjectReference "
     "readOnly:z"},
    {"ReplicaSet",
     "kind:s apiVersion:s metadata:ObjectMeta spec:ReplicaSetSpec status:ReplicaSetStatus"},
    {"ReplicaSetCondition",
     "type:s status:s lastTransitionTime:T reason:s message:s"},
    {"ReplicaSetSpec",
     "replicas:i minReadySeconds:i selector:LabelSelector template:PodTemplateSpec"},
    {"ReplicaSetStatus",
     "replicas:i fullyLabeledReplicas:i readyReplicas:i availableReplicas:i "
     "terminatingReplicas:i observedGeneration:i conditions:[ReplicaSetCondition"},
    {"ResourceClaim",
     "name:s request:s"},
    {"ResourceFieldSelector",
     "containerName:s resource:s divisor:Q"},
    {"ResourceHealth",
     "resourceID:s health:s message:s"},
    {"ResourceRequirements",
     "limits:{Q requests:{Q claims:[ResourceClaim"},
    {"ResourceStatus",
     "name:s resources:[ResourceHealth"},
    {"RollingUpdateDaemonSet",
     "maxUnavailable:O maxSurge:O"},
    {"RollingUpdateDeployment",
     "maxUnavailable:O maxSurge:O"},
    {"RollingUpdateStatefulSetStrategy",
     "partition:i maxUnavailable:O"},
    {"SELinuxOptions",
     "user:s role:s type:s level:s"},
    {"ScaleIOVolumeSource",
     "gateway:s system:s secretRef:LocalObjectReference sslEnabled:z protectionDomain:s "
     "storagePool:s storageMode:s volumeName:s fsType:s readOnly:z"},
    {"SeccompProfile",
     "type:s localhostProfile:s"},
    {"SecretEnvSource",
     "name:s optional:z"},
    {"SecretKeySelector",
     "name:s key:s optional:z"},
    {"SecretProjection",
     "name:s items:[KeyToPath optional:z"},
    {"SecretVolumeSource",
     "secretName:s items:[KeyToPath defaultMode:i optional:z"},
    {"SecurityContext",
     "capabilities:Capabilities privileged:z seLinuxOptions:SELinuxOptions "
     "windowsOptions:WindowsSecurityContextOptions runAsUser:i runAsGroup:i runAsNonRoot:z "
     "readOnlyRootFilesystem:z allowPrivilegeEscalation:z procMount:s "
     "seccompProfile:SeccompProfile appArmorProfile:AppArmorProfile"},
    {"ServiceAccountTokenProjection",
     "audience:s expirationSeconds:i path:s"},
    {"SleepAction",
     "seconds:i"},
    {"StatefulSet",
     "kind:s apiVersion:s metadata:ObjectMeta spec:StatefulSetSpec "
     "status:StatefulSetStatus"},
    {"StatefulSetCondition",
     "type:s status:s lastTransitionTime:T reason:s message:s"},
    {"StatefulSetOrdinals",
     "start:i"},
    {"StatefulSetPersistentVolumeClaimRetentionPolicy",
     "whenDeleted:s whenScaled:s"},
    {"StatefulSetSpec",
     "replicas:i selector:LabelSelector template:PodTemplateSpec "
     "volumeClaimTemplates:[PersistentVolumeClaim serviceName:s podManagementPolicy:s "
     "updateStrategy:StatefulSetUpdateStrategy revisionHistoryLimit:i minReadySeconds:i "
     "persistentVolumeClaimRetentionPolicy:StatefulSetPersistentVolumeClaimRetentionPolicy "
     "ordinals:StatefulSetOrdinals"},
    {"StatefulSetStatus",
     "observedGeneration:i replicas:i readyReplicas:i currentReplicas:i updatedReplicas:i "
     "currentRevision:s updateRevision:s collisionCount:i conditions:[StatefulSetCondition "
     "availableReplicas:i"},
    {"StatefulSetUpdateStrategy",
     "type:s rollingUpdate:RollingUpdateStatefulSetStrategy"},
    {"StorageOSVolumeSource",
     "volumeName:s volumeNamespace:s fsType:s readOnly:z secretRef:LocalObjectReference"},
    {"SuccessPolicy",
     "rules:[SuccessPolicyRule"},
    {"SuccessPolicyRule",
     "succeededIndexes:s succeededCount:i"},
    {"Sysctl",
     "name:s value:s"},
    {"TCPSocketAction",
     "port:O host:s"},
    {"Toleration",
     "key:s operator:s value:s effect:s tolerationSeconds:i"},
    {"TopologySpreadConstraint",
     "maxSkew:i topologyKey:s whenUnsatisfiable:s labelSelector:LabelSelector minDomains:i "
     "nodeAffinityPolicy:s nodeTaintsPolicy:s matchLabelKeys:[s"},
    {"TypeMeta",
     "kind:s apiVersion:s"},
    {"TypedLocalObjectReference",
     "apiGroup:s kind:s name:s"},
    {"TypedObjectReference",
     "apiGroup:s kind:s name:s namespace:s"},
    {"UncountedTerminatedPods",
     "succeeded:[s failed:[s"},
    {"Volume",
     "name:s hostPath:HostPathVolumeSource emptyDir:EmptyDirVolumeSource "
     "gcePersistentDisk:GCEPersistentDiskVolumeSource "
     "awsElasticBlockStore:AWSElasticBlockStoreVolumeSource gitRepo:GitRepoVolumeSource "
     "secret:SecretVolumeSource nfs:NFSVolumeSource iscsi:ISCSIVolumeSource "
     "glusterfs:GlusterfsVolumeSource "
     "persistentVolumeClaim:PersistentVolumeClaimVolumeSource rbd:RBDVolumeSource "
     "flexVolume:FlexVolumeSource cinder:CinderVolumeSource cephfs:CephFSVolumeSource "
     "flocker:FlockerVolumeSource downwardAPI:DownwardAPIVolumeSource fc:FCVolumeSource "
     "azureFile:AzureFileVolumeSource configMap:ConfigMapVolumeSource "
     "vsphereVolume:VsphereVirtualDiskVolumeSource quobyte:QuobyteVolumeSource "
     "azureDisk:AzureDiskVolumeSource "
     "photonPersistentDisk:PhotonPersistentDiskVolumeSource "
     "projected:ProjectedVolumeSource portworxVolume:PortworxVolumeSource "
     "scaleIO:ScaleIOVolumeSource storageos:StorageOSVolumeSource csi:CSIVolumeSource "
     "ephemeral:EphemeralVolumeSource image:ImageVolumeSource"},
    {"VolumeDevice",
     "name:s devicePath:s"},
    {"VolumeMount",
     "name:s readOnly:z recursiveReadOnly:s mountPath:s subPath:s mountPropagation:s "
     "subPathExpr:s"},
    {"VolumeMountStatus",
     "name:s mountPath:s readOnly:z recursiveReadOnly:s volumeStatus:VolumeStatus"},
    {"VolumeProjection",
     "secret:SecretProjection downwardAPI:DownwardAPIProjection "
     "configMap:ConfigMapProjection serviceAccountToken:ServiceAccountTokenProjection "
     "clusterTrustBundle:ClusterTrustBundleProjection "
     "podCertificate:PodCertificateProjection"},
    {"VolumeResourceRequirements",
     "limits:{Q requests:{Q"},
    {"VolumeSource",
     "hostPath:HostPathVolumeSource emptyDir:EmptyDirVolumeSource "
     "gcePersistentDisk:GCEPersistentDiskVolumeSource "
     "awsElasticBlockStore:AWSElasticBlockStoreVolumeSource gitRepo:GitRepoVolumeSource "
     "secret:SecretVolumeSource nfs:NFSVolumeSource iscsi:ISCSIVolumeSource "
     "glusterfs:GlusterfsVolumeSource "
     "persistentVolumeClaim:PersistentVolumeClaimVolumeSource rbd:RBDVolumeSource "
     "flexVolume:FlexVolumeSource cinder:CinderVolumeSource cephfs:CephFSVolumeSource "
     "flocker:FlockerVolumeSource downwardAPI:DownwardAPIVolumeSource fc:FCVolumeSource "
     "azureFile:AzureFileVolumeSource configMap:ConfigMapVolumeSource "
     "vsphereVolume:VsphereVirtualDiskVolumeSource quobyte:QuobyteVolumeSource "
     "azureDisk:AzureDiskVolumeSource "
     "photonPersistentDisk:PhotonPersistentDiskVolumeSource "
     "projected:ProjectedVolumeSource portworxVolume:PortworxVolumeSource "
     "scaleIO:ScaleIOVolumeSource storageos:StorageOSVolumeSource csi:CSIVolumeSource "
     "ephemeral:EphemeralVolumeSource image:ImageVolumeSource"},
    {"VolumeStatus",
     "image:ImageVolumeStatus"},
    {"VsphereVirtualDiskVolumeSource",
     "volumePath:s fsType:s storagePolicyName:s storagePolicyID:s"},
    {"WeightedPodAffinityTerm",
     "weight:i podAffinityTerm:PodAffinityTerm"},
    {"WindowsSecurityContextOptions",
     "gmsaCredentialSpecName:s gmsaCredentialSpec:s runAsUserName:s hostProcess:z"},
    /* clang-format on */
};

static const struct schema *find_schema(const char *name)
{
    size_t low = 0, high = ARRAY_LEN(schemas);

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(schemas[middle].name, name);

        if (order == 0)
            return &schemas[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

enum { TYPE_MAX_BYTES = 64 };

/* Stores the type of a field. Returns false if the struct does not have the field. */
static bool find_type(const struct schema *schema, const char *key, char type[TYPE_MAX_BYTES])
{
    size_t len = strlen(key);

    for (const char *at = schema->fields; at; at = strchr(at, ' ') ? strchr(at, ' ') + 1 : NULL) {
        if (strncmp(at, key, len) != 0 || at[len] != ':')
            continue;
        snprintf(type, TYPE_MAX_BYTES, "%.*s", (int)strcspn(at + len + 1, " "), at + len + 1);
        return true;
    }
    return false;
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

static bool is_quantity(const cJSON *value)
{
    double number;

    return cJSON_IsNumber(value) ||
           (cJSON_IsString(value) && parse_quantity(value->valuestring, &number));
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

/* Returns false with the key of a value of another type. Recursion ends at the depth of the JSON.
 */
static bool fits(const cJSON *value, const char *type, struct error *err)
{
    char below[TYPE_MAX_BYTES];
    const struct schema *schema;
    const cJSON *item;

    if (cJSON_IsNull(value))
        return true;
    if (*type == '[' || *type == '{') {
        if (*type == '[' ? !cJSON_IsArray(value) : !cJSON_IsObject(value))
            return fail(err, "the field %s has another type", value->string ? value->string : "");
        cJSON_ArrayForEach (item, value) {
            if (!fits(item, type + 1, err))
                return false;
        }
        return true;
    }
    schema = type[1] != '\0' ? find_schema(type) : NULL;
    if (schema ? !cJSON_IsObject(value) : !fits_plain(value, *type))
        return fail(err, "the field %s has another type", value->string ? value->string : "");
    if (!schema)
        return true;
    cJSON_ArrayForEach (item, value) {
        if (find_type(schema, item->string, below) && !fits(item, below, err))
            return false;
    }
    return true;
}

bool workload_fits_schema(const cJSON *object, const char *kind, struct error *err)
{
    return fits(object, kind, err) || fail_in(err, "the object is no valid %s", kind);
}
