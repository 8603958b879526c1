/* SPDX-License-Identifier: ISC */
/*
 * Tests questions about hosts on no list: what is shown and approved, every end
 * of one, the limits, and messages that no honest mitmd sends.
 */
#include "tap.h"
#include "unit/policyd/ring.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>

#define HOST "files.example.org"

static struct ring ring;

/* Begin a session anew. */
static void
begin(enum proto_hosts mode)
{
	ring_clear(&ring);
	loop_timer_clear(&ring.loop, &ring.env.hosts.timer);
	memset(&ring.env.hosts, 0, sizeof(ring.env.hosts));
	ring.env.hosts.mode = mode;
}

static int
wants(const char *host, const char *agent)
{
	const struct msg_HOST_ASK m = {
	    .host = span_str(host), .agent = span_str(agent)};
	const char *why;

	ring_clear(&ring);
	return hosts_take(&ring.env, &m, &why);
}

static const struct msg_HOLD *
hold(void)
{
	const union proto_any *m = ring_find(&ring, MSG_HOLD, 0);

	return m == NULL ? NULL : &m->HOLD;
}

static const struct msg_HOLD *
held(const char *host)
{
	if (wants(host, "curl") == -1 || hold() == NULL)
		errx(1, "%s is not asked about", host);
	return hold();
}

/* Returns the reason for which the host stays shut, or -1 if it was not told.
 */
static int
shut(const char *host)
{
	const union proto_any *m;

	for (unsigned i = 0; (m = ring_find(&ring, MSG_HOST_SHUT, i)) != NULL;
	     i++)
		if (span_is(m->HOST_SHUT.host, host))
			return m->HOST_SHUT.reason;
	return -1;
}

static void
answer(uint64_t id, struct span digest, bool approve)
{
	struct msg_VERDICT_GO v = {
	    .id = id, .digest = digest, .approve = approve};
	uint8_t copy[32];

	/* It is in the ring, which is about to be cleared. */
	memcpy(copy, digest.p, sizeof(copy));
	v.digest = span_of(copy, sizeof(copy));
	ring_clear(&ring);
	hosts_verdict(&ring.env, &v);
}

static uint64_t
opened(const char *host)
{
	const struct msg_HOLD *h = held(host);
	uint64_t id = h->id;

	answer(id, h->digest, true);
	return id;
}

static void
test_shown(void)
{
	const struct msg_HOLD *h;
	uint8_t digest[32];

	begin(PROTO_HOSTS_ASK);
	h = held(HOST);
	ok((h->id & PROTO_ASK_ID) != 0 && (h->id & PROTO_HOST_ID) != 0 &&
		(h->id & (PROTO_LOGIN_ID | PROTO_BUDGET_ID)) == 0 &&
		h->session.len == 0 && h->automatic == 0 && h->ms == 300000,
	    "an id of its kind; for this session, and never by the approver");
	is_str(ring_str(h->tool), "open " HOST ":443", "the host and its port");
	is_str(ring_str(h->effect),
	    "Opens " HOST ":443 as a web destination (GET, HEAD) for this "
	    "session",
	    "what it does");
	is_str(ring_str(h->reason),
	    "A program of the sandbox wants to reach it, and it is on no list; "
	    "the agent says: curl",
	    "who wants it, by its own word");
	is_str(ring_str(span_of(h->preview.p, h->args)),
	    "{\"as\":\"web\",\"hosts\":[\"" HOST "\"],\"port\":443}",
	    "what is approved");
	is_str(
	    ring_str(span_of(h->preview.p + h->args, h->preview.len - h->args)),
	    "{\"asks\":[{\"reason\":\"A program of the sandbox wants to reach "
	    "it, and it is on no list; the agent says: curl\",\"rule\":"
	    "\"open-host\"}],\"resources\":[{\"argument\":\"hosts\",\"role\":"
	    "\"proxy-domain\",\"value\":\"" HOST ":443\"}]}",
	    "and what it touches");
	memcpy(digest, h->digest.p, 32);
	begin(PROTO_HOSTS_ASK);
	(void)wants(HOST, "wget");
	ok(hold() != NULL && memcmp(hold()->digest.p, digest, 32) == 0,
	    "the program's name is not in the digest");
	begin(PROTO_HOSTS_ASK);
	(void)held("other.example.org");
	ok(memcmp(hold()->digest.p, digest, 32) != 0, "the host is");
	begin(PROTO_HOSTS_ASK);
	(void)wants("xn--pple-43d.example", "");
	ok(hold() != NULL && strstr(ring_str(hold()->effect), "punycode") &&
		strstr(ring_str(hold()->reason), "says") == NULL,
	    "punycode is marked; no name is made up for the program");
}

