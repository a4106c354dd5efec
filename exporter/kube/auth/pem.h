/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/error.h"

/*
 * Whether a text is the PEM that it should be: enough to tell a file that is
 * half written, or another file, from a good one before curl is given it. What
 * is inside the blocks is looked at by the TLS library only.
 */

/* One certificate or more, each block complete. */
bool pem_check_certificates(const char *text, struct error *err) MUST_USE;

/* One private key, without a passphrase: curl would ask for it on the terminal, and wait. */
bool pem_check_key(const char *text, struct error *err) MUST_USE;
