// SPDX-License-Identifier: Apache-2.0

// faults FOLLOW [NAME]: plays the scenarios whose names contain NAME, or all scenarios, against the
// program FOLLOW (follow.c). After the faults, its store must have the objects of the server.
// FAULT_SEEDS is the number of scenarios with random faults, ISOLATION_ROUNDS the number of rounds
// of isolation.go.
package main

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"sync/atomic"
	"time"
)

const atOnce = 6

// How many resources are watched where no policy selects a kind. The server does not serve one of them.
const fixedReflectors = 10

var quiet = log.New(io.Discard, "", 0)

// ---- certificates

func newCert(name string) (tls.Certificate, []byte) {
	caKey, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	ca := &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), IsCA: true,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	caDER, _ := x509.CreateCertificate(rand.Reader, ca, ca, &caKey.PublicKey, caKey)
	key, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	leaf := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "server"},
		NotBefore: ca.NotBefore, NotAfter: ca.NotAfter, IPAddresses: []net.IP{net.ParseIP("127.0.0.1")},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	der, _ := x509.CreateCertificate(rand.Reader, leaf, ca, &key.PublicKey, caKey)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key},
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: caDER})
}

// ---- the follower

type follower struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Scanner
	ca    string
	token string
}

type lab struct {
	*server
	f   *follower
	dir string
}

func writeFile(path string, data []byte) {
	os.WriteFile(path+".new", data, 0o600)
	os.Rename(path+".new", path)
}

func newLab(maxStreams int, prepare func(*server)) *lab {
	dir, err := os.MkdirTemp("", "faults")
	if err != nil {
		panic(err)
	}
	cert, ca := newCert("first")
	l := &lab{server: newServer(maxStreams, cert), dir: dir}
	writeFile(filepath.Join(dir, "ca"), ca)
	writeFile(filepath.Join(dir, "token"), []byte("secret\n"))
	prepare(l.server)
	l.start()
	return l
}

func (l *lab) follow(address string) {
	f := &follower{}
	f.cmd = exec.Command(os.Args[1], "https://"+address, filepath.Join(l.dir, "ca"), filepath.Join(l.dir, "token"))
	f.cmd.Stderr = os.Stderr
	f.in, _ = f.cmd.StdinPipe()
	out, _ := f.cmd.StdoutPipe()
	f.out = bufio.NewScanner(out)
	if err := f.cmd.Start(); err != nil {
		panic(err)
	}
	l.f = f
}

func (f *follower) state() []string {
	fmt.Fprintln(f.in, "state")
	lines := []string{}
	for f.out.Scan() {
		if f.out.Text() == "end" {
			sort.Strings(lines)
			return lines
		}
		lines = append(lines, f.out.Text())
	}
	panic("the follower is gone")
}

func (f *follower) stats() map[string]int {
	fmt.Fprintln(f.in, "stats")
	if !f.out.Scan() {
		panic("the follower is gone")
	}
	stats := map[string]int{}
	for _, pair := range strings.Fields(f.out.Text()) {
		name, value, _ := strings.Cut(pair, "=")
		var n int
		fmt.Sscan(value, &n)
		stats[name] = n
	}
	return stats
}

func (l *lab) close() error {
	l.f.in.Close()
	err := l.f.cmd.Wait()
	l.stop()
	os.RemoveAll(l.dir)
	return err
}

func difference(is, should []string) string {
	have := map[string]bool{}
	for _, line := range is {
		have[line] = true
	}
	out := ""
	for _, line := range should {
		if !have[line] {
			out += " -" + line
		}
		delete(have, line)
	}
	for line := range have {
		out += " +" + line
	}
	if len(out) > 400 {
		out = out[:400] + "..."
	}
	return out
}

// Waits until the follower's store has exactly the expected objects. Fails after `within`.
func (l *lab) converge(within time.Duration) error {
	var diff string
	for end := time.Now().Add(within); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if diff = difference(l.f.state(), l.expected()); diff == "" {
			return nil
		}
	}
	return fmt.Errorf("after %v:%s; stats %v", within, diff, l.f.stats())
}

func (l *lab) await(within time.Duration, what string, ok func(map[string]int) bool) error {
	var stats map[string]int
	for end := time.Now().Add(within); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if stats = l.f.stats(); ok(stats) {
			return nil
		}
	}
	return fmt.Errorf("%s not after %v: %v, server: %d connections, %d watchers", what, within, stats, l.connections(), l.watchers.Load())
}

// ---- scenarios

