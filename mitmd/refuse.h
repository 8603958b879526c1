/* SPDX-License-Identifier: ISC */
/*
 * Answers to requests that are not sent: for each reason a status, a constant
 * text that says what is allowed and what to do next, and a number that finds
 * the line in the session's log. Never 401, which SDKs retry for minutes.
 * Nothing of the request is repeated but a host or repository that is refused,
 * and only if it is spelled as such names are.
 */
#ifndef MITMD_REFUSE_H
#define MITMD_REFUSE_H

#include "common/buf.h"
#include "common/span.h"
#include "provider/filter_rules.h"

enum refusal {
	REFUSE_NONE,
	REFUSE_MALFORMED,
	REFUSE_EARLY, /* bytes after CONNECT, before its answer */
	REFUSE_PROXY, /* not a CONNECT */
	REFUSE_LOOPBACK, /* the sandbox itself, which needs no proxy */
	REFUSE_HOST,
	REFUSE_HOST_ASK, /* the same, if hosts may be added */
	REFUSE_HOST_UNASKED, /* the same, for the agent's program alone */
	/* a host that a person may open; the text follows its name */
	REFUSE_WANTED, /* nobody has answered yet */
	REFUSE_WANTED_DENIED,
	REFUSE_WANTED_EXPIRED,
	REFUSE_WANTED_BUSY,
	REFUSE_WANTED_FULL,
	REFUSE_WANTED_OFTEN,
	REFUSE_WANTED_PACKAGES,
	REFUSE_WANTED_CLOSED,
	REFUSE_WANTED_FAILED,
	REFUSE_METHOD,
	REFUSE_ENDPOINT,
	REFUSE_REPOSITORY, /* the same, of a git server */
	REFUSE_FORGE, /* a request to a forge that is not permitted */
	REFUSE_QUERY,
	REFUSE_OFFERED, /* a route answered by mitmd, with its own status */
	REFUSE_NO_KEY,
	REFUSE_WRONG_KEY,
	REFUSE_FOREIGN_KEY,
	REFUSE_TWO_KEYS,
	REFUSE_BARE,
	REFUSE_LOGIN,
	REFUSE_TYPE,
	REFUSE_ENCODING,
	REFUSE_BODY, /* a body where the route takes none */
	REFUSE_LENGTH,
	REFUSE_HEADERS,
	REFUSE_EXPECT,
	REFUSE_UPGRADE,
	REFUSE_TIMEOUT,
	REFUSE_BUSY,
	REFUSE_HELD, /* no memory for the body */
	REFUSE_AUDIT,
	REFUSE_GONE,
	/* keyd: the budget is spent; in the provider's own form */
	REFUSE_BUDGET,
	REFUSE_BUDGET_OPENAI,
	REFUSE_BUDGET_GEMINI,
	/* keyd: other requests have reserved what is left of it */
	REFUSE_RESERVED,
	REFUSE_RESERVED_OPENAI,
	REFUSE_RESERVED_GEMINI,
	REFUSE_CREDENTIAL, /* keyd: no credential, or it is locked */
	REFUSE_CODED,      /* the body does not decode */
	REFUSE_JSON,       /* not strict JSON, but a filter applies */
	REFUSE_REACH_TOOLS,
	REFUSE_REACH_MCP,
	REFUSE_REACH_URLS,
	REFUSE_REACH_STORE,
	REFUSE_REACH_KEPT, /* it names something kept in the account */
	REFUSE_REACH_BACKGROUND,
	REFUSE_PUSH, /* the push has no valid command list */
	REFUSE_ASKS, /* too many requests wait for a person */
	REFUSE_ASK_DENIED,
	REFUSE_ASK_EXPIRED,
	REFUSE_ASK_HEADLESS,
	REFUSE_ASK_LARGE,
	REFUSE_ASK_ELSEWHERE, /* an id leads to what is not on the list */
	REFUSE_PACKAGE,  /* keyd: this version may not be installed */
	REFUSE_PROVIDER, /* keyd or the provider failed */
	REFUSE_COUNT,
};

struct refusal_text {
	unsigned status;
	const char *code; /* one word, for programs */
	const char *text;
	/* JSON before the message; NULL: IronCurtain's own form */
	const char *before;
	bool flat;   /* {"error": text}; the reason phrase repeats the detail */
	bool whole;  /* a detail stands in place of the text */
	bool spoken; /* the detail's first sentence is the reason phrase, too */
};

/* The form of the answer, chosen for the client that reads it. */
enum refuse_form {
	REFUSE_AS_JSON, /* as most SDKs read errors, or the reason's own form */
	REFUSE_AS_TEXT, /* before TLS, and for git, which shows nothing else */
	REFUSE_AS_AWS,  /* {"message": text}; a header names the error */
	REFUSE_AS_LFS,  /* {"message": text}, as forges do, too */
	REFUSE_AS_GRAPHQL, /* {"errors": [{"message": text}]}, with 200 */
};

const struct refusal_text *refuse_text(enum refusal);
/*
 * Returns the refusal for a budget that is spent, or only reserved, as clients
 * of this dialect read it.
 */
enum refusal refuse_budget(enum filter_dialect, bool reserved);
/* Returns true for all of these. */
bool refuse_is_budget(enum refusal);
/*
 * Write "What is wrong: ..." to dst, for use as `detail`. Returns NULL if `why`
 * is NULL.
 */
const char *refuse_why(const char *why, char *dst, size_t cap);
/* Returns "Forbidden", ..., or "Status" if it has no name. */
const char *refuse_phrase(unsigned status);

/*
 * Compose the complete answer. A `status` of 0 means the reason's own. `detail`
 * adds text for this provider (hosts, endpoints, an error of keyd) in printable
 * ASCII, or is NULL; it replaces the text where the reason's row says so.
 */
int refuse_compose(struct buf *, enum refusal, unsigned status, uint32_t id,
    const char *detail, enum refuse_form, bool close);
/* Compose only the body. Returns 0, or -1 if the buffer is full. */
int refuse_body(struct buf *, enum refusal, uint32_t id, const char *detail,
    enum refuse_form);
/* Returns the body's Content-Type. */
const char *refuse_type(enum refuse_form);
/* Returns the error that AWS SDKs read in x-amzn-errortype for this status. */
const char *refuse_aws_type(unsigned status);
/* Seconds after which a request with the status 429 may be sent again. */
#define REFUSE_RETRY_AFTER "5"
/*
 * Returns true if the same request may be sent again later: SDKs read
 * x-should-retry.
 */
bool refuse_retries(unsigned status);

#endif
