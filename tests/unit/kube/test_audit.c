/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/audit.h"

#include "tests/unit/follow.h"
#include "tests/unit/suite.h"

/* The audit finds what no stream told, and nothing else. */

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

/* The store loses an object, has one that is gone, or an old one; the streams know of nothing. */
static void plant_missing(struct follow_lab *lab)
{
    store_remove(lab->world.store, world_find(&lab->world, "v1", "ConfigMap", "a", "known"));
}

static void plant_phantom(struct follow_lab *lab)
{
    follow_remove(lab, FAKE_CONFIG_MAP, "known");
    lab->api.log_count--;
    follow_put_map(lab, "other", 1);
}

static void plant_old(struct follow_lab *lab)
{
    follow_put_map(lab, "known", 2);
    lab->api.log_count--;
    follow_put_map(lab, "other", 1);
}

static struct planted {
    const char *title;
    void (*plant)(struct follow_lab *lab);
} planted[] = {
    {"missing", plant_missing},
    {"gone there", plant_phantom},
    {"another version", plant_old},
};

TEST_ROWS(what_is_planted_is_found_counted_and_healed, planted, title)
{
    const struct planted *p = *state;
    CLEANUP(free_cleanup) struct follow_lab *lab = xcalloc(1, sizeof(*lab));

    for (uint32_t seed = 1; seed <= SEEDS; seed++) {
        follow_start_synced(lab, seed, 60 * 1000);
        lab->log.level = LOG_LEVEL_ERROR;
        lab->api.paginates = seed % 4 < 2;
        follow_put_map(lab, "known", 1);
        follow_settle(lab);
        assert_int_equal(follow_count_wrong(lab), 0);
        p->plant(lab);
        follow_settle(lab);
        assert_true(follow_count_wrong(lab) > 0);
        /* Before any stream ends. */
        follow_pass(lab, 260 * 1000);
        assert_int_equal(follow_count_wrong(lab), 0);
        assert_int_equal(count_divergences(lab), 1);
        follow_release(lab);
    }
}

/* Whatever is written, cut or lags meanwhile: nothing is found, nothing is listed anew or swept. */
TEST(what_changes_meanwhile_is_no_divergence)
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

/* Every resource once an hour, one after the other, and the first after an hour. */
TEST(the_interval_is_kept)
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

TEST(without_an_interval_there_is_none)
{
    CLEANUP(free_cleanup) struct follow_lab *lab = xcalloc(1, sizeof(*lab));

    follow_start_synced(lab, 3, 0);
    follow_pass(lab, 30 * HOUR_MS);
    assert_int_equal(count_audits(lab), 0);
    follow_release(lab);
}

/* Whatever there is to do, no more than a page in a quarter of a second. */
TEST(pages_have_their_pauses)
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

/* The pages repeat for ever: the audit fails, and the next one is as short. */
TEST(a_list_that_does_not_end_ends_the_audit)
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
    /* Each resource is tried again once a minute. */
    assert_in_range(lab->api.pages - before, 1,
                    11 * (LIST_EMPTY_PAGES_MAX + 1) * kube_source_reflector_count(lab->source));
    lab->api.endless = false;
    uint64_t audits = count_audits(lab);
    follow_pass(lab, 5 * 60 * 1000);
    assert_true(count_audits(lab) > audits);
    follow_release(lab);
}
