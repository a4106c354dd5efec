/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/base/json_frame.h"

#include <endian.h>

#include "metrics/base/json_syntax.h"

static const char items_key[] = "items";

/* Values of key_state. KEY_BEGIN + n means that n characters of "items" have matched. */
enum {
    KEY_OTHER = 0,
    KEY_BEGIN = 1,
    KEY_MATCHED = sizeof(items_key), /* All characters matched; the key may still be longer. */
    KEY_READ,                        /* The key is "items". */
    KEY_COLON,                       /* The colon after the key has been read. */
};

enum byte_class {
    BYTE_OTHER,
    BYTE_SPACE,
    BYTE_QUOTE,
    BYTE_OPEN,
    BYTE_CLOSE,
    BYTE_COMMA,
    BYTE_COLON,
};

static const unsigned char byte_classes[256] = {
    [' '] = BYTE_SPACE, ['\t'] = BYTE_SPACE, ['\n'] = BYTE_SPACE, ['\r'] = BYTE_SPACE,
    ['"'] = BYTE_QUOTE, ['{'] = BYTE_OPEN,   ['['] = BYTE_OPEN,   ['}'] = BYTE_CLOSE,
    [']'] = BYTE_CLOSE, [','] = BYTE_COMMA,  [':'] = BYTE_COLON,
};

/* Bytes in an object, outside of strings, that read_container() does not skip. */
static const bool is_structural[256] = {
    ['"'] = true, ['{'] = true, ['['] = true, ['}'] = true, [']'] = true,
};

enum { CHUNK_MAX = 1 << 20 }; /* Maximum bytes of one feed for on_start. */

/* Bytes of one call of json_frame_feed(). */
struct feed {
    const char *bytes;
    size_t len;
    bool has_nul; /* A NUL follows the bytes. */
    size_t at;
    size_t kept; /* Bytes before this offset are already appended or dropped. */
};

void json_frame_init(struct json_frame *f, enum json_frame_mode mode, size_t max,
                     json_frame_fn *on_object, void *context)
{
    *f = (struct json_frame){
        .mode = mode,
        .on_object = on_object,
        .context = context,
        .object = STRBUF_INIT(max),
        .rest = STRBUF_INIT(max),
    };
}

void json_frame_release(struct json_frame *f)
{
    strbuf_release(&f->object);
    strbuf_release(&f->rest);
}

static unsigned char class_of(char byte)
{
    return byte_classes[(unsigned char)byte];
}

/* Returns the nesting depth around an object. */
static unsigned outer_depth(const struct json_frame *f)
{
    return f->mode == JSON_FRAME_EVENTS ? 0 : 2;
}

/*
 * Returns true where objects are: at the top level of JSON_FRAME_EVENTS, or in "items" of a list.
 */
static bool is_among_objects(const struct json_frame *f)
{
    return f->mode == JSON_FRAME_EVENTS || f->in_items;
}

/* Returns the offset of the next quote or backslash, or `len`. Reads eight bytes at once. */
static size_t find_quote_or_backslash(const char *bytes, size_t at, size_t len)
{
    while (len - at >= sizeof(uint64_t)) {
        uint64_t word;

        memcpy(&word, bytes + at, sizeof(word));
        word = le64toh(word);

        uint64_t found = json_mark_bytes(word, '"') | json_mark_bytes(word, '\\');

        if (found)
            return at + (unsigned)__builtin_ctzll(found) / 8;
        at += sizeof(word);
    }
    while (at < len && bytes[at] != '"' && bytes[at] != '\\')
        at++;
    return at;
}

/* Returns the offset after the closing quote, or `len` if the string continues in the next feed. */
static size_t skip_string(struct json_frame *f, const char *bytes, size_t at, size_t len)
{
    if (f->escaped && at < len) {
        f->escaped = false;
        at++;
    }
    for (;;) {
        at = find_quote_or_backslash(bytes, at, len);
        if (at == len)
            return len;
        if (bytes[at] == '"') {
            f->in_string = false;
            return at + 1;
        }
        if (len - at < 2) {
            f->escaped = true;
            return len;
        }
        at += 2;
    }
}

