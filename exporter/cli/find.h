/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/cli/verb.h"
#include "exporter/evaluation.h"

/*
 * The object that somebody names (object_name.h): from the store, else read alone at the API
 * server, else, of a template that cannot be had, its binding. `classes` has a bit for each enum
 * object_class that may be meant. Of what is read the engine has decided. NULL with the reason and
 * the exit status if there is none of these.
 */
const struct entry *find_or_fetch(struct evaluation *e, unsigned classes, const char *typed,
                                  enum exit_status *status, struct error *err) MUST_USE;
