// SPDX-License-Identifier: Apache-2.0

// writers -server URL -ca FILE -cert FILE -key FILE -writers 500 -pause 1s: create, change and
// delete objects until standard input ends, as many writers at once as it says. It reads the
// objects first: one JSON a line, {"collection": PATH, "object": {...}}. Each has one writer.
//
// Once the last answer is there it prints {"written": N, "refused": N, "lost": N}. A server that
// is away is tried again: that is what happens to it in these tests.
package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

type target struct {
	Collection string          `json:"collection"`
	Object     json.RawMessage `json:"object"`
	name       string
	there      bool
}

type writer struct {
	client  *http.Client
	server  string
	pause   time.Duration
	targets []*target
	random  *rand.Rand
	counts  *counts
}

type counts struct{ written, refused, lost atomic.Int64 }

const patience = 20 * time.Second

// The status of the answer; 0 if there was none.
func (w *writer) request(method, path, contentType string, body []byte) int {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, w.server+path, bytes.NewReader(body))
	if err != nil {
		panic(err)
	}
	request.Header.Set("Content-Type", contentType)
	answer, err := w.client.Do(request)
	if err != nil {
		w.counts.lost.Add(1)
		return 0
	}
	defer answer.Body.Close()
	io.Copy(io.Discard, answer.Body)
	if answer.StatusCode < 300 {
		w.counts.written.Add(1)
	} else {
		w.counts.refused.Add(1)
	}
	return answer.StatusCode
}

// What is there is known from the last answer. A restore may have changed it meanwhile, which a
// 404 or 409 says.
func (w *writer) write(t *target) {
	var status int
	switch {
	case !t.there:
		status = w.request("POST", t.Collection, "application/json", t.Object)
		t.there = status < 300 && status > 0
	case w.random.Intn(3) == 0:
		status = w.request("DELETE", t.Collection+"/"+t.name, "application/json", nil)
		t.there = !(status < 300 && status > 0)
	default:
		change := fmt.Sprintf(`{"metadata":{"labels":{"change":"%d"}}}`, w.random.Intn(1000000))
		status = w.request("PATCH", t.Collection+"/"+t.name, "application/merge-patch+json", []byte(change))
	}
	if status == http.StatusNotFound {
		t.there = false
	} else if status == http.StatusConflict {
		t.there = true
	}
}

func (w *writer) work(done <-chan struct{}) {
	for {
		select {
		case <-done:
			return
		case <-time.After(time.Duration(w.random.Int63n(2 * int64(w.pause)))):
			w.write(w.targets[w.random.Intn(len(w.targets))])
		}
	}
}

func newClient(ca, cert, key string) *http.Client {
	authority, err := os.ReadFile(ca)
	if err != nil {
		panic(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority)
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		panic(err)
	}
	return &http.Client{Transport: &http.Transport{ForceAttemptHTTP2: true,
		TLSClientConfig: &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{pair}}}}
}

func readTargets(in *bufio.Scanner, count int) []*target {
	in.Buffer(nil, 1<<20)
	var targets []*target
	for len(targets) < count && in.Scan() {
		t := &target{}
		if err := json.Unmarshal(in.Bytes(), t); err != nil {
			panic(err)
		}
		var named struct{ Metadata struct{ Name string } }
		if err := json.Unmarshal(t.Object, &named); err != nil {
			panic(err)
		}
		t.name = named.Metadata.Name
		targets = append(targets, t)
	}
	return targets
}

func main() {
	server := flag.String("server", "", "URL of the API server")
	ca := flag.String("ca", "", "its authority")
	cert := flag.String("cert", "", "certificate of the user")
	key := flag.String("key", "", "key of the user")
	writers := flag.Int("writers", 500, "how many write at once")
	objects := flag.Int("objects", 0, "how many objects to read from standard input")
	pause := flag.Duration("pause", time.Second, "of a writer between two writes, on average")
	seed := flag.Int64("seed", 1, "of what is drawn")
	flag.Parse()
	in := bufio.NewScanner(os.Stdin)
	targets := readTargets(in, *objects)
	if len(targets) < *writers {
		fmt.Fprintln(os.Stderr, "each writer needs an object of its own")
		os.Exit(2)
	}
	client, done, counted := newClient(*ca, *cert, *key), make(chan struct{}), &counts{}
	var working sync.WaitGroup
	for i := range *writers {
		w := &writer{client: client, server: *server, pause: *pause, counts: counted,
			random: rand.New(rand.NewSource(*seed*1000003 + int64(i)))}
		for at := i; at < len(targets); at += *writers {
			w.targets = append(w.targets, targets[at])
		}
		working.Add(1)
		go func() { defer working.Done(); w.work(done) }()
	}
	for in.Scan() {
	}
	close(done)
	working.Wait()
	fmt.Printf("{\"written\": %d, \"refused\": %d, \"lost\": %d}\n", counted.written.Load(),
		counted.refused.Load(), counted.lost.Load())
}
