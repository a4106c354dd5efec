/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/page_parts.h"

#include <limits.h>

#include "metrics/model/store.h"
#include "tests/unit/follow.h"
#include "tests/unit/suite.h"

/*
 * Responses for one kind that hang, drip or never end do not delay other kinds. A transport between
 * the source and the fake API server injects these faults for some of the kinds.
 */

enum {
    STEP_MS = 100,
    FRESH_MS = 5000,
    SLOW_MS = 12 * 1000,
};

enum fault {
    NO_FAULT,
    HANGS,             /* No response, not even a status. */
    NO_BODY,           /* Status 200 without a body. */
    DRIPS,             /* Status 200, and a byte a second. */
    ONLY_BOOKMARKS,    /* Instead of initial events, a bookmark every ten seconds. */
    SINGLE_READ_HANGS, /* Reads of single objects hang. No fault in lists and streams. */
    SLOW,              /* Twelve seconds until a response begins. No fault in streams. */
};

/* A request with a fault. The fake API server receives only SLOW requests, later. */
struct bad_request {
    struct bad_request *next;
    struct transport_handler handler;
    enum fault fault;
    int64_t opened_ms;
    int64_t sent_ms;
    bool answered;
    char *path; /* Owned, as `accept`. */
    char *accept;
    struct lab *lab;
    struct transfer *transfer;
};

struct lab {
    struct follow_lab base;
    struct transport server; /* Transport of `base`, without faults. */
    enum fault faults[FAKE_KIND_COUNT];
    const char *bad_path; /* Path of discovery that hangs, or NULL. */
    struct bad_request *requests;
    struct transport_limits room; /* Limits of the transport; all zero: unlimited. */
    unsigned bad_count;           /* Open requests with a fault. */
    unsigned bad_most;            /* Maximum of bad_count. */
};

static enum fake_kind kind_of_path(const char *path)
{
    for (int i = 0; i < FAKE_KIND_COUNT; i++) {
        const char *at = strstr(path, fake_kinds[i].resource);

        if (at && at[-1] == '/' && strchr("?/", at[strlen(fake_kinds[i].resource)]))
            return (enum fake_kind)i;
    }
    return FAKE_KIND_COUNT;
}

static enum fault fault_of(const struct lab *lab, const char *path)
{
    enum fake_kind kind = kind_of_path(path);
    bool stream = strstr(path, "watch=true") != NULL;
    enum fault fault = kind == FAKE_KIND_COUNT ? NO_FAULT : lab->faults[kind];

    if (kind == FAKE_KIND_COUNT)
        return lab->bad_path && strcmp(path, lab->bad_path) == 0 ? HANGS : NO_FAULT;
    if (fault == ONLY_BOOKMARKS)
        return strstr(path, "sendInitialEvents") ? fault : NO_FAULT;
    if (fault == SINGLE_READ_HANGS)
        return strchr(path, '?') ? NO_FAULT : HANGS;
    return fault == SLOW && stream ? NO_FAULT : fault;
}

static void free_request(struct lab *lab, struct bad_request *bad)
{
    struct bad_request **at = &lab->requests;

    while (*at != bad)
        at = &(*at)->next;
    *at = bad->next;
    free(bad->path);
    free(bad->accept);
    free(bad);
    lab->bad_count--;
}

static struct transfer *start_request(void *context, const struct transport_request *request)
{
    struct lab *lab = context;
    enum fault fault = fault_of(lab, request->path);
    struct bad_request *bad;

    if (fault == NO_FAULT)
        return lab->server.start(lab->server.context, request);
    bad = xcalloc(1, sizeof(*bad));
    *bad = (struct bad_request){.next = lab->requests,
                                .handler = request->handler,
                                .fault = fault,
                                .opened_ms = lab->base.api.now_ms,
                                .path = xstrdup(request->path),
                                .accept = xstrdup(request->accept),
                                .lab = lab,
                                .sent_ms = lab->base.api.now_ms};
    lab->requests = bad;
    if (++lab->bad_count > lab->bad_most)
        lab->bad_most = lab->bad_count;
    return (struct transfer *)bad;
}

