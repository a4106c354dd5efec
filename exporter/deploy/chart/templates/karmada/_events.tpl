{{- /* SPDX-License-Identifier: Apache-2.0 */ -}}
{{- /* Rights for --events.emit: Events in the namespaces of bindings, with the uid of the binding, and the Lease of the exporter that writes them. */ -}}
{{- define "exporter.eventRules" -}}
- apiGroups: [""]
  resources: [events]
  verbs: [get, create, patch]
- apiGroups: [work.karmada.io]
  resources: [resourcebindings]
  verbs: [get]
{{- end }}

{{- define "exporter.leaseNamespace" -}}
karmada-system
{{- end }}

{{- define "exporter.leaseRules" -}}
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  verbs: [get, create, update]
{{- end }}
