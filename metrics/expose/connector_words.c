/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/connector_words.h"

#include "metrics/model/store.h"

static void add_sharers(const struct engine *e, const struct entry *entry, struct strbuf *out)
{
    const struct entry *first = NULL;
    size_t count = engine_sharers(e, entry, &first, 1);

    if (count > 0)
        strbuf_addf(out, ": %s %s/%s", entry_kind(first), entry_ns(first), first->name);
    if (count > 1)
        strbuf_addf(out, " and %zu more", count - 1);
}

static void add_holder(const struct entry *lease, struct strbuf *out)
{
    const struct lease_decision *d = lease ? lease_decision(lease) : NULL;

    if (d && d->holder_ns)
        strbuf_addf(out, ": the namespace %s", d->holder_ns);
    else if (d)
        strbuf_addf(out, ": the id %s", entry_lease(lease)->holder);
}

void connector_subject_add(const struct engine *e, const struct entry *entry,
                           enum connector_conflict conflict, struct strbuf *out)
{
    if (conflict == CONNECTOR_DUPLICATE_IDENTITY)
        add_sharers(e, entry, out);
    else if (conflict == CONNECTOR_REFUSED || conflict == CONNECTOR_SILENT)
        add_holder(engine_lease_of(e, entry), out);
    else if (conflict == CONNECTOR_UNKNOWN_HOLDER)
        add_holder(entry, out);
}
