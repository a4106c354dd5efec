/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/object_stream.h"

#include "exporter/system/file.h"
#include "tests/unit/suite.h"

enum { TEXT_MAX = 1 << 24 };

/* Handler that logs one line per event, and stops after stop_at events; 0: never. */
struct recorder {
    struct strbuf log;
    unsigned count;
    unsigned stop_at;
    bool brief; /* Lines contain no types, names and versions of objects. */
};

static const char *const kind_names[] = {
    [EVENT_OBJECT] = "object",      [EVENT_DELETED] = "removed", [EVENT_BOOKMARK] = "bookmark",
    [EVENT_INITIAL_END] = "filled", [EVENT_ERROR] = "error",     [EVENT_REJECTED] = "rejected",
};

static bool record_event(void *context, const struct watch_event *event)
{
    struct recorder *r = context;
    const cJSON *metadata = json_get(event->object, "metadata");

    strbuf_adds(&r->log, kind_names[event->kind]);
    if (event->object && !r->brief)
        strbuf_addf(&r->log, " %s %s %s", json_str(event->object, "apiVersion", "?"),
                    json_str(event->object, "kind", "?"), json_str(metadata, "name", "?"));
    if (event->unnamed)
        strbuf_adds(&r->log, " unnamed");
    if (*event->version && !r->brief)
        strbuf_addf(&r->log, " @%s", event->version);
    if (event->status)
        strbuf_addf(&r->log, " %u", event->status->code);
    if (event->reason)
        strbuf_addf(&r->log, " (%s)", event->reason);
    strbuf_addc(&r->log, '\n');
    return ++r->count != r->stop_at;
}

struct input {
    enum json_frame_mode mode;
    const char *api_version;
    const char *kind;
    const char *text;
    size_t len;
    size_t step; /* Bytes fed at a time. */
};

struct outcome {
    struct recorder recorder;
    struct list_meta facts;
    struct error err;
    bool fed;
    bool finished;
};

static void feed_body(const struct input *in, struct outcome *out)
{
    struct object_stream s;

    out->recorder.log = STRBUF_INIT(TEXT_MAX);
    out->fed = true;
    object_stream_init(&s, in->mode, in->api_version, in->kind, record_event, &out->recorder);
    for (size_t at = 0; at < in->len && out->fed; at += in->step) {
        size_t left = in->len - at;

        out->fed =
            object_stream_feed(&s, in->text + at, left < in->step ? left : in->step, &out->err);
    }
    if (out->fed && in->mode == JSON_FRAME_LIST)
        out->finished = object_stream_finish_list(&s, &out->facts, &out->err);
    object_stream_release(&s);
}

static void outcome_release(struct outcome *o)
{
    strbuf_release(&o->recorder.log);
    list_meta_release(&o->facts);
}

#define CONFIG_MAP(fields)   "{'kind':'ConfigMap','apiVersion':'v1'" fields "}"
#define NAMED(name, version) "'metadata':{'name':'" name "','resourceVersion':'" version "'}"
#define CHANGE(type, object) "{'type':'" type "','object':" object "}\n"
#define LIST(items)                                                                                \
    "{'kind':'ConfigMapList','metadata':{'resourceVersion':'9'},'items':[" items "]}"

