/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/*
 * May, and should, the answer be sent as gzip? `header` is the value of
 * Accept-Encoding, several of them joined by commas, or NULL. Names have no
 * case, "*" stands for what is not named, q=0 forbids, an entry with a malformed
 * weight is ignored, and where the client weighs "identity" higher it gets that.
 */
bool accept_gzip(const char *header);