static void cancel_request(void *context, struct transfer *transfer)
{
    struct lab *lab = context;

    for (struct bad_request *bad = lab->requests; bad; bad = bad->next) {
        if ((struct transfer *)bad != transfer)
            continue;
        if (bad->transfer)
            lab->server.cancel(lab->server.context, bad->transfer);
        free_request(lab, bad);
        return;
    }
    lab->server.cancel(lab->server.context, transfer);
}

static bool pass_data(void *context, unsigned http_status, const char *bytes, size_t len)
{
    struct bad_request *bad = context;

    return bad->handler.data(bad->handler.context, http_status, bytes, len);
}

static void pass_end(void *context, const struct transport_result *result)
{
    struct bad_request *bad = context;
    struct transport_handler handler = bad->handler;

    free_request(bad->lab, bad);
    handler.done(handler.context, result);
}

/* Sends a SLOW request to the fake API server. */
static void forward_request(struct lab *lab, struct bad_request *bad)
{
    bad->transfer =
        lab->server.start(lab->server.context,
                          &(struct transport_request){.path = bad->path,
                                                      .accept = bad->accept,
                                                      .class = REQUEST_SHORT,
                                                      .handler = {pass_data, pass_end, bad, NULL}});
}

static void apply_fault(struct lab *lab, struct bad_request *bad)
{
    static const char bookmark[] = "{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"x\",\"metadata\":"
                                   "{\"resourceVersion\":\"1\"}}}\n";

    if (bad->fault == SLOW) {
        if (!bad->transfer && lab->base.api.now_ms >= bad->opened_ms + SLOW_MS)
            forward_request(lab, bad);
        return;
    }
    if (bad->fault != HANGS && !bad->answered && bad->handler.responded)
        bad->handler.responded(bad->handler.context, 200);
    bad->answered = true;
    if (bad->fault == DRIPS && lab->base.api.now_ms >= bad->sent_ms + 1000) {
        bad->sent_ms = lab->base.api.now_ms;
        assert_true(bad->handler.data(bad->handler.context, 200, "{", 1));
    } else if (bad->fault == ONLY_BOOKMARKS && lab->base.api.now_ms >= bad->sent_ms + 10000) {
        bad->sent_ms = lab->base.api.now_ms;
        bad->handler.data(bad->handler.context, 200, bookmark, sizeof(bookmark) - 1);
    }
}

static void lab_init(struct lab *lab)
{
    *lab = (struct lab){0};
    follow_init(&lab->base, 1);
    lab->base.api.streaming_lists = lab->base.api.bookmarks = true;
    lab->server = lab->base.transport;
}

static struct transport_limits room(void *context)
{
    return ((struct lab *)context)->room;
}

static void lab_start(struct lab *lab)
{
    lab->base.transport =
        (struct transport){start_request, cancel_request, lab, lab->room.streams > 0 ? room : NULL};
    follow_start(&lab->base);
}

static void lab_release(struct lab *lab)
{
    follow_release(&lab->base);
    assert_null(lab->requests);
}

static void settle(struct lab *lab)
{
    for (struct bad_request *bad = lab->requests, *next; bad; bad = next) {
        next = bad->next;
        apply_fault(lab, bad);
    }
    follow_settle(&lab->base);
}

static void run_for(struct lab *lab, int64_t ms)
{
    int64_t until_ms = lab->base.api.now_ms + ms;

    settle(lab);
    while (lab->base.api.now_ms < until_ms) {
        lab->base.api.now_ms += STEP_MS;
        settle(lab);
    }
}

static const struct reflector *reflector_of(const struct lab *lab, enum fake_kind kind)
{
    for (size_t i = 0; i < kube_source_reflector_count(lab->base.source); i++) {
        const struct reflector *r = kube_source_reflector(lab->base.source, i);

        if (strcmp(r->resource, fake_kinds[kind].resource) == 0)
            return r;
    }
    return NULL;
}

static bool is_synced(const struct lab *lab, enum fake_kind kind)
{
    const struct reflector *r = reflector_of(lab, kind);

    return r && r->synced;
}