/* Bodies with ConfigMaps; ' stands for ". */
static struct text_case {
    const char *name;
    enum json_frame_mode mode;
    const char *text;
    const char *log;
    const char *error; /* NULL: no error. */
} texts[] = {
    {"changes", JSON_FRAME_EVENTS,
     CHANGE("ADDED", CONFIG_MAP("," NAMED("a", "1")))
         CHANGE("MODIFIED", CONFIG_MAP("," NAMED("a", "2")))
             CHANGE("DELETED", CONFIG_MAP("," NAMED("a", "3"))),
     "object v1 ConfigMap a @1\nobject v1 ConfigMap a @2\nremoved v1 ConfigMap a @3\n", NULL},
    {"events without line breaks between them", JSON_FRAME_EVENTS,
     "{'type' : 'ADDED',\n 'object':{\n" NAMED("a", "1") "}}{'type':'ADDED','object':{" NAMED(
         "b", "2") "}}",
     "object v1 ConfigMap a @1\nobject v1 ConfigMap b @2\n", NULL},
    {"reduced to metadata", JSON_FRAME_EVENTS,
     CHANGE("ADDED",
            "{'kind':'PartialObjectMetadata','apiVersion':'meta.k8s.io/v1'," NAMED("a", "1") "}"),
     "object v1 ConfigMap a @1\n", NULL},
    {"bookmarks", JSON_FRAME_EVENTS,
     CHANGE("BOOKMARK", CONFIG_MAP(",'metadata':{'resourceVersion':'7'}"))
         CHANGE("BOOKMARK", CONFIG_MAP(",'metadata':{'resourceVersion':'8','annotations':{"
                                       "'k8s.io/initial-events-end':'true'}}"))
             CHANGE("BOOKMARK", CONFIG_MAP(",'metadata':{'resourceVersion':'9','annotations':{"
                                           "'k8s.io/initial-events-end':'false'}}")),
     "bookmark @7\nfilled @8\nbookmark @9\n", NULL},
    {"an error", JSON_FRAME_EVENTS, CHANGE("ERROR", "{'kind':'Status','code':410}"), "error 410\n",
     NULL},
    {"an error without a Status", JSON_FRAME_EVENTS, CHANGE("ERROR", "{'kind':'Surprise'}"),
     "error 0\n", NULL},
    {"an object of another kind", JSON_FRAME_EVENTS,
     CHANGE("ADDED", "{'kind':'Secret','apiVersion':'v1'," NAMED("a", "1") "}")
         CHANGE("ADDED", CONFIG_MAP("," NAMED("b", "2"))),
     "rejected @1 (an object of kind Secret 'v1' is in a response for kind ConfigMap "
     "'v1')\n"
     "object v1 ConfigMap b @2\n",
     NULL},
    {"a change of unknown type moves the version", JSON_FRAME_EVENTS,
     CHANGE("RENAMED", CONFIG_MAP("," NAMED("a", "4"))), "rejected @4 (an event of unknown type)\n",
     NULL},
    {"a change without an object", JSON_FRAME_EVENTS, "{'type':'ADDED'}\n",
     "rejected (not an object)\n", NULL},
    {"an object with a NUL is rejected with its name", JSON_FRAME_EVENTS,
     CHANGE("ADDED", CONFIG_MAP("," NAMED("a", "1") ",'x':'\\u0000'"))
         CHANGE("ADDED", CONFIG_MAP("," NAMED("b", "2"))),
     "rejected v1 ConfigMap a @1 (not valid JSON: a NUL character (\\u0000) in a string)\nobject "
     "v1 ConfigMap b @2\n",
     NULL},
    {"a deleted object with a NUL is removed", JSON_FRAME_EVENTS,
     CHANGE("DELETED", CONFIG_MAP("," NAMED("a", "1") ",'x':'\\u0000'")),
     "removed v1 ConfigMap a @1\n", NULL},
    {"invalid JSON in balanced braces", JSON_FRAME_EVENTS,
     "{'type' 'ADDED'}\n" CHANGE("ADDED", CONFIG_MAP("," NAMED("b", "2"))),
     "rejected unnamed (not valid JSON: ':' is missing after a key)\nobject v1 ConfigMap b @2\n",
     NULL},
    {"an HTML page of a proxy", JSON_FRAME_EVENTS, "<html><body>502</body></html>\n", "",
     "the body is no stream of watch events"},
    {"an array instead of events", JSON_FRAME_EVENTS, "[1,2]", "",
     "the body is no stream of watch events"},
    {"a truncated event is not reported", JSON_FRAME_EVENTS,
     CHANGE("ADDED", CONFIG_MAP("," NAMED("a", "1"))) "{'type':'ADDED','object':{" NAMED("b", "2"),
     "object v1 ConfigMap a @1\n", NULL},

    {"a list of a built-in kind: items have no type", JSON_FRAME_LIST,
     LIST("{" NAMED("a", "1") "},{" NAMED("b", "2") "}"),
     "object v1 ConfigMap a @1\nobject v1 ConfigMap b @2\n", NULL},
    {"an empty list", JSON_FRAME_LIST, LIST(""), "", NULL},
    {"an item that is not an object", JSON_FRAME_LIST, LIST("7,{" NAMED("a", "1") "}"),
     "rejected (not an object)\nobject v1 ConfigMap a @1\n", NULL},
    {"a list cut inside an item", JSON_FRAME_LIST,
     "{'kind':'ConfigMapList','metadata':{'resourceVersion':'9'},'items':[{'metadata':{", "",
     "the list ends too early"},
    {"a list cut between items", JSON_FRAME_LIST,
     "{'kind':'ConfigMapList','metadata':{'resourceVersion':'9'},'items':[{" NAMED("a", "1") "},",
     "object v1 ConfigMap a @1\n", "the list ends too early"},
    {"a list cut after its items", JSON_FRAME_LIST,
     "{'kind':'ConfigMapList','metadata':{'resourceVersion':'9'},'items':[]", "",
     "the list ends too early"},
    {"no body at all", JSON_FRAME_LIST, "", "", "the list ends too early"},
    {"two lists in a row", JSON_FRAME_LIST, LIST("") LIST(""), "",
     "the list without its items: not valid JSON: something follows after the end of the JSON "
     "value"},
    {"a list without its version", JSON_FRAME_LIST, "{'kind':'ConfigMapList','items':[]}", "",
     "the list has no resourceVersion"},
    {"a Status instead of a list", JSON_FRAME_LIST, "{'kind':'Status','code':500}", "",
     "the body is a Status and no list"},
    {"a document without a kind", JSON_FRAME_LIST, "{}", "",
     "the body is a document without kind and no list"},
};

