/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Latency of scrapes on persistent connections, as Prometheus uses: by 1, 8 and 64 clients, plain
 * and gzipped; then by 8 clients while a manifest file is replaced ten times a second.
 */
#include <arpa/inet.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/bench/generate.h"
#include "tests/bench/measure.h"

enum {
    CLIENTS_MAX = 64,
    SECONDS = 10,
    PAUSE_US = 50 * 1000,
    SCRAPES_MAX = 1000,
    CHANGES = SECONDS * 10,
    PORT = 19187,
    ANSWER_MAX = 8 << 20,
};

static const struct generated world = {.templates = 100000, .policies = 1000, .namespaces = 500};

struct client {
    pthread_t thread;
    const char *encoding;
    double *latencies_ms;
    size_t count;
    size_t page_bytes;
};

/* Results of one run of clients. */
struct run {
    size_t count;
    size_t page_bytes;
    double median_ms;
    double late_ms; /* 99th percentile. */
};

static int connect_to_exporter(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(PORT)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
        return fd;
    close(fd);
    return -1;
}

/* Returns the length of the response; 0 while its headers are incomplete, or without status 200. */
static size_t read_answer_len(const char *answer)
{
    static const char header[] = "Content-Length: ";
    const char *end = strstr(answer, "\r\n\r\n");
    const char *length = strstr(answer, header);

    if (!end || !length || strncmp(answer, "HTTP/1.1 200", 12) != 0)
        return 0;
    return (size_t)(end + 4 - answer) + strtoull(length + sizeof(header) - 1, NULL, 10);
}

/* Scrapes once. Returns the size of the response, including its headers; 0 on failure. */
static size_t scrape(int fd, const char *encoding, char *answer)
{
    char request[128];
    size_t got = 0, want = 0;

    snprintf(request, sizeof(request),
             "GET /metrics HTTP/1.1\r\nHost: bench\r\nAccept-Encoding: %s\r\n\r\n", encoding);
    if (write(fd, request, strlen(request)) < 0)
        return 0;
    while (want == 0 || got < want) {
        ssize_t n = read(fd, answer + got, ANSWER_MAX - got - 1);

        if (n <= 0)
            return 0;
        got += (size_t)n;
        answer[got] = '\0';
        want = want ? want : read_answer_len(answer);
    }
    return got;
}

static void *run_client(void *context)
{
    CLEANUP(free_cleanup) char *answer = xmalloc(ANSWER_MAX);
    struct client *client = context;
    double end = measure_wall_s() + SECONDS;
    int fd = connect_to_exporter();

    /* Clients start at different times. */
    usleep((useconds_t)(random() % PAUSE_US));
    while (measure_wall_s() < end && client->count < SCRAPES_MAX) {
        double start = measure_wall_s();

        client->page_bytes = scrape(fd, client->encoding, answer);
        if (client->page_bytes == 0)
            abort();
        client->latencies_ms[client->count++] = (measure_wall_s() - start) * 1000;
        usleep(PAUSE_US);
    }
    close(fd);
    return NULL;
}

static pid_t start_exporter(const char *directory)
{
    const char *program = getenv("EXPORTER");
    char address[32];
    pid_t pid = fork();

    snprintf(address, sizeof(address), "127.0.0.1:%d", PORT);
    if (pid == 0) {
        execl(program ? program : "build/karmada-policy-exporter", "karmada-policy-exporter",
              "--manifests", directory, "--web.listen-address", address, "--log.level", "error",
              (char *)NULL);
        _exit(127);
    }
    return pid;
}

/* Waits until /-/ready responds with status 200. */
static void wait_until_ready(void)
{
    CLEANUP(free_cleanup) char *answer = xmalloc(ANSWER_MAX);
    static const char request[] = "GET /-/ready HTTP/1.0\r\nHost: bench\r\n\r\n";

    for (;;) {
        int fd = connect_to_exporter();
        ssize_t n = 0;

        if (fd >= 0 && write(fd, request, sizeof(request) - 1) > 0)
            n = read(fd, answer, ANSWER_MAX - 1);
        if (fd >= 0)
            close(fd);
        if (n > 12 && strncmp(answer + 9, "200", 3) == 0)
            return;
        usleep(PAUSE_US);
    }
}

/*
 * Replaces the manifest file ten times a second, for SECONDS. It has one policy, the next of ten:
 * those with odd numbers are on member1, the others on member2.
 */
static void change_files(const char *directory)
{
    for (unsigned i = 0; i < CHANGES; i++) {
        CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(1 << 16);

        generate_policy(&text, &world, i % 10, i % 2 ? "member1" : "member2");
        generate_file(directory, "changing.json", text.data);
        usleep(SECONDS * 1000 * 1000 / CHANGES);
    }
}

/* Runs `count` clients, and `meanwhile`, if not NULL, at the same time. */
static struct run run_clients(unsigned count, const char *encoding, void (*meanwhile)(const char *),
                              const char *directory)
{
    static double latencies_ms[CLIENTS_MAX * SCRAPES_MAX];
    struct client clients[CLIENTS_MAX];
    struct run run = {0};

    for (unsigned i = 0; i < count; i++) {
        clients[i] = (struct client){.encoding = encoding,
                                     .latencies_ms = xcalloc(SCRAPES_MAX, sizeof(double))};
        if (pthread_create(&clients[i].thread, NULL, run_client, &clients[i]) != 0)
            abort();
    }
    if (meanwhile)
        meanwhile(directory);
    for (unsigned i = 0; i < count; i++) {
        pthread_join(clients[i].thread, NULL);
        memcpy(latencies_ms + run.count, clients[i].latencies_ms,
               clients[i].count * sizeof(double));
        run.count += clients[i].count;
        free(clients[i].latencies_ms);
    }
    run.page_bytes = clients[0].page_bytes;
    run.median_ms = measure_median(latencies_ms, run.count);
    run.late_ms = latencies_ms[run.count * 99 / 100];
    return run;
}

static void measure_client_counts(const char *encoding)
{
    static const unsigned counts[] = {1, 8, CLIENTS_MAX};
    char title[80];
    struct run runs[ARRAY_LEN(counts)];

    for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
        runs[i] = run_clients(counts[i], encoding, NULL, NULL);
        printf("  %2u clients, %s: %5zu scrapes of %.3f MB, median %.2f ms, 99th percentile "
               "%.2f ms (%.1f and %.1f times that of one)\n",
               counts[i], encoding, runs[i].count, (double)runs[i].page_bytes / 1e6,
               runs[i].median_ms, runs[i].late_ms, runs[i].median_ms / runs[0].median_ms,
               runs[i].late_ms / runs[0].late_ms);
    }
    snprintf(title, sizeof(title), "99th percentile, %s, of 64 clients / of one", encoding);
    measure_print(title, runs[ARRAY_LEN(counts) - 1].late_ms / runs[0].late_ms, "x", 5);
}

int main(void)
{
    CLEANUP(generate_cleanup) char *directory = generate_directory();

    generate_list(&world, directory, "list.json");
    pid_t exporter = start_exporter(directory);
    wait_until_ready();
    measure_client_counts("identity");
    measure_client_counts("gzip");
    struct run run = run_clients(8, "gzip", change_files, directory);

    kill(exporter, SIGTERM);
    waitpid(exporter, NULL, 0);
    printf("  %zu scrapes of %.3f MB (gzipped) by 8 clients, median %.2f ms\n", run.count,
           (double)run.page_bytes / 1e6, run.median_ms);
    measure_print("scrape, 99th percentile, 8 clients while files change", run.late_ms, "ms", 5);
    return 0;
}
