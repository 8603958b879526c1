/* SPDX-License-Identifier: ISC */
/*
 * The parts of MCP that a server has beside tools: resources, templates of
 * resources, and prompts. Its lists are shown to the agent under the server's
 * name; reading, getting and completing are decided as calls are, by rules of
 * their own.
 */
#ifndef PARTS_H
#define PARTS_H

#include "common/buf.h"
#include "common/ipc/proto.h"
#include "common/json/value.h"
#include "common/loop.h"

#define PARTS_MAX_ITEMS 1000U              /* in a list of one server */
#define PARTS_MAX_LIST ((size_t)256 << 10) /* bytes of one */
#define PARTS_MAX_PAGES 50U
#define PARTS_RELIST_MS 1000U /* minimum time between two listings */

#define PARTS_READ "resources/read"
#define PARTS_SUBSCRIBE "resources/subscribe"
#define PARTS_UNSUBSCRIBE "resources/unsubscribe"
#define PARTS_GET "prompts/get"
#define PARTS_COMPLETE "completion/complete"

struct fit;
struct policyd_env;
struct session;
struct work;

/* One list of a server's. */
struct parts_list {
	struct buf
	    text; /* objects as the agent gets them, with commas between */
	struct buf next; /* being listed */
	unsigned n, left;
	char why[320];  /* the first that is left out, and why */
	unsigned shown; /* items of `text` */
	bool listing, again;
	uint32_t seq; /* the page that is awaited */
	uint32_t ttl; /* ms for which the server vouches for it */
	unsigned pages;
};

struct session_parts {
	struct parts_list list[PROTO_LISTS];
	struct loop_timer relist;
};

/* parts.c */
/* Ask the server for what it declares. */
void parts_begin(struct session *);
void parts_page(struct session *, const struct msg_PARTS_PAGE *);
/* The server says that a list changed. */
void parts_changed(struct session *, enum proto_changed);
/* Send mcp-proxyd the lists of all servers, and what there is at all. */
void parts_publish(struct policyd_env *);
/* parts_subs.c: the server was sent a subscription with this call. */
void parts_sent(
    struct session *, const uint8_t digest[32], uint64_t call, struct span uri);
/* Returns true if it was sent a subscription with this digest. */
bool parts_was_sent(const struct session *, const uint8_t digest[32]);
/* The server was sent the end of its subscriptions to this address. */
void parts_unsent(struct session *, struct span uri);
/* An agent wants no more of the subscription that this call began. */
void parts_cancelled(struct policyd_env *, uint64_t call);
/* Its server refused the call, or the agent gave it up before the answer. */
void parts_given_up(struct session *, uint64_t call);
/*
 * No request of a subscription is open any more: the one to the server's lists
 * has to have their addresses.
 */
void parts_join(struct session *);
/*
 * The server has ended the subscription that this call began: the same for that
 * one. Returns false if nobody wants it any more.
 */
bool parts_ended(struct session *, uint64_t call);
/* Get those addresses, at most SESSION_SUBS. Returns how many there are. */
unsigned parts_joined(const struct session *, const char **uris);
/* Send a server of an older revision its subscriptions again. */
void parts_resend(struct session *);
/* Forget the subscriptions. */
void parts_forget(struct session *);
/* Forget the server's lists. */
void parts_free(struct session *);

/*
 * parts_item.c: Append an item of a server's list as the agent gets it: known
 * members only, without characters that nobody sees. Returns 0, or -1 with the
 * reason in the fit, which the caller made: it is left out.
 */
int parts_item(struct buf *, enum proto_list, struct span server,
    const struct value *item, struct fit *);
/* Returns true for a URI that a server may have: visible ASCII, no ui:. */
bool parts_uri(struct span);

/* parts_line.c */
/* Returns true if the name is that of a request about a part. */
bool parts_is(struct span tool);
/* Returns the PROTO_PART_* that the request is about, or 0. */
uint8_t parts_of(struct span tool);
/* Append the line for the server, as compose_call() does. */
struct composed;
struct compose_form;
int parts_compose(struct buf *, const struct compose_form *, uint64_t id,
    struct span method, const struct value *params, struct composed *);

/* parts_judge.c: Returns true if some rule may allow the server's completion.
 */
bool parts_completion(struct policyd_env *, struct span server);

#endif
