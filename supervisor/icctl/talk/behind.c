/* SPDX-License-Identifier: ISC */
#include "icctl/talk/behind.h"

#include <sys/inotify.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/json_get.h"

#define BEHIND_LOOK_MS 200 /* if the kernel refuses to watch */

struct behind {
	FILE *record;
	char *line;
	size_t cap;
	int64_t turn;
	bool began;
	uint64_t skip;
	int notify; /* -1: the kernel refuses to watch */
	int live;   /* a connection to the session: closed when it ends */
};

/* Take a line of the record. Returns as a behind_event. */
static int
behind_line(struct icctl *ctl, struct behind *b, behind_event *take)
{
	json_object *o = json_tokener_parse(b->line);
	int64_t turn = o != NULL ? icctl_number(o, "turn") : 0;
	int status = -1;

	b->began = b->began || turn == b->turn;
	/* Events of the session itself are shown as well. */
	if (o != NULL && b->began && (turn == b->turn || turn == 0)) {
		if (b->skip == 0)
			status = take(ctl, o);
		else
			b->skip--;
	}
	json_object_put(o);
	return status;
}

/* Take the whole lines that the record has gained. Returns as a behind_event. */
static int
behind_read(struct icctl *ctl, struct behind *b, behind_event *take)
{
	int status = -1;
	ssize_t n;

	clearerr(b->record);
	while (status == -1 && (n = getline(&b->line, &b->cap, b->record)) > 0) {
		if (b->line[n - 1] != '\n') {
			(void)fseeko(b->record, (off_t)-n, SEEK_CUR);
			break;
		}
		status = behind_line(ctl, b, take);
	}
	return status;
}

static int
behind_open(struct icctl *ctl, struct behind *b)
{
	char path[PATH_MAX + 16];
	int fd;

	snprintf(path, sizeof(path), "%s/events.jsonl", ctl->dir);
	if ((b->live = icctl_dial(ctl->dir)) == -1 ||
	    (fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)) == -1)
		return -1;
	if ((b->record = fdopen(fd, "re")) == NULL) {
		close(fd);
		return -1;
	}
	b->notify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (b->notify != -1 &&
	    inotify_add_watch(b->notify, path, IN_MODIFY) == -1) {
		close(b->notify);
		b->notify = -1;
	}
	return 0;
}

/* Wait for the record to grow. Returns false if the session has ended. */
static bool
behind_wait(const struct behind *b)
{
	struct pollfd p[2] = {{.fd = b->live, .events = POLLIN},
	    {.fd = b->notify, .events = POLLIN}};
	char events[4096];

	while (poll(p, nitems(p), b->notify == -1 ? BEHIND_LOOK_MS : -1) == -1)
		if (errno != EINTR)
			return false;
	if (b->notify != -1 && read(b->notify, events, sizeof(events)) == -1 &&
	    errno != EAGAIN)
		return false;
	return p[0].revents == 0;
}

int
behind_follow(
    struct icctl *ctl, int64_t turn, uint64_t seen, behind_event *take)
{
	struct behind b = {
	    .turn = turn, .skip = seen, .notify = -1, .live = -1};
	bool lives = true;
	int status = -1;

	if (behind_open(ctl, &b) == 0) {
		/* The last events are there when the session has ended. */
		while (lives && (status = behind_read(ctl, &b, take)) == -1)
			lives = behind_wait(&b);
		if (status == -1)
			status = behind_read(ctl, &b, take);
	}
	if (b.record != NULL)
		fclose(b.record);
	free(b.line);
	if (b.notify != -1)
		close(b.notify);
	if (b.live != -1)
		close(b.live);
	return status;
}
