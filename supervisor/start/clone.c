/* SPDX-License-Identifier: ISC */
/*
 * The clone that a session works on: has ic-repo make it when the session
 * begins, and says at its end what is not pulled yet.
 */
#include "clone.h"

#include <sys/stat.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/json_put.h"
#include "box/git/gitbox.h"
#include "common/plural.h"
#include "core/sup.h"
#include "errand.h"
#include "repo/clone.h"
#include "repo/record.h"

/* ic-repo gives git 20 seconds for this, and ends by itself. */
#define CLONE_LOOK_MS 30000U
#define CLONE_MAKE_MS ((uint64_t)REPO_MAX_SECONDS * 1000 + 30000)

static struct clone_known {
	/* The URL and the branch of --clone URL, or "". */
	char url[2048], ref[REPO_NAME];
	/* clone.json, as ic-repo has read it. */
	bool known, wanted;
	char from_dir[4096], from_url[2048], branch[REPO_NAME];
	/* The work that ic-repo has found at the end. */
	bool looked;
	uint64_t commits, files;
} clone_known;

/* The errand that makes it. */
static struct {
	bool recorded, wanted, begun, tells;
	struct helper helper;
	struct loop_io io;
	int result; /* as helper_read() returns it */
} making = {.helper = {.sp = SPAWNED_INIT, .out = -1}, .io = LOOP_IO_INIT};

static bool
clone_stopped(void)
{
	static const int ends[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT};
	sigset_t set;

	/* They are blocked, and wait for the event loop. */
	if (sigpending(&set) == -1)
		return false;
	for (size_t i = 0; i < nitems(ends); i++)
		if (sigismember(&set, ends[i]) == 1)
			return true;
	return false;
}

/* Keep the text of a report. Returns 0, or -1 with the fault set. */
static int
clone_keep(char *to, size_t cap, const char *text, struct fault *fault)
{
	if (strlcpy(to, text, cap) < cap)
		return 0;
	to[0] = '\0';
	return fault_set(fault, ERRAND_PROGRAM ": the report is not valid");
}

int
clone_take(int letter, const char *text, struct fault *fault)
{
	struct clone_known *k = &clone_known;

	switch (letter) {
	case ERRAND_DIR:
		k->known = true;
		return clone_keep(
		    k->from_dir, sizeof(k->from_dir), text, fault);
	case ERRAND_URL:
		return clone_keep(
		    k->from_url, sizeof(k->from_url), text, fault);
	case ERRAND_BRANCH:
		return clone_keep(k->branch, sizeof(k->branch), text, fault);
	case ERRAND_WANTED:
		k->wanted = true;
		return 0;
	default:
		return errand_take(letter, text, fault);
	}
}

const char *
clone_wanted(void)
{
	return clone_known.wanted ? clone_known.from_url : NULL;
}

const char *
clone_summary(char *dst, size_t cap)
{
	const struct clone_known *k = &clone_known;
	char where[4200];

	if (!k->known)
		return "an empty directory";
	if (k->from_url[0] != '\0')
		snprintf(dst, cap, "a clone of %s", k->from_url);
	else
		snprintf(dst, cap, "a clone of %s (branch %s)",
		    paths_tilde(
			sup.paths.user_home, k->from_dir, where, sizeof(where)),
		    k->branch);
	return dst;
}

struct json_object *
clone_json(void)
{
	const struct clone_known *k = &clone_known;
	struct json_object *o;

	if (!k->known)
		return NULL;
	o = json_object_new_object();
	put_str(o, "dir", k->from_dir);
	put_str(o, "url", k->from_url);
	put_str(o, "branch", k->branch);
	return o;
}

static int
clone_no_url(const char *url, const char *why, struct fault *fault)
{
	/* It may contain a password. */
	return fault_set(fault,
	    "--clone %s: %s. Clone it yourself and give the directory: git "
	    "clone URL DIR; icctl start --clone DIR",
	    strchr(url, '@') != NULL ? "URL" : url, why);
}

/* Refuse what can be refused before anything is done. */
int
clone_check(struct fault *fault)
{
	const char *source = sup.opt.clone, *hash;
	struct clone_known *k = &clone_known;
	size_t n;

	if (source == NULL || !repo_is_url(source))
		return 0;
	n = strlen(source);
	if ((hash = strrchr(source, '#')) != NULL) {
		n = (size_t)(hash - source);
		if (repo_name_wrong(span_str(hash + 1)) != NULL)
			return clone_no_url(
			    source, "no branch or tag has such a name", fault);
		(void)strlcpy(k->ref, hash + 1, sizeof(k->ref));
	}
	if (strncmp(source, "https://", 8) != 0 ||
	    span_copy(span_of(source, n), k->url, sizeof(k->url)) == -1 ||
	    strpbrk(k->url, "@?\\ ") != NULL || k->url[8] == '-' ||
	    k->url[8] == '/')
		return clone_no_url(source,
		    "only https://HOST/PATH of a listed git destination is "
		    "cloned in a session, and without a user name or password",
		    fault);
	if (sup.opt.changes || sup.opt.nwith != 0)
		return fault_set(
		    fault, "--with and --with-changes are for --clone DIR");
	return 0;
}

/* Returns true if an earlier run of the session has left a clone's record. */
static bool
clone_recorded(void)
{
	struct stat st;

	return fstatat(sup.session.fd, REPO_RECORD, &st, AT_SYMLINK_NOFOLLOW) ==
	       0;
}

