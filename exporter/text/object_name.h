/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/store.h"

/*
 * Name of an object as users type it: KIND[.GROUP]/[NAMESPACE/]NAME, or as in kubectl
 * KIND.VERSION.GROUP/[NAMESPACE/]NAME, with "." behind the version for the core group. Kinds ignore
 * case and may be in the plural; common kinds have the short names of kubectl.
 */
struct object_name {
    char *kind;    /* The text as typed. */
    char *version; /* NULL if omitted. */
    char *group;   /* NULL if omitted. */
    char *ns;      /* NULL if omitted. */
    char *name;
};

/* Parses a name. Returns false and sets `err` if the text has another form. */
bool object_name_parse(const char *text, struct object_name *out, struct error *err) MUST_USE;
/* Returns true if `typed`, ignoring case, is the short name, singular or plural of the kind. */
bool object_name_kind_fits(const char *kind, const char *typed);
/*
 * Returns true if the text names a Namespace, such as "ns/shop"; then *name is the part of the text
 * with its name, borrowed.
 */
bool object_name_is_namespace(const char *text, const char **name);
/* Frees the parts. Accepts a struct of zeros and the result of a failed object_name_parse(). */
void object_name_release(struct object_name *n);

/* Returns true if the text is a name (object_name_parse) that fits an object of this identity. */
bool object_name_fits(const char *typed, const struct identity *id);

/*
 * Appends the name of an object for people: "Deployment shop/web"; for policies the shorter form
 * that commands accept, "pp/shop/first" or "cpp/all".
 */
void object_name_add(struct strbuf *out, const struct entry *entry);
/* Appends the kind and the name of an object of any kind: "Deployment shop/web". */
void object_name_add_identity(struct strbuf *out, const struct identity *id);

/*
 * Returns the object with this name among the classes in `classes` (bits by enum object_class).
 * Returns NULL and sets `err` if the name is malformed, if no object fits (the error lists up to
 * five similar names for each class), or if several objects fit (the error lists all).
 */
const struct entry *object_find(const struct store *store, unsigned classes, const char *typed,
                                struct error *err) MUST_USE;

/*
 * Like object_find(), with `ns` as the namespace of names that omit it, as kubectl's -n: the result
 * is then in `ns` or has no namespace. If `ns` is NULL, such names fit in any namespace.
 */
const struct entry *object_find_in_namespace(const struct store *store, unsigned classes,
                                             const char *typed, const char *ns,
                                             struct error *err) MUST_USE;

/* Returns the number of objects that fit the name, with `ns` as in object_find_in_namespace(). */
size_t object_count(const struct store *store, unsigned classes, const char *typed, const char *ns);

/*
 * Returns the binding of the named template if the store lacks the template itself. `ns` as in
 * object_find_in_namespace(). Returns NULL if the name is malformed, if a template fits, or if no
 * binding or several bindings fit.
 */
const struct entry *object_find_binding(const struct store *store, const char *typed,
                                        const char *ns) MUST_USE;
