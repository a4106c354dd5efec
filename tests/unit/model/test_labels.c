/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/metadata.h"

#include "tests/unit/reading.h"
#include "tests/unit/suite.h"

#define KEY_63 "a23456789012345678901234567890123456789012345678901234567890123"

static struct selector_case {
    const char *name;
    const char *json;
    const char *text; /* Requirements: "key op value,value; ...". */
    bool invalid;
} selectors[] = {
    {"an empty selector has no requirements", "{}", "", false},
    {"matchLabels become requirements", "{'matchLabels':{'app':'nginx','tier':''}}",
     "app In nginx; tier In ; ", false},
    {"every operator",
     "{'matchExpressions':[{'key':'a','operator':'In','values':['x','y']},"
     "{'key':'b','operator':'NotIn','values':['x']},{'key':'c','operator':'Exists'},"
     "{'key':'d','operator':'DoesNotExist','values':[]}]}",
     "a In x,y; b NotIn x; c Exists; d DoesNotExist; ", false},
    {"operators are case-sensitive",
     "{'matchExpressions':[{'key':'a','operator':'in','values':['x']}]}", "", true},
    {"an unknown operator", "{'matchExpressions':[{'key':'a','operator':'Gt','values':['1']}]}", "",
     true},
    {"no operator", "{'matchExpressions':[{'key':'a','values':['1']}]}", "", true},
    {"an empty expression", "{'matchExpressions':[null]}", "", true},
    {"In without values", "{'matchExpressions':[{'key':'a','operator':'In'}]}", "a In; ", true},
    {"NotIn without values", "{'matchExpressions':[{'key':'a','operator':'NotIn','values':[]}]}",
     "a NotIn; ", true},
    {"Exists with values", "{'matchExpressions':[{'key':'a','operator':'Exists','values':['x']}]}",
     "a Exists x; ", true},
    {"an empty value", "{'matchExpressions':[{'key':'a','operator':'In','values':['']}]}",
     "a In ; ", false},
    {"an empty key", "{'matchLabels':{'':'bar'}}", " In bar; ", true},
    {"a key with a prefix", "{'matchLabels':{'a-b.example.com/x_y.Z-1':'v'}}",
     "a-b.example.com/x_y.Z-1 In v; ", false},
    {"a prefix in upper case", "{'matchLabels':{'Example.com/x':'v'}}", "Example.com/x In v; ",
     true},
    {"an empty prefix", "{'matchLabels':{'/x':'v'}}", "/x In v; ", true},
    {"an empty part of a prefix", "{'matchLabels':{'a..b/x':'v'}}", "a..b/x In v; ", true},
    {"a dash at the edge of a prefix's part", "{'matchLabels':{'a-.b/x':'v'}}", "a-.b/x In v; ",
     true},
    {"a dash at the start of a prefix's part", "{'matchLabels':{'a.-b/x':'v'}}", "a.-b/x In v; ",
     true},
    {"a dot at the end of a prefix", "{'matchLabels':{'a./x':'v'}}", "a./x In v; ", true},
    {"no name after the prefix", "{'matchLabels':{'a.b/':'v'}}", "a.b/ In v; ", true},
    {"two slashes", "{'matchLabels':{'a/b/c':'v'}}", "a/b/c In v; ", true},
    {"a key of 63 characters", "{'matchLabels':{'" KEY_63 "':'v'}}", KEY_63 " In v; ", false},
    {"a key of 64 characters", "{'matchLabels':{'" KEY_63 "x':'v'}}", KEY_63 "x In v; ", true},
    {"a value of 63 characters", "{'matchLabels':{'k':'" KEY_63 "'}}", "k In " KEY_63 "; ", false},
    {"a value of 64 characters", "{'matchLabels':{'k':'" KEY_63 "x'}}", "k In " KEY_63 "x; ", true},
    {"a value with a space", "{'matchLabels':{'k':'a b'}}", "k In a b; ", true},
    {"a value that ends in a dash", "{'matchLabels':{'k':'a-'}}", "k In a-; ", true},
    {"a value that is not ASCII", "{'matchLabels':{'k':'\xc3\xa9'}}", "k In \xc3\xa9; ", true},
    {"one bad value among good ones",
     "{'matchExpressions':[{'key':'a','operator':'In','values':['x','/','y']}]}", "a In x,/,y; ",
     true},
};

