/* SPDX-License-Identifier: Apache-2.0 */

/*
 * follow SERVER CA_FILE TOKEN_FILE: runs the exporter's session with an API server, without the
 * rest of the exporter, against a server with faults. Standard input has one command per line:
 * "state" prints every object in the store, then "end"; "stats" prints one line of numbers. The
 * program ends with its input.
 */
#include <curl/curl.h>
#include <signal.h>
#include <unistd.h>

#include "exporter/kube/http/kube_client.h"
#include "exporter/kube/session.h"
#include "exporter/system/platform.h"
#include "metrics/model/policy.h"
#include "metrics/model/store.h"
#include "metrics/model/template.h"

enum { WAIT_MAX_MS = 1000 };

extern char **environ;

static void print_entry(const struct entry *entry)
{
    if (!entry_exists(entry))
        return;
    printf("%s/%s/%s", entry_kind(entry), entry_ns(entry), entry->name);
    if (entry_class(entry) == CLASS_TEMPLATE) {
        const struct labels labels = template_labels(entry_template(entry));

        printf("=%s", labels.count > 0 ? labels_at(&labels, 0).value : "");
    } else if (entry_class(entry) == CLASS_POLICY) {
        printf("=%d", entry_policy(entry)->priority);
    }
    printf("\n");
}

static void print_state(const struct store *store)
{
    for (const struct type *type = store_first_type(store); type; type = type->next) {
        for (const struct partition *partition = type->partitions; partition;
             partition = partition->next_of_type) {
            for (size_t i = 0; i < partition->count; i++)
                print_entry(partition_entry(partition, i));
        }
    }
    printf("end\n");
    fflush(stdout);
}

static void print_stats(const struct kube_session *session)
{
    const struct kube_source *s = kube_session_source(session);
    const struct kube_client *c = kube_session_client(session);
    unsigned synced = 0;
    uint64_t rejected = 0;

    for (size_t i = 0; i < kube_source_reflector_count(s); i++) {
        synced += kube_source_reflector(s, i)->synced;
        rejected += kube_source_reflector(s, i)->objects.rejected;
    }
    printf(
        "ready=%d reflectors=%zu synced=%u connections=%u streams=%u waiting=%u rejected=%" PRIu64
        " unserved=%zu\n",
        kube_source_ready(s), kube_source_reflector_count(s), synced,
        kube_client_count_connections(c), kube_client_count_answered(c),
        kube_client_count_unanswered(c), rejected, kube_source_unserved_kind_count(s));
    fflush(stdout);
}

/* Runs the commands that have arrived. Returns false at the end of the input, or on an error. */
static bool read_commands(const struct store *store, const struct kube_session *session)
{
    char bytes[256];
    ssize_t len = read(STDIN_FILENO, bytes, sizeof(bytes) - 1);

    if (len <= 0)
        return false;
    bytes[len] = '\0';
    for (char *save, *line = strtok_r(bytes, "\n", &save); line;
         line = strtok_r(NULL, "\n", &save)) {
        if (strcmp(line, "state") == 0)
            print_state(store);
        else if (strcmp(line, "stats") == 0)
            print_stats(session);
    }
    return true;
}

static void run_session(struct kube_session *session, struct store *store, struct engine *engine)
{
    for (bool more = true; more;) {
        struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};

        kube_session_turn(session, platform_steady_ms(), platform_now_ms());

        bool idle = engine_run(engine, platform_now_ms(), 256);
        int64_t now_ms = platform_steady_ms();
        int64_t due_ms = kube_session_due(session);
        int64_t wait_ms = due_ms > now_ms + WAIT_MAX_MS ? WAIT_MAX_MS : due_ms - now_ms;

        if (kube_session_poll(session, NULL, &input, 1, idle && wait_ms > 0 ? wait_ms : 0) &&
            (input.revents & (POLLIN | POLLHUP)) != 0)
            more = read_commands(store, session);
    }
}

int main(int argc, char **argv)
{
    struct error err = {""};

    if (argc != 4)
        return 2;
    signal(SIGPIPE, SIG_IGN);
    curl_global_init(CURL_GLOBAL_DEFAULT);

    struct rest_config config = {
        .origin = xstrdup("the arguments"),
        .server = xstrdup(argv[1]),
        .ca.file = xstrdup(argv[2]),
        .token_file = xstrdup(argv[3]),
    };
    struct log log = {.level = getenv("FOLLOW_DEBUG") ? LOG_LEVEL_DEBUG : LOG_LEVEL_ERROR,
                      .stream = stderr};
    struct namespace_filter filter = {.total_shards = 1};
    uint64_t seed = platform_random_seed();
    struct store *store = store_new(seed);
    struct engine *engine = engine_new(store, &rules_options_default, seed, &err);
    struct kube_session *session = kube_session_new(
        &(struct kube_session_settings){
            .config = &config,
            .environment = (const char *const *)environ,
            .store = store,
            .engine = engine,
            .filter = &filter,
            .log = &log,
            .seed = seed,
            .now_ms = platform_steady_ms(),
            .clock_ms = platform_now_ms(),
        },
        &err);

    if (session)
        run_session(session, store, engine);
    else
        fprintf(stderr, "follow: %s\n", err.text);
    kube_session_free(session);
    engine_free(engine);
    store_free(store);
    curl_global_cleanup();
    return session ? 0 : 1;
}
