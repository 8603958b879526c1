/* SPDX-License-Identifier: ISC */
/*
 * Finds the session that a command is about: the one that --session names by
 * its directory, its id or a part of its id, or the only one that runs.
 */
#include "icctl/icctl.h"

#include <sys/stat.h>

#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/here.h"
#include "base/json_put.h"
#include "common/log.h"
#include "icctl/newest.h"
#include "icctl/talk/talk.h"

static bool
runs(const char *dir)
{
	int fd = icctl_dial(dir);

	/* A session that does not answer in time still exists. */
	if (fd == -1)
		return errno == EAGAIN;
	close(fd);
	return true;
}

/* Returns true if the link of that name belongs to another machine. */
static bool
elsewhere(const char *home, const char *name, char host[65])
{
	char run[4096], beside[300];
	bool is;
	int fd;

	snprintf(run, sizeof(run), "%.4000s/run", home);
	if ((fd = open(run, O_PATH | O_DIRECTORY | O_CLOEXEC)) == -1)
		return false;
	is = here_read(fd, here_beside(name, beside), host) == HERE_ELSEWHERE;
	close(fd);
	return is;
}

/* The sessions whose id has some part. */
struct matches {
	char ids[20][256];
	unsigned n; /* may be more than are kept */
};

static void
match_in(struct matches *m, const char *home, const char *sub, const char *part)
{
	char dir[4096];
	struct dirent *e;
	bool known;
	DIR *d;

	snprintf(dir, sizeof(dir), "%.4000s/%s", home, sub);
	if ((d = opendir(dir)) == NULL)
		return;
	while ((e = readdir(d)) != NULL) {
		if (e->d_name[0] == '.' || strstr(e->d_name, part) == NULL)
			continue;
		known = false;
		for (unsigned i = 0; i < m->n && i < 20 && !known; i++)
			known = strcmp(m->ids[i], e->d_name) == 0;
		if (!known && m->n < 20)
			(void)strlcpy(
			    m->ids[m->n], e->d_name, sizeof(m->ids[m->n]));
		m->n += !known;
	}
	closedir(d);
}

/* Print why no session was found, and keep it for a program. */
static int __attribute__((format(printf, 3, 4)))
find_fail(struct icctl *ctl, const char *code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(ctl->why, sizeof(ctl->why), fmt, ap);
	va_end(ap);
	ctl->code = code;
	warnx("%s", ctl->why);
	return ICCTL_NO_SESSION;
}

/* Add an id to the reason for a program. */
static void
find_more(struct icctl *ctl, const char *before, const char *id)
{
	(void)strlcat(ctl->why, before, sizeof(ctl->why));
	(void)strlcat(ctl->why, id, sizeof(ctl->why));
}

/*
 * Set `dir` to the session of that id, if there is one. Returns false if not.
 */
static bool
by_id(struct icctl *ctl, const char *id)
{
	static const char *const subs[] = {"run", "sessions"};
	struct stat st;

	for (size_t i = 0; i < 2; i++) {
		snprintf(ctl->dir, sizeof(ctl->dir), "%.3800s/%s/%.255s",
		    ctl->home, subs[i], id);
		if (stat(ctl->dir, &st) == 0)
			return true;
	}
	return false;
}

/*
 * Find the session by a part of its id. Those that have ended count, so that
 * the part never means another session than the one it was typed for.
 */
static int
by_part(struct icctl *ctl)
{
	struct matches m = {.n = 0};
	char shown[300];

	log_vis(span_str(ctl->session), shown, sizeof(shown));
	if (strlen(ctl->session) >= 2) {
		match_in(&m, ctl->home, "run", ctl->session);
		match_in(&m, ctl->home, "sessions", ctl->session);
	}
	if (m.n == 1 && by_id(ctl, m.ids[0]))
		return 0;
	if (m.n == 0)
		return find_fail(ctl, "not-found",
		    "no session has \"%s\" in its id, and there is no "
		    "directory of that name. Their ids: icctl ls",
		    shown);
	(void)find_fail(ctl, "ambiguous",
	    "\"%s\" is in the ids of %u sessions; say more of it:", shown,
	    m.n);
	for (unsigned i = 0; i < m.n && i < 20; i++) {
		fprintf(stderr, "  %s\n", m.ids[i]);
		find_more(ctl, " ", m.ids[i]);
	}
	return ICCTL_NO_SESSION;
}

