/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/yaml/yaml_input.h"

/*
 * Blanks and the bytes of the line breaks that YAML 1.1 knows besides: U+0085, U+2028 and U+2029.
 * Some other characters consist of such bytes, too; a run of thousands of them is no text either.
 */
static const bool is_blank[256] = {
    [' '] = true,  ['\t'] = true, ['\n'] = true, ['\r'] = true, [0xC2] = true,
    [0x85] = true, [0xE2] = true, [0x80] = true, [0xA8] = true, [0xA9] = true,
};

size_t yaml_read_text(void *context, char *bytes, size_t size)
{
    struct yaml_text *text = context;
    size_t len = text->len < size ? text->len : size;

    if (len > 0)
        memcpy(bytes, text->bytes, len);
    text->bytes += len;
    text->len -= len;
    return len;
}

void yaml_input_init(struct yaml_input *in, yaml_read_fn *read, void *context)
{
    *in = (struct yaml_input){.read = read, .context = context, .start = {1, 1}};
}

void yaml_input_release(struct yaml_input *in)
{
    explicit_bzero(in->recent, sizeof(in->recent));
}

struct json_position yaml_input_position(const struct yaml_input *in, size_t offset)
{
    size_t len = offset > in->offset ? offset - in->offset : 0;
    struct json_position inside =
        json_position_of(in->recent, len < in->recent_len ? len : in->recent_len);

    if (inside.line == 1)
        inside.column += in->start.column - 1;
    inside.line += in->start.line - 1;
    return inside;
}

/* Keeps the piece, and forgets the one before the last. */
static void keep(struct yaml_input *in, const char *piece, size_t len)
{
    size_t old = in->recent_len - in->last_len;

    in->start = yaml_input_position(in, in->offset + old);
    in->offset += old;
    memmove(in->recent, in->recent + old, in->last_len);
    memcpy(in->recent + in->last_len, piece, len);
    in->recent_len = in->last_len + len;
    in->last_len = len;
}

/* Returns the index of the byte that makes a run of blanks too long, or `len`. */
static size_t find_long_run(struct yaml_input *in, const char *piece, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        in->blanks = is_blank[(unsigned char)piece[i]] ? in->blanks + 1 : 0;
        if (in->blanks > YAML_INPUT_BLANKS_MAX)
            return i;
    }
    return len;
}

const char *yaml_input_read(struct yaml_input *in, char *bytes, size_t size, size_t *out_len,
                            size_t *out_offset)
{
    size_t begin = in->offset + in->recent_len;
    size_t len = in->read(in->context, bytes, size < YAML_INPUT_PIECE ? size : YAML_INPUT_PIECE);
    const char *nul = memchr(bytes, '\0', len);

    keep(in, bytes, len);
    *out_len = len;
    *out_offset = begin;
    if (begin == 0 && len >= 2 &&
        (memcmp(bytes, "\xff\xfe", 2) == 0 || memcmp(bytes, "\xfe\xff", 2) == 0))
        return "the text is UTF-16: save it as UTF-8";
    if (nul) {
        *out_offset = begin + (size_t)(nul - bytes);
        return "a NUL byte";
    }
    size_t run = find_long_run(in, bytes, len);

    *out_offset = begin + run;
    return run < len ? "more than 16,384 spaces, tabs and line breaks in a row" : NULL;
}
