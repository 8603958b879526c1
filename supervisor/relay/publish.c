/* SPDX-License-Identifier: ISC */
/* --publish: what workers and the user are told of it. */
#include "relay/publish.h"

#include <netinet/in.h>

#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_put.h"
#include "core/sup.h"

uint8_t publish_salt;

static struct msg_PORT_USE_SHOW publish_use[PROTO_MAX_PORTS];

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
