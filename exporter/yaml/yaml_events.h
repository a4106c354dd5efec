/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <yaml.h>

#include "metrics/base/json.h"

/*
 * libyaml's events. Every failure is one line of text with its place; after it
 * there are no more events.
 */
struct yaml_events {
    yaml_parser_t parser;
    const char *text;
    size_t len;
    struct json_position where; /* Of the failure. */
    struct error *err;          /* Where to write the reason; the caller's. */
    bool failed;
};

/* `text` is borrowed. */
void yaml_events_init(struct yaml_events *events, const char *text, size_t len);
void yaml_events_release(struct yaml_events *events);

/* False for bytes that libyaml would read as something other than UTF-8. Call first. */
bool yaml_events_check(struct yaml_events *events) MUST_USE;

/* The next event, which the caller gives to yaml_event_delete. */
bool yaml_events_next(struct yaml_events *events, yaml_event_t *out) MUST_USE;

/* Fail, at `mark`. Returns false. */
bool yaml_events_refuse(struct yaml_events *events, yaml_mark_t mark, const char *what);