static char *replace_quotes(const char *text)
{
    char *copy = xstrdup(text);

    for (char *c = copy; *c; c++) {
        if (*c == '\'')
            *c = '"';
    }
    return copy;
}

/* Feeds each body byte by byte, and in one piece. */
TEST_ROWS(body_is_split_into_events, texts, name)
{
    const struct text_case *c = *state;
    CLEANUP(free_cleanup) char *quoted = replace_quotes(c->text);
    struct input in = {c->mode, "v1", "ConfigMap", quoted, strlen(quoted), 0};

    for (size_t i = 0; i < 2; i++) {
        struct outcome out = {0};

        in.step = i == 0 ? 1 : in.len + 1;
        feed_body(&in, &out);
        assert_string_equal(out.recorder.log.data, c->log);
        if (c->error)
            assert_string_equal(out.err.text, c->error);
        else
            assert_true(out.fed && (c->mode == JSON_FRAME_EVENTS || out.finished));
        outcome_release(&out);
    }
}

/* Files with recorded responses of a real API server, and the events in them. */
static struct file_case {
    const char *name;
    enum json_frame_mode mode;
    const char *api_version;
    const char *kind;
    unsigned objects;
    unsigned removed;
    unsigned bookmarks;
    unsigned filled;
    unsigned errors;
    const char *version; /* Only for lists. */
    int64_t remaining;
    bool more;
} files[] = {
    {"list-empty", JSON_FRAME_LIST, "v1", "Secret", .version = "357", .remaining = -1},
    {"list-configmaps", JSON_FRAME_LIST, "v1", "ConfigMap", 25, .version = "357", .remaining = -1},
    {"list-metadata-only", JSON_FRAME_LIST, "v1", "ConfigMap", 3, .version = "357", .remaining = 22,
     .more = true},
    {"list-bindings", JSON_FRAME_LIST, "work.karmada.io/v1alpha2", "ResourceBinding", 25,
     .version = "357", .remaining = -1},
    {"list-policies-page-1", JSON_FRAME_LIST, "policy.karmada.io/v1alpha1", "PropagationPolicy", 10,
     .version = "357", .remaining = 15, .more = true},
    {"list-policies-page-2", JSON_FRAME_LIST, "policy.karmada.io/v1alpha1", "PropagationPolicy", 10,
     .version = "357", .remaining = 5, .more = true},
    {"list-policies-page-3", JSON_FRAME_LIST, "policy.karmada.io/v1alpha1", "PropagationPolicy", 5,
     .version = "357", .remaining = -1},
    {"watch-changes", JSON_FRAME_EVENTS, "policy.karmada.io/v1alpha1", "PropagationPolicy",
     .objects = 2, .removed = 1, .bookmarks = 2},
    {"watch-list", JSON_FRAME_EVENTS, "policy.karmada.io/v1alpha1", "PropagationPolicy",
     .objects = 25, .filled = 1},
    {"watch-list-old-etcd", JSON_FRAME_EVENTS, "v1", "ConfigMap", .errors = 1},
    {"watch-gone", JSON_FRAME_EVENTS, "v1", "ConfigMap", .errors = 1},
    {"watch-metadata-only", JSON_FRAME_EVENTS, "v1", "ConfigMap", .objects = 1},
    {"watch-selector-leave-enter", JSON_FRAME_EVENTS, "v1", "ConfigMap", .objects = 1,
     .removed = 1},
    {"watch-cut", JSON_FRAME_EVENTS, "policy.karmada.io/v1alpha1", "PropagationPolicy",
     .objects = 25},
};

static unsigned count_lines(const char *log, const char *start)
{
    unsigned count = 0;

    for (const char *at = log; (at = strstr(at, start)); at++)
        count++;
    return count;
}

