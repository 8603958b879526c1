/* SPDX-License-Identifier: ISC */
/*
 * Classes of text in a provider file and in requests.  Private to those
 * who read or match a part of it; all take bytes from outside and hold nothing.
 */
#ifndef PROVIDER_CLASS_H
#define PROVIDER_CLASS_H

#include "common/span.h"

/* For messages: printable ASCII, the rest as `?`, cut. */
const char *provider_vis(struct span, char *dst, size_t cap);
/* For messages: what a text of that class is, ": must be ..."; or "". */
const char *provider_class_says(bool (*class)(struct span));

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

/* Of logins. */
bool provider_is_word(struct span);   /* stands for itself wherever it is */
bool provider_is_scope(struct span);  /* words, single spaces between them */
bool provider_is_member(struct span); /* "a.b.c": at most four names */
bool provider_is_place(struct span);  /* a path of the user's files */
bool provider_is_url(struct span);    /* https://... */
bool provider_is_claim(struct span);  /* a claim's name */
bool provider_is_fake(struct span);   /* a JWT that is none */
/* At most one dot: the file that is kept is written from these. */
bool provider_is_flat(struct span);

#endif
