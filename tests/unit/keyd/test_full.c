/* SPDX-License-Identifier: ISC */
/*
 * keyd under a user's low limit of open files: streams and connections divide
 * what there is, and leave what a message with a descriptor needs; without that,
 * the message would be lost, and the session with it. A stream for which there
 * is no room is closed at once. argv[1]: keyd.
 */
#include <unistd.h>

#include "unit/keyd/play.h"

#define FEW 160U  /* descriptors */
#define MANY 120U /* streams, each with a request and a connection */
/* Without 64 for others, nearly a half: connections are a few more. */
#define ROOM 47

/* Returns true if keyd closes the stream. */
static bool
closed(int fd)
{
	char byte;

	for (unsigned i = 0; i < 5; i++) {
		if (recv(fd, &byte, 1, MSG_DONTWAIT) == 0)
			return true;
		rig_turn(&rig);
	}
	return false;
}

/* Open streams with a request that the provider does not answer. */
static unsigned
crowd(int fds[MANY])
{
	unsigned open = 0;

	for (unsigned i = 0; i < MANY; i++) {
		fds[i] = rig_stream(&rig, i + 1);
		if (rig.worker.lost || fds[i] == -1)
			break;
		if (closed(fds[i])) {
			close(fds[i]);
			fds[i] = -1;
			continue;
		}
		rig_request(&rig, i + 1, 1, 1, "/t/silent", "", 0);
		open++;
	}
	return open;
}

static void
run(const struct server_ca *ca)
{
	struct server silent = {0}, plain;
	int fds[MANY], listener, fd;
	unsigned open;

	for (unsigned i = 0; i < MANY; i++)
		fds[i] = -1;
	/* Before the listener, which the server's process would inherit. */
	server_start(&plain, NULL);
	listener = worker_rig_listen(&silent.port);
	worker_rig_files = FEW;
	start(&silent, false, true, RIG_KEY);
	open = crowd(fds);
	ok(!rig.worker.lost, "keyd lives with %u streams", open);
	is_int(open, ROOM, "the others were closed at once");
	close(listener);
	for (unsigned i = 0; i < MANY; i++)
		if (fds[i] != -1)
			close(fds[i]);
	ok(rig_until(&rig, &rig.nends, open), "each request has its end");
	rig.port = plain.port;
	fd = rig_stream(&rig, MANY + 1);
	post(fd, MANY + 1, 1, "/t/ok", "{}");
	ok(answer.ended && body_is("ok"), "then another request is served");
	close(fd);
	rig_stop(&rig);
	server_stop(&plain);
}

int
main(int argc, char **argv)
{
	return play(argc, argv, run);
}