static int
by_name(struct icctl *ctl)
{
	char host[65], run[4096], shown[600];
	struct stat st;

	/* "", "." and ".." are in run/, too, and are no ids. */
	if (strchr(ctl->session, '/') == NULL &&
	    strspn(ctl->session, ".") != strlen(ctl->session)) {
		snprintf(run, sizeof(run), "%.3800s/run/%.255s", ctl->home,
		    ctl->session);
		if (lstat(run, &st) == 0 &&
		    elsewhere(ctl->home, ctl->session, host)) {
			return find_fail(ctl, "not-found",
			    "session %s runs on %s: icctl speaks to sessions "
			    "of its own machine only",
			    ctl->session, host);
		}
		if (by_id(ctl, ctl->session))
			return 0;
	}
	snprintf(ctl->dir, sizeof(ctl->dir), "%s", ctl->session);
	if (stat(ctl->dir, &st) == 0 && S_ISDIR(st.st_mode))
		return 0;
	if (strchr(ctl->session, '/') == NULL)
		return by_part(ctl);
	log_vis(span_str(ctl->session), shown, sizeof(shown));
	return find_fail(
	    ctl, "not-found", "there is no directory %s", shown);
}

/* Returns true if an object of the list has an id that begins so. */
static bool
find_in(json_object *reply, const char *key, const char *id)
{
	json_object *list = NULL;

	if (reply == NULL || !json_object_object_get_ex(reply, key, &list) ||
	    !json_object_is_type(list, json_type_array))
		return false;
	for (size_t i = 0; i < json_object_array_length(list); i++)
		if (strncmp(icctl_text(json_object_array_get_idx(list, i),
				"id"),
			id, strlen(id)) == 0)
			return true;
	return false;
}

/* Returns true if the session has this call or this grant. */
static bool
find_has(const char *dir, const char *id)
{
	json_object *reply = icctl_ask_dir(dir, "pending");
	bool has = find_in(reply, "holds", id);

	json_object_put(reply);
	if (has)
		return true;
	reply = icctl_ask_dir(dir, "status");
	has = find_in(reply, "granted", id);
	json_object_put(reply);
	return has;
}

/* Print the ids of a session's pending calls. */
static void
put_pending(const char *dir)
{
	json_object *reply = icctl_ask_dir(dir, "pending"), *list;
	char id[64];
	size_t n;

	if (reply != NULL && json_object_object_get_ex(reply, "holds", &list) &&
	    (n = json_object_array_length(list)) != 0) {
		fprintf(stderr, "  %zu pending:", n);
		for (size_t i = 0; i < n && i < 8; i++)
			fprintf(stderr, " %s",
			    log_vis(
				span_str(icctl_text(
				    json_object_array_get_idx(list, i), "id")),
				id, sizeof(id)));
		if (n > 8)
			fputs(" ...", stderr);
	}
	json_object_put(reply);
}

/* Print what tells a running session from others. */
static void
put_running(struct icctl *ctl, const char *dir)
{
	char path[4400], shown[ICCTL_PATH], vis[ICCTL_PATH];
	json_object *o;

	fprintf(stderr, "  %s", strrchr(dir, '/') + 1);
	find_more(ctl, " ", strrchr(dir, '/') + 1);
	snprintf(path, sizeof(path), "%.4350s/session.json", dir);
	if ((o = json_object_from_file(path)) != NULL) {
		fprintf(stderr, "  %s",
		    log_vis(
			span_str(icctl_text(o, "agent")), vis, sizeof(vis)));
		fprintf(stderr, "  %s",
		    log_vis(
			span_str(icctl_path(icctl_text(o, "workspace"), shown)),
			vis, sizeof(vis)));
	}
	json_object_put(o);
	put_pending(dir);
	fputc('\n', stderr);
}

/* Returns true if the session was killed: it is not said to have ended. */
static bool
crashed(const char *dir)
{
	json_object *o = newest_read(dir, "session.json");
	bool is = o != NULL && strcmp(icctl_text(o, "state"), "ended") != 0;
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	is = is && fd != -1 && !talk_runs(fd);
	if (fd != -1)
		close(fd);
	json_object_put(o);
	return is;
}

/*
 * No session runs: take the last one for a command that reads, or say which one
 * it was. Returns 0, or an exit status.
 */
