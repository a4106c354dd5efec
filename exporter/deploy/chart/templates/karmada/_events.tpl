{{- /* SPDX-License-Identifier: Apache-2.0 */ -}}
{{- /* What --events.emit writes: Events, in the namespaces of bindings, whose uid they name, and the Lease that says which exporter does. */ -}}
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