func demo(s *server) {
	s.put(object{Kind: "PropagationPolicy", Namespace: "a", Name: "p", Value: "1,ConfigMap"})
	s.put(object{Kind: "ClusterPropagationPolicy", Name: "cp", Value: "2,Deployment,ConfigMap"})
	for i := 0; i < 40; i++ {
		s.put(object{Kind: "ConfigMap", Namespace: "a", Name: fmt.Sprint("m", i), Value: fmt.Sprint(i)})
		s.put(object{Kind: "Deployment", Namespace: "b", Name: fmt.Sprint("d", i), Value: fmt.Sprint(i)})
		s.put(object{Kind: "ResourceBinding", Namespace: "a", Name: fmt.Sprint("r", i)})
	}
}

func churn(l *lab, n int) {
	for i := 0; i < n; i++ {
		name := fmt.Sprint("m", l.pick(60))
		if l.pick(4) == 0 {
			l.remove("ConfigMap/a/" + name)
		} else {
			l.put(object{Kind: "ConfigMap", Namespace: "a", Name: name, Value: fmt.Sprint(l.pick(1000))})
		}
	}
}

func many(count int) func(*server) {
	return func(s *server) {
		var names []string
		for i := 0; i < count; i++ {
			k := kind{"many.example.io/v1", fmt.Sprintf("Kind%d", i), fmt.Sprintf("kind%ds", i), true}
			s.kinds[k.kind] = k
			names = append(names, k.kind)
			s.put(object{Kind: k.kind, Namespace: "a", Name: "x", Value: "1"})
		}
		s.put(object{Kind: "ClusterPropagationPolicy", Name: "all", Value: "1," + strings.Join(names, ",")})
	}
}

func first(errs ...func() error) error {
	for _, e := range errs {
		if err := e(); err != nil {
			return err
		}
	}
	return nil
}

type scenario struct {
	name string
	run  func() error
}

// Prepares a server without streaming lists, like Kubernetes of earlier years.
func older(prepare func(*server)) func(*server) {
	return func(s *server) {
		s.streaming = false
		prepare(s)
	}
}

func with(maxStreams int, prepare func(*server), body func(*lab) error) func() error {
	return func() error {
		l := newLab(maxStreams, prepare)
		l.follow(l.address)
		err := body(l)
		if closed := l.close(); err == nil {
			err = closed
		}
		return err
	}
}

func changes(l *lab) error {
	if err := l.converge(10 * time.Second); err != nil {
		return err
	}
	churn(l, 500)
	if err := l.converge(5 * time.Second); err != nil {
		return err
	}
	l.remove("ClusterPropagationPolicy//cp")
	return l.converge(5 * time.Second)
}

func randomFaults(seed int64) func(*lab) error {
	return func(l *lab) error {
		l.mu.Lock()
		l.random.Seed(seed)
		l.faults, l.goaway, l.streaming = 25, 3, seed%2 == 0
		l.mu.Unlock()
		start := time.Now()
		for i := 0; i < 40; i++ {
			churn(l, 5)
			if l.pick(10) == 0 {
				l.compact()
			}
			time.Sleep(100 * time.Millisecond)
		}
		l.mu.Lock()
		l.faults, l.goaway = 0, 0
		l.mu.Unlock()
		if err := l.converge(90 * time.Second); err != nil {
			return err
		}
		if n, s := l.requests.Load(), time.Since(start).Seconds(); float64(n) > 100+60*s {
			return fmt.Errorf("%d requests in %.0f s", n, s)
		}
		return nil
	}
}

// Checks that the connections after GOAWAY carry all streams again, although each drained one
// carried few. All streams are live before the cut, because libcurl sends a request in flight
// again by itself: that stream would stay in its pool.
func calmAfterGoaway(l *lab) error {
	l.mu.Lock()
	l.goaway = 0
	l.mu.Unlock()
	if err := allLive(l, 30*time.Second); err != nil {
		return err
	}
	l.cutAll()
	return l.await(30*time.Second, "one connection for all streams", func(s map[string]int) bool {
		return s["streams"] == s["reflectors"]-1 && s["waiting"] == 0 && s["connections"] <= 2
	})
}

func allLive(l *lab, within time.Duration) error {
	return l.await(within, "all streams live", func(s map[string]int) bool {
		return s["ready"] == 1 && s["streams"] == s["reflectors"]-1 && s["waiting"] == 0
	})
}

