/* SPDX-License-Identifier: ISC */
/*
 * The answer of a corporate proxy to a CONNECT: one head of at most 8 KiB, read
 * by the strict parser of common/http/http1.h. Only 200 opens a tunnel; lengths
 * and codings in it are ignored, as RFC 9110, 9.3.6 demands. All texts are
 * constant except for the number of a status.
 */
#ifndef TUNNEL_ANSWER_H
#define TUNNEL_ANSWER_H

#include "common/http/http1.h"
#include "common/ipc/proto.h"

#define TUNNEL_ANSWER_MAX 8192U

enum tunnel_result {
	TUNNEL_ANSWER_MORE,
	TUNNEL_ANSWER_OPEN, /* `size` is set: bytes of the head */
	TUNNEL_ANSWER_FAIL, /* `proxy` and `text` are set */
};

struct tunnel_answer {
	size_t seen; /* bytes examined by http1_response_more() */
	size_t size;
	unsigned status; /* 0: none */
	enum proto_proxy proxy;
	char text[200];
};

/*
 * Judge the input so far. `in` grows from call to call; only its new bytes are
 * examined. `credential` tells whether one was sent.
 */
enum tunnel_result tunnel_answer(
    struct tunnel_answer *, struct span in, bool credential);
/*
 * Set the failure for a connection that closed after `had` bytes of an answer.
 */
void tunnel_answer_closed(struct tunnel_answer *, size_t had);

#endif
