/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/follow.h"

#include <setjmp.h>

#include <cmocka.h>

#include "metrics/model/policy.h"
#include "metrics/model/store.h"
#include "metrics/model/template.h"

void follow_init(struct follow_lab *lab, uint32_t seed)
{
    *lab = (struct follow_lab){.log = {.level = LOG_LEVEL_ERROR, .stream = stderr}};
    fake_api_init(&lab->api, seed);
    lab->api.now_ms = FOLLOW_START_MS;
    lab->transport = fake_api_transport(&lab->api);
    world_init(&lab->world, &rules_options_default, seed);
}

static void start(struct follow_lab *lab, int64_t audit_interval_ms)
{
    lab->source = kube_source_new(&(struct kube_source_settings){
        .store = lab->world.store,
        .engine = lab->world.engine,
        .filter = &lab->filter,
        .log = &lab->log,
        .transport = lab->transport,
        .streaming_lists = true,
        .references = lab->references,
        .works = lab->api.works_wanted,
        .audit_interval_ms = audit_interval_ms,
        .seed = 7,
        .now_ms = lab->api.now_ms,
        .clock_ms = FOLLOW_CLOCK_OFFSET_MS,
    });
}

void follow_start(struct follow_lab *lab)
{
    start(lab, 0);
}

void follow_start_synced(struct follow_lab *lab, uint32_t seed, int64_t audit_interval_ms)
{
    follow_init(lab, seed);
    lab->api.bookmarks = seed % 2;
    lab->api.streaming_lists = seed % 3 == 0;
    fake_put(&lab->api, FAKE_CLUSTER_POLICY, "", "all", 0);
    follow_write(lab, 20);
    start(lab, audit_interval_ms);
    follow_pass(lab, 10 * 1000);
    assert_true(kube_source_ready(lab->source));
}

void follow_release(struct follow_lab *lab)
{
    kube_source_free(lab->source);
    assert_null(lab->api.transfers);
    fake_api_release(&lab->api);
    world_release(&lab->world);
}

void follow_settle(struct follow_lab *lab)
{
    unsigned turns = 0;

    do {
        assert_true(++turns < 10000);
        kube_source_turn(lab->source, lab->api.now_ms, FOLLOW_CLOCK_OFFSET_MS + lab->api.now_ms);
        if (lab->disturb)
            lab->disturb(&lab->api);
    } while (fake_turn(&lab->api));
    kube_source_turn(lab->source, lab->api.now_ms, FOLLOW_CLOCK_OFFSET_MS + lab->api.now_ms);
}

void follow_pass(struct follow_lab *lab, int64_t ms)
{
    int64_t until_ms = lab->api.now_ms + ms;

    follow_settle(lab);
    while (lab->api.now_ms < until_ms) {
        int64_t due_ms = kube_source_due(lab->source);
        int64_t step_ms = lab->api.now_ms + 10 * 1000;

        if (due_ms < step_ms)
            step_ms = due_ms > lab->api.now_ms ? due_ms : lab->api.now_ms + 1;
        lab->api.now_ms = step_ms < until_ms ? step_ms : until_ms;
        follow_settle(lab);
    }
}

void follow_put_policy(struct follow_lab *lab, const char *name, unsigned value)
{
    /* Values divisible by 6 select ConfigMaps. The value modulo 7 is the priority. */
    fake_put(&lab->api, FAKE_POLICY, "a", name, value * 6);
}

void follow_put_map(struct follow_lab *lab, const char *name, unsigned value)
{
    fake_put(&lab->api, FAKE_CONFIG_MAP, "a", name, value);
}

void follow_remove(struct follow_lab *lab, enum fake_kind kind, const char *name)
{
    for (size_t i = 0; i < lab->api.count; i++) {
        if (lab->api.objects[i].kind == kind && strcmp(lab->api.objects[i].name, name) == 0) {
            fake_remove(&lab->api, i);
            return;
        }
    }
    fail_msg("there is no %s '%s'", fake_kinds[kind].kind, name);
}

static void write_random_object(struct follow_lab *lab)
{
    static const char *const names[] = {"u", "v", "w", "x", "y", "z"};
    const char *name = names[fake_random(&lab->api, ARRAY_LEN(names))];
    uint32_t which = fake_random(&lab->api, 4);

    if (which == 0)
        follow_put_policy(lab, name, fake_random(&lab->api, 6));
    else if (which == 1 && lab->api.count > 3)
        fake_remove(&lab->api, 1 + fake_random(&lab->api, (uint32_t)lab->api.count - 1));
    else
        follow_put_map(lab, name, fake_random(&lab->api, 100));
}

void follow_write(struct follow_lab *lab, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        write_random_object(lab);
}

static const char *first_label_value(const struct template *t)
{
    const struct labels labels = template_labels(t);

    return labels.count > 0 ? labels_at(&labels, 0).value : "";
}

unsigned follow_count_wrong(const struct follow_lab *lab)
{
    size_t policies = 0, maps = 0;
    unsigned wrong = 0;

    for (size_t i = 0; i < lab->api.count; i++) {
        const struct fake_object *o = &lab->api.objects[i];
        const struct fake_kind_row *row = &fake_kinds[o->kind];
        const struct entry *entry =
            world_find(&lab->world, row->api_version, row->kind, o->ns, o->name);
        bool there = entry && entry_exists(entry);
        char value[16];

        snprintf(value, sizeof(value), "%u", o->value);
        if (row->template) {
            maps++;
            wrong += !there || strcmp(first_label_value(entry_template(entry)), value) != 0;
        } else {
            policies++;
            wrong += !there || entry_policy(entry)->priority != (int32_t)(o->value % 7);
        }
    }
    wrong += store_object_count(lab->world.store, CLASS_POLICY) != policies;
    return wrong + (store_object_count(lab->world.store, CLASS_TEMPLATE) != maps);
}

uint64_t follow_count_lists(const struct follow_lab *lab)
{
    uint64_t lists = 0;

    for (size_t i = 0; i < kube_source_reflector_count(lab->source); i++)
        lists += kube_source_reflector(lab->source, i)->watch.counts.lists;
    return lists;
}