func crowd(connections int, within time.Duration) func(*lab) error {
	return func(l *lab) error {
		return first(
			func() error { return allLive(l, within) },
			func() error {
				if n := l.f.stats()["connections"]; n > connections {
					return fmt.Errorf("%d connections, %d allowed", n, connections)
				}
				return l.converge(5 * time.Second)
			},
			func() error {
				l.remove("ClusterPropagationPolicy//all")
				return l.await(5*time.Second, "streams end", func(s map[string]int) bool { return s["reflectors"] == fixedReflectors })
			},
			func() error {
				return l.await(10*time.Second, "the server sees it", func(map[string]int) bool { return l.watchers.Load() <= fixedReflectors-1 })
			},
		)
	}
}

func restart(l *lab) error {
	return first(
		func() error { return l.converge(10 * time.Second) },
		func() error {
			l.stop()
			churn(l, 50)
			l.compact()
			time.Sleep(2 * time.Second)
			l.start()
			return l.converge(20 * time.Second)
		},
		func() error { churn(l, 50); return l.converge(20 * time.Second) },
	)
}

func tokenExpires(l *lab) error {
	return first(
		func() error { return l.converge(10 * time.Second) },
		func() error {
			l.mu.Lock()
			l.token = "fresh"
			l.mu.Unlock()
			before := l.requests.Load()
			l.cutAll()
			churn(l, 50)
			time.Sleep(5 * time.Second)
			if n := l.requests.Load() - before; n > 120 {
				return fmt.Errorf("%d requests in 5 s with a token that is refused", n)
			}
			writeFile(filepath.Join(l.dir, "token"), []byte("fresh"))
			return l.converge(45 * time.Second)
		},
	)
}

func caRotates(l *lab) error {
	return first(
		func() error { return l.converge(10 * time.Second) },
		func() error {
			cert, ca := newCert("second")
			l.mu.Lock()
			l.certs = cert
			l.mu.Unlock()
			writeFile(filepath.Join(l.dir, "ca"), ca)
			time.Sleep(2 * time.Second)
			l.cutAll()
			churn(l, 50)
			return l.converge(20 * time.Second)
		},
	)
}

func impostor(l *lab) error {
	if err := l.converge(10 * time.Second); err != nil {
		return err
	}
	known := l.f.state()
	cert, _ := newCert("impostor")
	l.mu.Lock()
	l.certs = cert
	l.mu.Unlock()
	l.cutAll()
	churn(l, 50)
	time.Sleep(3 * time.Second)
	if diff := difference(l.f.state(), known); diff != "" {
		return fmt.Errorf("an impostor was believed:%s", diff)
	}
	return nil
}

func largeObject(l *lab) error {
	return first(
		func() error { return l.converge(10 * time.Second) },
		func() error {
			l.put(object{Kind: "ConfigMap", Namespace: "a", Name: "large", Value: "1", Padding: 4 << 20})
			l.put(object{Kind: "ConfigMap", Namespace: "a", Name: "after", Value: "2"})
			return l.converge(10 * time.Second)
		},
	)
}

func kindComesBack(l *lab) error {
	foo := kind{"example.io/v1", "Foo", "foos", true}
	return first(
		func() error {
			l.mu.Lock()
			l.kinds["Foo"] = foo
			l.mu.Unlock()
			l.put(object{Kind: "Foo", Namespace: "a", Name: "f", Value: "1"})
			l.put(object{Kind: "PropagationPolicy", Namespace: "a", Name: "foo", Value: "1,Foo"})
			return l.converge(10 * time.Second)
		},
		func() error {
			l.remove("Foo/a/f")
			l.mu.Lock()
			delete(l.kinds, "Foo")
			l.epoch++
			l.wake.Broadcast()
			l.mu.Unlock()
			return l.await(15*time.Second, "kind reported", func(s map[string]int) bool { return s["unserved"] == 1 })
		},
		func() error {
			l.mu.Lock()
			l.kinds["Foo"] = foo
			l.mu.Unlock()
			l.put(object{Kind: "Foo", Namespace: "a", Name: "g", Value: "2"})
			return l.converge(45 * time.Second)
		},
	)
}

// Connections that can stop carrying data without an error at either end.
type wire struct {
	listener net.Listener
	dead     atomic.Bool
}

func (w *wire) pump(from, to net.Conn) {
	buffer := make([]byte, 32*1024)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			from.Close()
			to.Close()
			return
		}
		for w.dead.Load() {
			time.Sleep(100 * time.Millisecond)
		}
		to.Write(buffer[:n])
	}
}

