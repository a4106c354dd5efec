/* SPDX-License-Identifier: Apache-2.0 */

/*
 * follow SERVER CA_FILE TOKEN_FILE [list]: the exporter's source and client without the rest of
 * it, for a server that misbehaves. Commands come in lines: "state" prints every object that is
 * known and "end", "stats" one line of numbers; the end of the input ends it.
 */
#include <signal.h>
#include <unistd.h>

#include "exporter/file.h"
#include "exporter/kube/client.h"
#include "exporter/kube/source.h"
#include "exporter/machine.h"
#include "metrics/base/map.h"
#include "metrics/model/policy.h"
#include "metrics/model/template.h"

enum { FILE_MAX = 1 << 20, WAIT_MAX_MS = 1000 };

struct keys {
    const char *ca_file;
    const char *token_file;
    struct strbuf ca;
};

static bool apply(void *context, CURL *easy, struct curl_slist **headers, struct error *err)
{
    struct keys *k = context;
    struct strbuf token = STRBUF_INIT(FILE_MAX);
    struct strbuf header = STRBUF_INIT(FILE_MAX);

    strbuf_reset(&k->ca);
    if (!file_read(k->ca_file, &k->ca, err) || !file_read(k->token_file, &token, err))
        return false;
    token.data[strcspn(token.data, "\r\n")] = '\0';
    strbuf_addf(&header, "Authorization: Bearer %s", token.data);
    *headers = curl_slist_append(*headers, header.data);

    struct curl_blob blob = {.data = k->ca.data, .len = k->ca.len, .flags = CURL_BLOB_COPY};
    curl_easy_setopt(easy, CURLOPT_CAINFO_BLOB, &blob);
    strbuf_release(&token);
    strbuf_release(&header);
    return true;
}

static void refused(void *context)
{
    (void)context;
}

static uint64_t version(void *context)
{
    struct keys *k = context;
    struct strbuf ca = STRBUF_INIT(FILE_MAX);
    struct error ignored;
    uint64_t hash = 0;

    if (file_read(k->ca_file, &ca, &ignored))
        hash = map_hash(ca.data, ca.len, 0);
    strbuf_release(&ca);
    return hash;
}

static void print_entry(const struct entry *entry)
{
    if (!entry->object)
        return;
    printf("%s/%s/%s", entry_kind(entry), entry_ns(entry), entry->name);
    if (entry_class(entry) == CLASS_TEMPLATE) {
        const struct template *t = entry->object;

        printf("=%s", t->labels.count > 0 ? t->labels.items[0].value : "");
    } else if (entry_class(entry) == CLASS_POLICY) {
        printf("=%d", ((const struct policy *)entry->object)->priority);
    }
    printf("\n");
}

static void print_state(const struct store *store)
{
    for (const struct type *type = store_types(store); type; type = type->next) {
        for (const struct scope *scope = type->scopes; scope; scope = scope->next_of_type) {
            for (size_t i = 0; i < scope->count; i++)
                print_entry(scope->entries[i]);
        }
    }
    printf("end\n");
    fflush(stdout);
}

static void print_stats(const struct client *c, const struct kube_source *s)
{
    unsigned synced = 0;
    uint64_t rejected = 0;

    for (size_t i = 0; i < kube_source_count(s); i++) {
        synced += kube_source_follower(s, i)->synced;
        rejected += kube_source_follower(s, i)->rejected;
    }
    printf("ready=%d followers=%zu synced=%u connections=%u streams=%u waiting=%u rejected=%" PRIu64
           " unserved=%zu\n",
           kube_source_ready(s), kube_source_count(s), synced, client_connections(c),
           client_streams(c), client_waiting(c), rejected, kube_source_unserved_count(s));
    fflush(stdout);
}

/* The commands that have come. False at the end of the input. */
static bool take_commands(const struct store *store, const struct client *c,
                          const struct kube_source *s)
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
            print_stats(c, s);
    }
    return true;
}

static void run(struct client *c, struct kube_source *s, struct store *store, struct engine *engine)
{
    for (bool more = true; more;) {
        struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};

        client_perform(c, machine_steady_ms());
        kube_source_turn(s, machine_steady_ms(), machine_now_ms());

        bool settled = engine_settle(engine, machine_now_ms(), 256);
        int64_t now_ms = machine_steady_ms();
        int64_t due_ms = client_due(c) < kube_source_due(s) ? client_due(c) : kube_source_due(s);
        int64_t wait_ms = due_ms > now_ms + WAIT_MAX_MS ? WAIT_MAX_MS : due_ms - now_ms;

        if (client_poll(c, &input, 1, settled && wait_ms > 0 ? wait_ms : 0) &&
            (input.revents & (POLLIN | POLLHUP)) != 0)
            more = take_commands(store, c, s);
    }
}

int main(int argc, char **argv)
{
    struct error err = {""};

    if (argc < 4)
        return 2;
    signal(SIGPIPE, SIG_IGN);
    curl_global_init(CURL_GLOBAL_DEFAULT);

    struct keys keys = {argv[2], argv[3], STRBUF_INIT(FILE_MAX)};
    struct log log = {.level = getenv("FOLLOW_DEBUG") ? LOG_LEVEL_DEBUG : LOG_LEVEL_ERROR,
                      .stream = stderr};
    struct scope_filter scope = {.total_shards = 1};
    uint64_t seed = machine_seed();
    struct store *store = store_new(seed);
    struct engine *engine = engine_new(store, &rules_options_default, seed, &err);
    struct client *client = client_new(
        &(struct client_settings){
            .server = argv[1],
            .user_agent = "karmada-policy-exporter/test",
            .identity = {apply, refused, version, &keys},
            .gzip = true,
        },
        machine_steady_ms());
    struct kube_source *source = kube_source_new(&(struct kube_settings){
        .store = store,
        .engine = engine,
        .scope = &scope,
        .log = &log,
        .transport = client_transport(client),
        .streaming_lists = argc < 5,
        .seed = seed,
        .now_ms = machine_steady_ms(),
        .clock_ms = machine_now_ms(),
    });

    run(client, source, store, engine);
    kube_source_free(source);
    client_free(client);
    engine_free(engine);
    store_free(store);
    strbuf_release(&keys.ca);
    curl_global_cleanup();
    return 0;
}
