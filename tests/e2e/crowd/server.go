// SPDX-License-Identifier: Apache-2.0

package main

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math/rand"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

type server struct {
	mu        sync.Mutex
	kinds     []*kind
	byPath    map[string]*kind
	nothing   *kind // Without objects.
	version   int
	compacted int // What is older cannot be resumed.
	random    *rand.Rand
	conns     map[net.Conn]bool
	goaway    atomic.Int64 // Of so many answers each, one ends its connection gracefully; 0: none.

	changes, requests, watches, gone, cuts, farewells atomic.Int64
}

func newServer(more, count int, seed int64) *server {
	s := &server{kinds: kindsWith(more, count), byPath: map[string]*kind{}, version: 1000,
		random: rand.New(rand.NewSource(seed)), conns: map[net.Conn]bool{}}
	s.nothing = &kind{name: "None", objects: map[int]stored{}, wake: make(chan struct{})}
	for _, k := range s.kinds {
		s.byPath[k.path()] = k
		for number := range k.count {
			s.version++
			k.objects[number] = stored{s.version, 0}
		}
	}
	return s
}

// ---- changes

// Write, change or delete one object: kinds by how many objects they have.
func (s *server) change() {
	s.mu.Lock()
	defer s.mu.Unlock()
	total := 0
	for _, k := range s.kinds {
		total += k.count
	}
	at, k := s.random.Intn(total), (*kind)(nil)
	for _, k = range s.kinds {
		if at < k.count {
			break
		}
		at -= k.count
	}
	s.version++
	o, there := k.objects[at]
	what := "MODIFIED"
	switch {
	case !there:
		what = "ADDED"
	case !k.lasting && s.random.Intn(10) == 0:
		what = "DELETED"
	}
	o = stored{s.version, s.random.Intn(100)}
	if what == "DELETED" {
		delete(k.objects, at)
	} else {
		k.objects[at] = o
	}
	s.tell(k, what, at, o)
}

func (s *server) tell(k *kind, what string, number int, o stored) {
	k.append(event{s.version, frame(what, k.encode(number, o, false)), frame(what, k.encode(number, o, true))})
	s.changes.Add(1)
}

func frame(what string, object []byte) []byte {
	return []byte(`{"type":"` + what + `","object":` + string(object) + "}\n")
}

func (k *kind) append(e event) {
	if len(k.history) >= historyMax {
		k.history = append(k.history[:0:0], k.history[historyMax/2:]...)
	}
	k.history = append(k.history, e)
	close(k.wake)
	k.wake = make(chan struct{})
}

// Forget what happened: whoever resumes, or is behind, has to read all again.
func (s *server) compact() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.compacted = s.version
	for _, k := range s.kinds {
		k.history = nil
		close(k.wake)
		k.wake = make(chan struct{})
	}
}

func (s *server) cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		c.Close()
	}
	s.cuts.Add(1)
}

// ---- requests

func refuse(w http.ResponseWriter, code int, reason string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","code":%d,"reason":%q}`, code, reason)
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n := s.requests.Add(1)
	if every := s.goaway.Load(); every > 0 && n%every == 0 {
		w.Header().Set("Connection", "close")
		s.farewells.Add(1)
	}
	k := s.byPath[r.URL.Path]
	if k != nil && ofOtherReason(r) {
		k = s.nothing
	}
	switch {
	case r.Header.Get("Authorization") != "Bearer secret":
		refuse(w, 401, "Unauthorized")
	case r.URL.Path == "/api" || r.URL.Path == "/apis":
		s.discover(w, r.URL.Path == "/api")
	case strings.HasPrefix(r.URL.Path, "/version") || strings.HasPrefix(r.URL.Path, "/livez"):
		fmt.Fprint(w, `{"gitVersion":"v1.36.0"}`)
	case k != nil && r.URL.Query().Get("watch") != "":
		s.watch(w, r, k)
	case k != nil:
		s.list(w, r, k)
	default:
		s.inNamespace(w, r)
	}
}

// All Events here are of one reason.
func ofOtherReason(r *http.Request) bool {
	reason, selects := strings.CutPrefix(r.URL.Query().Get("fieldSelector"), "reason=")
	return selects && reason != "DependencyPolicyConflict"
}

// Below a namespace: a list of its objects, or one of them by its name.
func (s *server) inNamespace(w http.ResponseWriter, r *http.Request) {
	before, after, found := strings.Cut(r.URL.Path, "/namespaces/")
	parts := strings.Split(after, "/")
	if k := s.byPath[before+"/"+parts[len(parts)-1]]; found && len(parts) == 2 && k != nil {
		s.list(w, r, k)
		return
	}
	s.get(w, r)
}

