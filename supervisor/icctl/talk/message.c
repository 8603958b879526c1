/* SPDX-License-Identifier: ISC */
/*
 * The message of `icctl send`. It travels as a sealed memfd, so that its length
 * is no question of the socket's.
 */
#include "icctl/talk/message.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/bridge_frames.h"
#include "icctl/driver/places.h"
#include "icctl/icctl.h"
#include "icctl/words.h"

/* Returns a memfd with the text of `fd`, or -1 after it said why. */
static int
message_copy(int fd, const char *name)
{
	size_t len = 0;
	char *text;
	ssize_t n;
	int mfd;

	if ((text = malloc(BRIDGE_MAX_MESSAGE + 1)) == NULL ||
	    (mfd = memfd_create("message", MFD_CLOEXEC | MFD_ALLOW_SEALING)) ==
		-1) {
		warn("message");
		free(text);
		return -1;
	}
	while (len <= BRIDGE_MAX_MESSAGE &&
	       (n = read(fd, text + len, BRIDGE_MAX_MESSAGE + 1 - len)) != 0) {
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1) {
			warn("%s", name);
			goto bad;
		}
		len += (size_t)n;
	}
	if (len > BRIDGE_MAX_MESSAGE) {
		warnx("%s: a message may have at most 1 MiB. Put the text in a "
		      "file of the workspace, and tell the agent its name",
		    name);
		goto bad;
	}
	if (write(mfd, text, len) != (ssize_t)len ||
	    fcntl(mfd, F_ADD_SEALS,
		F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) == -1) {
		warn("message");
		goto bad;
	}
	free(text);
	return mfd;
bad:
	free(text);
	close(mfd);
	return -1;
}

int
message_text(const char *text)
{
	size_t len = strlen(text);
	int fd;

	if ((fd = memfd_create("message", MFD_CLOEXEC | MFD_ALLOW_SEALING)) ==
		-1 ||
	    write(fd, text, len) != (ssize_t)len ||
	    fcntl(fd, F_ADD_SEALS,
		F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) == -1) {
		warn("message");
		return -1;
	}
	return fd;
}

int
message_find(const struct icctl *ctl, int argc, char **argv, int *status)
{
	const char *file = words_option("--file"), *text = argv[1];
	char why[PLACES_WHY];
	int fd, mfd;

	*status = ICCTL_USAGE;
	if (argc > 2) {
		warnx("%s: one MESSAGE only, in quotes (icctl send --help)",
		    argv[2]);
		return -1;
	}
	if ((file == NULL) == (text == NULL)) {
		warnx("send needs a MESSAGE, or --file FILE (icctl send "
		      "--help)");
		return -1;
	}
	if (text != NULL && text[0] == '\0') {
		warnx("the message is empty (icctl send --help)");
		return -1;
	}
	*status = ICCTL_FAILED;
	if (text != NULL)
		return message_text(text);
	if (strcmp(file, "-") == 0)
		return message_copy(STDIN_FILENO, "standard input");
	if ((fd = places_file(ctl->home, NULL, file, why)) == -1) {
		warnx("%s", why);
		return -1;
	}
	mfd = message_copy(fd, file);
	close(fd);
	return mfd;
}

int
message_with(int mfd, const char *more)
{
	struct stat st;
	char *text;
	int with = -1;

	if (fstat(mfd, &st) == -1 ||
	    (text = calloc(1, (size_t)st.st_size + strlen(more) + 1)) == NULL) {
		warn("message");
		return -1;
	}
	/* A NUL would end the text here; the session refuses it, too. */
	if (pread(mfd, text, (size_t)st.st_size, 0) != st.st_size ||
	    memchr(text, '\0', (size_t)st.st_size) != NULL) {
		warnx("the message contains a NUL byte");
	} else {
		memcpy(text + st.st_size, more, strlen(more));
		with = message_text(text);
	}
	free(text);
	return with;
}
