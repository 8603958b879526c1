/* SPDX-License-Identifier: ISC */
/*
 * Two shapes of a run: one git whose output is collected, and two gits of which
 * the first writes into the second. Both are one loop over at most two
 * sandboxes.
 */
#include "repo/git.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "box/git/gitbind.h"
#include "common/log.h"
#include "common/loop.h"
#include "common/wordlist.h"
#include "mcp-proxyd/icgit/batch.h"
#include "repo/git_run.h"

#define GIT_CHUNK 65536U
#define GIT_WORDS 200U
#define GIT_DATA ((uint64_t)3 << 30)
#define GIT_FILE ((uint64_t)4 << 30)

/* Bytes on their way from one git to the other, or to a buffer. */
struct flow {
	uint8_t data[GIT_CHUNK];
	size_t len, done;
	uint8_t head[12]; /* the beginning of the pack */
	size_t nhead;
	uint64_t total;
	uint32_t objects;
	struct buf *out; /* NULL: to `to` */
};

int
repo_view_add(struct repo_view *v, int fd, const char *dest, bool writable)
{
	if (v->n == REPO_MAX_BINDS) {
		errno = E2BIG;
		return -1;
	}
	if ((v->binds[v->n].dest = strdup(dest)) == NULL)
		return -1;
	v->binds[v->n].fd = fd;
	v->binds[v->n++].writable = writable;
	return 0;
}

void
repo_view_free(struct repo_view *v)
{
	for (unsigned i = 0; i < v->n; i++)
		free(v->binds[i].dest);
	v->n = 0;
}

/* Set the soft limits that the next program inherits, or restore ours. */
static void
git_limits(bool set)
{
	static const __rlimit_resource_t which[] = {
	    RLIMIT_FSIZE,
	    RLIMIT_CPU,
#ifndef __SANITIZE_ADDRESS__ /* its shadow memory would count */
	    RLIMIT_DATA,
#endif
	};
	static const rlim_t to[] = {GIT_FILE, REPO_MAX_SECONDS, GIT_DATA};
	static struct rlimit ours[nitems(which)];
	struct rlimit rl;

	for (size_t i = 0; i < nitems(which); i++) {
		if (set && getrlimit(which[i], &ours[i]) == -1)
			continue;
		rl = ours[i];
		if (set && rl.rlim_cur > to[i])
			rl.rlim_cur = to[i];
		(void)setrlimit(which[i], &rl);
	}
}

static void
git_make(struct box *b, const struct repo_made *m)
{
	for (; m != NULL && m->dest != NULL; m++) {
		if (m->link != NULL)
			box_args(b, "--symlink", m->link, m->dest);
		else if (m->text != NULL)
			box_data(b, m->dest, span_str(m->text));
		else
			box_args(b, "--dir", m->dest, NULL);
	}
}

static int
git_spawn(const struct repo_env *env, const struct repo_view *v,
    const char *const *words, const int stdio[3], struct spawned *sp,
    struct fault *fault)
{
	const char *const first[] = {
	    "/usr/bin/git", "--no-optional-locks", "-C", v->dir, NULL};
	static const char *const batch[] = {GITBIND_PROGRAM, ICGIT_BATCH, NULL};
	const char *list[GIT_WORDS];
	struct wordlist all = WORDLIST_IN(list);
	char *const *argv;
	struct limits limits;
	struct box b;
	int rv;

