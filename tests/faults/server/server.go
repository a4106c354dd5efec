// SPDX-License-Identifier: Apache-2.0

// API server over real HTTP/2 and TLS, with faults that the scenarios request.
package main

import (
	"compress/gzip"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"math/rand"
	"net"
	"net/http"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

type kind struct {
	apiVersion, kind, resource string
	namespaced                 bool
}

var fixedKinds = []kind{
	{"policy.karmada.io/v1alpha1", "PropagationPolicy", "propagationpolicies", true},
	{"policy.karmada.io/v1alpha1", "ClusterPropagationPolicy", "clusterpropagationpolicies", false},
	{"policy.karmada.io/v1alpha1", "OverridePolicy", "overridepolicies", true},
	{"policy.karmada.io/v1alpha1", "ClusterOverridePolicy", "clusteroverridepolicies", false},
	{"policy.karmada.io/v1alpha1", "FederatedResourceQuota", "federatedresourcequotas", true},
	{"work.karmada.io/v1alpha2", "ResourceBinding", "resourcebindings", true},
	{"work.karmada.io/v1alpha2", "ClusterResourceBinding", "clusterresourcebindings", false},
	{"v1", "Event", "events", true},
	{"v1", "ConfigMap", "configmaps", true},
	{"apps/v1", "Deployment", "deployments", true},
}

type object struct {
	Kind, Namespace, Name, Value string
	Padding                      int
	Spec                         map[string]any // nil: derived from Value.
	version                      int
}

func (o *object) key() string { return o.Kind + "/" + o.Namespace + "/" + o.Name }

type change struct {
	what   string
	object object
}

type server struct {
	mu         sync.Mutex
	wake       *sync.Cond
	kinds      map[string]kind // By the name of the kind.
	objects    map[string]object
	log        []change
	version    int
	compacted  int
	token      string
	streaming  bool
	random     *rand.Rand
	faults     int               // Percentage of requests, lists and events with a fault.
	goaway     int               // Percentage of responses that close the connection, with GOAWAY.
	weather    map[string]string // Fault that isolate() injects, by kind.
	epoch      int               // Streams that began in an earlier epoch end.
	conns      map[net.Conn]bool
	watchers   atomic.Int64
	requests   atomic.Int64
	listener   net.Listener
	http       *http.Server
	certs      tls.Certificate
	maxStreams int // Maximum number of streams of a connection; 0: no HTTP/2.
	address    string
}

func newServer(maxStreams int, cert tls.Certificate) *server {
	s := &server{kinds: map[string]kind{}, objects: map[string]object{}, version: 100, token: "secret",
		streaming: true, random: rand.New(rand.NewSource(1)), conns: map[net.Conn]bool{},
		certs: cert, maxStreams: maxStreams}
	s.wake = sync.NewCond(&s.mu)
	for _, k := range fixedKinds {
		s.kinds[k.kind] = k
	}
	return s
}

func (s *server) start() {
	address := s.address
	if address == "" {
		address = "127.0.0.1:0"
	}
	var err error
	for i := 0; i < 100; i++ {
		if s.listener, err = net.Listen("tcp", address); err == nil {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if err != nil {
		panic(err)
	}
	s.address = s.listener.Addr().String()
	s.http = &http.Server{
		Handler: http.HandlerFunc(s.serve),
		HTTP2:   &http.HTTP2Config{MaxConcurrentStreams: s.maxStreams},
		TLSConfig: &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			cert := s.certs
			return &cert, nil
		}},
		ErrorLog: quiet,
		ConnState: func(c net.Conn, state http.ConnState) {
			s.mu.Lock()
			defer s.mu.Unlock()
			if state == http.StateNew {
				s.conns[c] = true
			} else if state == http.StateClosed {
				delete(s.conns, c)
			}
		},
	}
	if s.maxStreams == 0 {
		s.http.Protocols = new(http.Protocols)
		s.http.Protocols.SetHTTP1(true)
	}
	go s.http.ServeTLS(s.listener, "", "")
}

func (s *server) stop() {
	s.http.Close()
	s.mu.Lock()
	s.epoch++
	s.wake.Broadcast()
	s.mu.Unlock()
}

func (s *server) connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}

