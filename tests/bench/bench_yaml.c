/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CPU time to read YAML manifests and configuration files must grow in proportion to the text. Each
 * row of `texts` makes a text of about `size` bytes. Eight times the size may take 16 times the CPU
 * time; quadratic work takes 64 times. The program prints the worst ratio of each reader, and each
 * text above the limit.
 */
#include "exporter/files/manifest_reader.h"
#include "exporter/files/manifest_source.h"
#include "exporter/system/secret.h"
#include "tests/bench/measure.h"

enum { SIZE = 64 * 1024, GROWTH = 8, RATIO_MAX = 16, ROUNDS = 3 };

/* A shorter time of the smaller text counts as this long: noise dominates it. */
static const double LEAST_S = 0.002;

typedef void fill_fn(struct strbuf *out, size_t size);

/* ---- texts ---- */

/* Appends `first`, then copies of `text` until these have at least `size` bytes. */
static void repeat(struct strbuf *out, const char *first, const char *text, size_t size)
{
    strbuf_adds(out, first);
    size_t end = out->len + size;

    while (out->len < end)
        strbuf_adds(out, text);
}

/* Appends numbers from 0, each between `before` and `after`: at least `size` bytes in all. */
static void count_up(struct strbuf *out, const char *before, const char *after, size_t size)
{
    size_t end = out->len + size;

    for (unsigned i = 0; out->len < end; i++)
        strbuf_addf(out, "%s%u%s", before, i, after);
}

#define REPEATED(name, first, text, last)                                                          \
    static void name(struct strbuf *out, size_t size)                                              \
    {                                                                                              \
        repeat(out, first, text, size);                                                            \
        strbuf_adds(out, last);                                                                    \
    }

/* Half of the text is one run; the other half are words that libyaml reads after it. */
#define RUN_THEN_WORDS(name, first, run, word, last)                                               \
    static void name(struct strbuf *out, size_t size)                                              \
    {                                                                                              \
        repeat(out, first, run, size / 2);                                                         \
        repeat(out, "", word, size / 2);                                                           \
        strbuf_adds(out, last);                                                                    \
    }

#define COUNTED(name, first, before, after, last)                                                  \
    static void name(struct strbuf *out, size_t size)                                              \
    {                                                                                              \
        strbuf_adds(out, first);                                                                   \
        count_up(out, before, after, size);                                                        \
        strbuf_adds(out, last);                                                                    \
    }

COUNTED(tag_directives, "", "%TAG !a", "! x\n", "--- a\n")
COUNTED(tag_directives_and_comments, "", "# a\n\n%TAG !a", "! x\n", "--- a\n")
COUNTED(tag_directives_of_the_last_document, "a: b\n...\n", "%TAG !a", "! x\n", "--- a\n")
REPEATED(equal_tag_directives, "", "%TAG !a! x\n", "--- a\n")
REPEATED(version_directives, "", "%YAML 1.1\n", "--- a\n")
REPEATED(reserved_directives, "", "%RESERVED a\n", "--- a\n")
REPEATED(documents_with_directives, "", "%YAML 1.1\n%TAG !a! x\n--- !a!b c\n...\n", "")

static void a_long_tag_prefix(struct strbuf *out, size_t size)
{
    repeat(out, "%TAG !a! ", "x", size / 2);
    repeat(out, "\n--- [", "!a!b c,", size / 2);
    strbuf_adds(out, "]\n");
}

RUN_THEN_WORDS(a_long_verbatim_tag, "- !<", "x", "x", "> a\n")
REPEATED(escaped_tags, "- !", "%41", " a\n")
REPEATED(many_tags, "", "- !!str a\n", "")
REPEATED(long_local_tags, "", "- !aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa 1\n", "")

REPEATED(open_brackets, "", "[", "")
REPEATED(open_braces, "", "{", "")
REPEATED(open_brackets_on_lines, "", "[\n", "")
REPEATED(open_braces_with_keys, "", "{a: ", "")
REPEATED(short_flow_lists, "[", "[a],", "]")
REPEATED(flow_lists_128_deep, "",
         "- [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]"
         "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]\n",
         "")
REPEATED(scalars_in_deep_flow, "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", "a,",
         "")
REPEATED(pairs_in_a_flow_list, "[", "a: b,", "]")
REPEATED(keys_without_values, "{", "a,", "}")
REPEATED(dashes, "", "- ", "")
REPEATED(question_marks, "", "? ", "")
REPEATED(explicit_keys, "", "? a\n", "")
REPEATED(colons, "", ": ", "")

