/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/cli/command.h"

#include <sys/mman.h>
#include <unistd.h>

#include "exporter/system/file.h"
#include "metrics/base/strbuf.h"
#include "tests/unit/suite.h"

enum { ARGUMENTS_MAX = 6, TEXT_MAX = 64 * 1024 };

static const struct command *const commands[] = {COMMANDS(COMMAND_POINTER) NULL};

/* Command lines, with exit status and a part of standard output and standard error. */
static struct command_case {
    const char *name;
    const char *argv[ARGUMENTS_MAX];
    enum exit_status status;
    const char *out; /* Part of standard output, NULL if it is empty; likewise `err`. */
    const char *err;
} command_cases[] = {
    {"--help lists every command", {"--help"}, STATUS_OK, "  check       evaluate once", NULL},
    {"-h is --help", {"-h"}, STATUS_OK, "Usage: karmada-policy-exporter [COMMAND]", NULL},
    {"--help lists the exit statuses",
     {"--help"},
     STATUS_OK,
     "  1  problems that --fail-on names\n",
     NULL},
    {"--help of a command", {"check", "--help"}, STATUS_OK, "--fail-on PROBLEMS", NULL},
    {"--help before the command", {"--help", "check"}, STATUS_OK, "--fail-on PROBLEMS", NULL},
    {"--help shows the defaults", {"serve", "--help"}, STATUS_OK, "(default /metrics)", NULL},
    {"--help marks flags that may be repeated",
     {"serve", "--help"},
     STATUS_OK,
     "may be given several times)",
     NULL},
    {"--version", {"--version"}, STATUS_OK, "karmada-policy-exporter, version 0.", NULL},
    {"--version of a command", {"check", "--version"}, STATUS_OK, "libcurl:", NULL},
    {"help is --help", {"help"}, STATUS_OK, "  serve       run the exporter: follow changes", NULL},
    {"help of a command", {"help", "check"}, STATUS_OK, "--fail-on PROBLEMS", NULL},
    {"help of an unknown command",
     {"help", "chekc"},
     STATUS_USAGE,
     NULL,
     "unknown command or topic 'chekc'; did you mean 'check'?\n"},
    {"help of an unknown topic",
     {"help", "problem"},
     STATUS_USAGE,
     NULL,
     "unknown command or topic 'problem'; did you mean 'problems'?\n"},
    {"help lists topics", {"help"}, STATUS_OK, "\n  problems  problems with severity", NULL},
    {"list of a topic",
     {"help", "problems"},
     STATUS_OK,
     "not_propagated              warning   15m    KarmadaNotPropagated\n",
     NULL},
    {"entry of a topic",
     {"help", "problems", "policy_unused"},
     STATUS_OK,
     "    Cause: The policy selects no template.\n",
     NULL},
    {"hidden problem",
     {"help", "problems", "policy_unused"},
     STATUS_OK,
     "Hidden by: policy_invalid\n",
     NULL},
    {"unknown entry",
     {"help", "problems", "policy_unusd"},
     STATUS_USAGE,
     NULL,
     "unknown problem 'policy_unusd'; did you mean 'policy_unused'?\n"},
    {"unlike any entry",
     {"help", "api", "weather"},
     STATUS_USAGE,
     NULL,
     "unknown endpoint 'weather'; 'help api' lists all\n"},
    {"topic as JSON",
     {"help", "problems", "-o", "json"},
     STATUS_OK,
     "\"patienceSeconds\":60",
     NULL},
    {"entry as JSON",
     {"help", "problems", "policy_unused", "-o", "json"},
     STATUS_USAGE,
     NULL,
     "--output prints the whole topic: omit 'policy_unused'\n"},
    {"endpoint without its path",
     {"help", "api", "stale"},
     STATUS_OK,
     "/api/v1/stale (GET, HEAD)",
     NULL},
    {"topic as Markdown",
     {"help", "api", "-omarkdown"},
     STATUS_OK,
     "\n## /api/v1/plan\n\nPOST: ",
     NULL},
    {"help of two commands",
     {"help", "check", "plan"},
     STATUS_USAGE,
     NULL,
     "takes one command, or"},
    {"help as JSON", {"help", "-o", "json"}, STATUS_USAGE, NULL, "json and yaml need a topic\n"},
    {"wide help",
     {"help", "-o", "wide"},
     STATUS_USAGE,
     NULL,
     "'help' prints no wide; its formats are table, json, yaml, markdown\n"},
    {"markdown of one command",
     {"help", "-omarkdown", "check"},
     STATUS_USAGE,
     NULL,
     "--output markdown describes all commands at once: omit the command\n"},
    {"the reference of options",
     {"help", "-omarkdown"},
     STATUS_OK,
     "| `--fail-on PROBLEMS` | `fail-on` | `warning,policy_tie` | check, plan | ",
     NULL},
    {"the reference marks options that need a restart",
     {"help", "-omarkdown"},
     STATUS_OK,
     "path of the metrics; changes with a restart only |\n",
     NULL},
    {"markdown of explain",
     {"explain", "-omarkdown"},
     STATUS_USAGE,
     NULL,
     "'explain' prints no markdown; its formats are table, json, yaml, wide\n"},
    {"JUnit of reconcile", {"reconcile", "-ojunit"}, STATUS_USAGE, NULL, "prints no junit; "},
    {"version is --version", {"version"}, STATUS_OK, "karmada-policy-exporter, version 0.", NULL},
    {"version with an argument", {"version", "x"}, STATUS_USAGE, NULL, "takes no arguments"},
    {"completion for bash",
     {"completion", "bash"},
     STATUS_OK,
     "\n    complete -o default -F ",
     NULL},
    {"completion for another shell",
     {"completion", "zsh"},
     STATUS_USAGE,
     NULL,
     "there is no script for 'zsh'; there is one for: bash\n"},
    {"completion for no shell",
     {"completion"},
     STATUS_USAGE,
     NULL,
     "to print a script for: bash\n"},
    {"a manual page", {"man"}, STATUS_OK, ".TH KARMADA", NULL},
    {"an unknown command",
     {"chekc"},
     STATUS_USAGE,
     NULL,
     "karmada-policy-exporter: unknown command 'chekc'; did you mean 'check'?\n"
     "See 'karmada-policy-exporter --help'.\n"},
    {"--help of an unknown command",
     {"frobnicate", "--help"},
     STATUS_USAGE,
     NULL,
     "unknown command 'frobnicate'\n"},
    {"an unknown flag",
     {"check", "--fail-no=x"},
     STATUS_USAGE,
     NULL,
     "unknown flag '--fail-no'; did you mean '--fail-on'?\n"
     "See 'karmada-policy-exporter check --help'.\n"},
    {"a flag of another command",
     {"serve", "--output", "json"},
     STATUS_USAGE,
     NULL,
     "'serve' takes no --output\nSee 'karmada-policy-exporter serve --help'.\n"},
    {"a flag that the default command does not take",
     {"--fail-on="},
     STATUS_USAGE,
     NULL,
     "'serve' takes no --fail-on\n"},
    {"an argument of serve",
     {"serve", "x.yaml"},
     STATUS_USAGE,
     NULL,
     "'serve' takes no arguments, and 'x.yaml' is one\n"},
    {"serve without a source",
     {"serve"},
     STATUS_USAGE,
     NULL,
     "no source: set manifests (--manifests PATH), or an API server (--kubeconfig "
     "FILE)\n"},
    {"serve is the default command", {NULL}, STATUS_USAGE, NULL, "no source: "},
    {"check without a source", {"check"}, STATUS_USAGE, NULL, "no source: "},
    {"check of an empty file",
     {"check", "/dev/null"},
     STATUS_USAGE,
     "with 0 templates",
     "the manifests contain no object: correct the PATH, or use --allow-empty\n"},
    {"check of an empty file that is allowed",
     {"check", "--allow-empty", "/dev/null"},
     STATUS_OK,
     "Found no problems.\n",
     NULL},
    {"check of a missing file",
     {"check", "/nonexistent"},
     STATUS_USAGE,
     "Found 1 warning; 1 fails this check. Not everything could be read.\n",
     NULL},
    {"JSON of a missing file",
     {"check", "-ojson", "/nonexistent"},
     STATUS_USAGE,
     "\"path\":\"/nonexistent\"",
     "/nonexistent: cannot open"},
    {"a missing configuration file",
     {"check", "--config.file=/nonexistent"},
     STATUS_USAGE,
     NULL,
     "--config.file: cannot open '/nonexistent'"},
};

