/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/rule.h"

typedef void collisions_change_fn(struct name_collisions *c, struct entry *entry,
                                  struct entry_list *affected);

static void change_collisions(struct graph *g, struct name_collisions *c, struct entry *entry,
                              collisions_change_fn *fn)
{
    CLEANUP(entry_list_release) struct entry_list affected = {0};

    fn(c, entry, &affected);
    for (size_t i = 0; i < affected.count; i++)
        graph_mark(g, affected.items[i]);
}

void rule_collisions_add(struct graph *g, struct name_collisions *c, struct entry *entry)
{
    change_collisions(g, c, entry, name_collisions_add);
}

void rule_collisions_remove(struct graph *g, struct name_collisions *c, struct entry *entry)
{
    change_collisions(g, c, entry, name_collisions_remove);
}