static void deeper_lines(struct strbuf *out, size_t size)
{
    size_t end = out->len + size;

    for (int depth = 0; out->len < end; depth++)
        strbuf_addf(out, "%*sa:\n", depth, "");
}

REPEATED(a_long_plain_scalar, "a: ", "x", "\n")
REPEATED(plain_words, "a: ", "x ", "\n")
REPEATED(plain_lines, "a:\n", " x\n", "")
REPEATED(a_long_key, "", "x", ": a\n")
REPEATED(single_quoted_words, "a: '", "x ", "'\n")
REPEATED(single_quotes, "a: '", "''", "'\n")
REPEATED(double_quoted_lines, "a: \"", "x\n ", "\"\n")
REPEATED(escapes, "a: \"", "\\x41\\u00e9\\n", "\"\n")
REPEATED(escaped_line_ends, "a: \"", "x\\\n ", "\"\n")
REPEATED(literal_lines, "a: |\n", "  x\n", "")
REPEATED(folded_lines, "a: >\n", "  x\n", "")
REPEATED(comments, "", "# x\n", "a: b\n")
REPEATED(a_long_comment, "# ", "x", "\na: b\n")
REPEATED(comments_behind_values, "", "- a # x\n", "")
REPEATED(empty_lines, "", "\n", "a: b\n")
REPEATED(carriage_returns, "", "- a\r", "")
REPEATED(byte_order_marks, "", "\xef\xbb\xbf", "a: b\n")
REPEATED(letters_of_three_bytes, "a: ", "\xe4\xb8\xad", "\n")
REPEATED(a_broken_byte_at_the_end, "", "- a\n", "\xff")
REPEATED(a_control_character_at_the_end, "", "- a\n", "\x01")
REPEATED(utf_16, "\xff\xfe", "a\x01", "")

RUN_THEN_WORDS(spaces_then_quoted_words, "a: 'x", " ", "x ", "'\n")
RUN_THEN_WORDS(tabs_then_quoted_words, "a: \"x", "\t", "x\t", "\"\n")
RUN_THEN_WORDS(empty_lines_then_quoted_lines, "a: 'x", "\n", "x\n", "'\n")
RUN_THEN_WORDS(spaces_then_plain_words, "a: x", " ", "x ", "\n")
RUN_THEN_WORDS(empty_lines_then_plain_lines, "a: x", "\n", " x\n", "")
RUN_THEN_WORDS(empty_lines_then_literal_lines, "a: |\n", "\n", " x\n", "")
RUN_THEN_WORDS(empty_lines_then_folded_lines, "a: >\n", "\n", " x\n", "")
RUN_THEN_WORDS(indented_empty_lines, "a: |\n", "  \n", "  x\n", "")
RUN_THEN_WORDS(next_lines_then_quoted_lines, "a: 'x", "\xc2\x85", "x\xc2\x85", "'\n")
RUN_THEN_WORDS(line_separators_then_quoted, "a: 'x", "\xe2\x80\xa8", "x\xe2\x80\xa9", "'\n")

static void the_longest_run_allowed(struct strbuf *out, size_t size)
{
    strbuf_adds(out, "a: 'x");
    repeat(out, "", " ", 16 * 1000);
    repeat(out, "", "x ", size);
    strbuf_adds(out, "'\n");
}

COUNTED(anchors, "", "- &a", " x\n", "")
COUNTED(anchors_on_keys, "", "&a", " : x\n", "")
REPEATED(the_same_anchor, "", "- &a x\n", "")
RUN_THEN_WORDS(a_long_anchor, "- &", "a", "a", " x\n")
REPEATED(aliases, "- &a x\n", "- *a\n", "")
REPEATED(aliases_of_a_list, "- &a [x,x,x,x,x,x,x,x]\n", "- *a\n", "")
RUN_THEN_WORDS(aliases_of_a_long_list, "- &a [", "x,", "]\n- *a\n- [", "]\n")
RUN_THEN_WORDS(aliases_of_a_long_text, "- &a ", "x", "\n- *a", "\n")

static void anchors_and_their_aliases(struct strbuf *out, size_t size)
{
    count_up(out, "- &a", " x\n", size / 2);
    count_up(out, "- *a", "\n", size / 2);
}

