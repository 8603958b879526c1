/* SPDX-License-Identifier: ISC */
/*
 * What an agent is told when its request is not sent: status and constant
 * text per reason, what is allowed, the next step, and a number that finds
 * the line in the session's log.  Never 401, which SDKs retry for minutes.
 * Nothing of the request is in it.
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
	REFUSE_PROXY, /* a request that is no CONNECT */
	REFUSE_HOST,
	REFUSE_HOST_ASK, /* the same, where hosts may be added */
	REFUSE_METHOD,
	REFUSE_ENDPOINT,
	REFUSE_QUERY,
	REFUSE_OFFERED, /* a route with its own status */
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
	REFUSE_HELD, /* no memory for a body */
	REFUSE_AUDIT,
	REFUSE_GONE,
	/* keyd: nothing is left of it; each in its provider's own shape */
	REFUSE_BUDGET,
	REFUSE_BUDGET_OPENAI,
	REFUSE_BUDGET_GEMINI,
	REFUSE_CREDENTIAL, /* keyd will not use it: none, or locked */
	REFUSE_CODED,      /* it does not decode */
	REFUSE_JSON,       /* not strict, where a filter applies */
	REFUSE_REACH_TOOLS,
	REFUSE_REACH_MCP,
	REFUSE_REACH_URLS,
	REFUSE_REACH_STORE,
	REFUSE_REACH_BACKGROUND,
	REFUSE_PUSH, /* no command list that can be shown */
	REFUSE_ASKS, /* too many wait for a person */
	REFUSE_ASK_DENIED,
	REFUSE_ASK_EXPIRED,
	REFUSE_ASK_HEADLESS,
	REFUSE_PACKAGE,  /* keyd: this version may not be had */
	REFUSE_PROVIDER, /* keyd or the provider failed */
	REFUSE_COUNT,
};

struct refusal_text {
	unsigned status;
	const char *code; /* one word, for programs */
	const char *text;
	const char *before; /* JSON up to the message; NULL: our own */
	bool flat;          /* {"error": text}, and the phrase says it */
};

/* How it is written, so that who asked can read it. */
enum refuse_form {
	REFUSE_AS_JSON, /* as most SDKs read errors, or the reason's own way */
	REFUSE_AS_TEXT, /* before TLS; for git, which shows nothing else */
	REFUSE_AS_AWS,  /* {"message": text}; a header says what error it is */
};

const struct refusal_text *refuse_text(enum refusal);
/* That nothing is left, as clients of that dialect read errors. */
enum refusal refuse_budget(enum filter_dialect);
bool refuse_is_budget(enum refusal);
/* For `detail`: "What is wrong: ..." in dst, or NULL. */
const char *refuse_why(const char *why, char *dst, size_t cap);
/* "Forbidden", ... ; "Status" for those without a name. */
const char *refuse_phrase(unsigned status);

/*
 * Composes a whole answer. status: 0, or instead of the reason's own. detail:
 * more for this provider (hosts, endpoints, what keyd said), printable ASCII,
 * or NULL.
 */
int refuse_compose(struct buf *, enum refusal, unsigned status, uint32_t id,
    const char *detail, enum refuse_form, bool close);
/* The body alone. -1 when the buffer is full. */
int refuse_body(struct buf *, enum refusal, uint32_t id, const char *detail,
    enum refuse_form);
/* Its Content-Type. */
const char *refuse_type(enum refuse_form);
/* AWS SDKs read it in x-amzn-errortype: which error this status is. */
const char *refuse_aws_type(unsigned status);
/* May the same request be sent again, later? SDKs read x-should-retry. */
bool refuse_retries(unsigned status);

#endif
