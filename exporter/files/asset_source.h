/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/system/file.h"
#include "exporter/system/file_reader.h"
#include "exporter/system/log.h"
#include "metrics/base/json.h"
#include "metrics/model/store.h"

/*
 * One asset of a Cloud Asset Inventory export, as gcloud writes it to a file
 * (asset_type) or the API sends it (assetType).
 */

/*
 * The asset as an object for the store (metrics/model/connector_resource.h), NULL if Config
 * Connector has nothing to do with it: neither a label of a lease nor managed-by-cnrm. The caller
 * deletes it.
 */
cJSON *asset_convert(const cJSON *asset, int64_t snapshot_ms) MUST_USE;

/*
 * Reads one file, plain or gzip, whenever it has changed. With a file reader its thread reads and
 * unpacks the file, because a mount may hang at any byte; without one the caller blocks.
 */
struct asset_reader;

enum asset_reader_state {
    ASSET_READER_BEGINS, /* The file has changed; bytes follow. */
    ASSET_READER_BYTES,
    ASSET_READER_END,       /* The reading ends here, and with the next three states. */
    ASSET_READER_UNCHANGED, /* The file is as before. */
    ASSET_READER_FAILED,    /* The error has the reason. */
    ASSET_READER_LOST,      /* The job was not run to its end; the error has the reason. */
    ASSET_READER_WAITS,     /* No result yet: file_reader_fd() reports when to ask again. */
    ASSET_READER_HANGS,     /* No result for too long. The reading may go on later. */
};

struct asset_reader_bytes {
    const char *bytes; /* They stay until the next call. */
    size_t len;
    struct file_stamp stamp; /* Where it begins. */
};

/*
 * A Cloud Asset Inventory export as a source of leases: one JSON object after another, a line
 * each or over several, plain or gzip. It is read in slices, never held as a whole, and read
 * again when it changes. A file that cannot be read to its end removes no lease.
 *
 * With a file reader no function blocks: file_reader_fd() reports when to pump again.
 */
struct asset_source;

/* The path is copied, the rest borrowed; `reader` is NULL for none. */
struct asset_source *asset_source_new(struct store *store, const char *path,
                                      struct file_reader *reader, const struct log *log) MUST_USE;
/* The objects stay in the store. NULL is fine, for the other functions too: they do nothing. */
void asset_source_free(struct asset_source *s);

/*
 * Check whether the file has changed and read it, for about `slice_ms`. `now_ms` is steady.
 * True if the store may have changed.
 */
bool asset_source_pump(struct asset_source *s, int64_t now_ms, unsigned slice_ms);

/* True if there is more to pump at once. */
bool asset_source_busy(const struct asset_source *s);

/* When to pump though nothing has arrived, on the steady clock; INT64_MAX for never. */
int64_t asset_source_due(const struct asset_source *s);

/* True once the file has been read, or reading it has failed. */
bool asset_source_ready(const struct asset_source *s);

/* Returns true while the file does not answer, or its read was refused and is tried again. */
bool asset_source_hangs(const struct asset_source *s);

/* Why the file, or an asset in it, could not be read last; "" if all is well. Borrowed. */
const char *asset_source_problem(const struct asset_source *s);

/* When what was read last was written, since the epoch; 0 before the first. */
int64_t asset_source_snapshot_ms(const struct asset_source *s);

/* How many assets could not be read so far. */
uint64_t asset_source_rejected(const struct asset_source *s);
