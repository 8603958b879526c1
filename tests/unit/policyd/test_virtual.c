/* SPDX-License-Identifier: ISC */
/*
 * Tests the virtual server: its tools, the domains that it accepts, and that
 * only a rule's denial precedes its own decision.
 */
#include "common/http/hostname.h"
#include "policyd/virtual.h"
#include "tap.h"
#include "unit/policyd/ring.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>

#define SERVER PROTO_VIRTUAL

static struct ring ring;

/* Allows everything to everyone, and denies some domains to this server. */
static const char rules[] =
    "{\"rules\":[{\"name\":\"evil\",\"if\":{\"server\":[\"proxy\"],"
    "\"lists\":[{\"roles\":[\"proxy-domain\"],\"matchType\":\"domains\","
    "\"allowed\":[\"*.evil.example\"]}]},\"then\":\"deny\",\"reason\":"
    "\"not there\"},"
    "{\"name\":\"nolist\",\"if\":{\"server\":[\"proxy\"],\"tool\":"
    "[\"list_proxy_domains\"]},\"then\":\"escalate\",\"reason\":\"ask\"},"
    "{\"name\":\"all\",\"if\":{},\"then\":\"allow\",\"reason\":\"all\"}]}";
static const char deny_all[] =
    "{\"rules\":[{\"name\":\"none\",\"if\":{},\"then\":\"deny\","
    "\"reason\":\"nothing\"}]}";

static void
test_names(void)
{
	static const struct {
		const char *in, *want; /* NULL: refused */
	} rows[] = {
	    {"docs.example.com", "docs.example.com"},
	    {"DOCS.Example.COM", "docs.example.com"},
	    {"a.b", "a.b"},
	    {"xn--bcher-kva.example", "xn--bcher-kva.example"},
	    {"1.2.example", "1.2.example"},
	    {"", NULL},
	    {"example", NULL},
	    {"example.", NULL},
	    {".example.com", NULL},
	    {"a..b", NULL},
	    {"-a.com", NULL},
	    {"a-.com", NULL},
	    {"a_b.com", NULL},
	    {"a b.com", NULL},
	    {"*.example.com", NULL},
	    {"https://example.com", NULL},
	    {"example.com/x", NULL},
	    {"example.com:443", NULL},
	    {"user@example.com", NULL},
	    {"b\xc3\xbc" "cher.example", NULL},
	    {"ab--c.example", NULL},
	    {"1.2.3.4", NULL},
	    {"127.1", NULL},
	    {"0x7f.1", NULL},
	    {"example.0x7f000001", NULL},
	    {"[::1]", NULL},
	    {"::1", NULL},
	    {"example.com\n", NULL},
	};
	char dst[HOSTNAME_MAX + 1], label[70], longest[260] = "";
	const char *why = "";
	int r;

	for (size_t i = 0; i < nitems(rows); i++) {
		r = hostname_read(span_str(rows[i].in), dst, &why);
		if (rows[i].want == NULL)
			ok(r == -1 && why[0] != '\0', "\"%zu\" is none: %s", i,
			    why);
		else
			ok(r == 0 && strcmp(dst, rows[i].want) == 0,
			    "%s is one", rows[i].in);
	}
	memset(label, 'a', 63);
	for (unsigned i = 0; i < 3; i++) {
		memcpy(longest + strlen(longest), label, 63);
		strcat(longest, ".");
	}
	memset(longest + strlen(longest), 'b', 61);
	ok(strlen(longest) == 253 &&
		hostname_read(span_str(longest), dst, &why) == 0,
	    "253 characters");
	longest[253] = 'b';
	ok(hostname_read(span_str(longest), dst, &why) == -1, "254: %s", why);
	label[63] = 'a';
	memcpy(label + 64, ".b", 3);
	ok(hostname_read(span_str(label), dst, &why) == -1, "a label of 64: %s",
	    why);
	ok(hostname_read(span_of("a\0.com", 6), dst, &why) == -1, "a NUL");
	ok(hostname_public("a.localhost", &why) == -1 &&
		hostname_public("printer.local", &why) == -1 &&
		hostname_public("host.docker.internal", &why) == -1 &&
		hostname_public("metadata.google.internal", &why) == -1 &&
		hostname_public("1.0.0.127.in-addr.arpa", &why) == -1 &&
		hostname_public("x.onion", &why) == -1,
	    "names that are not public: %s", why);
	ok(hostname_public("notlocal.com", &why) == 0 &&
		hostname_public("internal.example", &why) == 0,
	    "names that only look like them");
}

