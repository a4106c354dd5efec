/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/text/text_table.h"
#include "exporter/web/api.h"
#include "metrics/model/store.h"

/* In which form an answer is wanted that a verb prints: as a document, or as text for people. */
struct form {
    bool text;
    unsigned width; /* Of the text, in columns; 0: any. */
};

/* What `format` and `width` ask for. False: the call is refused. */
bool form_read(struct call *call, struct form *out) MUST_USE;

/* Begin a text without colours in the body of the call, which form_end() gives back. */
struct output form_begin(struct call *call, const struct form *form) MUST_USE;
void form_end(struct call *call, const struct output *o);

/*
 * The object of one of these classes (a bit for each enum object_class) that a call names by kind,
 * group, namespace and name. NULL if there is not just one, which is answered then, with what is
 * near.
 */
const struct entry *find_object(struct call *call, const struct health *h,
                                unsigned classes) MUST_USE;
