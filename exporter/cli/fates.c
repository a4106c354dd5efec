/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/cli/fates.h"

#include "exporter/text/text_table.h"
#include "metrics/expose/report_parts.h"

enum { LINE_MAX_BYTES = 8192, WORD_COLUMNS = 8, BAR_COLUMNS = 40 };

#define FATE_WORD(id, word) word,
static const char *const words[FATE_COUNT] = {FATES(FATE_WORD)};

static const enum output_style styles[FATE_COUNT] = {
    [FATE_SKIPPED] = STYLE_CAUTION, [FATE_DONE] = STYLE_GOOD, [FATE_STOPPED] = STYLE_BAD};

void fates_init(struct fates *f, const struct reconcile_list *list, int out)
{
    *f = (struct fates){list, xcalloc(list->count + 1, sizeof(*f->items)), out};
}

void fates_release(struct fates *f)
{
    for (size_t i = 0; i < f->list->count; i++)
        free(f->items[i].reason);
    free(f->items);
    *f = (struct fates){0};
}

static void count(const struct fates *f, size_t counts[FATE_COUNT])
{
    memset(counts, 0, FATE_COUNT * sizeof(*counts));
    for (size_t i = 0; i < f->list->count; i++)
        counts[f->items[i].fate]++;
}

/* The new line stands where the bar was; the bar comes back below it. */
bool fates_set(struct fates *f, size_t at, enum fate fate, const char *reason)
{
    const struct entry *template = f->list->items[at].template;
    CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(LINE_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf safe = STRBUF_INIT(4 * LINE_MAX_BYTES);
    CLEANUP(output_release) struct output o;
    size_t counts[FATE_COUNT];
    struct error ignored;

    output_init(&o, f->out);
    f->items[at].fate = fate;
    free(f->items[at].reason);
    f->items[at].reason = reason ? xstrdup(reason) : NULL;
    if (f->out < 0)
        return true;
    strbuf_addf(&line, "%s %s%s%s%s%s", entry_kind(template), entry_ns(template),
                *entry_ns(template) ? "/" : "", template->name, reason ? ": " : "",
                reason ? reason : "");
    output_safe(&safe, line.data);
    strbuf_adds(&o.text, o.redraws ? "\r\033[K" : "");
    output_styled(&o, styles[fate], words[fate]);
    strbuf_addf(&o.text, "%*s", (int)(WORD_COLUMNS - strlen(words[fate])), "");
    output_wrap(&o.text, safe.data, WORD_COLUMNS, WORD_COLUMNS, o.width);
    strbuf_addc(&o.text, '\n');
    if (o.redraws) {
        count(f, counts);

        size_t total = f->list->count;
        size_t over = total - counts[FATE_NOT_BEGUN] - counts[FATE_WRITTEN];

        strbuf_addc(&o.text, '[');
        for (size_t i = 0; i < BAR_COLUMNS; i++)
            strbuf_addc(&o.text, i * total < over * BAR_COLUMNS ? '#' : '.');
        strbuf_addf(&o.text, "] %zu of %zu", over, total);
    }
    return output_flush(&o, f->out, &ignored);
}

void fates_summarise(struct fates *f, const char *how)
{
    static const char *const sayings[FATE_COUNT] = {
        [FATE_SKIPPED] = "skipped",
        [FATE_WRITTEN] = "written and not waited for",
        [FATE_STOPPED] = "stopped at",
        [FATE_NOT_BEGUN] = "not begun",
    };
    CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(LINE_MAX_BYTES);
    CLEANUP(output_release) struct output o;
    size_t counts[FATE_COUNT];
    struct error ignored;

    count(f, counts);
    strbuf_addf(&line, "%s: %zu of %zu done", how, counts[FATE_DONE], f->list->count);
    for (unsigned i = FATE_COUNT; i-- > 0;) {
        if (sayings[i] && counts[i] > 0)
            strbuf_addf(&line, ", %zu %s", counts[i], sayings[i]);
    }
    strbuf_adds(&line, counts[FATE_DONE] + counts[FATE_SKIPPED] == f->list->count
                           ? "."
                           : ". The same command goes on from here.");
    output_init(&o, f->out);
    strbuf_adds(&o.text, o.redraws ? "\r\033[K" : "");
    output_line(&o, 0, line.data);
    /* Whoever does not hear it has the exit status. */
    if (!output_flush(&o, f->out, &ignored))
        return;
}

void fates_write(const struct fates *f, struct json_writer *w)
{
    json_writer_open(w, "results", '[');
    for (size_t i = 0; i < f->list->count; i++) {
        const struct entry *template = f->list->items[i].template;

        json_writer_open(w, NULL, '{');
        report_put_identity(w, (struct identity){template->partition->type->api_version,
                                                 entry_kind(template), entry_ns(template),
                                                 template->name});
        json_writer_text(w, "result", words[f->items[i].fate]);
        json_writer_text(w, "reason", f->items[i].reason);
        json_writer_close(w, '}');
    }
    json_writer_close(w, ']');
}
