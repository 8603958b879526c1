/* SPDX-License-Identifier: ISC */
/*
 * `icctl history` and `icctl logs`: what a session's files say of it, running
 * or not. The texts may come from an agent, and are printed visibly.
 */
#include "icctl/talk/talk.h"

#include <sys/inotify.h>

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
#include "common/buf.h"
#include "common/visible.h"
#include "icctl/words.h"
#include "icctl/wrap.h"

#define HISTORY_SHOWN 60U
#define LOGS_LOOK_MS 200 /* if the kernel refuses to watch */
#define LOGS_LIVES_MS 1000
#define LOGS_LINE (512U * 1024)

static const char *
session_id(const struct icctl *ctl)
{
	const char *slash = strrchr(ctl->dir, '/');

	return slash != NULL ? slash + 1 : ctl->dir;
}

/* Open a file of the session that is named, or of the newest one. */
static FILE *
session_file(struct icctl *ctl, int argc, char **argv, const char *name)
{
	char path[4400], shown[ICCTL_PATH];
	FILE *f;
	int fd;

	if (argc > 1)
		ctl->session = argv[1];
	if (icctl_find(ctl) != 0)
		return NULL;
	snprintf(path, sizeof(path), "%.4096s/%s", ctl->dir, name);
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd == -1 || (f = fdopen(fd, "r")) == NULL) {
		if (errno == ENOENT && !talk_is(ctl->dir))
			warnx("%s is not a session directory",
			    icctl_path(ctl->dir, shown));
		else if (errno == ENOENT)
			warnx("session %s has no %s: it is no conversation. "
			      "What it did: icctl logs %s, icctl audit show %s",
			    session_id(ctl), name, session_id(ctl),
			    session_id(ctl));
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
	bool any = false;
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
			any = true;
		}
		json_object_put(o);
	}
	if (begin != NULL)
		put_turn(begin, NULL);
	else if (!any && !ctl->json)
		warnx("session %s has no turns yet: icctl send \"MESSAGE\"",
		    session_id(ctl));
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
 * Returns true for what follows from the end of a session: each process says
 * that its peers are gone. `ending` is set from the line on that has the
 * reason.
 */
static bool
logs_last_words(const char *text, size_t n, bool *ending)
{
	static const char *const ends[] = {
	    " is gone", ": server closed its output", " was killed by SIGKILL"};
	static const char *const begins[] = {
	    " icsupervisor: ending: ", " icsupervisor: session "};
	size_t len;

	for (size_t i = 0; i < nitems(begins); i++)
		if (strncmp(text, begins[i], strlen(begins[i])) == 0)
			*ending = i == 0;
	for (size_t i = 0; *ending && i < nitems(ends); i++) {
		len = strlen(ends[i]);
		if (n > len && memcmp(text + n - len, ends[i], len) == 0)
			return true;
	}
	return false;
}

/* A log that is printed. */
struct logs {
	FILE *f;
	int look; /* tells that the file changes, or -1 */
	bool json, ending;
	unsigned cols;
};

/* Print a line: divided between words on a terminal, an object for a program.
 */
static void
logs_put(const struct logs *l, const char *when, struct span text)
{
	json_object *o;
	struct buf b;

	buf_init(&b, LOGS_LINE);
	buf_adds(&b, when);
	(void)visible_add(&b, text, l->json ? 0 : icctl_visible());
	buf_addc(&b, '\0');
	if (b.failed) {
		/* It is longer than a line of the log can be. */
	} else if (l->json) {
		o = json_object_new_object();
		put_str(o, "text", (const char *)buf_span(&b).p);
		icctl_put_json(o);
		json_object_put(o);
	} else {
		wrap_hang(
		    stdout, (const char *)buf_span(&b).p, 0, "  ", l->cols);
		putchar('\n');
	}
	buf_free(&b);
}

/*
 * Print a line of session.log, which ends with a NUL, as a person reads it:
 * with the local time, and without process ids.
 */
static void
logs_line(struct logs *l, const char *line, size_t n)
{
	char *end = NULL, when[ICCTL_LOCAL] = "";
	time_t at = (time_t)strtoll(line, &end, 10);
	struct tm tm;

	n = logs_short(line, n);
	if (end != line && *end == '.' && strspn(end + 1, "0123456789") == 3 &&
	    end[4] == ' ' && localtime_r(&at, &tm) != NULL) {
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &tm);
		n -= (size_t)(end + 4 - line);
		line = end + 4;
		if (logs_last_words(line, n, &l->ending))
			return;
	}
	logs_put(l, when, span_of(line, n));
}

/* Print what the file has now; it is printable already. */
static void
logs_copy(struct logs *l)
{
	char *line = NULL;
	size_t cap = 0;
	ssize_t n;

	clearerr(l->f);
	while ((n = getline(&line, &cap, l->f)) > 0) {
		if (line[n - 1] == '\n')
			line[--n] = '\0';
		logs_line(l, line, (size_t)n);
	}
	free(line);
	fflush(stdout);
}

/* Wait until the file may have changed, or the session may have ended. */
static void
logs_wait(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	char event[4096];

	if (poll(&p, 1, fd == -1 ? LOGS_LOOK_MS : LOGS_LIVES_MS) == 1)
		(void)!read(fd, event, sizeof(event));
}

/* Print what is added, until the session has ended. */
static void
logs_follow(const struct icctl *ctl, struct logs *l)
{
	int dir = open(ctl->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	while (dir != -1 && talk_runs(dir)) {
		logs_copy(l);
		logs_wait(l->look);
	}
	if (dir != -1)
		close(dir);
}

int
icctl_logs(struct icctl *ctl, int argc, char **argv)
{
	struct logs l = {.look = -1, .cols = wrap_columns(STDOUT_FILENO)};
	char path[4400];
	bool follow = words_given("-f");

	if (argc > 2)
		return words_usage();
	if ((l.f = session_file(ctl, argc, argv, "session.log")) == NULL)
		return ICCTL_NO_SESSION;
	/* Without -f, it is one object with all of the text. */
	l.json = ctl->json && follow;
	snprintf(path, sizeof(path), "%.4096s/session.log", ctl->dir);
	if (follow && (l.look = inotify_init1(IN_CLOEXEC)) != -1 &&
	    inotify_add_watch(l.look, path, IN_MODIFY) == -1) {
		close(l.look);
		l.look = -1;
	}
	if (follow)
		logs_follow(ctl, &l);
	logs_copy(&l);
	fclose(l.f);
	return ICCTL_OK;
}
