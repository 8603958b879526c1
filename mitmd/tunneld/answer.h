/* SPDX-License-Identifier: ISC */
/*
 * What a corporate proxy answers to a CONNECT: one head, at most 8 KiB, read
 * by the strict parser of common/http/http1.h.  200 and nothing else is a
 * tunnel; lengths and codings that it names are ignored, as RFC 9110, 9.3.6
 * demands. All texts are constant but for the number of a status.
 */
#ifndef TUNNEL_ANSWER_H
#define TUNNEL_ANSWER_H

#include "common/http/http1.h"
#include "common/ipc/proto.h"

#define TUNNEL_ANSWER_MAX 8192U

enum tunnel_result {
	TUNNEL_ANSWER_MORE,
	TUNNEL_ANSWER_OPEN, /* size: bytes of the head */
	TUNNEL_ANSWER_FAIL, /* proxy, text */
};

struct tunnel_answer {
	size_t seen; /* of the input, by http1_response_more */
	size_t size;
	unsigned status; /* 0: none */
	enum proto_proxy proxy;
	char text[200];
};

/*
 * in: all that came so far, of which nothing was looked at before what a
 * shorter one held.  credential: one was sent.
 */
enum tunnel_result tunnel_answer(
    struct tunnel_answer *, struct span in, bool credential);
/* The connection ended first. */
void tunnel_answer_closed(struct tunnel_answer *, size_t had);

#endif