/* Returns true if the store has an object of this name. The name of a binding has a suffix. */
static bool has_object(const struct lab *lab, enum fake_kind kind, const char *name)
{
    for (const struct type *type = store_first_type(lab->base.world.store); type;
         type = type->next) {
        if (strcmp(type->kind, fake_kinds[kind].kind) != 0)
            continue;
        for (const struct partition *p = type->partitions; p; p = p->next_of_type) {
            for (size_t i = 0; i < p->count; i++) {
                if (entry_exists(partition_entry(p, i)) &&
                    strncmp(partition_entry(p, i)->name, name, strlen(name)) == 0)
                    return true;
            }
        }
    }
    return false;
}

/* Kinds, except Events, that are read from the start. Templates are read if selected or bound. */
static const enum fake_kind watched[] = {
    FAKE_POLICY,   FAKE_CLUSTER_POLICY,   FAKE_BINDING, FAKE_CLUSTER_BINDING,
    FAKE_OVERRIDE, FAKE_CLUSTER_OVERRIDE, FAKE_CLUSTER, FAKE_QUOTA,
};

/* Writes an object of each kind without a fault, and asserts that the store has it in time. */
static void assert_fresh(struct lab *lab, unsigned round)
{
    char name[16];

    snprintf(name, sizeof(name), "fresh%02u", round % 100);
    for (size_t i = 0; i < ARRAY_LEN(watched); i++) {
        if (lab->faults[watched[i]] == NO_FAULT)
            fake_put(&lab->base.api, watched[i], fake_kinds[watched[i]].namespaced ? "default" : "",
                     name, round);
    }
    run_for(lab, FRESH_MS);
    for (size_t i = 0; i < ARRAY_LEN(watched); i++) {
        if (lab->faults[watched[i]] == NO_FAULT)
            if (!has_object(lab, watched[i], name))
                fail_msg("%s %s is not in the store", fake_kinds[watched[i]].kind, name);
    }
}

static const struct bad_row {
    const char *name;
    enum fault fault;
} bad_rows[] = {
    {"hangs", HANGS},
    {"no body", NO_BODY},
    {"drips", DRIPS},
    {"only bookmarks", ONLY_BOOKMARKS},
};

/* All kinds but one have the fault from the start. */
TEST_ROWS(only_kind_without_a_fault_stays_fresh, bad_rows, name)
{
    const struct bad_row *row = *state;
    struct lab lab;

    for (size_t healthy = 0; healthy < ARRAY_LEN(watched); healthy++) {
        lab_init(&lab);
        for (size_t i = 0; i < FAKE_KIND_COUNT; i++)
            lab.faults[i] = row->fault;
        lab.faults[watched[healthy]] = NO_FAULT;
        lab_start(&lab);
        run_for(&lab, 3000);
        assert_true(is_synced(&lab, watched[healthy]));
        for (unsigned round = 0; round < 30; round++)
            assert_fresh(&lab, round);
        lab_release(&lab);
    }
}

TEST_ROWS(relist_does_not_wait_for_kinds_with_a_fault, bad_rows, name)
{
    const struct bad_row *row = *state;
    struct lab lab;

    lab_init(&lab);
    lab_start(&lab);
    run_for(&lab, 3000);
    for (size_t i = 0; i < FAKE_KIND_COUNT; i++)
        lab.faults[i] = row->fault;
    lab.faults[FAKE_OVERRIDE] = NO_FAULT;
    for (unsigned round = 0; round < 10; round++) {
        fake_put(&lab.base.api, FAKE_OVERRIDE, "default", "other", round);
        fake_compact(&lab.base.api);
        fake_cut_all(&lab.base.api);
        assert_fresh(&lab, round);
        run_for(&lab, 60 * 1000);
    }
    lab_release(&lab);
}

TEST(list_that_begins_after_twelve_seconds_is_read)
{
    struct lab lab;

    lab_init(&lab);
    lab.base.api.streaming_lists = false;
    for (size_t i = 0; i < FAKE_KIND_COUNT; i++)
        lab.faults[i] = SLOW;
    lab_start(&lab);
    run_for(&lab, 12 * 1000 + 2000);
    for (size_t i = 0; i < ARRAY_LEN(watched); i++)
        assert_true(is_synced(&lab, watched[i]));
    lab_release(&lab);
}

