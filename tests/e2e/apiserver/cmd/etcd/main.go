// SPDX-License-Identifier: Apache-2.0

// The etcd server of the Kubernetes release's own client version.
package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() { etcdmain.Main(os.Args) }