static void write_requirements(const struct label_selector *s, struct strbuf *out)
{
    static const char *const names[] = {
        [LABEL_IN] = "In",
        [LABEL_NOT_IN] = "NotIn",
        [LABEL_EXISTS] = "Exists",
        [LABEL_DOES_NOT_EXIST] = "DoesNotExist",
    };

    for (size_t i = 0; i < s->count; i++) {
        const struct label_requirement *r = &s->items[i];

        strbuf_addf(out, "%s %s", r->key, names[r->op]);
        for (size_t v = 0; v < r->value_count; v++)
            strbuf_addf(out, "%c%s", v > 0 ? ',' : ' ', r->values[v]);
        strbuf_adds(out, "; ");
    }
}

TEST_ROWS(selector_is_decoded, selectors, name)
{
    const struct selector_case *c = *state;
    CLEANUP(reading_release) struct reading r;
    CLEANUP(json_cleanup) cJSON *json = cJSON_CreateObject();
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(4096);

    cJSON_AddItemToObject(json, "s", json_of(c->json));
    reading_init(&r);

    struct label_selector *s = label_selector_decode(&r.decode, json, "spec", "s");

    assert_non_null(s);
    write_requirements(s, &text);
    assert_string_equal(text.data, c->text);
    assert_int_equal(s->invalid != NULL, c->invalid);
    assert_false(r.decode.failed);
    label_selector_free(r.strings, s);
}

/* Selectors of a wrong type, which no API server accepts. */
static struct refused_case {
    const char *name;
    const char *json;
    const char *error;
} refused[] = {
    {"a selector that is a text", "'app=nginx'", "'spec[].s' must be an object, found a string"},
    {"matchLabels that are an array", "{'matchLabels':[]}",
     "'spec[].s.matchLabels' must be an object, found an array"},
    {"a label with a number", "{'matchLabels':{'app':1}}",
     "'spec[].s.matchLabels.app' must be a string, found a number"},
    {"expressions that are an object", "{'matchExpressions':{}}",
     "'spec[].s.matchExpressions' must be an array, found an object"},
    {"an expression that is a text", "{'matchExpressions':['app']}",
     "'spec[].s.matchExpressions[]' must be an object, found a string"},
    {"a key that is a number", "{'matchExpressions':[{'key':1,'operator':'Exists'}]}",
     "'spec[].s.matchExpressions[].key' must be a string, found a number"},
    {"values that are a text", "{'matchExpressions':[{'key':'a','operator':'In','values':'x'}]}",
     "'spec[].s.matchExpressions[].values' must be an array, found a string"},
    {"a value that is an object",
     "{'matchExpressions':[{'key':'a','operator':'In','values':[{}]}]}",
     "'spec[].s.matchExpressions[].values' must be a string, found an object"},
};

TEST_ROWS(selector_of_a_wrong_type_is_rejected, refused, name)
{
    const struct refused_case *c = *state;
    CLEANUP(reading_release) struct reading r;
    CLEANUP(json_cleanup) cJSON *json = cJSON_CreateObject();

    cJSON_AddItemToObject(json, "s", json_of(c->json));
    reading_init(&r);
    label_selector_free(r.strings, label_selector_decode(&r.decode, json, "spec[]", "s"));
    assert_true(r.decode.failed);
    assert_string_equal(r.err.text, c->error);
    assert_null(r.decode.prefix);
}

