/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/files/tree.h"

/*
 * Read inotify's events and look again at what they concern; with `apart` only mark what is to be
 * walked or read. False if there was no event.
 */
bool follow_pump(struct tree *t);
