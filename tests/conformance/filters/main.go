// SPDX-License-Identifier: Apache-2.0

// Command filters writes the vectors filters.RELEASE.jsonl: for random bindings and Clusters, the first filter of
// Karmada's scheduler that excludes each cluster. generate.sh builds it with each release of Karmada.
//
// Karmada keeps its filter plugins in a map, so that their order is random. The order here is that of enum
// cluster_filter. The plugins are called one by one; the scheduler itself shows whether it skips a cluster that is
// being deleted, and that the plugins are all of its filters.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"reflect"
	"strconv"

	clusterv1alpha1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	clusterlister "github.com/karmada-io/karmada/pkg/generated/listers/cluster/v1alpha1"
	schedulercache "github.com/karmada-io/karmada/pkg/scheduler/cache"
	"github.com/karmada-io/karmada/pkg/scheduler/core"
	"github.com/karmada-io/karmada/pkg/scheduler/framework"
	"github.com/karmada-io/karmada/pkg/scheduler/framework/plugins"
	"github.com/karmada-io/karmada/pkg/scheduler/framework/plugins/apienablement"
	"github.com/karmada-io/karmada/pkg/scheduler/framework/plugins/clusteraffinity"
	"github.com/karmada-io/karmada/pkg/scheduler/framework/plugins/clustereviction"
	"github.com/karmada-io/karmada/pkg/scheduler/framework/plugins/spreadconstraint"
	"github.com/karmada-io/karmada/pkg/scheduler/framework/plugins/tainttoleration"
	"k8s.io/client-go/tools/cache"
)

type object = map[string]any

// filters has the plugins in the order of enum cluster_filter, after cluster_deleting.
var filters = []struct {
	verdict string
	make    func() (framework.Plugin, error)
}{
	{"affinity", clusteraffinity.New},
	{"api_not_served", apienablement.New},
	{"taint", tainttoleration.New},
	{"evicting", clustereviction.New},
	{"spread_property", spreadconstraint.New},
}

/* ---- random inputs ---- */

type generator struct{ *rand.Rand }

func (g generator) chance(percent int) bool { return g.Intn(100) < percent }

func (g generator) pick(texts ...string) string { return texts[g.Intn(len(texts))] }

// some returns up to most distinct texts, in random order.
func (g generator) some(most int, texts ...string) []any {
	out := []any{}
	for _, i := range g.Perm(len(texts))[:g.Intn(min(most, len(texts))+1)] {
		out = append(out, texts[i])
	}
	return out
}

var members = []string{"member1", "member2", "member3", "member4", "member5", "member6"}

func (g generator) requirement(key string, values ...string) object {
	operator := g.pick("In", "In", "NotIn", "Exists", "DoesNotExist")
	r := object{"key": key, "operator": operator}
	if operator == "In" || operator == "NotIn" {
		r["values"] = append(g.some(1, values...), values[g.Intn(len(values))])
	}
	return r
}

func (g generator) affinity() object {
	a := object{}
	if g.chance(35) {
		a["clusterNames"] = append(g.some(4, members...), g.pick(members...))
	}
	if g.chance(25) {
		a["exclude"] = g.some(2, members...)
	}
	if g.chance(35) {
		selector := object{}
		if g.chance(60) {
			selector["matchLabels"] = object{"env": g.pick("prod", "test")}
		}
		if g.chance(50) {
			selector["matchExpressions"] = []any{g.requirement("tier", "a", "b", "")}
		}
		a["labelSelector"] = selector
	}
	if g.chance(35) {
		rules := []any{}
		if g.chance(50) {
			rules = append(rules, g.requirement("provider", "aws", "gcp"))
		}
		if g.chance(50) {
			rules = append(rules, g.requirement("region", "eu", "us"))
		}
		if g.chance(50) {
			rules = append(rules, g.requirement("zone", "z1", "z2", "z3"))
		}
		a["fieldSelector"] = object{"matchExpressions": rules}
	}
	return a
}

