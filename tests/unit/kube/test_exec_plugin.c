/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/auth/exec_plugin.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/folder.h"
#include "tests/unit/suite.h"

/* A descriptor that is open and would be inherited. */
#define LEAK      77
#define LEAK_TEXT "77"

/* That a test waits for so long is its failure. */
enum { PATIENCE_MS = 20 * 1000, START_MS = 1000 };

static const char *const environment[] = {
    "PATH=/usr/bin:/bin", "INHERITED=yes", "OVERRULED=no", "KUBERNETES_EXEC_INFO=old", NULL,
};

/* One row: a script, and what comes of it. '@' in texts is the script's path. */
static struct run_case {
    const char *name;
    const char *script; /* NULL: there is none. */
    const char *hint;
    bool plain;         /* A file that is not executable. */
    const char *output; /* What it printed, */
    const char *error;  /* or what the error says. */
    const char *silent; /* What the error must not say. */
} run_cases[] = {
    {
        .name = "what it prints",
        .script = "#!/bin/sh\nprintf 'one\\ntwo'\n",
        .output = "one\ntwo",
    },
    {.name = "nothing printed", .script = "#!/bin/sh\nexit 0\n", .output = ""},
    {
        .name = "arguments go as they are, no shell looks at them",
        .script = "#!/bin/sh\nprintf '%s|' \"$@\"\n",
        .output = "$HOME|a b|;|",
    },
    {
        .name = "the environment: inherited, overruled, and ours",
        .script = "#!/bin/sh\nprintf '%s|' \"$INHERITED\" \"$OVERRULED\" \"$ADDED\" "
                  "\"$KUBERNETES_EXEC_INFO\" \"$HOME\"\n",
        .output = "yes|new|secret-value|{info}||",
    },
    {
        .name = "nothing to read, and nothing inherited but the three",
        .script = "#!/bin/sh\ncat\n[ -e /proc/$$/fd/" LEAK_TEXT " ] && echo inherited\nexit 0\n",
        .output = "",
    },
    {
        .name = "no signal is held back",
        .script = "#!/bin/sh\ngrep -h SigBlk /proc/self/status\n",
        .output = "SigBlk:\t0000000000000000\n",
    },
    {
        .name = "what it started may live on",
        .script = "#!/bin/sh\nprintf done\nsleep 30 &\n",
        .output = "done",
    },
    {
        .name = "a failure, and its last word",
        .script = "#!/bin/sh\necho first >&2\nprintf 'no\\tlogin\\n\\n' >&2\nexit 3\n",
        .hint = "install it",
        .error = "it failed with exit code 3; its standard error ends in 'no\\x09login'",
        .silent = "install it",
    },
    {
        .name = "a failure without a word",
        .script = "#!/bin/sh\nexit 3\n",
        .error = "it failed with exit code 3",
    },
    {
        .name = "a failure that tells a secret",
        .script = "#!/bin/sh\necho \"bad: $ADDED\" >&2\nexit 3\n",
        .error = "it failed with exit code 3",
        .silent = "bad",
    },
    {
        .name = "a failure that prints a token",
        .script = "#!/bin/sh\necho hidden-token\nexit 3\n",
        .error = "it failed with exit code 3",
        .silent = "hidden",
    },
    {
        .name = "a failure with many words",
        .script = "#!/bin/sh\ni=0; while [ $i -lt 3000 ]; do echo \"line $i of many\"; i=$((i+1)); "
                  "done >&2\nexit 1\n",
        .error = "it failed with exit code 1; its standard error ends in 'line 2999 of many'",
    },
    {
        .name = "a failure with one endless word",
        .script = "#!/bin/sh\nhead -c 300000 /dev/zero | tr '\\0' x >&2\nexit 1\n",
        .error = "it failed with exit code 1",
        .silent = "xx",
    },
    {
        .name = "a signal",
        .script = "#!/bin/sh\nkill -TERM $$\n",
        .error = "it was ended by signal 15",
    },
    {
        .name = "too much printed",
        .script = "#!/bin/sh\nexec cat /dev/zero\n",
        .error = "it was killed: it printed more than 1048576 bytes",
    },
    {
        .name = "it is not there, and there is a hint",
        .hint = "run\n'brew install it'",
        .error =
            "cannot run it: No such file or directory; its installHint: run\\x0a'brew install it'",
    },
    {
        .name = "it cannot be run",
        .script = "#!/bin/sh\n",
        .plain = true,
        .error = "cannot run it: Permission denied",
    },
    {
        .name = "no shell runs what has no #! line",
        .script = "printf x\n",
        .error = "cannot run it: Exec format error",
    },
    {
        .name = "it finds nothing to run, and there is a hint",
        .script = "#!/bin/sh\nexit 127\n",
        .hint = "install it",
        .error = "it failed with exit code 127; its installHint: install it",
    },
};

