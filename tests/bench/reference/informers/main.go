// SPDX-License-Identifier: Apache-2.0

// informers -kubeconfig FILE: the reference for benchmarks, as one would write this exporter with
// client-go. A metadata informer caches the Deployments and dynamic informers cache
// PropagationPolicies and ResourceBindings, each without managedFields. /metrics counts templates and
// bindings for each policy; they refer to it by the annotations that Karmada writes. The program prints its
// address, and "ready" when all caches are filled and the first page is complete.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

const claim = "propagationpolicy.karmada.io/"

var (
	deployments = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	policies    = schema.GroupVersionResource{Group: "policy.karmada.io", Version: "v1alpha1", Resource: "propagationpolicies"}
	bindings    = schema.GroupVersionResource{Group: "work.karmada.io", Version: "v1alpha2", Resource: "resourcebindings"}
)

type policy struct{ namespace, name string }

// counts has the series of the page: objects of one family by the policy that governs them.
type counts struct {
	mu       sync.Mutex
	family   string
	byPolicy map[policy]int
}

func governing(object any) policy {
	accessor, err := meta.Accessor(object)
	if err != nil {
		return policy{}
	}
	annotations := accessor.GetAnnotations()
	return policy{annotations[claim+"namespace"], annotations[claim+"name"]}
}

func (c *counts) add(object any, change int) {
	if gone, is := object.(cache.DeletedFinalStateUnknown); is {
		object = gone.Obj
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.byPolicy[governing(object)] += change
}

func (c *counts) follow(informer cache.SharedIndexInformer) cache.InformerSynced {
	// Neither a page nor a decision needs managedFields.
	err := informer.SetTransform(func(object any) (any, error) {
		if accessor, err := meta.Accessor(object); err == nil {
			accessor.SetManagedFields(nil)
		}
		return object, nil
	})
	if err != nil {
		panic(err)
	}
	registration, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { c.add(object, 1) },
		UpdateFunc: func(before, after any) { c.add(before, -1); c.add(after, 1) },
		DeleteFunc: func(object any) { c.add(object, -1) },
	})
	if err != nil {
		panic(err)
	}
	return registration.HasSynced
}

func (c *counts) write(page *bytes.Buffer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	fmt.Fprintf(page, "# TYPE %s gauge\n", c.family)
	for p, count := range c.byPolicy {
		fmt.Fprintf(page, "%s{namespace=%q,policy=%q} %d\n", c.family, p.namespace, p.name, count)
	}
}

func main() {
	path := flag.String("kubeconfig", "", "file that leads to the API server")
	flag.Parse()
	config, err := clientcmd.BuildConfigFromFlags("", *path)
	if err != nil {
		panic(err)
	}
	stop := make(chan struct{})
	metadataFactory := metadatainformer.NewSharedInformerFactory(metadata.NewForConfigOrDie(config), 0)
	dynamicFactory := dynamicinformer.NewDynamicSharedInformerFactory(dynamic.NewForConfigOrDie(config), 0)
	families := []*counts{{family: "templates"}, {family: "policies"}, {family: "bindings"}}
	informers := []cache.SharedIndexInformer{metadataFactory.ForResource(deployments).Informer(),
		dynamicFactory.ForResource(policies).Informer(), dynamicFactory.ForResource(bindings).Informer()}
	var synced []cache.InformerSynced
	for at, informer := range informers {
		families[at].byPolicy = map[policy]int{}
		synced = append(synced, families[at].follow(informer))
	}
	page := func() []byte {
		var text bytes.Buffer
		for _, family := range families {
			family.write(&text)
		}
		return text.Bytes()
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(listener.Addr())
	http.HandleFunc("/metrics", func(w http.ResponseWriter, _ *http.Request) { w.Write(page()) })
	go func() { panic(http.Serve(listener, nil)) }()
	metadataFactory.Start(stop)
	dynamicFactory.Start(stop)
	for _, isSynced := range synced {
		for !isSynced() {
			time.Sleep(10 * time.Millisecond)
		}
	}
	fmt.Fprintf(os.Stdout, "ready %d\n", len(page()))
	select {}
}