	wordlist_all(&all, words != NULL ? v->before : batch);
	if (words != NULL) {
		wordlist_all(&all, first);
		wordlist_all(&all, words);
	}
	if ((argv = wordlist_end(&all)) == NULL)
		return fault_errno(fault, "git");
	limits_default(&limits);
	/* One with a word before it reaches the network. */
	if (v->before != NULL)
		box_init(&b, FILTER_SERVER, &limits);
	else
		box_init_small(&b, FILTER_SERVER, &limits);
	gitbind(&b, env->libexecdir, v->identity != NULL ? v->identity : "");
	git_make(&b, v->made);
	for (unsigned i = 0; i < v->n; i++)
		box_bind(
		    &b, v->binds[i].fd, v->binds[i].dest, v->binds[i].writable);
	box_setenv(&b, "PATH", "/usr/bin:/bin");
	box_setenv(&b, "HOME", "/tmp");
	box_setenv(&b, "LC_ALL", "C.UTF-8");
	box_setenv(&b, ICGIT_AS_IS, "1");
	/* History is as the objects say, whatever a repository adds to it. */
	box_setenv(&b, "GIT_NO_REPLACE_OBJECTS", "1");
	box_setenv(&b, "GIT_GRAFT_FILE", "/dev/null");
	if (v->store != NULL)
		box_setenv(&b, "GIT_OBJECT_DIRECTORY", v->store);
	if (v->objects != NULL)
		box_setenv(&b, "GIT_ALTERNATE_OBJECT_DIRECTORIES", v->objects);
	if (v->index != NULL)
		box_setenv(&b, "GIT_INDEX_FILE", v->index);
	for (const char *const *e = v->env; e != NULL && *e != NULL; e += 2)
		box_setenv(&b, e[0], e[1]);
	git_limits(true);
	rv = box_spawn(&b, stdio, (char *const *)(uintptr_t)argv, sp, fault);
	git_limits(false);
	box_free(&b);
	if (rv == 0 && spawn_check(sp) == -1)
		rv = fault_errno(fault, "bubblewrap%s", spawn_step());
	return rv;
}

int
repo_git_start(const struct repo_env *env, const struct repo_view *v,
    const char *const *words, int err, struct spawned *sp, struct fault *fault)
{
	return git_spawn(env, v, words, (int[3]){-1, -1, err}, sp, fault);
}

static void
git_close(int *fd)
{
	if (*fd != -1)
		close(*fd);
	*fd = -1;
}

int
run_start(struct run *r, const struct repo_env *env, const struct repo_view *v,
    const char *const *words, int in, struct fault *fault)
{
	int i[2] = {in, -1}, o[2] = {-1, -1}, e[2] = {-1, -1}, rv;

	*r = (struct run){
	    .sp = SPAWNED_INIT, .in = -1, .out = -1, .err = -1, .status = -1};
	if ((in == -1 && pipe2(i, O_CLOEXEC) == -1) ||
	    pipe2(o, O_CLOEXEC) == -1 || pipe2(e, O_CLOEXEC) == -1)
		rv = fault_errno(fault, "pipe");
	else
		rv = git_spawn(
		    env, v, words, (int[3]){i[0], o[1], e[1]}, &r->sp, fault);
	git_close(&i[0]);
	git_close(&o[1]);
	git_close(&e[1]);
	r->in = i[1];
	r->out = o[0];
	r->err = e[0];
	for (size_t k = 0; k < 3; k++) {
		int fd = (int[3]){r->in, r->out, r->err}[k];

		if (fd != -1)
			(void)fcntl(fd, F_SETFL, O_NONBLOCK);
	}
	return rv;
}

void
run_end(struct run *r)
{
	git_close(&r->in);
	git_close(&r->out);
	git_close(&r->err);
	if (r->status == -1)
		spawn_stop(&r->sp, 0);
	git_close(&r->sp.pidfd);
}

void
run_keep(struct run *r, struct span s)
{
	for (size_t i = 0; i < s.len && r->nsaid < GIT_SAID - 1; i++)
		r->said[r->nsaid++] = (char)s.p[i];
	r->said[r->nsaid] = '\0';
}

/* Keep the beginning of what git writes to stderr, and drop the rest. */
static void
run_said(struct run *r)
{
	char rest[1024];
	ssize_t n;

	if (r->err == -1)
		return;
	while ((n = read(r->err, rest, sizeof(rest))) > 0)
		run_keep(r, span_of(rest, (size_t)n));
	if (n == 0)
		git_close(&r->err);
}

void
run_look(struct run *r)
{
	int code, status;

	run_said(r);

	if (r->sp.pidfd != -1 && r->status == -1 &&
	    spawn_reap(r->sp.pidfd, false, &code, &status) == 1) {
		r->status = spawn_status(code, status);
		run_said(r);
	}
}

struct span
repo_line(const struct buf *out)
{
	struct span s = buf_span(out);

	if (s.len != 0 && s.p[s.len - 1] == '\n')
		s.len--;
	return s;
}

