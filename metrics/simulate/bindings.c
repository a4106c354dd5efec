/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/simulate/bindings.h"

#include "metrics/model/store.h"
#include "metrics/rules/object_index.h"

struct entry *bindings_entry(struct play *play, const struct entry *template)
{
    CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(BINDING_NAME_MAX);
    const struct identity of = {NULL, entry_kind(template), entry_ns(template), template->name};
    const struct identity id = binding_identity(&of, &name);

    return store_refer(play_context(play)->store, &id);
}

bool bindings_is_of(const struct binding *b, const struct entry *template)
{
    const struct type *type = template->partition->type;

    return b->api_version == type->api_version && b->kind == type->kind &&
           b->ns == entry_ns(template) && strcmp(b->name, template->name) == 0 &&
           !uid_hashes_differ(b->uid_hash, entry_template(template)->uid_hash);
}

struct binding *bindings_copy(struct play *play, const struct binding *old)
{
    struct binding *copy = play_keep(play, xmalloc(sizeof(*copy)));

    *copy = *old;
    return copy;
}

struct binding *bindings_make(struct play *play, const struct entry *template)
{
    const struct type *type = template->partition->type;

    return bindings_copy(play, &(struct binding){
                                   .api_version = type->api_version,
                                   .kind = type->kind,
                                   .ns = entry_ns(template),
                                   .name = template->name,
                                   .uid_hash = entry_template(template)->uid_hash,
                               });
}

void bindings_set_undetermined(struct binding *b, enum undetermined_reason reason)
{
    b->undetermined = (uint8_t)(1 + reason);
}

void bindings_follow(struct binding *b, const struct template *t)
{
    b->resource_version = t->resource_version;
    b->uid_hash = t->uid_hash;
    b->delivered_generation = 0;
    b->write = (struct binding_write){0}; /* Whatever it was, this one comes after the template. */
}
