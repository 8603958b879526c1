/* SPDX-License-Identifier: ISC */
/*
 * `icctl ls`, `history` and `logs`: what there is of sessions, running or not.
 * A session's files are the user's own, but their texts may come from an agent.
 */
#include "icctl/talk/talk.h"

#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/stat.h>

#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/json_put.h"
#include "base/session_age.h"
#include "common/plural.h"
#include "common/visible.h"
#include "icctl/newest.h"
#include "icctl/words.h"

#define HISTORY_SHOWN 60U
#define LS_PROJECT 16U   /* columns, and bytes of a name */
#define LOGS_LOOK_MS 200 /* if the kernel refuses to watch */

static void
copy(json_object *to, json_object *from, const char *key, const char *as)
{
	json_object *v;

	if (from != NULL && json_object_object_get_ex(from, key, &v))
		json_object_object_add(to, as, json_object_get(v));
}

/* Add what is known of the session's clone. */
static void
session_clone(json_object *row, const char *dir, bool live)
{
	json_object *file = newest_read(dir, "clone.json"), *o, *n = NULL,
		    *list = NULL;

	if (!json_object_is_type(file, json_type_object)) {
		json_object_put(file);
		return;
	}
	o = json_object_new_object();
	copy(o, file, "dir", "dir");
	copy(o, file, "url", "url");
	copy(o, file, "branch", "branch");
	put_bool(o, "pulled",
	    json_object_object_get_ex(file, "pulled", &list) &&
		json_object_is_type(list, json_type_array) &&
		json_object_array_length(list) != 0);
	/* While the agent works, nobody has counted. */
	if (!live && json_object_object_get_ex(file, "waitingCommits", &n)) {
		copy(o, file, "waitingCommits", "commits");
		copy(o, file, "waitingFiles", "files");
	}
	json_object_object_add(row, "clone", o);
	json_object_put(file);
}

bool
talk_runs(int dirfd)
{
	int lock = openat(
	    dirfd, "lock", O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	bool runs =
	    flock(dirfd, LOCK_SH | LOCK_NB) == -1 && errno == EWOULDBLOCK;

	(void)flock(dirfd, LOCK_UN);
	if (lock == -1)
		return runs;
	runs = runs ||
	       (flock(lock, LOCK_SH | LOCK_NB) == -1 && errno == EWOULDBLOCK);
	close(lock);
	return runs;
}

/* Returns the state of a session that does not answer. */
static const char *
session_silent(const char *dir, json_object *file)
{
	const char *state = "crashed";
	int fd;

	if (strcmp(icctl_text(file, "state"), "ended") == 0)
		return "closed";
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd != -1 && talk_runs(fd))
		state = "stopping";
	if (fd != -1)
		close(fd);
	return state;
}

/* Returns true if the directory is that of a session of this user. */
static bool
session_is(const char *dir)
{
	struct stat st;
	char path[4400];

	snprintf(path, sizeof(path), "%.4096s/session.json", dir);
	return lstat(path, &st) == 0 && st.st_uid == geteuid();
}

json_object *
talk_row(const char *dir, const char *id)
{
	json_object *row, *live = icctl_ask_dir(dir, "status"),
			  *file = newest_read(dir, "session.json");
	const char *state = icctl_text(live, "state");
	char until[ICCTL_UNTIL];

	if (live == NULL && file == NULL && !session_is(dir))
		return NULL;
	if (live == NULL)
		state = session_silent(dir, file);
	else if (strcmp(icctl_text(live, "code"), "starting") == 0)
		state = "initializing";
	else if (state[0] == '\0')
		state = "running";
	row = json_object_new_object();
	json_object_object_add(row, "id", json_object_new_string(id));
	json_object_object_add(row, "state", json_object_new_string(state));
	copy(row, file, "agent", "agent");
	copy(row, file, "workspace", "workspace");
	copy(row, file, "started", "started");
	if (live == NULL) {
		copy(row, file, "why", "why");
		if (file == NULL)
			put_str(row, "why", "its session.json is damaged");
		copy(row, file, "runsLater", "runsLater");
	}
	if (live != NULL) {
		copy(row, live, "pid", "pid");
		copy(row, live, "pending", "pending");
		copy(row, live, "turn", "turn");
	}
	/* An ended session keeps a time that may be over by now. */
	if (icctl_until(icctl_text(live != NULL ? live : file, "quotaUntil"),
		until)[0] != '\0')
		copy(row, live != NULL ? live : file, "quotaUntil",
		    "quotaUntil");
	session_clone(row, dir, live != NULL);
	json_object_object_add(row, "dir", json_object_new_string(dir));
	json_object_put(live);
	json_object_put(file);
	return row;
}

