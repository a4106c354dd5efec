/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/*
 * Have the libraries that get to see credentials overwrite the memory that they free, so that
 * a credential that was replaced is nowhere once its owner has dropped it: libcurl with its
 * requests and header lists, OpenSSL with keys, nghttp2 with the headers that it sends,
 * libyaml with what a kubeconfig holds.
 *
 * Initialises libcurl; so it is called first, before any thread runs.
 */
void wipe_freed_memory(void);
