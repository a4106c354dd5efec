/* SPDX-License-Identifier: Apache-2.0 */
/* A status of a megabyte: what is read of it, and how little of it is kept. */
#include "metrics/model/binding.h"

#include "tests/unit/heap.h"
#include "tests/unit/reading.h"
#include "tests/unit/suite.h"

enum {
    TARGETS = 500,
    STRANGERS = 10000,
    BAD = 250,
    MEGABYTE = 1 << 20,
    TEXT_MAX = 8 * MEGABYTE,
    /* Of a binding of TARGETS clusters, their shared names included. */
    TARGETS_BYTES = 100 * TARGETS,
};

static const char euro[] = "\xe2\x82\xac";

/* A binding whose spec.clusters are the first `count`, with its items left open. */
static void begin(struct strbuf *out, unsigned count)
{
    strbuf_adds(out, "{'metadata':{'name':'x'},'spec':{'clusters':[");
    for (unsigned i = 0; i < count; i++)
        strbuf_addf(out, "%s{'name':'c%u','replicas':1}", i > 0 ? "," : "", i);
    strbuf_adds(out, "]},'status':{'aggregatedStatus':[");
}

static void end(struct strbuf *out)
{
    strbuf_adds(out, "]}}");
    assert_in_range(out->len, MEGABYTE, TEXT_MAX - 1);
}

/* Read it, with the bytes that this takes where these are known, else 0. */
static struct binding *read_text(struct reading *r, const struct strbuf *text, size_t *bytes)
{
    CLEANUP(json_cleanup) cJSON *json = json_of(text->data);
    size_t before = heap_bytes();
    struct binding *b = binding_decode(&r->decode, json);

    *bytes = HEAP_COUNTS ? heap_bytes() - before : 0;
    if (!b)
        fail_msg("%s", r->err.text);
    return b;
}

/* ---- what members say ---- */

TEST(what_members_say_at_length_is_not_kept)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX);
    CLEANUP(reading_release) struct reading r;
    size_t bytes;

    begin(&text, TARGETS);
    for (unsigned i = 0; i < TARGETS; i++)
        strbuf_addf(&text,
                    "%s{'clusterName':'c%u','applied':true,'health':'%s','status':{"
                    "'resourceTemplateGeneration':%u,'said':'%02200u'}}",
                    i > 0 ? "," : "", i, i == BAD ? "Unhealthy" : "Healthy", i + 1, i);
    end(&text);
    reading_init(&r);

    struct binding *b = read_text(&r, &text, &bytes);

    assert_int_equal(binding_target_count(b), TARGETS);
    assert_int_equal(b->delivered_generation, 1);
    for (unsigned i = 0; i < TARGETS; i++) {
        const struct target_status *item = &b->clusters[i].item;

        assert_true(item->exists && item->applied && !item->has_message);
        assert_int_equal(item->generation, i + 1);
        assert_int_equal(item->health, i == BAD ? HEALTH_UNHEALTHY : HEALTH_HEALTHY);
    }
    assert_null(b->status.problem);
    assert_in_range(bytes, 0, TARGETS_BYTES);
    binding_release(r.strings, b);
}

/* ---- why they refuse ---- */

/* A message of its own for each target, of several bytes a character: "c7 xx...". */
static void add_message(struct strbuf *out, unsigned target, size_t len)
{
    size_t start = out->len;

    strbuf_addf(out, "c%u ", target);
    while (out->len - start < len)
        strbuf_adds(out, euro);
}

static void add_refused(struct strbuf *out, const char *name, unsigned target, size_t len)
{
    strbuf_addf(out, "{'clusterName':'%s%u','appliedMessage':'", name, target);
    add_message(out, target, len);
    strbuf_adds(out, "'}");
}

/* A binding that each of its targets refuses, with a message of its own. */
static void write_refused(struct strbuf *out, size_t len)
{
    begin(out, TARGETS);
    for (unsigned i = 0; i < TARGETS; i++) {
        strbuf_adds(out, i > 0 ? "," : "");
        add_refused(out, "c", i, len);
    }
    end(out);
}