func (s *server) discover(w http.ResponseWriter, core bool) {
	groups := map[string][]any{}
	for _, k := range s.kinds {
		if strings.Contains(k.apiVersion, "/") == core {
			continue
		}
		scope := map[bool]string{true: "Namespaced", false: "Cluster"}[k.namespaced]
		groups[k.apiVersion] = append(groups[k.apiVersion], map[string]any{"resource": k.resource,
			"responseKind": map[string]string{"kind": k.name}, "scope": scope, "verbs": []string{"list", "watch", "delete"}})
	}
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

func metadataOnly(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadata")
}

// One object, by its kind, namespace and name.
func (s *server) get(w http.ResponseWriter, r *http.Request) {
	parts := strings.Split(r.URL.Path, "/")
	name := parts[len(parts)-1]
	var number int
	fmt.Sscanf(strings.TrimLeft(name, "abcdefghijklmnopqrstuvwxyz"), "%d", &number)
	s.mu.Lock()
	var body []byte
	for _, k := range s.kinds {
		if k.resource == parts[len(parts)-2] {
			if o, there := k.objects[number]; there {
				body = k.encode(number, o, metadataOnly(r))
			}
		}
	}
	s.mu.Unlock()
	if body == nil {
		refuse(w, 404, "NotFound")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(body)
}

func everyone(int) bool { return true }

// All objects as they are now, or those that are chosen.
func (s *server) all(k *kind, metadata bool, chosen func(number int) bool) (items [][]byte, version int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for number := range k.count {
		if o, there := k.objects[number]; there && chosen(number) {
			items = append(items, k.encode(number, o, metadata))
		}
	}
	return items, s.version
}

// As the watch cache does: all of it in one page, whatever limit is asked for.
func (s *server) list(w http.ResponseWriter, r *http.Request, k *kind) {
	q := r.URL.Query()
	if q.Get("resourceVersionMatch") == "Exact" {
		// Of the past it knows changes, and no state.
		refuse(w, 410, "Expired")
		return
	}
	chosen := everyone
	if name, selects := strings.CutPrefix(q.Get("fieldSelector"), "metadata.name="); selects {
		chosen = func(number int) bool { return k.objectName(number) == name }
	}
	items, version := s.all(k, metadataOnly(r), chosen)
	w.Header().Set("Content-Type", "application/json")
	write := w.Write
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") && len(items) > 100 {
		w.Header().Set("Content-Encoding", "gzip")
		z, _ := gzip.NewWriterLevel(w, gzip.BestSpeed)
		defer z.Close()
		write = z.Write
	}
	write([]byte(fmt.Sprintf(`{"kind":"%sList","apiVersion":"%s","metadata":{"resourceVersion":"%d"},"items":[`,
		k.name, k.apiVersion, version)))
	for i, item := range items {
		if i > 0 {
			write([]byte(","))
		}
		write(item)
	}
	write([]byte("]}"))
}

// ---- watches

const expired = `{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired","message":"too old resource version"}}` + "\n"

func (s *server) initialEvents(k *kind, metadata bool) ([]byte, int) {
	items, version := s.all(k, metadata, everyone)
	var out []byte
	for _, item := range items {
		out = append(out, frame("ADDED", item)...)
	}
	return append(out, fmt.Sprintf(`{"type":"BOOKMARK","object":{"kind":"%s","apiVersion":"%s","metadata":{"resourceVersion":"%d",`+
		`"annotations":{"k8s.io/initial-events-end":"true"}}}}`+"\n", k.name, k.apiVersion, version)...), version
}

// What came after a version; false if that is not known any more.
func (s *server) since(k *kind, version int, metadata bool) (out []byte, last int, wake chan struct{}, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if version < s.compacted || len(k.history) == historyMax && version < k.history[0].version {
		return nil, 0, nil, false
	}
	first := len(k.history)
	for first > 0 && k.history[first-1].version > version {
		first--
	}
	for _, e := range k.history[first:] {
		if metadata {
			out = append(out, e.metadata...)
		} else {
			out = append(out, e.full...)
		}
		version = e.version
	}
	return out, version, k.wake, true
}

func (s *server) watch(w http.ResponseWriter, r *http.Request, k *kind) {
	q, metadata := r.URL.Query(), metadataOnly(r)
	seconds, _ := strconv.Atoi(q.Get("timeoutSeconds"))
	version, _ := strconv.Atoi(q.Get("resourceVersion"))
	end := time.After(time.Duration(seconds) * time.Second)
	bookmarks := time.NewTicker(time.Minute)
	defer bookmarks.Stop()
	s.watches.Add(1)
	defer s.watches.Add(-1)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(200)
	var out []byte
	if q.Get("sendInitialEvents") == "true" {
		out, version = s.initialEvents(k, metadata)
		w.Write(out)
	}
	flusher := w.(http.Flusher)
	flusher.Flush()
	for {
		out, last, wake, known := s.since(k, version, metadata)
		if !known {
			s.gone.Add(1)
			w.Write([]byte(expired))
			return
		}
		version = last
		if len(out) > 0 {
			w.Write(out)
			flusher.Flush()
			// Changes come in crowds: one write for those of a moment costs less.
			time.Sleep(20 * time.Millisecond)
			continue
		}
		select {
		case <-wake:
		case <-bookmarks.C:
			fmt.Fprintf(w, `{"type":"BOOKMARK","object":{"kind":"%s","metadata":{"resourceVersion":"%d"}}}`+"\n", k.name, version)
			flusher.Flush()
		case <-end:
			return
		case <-r.Context().Done():
			return
		}
	}
}