static const struct {
	const char *host, *args;
} kinds[] = {
    {"git.example.org", "{\"as\":\"git\",\"hosts\":[\"git.example.org\"],"
			"\"port\":443}"},
    {"registry.example.org",
	"{\"as\":\"registry\",\"hosts\":[\"registry.example.org\"],"
	"\"port\":443,\"registry\":\"npm\"}"},
    {"static.crates.example", "{\"as\":\"registry\",\"hosts\":["
			      "\"index.crates.example\","
			      "\"static.crates.example\"],\"port\":443,"
			      "\"registry\":\"crates\"}"},
    {"pypi.example", "{\"as\":\"registry\",\"hosts\":[\"pypi.example\","
		     "\"files.pythonhosted.example\"],\"port\":443,"
		     "\"registry\":\"pypi\"}"},
};

static void
test_kinds(void)
{
	const struct msg_HOLD *h;

	for (size_t i = 0; i < nitems(kinds); i++) {
		begin(PROTO_HOSTS_ASK);
		h = held(kinds[i].host);
		is_str(ring_str(span_of(h->preview.p, h->args)), kinds[i].args,
		    "%s", kinds[i].host);
		ok(strstr(ring_str(h->effect), "web") == NULL,
		    "... which is no web destination");
	}
	begin(PROTO_HOSTS_ASK_UNPACKED);
	(void)wants("pypi.example", "pip");
	ok(hold() == NULL && shut("pypi.example") == PROTO_SHUT_PACKAGES,
	    "without registries: refused");
	ok(wants("git.example.org", "git") == 0 && hold() != NULL,
	    "a git server is asked about");
}

static void
test_opened(void)
{
	const struct msg_HOLD *h;
	const union proto_any *m;
	uint64_t id;

	begin(PROTO_HOSTS_ASK);
	h = held(HOST);
	id = h->id;
	answer(id, SPAN("01234567890123456789012345678901"), true);
	ok(ring_find(&ring, MSG_LATE, 0) != NULL &&
		ring_find(&ring, MSG_HOST_OPEN, 0) == NULL,
	    "another digest opens nothing");
	(void)wants(HOST, "curl");
	is_int((long long)ring.n, 0, "asked again meanwhile: one question");
	begin(PROTO_HOSTS_ASK);
	id = opened(HOST);
	m = ring_find(&ring, MSG_HOST_OPEN, 0);
	ok(m != NULL && m->HOST_OPEN.id == id &&
		m->HOST_OPEN.kind == PROTO_OPEN_WEB &&
		span_is(m->HOST_OPEN.host, HOST),
	    "approved: opened");
	ok(ring.n == 2 && ring.sent[0].type == MSG_GRANT,
	    "the grant is told before it");
	is_str(ring_str(ring.sent[0].msg.GRANT.text),
	    "{\"constraints\":[{\"kind\":\"domain\",\"role\":\"proxy-domain\","
	    "\"value\":\"" HOST "\"}],\"description\":\"Open " HOST
	    ":443 as a web destination (GET, HEAD)\",\"rule\":\"open-host\"}",
	    "as it is shown");
	ok(ring.sent[0].msg.GRANT.bound.len == 0, "it cannot be restored");
	(void)wants(HOST, "curl");
	is_int((long long)ring.n, 0, "what is being opened is not asked about");
	hosts_revoke(&ring.env, id ^ 1);
	is_int((long long)ring.n, 0, "revoking another one: nothing");
	hosts_revoke(&ring.env, id);
	ok(ring.n == 2 && ring.sent[0].type == MSG_GRANT &&
		ring.sent[0].msg.GRANT.state == PROTO_GRANT_ENDED &&
		shut(HOST) == PROTO_SHUT_CLOSED,
	    "revoked: the grant has ended, and it is shut");
	ring_clear(&ring);
	hosts_revoke(&ring.env, id);
	is_int((long long)ring.n, 0, "once");
	(void)wants(HOST, "curl");
	ok(hold() == NULL && shut(HOST) == PROTO_SHUT_CLOSED,
	    "and it is not asked about again");
}

static void
test_denied(void)
{
	const struct msg_HOLD *h;
	struct msg_VERDICT_GO v;
	uint8_t digest[32];
	uint64_t id;

	begin(PROTO_HOSTS_ASK);
	h = held("pypi.example");
	id = h->id;
	memcpy(digest, h->digest.p, 32);
	v = (struct msg_VERDICT_GO){.id = id,
	    .digest = span_of(digest, 32),
	    .session = span_of(digest, 32),
	    .approve = 1};
	hosts_verdict(&ring.env, &v);
	v.session = span_of(NULL, 0);
	v.automatic = 1;
	hosts_verdict(&ring.env, &v);
	v.automatic = 0;
	v.times = 3;
	hosts_verdict(&ring.env, &v);
	ok(ring_find(&ring, MSG_LATE, 2) != NULL &&
		ring_find(&ring, MSG_HOST_OPEN, 0) == NULL,
	    "not for the session, not by the approver, not several times");
	answer(id, span_of(digest, 32), false);
	ok(shut("pypi.example") == PROTO_SHUT_DENIED &&
		shut("files.pythonhosted.example") == PROTO_SHUT_DENIED &&
		ring_find(&ring, MSG_HOST_OPEN, 0) == NULL,
	    "denied: whoever waits for one of its hosts is told");
	(void)wants("files.pythonhosted.example", "pip");
	ok(hold() == NULL &&
		shut("files.pythonhosted.example") == PROTO_SHUT_DENIED,
	    "neither is asked about again");
	answer(id, span_of(digest, 32), true);
	ok(ring_find(&ring, MSG_LATE, 0) != NULL && ring.n == 1,
	    "a later answer is too late");
}