/* The failure text is set while the request is still open. */
TEST(failure_text_is_set_after_ten_seconds)
{
    static const struct {
        enum fault fault;
        const char *reason;
    } rows[] = {
        {HANGS, "quiet: the server does not answer"},
        {NO_BODY, "quiet: the server does not answer"},
        {DRIPS, "quiet: the server stopped in the middle of its answer, or sends less than 1 KiB a "
                "second"},
    };
    struct lab lab;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        lab_init(&lab);
        lab.faults[FAKE_CLUSTER] = rows[i].fault;
        lab_start(&lab);
        run_for(&lab, 9 * 1000);
        assert_string_equal(reflector_of(&lab, FAKE_CLUSTER)->failure.text, "");
        assert_string_equal(reflector_of(&lab, FAKE_POLICY)->failure.text, "");
        run_for(&lab, 2 * 1000);
        assert_string_equal(reflector_of(&lab, FAKE_CLUSTER)->failure.text, rows[i].reason);
        assert_string_equal(reflector_of(&lab, FAKE_POLICY)->failure.text, "");
        lab_release(&lab);
    }
}

/* One stalled list is enough to lower the priority of the next list. */
TEST(next_list_after_a_stall_has_low_priority)
{
    struct lab lab;
    const struct reflector *r;

    lab_init(&lab);
    lab.base.api.streaming_lists = false;
    lab.faults[FAKE_CLUSTER] = HANGS;
    lab_start(&lab);
    run_for(&lab, 1000);
    r = reflector_of(&lab, FAKE_CLUSTER);
    assert_int_equal(r->ticket.state, TICKET_OPEN);
    assert_int_equal(r->ticket.class, LIST_FIRST);
    while (r->watch.stalls == 0)
        run_for(&lab, 1000);
    while (r->ticket.state == TICKET_IDLE)
        run_for(&lab, 1000);
    assert_int_equal(r->watch.stalls, 1);
    assert_int_equal(r->ticket.class, LIST_STALLED);
    lab_release(&lab);
}

TEST(list_replaces_initial_events_that_do_not_end)
{
    struct lab lab;

    lab_init(&lab);
    lab_start(&lab);
    run_for(&lab, 3000);
    /* Only later reads are initial events. */
    lab.faults[FAKE_CLUSTER] = ONLY_BOOKMARKS;
    fake_compact(&lab.base.api);
    fake_put(&lab.base.api, FAKE_CLUSTER, "", "later", 1);
    fake_compact(&lab.base.api);
    fake_cut_all(&lab.base.api);
    run_for(&lab, 9 * 1000);
    assert_int_equal(reflector_of(&lab, FAKE_CLUSTER)->watch.phase, WATCH_INITIAL_EVENTS);
    assert_false(has_object(&lab, FAKE_CLUSTER, "later"));
    run_for(&lab, 5 * 1000);
    assert_true(has_object(&lab, FAKE_CLUSTER, "later"));
    assert_string_equal(reflector_of(&lab, FAKE_CLUSTER)->failure.text, "");
    lab_release(&lab);
}

TEST(kind_is_read_after_its_fault_has_ended)
{
    struct lab lab;

    lab_init(&lab);
    lab.faults[FAKE_CLUSTER] = HANGS;
    lab_start(&lab);
    run_for(&lab, 10 * 60 * 1000);
    assert_false(is_synced(&lab, FAKE_CLUSTER));
    lab.faults[FAKE_CLUSTER] = NO_FAULT;
    run_for(&lab, 61 * 1000 + 60 * 1000);
    assert_true(is_synced(&lab, FAKE_CLUSTER));
    assert_string_equal(reflector_of(&lab, FAKE_CLUSTER)->failure.text, "");
    lab_release(&lab);
}

static void put_template_and_binding(struct lab *lab, enum fake_kind kind, const char *name)
{
    assert_int_equal(fake_bound_kind(name), kind);
    fake_put(&lab->base.api, kind, "default", name, 1);
    settle(lab);
    fake_put(&lab->base.api, FAKE_BINDING, "default", name, 1);
}

