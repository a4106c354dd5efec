/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/pages/pages.h"
#include "metrics/expose/exposition.h"

/* Every series, for Prometheus. */
void metrics_page_write(const struct health *h, struct strbuf *out)
{
    exposition_write(h->registry, EXPOSITION_TEXT, h->evaluation != NULL, out);
}
