/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/system/file.h"
#include "exporter/system/file_reader.h"
#include "exporter/system/log.h"
#include "metrics/base/json.h"
#include "metrics/model/store.h"

/*
 * File with an export of Cloud Asset Inventory as a source of Config Connector leases: JSON objects
 * in a row, plain or gzip. The file is read in slices, never held as a whole, and read again when
 * it changes. A file that cannot be read to its end removes no lease.
 *
 * With a file reader no function blocks: file_reader_fd() reports when to pump again. All functions
 * accept a NULL source, and then do nothing.
 */
struct asset_source;

/* Copies `path`, borrows the rest. If `reader` is NULL, the caller's thread reads the file. */
struct asset_source *asset_source_new(struct store *store, const char *path,
                                      struct file_reader *reader, const struct log *log) MUST_USE;
/* Frees the source; the objects stay in the store. */
void asset_source_free(struct asset_source *s);

/*
 * Checks every 2 s whether the file has changed, and reads a changed file; for about `slice_ms`.
 * `now_ms` is the steady clock. Returns true if the store may have changed.
 */
bool asset_source_pump(struct asset_source *s, int64_t now_ms, unsigned slice_ms);

/* Returns true if asset_source_pump() can continue at once. */
bool asset_source_busy(const struct asset_source *s);

/*
 * Returns, unless the source is busy, the steady time in milliseconds of the next
 * asset_source_pump() if file_reader_fd() reports nothing before; INT64_MAX: no call needed.
 */
int64_t asset_source_due(const struct asset_source *s);

/* Returns true once a reading has ended or failed; not after a hang or loss. True for NULL. */
bool asset_source_ready(const struct asset_source *s);

/* Returns true while the file does not answer, and after its last read job was rejected. */
bool asset_source_hangs(const struct asset_source *s);

/* Returns the reason of a hang, a failed reading or an invalid asset; "" without one. Borrowed. */
const char *asset_source_problem(const struct asset_source *s);

/* Returns true while the file hangs, and after its last reading failed. False for NULL. */
bool asset_source_is_broken(const struct asset_source *s);

/* Returns true if the last reading that ended found invalid assets. False for NULL. */
bool asset_source_has_rejected(const struct asset_source *s);

/* Returns the path of the file; "" for NULL. Borrowed. */
const char *asset_source_path(const struct asset_source *s);

/* Returns the modification time, in epoch ms, of the file last read completely; 0 before. */
int64_t asset_source_snapshot_ms(const struct asset_source *s);

/* Returns the number of invalid assets over all readings. Assets without "cnrm" are not checked. */
uint64_t asset_source_rejected(const struct asset_source *s);

/* Used only by asset_source.c and tests. */

/*
 * Converts an asset, as gcloud (asset_type) or the API (assetType) writes it, to an object for the
 * store (metrics/model/connector_resource.h), owned by the caller. Returns NULL if the asset
 * has no label of a lease and no label managed-by-cnrm.
 */
cJSON *asset_convert(const cJSON *asset, int64_t snapshot_ms) MUST_USE;
