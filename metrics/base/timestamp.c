/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/base/timestamp.h"

enum {
    SECOND_MS = 1000,
    DAY_SECONDS = 86400,
    /* The Gregorian calendar repeats after 400 years. */
    ERA_YEARS = 400,
    ERA_DAYS = 146097,
    /* From the first of March of the year 0 to the epoch. */
    EPOCH_DAYS = 719468,
};

struct date {
    int64_t year;
    unsigned month;
    unsigned day;
};

/* Division that rounds down, for times before the epoch. */
static int64_t floor_div(int64_t value, int64_t by)
{
    return value / by - (value % by < 0 ? 1 : 0);
}

/*
 * Days before the month, in a year that begins with March: then the leap day is
 * the last one, and 153 days pass in each five months.
 */
static unsigned days_before_month(unsigned months_since_march)
{
    return (153 * months_since_march + 2) / 5;
}

static int64_t days_since_epoch(struct date date)
{
    int64_t year = date.month > 2 ? date.year : date.year - 1;
    unsigned month = (date.month + 9) % 12;
    int64_t era = floor_div(year, ERA_YEARS);
    int64_t year_of_era = year - era * ERA_YEARS;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 +
                         days_before_month(month) + date.day - 1;

    return era * ERA_DAYS + day_of_era - EPOCH_DAYS;
}

static struct date date_of(int64_t days)
{
    int64_t era = floor_div(days + EPOCH_DAYS, ERA_DAYS);
    unsigned day_of_era = (unsigned)(days + EPOCH_DAYS - era * ERA_DAYS);
    /* Take the leap days out: one each 4 years, none each 100, and the last day of the era. */
    unsigned year =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / (ERA_DAYS - 1)) / 365;
    unsigned day_of_year = day_of_era - (365 * year + year / 4 - year / 100);
    unsigned month = (5 * day_of_year + 2) / 153;
    bool next_year = month >= 10;

    return (struct date){
        .year = era * ERA_YEARS + year + (next_year ? 1 : 0),
        .month = next_year ? month - 9 : month + 3,
        .day = day_of_year - days_before_month(month) + 1,
    };
}

static unsigned days_in_month(unsigned year, unsigned month)
{
    static const unsigned char days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

    return month == 2 && leap ? 29 : days[month - 1];
}

/* Read exactly `digits` digits, in range, and step past them. */
static bool take_number(const char **at, unsigned digits, unsigned min, unsigned max, unsigned *out)
{
    unsigned value = 0;

    for (unsigned i = 0; i < digits; i++, (*at)++) {
        if (**at < '0' || **at > '9')
            return false;
        value = value * 10 + (unsigned)(**at - '0');
    }
    *out = value;
    return value >= min && value <= max;
}

static bool take_char(const char **at, char c)
{
    if (**at != c)
        return false;
    (*at)++;
    return true;
}

static bool take_date(const char **at, int64_t *out_days)
{
    unsigned year;
    unsigned month;
    unsigned day;

    if (!take_number(at, 4, 0, 9999, &year) || !take_char(at, '-') ||
        !take_number(at, 2, 1, 12, &month) || !take_char(at, '-') ||
        !take_number(at, 2, 1, days_in_month(year, month), &day))
        return false;
    *out_days = days_since_epoch((struct date){year, month, day});
    return true;
}

static bool take_time(const char **at, unsigned *out_seconds)
{
    unsigned hour;
    unsigned minute;
    unsigned second;

    if (!take_number(at, 2, 0, 23, &hour) || !take_char(at, ':') ||
        !take_number(at, 2, 0, 59, &minute) || !take_char(at, ':') ||
        !take_number(at, 2, 0, 59, &second))
        return false;
    *out_seconds = hour * 3600 + minute * 60 + second;
    return true;
}

/* A point and at least one digit, or nothing at all. */
static bool take_fraction(const char **at, unsigned *out_ms)
{
    unsigned weight = SECOND_MS;
    unsigned ms = 0;
    const char *first;

    *out_ms = 0;
    if (!take_char(at, '.'))
        return true;
    for (first = *at; **at >= '0' && **at <= '9'; (*at)++) {
        weight /= 10;
        ms += weight * (unsigned)(**at - '0');
    }
    *out_ms = ms;
    return *at > first;
}

static bool take_offset(const char **at, int64_t *out_seconds)
{
    unsigned hour;
    unsigned minute;

    *out_seconds = 0;
    if (take_char(at, 'Z'))
        return true;

    bool west = **at == '-';

    if ((!take_char(at, '+') && !take_char(at, '-')) || !take_number(at, 2, 0, 23, &hour) ||
        !take_char(at, ':') || !take_number(at, 2, 0, 59, &minute))
        return false;
    *out_seconds = (west ? -1 : 1) * (int64_t)(hour * 3600 + minute * 60);
    return true;
}

bool parse_timestamp(const char *rfc3339, int64_t *out_ms)
{
    const char *at = rfc3339;
    int64_t days;
    int64_t offset;
    unsigned seconds;
    unsigned ms;

    if (!take_date(&at, &days) || !take_char(&at, 'T') || !take_time(&at, &seconds) ||
        !take_fraction(&at, &ms) || !take_offset(&at, &offset) || *at != '\0')
        return false;
    *out_ms = (days * DAY_SECONDS + seconds - offset) * SECOND_MS + ms;
    return true;
}

void format_timestamp(int64_t ms, char out[static 32])
{
    int64_t seconds = floor_div(ms, SECOND_MS);
    int64_t days = floor_div(seconds, DAY_SECONDS);
    unsigned second = (unsigned)(seconds - days * DAY_SECONDS);
    struct date date = date_of(days);

    snprintf(out, 32, "%04" PRId64 "-%02u-%02uT%02u:%02u:%02uZ", date.year, date.month % 100,
             date.day % 100, second / 3600 % 100, second / 60 % 60, second % 60);
}
