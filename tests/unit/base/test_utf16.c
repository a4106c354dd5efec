/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/base/utf16.h"

#include "tests/unit/suite.h"

enum { TEXT_MAX = 1024 };

static const struct encoded {
    const char *title;
    const char *bytes;
    size_t len;
    const char *text; /* NULL: invalid. */
} encoded[] = {
    {"little endian",
     "\xff\xfe"
     "a\0\n\0",
     6, "a\n"},
    {"big endian",
     "\xfe\xff"
     "\0a\0b",
     6, "ab"},
    {"two and three bytes", "\xff\xfe\xe4\x00\xac\x20", 6, "\xc3\xa4\xe2\x82\xac"},
    {"a pair of surrogates", "\xff\xfe\x3d\xd8\x00\xde", 6, "\xf0\x9f\x98\x80"},
    {"only the mark", "\xff\xfe", 2, ""},
    {"half a unit at the end",
     "\xff\xfe"
     "a",
     3, NULL},
    {"a high surrogate at the end", "\xff\xfe\x3d\xd8", 4, NULL},
    {"a high surrogate before a letter",
     "\xff\xfe\x3d\xd8"
     "a\0",
     6, NULL},
    {"a low surrogate alone", "\xff\xfe\x00\xde", 4, NULL},
};

/* Converts in pieces of the same size. Returns false if the text is invalid. */
static bool convert(const struct encoded *e, size_t piece, struct strbuf *out)
{
    struct utf16_converter c = utf16_detect(e->bytes, e->len);
    bool fine = c.active;

    for (size_t at = 0; at < e->len && fine; at += piece)
        fine = utf16_convert(&c, e->bytes + at, e->len - at < piece ? e->len - at : piece, out);
    return fine && utf16_convert(&c, "", 0, out);
}

TEST_ROWS(texts_are_converted, encoded, title)
{
    const struct encoded *e = *state;

    for (size_t piece = 1; piece <= e->len; piece++) {
        CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(TEXT_MAX);

        assert_int_equal(convert(e, piece, &out), e->text != NULL);
        if (e->text)
            assert_string_equal(out.data, e->text);
    }
}

TEST(a_text_without_a_mark_is_not_utf16)
{
    assert_false(utf16_detect("apiVersion: v1\n", 15).active);
    assert_false(utf16_detect("\xff", 1).active);
    assert_false(utf16_detect("", 0).active);
}
