/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/serve/announce.h"

void announce_adopted(const struct log *log, const struct options *before,
                      const struct evaluation *e)
{
    for (size_t i = 0; before && i < OPTION_COUNT; i++) {
        if (option_defs[i].needs_restart && !options_same(before, &e->options, &option_defs[i]))
            log_write(log, LOG_LEVEL_WARN, "option changed; restart to apply it", "option",
                      option_defs[i].name);
    }
    log_write(log, LOG_LEVEL_INFO, e->session ? "synced with the API server" : "read manifests",
              "files", LOG_NUMBER((int64_t)manifests_file_count(e->manifests)), "broken",
              LOG_NUMBER((int64_t)manifests_broken_count(e->manifests)), "templates",
              LOG_NUMBER((int64_t)store_object_count(e->store, CLASS_TEMPLATE)), "policies",
              LOG_NUMBER((int64_t)store_object_count(e->store, CLASS_POLICY)), "bindings",
              LOG_NUMBER((int64_t)store_object_count(e->store, CLASS_BINDING)));
}
