// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math/rand"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

const (
	objectsALock = 64 // Objects that a list encodes before it lets changes in.
	bufferBytes  = 64 << 10
	// Level of kube-apiserver, and the length below which it does not compress.
	gzipLevel, gzipObjects = 4, 32
	initialEventsEnd       = `"annotations":{"k8s.io/initial-events-end":"true"},`
	expired                = `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"too old resource version","reason":"Expired","code":410}}` + "\n"
)

// server answers lists and watches of a world as a kube-apiserver does.
type server struct {
	*world
	all    []*resource
	byPath map[string]*resource
	random *rand.Rand

	changes, requests, listed, sentBytes atomic.Int64
}

func newServer(w *world, seed int64) *server {
	s := &server{world: w, all: w.resources(), byPath: map[string]*resource{}, random: rand.New(rand.NewSource(seed))}
	for _, r := range s.all {
		prefix := "/apis/"
		if !strings.Contains(r.apiVersion, "/") {
			prefix = "/api/"
		}
		s.byPath[prefix+r.apiVersion+"/"+r.name] = r
	}
	return s
}

// ---- changes

func frame(what string, object []byte) []byte {
	return append(append([]byte(`{"type":"`+what+`","object":`), object...), '}', '\n')
}

// Records that an object has changed. The lock is held.
func (s *server) publish(r *resource, at int) {
	if len(r.history) >= historyMax {
		r.forgotten = r.history[historyMax/2-1].version
		r.history = append(r.history[:0:0], r.history[historyMax/2:]...)
	}
	full := frame("MODIFIED", r.encode(nil, at, false))
	metadata := full
	if strings.HasPrefix(r.apiVersion, "apps/") || strings.HasPrefix(r.apiVersion, "example.com/") {
		metadata = frame("MODIFIED", r.encode(nil, at, true))
	}
	r.history = append(r.history, event{s.version, full, metadata})
	close(r.wake)
	r.wake = make(chan struct{})
	s.changes.Add(1)
}

func (s *server) changeBinding(r *resource, number int, evicted bool) {
	s.version++
	s.bindingChanged[number] = change{s.version, s.bindingChanged[number].times + 1, evicted}
	s.publish(r, number)
}

// Changes one random object: a binding or a Deployment.
func (s *server) change() {
	s.mu.Lock()
	defer s.mu.Unlock()
	bindings, deployments := s.byPath["/apis/"+workAPI+"/resourcebindings"], s.byPath["/apis/apps/v1/deployments"]
	if s.random.Intn(2) == 0 {
		s.changeBinding(bindings, s.random.Intn(bindings.count), false)
		return
	}
	at := s.random.Intn(deployments.count)
	s.version++
	s.templateChanged[int(deployments.numbers[at])] = change{version: s.version}
	s.publish(deployments, at)
}

// Changes a policy; returns its new generation.
func (s *server) changePolicy(number int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
	s.policyChanged[number] = change{version: s.version, times: s.policyChanged[number].times + 1}
	s.publish(s.byPath["/apis/"+policyAPI+"/propagationpolicies"], number)
	return 1 + s.policyChanged[number].times
}

// Moves so many bindings off their first cluster, evenly over that time.
func (s *server) failover(count int, over time.Duration) {
	r, begun := s.byPath["/apis/"+workAPI+"/resourcebindings"], time.Now()
	for number := 0; number < count; {
		due := min(count, int(float64(count)*float64(time.Since(begun))/float64(over)))
		for ; number < due; number++ {
			s.mu.Lock()
			s.changeBinding(r, number, true)
			s.mu.Unlock()
		}
		time.Sleep(time.Millisecond)
	}
}

// ---- requests

