/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/override/overriders.h"

#include "tests/unit/reading.h"

#include "tests/unit/suite.h"

#define POD        "{'apiVersion':'v1','kind':'Pod','spec':{'containers':["
#define CONFIG_MAP "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'labels':"

static const struct overriders_row {
    const char *title, *object, *overriders;
    const char *result; /* NULL: the rule fails. */
    bool panics;
} rows[] = {
    {"an absent list of args is made", POD "{'name':'a'}]}}",
     "{'argsOverrider':[{'containerName':'a','operator':'add','value':['x']}]}",
     POD "{'name':'a','args':['x']}]}}", false},
    {"remove makes an empty list", POD "{'name':'a'}]}}",
     "{'commandOverrider':[{'containerName':'a','operator':'remove','value':['x']}]}",
     POD "{'name':'a','command':[]}]}}", false},
    {"remove drops all equal values", POD "{'name':'a','args':['x','y','x']}]}}",
     "{'argsOverrider':[{'containerName':'a','operator':'remove','value':['x']}]}",
     POD "{'name':'a','args':['y']}]}}", false},
    {"values that are no texts", POD "{'name':'a','args':[1,true,null,['x',2]]}]}}",
     "{'argsOverrider':[{'containerName':'a','operator':'add'}]}",
     POD "{'name':'a','args':['%!s(int64=1)','%!s(bool=true)','%!s(<nil>)','[x %!s(int64=2)]']}]}}",
     false},
    {"no container of the name", POD "{'name':'a'}]}}",
     "{'argsOverrider':[{'containerName':'b','operator':'add','value':['x']}]}",
     POD "{'name':'a'}]}}", false},
    {"args that are no list", POD "{'name':'a','args':'x'}]}}",
     "{'argsOverrider':[{'containerName':'a','operator':'add','value':['x']}]}", NULL, true},
    {"containers that are no list", "{'kind':'Pod','spec':{'containers':null}}",
     "{'argsOverrider':[{'containerName':'a','operator':'add'}]}", NULL, false},
    {"images of initContainers stay",
     "{'kind':'Pod','spec':{'initContainers':[{'image':'b:1'}],'containers':[{'image':'a:1'}]}}",
     "{'imageOverrider':[{'component':'Tag','operator':'replace','value':'2'}]}",
     "{'kind':'Pod','spec':{'initContainers':[{'image':'b:1'}],'containers':[{'image':'a:2'}]}}",
     false},
    {"a quantity between blanks",
     "{'kind':'Pod','spec':{'containers':[{'image':'a:1','resources':{'limits':{'cpu':' 1 '}}}]}}",
     "{'imageOverrider':[{'component':'Tag','operator':'remove'}]}",
     "{'kind':'Pod','spec':{'containers':[{'image':'a','resources':{'limits':{'cpu':' 1 '}}}]}}",
     false},
    {"images of several containers",
     "{'kind':'Pod','spec':{'containers':[{'image':'a:1'},{'image':'b'},{'image':'c:3'}]}}",
     "{'imageOverrider':[{'component':'Tag','operator':'replace','value':'2'}]}",
     "{'kind':'Pod','spec':{'containers':[{'image':'a:2'},{'image':'b:2'},{'image':'c:2'}]}}",
     false},
    {"a container without an image", POD "{'image':'a:1'},{'name':'b'}]}}",
     "{'imageOverrider':[{'component':'Tag','operator':'remove'}]}", NULL, false},
    {"JSON null becomes a document", "{'kind':'X','spec':'null'}",
     "{'fieldOverrider':[{'fieldPath':'/spec','json':[{'subPath':'','operator':'add',"
     "'value':{'a':1}}]}]}",
     "{'kind':'X','spec':'{\\\"a\\\":1}'}", false},
    {"an object that becomes null", "{'kind':'X'}",
     "{'plaintext':[{'path':'','operator':'replace'}]}", NULL, false},
    {"an image by its path", "{'kind':'X','spec':[{'image':'a:1'}]}",
     "{'imageOverrider':[{'predicate':{'path':'/spec/0/image'},'component':'Tag',"
     "'operator':'remove'}]}",
     "{'kind':'X','spec':[{'image':'a'}]}", false},
    {"an index out of range", "{'kind':'X','spec':[]}",
     "{'imageOverrider':[{'predicate':{'path':'/spec/0/image'},'component':'Tag'}]}", NULL, true},
    {"a missing image", "{'kind':'X','spec':{}}",
     "{'imageOverrider':[{'predicate':{'path':'/spec/image'},'component':'Tag'}]}", NULL, false},
    {"a label is added", CONFIG_MAP "{'a':'b'}}}",
     "{'labelsOverrider':[{'operator':'add','value':{'x/y':'z'}}]}",
     CONFIG_MAP "{'a':'b','x/y':'z'}}}", false},
    {"a label that is no text clears the map", CONFIG_MAP "{'a':1}}}",
     "{'labelsOverrider':[{'operator':'add','value':{'b':'c'}}]}", CONFIG_MAP "{'b':'c'}}}", false},
    {"absent labels are no error", CONFIG_MAP "{'a':'b'}}}",
     "{'labelsOverrider':[{'operator':'remove','value':{'b':''}},"
     "{'operator':'replace','value':{'c':'d'}}]}",
     CONFIG_MAP "{'a':'b'}}}", false},
    {"plaintext comes last", CONFIG_MAP "{'a':'b'}}}",
     "{'plaintext':[{'path':'/metadata/labels/c','operator':'replace','value':'e'}],"
     "'labelsOverrider':[{'operator':'add','value':{'c':'d'}}]}",
     CONFIG_MAP "{'a':'b','c':'e'}}}", false},
    {"an object without kind", CONFIG_MAP "{}}}",
     "{'plaintext':[{'path':'/kind','operator':'remove'}]}", NULL, false},
    {"a JSON text", "{'kind':'X','data':{'j':'{\\\"b\\\": 1.0, \\\"a\\\": 2}'}}",
     "{'fieldOverrider':[{'fieldPath':'/data/j','json':[{'subPath':'/a','operator':'replace',"
     "'value':3}]}]}",
     "{'kind':'X','data':{'j':'{\\\"b\\\":1.0,\\\"a\\\":3}'}}", false},
    {"a text that is no JSON", "{'kind':'X','data':{'j':'a: b'}}",
     "{'fieldOverrider':[{'fieldPath':'/data/j','json':[{'subPath':'/a','operator':'remove'}]}]}",
     NULL, false},
    {"an empty JSON text stays", "{'kind':'X','data':{'j':''}}",
     "{'fieldOverrider':[{'fieldPath':'/data/j','json':[{'subPath':'/a','operator':'remove'}]}]}",
     "{'kind':'X','data':{'j':''}}", false},
    {"a missing field", "{'kind':'X','data':{}}",
     "{'fieldOverrider':[{'fieldPath':'/data/j','json':[{'subPath':'/a','operator':'remove'}]}]}",
     NULL, false},
    {"a field overrider without operations", "{'kind':'X','data':{'j':'a'}}",
     "{'fieldOverrider':[{'fieldPath':'/data/j'}]}", "{'kind':'X','data':{'j':''}}", false},
};

