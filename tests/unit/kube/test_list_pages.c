/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/reflector_request.h"

#include "tests/unit/suite.h"

/* '|' separates pages. A letter is an object of this name, '?' an object without a name. */
static struct list_case {
    const char *title;
    const char *pages;
    bool same_token; /* Each page returns the continue token of its request. */
    unsigned ends;   /* Number of the page at which the list fails; 0: no failure. */
} list_cases[] = {
    {"objects in every page", "ab|cd|ef|gh", false, 0},
    {"one page without objects", "a||b", false, 0},
    {"the maximum of pages without objects in a row", "|||||a|||||b", false, 0},
    {"one page without objects too many", "||||||a", false, 6},
    {"pages without objects after others", "a|b|||||||", false, 8},
    {"the same token, with other objects", "a|b", true, 2},
    {"the same page again", "ab|ab", false, 2},
    {"another order", "ab|ba", false, 2},
    {"the same page later", "a|b|b", false, 3},
    {"two pages in turn", "a|b|a|b|a|b|a|b", false, 4},
    {"three pages in turn", "a|b|c|a|b|c|a|b|c|a|b|c", false, 7},
    {"the same page between pages without objects", "||a|||a|||a", false, 6},
    {"a page with one object more", "a|ab|abc", false, 0},
    {"objects without names", "?|?|?|?", false, 0},
};

TEST_ROWS(list_without_progress_fails, list_cases, title)
{
    const struct list_case *s = *state;
    struct list_pages pages;
    unsigned number = 1, ended = 0;

    list_pages_begin(&pages);
    list_pages_open(&pages);
    for (const char *at = s->pages; !ended; at++) {
        char asked[16], next[16];
        const char name[] = {*at, '\0'};

        if (*at && *at != '|') {
            list_pages_note(&pages, "a", *at == '?' ? "" : name);
            continue;
        }
        snprintf(asked, sizeof(asked), "t%u", number - 1);
        snprintf(next, sizeof(next), "t%u", s->same_token ? number - 1 : number);
        if (list_pages_end(&pages, number > 1 ? asked : NULL, next))
            ended = number;
        if (!*at)
            break;
        list_pages_open(&pages);
        number++;
    }
    assert_int_equal(ended, s->ends);
}

TEST(list_fails_after_the_maximum_of_pages)
{
    struct list_pages pages;
    unsigned number = 0;
    char name[16];

    list_pages_begin(&pages);
    do {
        list_pages_open(&pages);
        snprintf(name, sizeof(name), "n%u", number++);
        list_pages_note(&pages, "", name);
        assert_in_range(number, 1, LIST_PAGES_MAX);
    } while (!list_pages_end(&pages, number % 2 ? "odd" : "even", number % 2 ? "even" : "odd"));
    assert_int_equal(number, LIST_PAGES_MAX);
}

/* After a lost connection, the page is requested again. */
TEST(page_requested_again_counts_once)
{
    struct list_pages pages;

    list_pages_begin(&pages);
    for (unsigned i = 0; i < 2 * LIST_EMPTY_PAGES_MAX; i++)
        list_pages_open(&pages);
    list_pages_note(&pages, "a", "x");
    list_pages_open(&pages);
    list_pages_note(&pages, "a", "x");
    assert_null(list_pages_end(&pages, NULL, "t1"));
    list_pages_open(&pages);
    list_pages_note(&pages, "b", "x");
    assert_null(list_pages_end(&pages, "t1", "t2"));
}
