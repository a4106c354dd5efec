/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/system/http_request.h"

#include "tests/unit/suite.h"

TEST(url_beyond_64_kib_is_not_requested)
{
    static char base[] = "http://127.0.0.1:1"; /* A closed port. */
    const struct server_url server = {.base = base};
    CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT(SIZE_MAX);
    CLEANUP(strbuf_release) struct strbuf body = STRBUF_INIT(1024);

    strbuf_addc(&path, '/');
    while (path.len < 64 * 1024 - strlen(base))
        strbuf_addc(&path, 'a');
    for (int over = 0; over < 2; over++) {
        CURL *easy = http_request_new(
            &(struct http_request){.server = &server, .path = path.data, .body = &body});

        assert_int_equal(curl_easy_perform(easy),
                         over ? CURLE_URL_MALFORMAT : CURLE_COULDNT_CONNECT);
        curl_easy_cleanup(easy);
        strbuf_addc(&path, 'a');
    }
}
