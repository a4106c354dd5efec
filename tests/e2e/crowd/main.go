// SPDX-License-Identifier: Apache-2.0

// crowd -cert FILE -key FILE [-http1] [-kinds N] [-objects N] [-policies N]: an API server with many
// kinds or many changes, which costs little. It prints its address, and then obeys lines on standard
// input, each answered by one: "rate N" (changes a second), "cut", "compact", "goaway N", "stats". It ends with its input.
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

// As many changes a second as it says, in steps of 10 ms; what is missed is made up for.
func (s *server) changeAt(rate *atomic.Int64) {
	owed, last := 0.0, time.Now()
	for range time.Tick(10 * time.Millisecond) {
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
		var number int64
		fmt.Sscan(in.Text(), &what, &number)
		switch what {
		case "rate":
			rate.Store(number)
		case "cut":
			s.cut()
		case "compact":
			s.compact()
		case "goaway":
			s.goaway.Store(number)
		}
		s.mu.Lock()
		connections := len(s.conns)
		s.mu.Unlock()
		fmt.Printf(`{"changes":%d,"requests":%d,"watches":%d,"gone":%d,"cuts":%d,"goaways":%d,"connections":%d}`+"\n",
			s.changes.Load(), s.requests.Load(), s.watches.Load(), s.gone.Load(), s.cuts.Load(), s.farewells.Load(), connections)
	}
}

func main() {
	cert := flag.String("cert", "", "certificate")
	key := flag.String("key", "", "its key")
	http1 := flag.Bool("http1", false, "no HTTP/2")
	more := flag.Int("kinds", 0, "how many kinds more than Karmada's")
	count := flag.Int("objects", 1000, "how many templates")
	flag.IntVar(&policies, "policies", 0, "how many of these, if not one for two templates (a multiple of 20)")
	seed := flag.Int64("seed", 1, "of what is drawn")
	flag.Parse()
	pair, err := tls.LoadX509KeyPair(*cert, *key)
	if err != nil {
		panic(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	s, rate := newServer(*more, *count, *seed), &atomic.Int64{}
	h := &http.Server{Handler: s, TLSConfig: &tls.Config{Certificates: []tls.Certificate{pair}},
		ErrorLog: log.New(io.Discard, "", 0),
		ConnState: func(c net.Conn, state http.ConnState) {
			s.mu.Lock()
			defer s.mu.Unlock()
			if state == http.StateNew {
				s.conns[c] = true
			} else if state == http.StateClosed {
				delete(s.conns, c)
			}
		}}
	if *http1 {
		h.Protocols = new(http.Protocols)
		h.Protocols.SetHTTP1(true)
	}
	go h.ServeTLS(listener, "", "")
	go s.changeAt(rate)
	fmt.Println(listener.Addr())
	s.obey(bufio.NewScanner(os.Stdin), rate)
}
