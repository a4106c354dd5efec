/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CPU time of `check` for a large repository, relative to reading and parsing its files. Both
 * measurements alternate, so that a slow moment of the machine affects both.
 */
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exporter/cli/command.h"
#include "exporter/files/manifest_source.h"
#include "tests/bench/generate.h"
#include "tests/bench/measure.h"

enum { ROUNDS = 5, FILES = 10000, DEPLOYMENTS = 4, CONFIG_MAPS = 5, FILE_MAX = 1 << 20 };
/* A policy, and the objects that it selects or that these need. */
enum { OBJECTS_IN_FILE = 1 + DEPLOYMENTS + CONFIG_MAPS };

static const struct command *const commands[] = {&check_command, NULL};

static void add_deployment(struct strbuf *out, unsigned file, unsigned number)
{
    strbuf_addf(out,
                "---\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web-%u-%u\n"
                "  namespace: team-%u\n  labels:\n    app: web-%u\nspec:\n  replicas: 2\n"
                "  selector:\n    matchLabels:\n      app: web-%u\n  template:\n    metadata:\n"
                "      labels:\n        app: web-%u\n    spec:\n      containers:\n"
                "      - name: web\n        image: registry.example/web:1.0.%u\n        ports:\n"
                "        - containerPort: 8080\n        resources:\n          requests:\n"
                "            cpu: 100m\n            memory: 128Mi\n        envFrom:\n"
                "        - configMapRef:\n            name: settings-%u-%u\n",
                file, number, file % 100, file, file, file, number, file, number);
}

/* Writes the folder of one application as people write it. */
static void write_application(const char *directory, unsigned file)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(FILE_MAX);
    char name[32];

    strbuf_addf(&text,
                "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata:\n"
                "  name: web-%u\n  namespace: team-%u\nspec:\n  propagateDeps: true\n"
                "  resourceSelectors:\n  - apiVersion: apps/v1\n    kind: Deployment\n"
                "    labelSelector:\n      matchLabels:\n        app: web-%u\n  placement:\n"
                "    clusterAffinity:\n      clusterNames:\n      - member1\n      - member2\n",
                file, file % 100, file);
    for (unsigned i = 0; i < DEPLOYMENTS; i++)
        add_deployment(&text, file, i);
    for (unsigned i = 0; i < CONFIG_MAPS; i++)
        strbuf_addf(&text,
                    "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings-%u-%u\n"
                    "  namespace: team-%u\ndata:\n  level: info\n  settings: |\n    a: 1\n"
                    "    b: 2\n",
                    file, i, file % 100);
    snprintf(name, sizeof(name), "%05u.yaml", file);
    generate_file(directory, name, text.data);
}

static bool count_object(void *context, const cJSON *object, struct error *err)
{
    (void)object;
    (void)err;
    ++*(size_t *)context;
    return true;
}

static double seconds_of(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

/* Reads and parses all objects and keeps none. */
static void read_files(const char *directory)
{
    struct manifests *manifests =
        manifests_new(NULL, &directory, 1, "default", &manifest_limits_default);
    size_t objects = 0;
    struct error err;

    manifests_set_receiver(manifests, count_object, &objects);
    if (!manifests_load(manifests, &err) || objects != (size_t)FILES * OBJECTS_IN_FILE)
        abort();
    manifests_free(manifests);
}

/* Runs the whole command, from its arguments to its output. */
static void check_files(const char *directory)
{
    const char *const argv[] = {"check", "--fail-on=", directory};
    int out = open("/dev/null", O_WRONLY | O_CLOEXEC);

    if (commands_main(commands, "bench", ARRAY_LEN(argv), argv, out, STDERR_FILENO) != STATUS_OK)
        abort();
    close(out);
}

/* Returns the CPU time of a process that runs a function, until the kernel has freed its memory. */
static double measure_process(void (*run)(const char *directory), const char *directory)
{
    struct rusage usage;
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        run(directory);
        _exit(0);
    }
    if (pid < 0 || wait4(pid, &status, 0, &usage) != pid || status != 0)
        abort();
    return seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
}

int main(void)
{
    CLEANUP(generate_cleanup) char *directory = generate_directory();
    double ratios[ROUNDS];

    for (unsigned i = 0; i < FILES; i++)
        write_application(directory, i);
    printf("  %d files with %d objects\n", FILES, FILES * OBJECTS_IN_FILE);
    fflush(stdout);
    for (size_t i = 0; i < ROUNDS; i++) {
        double read = measure_process(read_files, directory);
        double check = measure_process(check_files, directory);

        ratios[i] = check / read;
        printf("  round %zu: read %.2f s, check %.2f s\n", i + 1, read, check);
    }
    measure_row("check / read and parse the files", ratios, ROUNDS, "x", 1.5);
    return 0;
}
