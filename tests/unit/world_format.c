/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/world_format.h"

#include "metrics/base/timestamp.h"
#include "tests/unit/reading.h"

enum { TEXT_MAX = 1 << 16 };

void world_put_format(struct world *w, const char *format, ...)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX);
    CLEANUP(json_cleanup) cJSON *json = NULL;
    va_list args;

    va_start(args, format);
    strbuf_vaddf(&text, format, args);
    va_end(args);
    json = json_of(text.data);
    world_put(w, json);
}

void world_put_cluster(struct world *w, const char *name, bool ready, int64_t now_ms)
{
    char time[32];

    format_timestamp(now_ms, time);
    world_put_format(
        w,
        "{'apiVersion':'cluster.karmada.io/v1alpha1','kind':'Cluster','metadata':{'name':'%s'},"
        "'status':{'conditions':[{'type':'Ready','status':'%s','lastTransitionTime':'%s'}]}}",
        name, ready ? "True" : "False", time);
}
