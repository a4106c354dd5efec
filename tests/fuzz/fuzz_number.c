/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/base/number.h"

#include <errno.h>
#include <math.h>

#include "metrics/base/timestamp.h"

/* Accepted numbers have their value in libc; a printed timestamp parses to the same second. */

static void check_int64(const char *text)
{
    int64_t value = 77;
    char *end;

    if (!parse_int64(text, &value)) {
        if (value != 77)
            abort();
        return;
    }
    errno = 0;
    if (strtoimax(text, &end, 10) != value || *end != '\0' || errno != 0)
        abort();
}

static void check_uint(const char *text, uint64_t max)
{
    uint64_t value;
    char *end;

    if (!parse_uint(text, max, &value))
        return;
    errno = 0;
    if (value > max || strtoull(text, &end, 10) != value || *end != '\0' || errno != 0)
        abort();
}

static void check_quantity(const char *text)
{
    double value;
    double plain;
    char *end;

    if (!parse_quantity(text, &value))
        return;
    if (isnan(value) || (value != 0 && fabs(value) < 1e-9))
        abort();
    /* A quantity without a suffix is a decimal number, rounded up to a multiple of 1e-9. */
    if (strspn(text, "+-.0123456789") != strlen(text))
        return;
    plain = strtod(text, &end);
    if (*end == '\0' && end > text && fabs(value - plain) > 1.0001e-9 + 1e-15 * fabs(plain))
        abort();
}

static void check_timestamp(const char *text)
{
    int64_t ms;
    int64_t back;
    char printed[32];

    if (!parse_timestamp(text, &ms))
        return;
    format_timestamp(ms, printed);
    /* A time zone offset can move the first and the last day to a year without four digits. */
    if (strlen(printed) != 20)
        return;
    if (!parse_timestamp(printed, &back) || back > ms || ms - back >= 1000)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(free_cleanup) char *text = xmemdup0((const char *)data, size);
    char printed[32];
    int64_t any_ms = 0;

    check_int64(text);
    check_uint(text, UINT64_MAX);
    check_uint(text, size > 0 ? data[0] : 0);
    check_quantity(text);
    check_timestamp(text);
    memcpy(&any_ms, text, size < sizeof(any_ms) ? size : sizeof(any_ms));
    format_timestamp(any_ms, printed);
    return 0;
}
