/* SPDX-License-Identifier: ISC */
/*
 * `icctl close`: writes the closing record of a session whose processes were
 * all killed from outside, frees its reserved disk space, and removes its link
 * and sockets. Does nothing to a session that runs or is closed.
 */
#include "icctl/icctl.h"

#include <sys/file.h>

#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/here.h"
#include "base/json_put.h"
#include "icctl/revoke.h"
#include "icctl/words.h"
#include "log/closing.h"
#include "log/scan.h"

/* SIGKILL, as a shell reports it. */
#define CLOSE_STATUS 137
#define CLOSE_WHY                                                              \
	"every process of the session was killed from outside; closed "        \
	"afterwards by icctl"

static int
close_record(struct session *s)
{
	struct auditclosing c;
	char detail[512];
	int n;

	if (auditclosing_begin(&c, s, false) == -1)
		return -1;
	if (c.torn != 0)
		n = snprintf(detail, sizeof(detail),
		    "{\"reason\":\"%s\",\"status\":%d,\"torn\":%zu}", CLOSE_WHY,
		    CLOSE_STATUS, c.torn);
	else
		n = snprintf(detail, sizeof(detail),
		    "{\"reason\":\"%s\",\"status\":%d}", CLOSE_WHY,
		    CLOSE_STATUS);
	auditclosing_add(&c, "stop", span_of(detail, (size_t)n));
	return auditclosing_end(&c);
}

