/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/files/json_file.h"

/*
 * Receive an object of the file that is being read: it is declared or handed out, or a problem.
 * The context is the struct manifests (state.h).
 */
void intake_object(void *context, cJSON *object, struct json_place place);
