/* SPDX-License-Identifier: ISC */
/*
 * The texts of a question about a host. A name has only the letters that
 * hostname_read() accepts, so that it needs no escapes.
 */
#include "approval/host_holds.h"

#include "common/buf.h"

#define HOST_RULE "open-host"

void
host_names(const struct known_host *k, struct buf *b)
{
	for (unsigned i = 0; i < k->n; i++)
		buf_printf(b, "%s%s:443", i != 0 ? " and " : "", k->hosts[i]);
}

const char *
host_as(enum proto_open kind)
{
	switch (kind) {
	case PROTO_OPEN_WEB:
		return "a web destination (GET, HEAD)";
	case PROTO_OPEN_GIT:
		return "a git server to fetch from (no push)";
	case PROTO_OPEN_NPM:
		return "a package registry (npm) to install from";
	case PROTO_OPEN_PYPI:
		return "a package registry (pypi) to install from";
	case PROTO_OPEN_CRATES:
		return "a package registry (crates) to install from";
	case PROTO_OPEN_DEBIAN:
		return "a package registry (debian) to install from";
	}
	return "nothing";
}

void
host_args(const struct known_host *k, struct buf *b)
{
	const char *registry = known_host_registry(k->kind);

	buf_adds(b, "{\"as\":\"");
	buf_adds(b, registry != NULL            ? "registry"
		    : k->kind == PROTO_OPEN_GIT ? "git"
						: "web");
	buf_adds(b, "\",\"hosts\":[");
	for (unsigned i = 0; i < k->n; i++)
		buf_printf(b, "%s\"%s\"", i != 0 ? "," : "", k->hosts[i]);
	buf_adds(b, "],\"port\":443");
	if (registry != NULL)
		buf_printf(b, ",\"registry\":\"%s\"", registry);
	buf_addc(b, '}');
}

static bool
host_foreign(const struct known_host *k)
{
	for (unsigned i = 0; i < k->n; i++)
		if (known_host_foreign(k->hosts[i]))
			return true;
	return false;
}

void
host_effect(const struct known_host *k, struct buf *b)
{
	buf_adds(b, "Opens ");
	host_names(k, b);
	buf_printf(b, " as %s for this session", host_as(k->kind));
	if (host_foreign(k))
		buf_adds(b,
		    ". Careful: xn-- is punycode, which stands for letters of "
		    "other scripts; the name may look like another one");
}

void
host_reason(struct span agent, struct buf *b)
{
	buf_adds(b, "A program of the sandbox wants to reach it, and it is on "
		    "no list");
	if (agent.len == 0)
		return;
	buf_adds(b, "; the agent says: ");
	buf_addspan(b, agent);
}

void
host_details(const struct known_host *k, struct span reason, struct buf *b)
{
	buf_adds(b, "{\"asks\":[{\"reason\":\"");
	buf_addspan(b, reason);
	buf_adds(b, "\",\"rule\":\"" HOST_RULE "\"}],\"resources\":[");
	for (unsigned i = 0; i < k->n; i++)
		buf_printf(b,
		    "%s{\"argument\":\"hosts\",\"role\":\"proxy-domain\","
		    "\"value\":\"%s:443\"}",
		    i != 0 ? "," : "", k->hosts[i]);
	buf_adds(b, "]}");
}

void
host_grant(const struct known_host *k, struct buf *b)
{
	buf_adds(b, "{\"constraints\":[");
	for (unsigned i = 0; i < k->n; i++)
		buf_printf(b,
		    "%s{\"kind\":\"domain\",\"role\":\"proxy-domain\","
		    "\"value\":\"%s\"}",
		    i != 0 ? "," : "", k->hosts[i]);
	buf_adds(b, "],\"description\":\"Open ");
	host_names(k, b);
	buf_printf(b, " as %s\",\"rule\":\"" HOST_RULE "\"}", host_as(k->kind));
}
