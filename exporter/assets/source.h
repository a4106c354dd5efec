/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/system/log.h"
#include "metrics/model/store.h"

/*
 * A Cloud Asset Inventory export as a source of leases: one JSON object after another, a line
 * each or over several, plain or gzip. It is read in slices and never held as a whole, and
 * read again when it changes. A file that cannot be read to its end takes nothing back.
 */
struct asset_source;

/* The path is copied, the rest borrowed. */
struct asset_source *asset_source_new(struct store *store, const char *path,
                                      const struct log *log) MUST_USE;
/* The objects stay in the store. Takes NULL, as do the other functions: there is nothing to do. */
void asset_source_free(struct asset_source *s);

/*
 * Look whether the file has changed, and read on, for about `slice_ms`. `now_ms` is steady.
 * True if the store may have changed.
 */
bool asset_source_pump(struct asset_source *s, int64_t now_ms, unsigned slice_ms);

/* True while a reading is not at its end. */
bool asset_source_busy(const struct asset_source *s);

/* When the next look at the file is due; INT64_MAX for never. */
int64_t asset_source_due(const struct asset_source *s);

/* True once the file has been read, or could not be. */
bool asset_source_settled(const struct asset_source *s);

/* Why it could not be read last, or something in it; "" if there is nothing to say. Borrowed. */
const char *asset_source_problem(const struct asset_source *s);

/* When what was read last was written, since the epoch; 0 before the first. */
int64_t asset_source_snapshot_ms(const struct asset_source *s);

/* How many assets could not be understood, so far. */
uint64_t asset_source_rejected(const struct asset_source *s);
