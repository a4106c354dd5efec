/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/api_paging.h"

#include "tests/unit/suite.h"
#include "tests/unit/world.h"

/* Lists of ConfigMaps. Further ConfigMaps, between the others, make the lists outdated. */

enum { ROWS = 200, SEED = 7, LISTS_MAX = 16, TOKEN_MAX_BYTES = 128, ORDER_ROWS = 1024 * 1024 };

struct listed {
    struct world world;
    struct rows *rows;
    struct paging *paging;
    int64_t now_ms;
};

static void update_row(void *context, struct entry *entry)
{
    struct listed *l = context;
    struct row row;

    if (entry_class(entry) != CLASS_TEMPLATE)
        return;
    row_init(&row, entry, l->world.engine);
    rows_put(l->rows, &row);
}

static int set_up(void **state)
{
    struct listed *l = xcalloc(1, sizeof(*l));

    world_init(&l->world, &rules_options_default, SEED);
    l->rows = rows_new(l->world.store);
    l->paging = paging_new(SEED);
    engine_observe(l->world.engine, (struct engine_observer){.decided = update_row, .context = l});
    *state = l;
    return 0;
}

static int tear_down(void **state)
{
    struct listed *l = *state;

    paging_free(l->paging);
    engine_observe(l->world.engine, (struct engine_observer){0});
    rows_free(l->rows);
    world_release(&l->world);
    free(l);
    return 0;
}

static void add_templates(struct listed *l, unsigned count)
{
    char json[256];

    for (unsigned i = 0; i < count; i++) {
        snprintf(json, sizeof(json),
                 "{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {\"name\": "
                 "\"c-%u-%" PRId64 "\", \"namespace\": \"n\"}}",
                 i, l->now_ms);
        world_put_text(&l->world, json);
    }
    world_run(&l->world, l->now_ms);
}

/* Opens the list of a path at a token; "": its first page. Returns the status of a refusal or 0. */
static unsigned open_list(struct listed *l, const char *path, const char *token)
{
    struct query query = {{0}};
    struct error err;
    unsigned status;

    query.values[PARAMETER_CONTINUE] = (char *)(uintptr_t)token;
    return paging_open(l->paging, &(struct page_query){path, &query, 1, l->now_ms++, 0}, &status,
                       &err)
               ? 0
               : status;
}

/* Stores a list of the current rows, and its token for the second row. */
static void store_list(struct listed *l, const char *path, char token[TOKEN_MAX_BYTES])
{
    assert_int_equal(open_list(l, path, ""), 0);
    paging_set_view(l->paging, rows_view(l->rows));
    snprintf(token, TOKEN_MAX_BYTES, "%s",
             paging_end_page(l->paging, (struct row_position){.row = 1}));
    paging_close(l->paging, l->now_ms);
}

TEST_WITH(longest_unused_lists_with_outdated_rows_are_dropped, set_up, tear_down)
{
    struct listed *l = *state;
    struct row_view *view;
    char first[TOKEN_MAX_BYTES], second[TOKEN_MAX_BYTES], third[TOKEN_MAX_BYTES];

    add_templates(l, ROWS);
    store_list(l, "/first", first);
    add_templates(l, ROWS);
    store_list(l, "/second", second);
    paging_drop_outdated(l->paging, SIZE_MAX);
    assert_int_equal(open_list(l, "/first", first), 0);
    paging_end_page(l->paging, (struct row_position){.row = 1});
    paging_close(l->paging, l->now_ms);
    add_templates(l, ROWS);
    store_list(l, "/third", third);
    /* The second list is unused for longest; only the third one has current rows. */
    view = rows_view(l->rows);
    paging_drop_outdated(l->paging, row_views_bytes(view) - 1);
    row_view_drop(view);
    assert_int_equal(open_list(l, "/second", second), MHD_HTTP_GONE);
    add_templates(l, ROWS);
    paging_drop_outdated(l->paging, 0);
    assert_int_equal(open_list(l, "/first", first), MHD_HTTP_GONE);
    /* The last used list stays, although its rows are outdated, too. */
    assert_int_equal(open_list(l, "/third", third), 0);
    paging_close(l->paging, l->now_ms);
}

TEST_WITH(orders_of_stored_lists_are_limited, set_up, tear_down)
{
    struct listed *l = *state;
    char tokens[LISTS_MAX][TOKEN_MAX_BYTES];
    unsigned kept = 0;

    add_templates(l, 2);
    for (unsigned i = 0; i < LISTS_MAX; i++) {
        char path[16];

        snprintf(path, sizeof(path), "/%u", i);
        assert_int_equal(open_list(l, path, ""), 0);
        paging_set_view(l->paging, rows_view(l->rows));
        paging_set_order(l->paging, xcalloc(ORDER_ROWS, sizeof(void *)), ORDER_ROWS);
        snprintf(tokens[i], TOKEN_MAX_BYTES, "%s",
                 paging_end_page(l->paging, (struct row_position){.row = 1}));
        paging_close(l->paging, l->now_ms);
    }
    for (unsigned i = 0; i < LISTS_MAX; i++) {
        char path[16];
        unsigned status;

        snprintf(path, sizeof(path), "/%u", i);
        status = open_list(l, path, tokens[i]);
        assert_int_equal(status, i < LISTS_MAX / 2 ? MHD_HTTP_GONE : 0);
        kept += status == 0;
        if (status == 0) {
            paging_end_page(l->paging, (struct row_position){.row = 1});
            paging_close(l->paging, l->now_ms);
        }
    }
    assert_int_equal(kept, LISTS_MAX / 2);
}
