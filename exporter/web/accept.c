/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/accept.h"

#include <strings.h>

enum { NOT_NAMED = -1, WEIGHT_MAX = 1000 };

struct span {
    const char *at;
    size_t len;
};

static struct span trim(struct span s)
{
    while (s.len > 0 && (s.at[0] == ' ' || s.at[0] == '\t')) {
        s.at++;
        s.len--;
    }
    while (s.len > 0 && (s.at[s.len - 1] == ' ' || s.at[s.len - 1] == '\t'))
        s.len--;
    return s;
}

/* Cut the piece before the separator, or all of it, off `rest`. */
static struct span cut(struct span *rest, char separator)
{
    const char *end = memchr(rest->at, separator, rest->len);
    struct span piece = {rest->at, end ? (size_t)(end - rest->at) : rest->len};
    size_t used = piece.len + (end ? 1 : 0);

    rest->at += used;
    rest->len -= used;
    return trim(piece);
}

static bool span_is(struct span s, const char *word)
{
    return s.len == strlen(word) && strncasecmp(s.at, word, s.len) == 0;
}

/* "0.25" as thousandths: RFC 9110 allows three digits and nothing above one. False if it is none.
 */
static bool parse_weight(struct span s, int *out)
{
    int weight = 0;
    int place = WEIGHT_MAX / 10;

    if (s.len == 0 || s.len > strlen("0.000") || (s.at[0] != '0' && s.at[0] != '1') ||
        (s.len > 1 && s.at[1] != '.'))
        return false;
    weight = (s.at[0] - '0') * WEIGHT_MAX;
    for (size_t i = 2; i < s.len; i++, place /= 10) {
        if (s.at[i] < '0' || s.at[i] > '9')
            return false;
        weight += (s.at[i] - '0') * place;
    }
    *out = weight;
    return weight <= WEIGHT_MAX;
}

bool accept_gzip(const char *header)
{
    int gzip = NOT_NAMED, identity = NOT_NAMED, others = NOT_NAMED;
    struct span rest = {header ? header : "", header ? strlen(header) : 0};

    while (rest.len > 0) {
        struct span entry = cut(&rest, ',');
        struct span name = cut(&entry, ';');
        int weight = WEIGHT_MAX;
        bool valid = true;

        while (entry.len > 0) {
            struct span value = cut(&entry, ';');
            struct span parameter = cut(&value, '=');

            if (span_is(parameter, "q"))
                valid = valid && parse_weight(trim(value), &weight);
        }
        if (!valid)
            continue;
        if (span_is(name, "gzip") || span_is(name, "x-gzip"))
            gzip = weight;
        else if (span_is(name, "identity"))
            identity = weight;
        else if (span_is(name, "*"))
            others = weight;
    }
    if (gzip == NOT_NAMED)
        gzip = others;
    return gzip > 0 && gzip >= identity;
}
