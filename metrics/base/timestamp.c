/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/base/timestamp.h"

enum { SECOND_MS = 1000, DAY_S = 24 * 3600, TIMESTAMP_ROOM = 32 };

/* Parses `digits` digits from *at on, and moves *at. Returns false if fewer, or out of range. */
static bool read_number(const char **at, unsigned digits, int min, int max, int *out)
{
    int value = 0;

    for (unsigned i = 0; i < digits; i++, (*at)++) {
        if (**at < '0' || **at > '9')
            return false;
        value = value * 10 + (**at - '0');
    }
    *out = value;
    return value >= min && value <= max;
}

static bool skip_char(const char **at, char c)
{
    if (**at != c)
        return false;
    (*at)++;
    return true;
}

/* Parses hour and minute such as "23:59", for a time of day or an offset. */
static bool read_hour_and_minute(const char **at, int *hour, int *minute)
{
    return read_number(at, 2, 0, 23, hour) && skip_char(at, ':') &&
           read_number(at, 2, 0, 59, minute);
}

static bool is_leap_year(int year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

/*
 * Returns the days from 1970-01-01 to a date in the Gregorian calendar; timegm() is ten times
 * slower, and each object has several times. Sets `valid` to false if the month lacks the day.
 */
static int64_t days_since_epoch(int year, int month, int day, bool *valid)
{
    static const int days_before_month[] = {0,   31,  59,  90,  120, 151, 181,
                                            212, 243, 273, 304, 334, 365};
    bool leap = is_leap_year(year);
    int length = days_before_month[month] - days_before_month[month - 1] + (leap && month == 2);
    /* Days of all years before `year`, counted from the year 0, which is a leap year. */
    int64_t before =
        year == 0 ? 0
                  : (int64_t)year * 365 + (year - 1) / 4 - (year - 1) / 100 + (year - 1) / 400 + 1;

    *valid = day <= length;
    return before + days_before_month[month - 1] + (leap && month > 2) + day - 1 - 719528;
}

/* Parses the date and time of day as UTC. */
static bool read_date_and_time(const char **at, int64_t *out_seconds)
{
    int year, month, day, hour, minute, second;
    bool valid;

    if (!read_number(at, 4, 0, 9999, &year) || !skip_char(at, '-') ||
        !read_number(at, 2, 1, 12, &month) || !skip_char(at, '-') ||
        !read_number(at, 2, 1, 31, &day) || !skip_char(at, 'T') ||
        !read_hour_and_minute(at, &hour, &minute) || !skip_char(at, ':') ||
        !read_number(at, 2, 0, 59, &second))
        return false;
    *out_seconds =
        days_since_epoch(year, month, day, &valid) * DAY_S + hour * 3600 + minute * 60 + second;
    return valid;
}

/* Parses an optional fraction: a point and at least one digit. */
static bool read_fraction(const char **at, int *out_ms)
{
    int weight = SECOND_MS;
    int ms = 0;
    const char *first;

    *out_ms = 0;
    if (!skip_char(at, '.'))
        return true;
    for (first = *at; **at >= '0' && **at <= '9'; (*at)++) {
        weight /= 10;
        ms += weight * (**at - '0');
    }
    *out_ms = ms;
    return *at > first;
}

static bool read_offset(const char **at, int *out_seconds)
{
    bool west = **at == '-';
    int hour;
    int minute;

    *out_seconds = 0;
    if (skip_char(at, 'Z'))
        return true;
    if ((!skip_char(at, '+') && !skip_char(at, '-')) || !read_hour_and_minute(at, &hour, &minute))
        return false;
    *out_seconds = (west ? -1 : 1) * (hour * 3600 + minute * 60);
    return true;
}

bool parse_timestamp(const char *rfc3339, int64_t *out_ms)
{
    const char *at = rfc3339;
    int64_t seconds;
    int offset;
    int ms;

    if (!read_date_and_time(&at, &seconds) || !read_fraction(&at, &ms) ||
        !read_offset(&at, &offset) || *at != '\0')
        return false;
    *out_ms = (seconds - offset) * SECOND_MS + ms;
    return true;
}

uint32_t timestamp_seconds(int64_t ms)
{
    return ms > 0 && ms / SECOND_MS <= UINT32_MAX ? (uint32_t)(ms / SECOND_MS) : 0;
}

/* Civil date in the proleptic Gregorian calendar. */
struct civil_date {
    int64_t year;
    unsigned month;
    unsigned day;
};

/* Converts days since the epoch. Years begin in March, so that a leap day is the last day. */
static struct civil_date date_of_days(int64_t days)
{
    enum { ERA_DAYS = 146097, ERA_YEARS = 400, EPOCH_DAYS = 719468 }; /* Days since 0000-03-01. */
    int64_t shifted = days + EPOCH_DAYS;
    int64_t era = (shifted >= 0 ? shifted : shifted - (ERA_DAYS - 1)) / ERA_DAYS;
    unsigned in_era = (unsigned)(shifted - era * ERA_DAYS);
    unsigned year = (in_era - in_era / 1460 + in_era / 36524 - in_era / (ERA_DAYS - 1)) / 365;
    unsigned in_year = in_era - (365 * year + year / 4 - year / 100);
    unsigned month = (5 * in_year + 2) / 153; /* March is 0. */

    return (struct civil_date){
        .year = era * ERA_YEARS + year + (month >= 10),
        .month = month < 10 ? month + 3 : month - 9,
        .day = in_year - (153 * month + 2) / 5 + 1,
    };
}

/* Writes two digits and a separator. */
static char *put_pair(char *to, unsigned value, char separator)
{
    *to++ = (char)('0' + value / 10);
    *to++ = (char)('0' + value % 10);
    *to++ = separator;
    return to;
}

void format_timestamp(int64_t ms, char out[static TIMESTAMP_ROOM])
{
    /* Division truncates toward zero, so times before the epoch need a correction. */
    int64_t seconds = ms / SECOND_MS - (ms % SECOND_MS < 0 ? 1 : 0);
    int64_t days = seconds / DAY_S - (seconds % DAY_S < 0 ? 1 : 0);
    unsigned in_day = (unsigned)(seconds - days * DAY_S);
    struct civil_date date = date_of_days(days);
    char *to = out;

    /* gmtime_r(), strftime() and snprintf() take most of the time of a list in protobuf. */
    if (date.year >= 0 && date.year <= 9999) {
        to = put_pair(to, (unsigned)date.year / 100, ' ') - 1;
        to = put_pair(to, (unsigned)date.year % 100, '-');
    } else {
        to += snprintf(out, TIMESTAMP_ROOM, "%04" PRId64 "-", date.year);
    }
    to = put_pair(to, date.month, '-');
    to = put_pair(to, date.day, 'T');
    to = put_pair(to, in_day / 3600, ':');
    to = put_pair(to, in_day / 60 % 60, ':');
    to = put_pair(to, in_day % 60, 'Z');
    *to = '\0';
}
