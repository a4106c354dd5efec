{{- /* SPDX-License-Identifier: Apache-2.0 */ -}}

{{- /* The release's name, with that of the chart unless it is in it. */ -}}
{{- define "exporter.fullname" -}}
{{- $name := .Chart.Name -}}
{{- $full := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) -}}
{{- .Values.fullnameOverride | default $full | trunc 52 | trimSuffix "-" }}
{{- end }}

{{- define "exporter.labels" -}}
{{- $own := dict "app.kubernetes.io/name" .Chart.Name "app.kubernetes.io/instance" .Release.Name "app.kubernetes.io/version" .Chart.AppVersion -}}
{{- toYaml (merge $own .Values.commonLabels) }}
{{- end }}

{{- define "exporter.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- /* Labels of the exporter's pods: its own, or those of Karmada's component. */ -}}
{{- define "exporter.podSelector" -}}
{{- if eq .Values.mode "sidecar" }}{{ toYaml .Values.sidecar.podLabels }}{{ else }}{{ include "exporter.selector" . }}{{ end }}
{{- end }}

{{- define "exporter.image" -}}
{{- $image := printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) -}}
{{- with .Values.image.digest }}{{ $image = printf "%s@%s" $image . }}{{ end -}}
{{- $image }}
{{- end }}

{{- /* Secret with a kubeconfig from each installer of Karmada: "NAME KEY". */ -}}
{{- define "exporter.kubeconfigSecret" -}}
{{- $instance := .Values.karmada.instance -}}
{{- $known := dict
  "karmadactl" "karmada-controller-manager-config karmada.config"
  "operator" (printf "%s%s karmada.config" $instance (ternary "-admin-config" "-karmada-admin-config" (contains "karmada" $instance)))
  "chart" (printf "%s-kubeconfig kubeconfig" $instance) -}}
{{- $default := splitList " " (get $known .Values.karmada.installedBy) -}}
{{- $set := .Values.karmada.kubeconfigSecret -}}
{{- $set.name | default (first $default) }} {{ $set.key | default (last $default) }}
{{- end }}

{{- /* Prefix of all paths of the exporter, computed as in the exporter; "" without a prefix. */ -}}
{{- define "exporter.prefix" -}}
{{- $prefix := get .Values.options "web.route-prefix" | default (get (urlParse (get .Values.options "web.external-url" | default "")) "path") -}}
{{- with trimAll "/" $prefix }}/{{ . }}{{ end }}
{{- end }}

{{- define "exporter.scheme" -}}
{{- ternary "https" "http" .Values.web.tls }}
{{- end }}

{{- /* Namespace in Karmada's API server of the Leases of Karmada's components. */ -}}
{{- define "exporter.componentNamespace" -}}
{{- get .Values.options "karmada.lease-namespace" | default "karmada-system" }}
{{- end }}

{{- /* The flags of the program, as a list in YAML. */ -}}
{{- define "exporter.args" -}}
- --kubeconfig=/etc/karmada-policy-exporter/kubeconfig/{{ include "exporter.kubeconfigSecret" . | splitList " " | last }}
{{- with .Values.karmada.context }}
- {{ printf "--context=%s" . | quote }}
{{- end }}
- --web.listen-address=:19180
{{- if .Values.web.configSecret }}
- --web.config.file=/etc/karmada-policy-exporter/web/web.yml
- --web.probes-without-auth
{{- end }}
{{- if .Values.karmada.works }}
- --karmada.works
{{- end }}
{{- if gt (int .Values.shards) 1 }}
- --shard=$(SHARD)
- --total-shards={{ .Values.shards }}
{{- end }}
{{- if .Values.events.emit }}
- --events.emit
{{- end }}
{{- with .Values.alertmanager.url }}
- {{ printf "--alertmanager.url=%s" . | quote }}
{{- end }}
{{- range $name, $value := .Values.alertmanager.labels }}
- {{ printf "--alertmanager.label=%s=%s" $name $value | quote }}
{{- end }}
{{- range $name, $value := .Values.options }}
{{- if kindIs "bool" $value }}
{{- if $value }}
- --{{ $name }}
{{- end }}
{{- else }}
{{- /* Numbers of a values file are floats, and large ones would become 1e+06. */}}
- {{ printf "--%s=%s" $name (ternary (toJson $value) (toString $value) (kindIs "float64" $value)) | quote }}
{{- end }}
{{- end }}
{{- end }}

{{- /* Port name; in a sidecar it must differ from the port names of Karmada's container. */ -}}
{{- define "exporter.port" -}}
{{- ternary "policy-metrics" "http" (eq .Values.mode "sidecar") }}
{{- end }}

{{- define "exporter.probe" -}}
httpGet:
  path: {{ include "exporter.prefix" .root }}/-/{{ .page }}
  port: {{ include "exporter.port" .root }}
  scheme: {{ include "exporter.scheme" .root | upper }}
timeoutSeconds: 5
{{- end }}

{{- /* The container, for a separate pod and for a sidecar. */ -}}
{{- define "exporter.container" -}}
name: karmada-policy-exporter
image: {{ include "exporter.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
args:
  {{- include "exporter.args" . | nindent 2 }}
{{- if gt (int .Values.shards) 1 }}
env:
  - name: SHARD
    valueFrom:
      fieldRef:
        fieldPath: metadata.labels['apps.kubernetes.io/pod-index']
{{- end }}
ports:
  - name: {{ include "exporter.port" . }}
    containerPort: 19180
startupProbe:
  {{- include "exporter.probe" (dict "root" . "page" "healthy") | nindent 2 }}
  periodSeconds: 2
  failureThreshold: 30
livenessProbe:
  {{- include "exporter.probe" (dict "root" . "page" "healthy") | nindent 2 }}
readinessProbe:
  {{- include "exporter.probe" (dict "root" . "page" "ready") | nindent 2 }}
{{- with .Values.resources }}
resources:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  allowPrivilegeEscalation: false
  capabilities:
    drop: [ALL]
  privileged: false
  readOnlyRootFilesystem: true
  runAsGroup: 65532
  runAsNonRoot: true
  runAsUser: 65532
  seccompProfile:
    type: RuntimeDefault
volumeMounts:
  - name: policy-exporter-kubeconfig
    mountPath: /etc/karmada-policy-exporter/kubeconfig
    readOnly: true
  {{- if .Values.web.configSecret }}
  - name: policy-exporter-web
    mountPath: /etc/karmada-policy-exporter/web
    readOnly: true
  {{- end }}
  {{- with .Values.extraVolumeMounts }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}

{{- /*
Mounts whole folders: the kubelet never replaces a file that is mounted by subPath, and a kubeconfig may
refer to other files of the Secret, such as its token.
*/ -}}
{{- define "exporter.volumes" -}}
{{- $secret := splitList " " (include "exporter.kubeconfigSecret" .) -}}
- name: policy-exporter-kubeconfig
  secret:
    secretName: {{ first $secret }}
{{- with .Values.web.configSecret }}
- name: policy-exporter-web
  secret:
    secretName: {{ . }}
{{- end }}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- /* The pod of the Deployment, or of the StatefulSet. */ -}}
{{- define "exporter.pod" -}}
metadata:
  labels:
    {{- include "exporter.labels" . | nindent 4 }}
    {{- with .Values.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with .Values.podAnnotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  automountServiceAccountToken: false
  enableServiceLinks: false
  {{- with .Values.serviceAccountName }}
  serviceAccountName: {{ . }}
  {{- end }}
  {{- with .Values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  terminationGracePeriodSeconds: 10
  securityContext:
    runAsNonRoot: true
    seccompProfile:
      type: RuntimeDefault
  containers:
    - {{- include "exporter.container" . | nindent 6 }}
  volumes:
    {{- include "exporter.volumes" . | nindent 4 }}
  {{- with .Values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  topologySpreadConstraints:
    {{- with .Values.topologySpreadConstraints }}
    {{- toYaml . | nindent 4 }}
    {{- else }}
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "exporter.selector" . | nindent 10 }}
    {{- end }}
{{- end }}

{{- /* An object of the mixin with the name, labels and namespace of the release. */ -}}
{{- define "exporter.ofMixin" -}}
{{- $labels := mergeOverwrite (default dict .object.metadata.labels) (fromYaml (include "exporter.labels" .root)) .labels -}}
{{- toYaml (mergeOverwrite .object (dict "metadata" (dict "name" (include "exporter.fullname" .root) "namespace" .root.Release.Namespace "labels" $labels))) }}
{{- end }}
