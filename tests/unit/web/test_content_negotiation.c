/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/response.h"

#include "tests/unit/suite.h"

static struct gzip_case {
    const char *header;
    bool gzip;
} gzip_cases[] = {
    {NULL, false},
    {"", false},
    {"gzip", true},
    {"GZip", true},
    {"x-gzip", true},
    {"deflate, gzip", true},
    {"deflate,,  ,gzip", true},
    {"gzipped", false},
    {"xgzip, zgzip", false},
    {"gzi", false},
    {"br, zstd", false},
    {"gzip;q=0", false},
    {"gzip; q=0", false},
    {"gzip ; q = 0.000", false},
    {"gzip;Q=0", false},
    {"gzip;q=0.001", true},
    {"gzip;q=1.000", true},
    {"gzip;level=9;q=0", false},
    {"gzip;q=2", false},
    {"gzip;q=1.001", false},
    {"gzip;q=0.0001", false},
    {"gzip;q=-1", false},
    {"gzip;q=", false},
    {"gzip;q", false},
    {"gzip;q=x, gzip", true},
    {"*", true},
    {"*;q=0", false},
    {"gzip;q=0, *", false},
    {"gzip, *;q=0", true},
    {"identity", false},
    {"gzip;q=0.5, identity", false},
    {"gzip;q=0.5, identity;q=0.5", true},
    {"gzip;q=1.0, identity; q=0.5, *;q=0", true},
    {";,=;q=0,", false},
};

TEST_ROWS(accept_encoding_selects_gzip, gzip_cases, header)
{
    const struct gzip_case *c = *state;

    assert_int_equal(negotiate_gzip(c->header), c->gzip);
}

#define TEXT_0      "text/plain; version=0.0.4; charset=utf-8"
#define TEXT_1      "text/plain; version=1.0.0; charset=utf-8"
#define OPENMETRICS "application/openmetrics-text; version=1.0.0; charset=utf-8"

static struct media_case {
    const char *header;
    enum metrics_format metrics_format;
    const char *type;
} media_cases[] = {
    {NULL, METRICS_FORMAT_TEXT_0, TEXT_0},
    {"", METRICS_FORMAT_TEXT_0, TEXT_0},
    /* Headers of Prometheus 2.42, 2.53 and 3, and of telegraf, curl, Chrome and Firefox. */
    {"application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
     "text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
     METRICS_FORMAT_OPENMETRICS, OPENMETRICS},
    {"application/openmetrics-text;version=1.0.0;q=0.5,application/openmetrics-text;version=0.0.1;"
     "q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
     METRICS_FORMAT_OPENMETRICS, OPENMETRICS},
    {"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;"
     "q=0.6,application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,"
     "application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=1.0.0;"
     "escaping=allow-utf-8;q=0.3,text/plain;version=0.0.4;q=0.2,*/*;q=0.1",
     METRICS_FORMAT_OPENMETRICS, OPENMETRICS "; escaping=allow-utf-8"},
    {"text/plain;version=1.0.0;escaping=underscores;q=0.5,text/plain;version=0.0.4;q=0.3",
     METRICS_FORMAT_TEXT_1, TEXT_1 "; escaping=underscores"},
    {"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;"
     "q=0.7,text/plain;version=0.0.4;q=0.3",
     METRICS_FORMAT_TEXT_0, TEXT_0},
    {"*/*", METRICS_FORMAT_TEXT_0, TEXT_0},
    {"text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8",
     METRICS_FORMAT_TEXT_0, TEXT_0},
    /* Versions, weights and escaping schemes. */
    {"application/openmetrics-text", METRICS_FORMAT_OPENMETRICS, OPENMETRICS},
    {"Application/OpenMetrics-Text ; Version=1.0.0", METRICS_FORMAT_OPENMETRICS, OPENMETRICS},
    {"application/openmetrics-text;version=0.0.1", METRICS_FORMAT_TEXT_0, TEXT_0},
    {"application/openmetrics-text;version=2.0.0, text/plain;version=1.0.0;q=0.1",
     METRICS_FORMAT_TEXT_1, TEXT_1},
    {"application/openmetrics-text;q=0", METRICS_FORMAT_TEXT_0, TEXT_0},
    {"application/openmetrics-text;q=1.5,text/plain;version=1.0.0;q=0.1", METRICS_FORMAT_TEXT_1,
     TEXT_1},
    {"text/plain;q=0.5,application/openmetrics-text;q=0.5", METRICS_FORMAT_TEXT_0, TEXT_0},
    {"application/openmetrics-text;q=0.5,text/plain;q=0.5", METRICS_FORMAT_OPENMETRICS,
     OPENMETRICS},
    {"*/*;q=0.9,application/openmetrics-text;q=0.8", METRICS_FORMAT_TEXT_0, TEXT_0},
    {"text/plain;version=7;q=1,application/openmetrics-text;q=0.001", METRICS_FORMAT_OPENMETRICS,
     OPENMETRICS},
    {"application/openmetrics-text;escaping=Dots", METRICS_FORMAT_OPENMETRICS,
     OPENMETRICS "; escaping=dots"},
    {"application/openmetrics-text;escaping=\r\nX: y", METRICS_FORMAT_OPENMETRICS, OPENMETRICS},
    {"text/plain;version=0.0.4;escaping=values", METRICS_FORMAT_TEXT_0, TEXT_0},
    {"application/json", METRICS_FORMAT_TEXT_0, TEXT_0},
    {"text/plain;version=\"1.0.0\";escaping=\"underscores\"", METRICS_FORMAT_TEXT_1,
     TEXT_1 "; escaping=underscores"},
    {"application/openmetrics-text;version=\"", METRICS_FORMAT_TEXT_0, TEXT_0},
    {"application/openmetrics-text;version=\"\"", METRICS_FORMAT_OPENMETRICS, OPENMETRICS},
    {";,=;q=0,version=1.0.0", METRICS_FORMAT_TEXT_0, TEXT_0},
};

TEST_ROWS(accept_selects_the_media_type, media_cases, type)
{
    const struct media_case *c = *state;
    char type[METRICS_FORMAT_TYPE_MAX];

    assert_int_equal(negotiate_metrics_format(c->header, type), c->metrics_format);
    assert_string_equal(type, c->type);
}
