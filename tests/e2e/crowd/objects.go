// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
)

// What an API server has of one kind, and its latest changes as they are sent.
type kind struct {
	apiVersion, name, resource string
	namespaced, lasting        bool
	count                      int // How many objects there may be.
	body                       func(number, value int) string

	objects map[int]stored
	history []event
	wake    chan struct{} // Closed when there is more history.
}

type stored struct{ version, value int }

// An object's JSON twice: in full, and its metadata alone.
type event struct {
	version        int
	full, metadata []byte
}

const (
	policyAPI  = "policy.karmada.io/v1alpha1"
	workAPI    = "work.karmada.io/v1alpha2"
	historyMax = 20000
)

// How many policies there are, each for all Deployments of a namespace; 0: half as many as these,
// each for one of them.
var policies int

// The number of the policy that a template or binding follows.
func policyOf(number int) int {
	if policies > 0 {
		return number % policies
	}
	return number
}

func selector(number int) string {
	if policies > 0 {
		return `"resourceSelectors":[{"apiVersion":"apps/v1","kind":"Deployment"}]`
	}
	return fmt.Sprintf(`"resourceSelectors":[{"apiVersion":"apps/v1","kind":"Deployment","name":"o%d"}]`, number)
}

func placement(value int) string {
	return fmt.Sprintf(`"placement":{"clusterAffinity":{"clusterNames":["member%d"]}}`, value%3)
}

func policyBody(number, value int) string {
	return fmt.Sprintf(`"spec":{%s,"priority":%d,%s}`, selector(number), value%5, placement(value))
}

// Follows a policy that may have changed since: some are stale.
func bindingBody(number, value int) string {
	return fmt.Sprintf(`"spec":{%s,"clusters":[{"name":"member%d"}],"schedulerName":"default-scheduler","resource":{`+
		`"apiVersion":"apps/v1","kind":"Deployment","namespace":"%s","name":"o%d"}},"status":{"schedulerObservedGeneration":%d,`+
		`"lastScheduledTime":"2026-01-01T00:00:00Z","conditions":[{"type":"Scheduled","status":"True","reason":"Success",`+
		`"message":"Binding has been scheduled successfully.","lastTransitionTime":"2026-01-01T00:00:00Z"},{"type":"FullyApplied",`+
		`"status":"True","reason":"FullyAppliedSuccess","message":"All works have been successfully applied",`+
		`"lastTransitionTime":"2026-01-01T00:00:00Z"}],"aggregatedStatus":[{"clusterName":"member%d","applied":true,`+
		`"health":"Healthy","status":{"replicas":2,"readyReplicas":2,"availableReplicas":2,"updatedReplicas":2}}]}`,
		placement(value), value%3, namespaceOf(number), number, value+1, value%3)
}

func clusterBody(int, int) string {
	return `"status":{"conditions":[{"type":"Ready","status":"True","reason":"ClusterReady"}]}`
}

func quotaBody(_, value int) string { return fmt.Sprintf(`"spec":{"overall":{"cpu":"%d"}}`, value) }

func plainBody(_, value int) string { return fmt.Sprintf(`"spec":{"value":%d}`, value) }

func namespaceOf(number int) string { return fmt.Sprintf("n%d", number%20) }

