/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/graph.h"

#include "tests/unit/number_sequence.h"
#include "tests/unit/suite.h"

enum { ENTRIES = 120, STEPS = 10000, READS_MAX = 20 };

/* Model of the edges and timers of all entries. */
struct lab {
    struct store *store;
    struct graph *graph;
    struct entry *entries[ENTRIES]; /* Pinned. */
    bool reads[ENTRIES][ENTRIES];   /* reads[i][k]: entry i reads entry k. */
    int64_t due_ms[ENTRIES];        /* INT64_MAX without a timer. */
    uint64_t random;
};

static unsigned lowest_rank(const struct entry *entry)
{
    (void)entry;
    return 0;
}

static void lab_setup(struct lab *lab, uint64_t seed)
{
    *lab = (struct lab){.store = store_new(seed), .random = seed};
    lab->graph = graph_new(lab->store, lowest_rank);
    for (unsigned i = 0; i < ENTRIES; i++) {
        char name[16];

        snprintf(name, sizeof(name), "m%u", i);
        lab->entries[i] =
            store_find_or_add(lab->store, &(struct identity){"v1", "ConfigMap", "shop", name});
        store_pin(lab->entries[i]);
        lab->due_ms[i] = INT64_MAX;
    }
}

static void lab_release(struct lab *lab)
{
    static const struct entry_list nothing = {0};

    for (unsigned i = 0; i < ENTRIES; i++) {
        graph_set_reads(lab->graph, lab->entries[i], &nothing);
        graph_set_timer(lab->graph, lab->entries[i], INT64_MAX);
    }
    graph_free(lab->graph);
    for (unsigned i = 0; i < ENTRIES; i++) {
        lab->entries[i]->dirty = false;
        store_unpin(lab->store, lab->entries[i]);
    }
    assert_int_equal(store_first_type(lab->store)->partitions->count, 0);
    store_free(lab->store);
}

/* Gives a random entry random reads, with duplicates. One in two lists has the first entry. */
static void change_reads(struct lab *lab)
{
    CLEANUP(entry_list_release) struct entry_list list = {0};
    uint32_t reader = next_random(&lab->random) % ENTRIES,
             count = next_random(&lab->random) % (READS_MAX + 1);

    memset(lab->reads[reader], 0, sizeof(lab->reads[reader]));
    for (uint32_t i = 0; i < count; i++) {
        uint32_t read = next_random(&lab->random) % 2 ? next_random(&lab->random) % ENTRIES : 0;

        entry_list_add(&list, lab->entries[read]);
        lab->reads[reader][read] = true;
    }
    graph_set_reads(lab->graph, lab->entries[reader], &list);
    assert_false(graph_reads_differ(lab->entries[reader], &list));
    entry_list_add(&list, lab->entries[reader]);
    assert_int_equal(graph_reads_differ(lab->entries[reader], &list), !lab->reads[reader][reader]);
}

static void change_timer(struct lab *lab)
{
    uint32_t at = next_random(&lab->random) % ENTRIES;
    int64_t due_ms = next_random(&lab->random) % 1000;

    switch (next_random(&lab->random) % 3) {
    case 0:
        graph_set_timer(lab->graph, lab->entries[at], INT64_MAX);
        lab->due_ms[at] = INT64_MAX;
        break;
    case 1:
        graph_set_timer(lab->graph, lab->entries[at], due_ms);
        lab->due_ms[at] = due_ms;
        break;
    default:
        graph_lower_timer(lab->graph, lab->entries[at], due_ms);
        lab->due_ms[at] = due_ms < lab->due_ms[at] ? due_ms : lab->due_ms[at];
        break;
    }
}

static void compare_edges(const struct lab *lab)
{
    for (unsigned i = 0; i < ENTRIES; i++) {
        const struct entry *e = lab->entries[i];
        uint32_t reads = 0, readers = 0;

        for (unsigned k = 0; k < ENTRIES; k++) {
            reads += lab->reads[i][k];
            readers += lab->reads[k][i];
        }
        assert_int_equal(entry_read_count(e), reads);
        assert_int_equal(entry_reader_count(e), readers);
        for (uint32_t k = 0; k < reads; k++)
            assert_true(lab->reads[i][entry_read(e, k)->position]);
        for (uint32_t k = 0; k < readers; k++)
            assert_true(lab->reads[entry_reader(e, k)->position][i]);
    }
}

/* Compares the entries that graph_next() returns with the entries that have a due timer. */
static void compare_timers(const struct lab *lab, int64_t now_ms)
{
    bool marked[ENTRIES] = {false};
    int64_t first_ms = INT64_MAX;
    struct entry *entry;

    for (unsigned i = 0; i < ENTRIES; i++)
        first_ms = lab->due_ms[i] < first_ms ? lab->due_ms[i] : first_ms;
    assert_true(graph_deadline(lab->graph) <= first_ms);
    graph_mark_due_entries(lab->graph, now_ms);
    while ((entry = graph_next(lab->graph)))
        marked[entry->position] = true;
    for (unsigned i = 0; i < ENTRIES; i++)
        assert_int_equal(marked[i], lab->due_ms[i] <= now_ms);
}

TEST(edges_and_timers_agree_with_a_model)
{
    for (uint64_t seed = 1; seed <= 3; seed++) {
        CLEANUP(lab_release) struct lab lab;

        lab_setup(&lab, seed);
        for (unsigned step = 0; step < STEPS; step++) {
            change_reads(&lab);
            change_timer(&lab);
            if (step % 200 == 0)
                compare_edges(&lab);
        }
        compare_edges(&lab);
        compare_timers(&lab, 300);
    }
}

TEST(readers_of_a_removed_entry_keep_it)
{
    CLEANUP(lab_release) struct lab lab;
    CLEANUP(entry_list_release) struct entry_list list = {0};
    struct identity absent = {"v1", "ConfigMap", "shop", "absent"};

    lab_setup(&lab, 1);
    entry_list_add(&list, store_find_or_add(lab.store, &absent));
    graph_set_reads(lab.graph, lab.entries[0], &list);
    graph_set_reads(lab.graph, lab.entries[1], &list);
    list.count = 0;
    graph_set_reads(lab.graph, lab.entries[0], &list);
    assert_non_null(store_find(lab.store, &absent));
    graph_set_reads(lab.graph, lab.entries[1], &list);
    assert_null(store_find(lab.store, &absent));
}
