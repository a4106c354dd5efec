/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/metrics_page.h"

#include <pthread.h>
#include <stdatomic.h>

#include "metrics/base/timestamp.h"
#include "metrics/expose/family.h"
#include "tests/unit/blank_page.h"
#include "tests/unit/golden.h"
#include "tests/unit/heap.h"
#include "tests/unit/http_client.h"
#include "tests/unit/local_server.h"
#include "tests/unit/page.h"
#include "tests/unit/suite.h"

enum { PAGE_MAX_BYTES = 4 << 20, ROWS = 4000, READERS = 6, ROUNDS = 30 };

struct fixture {
    struct page_store *page_store;
    struct server *server;
    struct registry *registry;
    struct metrics_page *page; /* Last published page; owned. */
    atomic_bool stop;
    _Atomic unsigned bad;
};

static int set_up(void **state)
{
    struct fixture *f = xcalloc(1, sizeof(*f));
    struct error err;

    f->page_store = page_store_new();
    f->server = local_server(f->page_store, &err);
    f->registry = registry_new(NULL, &registry_options_default, 1);
    *state = f;
    return f->server ? 0 : -1;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    server_stop(f->server);
    page_store_free(f->page_store);
    metrics_page_drop(f->page);
    registry_free(f->registry);
    free(f);
    return 0;
}

static void publish(struct fixture *f)
{
    struct metrics_page *fresh = blank_page_of(f->registry, f->page);

    metrics_page_drop(f->page);
    f->page = fresh;
    page_store_publish_metrics(f->page_store, fresh);
}

/* A request for /metrics. */
struct request {
    const char *query; /* Starts with '?'; "" without a query. */
    enum exposition_format format;
    bool gzip;
};

/* Appends the body, decompressed. Returns false without a complete response of status 200. */
static bool fetch(const struct fixture *f, struct request r, struct strbuf *out)
{
    static const char *const accept[] = {"text/plain", "application/openmetrics-text"};
    CLEANUP(strbuf_release) struct strbuf answer = STRBUF_INIT(HTTP_ANSWER_MAX);
    CLEANUP(strbuf_release) struct strbuf request = STRBUF_INIT(1 << 14);

    strbuf_addf(&request,
                "GET /metrics%s HTTP/1.1\r\nHost: a\r\nAccept: %s\r\nAccept-Encoding: %s\r\n"
                "Connection: close\r\n\r\n",
                r.query, accept[r.format], r.gzip ? "gzip" : "identity");
    if (!http_talk(server_address(f->server, 0), request.data, &answer) ||
        strncmp(answer.data, "HTTP/1.1 200 ", 13) != 0)
        return false;

    const char *body = http_body(&answer);
    size_t len = answer.len - (size_t)(body - answer.data);

    if (strstr(answer.data, "\r\nContent-Encoding: gzip\r\n"))
        return r.gzip && http_unpack(body, len, out);
    strbuf_add(out, body, len);
    return true;
}

/* Sets a value of each own family, and many series of two families to make the page long. */
static void fill_registry(struct registry *r, unsigned seed, unsigned rows)
{
    char name[32];

    for (size_t i = 0; i < own_families.count; i++) {
        const struct family_def *def = &own_families.families[i];
        const char *labels[FAMILY_LABELS_MAX];
        size_t count = 0;

        for (; def->labels[count].name; count++)
            labels[count] = def->labels[count].name;
        if (def->type == FAMILY_HISTOGRAM)
            registry_observe(r, (enum own_family)i, 0.0001 * seed);
        else
            registry_set(r, (enum own_family)i, seed * 0.1 + (double)i, count, labels);
    }
    for (unsigned i = 0; i < rows; i++) {
        snprintf(name, sizeof(name), "%u\"\\%u", seed * i % 7919, i);
        REGISTRY_SET(r, OWN_OBJECTS, (double)seed * i, name);
        if (i % 3 == 0)
            REGISTRY_SET(r, OWN_AUDITS, i, name);
    }
}

/* ---- selected families are parts of the whole page ---- */