// setAffinities sets clusterAffinity or clusterAffinities, and returns the group that the scheduler uses.
func (g generator) setAffinities(placement object) string {
	if !g.chance(35) {
		if g.chance(85) {
			placement["clusterAffinity"] = g.affinity()
		}
		return ""
	}
	groups := []any{}
	for i := range 1 + g.Intn(3) {
		group := g.affinity()
		group["affinityName"] = "group" + strconv.Itoa(i)
		if g.chance(30) {
			group["overflowAffinities"] = []any{g.affinity()}
		}
		groups = append(groups, group)
	}
	placement["clusterAffinities"] = groups
	return "group" + strconv.Itoa(g.Intn(len(groups)))
}

func (g generator) taint() object {
	t := object{"key": g.pick("dedicated", "maintenance"), "effect": g.pick("NoSchedule", "NoExecute", "PreferNoSchedule")}
	if g.chance(60) {
		t["value"] = g.pick("gpu", "true")
	}
	return t
}

func (g generator) toleration() object {
	t := object{}
	if g.chance(85) {
		t["key"] = g.pick("dedicated", "maintenance")
	}
	if _, keyed := t["key"]; !keyed || g.chance(40) {
		t["operator"] = "Exists"
	} else if g.chance(50) {
		t["value"] = g.pick("gpu", "true")
	}
	if g.chance(50) {
		t["effect"] = g.pick("NoSchedule", "NoExecute")
	}
	return t
}

func (g generator) placement() (object, string) {
	p := object{}
	group := g.setAffinities(p)
	for range g.Intn(3) {
		list, _ := p["clusterTolerations"].([]any)
		p["clusterTolerations"] = append(list, g.toleration())
	}
	if g.chance(40) {
		list := []any{object{"spreadByField": "cluster", "minGroups": 1}}
		for _, field := range g.some(2, "region", "zone", "provider") {
			list = append(list, object{"spreadByField": field, "minGroups": 1})
		}
		p["spreadConstraints"] = list
	}
	return p, group
}

func (g generator) cluster(name string) object {
	metadata := object{"name": name}
	labels := object{}
	if g.chance(70) {
		labels["env"] = g.pick("prod", "test")
	}
	if g.chance(60) {
		labels["tier"] = g.pick("a", "b", "")
	}
	metadata["labels"] = labels
	if g.chance(10) {
		metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z"
		metadata["finalizers"] = []any{"karmada.io/cluster-controller"}
	}
	spec := object{"syncMode": "Push"}
	if g.chance(70) {
		spec["provider"] = g.pick("aws", "gcp")
	}
	if g.chance(70) {
		spec["region"] = g.pick("eu", "us")
	}
	if g.chance(70) {
		spec["zones"] = append(g.some(1, "z1", "z2"), "z3")
	}
	for range g.Intn(3) * g.Intn(2) {
		list, _ := spec["taints"].([]any)
		spec["taints"] = append(list, g.taint())
	}
	return object{"apiVersion": "cluster.karmada.io/v1alpha1", "kind": "Cluster", "metadata": metadata, "spec": spec,
		"status": g.clusterStatus()}
}

func (g generator) clusterStatus() object {
	condition := func(name, status string) object {
		return object{"type": name, "status": status, "reason": "R", "message": "",
			"lastTransitionTime": "2026-01-01T00:00:00Z"}
	}
	apis := []any{object{"groupVersion": "v1", "resources": []any{object{"kind": "ConfigMap", "name": "configmaps"}}}}
	if g.chance(85) {
		apis = append(apis, object{"groupVersion": "apps/v1",
			"resources": []any{object{"kind": "Deployment", "name": "deployments"}}})
	}
	complete := "True"
	if g.chance(30) {
		complete = "False"
	}
	return object{"apiEnablements": apis, "conditions": []any{
		condition("Ready", g.pick("True", "True", "False")), condition("CompleteAPIEnablements", complete)}}
}