// The headers of each answer of a kube-apiserver.
func setHeaders(w http.ResponseWriter, contentType string) {
	h := w.Header()
	h.Set("Audit-Id", "57a74416-f779-4220-8b95-66b5d5ca3c5b")
	h.Set("Cache-Control", "no-cache, private")
	h.Set("Content-Type", contentType)
	h.Set("X-Kubernetes-Pf-Flowschema-Uid", "3244a2bb-6e70-47e0-b373-d28c76fccf72")
	h.Set("X-Kubernetes-Pf-Prioritylevel-Uid", "6648c405-793b-41de-a75f-f6ca2d1985a1")
}

func refuse(w http.ResponseWriter, code int, reason string) {
	setHeaders(w, "application/json")
	w.WriteHeader(code)
	fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","reason":%q,"code":%d}`+"\n", reason, code)
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.requests.Add(1)
	found := s.byPath[r.URL.Path]
	switch {
	case r.Header.Get("Authorization") != "Bearer secret":
		refuse(w, 401, "Unauthorized")
	case r.URL.Path == "/api" || r.URL.Path == "/apis":
		s.discover(w, r.URL.Path == "/api")
	case r.URL.Path == "/version":
		setHeaders(w, "application/json")
		fmt.Fprint(w, `{"major":"1","minor":"36","gitVersion":"v1.36.2"}`)
	case found == nil:
		refuse(w, 404, "NotFound")
	case r.URL.Query().Get("watch") == "true":
		s.watch(w, r, found)
	default:
		s.list(w, r, found)
	}
}

func (s *server) discover(w http.ResponseWriter, core bool) {
	groups := map[string][]any{}
	for _, r := range s.all {
		if strings.Contains(r.apiVersion, "/") == core {
			continue
		}
		scope := map[bool]string{true: "Namespaced", false: "Cluster"}[r.namespaced]
		groups[r.apiVersion] = append(groups[r.apiVersion], map[string]any{"resource": r.name,
			"responseKind": map[string]string{"kind": r.kind}, "scope": scope, "verbs": []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}})
	}
	items := []any{}
	for apiVersion, resources := range groups {
		group, version, found := strings.Cut(apiVersion, "/")
		if !found {
			group, version = "", group
		}
		items = append(items, map[string]any{"metadata": map[string]string{"name": group},
			"versions": []any{map[string]any{"version": version, "resources": resources, "freshness": "Current"}}})
	}
	setHeaders(w, "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")
	json.NewEncoder(w).Encode(map[string]any{"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "items": items})
}

func metadataOnly(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadata")
}

// The objects that a list has to hold: from `first` on, at most `limit` if that is not 0. A limit does not count for a list
// from the watch cache, which has all objects.
func bounds(r *http.Request, count int) (first, end int) {
	q := r.URL.Query()
	limit, _ := strconv.Atoi(q.Get("limit"))
	first, _ = strconv.Atoi(q.Get("continue"))
	if strings.HasPrefix(q.Get("fieldSelector"), "metadata.name=") {
		return 0, 0
	}
	if limit == 0 || q.Get("resourceVersion") == "0" {
		return first, count
	}
	return first, min(count, first+limit)
}

// Encodes objects in batches with `separator` between them and hands each batch to `write`.
func (s *server) each(r *resource, first, end int, metadata bool, separator string, frameOf func(out, object []byte) []byte, write func([]byte)) {
	out, object := make([]byte, 0, 2*bufferBytes), make([]byte, 0, 8192)
	for at := first; at < end; {
		s.mu.Lock()
		for next := min(end, at+objectsALock); at < next; at++ {
			if at > first {
				out = append(out, separator...)
			}
			object = r.encode(object[:0], at, metadata)
			out = frameOf(out, object)
		}
		s.mu.Unlock()
		write(out)
		out = out[:0]
	}
	s.listed.Add(int64(end - first))
}

func plain(out, object []byte) []byte { return append(out, object...) }

func (s *server) list(w http.ResponseWriter, r *http.Request, of *resource) {
	metadata := metadataOnly(r)
	first, end := bounds(r, of.count)
	setHeaders(w, "application/json")
	var to io.Writer = w
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") && end-first > gzipObjects {
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Vary", "Accept-Encoding")
		compressor, _ := gzip.NewWriterLevel(w, gzipLevel)
		defer compressor.Close()
		to = compressor
	}
	buffered := bufio.NewWriterSize(to, bufferBytes)
	defer buffered.Flush()
	write := func(b []byte) {
		s.sentBytes.Add(int64(len(b)))
		buffered.Write(b)
	}
	s.mu.Lock()
	version := s.version
	s.mu.Unlock()
	rest := ""
	if end < of.count {
		rest = fmt.Sprintf(`"continue":"%d","remainingItemCount":%d,`, end, of.count-end)
	}
	// Lists of custom resources have sorted members; those of metadata the order of their Go type.
	if metadata {
		fmt.Fprintf(buffered, `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{%s"resourceVersion":"%d"},"items":[`, rest, version)
		s.each(of, first, end, true, ",", plain, write)
		fmt.Fprint(buffered, "]}\n")
		return
	}
	fmt.Fprintf(buffered, `{"apiVersion":%q,"items":[`, of.apiVersion)
	s.each(of, first, end, false, ",", plain, write)
	if rest == "" {
		rest = `"continue":"",`
	}
	fmt.Fprintf(buffered, `],"kind":"%sList","metadata":{%s"resourceVersion":"%d"}}`+"\n", of.kind, rest, version)
}