/* Correct session.json, which still says "running": the session crashed. */
static void
close_state(const struct session *s)
{
	int fd = openat(s->fd, "session.json",
	    O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	json_object *o = fd == -1 ? NULL : json_object_from_fd(fd);
	const char *text;

	if (strcmp(icctl_text(o, "state"), "running") == 0) {
		put_str(o, "state", "crashed");
		put_int(o, "status", CLOSE_STATUS);
		put_str(o, "why", CLOSE_WHY);
		text = json_object_to_json_string_ext(o,
		    JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE);
		if (session_write(
			s->fd, "session.json", 0600, span_str(text)) == -1)
			warn("%s/session.json", s->dir);
	}
	json_object_put(o);
	if (fd != -1)
		close(fd);
}

/* Remove the session's link in run/ and its sockets. */
static void
close_doors(const struct icctl *ctl, const struct session *s)
{
	char run[4200], target[4096], beside[300];
	struct dirent *e;
	ssize_t n;
	DIR *d;

	session_unlisten(s->fd);
	snprintf(run, sizeof(run), "%s/run", ctl->home);
	if ((d = opendir(run)) == NULL)
		return;
	while ((e = readdir(d)) != NULL) {
		n = readlinkat(dirfd(d), e->d_name, target, sizeof(target));
		if (n != (ssize_t)strlen(s->dir) ||
		    memcmp(target, s->dir, (size_t)n) != 0)
			continue;
		(void)unlinkat(dirfd(d), e->d_name, 0);
		(void)unlinkat(dirfd(d), here_beside(e->d_name, beside), 0);
	}
	closedir(d);
}

/* With --json and several directories: what was closed. */
static json_object *close_list;

static void
close_report(const struct icctl *ctl, const struct session *s, bool already)
{
	struct checkpoint last;
	char hex[SHA256_HEX] = "";
	uint64_t seq = 0;
	json_object *o;

	if (auditfile_last(s, &last) == 0) {
		seq = last.log.seq - 1;
		sha256_hex(last.log.prev, hex);
	}
	if (!ctl->json) {
		printf("%s: its log ends with record %llu, hash %s\n",
		    already ? "already closed" : "closed",
		    (unsigned long long)seq, hex);
		return;
	}
	o = json_object_new_object();
	put_bool(o, "ok", 1);
	put_str(o, "session", ctl->session);
	put_bool(o, "already", already);
	put_int(o, "records", (int64_t)seq);
	put_str(o, "hash", hex);
	if (close_list != NULL) {
		json_object_array_add(close_list, o);
		return;
	}
	icctl_put_json(o);
	json_object_put(o);
}

/*
 * Close the log if it is open, and correct the rest. Returns 0, or -1 with the
 * fault set.
 */
static int
close_all(const struct icctl *ctl, struct session *s, bool *already,
    struct fault *fault)
{
	struct auditscan scan;

	if ((s->dir = paths_of_fd(s->fd)) == NULL)
		return fault_errno(fault, "%s", ctl->dir);
	if (auditfile_attach(s, &scan, fault) == -1)
		return -1;
	*already = scan.closed;
	if (!scan.closed && close_record(s) == -1)
		return fault_errno(fault, "%s/audit.jsonl", s->dir);
	auditfile_trim(s);
	close_state(s);
	close_doors(ctl, s);
	return 0;
}

static int
close_session(const struct icctl *ctl, struct session *s)
{
	struct fault fault;
	bool already = false;

	if (flock(s->fd, LOCK_EX | LOCK_NB) == -1) {
		if (errno == EWOULDBLOCK)
			warnx("%s is still running. To end it: icctl --session "
			      "%s stop",
			    ctl->dir, ctl->dir);
		else
			warn("%s", ctl->dir);
		return ICCTL_FAILED;
	}
	if (faccessat(s->fd, "audit.jsonl", F_OK, AT_SYMLINK_NOFOLLOW) == -1 &&
	    !auditparts_any(s->fd)) {
		warnx("%s is not a session directory: it has no audit.jsonl",
		    ctl->dir);
		return ICCTL_NO_SESSION;
	}
	if (close_all(ctl, s, &already, &fault) == -1) {
		warnx("%s", fault.text);
		return ICCTL_FAILED;
	}
	close_report(ctl, s, already);
	return revoke_left(ctl, s->fd) == 0 ? ICCTL_OK : ICCTL_FAILED;
}

static void
close_release(struct session *s)
{
	if (s->audit != -1)
		close(s->audit);
	if (s->closing != -1)
		close(s->closing);
	if (s->left != -1)
		close(s->left);
	close(s->fd);
	free(s->dir);
}

int
icctl_close_locked(const struct icctl *ctl, int dirfd, struct fault *fault)
{
	struct session s = {.fd = -1,
	    .audit = -1,
	    .closing = -1,
	    .margin = -1,
	    .left = -1};
	bool already;
	int rv;

	if ((s.fd = fcntl(dirfd, F_DUPFD_CLOEXEC, 0)) == -1)
		return fault_errno(fault, "session directory");
	rv = close_all(ctl, &s, &already, fault);
	/* A log that is broken is left as it is. */
	if (rv == -1 && s.dir != NULL) {
		close_state(&s);
		close_doors(ctl, &s);
	}
	close_release(&s);
	return rv;
}

static int
close_one(struct icctl *ctl, const char *name)
{
	struct session s = {.fd = -1,
	    .audit = -1,
	    .closing = -1,
	    .margin = -1,
	    .left = -1};
	int r;

	ctl->session = name;
	if ((r = icctl_find(ctl)) != 0)
		return r;
	s.fd = open(ctl->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s.fd == -1) {
		warn("%s", ctl->dir);
		return ICCTL_NO_SESSION;
	}
	r = close_session(ctl, &s);
	close_release(&s);
	return r;
}

/* Close all that can be closed; the exit status is that of the first failure. */
int
icctl_close(struct icctl *ctl, int argc, char **argv)
{
	int r = ICCTL_OK, one;
	json_object *o;

	if (argc < 2)
		return words_usage();
	if (ctl->json && argc > 2)
		close_list = json_object_new_array();
	for (int i = 1; i < argc; i++) {
		if (argc > 2 && !ctl->json)
			printf("%s: ", argv[i]);
		(void)fflush(stdout);
		one = close_one(ctl, argv[i]);
		r = r == ICCTL_OK ? one : r;
	}
	if (close_list == NULL)
		return r;
	o = json_object_new_object();
	put_bool(o, "ok", r == ICCTL_OK);
	json_object_object_add(o, "closed", close_list);
	icctl_put_json(o);
	json_object_put(o);
	return r;
}
