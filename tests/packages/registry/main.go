// SPDX-License-Identifier: Apache-2.0

// registry ADDRESS CERTIFICATE KEY USER PASSWORD: an OCI registry with TLS that keeps its contents in memory, for tests.
// As at public registries everybody may pull, and only the user may push.
package main

import (
	"io"
	"log"
	"net/http"
	"os"

	"github.com/google/go-containerregistry/pkg/registry"
)

// Clients ask for "/v2/" whether a registry has users.
func isOpen(request *http.Request) bool {
	reads := request.Method == http.MethodGet || request.Method == http.MethodHead
	return reads && request.URL.Path != "/v2/"
}

func main() {
	address, certificate, key, wantedUser, wantedPassword := os.Args[1], os.Args[2], os.Args[3], os.Args[4], os.Args[5]
	contents := registry.New(registry.Logger(log.New(io.Discard, "", 0)), registry.WithReferrersSupport(true))
	handler := func(response http.ResponseWriter, request *http.Request) {
		user, password, _ := request.BasicAuth()
		if isOpen(request) || (user == wantedUser && password == wantedPassword) {
			contents.ServeHTTP(response, request)
			return
		}
		response.Header().Set("WWW-Authenticate", `Basic realm="registry"`)
		response.WriteHeader(http.StatusUnauthorized)
	}
	log.Fatal(http.ListenAndServeTLS(address, certificate, key, http.HandlerFunc(handler)))
}
