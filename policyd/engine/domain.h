/* SPDX-License-Identifier: ISC */
/*
 * URLs and hosts (original.md 1.7, security.md 2.3), read strictly and written
 * in one form: what is compared with the rules is what is sent.  Scheme and
 * host in lower case, no trailing dot, addresses in their usual spelling, no
 * default port, dot segments resolved.  What two readers could take for
 * different hosts is refused, not repaired.
 */
#ifndef DOMAIN_H
#define DOMAIN_H

#include "common/json/value.h"

#define DOMAIN_MAX_HOST	253U
#define DOMAIN_MAX_URL	8192U

enum host_kind {
	HOST_NONE,	/* file: and the like */
	HOST_NAME,
	HOST_ADDRESS,	/* IPv4, or IPv6 in brackets */
};

/* What is compared with patterns. Texts live in the pool. */
struct domain {
	enum host_kind kind;
	struct span host;
	struct span full;	/* host/owner/repo of a remote; else host */
	bool known;		/* false: a remote's name, or none at all */
	/*
	 * With HOST_NONE: the host that stands in a URL whose scheme we do not
	 * vouch for, such as ftp://host/. Rules that deny or ask see it.
	 */
	struct span seen;
	enum host_kind seen_kind;
};

struct url {
	struct domain domain;
	struct span text;	/* the one form that is sent */
};

/*
 * A host as it stands in a URL or a list: 0, or -1 with *why (constant text).
 * dst has DOMAIN_MAX_HOST + 1 bytes.
 */
int host_normalise(struct span, char *dst, size_t *len, enum host_kind *,
    const char **why);

/* A fetch-url argument. -1 with *why; ENOBUFS: *why NULL. */
int url_parse(struct value_pool *, struct span, struct url *,
    const char **why);
/*
 * A git-remote-url argument: a URL, user@host:path, or the name of a remote,
 * whose URL is not known (domain.known false).
 */
int url_parse_git(struct value_pool *, struct span, struct url *,
    const char **why);

#endif
