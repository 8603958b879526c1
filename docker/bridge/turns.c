/* SPDX-License-Identifier: ISC */
/*
 * Reads the turns of a conversation from icsupervisor, which alone composes
 * their commands.  A frame arrives in pieces and is collected here.
 */
#include "bridge.h"

#include <sys/mman.h>
#include <sys/socket.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/bridge_frames.h"

static struct {
	uint8_t header[BRIDGE_HEADER];
	uint8_t *data; /* allocated, for this frame */
	uint32_t len;
	size_t at; /* bytes of header and data that have arrived */
} turns_env;

/* The message as a file: the command may read it at its own pace. */
static int
message_file(const uint8_t *p, size_t len)
{
	ssize_t n;
	int fd;

	if ((fd = memfd_create("message", MFD_CLOEXEC)) == -1)
		return -1;
	while (len != 0) {
		if ((n = write(fd, p, len)) == -1 && errno != EINTR)
			return -1;
		p += n > 0 ? n : 0;
		len -= n > 0 ? (size_t)n : 0;
	}
	return lseek(fd, 0, SEEK_SET) == -1 ? -1 : fd;
}

/* Take the turn out of the frame.  Returns false if it is malformed. */
static bool
turn_take(struct turn *t, uint8_t *p, uint32_t len)
{
	uint32_t argc, args;
	char *arg;

	if (t->number != 0 || len < BRIDGE_TURN_DATA)
		return false;
	argc = bridge_get32(p + 8);
	args = bridge_get32(p + 12);
	if (argc == 0 || argc > args || args > len - BRIDGE_TURN_DATA ||
	    p[BRIDGE_TURN_DATA + args - 1] != '\0')
		return false;
	if ((t->argv = calloc(argc + 1, sizeof(*t->argv))) == NULL)
		bridge_die("turn");
	arg = (char *)p + BRIDGE_TURN_DATA;
	for (uint32_t i = 0; i < argc; i++) {
		if (arg >= (char *)p + BRIDGE_TURN_DATA + args)
			return false;
		t->argv[i] = arg;
		arg += strlen(arg) + 1;
	}
	t->number = bridge_get32(p);
	t->flags = bridge_get32(p + 4);
	t->input = -1;
	if ((t->flags & BRIDGE_TURN_INPUT) != 0 &&
	    (t->input = message_file(p + BRIDGE_TURN_DATA + args,
		 len - BRIDGE_TURN_DATA - args)) == -1)
		bridge_die("message");
	return t->number != 0;
}

/* Returns false if the frame is not allowed. */
static bool
frame_take(struct turn *t, int *sig)
{
	uint8_t *p = turns_env.data;

	turns_env.data = NULL;
	switch (turns_env.header[0]) {
	case BRIDGE_TURN:
		/* Its arguments stay in the frame until the turn ends. */
		return turn_take(t, p, turns_env.len);
	case BRIDGE_SIGNAL:
		if (turns_env.len == BRIDGE_SIGNAL_DATA && t->number != 0 &&
		    bridge_get32(p) == t->number)
			*sig = (int)bridge_get32(p + 4);
		free(p);
		return true;
	default:
		return false;
	}
}

/* Returns where the next bytes of the frame go, and their number. */
static uint8_t *
frame_room(size_t *want)
{
	if (turns_env.at < BRIDGE_HEADER) {
		*want = BRIDGE_HEADER - turns_env.at;
		return turns_env.header + turns_env.at;
	}
	if (turns_env.data == NULL) {
		turns_env.len = bridge_get32(turns_env.header + 4);
		if (turns_env.len == 0 || turns_env.len > BRIDGE_MAX_TURN)
			return NULL;
		if ((turns_env.data = malloc(turns_env.len)) == NULL)
			bridge_die("turn");
	}
	*want = BRIDGE_HEADER + turns_env.len - turns_env.at;
	return turns_env.data + (turns_env.at - BRIDGE_HEADER);
}

bool
turns_read(int fd, struct turn *t, int *sig)
{
	uint8_t *room;
	size_t want;
	ssize_t n;

	*sig = 0;
	for (;;) {
		if ((room = frame_room(&want)) == NULL)
			return false;
		n = recv(fd, room, want, MSG_DONTWAIT);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1 && errno == EAGAIN)
			return true;
		if (n <= 0)
			return false;
		turns_env.at += (size_t)n;
		if (turns_env.data != NULL && (size_t)n == want)
			break;
	}
	turns_env.at = 0;
	return frame_take(t, sig);
}

bool
turns_ended(int fd, struct turn *t, int status, unsigned leftovers)
{
	uint8_t frame[BRIDGE_HEADER + BRIDGE_ENDED_DATA];
	size_t at = 0;
	ssize_t n;

	bridge_header_put(frame, BRIDGE_ENDED, BRIDGE_ENDED_DATA);
	bridge_put32(frame + BRIDGE_HEADER, t->number);
	bridge_put32(frame + BRIDGE_HEADER + 4, (uint32_t)status);
	bridge_put32(frame + BRIDGE_HEADER + 8, leftovers);
	free(t->argv[0] - BRIDGE_TURN_DATA);
	free(t->argv);
	*t = (struct turn){.input = -1};
	while (at < sizeof(frame)) {
		n = send(fd, frame + at, sizeof(frame) - at, MSG_NOSIGNAL);
		if (n == -1 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += (size_t)n;
	}
	return true;
}
