/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/auth/kubeconfig.h"

#include <fcntl.h>
#include <unistd.h>

#include "exporter/kube/auth/exec_plugin.h"
#include "exporter/system/secret.h"
#include "exporter/system/url.h"
#include "exporter/yaml/yaml.h"
#include "tests/fuzz/must.h"

/*
 * Up to three kubeconfig files of any content are refused, or result in a configuration as
 * rest_config.h describes. The reason, origin and notes hold no secret of a single file. Files are
 * merged as kubectl merges them: a file that is named twice, or does not exist, changes nothing.
 */

enum { FILES = 3, TEXT_MAX = 1 << 20, SECRET_MIN = 4 };

static const char separator[] = "\n%%\n"; /* Separates the files in the input. */

/* ---- files ---- */

struct folder {
    char path[36];
    char names[FILES][40];
};

/* Returns the folder, created once and removed at exit; each input overwrites the files. */
static struct folder *get_folder(void)
{
    static struct folder folder;

    if (folder.path[0] == '\0') {
        /* In memory if possible: writing to a disk would take most of the time. */
        snprintf(folder.path, sizeof(folder.path), "%s/fuzz_kubeconfig.XXXXXX",
                 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
        MUST(mkdtemp(folder.path) != NULL);
        for (size_t i = 0; i < FILES; i++)
            snprintf(folder.names[i], sizeof(folder.names[i]), "%s/%zu", folder.path, i);
    }
    return &folder;
}

static void remove_folder(void)
{
    const struct folder *f = get_folder();

    for (size_t i = 0; i < FILES; i++)
        unlink(f->names[i]);
    rmdir(f->path);
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    get_folder();
    return atexit(remove_folder);
}

static void write_file(const char *name, const char *bytes, size_t len)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    MUST(fd >= 0 && write(fd, bytes, len) == (ssize_t)len && close(fd) == 0);
}

/* Writes the first FILES parts of the text to files. Returns the number of files. */
static size_t write_files(const char *text, size_t size)
{
    size_t count = 0;

    for (const char *at = text; at && count < FILES; count++) {
        const char *end = memmem(at, (size_t)(text + size - at), separator, strlen(separator));

        write_file(get_folder()->names[count], at, (size_t)((end ? end : text + size) - at));
        at = end ? end + strlen(separator) : NULL;
    }
    return count;
}

/* ---- configurations ---- */

static bool is_set(const struct rest_config_bytes *bytes)
{
    return bytes->data || bytes->file;
}

static void append_field(struct strbuf *out, const char *name, const char *value)
{
    if (value)
        strbuf_addf(out, "%s=%s\n", name, value);
}

static void append_bytes(struct strbuf *out, const char *name,
                         const struct rest_config_bytes *bytes)
{
    append_field(out, name, bytes->data);
    append_field(out, name, bytes->file);
}

/*
 * Appends the fields but origin and proxy_is_from_environment; of `exec` only command, args, env.
 */
static void append_config(const struct rest_config *c, struct strbuf *out)
{
    append_field(out, "context", c->context);
    append_field(out, "server", c->server);
    append_field(out, "name", c->tls_server_name);
    append_field(out, "proxy", c->proxy_url);
    append_field(out, "config", c->exec_config);
    append_field(out, "namespace", c->ns);
    append_field(out, "token", c->token);
    append_field(out, "file", c->token_file);
    append_bytes(out, "ca", &c->ca);
    append_bytes(out, "certificate", &c->certificate);
    append_bytes(out, "key", &c->key);
    append_field(out, "as", c->as.user);
    append_field(out, "uid", c->as.uid);
    for (size_t i = 0; i < c->as.group_count; i++)
        append_field(out, "group", c->as.groups[i]);
    for (size_t i = 0; i < c->as.extra_count; i++)
        append_field(out, c->as.extra[i].name, c->as.extra[i].value);
    for (size_t i = 0; i < c->note_count; i++)
        append_field(out, "note", c->notes[i]);
    strbuf_addf(out, "%d %d\n", c->insecure, c->disable_compression);
    if (!c->exec)
        return;
    append_field(out, "command", c->exec->command);
    for (size_t i = 0; i < c->exec->arg_count; i++)
        append_field(out, "argument", c->exec->args[i]);
    for (size_t i = 0; i < c->exec->env_count; i++)
        append_field(out, c->exec->env[i].name, c->exec->env[i].value);
}

/* Checks that no other credentials are set, and that the request to the plugin is valid JSON. */
static void check_exec(const struct rest_config *c)
{
    CLEANUP(strbuf_release) struct strbuf info = STRBUF_INIT(EXEC_INFO_MAX_BYTES);
    struct error err;

    MUST(*c->exec->command && c->exec->api_version);
    MUST(!c->token && !c->token_file && !is_set(&c->certificate));
    exec_info_append(c, c->ca.data, &info);
    MUST(strbuf_ok(&info));

    CLEANUP(json_cleanup) cJSON *tree = json_parse(info.data, info.len, NULL, &err);
    MUST(tree != NULL);
}

