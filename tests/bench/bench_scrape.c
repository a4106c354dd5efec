/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scrapes while files change: eight clients take the page of a large folder of
 * manifests, gzipped and on a kept connection as Prometheus does, while a file of it is
 * replaced ten times a second.
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
    CLIENTS = 8,
    SECONDS = 10,
    PAUSE_US = 50 * 1000,
    SCRAPES_MAX = 1000,
    CHANGES = SECONDS * 10,
    PORT = 19187,
    ANSWER_MAX = 8 << 20,
};

static const struct generated world = {.templates = 100000, .policies = 1000, .namespaces = 100};

struct client {
    pthread_t thread;
    double *latencies_ms;
    size_t count;
    size_t page_bytes;
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

/* The length of the whole answer once its headers are there; 0 before. */
static size_t answer_len(const char *answer)
{
    static const char header[] = "Content-Length: ";
    const char *end = strstr(answer, "\r\n\r\n");
    const char *length = strstr(answer, header);

    if (!end || !length || strncmp(answer, "HTTP/1.1 200", 12) != 0)
        return 0;
    return (size_t)(end + 4 - answer) + strtoull(length + sizeof(header) - 1, NULL, 10);
}

/* One scrape; its size, or 0 if it failed. */
static size_t scrape(int fd, char *answer)
{
    static const char request[] = "GET /metrics HTTP/1.1\r\nHost: bench\r\n"
                                  "Accept-Encoding: gzip\r\n\r\n";
    size_t got = 0, want = 0;

    if (write(fd, request, sizeof(request) - 1) < 0)
        return 0;
    while (want == 0 || got < want) {
        ssize_t n = read(fd, answer + got, ANSWER_MAX - got - 1);

        if (n <= 0)
            return 0;
        got += (size_t)n;
        answer[got] = '\0';
        want = want ? want : answer_len(answer);
    }
    return got;
}

static void *run_client(void *context)
{
    CLEANUP(free_cleanup) char *answer = xmalloc(ANSWER_MAX);
    struct client *client = context;
    double end = measure_wall_s() + SECONDS;
    int fd = connect_to_exporter();

    while (measure_wall_s() < end && client->count < SCRAPES_MAX) {
        double start = measure_wall_s();

        client->page_bytes = scrape(fd, answer);
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

/* Until the page tells of what was loaded. */
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

/* A policy whose priority is another one each time: the page follows. */
static void change_files(const char *directory)
{
    for (unsigned i = 0; i < CHANGES; i++) {
        CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(1 << 16);

        generate_policy(&text, &world, i % 10, i % 2 ? "member1" : "member2");
        generate_file(directory, "changing.json", text.data);
        usleep(SECONDS * 1000 * 1000 / CHANGES);
    }
}

int main(void)
{
    CLEANUP(generate_cleanup) char *directory = generate_directory();
    static double latencies_ms[CLIENTS * SCRAPES_MAX];
    struct client clients[CLIENTS];
    size_t count = 0;

    generate_list(&world, directory, "list.json");
    pid_t exporter = start_exporter(directory);
    wait_until_ready();
    for (size_t i = 0; i < CLIENTS; i++) {
        clients[i] = (struct client){.latencies_ms = xcalloc(SCRAPES_MAX, sizeof(double))};
        if (pthread_create(&clients[i].thread, NULL, run_client, &clients[i]) != 0)
            abort();
    }
    change_files(directory);
    for (size_t i = 0; i < CLIENTS; i++) {
        pthread_join(clients[i].thread, NULL);
        memcpy(latencies_ms + count, clients[i].latencies_ms, clients[i].count * sizeof(double));
        count += clients[i].count;
        free(clients[i].latencies_ms);
    }
    kill(exporter, SIGTERM);
    waitpid(exporter, NULL, 0);

    double median = measure_median(latencies_ms, count);
    printf("  %zu scrapes of %.2f MB (gzipped) by %d clients, median %.2f ms\n", count,
           (double)clients[0].page_bytes / 1e6, CLIENTS, median);
    measure_print("scrape, 99th percentile, 8 clients while files change",
                  latencies_ms[count * 99 / 100], "ms", 5);
    return 0;
}
