/* SPDX-License-Identifier: ISC */
/*
 * Classes of text in provider files and in requests. Private to the modules
 * that read or match a part of them. All functions take untrusted bytes and
 * keep no state.
 */
#ifndef PROVIDER_CLASS_H
#define PROVIDER_CLASS_H

#include "common/span.h"

/*
 * Copy to dst[cap] for a message: printable ASCII, anything else as `?`,
 * truncated to fit.
 */
const char *provider_vis(struct span, char *dst, size_t cap);
/* Returns the description of a class for a message, ": must be ...", or "". */
const char *provider_class_says(bool (*class)(struct span));

bool provider_is_label(struct span);    /* a provider's name */
bool provider_is_host(struct span);     /* a DNS name, lower case */
bool provider_is_env(struct span);      /* the name of a variable */
bool provider_is_sentinel(struct span); /* prefix of placeholder keys */
bool provider_is_kind(struct span);     /* a header that carries a credential */
bool provider_is_prefix(struct span); /* the text before the credential in it */
bool provider_is_allowed(struct span); /* may be on an allow-list */
bool provider_is_method(struct span);
bool provider_is_pattern(struct span); /* a path pattern */
bool provider_is_param(struct span);   /* the name of a parameter */
bool provider_is_token(struct span);   /* a parameter's value */
bool provider_is_number(struct span);
bool provider_is_type(struct span);    /* a media type, lower case */
bool provider_is_segment(struct span); /* a segment of a received path */

/* Classes used by logins. */
bool provider_is_sent(struct span);   /* a header's value that a user gave */
bool provider_is_word(struct span);   /* needs no escaping anywhere */
bool provider_is_scope(struct span);  /* words separated by single spaces */
bool provider_is_member(struct span); /* "a.b.c": up to four names */
bool provider_is_place(struct span);  /* a path in the user's home */
bool provider_is_url(struct span);    /* https://... */
bool provider_is_claim(struct span);  /* the name of a claim */
bool provider_is_fake(struct span);   /* a fake JWT */
/* At most one dot: keyd writes these members into the file that it keeps. */
bool provider_is_flat(struct span);

#endif
