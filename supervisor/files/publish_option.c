/* SPDX-License-Identifier: ISC */
/* Parses --publish. */
#include "files/publish_option.h"

#include <string.h>

#include "common/ipc/proto.h"

/* ic-bridge's own listener in the sandbox: the way to the model. */
#define PUBLISH_PROXY 18080U
#define PUBLISH_PLAIN "127.0.0.1:"

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