/* Selectors in the syntax of kubectl -l. */
static struct typed_case {
    const char *typed;
    const char *text; /* Expected requirements; NULL if the selector is rejected. */
} typed[] = {
    {"app=web", "app In web; "},
    {"app==web", "app In web; "},
    {"app!=web", "app NotIn web; "},
    {"app=", "app In ; "},
    {"app", "app Exists; "},
    {"!app", "app DoesNotExist; "},
    {" app = web , tier ", "app In web; tier Exists; "},
    {"app in (web, api),!x,y notin (a)", "app In web,api; x DoesNotExist; y NotIn a; "},
    {"a.b/in in(x)", "a.b/in In x; "},
    {"notin notin (x)", "notin NotIn x; "},
    {"", NULL},
    {"app,", NULL},
    {",app", NULL},
    {"app=web=api", NULL},
    {"app in web", NULL},
    {"app in (web", NULL},
    {"app in (web) x", NULL},
    {"app in x (web)", NULL},
    {"app=(web)", NULL},
    {"=web", NULL},
    {"!", NULL},
    {"!app=web", NULL},
    {"app=w eb", NULL},
    {"app\x1b=web", NULL},
};

TEST_ROWS(typed_selector_is_parsed, typed, typed)
{
    const struct typed_case *c = *state;
    CLEANUP(reading_release) struct reading r;
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(4096);

    reading_init(&r);

    struct label_selector *s = label_selector_parse(r.strings, c->typed, &r.err);

    if (s)
        write_requirements(s, &text);
    assert_text(s ? text.data : NULL, c->text);
    if (!s)
        assert_non_null(strstr(r.err.text, "is not a label selector such as app=web,tier!=test"));
    label_selector_free(r.strings, s);
}

TEST(absent_selector_is_null)
{
    CLEANUP(reading_release) struct reading r;
    CLEANUP(json_cleanup) cJSON *json = json_of("{'s':null}");

    reading_init(&r);
    assert_null(label_selector_decode(&r.decode, json, "spec", "s"));
    assert_null(label_selector_decode(&r.decode, json, "spec", "t"));
    assert_false(r.decode.failed);
    label_selector_free(r.strings, NULL);
}

TEST(labels_are_found_by_interned_key)
{
    CLEANUP(reading_release) struct reading r;
    CLEANUP(json_cleanup)
    cJSON *json = json_of("{'labels':{'app':'old','tier':'','none':null,'app':'new'}}");
    struct labels labels;

    reading_init(&r);
    labels_decode(&r.decode, json, "metadata", "labels", &labels);
    assert_false(r.decode.failed);
    assert_string_equal(labels_get(&labels, intern_find(r.strings, "app")), "new");
    assert_string_equal(labels_get(&labels, intern_find(r.strings, "tier")), "");
    assert_string_equal(labels_get(&labels, intern_find(r.strings, "none")), "");
    assert_null(labels_get(&labels, intern_find(r.strings, "new")));
    assert_null(labels_get(&labels, NULL));
    labels_release(r.strings, &labels);
    assert_int_equal(labels.count, 0);
}

TEST(empty_labels_take_no_memory)
{
    CLEANUP(reading_release) struct reading r;
    CLEANUP(json_cleanup) cJSON *json = json_of("{'labels':{},'null':null}");
    struct labels labels;

    reading_init(&r);
    labels_decode(&r.decode, json, "metadata", "labels", &labels);
    assert_null(labels.items);
    labels_decode(&r.decode, json, "metadata", "null", &labels);
    assert_null(labels.items);
    labels_release(r.strings, &labels);
}

TEST(labels_that_are_not_strings_are_rejected)
{
    CLEANUP(reading_release) struct reading r;
    CLEANUP(json_cleanup) cJSON *json = json_of("{'labels':{'app':'nginx','n':1,'z':'z'}}");
    struct labels labels;

    reading_init(&r);
    labels_decode(&r.decode, json, "metadata", "labels", &labels);
    assert_string_equal(r.err.text, "'metadata.labels' must be a map of strings");
    labels_release(r.strings, &labels);
}

