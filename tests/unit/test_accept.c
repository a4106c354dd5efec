/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/accept.h"

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

TEST_ROWS(gzip, gzip_cases, header)
{
    const struct gzip_case *c = *state;

    assert_int_equal(accept_gzip(c->header), c->gzip);
}
