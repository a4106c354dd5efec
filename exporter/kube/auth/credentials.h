/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <poll.h>

#include "exporter/kube/auth/kubeconfig.h"
#include "exporter/kube/auth/rest_config.h"
#include "exporter/kube/http/transfer.h"
#include "metrics/base/error.h"

/*
 * Our credentials for the API server and the CA that we trust, kept up to date:
 * token, certificate, key and CA files are read again when they change, exec
 * plugins run again before their credentials expire, both also after a 401. What
 * cannot be read again stays in force as it was, and credentials_problem() says why.
 *
 * The module overwrites credentials that are replaced. credentials_version() makes the client
 * close its connections, which hold copies in requests and buffers.
 *
 * Nothing here waits. Times are milliseconds: `now_ms` steady, `wall_ms` since
 * the epoch.
 */
struct credentials;

/*
 * `config` and `environment` (NAME=value, NULL at the end; what exec plugins
 * inherit) are borrowed. Reads the files, and fails if one cannot be used. An
 * exec plugin runs from the first credentials_advance() on.
 */
struct credentials *credentials_new(const struct rest_config *config,
                                    const char *const *environment, int64_t now_ms,
                                    struct error *err) MUST_USE;
/* Ends an exec plugin that runs. Takes NULL. */
void credentials_free(struct credentials *c);

/* Do what is due: look at files, start an exec plugin, read its output. */
void credentials_advance(struct credentials *c, int64_t now_ms, int64_t wall_ms);

/*
 * Whether files are not to be looked at for now: they may hang. credentials_files_due() says when
 * they are due; as long as they are held, nothing else here does.
 */
void credentials_hold_files(struct credentials *c, bool held);
int64_t credentials_files_due(const struct credentials *c);

/* When credentials_advance() is due even if no descriptor is ready; INT64_MAX for never. */
int64_t credentials_due(const struct credentials *c);

/* What to poll for meanwhile; answers how many there are. */
enum { CREDENTIALS_FDS = 3 };
size_t credentials_fds(const struct credentials *c, struct pollfd out[static CREDENTIALS_FDS]);

/* False while there is nothing to send: the exec plugin has not answered yet, or its
 * credentials have expired. */
bool credentials_ready(const struct credentials *c);

/* Why the last reading of a file or run of a plugin failed; "" if it did not. Never holds a secret.
 * Borrowed. */
const char *credentials_problem(const struct credentials *c);

/*
 * The server's address as requests must use it: "https://host:port/prefix".
 * With a tls-server-name that is its host, and credentials_apply() has curl
 * connect to the real one. Borrowed.
 */
const char *credentials_url(const struct credentials *c);

/* Who vouches for the server, for people: "the CA in 'FILE'". Borrowed. */
const char *credentials_ca_name(const struct credentials *c);

/* As struct kube_client_credentials wants them. */
bool credentials_apply(struct credentials *c, CURL *easy, struct curl_slist **headers,
                       struct error *err) MUST_USE;
void credentials_note_unauthorized(struct credentials *c);
uint64_t credentials_version(const struct credentials *c);
struct kube_client_credentials credentials_identity(struct credentials *c);

/*
 * A bearer token, and the file that it comes from: read again once a minute,
 * since it is replaced before it expires, and after the server refused it.
 * The file is opened by its path each time, as Kubernetes swaps links.
 */
enum {
    TOKEN_PERIOD_MS = 60 * 1000,
    TOKEN_READ_GAP_MS = 1000, /* Between two readings, whatever the server says. */
};

struct token_file {
    const char *path; /* NULL: the token never changes. Borrowed. */
    char *token;      /* NULL if there is none. */
    int64_t read_ms;
    int64_t due_ms;       /* INT64_MAX without a file. */
    uint64_t version;     /* Another number for another token. */
    struct error problem; /* Why the last reading failed; "" if it did not. */
};
