/* SPDX-License-Identifier: ISC */
/*
 * Reads "services", which the agent finds at ports of its own localhost. A
 * service of this machine names one address by number, so that no name can lead
 * elsewhere later; which program listens there is looked at when a session
 * starts (relay/services_check.c). A service of the session's own has a program
 * of this machine or an image instead (services_own.c).
 */
#include "files/parse.h"

#include <arpa/inet.h>

#include <stdio.h>
#include <string.h>

#include "common/net/egress_list.h"

/* A port below needs a right that sandboxes do not have. */
#define SERVICES_FIRST_PORT 1024
/* ic-bridge's own. */
#define SERVICES_PROXY_PORT 18080

static bool
services_name_ok(const char *s)
{
	static const char *const taken[] = {
	    "localhost", "ironcurtain", "ip6-localhost", "ip6-loopback"};
	const size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-");

	for (size_t i = 0; i < nitems(taken); i++)
		if (strcmp(s, taken[i]) == 0)
			return false;
	return n != 0 && n <= 32 && s[n] == '\0' && s[0] >= 'a' &&
	       s[0] <= 'z' && s[n - 1] != '-';
}

/* Returns NULL, or the reason why no service may be at this address. */
static const char *
services_v4(uint32_t a)
{
	if (a >> 16 == (127U << 8 | 83))
		return "is where published ports of sessions are";
	if (a >> 24 == 127 || a >> 24 == 10 || a >> 20 == (172U << 4 | 1) ||
	    a >> 16 == (192U << 8 | 168))
		return NULL;
	if (a >> 16 == (169U << 8 | 254))
		return "is a link-local address, where metadata services are";
	if (a >> 24 == 0)
		return "is no address of a service: write 127.0.0.1";
	return "is neither a loopback address nor one of a private network: "
	       "for hosts of the internet, see destinations";
}

static const char *
services_v6(const uint8_t a[16])
{
	static const uint8_t loopback[16] = {[15] = 1};
	/* fd00:ec2::254 and fd20:ce::254 */
	static const uint8_t metadata[2][16] = {
	    {0xfd, 0x00, 0x0e, 0xc2, [14] = 0x02, [15] = 0x54},
	    {0xfd, 0x20, 0x00, 0xce, [14] = 0x02, [15] = 0x54}};

	if (memcmp(a, metadata[0], 16) == 0 || memcmp(a, metadata[1], 16) == 0)
		return "is a metadata service";
	if (memcmp(a, loopback, 16) == 0 || (a[0] & 0xfe) == 0xfc)
		return NULL;
	return "is neither [::1] nor one of a private network (write an "
	       "address of IPv4 as such)";
}

/* Returns NULL, or the reason why the address is refused. */
static const char *
services_refuses(const char *host)
{
	struct in_addr in;
	uint8_t in6[16];

	if (inet_pton(AF_INET, host, &in) == 1)
		return services_v4(ntohl(in.s_addr));
	if (inet_pton(AF_INET6, host, in6) == 1)
		return services_v6(in6);
	return "must be an address, as in \"127.0.0.1:5432\": a name could "
	       "lead elsewhere later";
}

static int
services_to(const struct jsonfile *j, const char *where, const char *to,
    struct config_service *s)
{
	char host[EGRESS_MAX_HOST + 1];
	const char *why;

	if (to == NULL || egress_target(span_str(to), host, &s->to) == -1 ||
	    s->to == 0)
		return jsonfile_bad(j, where, "to",
		    "must be ADDRESS:PORT, as \"127.0.0.1:5432\" or "
		    "\"[::1]:5432\"");
	if ((why = services_refuses(host)) != NULL)
		return jsonfile_bad(j, where, "to", "%s %s", host, why);
	/* An address has at most 45 characters. */
	(void)strlcpy(s->host, host, sizeof(s->host));
	return 0;
}