struct stage {
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

static void set_up(struct stage *s, const char *script, const char *hint)
{
    *s = (struct stage){.folder = folder_make(), .output = STRBUF_INIT(0)};
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

static void tear_down(struct stage *s)
{
    exec_plugin_free(s->plugin);
    strbuf_release(&s->output);
    free(s->exec.install_hint);
    free(s->path);
    folder_remove(s->folder);
}

static void wait_for_something(const struct stage *s)
{
    struct pollfd fds[EXEC_FDS];
    size_t count = exec_plugin_fds(s->plugin, fds);

    assert_true(count > 0);
    assert_true(poll(fds, count, PATIENCE_MS) > 0);
}

/* Until it is over, at one moment of the clock. */
static enum exec_state finish(struct stage *s, int64_t now_ms)
{
    enum exec_state state = exec_plugin_poll(s->plugin, now_ms, &s->output, &s->err);

    while (state == EXEC_RUNNING) {
        wait_for_something(s);
        state = exec_plugin_poll(s->plugin, now_ms, &s->output, &s->err);
    }
    return state;
}

static void check_error(const struct run_case *c, const struct stage *s)
{
    assert_non_null(c->error);
    assert_string_equal(s->err.text, c->error);
    if (c->silent)
        assert_null(strstr(s->err.text, c->silent));
}

TEST_ROWS(run, run_cases, name)
{
    const struct run_case *c = *state;
    struct pollfd fds[EXEC_FDS];
    struct stage s;

    set_up(&s, c->script, c->hint);
    if (c->plain)
        assert_int_equal(chmod(s.path, 0644), 0);
    if (!exec_plugin_start(s.plugin, "{info}", START_MS, &s.err)) {
        check_error(c, &s);
    } else if (finish(&s, START_MS) == EXEC_ENDED) {
        assert_non_null(c->output);
        assert_string_equal(s.output.data, c->output);
    } else {
        check_error(c, &s);
    }
    assert_int_equal(exec_plugin_fds(s.plugin, fds), 0);
    assert_true(exec_plugin_due(s.plugin) == INT64_MAX);
    assert_int_equal(exec_plugin_poll(s.plugin, START_MS, &s.output, &s.err), EXEC_IDLE);
    tear_down(&s);
}

/* A process that is there, and is no zombie: that has no command line. */
static bool lives(const char *pid)
{
    char path[64];
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%.16s/cmdline", pid);
    file = fopen(path, "r");
    if (!file)
        return false;
    bool is = fgetc(file) != EOF;
    fclose(file);
    return is;
}

TEST(one_that_is_slow_is_killed_with_its_children)
{
    static const char said[] = "it was killed after 60 seconds; its standard error ends in '";
    struct stage s;

    /* The child of the script holds the pipe open, until it is killed too. */
    set_up(&s, "#!/bin/sh\nsleep 300 &\necho $! >&2\nwait\n", NULL);
    assert_true(exec_plugin_start(s.plugin, "", START_MS, &s.err));
    wait_for_something(&s);
    assert_int_equal(exec_plugin_poll(s.plugin, START_MS + EXEC_TIME_MAX_MS - 1, &s.output, &s.err),
                     EXEC_RUNNING);
    assert_true(exec_plugin_due(s.plugin) == START_MS + EXEC_TIME_MAX_MS);
    assert_int_equal(finish(&s, START_MS + EXEC_TIME_MAX_MS), EXEC_FAILED);
    assert_memory_equal(s.err.text, said, sizeof(said) - 1);
    assert_true(s.err.text[sizeof(said) - 1] >= '1' && s.err.text[sizeof(said) - 1] <= '9');
    for (int i = 0; i < PATIENCE_MS / 10 && lives(s.err.text + sizeof(said) - 1); i++)
        poll(NULL, 0, 10);
    assert_false(lives(s.err.text + sizeof(said) - 1));
    tear_down(&s);
}

/* A process, be it a zombie. */
static bool is_there(const char *pid)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%.16s", pid);
    return access(path, F_OK) == 0;
}

TEST(freeing_ends_a_run)
{
    struct stage s;
    char pid[16];

    set_up(&s, "#!/bin/sh\nprintf '%s' $$ >&2\nexec sleep 300\n", NULL);
    assert_true(exec_plugin_start(s.plugin, "", START_MS, &s.err));
    struct pollfd fds[EXEC_FDS];
    assert_int_equal(exec_plugin_fds(s.plugin, fds), EXEC_FDS);
    wait_for_something(&s);
    ssize_t len = read(fds[2].fd, pid, sizeof(pid) - 1);
    assert_true(len > 0);
    pid[len] = '\0';
    assert_true(is_there(pid));
    exec_plugin_free(s.plugin);
    assert_false(is_there(pid));
    s.plugin = NULL;
    tear_down(&s);
}

TEST(it_runs_again)
{
    struct stage s;

    set_up(&s, "#!/bin/sh\nprintf x >>\"$0.count\"\ncat \"$0.count\"\n", NULL);
    for (int64_t i = 0; i < 2; i++) {
        assert_true(exec_plugin_start(s.plugin, "", START_MS, &s.err));
        strbuf_release(&s.output);
        assert_int_equal(finish(&s, START_MS), EXEC_ENDED);
    }
    assert_string_equal(s.output.data, "xx");
    tear_down(&s);
}

/* As in our loop: signals are held back. And somebody forgot O_CLOEXEC. */
static int make_it_hard(void **state)
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

SUITE_WITH(make_it_hard, NULL);
