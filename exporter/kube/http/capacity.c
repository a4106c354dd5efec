/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/http/capacity.h"

enum { SUSPICIONS = 3 }; /* That are as good as knowledge. */

void capacity_init(struct stream_capacity *c, unsigned streams)
{
    *c = (struct stream_capacity){.streams = streams};
}

void capacity_had(struct stream_capacity *c, unsigned streams)
{
    if (streams > c->most)
        c->most = streams;
}

void capacity_full(struct stream_capacity *c, unsigned streams)
{
    if (streams < c->most || streams == 0)
        return;
    c->suspicions = streams == c->suspected ? c->suspicions + 1 : 1;
    c->suspected = streams;
    if (c->suspicions == SUSPICIONS)
        c->streams = streams;
}
