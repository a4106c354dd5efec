// SPDX-License-Identifier: Apache-2.0

// Isolation of kinds: responses for any subset of 30 kinds hang, drip, or have a status and no
// body. The exporter, the program EXPORTER, must be ready in time, the other kinds must stay fresh,
// and no row may be wrong.
package main

import (
	"bufio"
	"fmt"
	"io"
	"math/rand"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"time"
)

const (
	readyWithin = 20 * time.Second
	freshWithin = 5 * time.Second
	templates   = 22          // Kinds of templates, beside the eight kinds that are always watched.
	objects     = 5           // Initial objects of each kind of templates.
	calm        = "reference" // Token of the reference exporter, whose requests have no faults.
)

// Kinds that all results need. They have no faults, except in playWithoutBasis().
var basis = map[string]bool{"PropagationPolicy": true, "ClusterPropagationPolicy": true,
	"ResourceBinding": true, "ClusterResourceBinding": true}

// ---- the server's side

func isolationWorld(s *server) {
	s.kinds["Cluster"] = kind{"cluster.karmada.io/v1alpha1", "Cluster", "clusters", false}
	delete(s.kinds, "ConfigMap")
	delete(s.kinds, "Deployment")
	for i := 0; i < 3; i++ {
		s.put(object{Kind: "Cluster", Name: fmt.Sprint("member", i), Spec: map[string]any{"syncMode": "Push"}})
	}
	for i := 0; i < templates; i++ {
		k := kind{fmt.Sprintf("g%d.example.io/v1", i%4), fmt.Sprintf("Kind%d", i), fmt.Sprintf("kind%ds", i), true}
		ns := strings.ToLower(k.kind)
		s.kinds[k.kind] = k
		// Each namespace, and thus each policy, has one kind of templates: see kindOf().
		spec := map[string]any{"resourceSelectors": []any{map[string]any{"apiVersion": k.apiVersion, "kind": k.kind}},
			"placement": map[string]any{"clusterAffinity": map[string]any{"clusterNames": []string{"member1"}}}}
		if i%3 == 0 {
			spec["dependentOverrides"] = []string{"common"}
		}
		s.put(object{Kind: "PropagationPolicy", Namespace: ns, Name: ns, Spec: spec})
		s.put(object{Kind: "OverridePolicy", Namespace: ns, Name: "common", Spec: map[string]any{"overrideRules": []any{}}})
		for n := 0; n < objects; n++ {
			name := fmt.Sprint("t", n)
			s.put(object{Kind: k.kind, Namespace: ns, Name: name, Value: "1"})
			if n%2 == 0 {
				s.put(object{Kind: "ResourceBinding", Namespace: ns, Name: name + "-" + ns, Spec: map[string]any{
					"replicas":  1,
					"clusters":  []any{map[string]any{"name": "member1", "replicas": 1}},
					"placement": map[string]any{},
					"resource":  map[string]any{"apiVersion": k.apiVersion, "kind": k.kind, "namespace": ns, "name": name}}})
			}
		}
	}
}

// Injects the fault of the kind in `weather`. Returns true after the request; false if the regular
// response must be written to the returned writer.
func (s *server) isolate(w http.ResponseWriter, r *http.Request, k kind) (http.ResponseWriter, bool) {
	s.mu.Lock()
	weather := s.weather[k.kind]
	s.mu.Unlock()
	if r.Header.Get("Authorization") == "Bearer "+calm {
		weather = ""
	}
	switch weather {
	case "hang":
		<-r.Context().Done()
		return w, true
	case "silent":
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(200)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		return w, true
	case "drip":
		return &dripping{w, r}, false
	}
	return w, false
}

// Response writer that sends one byte a second.
type dripping struct {
	http.ResponseWriter
	r *http.Request
}

func (d *dripping) Flush() { d.ResponseWriter.(http.Flusher).Flush() }

func (d *dripping) Write(bytes []byte) (int, error) {
	for i := range bytes {
		if _, err := d.ResponseWriter.Write(bytes[i : i+1]); err != nil {
			return i, err
		}
		d.Flush()
		select {
		case <-d.r.Context().Done():
			return i, d.r.Context().Err()
		case <-time.After(time.Second):
		}
	}
	return len(bytes), nil
}

// Number of objects of a kind, and the time of the change to this number.
type tally struct {
	since time.Time
	count int
}

func (s *server) counts(k string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, o := range s.objects {
		if o.Kind == k {
			n++
		}
	}
	return n
}

// ---- the program

type serving struct {
	cmd     *exec.Cmd
	url     string
	started time.Time
}

