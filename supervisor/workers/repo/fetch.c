/* SPDX-License-Identifier: ISC */
/*
 * Clones from a URL, before the agent is started: git in a sandbox of its own
 * reaches a git destination through mitmd, as the agent would, and sees nothing
 * but the empty workspace.
 */
#include "workers/repo/tasks.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/tree.h"
#include "box/sandbox.h"
#include "common/log.h"
#include "common/loop.h"
#include "repo/clone.h"
#include "repo/record.h"
#include "workers/repo/told.h"

#define FETCH_SOCKET "/run/ironcurtain/mitm-proxy.sock"
#define FETCH_CA "/run/ironcurtain/ca-bundle.pem"
#define FETCH_LOOK_US 20000000U
#define FETCH_TICK_MS 100
#define NONE span_of("", 0)

/* Its objects are checked; only what old programs wrote is let through. */
#define FETCH_IGNORE(what) "-c", "fetch.fsck." what "=ignore"

static struct {
	struct repo_record record;
	int sandbox;
	struct spawned sp;
	char said[400];
	size_t nsaid;
} fetch = {.sp = SPAWNED_INIT};

static const struct repo_env *
fetch_env(uint64_t us)
{
	static struct repo_env env;

	env.libexecdir = errand.libexecdir;
	env.until = clock_mono_us() + us;
	return &env;
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
	r = repo_git(fetch_env(FETCH_LOOK_US), v, words, NONE, &out, fault);
	s = repo_line(&out);
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

	if (repo_view_add(&v, fetch.sandbox, "/workspace", false) == -1)
		return fault_errno(fault, "workspace");
	if (fetch_ask(&v,
		(const char *const[]){
		    "rev-parse", "--verify", "-q", "HEAD^{commit}", NULL},
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
	rv = repo_record_write(r, ERRAND_SESSION);
	if (rv == -1)
		fault_errno(fault, "%s/" REPO_RECORD, errand.session_path);
out:
	repo_view_free(&v);
	return rv;
}

/* Keep what git says, up to a limit, until it has closed its end. */
static int
fetch_said(int err, struct fault *fault)
{
	struct pollfd p = {.fd = err, .events = POLLIN};
	char rest[512];
	ssize_t n;

	for (;;) {
		if (errand_stopped())
			return fault_set(fault, "it was interrupted");
		if (poll(&p, 1, FETCH_TICK_MS) != 1)
			continue;
		n = read(err, rest, sizeof(rest));
		if (n == 0 || (n == -1 && errno != EINTR))
			return 0;
		for (ssize_t i = 0;
		     i < n && fetch.nsaid < sizeof(fetch.said) - 1; i++)
			fetch.said[fetch.nsaid++] = rest[i];
	}
}

/* Wait for git's end. Returns 0 if it has cloned, or -1 with the fault set. */
static int
fetch_wait(int err, struct fault *fault)
{
	char shown[1700];
	struct span s;
	int r;

	if (fetch_said(err, fault) == -1) {
		spawn_stop(&fetch.sp, 0);
		return -1;
	}
	if ((r = spawn_wait(&fetch.sp)) == 0)
		return 0;
	s = span_of(fetch.said, fetch.nsaid);
	while (s.len != 0 && s.p[s.len - 1] == '\n')
		s.len--;
	if (s.len == 0)
		return fault_set(fault, "git ended with status %d", r);
	return fault_set(fault, "%s", log_vis(s, shown, sizeof(shown)));
}

static int
fetch_view(struct repo_view *v, struct fault *fault)
{
	static const char *const before[] = {
	    SANDBOX_BRIDGE, "egress", FETCH_SOCKET, "--", NULL};
	static const char *const env[] = {"https_proxy",
	    "http://127.0.0.1:18080", "GIT_SSL_CAINFO", FETCH_CA, NULL};

	v->dir = "/workspace";
	v->before = before;
	v->env = env;
	if (repo_view_add(v, fetch.sandbox, "/workspace", true) == -1 ||
	    repo_view_add(v, ERRAND_SOCKET, FETCH_SOCKET, false) == -1 ||
	    repo_view_add(v, ERRAND_CA, FETCH_CA, false) == -1 ||
	    repo_view_add(v, ERRAND_BRIDGE, SANDBOX_BRIDGE, false) == -1)
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
	    "--no-recurse-submodules", "--template=", named ? "--branch" : "-q",
	    named ? r->branch : "-q", "--", r->url, "/workspace", NULL};
	struct repo_view v = {.n = 0};
	int rv;

	rv = fetch_view(&v, fault);
	if (rv == 0)
		rv = repo_git_start(
		    fetch_env(0), &v, words, err, &fetch.sp, fault);
	repo_view_free(&v);
	return rv;
}

/* A fetch that was cut short has left files. The agent has not run yet. */
static void
fetch_empty(void)
{
	struct tree t = {.top = -1};
	struct stat st;

	if (fstat(fetch.sandbox, &st) == -1)
		return;
	t.dev = st.st_dev;
	tree_below(&t, fetch.sandbox);
}

int
errand_fetch(struct fault *fault)
{
	int p[2], rv;

	if (repo_record_read(&fetch.record, ERRAND_SESSION, errand.session_path,
		fault) == -1 ||
	    (fetch.sandbox = errand_sandbox(fault)) == -1)
		return -1;
	fetch_empty();
	if (pipe2(p, O_CLOEXEC) == -1)
		return fault_errno(fault, "pipe");
	rv = fetch_start(p[1], fault);
	close(p[1]);
	if (rv == 0)
		rv = fetch_wait(p[0], fault);
	close(p[0]);
	if (rv == 0)
		rv = fetch_note(fault);
	close(fetch.sandbox);
	if (rv == -1)
		return -1;
	errand_report(ERRAND_BRANCH, fetch.record.branch);
	errand_report(ERRAND_BASE, fetch.record.base);
	return 0;
}
