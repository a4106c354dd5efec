/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/files/field_locator.h"

#include <unistd.h>

#include "tests/unit/folder.h"
#include "tests/unit/suite.h"

enum { TEXT_MAX = 1 << 20, FILES = 1000, FIELDS_MAX = 512 * 1024 };

struct fixture {
    char *folder;
    struct store *store;
    struct manifests *manifests;
    struct field_locator *locator;
};

static int set_up(void **state)
{
    struct fixture *p = xcalloc(1, sizeof(*p));

    p->folder = folder_make();
    p->store = store_new(1);
    *state = p;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *p = *state;

    field_locator_free(p->locator);
    manifests_free(p->manifests);
    store_free(p->store);
    folder_remove(p->folder);
    free(p);
    return 0;
}

static void load_path(struct fixture *p, const char *path)
{
    struct error err;

    p->manifests = manifests_new(p->store, &path, 1, "", &manifest_limits_default);
    manifests_keep_streams(p->manifests, 1024);
    if (!manifests_load(p->manifests, &err))
        fail_msg("%s", err.text);
    p->locator = field_locator_new(p->manifests);
}

static void load(struct fixture *p)
{
    load_path(p, p->folder);
}

static const struct entry *find_thing(const struct fixture *p, const char *name)
{
    return store_find(p->store, &(struct identity){"example.io/v1", "Thing", "default", name});
}

static struct object_source source_of(const struct fixture *p, const char *name)
{
    const struct entry *entry = find_thing(p, name);
    struct object_source source;

    if (!entry || !manifests_find_source(p->manifests, entry, &source))
        fail_msg("no file declares %s", name);
    return source;
}

/* Fails unless the field is at LINE:COLUMN. */
static void assert_place(struct fixture *p, const char *name, const char *field, const char *wanted)
{
    struct object_source source = source_of(p, name);
    struct json_position at = field_locator_find(p->locator, &source, field);
    char got[64];

    snprintf(got, sizeof(got), "%zu:%zu", at.line, at.column);
    assert_string_equal(got, wanted);
}

#define THING(name) "apiVersion: example.io/v1\nkind: Thing\nmetadata:\n  name: " name "\n"
#define JSON_THING(name)                                                                           \
    "{\"apiVersion\":\"example.io/v1\",\"kind\":\"Thing\",\"metadata\":{\"name\":\"" name "\"}}"

TEST_WITH(fields_of_files_have_places, set_up, tear_down)
{
    struct fixture *p = *state;

    folder_write(p->folder, "a.yaml", "# first\n" THING("a") "---\n" THING("b"));
    folder_write(p->folder, "b.json", JSON_THING("c") "\n" JSON_THING("d"));
    load(p);
    assert_place(p, "a", "metadata.name", "5:3");
    assert_place(p, "b", "metadata.name", "10:3");
    assert_place(p, "b", "", "7:1");
    assert_place(p, "c", "metadata.name", "1:58");
    assert_place(p, "d", "metadata.name", "2:58");
    assert_place(p, "d", "spec", "2:1");
}

TEST_WITH(items_of_lists_in_lists_have_places, set_up, tear_down)
{
    struct fixture *p = *state;

    folder_write(p->folder, "a.json",
                 "{\"kind\":\"List\",\"items\":[{\"kind\":\"List\",\"items\":[" JSON_THING(
                     "a") "," JSON_THING("b") "]}," JSON_THING("c") "]}");
    load(p);
    assert_place(p, "a", "", "1:49");
    assert_place(p, "a", "metadata.name", "1:106");
    assert_place(p, "b", "", "1:119");
    assert_place(p, "b", "metadata.name", "1:176");
    assert_place(p, "c", "metadata.name", "1:248");
}

/* Lines of another text than that which was evaluated would be wrong. */
TEST_WITH(a_changed_file_has_places_of_objects_only, set_up, tear_down)
{
    struct fixture *p = *state;

    folder_write(p->folder, "a.yaml", THING("a") "---\n" THING("b"));
    folder_write(p->folder, "b.json", JSON_THING("c"));
    folder_write(p->folder, "c.yaml", THING("d"));
    folder_write(p->folder, "d.yaml", THING("e"));
    load(p);
    folder_write(p->folder, "a.yaml", "# a comment\n" THING("a") "---\n" THING("b"));
    folder_replace(p->folder, "b.json", " " JSON_THING("c"));
    folder_unlink(p->folder, "c.yaml");
    folder_unlink(p->folder, "d.yaml");
    folder_mkdir(p->folder, "d.yaml");
    assert_place(p, "b", "metadata.name", "6:1");
    assert_place(p, "c", "metadata.name", "1:1");
    assert_place(p, "d", "metadata.name", "1:1");
    assert_place(p, "e", "metadata.name", "1:1");
}

