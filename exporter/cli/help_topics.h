/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/text/text_table.h"
#include "metrics/base/error.h"

/*
 * Topics of the command help, beside the commands: references from the tables of the program. A new
 * topic is a row of the table in help_topics.c.
 */
struct help_topic {
    const char *name;
    const char *summary;   /* One line. */
    const char *item_word; /* Noun for one entry, such as "problem". */
    size_t item_count;
    /* Returns the name of an entry. */
    const char *(*item_name)(size_t index);
    /* Appends the list of all entries. */
    void (*print_list)(struct output *o);
    /* Appends the details of one entry. */
    void (*print_item)(struct output *o, size_t index);
    /* Appends the page in exporter/docs/. */
    void (*add_markdown)(struct strbuf *out);
    void (*add_json)(struct strbuf *out);
};

/* Topics in the order of the help; `index` from 0. Returns NULL after the last one. */
const struct help_topic *help_topic_at(size_t index);

/* Returns the topic with this name; NULL if unknown. */
const struct help_topic *help_topic_find(const char *name);

/*
 * Appends the list of the topic, or the details of the entry `item` unless it is NULL. Returns
 * false with a near name if the topic has no such entry.
 */
bool help_topic_print(const struct help_topic *topic, const char *item, struct output *o,
                      struct error *err) MUST_USE;
