/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/base/json_patch.h"

#include "tests/unit/reading.h"

#include "tests/unit/suite.h"

static const struct patch_row {
    const char *title, *doc, *operations;
    const char *result; /* NULL: the patch fails. */
} rows[] = {
    {"add a member", "{}", "[{'op':'add','path':'/a','value':1}]", "{'a':1}"},
    {"add replaces a member", "{'a':1}", "[{'op':'add','path':'/a','value':2}]", "{'a':2}"},
    {"add without parent", "{}", "[{'op':'add','path':'/a/b','value':1}]", NULL},
    {"add below a text", "{'a':'b'}", "[{'op':'add','path':'/a/b','value':1}]", NULL},
    {"add below null", "{'a':null}", "[{'op':'add','path':'/a/b','value':1}]", NULL},
    {"add without value writes null", "{}", "[{'op':'add','path':'/a'}]", "{'a':null}"},
    {"insert an element", "{'a':[1,3]}", "[{'op':'add','path':'/a/1','value':2}]", "{'a':[1,2,3]}"},
    {"insert the first element", "{'a':[1]}", "[{'op':'add','path':'/a/0','value':0}]",
     "{'a':[0,1]}"},
    {"append an element", "{'a':[1]}", "[{'op':'add','path':'/a/-','value':2}]", "{'a':[1,2]}"},
    {"insert from the end", "{'a':[1]}", "[{'op':'add','path':'/a/-1','value':2}]", "{'a':[1,2]}"},
    {"insert beyond the end", "{'a':[1]}", "[{'op':'add','path':'/a/2','value':2}]", NULL},
    {"insert before the start", "{'a':[1]}", "[{'op':'add','path':'/a/-3','value':2}]", NULL},
    {"insert at a word", "{'a':[1]}", "[{'op':'add','path':'/a/x','value':2}]", NULL},
    {"replace a member", "{'a':1}", "[{'op':'replace','path':'/a','value':[]}]", "{'a':[]}"},
    {"replace null", "{'a':null}", "[{'op':'replace','path':'/a','value':1}]", "{'a':1}"},
    {"replace the document by null", "{'a':1}", "[{'op':'replace','path':''}]", "null"},
    {"add null as the document", "{'a':1}", "[{'op':'add','path':''}]", NULL},
    {"add to null", "{'a':1}", "[{'op':'replace','path':''},{'op':'add','path':'/a','value':1}]",
     NULL},
    {"replace a missing member", "{}", "[{'op':'replace','path':'/a','value':1}]", NULL},
    {"replace a named value by one with a name", "{'a':{'x':1}}",
     "[{'op':'replace','path':'/a/x','value':{'y':2}}]", "{'a':{'x':{'y':2}}}"},
    {"replace the last element", "{'a':[1,2]}", "[{'op':'replace','path':'/a/-1','value':3}]",
     "{'a':[1,3]}"},
    {"replace at the end", "{'a':[1]}", "[{'op':'replace','path':'/a/-','value':3}]", NULL},
    {"replace creates the empty key", "{'a':{}}", "[{'op':'replace','path':'/a/','value':1}]",
     "{'a':{'':1}}"},
    {"the empty key of a list", "{'a':[]}", "[{'op':'replace','path':'/a/','value':1}]", NULL},
    {"an empty part below the root", "{'a':{'':{}}}", "[{'op':'add','path':'/a//b','value':1}]",
     NULL},
    {"an empty part at the root changes a copy", "{'a':1}",
     "[{'op':'replace','path':'//a','value':2}]", "{'a':1}"},
    {"remove a member", "{'a':1,'b':2}", "[{'op':'remove','path':'/a'}]", "{'b':2}"},
    {"remove a missing member", "{'a':1}", "[{'op':'remove','path':'/b'}]", NULL},
    {"remove the last element", "{'a':[1,2]}", "[{'op':'remove','path':'/a/-1'}]", "{'a':[1]}"},
    {"remove beyond the end", "{'a':[1]}", "[{'op':'remove','path':'/a/1'}]", NULL},
    {"remove the document", "{'a':1}", "[{'op':'remove','path':''}]", NULL},
    {"replace the document", "{'a':1}", "[{'op':'replace','path':'','value':{'b':1}}]", "{'b':1}"},
    {"replace the document by a text", "{'a':1}", "[{'op':'add','path':'','value':'b'}]", NULL},
    {"escaped keys", "{'a/b':{'c~d':1}}", "[{'op':'replace','path':'/a~1b/c~0d','value':2}]",
     "{'a/b':{'c~d':2}}"},
    {"a path without slash", "{'a':1}", "[{'op':'replace','path':'a','value':2}]", NULL},
    {"the part before the first slash is ignored", "{'a':1}",
     "[{'op':'replace','path':'x/a','value':2}]", "{'a':2}"},
    {"keys with different case", "{'a':1}", "[{'op':'replace','path':'/A','value':2}]", NULL},
    {"each operation sees the earlier ones", "{}",
     "[{'op':'add','path':'/a','value':{}},{'op':'add','path':'/a/b','value':1}]", "{'a':{'b':1}}"},
    {"an unknown operation", "{}", "[{'op':'add','path':'/a','value':1},{'op':'put','path':'/b'}]",
     NULL},
};

TEST_ROWS(a_patch_changes_the_tree, rows, title)
{
    const struct patch_row *row = *state;
    CLEANUP(json_cleanup) cJSON *doc = json_of(row->doc);
    CLEANUP(json_cleanup) cJSON *list = json_of(row->operations);
    CLEANUP(json_cleanup) cJSON *wanted = row->result ? json_of(row->result) : NULL;
    struct json_patch_operation operations[4];
    struct error err = {""};
    size_t count = 0;
    const cJSON *item;

    cJSON_ArrayForEach (item, list)
        operations[count++] = (struct json_patch_operation){
            json_str(item, "op", ""), json_str(item, "path", ""), json_get(item, "value")};
    assert_int_equal(json_patch_apply(&doc, operations, count, &err), wanted != NULL);
    assert_int_equal(*err.text != '\0', !wanted);
    if (wanted) {
        CLEANUP(free_cleanup) char *expected = cJSON_PrintUnformatted(wanted);
        CLEANUP(free_cleanup) char *actual = cJSON_PrintUnformatted(doc);

        assert_string_equal(actual, expected);
    }
}

TEST(pointers_are_escaped_and_decoded)
{
    CLEANUP(strbuf_release) struct strbuf pointer = STRBUF_INIT(64);
    const char *at;

    json_pointer_add_key(&pointer, "a/b~c");
    json_pointer_add_index(&pointer, 7);
    assert_string_equal(pointer.data, "/a~1b~0c/7");
    at = pointer.data;
    for (unsigned i = 0; i < 3; i++) {
        CLEANUP(free_cleanup) char *part = json_pointer_next(&at);

        assert_text(part, i == 0 ? "a/b~c" : i == 1 ? "7" : NULL);
    }
}
