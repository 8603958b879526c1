/* SPDX-License-Identifier: ISC */
/*
 * `icctl ls`, `history` and `logs`: what there is of sessions, running or not.
 * A session's files are the user's own, but their texts may come from an agent.
 */
#include "icctl/talk/talk.h"

#include <sys/stat.h>

#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_put.h"
#include "base/session_age.h"
#include "common/plural.h"
#include "common/visible.h"
#include "icctl/newest.h"
#include "icctl/table.h"
#include "icctl/words.h"

#define LS_PROJECT 16U /* columns, and bytes of a name */

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

bool
talk_is(const char *dir)
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

	if (live == NULL && file == NULL && !talk_is(dir))
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

/* Returns the name of the directory that the agent works on, or "-". */
static struct span
row_project(json_object *row)
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
	if (len == 0)
		return SPAN("-");
	return span_of(name, visible_cut(span_of(name, len), LS_PROJECT));
}

/* Add what waits in the clone to be pulled. */
static void
place_clone(struct buf *b, json_object *c)
{
	const int64_t commits = icctl_number(c, "commits"),
		      files = icctl_number(c, "files");

	if (!json_object_object_get_ex(c, "commits", NULL))
		buf_adds(b, " (icctl diff, icctl pull)");
	else if (commits == 0 && files == 0)
		buf_adds(b, ", nothing to pull");
	else
		buf_printf(b, ", to pull: %lld commit%s, %lld file%s",
		    (long long)commits, plural((uint64_t)commits),
		    (long long)files, plural((uint64_t)files));
}

/* Add where the agent works, and what waits for the person. */
static void
row_place(struct table *t, json_object *row)
{
	char path[ICCTL_PATH], until[ICCTL_UNTIL];
	json_object *c;
	struct buf b;

	buf_init(&b, 3 * ICCTL_PATH);
	if (icctl_text(row, "workspace")[0] == '\0') {
		buf_adds(&b, icctl_text(row, "why"));
	} else if (!json_object_object_get_ex(row, "clone", &c)) {
		buf_adds(&b, icctl_path(icctl_text(row, "workspace"), path));
	} else {
		buf_adds(&b, "clone of ");
		buf_adds(&b, icctl_text(c, "dir")[0] != '\0'
				 ? icctl_path(icctl_text(c, "dir"), path)
				 : icctl_text(c, "url"));
		place_clone(&b, c);
	}
	if (icctl_until(icctl_text(row, "quotaUntil"), until)[0] != '\0')
		buf_printf(&b, ", quota used up until %s", until);
	table_text(t, buf_span(&b), 3 * ICCTL_PATH);
	buf_free(&b);
}

/* Print all rows below their headings. */
static void
put_rows(json_object *all)
{
	static const struct table_column columns[] = {{"PROJECT", false},
	    {"STATE", false}, {"AGENT", false}, {"SESSION", false},
	    {"PENDING", true}, {"WORKSPACE", false}};
	json_object *row;
	struct table t;

	table_begin(&t, columns, nitems(columns));
	for (size_t i = 0; i < json_object_array_length(all); i++) {
		row = json_object_array_get_idx(all, i);
		table_text(&t, row_project(row), LS_PROJECT);
		table_text(&t, span_str(icctl_text(row, "state")), 64);
		table_text(&t, span_str(icctl_text(row, "agent")), 64);
		table_text(&t, span_str(icctl_text(row, "id")), 256);
		table_print(
		    &t, "%lld", (long long)icctl_number(row, "pending"));
		row_place(&t, row);
	}
	table_put(&t);
	table_free(&t);
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
		put_rows(all);
	}
	json_object_put(all);
	return ICCTL_OK;
}
