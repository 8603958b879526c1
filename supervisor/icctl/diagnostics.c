/* SPDX-License-Identifier: ISC */
/*
 * `icctl diagnostics`: one listing that a person can attach to a report: the
 * machine, what doctor finds, and a session's state and last records. It has
 * names, paths and times; what was said, arguments and results are left out,
 * and session.log, which may have the agent's words, is added only if asked
 * for.
 */
#include "icctl/icctl.h"

#include <sys/utsname.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_put.h"
#include "base/spawn.h"
#include "icctl/talk/talk.h"
#include "icctl/words.h"
#include "icctl/wrap.h"
#include "log/parts.h"

#define DIAG_LINES 30U
#define DIAG_DOCTOR (256U << 10) /* bytes of its finding */
#define DIAG_TAIL (512L << 10) /* bytes at a file's end that are looked at */

/* Members of records and events that say what happened, not what was said. */
static const char *const diag_members[] = {"seq", "ts", "event", "turn",
    "status", "state", "server", "serverName", "tool", "toolName", "decision",
    "kind", "trouble", "code", "count", "exit", "is_error", "ms", "provider",
    "method", "host", "who", NULL};

/* Members of `status` and session.json that are of use in a report. */
static const char *const diag_session[] = {"session", "version", "state",
    "status", "agent", "adapter", "model", "runtime", "image", "persona", "started",
    "turn", "pending", "quotaUntil", "auditFailed", "counts", "limits",
    "missing", "confinement", "breakoutTest", "failures", "workers",
    "credentials", "why", NULL};

static json_object *
diag_pick(json_object *from, const char *const *names)
{
	json_object *o = json_object_new_object(), *v;

	for (; *names != NULL; names++)
		if (json_object_object_get_ex(from, *names, &v))
			json_object_object_add(o, *names, json_object_get(v));
	return o;
}

/* Keep scalars only: an object in a record may have arguments. */
static json_object *
diag_record(json_object *from)
{
	json_object *o = json_object_new_object(), *v;

	for (const char *const *n = diag_members; *n != NULL; n++)
		if (json_object_object_get_ex(from, *n, &v) &&
		    !json_object_is_type(v, json_type_object) &&
		    !json_object_is_type(v, json_type_array))
			json_object_object_add(o, *n, json_object_get(v));
	return o;
}

/*
 * Open a file of the session near its end, at the begin of a line. Returns NULL
 * if there is none.
 */
static FILE *
diag_open(const struct icctl *ctl, const char *name)
{
	char path[4400];
	FILE *f;
	int fd, c;

	snprintf(path, sizeof(path), "%.4096s/%s", ctl->dir, name);
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd == -1 || (f = fdopen(fd, "r")) == NULL) {
		if (fd != -1)
			close(fd);
		return NULL;
	}
	if (fseek(f, -DIAG_TAIL, SEEK_END) == 0)
		while ((c = getc(f)) != EOF && c != '\n')
			;
	return f;
}

/* Returns the last lines of an open file, as records or as texts; closes it. */
static json_object *
diag_lines(FILE *f, bool records)
{
	json_object *list = json_object_new_array(), *o;
	char *line = NULL;
	size_t cap = 0;
	ssize_t n;

	while (f != NULL && (n = getline(&line, &cap, f)) > 0) {
		if (line[n - 1] == '\n')
			line[--n] = '\0';
		if (!records) {
			json_object_array_add(
			    list, json_object_new_string(line));
		} else if ((o = json_tokener_parse(line)) != NULL) {
			if (json_object_is_type(o, json_type_object))
				json_object_array_add(list, diag_record(o));
			json_object_put(o);
		}
		if (json_object_array_length(list) > DIAG_LINES)
			(void)json_object_array_del_idx(list, 0, 1);
	}
	if (f != NULL)
		fclose(f);
	free(line);
	return list;
}

/* Run `icctl --json doctor`. Returns what it found, or NULL. */
static json_object *
diag_doctor(void)
{
	static char text[DIAG_DOCTOR];
	const char *const argv[] = {"icctl", "--json", "doctor", NULL};
	struct spawn s = {
	    .path = "/proc/self/exe", .argv = (char *const *)(uintptr_t)argv};

	if (spawn_read(&s, (struct spawn_said){text, sizeof(text)},
		(struct spawn_said){NULL, 0}) == -1)
		return NULL;
	text[strcspn(text, "\n")] = '\0';
	return json_tokener_parse(text);
}