/* As much of a target's message as there is room for, and whole characters of it. */
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

    write_refused(&text, LEN);
    reading_init(&r);

    struct binding *b = read_text(&r, &text, &bytes);

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

    begin(&text, 1);
    add_refused(&text, "c", 0, MEGABYTE);
    strbuf_adds(&text, "],'conditions':[{'type':'Scheduled','status':'False','message':'");
    add_message(&text, 7, MEGABYTE);
    strbuf_adds(&text, "'}");
    end(&text);
    reading_init(&r);

    struct binding *b = read_text(&r, &text, &bytes);

    check_message(b, 0, MEGABYTE);
    assert_in_range(strlen(b->status.problem->message), MESSAGE_MAX - 2, MESSAGE_MAX);
    assert_memory_equal(b->status.problem->message, "c7 \xe2\x82\xac", 6);
    assert_in_range(bytes, 0, 8 * MESSAGE_MAX);
    binding_release(r.strings, b);
}

static struct binding *read_refused_by(struct reading *r, bool one, size_t *bytes)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX);

    begin(&text, TARGETS);
    if (one)
        add_refused(&text, "c", BAD, MESSAGE_MAX);
    strbuf_adds(&text, "]}}");

    struct binding *b = read_text(r, &text, bytes);

    assert_int_equal(b->clusters[BAD].item.has_message, one);
    return b;
}

/* Room is for what is there, not for all who might refuse. */
TEST(one_that_refuses_of_500_takes_no_more_than_its_message)
{
    CLEANUP(reading_release) struct reading r;
    struct binding *bindings[3];
    size_t bytes[3];

    reading_init(&r);
    /* The first one takes the names of the clusters, too. */
    for (unsigned i = 0; i < 3; i++)
        bindings[i] = read_refused_by(&r, i == 2, &bytes[i]);
    assert_in_range(bytes[2], bytes[1], bytes[1] + 2 * MESSAGE_MAX);
    for (unsigned i = 0; i < 3; i++)
        binding_release(r.strings, bindings[i]);
}

/* ---- items of clusters that are no targets ---- */

TEST(ten_thousand_strangers_take_no_room)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX);
    CLEANUP(reading_release) struct reading r;
    size_t bytes, strings;

    begin(&text, 1);
    for (unsigned i = 0; i < STRANGERS; i++) {
        if (i == STRANGERS / 2) {
            add_refused(&text, "c", 0, 10);
            strbuf_addc(&text, ',');
        }
        add_refused(&text, "stranger", i, 100);
        strbuf_adds(&text, i + 1 < STRANGERS ? "," : "");
    }
    end(&text);
    reading_init(&r);

    struct binding *b = read_text(&r, &text, &bytes);

    assert_int_equal(binding_target_count(b), 1);
    assert_int_equal(b->status.problem->message_count, 1);
    assert_memory_equal(binding_status_message(&b->status, b->clusters[0].name), "c0 ", 3);
    strings = intern_count(r.strings);
    assert_in_range(strings, 1, 10);
    assert_in_range(bytes, 0, 4096);
    binding_release(r.strings, b);
}

/* ---- two of them ---- */

/* Both say the same of the same clusters, so that they share all of it. */
TEST(the_end_of_one_leaves_the_other_as_it_was)
{
    enum { LEN = 2200 };
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX);
    CLEANUP(reading_release) struct reading r;
    size_t bytes, bytes_again, strings;

    write_refused(&text, LEN);
    reading_init(&r);

    struct binding *one = read_text(&r, &text, &bytes);

    strings = intern_count(r.strings);

    struct binding *other = read_text(&r, &text, &bytes_again);

    assert_int_equal(intern_count(r.strings), strings);
    assert_in_range(bytes_again, 0, TARGETS_BYTES);
    binding_release(r.strings, one);
    assert_int_equal(intern_count(r.strings), strings);
    for (unsigned i = 0; i < TARGETS; i++)
        check_message(other, i, LEN);
    binding_release(r.strings, other);
}
