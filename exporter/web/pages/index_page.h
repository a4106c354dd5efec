/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/serve/health.h"

/*
 * The page at "/": what there is to look at, for people. Plain HTML without any
 * script, light or dark as the browser is, for telephones as well.
 */

/* Append the page. Before the first evaluation is complete it says so. */
void index_page_write(const struct health *h, struct strbuf *out);