struct ls_row {
	json_object *row; /* as talk_row() returns it */
	struct session_age age;
};

/* Compare two rows, so that the session that was started last comes first. */
static int
by_start(const void *a, const void *b)
{
	const struct ls_row *x = a, *y = b;

	return session_age_cmp(&y->age, icctl_text(y->row, "id"), &x->age,
	    icctl_text(x->row, "id"));
}

/* Returns the rows of `all`, which is freed, with the newest session first. */
static json_object *
ls_sort(json_object *all)
{
	size_t n = json_object_array_length(all);
	json_object *sorted = json_object_new_array();
	struct ls_row *rows = calloc(n + 1, sizeof(*rows));

	if (rows == NULL)
		err(ICCTL_FAILED, "sessions");
	for (size_t i = 0; i < n; i++) {
		rows[i].row = json_object_array_get_idx(all, i);
		session_age_read(&rows[i].age, icctl_text(rows[i].row, "dir"),
		    icctl_text(rows[i].row, "id"));
	}
	if (n != 0)
		qsort(rows, n, sizeof(*rows), by_start);
	for (size_t i = 0; i < n; i++)
		json_object_array_add(sorted, json_object_get(rows[i].row));
	free(rows);
	json_object_put(all);
	return sorted;
}

/* Collect the names in a directory. */
static size_t
names_in(const char *dir, char ***list)
{
	struct dirent *e;
	char **names = NULL, **more;
	size_t n = 0;
	DIR *d;

	if ((d = opendir(dir)) == NULL)
		return 0;
	while ((e = readdir(d)) != NULL) {
		if (e->d_name[0] == '.')
			continue;
		more = realloc(names, (n + 1) * sizeof(*names));
		if (more == NULL || (more[n] = strdup(e->d_name)) == NULL)
			err(ICCTL_FAILED, "sessions");
		names = more;
		n++;
	}
	closedir(d);
	*list = names;
	return n;
}

/* Print where the agent works, and what waits there to be pulled. */
static void
put_place(json_object *row)
{
	char path[ICCTL_PATH];
	json_object *c;
	int64_t commits, files;

	if (icctl_text(row, "workspace")[0] == '\0') {
		icctl_put_str(icctl_text(row, "why"));
		return;
	}
	if (!json_object_object_get_ex(row, "clone", &c)) {
		icctl_put_str(icctl_path(icctl_text(row, "workspace"), path));
		return;
	}
	fputs("clone of ", stdout);
	icctl_put_str(icctl_text(c, "dir")[0] != '\0'
			  ? icctl_path(icctl_text(c, "dir"), path)
			  : icctl_text(c, "url"));
	if (!json_object_object_get_ex(c, "commits", NULL)) {
		fputs(" (icctl diff, icctl pull)", stdout);
		return;
	}
	commits = icctl_number(c, "commits");
	files = icctl_number(c, "files");
	if (commits == 0 && files == 0)
		fputs(", nothing to pull", stdout);
	else
		printf(", to pull: %lld commit%s, %lld file%s",
		    (long long)commits, plural((uint64_t)commits),
		    (long long)files, plural((uint64_t)files));
}

/* Print the name of the directory that the agent works on. */
static void
put_project(json_object *row)
{
	const char *path = icctl_text(row, "workspace"), *name;
	json_object *c;
	size_t len;

	if (json_object_object_get_ex(row, "clone", &c))
		path = icctl_text(
		    c, icctl_text(c, "dir")[0] != '\0' ? "dir" : "url");
	len = strlen(path);
	while (len > 1 && path[len - 1] == '/')
		len--;
	name = path + len;
	while (name != path && name[-1] != '/')
		name--;
	len -= (size_t)(name - path);
	if (len == 0) {
		name = "-";
		len = 1;
	}
	len = visible_cut(span_of(name, len), LS_PROJECT);
	icctl_put(span_of(name, len), LS_PROJECT, false);
	printf("%*s ", len < LS_PROJECT ? (int)(LS_PROJECT - len) : 0, "");
}

