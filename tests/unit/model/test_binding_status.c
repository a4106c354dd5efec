/* SPDX-License-Identifier: Apache-2.0 */
/* Bindings with a large status: decoded members, and memory use. */
#include "metrics/model/binding.h"

#include "tests/unit/heap.h"
#include "tests/unit/reading.h"
#include "tests/unit/suite.h"

enum {
    TARGETS = 500,
    OTHER_CLUSTERS = 10000,
    FAILED_TARGET = 250,
    MEGABYTE = 1 << 20,
    TEXT_MAX = 8 * MEGABYTE,
    /* Limit for a binding with TARGETS clusters, including the interned cluster names. */
    TARGETS_BYTES = 100 * TARGETS,
};

static const char euro[] = "\xe2\x82\xac";

/* Begins a binding with `count` target clusters, up to the first element of aggregatedStatus. */
static void begin_binding(struct strbuf *out, unsigned count)
{
    strbuf_adds(out, "{'metadata':{'name':'x'},'spec':{'clusters':[");
    for (unsigned i = 0; i < count; i++)
        strbuf_addf(out, "%s{'name':'c%u','replicas':1}", i > 0 ? "," : "", i);
    strbuf_adds(out, "]},'status':{'aggregatedStatus':[");
}

static void end_binding(struct strbuf *out)
{
    strbuf_adds(out, "]}}");
    assert_in_range(out->len, MEGABYTE, TEXT_MAX - 1);
}

/* Returns the bytes outside the pool, which grows by blocks of up to a MiB for cells of all sizes.
 */
static size_t heap_bytes_besides_pool(const struct reading *r)
{
    return heap_bytes() - pool_bytes(intern_memory(r->strings));
}

/* Asserts that the pool has no copy of the text of a binding, which has more than a megabyte. */
static void check_pool(const struct reading *r)
{
    assert_in_range(pool_bytes(intern_memory(r->strings)), 0, MEGABYTE - 1);
}

/* Decodes a binding. Sets `bytes` to its memory besides the pool; 0 if HEAP_COUNTS is 0. */
static struct binding *decode_binding_text(struct reading *r, const struct strbuf *text,
                                           size_t *bytes)
{
    CLEANUP(json_cleanup) cJSON *json = json_of(text->data);
    size_t before = HEAP_COUNTS ? heap_bytes_besides_pool(r) : 0;
    struct binding *b = binding_decode(&r->decode, json);

    *bytes = HEAP_COUNTS ? heap_bytes_besides_pool(r) - before : 0;
    if (!b)
        fail_msg("%s", r->err.text);
    return b;
}

/* ---- status of member clusters ---- */

TEST(long_status_of_member_clusters_is_not_kept)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX);
    CLEANUP(reading_release) struct reading r;
    size_t bytes;

    begin_binding(&text, TARGETS);
    for (unsigned i = 0; i < TARGETS; i++)
        strbuf_addf(&text,
                    "%s{'clusterName':'c%u','applied':true,'health':'%s','status':{"
                    "'resourceTemplateGeneration':%u,'said':'%02200u'}}",
                    i > 0 ? "," : "", i, i == FAILED_TARGET ? "Unhealthy" : "Healthy", i + 1, i);
    end_binding(&text);
    reading_init(&r);

    struct binding *b = decode_binding_text(&r, &text, &bytes);

    assert_int_equal(binding_target_count(b), TARGETS);
    assert_int_equal(b->delivered_generation, 1);
    for (unsigned i = 0; i < TARGETS; i++) {
        const struct target_status *item = &b->clusters[i].item;

        assert_true(item->exists && item->applied && !item->has_message);
        assert_int_equal(item->generation, i + 1);
        assert_int_equal(item->health, i == FAILED_TARGET ? HEALTH_UNHEALTHY : HEALTH_HEALTHY);
    }
    assert_null(b->status.problem);
    assert_in_range(bytes, 0, TARGETS_BYTES);
    check_pool(&r);
    binding_release(r.strings, b);
}

/* ---- messages of failed applies ---- */

/* Appends a message of at least `len` bytes: "c<target> ", then characters of three bytes. */
static void add_message(struct strbuf *out, unsigned target, size_t len)
{
    size_t start = out->len;

    strbuf_addf(out, "c%u ", target);
    while (out->len - start < len)
        strbuf_adds(out, euro);
}

