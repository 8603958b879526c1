/* SPDX-License-Identifier: ISC */
/*
 * The clone that a session works on: makes it when the session begins, and says
 * at its end what is not pulled yet.
 */
#include "clone.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/json_put.h"
#include "box/git/gitbox.h"
#include "common/plural.h"
#include "core/sup.h"
#include "files/providers/destinations.h"
#include "repo/clone.h"
#include "repo/work.h"

#define CLONE_FIRST_US 3000000U
#define CLONE_EVERY_US 5000000U
#define CLONE_LOOK_US 20000000U

static uint64_t clone_told, clone_every = CLONE_EVERY_US;
static struct repo_record clone_url; /* "" unless --clone URL */

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

static void
clone_progress(uint64_t bytes)
{
	uint64_t now = clock_mono_us();

	if (clone_told == 0)
		clone_told = now + CLONE_FIRST_US;
	if (now < clone_told)
		return;
	clone_told = now + clone_every;
	/* A long one is told of less and less often. */
	clone_every *= 2;
	sup_warn("cloning: %llu MiB so far", (unsigned long long)bytes >> 20);
}

static void
clone_say(const char *line)
{
	sup_warn("%s", line);
}

const char *
clone_summary(char *dst, size_t cap)
{
	static struct repo_record r;
	char where[4200];
	struct fault ignored;

	if (repo_record_read(&r, sup.session.fd, sup.session.dir, &ignored) ==
	    -1)
		return "an empty directory";
	if (r.url[0] != '\0')
		snprintf(dst, cap, "a clone of %s", r.url);
	else
		snprintf(dst, cap, "a clone of %s (branch %s)",
		    paths_tilde(
			sup.paths.user_home, r.dir, where, sizeof(where)),
		    r.branch);
	return dst;
}

struct json_object *
clone_json(void)
{
	static struct repo_record r;
	struct json_object *o;
	struct fault ignored;

	if (repo_record_read(&r, sup.session.fd, sup.session.dir, &ignored) ==
	    -1)
		return NULL;
	o = json_object_new_object();
	put_str(o, "dir", r.dir);
	put_str(o, "url", r.url);
	put_str(o, "branch", r.branch);
	return o;
}

/* Returns true if config.json has a git destination with this host. */
static bool
clone_listed(struct span host)
{
	const struct config_destination *d;

	for (size_t i = 0; i < sup.config.ndestinations; i++) {
		d = &sup.config.destinations[i];
		if (d->kind == &destination_git && d->hosts != NULL &&
		    d->hosts[0] != NULL &&
		    span_ieq(host, span_str(d->hosts[0])))
			return true;
	}
	return false;
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
	struct repo_record *r = &clone_url;
	size_t n;

	if (source == NULL || !repo_is_url(source))
		return 0;
	n = strlen(source);
	if ((hash = strrchr(source, '#')) != NULL) {
		n = (size_t)(hash - source);
		if (repo_name_wrong(span_str(hash + 1)) != NULL)
			return clone_no_url(source,
			    "no branch or tag has such a name", fault);
		(void)strlcpy(r->branch, hash + 1, sizeof(r->branch));
	}
	if (strncmp(source, "https://", 8) != 0 ||
	    span_copy(span_of(source, n), r->url, sizeof(r->url)) == -1 ||
	    strpbrk(r->url, "@?\\ ") != NULL || r->url[8] == '-' ||
	    r->url[8] == '/')
		return clone_no_url(source,
		    "only https://HOST/PATH of a listed git destination is "
		    "cloned in a session, and without a user name or password",
		    fault);
	if (sup.opt.changes || sup.opt.nwith != 0)
		return fault_set(fault,
		    "--with and --with-changes are for --clone DIR");
	return 0;
}

/* Forget what an earlier run of the session has left: it will change. */
static void
clone_unlook(void)
{
	static struct repo_record r;
	struct fault ignored;

	if (repo_record_read(&r, sup.session.fd, sup.session.dir, &ignored) ==
		-1 ||
	    !r.looked)
		return;
	r.looked = false;
	(void)repo_record_write(&r, sup.session.fd);
}

