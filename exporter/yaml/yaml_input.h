/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "metrics/base/json.h"

/* Reads the next bytes of a text. Returns fewer than `size` only at the end of the text. */
typedef size_t yaml_read_fn(void *context, char *bytes, size_t size);

/* A text in memory as the context of yaml_read_text(). The text is borrowed. */
struct yaml_text {
    const char *bytes;
    size_t len;
};
yaml_read_fn yaml_read_text;

enum {
    YAML_INPUT_PIECE = 4096,           /* Bytes that one call hands out at most. */
    YAML_INPUT_BLANKS_MAX = 16 * 1024, /* Spaces, tabs and line breaks in a row. */
};

/*
 * The bytes of one YAML text on their way to libyaml. The input refuses texts that libyaml would
 * misread, and runs of blanks: libyaml clears a buffer as long as the longest run after each word
 * of a scalar, so a long run makes its time quadratic.
 */
struct yaml_input {
    yaml_read_fn *read;
    void *context;
    char recent[2 * YAML_INPUT_PIECE]; /* The last two pieces. */
    size_t recent_len;
    size_t last_len;            /* Length of the last piece. */
    size_t offset;              /* Offset of recent[0] in the text. */
    struct json_position start; /* Line and column of recent[0]. */
    size_t blanks;              /* Length of the run of blanks that ends the last piece. */
};

void yaml_input_init(struct yaml_input *in, yaml_read_fn *read, void *context);
/* Wipes the pieces: the text may be a kubeconfig. */
void yaml_input_release(struct yaml_input *in);

/*
 * Hands out the next bytes, 0 at the end of the text. Returns the reason and its offset in the
 * text if the text is refused, else NULL.
 */
const char *yaml_input_read(struct yaml_input *in, char *bytes, size_t size, size_t *out_len,
                            size_t *out_offset) MUST_USE;

/* Returns the place of an offset, which is in the last two pieces or behind them. */
struct json_position yaml_input_position(const struct yaml_input *in, size_t offset);