/* The earlier ones have neither the port nor the address of the last one. */
static int
services_unlike(const struct jsonfile *j, const char *where,
    const struct config *cfg, const struct config_service *s)
{
	for (unsigned i = 0; i + 1 < cfg->nservices; i++) {
		const struct config_service *o = &cfg->services[i];

		if (o->port == s->port)
			return jsonfile_bad(j, where, "port",
			    "%u is that of services.%s, too", s->port, o->name);
		if (s->own == NULL && o->to == s->to &&
		    strcmp(o->host, s->host) == 0)
			return jsonfile_bad(j, where, "to",
			    "is where services.%s leads, too", o->name);
	}
	return 0;
}

/* Read where the service is: at an address, or in a sandbox of its own. */
static int
services_where(const struct jsonfile *j, const char *where,
    struct json_object *o, const char *name, struct config_service *s)
{
	static const char *const keys[] = {"port", "to", "login", NULL};
	const char *to = NULL;

	if (json_object_object_get_ex(o, "command", NULL) ||
	    json_object_object_get_ex(o, "image", NULL)) {
		if (services_own(j, where, o) == -1)
			return -1;
		(void)strlcpy(s->host, name, sizeof(s->host));
		s->own = json_object_get(o);
		return 0;
	}
	return jsonfile_known(j, o, where, keys) == -1 ||
		       jsonfile_str(j, o, where, "to", &to) == -1
		   ? -1
		   : services_to(j, where, to, s);
}

/* Read the port of the sandbox: the same, unless another one is wanted. */
static int
services_port(const struct jsonfile *j, const char *where,
    struct json_object *o, struct config_service *s)
{
	int64_t port = 0;

	if (jsonfile_int(j, o, where, "port", SERVICES_FIRST_PORT, UINT16_MAX,
		&port) == -1)
		return -1;
	if (s->own != NULL)
		s->to = (uint16_t)port;
	s->port = (uint16_t)(port != 0 ? port : s->to);
	if (s->own != NULL && port == 0)
		return jsonfile_bad(j, where, "port",
		    "must be there: the port at which the service listens");
	if (s->port < SERVICES_FIRST_PORT)
		return jsonfile_bad(j, where, "port",
		    "must be there: a sandbox has no ports below %d, as %u is. "
		    "Choose the one that the agent sees",
		    SERVICES_FIRST_PORT, s->to);
	if (s->port == SERVICES_PROXY_PORT)
		return jsonfile_bad(j, where, "port",
		    "%d is the sandbox's own proxy", SERVICES_PROXY_PORT);
	return 0;
}

static int
services_one(struct config *cfg, const struct jsonfile *j,
    struct json_object *all, const char *name, const char *user_home)
{
	struct config_service *s = &cfg->services[cfg->nservices];
	struct json_object *o = NULL, *login = NULL;
	char where[64];

	if (!services_name_ok(name))
		return jsonfile_bad(j, "services", name,
		    "is no name of a service: at most 32 lower-case letters, "
		    "digits and hyphens, a letter first, and none of our own");
	if (cfg->nservices == PROTO_MAX_SERVICES)
		return jsonfile_bad(j, "services", name,
		    "at most %u services are allowed", PROTO_MAX_SERVICES);
	snprintf(where, sizeof(where), "services.%s", name);
	if (jsonfile_object(j, all, "services", name, &o) == -1 ||
	    services_where(j, where, o, name, s) == -1)
		return -1;
	/* From here on config_free() sees it. */
	(void)strlcpy(s->name, name, sizeof(s->name));
	cfg->nservices++;
	if (services_port(j, where, o, s) == -1 ||
	    services_unlike(j, where, cfg, s) == -1 ||
	    jsonfile_object(j, o, where, "login", &login) == -1)
		return -1;
	return login == NULL ? 0
			     : services_login(cfg, j, name, login, s, user_home);
}

int
config_services(struct config *cfg, const struct jsonfile *j,
    struct json_object *root, const char *user_home)
{
	struct json_object *all = NULL;

	if (jsonfile_object(j, root, "", "services", &all) == -1)
		return -1;
	if (all == NULL)
		return 0;
	json_object_object_foreach(all, name, val)
	{
		(void)val;
		if (services_one(cfg, j, all, name, user_home) == -1)
			return -1;
	}
	return 0;
}
