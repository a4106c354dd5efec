/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/session.h"

/* The API server that is followed, and what people should know of that. */
void source_section_write(const struct kube_session *session, struct strbuf *out);

/*
 * That alone: kinds that cannot be read, that have not been read yet and are late, that are polled,
 * and that are not served.
 */
void source_cards_write(const struct kube_source *source, struct strbuf *out);
