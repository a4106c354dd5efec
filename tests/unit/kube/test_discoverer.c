/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/kube_source.h"

#include "tests/unit/manual.h"
#include "tests/unit/suite.h"

enum { RETRY_MS = 1000, SPREAD_MS = 3000, INTERVAL_MS = 30 * 1000 };

#define CONTENT_TYPE "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

struct lab {
    struct transfer transfer;
    struct log log;
    char *text; /* Log lines. */
    size_t len;
    struct reflector_context context;
    struct discoverer discoverer;
};

static void lab_init(struct lab *lab)
{
    *lab = (struct lab){.log = {.level = LOG_LEVEL_WARN}};
    lab->log.stream = open_memstream(&lab->text, &lab->len);
    assert_non_null(lab->log.stream);
    lab->context = (struct reflector_context){
        .transport = manual_transport(&lab->transfer),
        .log = &lab->log,
        .now_ms = 1000,
    };
    discoverer_init(&lab->discoverer, &lab->context);
}

static void lab_release(struct lab *lab)
{
    discoverer_release(&lab->discoverer);
    fclose(lab->log.stream);
    free(lab->text);
}

/* Advances the time until a round is due, and fails its requests. */
static void fail_round(struct lab *lab)
{
    struct transport_result lost = {.error = "lost"};
    unsigned failures = lab->discoverer.failures;

    if (lab->context.now_ms < discoverer_due(&lab->discoverer))
        lab->context.now_ms = discoverer_due(&lab->discoverer);
    while (lab->discoverer.failures == failures) {
        discoverer_turn(&lab->discoverer);
        lab->transfer.handler.done(lab->transfer.handler.context, &lost);
    }
}

/* Answers the two requests of a round with empty lists of API groups. */
static void answer_round(struct lab *lab)
{
    static const char body[] = "{\"kind\":\"APIGroupDiscoveryList\",\"items\":[]}";
    struct transport_result answered = {
        .complete = true, .http_status = 200, .content_type = CONTENT_TYPE, .error = ""};

    for (unsigned i = 0; i < 2; i++) {
        struct transport_handler *handler = &lab->transfer.handler;

        discoverer_turn(&lab->discoverer);
        assert_true(handler->data(handler->context, 200, body, strlen(body)));
        handler->done(handler->context, &answered);
    }
    assert_int_equal(lab->discoverer.failures, 0);
}

static unsigned count_log_lines(struct lab *lab)
{
    unsigned count = 0;

    fflush(lab->log.stream);
    for (const char *at = lab->text; (at = strchr(at, '\n')) != NULL; at++)
        count++;
    return count;
}

TEST(only_the_second_failure_in_a_row_is_logged)
{
    struct lab lab;

    lab_init(&lab);
    fail_round(&lab);
    assert_int_equal(count_log_lines(&lab), 0);
    fail_round(&lab);
    assert_int_equal(count_log_lines(&lab), 1);
    assert_non_null(strstr(lab.text, "no kind is known so far"));
    fail_round(&lab);
    fail_round(&lab);
    assert_int_equal(count_log_lines(&lab), 1);
    lab_release(&lab);
}

TEST(failed_discovery_is_retried_once_the_server_recovers)
{
    struct lab lab;

    lab_init(&lab);
    for (unsigned i = 0; i < 4; i++)
        fail_round(&lab);
    assert_true(discoverer_due(&lab.discoverer) >= lab.context.now_ms + 8 * RETRY_MS);
    lab.context.recovered_ms = lab.context.now_ms + 1;
    discoverer_turn(&lab.discoverer);
    assert_int_equal(discoverer_due(&lab.discoverer), lab.context.now_ms + RETRY_MS);
    lab_release(&lab);
}

TEST(successful_discovery_keeps_its_interval_after_a_recovery)
{
    struct lab lab;

    lab_init(&lab);
    answer_round(&lab);
    lab.context.recovered_ms = lab.context.now_ms + 1;
    discoverer_turn(&lab.discoverer);
    assert_in_range(discoverer_due(&lab.discoverer) - lab.context.now_ms, INTERVAL_MS,
                    INTERVAL_MS + SPREAD_MS);
    assert_int_equal(lab.transfer.requests, 2);
    lab_release(&lab);
}