static void check_config(const struct rest_config *c)
{
    CLEANUP(server_url_release) struct server_url url = {.base = NULL};
    CLEANUP(server_url_release) struct server_url named = {.base = NULL};
    struct error err;

    MUST(c->origin && c->context && c->server);
    MUST(server_url_parse(c->server, NULL, &url, &err));
    MUST(strcmp(url.base, c->server) == 0);
    MUST(server_url_parse(c->server, c->tls_server_name, &named, &err));
    MUST(!c->insecure || !is_set(&c->ca));
    MUST(is_set(&c->certificate) == is_set(&c->key));
    MUST(!c->token || secret_fits_header(c->token));
    MUST(!c->token_file || c->token_file[0] == '/');
    MUST(!c->ca.file || c->ca.file[0] == '/');
    MUST(c->as.user || (!c->as.uid && c->as.group_count == 0 && c->as.extra_count == 0));
    MUST(c->note_count <= REST_CONFIG_NOTES_MAX);
    if (c->exec)
        check_exec(c);
}

/* ---- secrets ---- */

/* Returns how often `text` contains `part`. */
static size_t count_occurrences(const char *text, const char *part)
{
    size_t count = 0;

    for (const char *at = text; (at = strstr(at, part)) != NULL; at += strlen(part))
        count++;
    return count;
}

/*
 * Checks that the printed text contains no secret. Skips secrets below SECRET_MIN bytes or without
 * a tilde, because these may equal words of the exporter's messages, and secrets that are not
 * exactly once in the file.
 */
static void check_hidden(const char *text, const cJSON *secret, const char *printed)
{
    const cJSON *item;

    cJSON_ArrayForEach (item, secret)
        check_hidden(text, item, printed);
    if (cJSON_IsString(secret) && strlen(secret->valuestring) >= SECRET_MIN &&
        strchr(secret->valuestring, '~') && count_occurrences(text, secret->valuestring) == 1)
        MUST(!strstr(printed, secret->valuestring));
}

static void check_secrets_of(const char *text, const cJSON *tree, const char *printed)
{
    static const char *const keys[] = {"token", "password", "client-key-data"};
    const cJSON *item, *pair;

    cJSON_ArrayForEach (item, json_get(tree, "users")) {
        const cJSON *user = json_get(item, "user");

        for (size_t i = 0; i < ARRAY_LEN(keys); i++)
            check_hidden(text, json_get(user, keys[i]), printed);
        check_hidden(text, json_get(json_get(user, "auth-provider"), "config"), printed);
        cJSON_ArrayForEach (pair, json_get(json_get(user, "exec"), "env"))
            check_hidden(text, json_get(pair, "value"), printed);
    }
}

static void check_secrets(const char *text, const char *printed)
{
    const struct yaml_limits limits = {.nodes_max = 10000, .bytes_max = TEXT_MAX};
    struct yaml_text source = {text, strlen(text)};
    struct yaml_reader *reader = yaml_reader_new(yaml_read_text, &source, limits);
    struct json_position where;
    struct error err;
    cJSON *tree = NULL;

    if (yaml_reader_next(reader, &tree, &where, &err) == YAML_READ_DOCUMENT) {
        check_secrets_of(text, tree, printed);
        cJSON_Delete(tree);
    }
    yaml_reader_free(reader);
}

/* ---- the target ---- */

/*
 * Writes the configuration to `out`, and its origin and notes to `printed`. Returns false if the
 * files are refused, with the error in `printed`.
 */
static bool load(const char *files, struct strbuf *out, struct strbuf *printed)
{
    const struct kubeconfig_options options = {.files = files};
    static const struct rest_config nothing;
    struct rest_config config;
    struct error err = {""};

    strbuf_reset(out);
    strbuf_reset(printed);
    if (!kubeconfig_load(&options, &config, &err)) {
        MUST(*err.text && memcmp(&config, &nothing, sizeof(config)) == 0);
        strbuf_adds(printed, err.text);
        return false;
    }
    check_config(&config);
    append_config(&config, out);
    strbuf_addf(printed, "%s\n", config.origin);
    for (size_t i = 0; i < config.note_count; i++)
        strbuf_addf(printed, "%s\n", config.notes[i]);
    rest_config_release(&config);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(TEXT_MAX);
    CLEANUP(strbuf_release) struct strbuf again = STRBUF_INIT(TEXT_MAX);
    CLEANUP(strbuf_release) struct strbuf printed = STRBUF_INIT(TEXT_MAX);
    CLEANUP(free_cleanup) char *text = xmemdup0((const char *)data, size);
    const struct folder *f = get_folder();
    size_t count = write_files(text, size);
    char files[400] = "";

    for (size_t i = 0; i < count; i++)
        snprintf(files + strlen(files), sizeof(files) - strlen(files), "%s%s", i > 0 ? ":" : "",
                 f->names[i]);
    bool fine = load(files, &out, &printed);
    if (count == 1)
        check_secrets(text, printed.data);

    /* Names the first file again, and a file that does not exist. */
    snprintf(files + strlen(files), sizeof(files) - strlen(files), ":%s:%s/absent", f->names[0],
             f->path);
    MUST(load(files, &again, &printed) == fine);
    MUST(strcmp(out.data, again.data) == 0);
    return 0;
}
