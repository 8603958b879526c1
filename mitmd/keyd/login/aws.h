/* SPDX-License-Identifier: ISC */
/*
 * The forms in which AWS credentials are stored: the output of
 * `credential_process`, which icsupervisor also uses for keys from the
 * environment ({"Version":1,"AccessKeyId":...}), the [default] section of a
 * credentials file, or one line, a Bedrock API key. They are parsed in place,
 * in secret memory, and nothing is copied out of it.
 */
#ifndef KEYD_AWS_H
#define KEYD_AWS_H

#include "common/span.h"

#define AWS_MAX_ID 128U
#define AWS_MAX_SECRET 256U
#define AWS_MAX_TOKEN 4096U

struct aws_key {
	struct span id, secret;
	struct span token; /* session token; may be empty */
	uint64_t expires;  /* seconds since 1970; 0: unknown */
};

enum aws_form {
	AWS_KEYS,
	AWS_API_KEY, /* one line: the credential itself */
	AWS_BAD,
};

/* For AWS_BAD, `*why` is constant text that names the mistake. */
enum aws_form aws_parse(struct span text, struct aws_key *, const char **why);

#endif
