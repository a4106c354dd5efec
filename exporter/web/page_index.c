/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/page_index.h"

#define PAGE_ROW(id, handler, path, content_type, write) {handler, content_type, write},

const struct page_def page_defs[PAGE_COUNT] = {PAGES(PAGE_ROW)};
