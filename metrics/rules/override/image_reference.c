/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/override/image_reference.h"

#include <ctype.h>

#include "metrics/base/shown.h"

/* ---- grammar of image references (distribution/reference: regexp.go) ---- */

enum { PATH_MAX_BYTES = 255, TAG_MAX_BYTES = 128, DIGEST_MIN_DIGITS = 32 };

/* A part of a text; not terminated. */
struct image_part {
    const char *text;
    size_t len;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_letter(char c)
{
    return is_lower(c) || (c >= 'A' && c <= 'Z');
}

static bool is_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static struct image_part part_of(const char *text, const char *end)
{
    return (struct image_part){text, (size_t)(end - text)};
}

static bool begins_with(struct image_part s, const char *text)
{
    return s.len >= strlen(text) && strncmp(s.text, text, strlen(text)) == 0;
}

/* Returns true for letters and digits, with '-' inside, and with dots between such components. */
static bool is_domain_name(struct image_part s)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.text[i];
        bool first = i == 0 || s.text[i - 1] == '.';
        bool last = i + 1 == s.len || s.text[i + 1] == '.';

        if (is_letter(c) || is_digit(c))
            continue;
        if ((c != '-' && c != '.') || first || last)
            return false;
    }
    return s.len > 0;
}

static bool is_ipv6_address(struct image_part s)
{
    if (s.len < 3 || s.text[0] != '[' || s.text[s.len - 1] != ']')
        return false;
    for (size_t i = 1; i + 1 < s.len; i++) {
        if (!is_hex(s.text[i]) && s.text[i] != ':')
            return false;
    }
    return true;
}

/* Returns true for a host name or address, with an optional port. */
static bool is_domain(struct image_part s)
{
    size_t digits = 0;

    while (digits < s.len && is_digit(s.text[s.len - 1 - digits]))
        digits++;
    if (digits > 0 && digits < s.len && s.text[s.len - 1 - digits] == ':') {
        struct image_part host = {s.text, s.len - digits - 1};

        if (is_domain_name(host) || is_ipv6_address(host))
            return true;
    }
    return is_domain_name(s) || is_ipv6_address(s);
}

/* Returns the length of the separator at the start: one '.', one or two '_', or any number of '-'.
 */
static size_t separator_length(struct image_part s)
{
    size_t len = 0;

    if (s.len > 0 && s.text[0] == '.')
        return 1;
    while (len < s.len && len < 2 && s.text[len] == '_')
        len++;
    if (len > 0)
        return len;
    while (len < s.len && s.text[len] == '-')
        len++;
    return len;
}

/* Returns true for components of lower-case letters and digits, with separators, between '/'. */
static bool is_remote_name(struct image_part s)
{
    size_t at = 0;

    while (at < s.len) {
        size_t start = at;

        while (at < s.len && (is_lower(s.text[at]) || is_digit(s.text[at])))
            at++;
        if (at == start)
            return false;
        if (at == s.len)
            return true;
        start = at;
        at +=
            s.text[at] == '/' ? 1 : separator_length((struct image_part){s.text + at, s.len - at});
        if (at == start)
            return false;
    }
    return false;
}

/* Returns true for a name; its path without the domain must not be too long. */
static bool is_name(struct image_part s)
{
    const char *slash = memchr(s.text, '/', s.len);

    if (slash && is_domain(part_of(s.text, slash))) {
        struct image_part path = part_of(slash + 1, s.text + s.len);

        if (is_remote_name(path))
            return path.len <= PATH_MAX_BYTES;
    }
    return is_remote_name(s) && s.len <= PATH_MAX_BYTES;
}

static bool is_tag(struct image_part s)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.text[i];

        if (!is_letter(c) && !is_digit(c) && c != '_' && (i == 0 || (c != '.' && c != '-')))
            return false;
    }
    return s.len > 0 && s.len <= TAG_MAX_BYTES;
}

/* Returns the length of the algorithm of a digest; 0 if it is not valid. */
static size_t algorithm_length(struct image_part s)
{
    size_t at = 0;

    while (at < s.len) {
        if (!is_letter(s.text[at]))
            return 0;
        while (at < s.len && (is_letter(s.text[at]) || is_digit(s.text[at])))
            at++;
        if (at < s.len && s.text[at] == ':')
            return at;
        if (at == s.len || !strchr("-_+.", s.text[at]))
            return 0;
        at++;
    }
    return 0;
}

static bool is_digest(struct image_part s)
{
    size_t algorithm = algorithm_length(s);

    if (algorithm == 0 || s.len - algorithm - 1 < DIGEST_MIN_DIGITS)
        return false;
    for (size_t i = algorithm + 1; i < s.len; i++) {
        if (!is_hex(s.text[i]))
            return false;
    }
    return true;
}

/* Returns true for a digest of a known algorithm with lower-case digits (opencontainers/go-digest).
 */
static bool is_known_digest(struct image_part s)
{
    static const struct {
        const char *algorithm;
        size_t digits;
    } known[] = {{"sha256:", 64}, {"sha384:", 96}, {"sha512:", 128}};

    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        size_t len = strlen(known[i].algorithm);

        if (s.len != len + known[i].digits || !begins_with(s, known[i].algorithm))
            continue;
        for (size_t k = len; k < s.len; k++) {
            if (!is_digit(s.text[k]) && !(s.text[k] >= 'a' && s.text[k] <= 'f'))
                return false;
        }
        return true;
    }
    return false;
}

/* ---- parts of an image ---- */

