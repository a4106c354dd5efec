/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/auth/exec_plugin.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/folder.h"
#include "tests/unit/suite.h"

/* Open descriptor without O_CLOEXEC; a plugin must not inherit it. */
#define LEAK      77
#define LEAK_TEXT "77"

/* A plugin that takes WAIT_MAX_MS or longer fails the test. */
enum { WAIT_MAX_MS = 20 * 1000, START_MS = 1000 };

static const char *const environment[] = {
    "PATH=/usr/bin:/bin", "INHERITED=yes", "OVERRULED=no", "KUBERNETES_EXEC_INFO=old", NULL,
};

static struct run_case {
    const char *name;
    const char *script; /* NULL: the file does not exist. */
    const char *hint;
    bool plain;           /* The file is not executable. */
    const char *output;   /* Standard output; NULL: the run fails. */
    const char *error;    /* NULL: the run succeeds. */
    const char *unwanted; /* Text that the error must not contain; may be NULL. */
} run_cases[] = {
    {
        .name = "standard output",
        .script = "#!/bin/sh\nprintf 'one\\ntwo'\n",
        .output = "one\ntwo",
    },
    {.name = "empty output", .script = "#!/bin/sh\nexit 0\n", .output = ""},
    {
        .name = "arguments are passed without a shell",
        .script = "#!/bin/sh\nprintf '%s|' \"$@\"\n",
        .output = "$HOME|a b|;|",
    },
    {
        .name = "variables: inherited, overridden and added",
        .script = "#!/bin/sh\nprintf '%s|' \"$INHERITED\" \"$OVERRULED\" \"$ADDED\" "
                  "\"$KUBERNETES_EXEC_INFO\" \"$HOME\"\n",
        .output = "yes|new|secret-value|{info}||",
    },
    {
        .name = "empty standard input, no inherited descriptors",
        .script = "#!/bin/sh\ncat\n[ -e /proc/$$/fd/" LEAK_TEXT " ] && echo inherited\nexit 0\n",
        .output = "",
    },
    {
        .name = "no signal is blocked",
        .script = "#!/bin/sh\ngrep -h SigBlk /proc/self/status\n",
        .output = "SigBlk:\t0000000000000000\n",
    },
    {
        .name = "a child process may outlive the plugin",
        .script = "#!/bin/sh\nprintf done\nsleep 30 &\n",
        .output = "done",
    },
    {
        .name = "a failure with a message",
        .script = "#!/bin/sh\necho first >&2\nprintf 'no\\tlogin\\n\\n' >&2\nexit 3\n",
        .hint = "install it",
        .error = "failed with exit code 3; its standard error ends in 'no\\x09login'",
        .unwanted = "install it",
    },
    {
        .name = "a failure without a message",
        .script = "#!/bin/sh\nexit 3\n",
        .error = "failed with exit code 3",
    },
    {
        .name = "a failure with a secret in its message",
        .script = "#!/bin/sh\necho \"bad: $ADDED\" >&2\nexit 3\n",
        .error = "failed with exit code 3",
        .unwanted = "bad",
    },
    {
        .name = "a failure with a token as output",
        .script = "#!/bin/sh\necho hidden-token\nexit 3\n",
        .error = "failed with exit code 3",
        .unwanted = "hidden",
    },
    {
        .name = "a failure with two tokens in its message",
        .script = "#!/bin/sh\necho eyJhbGciOiJSUzI1, eyJhbGciOiJSUzI1 >&2\nexit 3\n",
        .error = "failed with exit code 3; its standard error ends in "
                 "'****************, ****************'",
        .unwanted = "eyJ",
    },
    {
        .name = "a failure with an address in its message",
        .script = "#!/bin/sh\necho see https://login.example.com/v2 >&2\nexit 3\n",
        .error = "failed with exit code 3; its standard error ends in "
                 "'see https://login.example.com/v2'",
    },
    {
        .name = "a failure with many lines",
        .script = "#!/bin/sh\ni=0; while [ $i -lt 3000 ]; do echo \"line $i of many\"; i=$((i+1)); "
                  "done >&2\nexit 1\n",
        .error = "failed with exit code 1; its standard error ends in 'line 2999 of many'",
    },
    {
        .name = "a failure with one very long line",
        .script = "#!/bin/sh\nhead -c 300000 /dev/zero | tr '\\0' x >&2\nexit 1\n",
        .error = "failed with exit code 1",
        .unwanted = "xx",
    },
    {
        .name = "an end by a signal",
        .script = "#!/bin/sh\nkill -TERM $$\n",
        .error = "ended by signal 15",
    },
    {
        .name = "too much output",
        .script = "#!/bin/sh\nexec cat /dev/zero\n",
        .error = "killed: it printed more than 1048576 bytes",
    },
    {
        .name = "a missing file with an installHint",
        .hint = "run\n'brew install it'",
        .error =
            "cannot run it: No such file or directory; its installHint: run\\x0a'brew install it'",
    },
    {
        .name = "a file that is not executable",
        .script = "#!/bin/sh\n",
        .plain = true,
        .error = "cannot run it: Permission denied",
    },
    {
        .name = "a script without a #! line",
        .script = "printf x\n",
        .error = "cannot run it: Exec format error",
    },
    {
        .name = "exit code 127 with an installHint",
        .script = "#!/bin/sh\nexit 127\n",
        .hint = "install it",
        .error = "failed with exit code 127; its installHint: install it",
    },
};

