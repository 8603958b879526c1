/* SPDX-License-Identifier: ISC */
/*
 * The forms in which AWS credentials are kept: what `credential_process` and
 * our own pipe from the environment give ({"Version":1,"AccessKeyId":...}),
 * the [default] section of a credentials file, or one line, a Bedrock API
 * key.  Read in place, in secret memory: nothing is copied out of it.
 */
#ifndef KEYD_AWS_H
#define KEYD_AWS_H

#include "common/span.h"

#define AWS_MAX_ID 128U
#define AWS_MAX_SECRET 256U
#define AWS_MAX_TOKEN 4096U

struct aws_key {
	struct span id, secret;
	struct span token; /* of a session; empty: none */
	uint64_t expires;  /* seconds since 1970; 0: not said */
};

enum aws_form {
	AWS_KEYS,
	AWS_API_KEY, /* one line: the credential as it is */
	AWS_BAD,
};

/* AWS_BAD: *why is constant text that names what is wrong. */
enum aws_form aws_parse(struct span text, struct aws_key *, const char **why);
/* RFC 3339 in UTC ("Z" or "+00:00"); 0: it is none. */
uint64_t aws_time(struct span);

#endif