TEST(packed_labels_are_the_labels_and_share_their_keys)
{
    CLEANUP(reading_release) struct reading r;
    CLEANUP(json_cleanup)
    cJSON *json = json_of("{'one':{'app':'old','tier':'','none':null,'app':'new'},"
                          "'other':{'app':'x','tier':'y','none':'z','app':'w'},'empty':{}}");
    pool_handle one[4], other[4], none[1];

    reading_init(&r);
    assert_int_equal(packed_labels_count(json, "one"), 4);
    assert_int_equal(packed_labels_count(json, "empty"), 0);
    assert_int_equal(packed_labels_count(json, "absent"), 0);

    pool_handle keys = packed_labels_decode(&r.decode, json, "metadata", "one", one);
    struct labels labels = labels_of_packed(intern_memory(r.strings), keys, one);

    assert_int_equal(packed_labels_decode(&r.decode, json, "metadata", "other", other), keys);
    assert_int_equal(packed_labels_decode(&r.decode, json, "metadata", "empty", none), 0);
    assert_int_equal(labels.count, 4);
    assert_string_equal(labels_get(&labels, intern_find(r.strings, "app")), "new");
    assert_string_equal(labels_get(&labels, intern_find(r.strings, "tier")), "");
    assert_string_equal(labels_get(&labels, intern_find(r.strings, "none")), "");
    assert_string_equal(labels_at(&labels, 0).value, "old");
    assert_null(labels_get(&labels, NULL));
    packed_labels_release(r.strings, keys, one);
    packed_labels_release(r.strings, keys, other);
    packed_labels_release(r.strings, 0, none);
    assert_int_equal(intern_count(r.strings), 0);
}

TEST(packed_labels_have_limits)
{
    CLEANUP(reading_release) struct reading r;
    CLEANUP(json_cleanup) cJSON *json = json_of("{}");
    cJSON *map = cJSON_AddObjectToObject(json, "labels");
    char text[3 * LABEL_TEXT_MAX];
    pool_handle values[PACKED_LABELS_MAX];

    reading_init(&r);
    memset(text, 'x', sizeof(text));
    for (unsigned i = 0; i <= PACKED_LABELS_MAX; i++) {
        snprintf(text, 16, "%06u", i);
        text[6] = 'x';
        text[sizeof(text) - 1 - i] = '\0';
        cJSON_AddStringToObject(map, text, text);
    }
    assert_int_equal(packed_labels_count(json, "labels"), PACKED_LABELS_MAX);

    pool_handle keys = packed_labels_decode(&r.decode, json, "metadata", "labels", values);
    struct labels labels = labels_of_packed(intern_memory(r.strings), keys, values);

    assert_string_equal(r.err.text, "'metadata.labels' must have at most 512 entries");
    assert_int_equal(labels.count, PACKED_LABELS_MAX);
    for (size_t i = 0; i < labels.count; i++) {
        assert_int_equal(strlen(labels_at(&labels, i).key), LABEL_TEXT_MAX);
        assert_ptr_equal(labels_at(&labels, i).value, labels_at(&labels, i).key);
    }
    packed_labels_release(r.strings, keys, values);
    assert_int_equal(intern_count(r.strings), 0);
}

TEST(packed_labels_that_are_not_strings_are_rejected)
{
    CLEANUP(reading_release) struct reading r;
    CLEANUP(json_cleanup)
    cJSON *json = json_of("{'labels':{'app':'nginx','n':1,'z':'z'},'list':['a']}");
    pool_handle values[3];

    reading_init(&r);
    pool_handle keys = packed_labels_decode(&r.decode, json, "metadata", "labels", values);
    assert_string_equal(r.err.text, "'metadata.labels' must be a map of strings");
    packed_labels_release(r.strings, keys, values);
    assert_int_equal(packed_labels_decode(&r.decode, json, "metadata", "list", values), 0);
    assert_int_equal(intern_count(r.strings), 0);
}