static void add_failed_apply(struct strbuf *out, const char *name, unsigned target, size_t len)
{
    strbuf_addf(out, "{'clusterName':'%s%u','appliedMessage':'", name, target);
    add_message(out, target, len);
    strbuf_adds(out, "'}");
}

/* Writes a binding for which the apply failed in all clusters, with different messages. */
static void write_failed_binding(struct strbuf *out, size_t len)
{
    begin_binding(out, TARGETS);
    for (unsigned i = 0; i < TARGETS; i++) {
        strbuf_adds(out, i > 0 ? "," : "");
        add_failed_apply(out, "c", i, len);
    }
    end_binding(out);
}

/* Checks that the message of a target is cut to at most MESSAGE_MAX bytes, between characters. */
static void check_message(const struct binding *b, unsigned target, size_t len)
{
    CLEANUP(strbuf_release) struct strbuf whole = STRBUF_INIT(TEXT_MAX);
    const char *message = binding_status_message(&b->status, b->clusters[target].name);
    size_t kept = strlen(message);

    add_message(&whole, target, len);
    assert_in_range(kept, MESSAGE_MAX - strlen(euro) + 1, MESSAGE_MAX);
    assert_memory_equal(message, whole.data, kept);
    assert_int_equal((kept - strcspn(whole.data, euro)) % strlen(euro), 0);
}

TEST(each_message_is_cut_between_characters)
{
    enum { LEN = 2200 };
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX);
    CLEANUP(reading_release) struct reading r;
    size_t bytes;

    write_failed_binding(&text, LEN);
    reading_init(&r);

    struct binding *b = decode_binding_text(&r, &text, &bytes);

    assert_int_equal(b->status.problem->message_count, TARGETS);
    for (unsigned i = 0; i < TARGETS; i++) {
        assert_true(b->clusters[i].item.has_message);
        check_message(b, i, LEN);
    }
    assert_in_range(bytes, 0, TARGETS_BYTES + TARGETS * (MESSAGE_MAX + 100));
    binding_release(r.strings, b);
}

TEST(one_message_of_a_megabyte_is_cut)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX);
    CLEANUP(reading_release) struct reading r;
    size_t bytes;

    begin_binding(&text, 1);
    add_failed_apply(&text, "c", 0, MEGABYTE);
    strbuf_adds(&text, "],'conditions':[{'type':'Scheduled','status':'False','message':'");
    add_message(&text, 7, MEGABYTE);
    strbuf_adds(&text, "'}");
    end_binding(&text);
    reading_init(&r);

    struct binding *b = decode_binding_text(&r, &text, &bytes);

    check_message(b, 0, MEGABYTE);
    assert_in_range(strlen(b->status.problem->message), MESSAGE_MAX - 2, MESSAGE_MAX);
    assert_memory_equal(b->status.problem->message, "c7 \xe2\x82\xac", 6);
    assert_in_range(bytes, 0, 8 * MESSAGE_MAX);
    binding_release(r.strings, b);
}

static struct binding *decode_with_failed_target(struct reading *r, bool one, size_t *bytes)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX);

    begin_binding(&text, TARGETS);
    if (one)
        add_failed_apply(&text, "c", FAILED_TARGET, MESSAGE_MAX);
    strbuf_adds(&text, "]}}");

    struct binding *b = decode_binding_text(r, &text, bytes);

    assert_int_equal(b->clusters[FAILED_TARGET].item.has_message, one);
    return b;
}

/* Memory for messages is allocated by the number of messages, not by the number of targets. */
TEST(one_message_for_500_targets_takes_the_memory_of_one)
{
    CLEANUP(reading_release) struct reading r;
    struct binding *bindings[3];
    size_t bytes[3];

    reading_init(&r);
    /* The memory of the first binding also contains the cluster names, which the others share. */
    for (unsigned i = 0; i < 3; i++)
        bindings[i] = decode_with_failed_target(&r, i == 2, &bytes[i]);
    /* The first two bindings share their targets. */
    assert_in_range(bytes[1], 0, 1024);
    assert_in_range(bytes[2], 0, TARGETS * sizeof(struct target_cluster) + 2 * MESSAGE_MAX);
    for (unsigned i = 0; i < 3; i++)
        binding_release(r.strings, bindings[i]);
}