func (g generator) binding() object {
	placement, group := g.placement()
	spec := object{"placement": placement, "schedulerName": "default-scheduler"}
	if g.chance(75) {
		spec["resource"] = object{"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "shop", "name": "web"}
		spec["replicas"] = 2
		spec["replicaRequirements"] = object{"resourceRequest": object{"cpu": "1"}}
	} else {
		spec["resource"] = object{"apiVersion": "v1", "kind": "ConfigMap", "namespace": "shop", "name": "web"}
	}
	for _, name := range g.some(2, members...) {
		list, _ := spec["clusters"].([]any)
		spec["clusters"] = append(list, object{"name": name})
	}
	for _, name := range g.some(1, members...) {
		list, _ := spec["gracefulEvictionTasks"].([]any)
		spec["gracefulEvictionTasks"] = append(list, object{"fromCluster": name, "producer": "TaintManager",
			"reason": "TaintUntolerated"})
	}
	status := object{}
	if group != "" {
		status["schedulerObservingAffinityName"] = group
	}
	return object{"apiVersion": "work.karmada.io/v1alpha2", "kind": "ResourceBinding",
		"metadata": object{"namespace": "shop", "name": "web-x"}, "spec": spec, "status": status}
}

/* ---- Karmada's answers ---- */

func decode[T any](from object) *T {
	out := new(T)
	text, err := json.Marshal(from)
	if err == nil {
		err = json.Unmarshal(text, out)
	}
	fail(err)
	return out
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "filters:", err)
		os.Exit(1)
	}
}

// makeCache returns the cache of a scheduler that knows one cluster. Releases differ in the other parameters, which
// only plugins behind a feature gate use.
func makeCache(cluster *clusterv1alpha1.Cluster) schedulercache.Cache {
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	fail(indexer.Add(cluster))
	function := reflect.ValueOf(schedulercache.NewCache)
	parameters := []reflect.Value{reflect.ValueOf(clusterlister.NewClusterLister(indexer))}
	for i := 1; i < function.Type().NumIn(); i++ {
		parameters = append(parameters, reflect.Zero(function.Type().In(i)))
	}
	return function.Call(parameters)[0].Interface().(schedulercache.Cache)
}

// findDiagnosis runs the scheduler for one cluster. It returns whether the filters exclude the cluster, and whether a
// plugin does so; known is false if the scheduler panics after the filters.
func findDiagnosis(b *workv1alpha2.ResourceBinding, c *clusterv1alpha1.Cluster) (known, excluded, byPlugin bool) {
	defer func() { _ = recover() }()
	scheduler, err := core.NewGenericScheduler(makeCache(c), plugins.NewInTreeRegistry())
	fail(err)
	_, err = scheduler.Schedule(context.Background(), &b.Spec, &b.Status, &core.ScheduleAlgorithmOption{})
	var fit *framework.FitError
	if errors.As(err, &fit) {
		return true, true, len(fit.Diagnosis.ClusterToResultMap) > 0
	}
	return true, false, false
}

// firstFilter returns the verdict of the first filter that excludes the cluster; "" if all pass.
func firstFilter(b *workv1alpha2.ResourceBinding, c *clusterv1alpha1.Cluster) string {
	first := ""
	for _, f := range filters {
		plugin, err := f.make()
		fail(err)
		result := plugin.(framework.FilterPlugin).Filter(context.Background(), &b.Spec, &b.Status, c)
		if !result.IsSuccess() {
			first = f.verdict
			break
		}
	}
	known, excluded, byPlugin := findDiagnosis(b, c)
	if known && excluded && !byPlugin {
		return "cluster_deleting"
	}
	if known && excluded != (first != "") {
		fail(fmt.Errorf("%s: the scheduler and its filter plugins disagree: %t, %q", c.Name, excluded, first))
	}
	return first
}

func main() {
	const seed, cases = 22, 600
	g := generator{rand.New(rand.NewSource(seed))}
	out := bufio.NewWriter(os.Stdout)
	encoder := json.NewEncoder(out)
	for number := range cases {
		input := g.binding()
		binding := decode[workv1alpha2.ResourceBinding](input)
		clusters, answers := []any{}, object{}
		for _, name := range members[:2+g.Intn(5)] {
			one := g.cluster(name)
			clusters = append(clusters, one)
			answers[name] = firstFilter(binding, decode[clusterv1alpha1.Cluster](one))
		}
		fail(encoder.Encode(object{"case": number, "binding": input, "clusters": clusters, "filters": answers}))
	}
	fail(out.Flush())
}
