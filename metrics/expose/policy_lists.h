/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/expose/list_table.h"

/* Lists of policies and of dependency conflicts (list_table.h). */

/* Policies by kind, namespace and name. */
extern const struct list policy_list;

/*
 * Fields of dependencies with an observed or predicted conflict, by kind, namespace and name of the
 * dependency; one row for each field.
 */
extern const struct list conflict_list;
