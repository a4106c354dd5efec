/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/text/output.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "metrics/base/number.h"
#include "metrics/base/utf8.h"

enum {
    TEXT_MAX = 1024 * 1024 * 1024,
    LINE_MAX_BYTES = 1024 * 1024,
    HANGING = 2,
};

static const char *const escapes[] = {
    [STYLE_PLAIN] = "",       [STYLE_HEADING] = "\033[1m",  [STYLE_FAINT] = "\033[2m",
    [STYLE_BAD] = "\033[31m", [STYLE_CAUTION] = "\033[33m", [STYLE_GOOD] = "\033[32m",
};

static unsigned width_of(int fd, bool is_terminal)
{
    const char *columns = getenv("COLUMNS");
    struct winsize size = {0};
    uint64_t width = 0;

    if (columns && parse_uint(columns, OUTPUT_WIDTH_MAX, &width))
        return width == 0 || width >= OUTPUT_WIDTH_MIN ? (unsigned)width : OUTPUT_WIDTH_MIN;
    if (!is_terminal)
        return 0;
    if (ioctl(fd, TIOCGWINSZ, &size) < 0 || size.ws_col == 0)
        return OUTPUT_WIDTH_DEFAULT;
    return size.ws_col >= OUTPUT_WIDTH_MIN ? size.ws_col : OUTPUT_WIDTH_MIN;
}

void output_init(struct output *o, int fd)
{
    const char *no_colour = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");
    bool is_terminal = isatty(fd) == 1;
    bool redraws = is_terminal && !(terminal && strcmp(terminal, "dumb") == 0);

    /* https://no-color.org: NO_COLOR counts unless it is empty. */
    *o = (struct output){
        .text = STRBUF_INIT(TEXT_MAX),
        .width = width_of(fd, is_terminal),
        .colour = redraws && !(no_colour && *no_colour != '\0'),
        .redraws = redraws,
    };
}

void output_release(struct output *o)
{
    strbuf_release(&o->text);
}

bool output_flush(struct output *o, int fd, struct error *err)
{
    size_t done = 0;

    if (!strbuf_ok(&o->text))
        return fail(err, "the output would be larger than %zu bytes", o->text.max);
    while (done < o->text.len) {
        ssize_t n = write(fd, o->text.data + done, o->text.len - done);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail(err, "cannot write the output: %s", strerror(errno));
        done += (size_t)n;
    }
    strbuf_reset(&o->text);
    return true;
}

void output_styled(struct output *o, enum output_style style, const char *text)
{
    bool styled = o->colour && style != STYLE_PLAIN && *text != '\0';

    if (styled)
        strbuf_adds(&o->text, escapes[style]);
    strbuf_adds(&o->text, text);
    if (styled)
        strbuf_adds(&o->text, "\033[0m");
}

void output_safe(struct strbuf *out, const char *text)
{
    while (*text != '\0') {
        const char *begin = text;
        uint32_t point = utf8_next(&text);

        if (point == UTF8_BROKEN)
            strbuf_adds(out, "\xEF\xBF\xBD");
        else if (!utf8_is_unsafe(point))
            strbuf_add(out, begin, (size_t)(text - begin));
        for (; utf8_is_unsafe(point) && begin < text; begin++)
            strbuf_addf(out, "\\x%02x", (unsigned char)*begin);
    }
}

void output_safe_lines(struct strbuf *out, const char *text)
{
    for (;;) {
        const char *newline = strchrnul(text, '\n');
        CLEANUP(free_cleanup) char *line = xmemdup0(text, (size_t)(newline - text));

        output_safe(out, line);
        if (*newline == '\0')
            return;
        strbuf_addc(out, '\n');
        text = newline + 1;
    }
}

size_t output_columns(const char *text)
{
    size_t columns = 0;

    /* One column a character: neither names nor our texts have wide ones. */
    for (; *text != '\0'; text++)
        columns += ((unsigned char)*text & 0xC0) != 0x80;
    return columns;
}

void output_wrap(struct strbuf *out, const char *text, size_t at, size_t indent, size_t width)
{
    bool line_has_word = false;

    for (text += strspn(text, " "); *text != '\0'; text += strspn(text, " ")) {
        size_t len = strcspn(text, " ");
        CLEANUP(free_cleanup) char *word = xmemdup0(text, len);
        size_t columns = output_columns(word);

        if (line_has_word && width > 0 && at + 1 + columns > width) {
            strbuf_addf(out, "\n%*s", (int)indent, "");
            at = indent;
        } else if (line_has_word) {
            strbuf_addc(out, ' ');
            at++;
        }
        strbuf_adds(out, word);
        at += columns;
        line_has_word = true;
        text += len;
    }
}

void output_line(struct output *o, size_t indent, const char *text)
{
    CLEANUP(strbuf_release) struct strbuf safe = STRBUF_INIT(LINE_MAX_BYTES);

    output_safe(&safe, text);
    strbuf_addf(&o->text, "%*s", (int)indent, "");
    output_wrap(&o->text, safe.data, indent, indent + HANGING, o->width);
    strbuf_addc(&o->text, '\n');
}
