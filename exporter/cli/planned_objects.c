/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/cli/planned_objects.h"

#include "exporter/cli/load.h"
#include "metrics/base/json.h"
#include "metrics/model/store.h"

enum { WARNING_MAX_BYTES = 8192 };

void planned_objects_release(struct planned_objects *list)
{
    for (size_t i = 0; i < list->count; i++)
        cJSON_Delete(list->items[i].json);
    free(list->items);
    free(list->sorted);
    field_locator_free(list->locator);
    manifests_free(list->source);
}

static bool keep_object(void *context, const cJSON *object, struct error *err)
{
    struct planned_objects *list = context;
    struct planned_object kept = {.json = cJSON_Duplicate(object, true)};

    (void)err;
    if (!kept.json)
        memory_exhausted(0);
    kept.source = manifests_received_source(list->source);
    list->items = xreallocarray(list->items, list->count + 1, sizeof(*list->items));
    list->items[list->count++] = kept;
    return true;
}

void planned_objects_init(struct planned_objects *list, struct manifests *source)
{
    *list = (struct planned_objects){.source = source, .locator = field_locator_new(source)};
    manifests_set_receiver(source, keep_object, list);
}

bool planned_objects_read(struct planned_objects *list, message_fn *report, void *context)
{
    struct error err;
    bool fine = manifests_load(list->source, &err);

    if (!fine)
        report(context, err.text);
    for (size_t i = 0; i < manifests_problem_count(list->source); i++)
        fine &= !problem_kind_blocks_evaluation(manifests_problem(list->source, i).kind);
    load_report_problems(list->source, report, context);
    return fine;
}

static int compare_identities(const struct identity *a, const struct identity *b)
{
    int order = strcmp(a->name, b->name);

    order = order ? order : strcmp(a->ns, b->ns);
    order = order ? order : strcmp(a->kind, b->kind);
    return order ? order : strcmp(a->api_version, b->api_version);
}

/* Compares two objects by their identities, and then by their order. */
static int compare_planned(const void *a, const void *b)
{
    const struct planned_object *x = *(const struct planned_object *const *)a;
    const struct planned_object *y = *(const struct planned_object *const *)b;
    int order = (int)x->identified - (int)y->identified;

    if (order == 0 && x->identified)
        order = compare_identities(&x->id, &y->id);
    return order ? order : (x > y) - (x < y);
}

/* Reports a warning that `earlier` has no effect, because `last` declares the same object. */
static void warn_of_duplicate(const struct planned_object *earlier,
                              const struct planned_object *last, message_fn *report, void *context)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(WARNING_MAX_BYTES);
    const struct identity id = last->id;

    strbuf_addf(&text,
                "warning: %s:%zu: %s '%s%s%s' is declared again in '%s', line %zu; the plan uses "
                "that declaration",
                earlier->source.file->path, earlier->source.place.line, id.kind, id.ns,
                *id.ns ? "/" : "", id.name, last->source.file->path, last->source.place.line);
    report(context, text.data);
}

void planned_objects_sort(struct planned_objects *list)
{
    struct error ignored;

    free(list->sorted);
    list->sorted = xcalloc(list->count + 1, sizeof(struct planned_object *));
    for (size_t i = 0; i < list->count; i++) {
        struct planned_object *object = &list->items[i];

        object->identified = object->json && identity_read(object->json, &object->id, &ignored);
        list->sorted[i] = object;
    }
    qsort(list->sorted, list->count, sizeof(struct planned_object *), compare_planned);
}

void planned_objects_drop_duplicates(struct planned_objects *list, message_fn *report,
                                     void *context)
{
    struct planned_object **sorted;

    planned_objects_sort(list);
    sorted = list->sorted;
    for (size_t i = 0, last; i < list->count; i = last + 1) {
        last = i;
        /* Objects without identity come first. */
        while (sorted[i]->identified && last + 1 < list->count &&
               compare_identities(&sorted[i]->id, &sorted[last + 1]->id) == 0)
            last++;
        for (size_t k = i; k < last; k++) {
            warn_of_duplicate(sorted[k], sorted[last], report, context);
            cJSON_Delete(sorted[k]->json);
            sorted[k]->json = NULL;
        }
    }
    planned_objects_sort(list);
}

static int compare_with_planned(const void *identity, const void *planned)
{
    const struct planned_object *object = *(const struct planned_object *const *)planned;

    return object->identified ? compare_identities(identity, &object->id) : 1;
}

const struct planned_object *planned_objects_find(const struct planned_objects *list,
                                                  const struct identity *id)
{
    struct planned_object *const *found = bsearch(
        id, list->sorted, list->count, sizeof(struct planned_object *), compare_with_planned);

    return found ? *found : NULL;
}

bool planned_objects_find_field(const struct planned_objects *list, const struct identity *id,
                                const char *field, struct location *out)
{
    const struct planned_object *object = planned_objects_find(list, id);
    struct json_position at;

    if (!object)
        return false;
    at = field_locator_find(list->locator, &object->source, field);
    *out = (struct location){object->source.file->path, at.line, at.column};
    return true;
}
