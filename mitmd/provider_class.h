/* SPDX-License-Identifier: ISC */
/*
 * Classes of text in a provider file and in requests.  Private to provider.c
 * and provider_match.c; all take bytes from outside and hold nothing.
 */
#ifndef PROVIDER_CLASS_H
#define PROVIDER_CLASS_H

#include "span.h"

/* For messages: printable ASCII, the rest as `?`, cut. */
const char *provider_vis(struct span, char *dst, size_t cap);

bool provider_is_label(struct span);    /* a provider's name */
bool provider_is_host(struct span);     /* a DNS name, lower case */
bool provider_is_env(struct span);      /* a variable */
bool provider_is_sentinel(struct span); /* prefix of sentinel keys */
bool provider_is_kind(struct span);     /* a header that carries one */
bool provider_is_prefix(struct span);   /* what precedes it there */
bool provider_is_allowed(struct span);  /* may be on an allow-list */
bool provider_is_method(struct span);
bool provider_is_pattern(struct span); /* of a path */
bool provider_is_param(struct span);   /* name of a parameter */
bool provider_is_token(struct span);   /* a parameter's value */
bool provider_is_number(struct span);
bool provider_is_type(struct span);    /* a media type, lower case */
bool provider_is_segment(struct span); /* of a path, received */

#endif
