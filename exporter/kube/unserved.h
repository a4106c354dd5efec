/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/discovery.h"
#include "exporter/system/log.h"
#include "metrics/model/metadata.h"

/* The kinds that selectors name and that are not watched. */

struct unserved {
    char *api_version;
    char *kind;
    enum discovery_answer answer; /* Not DISCOVERY_SERVED. */
};

struct unserved_list {
    struct unserved *items;
    size_t count;
};

/* Add a kind, of which no name is given; `before` is the list before this round, so that the log
 * has each change once. */
void unserved_add(struct unserved_list *list, const struct identity *kind,
                  enum discovery_answer answer, const struct unserved_list *before,
                  const struct log *log);
void unserved_release(struct unserved_list *list);