void
run_reason(const struct run *r, struct fault *fault)
{
	struct span s = span_of(r->said, r->nsaid), line, best = {NULL, 0};
	char shown[GIT_SAID * 4];

	while (s.len != 0) {
		const uint8_t *nl = memchr(s.p, '\n', s.len);

		line = span_of(s.p, nl == NULL ? s.len : (size_t)(nl - s.p));
		s = span_of(
		    line.p + line.len, s.len - line.len - (nl == NULL ? 0 : 1));
		if (nl != NULL)
			s.p++;
		/* Advice about how to use git is not the reason. */
		if (span_starts(line, SPAN("hint:")))
			continue;
		if (best.len == 0 || span_starts(line, SPAN("fatal: ")) ||
		    span_starts(line, SPAN("error: ")))
			best = line;
		if (span_starts(line, SPAN("fatal: ")) ||
		    span_starts(line, SPAN("error: ")))
			break;
	}
	if (best.len == 0)
		fault_set(fault, "git ended with status %d", r->status);
	else
		fault_set(
		    fault, "git: %s", log_vis(best, shown, sizeof(shown)));
}

/* Returns true if git gave a reason other than that its reader is gone. */
static bool
run_told(const struct run *r)
{
	return r->nsaid != 0 && r->status != 128 + SIGPIPE &&
	       strstr(r->said, "roken pipe") == NULL &&
	       strstr(r->said, "rite error") == NULL;
}

/* Check the head of a pack. Returns 0, or -1 with the fault set. */
static int
flow_head(struct flow *f, struct fault *fault)
{
	uint32_t n;

	for (size_t i = 0; i < f->len && f->nhead < sizeof(f->head); i++)
		f->head[f->nhead++] = f->data[i];
	if (f->objects == 0 || f->nhead < sizeof(f->head))
		return 0;
	n = (uint32_t)f->head[8] << 24 | (uint32_t)f->head[9] << 16 |
	    (uint32_t)f->head[10] << 8 | f->head[11];
	if (n > f->objects)
		return fault_set(fault,
		    "%u objects are more than the %u that are taken at once", n,
		    f->objects);
	return 0;
}

/* Read more. Returns 1 at the end, 0, or -1 with the fault set. */
static int
flow_read(struct flow *f, struct run *from, struct fault *fault)
{
	ssize_t n = read(from->out, f->data, sizeof(f->data));

	if (n == -1)
		return errno == EAGAIN || errno == EINTR
			   ? 0
			   : fault_errno(fault, "git");
	if (n == 0)
		return 1;
	f->len = (size_t)n;
	f->done = 0;
	f->total += (size_t)n;
	if (f->total > REPO_MAX_BYTES)
		return fault_set(fault, "more than 2 GiB");
	if (f->out != NULL) {
		buf_add(f->out, f->data, f->len);
		f->len = 0;
		return f->out->failed ? fault_set(fault, "git prints too much")
				      : 0;
	}
	return flow_head(f, fault);
}

/* Pass bytes on. Returns 0, or -1 if the receiver is gone. */
static int
flow_write(struct flow *f, struct run *to)
{
	ssize_t n = write(to->in, f->data + f->done, f->len - f->done);

	if (n == -1)
		return errno == EAGAIN || errno == EINTR ? 0 : -1;
	f->done += (size_t)n;
	if (f->done == f->len)
		f->len = f->done = 0;
	return 0;
}

int
run_allowed(const struct repo_env *env, struct fault *fault)
{
	if (env->stopped != NULL && env->stopped())
		return fault_set(fault, "interrupted");
	if (clock_mono_us() > env->until)
		return fault_set(fault, "git took too long");
	return 0;
}

/*
 * Turn once: wait until anything is possible, and do it. Returns 1 when all has
 * been read and all have ended, 0, or -1 with the fault set.
 */