// ---- watches

// The events after a version, the last version, and a channel that closes when there are more; false if they are too old.
func (s *server) since(of *resource, version int, metadata bool) (out []byte, last int, wake chan struct{}, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if version < of.forgotten {
		return nil, 0, nil, false
	}
	first := len(of.history)
	for first > 0 && of.history[first-1].version > version {
		first--
	}
	for _, e := range of.history[first:] {
		if metadata {
			out = append(out, e.metadata...)
		} else {
			out = append(out, e.full...)
		}
		version = e.version
	}
	return out, version, of.wake, true
}

func bookmark(of *resource, metadata bool, annotations string, version int) string {
	apiVersion, kind := of.apiVersion, of.kind
	if metadata {
		apiVersion, kind = "meta.k8s.io/v1", "PartialObjectMetadata"
	}
	return fmt.Sprintf(`{"type":"BOOKMARK","object":{"apiVersion":%q,"kind":%q,"metadata":{%s"resourceVersion":"%d"}}}`+"\n",
		apiVersion, kind, annotations, version)
}

func (s *server) watch(w http.ResponseWriter, r *http.Request, of *resource) {
	q, metadata, flusher := r.URL.Query(), metadataOnly(r), w.(http.Flusher)
	seconds, _ := strconv.Atoi(q.Get("timeoutSeconds"))
	version, _ := strconv.Atoi(q.Get("resourceVersion"))
	end, bookmarks := time.After(time.Duration(seconds)*time.Second), time.NewTicker(time.Minute)
	defer bookmarks.Stop()
	setHeaders(w, "application/json")
	w.WriteHeader(200)
	if q.Get("sendInitialEvents") == "true" {
		s.mu.Lock()
		version = s.version
		s.mu.Unlock()
		added := func(out, object []byte) []byte {
			return append(append(append(out, `{"type":"ADDED","object":`...), object...), '}', '\n')
		}
		s.each(of, 0, of.count, metadata, "", added, func(b []byte) {
			s.sentBytes.Add(int64(len(b)))
			w.Write(b)
		})
		fmt.Fprint(w, bookmark(of, metadata, initialEventsEnd, version))
	}
	flusher.Flush()
	for {
		out, last, wake, known := s.since(of, version, metadata)
		if !known {
			w.Write([]byte(expired))
			return
		}
		version = last
		if len(out) > 0 {
			w.Write(out)
			flusher.Flush()
			continue
		}
		select {
		case <-wake:
		case <-bookmarks.C:
			fmt.Fprint(w, bookmark(of, metadata, "", version))
			flusher.Flush()
		case <-end:
			return
		case <-r.Context().Done():
			return
		}
	}
}