/* Note the URL; git gets it when mitmd is there: see clone_fetched(). */
static int
clone_later(struct fault *fault)
{
	struct repo_record *r = &clone_url;
	const char *name = strrchr(sup.session.dir, '/');
	size_t n = strcspn(r->url + 8, "/");
	char why[400];

	if (!clone_listed(span_of(r->url + 8, n))) {
		snprintf(why, sizeof(why),
		    "%.*s is no git destination in config.json, which a "
		    "session could reach (ironcurtain-config(5), destinations)",
		    (int)(n > 200 ? 200 : n), r->url + 8);
		return clone_no_url(sup.opt.clone, why, fault);
	}
	name = name == NULL ? sup.session.dir : name + 1;
	if (strlen(name) >= sizeof(r->session) ||
	    repo_name_wrong(span_str(name)) != NULL)
		name = "session";
	(void)strlcpy(r->session, name, sizeof(r->session));
	if (repo_record_write(r, sup.session.fd) == -1)
		return fault_errno(fault, "%s/" REPO_RECORD, sup.session.dir);
	return 0;
}

int
clone_begin(struct fault *fault)
{
	struct repo_env env = {.libexecdir = sup.paths.libexecdir,
	    .stopped = clone_stopped,
	    .progress = clone_progress};
	const struct repo_clone how = {.env = &env,
	    .source = sup.opt.clone,
	    .changes = sup.opt.changes,
	    .with = sup.opt.with,
	    .nwith = sup.opt.nwith,
	    .ignore = gitbox_user.ignore,
	    .session = sup.session.fd,
	    .session_path = sup.session.dir,
	    .sandbox = sup.session.sandbox,
	    .say = clone_say};
	struct fault why;

	clone_unlook();
	if (sup.opt.clone == NULL ||
	    repo_cloned(sup.session.fd, sup.session.sandbox))
		return 0;
	if (clone_url.url[0] != '\0')
		return clone_later(fault);
	env.until = clock_mono_us() + (uint64_t)REPO_MAX_SECONDS * 1000000;
	if (repo_clone(&how, &why) == -1)
		return fault_set(
		    fault, "--clone %s: %s", sup.opt.clone, why.text);
	return 0;
}

/* Write "2 commits and 1 file in no commit". */
static void
clone_count(const struct repo_record *r, char *dst, size_t cap)
{
	char commits[64] = "", files[64] = "";

	if (r->commits != 0)
		snprintf(commits, sizeof(commits), "%lld commit%s",
		    (long long)r->commits, plural((uint64_t)r->commits));
	if (r->files != 0)
		snprintf(files, sizeof(files), "%lld file%s in no commit",
		    (long long)r->files, plural((uint64_t)r->files));
	snprintf(dst, cap, "%s%s%s", commits,
	    r->commits != 0 && r->files != 0 ? " and " : "", files);
}

const char *
clone_end(char *dst, size_t cap)
{
	static struct repo_work w;
	const struct repo_env env = {.libexecdir = sup.paths.libexecdir,
	    .stopped = clone_stopped,
	    .until = clock_mono_us() + CLONE_LOOK_US};
	const char *id = sup.session.id;
	struct repo_record *r = &w.record;
	char count[160], where[4200];
	struct fault fault;

	if (repo_work_open(
		&w, &env, sup.session.fd, sup.session.dir, &fault) == -1 &&
	    w.record.session[0] == '\0') {
		repo_work_close(&w);
		return NULL;
	}
	/* Nothing came from the URL, and no agent ran. */
	if (r->base[0] == '\0') {
		repo_work_close(&w);
		return NULL;
	}
	if (w.clone.n == 0 || repo_work_look(&w, &fault) == -1) {
		snprintf(dst, cap,
		    "it could not be found out what is new in the clone, %s/"
		    "sandbox: %s. To get it: icctl pull %s",
		    paths_tilde(sup.paths.user_home, sup.session.dir, where,
			sizeof(where)),
		    fault.text, id);
		repo_work_close(&w);
		return dst;
	}
	r->looked = true;
	r->commits = repo_work_commits(&w);
	r->files = w.files;
	if (repo_record_write(r, sup.session.fd) == -1)
		sup_note("clone.json could not be written");
	clone_count(r, count, sizeof(count));
	if (count[0] == '\0')
		snprintf(dst, cap, "nothing new is in the clone");
	else
		snprintf(dst, cap,
		    "the clone has %s that you do not have. See: icctl diff "
		    "%s; get it: icctl pull %s",
		    count, id, id);
	repo_work_close(&w);
	return dst;
}
