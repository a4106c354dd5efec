/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/auth/rest_config.h"

#include "exporter/system/secret.h"

static void release_pairs(struct rest_config_pair *pairs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(pairs[i].name);
        secret_free(pairs[i].value);
    }
    free(pairs);
}

static void release_texts(char **texts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        secret_free(texts[i]);
    free(texts);
}

static void release_bytes(struct rest_config_bytes *bytes)
{
    secret_free(bytes->data);
    free(bytes->file);
}

static void free_exec(struct rest_config_exec *exec)
{
    if (!exec)
        return;
    free(exec->api_version);
    free(exec->command);
    release_texts(exec->args, exec->arg_count);
    release_pairs(exec->env, exec->env_count);
    free(exec->install_hint);
    free(exec);
}

void rest_config_release(struct rest_config *config)
{
    secret_free(config->origin);
    secret_free(config->context);
    secret_free(config->server);
    secret_free(config->tls_server_name);
    release_bytes(&config->ca);
    secret_free(config->proxy_url);
    secret_free(config->exec_config);
    secret_free(config->ns);
    release_bytes(&config->certificate);
    release_bytes(&config->key);
    secret_free(config->token);
    secret_free(config->token_file);
    free_exec(config->exec);
    secret_free(config->as.user);
    secret_free(config->as.uid);
    release_texts(config->as.groups, config->as.group_count);
    release_pairs(config->as.extra, config->as.extra_count);
    for (size_t i = 0; i < config->note_count; i++)
        free(config->notes[i]);
    *config = (struct rest_config){.origin = NULL};
}

void rest_config_each_file(const struct rest_config *config, kube_file_fn *each, void *context)
{
    const char *const files[] = {config->ca.file, config->certificate.file, config->key.file,
                                 config->token_file};

    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        if (files[i])
            each(context, files[i]);
    }
}

void rest_config_note(struct rest_config *config, const char *fmt, ...)
{
    va_list args;

    if (config->note_count == REST_CONFIG_NOTES_MAX)
        return;
    va_start(args, fmt);
    if (vasprintf(&config->notes[config->note_count], fmt, args) < 0)
        memory_exhausted(0);
    va_end(args);
    config->note_count++;
}