func (s *server) cutAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		c.Close()
	}
}

// ---- objects

func (s *server) put(o object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
	o.version = s.version
	what := "ADDED"
	if _, there := s.objects[o.key()]; there {
		what = "MODIFIED"
	}
	s.objects[o.key()] = o
	s.log = append(s.log, change{what, o})
	s.wake.Broadcast()
}

func (s *server) remove(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, there := s.objects[key]
	if !there {
		return
	}
	s.version++
	o.version = s.version
	delete(s.objects, key)
	s.log = append(s.log, change{"DELETED", o})
	s.wake.Broadcast()
}

func (s *server) compact() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.compacted = s.version
	s.log = nil
}

// Returns the sorted lines that follow.c should print now for the command "state".
func (s *server) expected() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	selected := map[string]bool{}
	for _, o := range s.objects {
		if o.Kind == "PropagationPolicy" || o.Kind == "ClusterPropagationPolicy" {
			for _, k := range strings.Split(o.Value, ",")[1:] {
				selected[k] = true
			}
		}
	}
	var lines []string
	for _, o := range s.objects {
		k := s.kinds[o.Kind]
		switch {
		case strings.HasSuffix(o.Kind, "PropagationPolicy"):
			lines = append(lines, o.key()+"="+strings.Split(o.Value, ",")[0])
		case strings.HasSuffix(k.apiVersion, "karmada.io/v1alpha1"), strings.HasPrefix(k.apiVersion, "work."), o.Kind == "Event":
			lines = append(lines, o.key())
		case selected[o.Kind]:
			lines = append(lines, o.key()+"="+o.Value)
		}
	}
	sort.Strings(lines)
	return lines
}

func (s *server) write(o object, metadataOnly bool) map[string]any {
	k := s.kinds[o.Kind]
	metadata := map[string]any{"name": o.Name, "resourceVersion": strconv.Itoa(o.version), "labels": map[string]string{"v": o.Value}}
	if o.Namespace != "" {
		metadata["namespace"] = o.Namespace
	}
	if o.Padding > 0 {
		metadata["annotations"] = map[string]string{"padding": strings.Repeat("0123456789abcdef", o.Padding/16)}
	}
	json := map[string]any{"apiVersion": k.apiVersion, "kind": k.kind, "metadata": metadata}
	if metadataOnly {
		json["apiVersion"], json["kind"] = "meta.k8s.io/v1", "PartialObjectMetadata"
	}
	if o.Spec != nil {
		json["spec"] = o.Spec
	} else if strings.HasSuffix(o.Kind, "PropagationPolicy") {
		delete(metadata, "labels")
		parts := strings.Split(o.Value, ",")
		priority, _ := strconv.Atoi(parts[0])
		var selectors []map[string]string
		for _, p := range parts[1:] {
			selectors = append(selectors, map[string]string{"apiVersion": s.kinds[p].apiVersion, "kind": p})
		}
		json["spec"] = map[string]any{"priority": priority, "resourceSelectors": selectors}
	} else if o.Kind == "ResourceBinding" {
		json["spec"] = map[string]any{"resource": map[string]string{"apiVersion": "v1", "kind": "ConfigMap", "namespace": o.Namespace, "name": o.Name}}
	}
	return json
}

// ---- requests

func (s *server) unlucky(per100 int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.random.Intn(100) < per100
}

func (s *server) pick(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.random.Intn(n)
}

func refuse(w http.ResponseWriter, code int, reason string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","code":%d,"reason":%q}`, code, reason)
}

