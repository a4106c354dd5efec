/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/json_writer.h"
#include "metrics/rules/override/override_effect.h"

/* Changes by override policies, as text and as JSON. `hidden` leaves out values, as of Secrets. */

/* Appends a change, such as "/spec/replicas: 2 -> 3". Long values are cut. */
void override_change_add_text(struct strbuf *out, const struct override_change *change,
                              bool hidden);

/* Writes the array "changes" of objects with "path", "from" and "to", or "path" and "hidden". */
void override_changes_write(struct json_writer *w, const struct override_changes *changes,
                            bool hidden);