struct fixture {
    char *folder;
    char *path;
    struct rest_config_exec exec;
    struct exec_plugin *plugin;
    struct strbuf output;
    struct error err;
};

static char *arguments[] = {(char[]){"$HOME"}, (char[]){"a b"}, (char[]){";"}};
static struct rest_config_pair variables[] = {
    {(char[]){"OVERRULED"}, (char[]){"new"}},
    {(char[]){"ADDED"}, (char[]){"secret-value"}},
    {(char[]){"KUBERNETES_EXEC_INFO"}, (char[]){"theirs"}},
};

static void create_plugin(struct fixture *s, const char *script, const char *hint)
{
    *s = (struct fixture){.folder = folder_make(), .output = STRBUF_INIT(0)};
    s->path = folder_path(s->folder, "plugin");
    if (script) {
        folder_write(s->folder, "plugin", script);
        assert_int_equal(chmod(s->path, 0755), 0);
    }
    s->exec = (struct rest_config_exec){
        .command = s->path,
        .args = arguments,
        .arg_count = ARRAY_LEN(arguments),
        .env = variables,
        .env_count = ARRAY_LEN(variables),
        .install_hint = hint ? xstrdup(hint) : NULL,
    };
    s->plugin = exec_plugin_new(&s->exec, environment);
}

static void free_fixture(struct fixture *s)
{
    exec_plugin_free(s->plugin);
    strbuf_release(&s->output);
    free(s->exec.install_hint);
    free(s->path);
    folder_remove(s->folder);
}

static void wait_for_descriptor(const struct fixture *s)
{
    struct pollfd fds[EXEC_FDS];
    size_t count = exec_plugin_fds(s->plugin, fds);

    assert_true(count > 0);
    assert_true(poll(fds, count, WAIT_MAX_MS) > 0);
}

/* Runs the plugin to its end, with a clock that stays at now_ms. */
static enum exec_state run_to_end(struct fixture *s, int64_t now_ms)
{
    enum exec_state state = exec_plugin_poll(s->plugin, now_ms, &s->output, &s->err);

    while (state == EXEC_RUNNING) {
        wait_for_descriptor(s);
        state = exec_plugin_poll(s->plugin, now_ms, &s->output, &s->err);
    }
    return state;
}

static void assert_error(const struct run_case *c, const struct fixture *s)
{
    assert_non_null(c->error);
    assert_string_equal(s->err.text, c->error);
    if (c->unwanted)
        assert_null(strstr(s->err.text, c->unwanted));
}

