/* SPDX-License-Identifier: ISC */
/*
 * Reports to icsupervisor, for the user, why the provider fails: the reason and
 * how often, each reason at once the first time and then at most once per
 * second. Texts are keyd's or OpenSSL's; none is from an answer.
 */
#include "keyd/keyd.h"

#include <stdio.h>

#define TROUBLE_MS 1000U

static struct trouble {
	char text[256];
	uint32_t count; /* not yet reported */
	uint64_t told;
} trouble;

/* Returns true if the failure is the provider's, or lies on the way to it. */
static bool
is_theirs(enum keyd_fail fail)
{
	switch (fail) {
	case KEYD_FAIL_DIAL:
	case KEYD_FAIL_PROXY_LOST:
	case KEYD_FAIL_PROXY_AUTH:
	case KEYD_FAIL_PROXY_DENIED:
	case KEYD_FAIL_PROXY_FAILED:
	case KEYD_FAIL_PROXY_BROKEN:
	case KEYD_FAIL_TLS:
	case KEYD_FAIL_SEND:
	case KEYD_FAIL_SILENT:
	case KEYD_FAIL_MALFORMED:
	case KEYD_FAIL_INTERIM:
	case KEYD_FAIL_REDIRECT:
	case KEYD_FAIL_FOLLOW:
	case KEYD_FAIL_RIGHTS:
	case KEYD_FAIL_CODED:
	case KEYD_FAIL_CUT:
	case KEYD_FAIL_STALLED:
	case KEYD_FAIL_RENEW:
	case KEYD_FAIL_TOKEN:
	case KEYD_FAIL_LOGIN:
		return true;
	case KEYD_FAIL_MOVED:
	case KEYD_FAIL_NONE:
	case KEYD_FAIL_NO_KEY:
	case KEYD_FAIL_NO_LOGIN:
	case KEYD_FAIL_LOCKED:
	case KEYD_FAIL_BUDGET:
	case KEYD_FAIL_RESERVED:
	case KEYD_FAIL_MISMATCH:
	case KEYD_FAIL_TOO_LARGE:
	case KEYD_FAIL_BODY:
	case KEYD_FAIL_BUSY:
	case KEYD_FAIL_REFLECTED:
	case KEYD_FAIL_REPLY:
	case KEYD_FAIL_METADATA:
	case KEYD_FAIL_PACKAGE:
	case KEYD_FAIL_EXPIRED:
	case KEYD_FAIL_INTERNAL:
	case KEYD_FAIL_COUNT:
		break;
	}
	return false;
}

static void
tell(const char *text, unsigned status, uint32_t retry)
{
	uint64_t now = loop_now(&keyd_env.w.loop);
	bool other = strcmp(text, trouble.text) != 0;
	struct msg_TROUBLE m;

	if (keyd_env.dial_place != NULL)
		return;
	if (other) {
		snprintf(trouble.text, sizeof(trouble.text), "%s", text);
		trouble.count = 0;
	}
	if (trouble.count != UINT32_MAX)
		trouble.count++;
	/* A status may explain a turn that fails at once. */
	if (!other && status == 0 && now - trouble.told < TROUBLE_MS)
		return;
	m = (struct msg_TROUBLE){.text = span_str(trouble.text),
	    .count = trouble.count,
	    .status = (uint16_t)status,
	    .retry = retry};
	worker_send(&keyd_env.w, ROLE_SUP, 0, MSG_TROUBLE, &m, -1);
	trouble.count = 0;
	trouble.told = now;
}

void
trouble_failed(enum keyd_fail fail, const char *detail)
{
	char text[sizeof(trouble.text)];

	if (!is_theirs(fail))
		return;
	/* Skip the status and the space. */
	snprintf(text, sizeof(text), "%s%s%s", keyd_fail_text(fail) + 4,
	    detail == NULL ? "" : ": ", detail == NULL ? "" : detail);
	tell(text, 0, 0);
}

/*
 * Returns true if requests go to a server of the user's choice instead of the
 * provider: a gateway with keys and budgets of its own.
 */
static bool
is_gateway(void)
{
	const struct provider *p = keyd_env.provider;

	return p->nhosts != 0 && !span_is(p->hosts[0], keyd_env.hosts[0].name);
}

void
trouble_status(const struct reply *r, bool model)
{
	unsigned status = model ? r->status : 0;
	const char *who = is_gateway() ? "gateway" : "provider";
	const char *word = "REFUSED", *what = NULL;
	char text[160];

	/* A remote MCP server says so that it wants a login. */
	if (keyd_env.now == NULL)
		return;
	if (r->status == 401)
		what = "does not accept the credential";
	else if (status == 402)
		what = "takes no more requests until it is paid: the budget of "
		       "this key is used up";
	else if (status == 403)
		what = "does not allow this with the credential";
	else if (status == 429)
		what = "takes no more requests for now";
	else if (status >= 500)
		what = "is overloaded or out of order";
	if (what == NULL)
		return;
	if (status == 429)
		word = "LIMITED";
	else if (status >= 500)
		word = "FAILING";
	snprintf(text, sizeof(text), "%s (%u): the %s %s", word, r->status, who,
	    what);
	tell(text, status, status == 429 ? r->retry : 0);
}
