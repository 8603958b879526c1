/* SPDX-License-Identifier: ISC */
/* --publish: its syntax, and what the user is told. */
#include "relay/publish.h"

#include <netinet/in.h>

#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json_put.h"
#include "sup.h"

/* ic-bridge's own listener in the sandbox: the way to the model. */
#define PUBLISH_PROXY 18080U
#define PUBLISH_PLAIN "127.0.0.1:"

uint8_t publish_salt;

static struct msg_PORT_USE_SHOW publish_use[PROTO_MAX_PORTS];

/* Parse digits up to `end`, or up to the end of the text. Returns 0 if bad. */
static uint16_t
publish_number(const char *s, size_t len)
{
	unsigned n = 0;

	if (len == 0 || len > 5 || strspn(s, "0123456789") < len)
		return 0;
	for (size_t i = 0; i < len; i++)
		n = n * 10 + (unsigned)(s[i] - '0');
	return n > 65535 ? 0 : (uint16_t)n;
}

/* Returns the reason why the port cannot be added, or NULL. */
static const char *
publish_clash(const struct publish_option *list, unsigned n,
    const struct publish_option *p)
{
	if (p->port == PUBLISH_PROXY)
		return "the sandbox itself uses this port, for the model";
	for (unsigned i = 0; i < n; i++) {
		if (list[i].port == p->port)
			return "it is published already";
		if (list[i].host_port == p->host_port &&
		    list[i].plain == p->plain)
			return "another port has this HOSTPORT";
	}
	return NULL;
}

int
publish_option(struct publish_option *list, unsigned *n, const char *text,
    struct fault *fault)
{
	struct publish_option p = {.plain = false};
	const char *rest = text, *colon;
	const char *why;

	if (*n == PROTO_MAX_PORTS)
		return fault_set(
		    fault, "--publish: at most %u times", PROTO_MAX_PORTS);
	if (strncmp(rest, PUBLISH_PLAIN, sizeof(PUBLISH_PLAIN) - 1) == 0) {
		rest += sizeof(PUBLISH_PLAIN) - 1;
		p.plain = true;
	}
	colon = strchr(rest, ':');
	if (colon != NULL) {
		p.host_port = publish_number(rest, (size_t)(colon - rest));
		rest = colon + 1;
	}
	p.port = publish_number(rest, strlen(rest));
	if (colon == NULL && !p.plain)
		p.host_port = p.port;
	if (p.port == 0 || p.host_port == 0)
		return fault_set(fault,
		    "--publish %s: this must be PORT, HOSTPORT:PORT or "
		    "127.0.0.1:HOSTPORT:PORT, with numbers from 1 to 65535",
		    text);
	if ((why = publish_clash(list, *n, &p)) != NULL)
		return fault_set(fault, "--publish %s: %s", text, why);
	list[(*n)++] = p;
	return 0;
}

const char *
publish_ports(char text[PUBLISH_PORTS_TEXT])
{
	size_t n = 0;

	text[0] = '\0';
	for (unsigned i = 0; i < sup.opt.npublish; i++)
		n += (size_t)snprintf(text + n, PUBLISH_PORTS_TEXT - n, "%s%u",
		    i == 0 ? "" : ",", sup.opt.publish[i].port);
	return text;
}

/*
 * Returns 127.83.A.B. Browsers give a cookie to every port of a host, so that
 * a sandbox at 127.0.0.1 would get those of all local programs.
 */
uint32_t
publish_address(unsigned i)
{
	uint8_t hash[SHA256_DIGEST_LENGTH];
	SHA2_CTX ctx;

	if (sup.opt.publish[i].plain)
		return INADDR_LOOPBACK;
	SHA256Init(&ctx);
	SHA256Update(
	    &ctx, (const uint8_t *)sup.session.id, strlen(sup.session.id));
	SHA256Update(&ctx, &publish_salt, 1);
	SHA256Final(hash, &ctx);
	return 127U << 24 | 83U << 16 | (uint32_t)hash[0] << 8 |
	       (uint32_t)(1 + hash[1] % 254);
}

const char *
publish_url(unsigned i)
{
	static char url[64];
	uint32_t a = publish_address(i);

	snprintf(url, sizeof(url), "http://%u.%u.%u.%u:%u/", a >> 24,
	    a >> 16 & 255, a >> 8 & 255, a & 255, sup.opt.publish[i].host_port);
	return url;
}

void
publish_say(void)
{
	void (*say)(const char *, ...) = sup.opt.quiet ? sup_note : sup_warn;

	for (unsigned i = 0; i < sup.opt.npublish; i++) {
		say("port %u of the sandbox is open to your browser, which can "
		    "send anything anywhere: %s",
		    sup.opt.publish[i].port, publish_url(i));
		if (sup.opt.publish[i].plain)
			say("at 127.0.0.1 its page also gets the cookies of "
			    "every other program there, and can set them; "
			    "without 127.0.0.1: it has an address of its own");
	}
}

int
publish_used(const struct msg_PORT_USE_SHOW *m)
{
	struct msg_PORT_USE_SHOW *use = &publish_use[m->index];

	if (m->index >= sup.opt.npublish ||
	    m->port != sup.opt.publish[m->index].port)
		return -1;
	if (m->strangers != 0 && use->strangers == 0)
		sup_warn("another user of this machine connected to %s; the "
			 "connection was closed",
		    publish_url(m->index));
	*use = *m;
	return 0;
}

struct json_object *
publish_json(void)
{
	struct json_object *list = json_object_new_array(), *o;
	const struct msg_PORT_USE_SHOW *use;

	for (unsigned i = 0; i < sup.opt.npublish; i++) {
		use = &publish_use[i];
		o = json_object_new_object();
		put_int(o, "port", sup.opt.publish[i].port);
		put_str(o, "url", publish_url(i));
		put_int(o, "open", use->open);
		put_int(o, "connections", (int64_t)use->connections);
		put_int(o, "received", (int64_t)use->received);
		put_int(o, "sent", (int64_t)use->sent);
		put_int(o, "nothingListened", (int64_t)use->silent);
		put_int(o, "otherUsers", (int64_t)use->strangers);
		put_int(o, "tooMany", (int64_t)use->over);
		json_object_array_add(list, o);
	}
	return list;
}
