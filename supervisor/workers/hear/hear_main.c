/* SPDX-License-Identifier: ISC */
/*
 * ic-hear: reads what one relay prints, for `icctl hub`. Holds the relay's
 * output as standard input and its errors as descriptor 3, and a pipe to icctl
 * as standard output. A relay may be an attacker's, so this program can do
 * nothing else; when icctl does not read, it does not read either.
 */
#include "workers/hear/hear.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/confine/confine.h"
#include "common/log.h"

#define MAIN_CHUNK 65536U
#define MAIN_SAID 4096U /* bytes of a line of errors */

/* clang-format off */
static const enum pledge_promise hear_promises[] = {
	PLEDGE_STDIO,		/* reads lines, writes frames */
};

static const struct confine hear_confine = {
	.limits = {
		.nofile = 4,
		.fsize = 0,
		.data = 96U << 20,	/* a line, its tree, and its frame */
		.memlock = 0,
	},
	.pledge = {
		.promises = hear_promises,
		.npromises = nitems(hear_promises),
	},
};
/* clang-format on */

static struct {
	struct hear hear;
	struct buf in, said, out;
	bool said_skips; /* the rest of a long line of errors */
} env = {.in = {.max = HEAR_LINE + MAIN_CHUNK},
    .said = {.max = MAIN_SAID + MAIN_CHUNK},
    .out = {.max = HEAR_FRAME + 4 * MAIN_CHUNK}};

static void
main_write(void)
{
	if (span_write(STDOUT_FILENO, buf_span(&env.out)) == -1)
		exit(1);
	buf_reset(&env.out, 1U << 20);
}

static void
main_put(enum hear_kind kind, struct span a, struct span b)
{
	struct hear_head head = {(uint32_t)kind, (uint32_t)(a.len + b.len)};

	buf_add(&env.out, &head, sizeof(head));
	buf_addspan(&env.out, a);
	buf_addspan(&env.out, b);
	if (env.out.failed)
		fatalx("a frame is too long");
	if (env.out.len >= MAIN_CHUNK)
		main_write();
}

/* Say why no more is read, and end. */
static _Noreturn void
main_bad(const char *why)
{
	struct hear_text f = {.text = ""};

	(void)strlcpy(f.text, why, sizeof(f.text));
	main_put(HEAR_BAD, span_of(&f, sizeof(f)), SPAN(""));
	main_write();
	exit(0);
}

/* Read what there is. Returns false at the end. */
static bool
main_read(int fd, struct buf *b)
{
	uint8_t *room = buf_room(b, MAIN_CHUNK);
	ssize_t n;

	if (room == NULL)
		main_bad("it sent a line of more than 8 MiB");
	n = read(fd, room, MAIN_CHUNK);
	if (n == -1 && (errno == EINTR || errno == EAGAIN))
		return true;
	if (n > 0)
		buf_grow(b, (size_t)n);
	return n > 0;
}

/* Returns the first whole line of `all`, which loses it; or false. */
static bool
main_line(struct span *all, struct span *line)
{
	const uint8_t *nl =
	    all->len == 0 ? NULL : memchr(all->p, '\n', all->len);

	if (nl == NULL)
		return false;
	*line = span_of(all->p, (size_t)(nl - all->p));
	*all = span_of(nl + 1, all->len - line->len - 1);
	return true;
}

static void
main_lines(void)
{
	struct span all = buf_span(&env.in), line;
	const char *why = NULL;

	while (why == NULL && main_line(&all, &line))
		why = line.len > HEAR_LINE
			  ? "it sent a line of more than 8 MiB"
			  : hear_line(&env.hear, line);
	if (why != NULL)
		main_bad(why);
	buf_drain(&env.in, env.in.len - all.len);
	if (env.in.len > HEAR_LINE)
		main_bad("it sent a line of more than 8 MiB");
}

static void
main_errors(void)
{
	struct span all = buf_span(&env.said), line;

	while (main_line(&all, &line)) {
		if (!env.said_skips && line.len != 0)
			hear_said(&env.hear, line);
		env.said_skips = false;
	}
	if (all.len > MAIN_SAID) {
		if (!env.said_skips)
			hear_said(&env.hear, span_of(all.p, MAIN_SAID));
		env.said_skips = true;
		all.len = 0;
	}
	buf_drain(&env.said, env.said.len - all.len);
}

/* Wait for one of both; `ms` is -1 for ever. Returns as poll(2). */
static int
main_poll(struct pollfd *p, nfds_t n, long ms)
{
	const struct timespec ts = {ms / 1000, ms % 1000 * 1000000};

	return ppoll(p, n, ms == -1 ? NULL : &ts, NULL);
}

int
main(int argc, char **argv)
{
	struct pollfd p[2] = {{.fd = STDIN_FILENO, .events = POLLIN},
	    {.fd = HEAR_ERRORS, .events = POLLIN}};
	struct confine_state state;

	(void)argv;
	confine_early();
	log_init("ic-hear", false);
	if (argc != 1)
		fatalx("usage: ic-hear <RELAY 3<ERRORS >FRAMES");
	if (confine_apply(&hear_confine, &state) == -1)
		return 1;
	env.hear.put = main_put;
	if ((env.hear.pool = value_pool_new(HEAR_POOL)) == NULL)
		fatal("memory");
	while (p[0].fd != -1) {
		if (main_poll(p, 2, -1) == -1) {
			if (errno == EINTR)
				continue;
			return 1;
		}
		if (p[1].revents != 0) {
			if (!main_read(HEAR_ERRORS, &env.said))
				p[1].fd = -1;
			main_errors();
		}
		if (p[0].revents != 0) {
			if (!main_read(STDIN_FILENO, &env.in))
				p[0].fd = -1;
			main_lines();
		}
		main_write();
	}
	/* The last words often follow the end of the output. */
	while (p[1].fd != -1 && main_poll(&p[1], 1, 200) == 1)
		if (!main_read(HEAR_ERRORS, &env.said))
			p[1].fd = -1;
	main_errors();
	if (env.in.len != 0)
		main_bad("its last line is not whole");
	main_write();
	return 0;
}
