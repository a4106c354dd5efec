/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/evaluation.h"
#include "exporter/web/api/api.h"

void api_report(struct call *call, const struct health *h)
{
    evaluation_report(h->evaluation, &call->body);
}
