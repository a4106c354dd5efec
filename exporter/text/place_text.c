/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/text/place_text.h"

#include "exporter/text/object_name.h"
#include "metrics/expose/problem_parties.h"

enum { CELL_MAX_BYTES = 64 * 1024 };

void place_add(struct strbuf *out, const struct location *at)
{
    if (!at->file)
        return;
    strbuf_adds(out, at->file);
    if (at->line > 0)
        strbuf_addf(out, ":%zu", at->line);
    if (at->line > 0 && at->column > 0)
        strbuf_addf(out, ":%zu", at->column);
}

void place_add_of_subject(struct strbuf *out, const struct evaluation *e, const struct problem *p,
                          const struct entry *template)
{
    const struct location_source source = evaluation_locations(e);
    struct location at;

    if (p && problem_id(p) == PROBLEM_DUPLICATE_OBJECT)
        return;
    if (!(p ? problem_find_location(e->engine, p, &source, &at)
            : source.find(source.context, template, "metadata.name", &at)))
        return;
    /* A file that is the subject itself has its name in the text already. */
    if (!p || at.line > 0 || strcmp(at.file, problem_name(p)) != 0)
        place_add(out, &at);
}

/* A receiver of places. */
struct places_of_problem {
    struct place_list *places;
    const struct problem *problem;
};

static void add_place(void *context, const struct entry *related, const struct location *at)
{
    const struct places_of_problem *of = context;
    struct place_list *places = of->places;
    size_t stored =
        places->count < ARRAY_LEN(places->items) ? places->count : ARRAY_LEN(places->items);

    /* The policies set the values of a dependency, not the templates that require it. */
    if (!at || (problem_dependency_field(of->problem) < DEPENDENCY_FIELD_COUNT &&
                entry_class(related) == CLASS_TEMPLATE))
        return;
    for (size_t i = 0; i < stored; i++) {
        const struct place_of_object *known = &places->items[i];

        if (known->object == related && known->at.line == at->line &&
            known->at.column == at->column && strcmp(known->at.file, at->file) == 0)
            return;
    }
    if (stored < ARRAY_LEN(places->items))
        places->items[stored] = (struct place_of_object){related, *at};
    places->count++;
}

void place_list_add(struct place_list *places, const struct evaluation *e, const struct problem *p)
{
    const struct location_source source = evaluation_locations(e);

    if (problem_id(p) != PROBLEM_DUPLICATE_OBJECT)
        problem_each_object_location(e->engine, p, &source, add_place,
                                     &(struct places_of_problem){places, p});
}

static void add_row(struct table *t, const char *first, const char *last)
{
    table_add(t, STYLE_FAINT, first);
    for (size_t i = 1; i + 1 < t->column_count; i++)
        table_add(t, STYLE_PLAIN, "");
    table_add(t, STYLE_FAINT, last);
}

void place_list_add_rows(const struct place_list *places, struct table *t)
{
    CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(CELL_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf place = STRBUF_INIT(CELL_MAX_BYTES);

    for (size_t i = 0; i < places->count && i < ARRAY_LEN(places->items); i++) {
        strbuf_reset(&name);
        strbuf_reset(&place);
        strbuf_adds(&name, "with ");
        object_name_add(&name, places->items[i].object);
        place_add(&place, &places->items[i].at);
        add_row(t, name.data, place.data);
    }
    if (places->count > ARRAY_LEN(places->items))
        add_row(t, "and further objects: see --output json", "");
}
