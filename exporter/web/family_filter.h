/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <microhttpd.h>

#include "metrics/base/error.h"

/*
 * Which families a scrape is for, by its parameters as node_exporter has them: collect[]=NAME for
 * these alone, or exclude[]=NAME for all but these. Names are those of families, of counters also
 * without "_total". Other parameters say nothing.
 */
struct family_filter {
    bool *named; /* Owned, by the index of family_at(); NULL: all families are wanted. */
    bool excludes;
    unsigned count; /* How many names there were. */
};

/*
 * Read it from a request's parameters. False with what is wrong, for a 400: a name that is no
 * family's, more than 100 of them, or both parameters. Release the filter in either case.
 */
bool family_filter_read(struct MHD_Connection *connection, struct family_filter *out,
                        struct error *err) MUST_USE;
/* All zero is released. */
void family_filter_release(struct family_filter *f);

/* Is the family of family_at(index) wanted? */
bool family_filter_wants(const struct family_filter *f, size_t index);