/* Skips a key like skip_string(), and compares it with "items". */
static size_t skip_key(struct json_frame *f, const char *bytes, size_t at, size_t len)
{
    while (at < len && f->key_state >= KEY_BEGIN && f->key_state < KEY_MATCHED &&
           bytes[at] == items_key[f->key_state - KEY_BEGIN]) {
        f->key_state++;
        at++;
    }
    if (at == len)
        return len;
    f->key_state = f->key_state == KEY_MATCHED && bytes[at] == '"' ? KEY_READ : KEY_OTHER;
    return skip_string(f, bytes, at, len);
}

/* Appends bytes to the open object; with cuts_large as many as fit. */
static void append_object(struct json_frame *f, const char *bytes, size_t len)
{
    size_t room = f->object.max - f->object.len;

    if (f->cuts_large && len > room) {
        strbuf_add(&f->object, bytes, room);
        bytes += room;
        len -= room;
    }
    strbuf_add(&f->object, bytes, len);
}

/* Appends the bytes from `kept` to `end` to the object or to `rest`; drops separators. */
static void append_bytes(struct json_frame *f, struct feed *feed, size_t end)
{
    if (f->in_object)
        append_object(f, feed->bytes + feed->kept, end - feed->kept);
    else if (!is_among_objects(f))
        strbuf_add(&f->rest, feed->bytes + feed->kept, end - feed->kept);
    feed->kept = end;
}

/* Returns false if the open object exceeds the maximum and must not be cut. */
static bool object_fits(const struct json_frame *f)
{
    return f->cuts_large || strbuf_ok(&f->object);
}

/* Passes the object that ends before the current byte to on_object, unless it is too large. */
static void end_object(struct json_frame *f, struct feed *feed)
{
    append_bytes(f, feed, feed->at);
    if (!object_fits(f))
        return;
    f->in_object = false;
    f->last_len = f->object.len;
    f->cut = !strbuf_ok(&f->object);
    if (!f->on_object(f->context, f->object.data, f->object.len, f->object_start))
        f->stopped = true;
    strbuf_reset(&f->object);
}

/* Reads an object or array up to its end or to the end of the bytes. */
static void read_container(struct json_frame *f, struct feed *feed)
{
    const char *bytes = feed->bytes;
    size_t len = feed->len;
    size_t at = feed->at;
    unsigned depth = f->depth;
    unsigned outside = outer_depth(f);

    while (at < len && depth > outside) {
        unsigned char byte = (unsigned char)bytes[at++];

        if (!is_structural[byte])
            continue;
        if (byte == '"') {
            f->in_string = true;
            at = skip_string(f, bytes, at, len);
        } else if (byte_classes[byte] == BYTE_OPEN) {
            depth++;
        } else {
            depth--;
        }
    }
    feed->at = at;
    f->depth = depth;
    if (depth == outside)
        end_object(f, feed);
}

/*
 * Reads one byte of a number or word, or the first quote of a string. If the byte does not belong
 * to the object, ends the object without reading the byte.
 */
static void read_scalar(struct json_frame *f, struct feed *feed)
{
    unsigned char class = class_of(feed->bytes[feed->at]);
    bool separates = class == BYTE_COMMA || class == BYTE_CLOSE;

    if (class == BYTE_SPACE || class == BYTE_OPEN || (separates && f->mode == JSON_FRAME_LIST)) {
        end_object(f, feed);
        return;
    }
    f->in_string = class == BYTE_QUOTE;
    feed->at++;
}

/*
 * Begins an object at the current byte. Returns true if on_start has handled the whole object.
 * Avoids a useless attempt if the object seems to continue in the next feed.
 */