func (l *lab) serve(token string) (*serving, error) {
	path := filepath.Join(l.dir, "kubeconfig-"+token)
	writeFile(path, []byte(fmt.Sprintf(`current-context: c
contexts: [{name: c, context: {cluster: k, user: u}}]
clusters: [{name: k, cluster: {server: "https://%s", certificate-authority: "%s"}}]
users: [{name: u, user: {token: %s}}]
`, l.address, filepath.Join(l.dir, "ca"), token)))
	p := &serving{started: time.Now()}
	p.cmd = exec.Command(os.Getenv("EXPORTER"), "--kubeconfig", path, "--web.listen-address", "127.0.0.1:0")
	log, _ := p.cmd.StderrPipe()
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(log)
	address := regexp.MustCompile(`address=(127\.0\.0\.1:\d+)`)
	for p.url == "" && lines.Scan() {
		if found := address.FindStringSubmatch(lines.Text()); found != nil {
			p.url = "http://" + found[1]
		}
	}
	go func() {
		for lines.Scan() {
			if os.Getenv("FOLLOW_DEBUG") != "" {
				fmt.Fprintln(os.Stderr, lines.Text())
			}
		}
	}()
	if p.url == "" {
		return nil, fmt.Errorf("the exporter has no address: %v", p.cmd.Wait())
	}
	return p, nil
}

func (p *serving) end() error {
	p.cmd.Process.Signal(os.Interrupt)
	return p.cmd.Wait()
}

func (p *serving) get(path string) (int, string) {
	client := http.Client{Timeout: 10 * time.Second}
	response, err := client.Get(p.url + path)
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(response.Body)
	return response.StatusCode, string(body)
}