/* Replaces standard input by the read end of a pipe with the text. */
static void pipe_to_input(const char *text)
{
    int ends[2];

    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], text, strlen(text)), strlen(text));
    close(ends[1]);
    assert_true(dup2(ends[0], STDIN_FILENO) >= 0);
    close(ends[0]);
}

TEST_WITH(standard_input_has_places, set_up, tear_down)
{
    struct fixture *p = *state;

    pipe_to_input(THING("a") "---\n" THING("b"));
    load_path(p, "-");
    assert_place(p, "a", "metadata.name", "4:3");
    assert_place(p, "b", "metadata.name", "9:3");
}

TEST_WITH(a_long_stream_has_places_of_objects_only, set_up, tear_down)
{
    struct fixture *p = *state;
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX);

    strbuf_adds(&text, THING("a") "---\n" THING("b"));
    for (int i = 0; i < 1000; i++)
        strbuf_adds(&text, "# a comment\n");
    pipe_to_input(text.data);
    load_path(p, "-");
    assert_place(p, "b", "metadata.name", "6:1");
}

/* ---- generated files ---- */

/* A field of a generated object and its place. */
struct expected {
    char *object;
    char *path;
    size_t line;
    size_t column;
    unsigned file;
};

/* Writer of one file, which counts lines and characters. */
struct generator {
    struct strbuf text;
    size_t line;
    size_t column;
    uint32_t random;
    bool crlf;
    unsigned file;
    unsigned objects;
    unsigned keys;
    char object[64];
    struct strbuf path;
    struct expected *expected;
    size_t count;
};

static unsigned draw(struct generator *g, unsigned limit)
{
    g->random = g->random * 1664525U + 1013904223U;
    return (g->random >> 8) % limit;
}

static void put(struct generator *g, const char *text)
{
    for (const char *c = text; *c; c++) {
        if (*c == '\n' && g->crlf)
            strbuf_addc(&g->text, '\r');
        strbuf_addc(&g->text, *c);
        if (*c == '\n') {
            g->line++;
            g->column = 1;
        } else if (((unsigned char)*c & 0xC0) != 0x80) {
            g->column++;
        }
    }
}

static void put_spaces(struct generator *g, unsigned count)
{
    while (count-- > 0)
        put(g, " ");
}

static void expect(struct generator *g)
{
    assert_true(g->count < FIELDS_MAX);
    g->expected[g->count++] = (struct expected){.object = xstrdup(g->object),
                                                .path = xstrdup(g->path.data),
                                                .line = g->line,
                                                .column = g->column,
                                                .file = g->file};
}

static const char *const scalars[] = {
    "1",          "true",
    "\"a: {b}\"", "\"\xc3\xa4\xe2\x82\xac \xf0\x9f\x98\x80\"",
    "\"\"",       "\"# no, [comment\"",
};

static void put_scalar(struct generator *g)
{
    put(g, scalars[draw(g, ARRAY_LEN(scalars))]);
}

/* Appends a new key to the path and stores it in `key`. */
static void make_key(struct generator *g, char key[32])
{
    static const char *const ends[] = {"", ".example.io/x", "\xc3\xa9"};

    snprintf(key, 32, "k%u%s", g->keys++, ends[draw(g, ARRAY_LEN(ends))]);
    strbuf_addf(&g->path, ".%s", key);
}

static void put_key(struct generator *g, const char *key, bool json)
{
    const char *quote = json ? "\"" : (const char *const[]){"", "\"", "'"}[draw(g, 3)];

    expect(g);
    put(g, quote);
    put(g, key);
    put(g, quote);
    put(g, ":");
}

static void put_json_break(struct generator *g, bool pretty, unsigned depth)
{
    if (!pretty)
        return;
    put(g, "\n");
    put_spaces(g, depth * 2);
}

/* Flow style of YAML, which JSON is too. */
static void put_flow_value(struct generator *g, bool json, bool pretty, unsigned depth)
{
    size_t path = g->path.len;
    unsigned count = draw(g, 4), kind = depth > 4 ? 2 : draw(g, 3);

    if (kind == 2) {
        put_scalar(g);
        return;
    }
    put(g, kind == 0 ? "{" : "[");
    for (unsigned i = 0; i < count; i++) {
        char key[32];

        if (i > 0)
            put(g, json && !pretty ? "," : ", ");
        put_json_break(g, pretty, depth + 1);
        if (kind == 0) {
            make_key(g, key);
            put_key(g, key, json);
            put(g, json && !pretty ? "" : " ");
        } else {
            strbuf_addf(&g->path, "[%u]", i);
            expect(g);
        }
        put_flow_value(g, json, pretty, depth + 1);
        strbuf_cut(&g->path, path);
    }
    put_json_break(g, pretty && count > 0, depth);
    put(g, kind == 0 ? "}" : "]");
}