static void assert_whole_page(const struct fixture *f, struct exposition how)
{
    CLEANUP(strbuf_release) struct strbuf wanted = STRBUF_INIT(PAGE_MAX_BYTES);

    exposition_write(f->registry, how, &wanted);
    for (int gzip = 0; gzip <= 1; gzip++) {
        CLEANUP(strbuf_release) struct strbuf got = STRBUF_INIT(PAGE_MAX_BYTES);

        assert_true(fetch(f, (struct request){"", how.format, gzip}, &got));
        assert_string_equal(got.data, wanted.data);
    }
}

/* Compares collect[] and exclude[] of each family with the parts of the whole page. */
static void assert_parts(const struct fixture *f, struct exposition how)
{
    CLEANUP(strbuf_release) struct strbuf whole = STRBUF_INIT(PAGE_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf parts = STRBUF_INIT(PAGE_MAX_BYTES);
    const char *end = exposition_trailer(how.format);

    exposition_write(f->registry, how, &whole);
    for (size_t i = 0; i < family_count(); i++) {
        CLEANUP(strbuf_release) struct strbuf rest = STRBUF_INIT(PAGE_MAX_BYTES);
        CLEANUP(strbuf_release) struct strbuf wanted = STRBUF_INIT(PAGE_MAX_BYTES);
        size_t before = parts.len;
        bool short_name = i % 2 == 1 && family_at(i)->type == FAMILY_COUNTER;
        size_t len = strlen(family_at(i)->name) - (short_name ? strlen("_total") : 0);
        char query[256];

        snprintf(query, sizeof(query), "?collect[]=%.*s", (int)len, family_at(i)->name);
        assert_true(fetch(f, (struct request){query, how.format, i % 3 == 0}, &parts));
        assert_true(parts.len >= before + strlen(end));
        strbuf_cut(&parts, parts.len - strlen(end));

        snprintf(query, sizeof(query), "?exclude[]=%.*s", (int)len, family_at(i)->name);
        assert_true(fetch(f, (struct request){query, how.format, i % 3 == 1}, &rest));
        strbuf_add(&wanted, whole.data, before);
        strbuf_adds(&wanted, whole.data + parts.len);
        assert_string_equal(rest.data, wanted.data);
    }
    strbuf_adds(&parts, end);
    assert_string_equal(parts.data, whole.data);
}

TEST_WITH(random_pages_are_whole_in_every_format_and_encoding, set_up, tear_down)
{
    struct fixture *f = *state;

    for (unsigned seed = 1; seed <= 6; seed++) {
        fill_registry(f->registry, seed, seed * seed * 40);
        publish(f);
        for (unsigned format = 0; format < EXPOSITION_FORMATS; format++)
            assert_whole_page(f, (struct exposition){.format = format,
                                                     .synced = false,
                                                     .created_ms = BLANK_PAGE_SINCE_MS});
    }
    for (unsigned format = 0; format < EXPOSITION_FORMATS; format++)
        assert_parts(f, (struct exposition){
                            .format = format, .synced = false, .created_ms = BLANK_PAGE_SINCE_MS});
}

TEST_WITH(families_of_objects_can_be_selected, set_up, tear_down)
{
    struct fixture *f = *state;
    struct registry_options options = registry_options_default;
    struct world w;
    int64_t now_ms;

    options.opt_in = true;
    assert_true(parse_timestamp("2026-01-01T04:00:00Z", &now_ms));
    world_init(&w, &rules_options_default, 1);
    registry_free(f->registry);
    f->registry = page_registry(&w, &options);
    golden_load(&w, "assorted.json");
    world_run(&w, now_ms);
    registry_prepare(f->registry);
    f->page = metrics_page_new(f->registry, (struct exposition){.synced = true, .created_ms = 7},
                               NULL, BLANK_PAGE_MAX, NULL);
    page_store_publish_metrics(f->page_store, f->page);
    for (unsigned format = 0; format < EXPOSITION_FORMATS; format++) {
        assert_whole_page(f,
                          (struct exposition){.format = format, .synced = true, .created_ms = 7});
        assert_parts(f, (struct exposition){.format = format, .synced = true, .created_ms = 7});
    }
    registry_free(f->registry);
    f->registry = NULL;
    world_release(&w);
}

TEST_WITH(selected_families_keep_the_order_of_the_page, set_up, tear_down)
{
    struct fixture *f = *state;
    CLEANUP(strbuf_release) struct strbuf one = STRBUF_INIT(PAGE_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf other = STRBUF_INIT(PAGE_MAX_BYTES);

    fill_registry(f->registry, 1, 10);
    publish(f);
    assert_true(fetch(f,
                      (struct request){.query = "?collect[]=process_open_fds&collect[]="
                                                "process_max_fds&collect[]=process_open_fds"},
                      &one));
    assert_true(
        fetch(f, (struct request){.query = "?collect[]=process_max_fds&collect[]=process_open_fds"},
              &other));
    assert_string_equal(one.data, other.data);
    assert_non_null(strstr(one.data, "\nprocess_max_fds "));
}

/* ---- size and memory ---- */

/* The page is compressed in segments, which must not add more than a tenth to its length. */
TEST_WITH(gzip_in_segments_is_at_most_a_tenth_longer, set_up, tear_down)
{
    struct fixture *f = *state;
    CLEANUP(strbuf_release) struct strbuf answer = STRBUF_INIT(HTTP_ANSWER_MAX);
    CLEANUP(strbuf_release) struct strbuf whole = STRBUF_INIT(PAGE_MAX_BYTES);

    fill_registry(f->registry, 3, ROWS);
    publish(f);
    exposition_write(f->registry, (struct exposition){.synced = false}, &whole);
    assert_true(http_talk(server_address(f->server, 0),
                          "GET /metrics HTTP/1.0\r\nAccept-Encoding: gzip\r\n\r\n", &answer));

    uLongf len = compressBound(whole.len);
    CLEANUP(free_cleanup) char *bytes = xmalloc(len);

    assert_int_equal(
        compress2((Bytef *)bytes, &len, (const Bytef *)whole.data, whole.len, Z_BEST_SPEED), Z_OK);
    assert_in_range(answer.len - (size_t)(http_body(&answer) - answer.data), 1, len * 11 / 10);
}

/* A further page allocates memory only for changed families and its own lists. */
TEST(unchanged_families_share_memory_between_pages)
{
    struct registry *r = registry_new(NULL, &registry_options_default, 1);
    enum { PAGES = 4 };
    struct metrics_page *pages[PAGES];
    size_t before = heap_bytes(), first = 0;

    fill_registry(r, 3, ROWS);
    for (unsigned i = 0; i < PAGES; i++) {
        REGISTRY_SET(r, OWN_UP, i);
        before = i == 0 ? heap_bytes() : before;
        pages[i] = blank_page_of(r, i > 0 ? pages[i - 1] : NULL);
        first = i == 0 ? heap_bytes() - before : first;
    }
    size_t all = heap_bytes() - before;

    for (unsigned i = 0; i < PAGES; i++)
        metrics_page_drop(pages[i]);
    registry_free(r);
    if (HEAP_COUNTS) {
        assert_true(first > 200000);
        assert_in_range(all - first, 1, first / 5);
    }
}

/* Page 1 shares memory with page 0; page 2 shares memory with no page. */
TEST(old_page_counts_as_held_until_it_is_dropped)
{
    struct registry *r = registry_new(NULL, &registry_options_default, 1);
    struct page_store *s = page_store_new();
    const struct exposition how = {.synced = false};
    struct metrics_page *pages[3];
    size_t len = 0;

    fill_registry(r, 3, ROWS);
    for (unsigned i = 0; i < ARRAY_LEN(pages); i++) {
        REGISTRY_SET(r, OWN_UP, i);
        registry_prepare(r);
        pages[i] = metrics_page_new(r, how, i == 1 ? pages[0] : NULL, BLANK_PAGE_MAX,
                                    page_store_segment_sum(s));
        len = metrics_page_len(pages[i]);
        page_store_publish_metrics(s, pages[i]);
        assert_int_equal(page_store_holds_more(s, 0), i == 2);
    }
    assert_false(page_store_holds_more(s, len));
    metrics_page_drop(pages[0]);
    assert_false(page_store_holds_more(s, 0));
    assert_int_equal(page_store_segment_sum(s)->bytes, 2 * len);
    metrics_page_drop(pages[1]);
    metrics_page_drop(pages[2]);
    assert_int_equal(page_store_segment_sum(s)->bytes, len);
    page_store_free(s);
    registry_free(r);
}

TEST(page_over_the_limit_is_not_created)
{
    struct registry *r = registry_new(NULL, &registry_options_default, 1);
    struct metrics_page *fits, *none[3];

    fill_registry(r, 3, 1000);
    registry_prepare(r);
    fits = metrics_page_new(r, (struct exposition){.synced = false}, NULL, 1 << 20, NULL);
    for (unsigned i = 0; i < ARRAY_LEN(none); i++)
        none[i] = metrics_page_new(r, (struct exposition){.synced = false}, NULL,
                                   (const size_t[]){1, 4000, 60000}[i], NULL);
    assert_non_null(fits);
    for (unsigned i = 0; i < ARRAY_LEN(none); i++)
        assert_null(none[i]);
    metrics_page_drop(fits);
    registry_free(r);
}

/* ---- concurrent publication ---- */

/* Publishes a page with the same value in all series, so that a mix of pages is detected. */
static void publish_number(struct fixture *f, unsigned number)
{
    char name[32];

    for (unsigned i = 0; i < 300; i++) {
        snprintf(name, sizeof(name), "row%03u", i);
        REGISTRY_SET(f->registry, OWN_OBJECTS, number, name);
        REGISTRY_SET(f->registry, OWN_AUDITS, number, name);
    }
    REGISTRY_SET(f->registry, OWN_UP, number);
    publish(f);
}

static void *publish_until_stopped(void *context)
{
    struct fixture *f = context;

    for (unsigned number = 1; !atomic_load(&f->stop); number++)
        publish_number(f, number % 50);
    return NULL;
}

/* Returns true if the page has all 601 series, with the same value. */
static bool is_one_page(char *page)
{
    const char *number = NULL;
    unsigned rows = 0;

    for (char *line = strtok_r(page, "\n", &page); line; line = strtok_r(NULL, "\n", &page)) {
        const char *value = strrchr(line, ' ');

        if (*line == '#' || strstr(line, "_created"))
            continue;
        rows++;
        if (number && strcmp(number, value) != 0)
            return false;
        number = value;
    }
    return rows == 601;
}

static void *read_pages(void *context)
{
    struct fixture *f = context;

    for (unsigned i = 0; i < ROUNDS; i++) {
        CLEANUP(strbuf_release) struct strbuf got = STRBUF_INIT(PAGE_MAX_BYTES);
        const struct request request = {"?collect[]=karmada_policy_exporter_objects"
                                        "&collect[]=karmada_policy_exporter_audits"
                                        "&collect[]=karmada_policy_exporter_up",
                                        i % 2, i % 3 == 0};
        CLEANUP(strbuf_release) struct strbuf all = STRBUF_INIT(PAGE_MAX_BYTES);

        if (!fetch(f, request, &got) || !is_one_page(got.data) ||
            !fetch(f, (struct request){"", i % 2, i % 3 != 1}, &all))
            atomic_fetch_add(&f->bad, 1);
    }
    return NULL;
}

TEST_WITH(readers_get_whole_pages_during_publication, set_up, tear_down)
{
    struct fixture *f = *state;
    pthread_t publisher, readers[READERS];

    publish_number(f, 0);
    assert_int_equal(pthread_create(&publisher, NULL, publish_until_stopped, f), 0);
    for (int i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&readers[i], NULL, read_pages, f), 0);
    for (int i = 0; i < READERS; i++)
        pthread_join(readers[i], NULL);
    atomic_store(&f->stop, true);
    pthread_join(publisher, NULL);
    assert_int_equal(f->bad, 0);
}
