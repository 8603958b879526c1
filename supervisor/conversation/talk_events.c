/* SPDX-License-Identifier: ISC */
/*
 * Writes events. The file is for the person who comes back later; it decides
 * nothing, so that an event which cannot be written is only not remembered.
 */
#include "conversation/talk_events.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json_put.h"
#include "common/time_text.h"
#include "conversation/talk_cut.h"
#include "core/sup.h"
#include "hub/control.h"

#define EVENTS_MAX ((off_t)256 << 20)

static struct {
	int fd;
	off_t size;
	bool full;
	uint32_t turn; /* that runs */
} talk_env = {.fd = -1};

/* See how an earlier run ended. Returns -1 with errno set. */
static int
events_earlier(struct talk_cut *cut, off_t size)
{
	struct span text = {NULL, 0};
	void *p;

	if (size == 0) {
		talk_cut_read(cut, text);
		return 0;
	}
	p = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, talk_env.fd, 0);
	if (p == MAP_FAILED)
		return -1;
	talk_cut_read(cut, span_of(p, (size_t)size));
	(void)munmap(p, (size_t)size);
	talk_env.size = (off_t)cut->whole;
	return cut->whole == (uint64_t)size
		   ? 0
		   : ftruncate(talk_env.fd, talk_env.size);
}

int
talk_events_open(struct talk_cut *cut, struct fault *fault)
{
	struct stat st;

	talk_env.fd = openat(sup.session.fd, "events.jsonl",
	    O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK,
	    0600);
	if (talk_env.fd == -1 || fstat(talk_env.fd, &st) == -1)
		return fault_errno(fault, "%s/events.jsonl", sup.session.dir);
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_nlink != 1)
		return fault_set(fault,
		    "%s/events.jsonl is not a file of this session",
		    sup.session.dir);
	talk_env.size = st.st_size;
	if (events_earlier(cut, st.st_size) == -1)
		return fault_errno(fault, "%s/events.jsonl", sup.session.dir);
	return 0;
}

void
talk_events_close(void)
{
	if (talk_env.fd != -1)
		close(talk_env.fd);
	talk_env.fd = -1;
}

void
talk_events_turn(uint32_t turn)
{
	talk_env.turn = turn;
}

void
talk_event_hold(const char *id, const char *server, const char *tool,
    const char *state)
{
	struct json_object *o = json_object_new_object();

	put_str(o, "id", id);
	put_str(o, "server", server);
	put_str(o, "tool", tool);
	if (state != NULL)
		put_str(o, "state", state);
	talk_event_now(state == NULL ? "escalation" : "escalation_end", o);
}

static void
event_write(const char *text)
{
	size_t len = strlen(text);
	struct iovec v[2] = {{(void *)(uintptr_t)text, len},
	    {(void *)(uintptr_t) "\n", 1}};
	ssize_t n;

	if (talk_env.fd == -1 || talk_env.full)
		return;
	if (talk_env.size + (off_t)len + 1 > EVENTS_MAX) {
		talk_env.full = true;
		sup_warn("events.jsonl has 256 MiB: later events are shown and "
			 "not kept");
		return;
	}
	n = writev(talk_env.fd, v, 2);
	if (n == (ssize_t)len + 1) {
		talk_env.size += n;
		return;
	}
	/* A line that was cut is taken back. */
	if (n > 0 && ftruncate(talk_env.fd, talk_env.size) == -1)
		sup_note("events.jsonl: %s", strerror(errno));
	talk_env.full = true;
	sup_warn("events.jsonl cannot be written, and later events are not "
		 "kept: %s",
	    strerror(n == -1 ? errno : ENOSPC));
}

void
talk_event(const char *name, uint32_t turn, struct json_object *o)
{
	struct json_object *line = json_object_new_object();
	char when[TIME_TEXT], fraction[8];
	uint64_t us = clock_wall_us();

	snprintf(
	    fraction, sizeof(fraction), ".%03u", (unsigned)(us / 1000 % 1000));
	put_str(line, "event", name);
	put_str(line, "ts",
	    time_text_fine((int64_t)(us / 1000000), fraction, when));
	put_str(line, "session", sup.session.id);
	if (turn != 0)
		put_int(line, "turn", turn);
	if (o != NULL) {
		json_object_object_foreach(o, key, v)
		    json_object_object_add(line, key, json_object_get(v));
		json_object_put(o);
	}
	event_write(json_object_to_json_string_ext(
	    line, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
	control_follow(turn, strcmp(name, "turn_end") == 0, line);
}

void
talk_event_now(const char *name, struct json_object *o)
{
	if (sup.opt.conversation)
		talk_event(name, talk_env.turn, o);
	else
		json_object_put(o);
}
