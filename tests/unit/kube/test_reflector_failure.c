/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/reflector.h"

#include "tests/unit/suite.h"

TEST(polling_of_a_resource_is_logged_once)
{
    char *text = NULL;
    size_t len = 0;
    struct log log = {.level = LOG_LEVEL_WARN, .stream = open_memstream(&text, &len)};
    struct reflector_context context = {.log = &log};
    struct reflector_failure failure = {
        .context = &context, .resource = "foos", .api_version = "v1"};

    assert_non_null(log.stream);
    reflector_failure_log_polling(&failure);
    fflush(log.stream);
    size_t logged_len = len;

    assert_non_null(strstr(text, "resource=foos"));
    assert_int_equal(context.health_version, 1);
    reflector_failure_log_polling(&failure);
    fclose(log.stream);
    assert_int_equal(len, logged_len);
    assert_int_equal(context.health_version, 1);
    free(text);
}