static const struct msg_RELEASE *
call(const char *tool, const char *args)
{
	const union proto_any *m;
	const char *why;
	uint64_t id;

	ring_clear(&ring);
	id = ring_call(&ring, SERVER, tool, args);
	m = ring_find(&ring, MSG_RELEASE, 0);
	if (m == NULL || m->RELEASE.id != id)
		errx(1, "no RELEASE of %s", tool);
	if (call_ended(&ring.env, id, false, &why) == -1)
		errx(1, "%s", why);
	return &m->RELEASE;
}

static void
refused(const char *tool, const char *args, const char *rule, const char *want)
{
	const struct msg_RELEASE *m = call(tool, args);

	ok(!m->forward && m->line_len == 0 && span_is(m->rule, rule),
	    "%s refused by %s", tool, rule);
	is_str(ring_str(m->answer), want, "answer");
}

#define FINAL "\nDo not retry: the answer will be the same."

static void
test_refused(void)
{
	refused("add_proxy_domain", "{\"justification\":\"x\"}",
	    "invalid-arguments",
	    "Argument \"domain\" is required: a host name.");
	refused("add_proxy_domain", "{\"domain\":\"a.b\"}",
	    "invalid-arguments",
	    "Argument \"justification\" is required: 1 to 2000 bytes that tell "
	    "the user what the host is needed for.");
	refused("add_proxy_domain", "{\"domain\":7}", "invalid-arguments",
	    "Argument \"domain\" must be a string (got number).");
	refused("add_proxy_domain", "{\"domain\":\"a.b\",\"port\":1}",
	    "invalid-arguments",
	    "Unknown argument(s): \"port\". Valid parameters are: \"domain\", "
	    "\"justification\"");
	refused("add_proxy_domain",
	    "{\"domain\":\"https://a.b\",\"justification\":\"x\"}",
	    "invalid-domain",
	    "Domain \"https://a.b\" is a URL or an address, or has a port: give the "
	    "host name alone.");
	refused("add_proxy_domain",
	    "{\"domain\":\"db.internal\",\"justification\":\"x\"}",
	    "invalid-domain",
	    "Domain \"db.internal\" is a name of this machine or its network, "
	    "or reserved.");
	refused("remove_proxy_domain", "{\"domain\":\"\\u0000\"}",
	    "invalid-domain",
	    "Domain \"\\x00\" holds a character that no host name has.");
	refused("zap", "{}", "unknown-tool", "Unknown tool: proxy__zap");
	refused("remove_proxy_domain", "{\"domain\":\"a.evil.example\"}",
	    "evil", "DENIED: not there" FINAL);
	refused("add_proxy_domain",
	    "{\"domain\":\"A.EVIL.example\",\"justification\":\"x\"}", "evil",
	    "DENIED: not there" FINAL);
}

static void
test_allowed(void)
{
	const struct msg_RELEASE *m =
	    call("remove_proxy_domain", "{\"domain\":\"Docs.Example.COM\"}");

	ok(m->forward && m->status == PROTO_ALLOW && m->line_len == 0 &&
		m->server == SERVER &&
		span_is(m->rule, "proxy-remove-domain-allow"),
	    "remove is allowed, and no line");
	is_str(ring_str(span_of(m->payload.p + m->args_off, m->args_len)),
	    "{\"domain\":\"docs.example.com\"}", "in lower case");
	m = call("list_proxy_domains", "{}");
	ok(m->forward && m->status == PROTO_ALLOW &&
		span_is(m->rule, "proxy-list-domains-allow"),
	    "list is allowed, whatever a rule would have a person asked");
}

static const char add[] =
    "{\"domain\":\"Docs.example.com\",\"justification\":\"for the manual\"}";

/* Returns the hold of an add; *id is its id. */
static const struct msg_HOLD *
held(uint64_t *id)
{
	const union proto_any *m;

	ring_clear(&ring);
	*id = ring_call(&ring, SERVER, "add_proxy_domain", add);
	if ((m = ring_find(&ring, MSG_HOLD, 0)) == NULL)
		errx(1, "not held");
	return &m->HOLD;
}

static void
verdict(uint64_t id, const struct msg_HOLD *h, bool approve, bool session)
{
	struct msg_VERDICT_GO v = {.id = id, .approve = approve};
	uint8_t digest[32], none[32] = {0};

	memcpy(digest, h->digest.p, sizeof(digest));
	v.digest = span_of(digest, sizeof(digest));
	if (session)
		v.session = span_of(none, sizeof(none));
	ring_clear(&ring);
	call_verdict(&ring.env, &v);
}