func (s *server) misbehave(w http.ResponseWriter) {
	codes := []int{401, 403, 404, 410, 422, 500, 503, 504}
	switch i := s.pick(len(codes) + 5); {
	case i < len(codes):
		refuse(w, codes[i], "Fault")
	case i == len(codes):
		w.Header().Set("Retry-After", "1")
		http.Error(w, "Too many requests, please try again later.", 429)
	case i == len(codes)+1:
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<html><body>log in</body></html>")
	case i == len(codes)+2:
		w.WriteHeader(200)
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	case i == len(codes)+3:
		s.cutAll()
	default:
		panic(http.ErrAbortHandler)
	}
}

func (s *server) serve(w http.ResponseWriter, r *http.Request) {
	s.requests.Add(1)
	if authorization := r.Header.Get("Authorization"); authorization != "Bearer "+s.currentToken() && authorization != "Bearer "+calm {
		w.Header().Set("Connection", "close")
		refuse(w, 401, "Unauthorized")
		return
	}
	if s.unlucky(s.goaway) {
		w.Header().Set("Connection", "close")
	}
	if r.URL.Path == "/version" {
		fmt.Fprint(w, "ok")
		return
	}
	if s.unlucky(s.faults) {
		s.misbehave(w)
		return
	}
	if r.URL.Path == "/api" || r.URL.Path == "/apis" {
		s.discover(w, r.URL.Path == "/api")
		return
	}
	k, found := s.route(r.URL.Path)
	if !found {
		http.NotFound(w, r)
		return
	}
	w, done := s.isolate(w, r, k)
	if ofOtherReason(r) {
		k.kind = "None"
	}
	if done {
		return
	} else if r.URL.Query().Get("watch") != "" {
		s.watch(w, r, k)
	} else {
		s.list(w, r, k)
	}
}

// Returns true if the request selects a reason that no Event of this server has.
func ofOtherReason(r *http.Request) bool {
	reason, selects := strings.CutPrefix(r.URL.Query().Get("fieldSelector"), "reason=")
	return selects && reason != "DependencyPolicyConflict"
}

func (s *server) currentToken() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.token
}

func (s *server) route(path string) (kind, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range s.kinds {
		prefix := "/apis/"
		if !strings.Contains(k.apiVersion, "/") {
			prefix = "/api/"
		}
		if path == prefix+k.apiVersion+"/"+k.resource {
			return k, true
		}
	}
	return kind{}, false
}

func (s *server) discover(w http.ResponseWriter, core bool) {
	s.mu.Lock()
	groups := map[string][]any{}
	for _, k := range s.kinds {
		if strings.Contains(k.apiVersion, "/") == core {
			continue
		}
		scope := "Cluster"
		if k.namespaced {
			scope = "Namespaced"
		}
		groups[k.apiVersion] = append(groups[k.apiVersion], map[string]any{"resource": k.resource,
			"responseKind": map[string]string{"kind": k.kind}, "scope": scope, "verbs": []string{"list", "watch", "delete"}})
	}
	s.mu.Unlock()
	items := []any{}
	for version, resources := range groups {
		group, number, found := strings.Cut(version, "/")
		if !found {
			group, number = "", group
		}
		items = append(items, map[string]any{"metadata": map[string]string{"name": group},
			"versions": []any{map[string]any{"version": number, "resources": resources, "freshness": "Current"}}})
	}
	w.Header().Set("Content-Type", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")
	json.NewEncoder(w).Encode(map[string]any{"kind": "APIGroupDiscoveryList", "items": items})
}

func (s *server) list(w http.ResponseWriter, r *http.Request, k kind) {
	metadataOnly := strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadataList")
	s.mu.Lock()
	items := []any{}
	for _, o := range s.objects {
		if o.Kind == k.kind {
			items = append(items, s.write(o, metadataOnly))
		}
	}
	version := s.version
	s.mu.Unlock()
	body, _ := json.Marshal(map[string]any{"kind": k.kind + "List", "apiVersion": k.apiVersion,
		"metadata": map[string]string{"resourceVersion": strconv.Itoa(version)}, "items": items})
	w.Header().Set("Content-Type", "application/json")
	if s.unlucky(s.faults) {
		// Cuts the body, with RST_STREAM or with an end that looks regular.
		w.Write(body[:s.pick(len(body))])
		w.(http.Flusher).Flush()
		if s.pick(2) == 0 {
			panic(http.ErrAbortHandler)
		}
		return
	}
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") && len(body) > 4096 {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		z.Write(body)
		z.Close()
		return
	}
	w.Write(body)
}

