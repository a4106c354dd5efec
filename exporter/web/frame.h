/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/strbuf.h"

/*
 * What all pages for people have around their content: plain HTML without any script, one style
 * sheet, and links that are relative, so that they also work behind a proxy that adds a prefix.
 * Every page is one level below the root for that.
 */

/* THE table of the places that every page links to: the enumerator, its address and its name. */
#define FRAME_PLACES(PLACE)                                                                        \
    PLACE(OVERVIEW, "./", "Overview")                                                              \
    PLACE(TEMPLATES, "templates", "Templates")                                                     \
    PLACE(POLICIES, "policies", "Policies")                                                        \
    PLACE(CONFLICTS, "conflicts", "Conflicts")                                                     \
    PLACE(EXPORTER, "exporter", "Exporter")

#define FRAME_ENUMERATOR(id, address, name) FRAME_##id,
/* JSON_FRAME_ELSEWHERE: a page that is none of them. */
enum frame_place { FRAME_PLACES(FRAME_ENUMERATOR) JSON_FRAME_ELSEWHERE };

/* Begin a page, down to its heading: `title`, which is shown as it is. */
void frame_open(struct strbuf *out, enum frame_place place, const char *title);

/* End it. `now_ms`: the moment that it tells of, in milliseconds since the epoch; 0: of none. */
void frame_close(struct strbuf *out, int64_t now_ms);

/* A whole page that says what is wrong with a request, and where to go on. */
void json_frame_error(struct strbuf *out, const char *text);
