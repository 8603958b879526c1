/* SPDX-License-Identifier: ISC */
/*
 * Images of an editor's prompt. acpd has them from the editor and opens no
 * file; this process runs `icctl paste` with each, which records it and shows
 * it to the sandbox, and tells acpd its name there. One at a time, while
 * everything else goes on.
 */
#include "icctl/screen/viewer.h"

#include <sys/mman.h>

#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_get.h"
#include "base/spawn.h"
#include "common/log.h"
#include "relay/inbox.h"

#define IMAGE_MS 10000U
#define IMAGE_REPLY 4096U

static struct {
	struct spawned program;
	struct loop_io io;
	struct loop_timer timer;
	char text[IMAGE_REPLY];
	size_t len;
} image_env = {.program = SPAWNED_INIT, .io = LOOP_IO_INIT};

/* Tell acpd the name of the image; "": it has none. */
static void
image_tell(const char *name)
{
	const struct msg_ACP_SHOWN m = {.name = span_str(name)};

	viewer_send(MSG_ACP_SHOWN, &m);
}

/* Take the name from the reply of `icctl paste`. */
static void
image_name(char name[INBOX_NAME_MAX + 1])
{
	const size_t dir = strlen(INBOX_DIR);
	struct json_object *o;
	const char *path;

	name[0] = '\0';
	image_env.text[image_env.len] = '\0';
	o = json_tokener_parse(image_env.text);
	path = get_str(o, "path", "");
	if (strncmp(path, INBOX_DIR, dir) == 0 &&
	    strlcpy(name, path + dir, INBOX_NAME_MAX + 1) > INBOX_NAME_MAX)
		name[0] = '\0';
	json_object_put(o);
}

static void
image_over(void)
{
	char name[INBOX_NAME_MAX + 1];
	int status;

	loop_timer_clear(&viewer.loop, &image_env.timer);
	status = spawn_wait(&image_env.program);
	image_name(name);
	image_tell(status == 0 ? name : "");
}

static void
image_read(struct loop_io *io, uint32_t events)
{
	const size_t room = sizeof(image_env.text) - 1 - image_env.len;
	const int fd = io->fd;
	ssize_t n = 0;

	if (room != 0)
		n = read(fd, image_env.text + image_env.len, room);
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0) {
		image_env.len += (size_t)n;
		return;
	}
	loop_del(&viewer.loop, io);
	close(fd);
	image_over();
}

/* It takes too long: its end closes the pipe. */
static void
image_late(struct loop_timer *t)
{
	(void)kill(image_env.program.pid, SIGKILL);
}

/* Start `icctl paste`, which reads `in` and writes to `out`. Returns 0, or -1. */
static int
image_spawn(int in, int out)
{
	char program[] = "icctl", json[] = "--json", session[] = "--session",
	     command[] = "paste", from[] = "-";
	char *argv[] = {program, json, session, (char *)(uintptr_t)viewer.dir,
	    command, from, NULL};
	const struct spawn sp = {.path = "/proc/self/exe",
	    .argv = argv,
	    .fds = {in, out, STDERR_FILENO},
	    .nfds = 3};

	if (spawn_start(&sp, &image_env.program) == 0 &&
	    spawn_check(&image_env.program) == 0)
		return 0;
	spawn_stop(&image_env.program, 0);
	return -1;
}

/* Start `icctl paste` with the image. Returns 0, or -1. */
static int
image_start(struct span image)
{
	int in = memfd_create("image", MFD_CLOEXEC), p[2], rc;

	if (in == -1)
		return -1;
	if (span_write(in, image) == -1 || lseek(in, 0, SEEK_SET) == -1 ||
	    pipe2(p, O_CLOEXEC) == -1) {
		close(in);
		return -1;
	}
	rc = image_spawn(in, p[1]);
	close(in);
	close(p[1]);
	image_env.len = 0;
	if (rc == 0 && fcntl(p[0], F_SETFL, O_NONBLOCK) != -1 &&
	    loop_add(&viewer.loop, &image_env.io, p[0], EPOLLIN, image_read,
		NULL) == 0) {
		loop_timer_set(&viewer.loop, &image_env.timer, IMAGE_MS,
		    image_late, NULL);
		return 0;
	}
	close(p[0]);
	spawn_stop(&image_env.program, 0);
	return -1;
}

int
editor_image(struct span image)
{
	if (image_env.program.pid != -1)
		return -1;
	if (viewer.dir == NULL || image_start(image) == -1)
		image_tell("");
	return 0;
}
