/* SPDX-License-Identifier: ISC */
/*
 * Serves one process of node until it has a result.  The process is hostile:
 * its frames are bounded, it can call only tools of the table, its arguments
 * are read strictly and written again, and nothing that it sends or leaves out
 * can hold the agent longer than the program's time.
 */
#include "docker/agent/code_serve.h"

#include <sys/socket.h>

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/json/json.h"

#define SERVE_HEADER 5U
#define SERVE_ERRORS_MAX 4096U

long long
code_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

void
code_send(struct code_serve *r, char letter, struct span text)
{
	uint32_t n = (uint32_t)text.len;

	if (text.len > UINT32_MAX) {
		r->out.failed = true;
		return;
	}
	buf_addc(&r->out, (uint8_t)letter);
	for (unsigned i = 0; i < 32; i += 8)
		buf_addc(&r->out, (uint8_t)(n >> i));
	buf_addspan(&r->out, text);
}

/*
 * Read the arguments strictly and write them again.  Returns text in `args`
 * with a NUL after it, or -1.
 */
static int
serve_arguments(struct span json, struct buf *args)
{
	struct value_pool *pool = value_pool_new(16U << 20);
	const struct value *v;
	int r = -1;

	if (pool == NULL)
		return -1;
	v = json_read(pool, json, NULL);
	if (v != NULL && v->type == VALUE_OBJECT && json_write(args, v) == 0) {
		buf_addc(args, '\0');
		r = buf_check(args);
	}
	value_pool_free(pool);
	return r;
}

/* Returns the tool of a request "INDEX\nJSON", or NULL. */
static const struct code_tool *
serve_tool(struct code_serve *r, struct span *request)
{
	size_t index = 0, n = 0;

	while (n < request->len && n < 6 && request->p[n] >= '0' &&
	       request->p[n] <= '9')
		index = index * 10 + (size_t)(request->p[n++] - '0');
	if (n == 0 || n == request->len || request->p[n] != '\n' ||
	    index >= r->ntools)
		return NULL;
	request->p += n + 1;
	request->len -= n + 1;
	return &r->tools[index];
}

/* Call a tool for the program; the time that it takes is not the program's. */
static void
serve_call(struct code_serve *r, struct span request)
{
	const struct code_tool *tool = serve_tool(r, &request);
	long long began = code_now();
	char letter = 'e', *text = NULL;
	const char *answer = "there is no such tool";
	bool is_error = true;
	struct buf args;

	buf_init(&args, 2 * CODE_ARGS_MAX);
	if (tool != NULL && serve_arguments(request, &args) == -1) {
		answer = "the arguments are not one JSON object of valid text";
	} else if (tool != NULL) {
		is_error = false;
		text = r->call(r->arg, tool->server, tool->name,
		    (const char *)(args.p + args.off), &is_error);
		answer = text != NULL ? text : "the tool could not be called";
		if (text != NULL && !is_error)
			letter = 'o';
	}
	code_send(r, letter, span_of(answer, strlen(answer)));
	r->deadline += code_now() - began;
	buf_free(&args);
	free(text);
}

/* Handle one frame.  Returns 0, or -1 if it is not one of ours. */
static int
serve_frame(struct code_serve *r, int letter, struct span text)
{
	if (r->end != 0)
		return -1;
	switch (letter) {
	case CODE_CALL:
		/* One at a time: the runner waits for each answer. */
		if (r->out.len > 0)
			return -1;
		serve_call(r, text);
		return 0;
	case CODE_LOG:
		code_keep_add(&r->logs, text);
		return 0;
	case CODE_VALUE:
		code_keep_add(&r->value, text);
		return 0;
	case CODE_FINAL:
		if (text.len > CODE_FINAL_MAX - r->final.len)
			r->final_cut = true;
		else
			buf_addspan(&r->final, text);
		return 0;
	case CODE_DONE:
	case CODE_ERROR:
	case CODE_SYNTAX:
	case CODE_STRIPPED:
		if (text.len != 0)
			return -1;
		r->end = letter;
		return 0;
	default:
		return -1;
	}
}

/* Handle each complete frame.  Returns 0, or -1 if the stream is broken. */
static int
serve_frames(struct code_serve *r)
{
	const uint8_t *p;
	uint32_t n;

	while (r->end == 0 && r->in.len >= SERVE_HEADER) {
		p = r->in.p + r->in.off;
		n = p[1] | (uint32_t)p[2] << 8 | (uint32_t)p[3] << 16 |
		    (uint32_t)p[4] << 24;
		if (n > CODE_FRAME_MAX + 16)
			return -1;
		if (r->in.len - SERVE_HEADER < n)
			return 0;
		if (serve_frame(r, p[0], (struct span){p + SERVE_HEADER, n}) ==
		    -1)
			return -1;
		buf_drain(&r->in, SERVE_HEADER + n);
	}
	return 0;
}

static void
serve_read(struct code_serve *r)
{
	uint8_t *room = buf_room(&r->in, 65536);
	ssize_t n;

	if (room == NULL) {
		r->error = errno;
		return;
	}
	n = recv(r->child.channel, room, 65536, MSG_DONTWAIT);
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		r->closed = true;
		return;
	}
	buf_grow(&r->in, (size_t)n);
	if (serve_frames(r) == -1)
		r->error = EBADMSG;
}

static void
serve_write(struct code_serve *r)
{
	struct span text = buf_span(&r->out);
	ssize_t n;

	n = send(
	    r->child.channel, text.p, text.len, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (n > 0)
		buf_drain(&r->out, (size_t)n);
	else if (n == -1 && errno != EAGAIN && errno != EINTR)
		r->closed = true;
	if (r->out.len == 0)
		buf_reset(&r->out, 1U << 16);
}

/* Keep the beginning of the child's standard error. */
static void
serve_errors(struct code_serve *r)
{
	uint8_t text[4096];
	ssize_t n;
	size_t room;

	n = read(r->child.errors, text, sizeof(text));
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		close(r->child.errors);
		r->child.errors = -1;
		return;
	}
	room = SERVE_ERRORS_MAX - r->errors.len;
	buf_add(&r->errors, text, (size_t)n < room ? (size_t)n : room);
}

/* Serve the child until it has ended, broken the rules, or used its time. */
void
code_serve(struct code_serve *r)
{
	struct pollfd p[2];
	long long left;

	while (r->end == 0 && !r->closed && r->error == 0) {
		if (buf_check(&r->out) == -1 || buf_check(&r->final) == -1) {
			r->error = ENOBUFS;
			break;
		}
		left = r->deadline - code_now();
		if (left <= 0) {
			r->timeout = true;
			break;
		}
		p[0] = (struct pollfd){.fd = r->child.channel,
		    .events = (short)(POLLIN | (r->out.len > 0 ? POLLOUT : 0))};
		p[1] = (struct pollfd){.fd = r->child.errors, .events = POLLIN};
		if (poll(p, 2, left > INT_MAX ? INT_MAX : (int)left) <= 0)
			continue;
		if (p[1].revents != 0)
			serve_errors(r);
		if (p[0].revents & POLLOUT)
			serve_write(r);
		if (p[0].revents & (POLLIN | POLLHUP | POLLERR))
			serve_read(r);
	}
	if (r->closed)
		while (r->child.errors != -1 &&
		       r->errors.len < SERVE_ERRORS_MAX &&
		       poll(&(struct pollfd){r->child.errors, POLLIN, 0}, 1,
			   200) == 1)
			serve_errors(r);
}
