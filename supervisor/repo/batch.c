/* SPDX-License-Identifier: ISC */
#include "repo/batch.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mcp-proxyd/icgit/batch.h"
#include "repo/git_run.h"

struct repo_batch {
	const struct repo_view *of; /* its sandbox has these directories */
	struct run run;
	bool on;
	struct buf ask;    /* the rest of the request */
	struct buf answer; /* frames that are not complete */
};

struct repo_batch *
repo_batch_new(const struct repo_view *of)
{
	struct repo_batch *b = calloc(1, sizeof(*b));

	if (b != NULL)
		b->of = of;
	return b;
}

static void
batch_end(struct repo_batch *b)
{
	if (b->on)
		run_end(&b->run);
	b->on = false;
	buf_free(&b->ask);
	buf_free(&b->answer);
}

void
repo_batch_free(struct repo_batch *b)
{
	if (b == NULL)
		return;
	batch_end(b);
	free(b);
}

/* Add the words of a git. */
static void
batch_words(
    struct buf *all, const struct repo_view *v, const char *const *words)
{
	const char *const first[] = {
	    "/usr/bin/git", "--no-optional-locks", "-C", v->dir, NULL};

	for (size_t i = 0; first[i] != NULL; i++)
		buf_add(all, first[i], strlen(first[i]) + 1);
	for (size_t i = 0; words[i] != NULL; i++)
		buf_add(all, words[i], strlen(words[i]) + 1);
}

/* Compose the request. Returns 0, or -1 with the fault set. */
static int
batch_ask(
    struct repo_batch *b, const struct repo_flow *how, struct fault *fault)
{
	struct icgit_request r = {.input = (uint32_t)how->in.len};
	struct buf all;
	bool failed;

	buf_init(&all, ICGIT_BATCH_WORDS);
	if (how->from != NULL)
		batch_words(&all, how->from, how->from_words);
	r.first = (uint32_t)all.len;
	batch_words(&all, how->to, how->to_words);
	r.words = (uint32_t)all.len;
	buf_free(&b->ask);
	buf_init(&b->ask, ICGIT_BATCH_WORDS + ICGIT_BATCH_INPUT + sizeof(r));
	buf_add(&b->ask, &r, sizeof(r));
	buf_addspan(&b->ask, buf_span(&all));
	buf_addspan(&b->ask, how->in);
	failed = all.failed || b->ask.failed || how->in.len > ICGIT_BATCH_INPUT;
	buf_free(&all);
	return failed ? fault_set(fault, "too much for one git") : 0;
}

/*
 * Take complete frames. Returns 1 after the last one, 0, or -1 with the fault
 * set.
 */
static int
batch_frames(
    struct repo_batch *b, struct buf *out, int *status, struct fault *fault)
{
	struct span s, data;
	struct icgit_frame f;

	for (;;) {
		s = buf_span(&b->answer);
		if (s.len < sizeof(f))
			return 0;
		memcpy(&f, s.p, sizeof(f));
		if (f.len > ICGIT_BATCH_CHUNK || f.kind < ICGIT_OUT ||
		    f.kind > ICGIT_STATUS ||
		    (f.kind == ICGIT_STATUS && f.len != 1))
			return fault_set(
			    fault, "git's sandbox answers as it should not");
		if (s.len - sizeof(f) < f.len)
			return 0;
		data = span_of(s.p + sizeof(f), f.len);
		if (f.kind == ICGIT_OUT)
			buf_addspan(out, data);
		else if (f.kind == ICGIT_ERR)
			run_keep(&b->run, data);
		else
			*status = data.p[0];
		buf_drain(&b->answer, sizeof(f) + f.len);
		if (out->failed)
			return fault_set(fault, "git prints too much");
		if (f.kind == ICGIT_STATUS)
			return 1;
	}
}

/* Pass on as much as is possible now. Returns 0, or -1 with the fault set. */
static int
batch_turn(struct repo_batch *b, struct fault *fault)
{
	struct run *r = &b->run;
	struct pollfd p[4] = {{.fd = r->out, .events = POLLIN},
	    {.fd = b->ask.len != 0 ? r->in : -1, .events = POLLOUT},
	    {.fd = r->err, .events = POLLIN},
	    {.fd = r->sp.pidfd, .events = POLLIN}};
	uint8_t *room;
	ssize_t n;

	if (poll(p, nitems(p), GIT_TICK_MS) == -1 && errno != EINTR)
		return fault_errno(fault, "poll");
	if (p[1].revents != 0) {
		n = write(r->in, buf_span(&b->ask).p, b->ask.len);
		if (n > 0)
			buf_drain(&b->ask, (size_t)n);
	}
	if (p[0].revents != 0) {
		if ((room = buf_room(&b->answer, ICGIT_BATCH_CHUNK)) == NULL)
			return fault_errno(fault, "git");
		n = read(r->out, room, ICGIT_BATCH_CHUNK);
		if (n > 0)
			buf_grow(&b->answer, (size_t)n);
		if (n != 0)
			return 0;
	}
	run_look(r);
	if (r->status == -1 && p[0].revents == 0)
		return 0;
	run_reason(r, fault);
	return -1;
}

static int
batch_start(
    struct repo_batch *b, const struct repo_env *env, struct fault *fault)
{
	if (b->on)
		return 0;
	buf_init(&b->ask, 1);
	buf_init(
	    &b->answer, 2 * (ICGIT_BATCH_CHUNK + sizeof(struct icgit_frame)));
	b->on = true;
	return run_start(&b->run, env, b->of, NULL, -1, fault);
}

int
repo_batch_flow(const struct repo_env *env, const struct repo_flow *how,
    struct buf *out, struct fault *fault)
{
	struct repo_batch *b = how->to->batch;
	struct buf ignored;
	int r = -1, status = 0;

	buf_init(&ignored, 1U << 20);
	if (out == NULL)
		out = &ignored;
	if (batch_start(b, env, fault) == 0 && batch_ask(b, how, fault) == 0) {
		b->run.nsaid = 0;
		for (r = 0; r == 0;) {
			r = run_allowed(env, fault);
			if (r == 0)
				r = batch_turn(b, fault);
			if (r == 0)
				r = batch_frames(b, out, &status, fault);
		}
	}
	if (r == 1 && status != 0) {
		b->run.status = status;
		run_reason(&b->run, fault);
		b->run.status = -1;
	}
	if (r != 1)
		batch_end(b);
	buf_free(&ignored);
	return r == 1 ? status : -1;
}

int
repo_batch_git(const struct repo_env *env, const struct repo_view *v,
    const char *const *words, struct span in, struct buf *out,
    struct fault *fault)
{
	return repo_batch_flow(env,
	    &(struct repo_flow){.to = v, .to_words = words, .in = in}, out,
	    fault);
}
