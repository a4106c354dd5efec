/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/visit.h"

#include "exporter/web/request.h"

void visit_give_back(struct visit *v)
{
    if (v->turn)
        atomic_store(v->turn, false);
    v->turn = NULL;
}

void visit_end(struct visit *v)
{
    visit_give_back(v);
    call_free(v->call);
    strbuf_release(&v->content);
    memset(v, 0, sizeof(*v));
}

void visit_begin(struct visit *v, const char *uri)
{
    visit_end(v);
    v->target = wire_target_take(uri);
    v->content = STRBUF_INIT(request_manifests.content_max);
}

bool visit_begins(const struct visit *v)
{
    return v->state == VISIT_NEW;
}

void visit_take(struct visit *v, struct piece *piece, bool wanted, atomic_bool *turn)
{
    if (wanted && !v->turn && !v->dropped && !atomic_exchange(turn, true))
        v->turn = turn;
    if (v->turn)
        strbuf_add(&v->content, piece->bytes, piece->len);
    else
        v->dropped = true;
    piece->len = 0;
}
