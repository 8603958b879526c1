/* SPDX-License-Identifier: ISC */
/*
 * URLs and hosts, read strictly and written in one canonical form, so that what
 * is compared with the rules is what is sent. Scheme and host are in lower
 * case, without a trailing dot; addresses have their usual spelling; the
 * default port is omitted; dot segments are resolved. A text that two readers
 * could take for different hosts is refused, not repaired.
 */
#ifndef DOMAIN_H
#define DOMAIN_H

#include "common/json/value.h"

#define DOMAIN_MAX_HOST	253U
#define DOMAIN_MAX_URL	8192U

enum host_kind {
	HOST_NONE,	/* no host, as in file: */
	HOST_NAME,
	HOST_ADDRESS,	/* IPv4, or IPv6 in brackets */
};

/* The part of a URL that is compared with patterns. Texts live in the pool. */
struct domain {
	enum host_kind kind;
	struct span host;
	struct span full;	/* host/owner/repo for a remote, else the
				   host */
	bool known;		/* false: the name of a remote, or no host */
	/*
	 * If `kind` is HOST_NONE: the host in a URL of an unsupported scheme,
	 * such as ftp://host/. Only rules that deny or ask look at it.
	 */
	struct span seen;
	enum host_kind seen_kind;
};

struct url {
	struct domain domain;
	struct span text;	/* the canonical form, which is sent */
};

/*
 * Normalise a host from a URL or a list. `dst` has DOMAIN_MAX_HOST + 1 bytes.
 * Returns 0, or -1 with a constant text in *why.
 */
int host_normalise(struct span, char *dst, size_t *len, enum host_kind *,
    const char **why);

/*
 * Parse a fetch-url argument. Returns 0, or -1 with the reason in *why, or with
 * *why NULL and errno ENOBUFS.
 */
int url_parse(struct value_pool *, struct span, struct url *,
    const char **why);
/*
 * Parse a git-remote-url argument: a URL, user@host:path, or the name of a
 * remote, whose URL is not known (domain.known is false). Returns as
 * url_parse().
 */
int url_parse_git(struct value_pool *, struct span, struct url *,
    const char **why);

#endif