/* The templates are read one by one, because bindings refer to them and no policy selects them. */
TEST(single_reads_that_hang_do_not_delay_other_kinds)
{
    struct lab lab;
    char name[16];

    lab_init(&lab);
    lab_start(&lab);
    put_template_and_binding(&lab, FAKE_CONFIG_MAP, "x");
    put_template_and_binding(&lab, FAKE_DEPLOYMENT, "y");
    run_for(&lab, 3000);
    assert_true(has_object(&lab, FAKE_CONFIG_MAP, "x") && has_object(&lab, FAKE_DEPLOYMENT, "y"));
    lab.faults[FAKE_CONFIG_MAP] = SINGLE_READ_HANGS;
    for (unsigned i = 0; i < 50; i++) {
        snprintf(name, sizeof(name), "x%u", i);
        put_template_and_binding(&lab, FAKE_CONFIG_MAP, name);
    }
    for (unsigned i = 0; i < 10; i++) {
        snprintf(name, sizeof(name), "y%02u", i);
        put_template_and_binding(&lab, FAKE_DEPLOYMENT, name);
        run_for(&lab, FRESH_MS);
        assert_true(has_object(&lab, FAKE_DEPLOYMENT, name));
    }
    /* Reads that hang are cancelled and repeated, at most four at a time. */
    assert_false(has_object(&lab, FAKE_CONFIG_MAP, "x49"));
    assert_in_range(lab.bad_most, 1, 4);
    lab.faults[FAKE_CONFIG_MAP] = NO_FAULT;
    run_for(&lab, 60 * 1000);
    assert_true(has_object(&lab, FAKE_CONFIG_MAP, "x49"));
    lab_release(&lab);
}

TEST(discovery_that_hangs_is_repeated_and_delays_no_kind)
{
    struct lab lab;

    lab_init(&lab);
    lab.bad_path = "/apis";
    lab_start(&lab);
    for (unsigned round = 0; round < 20; round++)
        assert_fresh(&lab, round);
    assert_false(discovery_succeeded(kube_source_discovery(lab.base.source)));
    lab.bad_path = NULL;
    run_for(&lab, 40 * 1000);
    assert_true(discovery_succeeded(kube_source_discovery(lab.base.source)));
    lab_release(&lab);
}

/* Legacy discovery has a request for each group version. */
TEST(group_version_that_hangs_hides_no_other_group)
{
    const struct api_resource *found;
    struct lab lab;

    lab_init(&lab);
    lab.base.api.legacy_discovery = true;
    lab.bad_path = "/apis/cluster.karmada.io/v1alpha1";
    lab_start(&lab);
    run_for(&lab, 2000);
    assert_true(discovery_succeeded(kube_source_discovery(lab.base.source)));
    assert_int_equal(
        discovery_find(kube_source_discovery(lab.base.source), "apps/v1", "Deployment", &found),
        DISCOVERY_SERVED);
    lab.bad_path = NULL;
    run_for(&lab, 60 * 1000);
    assert_int_equal(discovery_find(kube_source_discovery(lab.base.source),
                                    "cluster.karmada.io/v1alpha1", "Cluster", &found),
                     DISCOVERY_SERVED);
    lab_release(&lab);
}

/* ---- an API server without enough streams, as over HTTP/1.1 ---- */

/* A resource without a stream is listed every 30 seconds. */
TEST(resources_without_a_stream_are_polled)
{
    struct lab lab;
    unsigned polled = 0;

    lab_init(&lab);
    lab.room = (struct transport_limits){.streams = 5, .lists = 4, .single_reads = 1};
    lab_start(&lab);
    run_for(&lab, 5000);
    assert_int_equal(lab.base.api.open_streams, 5);
    for (size_t i = 0; i < kube_source_reflector_count(lab.base.source); i++) {
        const struct reflector *r = kube_source_reflector(lab.base.source, i);

        assert_true(r->synced);
        assert_false(r->required && r->watch.polled);
        assert_string_equal(r->failure.text, "");
        polled += r->watch.polled;
    }
    assert_int_equal(polled, kube_source_reflector_count(lab.base.source) - 5);
    CLEANUP(strbuf_release) struct strbuf section = STRBUF_INIT(1 << 16);

    source_cards_write(lab.base.source, &section);
    assert_non_null(
        strstr(section.data, "<li>cluster.karmada.io/v1alpha1 clusters is listed every 30 s"));

    for (unsigned round = 0; round < 20; round++) {
        char name[16];

        snprintf(name, sizeof(name), "p%02u", round);
        for (size_t i = 0; i < ARRAY_LEN(watched); i++)
            fake_put(&lab.base.api, watched[i], fake_kinds[watched[i]].namespaced ? "default" : "",
                     name, 0);
        run_for(&lab, 36 * 1000);
        for (size_t i = 0; i < ARRAY_LEN(watched); i++)
            assert_true(has_object(&lab, watched[i], name));
        assert_in_range(lab.base.api.open_streams, 1, 5);
    }
    lab_release(&lab);
}