static json_object *
diag_machine(void)
{
	json_object *o = json_object_new_object();
	char line[512], *value;
	struct utsname u;
	FILE *f;

	put_str(o, "ironcurtain", IC_VERSION);
	if (uname(&u) == 0) {
		put_str(o, "kernel", u.release);
		put_str(o, "machine", u.machine);
	}
	if ((f = fopen("/etc/os-release", "re")) != NULL) {
		while (fgets(line, sizeof(line), f) != NULL)
			if (strncmp(line, "PRETTY_NAME=", 12) == 0) {
				value = line + 12;
				value += *value == '"';
				value[strcspn(value, "\"\n")] = '\0';
				put_str(o, "system", value);
			}
		fclose(f);
	}
	return o;
}

static json_object *
diag_tail(const struct icctl *ctl, const char *name, bool records)
{
	return diag_lines(diag_open(ctl, name), records);
}

/* Returns the last records of the audit log, from all of its files. */
static json_object *
diag_audit(const struct icctl *ctl)
{
	int dir = open(ctl->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char *p = NULL, *begin;
	json_object *list;
	FILE *f = NULL;
	bool cut = false;
	size_t len = 0;

	if (dir != -1) {
		p = auditparts_tail(dir, DIAG_TAIL, &len, &cut);
		close(dir);
	}
	begin = p;
	if (cut && (begin = memchr(p, '\n', len)) != NULL)
		begin++;
	if (begin != NULL && len != (size_t)(begin - p))
		f = fmemopen(begin, len - (size_t)(begin - p), "r");
	list = diag_lines(f, true);
	free(p);
	return list;
}

/* Add what is known of the session in ctl->dir. */
static void
diag_add_session(struct icctl *ctl, json_object *all, bool log)
{
	const char *id = strrchr(ctl->dir, '/');
	json_object *live, *row;
	char path[4200];

	id = id == NULL ? ctl->dir : id + 1;
	live = icctl_ask_dir(ctl->dir, "status");
	snprintf(path, sizeof(path), "%.4096s/session.json", ctl->dir);
	row = json_object_from_file(path);
	json_object_object_add(
	    all, "sessionFile", diag_pick(row, diag_session));
	json_object_put(row);
	if (live != NULL)
		json_object_object_add(
		    all, "status", diag_pick(live, diag_session));
	json_object_put(live);
	if ((row = talk_row(ctl->dir, id)) != NULL)
		put_str(all, "state", icctl_text(row, "state"));
	json_object_put(row);
	json_object_object_add(all, "records", diag_audit(ctl));
	json_object_object_add(
	    all, "events", diag_tail(ctl, "events.jsonl", true));
	if (log)
		json_object_object_add(
		    all, "log", diag_tail(ctl, "session.log", false));
}

/* Print a section: a line for each member or element. */
static void
diag_put(const char *name, json_object *v)
{
	printf("\n== %s ==\n", name);
	if (json_object_is_type(v, json_type_object)) {
		json_object_object_foreach(v, key, one)
		{
			printf("%-14s", key);
			icctl_put_json(one);
		}
		return;
	}
	if (!json_object_is_type(v, json_type_array)) {
		icctl_put_str(json_object_get_string(v));
		putchar('\n');
		return;
	}
	for (size_t i = 0; i < json_object_array_length(v); i++)
		icctl_put_json(json_object_array_get_idx(v, i));
}

int
icctl_diagnostics(struct icctl *ctl, int argc, char **argv)
{
	json_object *all, *doctor, *checks;
	bool log = words_given("--log");
	int r = ICCTL_OK;

	if ((r = icctl_one_session(ctl, argc, argv)) != 0)
		return r;
	if (log && ctl->session == NULL) {
		warnx("--log is of a session: icctl diagnostics --log SESSION; "
		      "icctl ls lists them");
		return ICCTL_USAGE;
	}
	if (ctl->session != NULL && (r = icctl_find(ctl)) != 0)
		return r;
	all = json_object_new_object();
	json_object_object_add(all, "machine", diag_machine());
	doctor = diag_doctor();
	if (doctor != NULL &&
	    json_object_object_get_ex(doctor, "checks", &checks))
		json_object_object_add(all, "doctor", json_object_get(checks));
	json_object_put(doctor);
	if (ctl->session != NULL)
		diag_add_session(ctl, all, log);
	if (ctl->json) {
		icctl_put_json(all);
	} else {
		wrap_hang(stdout,
		    log ? "Names, paths and times, and the end of the log, "
			  "which may have words of the agent and of servers. "
			  "Look at it before you give it away."
			: "Names, paths and times; no keys, messages, "
			  "arguments or results. Look at it before you give "
			  "it away.",
		    0, "", wrap_columns(STDOUT_FILENO));
		putchar('\n');
		json_object_object_foreach(all, key, v)
		    diag_put(key, v);
	}
	json_object_put(all);
	return ICCTL_OK;
}
