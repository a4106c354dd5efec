/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/text/check_places.h"

#include "exporter/text/object_name.h"

enum { CELL_MAX_BYTES = 64 * 1024 };

void check_place_add(struct strbuf *out, const struct location *at)
{
    strbuf_adds(out, at->file);
    if (at->line > 0)
        strbuf_addf(out, ":%zu", at->line);
    if (at->line > 0 && at->column > 0)
        strbuf_addf(out, ":%zu", at->column);
}

void check_place_add_subject(struct strbuf *out, const struct evaluation *e,
                             const struct problem *p, const struct entry *template)
{
    const struct location_source source = evaluation_locations(e);
    struct location at;

    if (p && problem_id(p) == PROBLEM_DUPLICATE_OBJECT)
        return;
    if (p ? problem_find_location(e->engine, p, &source, &at)
          : source.find(source.context, template, "metadata.name", &at))
        check_place_add(out, &at);
}

static void add_place(void *context, const struct entry *related, const struct location *at)
{
    struct related_places *places = context;
    size_t stored =
        places->count < ARRAY_LEN(places->items) ? places->count : ARRAY_LEN(places->items);

    if (!at)
        return;
    for (size_t i = 0; i < stored; i++) {
        const struct related_place *known = &places->items[i];

        if (known->object == related && known->at.line == at->line &&
            known->at.column == at->column && strcmp(known->at.file, at->file) == 0)
            return;
    }
    if (stored < ARRAY_LEN(places->items))
        places->items[stored] = (struct related_place){related, *at};
    places->count++;
}

void related_places_add(struct related_places *places, const struct evaluation *e,
                        const struct problem *p)
{
    const struct location_source source = evaluation_locations(e);

    if (problem_id(p) != PROBLEM_DUPLICATE_OBJECT)
        problem_each_object_location(e->engine, p, &source, add_place, places);
}

static void add_row(struct table *t, const char *first, const char *last)
{
    table_add(t, STYLE_FAINT, first);
    for (size_t i = 1; i + 1 < t->column_count; i++)
        table_add(t, STYLE_PLAIN, "");
    table_add(t, STYLE_FAINT, last);
}

void related_places_add_rows(const struct related_places *places, struct table *t)
{
    CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(CELL_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf place = STRBUF_INIT(CELL_MAX_BYTES);

    for (size_t i = 0; i < places->count && i < ARRAY_LEN(places->items); i++) {
        strbuf_reset(&name);
        strbuf_reset(&place);
        strbuf_adds(&name, "with ");
        object_name_add(&name, places->items[i].object);
        check_place_add(&place, &places->items[i].at);
        add_row(t, name.data, place.data);
    }
    if (places->count > ARRAY_LEN(places->items))
        add_row(t, "and further objects: see --output json", "");
}
