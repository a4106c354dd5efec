/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/base/error.h"

#include "metrics/base/utf8.h"

/* error.h defines macros of these names for the static analyser. */
#undef fail
#undef fail_in

enum {
    TEXT_SIZE = sizeof(((struct error *)NULL)->text),
    /* Size of a context, ": " and an error text. */
    WHOLE_SIZE = 2 * TEXT_SIZE + 2,
};

static const char ellipsis[] = "...";

static void set_text(struct error *err, const char *text)
{
    size_t len = strlen(text);

    if (len < TEXT_SIZE) {
        memcpy(err->text, text, len + 1);
        return;
    }

    size_t kept = utf8_cut_length(text, TEXT_SIZE - sizeof(ellipsis));

    memcpy(err->text, text, kept);
    memcpy(err->text + kept, ellipsis, sizeof(ellipsis));
}

bool fail(struct error *err, const char *fmt, ...)
{
    /* A separate buffer, because the arguments may point to err->text. */
    char text[WHOLE_SIZE] = "";
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);

    set_text(err, text);
    return false;
}

bool fail_in(struct error *err, const char *fmt, ...)
{
    char context[TEXT_SIZE] = "";
    char text[WHOLE_SIZE];
    va_list args;

    va_start(args, fmt);
    vsnprintf(context, sizeof(context), fmt, args);
    va_end(args);

    snprintf(text, sizeof(text), "%s: %s", context, err->text);
    set_text(err, text);
    return false;
}