TEST_ROWS(overriders_change_an_object, rows, title)
{
    const struct overriders_row *row = *state;
    CLEANUP(json_cleanup) cJSON *object = json_of(row->object);
    CLEANUP(json_cleanup) cJSON *overriders = json_of(row->overriders);
    struct error err = {""};
    enum overriders_result result = overriders_apply(overriders, &object, NULL, &err);

    assert_int_equal(result, row->result   ? OVERRIDERS_APPLIED
                             : row->panics ? OVERRIDERS_PANICKED
                                           : OVERRIDERS_FAILED);
    if (row->result) {
        CLEANUP(json_cleanup) cJSON *wanted = json_of(row->result);
        CLEANUP(free_cleanup) char *expected = cJSON_PrintUnformatted(wanted);
        CLEANUP(free_cleanup) char *actual = cJSON_PrintUnformatted(object);

        assert_string_equal(actual, expected);
    } else {
        assert_string_not_equal(err.text, "");
    }
}

TEST(the_normal_form_has_known_fields_only)
{
    CLEANUP(json_cleanup)
    cJSON *overriders =
        json_of("{'x':1,'argsOverrider':[],'plaintext':[{'path':'/a','operator':'remove','y':1}],"
                "'imageOverrider':[{'component':'Tag','operator':'remove','value':''}]}");
    CLEANUP(json_cleanup)
    cJSON *wanted = json_of("{'plaintext':[{'path':'/a','operator':'remove','value':null}],"
                            "'imageOverrider':[{'component':'Tag','operator':'remove'}]}");
    CLEANUP(json_cleanup) cJSON *actual = overriders_normalize(overriders);

    assert_true(cJSON_Compare(actual, wanted, true));
}