TEST_ROWS(recorded_body_is_split_into_events, files, name)
{
    const struct file_case *c = *state;
    struct strbuf body = STRBUF_INIT(TEXT_MAX);
    struct outcome out = {.recorder.brief = true};
    char path[128];
    struct error err;

    snprintf(path, sizeof(path), "tests/fixtures/protocol/%s.body", c->name);
    if (!file_read(path, &body, &err))
        fail_msg("%s", err.text);
    feed_body(&(struct input){c->mode, c->api_version, c->kind, body.data, body.len, 1000}, &out);
    assert_int_equal(count_lines(out.recorder.log.data, "object\n"), c->objects);
    assert_int_equal(count_lines(out.recorder.log.data, "removed\n"), c->removed);
    assert_int_equal(count_lines(out.recorder.log.data, "bookmark\n"), c->bookmarks);
    assert_int_equal(count_lines(out.recorder.log.data, "filled\n"), c->filled);
    assert_int_equal(count_lines(out.recorder.log.data, "error "), c->errors);
    assert_int_equal(count_lines(out.recorder.log.data, "rejected"), 0);
    assert_true(out.fed);
    if (c->mode == JSON_FRAME_LIST) {
        assert_true(out.finished);
        assert_string_equal(out.facts.version, c->version);
        assert_int_equal(out.facts.remaining, c->remaining);
        assert_int_equal(out.facts.token != NULL, c->more);
    }
    outcome_release(&out);
    strbuf_release(&body);
}

TEST(table_and_protobuf_are_not_lists)
{
    static const char *const names[] = {"list-table", "list-protobuf"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct strbuf body = STRBUF_INIT(TEXT_MAX);
        struct outcome out = {.recorder.brief = true};
        char path[128];
        struct error err;

        snprintf(path, sizeof(path), "tests/fixtures/protocol/%s.body", names[i]);
        assert_true(file_read(path, &body, &err));
        feed_body(&(struct input){JSON_FRAME_LIST, "v1", "ConfigMap", body.data, body.len, 100},
                  &out);
        assert_false(out.finished);
        assert_int_equal(out.recorder.count, 0);
        outcome_release(&out);
        strbuf_release(&body);
    }
}

TEST(handler_can_stop_the_stream)
{
    CLEANUP(free_cleanup)
    char *quoted = replace_quotes(CHANGE("ADDED", "{}") CHANGE("ADDED", "{}"));
    struct outcome out = {.recorder.stop_at = 1};

    feed_body(&(struct input){JSON_FRAME_EVENTS, "v1", "ConfigMap", quoted, strlen(quoted), 1000},
              &out);
    assert_false(out.fed);
    assert_int_equal(out.recorder.count, 1);
    outcome_release(&out);
}

/* Appends an event with an array of 0 and `count` times `value`, which begins with a comma. */
static void append_large_event(struct strbuf *out, const char *value, size_t count)
{
    strbuf_adds(out, "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"a\"},\"x\":[0");
    for (size_t i = 0; i < count; i++)
        strbuf_adds(out, value);
    strbuf_adds(out, "]}}\n");
}

TEST(object_of_4_mib_is_read)
{
    struct strbuf text = STRBUF_INIT(TEXT_MAX);
    struct outcome out = {0};

    append_large_event(&text, ",\"0123456789,0123456789,0123456789,0123456789\"", 95000);
    assert_in_range(text.len, 4 << 20, 5 << 20);
    feed_body(&(struct input){JSON_FRAME_EVENTS, "v1", "ConfigMap", text.data, text.len, 16384},
              &out);
    assert_string_equal(out.recorder.log.data, "object v1 ConfigMap a\n");
    outcome_release(&out);
    strbuf_release(&text);
}

TEST(object_with_too_many_values_is_rejected)
{
    struct strbuf text = STRBUF_INIT(TEXT_MAX);
    struct outcome out = {0};

    append_large_event(&text, ",0", 300000);
    feed_body(&(struct input){JSON_FRAME_EVENTS, "v1", "ConfigMap", text.data, text.len, 16384},
              &out);
    assert_string_equal(out.recorder.log.data, "rejected v1 ConfigMap a (too many values)\n");
    assert_true(out.fed);
    outcome_release(&out);
    strbuf_release(&text);
}

