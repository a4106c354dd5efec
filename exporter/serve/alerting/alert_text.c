/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/serve/alerting/alert_text.h"

#include <ctype.h>
#include <math.h>

#include "exporter/serve/alerting/promql.h"
#include "metrics/base/number.h"

enum {
    TEXT_MAX_BYTES = 64 * 1024, /* Of one value, or of a query. */
    DEPTH_MAX = 16,
    SHOWN_CHARS = 40,
    MINUTE = 60,
    HOUR = 60 * MINUTE,
    DAY = 24 * HOUR,
};

struct writer {
    const struct alert_text *about;
    struct strbuf *out;
    const struct vector_sample *row; /* Of a range. */
    size_t index;                    /* The row's place. */
    const char *dot;                 /* Of a with. */
    unsigned depth;
    struct error *err;
    bool failed;
};

/* What ended a part of the text: `{{ end }}`, `{{ else if ... }}`, or the end of all. */
struct part_end {
    const char *action; /* After its braces; NULL at the end of all. */
    const char *after;
};

static void give_up(struct writer *w, const char *at)
{
    if (!w->failed)
        fail(w->err, "no such template is known: '%.*s'", SHOWN_CHARS, at);
    w->failed = true;
}

/* True, and past it, if the word comes next. */
static bool accept(const char **at, const char *word)
{
    size_t len = strlen(word);

    *at += strspn(*at, " ");
    if (strncmp(*at, word, len) != 0 ||
        (isalnum((unsigned char)word[len - 1]) && isalnum((unsigned char)(*at)[len])))
        return false;
    *at += len;
    return true;
}

static void add_label(struct writer *w, const char **at, const struct label_list *labels,
                      struct strbuf *out)
{
    size_t len = 0;

    while (isalnum((unsigned char)(*at)[len]) || (*at)[len] == '_')
        len++;
    CLEANUP(free_cleanup) char *name = xmemdup0(*at, len);

    if (labels)
        strbuf_adds(out, label_list_get(labels, name));
    else
        give_up(w, *at);
    *at += len;
}

static void add_quoted(const char **at, struct strbuf *out)
{
    for ((*at)++; **at != '"' && **at != '\0'; (*at)++) {
        if (**at == '\\' && (*at)[1] != '\0')
            (*at)++;
        strbuf_addc(out, **at);
    }
    *at += **at == '"';
}

static void add_pipeline(struct writer *w, const char **at, struct strbuf *out);

/* Append one value as a text. */
static void add_operand(struct writer *w, const char **at, struct strbuf *out)
{
    char *end;

    if (accept(at, "$labels."))
        add_label(w, at, w->about->labels, out);
    else if (accept(at, "$row.Labels."))
        add_label(w, at, w->row ? &w->row->labels : NULL, out);
    else if (accept(at, "$row.Value"))
        strbuf_add_double(out, w->row ? w->row->value : NAN);
    else if (accept(at, "$value"))
        strbuf_add_double(out, w->about->value);
    else if (accept(at, "$i"))
        strbuf_adds(out, w->index > 0 ? "1" : "");
    else if (**at == '"')
        add_quoted(at, out);
    else if (accept(at, "(")) {
        add_pipeline(w, at, out);
        if (!accept(at, ")"))
            give_up(w, *at);
    } else if (accept(at, ".") && w->dot)
        strbuf_adds(out, w->dot);
    else {
        strbuf_add_double(out, strtod(*at, &end));
        if (end == *at)
            give_up(w, *at);
        *at = end;
    }
}