static int
none_runs(struct icctl *ctl, const char *run)
{
	char log[4096 + 300], last[NEWEST_ID], age[32], shown[ICCTL_PATH];
	bool any = newest_find(ctl, NEWEST_ANY, last), there;
	const char *how;
	struct stat st;

	snprintf(log, sizeof(log), "%.3800s/sessions/%s/audit.jsonl", ctl->home,
	    last);
	if (!any || stat(log, &st) == -1)
		return find_fail(ctl, "not-found",
		    "no session is running (looked in %s). Start one: icctl "
		    "start",
		    icctl_path(run, shown));
	icctl_span(
	    (int64_t)(time(NULL) - st.st_mtime) * 1000, age, sizeof(age));
	there = by_id(ctl, last);
	how = there && crashed(ctl->dir) ? "crashed" : "ended";
	if (ctl->reads && there) {
		warnx("no session is running; this is the last one, %s, which "
		      "%s %s ago",
		    last, how, age);
		return 0;
	}
	return find_fail(ctl, "not-found",
	    "no session is running. The last one, %s, %s %s ago; its log "
	    "is %s. To go on with it: icctl resume %s",
	    last, how, age, icctl_path(log, shown), last);
}

/*
 * Find the only session that has the call or the grant `ctl->waits`. Returns
 * false if none has it, or several.
 */
static bool
by_waiting(struct icctl *ctl, const char *run)
{
	char path[4096 + 256];
	struct dirent *e;
	unsigned n = 0;
	DIR *d;

	if (ctl->waits == NULL || ctl->waits[0] == '\0' ||
	    (d = opendir(run)) == NULL)
		return false;
	while ((e = readdir(d)) != NULL) {
		snprintf(path, sizeof(path), "%s/%s", run, e->d_name);
		if (e->d_name[0] == '.' || !runs(path) ||
		    !find_has(path, ctl->waits))
			continue;
		n++;
		snprintf(ctl->dir, sizeof(ctl->dir), "%.4095s", path);
	}
	closedir(d);
	return n == 1;
}

bool
icctl_any_runs(const struct icctl *ctl)
{
	char run[4096], path[4096 + 256], host[65];
	struct dirent *e;
	bool any = false;
	DIR *d;

	snprintf(run, sizeof(run), "%.4000s/run", ctl->home);
	if ((d = opendir(run)) == NULL)
		return false;
	while (!any && (e = readdir(d)) != NULL) {
		snprintf(path, sizeof(path), "%s/%s", run, e->d_name);
		any = e->d_name[0] != '.' &&
		      !elsewhere(ctl->home, e->d_name, host) && runs(path) &&
		      !newest_own(path);
	}
	closedir(d);
	return any;
}

int
icctl_find(struct icctl *ctl)
{
	char run[4096], path[4096 + 256], first[4096] = "", shown[ICCTL_PATH];
	struct dirent *e;
	unsigned n = 0, others = 0;
	char host[65], other[65] = "";
	DIR *d;

	if (ctl->session != NULL)
		return by_name(ctl);
	snprintf(run, sizeof(run), "%.4000s/run", ctl->home);
	if (by_waiting(ctl, run))
		return 0;
	if ((d = opendir(run)) != NULL) {
		while ((e = readdir(d)) != NULL) {
			if (e->d_name[0] == '.')
				continue;
			if (elsewhere(ctl->home, e->d_name, host)) {
				others++;
				(void)strlcpy(other, host, sizeof(other));
				continue;
			}
			snprintf(path, sizeof(path), "%s/%s", run, e->d_name);
			if (!runs(path) || newest_own(path))
				continue;
			if (++n == 1)
				snprintf(first, sizeof(first), "%.4095s", path);
			if (n == 2)
				(void)find_fail(ctl, "ambiguous",
				    "several sessions run; say which with "
				    "--session, by its id or a part of it "
				    "that no other has:");
			if (n == 2)
				put_running(ctl, first);
			if (n >= 2)
				put_running(ctl, path);
		}
		closedir(d);
	}
	if (n == 0 && others != 0)
		(void)find_fail(ctl, "not-found",
		    "no session is running on this machine; %u %s on other "
		    "machines that share %s, such as %s. Start one here: "
		    "icctl start",
		    others, others == 1 ? "runs" : "run",
		    icctl_path(run, shown), other);
	else if (n == 0)
		return none_runs(ctl, run);
	if (n != 1)
		return ICCTL_NO_SESSION;
	snprintf(ctl->dir, sizeof(ctl->dir), "%s", first);
	return 0;
}