static void put_comment(struct generator *g, unsigned indent)
{
    if (draw(g, 5) != 0)
        return;
    put_spaces(g, indent);
    put(g, draw(g, 2) ? "# k1: \xe2\x82\xac {\n" : "\n");
}

static void end_line(struct generator *g)
{
    put(g, draw(g, 6) == 0 ? "  # spec: x \xf0\x9f\x98\x80\n" : "\n");
}

static void put_block_value(struct generator *g, unsigned indent, unsigned depth);

static void put_block_scalar(struct generator *g, unsigned indent)
{
    put(g, draw(g, 2) ? " |\n" : " >-\n");
    put_spaces(g, indent + 2);
    put(g, "spec:\n");
    put_spaces(g, indent + 4);
    put(g, "- name: x\n");
}

/* Members of a block mapping. The first one begins at the current column if `inside`. */
static void put_block_members(struct generator *g, unsigned indent, unsigned depth, bool inside)
{
    size_t path = g->path.len;
    unsigned count = draw(g, 4) + 1;

    for (unsigned i = 0; i < count; i++) {
        char key[32];

        if (!inside || i > 0) {
            put_comment(g, indent);
            put_spaces(g, indent);
        }
        make_key(g, key);
        put_key(g, key, false);
        put_block_value(g, indent, depth);
        strbuf_cut(&g->path, path);
    }
}

static void put_block_items(struct generator *g, unsigned indent, unsigned depth)
{
    size_t path = g->path.len;
    unsigned count = draw(g, 3) + 1;

    for (unsigned i = 0; i < count; i++) {
        unsigned gap = draw(g, 3) + 1;

        put_comment(g, indent);
        put_spaces(g, indent);
        put(g, "-");
        put_spaces(g, gap);
        strbuf_addf(&g->path, "[%u]", i);
        expect(g);
        if (depth > 4 || draw(g, 2)) {
            put_flow_value(g, false, false, 4);
            end_line(g);
        } else {
            put_block_members(g, indent + 1 + gap, depth + 1, true);
        }
        strbuf_cut(&g->path, path);
    }
}

/* Value behind a key in a line that is indented by `indent`. */
static void put_block_value(struct generator *g, unsigned indent, unsigned depth)
{
    unsigned kind = depth > 4 ? draw(g, 3) : draw(g, 6);

    if (kind == 0) {
        put_block_scalar(g, indent);
    } else if (kind < 3) {
        put(g, " ");
        put_flow_value(g, false, false, 2);
        end_line(g);
    } else if (kind == 3) {
        end_line(g);
        put_block_items(g, indent + draw(g, 3), depth + 1);
    } else {
        end_line(g);
        put_block_members(g, indent + draw(g, 3) + 1, depth + 1, false);
    }
}

static void begin_object(struct generator *g)
{
    snprintf(g->object, sizeof(g->object), "f%u-%u", g->file, g->objects++);
    strbuf_reset(&g->path);
    expect(g);
}

/* Expects a field of the object with a fixed path. */
static void expect_path(struct generator *g, const char *path)
{
    strbuf_reset(&g->path);
    strbuf_adds(&g->path, path);
    expect(g);
}

static void put_json_object(struct generator *g, bool pretty, unsigned depth)
{
    begin_object(g);
    put(g, "{");
    put_json_break(g, pretty, depth);
    put(g, "\"apiVersion\":\"example.io/v1\",\"kind\":\"Thing\",\"metadata\":{");
    expect_path(g, "metadata.name");
    put(g, "\"name\":\"");
    put(g, g->object);
    put(g, "\"},");
    put_json_break(g, pretty, depth);
    expect_path(g, "spec");
    put(g, "\"spec\":");
    put_flow_value(g, true, pretty, 0);
    put(g, "}");
}

static void put_json_items(struct generator *g, bool pretty, unsigned depth)
{
    unsigned count = draw(g, 3) + 1;

    put(g, "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[");
    for (unsigned i = 0; i < count; i++) {
        if (i > 0)
            put(g, ",");
        put_json_break(g, pretty, depth);
        if (depth < 3 && draw(g, 4) == 0)
            put_json_items(g, pretty, depth + 1);
        else
            put_json_object(g, pretty, depth);
    }
    put(g, "]}");
}

static void put_yaml_object(struct generator *g, unsigned indent, bool inside)
{
    if (!inside)
        put_spaces(g, indent);
    begin_object(g);
    put(g, "apiVersion: example.io/v1\n");
    put_comment(g, indent);
    put_spaces(g, indent);
    put(g, "kind: Thing\n");
    put_spaces(g, indent);
    expect_path(g, "metadata");
    put(g, "metadata:\n");
    put_spaces(g, indent + 2);
    expect_path(g, "metadata.name");
    put(g, "name: ");
    put(g, g->object);
    end_line(g);
    put_spaces(g, indent);
    expect_path(g, "spec");
    put(g, "spec:");
    put_block_value(g, indent, 0);
}