// Karmada's kinds, one whose objects are templates, and so many more that policies select.
func kindsWith(more, count int) []*kind {
	kinds := []*kind{
		{apiVersion: policyAPI, name: "PropagationPolicy", resource: "propagationpolicies", namespaced: true, count: count / 2, body: policyBody},
		{apiVersion: policyAPI, name: "ClusterPropagationPolicy", resource: "clusterpropagationpolicies", lasting: true, body: everyKind(more)},
		{apiVersion: policyAPI, name: "OverridePolicy", resource: "overridepolicies", namespaced: true, count: count / 10, body: policyBody},
		{apiVersion: policyAPI, name: "ClusterOverridePolicy", resource: "clusteroverridepolicies", count: 5, body: policyBody},
		{apiVersion: policyAPI, name: "FederatedResourceQuota", resource: "federatedresourcequotas", namespaced: true, count: 5, body: quotaBody},
		{apiVersion: workAPI, name: "ResourceBinding", resource: "resourcebindings", namespaced: true, count: count, body: bindingBody},
		{apiVersion: workAPI, name: "ClusterResourceBinding", resource: "clusterresourcebindings", count: 5, body: bindingBody},
		{apiVersion: "cluster.karmada.io/v1alpha1", name: "Cluster", resource: "clusters", lasting: true, count: 3, body: clusterBody},
		{apiVersion: "v1", name: "Event", resource: "events", namespaced: true, count: 50, body: plainBody},
		{apiVersion: "apps/v1", name: "Deployment", resource: "deployments", namespaced: true, count: count, body: plainBody},
	}
	if more > 0 {
		kinds[1].count = 1
	}
	if policies > 0 {
		kinds[0].count = policies
	}
	for i := range more {
		kinds = append(kinds, &kind{apiVersion: "example.com/v1", name: fmt.Sprintf("Thing%d", i),
			resource: fmt.Sprintf("thing%ds", i), namespaced: true, count: 3, body: plainBody})
	}
	for _, k := range kinds {
		k.objects, k.wake = map[int]stored{}, make(chan struct{})
	}
	return kinds
}

// One policy selects all the kinds there are beside Karmada's.
func everyKind(more int) func(int, int) string {
	var selectors []string
	for i := range more {
		selectors = append(selectors, fmt.Sprintf(`{"apiVersion":"example.com/v1","kind":"Thing%d"}`, i))
	}
	spec := `"spec":{"resourceSelectors":[` + strings.Join(selectors, ",") + `],"placement":{}}`
	return func(int, int) string { return spec }
}

func (k *kind) path() string {
	if strings.Contains(k.apiVersion, "/") {
		return "/apis/" + k.apiVersion + "/" + k.resource
	}
	return "/api/" + k.apiVersion + "/" + k.resource
}

// The claims that Karmada writes on bindings and templates.
func (k *kind) claims(number int) string {
	if k.name != "ResourceBinding" && k.name != "Deployment" {
		return ""
	}
	return fmt.Sprintf(`,"annotations":{"propagationpolicy.karmada.io/namespace":"%s","propagationpolicy.karmada.io/name":"o%d"}`,
		namespaceOf(number), policyOf(number))
}

// Karmada names a binding by its template; placements name clusters.
func (k *kind) objectName(number int) string {
	switch k.name {
	case "ResourceBinding":
		return fmt.Sprintf("o%d-deployment", number)
	case "Cluster":
		return fmt.Sprintf("member%d", number)
	}
	return fmt.Sprintf("o%d", number)
}

// The JSON of an object.
func (k *kind) encode(number int, o stored, metadataOnly bool) []byte {
	namespace, name := "", k.objectName(number)
	if k.namespaced {
		namespace = `"namespace":"` + namespaceOf(number) + `",`
	}
	metadata := fmt.Sprintf(`"metadata":{%s"name":"%s","uid":"%s-%d","resourceVersion":"%d","generation":%d,`+
		`"creationTimestamp":"2026-01-01T00:00:00Z","labels":{"value":"%d","propagationpolicy.karmada.io/permanent-id":"id-%d"}%s}`,
		namespace, name, k.resource, number, o.version, o.value+1, o.value, policyOf(number), k.claims(number))
	if metadataOnly {
		return []byte(`{"apiVersion":"meta.k8s.io/v1","kind":"PartialObjectMetadata",` + metadata + `}`)
	}
	return []byte(`{"apiVersion":"` + k.apiVersion + `","kind":"` + k.name + `",` + metadata + `,` + k.body(number, o.value) + `}`)
}
