{{- /* SPDX-License-Identifier: Apache-2.0 */ -}}
{{- /* What --events.emit writes: Events, and the Lease that says which replica does. */ -}}
{{- define "exporter.eventRules" -}}
- apiGroups: [""]
  resources: [events]
  verbs: [create]
{{- end }}

{{- define "exporter.leaseRules" -}}
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  verbs: [create]
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  resourceNames: [karmada-policy-exporter-events]
  verbs: [get, update]
{{- end }}
