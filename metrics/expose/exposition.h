/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/expose/registry.h"

/*
 * The page that scrapers read: families in the order of families.h, the series of each by
 * their text, so that the same numbers are the same bytes.
 */
enum exposition_format {
    EXPOSITION_TEXT,        /* text/plain; version=0.0.4 */
    EXPOSITION_OPENMETRICS, /* application/openmetrics-text; version=1.0.0 */
};

/*
 * Append the whole page of a registry after registry_prepare. Until the sources are
 * `synced` that is own health alone: numbers from half of the objects would be lies.
 */
void exposition_write(const struct registry *r, enum exposition_format format, bool synced,
                      struct strbuf *out);
