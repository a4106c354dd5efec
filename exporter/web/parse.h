/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/web/config.h"

/*
 * Parse the text of the web configuration file at this path, strictly: what the schema does not
 * have, and what would not do what it seems to, is an error with its place. No error holds a
 * password, a hash or a key. On failure `out` is as after web_config_release().
 */
bool web_config_parse(const char *path, const char *text, size_t len, struct web_config *out,
                      struct error *err) MUST_USE;
