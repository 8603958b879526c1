/* SPDX-License-Identifier: ISC */
/*
 * Clones from a URL, before the agent is started: git in a sandbox of its own
 * reaches a git destination through mitmd, as the agent would, and sees nothing
 * but the empty workspace.
 */
#include "clone.h"

#include <sys/stat.h>
#include <sys/syscall.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/tree.h"
#include "box/sandbox.h"
#include "common/log.h"
#include "core/sup.h"
#include "repo/clone.h"
#include "repo/work.h"

#define FETCH_SOCKET "/run/ironcurtain/mitm-proxy.sock"
#define FETCH_CA "/run/ironcurtain/ca-bundle.pem"
#define FETCH_LOOK_US 20000000U
#define NONE span_of("", 0)

/* Its objects are checked; only what old programs wrote is let through. */
#define FETCH_IGNORE(what) "-c", "fetch.fsck." what "=ignore"

static struct {
	bool begun, done;
	struct loop_io io, err_io;
	struct loop_timer timer;
	struct spawned sp;
	struct repo_record record;
	char said[400];
	size_t nsaid;
	void (*then)(void);
} fetch = {
    .io = LOOP_IO_INIT, .err_io = LOOP_IO_INIT, .sp = SPAWNED_INIT};

static const struct repo_env *
fetch_env(uint64_t us)
{
	static struct repo_env env;

	env.libexecdir = sup.paths.libexecdir;
	env.until = clock_mono_us() + us;
	return &env;
}

static void
fetch_failed(const char *why)
{
	sup_warn("--clone %s: %s. Nothing was cloned. Should this repository "
		 "not be reachable by a session, clone it yourself and give "
		 "the directory: git clone URL DIR; icctl start --clone DIR",
	    fetch.record.url, why);
	end_request(SUP_EXIT_CONFIG, NULL, "the repository was not cloned");
}

/* Read a line of git about the new clone. Returns 0, or -1. */
static int
fetch_ask(const struct repo_view *v, const char *const *words, char *dst,
    size_t cap, struct fault *fault)
{
	struct buf out;
	struct span s;
	int r;

	buf_init(&out, 8192);
	r = repo_git(
	    fetch_env(FETCH_LOOK_US), v, words, NONE, &out, fault);
	s = buf_span(&out);
	if (s.len != 0 && s.p[s.len - 1] == '\n')
		s.len--;
	if (r != 0 || span_copy(s, dst, cap) == -1)
		r = -1;
	buf_free(&out);
	return r;
}

/* Note what the agent finds. */
static int
fetch_note(struct fault *fault)
{
	struct repo_record *r = &fetch.record;
	struct repo_view v = {.dir = "/workspace"};
	char head[REPO_NAME + 16] = "";
	int rv = -1;

	if (repo_view_add(&v, sup.session.sandbox, "/workspace", false) == -1)
		return fault_errno(fault, "workspace");
	if (fetch_ask(&v,
		(const char *const[]){"rev-parse", "--verify", "-q",
		    "HEAD^{commit}", NULL},
		r->base, sizeof(r->base), fault) == -1 ||
	    !repo_oid_ok(span_str(r->base))) {
		fault_set(fault, "the repository has no commit yet");
		r->base[0] = '\0';
		goto out;
	}
	(void)strlcpy(r->start, r->base, sizeof(r->start));
	if (fetch_ask(&v,
		(const char *const[]){
		    "rev-parse", "--show-object-format", NULL},
		r->format, sizeof(r->format), fault) == -1)
		goto out;
	r->branch[0] = '\0';
	if (fetch_ask(&v,
		(const char *const[]){"symbolic-ref", "-q", "HEAD", NULL}, head,
		sizeof(head), fault) == 0 &&
	    strncmp(head, "refs/heads/", 11) == 0 &&
	    repo_name_wrong(span_str(head + 11)) == NULL)
		(void)strlcpy(r->branch, head + 11, sizeof(r->branch));
	rv = repo_record_write(r, sup.session.fd);
	if (rv == -1)
		fault_errno(fault, "%s/" REPO_RECORD, sup.session.dir);
out:
	repo_view_free(&v);
	return rv;
}

static void
fetch_close(void)
{
	int fd = fetch.err_io.fd;

	loop_timer_clear(&sup.loop, &fetch.timer);
	if (fd != -1) {
		loop_del(&sup.loop, &fetch.err_io);
		close(fd);
	}
	loop_del(&sup.loop, &fetch.io);
	close(fetch.sp.pidfd);
	fetch.sp = (struct spawned)SPAWNED_INIT;
	fetch.done = true;
}

/* Keep what git says, up to a limit. */
static void
fetch_said(struct loop_io *io, uint32_t events)
{
	char rest[512];
	ssize_t n = read(io->fd, rest, sizeof(rest));
	int fd = io->fd;

	(void)events;
	for (ssize_t i = 0; i < n && fetch.nsaid < sizeof(fetch.said) - 1; i++)
		fetch.said[fetch.nsaid++] = rest[i];
	if (n > 0)
		return;
	loop_del(&sup.loop, io);
	close(fd);
}

static void
fetch_exited(struct loop_io *io, uint32_t events)
{
	int code, status, r;
	struct fault fault;
	struct span s;
	char shown[1700];

	(void)events;
	if ((r = spawn_reap(fetch.sp.pidfd, false, &code, &status)) == 0)
		return;
	if (r == -1) {
		code = CLD_EXITED;
		status = 255;
	}
	while (fetch.err_io.fd != -1)
		fetch_said(&fetch.err_io, 0);
	fetch_close();
	if (sup.ending)
		return;
	r = spawn_status(code, status);
	s = span_of(fetch.said, fetch.nsaid);
	while (s.len != 0 && s.p[s.len - 1] == '\n')
		s.len--;
	if (r != 0) {
		log_vis(s, shown, sizeof(shown));
		if (s.len == 0)
			snprintf(shown, sizeof(shown),
			    "git ended with status %d", r);
		fetch_failed(shown);
		return;
	}
	if (fetch_note(&fault) == -1) {
		fetch_failed(fault.text);
		return;
	}
	sup_note("cloned %s: %s", fetch.record.url, fetch.record.base);
	fetch.then();
}