static bool start_object(struct json_frame *f, struct feed *feed)
{
    size_t left = feed->len - feed->at;
    size_t used;

    f->object_start = f->offset + feed->at;
    if (!feed->has_nul || feed->bytes[feed->at] != '{' || left < f->last_len)
        return false;
    used = f->on_start(f->context, feed->bytes + feed->at, left, &f->stopped);
    if (used == 0)
        return false;
    f->last_len = used;
    feed->kept = feed->at += used;
    return true;
}

/* Reads one byte outside of objects: a separator, the end of "items", or the start of an object. */
static void read_between_objects(struct json_frame *f, struct feed *feed)
{
    unsigned char class = class_of(feed->bytes[feed->at]);

    feed->kept = feed->at;
    if (class == BYTE_SPACE || (class == BYTE_COMMA && f->mode == JSON_FRAME_LIST)) {
        feed->kept = ++feed->at;
    } else if (class == BYTE_CLOSE && f->mode == JSON_FRAME_LIST) {
        f->in_items = false;
        f->depth--;
        feed->at++;
    } else if (!start_object(f, feed)) {
        f->in_object = true;
        f->depth += class == BYTE_OPEN ? 1 : 0;
        f->in_string = class == BYTE_QUOTE;
        feed->at++;
    }
}

/* Reads one byte of a list outside of the value of "items", and detects that member. */
static void read_outside_items(struct json_frame *f, struct feed *feed)
{
    char byte = feed->bytes[feed->at++];
    unsigned char class = class_of(byte);
    unsigned key_state = f->key_state;

    if (class == BYTE_SPACE)
        return;
    f->key_state = KEY_OTHER;
    if (class == BYTE_QUOTE) {
        f->in_string = true;
        f->key_state = f->depth == 1 ? KEY_BEGIN : KEY_OTHER;
    } else if (class == BYTE_COLON && key_state == KEY_READ) {
        f->key_state = KEY_COLON;
    } else if (class == BYTE_OPEN) {
        if (byte == '[' && key_state == KEY_COLON) {
            append_bytes(f, feed, feed->at);
            f->in_items = true;
        }
        f->depth++;
    } else if (class == BYTE_CLOSE && f->depth > 0) {
        f->depth--;
        f->ended = f->one_document && f->depth == 0;
    }
}

bool json_frame_feed(struct json_frame *f, const char *bytes, size_t len, struct error *err)
{
    CLEANUP(strbuf_release) struct strbuf chunk = STRBUF_INIT(CHUNK_MAX);
    struct feed feed = {.bytes = bytes, .len = len};

    if (f->stopped)
        return fail(err, "cannot continue after an earlier failure");
    if (f->on_start && len <= CHUNK_MAX && len <= f->object.max) {
        strbuf_reserve(&chunk, len);
        strbuf_add(&chunk, bytes, len);
        feed.bytes = chunk.data;
        feed.has_nul = true;
    }
    while (feed.at < len && !f->stopped && !f->ended && object_fits(f) && strbuf_ok(&f->rest)) {
        if (f->in_string && f->key_state != KEY_OTHER)
            feed.at = skip_key(f, feed.bytes, feed.at, len);
        else if (f->in_string)
            feed.at = skip_string(f, feed.bytes, feed.at, len);
        else if (f->in_object && f->depth > outer_depth(f))
            read_container(f, &feed);
        else if (f->in_object)
            read_scalar(f, &feed);
        else if (is_among_objects(f))
            read_between_objects(f, &feed);
        else
            read_outside_items(f, &feed);
    }
    f->offset += feed.at;
    if (f->stopped)
        return false;
    append_bytes(f, &feed, feed.at);

    if (!object_fits(f)) {
        f->stopped = true;
        return fail(err, "the object at byte %zu is larger than %zu bytes", f->object_start,
                    f->object.max);
    }
    if (!strbuf_ok(&f->rest)) {
        f->stopped = true;
        return fail(err, "a list, not counting its items, is larger than %zu bytes", f->rest.max);
    }
    return true;
}

bool json_frame_is_complete(const struct json_frame *f)
{
    return f->depth == 0 && !f->in_object && !f->in_string;
}
