/* SPDX-License-Identifier: ISC */
/*
 * Hosts on no list that a CONNECT waits for. The name is checked here, before
 * anybody is asked: an address, or a name of this machine or its network, is
 * refused. policyd decides what becomes of the others; its answer names the
 * host, so that nothing needs to be remembered but the connections that wait.
 */
#include "mitmd.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/http/hostname.h"
#include "common/log.h"

#define UNLISTED_PORT ":443"
#define UNLISTED_MAX_NAME 240U /* as policyd has it: it is shown whole */
#define UNLISTED_MAX_AGENT 32U

/* Returns true if a connection waits for the host already. */
static bool
unlisted_before(const char *host)
{
	const struct agent *a;

	TAILQ_FOREACH (a, &mitmd_env.agents, entry)
		if (unlisted_waits(a, span_str(host)))
			return true;
	return false;
}

/*
 * Returns the name of the program, as it says in User-Agent, up to its version;
 * empty if it is not a plain word.
 */
static struct span
unlisted_agent(const struct http1_head *h)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
	struct span s = {NULL, 0};
	size_t n = 0;

	if (http1_header(h, "user-agent", &s) != 1)
		return span_of(NULL, 0);
	while (n < s.len && s.p[n] != '\0' && strchr(letters, s.p[n]) != NULL)
		n++;
	if (n > UNLISTED_MAX_AGENT ||
	    (n < s.len && s.p[n] != '/' && s.p[n] != ' '))
		n = 0;
	return span_of(s.p, n);
}

bool
unlisted_name(struct span target, char *host)
{
	struct span port = SPAN(UNLISTED_PORT);
	const char *why;

	if (target.len <= port.len ||
	    target.len > UNLISTED_MAX_NAME + port.len ||
	    !span_eq(span_of(target.p + target.len - port.len, port.len), port))
		return false;
	target.len -= port.len;
	return hostname_read(target, host, &why) == 0 &&
	       hostname_public(host, &why) == 0;
}

/*
 * Returns true if the agent's program asks for the host by itself and does
 * without it. The session's log says so the first time.
 */
static bool
unlisted_unasked(struct span host, struct span program)
{
	static uint64_t said;
	struct span rest = span_str(mitmd_env.unasked), line, name;
	const uint8_t *space;

	if (program.len == 0)
		program = SPAN("-");
	for (unsigned i = 0; span_line(&rest, &line); i++) {
		name = line;
		if ((space = span_find(line, SPAN(" "))) != NULL)
			name.len = (size_t)(space - line.p);
		if (!span_eq(name, host) ||
		    (space != NULL &&
			!span_eq(program, span_of(space + 1,
					      line.len - name.len - 1))))
			continue;
		if (i < 64 && (said & (1ULL << i)) == 0) {
			said |= 1ULL << i;
			log_info("%.*s is refused without a question, each "
				 "time: the agent's program asks for it by "
				 "itself and does without. To open it: add it "
				 "to \"destinations\" in config.json",
			    (int)host.len, (const char *)host.p);
		}
		return true;
	}
	return false;
}

enum refusal
unlisted_ask(struct agent *a, const struct http1_head *h)
{
	char host[HOSTNAME_MAX + 1];
	struct msg_HOST_ASK m = {.agent = unlisted_agent(h)};
	bool before;

	if (!mitmd_env.asks_hosts || !unlisted_name(h->target, host))
		return REFUSE_HOST;
	m.host = span_str(host);
	if (unlisted_unasked(m.host, m.agent))
		return REFUSE_HOST_UNASKED;
	before = unlisted_before(host);
	if ((a->wanted = strdup(host)) == NULL)
		return REFUSE_HOST;
	agent_enter(a, AGENT_WANTED, MITMD_WANTED_MS);
	if (!before)
		worker_send(&mitmd_env.w, ROLE_POLICY, 0, MSG_HOST_ASK, &m, -1);
	return REFUSE_NONE;
}

bool
unlisted_waits(const struct agent *a, struct span host)
{
	return a->state == AGENT_WANTED && !a->dead && a->wanted != NULL &&
	       span_eq(span_str(a->wanted), host);
}

enum refusal
unlisted_refusal(enum proto_shut why)
{
	switch (why) {
	case PROTO_SHUT_DENIED:
		return REFUSE_WANTED_DENIED;
	case PROTO_SHUT_EXPIRED:
		return REFUSE_WANTED_EXPIRED;
	case PROTO_SHUT_BUSY:
		return REFUSE_WANTED_BUSY;
	case PROTO_SHUT_FULL:
		return REFUSE_WANTED_FULL;
	case PROTO_SHUT_OFTEN:
		return REFUSE_WANTED_OFTEN;
	case PROTO_SHUT_PACKAGES:
		return REFUSE_WANTED_PACKAGES;
	case PROTO_SHUT_CLOSED:
		return REFUSE_WANTED_CLOSED;
	case PROTO_SHUT_FAILED:
		break;
	}
	return REFUSE_WANTED_FAILED;
}

const char *
unlisted_detail(enum refusal r, const char *host, char *dst, size_t cap)
{
	snprintf(
	    dst, cap, "%s" UNLISTED_PORT " %s", host, refuse_text(r)->text);
	return dst;
}
