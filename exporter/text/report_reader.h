/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/json.h"

/* Reading of reports of `check -o json` and `-o yaml`, of one or of several environments. */

enum { REPORT_MAX_BYTES = 512 * 1024 * 1024, REPORT_YAML_MAX_BYTES = 64 * 1024 * 1024 };

enum report_part {
    REPORT_PART_ENVIRONMENT, /* The report has data of the environment; without an element. */
    REPORT_PART_PROBLEM,
    REPORT_PART_TEMPLATE,
    REPORT_PART_INVALID,
};

/* `environment` is "" in a report without environments. Texts are borrowed. */
typedef void report_part_fn(void *context, const char *environment, enum report_part part,
                            const cJSON *element);

/*
 * Calls `each` for the parts of a report; only one element at a time is in memory as a tree.
 * `text[len]` must be readable and NUL. Returns false with the reason if the text is no report that
 * this version reads.
 */
bool report_read_text(const char *text, size_t len, report_part_fn *each, void *context,
                      struct error *err) MUST_USE;
