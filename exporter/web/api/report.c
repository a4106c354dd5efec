/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/report.h"
#include "exporter/web/api/api.h"
#include "exporter/web/pages/pages.h"

void api_report(struct call *call, const struct health *h)
{
    report_of_sources(h->evaluation, &call->body);
}