static void
test_expired(void)
{
	begin(PROTO_HOSTS_ASK);
	(void)held(HOST);
	ring_clear(&ring);
	ring.loop.now += 299999;
	(void)wants(HOST, "curl");
	is_int((long long)ring.n, 0, "it waits");
	ring.loop.now += 2;
	(void)wants(HOST, "curl");
	ok(shut(HOST) == PROTO_SHUT_EXPIRED && hold() != NULL,
	    "expired: shut, and it may be asked about once more");
}

static void
test_limits(void)
{
	char host[64];
	unsigned n = 0;

	begin(PROTO_HOSTS_ASK);
	for (unsigned i = 0; i < PROTO_MAX_HOST_ASKS; i++) {
		snprintf(host, sizeof(host), "w%u.example.org", i);
		(void)held(host);
	}
	(void)wants(HOST, "curl");
	ok(hold() == NULL && shut(HOST) == PROTO_SHUT_BUSY,
	    "three wait: no further question");
	begin(PROTO_HOSTS_ASK);
	for (unsigned i = 0; i < PROTO_MAX_OPENED; i++) {
		snprintf(host, sizeof(host), "o%u.example.org", i);
		n += opened(host) != 0 &&
		     ring_find(&ring, MSG_HOST_OPEN, 0) != NULL;
	}
	is_int((long long)n, PROTO_MAX_OPENED, "16 are opened");
	(void)wants(HOST, "curl");
	ok(hold() == NULL && shut(HOST) == PROTO_SHUT_FULL, "and not one more");
	begin(PROTO_HOSTS_ASK);
	for (unsigned i = 0; i < HOSTS_MAX_ASKED; i++) {
		const struct msg_HOLD *h;

		snprintf(host, sizeof(host), "d%u.example.org", i);
		h = held(host);
		answer(h->id, h->digest, false);
	}
	(void)wants(HOST, "curl");
	ok(hold() == NULL && shut(HOST) == PROTO_SHUT_OFTEN,
	    "64 questions in a session");
	(void)wants("d0.example.org", "curl");
	ok(shut("d0.example.org") == PROTO_SHUT_DENIED,
	    "what was denied stays denied");
	/* Those that wait when the last place is taken. */
	begin(PROTO_HOSTS_ASK);
	(void)held("last.example.org");
	{
		uint64_t id = hold()->id;
		uint8_t digest[32];

		memcpy(digest, hold()->digest.p, 32);
		for (unsigned i = 0; i < PROTO_MAX_OPENED; i++) {
			snprintf(host, sizeof(host), "o%u.example.org", i);
			(void)opened(host);
		}
		answer(id, span_of(digest, 32), true);
	}
	ok(shut("last.example.org") == PROTO_SHUT_FULL &&
		ring_find(&ring, MSG_HOST_OPEN, 0) == NULL,
	    "an approval beyond the limit opens nothing");
}

static void
test_hostile(void)
{
	static const char *const bad[] = {"", "localhost", "10.0.0.1",
	    "Files.example.org", "files.example.org.", "files.example.org:443",
	    "a", "x.local", "x.internal", "*.example.org", "[::1]", "0x7f.1",
	    "ex ample.org",
	    "b\303\274cher.example"};
	static const char *const agents[] = {
	    "a b", "a\n", "\"", "a/1", "\x1b[2J", "caf\xc3\xa9"};
	char name[300];

	begin(PROTO_HOSTS_ASK);
	for (size_t i = 0; i < nitems(bad); i++)
		ok(wants(bad[i], "") == -1 && ring.n == 0,
		    "no honest mitmd asks for \"%s\"", bad[i]);
	for (size_t i = 0; i < nitems(agents); i++)
		ok(wants(HOST, agents[i]) == -1 && ring.n == 0,
		    "nor for a program with name %zu", i);
	memset(name, 'a', sizeof(name));
	for (size_t i = 60; i < 240; i += 60)
		name[i] = '.';
	snprintf(name + 236, sizeof(name) - 236, ".org");
	ok(wants(name, "") == 0 && hold() != NULL, "240 bytes are asked about");
	begin(PROTO_HOSTS_ASK);
	snprintf(name + 236, sizeof(name) - 236, "a.org");
	ok(wants(name, "") == -1, "241 bytes are not");
	begin(PROTO_HOSTS_OFF);
	ok(wants(HOST, "") == -1, "nor any host where nobody is asked");
}

int
main(void)
{
	ring_init(&ring, true);
	test_shown();
	test_kinds();
	test_opened();
	test_denied();
	test_expired();
	test_limits();
	test_hostile();
	ring_free(&ring);
	return tap_done();
}
