/* SPDX-License-Identifier: ISC */
/*
 * Composes the JSON-RPC lines for MCP servers. Every byte is written here from
 * decoded values; each line ends with a newline.
 */
#ifndef COMPOSE_H
#define COMPOSE_H

#include "common/json/value.h"

#define COMPOSE_PROTOCOL "2025-11-25"
/* The revision without `initialize`: each request says what it is. */
#define COMPOSE_MODERN "2026-07-28"

/* The form of a request to a server. */
struct compose_form {
	bool modern;   /* as COMPOSE_MODERN has it */
	bool elicits;  /* a person can be asked */
	uint8_t level; /* one more than the least level of messages
			  that the server may log about it, or 0 */
};

/* Offsets within a composed call (proto.h, RELEASE). */
struct composed {
	uint32_t line_len;
	uint32_t args_off, args_len;
	uint32_t log_off, log_len;
	uint32_t named_off, named_len;
	uint32_t state_len; /* bytes at the end of the params: rounds.h */
	bool redacted;
	bool judged_whole; /* it still has all that rules judge */
};

/*
 * Append a call. Returns 0, or -1 if the buffer has failed (ENOBUFS, ENOMEM).
 * All functions below return likewise.
 */
int compose_call(struct buf *, const struct compose_form *, uint64_t id,
    struct span tool, const struct value *args, bool progress,
    struct composed *);
/*
 * Append `_meta` as the form has it, and `after`; `token`: of its progress, or
 * 0. Append nothing if there is nothing to say.
 */
void compose_meta(struct buf *, const struct compose_form *, uint64_t token,
    const char *after);
/* Append the arguments only, for a call that is not forwarded. */
int compose_args(struct buf *, const struct value *args, struct composed *);

/* elicits: a person can be asked. */
int compose_initialize(struct buf *, bool elicits);
/* The id is "d". */
int compose_discover(struct buf *, bool elicits);
/*
 * Subscribe to changes: PROTO_LISTEN_*, and of `n` resources. The id is
 * "n<seq>".
 */
int compose_listen(struct buf *, const struct compose_form *, uint32_t seq,
    uint8_t what, const char *const *uris, unsigned n);
/* Subscribe to a resource, as older revisions do. The id is "u". */
int compose_subscribe(struct buf *, struct span uri);
int compose_initialized(struct buf *);
/* The header with the revision, for the keyd of a remote server. */
int compose_revision(struct buf *, const char *version);
/* Ask for events: see EVENTS_END. */
int compose_events(struct buf *, struct span id, struct span last);
/* The id is "t<seq>". An empty cursor asks for the first page. */
int compose_tools_list(struct buf *, const struct compose_form *, uint32_t seq,
    struct span cursor);
/* The same for another list; the id begins with this letter. */
int compose_list(struct buf *, const struct compose_form *, char letter,
    const char *method, uint32_t seq, struct span cursor);
/* Set the least level of what the server logs. */
int compose_log_level(struct buf *, unsigned level);
/* Answer roots/list: the workspace, or nothing. */
int compose_roots(struct buf *, bool string, struct span rid, bool workspace);
/* Answer a ping, or refuse any other request of a server. */
int compose_pong(struct buf *, bool string, struct span rid);
int compose_unknown(struct buf *, bool string, struct span rid);
/* Ask icgit for the URLs of these remotes of the repository. */
int compose_remotes(struct buf *, uint32_t seq, struct span path,
    const struct span *remotes, unsigned n);
/*
 * Answer elicitation/create. content: the form's values as canonical JSON; p ==
 * NULL: none. And refuse a request of a server with this code and reason.
 */
int compose_elicited(struct buf *, bool string, struct span rid,
    const char *action, struct span content);
int compose_error(
    struct buf *, bool string, struct span rid, int code, struct span why);
int compose_cancelled(struct buf *, uint64_t id);

#endif