static void put_yaml_items(struct generator *g, unsigned indent, unsigned depth, bool inside)
{
    unsigned count = draw(g, 3) + 1, extra = draw(g, 2) * 2;

    if (!inside)
        put_spaces(g, indent);
    put(g, "apiVersion: v1\n");
    put_spaces(g, indent);
    put(g, "kind: List\n");
    put_spaces(g, indent);
    put(g, "items:\n");
    for (unsigned i = 0; i < count; i++) {
        put_comment(g, indent + extra);
        put_spaces(g, indent + extra);
        put(g, "- ");
        if (depth < 3 && draw(g, 4) == 0)
            put_yaml_items(g, indent + extra + 2, depth + 1, true);
        else if (draw(g, 3) == 0) {
            put_json_object(g, false, 0);
            put(g, "\n");
        } else
            put_yaml_object(g, indent + extra + 2, true);
    }
}

/* An object with a base mapping, and fields that refer to it by an alias and by a merge key. */
static void put_aliases(struct generator *g)
{
    size_t first;

    begin_object(g);
    put(g, "apiVersion: example.io/v1\nkind: Thing\nmetadata: {name: ");
    put(g, g->object);
    put(g, "}\nbase: &base\n");
    strbuf_reset(&g->path);
    strbuf_adds(&g->path, "base");
    first = g->count;
    put_block_members(g, 2, 2, false);
    put(g, "alias: *base\nmerge:\n  own: 1\n  <<: *base\n");
    for (size_t i = first, end = g->count; i < end; i++) {
        for (unsigned k = 0; k < 2; k++) {
            struct expected again = g->expected[i];
            CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT(4096);

            strbuf_addf(&path, "%s%s", k == 0 ? "alias" : "merge", again.path + strlen("base"));
            again.path = xstrdup(path.data);
            again.object = xstrdup(again.object);
            g->expected[g->count++] = again;
        }
    }
}

static void generate_file(struct generator *g, bool json)
{
    unsigned documents = draw(g, 3) + 1;
    bool pretty = draw(g, 2);

    strbuf_reset(&g->text);
    g->line = g->column = 1;
    g->objects = 0;
    g->crlf = draw(g, 3) == 0;
    if (draw(g, 4) == 0)
        strbuf_adds(&g->text, "\xef\xbb\xbf");
    for (unsigned i = 0; i < documents; i++) {
        unsigned kind = draw(g, 3);

        if (json) {
            if (kind == 0)
                put_json_items(g, pretty, 0);
            else
                put_json_object(g, pretty, 0);
            put(g, draw(g, 2) ? "\n" : "");
            continue;
        }
        put(g, i > 0 || draw(g, 3) == 0 ? "---\n" : "");
        put_comment(g, 0);
        if (kind == 0)
            put_yaml_items(g, 0, 0, false);
        else if (kind == 1)
            put_aliases(g);
        else
            put_yaml_object(g, 0, false);
    }
}

static void assert_expected(struct fixture *p, const struct expected *x)
{
    struct object_source source = source_of(p, x->object);
    struct json_position at = field_locator_find(p->locator, &source, x->path);

    if (at.line != x->line || at.column != x->column)
        fail_msg("%s: %s of %s is at %zu:%zu, wanted %zu:%zu", source.file->path, x->path,
                 x->object, at.line, at.column, x->line, x->column);
}

TEST_WITH(fields_of_generated_files_have_places, set_up, tear_down)
{
    struct fixture *p = *state;
    struct generator g = {.random = 4,
                          .text = STRBUF_INIT(TEXT_MAX),
                          .path = STRBUF_INIT(4096),
                          .expected = xcalloc(FIELDS_MAX, sizeof(struct expected))};

    for (g.file = 0; g.file < FILES; g.file++) {
        bool json = draw(&g, 3) == 0;
        char name[32];

        generate_file(&g, json);
        snprintf(name, sizeof(name), "f%u.%s", g.file, json ? "json" : "yaml");
        folder_write(p->folder, name, g.text.data);
    }
    load(p);
    assert_int_equal(manifests_problem_count(p->manifests), 0);
    for (size_t i = 0; i < g.count; i++) {
        struct object_source source = source_of(p, g.expected[i].object);

        field_locator_want(p->locator, &source, g.expected[i].path);
    }
    field_locator_read(p->locator);
    for (size_t i = 0; i < g.count; i++)
        assert_expected(p, &g.expected[i]);
    /* Fails if the generator makes few fields. */
    assert_true(g.count > 20 * 1000);
    for (size_t i = 0; i < g.count; i++) {
        free(g.expected[i].object);
        free(g.expected[i].path);
    }
    free(g.expected);
    strbuf_release(&g.text);
    strbuf_release(&g.path);
}
