/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Keep our secrets in this process, for as long as they are of use: no core dumps, nobody of the
 * same user attaches to it, no TLS keys in $SSLKEYLOGFILE (libcurl and GnuTLS would write them),
 * and freed memory is wiped (wipe.h). Children find neither core dumps nor that variable.
 *
 * Initialises libcurl; so it is called first, before any thread runs.
 */
void secrecy_begin(void);