static void add_printf(struct writer *w, const char **at, struct strbuf *out)
{
    CLEANUP(strbuf_release) struct strbuf format = STRBUF_INIT(TEXT_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf value = STRBUF_INIT(TEXT_MAX_BYTES);

    add_operand(w, at, &format);
    for (const char *c = format.data; *c != '\0' && !w->failed; c++) {
        if (*c != '%') {
            strbuf_addc(out, *c);
            continue;
        }
        strbuf_reset(&value);
        add_operand(w, at, &value);
        if (accept(&c, "%.0f")) {
            strbuf_addf(out, "%.0f", strtod(value.data, NULL));
        } else if (accept(&c, "%v")) {
            strbuf_adds(out, value.data);
        } else if (accept(&c, "%q")) {
            strbuf_addc(out, '"');
            for (const char *v = value.data; *v != '\0'; v++)
                strbuf_addf(out, "%s%c", *v == '"' || *v == '\\' ? "\\" : "", *v);
            strbuf_addc(out, '"');
        } else {
            give_up(w, c);
        }
        c--;
    }
}

static void add_duration(double seconds, struct strbuf *out)
{
    const char *units[] = {"", "m", "u", "n"};
    unsigned unit = 0;

    if (isnan(seconds) || isinf(seconds) || seconds == 0) {
        strbuf_addf(out, "%.4g%s", seconds, seconds == 0 ? "s" : "");
        return;
    }
    if (fabs(seconds) < MINUTE) {
        while (fabs(seconds) < 1 && unit + 1 < ARRAY_LEN(units)) {
            seconds *= 1000;
            unit++;
        }
        strbuf_addf(out, "%.4g%ss", seconds, units[unit]);
        return;
    }
    int64_t whole = (int64_t)fabs(seconds);

    strbuf_adds(out, seconds < 0 ? "-" : "");
    if (whole >= DAY)
        strbuf_addf(out, "%" PRId64 "d ", whole / DAY);
    if (whole >= HOUR)
        strbuf_addf(out, "%" PRId64 "h ", whole / HOUR % 24);
    strbuf_addf(out, "%" PRId64 "m %" PRId64 "s", whole / MINUTE % 60, whole % 60);
}

/* A value, and what is made of it. Stops before what is not known. */
static void add_pipeline(struct writer *w, const char **at, struct strbuf *out)
{
    CLEANUP(strbuf_release) struct strbuf value = STRBUF_INIT(TEXT_MAX_BYTES);

    if (accept(at, "printf"))
        add_printf(w, at, &value);
    else
        add_operand(w, at, &value);
    if (accept(at, "| humanizeDuration"))
        add_duration(strtod(value.data, NULL), out);
    else if (accept(at, "| humanizePercentage"))
        strbuf_addf(out, "%.4g%%", strtod(value.data, NULL) * 100);
    else
        strbuf_adds(out, value.data);
    if (!strbuf_ok(&value))
        give_up(w, "a text that is too long");
}

/* `eq A B ...`: does A equal any other? Else: is the value not empty? */
static bool holds(struct writer *w, const char *at)
{
    CLEANUP(strbuf_release) struct strbuf value = STRBUF_INIT(TEXT_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf other = STRBUF_INIT(TEXT_MAX_BYTES);
    bool equal = accept(&at, "eq");
    bool found = false;

    add_operand(w, &at, &value);
    while (equal && !found && !w->failed && !accept(&at, "}") && !accept(&at, "-}")) {
        strbuf_reset(&other);
        add_operand(w, &at, &other);
        found = strcmp(value.data, other.data) == 0;
    }
    return equal ? found : value.len > 0;
}

static struct part_end write_part(struct writer *w, const char *at, bool shown);

/* The parts of an if or a with, from the action that begins it; answers what is behind its end. */
static const char *write_choice(struct writer *w, const char *action, const char *after, bool shown)
{
    CLEANUP(strbuf_release) struct strbuf value = STRBUF_INIT(TEXT_MAX_BYTES);
    const char *dot = w->dot;
    struct part_end end = {action, after};
    bool done = false;

    while (end.action) {
        const char *word = end.action;
        bool otherwise = accept(&word, "else");
        bool with = !otherwise && accept(&word, "with");
        bool condition = !with && accept(&word, "if");

        if (accept(&word, "end"))
            return end.after;
        if (with) {
            add_operand(w, &word, &value);
            w->dot = value.data;
        }
        bool now =
            shown && !done && !w->failed && (with ? value.len > 0 : !condition || holds(w, word));

        done |= now;
        end = write_part(w, end.after, now);
        w->dot = dot;
    }
    give_up(w, "{{ end }} is missing");
    return end.after;
}

static int by_label(const void *a, const void *b, void *name)
{
    const struct vector_sample *left = a;
    const struct vector_sample *right = b;
    int order = strcmp(label_list_get(&left->labels, name), label_list_get(&right->labels, name));

    return order != 0 ? order : label_list_compare(&left->labels, &right->labels);
}

/* `range $i, $row := QUERY | query | sortByLabel "NAME"`: answers what is behind its end. */
static const char *write_rows(struct writer *w, const char *action, const char *after, bool shown)
{
    CLEANUP(strbuf_release) struct strbuf query = STRBUF_INIT(TEXT_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf label = STRBUF_INIT(TEXT_MAX_BYTES);
    struct part_end end;

    if (!accept(&action, "range $i, $row :=")) {
        give_up(w, action);
        return after;
    }
    add_pipeline(w, &action, &query);
    if (!accept(&action, "| query | sortByLabel"))
        give_up(w, action);
    else
        add_operand(w, &action, &label);
    struct promql *parsed = w->failed ? NULL : promql_parse(query.data, w->err);
    struct vector rows = {.items = NULL};

    w->failed |= !parsed;
    if (parsed && shown)
        rows = promql_eval(parsed, w->about->store, w->about->now_ms);
    if (rows.count > 0)
        qsort_r(rows.items, rows.count, sizeof(struct vector_sample), by_label, label.data);
    for (w->index = 0; w->index < rows.count; w->index++) {
        w->row = &rows.items[w->index];
        (void)write_part(w, after, true);
    }
    w->row = &(const struct vector_sample){.value = 0};
    end = write_part(w, after, false);
    w->row = NULL;
    vector_release(&rows);
    promql_free(parsed);
    return end.after;
}

/* Write, if it is shown, up to what ends the part that begins here. */
static struct part_end write_part(struct writer *w, const char *at, bool shown)
{
    CLEANUP(strbuf_release) struct strbuf nothing = STRBUF_INIT(TEXT_MAX_BYTES);
    struct part_end end = {NULL, at};

    if (w->depth++ > DEPTH_MAX)
        give_up(w, at);
    while (!w->failed) {
        const char *open = strstr(at, "{{");
        size_t len = open ? (size_t)(open - at) : strlen(at);
        const char *close = open ? strstr(open, "}}") : NULL;

        /* Blanks before "{{-" and after "-}}" are not written. */
        while (close && open[2] == '-' && len > 0 && at[len - 1] == ' ')
            len--;
        if (shown)
            strbuf_add(w->out, at, len);
        if (!close)
            break;
        const char *action = open + 2 + (open[2] == '-');
        const char *word = action;

        at = close + 2;
        if (close[-1] == '-')
            at += strspn(at, " ");
        if (accept(&word, "end") || accept(&word, "else")) {
            end = (struct part_end){action, at};
            break;
        }
        if (accept(&word, "if") || accept(&word, "with"))
            at = write_choice(w, action, at, shown);
        else if (accept(&word, "range"))
            at = write_rows(w, action, at, shown);
        else {
            add_pipeline(w, &word, shown ? w->out : &nothing);
            if (!accept(&word, "}}") && !accept(&word, "-}}"))
                give_up(w, word);
        }
    }
    w->depth--;
    return end;
}

bool alert_text_write(const struct alert_text *about, const char *text, struct strbuf *out,
                      struct error *err)
{
    struct writer w = {.about = about, .out = out, .err = err};

    if (write_part(&w, text, true).action)
        give_up(&w, "an end without a beginning");
    return !w.failed;
}