static void
put_row(json_object *row)
{
	char until[ICCTL_UNTIL];

	put_project(row);
	printf("%-12s %-14s %-21s ", icctl_text(row, "state"),
	    icctl_text(row, "agent"), icctl_text(row, "id"));
	printf("%7lld  ", (long long)icctl_number(row, "pending"));
	put_place(row);
	if (icctl_until(icctl_text(row, "quotaUntil"), until)[0] != '\0')
		printf(", quota used up until %s", until);
	putchar('\n');
}

/* Returns true if the session is in sessions/, too, with that name. */
static bool
is_listed(const struct icctl *ctl, const char *name)
{
	char dir[4600];
	struct stat st;

	snprintf(dir, sizeof(dir), "%.4000s/sessions/%.256s", ctl->home, name);
	return stat(dir, &st) == 0;
}

int
icctl_ls(struct icctl *ctl, int argc, char **argv)
{
	static const char *const places[] = {"run", "sessions"};
	json_object *row, *all = json_object_new_array();
	char place[4200], dir[4200 + 256], **names = NULL;
	bool whole = words_given("--all");
	struct stat st;
	int r;

	if ((r = icctl_no_arguments(argc)) != 0)
		return r;
	for (size_t k = 0; k < 2; k++) {
		snprintf(
		    place, sizeof(place), "%.4000s/%s", ctl->home, places[k]);
		for (size_t i = 0, n = names_in(place, &names); i < n; i++) {
			snprintf(dir, sizeof(dir), "%s/%s", place, names[i]);
			row = NULL;
			/* A link in run/ to a session elsewhere. */
			if (stat(dir, &st) == 0 && S_ISDIR(st.st_mode) &&
			    (k == 1 || !is_listed(ctl, names[i])) &&
			    (whole || !newest_own(dir)))
				row = talk_row(dir, names[i]);
			if (row != NULL)
				json_object_array_add(all, row);
			free(names[i]);
		}
		free(names);
		names = NULL;
	}
	all = ls_sort(all);
	if (ctl->json) {
		icctl_put_json(all);
	} else if (json_object_array_length(all) == 0) {
		puts("there are no sessions. Start one: icctl start");
	} else {
		printf("%-*s %-12s %-14s %-21s %7s  %s\n", (int)LS_PROJECT,
		    "PROJECT", "STATE", "AGENT", "SESSION", "PENDING",
		    "WORKSPACE");
		for (size_t i = 0; i < json_object_array_length(all); i++)
			put_row(json_object_array_get_idx(all, i));
	}
	json_object_put(all);
	return ICCTL_OK;
}

/* Open a file of the session that is named, or of the newest one. */
static FILE *
session_file(struct icctl *ctl, int argc, char **argv, const char *name)
{
	char path[4400];
	FILE *f;
	int fd;

	if (argc > 1)
		ctl->session = argv[1];
	if (icctl_find(ctl) != 0)
		return NULL;
	snprintf(path, sizeof(path), "%.4096s/%s", ctl->dir, name);
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd == -1 || (f = fdopen(fd, "r")) == NULL) {
		if (errno == ENOENT)
			warnx("session %s has no %s: it is no conversation",
			    ctl->dir, name);
		else
			warn("%s", path);
		return NULL;
	}
	return f;
}

static void
put_turn(json_object *begin, json_object *end)
{
	struct span s = span_str(icctl_text(begin, "message"));
	char when[ICCTL_LOCAL];

	for (size_t i = 0; i < s.len; i++)
		if (s.p[i] == '\n')
			s.len = i;
	printf("%4lld  %s  %-11s ", (long long)icctl_number(begin, "turn"),
	    icctl_local(icctl_text(begin, "ts"), when),
	    end == NULL ? "processing" : icctl_text(end, "status"));
	icctl_put(s, HISTORY_SHOWN, false);
	putchar('\n');
}