TEST_ROWS(run_yields_output_or_error, run_cases, name)
{
    const struct run_case *c = *state;
    struct pollfd fds[EXEC_FDS];
    struct fixture s;

    create_plugin(&s, c->script, c->hint);
    if (c->plain)
        assert_int_equal(chmod(s.path, 0644), 0);
    if (!exec_plugin_start(s.plugin, "{info}", START_MS, &s.err)) {
        assert_error(c, &s);
    } else if (run_to_end(&s, START_MS) == EXEC_ENDED) {
        assert_non_null(c->output);
        assert_string_equal(s.output.data, c->output);
    } else {
        assert_error(c, &s);
    }
    assert_int_equal(exec_plugin_fds(s.plugin, fds), 0);
    assert_true(exec_plugin_due(s.plugin) == INT64_MAX);
    assert_int_equal(exec_plugin_poll(s.plugin, START_MS, &s.output, &s.err), EXEC_IDLE);
    free_fixture(&s);
}

/* Returns true if the process exists and is no zombie, which has no command line. */
static bool is_running(const char *pid)
{
    char path[64];
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%.16s/cmdline", pid);
    file = fopen(path, "r");
    if (!file)
        return false;
    bool running = fgetc(file) != EOF;
    fclose(file);
    return running;
}

TEST(slow_plugin_is_killed_with_its_children)
{
    static const char expected[] = "killed after 60 seconds; its standard error ends in '";
    struct fixture s;

    /* The script's child keeps standard error open until it is killed. */
    create_plugin(&s, "#!/bin/sh\nsleep 300 &\necho $! >&2\nwait\n", NULL);
    assert_true(exec_plugin_start(s.plugin, "", START_MS, &s.err));
    wait_for_descriptor(&s);
    assert_int_equal(exec_plugin_poll(s.plugin, START_MS + EXEC_TIME_MAX_MS - 1, &s.output, &s.err),
                     EXEC_RUNNING);
    assert_true(exec_plugin_due(s.plugin) == START_MS + EXEC_TIME_MAX_MS);
    assert_int_equal(run_to_end(&s, START_MS + EXEC_TIME_MAX_MS), EXEC_FAILED);
    assert_memory_equal(s.err.text, expected, sizeof(expected) - 1);
    assert_true(s.err.text[sizeof(expected) - 1] >= '1' && s.err.text[sizeof(expected) - 1] <= '9');
    for (int i = 0; i < WAIT_MAX_MS / 10 && is_running(s.err.text + sizeof(expected) - 1); i++)
        poll(NULL, 0, 10);
    assert_false(is_running(s.err.text + sizeof(expected) - 1));
    free_fixture(&s);
}

/* Returns true if the process exists, even as a zombie. */
static bool process_exists(const char *pid)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%.16s", pid);
    return access(path, F_OK) == 0;
}

TEST(freeing_kills_the_process)
{
    struct fixture s;
    char pid[16];

    create_plugin(&s, "#!/bin/sh\nprintf '%s' $$ >&2\nexec sleep 300\n", NULL);
    assert_true(exec_plugin_start(s.plugin, "", START_MS, &s.err));
    struct pollfd fds[EXEC_FDS];
    assert_int_equal(exec_plugin_fds(s.plugin, fds), EXEC_FDS);
    wait_for_descriptor(&s);
    ssize_t len = read(fds[2].fd, pid, sizeof(pid) - 1);
    assert_true(len > 0);
    pid[len] = '\0';
    assert_true(process_exists(pid));
    exec_plugin_free(s.plugin);
    assert_false(process_exists(pid));
    s.plugin = NULL;
    free_fixture(&s);
}

TEST(plugin_can_run_again)
{
    struct fixture s;

    create_plugin(&s, "#!/bin/sh\nprintf x >>\"$0.count\"\ncat \"$0.count\"\n", NULL);
    for (int64_t i = 0; i < 2; i++) {
        assert_true(exec_plugin_start(s.plugin, "", START_MS, &s.err));
        strbuf_release(&s.output);
        assert_int_equal(run_to_end(&s, START_MS), EXEC_ENDED);
    }
    assert_string_equal(s.output.data, "xx");
    free_fixture(&s);
}

/* Blocks signals, as the exporter's loop does, and leaves a descriptor without O_CLOEXEC. */
static int block_signals_and_leak_descriptor(void **state)
{
    sigset_t set;

    (void)state;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGCHLD);
    if (dup2(STDERR_FILENO, LEAK) != LEAK)
        return -1;
    return sigprocmask(SIG_BLOCK, &set, NULL);
}

SUITE_WITH(block_signals_and_leak_descriptor, NULL);
