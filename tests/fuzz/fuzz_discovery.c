/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/discovery.h"
#include "exporter/kube/server_response.h"

/* A discovery round ends for every response body, and every body can be read as a Status. */

enum { REQUESTS_MAX = 100 * 1000 };

static void read_status(const char *body, size_t len)
{
    struct status status;

    status_read_body(body, len, &status);
    if (strnlen(status.message, sizeof(status.message)) == sizeof(status.message))
        abort();
    for (unsigned code = 100; code < 600; code += 99)
        (void)end_reason_of_response(code, &status);
    (void)end_reason_of_error(&status);
}

/* Answers every request of two rounds with the body: the second reuses results of the first. */
static void run_discovery(bool aggregated, const char *body, size_t len)
{
    struct discovery_reply reply = {
        .http_status = 200,
        .content_type = aggregated ? "application/json;g=apidiscovery.k8s.io;v=v2;"
                                     "as=APIGroupDiscoveryList"
                                   : "application/json",
        .body = body,
        .len = len,
    };
    struct discovery *d = discovery_new();
    const struct api_resource *resource;

    for (unsigned round = 0; round < 2; round++) {
        unsigned requests = 0;

        discovery_begin(d);
        while (discovery_path(d)) {
            if (++requests > REQUESTS_MAX)
                abort();
            if (discovery_receive(d, &reply))
                break;
        }
    }
    (void)discovery_find(d, "apps/v1", "Deployment", &resource);
    discovery_free(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* The exporter's response buffers end with a NUL. */
    CLEANUP(free_cleanup) char *body = xmemdup0((const char *)data, size);

    run_discovery(true, body, size);
    run_discovery(false, body, size);
    read_status(body, size);
    return 0;
}
