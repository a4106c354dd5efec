/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/files/intake.h"

#include "exporter/files/list.h"
#include "exporter/files/namespace_limit.h"
#include "exporter/files/state.h"

/* `name: y` and `name: 12` look like names; YAML reads a boolean and a number. */
static bool lacks_quotes(const cJSON *object, struct error *why)
{
    const cJSON *name = json_get(json_get(object, "metadata"), "name");

    if (!cJSON_IsBool(name) && !cJSON_IsNumber(name))
        return false;
    fail(why, "metadata.name is a %s: put it in quotes",
         cJSON_IsNumber(name) ? "number" : "boolean");
    return true;
}

/* Objects without a namespace were put into one that their definition, read now, gives none. */
static void read_guesses_again(struct manifests *m)
{
    for (size_t i = 0; i < m->tree.count; i++) {
        struct manifest_file *file = m->tree.files[i];

        /* The bytes of a pipe may be gone: there the definition has to come first. */
        if (file->guesses && (!file->once || file->spool >= 0))
            tree_mark(&m->tree, file);
    }
}

static bool put_object(struct manifests *m, cJSON *object, struct json_place place, struct error *why)
{
    scopes_place(&m->scopes, object, &m->current->guesses);
    if (scopes_learn(&m->scopes, object) && !m->put)
        read_guesses_again(m);
    if (m->filter && !namespace_limit_reads(m->filter, object))
        return true;
    return m->put ? m->put(m->put_context, object, why)
                  : declarations_put(&m->declarations, m->current, object, place, why);
}

void intake_object(void *context, cJSON *object, struct json_place place)
{
    struct manifests *m = context;
    struct json_position where = {place.line, 0};
    struct error why;

    if (!cJSON_IsObject(object) || list_item_inherits(object))
        problems_add(&m->found, PROBLEM_FOREIGN, where,
                     "neither apiVersion nor kind: not a Kubernetes object, skipped");
    else if (lacks_quotes(object, &why) || !put_object(m, object, place, &why))
        problems_add(&m->found, PROBLEM_REJECTED, where, why.text);
}
