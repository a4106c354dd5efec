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

/*
 * The object of one of these classes (a bit for each enum object_class) that a call names by kind,
 * group, namespace and name. NULL if there is not just one, which is answered then, with what is
 * near.
 */
const struct entry *find_requested_object(struct queued_request *request, const struct health *h,
                                          unsigned classes) MUST_USE;
