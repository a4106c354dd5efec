/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/base/csv.h"

#include "tests/unit/suite.h"

static struct cell_case {
    const char *title;
    const char *json;
    const char *line; /* Expected line of the columns "a" and "b.c"; NULL if rejected. */
} cell_cases[] = {
    {"texts", "{\"a\": \"x\", \"b\": {\"c\": \"y\"}}", "x,y\r\n"},
    {"absent values", "{}", ",\r\n"},
    {"null", "{\"a\": null, \"b\": null}", ",\r\n"},
    {"a comma", "{\"a\": \"x,y\"}", "\"x,y\",\r\n"},
    {"quotes", "{\"a\": \"say \\\"x\\\"\"}", "\"say \"\"x\"\"\",\r\n"},
    {"line breaks", "{\"a\": \"x\\r\\ny\"}", "\"x\r\ny\",\r\n"},
    {"numbers", "{\"a\": -1, \"b\": {\"c\": 2.5}}", "-1,2.5\r\n"},
    {"booleans", "{\"a\": true}", "true,\r\n"},
    {"a list of texts", "{\"a\": [\"x\", \"y\"]}", "x; y,\r\n"},
    {"an empty list", "{\"a\": []}", ",\r\n"},
    {"a list of objects", "{\"a\": [{\"x\": 1}]}", "\"[{\"\"x\"\":1}]\",\r\n"},
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

TEST_ROWS(json_row_is_written_as_a_line, cell_cases, title)
{
    static const char *const columns[] = {"a", "b.c", NULL};
    const struct cell_case *c = *state;
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(1024);

    assert_int_equal(csv_add_row(&out, columns, c->json, strlen(c->json)), c->line != NULL);
    assert_string_equal(out.data, c->line ? c->line : "");
}

TEST(first_line_has_the_names_of_the_columns)
{
    static const char *const columns[] = {"a", "b.c", NULL};
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(1024);

    csv_add_headings(&out, columns);
    assert_string_equal(out.data, "a,b.c\r\n");
}