/* ---- status of clusters that are not targets ---- */

TEST(status_of_other_clusters_takes_no_memory)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX);
    CLEANUP(reading_release) struct reading r;
    size_t bytes, strings;

    begin_binding(&text, 1);
    for (unsigned i = 0; i < OTHER_CLUSTERS; i++) {
        if (i == OTHER_CLUSTERS / 2) {
            add_failed_apply(&text, "c", 0, 10);
            strbuf_addc(&text, ',');
        }
        add_failed_apply(&text, "stranger", i, 100);
        strbuf_adds(&text, i + 1 < OTHER_CLUSTERS ? "," : "");
    }
    end_binding(&text);
    reading_init(&r);

    struct binding *b = decode_binding_text(&r, &text, &bytes);

    assert_int_equal(binding_target_count(b), 1);
    assert_int_equal(b->status.problem->message_count, 1);
    assert_memory_equal(binding_status_message(&b->status, b->clusters[0].name), "c0 ", 3);
    strings = intern_count(r.strings);
    assert_in_range(strings, 1, 10);
    assert_in_range(bytes, 0, 4096);
    check_pool(&r);
    binding_release(r.strings, b);
}

/* ---- two bindings ---- */

/* Both bindings have the same clusters and messages, so they share all strings. */
TEST(release_of_a_binding_keeps_shared_strings)
{
    enum { LEN = 2200 };
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX);
    CLEANUP(reading_release) struct reading r;
    size_t bytes, bytes_again, strings;

    write_failed_binding(&text, LEN);
    reading_init(&r);

    struct binding *one = decode_binding_text(&r, &text, &bytes);

    strings = intern_count(r.strings);

    struct binding *other = decode_binding_text(&r, &text, &bytes_again);

    assert_int_equal(intern_count(r.strings), strings);
    assert_in_range(bytes_again, 0, TARGETS_BYTES);
    binding_release(r.strings, one);
    assert_int_equal(intern_count(r.strings), strings);
    for (unsigned i = 0; i < TARGETS; i++)
        check_message(other, i, LEN);
    binding_release(r.strings, other);
}

static struct binding *decode_evicted(struct reading *r, const char *cluster)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX);
    size_t bytes;

    strbuf_addf(&text,
                "{'metadata':{'name':'x'},'spec':{'clusters':[{'name':'c0'}],"
                "'gracefulEvictionTasks':[3,{'fromCluster':'%s','producer':'TaintManager',"
                "'reason':'TaintUntolerated','creationTimestamp':'2026-01-01T00:00:00Z'}]},"
                "'status':{'aggregatedStatus':[{'clusterName':'c0','appliedMessage':'denied'}]}}",
                cluster);
    return decode_binding_text(r, &text, &bytes);
}

/* A failover gives the same eviction task to many bindings. */
TEST(bindings_with_equal_evictions_and_messages_share_them)
{
    CLEANUP(reading_release) struct reading r;
    struct binding *bindings[3];

    reading_init(&r);
    for (unsigned i = 0; i < 3; i++)
        bindings[i] = decode_evicted(&r, i < 2 ? "c1" : "c2");
    assert_int_equal(bindings[0]->status.problem->eviction_count, 1);
    assert_ptr_equal(bindings[0]->status.problem, bindings[1]->status.problem);
    assert_ptr_not_equal(bindings[0]->status.problem, bindings[2]->status.problem);
    assert_ptr_equal(bindings[0]->status.problem->messages, bindings[2]->status.problem->messages);
    binding_release(r.strings, bindings[0]);
    binding_release(r.strings, bindings[2]);
    assert_string_equal(bindings[1]->status.problem->evictions[0].cluster, "c1");
    assert_string_equal(binding_status_message(&bindings[1]->status, "c1"), "");
    assert_string_equal(binding_status_message(&bindings[1]->status, bindings[1]->clusters[0].name),
                        "denied");
    binding_release(r.strings, bindings[1]);
    assert_int_equal(intern_count(r.strings), 0);
}
