/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/release.h"

#include "metrics/base/shown.h"

enum { NUMBER_DIGITS_MAX = 4 };

/* One number of a release; NULL where none begins, else where it ends. */
static const char *read_number(const char *text, unsigned *out)
{
    size_t digits = strspn(text, "0123456789");

    if (digits == 0 || digits > NUMBER_DIGITS_MAX)
        return NULL;
    *out = 0;
    for (size_t i = 0; i < digits; i++)
        *out = *out * 10 + (unsigned)(text[i] - '0');
    return text + digits;
}

bool release_parse(const char *text, struct release *out, struct error *err)
{
    const char *at = text + (*text == 'v');

    *out = (struct release){0};
    if (!*text)
        return true;
    at = read_number(at, &out->major);
    at = at && *at == '.' ? read_number(at + 1, &out->minor) : NULL;
    if (at && out->major > 0 && (!*at || *at == '.' || *at == '-'))
        return true;
    return fail(err, "'%s' is not a release of Karmada, such as 'v1.15.2' or '1.16'",
                shown(text).text);
}

bool release_resolves_dependencies(struct release release)
{
    return release.major != 1 || release.minor >= 16;
}
