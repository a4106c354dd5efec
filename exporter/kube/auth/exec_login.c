/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/auth/exec_login.h"

#include "exporter/system/secret.h"

/* A long-lived credential is renewed a minute before its end, a short one at nine tenths. */
enum { LEAD_PARTS = 10 };

void exec_login_init(struct exec_login *login, const struct kube_config *config,
                     const char *const *environment)
{
    *login = (struct exec_login){
        .config = config,
        .plugin = exec_plugin_new(config->exec, environment),
        .wanted = true,
        .renew_ms = INT64_MAX,
        .pause_ms = INT64_MIN,
    };
}

void exec_login_release(struct exec_login *login)
{
    exec_plugin_free(login->plugin);
    exec_credential_release(&login->credential);
    *login = (struct exec_login){.plugin = NULL};
}

static void note_failure(struct exec_login *login)
{
    unsigned shifts = login->failures < 4 ? login->failures : 4;
    int64_t pause_ms = (int64_t)LOGIN_RETRY_FIRST_MS << shifts;

    fail_in(&login->problem, "the exec plugin '%s'", shown_path(login->config->exec->command).text);
    login->failures++;
    login->wanted = true;
    login->pause_ms =
        login->now_ms + (pause_ms < LOGIN_RETRY_LAST_MS ? pause_ms : LOGIN_RETRY_LAST_MS);
}

static bool is_other_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) != 0 : a != b;
}

/* When to renew, on the wall clock. */
static int64_t renewal_ms(int64_t expires_ms, int64_t wall_ms)
{
    int64_t lead_ms = (expires_ms - wall_ms) / LEAD_PARTS;

    if (expires_ms == INT64_MAX)
        return INT64_MAX;
    return expires_ms - (lead_ms < LOGIN_LEAD_MS ? lead_ms : LOGIN_LEAD_MS);
}

static void read_answer(struct exec_login *login, const struct strbuf *output)
{
    struct exec_credential fresh;

    if (!exec_credential_parse(output->data, output->len, login->config->exec->api_version, &fresh,
                               &login->problem)) {
        note_failure(login);
        return;
    }
    if (fresh.expires_ms <= login->wall_ms) {
        exec_credential_release(&fresh);
        fail(&login->problem, "its credential has expired already: compare the clocks");
        note_failure(login);
        return;
    }
    login->version += is_other_text(login->credential.certificate, fresh.certificate) ||
                      is_other_text(login->credential.key, fresh.key);
    login->token_version += login->given && is_other_text(login->credential.token, fresh.token);
    exec_credential_release(&login->credential);
    login->credential = fresh;
    login->given = true;
    login->renew_ms = renewal_ms(fresh.expires_ms, login->wall_ms);
    login->wanted = false;
    login->failures = 0;
    login->pause_ms = login->now_ms + LOGIN_PAUSE_MS;
    login->problem.text[0] = '\0';
}

static void start(struct exec_login *login, const char *ca)
{
    CLEANUP(strbuf_release) struct strbuf request = STRBUF_SECRET(EXEC_REQUEST_MAX_BYTES);

    exec_request_write(login->config, ca, &request);
    if (!strbuf_ok(&request))
        fail(&login->problem, "its input is longer than %d bytes", EXEC_REQUEST_MAX_BYTES);
    else if (exec_plugin_start(login->plugin, request.data, login->now_ms, &login->problem))
        return;
    note_failure(login);
}

void exec_login_advance(struct exec_login *login, const char *ca, int64_t now_ms, int64_t wall_ms)
{
    CLEANUP(strbuf_release) struct strbuf output = STRBUF_SECRET(0);

    login->now_ms = now_ms;
    login->wall_ms = wall_ms;
    switch (exec_plugin_turn(login->plugin, now_ms, &output, &login->problem)) {
    case EXEC_RUNNING:
        return;
    case EXEC_ENDED:
        read_answer(login, &output);
        secret_wipe_stack();
        break;
    case EXEC_FAILED:
        note_failure(login);
        break;
    case EXEC_IDLE:
        break;
    }
    if (now_ms >= login->pause_ms && (login->wanted || wall_ms >= login->renew_ms))
        start(login, ca);
}

void exec_login_refused(struct exec_login *login)
{
    login->wanted = true;
}

const struct exec_credential *exec_login_credential(const struct exec_login *login)
{
    return login->given && login->wall_ms < login->credential.expires_ms ? &login->credential
                                                                         : NULL;
}

int64_t exec_login_due(const struct exec_login *login)
{
    int64_t running_ms = exec_plugin_due(login->plugin);
    struct pollfd fds[EXEC_FDS];

    /* While it runs, its descriptors and its deadline count. */
    if (running_ms != INT64_MAX || exec_plugin_fds(login->plugin, fds) > 0)
        return running_ms;
    if (login->wanted || login->renew_ms <= login->wall_ms)
        return login->pause_ms > login->now_ms ? login->pause_ms : login->now_ms;
    if (login->renew_ms == INT64_MAX)
        return INT64_MAX;

    int64_t due_ms = login->now_ms + (login->renew_ms - login->wall_ms);
    return due_ms > login->pause_ms ? due_ms : login->pause_ms;
}