static void
test_add(void)
{
	const struct msg_HOLD *h;
	const struct msg_RELEASE *m;
	const char *why;
	uint64_t id;

	for (unsigned i = 0; i < 2; i++) {
		h = held(&id);
		ok(span_is(h->rule, "proxy-add-domain-escalate") &&
			h->server == SERVER && span_is(h->server_name, "proxy"),
		    "an add is held, though a rule allows everything");
		is_str(ring_str(span_of(h->preview.p, h->args)),
		    "{\"domain\":\"docs.example.com\",\"justification\":\"for "
		    "the manual\"}",
		    "as it will be sent");
		is_str(ring_str(h->reason),
		    "The agent asks to reach docs.example.com (HTTPS, GET and "
		    "HEAD only, until the session ends). It says: for the "
		    "manual",
		    "why");
		is_str(ring_str(h->effect),
		    "Opens docs.example.com to this session", "what it does");
		ok(h->session.len == 0, "nothing for the session on offer");
		/*
		 * Approved for the session: the next one is held all the same.
		 */
		verdict(id, h, true, true);
		m = &ring_find(&ring, MSG_RELEASE, 0)->RELEASE;
		ok(m->forward && m->grant == 0 && m->line_len == 0 &&
			m->hold == PROTO_HOLD_APPROVED,
		    "approved: released, and nothing is granted");
		if (call_ended(&ring.env, id, false, &why) == -1)
			errx(1, "%s", why);
	}
	h = held(&id);
	verdict(id, h, false, false);
	m = &ring_find(&ring, MSG_RELEASE, 0)->RELEASE;
	ok(!m->forward && m->hold == PROTO_HOLD_DENIED, "denied");
	(void)call_ended(&ring.env, id, false, &why);
	h = held(&id);
	ring_clear(&ring);
	call_cancel(&ring.env, id);
	m = &ring_find(&ring, MSG_RELEASE, 0)->RELEASE;
	ok(!m->forward && m->hold == PROTO_HOLD_CANCELLED,
	    "cancelled while it is held");
	(void)call_ended(&ring.env, id, false, &why);
	ring_clear(&ring);
	id = ring_call(&ring, SERVER, "list_proxy_domains", "{}");
	call_cancel(&ring.env, id);
	ok(ring_find(&ring, MSG_SESSION, 0)->SESSION.id == id,
	    "cancelled while icsupervisor works on it");
	(void)call_ended(&ring.env, id, false, &why);
}

static void
test_others(void)
{
	const struct msg_RELEASE *m;
	uint64_t id;
	bool all;

	rig_must_load(&ring.rig, PROTO_RULES_POLICY, deny_all);
	m = call("list_proxy_domains", "{}");
	ok(m->forward, "a rule for all servers is not about this one");
	(void)held(&id);
	ring.env.engine.ask = false;
	m = call("add_proxy_domain", add);
	ok(!m->forward && m->status == PROTO_ESCALATE,
	    "nobody to ask: refused");
	ok(engine_server(&ring.env.engine, 5, SPAN("proxy"), false, SPAN(""),
	       SPAN(""), SPAN("")) == -1,
	    "no other server may be called so");
	ok(engine_server_virtual(&ring.env.engine, SERVER, SPAN("proxy")) ==
		    -1 &&
		engine_server_virtual(&ring.env.engine, 3, SPAN("proxy")) == -1,
	    "once, in its place");
	all = ring.env.sessions[SERVER].tools.n == 3;
	for (size_t i = 0; all && i < 3; i++)
		all = pins_usable(&ring.env.sessions[SERVER].tools.list[i]);
	ok(all, "three tools, none in quarantine");
}

int
main(void)
{
	const union proto_any *m;

	test_names();
	ring_init(&ring, true);
	if (engine_server_virtual(&ring.env.engine, SERVER, SPAN("proxy")) ==
	    -1)
		err(1, "engine_server_virtual");
	rig_must_load(&ring.rig, PROTO_RULES_ANNOTATIONS, rig_annotations);
	rig_must_load(&ring.rig, PROTO_RULES_POLICY, rules);
	virtual_start(&ring.env, SERVER);
	m = ring_find(&ring, MSG_STATE, 0);
	ok(m != NULL && m->STATE.state == PROTO_STATE_READY &&
		m->STATE.tools == 3,
	    "ready from the beginning");
	m = ring_find(&ring, MSG_TOOLS, 0);
	ok(m != NULL && memmem(m->TOOLS.text.p, m->TOOLS.text.len,
			    "\"name\":\"proxy__add_proxy_domain\"", 32) != NULL,
	    "and published");
	test_refused();
	test_allowed();
	test_add();
	test_others();
	ring_free(&ring);
	return tap_done();
}
