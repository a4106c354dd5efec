/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/etcd.h"

void etcd_init(struct etcd *e)
{
    *e = (struct etcd){.version = ETCD_FIRST_VERSION};
}

void etcd_release(struct etcd *e)
{
    free(e->log);
}

static void append_change(struct etcd *e, unsigned slot, const char *type, struct cell *cell,
                          int64_t now_ms)
{
    if (e->count == e->capacity) {
        e->capacity = e->capacity ? 2 * e->capacity : 256;
        e->log = xreallocarray(e->log, e->capacity, sizeof(*e->log));
    }
    cell->version = ++e->version;
    cell->written_ms = now_ms;
    e->log[e->count++] = (struct change){
        .version = e->version, .at_ms = now_ms, .slot = slot, .type = type, .cell = *cell};
}

void etcd_put(struct etcd *e, unsigned slot, uint32_t value, uint32_t padding, int64_t now_ms)
{
    struct cell *cell = &e->cells[slot];
    bool added = !cell->exists;

    cell->exists = true;
    cell->value = value;
    cell->padding = padding;
    if (added)
        cell->incarnation = ++e->incarnations;
    cell->generation = added ? 1 : cell->generation + 1;
    append_change(e, slot, added ? "ADDED" : "MODIFIED", cell, now_ms);
}

void etcd_remove(struct etcd *e, unsigned slot, int64_t now_ms)
{
    struct cell *cell = &e->cells[slot];

    if (!cell->exists)
        return;
    append_change(e, slot, "DELETED", cell, now_ms);
    cell->exists = false;
}

uint64_t etcd_version_at(const struct etcd *e, size_t count)
{
    return count > 0 ? e->log[count - 1].version : ETCD_FIRST_VERSION;
}

size_t etcd_count_at(const struct etcd *e, uint64_t version)
{
    size_t count = e->count;

    while (count > 0 && e->log[count - 1].version > version)
        count--;
    return count;
}

void etcd_compact(struct etcd *e, size_t upto)
{
    uint64_t version = etcd_version_at(e, upto);

    if (version > e->compacted)
        e->compacted = version;
}

static void apply_change(struct cell *cell, const struct change *c)
{
    *cell = c->cell;
    cell->exists = strcmp(c->type, "DELETED") != 0;
}

void etcd_restore(struct etcd *e, size_t count, int64_t now_ms)
{
    struct cell cells[SIM_SLOTS] = {{0}};

    for (size_t i = 0; i < count; i++) {
        /* The fault that added the padding may be over, and would not remove the padding again. */
        e->log[i].cell.padding = 0;
        apply_change(&cells[e->log[i].slot], &e->log[i]);
    }
    for (unsigned slot = 0; slot < SIM_SLOTS; slot++) {
        if (cells[slot].version != e->cells[slot].version ||
            cells[slot].exists != e->cells[slot].exists)
            cells[slot].written_ms = now_ms;
    }
    memcpy(e->cells, cells, sizeof(cells));
    e->count = count;
    e->version = etcd_version_at(e, count);
    e->compacted = e->version;
    e->epoch++;
}

void etcd_kind_at(const struct etcd *e, enum sim_kind kind, size_t count,
                  struct cell out[static SIM_PLACES])
{
    memset(out, 0, SIM_PLACES * sizeof(*out));
    if (count == e->count) {
        memcpy(out, &e->cells[kind * SIM_PLACES], SIM_PLACES * sizeof(*out));
        return;
    }
    for (size_t i = 0; i < count; i++) {
        if (slot_kind(e->log[i].slot) == kind)
            apply_change(&out[e->log[i].slot % SIM_PLACES], &e->log[i]);
    }
}
