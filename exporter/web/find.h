/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/web/api.h"
#include "metrics/model/store.h"

/*
 * The object of one of these classes (a bit for each enum object_class) that a call names by kind,
 * group, namespace and name. NULL if there is not just one, which is answered then, with what is
 * near.
 */
const struct entry *find_object(struct call *call, const struct health *h,
                                unsigned classes) MUST_USE;
