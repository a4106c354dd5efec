/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/*
 * May, and should, the answer be sent as gzip? `header` is the value of
 * Accept-Encoding, several of them joined by commas, or NULL. Names are read
 * without case, "*" stands for what is not named, q=0 forbids, a weight that is
 * none makes its entry void, and where the client weighs "identity" higher it
 * gets that.
 */
bool accept_gzip(const char *header);
