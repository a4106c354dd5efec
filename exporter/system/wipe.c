/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/system/wipe.h"

#include <dlfcn.h>
#include <malloc.h>

#include <curl/curl.h>

static void wiping_free(void *memory)
{
    if (!memory)
        return;
    explicit_bzero(memory, malloc_usable_size(memory));
    free(memory);
}

/*
 * Resizes a block as realloc(3) does, and wipes the old one. Like all allocations here the function
 * does not return without memory: a library could leave out an option or a header without an error.
 */
static void *wiping_realloc(void *memory, size_t size)
{
    size_t had = memory ? malloc_usable_size(memory) : 0;

    if (!memory)
        return xmalloc(size);
    if (size == 0) {
        wiping_free(memory);
        return NULL;
    }
    if (size <= had) {
        explicit_bzero((char *)memory + size, had - size);
        return memory;
    }

    void *moved = xmalloc(size);
    memcpy(moved, memory, had);
    wiping_free(memory);
    return moved;
}

/* ---- OpenSSL, which wants to know who asks ---- */

static void *crypto_malloc(size_t size, const char *file, int line)
{
    (void)file;
    (void)line;
    return xmalloc(size);
}

static void *crypto_realloc(void *memory, size_t size, const char *file, int line)
{
    (void)file;
    (void)line;
    return wiping_realloc(memory, size);
}

static void crypto_free(void *memory, const char *file, int line)
{
    (void)file;
    (void)line;
    wiping_free(memory);
}

typedef int set_crypto_functions(void *(*)(size_t, const char *, int),
                                 void *(*)(void *, size_t, const char *, int),
                                 void (*)(void *, const char *, int));

/* ---- nghttp2, which libcurl gives no functions of ours ---- */

static void *session_malloc(size_t size, void *context)
{
    (void)context;
    return xmalloc(size);
}

static void session_free(void *memory, void *context)
{
    (void)context;
    wiping_free(memory);
}

static void *session_calloc(size_t count, size_t size, void *context)
{
    (void)context;
    return xcalloc(count, size);
}

static void *session_realloc(void *memory, size_t size, void *context)
{
    (void)context;
    return wiping_realloc(memory, size);
}

/* As struct nghttp2_mem of nghttp2.h, whose package a build does not need otherwise. */
struct session_memory {
    void *context;
    void *(*malloc)(size_t size, void *context);
    void (*free)(void *memory, void *context);
    void *(*calloc)(size_t count, size_t size, void *context);
    void *(*realloc)(void *memory, size_t size, void *context);
};

typedef int new_session(void **session, const void *callbacks, void *context, const void *option,
                        const struct session_memory *memory);

enum { SESSION_NO_MEMORY = -901 }; /* NGHTTP2_ERR_NOMEM */

/*
 * What libcurl calls for a connection: the program's function of this name goes before the
 * library's, which has one more that does the same with memory functions of the caller's.
 */
int nghttp2_session_client_new2(void **session, const void *callbacks, void *context,
                                const void *option);
int nghttp2_session_client_new2(void **session, const void *callbacks, void *context,
                                const void *option)
{
    static const struct session_memory memory = {
        .malloc = session_malloc,
        .free = session_free,
        .calloc = session_calloc,
        .realloc = session_realloc,
    };
    new_session *next = (new_session *)dlsym(RTLD_DEFAULT, "nghttp2_session_client_new3");

    return next ? next(session, callbacks, context, option, &memory) : SESSION_NO_MEMORY;
}

/* ---- libyaml, which calls these two of its own by name ---- */

void yaml_free(void *memory);
void yaml_free(void *memory)
{
    wiping_free(memory);
}

void *yaml_realloc(void *memory, size_t size);
void *yaml_realloc(void *memory, size_t size)
{
    return wiping_realloc(memory, size > 0 ? size : 1);
}

void wipe_freed_memory(void)
{
    set_crypto_functions *set =
        (set_crypto_functions *)dlsym(RTLD_DEFAULT, "CRYPTO_set_mem_functions");

    /* A libcurl that is built with another TLS library has no use for it. */
    if (set && set(crypto_malloc, crypto_realloc, crypto_free) != 1)
        abort();
    if (curl_global_init_mem(CURL_GLOBAL_DEFAULT, xmalloc, wiping_free, wiping_realloc, xstrdup,
                             xcalloc) != CURLE_OK)
        memory_exhausted(0);
}
