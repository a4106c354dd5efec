/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/text/check_result.h"
#include "exporter/web/form.h"

enum { COUNTS_MAX_BYTES = 4096 };

/* False: the call is refused. */
static bool read_fail_on(struct call *call, unsigned *out)
{
    const char *value = call->query.values[PARAMETER_FAIL_ON];
    struct error err;

    if (!value)
        return true;
    if (!option_value_set(out, OPTION_SET, fail_on_names, value, &err))
        fail_in(&err, "fail-on");
    else if (*out & ~(unsigned)FAIL_ON_CHECK)
        fail(&err, "fail-on: '%s' has consequences of a plan, and nothing is planned", value);
    else
        return true;
    api_refuse(call, MHD_HTTP_BAD_REQUEST, err.text);
    return false;
}

void api_report(struct call *call, const struct health *h)
{
    const struct evaluation *e = h->evaluation;
    struct strbuf counts = STRBUF_INIT(COUNTS_MAX_BYTES);
    unsigned fail_on = e->options.fail_on;
    struct review review;
    struct form form;
    size_t len;

    if (!form_read(call, &form) || !read_fail_on(call, &fail_on))
        return;
    review_make(&review, e);
    finding_counts_write(&review.counts, &counts);
    call->header = (struct call_header){FINDING_COUNTS_HEADER, strbuf_take(&counts, &len)};
    if (form.text) {
        struct output o = form_begin(call, &form);

        review_print(&review, fail_on, &o);
        form_end(call, &o);
    } else {
        evaluation_report(e, &call->body);
    }
    review_release(&review);
}