static char *read_back(int fd)
{
    struct strbuf text = STRBUF_INIT(TEXT_MAX);
    struct error err;
    size_t len;

    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    assert_true(file_read_fd(fd, "output", &text, &err));
    close(fd);
    return strbuf_take(&text, &len);
}

static void assert_contains(const char *text, const char *wanted)
{
    if (!wanted)
        assert_string_equal(text, "");
    else if (!strstr(text, wanted))
        assert_string_equal(text, wanted);
}

TEST_ROWS(command_line_has_status_and_output, command_cases, name)
{
    const struct command_case *c = *state;
    int out = memfd_create("out", MFD_CLOEXEC);
    int err = memfd_create("err", MFD_CLOEXEC);
    int argc = 0;

    while (argc < ARGUMENTS_MAX && c->argv[argc])
        argc++;
    assert_true(out >= 0 && err >= 0);
    assert_int_equal(commands_main(commands, NULL, argc, c->argv, out, err), c->status);

    CLEANUP(free_cleanup) char *printed = read_back(out);
    CLEANUP(free_cleanup) char *errors = read_back(err);

    assert_contains(printed, c->out);
    assert_contains(errors, c->err);
}

/* Command lines of the kubectl plugin, `kubectl karmada-policy`. */
static struct plugin_case {
    const char *name;
    const char *argument;
    enum exit_status status;
    const char *out;
    const char *err;
} plugin_cases[] = {
    {"a plugin without a command prints help", NULL, STATUS_OK,
     "Usage: kubectl karmada-policy [COMMAND]", NULL},
    {"help is the plugin's default", NULL, STATUS_OK, "reference of a topic (the default)\n", NULL},
    {"help has the name of the plugin", "--help", STATUS_OK,
     "Flags of a command: kubectl karmada-policy COMMAND --help\n", NULL},
    {"errors have the name of the plugin", "chekc", STATUS_USAGE, NULL,
     "kubectl karmada-policy: unknown command 'chekc'; did you mean 'check'?\n"
     "See 'kubectl karmada-policy --help'.\n"},
    {"serve is not the plugin's default", "--web.enable-plan", STATUS_USAGE, NULL,
     "'help' takes no --web.enable-plan\n"},
};

