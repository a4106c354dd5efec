/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/session.h"

/*
 * The API server that is followed, and what people should know of that: kinds that cannot be read,
 * that have not been read yet and are late, that are polled, and that are not served.
 */
void source_section_write(const struct kube_session *session, struct strbuf *out);