static void
fetch_late(struct loop_timer *t)
{
	(void)t;
	(void)syscall(SYS_pidfd_send_signal, fetch.sp.pidfd, SIGKILL, NULL, 0);
	if (!sup.ending)
		fetch_failed("it took more than 10 minutes");
}

static int
fetch_view(struct repo_view *v, int fds[3], struct fault *fault)
{
	static const char *const before[] = {
	    SANDBOX_BRIDGE, "egress", FETCH_SOCKET, "--", NULL};
	static const char *const env[] = {"https_proxy",
	    "http://127.0.0.1:18080", "GIT_SSL_CAINFO", FETCH_CA, NULL};

	v->dir = "/workspace";
	v->before = before;
	v->env = env;
	fds[0] = openat(sup.session.sockets, "mitm-proxy.sock",
	    O_PATH | O_NOFOLLOW | O_CLOEXEC);
	fds[1] = openat(sup.session.orientation, "ca-bundle.pem",
	    O_PATH | O_NOFOLLOW | O_CLOEXEC);
	fds[2] = open(sandbox.bridge, O_PATH | O_CLOEXEC);
	if (fds[0] == -1 || fds[1] == -1 || fds[2] == -1 ||
	    repo_view_add(v, sup.session.sandbox, "/workspace", true) == -1 ||
	    repo_view_add(v, fds[0], FETCH_SOCKET, false) == -1 ||
	    repo_view_add(v, fds[1], FETCH_CA, false) == -1 ||
	    repo_view_add(v, fds[2], SANDBOX_BRIDGE, false) == -1)
		return fault_errno(fault, "the sandbox of git");
	return 0;
}

static int
fetch_start(int err, struct fault *fault)
{
	const struct repo_record *r = &fetch.record;
	const bool named = r->branch[0] != '\0';
	const char *const words[] = {FETCH_IGNORE("zeroPaddedFilemode"),
	    FETCH_IGNORE("missingSpaceBeforeDate"),
	    FETCH_IGNORE("missingSpaceBeforeEmail"),
	    FETCH_IGNORE("badTimezone"), FETCH_IGNORE("badEmail"),
	    FETCH_IGNORE("missingNameBeforeEmail"), FETCH_IGNORE("badName"),
	    FETCH_IGNORE("multipleAuthors"), FETCH_IGNORE("missingTaggerEntry"),
	    "-c", "fetch.fsckObjects=true", "clone", "-q", "--single-branch",
	    "--no-recurse-submodules", "--template=",
	    named ? "--branch" : "-q", named ? r->branch : "-q", "--", r->url,
	    "/workspace", NULL};
	struct repo_view v = {.n = 0};
	int fds[3] = {-1, -1, -1}, rv;

	rv = fetch_view(&v, fds, fault);
	if (rv == 0)
		rv = repo_git_start(
		    fetch_env(0), &v, words, err, &fetch.sp, fault);
	repo_view_free(&v);
	for (size_t i = 0; i < nitems(fds); i++)
		if (fds[i] != -1)
			close(fds[i]);
	return rv;
}

/* A fetch that was cut short has left files. The agent has not run yet. */
static void
fetch_empty(void)
{
	struct tree t = {.top = -1};
	struct stat st;

	if (fstat(sup.session.sandbox, &st) == -1)
		return;
	t.dev = st.st_dev;
	tree_below(&t, sup.session.sandbox);
}

static int
fetch_begin(struct fault *fault)
{
	int p[2], rv;

	fetch_empty();
	if (pipe2(p, O_CLOEXEC | O_NONBLOCK) == -1)
		return fault_errno(fault, "pipe");
	rv = fetch_start(p[1], fault);
	close(p[1]);
	if (rv == -1) {
		close(p[0]);
		return -1;
	}
	if (loop_add(&sup.loop, &fetch.err_io, p[0], EPOLLIN, fetch_said,
		NULL) == -1 ||
	    loop_add(&sup.loop, &fetch.io, fetch.sp.pidfd, EPOLLIN,
		fetch_exited, NULL) == -1)
		return fault_errno(fault, "epoll");
	loop_timer_set(&sup.loop, &fetch.timer, REPO_MAX_SECONDS * 1000,
	    fetch_late, NULL);
	return 0;
}

bool
clone_fetched(void (*then)(void))
{
	struct fault fault;

	if (fetch.done || fetch.begun)
		return fetch.done && !sup.ending;
	fetch.begun = true;
	if (repo_record_read(&fetch.record, sup.session.fd, sup.session.dir,
		&fault) == -1 ||
	    fetch.record.url[0] == '\0' || fetch.record.base[0] != '\0') {
		fetch.done = true;
		return true;
	}
	fetch.then = then;
	sup_warn("cloning %s", fetch.record.url);
	if (fetch_begin(&fault) == -1)
		fetch_failed(fault.text);
	return false;
}

void
clone_fetch_kill(void)
{
	if (fetch.sp.pidfd != -1)
		(void)syscall(
		    SYS_pidfd_send_signal, fetch.sp.pidfd, SIGKILL, NULL, 0);
}

pid_t
clone_fetch_pid(void)
{
	return fetch.sp.pidfd == -1 ? -1 : fetch.sp.pid;
}