static void
clone_tell(void)
{
	const struct clone_known *k = &clone_known;

	if (k->url[0] != '\0') {
		errand_tell(TOLD_URL, k->url);
		if (k->ref[0] != '\0')
			errand_tell(TOLD_REF, k->ref);
	}
	if (sup.opt.changes)
		errand_tell(TOLD_CHANGES, "");
	for (size_t i = 0; i < sup.opt.nwith; i++)
		errand_tell(TOLD_WITH, sup.opt.with[i]);
	if (making.tells && clone_lacks())
		errand_tell(TOLD_DIRTY, "");
	errand_tell(TOLD_IGNORE, gitbox_user.ignore);
	errand_destinations();
}

static int
clone_start(struct fault *fault)
{
	struct helper *h = &making.helper;
	int rv;

	if ((rv = errand_begin(h, ERRAND_CLONE, clone_take, fault)) == 0) {
		clone_tell();
		rv = helper_start(h, fault);
	}
	if (rv == -1)
		errand_end(h);
	else
		errand_told();
	making.begun = rv == 0;
	return rv;
}

bool
clone_lacks(void)
{
	return sup.opt.clone != NULL && !sup.opt.changes && !making.recorded;
}

int
clone_begin(bool tells, struct fault *fault)
{
	making.tells = tells;
	making.recorded = clone_recorded();
	making.wanted = sup.opt.clone != NULL || making.recorded;
	/* git_begin() finds what --with-changes leaves out. */
	return making.wanted && !sup.opt.changes ? clone_start(fault) : 0;
}

static void
clone_report(struct loop_io *io, uint32_t events)
{
	(void)events;
	making.result = helper_read(&making.helper, io->arg);
}

int
clone_finish(struct fault *fault)
{
	struct helper *h = &making.helper;
	const uint64_t until = clock_mono_us() + CLONE_MAKE_MS * 1000;

	if (!making.wanted)
		return 0;
	if (!making.begun && clone_start(fault) == -1)
		return -1;
	if (loop_add(&sup.loop, &making.io, h->out, EPOLLIN, clone_report,
		fault) == -1)
		return fault_errno(fault, "epoll");
	while (making.result == 0 && !sup.ending && clock_mono_us() < until &&
	       loop_once(&sup.loop, 1000) != -1)
		;
	loop_del(&sup.loop, &making.io);
	if (making.result == 0)
		return fault_set(fault, "%s",
		    sup.ending ? sup.end_why : "the clone is not made in time");
	making.begun = false;
	helper_stop(h);
	return making.result == 1 ? 0 : -1;
}

pid_t
clone_pid(void)
{
	return making.helper.sp.pidfd == -1 ? -1 : making.helper.sp.pid;
}

static bool
clone_given_up(void)
{
	return true;
}

void
clone_abandon(void)
{
	struct fault ignored;

	if (!making.begun)
		return;
	/* It removes what it has made. */
	making.helper.stopped = clone_given_up;
	(void)helper_wait(&making.helper, CLONE_MAKE_MS, &ignored);
}

/* Write "2 commits and 1 file in no commit". */
static void
clone_count(char *dst, size_t cap)
{
	const struct clone_known *k = &clone_known;
	char commits[64] = "", files[64] = "";

	if (k->commits != 0)
		snprintf(commits, sizeof(commits), "%llu commit%s",
		    (unsigned long long)k->commits, plural(k->commits));
	if (k->files != 0)
		snprintf(files, sizeof(files), "%llu file%s in no commit",
		    (unsigned long long)k->files, plural(k->files));
	snprintf(dst, cap, "%s%s%s", commits,
	    k->commits != 0 && k->files != 0 ? " and " : "", files);
}

static int
clone_look(int letter, const char *text, struct fault *fault)
{
	struct clone_known *k = &clone_known;

	if (letter != ERRAND_COMMITS && letter != ERRAND_FILES)
		return errand_take(letter, text, fault);
	k->looked = true;
	if (span_u64(span_str(text), INT64_MAX,
		letter == ERRAND_FILES ? &k->files : &k->commits) == 0)
		return 0;
	return fault_set(fault, ERRAND_PROGRAM ": the report is not valid");
}

const char *
clone_end(char *dst, size_t cap)
{
	static struct helper h;
	const char *id = sup.session.id;
	char count[160], where[4200];
	struct fault fault;
	int rv;

	if (!clone_known.known)
		return NULL;
	if ((rv = errand_begin(&h, ERRAND_LOOK, clone_look, &fault)) == 0) {
		h.stopped = clone_stopped;
		rv = helper_run(&h, CLONE_LOOK_MS, &fault);
	}
	errand_end(&h);
	if (rv == -1) {
		snprintf(dst, cap,
		    "it could not be found out what is new in the clone, %s/"
		    "sandbox: %s. To get it: icctl pull %s",
		    paths_tilde(sup.paths.user_home, sup.session.dir, where,
			sizeof(where)),
		    fault.text, id);
		return dst;
	}
	if (!clone_known.looked)
		return NULL;
	clone_count(count, sizeof(count));
	if (count[0] == '\0')
		snprintf(dst, cap, "nothing new is in the clone");
	else
		snprintf(dst, cap,
		    "the clone has %s that you do not have. See: icctl diff "
		    "%s; get it: icctl pull %s",
		    count, id, id);
	return dst;
}