static int
flow_turn(struct flow *f, struct run *from, struct run *to, struct fault *fault)
{
	struct pollfd p[6] = {
	    {.fd = f->len == 0 ? from->out : -1, .events = POLLIN},
	    {.fd = f->len != 0 ? to->in : -1, .events = POLLOUT},
	    {.fd = from->err, .events = POLLIN},
	    {.fd = to->err, .events = POLLIN},
	    {.fd = from->status == -1 ? from->sp.pidfd : -1, .events = POLLIN},
	    {.fd = to->status == -1 ? to->sp.pidfd : -1, .events = POLLIN}};
	int r;

	if (poll(p, nitems(p), GIT_TICK_MS) == -1 && errno != EINTR)
		return fault_errno(fault, "poll");
	run_said(from);
	run_said(to);
	if (p[1].revents != 0 && flow_write(f, to) == -1) {
		/* Its exit status and its last words tell the reason. */
		f->len = 0;
		git_close(&from->out);
		git_close(&to->in);
	}
	if (from->out != -1 && p[0].revents != 0) {
		if ((r = flow_read(f, from, fault)) == -1)
			return -1;
		if (r == 1)
			git_close(&from->out);
	}
	if (from->out == -1 && f->len == 0)
		git_close(&to->in);
	run_look(from);
	run_look(to);
	return from->out == -1 && f->len == 0 && from->status != -1 &&
	       (to->sp.pidfd == -1 || to->status != -1);
}

static int
flow_run(const struct repo_env *env, struct flow *f, struct run *from,
    struct run *to, struct fault *fault)
{
	int r = 0;

	while (r == 0) {
		if (run_allowed(env, fault) == -1)
			return -1;
		r = flow_turn(f, from, to, fault);
		if (env->progress != NULL && f->out == NULL)
			env->progress(f->total);
	}
	return r == 1 ? 0 : -1;
}

/* Returns a memfd with the text, or -1 with the fault set. */
static int
git_input(struct span in, struct fault *fault)
{
	ssize_t n;
	int fd;

	if ((fd = memfd_create("input", MFD_CLOEXEC)) == -1)
		return fault_errno(fault, "memory");
	while (in.len != 0) {
		if ((n = write(fd, in.p, in.len)) == -1) {
			close(fd);
			return fault_errno(fault, "memory");
		}
		in.p += n;
		in.len -= (size_t)n;
	}
	(void)lseek(fd, 0, SEEK_SET);
	return fd;
}

/* Run git in a sandbox of its own. */
static int
git_alone(const struct repo_env *env, const struct repo_view *v,
    const char *const *words, struct span in, struct buf *out,
    struct fault *fault)
{
	static struct flow f;
	struct run none = {.sp = SPAWNED_INIT, .in = -1, .out = -1, .err = -1};
	struct buf ignored;
	struct run r;
	int fd, rv = -1;

	f.len = f.done = f.nhead = 0;
	f.total = 0;
	f.objects = 0;
	buf_init(&ignored, 1U << 20);
	f.out = out != NULL ? out : &ignored;
	if ((fd = git_input(in, fault)) == -1)
		return -1;
	if (run_start(&r, env, v, words, fd, fault) == 0 &&
	    flow_run(env, &f, &r, &none, fault) == 0) {
		rv = r.status;
		if (rv != 0)
			run_reason(&r, fault);
	}
	run_end(&r);
	buf_free(&ignored);
	return rv;
}

int
repo_git(const struct repo_env *env, const struct repo_view *v,
    const char *const *words, struct span in, struct buf *out,
    struct fault *fault)
{
	if (v->batch != NULL)
		return v->batch_git(env, v, words, in, out, fault);
	return git_alone(env, v, words, in, out, fault);
}

int
repo_pump(const struct repo_env *env, const struct repo_flow *how,
    struct fault *fault)
{
	static struct flow f;
	struct run from = {.sp = SPAWNED_INIT, .in = -1, .out = -1, .err = -1};
	struct run to = from;
	int fd, rv = -1;

	f.len = f.done = f.nhead = 0;
	f.total = 0;
	f.objects = how->objects;
	f.out = NULL;
	if ((fd = git_input(how->in, fault)) == -1)
		return -1;
	if (run_start(&from, env, how->from, how->from_words, fd, fault) == 0 &&
	    run_start(&to, env, how->to, how->to_words, -1, fault) == 0 &&
	    flow_run(env, &f, &from, &to, fault) == 0) {
		/* Each fails if the other one does: find the reason. */
		if (from.status != 0 && run_told(&from))
			run_reason(&from, fault);
		else if (to.status != 0)
			run_reason(&to, fault);
		else if (from.status != 0)
			run_reason(&from, fault);
		else
			rv = 0;
	}
	run_end(&from);
	run_end(&to);
	return rv;
}
