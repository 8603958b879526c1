/* SPDX-License-Identifier: ISC */
/*
 * Opens the place that `audit.anchor` names before anything runs, while a
 * mistake in the configuration can still be reported, and writes to it once,
 * when the session ends.
 */
#include "log/anchor.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/paths.h"
#include "common/time_text.h"

static const char journal_socket[] = "/run/systemd/journal/socket";

static int
anchor_open_journal(struct anchor *a, struct fault *fault)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX};

	memcpy(sun.sun_path, journal_socket, sizeof(journal_socket));
	a->journal = true;
	a->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (a->fd == -1 ||
	    connect(a->fd, (struct sockaddr *)&sun, sizeof(sun)) == -1)
		return fault_errno(fault,
		    "audit.anchor: the journal cannot be reached (%s). Name a "
		    "file instead",
		    journal_socket);
	return 0;
}

/*
 * Returns 1 if the file lies in the session's directory, 0 if not, or -1 with
 * errno set.
 */
static int
anchor_inside(const struct session *s, const char *where)
{
	char dir[4096];
	const char *slash = strrchr(where, '/');
	int fd, rv;

	snprintf(dir, sizeof(dir), "%.*s", (int)(slash - where + 1), where);
	if ((fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC)) == -1)
		return -1;
	rv = paths_within(fd, s->fd);
	close(fd);
	return rv;
}

int
anchor_open(struct anchor *a, const struct session *s, const char *where,
    struct fault *fault)
{
	struct stat st;

	*a = (struct anchor){.where = where, .fd = -1};
	if (where == NULL)
		return 0;
	if (strcmp(where, "journal") == 0)
		return anchor_open_journal(a, fault);
	switch (anchor_inside(s, where)) {
	case 0:
		break;
	case 1:
		return fault_set(fault,
		    "audit.anchor %s: it is in the session's directory, beside "
		    "the log. Name a file elsewhere",
		    where);
	default:
		return fault_errno(fault, "audit.anchor %s", where);
	}
	a->fd = open(where,
	    O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK,
	    0600);
	if (a->fd == -1 || fstat(a->fd, &st) == -1)
		return fault_errno(fault, "audit.anchor %s", where);
	if (!S_ISREG(st.st_mode))
		return fault_set(
		    fault, "audit.anchor %s: not a plain file", where);
	return 0;
}

int
anchor_write(const struct anchor *a, const struct session *s, uint64_t seq,
    const char *hex, struct fault *fault)
{
	char text[5000], when[TIME_TEXT];
	int n;

	if (a->where == NULL || a->fd == -1)
		return 0;
	/*
	 * A newline in the directory's name would begin another journal field.
	 */
	if (a->journal && strchr(s->dir, '\n') != NULL)
		return fault_set(fault, "the directory's name has a newline");
	if (a->journal)
		n = snprintf(text, sizeof(text),
		    "MESSAGE=%s/audit.jsonl ends with record %llu, hash %s\n"
		    "PRIORITY=5\nSYSLOG_IDENTIFIER=icsupervisor\n"
		    "IRONCURTAIN_SESSION=%s\nIRONCURTAIN_RECORDS=%llu\n"
		    "IRONCURTAIN_HASH=%s\n",
		    s->dir, (unsigned long long)seq, hex, s->id,
		    (unsigned long long)seq, hex);
	else
		n = snprintf(text, sizeof(text), "%s %llu %s %s\n",
		    time_text(time(NULL), when), (unsigned long long)seq, hex,
		    s->dir);
	if (n < 0 || (size_t)n >= sizeof(text))
		return fault_set(fault, "too long");
	/* One write, because several sessions may append to the same file. */
	if (write(a->fd, text, (size_t)n) != n)
		return fault_errno(fault, "%s", a->where);
	return 0;
}
