/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * How many streams the server accepts on a connection, which libcurl does not tell: what is found
 * out by those that it holds back. A connection that the server drains (GOAWAY) holds them back as
 * well, be it old or new; so the server's limit is what some new ones in a row have in common, and
 * no connection has exceeded.
 */
struct stream_capacity {
    unsigned streams;    /* To be had on a new connection. */
    unsigned most;       /* Had on one at a time. */
    unsigned suspected;  /* What the last new ones had room for, */
    unsigned suspicions; /* so many in a row. */
};

/* Nothing is known: a new connection is to have `streams`. */
void capacity_init(struct stream_capacity *c, unsigned streams);

/* A connection has so many at a time. */
void capacity_had(struct stream_capacity *c, unsigned streams);

/* A new connection had room for no more than so many. */
void capacity_full(struct stream_capacity *c, unsigned streams);
