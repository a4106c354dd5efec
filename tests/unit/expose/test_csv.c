/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/csv.h"

#include "tests/unit/suite.h"

static struct cell_case {
    const char *title;
    const char *json;
    const char *line; /* Of the columns "a" and "b.c"; NULL: refused. */
} cell_cases[] = {
    {"texts", "{\"a\": \"x\", \"b\": {\"c\": \"y\"}}", "x,y\r\n"},
    {"nothing", "{}", ",\r\n"},
    {"null", "{\"a\": null, \"b\": null}", ",\r\n"},
    {"a comma", "{\"a\": \"x,y\"}", "\"x,y\",\r\n"},
    {"quotes", "{\"a\": \"say \\\"x\\\"\"}", "\"say \"\"x\"\"\",\r\n"},
    {"lines", "{\"a\": \"x\\r\\ny\"}", "\"x\r\ny\",\r\n"},
    {"numbers", "{\"a\": -1, \"b\": {\"c\": 2.5}}", "-1,2.5\r\n"},
    {"booleans", "{\"a\": true}", "true,\r\n"},
    {"a list of texts", "{\"a\": [\"x\", \"y\"]}", "x; y,\r\n"},
    {"a list of none", "{\"a\": []}", ",\r\n"},
    {"a list of others", "{\"a\": [{\"x\": 1}]}", "\"[{\"\"x\"\":1}]\",\r\n"},
    {"a sum", "{\"a\": \"=1+1\"}", "\"'=1+1\",\r\n"},
    {"a plus", "{\"a\": \"+1\"}", "\"'+1\",\r\n"},
    {"a minus", "{\"a\": \"-1\"}", "\"'-1\",\r\n"},
    {"a call", "{\"a\": \"@SUM(A1)\"}", "\"'@SUM(A1)\",\r\n"},
    {"a tab", "{\"a\": \"\\tx\"}", "\"'\tx\",\r\n"},
    {"a formula behind blanks", "{\"a\": \"  =1\"}", "\"'  =1\",\r\n"},
    {"a wide sign", "{\"a\": \"\\uff1d1\"}", "\"'\uff1d1\",\r\n"},
    {"a quoted formula", "{\"a\": \"=\\\"x\\\",1\"}", "\"'=\"\"x\"\",1\",\r\n"},
    {"a formula in a list", "{\"a\": [\"=1\", \"x\"]}", "\"'=1; x\",\r\n"},
    {"no object", "[1]", NULL},
    {"no JSON", "{\"a\": ", NULL},
};

TEST_ROWS(a_row_is_a_line_of_cells, cell_cases, title)
{
    static const char *const columns[] = {"a", "b.c", NULL};
    const struct cell_case *c = *state;
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(1024);

    assert_int_equal(csv_add_row(&out, columns, c->json, strlen(c->json)), c->line != NULL);
    assert_string_equal(out.data, c->line ? c->line : "");
}

TEST(the_head_names_the_columns)
{
    static const char *const columns[] = {"a", "b.c", NULL};
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(1024);

    csv_add_headings(&out, columns);
    assert_string_equal(out.data, "a,b.c\r\n");
}
