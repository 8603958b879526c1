/* SPDX-License-Identifier: ISC */
/* What domain.c and domain_git.c share; private to them. */
#ifndef DOMAIN_URL_H
#define DOMAIN_URL_H

#include "engine/domain.h"

#define URL_MAX_SCHEME 16U

struct url_parts {
	struct span scheme, user, host, port, path, query, fragment;
	bool has_query, has_fragment;
};

/* Length, controls, backslashes, outer spaces. */
int url_check(struct span, const char **why);
/* The length of the scheme before ':', in lower case in dst, or 0. */
size_t url_scheme(struct span, char dst[URL_MAX_SCHEME]);
/* What follows "scheme://", into everything but the scheme. */
int url_split(struct span, struct url_parts *, const char **why);
int url_compose(struct value_pool *, const struct url_parts *, struct url *,
    const char **why);
int url_hostless(struct value_pool *, struct span, size_t scheme_len,
    struct url *, const char **why);

#endif
