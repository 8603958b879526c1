/* SPDX-License-Identifier: ISC */
/* Helpers that domain.c and domain_git.c share. Private to them. */
#ifndef DOMAIN_URL_H
#define DOMAIN_URL_H

#include "engine/domain.h"

#define URL_MAX_SCHEME 16U

struct url_parts {
	struct span scheme, user, host, port, path, query, fragment;
	bool has_query, has_fragment;
};

/* Check length, control characters, backslashes and surrounding blanks. */
int url_check(struct span, const char **why);
/* Copy the scheme before ':' to dst in lower case. Returns its length, or 0. */
size_t url_scheme(struct span, char dst[URL_MAX_SCHEME]);
/* Split the text after "scheme://"; sets every part but the scheme. */
int url_split(struct span, struct url_parts *, const char **why);
int url_compose(struct value_pool *, const struct url_parts *, struct url *,
    const char **why);
int url_hostless(struct value_pool *, struct span, size_t scheme_len,
    struct url *, const char **why);

#endif