/* Runs a body with the objects a and c, and between them `begins`, a string of 10 MiB, `ends`. */
static void run_too_large(enum json_frame_mode mode, const char *begins, const char *ends,
                          const char *log)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX);
    CLEANUP(free_cleanup)
    char *before = replace_quotes(mode == JSON_FRAME_LIST
                                      ? "{'kind':'ConfigMapList','metadata':"
                                        "{'resourceVersion':'9'},'items':[{" NAMED("a", "1") "},"
                                      : CHANGE("ADDED", "{" NAMED("a", "1") "}"));
    CLEANUP(free_cleanup)
    char *after =
        replace_quotes(mode == JSON_FRAME_LIST ? ",{" NAMED("c", "3") "}]}"
                                               : CHANGE("ADDED", "{" NAMED("c", "3") "}"));
    CLEANUP(free_cleanup) char *begin = replace_quotes(begins);
    CLEANUP(free_cleanup) char *end = replace_quotes(ends);
    struct outcome out = {0};

    strbuf_addf(&text, "%s%s\"", before, begin);
    for (size_t i = 0; i < 10 << 20; i += 64)
        strbuf_adds(&text, "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef");
    strbuf_addf(&text, "\"%s%s", end, after);
    assert_true(strbuf_ok(&text));
    feed_body(&(struct input){mode, "v1", "ConfigMap", text.data, text.len, 65536}, &out);
    assert_true(out.fed);
    assert_int_equal(out.finished, mode == JSON_FRAME_LIST);
    assert_string_equal(out.recorder.log.data, log);
    outcome_release(&out);
}

static const struct too_large_case {
    const char *name;
    enum json_frame_mode mode;
    const char *begins;
    const char *ends;
    const char *log;
} too_large[] = {
    {"in a stream", JSON_FRAME_EVENTS,
     "{'type':'MODIFIED','object':{'kind':'ConfigMap','apiVersion':'v1','metadata':{'name':'b',"
     "'namespace':'n','resourceVersion':'2'},'data':",
     "}}\n", "rejected v1 ConfigMap b @2 (larger than 8 MiB)\n"},
    {"deleted", JSON_FRAME_EVENTS,
     "{'type':'DELETED','object':{'kind':'ConfigMap','apiVersion':'v1','metadata':{'name':'b',"
     "'namespace':'n','resourceVersion':'2'},'data':",
     "}}\n", "removed v1 ConfigMap b @2\n"},
    {"in a list", JSON_FRAME_LIST, "{'metadata':{'name':'b','namespace':'n'},'data':", "}",
     "rejected v1 ConfigMap b (larger than 8 MiB)\n"},
    {"without a namespace", JSON_FRAME_LIST, "{'metadata':{'name':'b'},'data':", "}",
     "rejected v1 ConfigMap b (larger than 8 MiB)\n"},
    {"after members with other names", JSON_FRAME_LIST,
     "{'name':'x','spec':{'metadata':{'name':'y','namespace':'y'},'a':[{'metadata':{'name':'z'}}]},"
     "'metadata':{'labels':{'name':'l'},'ownerReferences':[{'name':'o'}],'name':'b'},'data':",
     "}", "rejected v1 ConfigMap b (larger than 8 MiB)\n"},
    {"with a namespace after the large value", JSON_FRAME_LIST,
     "{'metadata':{'name':'b','annotations':{'a':", "},'namespace':'n'}}",
     "rejected unnamed (larger than 8 MiB)\n"},
    {"with a name after the large value", JSON_FRAME_LIST, "{'metadata':{'annotations':{'a':",
     "},'name':'b','namespace':'n'}}", "rejected unnamed (larger than 8 MiB)\n"},
};

/* The event names no object if the name or a namespace may still follow the large value. */
TEST_ROWS(object_over_8_mib_is_rejected_alone, too_large, name)
{
    const struct too_large_case *c = *state;
    struct strbuf log = STRBUF_INIT(TEXT_MAX);

    strbuf_addf(&log, "object v1 ConfigMap a @1\n%sobject v1 ConfigMap c @3\n", c->log);
    run_too_large(c->mode, c->begins, c->ends, log.data);
    strbuf_release(&log);
}

TEST(buffer_shrinks_after_a_large_object)
{
    struct strbuf text = STRBUF_INIT(TEXT_MAX);
    struct recorder recorder = {.log = STRBUF_INIT(TEXT_MAX)};
    struct object_stream s;
    struct error err;

    append_large_event(&text, ",0", 50000);
    object_stream_init(&s, JSON_FRAME_EVENTS, "v1", "ConfigMap", record_event, &recorder);
    assert_true(object_stream_feed(&s, text.data, text.len, &err));
    assert_in_range(s.json.object.cap, 0, 16384);
    object_stream_release(&s);
    strbuf_release(&recorder.log);
    strbuf_release(&text);
}
