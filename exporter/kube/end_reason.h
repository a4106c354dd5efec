/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Why a request ended. */
enum end_reason {
    END_REGULAR,      /* The server ended the stream, as agreed. */
    END_SHORT,        /* It did so at once, before it sent any event. */
    END_LOST,         /* The connection failed, or the response was cut short. */
    END_QUIET,        /* Nothing came for longer than a healthy server keeps silent. */
    END_BUSY,         /* 429: too many requests. */
    END_UNAVAILABLE,  /* 5xx. */
    END_GONE,         /* 410: the version or the continue token is too old. */
    END_AHEAD,        /* The server does not know our version yet: it is behind, or restored. */
    END_UNAUTHORIZED, /* 401. */
    END_FORBIDDEN,    /* 403. */
    END_ABSENT,       /* 404, 405: not served. */
    END_UNACCEPTABLE, /* 406, 415: not in the form that was asked for. */
    END_REFUSED,      /* Any other status but 200. */
    END_FAILED,       /* The stream sent an error. */
    END_MALFORMED,    /* The body is no list, or no stream of events. */
    END_RESTORED,     /* The server was restored from a backup, or that is to be feared. */
};
enum { END_REASON_COUNT = END_RESTORED + 1 };

/* The name of a reason in series and logs: "ended", "short", ... */
const char *end_reason_name(enum end_reason reason);
