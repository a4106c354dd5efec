/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/text/finding_counts.h"

#include "metrics/base/number.h"

enum { WORD_MAX = 64 };

static const char none[] = "none";

static void write_count(struct strbuf *out, size_t start, const char *word, size_t count)
{
    if (count > 0)
        strbuf_addf(out, "%s%s=%zu", out->len > start ? ", " : "", word, count);
}

void finding_counts_write(const struct finding_counts *c, struct strbuf *out)
{
    size_t start = out->len;

    for (unsigned i = 0; i < FINDING_CLASSES; i++)
        write_count(out, start, fail_on_names[i], c->classes[i]);
    write_count(out, start, "unread", c->unread);
    write_count(out, start, "missing", c->missing);
    if (out->len == start)
        strbuf_adds(out, none);
}

/* Where the count of a word goes; NULL if nobody here knows the word. */
static size_t *count_of(struct finding_counts *c, const char *word)
{
    for (unsigned i = 0; i < FINDING_CLASSES; i++) {
        if (strcmp(word, fail_on_names[i]) == 0)
            return &c->classes[i];
    }
    if (strcmp(word, "unread") == 0)
        return &c->unread;
    return strcmp(word, "missing") == 0 ? &c->missing : NULL;
}

/* "conflict=2" */
static bool read_one(const char *text, size_t len, struct finding_counts *out)
{
    char word[WORD_MAX];
    size_t word_len = strspn(text, "abcdefghijklmnopqrstuvwxyz_");
    size_t *count;
    uint64_t number;

    if (len >= sizeof(word) || word_len == 0 || word_len >= len || text[word_len] != '=')
        return false;
    snprintf(word, sizeof(word), "%.*s", (int)len, text);
    word[word_len] = '\0';
    if (!parse_uint(word + word_len + 1, SIZE_MAX, &number) || number == 0)
        return false;
    count = count_of(out, word);
    if (count && *count > 0)
        return false;
    if (count)
        *count = number;
    return true;
}

bool finding_counts_read(const char *text, struct finding_counts *out)
{
    struct finding_counts counts = {.unread = 0};
    bool more = strcmp(text, none) != 0;

    while (more) {
        size_t len = strcspn(text, ",");

        more = text[len] == ',';
        if (!read_one(text, len, &counts))
            return false;
        text += len + more;
        text += strspn(text, " ");
    }
    *out = counts;
    return true;
}

bool finding_counts_any(const struct finding_counts *c, unsigned classes)
{
    for (unsigned i = 0; i < FINDING_CLASSES; i++) {
        if ((classes >> i & 1) && c->classes[i] > 0)
            return true;
    }
    return false;
}