TEST_ROWS(plugin_has_status_and_output, plugin_cases, name)
{
    const struct plugin_case *c = *state;
    const char *argv[] = {c->argument};
    int out = memfd_create("out", MFD_CLOEXEC);
    int err = memfd_create("err", MFD_CLOEXEC);

    assert_int_equal(
        commands_main(commands, "/bin/kubectl-karmada_policy", c->argument ? 1 : 0, argv, out, err),
        c->status);

    CLEANUP(free_cleanup) char *printed = read_back(out);
    CLEANUP(free_cleanup) char *errors = read_back(err);

    assert_contains(printed, c->out);
    assert_contains(errors, c->err);
}

TEST(every_line_of_help_fits_80_columns)
{
    for (size_t i = 0; commands[i]; i++) {
        const char *argv[] = {commands[i]->name, "--help"};
        int out = memfd_create("out", MFD_CLOEXEC);

        assert_int_equal(commands_main(commands, NULL, 2, argv, out, STDERR_FILENO), STATUS_OK);

        CLEANUP(free_cleanup) char *text = read_back(out);

        for (const char *line = text; *line != '\0';) {
            size_t len = strcspn(line, "\n");

            assert_in_range(len, 0, 80);
            line += len + (line[len] == '\n');
        }
    }
}

TEST(command_table_is_complete)
{
    unsigned bits = 0;

    for (size_t i = 0; commands[i]; i++) {
        assert_true(commands[i]->name && commands[i]->usage && commands[i]->summary &&
                    commands[i]->details);
        assert_non_null(commands[i]->run);
        assert_int_equal(bits & commands[i]->bit, 0);
        bits |= commands[i]->bit;
    }
    assert_int_equal(bits, COMMAND_ALL);
}

TEST(failed_write_is_an_error)
{
    const char *argv[] = {"--help"};
    int err = memfd_create("err", MFD_CLOEXEC);

    assert_int_equal(commands_main(commands, NULL, 1, argv, -1, err), STATUS_USAGE);

    CLEANUP(free_cleanup) char *errors = read_back(err);

    assert_contains(errors, "cannot write the output: Bad file descriptor\n");
}

/* Tests must not use an API server or a terminal width from the environment. */
static int clear_environment(void **state)
{
    (void)state;
    setenv("HOME", "/nonexistent", 1);
    unsetenv("KUBECONFIG");
    unsetenv("KUBERNETES_SERVICE_HOST");
    unsetenv("COLUMNS");
    return 0;
}

SUITE_WITH(clear_environment, NULL);
