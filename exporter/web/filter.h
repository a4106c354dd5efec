/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/web/query.h"
#include "metrics/expose/list_rows.h"
#include "metrics/expose/report.h"

/* Whom of a list its query asks for. */

/* Which rows of templates; the texts are the query's. False if a value is none of what there is. */
bool filter_rows(const struct query *q, struct row_filter *out, struct error *err) MUST_USE;

/* True if it asks for an entry of a list of the report: a policy, a dependency or a lease. */
bool filter_wants(const struct query *q, enum report_list list, const struct entry *entry);