/* The transport allows more streams later, as over HTTP/2. */
TEST(polled_resources_are_watched_once_streams_are_free)
{
    struct lab lab;

    lab_init(&lab);
    lab.room = (struct transport_limits){.streams = 1, .lists = 1, .single_reads = 1};
    lab_start(&lab);
    run_for(&lab, 60 * 1000);
    assert_int_equal(lab.base.api.open_streams, 1);
    lab.room = (struct transport_limits){UINT_MAX, UINT_MAX, UINT_MAX};
    run_for(&lab, 40 * 1000);
    assert_int_equal(lab.base.api.open_streams, kube_source_reflector_count(lab.base.source));
    for (size_t i = 0; i < kube_source_reflector_count(lab.base.source); i++)
        assert_false(kube_source_reflector(lab.base.source, i)->watch.polled);
    lab_release(&lab);
}

/* ---- objects that cannot be read ---- */

static cJSON *make_policy(const char *name)
{
    char text[256];
    struct error err;

    snprintf(text, sizeof(text),
             "{\"apiVersion\":\"policy.karmada.io/v1alpha1\",\"kind\":\"PropagationPolicy\","
             "\"metadata\":{\"namespace\":\"default\",\"name\":\"%s\"}}",
             name);
    return json_parse(text, strlen(text), NULL, &err);
}

static void put_policy(struct reflector_store *s, const char *name)
{
    CLEANUP(json_cleanup) cJSON *object = make_policy(name);

    reflector_store_put(s, object);
}

static void reject_policy(struct reflector_store *s, const char *name)
{
    CLEANUP(json_cleanup) cJSON *object = make_policy(name);

    reflector_store_reject(s, object, "it is too large");
}

/* The last readable version of a rejected object stays in the store. */
TEST(unreadable_objects_are_not_removed)
{
    struct lab lab;

    lab_init(&lab);

    struct reflector_store s = {.store = lab.base.world.store,
                                .log = &lab.base.log,
                                .resource = "propagationpolicies",
                                .api_version = "policy.karmada.io/v1alpha1",
                                .origin = {.source = 1}};

    reflector_store_begin_pass(&s, false);
    put_policy(&s, "a");
    put_policy(&s, "b");
    put_policy(&s, "c");
    reflector_store_end_pass(&s);
    reflector_store_begin_pass(&s, false);
    put_policy(&s, "a");
    reject_policy(&s, "b");
    reflector_store_end_pass(&s);
    assert_true(has_object(&lab, FAKE_POLICY, "a") && has_object(&lab, FAKE_POLICY, "b"));
    assert_false(has_object(&lab, FAKE_POLICY, "c"));

    /* An unreadable object of unknown name may be `a` or `b`. */
    reflector_store_begin_pass(&s, false);
    reflector_store_note_unnamed(&s);
    reflector_store_end_pass(&s);
    assert_true(has_object(&lab, FAKE_POLICY, "a") && has_object(&lab, FAKE_POLICY, "b"));

    reflector_store_begin_pass(&s, false);
    put_policy(&s, "b");
    reflector_store_end_pass(&s);
    assert_false(has_object(&lab, FAKE_POLICY, "a"));
    assert_true(has_object(&lab, FAKE_POLICY, "b"));
    reflector_store_clear(&s);
    fake_api_release(&lab.base.api);
    world_release(&lab.base.world);
}
