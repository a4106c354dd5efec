// SPDX-License-Identifier: Apache-2.0

// replay -cert FILE -key FILE -shapes FOLDER [-templates N] [-policies N] [-namespaces N] [-kinds N]: an API server that
// generates lists and watches of a large world while it sends them, in the form of a kube-apiserver: JSON, and protobuf for
// metadata. It stores no object. It prints its address, and then obeys lines on standard input, each answered by a line of JSON:
//
//	rate N         N random changes a second from now on
//	policy N       changes policy N; the answer has its generation and the time
//	failover N S   moves the first N bindings off their first cluster, evenly in S seconds
//	stats          counts
//
// It ends with its input.
package main

import (
	"bufio"
	"crypto/tls"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"time"
)

// Makes as many changes a second as `rate` says, in steps of a millisecond; late ones are made up for.
func (s *server) changeAt(rate *atomic.Int64) {
	owed, last := 0.0, time.Now()
	for range time.Tick(time.Millisecond) {
		owed += float64(rate.Load()) * time.Since(last).Seconds()
		last = time.Now()
		for ; owed >= 1; owed-- {
			s.change()
		}
	}
}

func (s *server) obey(in *bufio.Scanner, rate *atomic.Int64) {
	for in.Scan() {
		var what string
		var number, seconds, generation int
		fmt.Sscan(in.Text(), &what, &number, &seconds)
		switch what {
		case "rate":
			rate.Store(int64(number))
		case "policy":
			generation = s.changePolicy(number)
		case "failover":
			go s.failover(number, time.Duration(seconds)*time.Second)
		}
		fmt.Printf(`{"changes":%d,"requests":%d,"listed":%d,"bytes":%d,"generation":%d}`+"\n",
			s.changes.Load(), s.requests.Load(), s.listed.Load(), s.sentBytes.Load(), generation)
	}
}

func main() {
	w := &world{policyChanged: map[int]change{}, templateChanged: map[int]change{}, bindingChanged: map[int]change{}}
	cert, key := flag.String("cert", "", "certificate"), flag.String("key", "", "its key")
	folder := flag.String("shapes", "tests/bench/shapes", "folder of the shapes of objects")
	flag.IntVar(&w.templates, "templates", 10000, "number of templates, which have a binding each")
	flag.IntVar(&w.policies, "policies", 1000, "number of policies")
	flag.IntVar(&w.namespaces, "namespaces", 500, "number of namespaces")
	flag.IntVar(&w.kinds, "kinds", 200, "number of kinds of templates")
	seed := flag.Int64("seed", 1, "of the changes")
	flag.Parse()
	w.version = w.templates + w.policies + 1
	w.shapes = &shapes{*folder, map[string]shape{}}
	for _, name := range []string{"deployment", "metadata", "policy", "binding"} {
		w.shapes.get(name)
	}
	pair, err := tls.LoadX509KeyPair(*cert, *key)
	if err != nil {
		panic(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	s, rate := newServer(w, *seed), &atomic.Int64{}
	h := &http.Server{Handler: s, TLSConfig: &tls.Config{Certificates: []tls.Certificate{pair}}, ErrorLog: log.New(io.Discard, "", 0)}
	go h.ServeTLS(listener, "", "")
	go s.changeAt(rate)
	fmt.Println(listener.Addr())
	s.obey(bufio.NewScanner(os.Stdin), rate)
}
