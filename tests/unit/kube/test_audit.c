/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/audit.h"

#include "tests/unit/follow.h"
#include "tests/unit/suite.h"

enum {
    SEEDS = 20,
    HOUR_MS = 60 * 60 * 1000,
};

static uint64_t count_divergences(const struct follow_lab *lab)
{
    uint64_t count = 0;

    for (size_t i = 0; i < kube_source_reflector_count(lab->source); i++)
        count += kube_source_reflector(lab->source, i)->watch.counts.divergences;
    return count;
}

static uint64_t count_audits(const struct follow_lab *lab)
{
    uint64_t count = 0;

    for (size_t i = 0; i < kube_source_reflector_count(lab->source); i++)
        count += kube_source_reflector(lab->source, i)->watch.counts.audits;
    return count;
}

/* Each function makes store and server differ in one object, without an event about this object. */
static void remove_from_store(struct follow_lab *lab)
{
    store_remove(lab->world.store, world_find(&lab->world, "v1", "ConfigMap", "a", "known"));
}

static void delete_without_event(struct follow_lab *lab)
{
    follow_remove(lab, FAKE_CONFIG_MAP, "known");
    lab->api.log_count--;
    follow_put_map(lab, "other", 1);
}

static void change_without_event(struct follow_lab *lab)
{
    follow_put_map(lab, "known", 2);
    lab->api.log_count--;
    follow_put_map(lab, "other", 1);
}

static struct difference {
    const char *title;
    void (*make)(struct follow_lab *lab);
} differences[] = {
    {"missing in the store", remove_from_store},
    {"deleted on the server", delete_without_event},
    {"older in the store", change_without_event},
};

TEST_ROWS(audit_counts_and_repairs_a_difference, differences, title)
{
    const struct difference *p = *state;
    CLEANUP(free_cleanup) struct follow_lab *lab = xcalloc(1, sizeof(*lab));

    for (uint32_t seed = 1; seed <= SEEDS; seed++) {
        follow_start_synced(lab, seed, 60 * 1000);
        lab->log.level = LOG_LEVEL_ERROR;
        lab->api.paginates = seed % 4 < 2;
        follow_put_map(lab, "known", 1);
        follow_settle(lab);
        assert_int_equal(follow_count_wrong(lab), 0);
        p->make(lab);
        follow_settle(lab);
        assert_true(follow_count_wrong(lab) > 0);
        /* Streams last 300 s or more: only the audit can repair the difference earlier. */
        follow_pass(lab, 260 * 1000);
        assert_int_equal(follow_count_wrong(lab), 0);
        assert_int_equal(count_divergences(lab), 1);
        follow_release(lab);
    }
}

/* Connections break meanwhile, and streams lag. */
TEST(changes_during_audits_are_not_divergences)
{
    CLEANUP(free_cleanup) struct follow_lab *lab = xcalloc(1, sizeof(*lab));
    uint64_t audits = 0;

    for (uint32_t seed = 1; seed <= SEEDS; seed++) {
        follow_start_synced(lab, seed, 60 * 1000);
        lab->api.paginates = seed % 4 < 2;
        for (unsigned i = 0; i < 3000; i++) {
            follow_write(lab, fake_random(&lab->api, 3));
            follow_pass(lab, fake_random(&lab->api, 300));
            if (fake_random(&lab->api, 300) == 0)
                lab->api.behind = fake_random(&lab->api, 10);
            if (fake_random(&lab->api, 300) == 0)
                fake_cut_all(&lab->api);
        }
        assert_int_equal(count_divergences(lab), 0);
        lab->api.behind = 0;
        follow_pass(lab, 5 * 60 * 1000);
        assert_int_equal(count_divergences(lab), 0);
        assert_int_equal(follow_count_wrong(lab), 0);
        audits += count_audits(lab);
        follow_release(lab);
    }
    assert_true(audits > SEEDS * 20);
}

/* The first audit of a resource starts one interval after its reflector was created. */
TEST(each_resource_is_audited_once_per_interval)
{
    CLEANUP(free_cleanup) struct follow_lab *lab = xcalloc(1, sizeof(*lab));

    follow_start_synced(lab, 3, HOUR_MS);

    uint64_t lists = follow_count_lists(lab);
    follow_pass(lab, HOUR_MS - 60 * 1000);
    assert_int_equal(count_audits(lab), 0);
    follow_pass(lab, 5 * HOUR_MS + 120 * 1000);

    uint64_t audits = count_audits(lab) / kube_source_reflector_count(lab->source);
    assert_in_range(audits, 5, 6);
    assert_int_equal(follow_count_lists(lab), lists);
    follow_release(lab);
}

TEST(interval_zero_disables_audits)
{
    CLEANUP(free_cleanup) struct follow_lab *lab = xcalloc(1, sizeof(*lab));

    follow_start_synced(lab, 3, 0);
    follow_pass(lab, 30 * HOUR_MS);
    assert_int_equal(count_audits(lab), 0);
    follow_release(lab);
}

/* At least 250 ms pass between two pages: 120 ConfigMaps in pages of three take 10 s. */
TEST(audit_pauses_between_pages)
{
    CLEANUP(free_cleanup) struct follow_lab *lab = xcalloc(1, sizeof(*lab));

    follow_start_synced(lab, 5, HOUR_MS);
    lab->api.paginates = true;
    for (unsigned i = 0; i < 120; i++) {
        char name[16];

        snprintf(name, sizeof(name), "m%u", i);
        follow_put_map(lab, name, 1);
    }
    follow_pass(lab, HOUR_MS - 10 * 1000);

    uint64_t audits = count_audits(lab);
    follow_pass(lab, 9 * 1000);
    audits = count_audits(lab) - audits;
    assert_true(audits < kube_source_reflector_count(lab->source));
    follow_pass(lab, 60 * 1000);
    assert_int_equal(count_audits(lab), kube_source_reflector_count(lab->source));
    follow_release(lab);
}

/* Each list repeats its first page without end; the audit limits the pages of each attempt. */
TEST(endless_list_ends_each_audit_early)
{
    CLEANUP(free_cleanup) struct follow_lab *lab = xcalloc(1, sizeof(*lab));

    follow_start_synced(lab, 5, HOUR_MS);
    follow_pass(lab, HOUR_MS - 10 * 1000);
    lab->api.endless = true;
    lab->api.pages = 0;
    follow_pass(lab, 60 * 1000);

    uint64_t before = lab->api.pages;
    follow_pass(lab, 10 * 60 * 1000);
    assert_true(before > 0);
    /* The audit retries each resource once a minute. */
    assert_in_range(lab->api.pages - before, 1,
                    11 * (LIST_EMPTY_PAGES_MAX + 1) * kube_source_reflector_count(lab->source));
    lab->api.endless = false;
    uint64_t audits = count_audits(lab);
    follow_pass(lab, 5 * 60 * 1000);
    assert_true(count_audits(lab) > audits);
    follow_release(lab);
}