/* The reader drops the lists, so that only the time of parsing counts. */
static void documents_with_aliases(struct strbuf *out, size_t size)
{
    size_t end = out->len + size;

    while (out->len < end) {
        repeat(out, "---\nkind: List\na: &a [", "x,", size / 64);
        repeat(out, "]\nb: [", "*a,", size / 64);
        strbuf_adds(out, "]\n");
    }
}

COUNTED(keys, "", "k", ": v\n", "")
COUNTED(keys_in_flow, "{", "k", ": v,", "}")
REPEATED(merges, "- &a {x: y}\n", "- {<<: *a}\n", "")
REPEATED(merges_of_lists, "- &a {x: y}\n- <<: [", "*a,", "]\n")
COUNTED(merges_of_large_mappings, "- &a {x: y}\n- &b\n  <<: *a\n", "  k", ": v\n",
        "- <<: [*b, *b]\n")

static void a_chain_of_merges(struct strbuf *out, size_t size)
{
    size_t end = out->len + size;

    strbuf_adds(out, "- &a0 {x0: y}\n");
    for (unsigned i = 1; out->len < end; i++)
        strbuf_addf(out, "- &a%u {<<: *a%u, x%u: y}\n", i, i - 1, i);
}

REPEATED(empty_documents, "", "---\n", "")
REPEATED(documents, "", "--- a\n", "")
REPEATED(ended_documents, "", "--- a\n...\n", "")
REPEATED(items, "kind: List\nitems:\n", "- {apiVersion: v1, kind: ConfigMap}\n", "")
REPEATED(items_that_inherit, "items:\n", "- metadata: {name: a}\n", "kind: ConfigMapList\n")
REPEATED(items_with_an_anchor, "kind: List\nitems:\n",
         "- {apiVersion: v1, kind: ConfigMap, a: &a b, c: *a}\n", "")
REPEATED(items_in_flow, "{kind: List, items: [", "{apiVersion: v1, kind: ConfigMap},", "]}")
REPEATED(items_of_items, "kind: List\nitems:\n- kind: List\n  items:\n",
         "  - {apiVersion: v1, kind: ConfigMap}\n", "")
REPEATED(lists_of_lists, "kind: List\nitems:\n",
         "- {kind: List, items: [{kind: List, items: []}]}\n", "")
RUN_THEN_WORDS(items_of_one_alias, "kind: List\na: &a [", "x,", "]\nitems: [*a]\nb: [", "]\n")

static const struct text {
    const char *name;
    fill_fn *fill;
} texts[] = {
#define TEXT(fill)                                                                                 \
    {                                                                                              \
#fill, fill                                                                                \
    }
    TEXT(tag_directives),
    TEXT(tag_directives_and_comments),
    TEXT(tag_directives_of_the_last_document),
    TEXT(equal_tag_directives),
    TEXT(version_directives),
    TEXT(reserved_directives),
    TEXT(documents_with_directives),
    TEXT(a_long_tag_prefix),
    TEXT(a_long_verbatim_tag),
    TEXT(escaped_tags),
    TEXT(many_tags),
    TEXT(long_local_tags),
    TEXT(open_brackets),
    TEXT(open_braces),
    TEXT(open_brackets_on_lines),
    TEXT(open_braces_with_keys),
    TEXT(short_flow_lists),
    TEXT(flow_lists_128_deep),
    TEXT(scalars_in_deep_flow),
    TEXT(pairs_in_a_flow_list),
    TEXT(keys_without_values),
    TEXT(dashes),
    TEXT(question_marks),
    TEXT(explicit_keys),
    TEXT(colons),
    TEXT(deeper_lines),
    TEXT(a_long_plain_scalar),
    TEXT(plain_words),
    TEXT(plain_lines),
    TEXT(a_long_key),
    TEXT(single_quoted_words),
    TEXT(single_quotes),
    TEXT(double_quoted_lines),
    TEXT(escapes),
    TEXT(escaped_line_ends),
    TEXT(literal_lines),
    TEXT(folded_lines),
    TEXT(comments),
    TEXT(a_long_comment),
    TEXT(comments_behind_values),
    TEXT(empty_lines),
    TEXT(carriage_returns),
    TEXT(byte_order_marks),
    TEXT(letters_of_three_bytes),
    TEXT(a_broken_byte_at_the_end),
    TEXT(a_control_character_at_the_end),
    TEXT(utf_16),
    TEXT(spaces_then_quoted_words),
    TEXT(tabs_then_quoted_words),
    TEXT(empty_lines_then_quoted_lines),
    TEXT(spaces_then_plain_words),
    TEXT(empty_lines_then_plain_lines),
    TEXT(empty_lines_then_literal_lines),
    TEXT(empty_lines_then_folded_lines),
    TEXT(indented_empty_lines),
    TEXT(next_lines_then_quoted_lines),
    TEXT(line_separators_then_quoted),
    TEXT(the_longest_run_allowed),
    TEXT(anchors),
    TEXT(anchors_on_keys),
    TEXT(the_same_anchor),
    TEXT(a_long_anchor),
    TEXT(aliases),
    TEXT(aliases_of_a_list),
    TEXT(aliases_of_a_long_list),
    TEXT(aliases_of_a_long_text),
    TEXT(anchors_and_their_aliases),
    TEXT(documents_with_aliases),
    TEXT(keys),
    TEXT(keys_in_flow),
    TEXT(merges),
    TEXT(merges_of_lists),
    TEXT(merges_of_large_mappings),
    TEXT(a_chain_of_merges),
    TEXT(empty_documents),
    TEXT(documents),
    TEXT(ended_documents),
    TEXT(items),
    TEXT(items_that_inherit),
    TEXT(items_with_an_anchor),
    TEXT(items_in_flow),
    TEXT(items_of_items),
    TEXT(lists_of_lists),
    TEXT(items_of_one_alias),
};

