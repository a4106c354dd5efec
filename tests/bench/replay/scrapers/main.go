// SPDX-License-Identifier: Apache-2.0

// scrapers -url URL [-clients 8] [-seconds 10] [-pause 50ms]: scrapes on persistent connections, as Prometheus does, and
// prints the number of scrapes, the bytes of the last page and percentiles of the time to its last byte.
package main

import (
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"
)

func main() {
	url := flag.String("url", "", "address of the page")
	clients := flag.Int("clients", 8, "number of clients")
	seconds := flag.Int("seconds", 10, "duration")
	pause := flag.Duration("pause", 50*time.Millisecond, "pause between two scrapes of a client")
	flag.Parse()
	var mu sync.Mutex
	var wait sync.WaitGroup
	var took []time.Duration
	var size int64
	end := time.Now().Add(time.Duration(*seconds) * time.Second)
	for range *clients {
		wait.Add(1)
		go func() {
			defer wait.Done()
			// The client sends Accept-Encoding itself: the page counts as it is sent, without the time to unpack it.
			transport := &http.Transport{DisableCompression: true, MaxConnsPerHost: 1}
			request, _ := http.NewRequest("GET", *url, nil)
			request.Header.Set("Accept-Encoding", "gzip")
			time.Sleep(rand.N(*pause))
			for time.Now().Before(end) {
				begun := time.Now()
				answer, err := transport.RoundTrip(request)
				if err != nil || answer.StatusCode != 200 {
					panic(fmt.Sprint(answer, err))
				}
				bytes, _ := io.Copy(io.Discard, answer.Body)
				answer.Body.Close()
				mu.Lock()
				took, size = append(took, time.Since(begun)), bytes
				mu.Unlock()
				time.Sleep(*pause)
			}
		}()
	}
	wait.Wait()
	slices.Sort(took)
	at := func(share float64) float64 { return took[int(float64(len(took)-1)*share)].Seconds() * 1000 }
	fmt.Printf(`{"scrapes":%d,"bytes":%d,"p50_ms":%.3f,"p99_ms":%.3f}`+"\n", len(took), size, at(0.5), at(0.99))
}
