/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/expose/writer.h"
#include "metrics/model/store.h"

/*
 * Where a template is on its way, as members of the open object: stage, delivery, Karmada's
 * message, and each member cluster under "targets".
 */
void report_put_way(struct writer *w, const struct entry *template);
