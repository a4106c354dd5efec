// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
	"sync"
)

// The pairs of member clusters and the share of applied templates, as in generate.c.
const (
	spreadFirst  = 10
	spread       = 20
	appliedEvery = 3
	policyAPI    = "policy.karmada.io/v1alpha1"
	workAPI      = "work.karmada.io/v1alpha2"
	historyMax   = 100000 // Events of the watch cache of a kube-apiserver.
)

// world has the numbers of objects, and what has changed since the start.
type world struct {
	templates, policies, namespaces, kinds int
	shapes                                 *shapes

	mu      sync.Mutex
	version int
	// Last changes of objects, by number.
	policyChanged, templateChanged, bindingChanged map[int]change
}

// change is the version after the last change of an object, and the number of its changes.
type change struct {
	version, times int
	evicted        bool
}

// resource is a kind at the API server, with its objects in order.
type resource struct {
	apiVersion, kind, name string
	namespaced             bool
	count                  int
	numbers                []int32 // Of templates of this kind: their numbers in the world.
	// Appends the JSON of an object: metadata alone, or all of it. The lock of the world is held.
	encode func(out []byte, at int, metadataOnly bool) []byte

	history   []event
	forgotten int           // Version of the newest event that the history has lost.
	wake      chan struct{} // Closed when history grows.
}

// form is how objects are sent.
type form int

const (
	wholeJSON form = iota
	metadataJSON
	metadataProtobuf
	forms
)

// event is a change as a watch sends it, in each form that a client of its kind asks for.
type event struct {
	version int
	as      [forms][]byte
}

func (w *world) policyOf(number int) int {
	return number/w.namespaces%(w.policies/w.namespaces)*w.namespaces + number%w.namespaces
}

// The number of the kind that a policy selects: even policies select Deployments, odd ones another kind.
func (w *world) kindOf(policy int) int {
	group := policy / w.namespaces
	if w.kinds == 1 || (group+policy)%2 == 0 {
		return 0
	}
	return 1 + policy/2%(w.kinds-1)
}

func apiVersionOf(kind int) string {
	if kind == 0 {
		return "apps/v1"
	}
	return "example.com/v1"
}

func (w *world) values(policy, number int) *values {
	kind := w.kindOf(policy)
	name := kindName(kind)
	return &values{number: number, namespace: policy % w.namespaces, policy: policy, group: policy / w.namespaces,
		spread: spreadFirst + policy%spread, generation: 2, version: 1 + number, kind: name,
		lowerKind: strings.ToLower(name), apiVersion: apiVersionOf(kind), cluster: "member1", bound: true,
		applied: number%appliedEvery == 0}
}

func (w *world) template(out []byte, number int, metadataOnly bool) []byte {
	v := w.values(w.policyOf(number), number)
	if changed, is := w.templateChanged[number]; is {
		v.version = changed.version
	}
	if !metadataOnly {
		return w.shapes.get("deployment").expand(out, v)
	}
	out = append(out, `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":`...)
	return append(w.shapes.get("metadata").expand(out, v), '}')
}

func (w *world) binding(out []byte, number int, _ bool) []byte {
	v := w.values(w.policyOf(number), number)
	if changed, is := w.bindingChanged[number]; is {
		v.version, v.generation, v.evicted = changed.version, 2+changed.times, changed.evicted
	}
	return w.shapes.get("binding").expand(out, v)
}

func (w *world) policy(out []byte, number int, _ bool) []byte {
	v := w.values(number, number)
	v.generation = 1
	if changed, is := w.policyChanged[number]; is {
		v.version, v.generation = changed.version, 1+changed.times
	}
	return w.shapes.get("policy").expand(out, v)
}

var clusters = func() (names []string) {
	for number := range spread {
		names = append(names, fmt.Sprintf("member%d", spreadFirst+number))
	}
	return append(names, "member1", "member2")
}()

func cluster(out []byte, at int, _ bool) []byte {
	return fmt.Appendf(out, `{"apiVersion":"cluster.karmada.io/v1alpha1","kind":"Cluster","metadata":{"name":%q,`+
		`"uid":"a1a1a1a1-0000-4000-8000-%012d","resourceVersion":"%d","creationTimestamp":"2026-01-01T00:00:00Z"},`+
		`"spec":{"syncMode":"Push"},"status":{"conditions":[{"type":"Ready","status":"True","reason":"ClusterReady"}]}}`,
		clusters[at], at, 1+at)
}

// The resources of the world: Karmada's kinds and those of the templates.
func (w *world) resources() []*resource {
	all := []*resource{
		{apiVersion: policyAPI, kind: "PropagationPolicy", name: "propagationpolicies", namespaced: true, count: w.policies, encode: w.policy},
		{apiVersion: policyAPI, kind: "ClusterPropagationPolicy", name: "clusterpropagationpolicies"},
		{apiVersion: policyAPI, kind: "OverridePolicy", name: "overridepolicies", namespaced: true},
		{apiVersion: policyAPI, kind: "ClusterOverridePolicy", name: "clusteroverridepolicies"},
		{apiVersion: policyAPI, kind: "FederatedResourceQuota", name: "federatedresourcequotas", namespaced: true},
		{apiVersion: workAPI, kind: "ResourceBinding", name: "resourcebindings", namespaced: true, count: w.templates, encode: w.binding},
		{apiVersion: workAPI, kind: "ClusterResourceBinding", name: "clusterresourcebindings"},
		{apiVersion: "cluster.karmada.io/v1alpha1", kind: "Cluster", name: "clusters", count: len(clusters), encode: cluster},
		{apiVersion: "v1", kind: "Event", name: "events", namespaced: true},
	}
	numbers := make([][]int32, w.kinds)
	for number := range w.templates {
		kind := w.kindOf(w.policyOf(number))
		numbers[kind] = append(numbers[kind], int32(number))
	}
	for kind, of := range numbers {
		name := kindName(kind)
		all = append(all, &resource{apiVersion: apiVersionOf(kind), kind: name, name: strings.ToLower(name) + "s", namespaced: true, count: len(of), numbers: of,
			encode: func(out []byte, at int, metadataOnly bool) []byte { return w.template(out, int(of[at]), metadataOnly) }})
	}
	for _, r := range all {
		r.wake = make(chan struct{})
	}
	return all
}
