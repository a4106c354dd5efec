/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Keeps secrets inside the process: disables core dumps, stops other processes of the same user
 * from attaching, and unsets SSLKEYLOGFILE, the file to which libcurl and GnuTLS write TLS keys.
 * Children inherit the core limit and the environment.
 *
 * Initialises libcurl, so main() calls the function before any thread runs. Allocations of libcurl
 * do not return without memory: a request could lose an option or a header without an error.
 */
void secrecy_begin(void);