/* ---- readers ---- */

static void drop_object(void *context, cJSON *object, struct json_place place)
{
    (void)context;
    (void)object;
    (void)place;
}

static void read_manifest(const struct strbuf *text)
{
    struct yaml_file file;
    struct json_position where;
    struct error err;
    enum yaml_outcome outcome = YAML_READ_DOCUMENT;

    yaml_file_init(&file, &manifest_limits_default);
    if (!yaml_file_add(&file, text->data, text->len))
        abort();
    while (outcome == YAML_READ_DOCUMENT || outcome == YAML_READ_ITEM)
        outcome = yaml_file_parse(&file, &where, &err);
    while (outcome == YAML_READ_END && yaml_file_emit_next(&file, drop_object, NULL))
        continue;
    yaml_file_release(&file);
}

static void read_configuration(const struct strbuf *text)
{
    CLEANUP(secret_json_cleanup) cJSON *tree = NULL;
    struct error err;

    /* The time of a refusal counts, too. */
    if (!yaml_read_config("x.yaml", text->data, text->len, &tree, &err))
        tree = NULL;
}

typedef void read_fn(const struct strbuf *text);

/* Returns the least CPU time of ROUNDS rounds, or of the first alone if it exceeds one second. */
static double measure_least(read_fn *read, fill_fn *fill, size_t size)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT((size_t)64 << 20);
    double least = 0;

    fill(&text, size);
    for (unsigned i = 0; i < ROUNDS; i++) {
        double begin = measure_cpu_s();

        read(&text);
        double spent = measure_cpu_s() - begin;
        least = i == 0 || spent < least ? spent : least;
        if (least > 1)
            break;
    }
    return least;
}

/* Returns the CPU time for a text of GROWTH * SIZE bytes, as a multiple of that for SIZE bytes. */
static double measure_growth(read_fn *read, const struct text *t)
{
    double one = measure_least(read, t->fill, SIZE);
    double larger = measure_least(read, t->fill, SIZE * (size_t)GROWTH);

    return larger / (one > LEAST_S ? one : LEAST_S);
}

/* Returns the number of texts above the limit. */
static unsigned run_texts(const char *reader, read_fn *read)
{
    double worst = 0;
    unsigned missed = 0;
    char title[128];

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        double ratio = measure_growth(read, &texts[i]);

        worst = ratio > worst ? ratio : worst;
        if (ratio <= RATIO_MAX)
            continue;
        missed++;
        snprintf(title, sizeof(title), "%s: %s", reader, texts[i].name);
        measure_print(title, ratio, "times", RATIO_MAX);
    }
    snprintf(title, sizeof(title), "%s: time of %d times the text, worst of %zu texts", reader,
             GROWTH, ARRAY_LEN(texts));
    measure_print(title, worst, "times", RATIO_MAX);
    return missed;
}

int main(void)
{
    unsigned missed = run_texts("manifests", read_manifest);

    missed += run_texts("configuration", read_configuration);
    return missed > 0;
}
