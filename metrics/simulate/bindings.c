/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/simulate/bindings.h"

#include "metrics/model/object.h"

struct entry *bindings_entry(struct play *play, const struct entry *template)
{
    CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(BINDING_NAME_MAX);
    const char *ns = entry_ns(template);
    const struct kind_def *def = kind_binding(!*ns);

    binding_name(entry_kind(template), template->name, &name);
    return store_refer(play_context(play)->store,
                       &(struct identity){def->api_version, def->name, ns, name.data});
}

bool bindings_is_of(const struct binding *b, const struct entry *template)
{
    const struct type *type = template->partition->type;

    return b->api_version == type->api_version && b->kind == type->kind &&
           b->ns == entry_ns(template) && strcmp(b->name, template->name) == 0 &&
           !uid_hashes_differ(b->uid_hash, entry_template(template)->uid_hash);
}

static struct binding *keep_copy(struct play *play, const struct binding *b)
{
    struct binding *copy = play_keep(play, xmalloc(sizeof(*copy)));

    *copy = *b;
    return copy;
}

struct binding *bindings_copy(struct play *play, const struct binding *old)
{
    return keep_copy(play, old);
}

struct binding *bindings_make(struct play *play, const struct entry *template)
{
    const struct type *type = template->partition->type;

    return keep_copy(play, &(struct binding){
                               .api_version = type->api_version,
                               .kind = type->kind,
                               .ns = entry_ns(template),
                               .name = template->name,
                               .uid_hash = entry_template(template)->uid_hash,
                           });
}

void bindings_follow(struct binding *b, const struct template *t)
{
    b->resource_version = t->resource_version;
    b->uid_hash = t->uid_hash;
    b->delivered_generation = 0;
    b->write = (struct binding_write){0}; /* Whatever it was, this one comes after the template. */
}
