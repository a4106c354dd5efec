/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/system/encoding.h"

/* ---- Base64 ---- */

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Consumes and returns the next character that is not a line end; NUL at the end. */
static char next_character(const char **text)
{
    while (**text == '\n' || **text == '\r')
        (*text)++;
    return **text ? *(*text)++ : '\0';
}

/* Returns true if '=' after `digits` characters of a group begins a padding that ends the text. */
static bool padding_ends_text(const char **text, unsigned digits)
{
    if (digits < 2 || (digits == 2 && next_character(text) != '='))
        return false;
    return next_character(text) == '\0';
}

bool base64_decode(const char *text, struct strbuf *out)
{
    uint32_t bits = 0;
    unsigned digits = 0;

    for (char c = next_character(&text); c; c = next_character(&text)) {
        const char *digit = strchr(alphabet, c);

        if (!digit)
            return c == '=' && padding_ends_text(&text, digits);
        bits = bits << 6 | (uint32_t)(digit - alphabet);
        /* The second, third and fourth digit of a group each complete a byte. */
        if (digits > 0)
            strbuf_addc(out, (char)(bits >> (6 - 2 * digits)));
        digits = (digits + 1) % 4;
        if (digits == 0)
            bits = 0;
    }
    return digits == 0;
}

void base64_encode(const void *bytes, size_t len, struct strbuf *out)
{
    const unsigned char *at = bytes;

    for (size_t i = 0; i < len; i += 3) {
        size_t left = len - i;
        uint32_t bits = (uint32_t)at[i] << 16 | (left > 1 ? (uint32_t)at[i + 1] << 8 : 0) |
                        (left > 2 ? at[i + 2] : 0);

        strbuf_addc(out, alphabet[bits >> 18]);
        strbuf_addc(out, alphabet[bits >> 12 & 63]);
        strbuf_addc(out, left > 1 ? alphabet[bits >> 6 & 63] : '=');
        strbuf_addc(out, left > 2 ? alphabet[bits & 63] : '=');
    }
}

/* ---- PEM ---- */

static const char begin_mark[] = "-----BEGIN ";
static const char end_mark[] = "-----END ";
static const char dashes[] = "-----";

struct pem_block {
    const char *label;
    size_t label_len;
    const char *body;
    size_t body_len;
};

enum block_status { BLOCK_COMPLETE, BLOCK_ABSENT, BLOCK_INCOMPLETE };

/* Finds the next block at or after `*at`. If complete, sets `out`, and moves `*at` behind it. */
static enum block_status next_block(const char **at, struct pem_block *out)
{
    const char *begin = strstr(*at, begin_mark);
    if (!begin)
        return BLOCK_ABSENT;

    const char *label = begin + sizeof(begin_mark) - 1;
    size_t label_len = strcspn(label, "-\r\n");
    if (strncmp(label + label_len, dashes, sizeof(dashes) - 1) != 0)
        return BLOCK_INCOMPLETE;

    const char *body = label + label_len + sizeof(dashes) - 1;
    const char *end = strstr(body, end_mark);
    if (!end)
        return BLOCK_INCOMPLETE;

    const char *closing = end + sizeof(end_mark) - 1;
    if (strncmp(closing, label, label_len) != 0 ||
        strncmp(closing + label_len, dashes, sizeof(dashes) - 1) != 0)
        return BLOCK_INCOMPLETE;
    *out = (struct pem_block){label, label_len, body, (size_t)(end - body)};
    *at = closing + label_len + sizeof(dashes) - 1;
    return BLOCK_COMPLETE;
}

static bool has_label(const struct pem_block *b, const char *label)
{
    return b->label_len == strlen(label) && memcmp(b->label, label, b->label_len) == 0;
}

/* Returns true for labels that end in "PRIVATE KEY", also "ENCRYPTED PRIVATE KEY". */
static bool is_private_key(const struct pem_block *b)
{
    static const char suffix[] = "PRIVATE KEY";
    size_t len = sizeof(suffix) - 1;

    return b->label_len >= len && memcmp(b->label + b->label_len - len, suffix, len) == 0;
}

static bool is_empty(const struct pem_block *b)
{
    return strspn(b->body, " \t\r\n") >= b->body_len;
}

static bool fail_incomplete(struct error *err)
{
    return fail(err, "a PEM block is cut off or has no matching END line");
}

bool pem_check_certificates(const char *text, struct error *err)
{
    struct pem_block b;
    enum block_status status;
    unsigned count = 0;

    while ((status = next_block(&text, &b)) == BLOCK_COMPLETE) {
        if (has_label(&b, "CERTIFICATE") && !is_empty(&b))
            count++;
    }
    if (status == BLOCK_INCOMPLETE)
        return fail_incomplete(err);
    if (count == 0)
        return fail(err, "there is no PEM certificate in it");
    return true;
}

bool pem_check_key(const char *text, struct error *err)
{
    /* Word in the header of older keys that are encrypted. */
    static const char encrypted[] = "ENCRYPTED";
    struct pem_block b;
    enum block_status status;

    while ((status = next_block(&text, &b)) == BLOCK_COMPLETE) {
        if (!is_private_key(&b) || is_empty(&b))
            continue;
        if (has_label(&b, "ENCRYPTED PRIVATE KEY") ||
            memmem(b.body, b.body_len, encrypted, sizeof(encrypted) - 1))
            return fail(err, "the private key needs a passphrase, and the exporter cannot ask for "
                             "it: use a key without a passphrase");
        return true;
    }
    if (status == BLOCK_INCOMPLETE)
        return fail_incomplete(err);
    return fail(err, "there is no PEM private key in it");
}