func (s *server) watch(w http.ResponseWriter, r *http.Request, k kind) {
	q := r.URL.Query()
	fill := q.Get("sendInitialEvents") == "true"
	metadataOnly := strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadata")
	if fill && !s.streaming {
		refuse(w, 422, "Invalid")
		return
	}
	seconds, _ := strconv.Atoi(q.Get("timeoutSeconds"))
	end := time.Now().Add(time.Duration(seconds) * time.Second)
	since, _ := strconv.Atoi(q.Get("resourceVersion"))
	s.watchers.Add(1)
	defer s.watchers.Add(-1)
	flusher := w.(http.Flusher)
	encoder := json.NewEncoder(w)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(200)
	flusher.Flush()

	s.mu.Lock()
	epoch := s.epoch
	if !fill && since < s.compacted {
		s.mu.Unlock()
		encoder.Encode(map[string]any{"type": "ERROR", "object": map[string]any{"kind": "Status", "code": 410, "reason": "Expired"}})
		return
	}
	var first []any
	if fill {
		for _, o := range s.objects {
			if o.Kind == k.kind {
				first = append(first, map[string]any{"type": "ADDED", "object": s.write(o, metadataOnly)})
			}
		}
		since = s.version
		first = append(first, map[string]any{"type": "BOOKMARK", "object": map[string]any{"kind": k.kind, "metadata": map[string]any{
			"resourceVersion": strconv.Itoa(since), "annotations": map[string]string{"k8s.io/initial-events-end": "true"}}}})
	}
	s.mu.Unlock()
	for _, e := range first {
		encoder.Encode(e)
		if s.unlucky(s.faults) && s.unlucky(s.faults) {
			panic(http.ErrAbortHandler)
		}
	}
	flusher.Flush()

	gone := r.Context().Done()
	go func() { <-gone; s.mu.Lock(); s.wake.Broadcast(); s.mu.Unlock() }()
	for {
		s.mu.Lock()
		var news []any
		for len(news) == 0 {
			if s.epoch != epoch || r.Context().Err() != nil || time.Now().After(end) {
				s.mu.Unlock()
				return
			}
			if since < s.compacted {
				// The stream ends, as from a watch cache that is older than the compaction.
				s.mu.Unlock()
				return
			}
			for _, c := range s.log {
				if c.object.version > since && c.object.Kind == k.kind {
					news = append(news, map[string]any{"type": c.what, "object": s.write(c.object, metadataOnly)})
				}
			}
			since = s.version
			if len(news) == 0 {
				s.wake.Wait()
			}
		}
		s.mu.Unlock()
		for _, e := range news {
			if s.unlucky(s.faults) && !s.streamFault(w, e) {
				return
			}
			encoder.Encode(e)
		}
		flusher.Flush()
	}
}

// Injects a random fault into the stream. Returns false if the stream ends.
func (s *server) streamFault(w http.ResponseWriter, e any) bool {
	body, _ := json.Marshal(e)
	switch s.pick(5) {
	case 0:
		fmt.Fprint(w, `{"type":"ERROR","object":{"kind":"Status","code":500}}`+"\n")
	case 1:
		w.Write(body[:s.pick(len(body))])
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	case 2:
		w.Write(body[:s.pick(len(body))])
	case 3:
		s.cutAll()
	case 4:
		fmt.Fprint(w, `{"type":"UNHEARD","object":{}}`+"\n")
		return true
	}
	return false
}
