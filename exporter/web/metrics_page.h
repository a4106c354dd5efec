/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/web/body.h"
#include "exporter/web/family_filter.h"
#include "metrics/expose/exposition.h"

/*
 * The page of metrics as it was at one moment, in every format, by family. What is the same in
 * two formats is there once, and what has not changed since the page before is shared with that.
 */
struct metrics_page;

/*
 * Write it from a registry after registry_prepare. `how` without its format; `previous` is the page
 * before it or NULL, `sum` what its bytes are added to or NULL. NULL if it would be larger than
 * `max` bytes. One holder.
 */
struct metrics_page *metrics_page_new(const struct registry *r, struct exposition how,
                                      const struct metrics_page *previous, size_t max,
                                      struct segment_sum *sum) MUST_USE;

/* The bytes of all formats; what two of them share is counted once. */
size_t metrics_page_len(const struct metrics_page *p);

/* One holder more, or less: the last one frees it. Any thread may call them. NULL is fine. */
struct metrics_page *metrics_page_hold(struct metrics_page *p);
void metrics_page_drop(struct metrics_page *p);

/* Append all of it in Prometheus' text format. Any thread may call it. */
void metrics_page_text(const struct metrics_page *p, struct strbuf *out);

/* The families that the filter wants, held for the caller. Any thread may call it. */
struct body *metrics_page_body(const struct metrics_page *p, enum exposition_format format,
                               const struct family_filter *filter) MUST_USE;