func (p *serving) awaitReady(within time.Duration) (time.Duration, error) {
	var text string
	for time.Since(p.started) < within {
		var status int
		if status, text = p.get("/-/ready"); status == 200 {
			return time.Since(p.started), nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return within, fmt.Errorf("not ready after %v: %s", within, strings.TrimSpace(text))
}

// Returns the values of the metrics page by series.
func (p *serving) page() map[string]string {
	rows := map[string]string{}
	_, text := p.get("/metrics")
	for _, line := range strings.Split(text, "\n") {
		if at := strings.LastIndexByte(line, ' '); at > 0 && line[0] != '#' {
			rows[line[:at]] = line[at+1:]
		}
	}
	return rows
}

// ---- a round

type round struct {
	*lab
	random  *rand.Rand
	sick    map[string]string
	well    []string
	history map[string][]tally
	next    int
}

func newRound(l *lab, seed int64) *round {
	r := &round{lab: l, random: rand.New(rand.NewSource(seed)), sick: map[string]string{}, history: map[string][]tally{}}
	weathers := []string{"hang", "drip", "silent"}
	percent := []int{10, 50, 90, 100}[seed%4]
	only := ""
	if r.random.Intn(2) == 0 {
		only = weathers[r.random.Intn(3)]
	}
	var kinds []string
	for k := range l.kinds {
		kinds = append(kinds, k)
	}
	sort.Strings(kinds)
	for _, k := range kinds {
		weather := weathers[r.random.Intn(3)]
		if only != "" {
			weather = only
		}
		if !basis[k] && r.random.Intn(100) < percent {
			r.sick[k] = weather
		} else {
			r.well = append(r.well, k)
			r.history[k] = []tally{{time.Now(), l.counts(k)}}
		}
	}
	l.mu.Lock()
	l.weather = r.sick
	l.streaming = seed%2 == 0
	l.mu.Unlock()
	return r
}

// Writes a random object of a kind without a fault, or removes this object if it exists.
func (r *round) write() {
	k := r.well[r.random.Intn(len(r.well))]
	name := fmt.Sprint("extra", r.random.Intn(6))
	o := object{Kind: k, Name: name, Value: fmt.Sprint(r.random.Intn(100))}
	if r.kinds[k].namespaced {
		o.Namespace = "extra"
	}
	switch {
	case strings.HasSuffix(k, "Policy"):
		o.Spec = map[string]any{"priority": r.random.Intn(9), "overrideRules": []any{}, "resourceSelectors": []any{
			map[string]any{"apiVersion": "g0.example.io/v1", "kind": "Kind0", "name": "nobody"}}}
	case strings.HasSuffix(k, "Binding"):
		o.Spec = map[string]any{"resource": map[string]any{"apiVersion": "g0.example.io/v1", "kind": "Kind0", "namespace": o.Namespace, "name": "nobody"}}
	}
	if r.random.Intn(3) == 0 {
		r.remove(o.key())
	} else {
		r.put(o)
	}
	r.history[k] = append(r.history[k], tally{time.Now(), r.counts(k)})
}

// Fails unless the page, which was requested at `asked`, has for each kind without a fault a number
// of objects that was true at any time in the last freshWithin.
func (r *round) fresh(page map[string]string, asked time.Time) error {
	for _, k := range r.well {
		group, _, grouped := strings.Cut(r.kinds[k].apiVersion, "/")
		resource := strings.ToLower(k)
		if grouped {
			resource += "." + group
		}
		shown, _ := strconv.Atoi(page[fmt.Sprintf(`karmada_policy_exporter_objects{resource=%q}`, resource)])
		found := false
		for i, t := range r.history[k] {
			over := i+1 < len(r.history[k]) && r.history[k][i+1].since.Before(asked.Add(-freshWithin))
			found = found || (t.count == shown && !over)
		}
		if !found {
			return fmt.Errorf("%s: the page has %d, which is older than %v; it was %v", k, shown, freshWithin, r.history[k])
		}
	}
	return nil
}

var labels = regexp.MustCompile(`(\w+)="([^"]*)"`)

// Returns the kind that a row is about, "" if no label names one. Namespaces are named after kinds.
func (r *round) kindOf(series string) string {
	for _, l := range labels.FindAllStringSubmatch(series, -1) {
		if l[1] != "kind" && l[1] != "namespace" && l[1] != "policy_namespace" {
			continue
		}
		for k := range r.kinds {
			if l[2] == k || l[2] == strings.ToLower(k) {
				return k
			}
		}
	}
	return ""
}

func isDomain(series string) bool {
	return strings.HasPrefix(series, "karmada_") && !strings.HasPrefix(series, "karmada_policy_exporter_") &&
		!strings.Contains(series, "_timestamp_seconds") && !strings.Contains(series, "_total") &&
		!strings.Contains(series, "_delay_seconds")
}

// Returns the rows that differ from those of the reference exporter. Sums over kinds may be lower.
func (r *round) wrong(page, reference map[string]string) []string {
	var wrong []string
	for series, value := range page {
		if !isDomain(series) || value == reference[series] {
			continue
		}
		is, _ := strconv.ParseFloat(value, 64)
		should, _ := strconv.ParseFloat(reference[series], 64)
		about := r.kindOf(series)
		if (about == "" && is <= should) || (is == 0 && reference[series] == "") {
			continue
		}
		wrong = append(wrong, fmt.Sprintf("%s %s, should be %q", series, value, reference[series]))
	}
	// A kind with a fault must have no states, and a kind without a fault all rows of the reference.
	for series := range page {
		if strings.HasPrefix(series, "karmada_templates{") && r.sick[r.kindOf(series)] != "" && page[series] != "0" {
			wrong = append(wrong, series+" of a kind that was never read")
		}
	}
	for series, value := range reference {
		if k := r.kindOf(series); strings.HasPrefix(series, "karmada_templates{") && k != "" && r.sick[k] == "" &&
			page[series] != value && r.sick["OverridePolicy"]+r.sick["ClusterOverridePolicy"] == "" {
			wrong = append(wrong, fmt.Sprintf("%s %q, should be %s", series, page[series], value))
		}
	}
	sort.Strings(wrong)
	return wrong
}

func (r *round) play(healed bool) error {
	p, err := r.serve("secret")
	if err != nil {
		return err
	}
	defer p.end()
	reference, err := r.serve(calm)
	if err != nil {
		return err
	}
	defer reference.end()
	after, err := p.awaitReady(readyWithin)
	if err != nil {
		return err
	}
	if _, err = reference.awaitReady(readyWithin); err != nil {
		return fmt.Errorf("without a fault: %v", err)
	}
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		r.write()
		asked := time.Now()
		if err := r.fresh(p.page(), asked); err != nil {
			return fmt.Errorf("ready after %.1f s, %d kinds sick: %v", after.Seconds(), len(r.sick), err)
		}
	}
	var wrong []string
	within := freshWithin
	for end := time.Now().Add(within); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		if wrong = r.wrong(p.page(), reference.page()); len(wrong) == 0 {
			break
		}
	}
	if len(wrong) > 0 {
		return fmt.Errorf("%d kinds sick: %d wrong rows, as %s", len(r.sick), len(wrong), wrong[0])
	}
	if !healed {
		return nil
	}
	r.mu.Lock()
	r.sick, r.weather = map[string]string{}, nil
	r.mu.Unlock()
	for end := time.Now().Add(90 * time.Second); time.Now().Before(end); time.Sleep(500 * time.Millisecond) {
		if wrong = append(r.wrong(p.page(), reference.page()), r.wrong(reference.page(), p.page())...); len(wrong) == 0 {
			return nil
		}
	}
	return fmt.Errorf("after all became well: %d wrong rows, as %s", len(wrong), wrong[0])
}

// Checks that without policies the exporter is not ready, reports why, and has no rows about
// templates and policies.
func (r *round) playWithoutBasis() error {
	r.mu.Lock()
	r.weather = map[string]string{"PropagationPolicy": []string{"hang", "silent", "drip"}[r.random.Intn(3)]}
	r.mu.Unlock()
	p, err := r.serve("secret")
	if err != nil {
		return err
	}
	defer p.end()
	if after, err := p.awaitReady(readyWithin + 5*time.Second); err == nil {
		return fmt.Errorf("ready after %v without policies", after)
	}
	if _, text := p.get("/-/ready"); !strings.Contains(text, "propagationpolicy") {
		return fmt.Errorf("/-/ready does not name the policies: %s", text)
	}
	for series := range p.page() {
		if isDomain(series) {
			return fmt.Errorf("a row without policies: %s", series)
		}
	}
	return nil
}

func isolation(seed int64, body func(*round) error) func() error {
	return func() error {
		l := newLab(100, isolationWorld)
		err := body(newRound(l, seed))
		l.stop()
		os.RemoveAll(l.dir)
		return err
	}
}
