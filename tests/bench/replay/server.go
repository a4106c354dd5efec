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
	changed := event{version: s.version}
	if r.numbers == nil {
		changed.as[wholeJSON] = frame("MODIFIED", r.encode(nil, at, false))
	} else {
		// Of templates, the exporter reads metadata only.
		object := r.encode(nil, at, true)
		changed.as[metadataJSON] = frame("MODIFIED", object)
		changed.as[metadataProtobuf] = eventFrame(nil, "MODIFIED", metadataMessage(object))
	}
	r.history = append(r.history, changed)
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

// The form of objects that the client prefers.
func formOf(r *http.Request) form {
	accept := r.Header.Get("Accept")
	switch {
	case !strings.Contains(accept, "as=PartialObjectMetadata"):
		return wholeJSON
	case strings.HasPrefix(accept, protobufType):
		return metadataProtobuf
	}
	return metadataJSON
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

// Encodes objects in batches, each by `add`, and hands each batch to `write`.
func (s *server) each(r *resource, first, end int, metadata bool, add func(out, object []byte) []byte, write func([]byte)) {
	out, object := make([]byte, 0, 2*bufferBytes), make([]byte, 0, 8192)
	for at := first; at < end; {
		s.mu.Lock()
		for next := min(end, at+objectsALock); at < next; at++ {
			object = r.encode(object[:0], at, metadata)
			out = add(out, object)
		}
		s.mu.Unlock()
		s.sentBytes.Add(int64(len(out)))
		write(out)
		out = out[:0]
	}
	s.listed.Add(int64(end - first))
}

// A page of a list: objects from `first` to `end`.
type page struct {
	of             *resource
	first, end     int
	version, token string
}

func (s *server) list(w http.ResponseWriter, r *http.Request, of *resource) {
	s.mu.Lock()
	p := page{of: of, version: strconv.Itoa(s.version)}
	s.mu.Unlock()
	p.first, p.end = bounds(r, of.count)
	if p.end < of.count && p.end > p.first {
		p.token = strconv.Itoa(p.end)
	}
	as := formOf(r)
	setHeaders(w, map[form]string{wholeJSON: "application/json", metadataJSON: "application/json", metadataProtobuf: protobufType}[as])
	var to io.Writer = w
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") && p.end-p.first > gzipObjects {
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Vary", "Accept-Encoding")
		compressor, _ := gzip.NewWriterLevel(w, gzipLevel)
		defer compressor.Close()
		to = compressor
	}
	buffered := bufio.NewWriterSize(to, bufferBytes)
	defer buffered.Flush()
	if as == metadataProtobuf {
		s.writeProtobuf(buffered, &p)
	} else {
		s.writeJSON(buffered, &p, as == metadataJSON)
	}
}

func (s *server) writeJSON(w *bufio.Writer, p *page, metadata bool) {
	// Lists of custom resources have sorted members; those of metadata the order of their Go type.
	if metadata {
		rest := ""
		if p.token != "" {
			rest = fmt.Sprintf(`,"continue":%q,"remainingItemCount":%d`, p.token, p.of.count-p.end)
		}
		fmt.Fprintf(w, `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":%q%s},"items":[`, p.version, rest)
	} else {
		fmt.Fprintf(w, `{"apiVersion":%q,"items":[`, p.of.apiVersion)
	}
	separator := ""
	s.each(p.of, p.first, p.end, metadata, func(out, object []byte) []byte {
		out = append(append(out, separator...), object...)
		separator = ","
		return out
	}, func(b []byte) { w.Write(b) })
	if metadata {
		fmt.Fprint(w, "]}\n")
		return
	}
	rest := ""
	if p.token != "" {
		rest = fmt.Sprintf(`"remainingItemCount":%d,`, p.of.count-p.end)
	}
	fmt.Fprintf(w, `],"kind":"%sList","metadata":{"continue":%q,%s"resourceVersion":%q}}`+"\n", p.of.kind, p.token, rest, p.version)
}

// The envelope begins with the length of the list, so the page is complete before its first byte is sent.
func (s *server) writeProtobuf(w *bufio.Writer, p *page) {
	message := listMetadata(p.version, p.token, p.of.count-p.end)
	s.each(p.of, p.first, p.end, true, func(out, object []byte) []byte {
		return bytesField(out, 2, metadataMessage(object))
	}, func(b []byte) { message = append(message, b...) })
	w.Write(envelope("meta.k8s.io/v1", "PartialObjectMetadataList", message))
}

// ---- watches

// The events after a version, the last version, and a channel that closes when there are more; false if they are too old.
func (s *server) since(of *resource, version int, as form) (out []byte, last int, wake chan struct{}, known bool) {
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
		out = append(out, e.as[as]...)
		version = e.version
	}
	return out, version, of.wake, true
}

func bookmark(of *resource, as form, initial bool, version int) []byte {
	if as == metadataProtobuf {
		return bookmarkFrame(strconv.Itoa(version), initial)
	}
	apiVersion, kind, annotations := of.apiVersion, of.kind, ""
	if as == metadataJSON {
		apiVersion, kind = "meta.k8s.io/v1", "PartialObjectMetadata"
	}
	if initial {
		annotations = initialEventsEnd
	}
	return fmt.Appendf(nil, `{"type":"BOOKMARK","object":{"apiVersion":%q,"kind":%q,"metadata":{%s"resourceVersion":"%d"}}}`+"\n",
		apiVersion, kind, annotations, version)
}

// Sends all objects as events, then a bookmark.
func (s *server) sendInitialEvents(w io.Writer, of *resource, as form, version int) {
	added := func(out, object []byte) []byte {
		if as == metadataProtobuf {
			return eventFrame(out, "ADDED", metadataMessage(object))
		}
		return append(append(append(out, `{"type":"ADDED","object":`...), object...), '}', '\n')
	}
	s.each(of, 0, of.count, as != wholeJSON, added, func(b []byte) { w.Write(b) })
	w.Write(bookmark(of, as, true, version))
}

func (s *server) watch(w http.ResponseWriter, r *http.Request, of *resource) {
	q, as, flusher := r.URL.Query(), formOf(r), w.(http.Flusher)
	seconds, _ := strconv.Atoi(q.Get("timeoutSeconds"))
	version, _ := strconv.Atoi(q.Get("resourceVersion"))
	end, bookmarks := time.After(time.Duration(seconds)*time.Second), time.NewTicker(time.Minute)
	defer bookmarks.Stop()
	setHeaders(w, map[form]string{wholeJSON: "application/json", metadataJSON: "application/json", metadataProtobuf: protobufStream}[as])
	w.WriteHeader(200)
	if q.Get("sendInitialEvents") == "true" {
		s.mu.Lock()
		version = s.version
		s.mu.Unlock()
		s.sendInitialEvents(w, of, as, version)
	}
	flusher.Flush()
	for {
		out, last, wake, known := s.since(of, version, as)
		if !known {
			if as == metadataProtobuf {
				w.Write(expiredFrame())
			} else {
				w.Write([]byte(expired))
			}
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
			w.Write(bookmark(of, as, false, version))
			flusher.Flush()
		case <-end:
			return
		case <-r.Context().Done():
			return
		}
	}
}
