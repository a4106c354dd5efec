/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/base/suggest.h"

enum { NAME_MAX_LEN = 64 };

size_t edit_distance(const char *a, const char *b)
{
    size_t rows[3][NAME_MAX_LEN + 1];
    size_t a_len = strlen(a);
    size_t b_len = strlen(b);

    /* `rows` has a fixed size: a longer name gets no suggestion. */
    if (a_len > NAME_MAX_LEN || b_len > NAME_MAX_LEN)
        return SIZE_MAX;
    for (size_t j = 0; j <= b_len; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a_len; i++) {
        const size_t *above = rows[(i - 1) % 3];
        size_t *row = rows[i % 3];

        row[0] = i;
        for (size_t j = 1; j <= b_len; j++) {
            row[j] = above[j - 1] + (a[i - 1] != b[j - 1]);
            if (above[j] + 1 < row[j])
                row[j] = above[j] + 1;
            if (row[j - 1] + 1 < row[j])
                row[j] = row[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                rows[(i - 2) % 3][j - 2] + 1 < row[j])
                row[j] = rows[(i - 2) % 3][j - 2] + 1;
        }
    }
    return rows[a_len % 3][b_len];
}

const char *suggest_name(const char *typed, const char *(*next)(void *context), void *context)
{
    const char *nearest = NULL;
    size_t closest = SIZE_MAX;
    const char *name;

    while ((name = next(context))) {
        size_t distance = edit_distance(typed, name);
        /* A name at a larger distance is rather another word than a typing error. */
        size_t allowed = strlen(name) < 6 ? 2 : strlen(name) / 3;

        if (distance <= allowed && distance < closest) {
            closest = distance;
            nearest = name;
        }
    }
    return nearest;
}
