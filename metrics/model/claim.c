/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/claim.h"

static const struct claim_keys {
    bool cluster_scoped;
    const char *ns;
    const char *name;
    const char *id;
    const char *uid;
} claim_keys[] = {
    {
        false,
        "propagationpolicy.karmada.io/namespace",
        "propagationpolicy.karmada.io/name",
        "propagationpolicy.karmada.io/permanent-id",
        "propagationpolicy.karmada.io/uid",
    },
    {
        true,
        NULL,
        "clusterpropagationpolicy.karmada.io/name",
        "clusterpropagationpolicy.karmada.io/permanent-id",
        "clusterpropagationpolicy.karmada.io/uid",
    },
};

static const char *decode_annotation_or_label(struct decode *d, const cJSON *annotations,
                                              const cJSON *labels, const char *key)
{
    const char *text = decode_text(d, annotations, "metadata.annotations", key);
    const char *older = decode_text(d, labels, "metadata.labels", key);

    return text ? text : older;
}

static const char *decode_claim_id(struct decode *d, const cJSON *labels,
                                   const struct claim_keys *keys)
{
    const char *id = decode_text(d, labels, "metadata.labels", keys->id);
    const char *uid = decode_text(d, labels, "metadata.labels", keys->uid);

    return id ? id : uid;
}

static void drop_claim_texts(struct intern *strings, const struct claim *claim)
{
    intern_drop(strings, claim->ns);
    intern_drop(strings, claim->name);
    intern_drop(strings, claim->id);
}

static const struct claim *share_claim(struct intern *strings, const char *ns, const char *name,
                                       const char *id, bool cluster_scoped)
{
    const struct claim *shared;
    struct claim claim;
    bool added;

    memset(&claim, 0, sizeof(claim)); /* Also the padding. */
    claim.ns = intern_add(strings, ns);
    claim.name = intern_add(strings, name);
    claim.id = intern_add(strings, id);
    claim.cluster_scoped = cluster_scoped;
    shared = intern_add_block(strings, &claim, sizeof(claim), &added);
    if (!added)
        drop_claim_texts(strings, &claim);
    return shared;
}

const struct claim *claim_decode(struct decode *d, const cJSON *metadata)
{
    const cJSON *labels = decode_object(d, metadata, "metadata", "labels");
    const cJSON *annotations = decode_object(d, metadata, "metadata", "annotations");

    for (size_t i = 0; i < ARRAY_LEN(claim_keys); i++) {
        const struct claim_keys *keys = &claim_keys[i];
        const char *ns =
            keys->ns ? decode_annotation_or_label(d, annotations, labels, keys->ns) : "";
        const char *name = decode_annotation_or_label(d, annotations, labels, keys->name);
        const char *id = decode_claim_id(d, labels, keys);

        if (!ns || !name || !id)
            continue;
        return share_claim(d->strings, ns, name, id, keys->cluster_scoped);
    }
    return NULL;
}

bool has_claim_id(struct decode *d, const cJSON *metadata)
{
    const cJSON *labels = decode_object(d, metadata, "metadata", "labels");

    for (size_t i = 0; i < ARRAY_LEN(claim_keys); i++) {
        if (decode_claim_id(d, labels, &claim_keys[i]))
            return true;
    }
    return false;
}

void claim_release(struct intern *strings, const struct claim *claim)
{
    if (claim && intern_has_one_reference(claim))
        drop_claim_texts(strings, claim);
    intern_drop(strings, claim);
}

bool claim_equal(const struct claim *a, const struct claim *b)
{
    if (!a || !b)
        return a == b;
    return a->cluster_scoped == b->cluster_scoped && a->ns == b->ns && a->name == b->name &&
           a->id == b->id;
}

bool is_karmada_key(const char *key)
{
    return strstr(key, ".karmada.io") != NULL;
}

const char *permanent_id_decode(struct decode *d, const cJSON *metadata, bool cluster_scoped)
{
    const cJSON *labels = decode_object(d, metadata, "metadata", "labels");
    const char *id = decode_claim_id(d, labels, &claim_keys[cluster_scoped ? 1 : 0]);

    return id ? intern_add(d->strings, id) : NULL;
}

const char *permanent_id_key(bool cluster_scoped)
{
    return claim_keys[cluster_scoped ? 1 : 0].id;
}