enum { PART_MAX_BYTES = 1 << 16 };

/* Components of an image (Karmada: imageparser.Components). A digest counts only without tag. */
struct image {
    struct strbuf hostname;
    struct strbuf repository;
    struct strbuf tag;
    struct strbuf digest;
};

static void image_release(struct image *i)
{
    strbuf_release(&i->hostname);
    strbuf_release(&i->repository);
    strbuf_release(&i->tag);
    strbuf_release(&i->digest);
}

static void set_text(struct strbuf *b, struct image_part s)
{
    strbuf_reset(b);
    strbuf_add(b, s.text, s.len);
}

/* Splits a name into registry and repository: a registry has a '.' or ':', or is localhost. */
static void split_name(struct image *i, struct image_part name)
{
    const char *slash = memchr(name.text, '/', name.len);
    struct image_part host = slash ? part_of(name.text, slash) : (struct image_part){name.text, 0};

    if (!slash || (!memchr(host.text, '.', host.len) && !memchr(host.text, ':', host.len) &&
                   (host.len != strlen("localhost") || !begins_with(host, "localhost")))) {
        set_text(&i->repository, name);
        return;
    }
    set_text(&i->hostname, host);
    set_text(&i->repository, part_of(slash + 1, name.text + name.len));
}

/* Returns the start of the last ':' of a name without digest, if it is behind the last '/'. */
static const char *find_tag(struct image_part s)
{
    for (size_t i = s.len; i > 0 && s.text[i - 1] != '/'; i--) {
        if (s.text[i - 1] == ':')
            return s.text + i - 1;
    }
    return NULL;
}

static bool parse_image(const char *text, struct image *out)
{
    const char *end = text + strlen(text);
    const char *at = strchr(text, '@');
    struct image_part name = part_of(text, at ? at : end);
    struct image_part digest = at ? part_of(at + 1, end) : (struct image_part){text, 0};
    const char *colon = find_tag(name);
    struct image_part tag =
        colon ? part_of(colon + 1, name.text + name.len) : (struct image_part){text, 0};

    if (colon)
        name = part_of(text, colon);
    if (!is_name(name) || (colon && !is_tag(tag)) || (at && !is_known_digest(digest)))
        return false;
    split_name(out, name);
    if (colon)
        set_text(&out->tag, tag);
    else if (at)
        set_text(&out->digest, digest);
    return true;
}

static void append_image(const struct image *i, struct strbuf *out)
{
    if (i->hostname.len > 0)
        strbuf_addf(out, "%s/", i->hostname.data);
    strbuf_adds(out, i->repository.data);
    if (i->tag.len > 0)
        strbuf_addf(out, ":%s", i->tag.data);
    else if (i->digest.len > 0)
        strbuf_addf(out, "@%s", i->digest.data);
}

/* ---- changes ---- */

static void change_text(struct strbuf *b, const struct image_change *change)
{
    if (strcmp(change->op, "remove") == 0 || strcmp(change->op, "replace") == 0)
        strbuf_reset(b);
    else if (strcmp(change->op, "add") != 0)
        return;
    if (strcmp(change->op, "remove") != 0)
        strbuf_adds(b, change->value);
}

static void change_tag(struct image *i, const struct image_change *change)
{
    struct strbuf *present = i->tag.len > 0 ? &i->tag : &i->digest;
    CLEANUP(strbuf_release) struct strbuf fresh = STRBUF_INIT(PART_MAX_BYTES);
    struct image_part text;

    if (strcmp(change->op, "remove") == 0) {
        strbuf_reset(present);
        return;
    }
    strbuf_adds(&fresh, present->data);
    change_text(&fresh, change);
    text = (struct image_part){fresh.data, fresh.len};
    if (!is_tag(text) && !is_digest(text))
        return;
    strbuf_reset(&i->tag);
    strbuf_reset(&i->digest);
    set_text(is_tag(text) ? &i->tag : &i->digest, text);
}

bool image_apply_change(const char *image, const struct image_change *change, struct strbuf *out,
                        struct error *err)
{
    CLEANUP(image_release)
    struct image parts = {
        .hostname = STRBUF_INIT(PART_MAX_BYTES),
        .repository = STRBUF_INIT(PART_MAX_BYTES),
        .tag = STRBUF_INIT(PART_MAX_BYTES),
        .digest = STRBUF_INIT(PART_MAX_BYTES),
    };

    if (!parse_image(image, &parts))
        return fail(err, "'%s' is no valid image", shown(image).text);
    if (strcmp(change->component, "Registry") == 0)
        change_text(&parts.hostname, change);
    else if (strcmp(change->component, "Repository") == 0)
        change_text(&parts.repository, change);
    else if (strcmp(change->component, "Tag") == 0)
        change_tag(&parts, change);
    else
        return fail(err, "unknown component '%s' of an image", shown(change->component).text);
    append_image(&parts, out);
    return true;
}

bool image_change_keeps_valid(const struct image_change *change)
{
    struct image_part value = {change->value, strlen(change->value)};
    bool replaces = strcmp(change->op, "replace") == 0, removes = strcmp(change->op, "remove") == 0;

    if (strcmp(change->component, "Registry") == 0)
        return removes || (replaces && is_domain(value) && !is_ipv6_address(value) &&
                           memchr(value.text, '.', value.len));
    if (strcmp(change->component, "Repository") == 0)
        return replaces && value.len < PATH_MAX_BYTES && is_remote_name(value);
    return strcmp(change->component, "Tag") == 0 && (removes || (replaces && is_tag(value)));
}