int
icctl_history(struct icctl *ctl, int argc, char **argv)
{
	json_object *o, *begin = NULL;
	char *line = NULL;
	size_t cap = 0;
	FILE *f;

	if (argc > 2)
		return words_usage();
	if ((f = session_file(ctl, argc, argv, "events.jsonl")) == NULL)
		return ICCTL_NO_SESSION;
	while (getline(&line, &cap, f) != -1) {
		if ((o = json_tokener_parse(line)) == NULL)
			continue;
		if (ctl->json) {
			icctl_put_json(o);
		} else if (strcmp(icctl_text(o, "event"), "turn_start") == 0) {
			json_object_put(begin);
			begin = json_object_get(o);
		} else if (strcmp(icctl_text(o, "event"), "turn_end") == 0 &&
			   begin != NULL) {
			put_turn(begin, o);
			json_object_put(begin);
			begin = NULL;
		}
		json_object_put(o);
	}
	if (begin != NULL)
		put_turn(begin, NULL);
	json_object_put(begin);
	free(line);
	fclose(f);
	return ICCTL_OK;
}

/*
 * Returns the length of the line without the process that it names at its end,
 * as ", by pid 24" or " (pid 24)".
 */
static size_t
logs_short(const char *line, size_t n)
{
	static const char *const forms[][2] = {
	    {", by pid ", ""}, {" by pid ", ""}, {" (pid ", ")"}};
	const char *at;
	size_t len, digits;

	for (size_t i = 0; i < nitems(forms); i++) {
		len = strlen(forms[i][0]);
		if ((at = memmem(line, n, forms[i][0], len)) == NULL)
			continue;
		digits = strspn(at + len, "0123456789");
		if (digits != 0 && strcmp(at + len + digits, forms[i][1]) == 0)
			return (size_t)(at - line);
	}
	return n;
}

/*
 * Print a line of session.log, which ends with a NUL, as a person reads it:
 * with the local time, and without process ids.
 */
static void
logs_line(const char *line, size_t n)
{
	char *end = NULL, when[ICCTL_LOCAL];
	time_t at = (time_t)strtoll(line, &end, 10);
	struct tm tm;

	n = logs_short(line, n);
	if (end != line && *end == '.' && strspn(end + 1, "0123456789") == 3 &&
	    end[4] == ' ' && localtime_r(&at, &tm) != NULL) {
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &tm);
		fputs(when, stdout);
		n -= (size_t)(end + 4 - line);
		line = end + 4;
	}
	icctl_put(span_of(line, n), 65536, false);
	putchar('\n');
}

/* Print what the file has now; it is printable already. */
static void
logs_copy(FILE *f)
{
	char *line = NULL;
	size_t cap = 0;
	ssize_t n;

	clearerr(f);
	while ((n = getline(&line, &cap, f)) > 0) {
		if (line[n - 1] == '\n')
			line[--n] = '\0';
		logs_line(line, (size_t)n);
	}
	free(line);
	fflush(stdout);
}

/*
 * Wait until the file may have changed; -1: nothing tells. Returns false if that
 * cannot be known.
 */
static bool
logs_wait(int fd)
{
	char event[4096];

	if (fd == -1)
		return poll(NULL, 0, LOGS_LOOK_MS) == 0;
	return read(fd, event, sizeof(event)) > 0;
}

int
icctl_logs(struct icctl *ctl, int argc, char **argv)
{
	char path[4400];
	bool follow = words_given("-f");
	int fd = -1;
	FILE *f;

	if (argc > 2)
		return words_usage();
	if ((f = session_file(ctl, argc, argv, "session.log")) == NULL)
		return ICCTL_NO_SESSION;
	snprintf(path, sizeof(path), "%.4096s/session.log", ctl->dir);
	if (follow && (fd = inotify_init1(IN_CLOEXEC)) != -1 &&
	    inotify_add_watch(fd, path, IN_MODIFY) == -1) {
		close(fd);
		fd = -1;
	}
	logs_copy(f);
	/* It ends with the reader, as tail -f does. */
	while (follow && logs_wait(fd))
		logs_copy(f);
	fclose(f);
	return ICCTL_OK;
}