func halfOpen() error {
	l := newLab(100, demo)
	w := &wire{}
	w.listener, _ = net.Listen("tcp", "127.0.0.1:0")
	var alive atomic.Int64
	go func() {
		for {
			c, err := w.listener.Accept()
			if err != nil {
				return
			}
			up, err := net.Dial("tcp", l.address)
			if err != nil {
				c.Close()
				continue
			}
			alive.Add(1)
			if alive.Load() <= 2 {
				go w.pump(c, up)
				go w.pump(up, c)
			} else {
				other := &wire{}
				go other.pump(c, up)
				go other.pump(up, c)
			}
		}
	}()
	l.follow(w.listener.Addr().String())
	err := first(
		func() error { return l.converge(10 * time.Second) },
		func() error {
			w.dead.Store(true)
			churn(l, 20)
			return l.converge(75 * time.Second)
		},
	)
	w.dead.Store(false)
	w.listener.Close()
	if closed := l.close(); err == nil {
		err = closed
	}
	return err
}

func main() {
	scenarios := []scenario{
		{"changes, over streaming lists", with(100, demo, changes)},
		{"changes, over lists", with(100, older(demo), changes)},
		{"a stream limit of 10", with(10, older(many(60)), crowd(12, 30*time.Second))},
		{"a stream limit of 1", with(1, older(demo), func(l *lab) error {
			return first(func() error { return allLive(l, 30*time.Second) }, func() error { return changes(l) })
		})},
		{"no HTTP/2", with(0, older(demo), changes)},
		{"300 kinds", with(100, older(many(300)), crowd(10, 60*time.Second))},
		{"300 kinds, over streaming lists", with(100, many(300), crowd(10, 60*time.Second))},
		{"a restart with compacted history", with(100, demo, restart)},
		{"a token that expires", with(100, demo, tokenExpires)},
		{"a CA that rotates", with(100, demo, caRotates)},
		{"an impostor", with(100, demo, impostor)},
		{"an event with an object of 4 MiB", with(100, demo, largeObject)},
		{"a kind that is deleted and comes back", with(100, demo, kindComesBack)},
		{"GOAWAY", with(100, demo, func(l *lab) error {
			l.mu.Lock()
			l.goaway = 50
			l.mu.Unlock()
			for i := 0; i < 20; i++ {
				churn(l, 20)
				l.mu.Lock()
				l.epoch++
				l.wake.Broadcast()
				l.mu.Unlock()
				time.Sleep(200 * time.Millisecond)
			}
			return first(
				func() error { return l.converge(30 * time.Second) },
				func() error { return calmAfterGoaway(l) },
			)
		})},
		{"a half-open connection", halfOpen},
	}
	seeds := int64(24)
	if text := os.Getenv("FAULT_SEEDS"); text != "" {
		fmt.Sscan(text, &seeds)
	}
	for seed := int64(1); seed <= seeds; seed++ {
		scenarios = append(scenarios, scenario{fmt.Sprint("random faults, seed ", seed), with(100, demo, randomFaults(seed))})
	}
	rounds := int64(4)
	if text := os.Getenv("ISOLATION_ROUNDS"); text != "" {
		fmt.Sscan(text, &rounds)
	}
	for seed := int64(1); seed <= rounds; seed++ {
		healed := seed == 1 || rounds > 4
		scenarios = append(scenarios, scenario{fmt.Sprint("some of 30 kinds never come, seed ", seed),
			isolation(seed, func(r *round) error { return r.play(healed) })})
	}
	scenarios = append(scenarios, scenario{"policies never come", isolation(rounds, (*round).playWithoutBasis)})
	if !playAll(scenarios) {
		os.Exit(1)
	}
}

// Plays the selected scenarios, atOnce of them at a time, because they mostly wait. Prints the
// results in the order of the scenarios. Returns true if all selected scenarios pass.
func playAll(scenarios []scenario) bool {
	turn := make(chan bool, atOnce)
	var told []chan string
	for _, s := range scenarios {
		if len(os.Args) > 2 && !strings.Contains(s.name, os.Args[2]) {
			continue
		}
		line := make(chan string, 1)
		told = append(told, line)
		go func() {
			turn <- true
			start := time.Now()
			if err := s.run(); err != nil {
				line <- fmt.Sprintf("FAIL  %s: %v", s.name, err)
			} else {
				line <- fmt.Sprintf("ok    %s (%.1f s)", s.name, time.Since(start).Seconds())
			}
			<-turn
		}()
	}
	passed := true
	for _, line := range told {
		text := <-line
		fmt.Println(text)
		passed = passed && strings.HasPrefix(text, "ok")
	}
	return passed
}
