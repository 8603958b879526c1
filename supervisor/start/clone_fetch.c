/* SPDX-License-Identifier: ISC */
/*
 * Clones from a URL, before the agent is started: ic-repo runs git in a sandbox
 * of its own, which reaches a git destination through mitmd, as the agent
 * would.
 */
#include "clone.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "box/sandbox.h"
#include "core/sup.h"
#include "errand.h"
#include "repo/git.h"
#include "repo/names.h"

static struct {
	bool begun, done;
	struct loop_io io;
	struct loop_timer timer;
	struct helper helper;
	char base[REPO_OID];
	void (*then)(void);
} fetch = {.io = LOOP_IO_INIT, .helper = {.sp = SPAWNED_INIT, .out = -1}};

static void
fetch_failed(const char *why)
{
	sup_warn("--clone %s: %s. Nothing was cloned. Should this repository "
		 "not be reachable by a session, clone it yourself and give "
		 "the directory: git clone URL DIR; icctl start --clone DIR",
	    clone_wanted(), why);
	end_request(SUP_EXIT_CONFIG, NULL, "the repository was not cloned");
}

static int
fetch_take(int letter, const char *text, struct fault *fault)
{
	if (letter != ERRAND_BASE)
		return clone_take(letter, text, fault);
	if (repo_oid_ok(span_str(text)) &&
	    strlcpy(fetch.base, text, sizeof(fetch.base)) < sizeof(fetch.base))
		return 0;
	return fault_set(fault, ERRAND_PROGRAM ": the report is not valid");
}

static void
fetch_close(void)
{
	loop_timer_clear(&sup.loop, &fetch.timer);
	loop_del(&sup.loop, &fetch.io);
	errand_end(&fetch.helper);
	fetch.done = true;
}

static void
fetch_report(struct loop_io *io, uint32_t events)
{
	struct fault fault;
	int rv;

	(void)io;
	(void)events;
	if ((rv = helper_read(&fetch.helper, &fault)) == 0)
		return;
	fetch_close();
	if (sup.ending)
		return;
	if (rv == -1 || fetch.base[0] == '\0') {
		fetch_failed(
		    rv == -1 ? fault.text : ERRAND_PROGRAM " names no commit");
		return;
	}
	sup_note("cloned %s: %s", clone_wanted(), fetch.base);
	fetch.then();
}

static void
fetch_late(struct loop_timer *t)
{
	(void)t;
	fetch_close();
	if (!sup.ending)
		fetch_failed("it took more than 10 minutes");
}

/* Start ic-repo with what the sandbox of git is to have. */
static int
fetch_start(struct fault *fault)
{
	struct helper *h = &fetch.helper;
	int fds[] = {openat(sup.session.sockets, "mitm-proxy.sock",
			 O_PATH | O_NOFOLLOW | O_CLOEXEC),
	    openat(sup.session.orientation, "ca-bundle.pem",
		O_PATH | O_NOFOLLOW | O_CLOEXEC),
	    open(sandbox.bridge, O_PATH | O_CLOEXEC)};
	int rv = 0;

	if (fds[0] == -1 || fds[1] == -1 || fds[2] == -1)
		rv = fault_errno(fault, "the sandbox of git");
	else if ((rv = errand_begin(h, ERRAND_FETCH, fetch_take, fault)) == 0) {
		for (size_t i = 0; i < nitems(fds); i++)
			h->fds[h->nfds++] = fds[i];
		rv = helper_start(h, fault);
	}
	for (size_t i = 0; i < nitems(fds); i++)
		if (fds[i] != -1)
			close(fds[i]);
	return rv;
}

static int
fetch_begin(struct fault *fault)
{
	if (fetch_start(fault) == -1)
		return -1;
	if (loop_add(&sup.loop, &fetch.io, fetch.helper.out, EPOLLIN,
		fetch_report, NULL) == -1)
		return fault_errno(fault, "epoll");
	loop_timer_set(
	    &sup.loop, &fetch.timer, REPO_MAX_SECONDS * 1000, fetch_late, NULL);
	return 0;
}

bool
clone_fetched(void (*then)(void))
{
	struct fault fault;

	if (fetch.done || fetch.begun)
		return fetch.done && !sup.ending;
	fetch.begun = true;
	if (clone_wanted() == NULL) {
		fetch.done = true;
		return true;
	}
	fetch.then = then;
	sup_warn("cloning %s", clone_wanted());
	if (fetch_begin(&fault) == -1) {
		errand_end(&fetch.helper);
		fetch_failed(fault.text);
	}
	return false;
}

void
clone_fetch_kill(void)
{
	if (fetch.helper.out != -1)
		fetch_close();
}

bool
clone_has_pid(pid_t pid)
{
	return clone_pid() == pid ||
	       (fetch.helper.sp.pidfd != -1 && fetch.helper.sp.pid == pid);
}
