/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/error.h"
#include "metrics/base/strbuf.h"

/* Images of containers, and their change by an imageOverrider (Karmada: overrideImage). */

/* Change of one component of an image. Borrowed texts. */
struct image_change {
    const char *component; /* Registry, Repository or Tag. */
    const char *op;        /* add, replace or remove; another text changes nothing. */
    const char *value;     /* Ignored by remove. */
};

/*
 * Returns true if the change makes a valid image of every valid image: a component is replaced by a
 * valid one, or a registry or tag is removed.
 */
bool image_change_keeps_valid(const struct image_change *change);

/*
 * Appends the changed image to `out`. An image with tag and digest loses the digest. A tag that is
 * neither a valid tag nor a valid digest changes nothing. Returns false with the reason if Karmada
 * cannot parse the image, or the component is unknown.
 */
bool image_apply_change(const char *image, const struct image_change *change, struct strbuf *out,
                        struct error *err) MUST_USE;
